//! The ledger of a session: what each of its turns does to files, written down around each tool that may change something.
//!
//! Who calls: the engine, around a tool ([`Ledger::prepare`] before the person is asked, [`Ledger::before`] and [`Ledger::after`] around
//! the run); whoever takes steps back is in `undo`. All of it blocks. A tool that is at work when the program dies is written down as
//! such: whoever looks next takes what changed since then for its doing.

use super::Vault;
use super::changes;
use super::gits::{self, LeftToGit};
use super::image::Image;
use super::scan::{self, Copies, LastLook, Look, ScanBounds, Snapshot};
use super::step::{Change, OpenDeed, RelPath, Step};
use crate::context::ToolContext;
use crate::jobs::JobState;
use crate::tool::{Deed, Plan};
use crate::tree::{FRESH, Keep, Tree, TreeWalk};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What is told of a step whose commands went on in the background when it was written down.
const LATER: &str = "what commands in the background did later";
const NOT_TOLD_APART: &str = "nobody can tell it from what others did";
/// What is told of a file that was left to git.
const GONE_FROM_GIT: &str = "what was there before was left to git, which no longer has it";
/// Characters of a prompt that a step is known by.
const MAX_PROMPT: usize = 80;

/// What a call may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallScope {
    Files(Vec<PathBuf>),
    /// Anything but git's records, which the kernel keeps it from: what git holds of files need not be copied.
    AllButGit,
    /// Anything.
    Everything,
}

impl CallScope {
    /// What a call may change; `None` when it changes no file.
    pub fn of(plan: &Plan) -> Option<CallScope> {
        if plan.read_only {
            return None;
        }
        match &plan.deed {
            Deed::Write { paths } => Some(CallScope::Files(paths.clone())),
            Deed::Command { judgement, leaves } => {
                let may_write_git = judgement.repository || judgement.steering || leaves.free;
                Some(if may_write_git { CallScope::Everything } else { CallScope::on_the_leash(&plan.place) })
            }
            Deed::Other => Some(CallScope::Everything),
            Deed::Read | Deed::ReadClosed | Deed::Fetch { .. } | Deed::Reach { .. } => None,
        }
    }

    /// What a program may change that is held as a command of the model.
    pub fn on_the_leash(place: &ToolContext) -> CallScope {
        if gits::are_locked(place) { CallScope::AllButGit } else { CallScope::Everything }
    }

    /// Whether it may change files that nobody looks at here: those outside the project, for one.
    fn reaches_beyond(&self, root: &Path) -> bool {
        match self {
            CallScope::Files(paths) => paths.iter().any(|path| !path.starts_with(root)),
            CallScope::AllButGit | CallScope::Everything => true,
        }
    }

    /// What two calls may change that run together; `None` where one is about files by name and the other about anything: a look at the
    /// whole workspace leaves out files that git ignores, which a file's own does not.
    #[must_use]
    pub fn with(&self, other: &CallScope) -> Option<CallScope> {
        match (self, other) {
            (CallScope::Files(ours), CallScope::Files(theirs)) => {
                Some(CallScope::Files(ours.iter().chain(theirs).cloned().collect()))
            }
            (CallScope::Files(_), _) | (_, CallScope::Files(_)) => None,
            (CallScope::AllButGit, CallScope::AllButGit) => Some(CallScope::AllButGit),
            _ => Some(CallScope::Everything),
        }
    }

    /// Whether it is about the whole workspace.
    pub fn is_wide(&self) -> bool {
        !matches!(self, CallScope::Files(_))
    }
}

/// Why what a turn's commands do cannot be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotKept(pub String);

/// What is to be said when a turn begins.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Begun {
    /// To the model.
    pub told: Option<String>,
    /// It was said of an earlier turn that its commands cannot be taken back, which is over.
    pub unsay: bool,
}

/// What stood there before a call.
#[derive(Debug)]
pub struct Watched(ScopeBefore);

