//! Looks at a whole workspace: what git does not ignore, each file by the digest of its content, which the vault then holds.
//!
//! A file that looks as it did (device, inode, size, times) is not read again, unless it had changed so shortly before it was read that
//! a second change could look the same. Past a bound nothing is claimed: the caller hears which one it was.

use super::image::Image;
use super::{Print, Vault};
use crate::sandbox::Closed;
use crate::{digest, exact, steering};
use ignore::WalkState;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Files and folders of a workspace whose changes by commands can be taken back.
pub const MAX_FILES: usize = 100_000;
/// Bytes of them, as they lie there.
pub const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Largest single file that is kept.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;
/// How long a look may take. What was read until then is not read again the next time.
pub const MAX_TIME: Duration = Duration::from_secs(20);
/// Folders of version control, which are never kept and never written.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".jj", ".svn"];
/// A file that changed less than this before it was read may have changed again without looking other.
const SETTLED: Duration = Duration::from_secs(2);
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
    fn of(meta: &std::fs::Metadata) -> Stamp {
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Stamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.len(),
            changed: nanos(meta.mtime(), meta.mtime_nsec()),
            status: nanos(meta.ctime(), meta.ctime_nsec()),
            settled: false,
        }
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
    path.iter().any(|name| {
        VERSION_CONTROL.iter().any(|known| name.to_str().is_some_and(|name| name.eq_ignore_ascii_case(known)))
    })
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
    /// Looks at everything. `known` is the last look, which spares reading and which is brought up to date in the vault; `also` are paths
    /// that are looked at although git ignores them by now.
    ///
    /// # Errors
    /// Which bound was met, in words that go on "cannot be undone: …".
    pub(crate) fn around(&self, known: &Snapshot, also: &Snapshot) -> Result<Snapshot, String> {
        let until = Instant::now() + self.bounds.time;
        let mut snapshot = Snapshot::new();
        let met = self.walk(also, until, &mut snapshot)?;
        let mut bytes = 0;
        let mut unread = Vec::new();
        for (path, meta) in met {
            let stamp = Stamp::of(&meta);
            let mode = meta.permissions().mode() & 0o7777;
            let last = known.get(&path).filter(|last| last.stamp.settled && last.stamp.is_same(&stamp));
            if meta.is_dir() {
                snapshot.insert(path, StampedImage { image: Image::Folder { mode }, stamp });
            } else if !meta.is_file() || meta.len() > MAX_FILE || self.closed.holds(&self.root.join(&path)) {
                let image = self.without_content(Path::new(&path), &meta, &stamp);
                snapshot.insert(path, StampedImage { image, stamp });
            } else {
                bytes += meta.len();
                match last.map(|last| (&last.image, last.stamp)) {
                    Some((Image::File { digest, .. }, stamp)) => {
                        let image = Image::File { digest: digest.clone(), mode };
                        snapshot.insert(path, StampedImage { image, stamp });
                    }
                    _ => unread.push(path),
                }
            }
        }
        if bytes > self.bounds.bytes {
            return Err(format!("the files here have more than {} MB", self.bounds.bytes / 1024 / 1024));
        }
        let read = self.read(&unread, until);
        let is_all = read.is_ok();
        let (Ok(seen) | Err((seen, _))) = &read;
        snapshot.extend(seen.iter().cloned());
        self.note(known, &snapshot, is_all)?;
        read.map(|_| snapshot).map_err(|(_, why)| why)
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
        let (stamp, mode) = (Stamp::of(&meta), meta.permissions().mode() & 0o7777);
        if meta.is_dir() {
            return Ok(Image::Folder { mode });
        }
        if !meta.is_file() || meta.len() > MAX_FILE || self.closed.holds(&full) {
            return Ok(self.without_content(path, &meta, &stamp));
        }
        let Some((seen, content)) = read(&full) else {
            return Ok(Image::Unkept { stamp: stamp.write() });
        };
        if let Image::File { digest, .. } = &seen.image {
            self.vault.keep(vec![(digest.clone(), content)])?;
        }
        Ok(seen.image)
    }

    fn without_content(&self, path: &Path, meta: &std::fs::Metadata, stamp: &Stamp) -> Image {
        let link = meta.is_symlink().then(|| std::fs::read_link(self.root.join(path)).ok()).flatten();
        match link {
            Some(target) => Image::Link { target },
            None => Image::Unkept { stamp: stamp.write() },
        }
    }

    /// Everything that git does not ignore, and what is asked for beside it. What is asked for and lies in a folder that is shut to us
    /// is taken for unchanged.
    fn walk(
        &self,
        also: &Snapshot,
        until: Instant,
        unchanged: &mut Snapshot,
    ) -> Result<BTreeMap<OsString, std::fs::Metadata>, String> {
        let mut walk = ignore::WalkBuilder::new(self.root);
        walk.hidden(false).require_git(false).ignore(false).filter_entry(|entry| {
            let name = entry.file_name();
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            let above = entry.path().parent().unwrap_or(entry.path());
            let is_heavy =
                is_folder && entry.depth() > 0 && steering::is_heavy(above, &name.to_string_lossy());
            !is_version_control(Path::new(name)) && !is_heavy
        });
        let walkers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS);
        let walked = Walked::default();
        let root = self.root.as_os_str().as_bytes();
        let skip = root.len() + usize::from(!root.ends_with(b"/"));
        walk.threads(walkers).build_parallel().run(|| {
            let mut own = OwnPart { walked: &walked, met: Vec::new() };
            Box::new(move |entry| {
                // What vanishes meanwhile, or may not be entered, is not there for us.
                let Some(path) = entry.as_ref().ok().and_then(|entry| below(entry.path(), skip)) else {
                    return WalkState::Continue;
                };
                if let Some(meta) = entry.as_ref().ok().and_then(|entry| entry.metadata().ok()) {
                    own.met.push((path, meta));
                }
                match own.counted(|| self.in_time(until), self.bounds.files) {
                    true => WalkState::Continue,
                    false => WalkState::Quit,
                }
            })
        });
        let mut met = walked.all()?;
        for (path, seen) in also.iter().filter(|(path, _)| !is_version_control(Path::new(path))) {
            if met.contains_key(path) {
                continue;
            }
            match lstat(&self.root.join(path)) {
                Looked::There(meta) => _ = met.insert(path.clone(), *meta),
                Looked::Nothing => {}
                Looked::Shut => _ = unchanged.insert(path.clone(), seen.clone()),
            }
        }
        Ok(met)
    }

    fn in_time(&self, until: Instant) -> Result<(), String> {
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
                let full = self.root.join(path);
                match read(&full) {
                    Some((seen, content)) => {
                        if let Image::File { digest, .. } = &seen.image {
                            size += content.len();
                            batch.contents.push((digest.clone(), content));
                        }
                        batch.seen.push((path.clone(), seen));
                    }
                    None => met.extend(unreadable(&full).map(|seen| (path.clone(), seen))),
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
        let print = |(path, seen): (&OsString, &StampedImage)| Print {
            path: path.as_bytes().to_vec(),
            stamp: seen.stamp.write(),
            image: seen.image.to_string(),
            digest: seen.image.digest().map(str::to_owned),
        };
        let seen: Vec<Print> =
            now.iter().filter(|(path, seen)| known.get(*path) != Some(*seen)).map(print).collect();
        let gone = known.keys().filter(|path| is_all && !now.contains_key(*path));
        let gone: Vec<Vec<u8>> = gone.map(|path| path.as_bytes().to_vec()).collect();
        if seen.is_empty() && gone.is_empty() {
            return Ok(());
        }
        self.vault.set_prints(self.root.as_os_str().as_bytes(), seen, gone)
    }
}

