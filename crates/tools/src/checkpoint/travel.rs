//! Takes steps back, does them again, and tells what has changed since.
//!
//! First everything is decided, on images alone; then it is written down; then files are put in place; then that is written down. A
//! crash in between is finished by whoever comes next. Where one path cannot be had, nothing is written at all, unless the person wants
//! the others all the same.

use super::diff;
use super::image::{Image, shown};
use super::ledger::{Ledger, go_on};
use super::merge::{Contents, NotMerged, merge, taken_back};
use super::restore::{self, Move};
use super::step::{Change, Step, StepState};
use crate::digest;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovedFile {
    Made,
    Changed,
    /// Changed, with what others did to it since.
    Merged,
    Removed,
}

/// What came of a way back or forth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Moved {
    /// The prompts whose changes these were.
    pub prompts: Vec<String>,
    /// Files by their paths below the workspace.
    pub files: Vec<(String, MovedFile)>,
    /// What stays as it is, and why.
    pub left: Vec<(String, String)>,
}

/// Files that others changed so that they cannot be moved, each with what is wrong.
pub type Conflicts = Vec<(String, String)>;

/// Why nothing was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotMoved {
    /// There is nothing to move; the words say so.
    Nothing(String),
    Conflicts(Conflicts),
    /// Something said no on the way; the words say where.
    Failed(String),
}

impl From<String> for NotMoved {
    fn from(why: String) -> NotMoved {
        NotMoved::Failed(why)
    }
}

/// Since when a diff tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// The last prompt that changed files.
    Prompt,
    /// The beginning of the session.
    Start,
}

/// What becomes of conflicts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conflicting {
    Refuses,
    IsLeft,
}

impl Ledger {
    /// Takes back what the last prompt did to files. With `leave`, files that others changed too are left as they are.
    ///
    /// # Errors
    /// When there is nothing, or it cannot be: then nothing was written, or it says where it stopped.
    pub fn undo(&self, leave: bool) -> Result<Moved, NotMoved> {
        let _alone = self.alone();
        let mut steps = match self.finished()? {
            (_, Some(finished)) => return Ok(finished),
            (steps, None) => steps,
        };
        let Some(at) = steps.iter().rposition(|step| step.state == StepState::Applied) else {
            return Err(NotMoved::Nothing(
                "no file changes of this session are left to take back".to_owned(),
            ));
        };
        self.travel(&mut steps, &[at], &[], leave)
    }

    /// Does again what was taken back last.
    ///
    /// # Errors
    /// As for [`Ledger::undo`].
    pub fn redo(&self, leave: bool) -> Result<Moved, NotMoved> {
        let _alone = self.alone();
        let mut steps = match self.finished()? {
            (_, Some(finished)) => return Ok(finished),
            (steps, None) => steps,
        };
        let stands = steps.iter().rposition(|step| step.state == StepState::Applied).map_or(0, |at| at + 1);
        match steps.iter().skip(stands).position(|step| step.state == StepState::Undone) {
            Some(at) => self.travel(&mut steps, &[], &[stands + at], leave),
            None if steps.iter().any(|step| step.state == StepState::Undone) => Err(NotMoved::Nothing(
                "files were changed since the last undo: there is nothing to redo".to_owned(),
            )),
            None => Err(NotMoved::Nothing("nothing was taken back".to_owned())),
        }
    }

    /// Takes back what these turns did, and does again what those did: the way from one branch of a conversation to another. Turns
    /// without changes, and those that stand as wanted, are passed over.
    ///
    /// # Errors
    /// As for [`Ledger::undo`].
    pub fn go(&self, back: &[String], forth: &[String], leave: bool) -> Result<Moved, NotMoved> {
        let _alone = self.alone();
        let (mut steps, _) = self.finished()?;
        let chosen = |turns: &[String], state: StepState| -> Vec<usize> {
            let wanted = |step: &Step| step.state == state && turns.contains(&step.turn);
            steps.iter().enumerate().filter(|(_, step)| wanted(step)).map(|(at, _)| at).collect()
        };
        let (mut back, forth) = (chosen(back, StepState::Applied), chosen(forth, StepState::Undone));
        back.reverse();
        if back.is_empty() && forth.is_empty() {
            return Ok(Moved::default());
        }
        self.travel(&mut steps, &back, &forth, leave)
    }

    /// The difference between what files were then and what they are now, for those that turns of this session changed. Empty when there
    /// is none.
    ///
    /// # Errors
    /// When the steps or their contents cannot be read, in words.
    pub fn diff(&self, since: Since) -> Result<String, String> {
        let steps = self.steps()?;
        let applied = || steps.iter().filter(|step| step.state == StepState::Applied);
        let chosen: Vec<&Step> = match since {
            Since::Prompt => applied().next_back().into_iter().collect(),
            Since::Start => applied().collect(),
        };
        let mut then: BTreeMap<(&Path, &Path), &Image> = BTreeMap::new();
        for step in &chosen {
            for change in &step.changes {
                then.entry((step.root.as_path(), change.path.as_path())).or_insert(&change.before);
            }
        }
        let mut contents = Kept(self);
        let mut text = diff::Text::default();
        for ((root, path), before) in then {
            let now = self.look(root, &go_on).at(path)?;
            text.add(path, before, &now, &mut contents)?;
        }
        for step in chosen {
            text.tell(step);
        }
        Ok(text.end())
    }

