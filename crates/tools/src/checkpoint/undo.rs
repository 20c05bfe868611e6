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
use super::words::Direction;
use crate::digest;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOutcome {
    Made,
    Changed,
    /// Changed, with what others did to it since.
    Merged,
    Removed,
}

/// What came of a way back or forth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UndoOutcome {
    /// The prompts whose changes these were, where their words are known.
    pub prompts: Vec<String>,
    /// Files by their paths below the workspace.
    pub files: Vec<(String, FileOutcome)>,
    /// What stays as it is, and why.
    pub left: Vec<(String, String)>,
    /// This is the rest of a way that was cut before: which way that was.
    pub finished: Option<Direction>,
}

impl UndoOutcome {
    /// A step is moved with it. A prompt without words, such as a picture, names nothing.
    fn name(&mut self, step: &Step) {
        self.prompts.extend(Some(&step.prompt).filter(|prompt| !prompt.is_empty()).cloned());
    }
}

/// Files that others changed so that they cannot be moved, each with what is wrong.
pub type Conflicts = Vec<(String, String)>;

/// Why nothing was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UndoError {
    /// There is nothing to move; the words say so.
    Nothing(String),
    Conflicts(Conflicts),
    /// Something said no on the way; the words say where.
    Failed(String),
}

impl From<String> for UndoError {
    fn from(why: String) -> UndoError {
        UndoError::Failed(why)
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
enum ConflictMode {
    Refuses,
    IsLeft,
}

fn conflicting(leave: bool) -> ConflictMode {
    if leave { ConflictMode::IsLeft } else { ConflictMode::Refuses }
}

impl Ledger {
    /// Takes back what the last prompt did to files. With `leave`, files that others changed too are left as they are.
    ///
    /// # Errors
    /// When there is nothing, or it cannot be: then nothing was written, or it says where it stopped.
    pub fn undo(&self, leave: bool) -> Result<UndoOutcome, UndoError> {
        let _alone = self.alone();
        let mut steps = match self.finished(leave)? {
            (_, Some(finished)) => return Ok(finished),
            (steps, None) => steps,
        };
        self.pass_over_nothing(&steps)?;
        let Some(at) = steps.iter().rposition(|step| step.state == StepState::Applied) else {
            return Err(UndoError::Nothing("no file changes of this session are left to undo".to_owned()));
        };
        self.travel(&mut steps, &[at], &[], leave)
    }

    /// Says once of the last prompt that its commands changed nothing that is kept: what an earlier one did is not what was meant.
    fn pass_over_nothing(&self, steps: &[Step]) -> Result<(), UndoError> {
        let texts = self.vault.steps(&self.session)?;
        let Some(mut last) = texts.last().and_then(|text| Step::read(text)) else { return Ok(()) };
        if !last.is_empty() || !last.may_have_changed_more || last.state != StepState::Applied {
            return Ok(());
        }
        last.state = StepState::Undone;
        self.put(&last)?;
        let mut words = format!("the last prompt, “{}”, changed no file that undo keeps", last.prompt);
        if let Some(step) = steps.iter().rfind(|step| step.state == StepState::Applied) {
            let _ = write!(words, "; undo once more undoes “{}”", step.prompt);
        }
        Err(UndoError::Nothing(words))
    }

    /// Does again what was taken back last.
    ///
    /// # Errors
    /// As for [`Ledger::undo`].
    pub fn redo(&self, leave: bool) -> Result<UndoOutcome, UndoError> {
        let _alone = self.alone();
        let mut steps = match self.finished(leave)? {
            (_, Some(finished)) => return Ok(finished),
            (steps, None) => steps,
        };
        let stands = steps.iter().rposition(|step| step.state == StepState::Applied).map_or(0, |at| at + 1);
        match steps.iter().skip(stands).position(|step| step.state == StepState::Undone) {
            Some(at) => self.travel(&mut steps, &[], &[stands + at], leave),
            None if steps.iter().any(|step| step.state == StepState::Undone) => Err(UndoError::Nothing(
                "files were changed since the last undo: there is nothing to redo".to_owned(),
            )),
            None => Err(UndoError::Nothing("nothing was taken back".to_owned())),
        }
    }

    /// Takes back what these turns did, and does again what those did: the way from one branch of a conversation to another. Turns
    /// without changes, and those that stand as wanted, are passed over.
    ///
    /// # Errors
    /// As for [`Ledger::undo`].
    pub fn go(&self, back: &[String], forth: &[String], leave: bool) -> Result<UndoOutcome, UndoError> {
        let _alone = self.alone();
        let (mut steps, _) = self.finished(leave)?;
        let chosen = |turns: &[String], state: StepState| -> Vec<usize> {
            let wanted = |step: &Step| step.state == state && turns.contains(&step.turn);
            steps.iter().enumerate().filter(|(_, step)| wanted(step)).map(|(at, _)| at).collect()
        };
        let (mut back, forth) = (chosen(back, StepState::Applied), chosen(forth, StepState::Undone));
        back.reverse();
        if back.is_empty() && forth.is_empty() {
            return Ok(UndoOutcome::default());
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
        // What was cut on its way back or forth stands in part: what is on disk says in which.
        let applied = || steps.iter().filter(|step| step.state != StepState::Undone);
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
        let mut contents = VaultContents(self);
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

    /// The steps, with what a crash or a refusal cut in the middle brought to its end; what that moved comes with them. With `leave`,
    /// what cannot be written is left.
    fn finished(&self, leave: bool) -> Result<(Vec<Step>, Option<UndoOutcome>), UndoError> {
        let mut steps = self.steps()?;
        let of = |state: StepState| -> Vec<usize> {
            (0..steps.len()).filter(|at| steps[*at].state == state).collect()
        };
        let (mut back, forth) = (of(StepState::Undoing), of(StepState::Redoing));
        back.reverse();
        let Some(root) = back.iter().chain(&forth).next().map(|at| steps[*at].root.clone()) else {
            return Ok((steps, None));
        };
        let mut plan = UndoPlan { ledger: self, root: &root, ways: BTreeMap::new(), conflicts: Vec::new() };
        let went = match (back.is_empty(), forth.is_empty()) {
            (false, true) => Direction::Back,
            (true, _) => Direction::Forth,
            (false, false) => Direction::Elsewhere,
        };
        let mut moved = UndoOutcome { finished: Some(went), ..UndoOutcome::default() };
        for at in back.iter().chain(&forth) {
            moved.name(&steps[*at]);
            for change in &steps[*at].journal {
                let (from, to) = (change.before.clone(), change.after.clone());
                let way = plan.ways.entry(change.path.clone());
                way.or_insert(PathChange { from, to, merged: false }).to = change.after.clone();
            }
        }
        let mut elsewhere = BTreeSet::new();
        for (path, way) in &mut plan.ways {
            let now = self.look(&root, &go_on).at(path)?;
            if way.passes(&now) {
                way.from = now;
                continue;
            }
            elsewhere.insert(path.clone());
            if now != way.to {
                moved.left.push((shown(path), "it was changed meanwhile: it stays as it is".to_owned()));
            }
        }
        plan.ways.retain(|path, _| !elsewhere.contains(path));
        plan.look_out()?;
        moved.left.extend(plan.leave_conflicts()?);
        let (moves, files) = plan.end();
        moved.files = files;
        self.perform(&root, &moves, conflicting(leave), &mut steps, &mut moved)?;
        self.settle(&mut steps, &back, &forth)?;
        Ok((steps, Some(moved)))
    }

    fn travel(
        &self,
        steps: &mut [Step],
        back: &[usize],
        forth: &[usize],
        leave: bool,
    ) -> Result<UndoOutcome, UndoError> {
        let conflicting = conflicting(leave);
        let Some(root) = back.iter().chain(forth).next().map(|at| steps[*at].root.clone()) else {
            return Ok(UndoOutcome::default());
        };
        if back.iter().chain(forth).any(|at| steps[*at].root != root) {
            return Err(UndoError::Failed(
                "the prompts worked in different projects: undo them one by one".to_owned(),
            ));
        }
        if !root.is_dir() {
            return Err(UndoError::Failed(format!("{} is not there any more", shown(&root))));
        }
        let mut plan = UndoPlan { ledger: self, root: &root, ways: BTreeMap::new(), conflicts: Vec::new() };
        let mut moved = UndoOutcome::default();
        let mut journals = Vec::new();
        for (at, is_back) in back.iter().map(|at| (*at, true)).chain(forth.iter().map(|at| (*at, false))) {
            let step = &steps[at];
            journals.push((at, plan.take(step, is_back)?));
            moved.name(step);
            moved.left.extend(step.lost.iter().map(|lost| (shown(&lost.path), lost.why.clone())));
            if step.more_lost > 0 {
                moved.left.push((format!("and {} more", step.more_lost), "they were not kept".to_owned()));
            }
            moved.left.extend(step.blind.iter().map(|why| ("what its commands did".to_owned(), why.clone())));
        }
        plan.look_out()?;
        if !plan.conflicts.is_empty() && conflicting == ConflictMode::Refuses {
            let named = |one: Conflict| (shown(&one.path), one.why);
            return Err(UndoError::Conflicts(plan.conflicts.into_iter().map(named).collect()));
        }
        let left = plan.leave_conflicts()?;
        for (_, journal) in &mut journals {
            journal.retain(|change| plan.ways.contains_key(&change.path));
        }
        let (moves, files) = plan.end();
        for (at, journal) in journals {
            let step = &mut steps[at];
            step.journal = journal;
            step.state = if back.contains(&at) { StepState::Undoing } else { StepState::Redoing };
            self.put(step)?;
        }
        moved.files = files;
        moved.left.extend(left);
        self.perform(&root, &moves, conflicting, steps, &mut moved)?;
        self.settle(steps, back, forth)?;
        Ok(moved)
    }

    /// Does the moves of the steps that are under way. What cannot be written is taken out of them, where it may be left.
    fn perform(
        &self,
        root: &Path,
        moves: &[Move],
        conflicting: ConflictMode,
        steps: &mut [Step],
        moved: &mut UndoOutcome,
    ) -> Result<(), String> {
        let content = |digest: &str| VaultContents(self).get(digest);
        let mut left: BTreeMap<PathBuf, String> = BTreeMap::new();
        let mut failed = |path: &Path, why: String| match conflicting {
            ConflictMode::Refuses => Err(format!(
                "{}: {why} (what was done until then stays; the same command goes on from there, and with \
                 \"rest\" or --leave it leaves what it cannot write)",
                shown(path)
            )),
            ConflictMode::IsLeft => {
                left.insert(path.to_owned(), why);
                Ok(())
            }
        };
        restore::perform(root, moves, &content, &mut failed)?;
        let names: BTreeSet<String> = left.keys().map(|path| shown(path)).collect();
        moved.files.retain(|(name, _)| !names.contains(name));
        let under_way = |step: &&mut Step| matches!(step.state, StepState::Undoing | StepState::Redoing);
        for step in steps.iter_mut().filter(under_way) {
            step.journal.retain(|change| !left.contains_key(&change.path));
        }
        moved.left.extend(left.into_iter().map(|(path, why)| (shown(&path), why)));
        Ok(())
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

struct VaultContents<'a>(&'a Ledger);

impl Contents for VaultContents<'_> {
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
struct PathChange {
    from: Image,
    to: Image,
    merged: bool,
}

impl PathChange {
    /// Whether something is what a move that was cut leaves here: what stood there at first, or what [`restore::perform`] has there on
    /// its way to the end.
    fn passes(&self, now: &Image) -> bool {
        if *now == self.to {
            return false;
        }
        let is_folder = |image: &Image| matches!(image, Image::Folder { .. });
        match (&self.from, now) {
            (from, now) if from == now => true,
            // What cannot be replaced in a single step is removed first.
            (from, Image::Absent) => !from.is_alike(&self.to),
            (Image::Folder { mode }, Image::Folder { mode: now }) => mode | restore::OWNER == *now,
            // A folder that was made gets its permissions last.
            (from, now) => is_folder(now) && is_folder(&self.to) && !is_folder(from),
        }
    }
}

/// What would be done.
struct UndoPlan<'a> {
    ledger: &'a Ledger,
    root: &'a Path,
    ways: BTreeMap<PathBuf, PathChange>,
    conflicts: Vec<Conflict>,
}

/// A path that cannot be moved.
struct Conflict {
    path: PathBuf,
    why: String,
    /// What is in it cannot be moved without it.
    with_inner: bool,
}

impl UndoPlan<'_> {
    fn way(&mut self, path: &Path) -> Result<&mut PathChange, UndoError> {
        if !self.ways.contains_key(path) {
            let now = self.ledger.look(self.root, &go_on).at(path)?;
            self.ways.insert(path.to_owned(), PathChange { from: now.clone(), to: now, merged: false });
        }
        self.ways.get_mut(path).ok_or_else(|| UndoError::Failed(shown(path)))
    }

    /// Takes a step in; what it does to each path comes back.
    fn take(&mut self, step: &Step, is_back: bool) -> Result<Vec<Change>, UndoError> {
        let mut paths: BTreeMap<&Path, Vec<&Change>> = BTreeMap::new();
        for change in if is_back { &step.changes } else { &step.journal } {
            paths.entry(&change.path).or_default().push(change);
        }
        let mut contents = VaultContents(self.ledger);
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
                Err(NotMerged::Conflict(why)) => {
                    let is_plain = |image: &Image| matches!(image, Image::Folder { .. } | Image::Absent);
                    let with_inner = !changes.iter().all(|one| is_plain(&one.before) && is_plain(&one.after));
                    self.conflicts.push(Conflict { path: path.to_owned(), why, with_inner });
                }
                Err(NotMerged::Failed(why)) => {
                    return Err(UndoError::Failed(format!("{}: {why}", shown(path))));
                }
            }
        }
        Ok(journal)
    }

    /// Whether anything that nobody planned for would be in the way.
    fn look_out(&mut self) -> Result<(), UndoError> {
        let mut conflicts = Vec::new();
        let mut conflict = |path: &Path, why: String| {
            conflicts.push(Conflict { path: path.to_owned(), why, with_inner: true });
        };
        for (path, way) in &self.ways {
            if way.from == way.to {
                continue;
            }
            // What a command made of something that is kept goes for it; nobody changed it since, or it would not be planned for.
            let goes_back = matches!(way.to, Image::File { .. } | Image::Link { .. });
            if matches!(way.from, Image::Unkept { .. }) && !goes_back {
                conflict(path, "what is there now cannot be kept".to_owned());
            }
            if matches!(way.to, Image::Unkept { .. }) {
                conflict(path, "what was there is not kept".to_owned());
            }
            if way.to != Image::Absent {
                for above in path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty()) {
                    let there = match self.ways.get(above) {
                        Some(way) => way.to.clone(),
                        None => self.ledger.look(self.root, &go_on).at(above)?,
                    };
                    if !matches!(there, Image::Folder { .. } | Image::Absent) {
                        conflict(path, format!("{} is in the way", shown(above)));
                    }
                }
            }
            let is_replaced = matches!(way.to, Image::File { .. } | Image::Link { .. });
            if let (Image::Folder { .. }, true) = (&way.from, is_replaced)
                && let Some(inner) = self.stays_in(path)
            {
                conflict(path, format!("{} is in the way", shown(&inner)));
            }
        }
        self.conflicts.append(&mut conflicts);
        Ok(())
    }

