//! One walk through a workspace, level by level, several folders of a level at a time.

use super::index::{Index, ObjectId, Tracked, TrackedFolder};
use super::rules::{self, IgnoreRules, RULES, Texts};
use super::{BUILT, FRESH, Stat, is_heavy, is_version_control, nanos};
use crate::exact;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, openat, statat};
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Entries among which names that steer are looked for.
pub(crate) const MAX_SEARCHED: usize = 200_000;
/// Names that steer which an earlier walk found and this one did not come to.
const MAX_REMEMBERED: usize = 8192;
/// Folders are looked at by at most this many threads.
const MAX_WALKERS: usize = 4;
/// Folders of a level that one walker is enough for.
const WORTH_SHARING: usize = 16;
/// Files after which it is asked whether to go on.
const PAUSE: usize = 256;
/// Bytes of a listing that are asked for at once.
const LISTING: usize = 64 * 1024;

/// The folder of a workspace, held open: itself and not its name, which may lead elsewhere by now.
#[derive(Debug, Clone)]
pub(crate) struct Root(Arc<OwnedFd>);

impl Root {
    /// Opens it, no link followed on the way.
    pub(crate) fn open(path: &Path) -> io::Result<Root> {
        Ok(Root(Arc::new(exact::open_folder(path)?)))
    }

    /// Opens what lies below it in one step, no link followed on the way.
    pub(crate) fn open_below(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        {
            use rustix::io::Errno;
            let resolve = rustix::fs::ResolveFlags::NO_SYMLINKS;
            match rustix::fs::openat2(&self.0, path, flags, Mode::empty(), resolve) {
                // Not every kernel and not every container knows it.
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return Ok(opened?),
            }
        }
        let mut names = path.iter().peekable();
        let mut here: Option<OwnedFd> = None;
        while let Some(name) = names.next() {
            let how = match names.peek() {
                Some(_) => OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
                None => flags,
            };
            let at = here.as_ref().map_or_else(|| self.0.as_fd(), |here| here.as_fd());
            here = Some(openat(at, name, how, Mode::empty())?);
        }
        here.ok_or_else(|| io::ErrorKind::IsADirectory.into())
    }

    /// Tells it from every other folder that is there.
    fn id(&self) -> Option<(u64, u64)> {
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "as in `look`")]
        fstat(&self.0).ok().map(|stat| (stat.st_dev as u64, stat.st_ino.into()))
    }

    /// Lets us into a folder again that a command shut to its own owner: what cannot be listed could be written unseen, by whoever knows
    /// the names in it. `path` is below it, or empty.
    fn open_up(&self, path: &OsStr) -> io::Result<()> {
        if path.is_empty() {
            let mode = fstat(&self.0)?.st_mode;
            return Ok(rustix::fs::fchmod(&self.0, opened_up(mode))?);
        }
        #[cfg(target_os = "linux")]
        return open_up(&self.open_below(Path::new(path), OFlags::PATH | OFlags::DIRECTORY)?);
        #[cfg(not(target_os = "linux"))]
        Err(io::ErrorKind::PermissionDenied.into())
    }

    /// Opens it as [`Root::open`], also where a command shut it to its owner.
    pub(super) fn open_shut(path: &Path) -> io::Result<Root> {
        #[cfg(target_os = "linux")]
        open_up(&exact::folder_handle(path)?)?;
        Root::open(path)
    }

    /// What holds it open.
    pub(crate) fn handle(&self) -> &Arc<OwnedFd> {
        &self.0
    }
}

/// The permissions of a folder, with all of its owner's.
fn opened_up(mode: rustix::fs::RawMode) -> Mode {
    Mode::from_raw_mode(mode & 0o7777 | 0o700)
}

/// A handle is enough to be told the mode, not to set it: for that the kernel has to be led there by its name for the handle.
#[cfg(target_os = "linux")]
pub(crate) fn open_up(folder: &OwnedFd) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let mode = fstat(folder)?.st_mode;
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", folder.as_raw_fd()), opened_up(mode))?)
}

