//! What there is of a long list of names, of which hardly any are there.
//!
//! A name is looked for by listing its folder once, not by asking for each name: a home has a handful of the two hundred names that
//! may keep secrets, and the question is put for every home of the machine. A listing only rules names out; what it may hold is looked
//! at by its own path, so that a file system that knows no difference between `.ssh` and `.SSH` decides that itself. A folder that
//! cannot be listed, or has too many entries, rules nothing out.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Entries of a folder that are looked at for a pattern, or for links that lead out of a secret folder.
const MAX_LOOKED: usize = 1024;

/// Names below a folder, and what was listed there so far.
#[derive(Debug)]
pub(super) struct NameLookup {
    top: PathBuf,
    /// By the path below the top; `None` for a folder that rules nothing out.
    listed: HashMap<String, Option<Listing>>,
}

/// The entries of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    /// In order.
    names: Vec<OsString>,
    /// The same without the difference between capital and small letters.
    folded: HashSet<Vec<u8>>,
}

impl Listing {
    fn may_hold(&self, name: &str) -> bool {
        self.folded.contains(name.to_ascii_lowercase().as_bytes())
    }
}

impl NameLookup {
    /// Nothing is looked at yet.
    pub(super) fn below(top: &Path) -> NameLookup {
        NameLookup { top: top.to_owned(), listed: HashMap::new() }
    }

    /// What is there under a name below the top that may end, or begin after its dot, with a `*`.
    pub(super) fn matching(&mut self, pattern: &str) -> Vec<PathBuf> {
        let (folder, name) = parted(pattern);
        let Some((start, end)) = name.split_once('*') else {
            let may_be = self.list(folder).as_ref().is_none_or(|listing| listing.may_hold(name));
            let path = may_be.then(|| self.top.join(pattern));
            return path.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect();
        };
        let fits = |name: &OsString| {
            let name = name.to_string_lossy();
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        };
        let top = self.top.join(folder);
        let found: Vec<OsString> = match self.list(folder) {
            Some(listing) => listing.names.iter().filter(|name| fits(name)).cloned().collect(),
            None => names(&top)
                .iter()
                .filter_map(|path| path.file_name().map(OsString::from))
                .filter(fits)
                .collect(),
        };
        found.into_iter().map(|name| top.join(name)).collect()
    }

    fn list(&mut self, folder: &str) -> &Option<Listing> {
        if !self.listed.contains_key(folder) {
            let (above, name) = parted(folder);
            let is_ruled_out = !folder.is_empty()
                && self.list(above).as_ref().is_some_and(|listing| !listing.may_hold(name));
            let listed = if is_ruled_out { Some(Listing::default()) } else { listed(&self.top.join(folder)) };
            self.listed.insert(folder.to_owned(), listed);
        }
        self.listed.get(folder).unwrap_or(&None)
    }
}

/// The folder of a name, empty for the top, and the name in it.
fn parted(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The entries of a folder, in order; none when it cannot be listed.
pub(super) fn names(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_LOOKED);
    let mut names: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    names.sort();
    names
}

/// All entries of a folder; `None` when not all of them can be told.
fn listed(folder: &Path) -> Option<Listing> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(why) if matches!(why.kind(), NotFound | NotADirectory) => return Some(Listing::default()),
        Err(_) => return None,
    };
    let mut listing = Listing::default();
    for entry in entries {
        let name = entry.ok()?.file_name();
        listing.folded.insert(name.as_encoded_bytes().to_ascii_lowercase());
        listing.names.push(name);
        if listing.names.len() > MAX_LOOKED {
            return None;
        }
    }
    listing.names.sort();
    Some(listing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn found(top: &Path, pattern: &str) -> Vec<String> {
        let found = NameLookup::below(top).matching(pattern);
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
        let mut names = NameLookup::below(dir.path());
        for pattern in [".ssh", ".config/a", ".config/b", ".kde/share/c"] {
            names.matching(pattern);
        }
        // Put there since: a listing that was made again would see it.
        std::fs::create_dir_all(dir.path().join(".config/late")).unwrap();
        assert_eq!(names.matching(".config/late"), Vec::<PathBuf>::new());
        assert_eq!(names.listed.get(".kde/share"), Some(&Some(Listing::default())));
    }
}
