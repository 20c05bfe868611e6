//! The schema of the native wire. Commands, bodies, receipts and signals are those of `record`, down to their last member;
//! what each part means stands in `described.txt`. What is demanded is what no reader does without.

use super::wire::{FromRuntime, FromUi};
use rolekit::schema::{Document, Side, demanding};

/// Every line.
pub fn document() -> String {
    let title = format!("Parlor's native protocol, version {}", super::PROTOCOL);
    let about = "One JSON object per line with exactly one key, which says what the line is.";
    let mut written = Document::new(&title, about);
    written.describe(include_str!("described.txt"));
    // Others write these lines as well, and may leave out what nobody needs.
    demanding(&lines(written), &lines(Document::of_readers())).unwrap_or_else(|why| why.to_string())
}

fn lines(mut document: Document) -> String {
    document.lines::<FromUi>(Side::Ui, "");
    document.lines::<FromRuntime>(Side::Runtime, "");
    document.finish()
}
