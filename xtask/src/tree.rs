//! The files of the repository as text: what tidy and the link check look at.
//!
//! Built output and installed packages are no part of it. Paths are relative to the root, with `/`.

use std::path::Path;

use anyhow::{Context, Result};

/// Folders that hold no source of ours.
const SKIPPED: &[&str] = &["target", ".git", "node_modules"];

/// One text file.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct Page {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// Every file whose name ends so (with the dot), in the order of their paths.
pub(crate) fn pages(root: &Path, ending: &str) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    collect(root, "", ending, &mut pages)?;
    pages.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(pages)
}

fn collect(root: &Path, under: &str, ending: &str, pages: &mut Vec<Page>) -> Result<()> {
    let folder = root.join(under);
    let entries =
        std::fs::read_dir(&folder).with_context(|| format!("could not list {}", folder.display()))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("could not list {}", folder.display()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if under.is_empty() { name.clone() } else { format!("{under}/{name}") };
        // `file_type` does not follow links, so a link to a folder cannot lead us round in circles.
        let kind = entry.file_type().with_context(|| format!("could not look at {path}"))?;
        if kind.is_dir() {
            if !SKIPPED.contains(&name.as_str()) {
                collect(root, &path, ending, pages)?;
            }
        } else if kind.is_file() && name.ends_with(ending) {
            let text =
                std::fs::read_to_string(entry.path()).with_context(|| format!("could not read {path}"))?;
            pages.push(Page { path, text });
        }
    }
    Ok(())
}
