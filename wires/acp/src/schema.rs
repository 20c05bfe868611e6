//! The schema of the protocol as we write it.

use super::wire::{CancelRequestParams, code, describe};
use rolekit::schema::{Document, Side};

/// Every message of version 1, and the extensions that we use. What only others write is read and has no place here.
pub fn document() -> String {
    let about = "JSON-RPC 2.0, one message per line.";
    let mut document = Document::new("Agent Client Protocol, version 1", about);
    describe(&mut document);
    document.notification::<CancelRequestParams>(Side::Runtime);
    document.refusals(&[Side::Ui, Side::Runtime], code::ALL);
    document.finish()
}
