//! The schema of codelia's wire.

use super::wire::{code, describe};
use rolekit::schema::{Document, Side};

/// Every message, the document's own and those that existing programs add.
pub fn document() -> String {
    let about = "JSON-RPC 2.0, one message per line, ids are strings.";
    let mut document = Document::new("codelia UI protocol, version 0", about);
    describe(&mut document);
    document.refusals(&[Side::Ui, Side::Runtime], code::ALL);
    document.finish()
}
