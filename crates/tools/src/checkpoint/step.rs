//! A step: what one turn did to files, in the order in which it did it, and whether that stands.
//!
//! A path may occur more than once: where somebody else changed a file between two deeds of the turn, what they did lies between two
//! changes and is not the turn's.

use super::image::{Image, written_path};
use super::scan::MAX_FILES;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Changes that one step holds: as many as there are files that are looked at. What a command does past it cannot be taken back.
pub(crate) const MAX_CHANGES: usize = MAX_FILES;
/// Files named as lost in one step; the others are counted.
const MAX_LOST: usize = 100;

/// What became of one path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Below the workspace.
    #[serde(with = "written_path")]
    pub path: PathBuf,
    pub before: Image,
    pub after: Image,
}

/// A path that changed and cannot be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    #[serde(with = "written_path")]
    pub path: PathBuf,
    pub why: String,
}

/// Whether what a step did stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    Applied,
    /// Being taken back: a crash may have cut it.
    Undoing,
    Undone,
    /// Being done again: a crash may have cut it.
    Redoing,
}

/// A tool of the turn is at work, or was when the program died.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenDeed {
    /// When it began, in milliseconds since 1970.
    pub(crate) since: u64,
    /// What stood at the one path that it was to change; without it, the prints of the workspace say what stood anywhere.
    pub(crate) seen: Option<Vec<(RelPath, Image)>>,
}

/// A path below the workspace, as a step writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RelPath(#[serde(with = "written_path")] pub(crate) PathBuf);

/// What one turn did to files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The turn, by its id.
    pub turn: String,
    /// Its prompt, in short.
    pub prompt: String,
    /// When it began, in milliseconds since 1970.
    pub at: u64,
    #[serde(with = "written_path")]
    pub(crate) root: PathBuf,
    pub state: StepState,
    pub changes: Vec<Change>,
    /// What taking it back (or doing it again) does, or did, to each file.
    #[serde(default)]
    pub(crate) journal: Vec<Change>,
    #[serde(default)]
    pub lost: Vec<Lost>,
    /// How many more are lost than are named.
    #[serde(default)]
    pub(crate) more_lost: usize,
    /// Whether it ran something that may have changed files which nobody looks at.
    #[serde(default)]
    pub(crate) may_have_changed_more: bool,
    /// Why what its commands did is not known.
    #[serde(default)]
    pub blind: Option<String>,
    #[serde(default)]
    pub(crate) open: Option<OpenDeed>,
    /// It was moved, and the model has not been told.
    #[serde(default)]
    pub(crate) untold: bool,
}

impl Step {
    pub(crate) fn new(turn: &str, prompt: &str, at: u64, root: &Path) -> Step {
        Step {
            turn: turn.to_owned(),
            prompt: prompt.to_owned(),
            at,
            root: root.to_owned(),
            state: StepState::Applied,
            changes: Vec::new(),
            journal: Vec::new(),
            lost: Vec::new(),
            more_lost: 0,
            may_have_changed_more: false,
            blind: None,
            open: None,
            untold: false,
        }
    }

