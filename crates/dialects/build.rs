//! Puts the schemas of the wires into the program: a table of names and lengths, and all of them compressed as one.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> io::Result<()> {
    let wires = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../wires");
    let mut named = Vec::new();
    for entry in fs::read_dir(wires)? {
        let wire = entry?.path();
        let schema = wire.join("src/schema.json");
        // Not every crate there is a wire of the program: the guide's has no schema.
        if let (Some(name), true) = (wire.file_name(), schema.is_file()) {
            named.push((name.to_string_lossy().into_owned(), schema));
        }
    }
    named.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    pack(&named, &out)
}

fn pack(schemas: &[(String, PathBuf)], out: &Path) -> io::Result<()> {
    let packed = out.join("schemas.deflate");
    let mut encoder = DeflateEncoder::new(fs::File::create(&packed)?, Compression::best());
    let mut table = String::new();
    for (name, file) in schemas {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read(file)?;
        table.push_str(&format!("({name:?}, {}),", text.len()));
        encoder.write_all(&text)?;
    }
    encoder.finish()?;
    fs::write(
        out.join("schemas.rs"),
        format!("(&[{table}], include_bytes!({:?}))", packed.display().to_string()),
    )
}