    /// The steps, with what a crash or a refusal cut in the middle brought to its end; what that moved comes with them.
    fn finished(&self) -> Result<(Vec<Step>, Option<Moved>), NotMoved> {
        let mut steps = self.steps()?;
        let of = |state: StepState| -> Vec<usize> {
            (0..steps.len()).filter(|at| steps[*at].state == state).collect()
        };
        let (mut back, forth) = (of(StepState::Undoing), of(StepState::Redoing));
        back.reverse();
        let Some(root) = back.iter().chain(&forth).next().map(|at| steps[*at].root.clone()) else {
            return Ok((steps, None));
        };
        let mut plan = Plan { ledger: self, root: &root, ways: BTreeMap::new(), conflicts: Vec::new() };
        let mut moved = Moved::default();
        for at in back.iter().chain(&forth) {
            moved.prompts.push(steps[*at].prompt.clone());
            for change in &steps[*at].journal {
                let (from, to) = (change.before.clone(), change.after.clone());
                let way = plan.ways.entry(change.path.clone());
                way.or_insert(Way { from, to, merged: false }).to = change.after.clone();
            }
        }
        let mut elsewhere = Vec::new();
        for (path, way) in &plan.ways {
            let now = self.look(&root, &go_on).at(path)?;
            if now != way.from {
                elsewhere.push(path.clone());
                if now != way.to {
                    moved.left.push((shown(path), "it was changed meanwhile: it stays as it is".to_owned()));
                }
            }
        }
        plan.ways.retain(|path, _| !elsewhere.contains(path));
        let (moves, files) = plan.end();
        moved.files = files;
        self.perform(&root, &moves)?;
        self.settle(&mut steps, &back, &forth)?;
        Ok((steps, Some(moved)))
    }

    fn travel(
        &self,
        steps: &mut [Step],
        back: &[usize],
        forth: &[usize],
        leave: bool,
    ) -> Result<Moved, NotMoved> {
        let conflicting = if leave { Conflicting::IsLeft } else { Conflicting::Refuses };
        let Some(root) = back.iter().chain(forth).next().map(|at| steps[*at].root.clone()) else {
            return Ok(Moved::default());
        };
        if back.iter().chain(forth).any(|at| steps[*at].root != root) {
            return Err(NotMoved::Failed(
                "the turns worked in different workspaces: take them back one by one".to_owned(),
            ));
        }
        if !root.is_dir() {
            return Err(NotMoved::Failed(format!("{} is not there any more", shown(&root))));
        }
        let mut plan = Plan { ledger: self, root: &root, ways: BTreeMap::new(), conflicts: Vec::new() };
        let mut moved = Moved::default();
        let mut journals = Vec::new();
        for (at, is_back) in back.iter().map(|at| (*at, true)).chain(forth.iter().map(|at| (*at, false))) {
            let step = &steps[at];
            journals.push((at, plan.take(step, is_back)?));
            moved.prompts.push(step.prompt.clone());
            moved.left.extend(step.lost.iter().map(|lost| (shown(&lost.path), lost.why.clone())));
            if step.more_lost > 0 {
                moved.left.push((format!("and {} more", step.more_lost), "they were not kept".to_owned()));
            }
            moved.left.extend(step.blind.iter().map(|why| ("what its commands did".to_owned(), why.clone())));
        }
        plan.look_out()?;
        if !plan.conflicts.is_empty() && conflicting == Conflicting::Refuses {
            return Err(NotMoved::Conflicts(plan.conflicts));
        }
        let left = std::mem::take(&mut plan.conflicts);
        let (moves, files) = plan.end();
        for (at, mut journal) in journals {
            journal.retain(|change| !left.iter().any(|(path, _)| *path == shown(&change.path)));
            let step = &mut steps[at];
            step.journal = journal;
            step.state = if back.contains(&at) { StepState::Undoing } else { StepState::Redoing };
            self.put(step)?;
        }
        self.perform(&root, &moves)?;
        self.settle(steps, back, forth)?;
        moved.files = files;
        moved.left.extend(left);
        Ok(moved)
    }

    fn perform(&self, root: &Path, moves: &[Move]) -> Result<(), String> {
        let content = |digest: &str| Kept(self).get(digest);
        let done = restore::perform(root, moves, &content);
        done.map_err(|why| {
            format!("{why} (what was done until then stays; the same command goes on from there)")
        })
    }

    fn settle(&self, steps: &mut [Step], back: &[usize], forth: &[usize]) -> Result<(), String> {
        for at in back {
            steps[*at].state = StepState::Undone;
        }
        for at in forth {
            steps[*at].state = StepState::Applied;
            steps[*at].journal.clear();
        }
        for at in back.iter().chain(forth) {
            // Taken back and done again is nothing to tell.
            steps[*at].untold = !steps[*at].untold;
            self.put(&steps[*at])?;
        }
        Ok(())
    }
}