/// What undo wants to know of.
pub(crate) struct Keep<'a> {
    /// At most so many files and folders; none where it wants nothing.
    pub(crate) files: usize,
    /// Says why not to go on.
    pub(crate) go_on: &'a (dyn Fn() -> Result<(), String> + Sync),
}

/// A name in a folder.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    name: CString,
    kind: FileType,
    /// Whether undo keeps it: git does not ignore it, and it is nothing that is passed over.
    is_kept: bool,
    /// Whether it is a folder that is ignored but for what git has recorded in it.
    only_tracked: bool,
    /// Whether it steers programs.
    steers: bool,
    /// Whether names that steer are looked for in it.
    is_searched: bool,
}

impl Name {
    fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.to_bytes())
    }
}

/// A folder as a walk found it.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Below the workspace.
    path: Arc<OsStr>,
    /// The rules of the folder above, and those that hold here.
    above: Arc<IgnoreRules>,
    rules: Arc<IgnoreRules>,
    is_kept: bool,
    /// Whether what git has not recorded is ignored in it, and what is recorded.
    only_tracked: bool,
    tracked: Arc<Tracked>,
    is_searched: bool,
    /// In the order of the listing.
    names: Arc<Vec<Name>>,
    /// What the system says of those that undo keeps; nothing where they vanished meanwhile.
    stats: Vec<Option<Stat>>,
}

impl Folder {
    /// What undo keeps of it.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (&OsStr, &Stat)> {
        let all = self.names.iter().zip(&self.stats);
        all.filter(|(name, _)| name.is_kept).filter_map(|(name, stat)| Some((name.name(), stat.as_ref()?)))
    }

    /// The path below the workspace of a name in it.
    pub(crate) fn join(&self, name: &OsStr) -> OsString {
        joined(&self.path, name)
    }

    /// Its own path below the workspace.
    pub(crate) fn path(&self) -> &OsStr {
        &self.path
    }

    fn is_like(&self, job: &FolderJob<'_>) -> bool {
        self.is_kept == job.is_kept
            && self.is_searched == job.is_searched
            && self.only_tracked == job.only_tracked
    }
}

fn joined(folder: &OsStr, name: &OsStr) -> OsString {
    let mut path = Vec::with_capacity(folder.len() + 1 + name.len());
    path.extend_from_slice(folder.as_bytes());
    if !path.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name.as_bytes());
    OsString::from_vec(path)
}

/// A workspace as it was seen.
///
/// It does not hold the workspace open: it is remembered for as long as a session lasts, and nobody could unmount the disk meanwhile.
#[derive(Debug)]
pub(crate) struct TreeWalk {
    root: Option<(u64, u64)>,
    /// What holds for the whole workspace.
    above: Arc<IgnoreRules>,
    /// What git has recorded in it.
    index: Index,
    /// The shallow ones first.
    folders: Vec<Arc<Folder>>,
    by_path: HashMap<Arc<OsStr>, usize>,
    keeps: usize,
    kept: Result<(), String>,
    /// The paths below the workspace whose names steer, the shallow ones first, and whether there was more than is looked through.
    steering: (Vec<OsString>, bool),
    ended: Instant,
}

/// A folder that is to be looked at.
struct FolderJob<'a> {
    path: Arc<OsStr>,
    above: Arc<IgnoreRules>,
    is_kept: bool,
    only_tracked: bool,
    is_searched: bool,
    last: Option<&'a Arc<Folder>>,
}

