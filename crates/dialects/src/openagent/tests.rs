//! Both roles: alone, facing each other, and held to the fidelity table, the list of quirks and the schema.

mod bench;
mod mirror;
mod noise;
mod quirks;
mod requests;
mod runtime;
mod schema;
mod ui;

use super::{fidelity, quirks as listed};
use crate::fidelity::holes;

#[test]
fn the_table_has_a_row_for_every_item_and_no_other() {
    assert_eq!(holes(fidelity::TABLE), (vec![], vec![]));
}

#[test]
fn every_quirk_has_its_test() {
    let tests = include_str!("tests/quirks.rs");
    for quirk in listed::QUIRKS {
        assert!(tests.contains(&format!("fn {}()", quirk.name)), "no test for {}", quirk.name);
    }
}