#[derive(Debug)]
enum ScopeBefore {
    Files { seen: Vec<(RelPath, Image)> },
    Everything { before: Arc<Snapshot>, since: SystemTime },
    Nothing,
}

/// What a session's turns do to files. Clones share it.
#[derive(Debug, Clone)]
pub struct Ledger {
    pub(super) session: Arc<str>,
    pub(super) vault: Arc<dyn Vault>,
    pub(super) place: ToolContext,
    bounds: ScanBounds,
    now: Arc<Mutex<CurrentTurn>>,
    /// Held while steps are moved: no turn begins meanwhile.
    moving: Arc<Mutex<()>>,
    /// Somebody else may be at work in this session: what is open is theirs to close.
    only_looks: bool,
}

/// How far the turn under way has come.
#[derive(Debug, Default)]
struct CurrentTurn {
    step: Option<Step>,
    /// The last look at the whole workspace.
    known: Arc<Snapshot>,
    /// The same over turns, to tell the next one from.
    last: Option<LastLook>,
    /// Whether that was since the prompt.
    looked: bool,
    /// When it was, where nothing ran since.
    looked_at: Option<Instant>,
    /// Whether a command in the background may have gone on since then.
    jobs: bool,
    /// Whether it was said that commands cannot be taken back.
    said: bool,
}

impl Ledger {
    /// The ledger of a session that works there.
    pub fn new(session: &str, place: &ToolContext, vault: Arc<dyn Vault>) -> Ledger {
        let (session, place) = (session.into(), place.clone());
        Ledger {
            session,
            vault,
            place,
            bounds: ScanBounds::default(),
            now: Arc::default(),
            moving: Arc::default(),
            only_looks: false,
        }
    }

    /// The same for whoever only looks at a session that another program works in.
    #[must_use]
    pub fn only_looking(self) -> Ledger {
        Ledger { only_looks: true, ..self }
    }

    /// The same with other bounds.
    #[must_use]
    pub fn within(self, bounds: ScanBounds) -> Ledger {
        Ledger { bounds, ..self }
    }

    /// Waits until nobody else moves steps.
    pub(super) fn alone(&self) -> MutexGuard<'_, ()> {
        self.moving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> MutexGuard<'_, CurrentTurn> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn begins. Tells what the model has not heard yet: which changes of its own are no longer there, or are there again.
    pub fn begin(&self, turn: &str, prompt: &str) -> Begun {
        let _alone = self.alone();
        let told = self.tell_moves().unwrap_or_default();
        // A turn that goes on after a crash goes on with its step.
        let begun = self.steps().ok().and_then(|steps| steps.into_iter().find(|step| step.turn == turn));
        let mut now = self.now();
        now.looked = false;
        now.looked_at = None;
        if !now.jobs {
            now.known = Arc::default();
        }
        let unsay = std::mem::take(&mut now.said);
        now.step = self.place.root().map(|root| {
            let line = prompt.split_whitespace().collect::<Vec<_>>().join(" ");
            let line: String = line.chars().take(MAX_PROMPT).collect();
            begun.unwrap_or_else(|| Step::new(turn, &line, millis(SystemTime::now()), root))
        });
        Begun { told, unsay }
    }

    /// Looks before the person is asked about a call, so that they hear whether it can be taken back.
    ///
    /// # Errors
    /// Why it cannot, the first time in a turn.
    pub fn prepare(&self, watch: &CallScope, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), NotKept> {
        let mut now = self.now();
        if !watch.is_wide() || now.looked {
            return Ok(());
        }
        now.looked = true;
        let Some(root) = self.place.root() else {
            now.said = true;
            return Err(NotKept("there is no workspace here".to_owned()));
        };
        let looked = self.look_around(root, &mut now, watch, stop).map(drop);
        if let (Err(why), Some(step)) = (&looked, &mut now.step) {
            step.blind = Some(why.clone());
        }
        now.said = looked.is_err();
        looked.map_err(NotKept)
    }