    /// Whether there is nothing to take back, and nothing to tell.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.lost.is_empty() && self.blind.is_none() && self.open.is_none()
    }

    /// Takes in what one call changed. What follows on the last change of its path becomes one with it.
    pub(crate) fn add(&mut self, changes: Vec<Change>) {
        let mut last: HashMap<PathBuf, usize> = HashMap::new();
        for (at, known) in self.changes.iter().enumerate() {
            last.insert(known.path.clone(), at);
        }
        let is_new = |change: &&Change| !last.contains_key(&change.path);
        if self.changes.len() + changes.iter().filter(is_new).count() > MAX_CHANGES {
            // Half of a command would be neither the one state nor the other; what was done before it can still be taken back.
            self.blind = Some(format!("together they changed more than {MAX_CHANGES} files"));
            return;
        }
        for mut change in changes {
            let follows = |at: &usize| self.changes[*at].after == change.before;
            let followed = last.get(&change.path).copied().filter(follows);
            if let Some(at) = followed {
                change.before = self.changes[at].before.clone();
            }
            if let Some(why) = unkept(&change) {
                self.lose(change.path, why);
                continue;
            }
            match followed {
                Some(at) => self.changes[at].after = change.after,
                None => {
                    last.insert(change.path.clone(), self.changes.len());
                    self.changes.push(change);
                }
            }
        }
        self.changes.retain(|change| change.before != change.after);
    }

    /// Notes that a path changed and cannot be taken back.
    pub(crate) fn lose(&mut self, path: PathBuf, why: &str) {
        if self.lost.iter().any(|lost| lost.path == path) {
            return;
        }
        if self.lost.len() >= MAX_LOST {
            self.more_lost += 1;
            return;
        }
        self.lost.push(Lost { path, why: why.to_owned() });
    }

    /// The digests of what it needs to be moved either way.
    pub(crate) fn uses(&self) -> Vec<&str> {
        let open = self.open.iter().flat_map(|open| open.seen.iter().flatten());
        let open = open.filter_map(|(_, image)| image.digest());
        let changes = self.changes.iter().chain(&self.journal);
        let mut uses: Vec<&str> =
            changes.flat_map(|change| [&change.before, &change.after]).filter_map(Image::digest).collect();
        uses.extend(open);
        uses.sort_unstable();
        uses.dedup();
        uses
    }

    /// Its written form.
    pub(crate) fn write(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|why| why.to_string())
    }

    /// Reads one; what another version wrote in a way that is not understood is passed over.
    pub(crate) fn read(text: &str) -> Option<Step> {
        serde_json::from_str(text).ok()
    }
}

/// Nothing is put in the place of what is kept nowhere.
fn unkept(change: &Change) -> Option<&'static str> {
    match (&change.before, &change.after) {
        (Image::Unkept { .. }, _) => Some("what was there before is not kept"),
        // What a command made of it, too large to be kept or shut, goes for what it was; that cannot be done again.
        (Image::File { .. } | Image::Link { .. }, Image::Unkept { .. }) => None,
        (_, Image::Unkept { .. }) => Some("what is there now could not be kept, so it stays"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(digest: &str) -> Image {
        Image::File { digest: digest.into(), mode: 0o644 }
    }

    fn change(before: &Image, after: &Image) -> Change {
        Change { path: "a".into(), before: before.clone(), after: after.clone() }
    }

    #[test]
    fn what_follows_becomes_one_and_what_others_did_stays_between() {
        let [one, two, three, four] = ["1", "2", "3", "4"].map(file);
        let mut step = Step::new("t", "p", 0, Path::new("/w"));
        step.add(vec![change(&one, &two)]);
        step.add(vec![change(&two, &three)]);
        assert_eq!(step.changes, [change(&one, &three)]);
        step.add(vec![change(&four, &two)]);
        assert_eq!(step.changes, [change(&one, &three), change(&four, &two)]);
        step.add(vec![change(&two, &four)]);
        assert_eq!(step.changes, [change(&one, &three)]);
        assert_eq!(step.uses(), ["1", "3"]);
        assert_eq!(Step::read(&step.write().unwrap()), Some(step));
    }

    #[test]
    fn a_command_that_changes_more_than_a_step_holds_costs_nothing_but_itself() {
        let mut step = Step::new("t", "p", 0, Path::new("/w"));
        let made = |number: usize| Change {
            path: PathBuf::from(format!("{number}")),
            before: Image::Absent,
            after: file("x"),
        };
        step.add(vec![made(0)]);
        step.add((1..=MAX_CHANGES).map(made).collect());
        assert_eq!(step.changes, [made(0)]);
        assert!(step.blind.take().is_some_and(|why| why.contains(&MAX_CHANGES.to_string())));
        step.add((1..MAX_CHANGES).map(made).collect());
        assert!(step.changes.len() == MAX_CHANGES && step.blind.is_none());
    }

    #[test]
    fn what_was_not_kept_is_named_and_bounded() {
        let mut step = Step::new("t", "p", 0, Path::new("/w"));
        for number in 0..=MAX_LOST {
            let (path, before) = (PathBuf::from(format!("{number}")), Image::Unkept { stamp: "x".into() });
            step.add(vec![Change { path, before, after: Image::Absent }]);
        }
        assert_eq!((step.lost.len(), step.more_lost, step.changes.len()), (MAX_LOST, 1, 0));
    }
}
