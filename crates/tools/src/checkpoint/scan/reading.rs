//! Files that are read because nothing is known of them, or nothing sure: by several threads, their contents handed to the vault.

use super::{Copies, Look, MAX_FILE, Met, RULES, Snapshot, recorded};
use crate::checkpoint::image::Image;
use crate::checkpoint::stamp::{Stamp, StampedImage, blob_id};
use crate::digest;
use crate::tree::{ObjectId, Root, Stat, TreeWalk};
use rustix::fs::OFlags;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Contents that go to the vault at once.
const BATCH_FILES: usize = 256;
const BATCH_BYTES: usize = 4 * 1024 * 1024;
/// Files are read by at most this many threads.
const MAX_READERS: usize = 4;

/// What was read, and why it is not everything.
type ReadSoFar = (Met, Option<String>);

/// What goes to the vault at once, and what may be said once it holds it.
#[derive(Default)]
struct Batch {
    contents: Vec<(String, Vec<u8>)>,
    seen: Met,
    bytes: usize,
}

impl Look<'_> {
    /// Reads files and has the vault keep what is not left to git. `last` is what was seen there before.
    pub(super) fn read(
        &self,
        walk: &TreeWalk,
        last: &Snapshot,
        paths: &[OsString],
        until: Instant,
    ) -> ReadSoFar {
        let git = match self.copies {
            Copies::All => return self.read_all(paths, &|_| None, until),
            Copies::New => return self.read_all(paths, &|path| last.get(path)?.blob, until),
            Copies::ButGits(git) => git,
        };
        // What says what is ignored is compared by its text.
        let object = |path: &OsStr| {
            let is_text = Path::new(path).file_name().is_some_and(|name| name == RULES);
            recorded(walk, path).filter(|_| !is_text)
        };
        let (mut met, failed) = self.read_all(paths, &object, until);
        // An index can name what git does not have.
        let left: Vec<ObjectId> = met.iter().filter_map(|(_, seen)| seen.blob).collect();
        if left.is_empty() {
            return (met, failed);
        }
        let mut is_there = git.has_blobs(&left).unwrap_or_default().into_iter();
        let mut is_missing = |seen: &StampedImage| seen.blob.is_some() && !is_there.next().unwrap_or(false);
        let missing = met.extract_if(.., |(_, seen)| is_missing(seen)).map(|(path, _)| path);
        let missing: Vec<OsString> = missing.collect();
        let (more, why) = self.read_all(&missing, &|_| None, until);
        met.extend(more);
        (met, failed.or(why))
    }

    /// Reads files and has the vault keep them, but for those whose content is the object that `object` names.
    fn read_all(
        &self,
        paths: &[OsString],
        object: &(dyn Fn(&OsStr) -> Option<ObjectId> + Sync),
        until: Instant,
    ) -> ReadSoFar {
        if paths.is_empty() {
            return (Vec::new(), None);
        }
        let root = match Root::open(self.root) {
            Ok(root) => root,
            Err(why) => return (Vec::new(), Some(format!("the workspace cannot be opened ({why})"))),
        };
        let next = AtomicUsize::new(0);
        let readers = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS);
        let readers = readers.min(paths.len().div_ceil(BATCH_FILES)).max(1);
        let work = || {
            let (mut met, mut batch) = (Vec::new(), Batch::default());
            let mut failed = None;
            loop {
                let path = paths.get(next.fetch_add(1, Ordering::Relaxed));
                if path.is_none() || batch.seen.len() >= BATCH_FILES || batch.bytes >= BATCH_BYTES {
                    let mut full = std::mem::take(&mut batch);
                    match self.vault.keep(full.contents) {
                        Ok(()) => met.append(&mut full.seen),
                        Err(why) => failed = Some(format!("they cannot be kept ({why})")),
                    }
                    failed = failed.or_else(|| self.in_time(until).err());
                }
                let (Some(path), None) = (path, &failed) else { return (met, failed) };
                // A pipe that nobody writes to keeps nobody waiting.
                let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
                match read(root.open_below(Path::new(path), flags).map(File::from)) {
                    Some((mut seen, content)) => {
                        let held = object(path).filter(|_| !content.is_empty());
                        seen.blob = held.filter(|object| *object == blob_id(&content));
                        if let (Image::File { digest, .. }, None) = (&seen.image, seen.blob) {
                            batch.bytes += content.len();
                            batch.contents.push((digest.clone(), content));
                        }
                        batch.seen.push((path.clone(), seen));
                    }
                    None => met.extend(unreadable(&self.root.join(path)).map(|seen| (path.clone(), seen))),
                }
            }
        };
        let parts: Vec<ReadSoFar> = std::thread::scope(|scope| {
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
        (all, failed)
    }
}

/// A file's image and content; `None` when it cannot be read, or is no plain file by now.
pub(super) fn read(opened: io::Result<File>) -> Option<(StampedImage, Vec<u8>)> {
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
    Some((StampedImage::new(image, stamp), content))
}

fn unreadable(full: &Path) -> Option<StampedImage> {
    let stamp = Stamp::of(&Stat::of(&full.symlink_metadata().ok()?));
    Some(StampedImage::new(Image::Unkept { stamp: stamp.write() }, stamp))
}
