//! Looks at a whole workspace: what git does not ignore, each file by the digest of its content, which the vault then holds.
//!
//! What is there is found by a walk ([`crate::tree`]); here only what the walk found to be other than the last time is looked at. A file
//! that looks as it did (device, inode, size, times) is not read again, unless it had changed so shortly before it was read that a second
//! change could look the same. Past a bound nothing is claimed: the caller hears which one it was.

use super::changes::differing;
use super::image::Image;
use super::{Print, Vault};
use crate::sandbox::Closed;
use crate::tree::{self, Root, Stat, TreeWalk};
use crate::{digest, exact};
use rustix::fs::OFlags;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Files and folders of a workspace whose changes by commands can be taken back.
pub const MAX_FILES: usize = 100_000;
/// Bytes of them, as they lie there.
pub const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Largest single file that is kept.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;
/// How long a look may take. What was read until then is not read again the next time.
pub const MAX_TIME: Duration = Duration::from_secs(20);
/// A file that changed less than this before it was read may have changed again without looking other.
const SETTLED: Duration = Duration::from_secs(2);
/// How long what the vault said is believed: it forgets a workspace that nobody asks about.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);
/// Contents that go to the vault at once.
const BATCH_FILES: usize = 256;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Files are read by at most this many threads.
const MAX_READERS: usize = 4;

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
pub struct ScanBounds {
    pub files: usize,
    pub bytes: u64,
    pub time: Duration,
}

impl Default for ScanBounds {
    fn default() -> ScanBounds {
        ScanBounds { files: MAX_FILES, bytes: MAX_BYTES, time: MAX_TIME }
    }
}

/// What stands at a path, and what the system said of it then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StampedImage {
    pub(crate) image: Image,
    pub(crate) stamp: Stamp,
}

impl StampedImage {
    /// Whether it may change without looking other, or be seen better the next time.
    fn is_unsure(&self) -> bool {
        match &self.image {
            Image::File { .. } => !self.stamp.settled,
            Image::Link { .. } | Image::Unkept { .. } => true,
            Image::Absent | Image::Folder { .. } => false,
        }
    }
}

/// What the system says of a file: another one of these is another file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    size: u64,
    changed: i128,
    status: i128,
    /// Whether it had been as it was for a while when it was read.
    settled: bool,
}

impl Stamp {
    fn of(stat: &Stat) -> Stamp {
        let Stat { device, inode, size, changed, status, .. } = *stat;
        Stamp { device, inode, size, changed, status, settled: false }
    }

    fn is_same(&self, other: &Stamp) -> bool {
        Stamp { settled: true, ..*self } == Stamp { settled: true, ..*other }
    }

    /// Whether a file that looked like this before it was read and like `after` behind it cannot change without looking other: it had
    /// been as it was for a while. `now` is in nanoseconds since 1970.
    fn is_settled(&self, after: &Stamp, now: i128) -> bool {
        let calm = now - self.status.max(self.changed);
        self.is_same(after) && calm > i128::try_from(SETTLED.as_nanos()).unwrap_or(i128::MAX)
    }

    fn write(&self) -> String {
        let Stamp { device, inode, size, changed, status, settled } = self;
        format!("{device}:{inode}:{size}:{changed}:{status}:{}", u8::from(*settled))
    }

    fn read(text: &str) -> Option<Stamp> {
        let mut fields = text.split(':');
        let stamp = Stamp {
            device: fields.next()?.parse().ok()?,
            inode: fields.next()?.parse().ok()?,
            size: fields.next()?.parse().ok()?,
            changed: fields.next()?.parse().ok()?,
            status: fields.next()?.parse().ok()?,
            settled: fields.next()? == "1",
        };
        fields.next().is_none().then_some(stamp)
    }
}

/// How something without a content is told from another.
pub(crate) fn stamp_of(meta: &std::fs::Metadata) -> String {
    Stamp::of(&Stat::of(meta)).write()
}

/// A workspace as it was seen. Paths are below its root, in the order of their bytes: to compare them part by part took half the time of
/// a look.
pub(crate) type Snapshot = BTreeMap<OsString, StampedImage>;

