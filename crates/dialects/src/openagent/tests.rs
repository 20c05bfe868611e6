//! Both roles: alone, facing each other, and held to the fidelity table, the list of quirks and the schema.

mod bench;
mod mirror;
mod noise;
mod quirks;
mod requests;
mod runtime;
mod schema;
mod ui;

use super::quirks as listed;

#[test]
fn every_quirk_has_its_test() {
    let tests = include_str!("tests/quirks.rs");
    for quirk in listed::QUIRKS {
        assert!(tests.contains(&format!("fn {}()", quirk.name)), "no test for {}", quirk.name);
    }
}
