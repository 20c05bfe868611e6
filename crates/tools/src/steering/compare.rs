//! The files that steer programs before a command and after it: what changed is put back at once, and a person may have it again.
//!
//! A change is put back first and asked about then: no program, ours or another, obeys what a command wrote there before a person agreed,
//! not even when we die meanwhile. The new text is not thrown away: it waits in a file beside, under a name that steers nothing, until
//! the person has answered.
//! Invariant: no link is followed on the way to a file; a workspace that was made to lead elsewhere is not written through.

use super::{YARN, parts_of_git, places_of};
use crate::tree::{Root, Tree, TreeWalk};
use crate::{digest, exact};
use domain::ask::MAX_SHOWN;
use domain::harmless::marked;
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, fchmod, fstat, mkdirat, openat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that are compared; past it the rest is not.
const MAX_FILES: usize = 8192;
/// Files of one place that are compared before those of the next: a full folder must not hide the others.
const SHARE: usize = 64;
/// Largest file whose content is kept to be put back.
const MAX_IMAGE: u64 = 1024 * 1024;
/// Bytes kept in all.
const MAX_IMAGES: u64 = 16 * 1024 * 1024;
/// How deep a folder that steers is looked into.
const MAX_DEPTH: usize = 12;
/// Names that are told where nobody decides by them.
const MAX_NAMED: usize = 20;
/// Bytes of a question that are for what changed: the rest is for its title and the words around it.
const MAX_WHOLE: usize = MAX_SHOWN - 2 * 1024;
/// What is put aside is called after what it was.
const ASIDE: &str = ".held";

/// What is said when a command made so much that changes may have gone unseen.
const FLOODED: &str = "(the command made more protected files, or more files at all, than are compared: others may have changed unseen)";

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SteeringImage {
    File { digest: String, mode: u32, bytes: Option<Vec<u8>> },
    Link(PathBuf),
    Odd,
}

impl SteeringImage {
    fn of(path: &Path, is_link: bool, room: &mut u64) -> SteeringImage {
        match is_link {
            true => std::fs::read_link(path).map_or(SteeringImage::Odd, SteeringImage::Link),
            false => file(path, room).unwrap_or(SteeringImage::Odd),
        }
    }

    fn same(&self, other: &SteeringImage) -> bool {
        match (self, other) {
            (
                SteeringImage::File { digest, mode, .. },
                SteeringImage::File { digest: now, mode: new, .. },
            ) => digest == now && mode == new,
            (one, other) => one == other,
        }
    }

    fn text(&self) -> Option<&str> {
        match self {
            SteeringImage::File { bytes: Some(bytes), .. } => std::str::from_utf8(bytes).ok(),
            SteeringImage::File { .. } | SteeringImage::Link(_) | SteeringImage::Odd => None,
        }
    }
}

/// A workspace by itself and not by its name: a command may move it away and put something else there.
#[derive(Debug, Clone)]
struct Anchor {
    /// Leads to the folder for as long as it is held open, whatever its name is now.
    path: PathBuf,
    _folder: Option<Arc<OwnedFd>>,
}

impl Anchor {
    fn at(root: &Path) -> Anchor {
        Anchor::of(root, exact::open_folder(root).ok().map(Arc::new))
    }

    /// The same for a folder that is held open already.
    fn of(root: &Path, folder: Option<Arc<OwnedFd>>) -> Anchor {
        match folder {
            Some(folder) if cfg!(target_os = "linux") => {
                let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
                Anchor { path, _folder: Some(folder) }
            }
            _ => Anchor { path: root.to_owned(), _folder: None },
        }
    }
}

/// What is looked at.
#[derive(Debug, Clone)]
enum CompareScope {
    /// A workspace, and the walk that found what steers it. There is none where it cannot be opened.
    Workspace(Arc<Tree>, Option<(Root, Arc<TreeWalk>)>),
    /// The records of a repository: its `.git`.
    Repository,
}

/// What steers a workspace, as it was at one time. Paths are relative to its root.
#[derive(Debug)]
pub(crate) struct SteeringSnapshot {
    root: Anchor,
    places: BTreeSet<PathBuf>,
    images: BTreeMap<PathBuf, SteeringImage>,
    /// Whether there was more than is looked at.
    cut: bool,
    /// Whether some of that lies in the places that were found.
    full: bool,
    /// Seconds since 1970.
    at: i64,
    of: CompareScope,
}