impl TreeWalk {
    /// Walks through `root`, which is found at `path`. `last` is an earlier walk.
    pub(crate) fn through(root: &Root, path: &Path, keep: &Keep<'_>, last: Option<&TreeWalk>) -> TreeWalk {
        let keeps = keep.files > 0;
        let known = last.map(|last| &last.above);
        let above = match (keeps, known) {
            (true, known) => IgnoreRules::above(path, known),
            // Whoever keeps nothing need not know what is ignored.
            (false, Some(known)) => known.clone(),
            (false, None) => IgnoreRules::none(path),
        };
        let known = last.map(|last| &last.index);
        let index = match keeps {
            true => Index::of(path, known),
            false => known.cloned().unwrap_or_default(),
        };
        let state = Walker {
            root,
            path,
            keep,
            tracked: index.tracked.clone(),
            last,
            kept: AtomicUsize::new(0),
            searched: AtomicUsize::new(0),
            failed: Mutex::new(None),
        };
        let mut folders: Vec<Arc<Folder>> = Vec::new();
        let last_top = last.and_then(|last| last.folder(OsStr::new("")));
        let mut level = vec![FolderJob {
            path: Arc::from(OsStr::new("")),
            above: above.clone(),
            is_kept: keeps,
            only_tracked: false,
            is_searched: true,
            last: last_top,
        }];
        while !level.is_empty() {
            let found = state.level(&level);
            level = found.iter().flat_map(|folder| state.below(folder)).collect();
            folders.extend(found);
        }
        let by_path = folders.iter().enumerate().map(|(at, folder)| (folder.path.clone(), at)).collect();
        let kept = state.failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err);
        let steering = steering(&folders, last.map(|last| &*last.steering.0), MAX_SEARCHED);
        let (root, keeps, ended) = (root.id(), keep.files, Instant::now());
        TreeWalk { root, above, index, folders, by_path, keeps, kept, steering, ended }
    }

    /// Whether it was over a moment ago, and led through this very folder.
    pub(crate) fn is_fresh(&self, root: &Root) -> bool {
        self.ended.elapsed() < FRESH && self.root.is_some() && self.root == root.id()
    }

    /// When it was over.
    #[cfg(test)]
    pub(crate) fn ended(&self) -> Instant {
        self.ended
    }

    /// How many files undo wanted to know of.
    pub(crate) fn keeps(&self) -> usize {
        self.keeps
    }

    /// Whether all of them were looked at, or why not.
    pub(crate) fn kept(&self) -> &Result<(), String> {
        &self.kept
    }

    /// All folders, the shallow ones first.
    pub(crate) fn folders(&self) -> impl Iterator<Item = &Arc<Folder>> {
        self.folders.iter()
    }

    /// The one at a path below the workspace, where it was entered.
    pub(crate) fn folder(&self, path: &OsStr) -> Option<&Arc<Folder>> {
        self.by_path.get(path).and_then(|at| self.folders.get(*at))
    }

    /// What git has recorded below a folder.
    pub(crate) fn recorded(&self, folder: &OsStr) -> TrackedFolder<'_> {
        self.index.tracked.in_folder(folder)
    }

    /// The content that git has recorded of a file in such a folder.
    pub(crate) fn object(&self, folder: &TrackedFolder<'_>, name: &OsStr) -> Option<ObjectId> {
        self.index.object(folder, name.as_bytes())
    }

    /// Whether git had recorded the very same in another walk.
    pub(crate) fn has_index_of(&self, other: &TreeWalk) -> bool {
        self.index.is_same(&other.index)
    }

    /// The paths below the workspace whose names steer, the shallow ones first, and whether there was more than is looked through.
    pub(crate) fn steering(&self) -> (&[OsString], bool) {
        (&self.steering.0, self.steering.1)
    }

    /// Whether the folder above a path was listed and had its name.
    fn has_listed(&self, path: &OsStr) -> bool {
        let path = Path::new(path);
        let above = path.parent().map_or(OsStr::new(""), Path::as_os_str);
        let name = path.file_name().unwrap_or_default();
        self.folder(above).is_some_and(|above| above.names.iter().any(|listed| listed.name() == name))
    }
}