/// Contents in the vault.
struct Kept<'a>(&'a Ledger);

impl Contents for Kept<'_> {
    fn get(&mut self, digest: &str) -> Result<Vec<u8>, String> {
        let content = self.0.vault.content(digest)?;
        content
            .ok_or_else(|| "its content is no longer kept (old contents make room for new ones)".to_owned())
    }

    fn put(&mut self, content: Vec<u8>) -> Result<String, String> {
        let digest = digest::hex(&content);
        self.0.vault.keep(vec![(digest.clone(), content)])?;
        Ok(digest)
    }
}

/// Where a path is and where it goes.
struct Way {
    from: Image,
    to: Image,
    merged: bool,
}

/// What would be done.
struct Plan<'a> {
    ledger: &'a Ledger,
    root: &'a Path,
    ways: BTreeMap<PathBuf, Way>,
    conflicts: Conflicts,
}

impl Plan<'_> {
    fn way(&mut self, path: &Path) -> Result<&mut Way, NotMoved> {
        if !self.ways.contains_key(path) {
            let now = self.ledger.look(self.root, &go_on).at(path)?;
            self.ways.insert(path.to_owned(), Way { from: now.clone(), to: now, merged: false });
        }
        self.ways.get_mut(path).ok_or_else(|| NotMoved::Failed(shown(path)))
    }

    /// Takes a step in; what it does to each path comes back.
    fn take(&mut self, step: &Step, is_back: bool) -> Result<Vec<Change>, NotMoved> {
        let mut paths: BTreeMap<&Path, Vec<&Change>> = BTreeMap::new();
        for change in if is_back { &step.changes } else { &step.journal } {
            paths.entry(&change.path).or_default().push(change);
        }
        let mut contents = Kept(self.ledger);
        let mut journal = Vec::new();
        for (path, changes) in paths {
            let way = self.way(path)?;
            let now = way.to.clone();
            let to = if is_back {
                taken_back(&now, &changes, &mut contents)
            } else {
                changes
                    .iter()
                    .try_fold(now.clone(), |now, done| merge(&done.after, &now, &done.before, &mut contents))
            };
            match to {
                Ok(to) => {
                    let known =
                        |image: &Image| changes.iter().any(|one| one.before == *image || one.after == *image);
                    way.merged |= to != Image::Absent && !known(&to);
                    way.to = to.clone();
                    journal.push(Change { path: path.to_owned(), before: now, after: to });
                }
                Err(NotMerged::Conflict(why)) => self.conflicts.push((shown(path), why)),
                Err(NotMerged::Failed(why)) => {
                    return Err(NotMoved::Failed(format!("{}: {why}", shown(path))));
                }
            }
        }
        Ok(journal)
    }

    /// Whether anything that nobody planned for would be in the way.
    fn look_out(&mut self) -> Result<(), NotMoved> {
        let mut conflicts = Vec::new();
        for (path, way) in &self.ways {
            if way.from == way.to {
                continue;
            }
            if matches!(way.from, Image::Unkept { .. }) {
                conflicts.push((shown(path), "what is there now cannot be kept".to_owned()));
            }
            if way.to != Image::Absent {
                for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
                    let there = match self.ways.get(above) {
                        Some(way) => way.to.clone(),
                        None => self.ledger.look(self.root, &go_on).at(above)?,
                    };
                    if !matches!(there, Image::Folder { .. } | Image::Absent) {
                        conflicts.push((shown(path), format!("{} is in the way", shown(above))));
                    }
                }
            }
            let is_replaced = matches!(way.to, Image::File { .. } | Image::Link { .. });
            if let (Image::Folder { .. }, true) = (&way.from, is_replaced) {
                let inside = std::fs::read_dir(self.root.join(path)).into_iter().flatten().flatten();
                let stays = |name: &PathBuf| self.ways.get(name).is_none_or(|way| way.to != Image::Absent);
                if let Some(inner) = inside.map(|entry| path.join(entry.file_name())).find(stays) {
                    conflicts.push((shown(path), format!("{} is in the way", shown(&inner))));
                }
            }
        }
        self.conflicts.append(&mut conflicts);
        Ok(())
    }

    /// What to do, and how it is told.
    fn end(self) -> (Vec<Move>, Vec<(String, MovedFile)>) {
        let (mut moves, mut files) = (Vec::new(), Vec::new());
        for (path, Way { from, to, merged }) in self.ways {
            if from == to {
                continue;
            }
            let is_folder = |image: &Image| matches!(image, Image::Folder { .. } | Image::Absent);
            let how = match (&from, &to) {
                (Image::Absent, _) => MovedFile::Made,
                (_, Image::Absent) => MovedFile::Removed,
                _ if merged => MovedFile::Merged,
                _ => MovedFile::Changed,
            };
            if !(is_folder(&from) && is_folder(&to)) {
                files.push((shown(&path), how));
            }
            moves.push(Move { path, from, to });
        }
        (moves, files)
    }
}
