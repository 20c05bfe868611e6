//! Folders of a workspace that hold only what can be built or installed again, so that a rule may let them be removed.
//!
//! What always holds: git ignored the folder by rules that stood when the session began, so no command makes one of these by writing a
//! rule; its name is one that tools use for it; it holds no tracked file and no repository of its own; no link leads to it.

use crate::own_git::OwnGit;
use crate::sandbox::Guard;
use crate::shell::small;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::Path;

/// What tools call such folders.
const NAMES: &[&str] = &[
    "target",
    "node_modules",
    ".venv",
    "venv",
    "dist",
    "build",
    "out",
    "coverage",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".next",
    ".nuxt",
    ".turbo",
    ".parcel-cache",
    ".gradle",
];
/// Where a repository says what it ignores everywhere.
const RULES: [&str; 2] = [".git/info/exclude", ".gitignore"];

/// What git ignored when a session began, by the rules of the workspace's root.
#[derive(Debug)]
pub(crate) struct BuiltFolders(Gitignore);

impl BuiltFolders {
    /// Those of a workspace whose session begins now.
    pub(crate) fn of(root: &Path) -> BuiltFolders {
        let mut rules = GitignoreBuilder::new(root);
        for line in RULES.iter().filter_map(|file| small(&root.join(file))).flat_map(lines) {
            // A line that is no rule ignores nothing.
            let _ = rules.add_line(None, &line);
        }
        BuiltFolders(rules.build().unwrap_or_else(|_| Gitignore::empty()))
    }

    /// Whether a folder of the workspace, every link followed, is one of these now.
    pub(crate) fn hold(&self, root: &Path, folder: &Path, guard: Option<&Guard>) -> bool {
        let named = folder.file_name().is_some_and(|name| NAMES.iter().any(|known| name == *known));
        let Some(below) = folder.strip_prefix(root).ok().filter(|_| named) else { return false };
        let is_folder = folder.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let ignored = || self.0.matched_path_or_any_parents(below, true).is_ignore();
        let own_records = || folder.join(".git").symlink_metadata().is_ok();
        if !is_folder || !ignored() || own_records() {
            return false;
        }
        let tracked = OwnGit::at(root, guard).look(&["ls-files".as_ref(), "--".as_ref(), below.as_os_str()]);
        tracked.is_ok_and(|tracked| tracked.trim().is_empty())
    }
}

fn lines(text: String) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
