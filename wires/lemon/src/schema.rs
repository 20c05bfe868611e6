//! The schema of lemon's wire.

use super::wire::{Command, Frame};
use rolekit::schema::{Document, Side};

/// Every line, the document's own and those that existing programs add.
pub fn document() -> String {
    let mut document = Document::new("lemon", "One JSON object per line, told apart by its type.");
    document.lines::<Command>(Side::Ui, "command.");
    document.lines::<Frame<'_>>(Side::Runtime, "");
    document.finish()
}