/// The names that steer. Where there is more than is looked through, also those that the walk before this found: whoever fills the
/// workspace must not hide what was known.
pub(super) fn steering(
    folders: &[Arc<Folder>],
    last: Option<&[OsString]>,
    most: usize,
) -> (Vec<OsString>, bool) {
    let mut found = Vec::new();
    let mut searched = 0;
    for folder in folders.iter().filter(|folder| folder.is_searched) {
        let left = most - searched;
        let seen = folder.names.iter().take(left);
        found.extend(seen.filter(|name| name.steers).map(|name| folder.join(name.name())));
        if folder.names.len() > left {
            let known: HashSet<OsString> = found.iter().cloned().collect();
            let before = last.into_iter().flatten();
            found.extend(before.filter(|path| !known.contains(*path)).take(MAX_REMEMBERED).cloned());
            return (found, true);
        }
        searched += folder.names.len();
    }
    (found, false)
}

/// What the walkers share.
struct Walker<'a> {
    root: &'a Root,
    path: &'a Path,
    keep: &'a Keep<'a>,
    tracked: Arc<Tracked>,
    last: Option<&'a TreeWalk>,
    kept: AtomicUsize,
    searched: AtomicUsize,
    failed: Mutex<Option<String>>,
}

/// What one walker uses over and over.
struct Scratch {
    listing: Vec<u8>,
    bytes: Vec<u8>,
    /// Where each name ends in `bytes`, and what it is.
    names: Vec<(usize, FileType)>,
}

impl<'a> Walker<'a> {
    /// The folders in a folder.
    fn below<'f>(&'f self, folder: &'f Folder) -> impl Iterator<Item = FolderJob<'a>> + use<'f, 'a> {
        let folders = folder
            .names
            .iter()
            .filter(|name| name.kind == FileType::Directory && (name.is_kept || name.is_searched));
        folders.map(|name| {
            let path: Arc<OsStr> = folder.join(name.name()).into();
            FolderJob {
                last: self.last.and_then(|last| last.folder(&path)),
                path,
                above: folder.rules.clone(),
                is_kept: name.is_kept,
                only_tracked: name.only_tracked,
                is_searched: name.is_searched,
            }
        })
    }

