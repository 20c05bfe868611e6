//! The names of the files below a folder, for a person who wants to name one. What git ignores and what is hidden is left out.

use ignore::WalkBuilder;
use std::path::Path;

/// Most names that are told.
pub const MAX_NAMES: usize = 5_000;
/// Most files that are looked at to find them.
const MAX_LOOKED: usize = 50_000;

/// The files below a folder, those near it first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileNames {
    /// Below the folder; a name that is no UTF-8 is left out, since nobody could say it.
    pub files: Vec<String>,
    /// There are more than are told.
    pub more: bool,
}

/// Walks the folder. Reads the disk.
pub fn names(folder: &Path) -> FileNames {
    let mut walk = WalkBuilder::new(folder);
    walk.hidden(true).require_git(false);
    let files = walk
        .build()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    let below = |path: &Path| path.strip_prefix(folder).ok().and_then(Path::to_str).map(str::to_owned);
    let mut files: Vec<String> = files.filter_map(|entry| below(entry.path())).take(MAX_LOOKED + 1).collect();
    let more = files.len() > MAX_NAMES;
    files.sort_by_cached_key(|path| (path.matches('/').count(), path.clone()));
    files.truncate(MAX_NAMES);
    FileNames { files, more }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(folder: &Path, path: &str) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }

    #[test]
    fn files_that_git_keeps_are_named_and_near_ones_come_first() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["src/deep/z.rs", "src/a.rs", "README.md", "target/x.o", ".env", ".git/config"] {
            put(folder.path(), path);
        }
        std::fs::write(folder.path().join(".gitignore"), "target\n").unwrap();
        let found = names(folder.path());
        assert_eq!(found.files, ["README.md", "src/a.rs", "src/deep/z.rs"]);
        assert!(!found.more);
    }

    #[test]
    fn of_a_large_folder_some_are_named_and_it_says_so() {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..=MAX_NAMES {
            put(folder.path(), &format!("deep/{at}"));
        }
        put(folder.path(), "near");
        let found = names(folder.path());
        assert_eq!((found.files.len(), found.more), (MAX_NAMES, true));
        assert_eq!(found.files[0], "near");
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_files() {
        assert_eq!(names(Path::new("/nowhere/at/all")), FileNames::default());
    }
}