impl SteeringSnapshot {
    /// Looks at what steers `root` now. Takes a while in a large workspace.
    pub(crate) fn look(root: &Path) -> SteeringSnapshot {
        SteeringSnapshot::before(&Arc::new(Tree::new(
            &root.canonicalize().unwrap_or_else(|_| root.to_owned()),
        )))
    }

    /// The same of a workspace that others look at too: before something runs there.
    pub(crate) fn before(tree: &Arc<Tree>) -> SteeringSnapshot {
        let walk = tree.before(None).ok();
        let folder = walk.as_ref().map(|(folder, _)| folder.handle().clone());
        let root = Anchor::of(tree.root(), folder);
        SteeringSnapshot::look_at(root, CompareScope::Workspace(tree.clone(), walk))
    }

    /// The same of the repository of a worktree, which lies outside of it: its `.git`.
    pub(crate) fn look_at_git(records: &Path) -> SteeringSnapshot {
        SteeringSnapshot::look_at(Anchor::at(records), CompareScope::Repository)
    }

    fn look_at(root: Anchor, of: CompareScope) -> SteeringSnapshot {
        let at = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let (found, cut) = match &of {
            CompareScope::Workspace(_, walk) => places_of(&root.path, walk.as_ref().map(|(_, walk)| &**walk)),
            CompareScope::Repository => (Vec::new(), false),
        };
        let below = |place: &PathBuf| Some(place.strip_prefix(&root.path).ok()?.to_owned());
        let mut seen = SteeringSnapshot {
            places: found.iter().filter_map(below).collect(),
            root,
            images: BTreeMap::new(),
            cut,
            full: false,
            at: i64::try_from(at.as_secs()).unwrap_or(i64::MAX),
            of,
        };
        let mut room = MAX_IMAGES;
        let parts: Vec<PathBuf> = match &seen.of {
            CompareScope::Workspace(..) => found.iter().flat_map(|place| compared(place)).collect(),
            CompareScope::Repository => parts_of_git(&seen.root.path),
        };
        for share in [SHARE, MAX_FILES] {
            seen.full = false;
            for part in &parts {
                seen.full |=
                    !seen.add(part, MAX_DEPTH, &mut share.min(MAX_FILES - seen.images.len()), &mut room);
            }
        }
        seen.cut |= seen.full;
        seen
    }

    /// The same places as they are now.
    pub(crate) fn again(&self) -> SteeringSnapshot {
        let of = match &self.of {
            CompareScope::Workspace(tree, walk) => {
                let again = walk.as_ref().map(|(folder, _)| (folder.clone(), tree.compare(folder)));
                CompareScope::Workspace(tree.clone(), again)
            }
            CompareScope::Repository => CompareScope::Repository,
        };
        SteeringSnapshot::look_at(self.root.clone(), of)
    }

    /// Takes in what is at a path, at most `share` files that were not taken in before. Tells whether that was all.
    fn add(&mut self, path: &Path, depth: usize, share: &mut usize, room: &mut u64) -> bool {
        let (Ok(meta), Ok(name)) = (path.symlink_metadata(), path.strip_prefix(&self.root.path)) else {
            return true;
        };
        if self.images.contains_key(name) {
            return true;
        }
        if *share == 0 || depth == 0 {
            return false;
        }
        if meta.is_dir() {
            let mut entries: Vec<PathBuf> =
                std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
            entries.sort();
            return entries.iter().all(|entry| self.add(entry, depth - 1, share, room));
        }
        let name = name.to_owned();
        *share -= 1;
        self.images.insert(name, SteeringImage::of(path, meta.is_symlink(), room));
        true
    }

    /// Everything in a place, for a person. `None` when some of it cannot be shown.
    fn shown_below(&self, place: &Path) -> Option<String> {
        let below = self.images.range(place.to_owned()..).take_while(|(path, _)| path.starts_with(place));
        let texts = below.map(|(path, image)| shown(path, None, image)).collect::<Option<Vec<String>>>();
        Some(texts.filter(|_| !self.full)?.concat())
    }