/// Reads what was last seen of a workspace.
pub(crate) fn known(vault: &dyn Vault, root: &Path) -> Result<Snapshot, String> {
    let seen = |print: Print| {
        let seen =
            StampedImage { image: Image::try_from(print.image).ok()?, stamp: Stamp::read(&print.stamp)? };
        Some((OsString::from_vec(print.path), seen))
    };
    Ok(vault.prints(root.as_os_str().as_bytes())?.into_iter().filter_map(seen).collect())
}

/// Whether a path below a workspace is never kept.
pub(crate) fn is_version_control(path: &Path) -> bool {
    path.iter().any(tree::is_version_control)
}

/// One look at a workspace.
pub(crate) struct Look<'a> {
    pub(crate) root: &'a Path,
    pub(crate) vault: &'a dyn Vault,
    pub(crate) closed: &'a Closed,
    pub(crate) bounds: ScanBounds,
    /// Says when to leave off.
    pub(crate) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Look<'_> {
    /// Takes in what a walk found. `last` is the last look, which spares reading and which is brought up to date in the vault; `also` are
    /// paths that are looked at although git ignores them by now.
    ///
    /// # Errors
    /// Which bound was met, in words that go on "cannot be undone: …".
    pub(crate) fn take_in(
        &self,
        walk: &Arc<TreeWalk>,
        last: LastLook,
        also: &Snapshot,
        until: Instant,
    ) -> Result<LastLook, String> {
        walk.kept().clone()?;
        let may_be_closed = self.closed.meets(self.root);
        let is_closed = |path: &OsStr| may_be_closed && self.closed.holds(&self.root.join(path));
        self.is_small_enough(walk, may_be_closed.then_some(&is_closed))?;
        let mut other = last.differing(walk);
        let (beside, unchanged) = self.beside(walk, &last, also, &mut other);
        if last.walk.is_some() && other.met.is_empty() && other.gone.is_empty() {
            return Ok(LastLook { walk: Some(walk.clone()), beside, ..last });
        }
        let mut seen: Met = unchanged;
        let mut unread = Vec::new();
        for (path, stat) in other.met {
            let (stamp, mode) = (Stamp::of(&stat), stat.permissions());
            let known = last.seen.get(&path).filter(|last| last.stamp.settled && last.stamp.is_same(&stamp));
            if stat.is_folder() {
                seen.push((path, StampedImage { image: Image::Folder { mode }, stamp }));
            } else if !stat.is_file() || stat.size > MAX_FILE || is_closed(&path) {
                let image = self.without_content(Path::new(&path), &stat, &stamp);
                seen.push((path, StampedImage { image, stamp }));
            } else {
                match known.map(|last| (&last.image, last.stamp)) {
                    Some((Image::File { digest, .. }, stamp)) => {
                        let image = Image::File { digest: digest.clone(), mode };
                        seen.push((path, StampedImage { image, stamp }));
                    }
                    _ => unread.push(path),
                }
            }
        }
        let read = self.read(&unread, until);
        let is_all = read.is_ok();
        let (Ok(more) | Err((more, _))) = &read;
        seen.extend(more.iter().cloned());
        seen.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let is_unsure = |(path, seen): &(OsString, StampedImage)| seen.is_unsure().then(|| path.clone());
        let unsure = seen.iter().filter_map(is_unsure).collect();
        let now = match last.walk {
            None => Arc::new(seen.into_iter().collect()),
            Some(_) => {
                // What is not there any more, also what vanished before it was read.
                let mut gone = other.gone;
                gone.extend(
                    unread
                        .into_iter()
                        .filter(|path| seen.binary_search_by(|(seen, _)| seen.cmp(path)).is_err()),
                );
                gone.retain(|path| last.seen.contains_key(path));
                seen.retain(|(path, seen)| last.seen.get(path) != Some(seen));
                let mut now = last.seen.clone();
                if !gone.is_empty() || !seen.is_empty() {
                    let now = Arc::make_mut(&mut now);
                    gone.iter().for_each(|path| drop(now.remove(path)));
                    now.extend(seen);
                }
                now
            }
        };
        self.note(&last.seen, &now, is_all)?;
        read.map_err(|(_, why)| why)?;
        let walk = Some(walk.clone());
        Ok(LastLook { walk, seen: now, unsure, beside, holds_on: false, at: last.at })
    }

    /// Paths that are asked for beside what the walk found: those that are there are to be looked at, and nothing is known to be gone that
    /// lies in a folder that is shut to us.
    fn beside(
        &self,
        walk: &TreeWalk,
        last: &LastLook,
        also: &Snapshot,
        differing: &mut WalkDifference,
    ) -> (Vec<OsString>, Met) {
        let (mut beside, mut unchanged) = (Vec::new(), Vec::new());
        let is_of_last = last.walk.is_some() && std::ptr::eq(also, &*last.seen);
        let wanted: Vec<&OsString> = match also.is_empty() || is_of_last {
            // What was there and is still in the walk did not go.
            true => differing.gone.iter().collect(),
            false => {
                let found: HashSet<OsString> = walk
                    .folders()
                    .flat_map(|folder| folder.kept().map(|(name, _)| folder.join(name)))
                    .collect();
                also.keys().filter(|path| !found.contains(*path)).collect()
            }
        };
        let wanted: Vec<OsString> =
            wanted.into_iter().filter(|path| also.contains_key(*path)).cloned().collect();
        for path in wanted.into_iter().filter(|path| !is_version_control(Path::new(path))) {
            match lstat(&self.root.join(&path)) {
                Looked::There(meta) => differing.met.push((path.clone(), Stat::of(&meta))),
                Looked::Nothing => continue,
                Looked::Shut => unchanged.extend(also.get(&path).map(|seen| (path.clone(), seen.clone()))),
            }
            beside.push(path);
        }
        if !beside.is_empty() {
            let there: HashSet<&OsString> = beside.iter().collect();
            differing.gone.retain(|path| !there.contains(path));
        }
        (beside, unchanged)
    }

    fn is_small_enough(
        &self,
        walk: &TreeWalk,
        is_closed: Option<&impl Fn(&OsStr) -> bool>,
    ) -> Result<(), String> {
        let mut bytes = 0;
        for folder in walk.folders() {
            let kept = |(name, stat): &(&OsStr, &Stat)| {
                stat.is_file()
                    && stat.size <= MAX_FILE
                    && !is_closed.is_some_and(|is_closed| is_closed(&folder.join(name)))
            };
            bytes += folder.kept().filter(kept).map(|(_, stat)| stat.size).sum::<u64>();
        }
        if bytes > self.bounds.bytes {
            return Err(format!("the files here have more than {} MB", self.bounds.bytes / 1024 / 1024));
        }
        Ok(())
    }

    /// What stands at one path now; its content goes to the vault.
    ///
    /// # Errors
    /// When the vault says no.
    pub(crate) fn at(&self, path: &Path) -> Result<Image, String> {
        let full = self.root.join(path);
        let meta = match lstat(&full) {
            Looked::There(meta) => *meta,
            Looked::Nothing => return Ok(Image::Absent),
            Looked::Shut => return Ok(Image::Unkept { stamp: "shut".to_owned() }),
        };
        let stat = Stat::of(&meta);
        let stamp = Stamp::of(&stat);
        if stat.is_folder() {
            return Ok(Image::Folder { mode: stat.permissions() });
        }
        if !stat.is_file() || stat.size > MAX_FILE || self.closed.holds(&full) {
            return Ok(self.without_content(path, &stat, &stamp));
        }
        let Some((seen, content)) = read(exact::open(&full)) else {
            return Ok(Image::Unkept { stamp: stamp.write() });
        };
        if let Image::File { digest, .. } = &seen.image {
            self.vault.keep(vec![(digest.clone(), content)])?;
        }
        Ok(seen.image)
    }

    fn without_content(&self, path: &Path, stat: &Stat, stamp: &Stamp) -> Image {
        let link = stat.is_link().then(|| std::fs::read_link(self.root.join(path)).ok()).flatten();
        match link {
            Some(target) => Image::Link { target },
            None => Image::Unkept { stamp: stamp.write() },
        }
    }

    /// Says why not to go on.
    pub(crate) fn in_time(&self, until: Instant) -> Result<(), String> {
        if (self.stop)() {
            return Err("it was stopped".to_owned());
        }
        if Instant::now() > until {
            return Err(format!("keeping the files here takes more than {} s", self.bounds.time.as_secs()));
        }
        Ok(())
    }

    /// Reads files and has the vault keep them; what was done before something failed comes back with the reason.
    fn read(&self, paths: &[OsString], until: Instant) -> Result<Met, (Met, String)> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let shut = |why: io::Error| (Vec::new(), format!("the workspace cannot be opened ({why})"));
        let root = Root::open(self.root).map_err(shut)?;
        let next = AtomicUsize::new(0);
        let readers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS);
        let readers = readers.min(paths.len().div_ceil(BATCH_FILES)).max(1);
        let work = || {
            let (mut met, mut batch, mut size) = (Vec::new(), Batch::default(), 0);
            let mut failed = None;
            loop {
                let path = paths.get(next.fetch_add(1, Ordering::Relaxed));
                if path.is_none() || batch.contents.len() >= BATCH_FILES || size >= BATCH_BYTES {
                    size = 0;
                    match self.vault.keep(std::mem::take(&mut batch.contents)) {
                        Ok(()) => met.append(&mut batch.seen),
                        Err(why) => failed = Some(format!("they cannot be kept ({why})")),
                    }
                    failed = failed.or_else(|| self.in_time(until).err());
                }
                let (Some(path), None) = (path, &failed) else { return (met, failed) };
                // A pipe that nobody writes to keeps nobody waiting.
                let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
                match read(root.open_below(Path::new(path), flags).map(File::from)) {
                    Some((seen, content)) => {
                        if let Image::File { digest, .. } = &seen.image {
                            size += content.len();
                            batch.contents.push((digest.clone(), content));
                        }
                        batch.seen.push((path.clone(), seen));
                    }
                    None => met.extend(unreadable(&self.root.join(path)).map(|seen| (path.clone(), seen))),
                }
            }
        };
        let parts: Vec<(Met, Option<String>)> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..readers).map(|_| scope.spawn(work)).collect();
            let own = work();
            let broke = || (Vec::new(), Some("a reader broke down".to_owned()));
            let others = others.into_iter().map(|other| other.join().unwrap_or_else(|_| broke()));
            std::iter::once(own).chain(others.collect::<Vec<_>>()).collect()
        });
        let (mut all, mut failed) = (Vec::new(), None);
        for (met, why) in parts {
            all.extend(met);
            failed = failed.or(why);
        }
        match failed {
            None => Ok(all),
            Some(why) => Err((all, why)),
        }
    }

    /// Has the vault take in what looks other than before.
    fn note(&self, known: &Snapshot, now: &Snapshot, is_all: bool) -> Result<(), String> {
        let print = |path: &OsString, seen: &StampedImage| Print {
            path: path.as_bytes().to_vec(),
            stamp: seen.stamp.write(),
            image: seen.image.to_string(),
            digest: seen.image.digest().map(str::to_owned),
        };
        let (mut seen, mut gone) = (Vec::new(), Vec::new());
        for (path, _, now) in differing(known, now, |was, is| was == is) {
            match now {
                Some(now) => seen.push(print(path, now)),
                None if is_all => gone.push(path.as_bytes().to_vec()),
                None => {}
            }
        }
        if seen.is_empty() && gone.is_empty() {
            return Ok(());
        }
        self.vault.set_prints(self.root.as_os_str().as_bytes(), seen, gone)
    }
}