    /// Looks at folders; those that cannot be are left out.
    fn level(&self, jobs: &[FolderJob<'_>]) -> Vec<Arc<Folder>> {
        let next = AtomicUsize::new(0);
        let work = || {
            let mut scratch =
                Scratch { listing: Vec::with_capacity(LISTING), bytes: Vec::new(), names: Vec::new() };
            let mut found = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(job) = jobs.get(at) else { return found };
                found.extend(self.folder(job, &mut scratch).map(|folder| (at, folder)));
            }
        };
        let walkers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_WALKERS);
        let walkers = walkers.min(jobs.len().div_ceil(WORTH_SHARING));
        let mut found = std::thread::scope(|scope| {
            let others: Vec<_> = (1..walkers).map(|_| scope.spawn(work)).collect();
            let mut found = work();
            for other in others {
                match other.join() {
                    Ok(more) => found.extend(more),
                    Err(_) => self.fail("a walker broke down".to_owned()),
                }
            }
            found
        });
        found.sort_unstable_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, folder)| folder).collect()
    }

    fn fail(&self, why: String) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
    }

    fn has_failed(&self) -> bool {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn folder(&self, job: &FolderJob<'_>, scratch: &mut Scratch) -> Option<Arc<Folder>> {
        let job = &FolderJob {
            path: job.path.clone(),
            above: job.above.clone(),
            is_kept: job.is_kept && !self.has_failed(),
            only_tracked: job.only_tracked,
            is_searched: job.is_searched && self.searched.load(Ordering::Relaxed) <= MAX_SEARCHED,
            last: job.last,
        };
        if !job.is_kept && !job.is_searched {
            return None;
        }
        let folder = self.open(job)?;
        let most = self.keep.files.max(MAX_SEARCHED);
        list(folder.as_fd(), scratch, most + 1).ok()?;
        if scratch.names.len() > most {
            self.fail(format!("there are more than {most} files here"));
        }
        if job.is_searched {
            self.searched.fetch_add(scratch.names.len(), Ordering::Relaxed);
        }
        let last = job.last.filter(|last| last.is_like(job));
        let rules = self.rules(job, folder.as_fd(), scratch, last);
        let is_known = |last: &&Arc<Folder>| {
            Arc::ptr_eq(&last.rules, &rules)
                && Arc::ptr_eq(&last.tracked, &self.tracked)
                && scratch.is_like(&last.names)
        };
        let known = last.filter(is_known);
        let names = match known {
            Some(known) => known.names.clone(),
            None => Arc::new(self.names(job, &rules, scratch)),
        };
        let stats = if job.is_kept { self.stats(folder.as_fd(), &names) } else { Vec::new() };
        let is_same = |last: &&Arc<Folder>| {
            last.stats == stats && Arc::ptr_eq(&last.names, &names) && Arc::ptr_eq(&last.above, &job.above)
        };
        Some(match known.filter(is_same) {
            Some(same) => same.clone(),
            None => Arc::new(Folder {
                path: job.path.clone(),
                above: job.above.clone(),
                rules,
                is_kept: job.is_kept,
                only_tracked: job.only_tracked,
                tracked: self.tracked.clone(),
                is_searched: job.is_searched,
                names,
                stats,
            }),
        })
    }

    /// A folder to look at. What vanishes meanwhile, or could not be entered before either, is not there for us.
    fn open(&self, job: &FolderJob<'_>) -> Option<OwnedFd> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY;
        let open = || match job.path.is_empty() {
            true => Ok(openat(&*self.root.0, ".", how | OFlags::CLOEXEC, Mode::empty())?),
            false => self.root.open_below(Path::new(&*job.path), how),
        };
        let was_open = || {
            let last = self.last?;
            (job.last.is_some() || job.path.is_empty() || !last.has_listed(&job.path)).then_some(())
        };
        match open() {
            Err(why) if why.kind() == io::ErrorKind::PermissionDenied => {
                was_open()?;
                self.root.open_up(&job.path).and_then(|()| open()).ok()
            }
            opened => opened.ok(),
        }
    }

    /// The rules that hold in a folder.
    fn rules(
        &self,
        job: &FolderJob<'_>,
        folder: BorrowedFd<'_>,
        scratch: &Scratch,
        last: Option<&Arc<Folder>>,
    ) -> Arc<IgnoreRules> {
        if !job.is_kept {
            return job.above.clone();
        }
        let mut texts = Texts::default();
        for (name, _) in scratch.all() {
            match name {
                b".gitignore" => texts.ignore = rules::ignore(folder),
                b".git" => texts.exclude = rules::exclude(&self.path.join(&*job.path)),
                _ => {}
            }
        }
        IgnoreRules::below(&job.above, &self.path.join(&*job.path), texts, last.map(|last| &last.rules))
    }

    /// What is to be known of the names in a folder.
    fn names(&self, job: &FolderJob<'_>, rules: &IgnoreRules, scratch: &Scratch) -> Vec<Name> {
        let folder = self.path.join(&*job.path);
        let mut path = folder.join(RULES);
        let recorded = self.tracked.in_folder(&job.path);
        let named = |(name, kind): (&[u8], FileType)| {
            let os = OsStr::from_bytes(name);
            let text = os.to_string_lossy();
            let is_folder = kind == FileType::Directory;
            let steers = job.is_searched && domain::steering::part([&*text]).is_some();
            let is_passed_over = is_folder && is_heavy(&folder, &text);
            // What says what is ignored is kept, also where it says so of itself.
            let mut is_ignored = || {
                path.set_file_name(os);
                name != RULES.as_bytes() && (job.only_tracked || rules.ignores(&path, is_folder))
            };
            let may_be_kept = job.is_kept && !is_passed_over && !is_version_control(os);
            // What git has recorded is not ignored, whatever the rules say: of most files they are not asked.
            let is_recorded = may_be_kept && !is_folder && recorded.has(name);
            let is_ignored = may_be_kept && !is_recorded && is_ignored();
            let holds_recorded = || is_folder && self.tracked.holds(Path::new(&joined(&job.path, os)), true);
            let is_kept = may_be_kept && (!is_ignored || holds_recorded());
            let only_tracked = is_ignored && is_folder;
            let is_searched = job.is_searched && is_folder && !steers && !is_passed_over;
            // A listing has no name with a NUL in it.
            let name = CString::new(name).ok()?;
            Some(Name { name, kind, is_kept, only_tracked, steers, is_searched })
        };
        scratch.all().filter_map(named).collect()
    }

    fn stats(&self, folder: BorrowedFd<'_>, names: &[Name]) -> Vec<Option<Stat>> {
        let kept = names.iter().filter(|name| name.is_kept).count();
        let mut all = self.kept.fetch_add(kept, Ordering::Relaxed);
        if all + kept > self.keep.files {
            self.fail(format!("there are more than {} files here", self.keep.files));
            return Vec::new();
        }
        let mut stats = Vec::with_capacity(names.len());
        for name in names {
            if !name.is_kept {
                stats.push(None);
                continue;
            }
            all += 1;
            if all.is_multiple_of(PAUSE)
                && let Err(why) = (self.keep.go_on)()
            {
                self.fail(why);
                return Vec::new();
            }
            stats.push(look(folder, &name.name));
        }
        stats
    }
}