    /// Looks again, and puts back what changed but for what `agreed` says a person agreed to. `None` when nothing did.
    pub(crate) fn put_back(&self, agreed: impl Fn(&Path) -> bool) -> Option<PutBack> {
        Some(self.put_these_back(self.changed(agreed)?))
    }

    /// The same when a command that somebody waited for has ended: where nothing has to be put back, undo need not walk once more.
    pub(crate) fn put_back_at_the_end(&self, agreed: impl Fn(&Path) -> bool) -> Option<PutBack> {
        let now = self.again();
        let changed = self.against(&now, agreed);
        if let (CompareScope::Workspace(tree, Some((_, walk))), None) = (&now.of, &changed) {
            tree.nothing_was_put_back(walk);
        }
        Some(self.put_these_back(changed?))
    }

    /// Looks again, and tells what changed but for what `agreed` says a person agreed to; it stays as it is. `None` when nothing did.
    pub(crate) fn changed(&self, agreed: impl Fn(&Path) -> bool) -> Option<SteeringChanges> {
        self.against(&self.again(), agreed)
    }

    fn against(&self, now: &SteeringSnapshot, agreed: impl Fn(&Path) -> bool) -> Option<SteeringChanges> {
        let mut changes: Vec<SteeringChange> = Vec::new();
        let fresh = |path: &Path| {
            // Where not everything was looked at before, only what is new for the file system counts as new.
            let made =
                self.root.path.join(path).symlink_metadata().is_ok_and(|meta| meta.ctime() >= self.at - 1);
            !(self.cut || now.cut) || made
        };
        let known = |place: &Path| {
            self.images.range(place.to_owned()..).next().is_some_and(|(path, _)| path.starts_with(place))
        };
        for place in now.places.difference(&self.places).filter(|place| !known(place) && fresh(place)) {
            changes.push(SteeringChange::new(place, ChangeKind::Made, now.shown_below(place)));
        }
        for (path, image) in &now.images {
            let whole = changes
                .iter()
                .any(|change| change.what == ChangeKind::Made && path.starts_with(&change.path));
            match self.images.get(path) {
                _ if whole => {}
                None if fresh(path) => {
                    changes.push(SteeringChange::new(path, ChangeKind::Made, shown(path, None, image)));
                }
                None => {}
                Some(old) if old.same(image) => {}
                Some(old) => changes.push(SteeringChange::new(
                    path,
                    ChangeKind::Changed,
                    shown(path, Some(old), image),
                )),
            }
        }
        // Looked for by name: there may be so much now that it was not met again.
        let mut room = MAX_IMAGES;
        for (path, old) in self.images.iter().filter(|(path, _)| !now.images.contains_key(*path)) {
            let full = self.root.path.join(path);
            match full.symlink_metadata() {
                Ok(meta) if !meta.is_dir() => {
                    let image = SteeringImage::of(&full, meta.is_symlink(), &mut room);
                    if !old.same(&image) {
                        changes.push(SteeringChange::new(
                            path,
                            ChangeKind::Changed,
                            shown(path, Some(old), &image),
                        ));
                    }
                }
                _ => changes.push(SteeringChange::new(path, ChangeKind::Removed, Some(String::new()))),
            }
        }
        changes.retain(|change| !agreed(&change.path));
        let nothing = changes.is_empty() && (self.cut || !now.cut);
        (!nothing).then_some(SteeringChanges { changes, cut: self.cut || now.cut })
    }

    /// Puts back what was found to have changed since.
    pub(crate) fn put_these_back(&self, changed: SteeringChanges) -> PutBack {
        let SteeringChanges { mut changes, cut } = changed;
        // First everything that is in the way, also links that lead elsewhere, then what was there.
        for change in &mut changes {
            let image = self.images.get(&change.path);
            if matches!(image, Some(SteeringImage::File { bytes: None, .. } | SteeringImage::Odd)) {
                change.failed = Some("it is too large or too odd to be put back".to_owned());
            } else if change.what != ChangeKind::Removed {
                change.put_aside(&self.root.path);
            }
        }
        for change in changes.iter_mut().filter(|change| change.failed.is_none()) {
            let image = self.images.get(&change.path);
            if let Some(image) = image.filter(|_| change.what != ChangeKind::Made)
                && let Err(why) = restore(&self.root.path, &change.path, image)
            {
                change.failed = Some(format!("it cannot be put back: {why}"));
            }
        }
        PutBack { root: self.root.clone(), changes, cut }
    }
}