/// The last look: what was seen, and the walk that found it.
#[derive(Debug)]
pub(crate) struct LastLook {
    /// None where it is known from the vault alone.
    walk: Option<Arc<TreeWalk>>,
    pub(crate) seen: Arc<Snapshot>,
    /// What may have changed without looking other, or has to be looked at in any case.
    unsure: HashSet<OsString>,
    /// What was seen beside what the walk found.
    beside: Vec<OsString>,
    /// Whether what only the vault knows is looked at although git ignores it by now.
    holds_on: bool,
    /// When the vault was asked.
    at: Instant,
}

/// What a walk found that is other than the last look.
#[derive(Default)]
struct WalkDifference {
    met: Vec<(OsString, Stat)>,
    gone: Vec<OsString>,
}

impl LastLook {
    /// What the vault knows.
    pub(crate) fn from_vault(seen: Arc<Snapshot>) -> LastLook {
        let (unsure, beside) = (HashSet::new(), Vec::new());
        LastLook { walk: None, seen, unsure, beside, holds_on: false, at: Instant::now() }
    }

    /// The same, where commands of the session had git ignore something, it may be this.
    #[must_use]
    pub(crate) fn holding_on(self, holds_on: bool) -> LastLook {
        LastLook { holds_on, ..self }
    }