    /// A call is about to run. What it may change is in the vault when this returns, or the step says that it is not.
    pub fn before(&self, watch: &CallScope, stop: &(dyn Fn() -> bool + Sync)) -> Watched {
        let mut now = self.now();
        let (Some(root), Some(mut step)) = (self.place.root(), now.step.take()) else {
            return Watched(ScopeBefore::Nothing);
        };
        let since = SystemTime::now();
        let what = match watch {
            CallScope::Files(paths) => {
                self.place.tree().iter().for_each(|tree| tree.begins());
                self.before_files(root, paths, &mut step)
            }
            _ if step.blind.is_some() => ScopeBefore::Nothing,
            CallScope::AllButGit | CallScope::Everything => {
                now.step = Some(step);
                now.looked = true;
                let looked = self.look_around(root, &mut now, watch, stop);
                step = now.step.take().unwrap_or_else(|| Step::new("", "", 0, root));
                match looked {
                    Ok(before) => ScopeBefore::Everything { before, since },
                    Err(why) => {
                        step.blind = Some(why);
                        ScopeBefore::Nothing
                    }
                }
            }
        };
        step.may_have_changed_more |= watch.reaches_beyond(root);
        step.open = match &what {
            ScopeBefore::Nothing => None,
            ScopeBefore::Files { seen } => Some(OpenDeed { since: millis(since), seen: Some(seen.clone()) }),
            ScopeBefore::Everything { .. } => Some(OpenDeed { since: millis(since), seen: None }),
        };
        let what = match self.put(&step) {
            Ok(()) => what,
            Err(why) => {
                step.blind = Some(format!("it cannot be written down ({why})"));
                ScopeBefore::Nothing
            }
        };
        now.step = Some(step);
        Watched(what)
    }

    /// A call is over, however it ended. Says why what it did cannot be taken back, where that came out only now.
    pub fn after(&self, watched: Watched) -> Option<NotKept> {
        let mut now = self.now();
        let (Some(root), Some(mut step)) = (self.place.root(), now.step.take()) else { return None };
        let was_blind = step.blind.is_some();
        match watched.0 {
            ScopeBefore::Nothing => {}
            ScopeBefore::Files { seen } => self.close_files(root, seen, &mut step),
            ScopeBefore::Everything { before, since } => {
                now.looked_at = None;
                let last = now.last.take().filter(|last| !last.is_old());
                let last = last.unwrap_or_else(|| LastLook::from_vault(before.clone()));
                let tree = self.place.tree();
                let closed =
                    tree.and_then(|tree| self.close_everything(tree, last, (&before, since), &mut step));
                match &closed {
                    Some(after) => now.known = after.seen.clone(),
                    None => now.looked = false,
                }
                now.last = closed;
                now.jobs = self.has_jobs();
                if now.jobs {
                    step.lose(PathBuf::from(LATER), NOT_TOLD_APART);
                }
            }
        }
        self.place.tree().iter().for_each(|tree| tree.begins());
        step.open = None;
        if let Err(why) = self.put(&step) {
            step.blind = Some(format!("it cannot be written down ({why})"));
        }
        let late = step.blind.clone().filter(|_| !was_blind).map(NotKept);
        now.said |= late.is_some();
        now.step = Some(step);
        late
    }

    fn before_files(&self, root: &Path, paths: &[PathBuf], step: &mut Step) -> ScopeBefore {
        let mut seen: Vec<(RelPath, Image)> = Vec::new();
        for path in paths {
            for one in self.before_file(root, path, step) {
                // Two files may need the same new folder.
                if !seen.iter().any(|(known, _)| *known == one.0) {
                    seen.push(one);
                }
            }
        }
        if seen.is_empty() { ScopeBefore::Nothing } else { ScopeBefore::Files { seen } }
    }