    /// Something in a folder that nobody planned to remove.
    fn stays_in(&self, folder: &Path) -> Option<PathBuf> {
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(self.root.join(&folder)).into_iter().flatten().flatten() {
                let inner = folder.join(entry.file_name());
                match self.ways.get(&inner) {
                    Some(PathChange { from: Image::Folder { .. }, to: Image::Absent, .. }) => {
                        waiting.push(inner);
                    }
                    Some(PathChange { to: Image::Absent, .. }) => {}
                    _ => return Some(inner),
                }
            }
        }
        None
    }

    /// Takes what cannot be moved out of the plan, and what then cannot be moved either, until the rest can; what is left, and why,
    /// comes back.
    fn leave_conflicts(&mut self) -> Result<Conflicts, UndoError> {
        let mut left = Conflicts::new();
        let mut named = BTreeSet::new();
        while !self.conflicts.is_empty() {
            let found = std::mem::take(&mut self.conflicts);
            let own: BTreeSet<&Path> = found.iter().map(|one| one.path.as_path()).collect();
            let whole: BTreeSet<&Path> =
                found.iter().filter(|one| one.with_inner).map(|one| one.path.as_path()).collect();
            self.ways.retain(|path, _| {
                !own.contains(path.as_path()) && !path.ancestors().any(|above| whole.contains(above))
            });
            let new = found.into_iter().filter(|one| named.insert(one.path.clone()));
            left.extend(new.map(|one| (shown(&one.path), one.why)));
            self.look_out()?;
        }
        Ok(left)
    }

    /// What to do, and how it is told.
    fn end(self) -> (Vec<Move>, Vec<(String, FileOutcome)>) {
        let (mut moves, mut files) = (Vec::new(), Vec::new());
        for (path, PathChange { from, to, merged }) in self.ways {
            if from == to {
                continue;
            }
            let is_folder = |image: &Image| matches!(image, Image::Folder { .. } | Image::Absent);
            let how = match (&from, &to) {
                (Image::Absent, _) => FileOutcome::Made,
                (_, Image::Absent) => FileOutcome::Removed,
                _ if merged => FileOutcome::Merged,
                _ => FileOutcome::Changed,
            };
            if !(is_folder(&from) && is_folder(&to)) {
                files.push((shown(&path), how));
            }
            moves.push(Move { path, from, to });
        }
        (moves, files)
    }
}
