//! What a command may read: everything but secrets, told as a list of places that are granted whole.
//!
//! One idea: a folder that holds no secret below it is granted whole; one that does is granted entry by entry, and so loses its
//! own listing, because a grant on it would hold for everything below. So `/`, the home folder and whatever lies between them and a
//! secret cannot be listed, their other entries can be used as ever. Links are passed over: what they lead to has its own answer.

use super::leash::TEMP;
use super::{Leash, secrets};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::path::{Path, PathBuf};

/// Places that are granted one by one; those past it stay closed, and the command's own output says so.
const MAX_GRANTS: usize = 32 * 1024;
/// Settings of git in a home folder, without which it does not even look.
const GIT_SETTINGS: &[&str] =
    &[".gitconfig", ".config/git/config", ".config/git/ignore", ".config/git/attributes"];

/// What may be read, beside what the leash names.
pub(super) struct Granted {
    /// Files and whole folders.
    pub(super) places: Vec<PathBuf>,
    /// Whether there were more than can be granted.
    pub(super) cut: bool,
}

/// The places that may be read, beside those that the leash names.
pub(super) fn granted(leash: &Leash) -> Granted {
    let homes = secrets::homes(leash.home.as_deref());
    let mut closed = secrets::closed(leash.home.as_deref(), &leash.hidden);
    closed.insert("/dev".into());
    let mut walk = Walk { closed: &closed, granted: Vec::new() };
    if !leash.looking {
        walk.grant(Path::new("/"));
        return walk.end();
    }
    // Who only looks has no business in a home folder but for the programs there, nor in what others left in temp.
    let mut shut = closed.clone();
    shut.extend(homes.iter().filter_map(|home| real(home)));
    shut.extend(TEMP.iter().filter_map(|temp| real(Path::new(temp))));
    walk.closed = &shut;
    walk.grant(Path::new("/"));
    walk.closed = &closed;
    let programs = std::env::var_os("PATH").unwrap_or_default();
    let settings = leash.home.iter().flat_map(|home| GIT_SETTINGS.iter().map(move |name| home.join(name)));
    for place in std::env::split_paths(&programs).filter(|place| place.is_absolute()).chain(settings) {
        if let Some(place) = real(&place) {
            walk.grant(&place);
        }
    }
    walk.end()
}

/// All of a place, whose real path this is, but what is closed in it.
pub(super) fn around(place: &Path, closed: &[PathBuf]) -> Vec<PathBuf> {
    let closed = closed.iter().cloned().collect();
    let mut walk = Walk { closed: &closed, granted: Vec::new() };
    walk.grant(place);
    walk.end().places
}

fn real(place: &Path) -> Option<PathBuf> {
    place.canonicalize().ok()
}

struct Walk<'a> {
    closed: &'a BTreeSet<PathBuf>,
    granted: Vec<PathBuf>,
}

impl Walk<'_> {
    fn end(mut self) -> Granted {
        let cut = self.granted.len() > MAX_GRANTS;
        self.granted.truncate(MAX_GRANTS);
        Granted { places: self.granted, cut }
    }

    fn grant(&mut self, place: &Path) {
        let closed = place.ancestors().any(|above| self.closed.contains(above));
        if closed || self.granted.len() > MAX_GRANTS {
            return;
        }
        if !self.holds_closed(place) {
            self.granted.push(place.to_owned());
            return;
        }
        for entry in self.entries(place) {
            self.grant(&entry);
        }
    }

    /// Whether something below `context` is closed. Paths are ordered so that what lies below comes right after.
    fn holds_closed(&self, place: &Path) -> bool {
        let below = self.closed.range::<Path, _>((Bound::Excluded(place), Bound::Unbounded)).next();
        below.is_some_and(|next| next.starts_with(place))
    }

    /// The entries of a folder without its links. One that may be entered but not listed is known by the way to what is closed.
    fn entries(&self, folder: &Path) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(folder) else {
            let below = self.closed.range::<Path, _>((Bound::Excluded(folder), Bound::Unbounded));
            let below = below.take_while(|path| path.starts_with(folder));
            let next =
                below.filter_map(|path| Some(folder.join(path.strip_prefix(folder).ok()?.iter().next()?)));
            return next.collect::<BTreeSet<_>>().into_iter().collect();
        };
        let plain = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| !kind.is_symlink());
        let mut entries: Vec<PathBuf> =
            entries.flatten().filter(plain).map(|entry| entry.path()).take(MAX_GRANTS + 1).collect();
        entries.sort();
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_with_a_secret_is_granted_by_its_entries() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["a/secret/deep", "a/fine/deep", "a/also", "b/c"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        std::fs::write(base.join("a/file"), "").unwrap();
        symlink("secret", base.join("a/link")).unwrap();
        let closed = BTreeSet::from([base.join("a/secret"), base.join("a/secret/deep")]);
        let mut walk = Walk { closed: &closed, granted: Vec::new() };
        walk.grant(&base);
        let granted: Vec<_> = walk.granted.iter().filter_map(|path| path.strip_prefix(&base).ok()).collect();
        assert_eq!(granted, ["a/also", "a/file", "a/fine", "b"].map(Path::new));
        walk.granted.clear();
        for place in ["a/secret", "a/secret/deep"] {
            walk.grant(&base.join(place));
        }
        assert!(walk.granted.is_empty(), "{:?}", walk.granted);
    }

    #[test]
    fn a_folder_with_too_many_entries_is_granted_in_part_and_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        let closed = BTreeSet::from([base.join("secret")]);
        let mut walk = Walk { closed: &closed, granted: vec![PathBuf::new(); MAX_GRANTS - 1] };
        for file in ["a", "b", "secret"] {
            std::fs::write(base.join(file), "").unwrap();
        }
        walk.grant(&base);
        let granted = walk.end();
        assert!(granted.cut);
        assert_eq!((granted.places.len(), granted.places.last()), (MAX_GRANTS, Some(&base.join("a"))));
    }

    #[test]
    fn a_folder_that_cannot_be_listed_is_known_by_the_way_to_its_secrets() {
        let closed =
            BTreeSet::from([PathBuf::from("/no/such/a/x"), "/no/such/a/y".into(), "/no/such/b".into()]);
        let walk = Walk { closed: &closed, granted: Vec::new() };
        assert_eq!(walk.entries(Path::new("/no/such")), ["/no/such/a", "/no/such/b"].map(PathBuf::from));
    }
}