    /// What stands at a file's place and at those of folders that are missing above it; nothing where it cannot be kept, which is noted.
    fn before_file(&self, root: &Path, path: &Path, step: &mut Step) -> Vec<(RelPath, Image)> {
        let why = match path.strip_prefix(root) {
            // It goes with the session, and nobody wants it back before.
            Err(_) if self.place.in_temp(path) => return Vec::new(),
            Err(_) => "it lies outside the project",
            Ok(path) if scan::is_version_control(path) => "it belongs to version control",
            Ok(path) => {
                let look = |path: &Path| Ok((RelPath(path.to_owned()), self.look(root, &go_on).at(path)?));
                // Folders that are made on the way go away with it.
                let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
                let above: Result<Vec<_>, String> = above.map(look).collect();
                match above.and_then(|above| Ok((above, look(path)?))) {
                    Ok((above, own)) => {
                        let missing = above.into_iter().filter(|(_, image)| *image == Image::Absent);
                        return missing.chain([own]).collect();
                    }
                    Err(_) => "it could not be kept",
                }
            }
        };
        step.lose(path.strip_prefix(root).unwrap_or(path).to_owned(), why);
        Vec::new()
    }

    fn close_files(&self, root: &Path, seen: Vec<(RelPath, Image)>, step: &mut Step) {
        let mut changes = Vec::new();
        for (RelPath(path), before) in seen {
            match self.look(root, &go_on).at(&path) {
                Ok(after) => changes.push(Change { path, before, after }),
                Err(why) => step.lose(path, &format!("what it holds now could not be kept ({why})")),
            }
        }
        changes.retain(|change| change.before != change.after);
        step.add(changes);
    }

    /// Looks once more and takes in what is other than it was `before`, which was looked at after a moment; the new look comes back.
    fn close_everything(
        &self,
        tree: &Tree,
        last: LastLook,
        (before, since): (&Snapshot, SystemTime),
        step: &mut Step,
    ) -> Option<LastLook> {
        let root = tree.root();
        match self.look(root, &go_on).after(tree, last, before) {
            Ok(after) => {
                let found = changes::between(root, before, &after.seen, since, &|digest| self.held(digest));
                self.add(root, before, found.changes, step);
                for path in found.strangers {
                    step.lose(path, "it was there before, where nobody looks: it stays");
                }
                Some(after)
            }
            Err(why) => {
                step.blind = Some(format!("what its commands did is not known: {why}"));
                None
            }
        }
    }

    /// The last look as the vault knows it.
    fn last_kept(&self, root: &Path) -> Result<LastLook, String> {
        let seen = Arc::new(scan::known(self.vault.as_ref(), root)?);
        Ok(LastLook::from_vault(seen).holding_on(self.changed_rules(root)?))
    }

    /// Whether a turn of the session changed what git ignores.
    fn changed_rules(&self, root: &Path) -> Result<bool, String> {
        let steps = self.vault.steps(&self.session)?;
        let steps = steps.iter().filter_map(|text| Step::read(text)).filter(|step| step.root == root);
        let mut changes = steps.flat_map(|step| step.changes);
        Ok(changes.any(|change| change.path.file_name().is_some_and(|name| name == changes::RULES)))
    }

