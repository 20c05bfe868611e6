//! Puts the built page (`page/dist`) into the program: a table of its files, so that nothing is read from the disk at run time and no
//! path of a request ever meets a file system.
//!
//! What the page's own build left compressed beside a file goes in and the file itself does not: it can be had from that.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../page/dist");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    gather(&root, &mut files)?;
    files.sort();
    let beside = |file: &Path, ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let bytes = |file: &Path| format!("include_bytes!({:?})", file.display().to_string());
    let mut table = String::from("&[\n");
    for file in &files {
        if file.extension().is_some_and(|ending| ending == "gz" || ending == "br") {
            continue;
        }
        let name = file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let (gzip, brotli) = (beside(file, ".gz"), beside(file, ".br"));
        let form = if files.contains(&gzip) && files.contains(&brotli) {
            format!("Form::Packed {{ gzip: {}, brotli: {} }}", bytes(&gzip), bytes(&brotli))
        } else {
            format!("Form::Plain({})", bytes(file))
        };
        let _ = writeln!(table, "({name:?}, {form}),");
    }
    table.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("assets.rs"), table)
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            gather(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