/// The parts of a place that are compared: of version control only what makes it run something.
fn compared(place: &Path) -> Vec<PathBuf> {
    let name = place.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    if !place.is_dir() || place.is_symlink() {
        return vec![place.to_owned()];
    }
    match name.as_str() {
        ".git" => parts_of_git(place),
        ".hg" => vec![place.join("hgrc")],
        ".jj" => vec![place.join("repo/config.toml")],
        ".svn" => Vec::new(),
        name if name == YARN.0 => YARN.1.iter().map(|part| place.join(part)).collect(),
        _ => vec![place.to_owned()],
    }
}

fn file(path: &Path, room: &mut u64) -> io::Result<SteeringImage> {
    // A pipe in the place of a file must not keep us.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(SteeringImage::Odd);
    }
    let mode = meta.permissions().mode() & 0o7777;
    if meta.len() > MAX_IMAGE.min(*room) {
        return Ok(SteeringImage::File {
            digest: digest::of_file(path)?.unwrap_or_default(),
            mode,
            bytes: None,
        });
    }
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE).read_to_end(&mut bytes)?;
    *room = room.saturating_sub(bytes.len() as u64);
    Ok(SteeringImage::File { digest: digest::hex(&bytes), mode, bytes: Some(bytes) })
}

/// A path in one line: its folders are called as the command likes, and a line break could pass for another file.
fn written(path: &Path) -> String {
    let each = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    path.to_string_lossy().chars().map(each).collect()
}