/// What the system says of a name in a folder; no link is followed.
fn look(folder: BorrowedFd<'_>, name: &CStr) -> Option<Stat> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the types differ from system to system"
    )]
    Some(Stat {
        device: stat.st_dev as u64,
        inode: stat.st_ino.into(),
        mode: stat.st_mode.into(),
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        changed: nanos(stat.st_mtime.into(), stat.st_mtime_nsec as i64),
        status: nanos(stat.st_ctime.into(), stat.st_ctime_nsec as i64),
    })
}

impl Scratch {
    fn all(&self) -> impl Iterator<Item = (&[u8], FileType)> {
        let begins = std::iter::once(0).chain(self.names.iter().map(|(end, _)| *end));
        begins
            .zip(&self.names)
            .map(|(begin, (end, kind))| (self.bytes.get(begin..*end).unwrap_or_default(), *kind))
    }

    /// Whether these are the names that were there before. Whether something was built may have changed behind a link.
    fn is_like(&self, last: &[Name]) -> bool {
        self.names.len() == last.len()
            && self
                .all()
                .zip(last)
                .all(|((name, kind), last)| name == last.name.to_bytes() && kind == last.kind)
            && !self.all().any(|(name, kind)| name == BUILT.1.as_bytes() && kind == FileType::Symlink)
    }

    fn push(&mut self, folder: BorrowedFd<'_>, name: &CStr, kind: FileType) {
        if matches!(name.to_bytes(), b"." | b"..") {
            return;
        }
        let kind = match kind {
            FileType::Unknown => look(folder, name).map_or(kind, |stat| FileType::from_raw_mode(stat.mode)),
            known => known,
        };
        self.bytes.extend_from_slice(name.to_bytes());
        self.names.push((self.bytes.len(), kind));
    }
}

/// Lists a folder, up to a bound.
fn list(folder: BorrowedFd<'_>, scratch: &mut Scratch, most: usize) -> io::Result<()> {
    scratch.bytes.clear();
    scratch.names.clear();
    #[cfg(target_os = "linux")]
    {
        let mut listing = std::mem::take(&mut scratch.listing);
        let mut entries = rustix::fs::RawDir::new(folder, listing.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            // What was listed until then is there.
            let Ok(entry) = entry else { break };
            scratch.push(folder, entry.file_name(), entry.file_type());
            if scratch.names.len() >= most {
                break;
            }
        }
        scratch.listing = listing;
    }
    #[cfg(not(target_os = "linux"))]
    for entry in rustix::fs::Dir::read_from(folder)?.flatten() {
        scratch.push(folder, entry.file_name(), entry.file_type());
        if scratch.names.len() >= most {
            break;
        }
    }
    Ok(())
}
