//! Finding files by name: the project is walked once per burst of typing, ignoring what git ignores.

use crate::fuzzy::rank;
use ignore::WalkBuilder;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Files known at most.
const MAX_FILES: usize = 1_000_000;
/// Files told at most.
const MAX_TOLD: usize = 50;
/// How long a walk is good for at least.
const FRESH: Duration = Duration::from_secs(10);
/// The same by how long it took: a large project is not walked again and again.
const FRESH_SHARE: u32 = 20;

/// The files of a folder, as last walked.
#[derive(Debug, Clone, Default)]
pub(super) struct Files(Arc<Mutex<Option<Walked>>>);

/// When, how long it took, and what was there.
type Walked = (Instant, Duration, Vec<String>);

impl Files {
    /// The paths that fit, best first. Blocks: not for the loop's own thread.
    pub(super) fn find(&self, folder: &Path, query: &str) -> Vec<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stale = known.as_ref().is_none_or(|(at, took, _)| at.elapsed() > FRESH.max(*took * FRESH_SHARE));
        if stale {
            let begun = Instant::now();
            let paths = walk(folder);
            *known = Some((Instant::now(), begun.elapsed(), paths));
        }
        let Some((.., paths)) = known.as_ref() else { return Vec::new() };
        rank(query, paths).into_iter().take(MAX_TOLD).map(|at| paths[at].clone()).collect()
    }
}

fn walk(folder: &Path) -> Vec<String> {
    let mut walk = WalkBuilder::new(folder);
    // Hidden files are files of the project too; what git keeps for itself is not.
    walk.hidden(false).require_git(false).filter_entry(|entry| entry.file_name() != ".git");
    let walk = walk.build();
    let entries = walk.filter_map(Result::ok).filter(|entry| entry.depth() > 0);
    let mut paths: Vec<String> = entries
        .filter_map(|entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let path = entry.path().strip_prefix(folder).ok()?.to_str()?.to_owned();
            Some(if is_folder { format!("{path}/") } else { path })
        })
        .take(MAX_FILES)
        .collect();
    paths.sort_by_key(|path| (path.matches('/').count(), path.len()));
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_and_ignored_ones_are_not() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("src")).unwrap();
        for (path, text) in
            [("src/main.rs", ""), ("README.md", ""), ("secret.log", ""), (".gitignore", "*.log\n")]
        {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        std::fs::write(folder.path().join(".git/config"), "").unwrap();
        let files = Files::default();
        assert_eq!(files.find(folder.path(), "main"), ["src/main.rs"]);
        assert_eq!(files.find(folder.path(), "secret"), Vec::<String>::new());
        assert_eq!(files.find(folder.path(), "git"), [".gitignore"], "a hidden file is a file");
        assert_eq!(files.find(folder.path(), ""), ["README.md", ".gitignore", "src/", "src/main.rs"]);
    }
}