    fn look_around(
        &self,
        root: &Path,
        now: &mut CurrentTurn,
        watch: &CallScope,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Arc<Snapshot>, String> {
        // A command of ours that went on in the background may rewrite git's records at any time.
        let leaves_to_git = *watch == CallScope::AllButGit && !now.jobs && !self.has_jobs();
        let is_copied = |seen: &Snapshot| leaves_to_git || seen.values().all(|seen| seen.blob.is_none());
        // The look before the question serves the run as well, where nobody had to be asked.
        if now.looked_at.take().is_some_and(|at| at.elapsed() < FRESH) && is_copied(&now.known) {
            return Ok(now.known.clone());
        }
        let begun = SystemTime::now();
        let tree = self.place.tree().ok_or("there is no workspace here")?;
        let last = now.last.take().filter(|last| !last.is_old());
        let git = gits::own(&self.place, root);
        let copies = if leaves_to_git { Copies::ButGits(&git) } else { Copies::All };
        let last = self.look(root, stop).copying(copies).before(tree, last)?;
        let seen = last.seen.clone();
        now.last = Some(last);
        if now.jobs && !now.known.is_empty() {
            // A command of ours went on in the background.
            let found = changes::between(root, &now.known, &seen, begun, &|digest| self.held(digest));
            if let Some(step) = &mut now.step {
                self.add(root, &now.known, found.changes, step);
            }
        }
        now.jobs = self.has_jobs();
        now.known = seen.clone();
        now.looked_at = (!now.jobs).then(Instant::now);
        Ok(seen)
    }

    /// Has a step take in what changed. What was left to git comes into the vault, now that no file has it; what git does not have any
    /// more is lost.
    fn add(&self, root: &Path, before: &Snapshot, mut changes: Vec<Change>, step: &mut Step) {
        let left = changes.iter().filter_map(|change| {
            let seen = before.get(change.path.as_os_str())?;
            Some(LeftToGit { digest: seen.image.digest()?, size: seen.stamp.size, blob: seen.blob? })
        });
        let lost = gits::take(&gits::own(&self.place, root), &left.collect::<Vec<_>>(), self.vault.as_ref());
        let is_lost = |change: &Change| change.before.digest().is_some_and(|digest| lost.contains(digest));
        for lost in changes.extract_if(.., |change| is_lost(change)) {
            step.lose(lost.path, GONE_FROM_GIT);
        }
        step.add(changes);
    }

    /// A content, where it is to be had.
    fn held(&self, digest: &str) -> Option<Vec<u8>> {
        self.vault.content(digest).ok().flatten()
    }

    fn has_jobs(&self) -> bool {
        self.place.jobs().list().iter().any(|job| matches!(job.state, JobState::Running))
    }

    /// A look with this ledger's bounds; `stop` ends it early.
    pub(super) fn look<'a>(&'a self, root: &'a Path, stop: &'a (dyn Fn() -> bool + Sync)) -> LookHere<'a> {
        LookHere { ledger: self, root, stop, copies: Copies::New, closed: self.place.closed() }
    }

    /// Has the vault write a step down.
    pub(super) fn put(&self, step: &Step) -> Result<(), String> {
        self.vault.put_step(&self.session, &step.turn, &step.write()?, &step.uses())
    }

    /// The steps of the session, oldest first. What a crash left open is closed.
    ///
    /// # Errors
    /// When they cannot be read, in words.
    pub fn steps(&self) -> Result<Vec<Step>, String> {
        let texts = self.vault.steps(&self.session)?;
        let mut steps: Vec<Step> = texts.iter().filter_map(|text| Step::read(text)).collect();
        let under_way = self.now().step.as_ref().map(|step| step.turn.clone());
        let is_left = |step: &&mut Step| step.open.is_some() && under_way.as_ref() != Some(&step.turn);
        for step in steps.iter_mut().filter(|_| !self.only_looks).filter(is_left) {
            self.close_left_open(step);
            self.put(step)?;
        }
        steps.retain(|step| !step.is_empty());
        Ok(steps)
    }

    fn close_left_open(&self, step: &mut Step) {
        let Some(open) = step.open.take() else { return };
        let root = step.root.clone();
        match open.seen {
            Some(seen) => self.close_files(&root, seen, step),
            None => {
                let since = UNIX_EPOCH + Duration::from_millis(open.since);
                match scan::known(self.vault.as_ref(), &root).map(Arc::new) {
                    Ok(before) => {
                        let last = LastLook::from_vault(before.clone());
                        drop(self.close_everything(&Tree::new(&root), last, (&before, since), step));
                    }
                    Err(why) => step.blind = Some(why),
                }
            }
        }
    }

    /// What was moved since the model last heard of it, in words for the model.
    fn tell_moves(&self) -> Result<Option<String>, String> {
        let mut lines: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for mut step in self.steps()?.into_iter().filter(|step| step.untold) {
            let verb = match step.state {
                super::StepState::Undone | super::StepState::Undoing => "took back",
                super::StepState::Applied | super::StepState::Redoing => "restored",
            };
            let mut paths: Vec<String> =
                step.changes.iter().map(|change| super::image::shown(&change.path)).collect();
            paths.sort();
            paths.dedup();
            lines.entry(verb).or_default().extend(paths);
            step.untold = false;
            self.put(&step)?;
        }
        let words = |(verb, mut paths): (&str, Vec<String>)| {
            let more = paths.len().saturating_sub(MAX_TOLD);
            paths.truncate(MAX_TOLD);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("The person {verb} earlier file changes of yours: {}{more}.", paths.join(", "))
        };
        let told: Vec<String> = lines.into_iter().map(words).collect();
        Ok((!told.is_empty()).then(|| format!("{} Read files again before you change them.", told.join(" "))))
    }
}

