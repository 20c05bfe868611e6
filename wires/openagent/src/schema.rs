//! The schema of openagent's wire.

use super::wire::{PROTOCOL_VERSION, code, describe};
use rolekit::schema::{Document, Side};

/// Every message, as we write it: the document's members, and beside them those of the existing programs.
pub fn document() -> String {
    let title = format!("OpenAgent-Terminal protocol {PROTOCOL_VERSION}: one message per line");
    let mut document =
        Document::new(&title, "JSON-RPC 2.0; nothing stands beside `params` at the top level.");
    describe(&mut document);
    document.refusals(&[Side::Ui, Side::Runtime], code::ALL);
    document.finish()
}
