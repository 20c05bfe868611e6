//! The places that the leash does not let a command read, for tools that read files in our own process, where no leash holds them.
//!
//! One list for both: what [`super::secrets`] names and what the guard hides. What a person opened to commands is open here too; temp
//! is not, because nothing here may be written.

use super::{Guard, secrets};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The closed places as they are now.
#[derive(Debug, Clone)]
pub struct Closed {
    places: BTreeSet<PathBuf>,
    /// Those that the names in [`secrets`] alone do not tell.
    beyond: Vec<PathBuf>,
    opened: Vec<PathBuf>,
}

impl Closed {
    /// The places that are closed to commands of the user with this home, by real paths.
    pub(crate) fn of(home: Option<&Path>, guard: Option<&Guard>) -> Closed {
        Closed::hiding(home, guard, guard.map(|guard| guard.always.hidden.as_slice()).unwrap_or_default())
    }

    /// The same where these are hidden instead of what the guard hides.
    pub(super) fn hiding(home: Option<&Path>, guard: Option<&Guard>, hidden: &[PathBuf]) -> Closed {
        let mut places = secrets::closed(home, hidden);
        let beyond = secrets::beyond(&mut places);
        let opened =
            guard.into_iter().flat_map(|guard| guard.always.readable.iter().chain(&guard.always.writable));
        // As they were at the start: a link that somebody put there since opens nothing.
        Closed { places, beyond, opened: opened.cloned().collect() }
    }

    /// Those that a command's limiter does not find by names alone.
    pub(super) fn beyond(self) -> Vec<PathBuf> {
        self.beyond
    }

    /// All of them, also what a person opened.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Path> {
        self.places.iter().map(PathBuf::as_path)
    }

    /// The closed places inside of these, without those of our own.
    pub(super) fn inside(&self, roots: &[PathBuf], own: &[PathBuf]) -> Vec<PathBuf> {
        let own: Vec<PathBuf> = own.iter().filter_map(|place| place.canonicalize().ok()).collect();
        let below = |place: &&Path| roots.iter().any(|root| *place != root && place.starts_with(root));
        let ours = |place: &&Path| own.iter().any(|own| place.starts_with(own));
        // Whoever was given a place in a closed one must reach it.
        let needed = |place: &&Path| roots.iter().any(|root| root.starts_with(place));
        let found = self.places().filter(|place| below(place) && !ours(place) && !needed(place));
        found.filter(|place| self.holds(place)).map(Path::to_owned).collect()
    }

    /// Whether a folder, or anything in it, may be a closed place.
    pub(crate) fn meets(&self, folder: &Path) -> bool {
        self.holds(folder) || self.places().any(|place| place.starts_with(folder))
    }

    /// Whether a path, every link in it followed, is a closed place or lies in one.
    pub fn holds(&self, path: &Path) -> bool {
        path.ancestors().any(|above| self.places.contains(above))
            && !self.opened.iter().any(|open| path.starts_with(open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_may_not_read_is_closed_unless_a_person_opened_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for folder in ["home/.ssh/keys", "home/.aws", "home/notes", "data"] {
            std::fs::create_dir_all(base.join(folder)).unwrap();
        }
        let guard = Guard::new(Path::new("parlor"), &[]).hiding(&[base.join("data")]);
        let guard =
            guard.also_readable(&[base.join("home/.ssh/keys")]).also_writable(&[base.join("home/.aws")]);
        let closed = Closed::of(Some(&base.join("home")), Some(&guard));
        for (place, expected) in [
            ("home/.ssh", true),
            ("home/.ssh/id", true),
            ("home/.ssh/keys/one", false),
            ("home/.aws/config", false),
            ("home/notes", false),
            ("home", false),
            ("data/rules", true),
        ] {
            assert_eq!(closed.holds(&base.join(place)), expected, "{place}");
        }
        assert!(!Closed::of(Some(&base.join("home")), None).holds(&base.join("data")));
    }
}