/// What walkers met together.
#[derive(Default)]
struct Walked {
    met: Mutex<Vec<(OsString, std::fs::Metadata)>>,
    count: AtomicUsize,
    failed: Mutex<Option<String>>,
}

impl Walked {
    fn all(self) -> Result<BTreeMap<OsString, std::fs::Metadata>, String> {
        match self.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(why) => Err(why),
            None => Ok(self.met.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect()),
        }
    }
}

/// What one walker met; it goes to the others' when the walker is through.
struct OwnPart<'a> {
    walked: &'a Walked,
    met: Vec<(OsString, std::fs::Metadata)>,
}

impl OwnPart<'_> {
    /// Counts one more; tells whether the walk goes on.
    fn counted(&self, in_time: impl Fn() -> Result<(), String>, most: usize) -> bool {
        let count = self.walked.count.fetch_add(1, Ordering::Relaxed) + 1;
        let fine = match count {
            _ if count > most => Err(format!("there are more than {most} files here")),
            _ if count.is_multiple_of(BATCH_FILES) => in_time(),
            _ => Ok(()),
        };
        let Err(why) = fine else { return true };
        *self.walked.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
        false
    }
}

impl Drop for OwnPart<'_> {
    fn drop(&mut self) {
        self.walked.met.lock().unwrap_or_else(PoisonError::into_inner).append(&mut self.met);
    }
}

/// A path without its first bytes, which are the root and the slash after it; `None` for the root itself.
fn below(path: &Path, skip: usize) -> Option<OsString> {
    let below = path.as_os_str().as_bytes().get(skip..).filter(|below| !below.is_empty())?;
    Some(OsStr::from_bytes(below).to_owned())
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
        Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => Looked::Shut,
        Err(_) => Looked::Nothing,
    }
}

/// A file's image and content; `None` when it cannot be read, or is no plain file by now.
fn read(full: &Path) -> Option<(StampedImage, Vec<u8>)> {
    let mut file = exact::open(full).ok()?;
    let before = file.metadata().ok().filter(|meta| meta.is_file() && meta.len() <= MAX_FILE)?;
    let mut content = Vec::with_capacity(usize::try_from(before.len()).unwrap_or(0));
    (&mut file).take(MAX_FILE + 1).read_to_end(&mut content).ok()?;
    let after = file.metadata().ok().filter(|_| content.len() as u64 <= MAX_FILE)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX);
    let mut stamp = Stamp::of(&before);
    stamp.settled = stamp.is_settled(&Stamp::of(&after), now);
    let image = Image::File { digest: digest::hex(&content), mode: after.permissions().mode() & 0o7777 };
    Some((StampedImage { image, stamp }, content))
}

fn unreadable(full: &Path) -> Option<StampedImage> {
    let stamp = Stamp::of(&full.symlink_metadata().ok()?);
    Some(StampedImage { image: Image::Unkept { stamp: stamp.write() }, stamp })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::MemoryVault;

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
