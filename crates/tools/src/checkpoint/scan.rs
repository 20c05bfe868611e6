//! Looks at a whole workspace: what git does not ignore, each file by the digest of its content, which the vault then holds.
//!
//! What is there is found by a walk ([`crate::tree`]); here only what the walk found to be other than the last time is looked at. A file
//! that looks as it did (device, inode, size, times) is not read again, unless it had changed so shortly before it was read that a second
//! change could look the same. Past a bound nothing is claimed: the caller hears which one it was. What git holds byte for byte is not
//! copied where the caller says that git will still have it ([`Copies`]).

use super::changes::RULES;
use super::image::Image;
use super::stamp::{Stamp, StampedImage};
use super::{Print, Vault};
use crate::exact;
use crate::own_git::OwnGit;
use crate::sandbox::Closed;
use crate::tree::{self, ObjectId, Stat, TreeWalk};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::Bound;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files and folders of a workspace whose changes by commands can be taken back.
pub const MAX_FILES: usize = 100_000;
/// Bytes of them, as they lie there.
pub const MAX_BYTES: u64 = 512 * 1024 * 1024;
/// Largest single file that is kept.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;
/// How long a look may take. What was read until then is not read again the next time.
pub const MAX_TIME: Duration = Duration::from_secs(20);
/// How long what the vault said is believed: it forgets a workspace that nobody asks about.
const REMEMBERED: Duration = Duration::from_secs(60 * 60);

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

