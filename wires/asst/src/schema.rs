//! The schema of asst's wire.

use super::wire::{Request, Response};
use rolekit::schema::{Document, Side};

/// Every request and every response.
pub fn document() -> String {
    let mut document = Document::new("asst IPC protocol", "One message per line.");
    document.lines::<Request>(Side::Ui, "request.");
    document.lines::<Response>(Side::Runtime, "response.");
    document.finish()
}
