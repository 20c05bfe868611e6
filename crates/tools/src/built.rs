//! What git ignored in a workspace when Parlor opened this session (anew with `--continue`): only a folder of which this was so may be
//! removed by a rule (`bash/removal.rs` decides). Facts of the beginning, so that no command makes such a folder by writing a rule or by changing git's records.
//!
//! It runs nothing: what git had recorded is handed in by whoever can ask git, before the first command that does more than look.

use crate::shell::small;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;

/// What tools call folders that they build or install anew, right below a workspace's root.
pub(crate) const NAMES: &[&str] = &[
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
/// Where a repository says what it ignores right below its root; the later one counts more.
const RULES: [&str; 2] = [".git/info/exclude", ".gitignore"];

/// The names of [`NAMES`] that were git's business, and those that were not.
#[derive(Debug)]
pub(crate) struct BuiltFolders {
    ignored: BTreeSet<&'static str>,
    /// Those with a recorded file when the first command was about to change something; `None` where git did not say.
    recorded: OnceLock<Option<BTreeSet<&'static str>>>,
}

impl BuiltFolders {
    /// Those of a workspace whose session is opened now.
    pub(crate) fn of(root: &Path) -> BuiltFolders {
        let mut rules = GitignoreBuilder::new(root);
        for text in RULES.iter().filter_map(|file| small(&root.join(file))) {
            for line in text.lines() {
                // A line that is no rule ignores nothing.
                let _ = rules.add_line(None, line);
            }
        }
        let rules = rules.build().unwrap_or_else(|_| Gitignore::empty());
        // Without records of its own the folder is a part of another repository, or of none.
        let is_top = root.join(".git").symlink_metadata().is_ok();
        let is_ignored = |name: &&str| is_top && rules.matched(name, true).is_ignore();
        BuiltFolders {
            ignored: NAMES.iter().copied().filter(is_ignored).collect(),
            recorded: OnceLock::new(),
        }
    }

    /// Keeps which of them have recorded files, the first time; `look` asks git, and gives nothing where it does not say.
    pub(crate) fn record(&self, look: impl FnOnce() -> Option<BTreeSet<&'static str>>) {
        if !self.ignored.is_empty() {
            self.recorded.get_or_init(look);
        }
    }

    /// Whether git ignored a folder of this name, and had recorded nothing in it.
    pub(crate) fn held_nothing_of_git(&self, name: &str) -> bool {
        let recorded = self.recorded.get().and_then(Option::as_ref);
        self.ignored.contains(name) && recorded.is_some_and(|recorded| !recorded.contains(name))
    }
}
