//! The schema of the native wire. Commands, bodies, receipts and signals are those of `record`, down to their last member;
//! what each part means stands in `described.txt`.

use super::wire::{FromRuntime, FromUi};
use rolekit::schema::{Document, Side};

/// Every line.
pub fn document() -> String {
    let title = format!("Parlor's native protocol, version {}", super::PROTOCOL);
    let about = "One JSON object per line with exactly one key, which says what the line is.";
    let mut document = Document::new(&title, about);
    document.describe(include_str!("described.txt"));
    document.lines::<FromUi>(Side::Ui, "");
    document.lines::<FromRuntime>(Side::Runtime, "");
    document.finish()
}