/// Files that the model is told of by name.
const MAX_TOLD: usize = 20;

/// A look with what it needs, kept alive.
pub(super) struct LookHere<'a> {
    ledger: &'a Ledger,
    root: &'a Path,
    stop: &'a (dyn Fn() -> bool + Sync),
    copies: Copies<'a>,
    closed: Arc<crate::sandbox::Closed>,
}

impl<'a> LookHere<'a> {
    /// The same for whoever has other contents copied than those that are read.
    fn copying(self, copies: Copies<'a>) -> LookHere<'a> {
        LookHere { copies, ..self }
    }

    fn look(&self) -> Look<'_> {
        let (vault, bounds) = (self.ledger.vault.as_ref(), self.ledger.bounds);
        let (copies, stop) = (self.copies, self.stop);
        Look { root: self.root, vault, closed: &self.closed, bounds, copies, stop }
    }

    /// Looks at everything before a call; the vault is asked what is known while the walk goes on, where there is no last look in memory.
    /// What was looked at before stays so although git ignores it by now: a command may have seen to that, and the next one would go
    /// unseen.
    fn before(&self, tree: &Tree, last: Option<LastLook>) -> Result<LastLook, String> {
        let (look, until) = (self.look(), Instant::now() + self.ledger.bounds.time);
        let (ledger, root) = (self.ledger, self.root);
        let walk = || walked(&look, until, |keep| Ok(tree.before(Some(keep))?.1));
        let (walk, last) = match last {
            Some(last) => (walk(), Ok(last)),
            None => std::thread::scope(|scope| {
                let last = scope.spawn(|| ledger.last_kept(root));
                (walk(), last.join().unwrap_or_else(|_| Err("a reader broke down".to_owned())))
            }),
        };
        let (walk, last) = (walk?, last?);
        let also = last.seen_in_walk();
        look.take_in(&walk, last, &also, until)
    }

    /// The same after it; `also` is what was there before.
    fn after(&self, tree: &Tree, last: LastLook, also: &Snapshot) -> Result<LastLook, String> {
        let (look, until) = (self.look(), Instant::now() + self.ledger.bounds.time);
        let walk = walked(&look, until, |keep| tree.after(keep))?;
        look.take_in(&walk, last, also, until)
    }

    /// What stands at one path, kept by now.
    pub(super) fn at(&self, path: &Path) -> Result<Image, String> {
        self.look().at(path)
    }
}

/// A walk within the bounds of a look.
fn walked(
    look: &Look<'_>,
    until: Instant,
    walk: impl FnOnce(Keep<'_>) -> std::io::Result<Arc<TreeWalk>>,
) -> Result<Arc<TreeWalk>, String> {
    let go_on = || look.in_time(until);
    let walk = walk(Keep { files: look.bounds.files, go_on: &go_on });
    walk.map_err(|why| format!("the workspace cannot be opened ({why})"))
}

/// For what must come to its end.
pub(super) fn go_on() -> bool {
    false
}

fn millis(at: SystemTime) -> u64 {
    u64::try_from(at.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
