//! Links the program so that it starts quickly, tells it which commit it is built from, and puts the pages of the documentation into it.

use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whoever builds outside git says it here.
const COMMIT: &str = "PARLOR_COMMIT";

fn main() -> io::Result<()> {
    pages()?;
    println!("cargo::rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).as_deref() == Ok(value);
    let glibc = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    // Some 80,000 places hold addresses. In a program that may be loaded anywhere, all of them are written at every start, which takes
    // longer than all that we do until the screen stands; and each command of the agent starts us once more, as its guard. A build
    // for oneself does without; what is published (`dist`) can be loaded anywhere.
    if glibc && is("PROFILE", "release") && !is("OPT_LEVEL", "3") {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
    println!("cargo::rerun-if-env-changed={COMMIT}");
    // A build of everyday work asks nobody: each commit would compile and link the program and its tests anew.
    let said = std::env::var(COMMIT).ok();
    if let Some(commit) = said.or_else(|| is("PROFILE", "release").then(commit).flatten()) {
        println!("cargo::rustc-env={COMMIT}={commit}");
    }
    Ok(())
}

/// Where the pages for users are.
const PAGES: [&str; 3] = ["../../docs", "../../docs/guides", "../../docs/reference"];

/// What a page is asked for by: its file, with the folder where another page has the same. Commands have their own help.
fn name(file: &Path) -> Option<String> {
    let stem = file.file_stem()?.to_string_lossy().into_owned();
    let is_reference = file.parent().is_some_and(|folder| folder.ends_with("reference"));
    match stem.as_str() {
        "commands" if is_reference => None,
        "settings" if is_reference => Some("reference/settings".to_owned()),
        _ => Some(stem),
    }
}

/// The pages as `src/topics.rs` includes them: a table of names, titles and lengths, and all texts compressed as one.
fn pages() -> io::Result<()> {
    let mut files = Vec::new();
    for folder in PAGES {
        println!("cargo::rerun-if-changed={folder}");
        let entries =
            std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        files.extend(entries.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md")));
    }
    files.sort_by(|one, two| one.file_name().cmp(&two.file_name()));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let packed = out.join("pages.deflate");
    let mut encoder = DeflateEncoder::new(std::fs::File::create(&packed)?, Compression::best());
    let mut table = String::new();
    for file in files {
        let Some(name) = name(&file) else { continue };
        let text = std::fs::read_to_string(&file)?;
        let title = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default();
        table.push_str(&format!("({name:?}, {title:?}, {}),", text.len()));
        encoder.write_all(text.as_bytes())?;
    }
    encoder.finish()?;
    let packed = packed.display().to_string();
    std::fs::write(out.join("pages.rs"), format!("(&[{table}], include_bytes!({packed:?}))"))
}

/// The commit that is checked out; none outside git.
fn commit() -> Option<String> {
    // Git adds a line there at each commit and checkout.
    let moves = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    if Path::new(&moves).is_file() {
        println!("cargo::rerun-if-changed={moves}");
    }
    git(&["rev-parse", "--short=9", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let said = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| said.trim().to_owned()).filter(|said| !said.is_empty())
}