/// What is new about a file, for a person. `None` when it cannot be shown: it is no text, or too large to be kept.
fn shown(path: &Path, old: Option<&SteeringImage>, new: &SteeringImage) -> Option<String> {
    let name = written(path);
    let new_mode = match new {
        SteeringImage::Link(target) => return Some(format!("{name} is a link to {}\n", written(target))),
        SteeringImage::Odd => return None,
        SteeringImage::File { mode, .. } => *mode,
    };
    let (old, old_mode) = match old {
        Some(old @ SteeringImage::File { mode, .. }) => (old.text()?, *mode),
        // As an editor would make it: to no end but to be read.
        _ => ("", new_mode & !0o7111),
    };
    let mut text = crate::diff::diff(&name, old, new.text()?).text;
    if old_mode != new_mode {
        let _ = writeln!(text, "{name} has the mode {new_mode:o} instead of {old_mode:o}");
    }
    Some(text)
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeKind {
    Made,
    Changed,
    Removed,
}

#[derive(Debug)]
struct SteeringChange {
    path: PathBuf,
    what: ChangeKind,
    /// What a person is shown of it beside its name. `None` when it cannot be shown.
    shown: Option<String>,
    /// Where what the command wrote waits.
    aside: Option<OsString>,
    failed: Option<String>,
}

impl SteeringChange {
    fn new(path: &Path, what: ChangeKind, shown: Option<String>) -> SteeringChange {
        SteeringChange { path: path.to_owned(), what, shown, aside: None, failed: None }
    }

    fn put_aside(&mut self, root: &Path) {
        match put_aside(root, &self.path) {
            Ok(aside) => self.aside = Some(aside),
            Err(why) => self.failed = Some(format!("it cannot be moved away: {why}")),
        }
    }

    /// Whether there is something to take of it.
    fn can_be_taken(&self) -> bool {
        self.failed.is_none() || self.aside.is_some()
    }

    fn words(&self) -> String {
        let verb = match self.what {
            ChangeKind::Made => "made",
            ChangeKind::Changed => "changed",
            ChangeKind::Removed => "removed",
        };
        match &self.failed {
            None => format!("{verb} {}", written(&self.path)),
            Some(why) => format!("{verb} {} ({why})", written(&self.path)),
        }
    }
}

/// What changed, and is as it was made.
#[derive(Debug)]
pub(crate) struct SteeringChanges {
    changes: Vec<SteeringChange>,
    cut: bool,
}

impl SteeringChanges {
    /// Whether there is nothing to decide: only more than can be compared.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// What became of which file, a line each, as far as it is told where nobody decides.
    pub(crate) fn list(&self) -> String {
        listed(&self.changes, self.cut, MAX_NAMED)
    }

    /// All of it, for the person who decides. `None` when it cannot be shown whole.
    pub(crate) fn whole(&self) -> Option<String> {
        whole(&self.changes, self.cut)
    }
}

fn listed(changes: &[SteeringChange], cut: bool, most: usize) -> String {
    let mut text = String::new();
    for change in changes.iter().take(most) {
        let _ = writeln!(text, "- {}", change.words());
    }
    if changes.len() > most {
        let _ = writeln!(text, "- and {} more", changes.len() - most);
    }
    if cut {
        text.push_str("- there are more files here than are compared: others may have changed too\n");
    }
    text
}

/// Every name, and what is new in each file. A yes is for what was shown: `None` when a person cannot be shown all that it would take.
fn whole(changes: &[SteeringChange], cut: bool) -> Option<String> {
    let mut text = listed(changes, cut, changes.len());
    let mut shown =
        changes.iter().filter(|change| change.can_be_taken()).map(|change| change.shown.as_deref());
    let mut is_first = true;
    while let (Some(shown), true) = (shown.next(), text.len() <= MAX_WHOLE) {
        let shown = shown?;
        if is_first && !shown.is_empty() {
            text.push('\n');
            is_first = false;
        }
        text.push_str(shown);
    }
    (text.len() <= MAX_WHOLE).then_some(text)
}

/// What was put back; what the command wrote waits beside it until one of these is called.
#[derive(Debug)]
pub(crate) struct PutBack {
    root: Anchor,
    changes: Vec<SteeringChange>,
    cut: bool,
}

impl PutBack {
    /// Whether there is nothing to decide: only more than can be compared.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// For the person who decides; `who` changed them. `None` when not all of it can be shown: then nobody is asked.
    pub(crate) fn question(&self, who: &str) -> Option<String> {
        let whole = whole(&self.changes, self.cut)?;
        let mut text =
            format!("These files steer what programs do here. {who}:\n{}\n", marked(whole.trim_end()));
        if self.changes.iter().any(|change| change.failed.is_some()) {
            let _ = write!(text, "\n{}. The others are as they were before.", self.done());
        } else {
            text.push_str("\nThey are as they were before.");
        }
        text.push_str(" Shall the new version be taken?");
        Some(text)
    }

    fn done(&self) -> &'static str {
        match self.changes.iter().any(|change| change.failed.is_some()) {
            false => "protected files were put back as they were",
            true => {
                "NOT all protected files could be put back: look at them before anything else is done here"
            }
        }
    }

    fn list(&self) -> String {
        listed(&self.changes, self.cut, MAX_NAMED)
    }

    /// The person wants what the command wrote.
    pub(crate) fn keep(self) -> String {
        let mut troubles = String::new();
        for change in &self.changes {
            if let Err(why) = take(&self.root.path, change) {
                let _ = write!(troubles, "\n{}: {why}", change.path.display());
            }
        }
        format!("(protected files, kept by the person:\n{}){troubles}", self.list())
    }

    /// The person does not want it.
    pub(crate) fn discard(self) -> String {
        let mut troubles = String::new();
        for change in &self.changes {
            if let Some(aside) = &change.aside
                && let Err(why) = remove(&self.root.path, &change.path, aside)
            {
                let _ = write!(troubles, "\n{}: {why}", aside.display());
            }
        }
        format!("({}; the person did not agree:\n{}){troubles}", self.done(), self.list())
    }

    /// Nobody said: what the command wrote stays beside.
    pub(crate) fn leave(self) -> String {
        self.left("nobody was there to agree")
    }

    /// Nobody was asked, since it cannot be shown whole: what the command wrote stays beside, where a person can see it.
    pub(crate) fn leave_unshown(self) -> String {
        self.left("nobody was asked: it is too much, or no text, and a yes is for what was shown")
    }

    fn left(self, why: &str) -> String {
        if self.is_empty() {
            return FLOODED.to_owned();
        }
        let beside = |change: &SteeringChange| {
            let aside = change.path.with_file_name(change.aside.as_ref()?);
            Some((written(&aside), written(&change.path)))
        };
        let beside: Vec<(String, String)> = self.changes.iter().filter_map(beside).collect();
        let mut told = format!("({}, {why}:\n{}", self.done(), self.list());
        if !beside.is_empty() {
            let names: Vec<&str> = beside.iter().take(MAX_NAMED).map(|(aside, _)| aside.as_str()).collect();
            let more = if beside.len() > names.len() { " and so on, beside each of them" } else { "" };
            // Only what a shell takes as it stands is written out for it.
            let plain = |c: char| c.is_ascii_alphanumeric() || "._/".contains(c);
            let example = beside.iter().find(|(aside, _)| aside.trim_end_matches(ASIDE).chars().all(plain));
            let example = example.map(|(aside, path)| format!(": `mv {aside} {path}`")).unwrap_or_default();
            let names = names.join(", ");
            let _ = writeln!(
                told,
                "what was written is in {names}{more}; the person can look at it there, and move it into place with mv{example}"
            );
        }
        told + ")"
    }
}