    /// What was seen, where it was we who looked; nothing of what only the vault knows, unless it may be a command's doing that it is
    /// ignored.
    pub(crate) fn seen_in_walk(&self) -> Arc<Snapshot> {
        if self.walk.is_some() || self.holds_on { self.seen.clone() } else { Arc::default() }
    }

    /// Whether the vault may have forgotten it by now.
    pub(crate) fn is_old(&self) -> bool {
        self.at.elapsed() > REMEMBERED
    }

    fn differing(&self, walk: &TreeWalk) -> WalkDifference {
        let mut differing = WalkDifference::default();
        let unsure: HashSet<&[u8]> = self.unsure.iter().map(|path| above(path)).collect();
        for folder in walk.folders() {
            let last = self.walk.as_ref().and_then(|last| last.folder(folder.path()));
            let is_same = last.is_some_and(|last| Arc::ptr_eq(last, folder));
            if is_same && !unsure.contains(folder.path().as_bytes()) {
                continue;
            }
            let mut known: HashMap<&OsStr, &Stat> = last.into_iter().flat_map(|last| last.kept()).collect();
            for (name, stat) in folder.kept() {
                let is_known = known.remove(name) == Some(stat);
                let path = folder.join(name);
                if !is_known || self.unsure.contains(&path) {
                    differing.met.push((path, *stat));
                }
            }
            differing.gone.extend(known.into_keys().map(|name| folder.join(name)));
        }
        for folder in self.walk.iter().flat_map(|last| last.folders()) {
            if walk.folder(folder.path()).is_none() {
                differing.gone.extend(folder.kept().map(|(name, _)| folder.join(name)));
            }
        }
        if !self.beside.is_empty() {
            let met: HashSet<&OsString> = differing.met.iter().map(|(path, _)| path).collect();
            let beside = self.beside.iter().filter(|path| !met.contains(path));
            let beside: Vec<OsString> = beside.cloned().collect();
            differing.gone.extend(beside);
        }
        differing
    }
}

