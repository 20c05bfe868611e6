//! Markdown as rows, also while it streams in.
//!
//! Invariant of [`Stream`]: its rows are those of [`rows`] on the same text, whatever pieces the text came in. The head (all blocks
//! but the last) is drawn once; only the last block, which may still change its meaning, is drawn again.

mod address;
mod render;
mod table;
#[cfg(test)]
mod tests;

use crate::clean::clean;
use crate::highlight;
use crate::look::Appearance;
use crate::row::{Piece, Row, wrap_code};
use crate::theme::Role;
use export::code::Lexer;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use std::borrow::Cow;
use std::rc::Rc;

/// The rows of a text.
pub(crate) fn rows(text: &str, look: Appearance) -> Vec<Row> {
    render::rows(clean(text).trim_end(), look)
}

/// The rows of a block of code.
pub(crate) fn code_block(text: &str, language: &str, look: Appearance) -> Vec<Row> {
    let none = Piece::default();
    code_rows(clean(text).trim_end(), language, &none, look)
}

fn code_rows(text: &str, language: &str, lead: &Piece, look: Appearance) -> Vec<Row> {
    let lead = Piece::decor(format!("{}│ ", lead.text), look.theme.style(Role::Border));
    let mut lexer = Lexer::new(language);
    let lines = text.trim_end_matches('\n').split('\n');
    lines
        .flat_map(|line| {
            wrap_code(&highlight::pieces(&mut lexer, line, look.theme), look.columns, &lead, &lead)
        })
        .collect()
}

/// The blocks of code in a text, each with its language, if it says one.
pub(crate) fn codes(text: &str) -> Vec<(String, String)> {
    let mut codes = Vec::new();
    let mut inside: Option<(String, String)> = None;
    for event in Parser::new_ext(text, options()) {
        match (event, &mut inside) {
            (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))), _) => {
                inside = Some((language.into_string(), String::new()));
            }
            (Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)), _) => inside = Some(Default::default()),
            (Event::Text(text), Some((_, code))) => code.push_str(&text),
            (Event::End(TagEnd::CodeBlock), _) => codes.extend(inside.take()),
            _ => {}
        }
    }
    codes
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// A text that grows, drawn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stream {
    head_bytes: usize,
    head: Rc<Vec<Row>>,
}

impl Stream {
    /// The same text from its last block on: the rows before it are not told again.
    #[must_use]
    pub(crate) fn remainder(&self) -> Stream {
        Stream { head_bytes: self.head_bytes, head: Rc::default() }
    }

    /// The rows of `text`, which begins with the text of the last call: those that stay, and those that may change.
    pub(crate) fn rows(&mut self, text: &str, look: Appearance) -> (Rc<Vec<Row>>, Vec<Row>) {
        let rest = text.get(self.head_bytes..).unwrap_or("");
        let clean = clean(rest);
        let mut tail = clean.trim_end();
        // Positions in a text that had to be cleaned are not those of the text that grows.
        if matches!(clean, Cow::Borrowed(_)) {
            // Only whole lines tell where a block begins: half a line may still turn out to be a row of the table above.
            let whole = tail.rfind('\n').map_or("", |at| &tail[..=at]);
            let stable = last_block(whole);
            if stable > 0 {
                let head = Rc::make_mut(&mut self.head);
                let rows = render::rows(tail[..stable].trim_end(), look);
                if !rows.is_empty() {
                    head.extend(rows);
                    head.push(Row::empty());
                }
                self.head_bytes += stable;
                tail = &tail[stable..];
            }
        }
        (self.head.clone(), render::rows(tail, look))
    }
}

/// Where the last top-level block begins.
fn last_block(text: &str) -> usize {
    let mut depth = 0usize;
    let mut last = 0;
    for (event, range) in Parser::new_ext(text, options()).into_offset_iter() {
        match event {
            Event::Start(_) => {
                if depth == 0 {
                    last = range.start;
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ if depth == 0 => last = range.start,
            _ => {}
        }
    }
    // An indented block may begin inside its line: the line's start is the safe place.
    text[..last].rfind('\n').map_or(0, |at| at + 1)
}