/// The folder of a file, reached from the root without following a link; made where it is missing.
fn folder(root: &Path, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut here = openat(CWD, root, flags, Mode::empty())?;
    for name in path.parent().into_iter().flat_map(Path::iter) {
        here = match openat(&here, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::NOENT) => {
                mkdirat(&here, name, Mode::from_raw_mode(0o777))?;
                openat(&here, name, flags | OFlags::NOFOLLOW, Mode::empty())?
            }
            opened => opened?,
        };
    }
    Ok(here)
}

fn name(path: &Path) -> io::Result<&OsStr> {
    path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn put_aside(root: &Path, path: &Path) -> io::Result<OsString> {
    let folder = folder(root, path)?;
    for number in 1..=MAX_NAMED {
        let mut aside = name(path)?.to_owned();
        aside.push(ASIDE);
        if number > 1 {
            aside.push(format!("-{number}"));
        }
        if statat(&folder, &aside, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            move_away(&folder, name(path)?, &aside)?;
            return Ok(aside);
        }
    }
    // Somebody took them all beforehand; nobody foresees this one.
    let mut aside = name(path)?.to_owned();
    aside.push(format!("{ASIDE}-{:016x}", std::hash::RandomState::new().build_hasher().finish()));
    move_away(&folder, name(path)?, &aside)?;
    Ok(aside)
}

/// Moves a file within a folder, also when the command closed the folder to us: it is ours, so it can be opened again.
fn move_away(folder: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<()> {
    match renameat(folder, from, folder, to) {
        Err(Errno::ACCESS | Errno::PERM) => {
            let mode = Mode::from_raw_mode(fstat(folder)?.st_mode) | Mode::RWXU;
            fchmod(folder, mode)?;
            Ok(renameat(folder, from, folder, to)?)
        }
        done => Ok(done?),
    }
}

fn restore(root: &Path, path: &Path, image: &SteeringImage) -> io::Result<()> {
    let folder = folder(root, path)?;
    match image {
        SteeringImage::Link(target) => Ok(symlinkat(target, &folder, name(path)?)?),
        SteeringImage::File { bytes: Some(bytes), mode, .. } => {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mut file = File::from(openat(&folder, name(path)?, flags, Mode::from_raw_mode(0o600))?);
            file.write_all(bytes)?;
            file.set_permissions(std::fs::Permissions::from_mode(*mode))
        }
        SteeringImage::File { .. } | SteeringImage::Odd => Err(io::ErrorKind::Unsupported.into()),
    }
}

/// Takes what the command made of a file after all.
fn take(root: &Path, change: &SteeringChange) -> io::Result<()> {
    if change.failed.is_some() && change.aside.is_none() {
        return Ok(());
    }
    let folder = folder(root, &change.path)?;
    match &change.aside {
        Some(aside) => Ok(renameat(&folder, aside, &folder, name(&change.path)?)?),
        None => Ok(unlinkat(&folder, name(&change.path)?, AtFlags::empty())?),
    }
}

fn remove(root: &Path, path: &Path, aside: &OsStr) -> io::Result<()> {
    let folder = folder(root, path)?;
    match unlinkat(&folder, aside, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => {
            std::fs::remove_dir_all(Path::new(&format!("/proc/self/fd/{}", folder.as_raw_fd())).join(aside))
        }
        done => Ok(done?),
    }
}

/// Whether a path of a repository belongs to git's own folder.
pub(crate) fn is_of_git(path: &Path) -> bool {
    path.iter().any(|part| part.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests;