/// The folder of a path, in bytes.
fn above(path: &OsStr) -> &[u8] {
    let path = path.as_bytes();
    path.iter().rposition(|byte| *byte == b'/').and_then(|at| path.get(..at)).unwrap_or_default()
}

/// Files that were met.
type Met = Vec<(OsString, StampedImage)>;

/// What goes to the vault at once, and what may be said once it holds it.
#[derive(Default)]
struct Batch {
    contents: Vec<(String, Vec<u8>)>,
    seen: Met,
}

/// What the system says of a path.
enum Looked {
    There(Box<std::fs::Metadata>),
    Nothing,
    /// It does not let us see.
    Shut,
}

/// Looks at a path, no link followed on the way.
fn lstat(full: &Path) -> Looked {
    let found = exact::Spot::find(full).and_then(|spot| spot.check()).and_then(|()| full.symlink_metadata());
    match found {
        Ok(meta) => Looked::There(Box::new(meta)),
        Err(why) if why.kind() == io::ErrorKind::PermissionDenied => Looked::Shut,
        Err(_) => Looked::Nothing,
    }
}

/// A file's image and content; `None` when it cannot be read, or is no plain file by now.
fn read(opened: io::Result<File>) -> Option<(StampedImage, Vec<u8>)> {
    let mut file = opened.ok()?;
    let before = file.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= MAX_FILE)?;
    let mut content = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&mut file).take(MAX_FILE + 1).read_to_end(&mut content).ok()?;
    let after = Stat::of(&file.metadata().ok().filter(|_| content.len() as u64 <= MAX_FILE)?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
    let mut stamp = Stamp::of(&Stat::of(&before));
    stamp.settled = stamp.is_settled(&Stamp::of(&after), now);
    let image = Image::File { digest: digest::hex(&content), mode: after.permissions() };
    Some((StampedImage { image, stamp }, content))
}

