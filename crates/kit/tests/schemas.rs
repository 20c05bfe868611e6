//! The committed schemas: derived from the types as they are now, and requiring what their list says.
//!
//! `UPDATE_EXPECT=1` writes the schemas anew. The lists (`required.txt`) are kept by hand: what a wire requires is for its document to
//! say, so a change there is to be thought about.

#![cfg(feature = "schema")]

use expect_test::expect_file;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder(wire: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../dialects/src").join(wire)
}

#[test]
fn every_schema_is_what_the_types_say() {
    for (dialect, document) in dialects::DERIVED {
        expect_file![folder(dialect.name()).join("schema.json")].assert_eq(&document());
    }
}

#[test]
fn the_program_prints_the_committed_schema() {
    for (dialect, document) in dialects::DERIVED {
        assert_eq!((dialect.description().schema)(), document(), "{dialect}");
    }
}

#[test]
fn every_schema_requires_what_its_list_says() {
    for (dialect, document) in dialects::DERIVED {
        let schema: Value = serde_json::from_str(&document()).unwrap();
        let required = kit::schema::requirements(&schema);
        let list = folder(dialect.name()).join("required.txt");
        let listed = std::fs::read_to_string(&list).unwrap_or_default();
        let missing: Vec<&str> =
            listed.lines().filter(|line| !required.lines().any(|r| r == *line)).collect();
        let extra: Vec<&str> = required.lines().filter(|line| !listed.lines().any(|l| l == *line)).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "{dialect}: {} and the types differ\nonly in the list: {missing:#?}\nonly in the types: {extra:#?}",
            list.display()
        );
    }
}
