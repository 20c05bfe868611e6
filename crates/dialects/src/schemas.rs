//! The schema of each wire: what the program prints. They lie compressed in it (`build.rs`), since they are much text that is seldom asked for.

use flate2::read::DeflateDecoder;
use roles::Dialect;
use std::io::Read;

/// The wires by their names, with how many bytes each schema has, and all of them one after the other.
const SCHEMAS: (&[(&str, usize)], &[u8]) = include!(concat!(env!("OUT_DIR"), "/schemas.rs"));

/// Every message of a wire: a JSON Schema, or the requirement tables where its document speaks of such.
pub fn schema(dialect: Dialect) -> String {
    let (wires, packed) = SCHEMAS;
    let mut text = DeflateDecoder::new(packed);
    let mut of = String::new();
    for (name, bytes) in wires {
        of.clear();
        // What the program was built with can be read; the test of the derived schemas compares every one.
        let read = text.by_ref().take(u64::try_from(*bytes).unwrap_or(u64::MAX)).read_to_string(&mut of);
        if read.is_ok() && *name == dialect.name() {
            return of;
        }
    }
    String::new()
}
