//! The committed schemas are what the types of the wires say. `UPDATE_EXPECT=1` writes them anew.
//!
//! What they require and whether lines keep to them is for the tests of the kit and of the whole, which read the committed files.

use expect_test::expect_file;
use std::path::Path;

#[test]
fn every_schema_is_what_the_types_say() {
    for (dialect, document) in dialects::DERIVED {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wires").join(dialect.name()).join("src");
        expect_file![folder.join("schema.json")].assert_eq(&document());
    }
}

#[test]
fn the_program_prints_the_committed_schema() {
    for (dialect, document) in dialects::DERIVED {
        assert_eq!(dialects::schema(*dialect), document(), "{dialect}");
    }
}
