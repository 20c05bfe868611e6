//! Markdown as rows.

use crate::cell::Look;
use crate::clean::clean;
use crate::row::{Piece, Row, wrap, wrap_text};
use crate::theme::Role;

/// The rows of a text.
pub fn rows(text: &str, look: Look) -> Vec<Row> {
    wrap_text(clean(text).trim_end(), look.columns, look.theme.style(Role::Text))
}

/// The rows of a block of code.
pub fn code_block(text: &str, _language: &str, look: Look) -> Vec<Row> {
    let lead = Piece::new("  ", look.theme.style(Role::Code));
    let text = clean(text);
    let lines = text.trim_end().split('\n');
    lines
        .flat_map(|line| wrap(&[Piece::new(line, look.theme.style(Role::Code))], look.columns, &lead, &lead))
        .collect()
}