/// Which contents go to the vault.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Copies<'a> {
    /// All of them: git's records may be rewritten before anybody looks again.
    All,
    /// None that this git has by now: it will have them when somebody looks again.
    ButGits(&'a OwnGit),
    /// All that are read now and new. What was left to git stays so.
    New,
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
    let mut seen = Vec::new();
    vault.prints(root.as_os_str().as_bytes(), &mut |path, stamp, image| {
        let print = StampedImage::read(stamp, image);
        seen.extend(print.map(|print| (OsString::from_vec(path.to_vec()), print)));
    })?;
    Ok(seen.into_iter().collect())
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
    pub(crate) copies: Copies<'a>,
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
        let last = self.doubting(walk, last);
        let mut other = last.differing(walk, &|path, seen, object| {
            self.is_held(seen, object) && !(may_be_closed && is_closed(&path()))
        });
        let (beside, unchanged) = self.beside(walk, &last, also, &mut other);
        if other.met.is_empty() && other.gone.is_empty() && unchanged.is_empty() {
            return Ok(LastLook { walk: Some(walk.clone()), beside, holds_on: false, ..last });
        }
        let mut seen: Met = unchanged;
        let mut unread = Vec::new();
        for (path, stat) in other.met {
            let (stamp, mode) = (Stamp::of(&stat), stat.permissions());
            let known = last.seen.get(&path).filter(|last| last.stamp.settled && last.stamp.is_same(&stamp));
            if stat.is_folder() {
                seen.push((path, StampedImage::new(Image::Folder { mode }, stamp)));
            } else if !stat.is_file() || stat.size > MAX_FILE || is_closed(&path) {
                let image = self.without_content(Path::new(&path), &stat, &stamp);
                seen.push((path, StampedImage::new(image, stamp)));
            } else {
                let is_held =
                    |last: &&StampedImage| self.is_held(last, last.blob.and_then(|_| recorded(walk, &path)));
                match known.filter(is_held).map(|last| (&last.image, last)) {
                    Some((Image::File { digest, .. }, last)) => {
                        let image = Image::File { digest: digest.clone(), mode };
                        seen.push((path, StampedImage { image, ..*last }));
                    }
                    _ => unread.push(path),
                }
            }
        }
        let (more, failed) = self.read(walk, &last.seen, &unread, until);
        seen.extend(more);
        seen.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let is_unsure = |(path, seen): &(OsString, StampedImage)| seen.is_unsure().then(|| path.clone());
        let unsure = seen.iter().filter_map(is_unsure).collect();
        // What is not there any more, also what vanished before it was read.
        let mut gone = other.gone;
        gone.extend(
            unread.into_iter().filter(|path| seen.binary_search_by(|(seen, _)| seen.cmp(path)).is_err()),
        );
        gone.retain(|path| last.seen.contains_key(path));
        seen.retain(|(path, seen)| last.seen.get(path) != Some(seen));
        self.note(&seen, if failed.is_none() { &gone } else { &[] })?;
        failed.map_or(Ok(()), Err)?;
        let LastLook { seen: mut now, at, .. } = last;
        if !gone.is_empty() || !seen.is_empty() {
            // Where nobody else has the last look, it becomes the new one.
            let now = Arc::make_mut(&mut now);
            gone.iter().for_each(|path| drop(now.remove(path)));
            now.extend(seen);
        }
        Ok(LastLook { walk: Some(walk.clone()), seen: now, unsure, beside, holds_on: false, at })
    }

    /// The last look, where what was left to git is to be looked at once more: it is to be copied, or git has recorded something else.
    fn doubting(&self, walk: &TreeWalk, mut last: LastLook) -> LastLook {
        let has_same_index = || last.walk.as_ref().is_some_and(|last| walk.has_index_of(last));
        let is_doubted = match self.copies {
            Copies::All => true,
            Copies::ButGits(_) => !has_same_index(),
            Copies::New => false,
        };
        if is_doubted && last.walk.is_some() {
            let left = last.seen.iter().filter(|(_, seen)| seen.blob.is_some());
            last.unsure.extend(left.map(|(path, _)| path.clone()));
        }
        last
    }

    /// Whether a content need not be read again: the vault has it, or git has it still. `object` is what git has recorded by now.
    fn is_held(&self, seen: &StampedImage, object: Option<ObjectId>) -> bool {
        seen.blob.is_none()
            || match self.copies {
                Copies::All => false,
                Copies::ButGits(_) => object == seen.blob,
                Copies::New => true,
            }
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
        let is_of_last = std::ptr::eq(also, &*last.seen);
        let wanted: Vec<&OsString> = match also.is_empty() || is_of_last {
            // What was there and is still in the walk did not go.
            true => differing.gone.iter().collect(),
            false => {
                let found = paths(walk);
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
        let Some((seen, content)) = reading::read(exact::open(&full)) else {
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
            return Err(format!("keeping the files here needs more than {} s", self.bounds.time.as_secs()));
        }
        Ok(())
    }

    /// Has the vault take in what looks other than before, and where nothing is any more.
    fn note(&self, seen: &[(OsString, StampedImage)], gone: &[OsString]) -> Result<(), String> {
        if seen.is_empty() && gone.is_empty() {
            return Ok(());
        }
        let print = |(path, seen): &(OsString, StampedImage)| Print {
            path: path.as_bytes().to_vec(),
            stamp: seen.write_stamp(),
            image: seen.image.to_string(),
            digest: seen.image.digest().filter(|_| seen.blob.is_none()).map(str::to_owned),
        };
        let gone = gone.iter().map(|path| path.as_bytes().to_vec()).collect();
        self.vault.set_prints(self.root.as_os_str().as_bytes(), seen.iter().map(print).collect(), gone)
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

/// Whether what was seen at a path can be had still, where git has recorded this object by now.
type IsHeld<'a> = &'a dyn Fn(&dyn Fn() -> OsString, &StampedImage, Option<ObjectId>) -> bool;

/// The content that git has recorded of a path.
fn recorded(walk: &TreeWalk, path: &OsStr) -> Option<ObjectId> {
    let path = Path::new(path);
    let folder = path.parent().unwrap_or(Path::new(""));
    walk.object(&walk.recorded(folder.as_os_str()), path.file_name()?)
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

    /// What a walk found that is other than this. Of what only the vault knows, `is_held` says whether its content is to be had still.
    fn differing(&self, walk: &TreeWalk, is_held: IsHeld<'_>) -> WalkDifference {
        let Some(last) = &self.walk else { return self.differing_from_vault(walk, is_held) };
        let mut differing = WalkDifference::default();
        let unsure: HashSet<&[u8]> = self.unsure.iter().map(|path| above(path)).collect();
        for folder in walk.folders() {
            let last = last.folder(folder.path());
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
        for folder in last.folders() {
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

    /// The same where no walk found what is known. This is the first look of a session: whatever it does, it does for every file.
    fn differing_from_vault(&self, walk: &TreeWalk, is_held: IsHeld<'_>) -> WalkDifference {
        let (mut differing, mut there, mut known) = (WalkDifference::default(), 0, Vec::new());
        for folder in walk.folders() {
            let lead = folder.join(OsStr::new(""));
            known_in(&self.seen, lead.as_bytes(), &mut known);
            let recorded = walk.recorded(folder.path());
            for (name, stat) in folder.kept() {
                let found = known.binary_search_by(|(known, _)| (*known).cmp(name.as_bytes())).ok();
                let found = found.and_then(|at| known.get(at)).map(|(_, seen)| *seen);
                there += usize::from(found.is_some());
                let is_same = |seen: &StampedImage| {
                    let is_same = seen.stamp.is_same(&Stamp::of(stat)) && !seen.is_unsure();
                    let object = || seen.blob.and_then(|_| walk.object(&recorded, name));
                    is_same && is_held(&|| folder.join(name), seen, object())
                };
                if !found.is_some_and(is_same) {
                    differing.met.push((folder.join(name), *stat));
                }
            }
        }
        if there < self.seen.len() {
            let there = paths(walk);
            differing.gone.extend(self.seen.keys().filter(|path| !there.contains(*path)).cloned());
        }
        differing
    }
}

/// All paths that a walk found.
fn paths(walk: &TreeWalk) -> HashSet<OsString> {
    walk.folders().flat_map(|folder| folder.kept().map(|(name, _)| folder.join(name))).collect()
}

/// What is known right in a folder, by its names and in their order. `lead` is what the paths in it begin with.
fn known_in<'a>(seen: &'a Snapshot, lead: &[u8], found: &mut Vec<(&'a [u8], &'a StampedImage)>) {
    found.clear();
    let mut from = Some(lead.to_vec());
    while let Some(begin) = from.take() {
        let begin = Bound::Included(OsStr::from_bytes(&begin));
        for (path, seen) in seen.range::<OsStr, _>((begin, Bound::Unbounded)) {
            let Some(name) = path.as_bytes().strip_prefix(lead) else { return };
            let Some(end) = name.iter().position(|byte| *byte == b'/') else {
                found.push((name, seen));
                continue;
            };
            // What lies in a folder in it is passed over, up to the byte behind the slash.
            from = name.get(..end).map(|name| [lead, name, b"0"].concat());
            break;
        }
    }
}

/// The folder of a path, in bytes.
fn above(path: &OsStr) -> &[u8] {
    let path = path.as_bytes();
    path.iter().rposition(|byte| *byte == b'/').and_then(|at| path.get(..at)).unwrap_or_default()
}

/// Files that were met.
type Met = Vec<(OsString, StampedImage)>;

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

#[cfg(test)]
mod again;
mod reading;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::MemoryVault;
    use crate::tree::Root;

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
        let (bounds, copies) = (ScanBounds::default(), Copies::All);
        Look { root, vault, closed, bounds, copies, stop: &|| false }
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
    fn what_was_read_before_the_time_was_over_is_not_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for number in 0..10 {
            std::fs::write(root.join(format!("{number}")), "x").unwrap();
        }
        let (vault, closed) = (MemoryVault::default(), Closed::of(None, None));
        let bounds = ScanBounds { time: Duration::ZERO, ..ScanBounds::default() };
        let hasty = Look { bounds, ..look(&root, &vault, &closed) };
        assert!(hasty.around(&Snapshot::new(), &Snapshot::new()).unwrap_err().contains("needs more than"));
        assert_eq!(known(&vault, &root).unwrap().len(), 10);
    }
}