fn unreadable(full: &Path) -> Option<StampedImage> {
    let stamp = Stamp::of(&Stat::of(&full.symlink_metadata().ok()?));
    Some(StampedImage { image: Image::Unkept { stamp: stamp.write() }, stamp })
}

#[cfg(test)]
mod again;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::MemoryVault;

    impl Look<'_> {
        /// Looks at everything, as if for the first time but for what is known.
        fn around(&self, known: &Snapshot, also: &Snapshot) -> Result<Snapshot, String> {
            let until = Instant::now() + self.bounds.time;
            let keep = tree::Keep { files: self.bounds.files, go_on: &|| self.in_time(until) };
            let walk = Arc::new(TreeWalk::through(&Root::open(self.root).unwrap(), self.root, &keep, None));
            let last = LastLook::from_vault(Arc::new(known.clone()));
            Ok(Snapshot::clone(&self.take_in(&walk, last, also, until)?.seen))
        }
    }

    fn look<'a>(root: &'a Path, vault: &'a MemoryVault, closed: &'a Closed) -> Look<'a> {
        Look { root, vault, closed, bounds: ScanBounds::default(), stop: &|| false }
    }

    #[test]
    fn files_that_look_the_same_are_not_read_again_unless_they_changed_a_moment_before() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for number in 0..600 {
            std::fs::write(root.join(format!("{number}")), format!("{number}")).unwrap();
        }
        let (vault, closed) = (MemoryVault::default(), Closed::of(None, None));
        let look = look(&root, &vault, &closed);
        let mut first = look.around(&Snapshot::new(), &Snapshot::new()).unwrap();
        assert_eq!((first.len(), vault.handed()), (600, 600));
        // Each might have changed again within the same tick of the clock.
        first.values_mut().for_each(|seen| seen.stamp.settled = false);
        let mut second = look.around(&first, &Snapshot::new()).unwrap();
        assert_eq!(vault.handed(), 1200);
        second.values_mut().for_each(|seen| seen.stamp.settled = true);
        std::fs::write(root.join("7"), "other").unwrap();
        let third = look.around(&second, &Snapshot::new()).unwrap();
        assert_eq!(vault.handed(), 1201);
        let changed: Vec<_> = third.iter().filter(|(path, seen)| first[*path].image != seen.image).collect();
        assert!(matches!(&changed[..], [(path, _)] if *path == "7"), "{changed:?}");
    }

    #[test]
    fn a_file_is_settled_when_it_was_left_alone_for_a_while() {
        let second = 1_000_000_000;
        let one = Stamp { device: 1, inode: 2, size: 3, changed: 0, status: 100 * second, settled: false };
        let other = Stamp { changed: 1, ..one };
        for (after, now, settled) in
            [(one, 101, false), (one, 103, true), (other, 103, false), (one, 90, false)]
        {
            assert_eq!(one.is_settled(&after, now * second), settled, "{now}");
        }
    }

    #[test]
    fn what_was_read_before_the_time_was_over_is_not_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for number in 0..10 {
            std::fs::write(root.join(format!("{number}")), "x").unwrap();
        }
        let (vault, closed) = (MemoryVault::default(), Closed::of(None, None));
        let bounds = ScanBounds { time: Duration::ZERO, ..ScanBounds::default() };
        let hasty = Look { bounds, ..look(&root, &vault, &closed) };
        assert!(hasty.around(&Snapshot::new(), &Snapshot::new()).unwrap_err().contains("takes more than"));
        assert_eq!(known(&vault, &root).unwrap().len(), 10);
    }
}
