//! Both roles: alone, facing each other, and held to the fidelity table and the list of quirks.

mod bench;
mod mirror;
mod quirks;
mod runtime;
mod ui;

use super::quirks as listed;

#[test]
fn every_quirk_has_its_test() {
    let tests = include_str!("tests/quirks.rs");
    for quirk in listed::QUIRKS {
        assert!(tests.contains(&format!("fn {}()", quirk.name)), "no test for {}", quirk.name);
    }
}
