//! Pages that are written by the program from its own tables (that of the seeds by `seeds.rs`), and the links and named tests of all pages.
//!
//! Each generator fills one folder and owns it wholly: what it did not write there is an error, so that a renamed
//! page leaves no ghost. `--check` compares and writes nothing.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::findings::judge;
use crate::shell::Shell;
use crate::tree::{self, Page};
use crate::{claims, layers, links, seeds};

/// Whether to write the pages or only to compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Write,
    Check,
}

/// One folder of generated pages.
struct Generator {
    /// The folder, relative to the root.
    folder: &'static str,
    /// What the binary is called with; the folder to write into is appended.
    command: &'static [&'static str],
}

/// All folders of generated pages.
const GENERATORS: &[Generator] = &[
    Generator { folder: "docs/dialects", command: &["__docs"] },
    Generator { folder: "docs/reference", command: &["__docs"] },
];

/// Runs every generator, then checks the links of all pages. The program that writes the pages is built unless one is named.
pub(crate) fn run(shell: &Shell, mode: Mode, binary: Option<&str>) -> Result<()> {
    let mut found = Vec::new();
    if mode == Mode::Write {
        layers::draw(shell)?;
        seeds::write(shell.root())?;
    }
    for generator in GENERATORS {
        let fresh = generate(shell, generator, binary)?;
        match mode {
            Mode::Write => write(&shell.root().join(generator.folder), &fresh)?,
            Mode::Check => {
                let committed = by_path(read_folder(&shell.root().join(generator.folder))?);
                found.extend(differences(generator.folder, &fresh, &committed));
            }
        }
    }
    found.extend(untrue(shell)?);
    judge("docs", &found)
}

/// Checks what can be checked without the program: links, the tests that pages name, and the page of the seeds.
pub(crate) fn links(shell: &Shell) -> Result<()> {
    judge("links", &untrue(shell)?)
}

fn untrue(shell: &Shell) -> Result<Vec<String>> {
    let pages = tree::pages(shell.root(), ".md")?;
    let mut found = links::findings(&pages, |path| shell.root().join(path).exists());
    let sources = tree::pages(shell.root(), ".rs")?;
    found.extend(claims::findings(&pages, &sources));
    found.extend(seeds::findings(shell.root(), &sources)?);
    Ok(found)
}

fn generate(shell: &Shell, generator: &Generator, binary: Option<&str>) -> Result<BTreeMap<String, String>> {
    let metadata = shell.metadata()?;
    let target = metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
    let scratch = Path::new(target).join("xtask").join(generator.folder);
    if scratch.exists() {
        std::fs::remove_dir_all(&scratch)
            .with_context(|| format!("could not empty {}", scratch.display()))?;
    }
    std::fs::create_dir_all(&scratch).with_context(|| format!("could not make {}", scratch.display()))?;
    let into = scratch.to_str().context("the target directory's path is not valid UTF-8")?;
    let words = [generator.command, &[into]].concat();
    match binary {
        Some(binary) => shell.step(binary, &words, &[])?,
        None => {
            let cargo = ["run", "--quiet", "--package", "parlor", "--"];
            shell.cargo(&[&cargo, words.as_slice()].concat(), &[])?;
        }
    }
    let pages = by_path(read_folder(&scratch)?);
    if pages.is_empty() {
        bail!("the generator of {} wrote no page", generator.folder);
    }
    Ok(pages)
}

fn read_folder(folder: &Path) -> Result<Vec<Page>> {
    if folder.exists() { tree::pages(folder, ".md") } else { Ok(Vec::new()) }
}

fn by_path(pages: Vec<Page>) -> BTreeMap<String, String> {
    pages.into_iter().map(|page| (page.path, page.text)).collect()
}

fn write(folder: &Path, fresh: &BTreeMap<String, String>) -> Result<()> {
    for page in read_folder(folder)? {
        if !fresh.contains_key(&page.path) {
            let stale = folder.join(&page.path);
            std::fs::remove_file(&stale).with_context(|| format!("could not remove {}", stale.display()))?;
        }
    }
    for (path, text) in fresh {
        let path = folder.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("could not make {}", parent.display()))?;
        }
        std::fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))?;
    }
    Ok(())
}

fn differences(
    folder: &str,
    fresh: &BTreeMap<String, String>,
    committed: &BTreeMap<String, String>,
) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in fresh {
        match committed.get(path) {
            None => found.push(format!("{folder}/{path}: missing: run `cargo xtask docs`")),
            Some(old) if old != text => {
                let line = old.lines().zip(text.lines()).take_while(|(old, new)| old == new).count() + 1;
                found.push(format!("{folder}/{path}:{line}: out of date: run `cargo xtask docs`"));
            }
            Some(_) => {}
        }
    }
    let ghosts = committed.keys().filter(|path| !fresh.contains_key(*path));
    found.extend(ghosts.map(|path| format!("{folder}/{path}: no longer generated: run `cargo xtask docs`")));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(pages: &[(&str, &str)]) -> BTreeMap<String, String> {
        pages.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect()
    }

    #[test]
    fn equal_folders_agree() {
        let pages = folder(&[("a.md", "one\n")]);
        assert_eq!(differences("docs/x", &pages, &pages), Vec::<String>::new());
    }

    #[test]
    fn missing_changed_and_leftover_pages_are_named() {
        let fresh = folder(&[("a.md", "one\ntwo\n"), ("b.md", "new\n")]);
        let committed = folder(&[("a.md", "one\n2\n"), ("c.md", "old\n")]);
        assert_eq!(
            differences("docs/x", &fresh, &committed),
            [
                "docs/x/a.md:2: out of date: run `cargo xtask docs`",
                "docs/x/b.md: missing: run `cargo xtask docs`",
                "docs/x/c.md: no longer generated: run `cargo xtask docs`",
            ]
        );
    }
}
