//! What there is of a long list of names, of which hardly any are there.
//!
//! A name is looked for by listing its folder once, not by asking for each name: a home has a handful of the two hundred names that
//! may keep secrets, and the question is put for every home of the machine. A listing only rules names out; what it may hold is looked
//! at by its own path, so that a file system that knows no difference between `.ssh` and `.SSH` decides that itself. A folder that
//! cannot be listed, or has too many entries, rules nothing out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Entries of a folder that are looked at for a pattern, or for links that lead out of a secret folder.
const MAX_LOOKED: usize = 1024;

/// The folders that were listed so far; `None` for one that rules nothing out.
#[derive(Debug, Default)]
pub(super) struct Names {
    listed: HashMap<PathBuf, Option<Vec<PathBuf>>>,
}

impl Names {
    /// What is there under a name below `top` that may end, or begin after its dot, with a `*`.
    pub(super) fn matching(&mut self, top: &Path, pattern: &Path) -> Vec<PathBuf> {
        let (Some(folder), Some(name)) =
            (pattern.parent(), pattern.file_name().and_then(|name| name.to_str()))
        else {
            return Vec::new();
        };
        let Some((start, end)) = name.split_once('*') else {
            return if self.is_there(top, pattern) { vec![pattern.to_owned()] } else { Vec::new() };
        };
        let fits = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        };
        match self.list(top, folder) {
            Some(entries) => entries.iter().filter(|path| fits(path)).cloned().collect(),
            None => names(folder).into_iter().filter(fits).collect(),
        }
    }

    fn is_there(&mut self, top: &Path, path: &Path) -> bool {
        self.may_hold(top, path) && path.symlink_metadata().is_ok()
    }

    /// Whether the listing of its folder does not rule a path out.
    fn may_hold(&mut self, top: &Path, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return true };
        self.list(top, folder).as_ref().is_none_or(|entries| {
            entries
                .iter()
                .any(|entry| entry.file_name().is_some_and(|entry| entry.eq_ignore_ascii_case(name)))
        })
    }

    fn list(&mut self, top: &Path, folder: &Path) -> &Option<Vec<PathBuf>> {
        if !self.listed.contains_key(folder) {
            let is_ruled_out = folder != top && folder.starts_with(top) && !self.may_hold(top, folder);
            let listed = if is_ruled_out { Some(Vec::new()) } else { listed(folder) };
            self.listed.insert(folder.to_owned(), listed);
        }
        self.listed.get(folder).unwrap_or(&None)
    }
}

/// The entries of a folder, in order; none when it cannot be listed.
pub(super) fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_LOOKED);
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    names.sort();
    names
}

/// All entries of a folder, in order; `None` when not all of them can be told.
fn listed(folder: &Path) -> Option<Vec<PathBuf>> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if matches!(why.kind(), NotFound | NotADirectory) => return Some(Vec::new()),
        Err(_) => return None,
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.ok()?.path());
        if names.len() > MAX_LOOKED {
            return None;
        }
    }
    names.sort();
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn found(top: &Path, pattern: &str) -> Vec<String> {
        let found = Names::default().matching(top, &top.join(pattern));
        found.iter().map(|path| path.strip_prefix(top).unwrap().display().to_string()).collect()
    }

    #[test]
    fn names_are_found_in_folders_through_links_and_by_patterns() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        std::fs::create_dir_all(top.join("dots/gh")).unwrap();
        symlink("dots", top.join(".config")).unwrap();
        symlink("nowhere", top.join(".netrc")).unwrap();
        for file in [".a_history", ".history", "file"] {
            std::fs::write(top.join(file), "").unwrap();
        }
        for (pattern, wanted) in [
            (".config/gh", [".config/gh"].as_slice()),
            (".config/hub", &[]),
            (".kde/share/apps/kwallet", &[]),
            (".netrc", &[".netrc"]),
            (".*_history", &[".a_history"]),
            (".*history", &[".a_history", ".history"]),
            ("file/below", &[]),
        ] {
            assert_eq!(found(top, pattern), wanted, "{pattern}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_listed_or_is_too_large_rules_nothing_out() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path();
        for folder in ["shut/.ssh", "large/.ssh"] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
        }
        for number in 0..=MAX_LOOKED {
            std::fs::write(top.join(format!("large/{number}")), "").unwrap();
        }
        // Root lists it all the same; either way the name is found.
        std::fs::set_permissions(top.join("shut"), std::fs::Permissions::from_mode(0o111)).unwrap();
        assert_eq!(found(top, "shut/.ssh"), ["shut/.ssh"]);
        assert_eq!(found(top, "large/.ssh"), ["large/.ssh"]);
        std::fs::set_permissions(top.join("shut"), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_folder_is_listed_once_and_what_lies_below_a_missing_one_never() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".config")).unwrap();
        let mut names = Names::default();
        for pattern in [".ssh", ".config/a", ".config/b", ".kde/share/c"] {
            names.matching(dir.path(), &dir.path().join(pattern));
        }
        // Put there since: a listing that was made again would see it.
        std::fs::create_dir_all(dir.path().join(".config/late")).unwrap();
        assert_eq!(names.matching(dir.path(), &dir.path().join(".config/late")), Vec::<PathBuf>::new());
        assert_eq!(names.listed.get(&dir.path().join(".kde/share")), Some(&Some(Vec::new())));
    }
}
