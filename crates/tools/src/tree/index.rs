//! What git has recorded: the paths in the index of a workspace's repository and the names of their contents, read from the file itself. A
//! recorded file is no ignored one, whatever the rules say.
//!
//! Nothing is run and nothing is obeyed. An index that cannot be understood whole, or is split into several files, says nothing; nor does
//! that of a repository within the workspace.

use super::Stat;
use super::rules::records;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of an index that are read: some hundred thousand files.
const MAX_INDEX: u64 = 64 * 1024 * 1024;
/// Bytes of an entry before its flags, without the name of its object.
const FIXED: usize = 40;
/// Bytes that name an object, in the two kinds of repositories.
const OBJECT_NAMES: [usize; 2] = [20, 32];
/// The bits of an entry's flags that tell the sides of a merge apart; none where there is one content.
const SIDES: u16 = 0x3000;
/// The bits that tell how long a path is, where it is shorter than all of them say.
const LENGTH: u16 = 0x0fff;
/// The flag of an entry that has two bytes of flags more.
const IS_EXTENDED: u16 = 0x4000;
/// The extension of an index whose other entries lie elsewhere.
const SPLIT: &[u8] = b"link";

/// The name of an object in the usual kind of repository.
pub(crate) type ObjectId = [u8; 20];
/// The name of no object.
const NO_OBJECT: ObjectId = [0; 20];

/// How long an index must have been as it is to be known by its times alone.
const SETTLED: Duration = Duration::from_secs(2);

/// An index that was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Index {
    pub(super) tracked: Arc<Tracked>,
    /// The content that git has of each recorded path, in their order; nothing in a repository of the other kind.
    objects: Arc<Vec<ObjectId>>,
    /// Tells it from another one; nothing where that could not be told apart.
    stamp: Option<Stat>,
}

impl Index {
    /// That of the repository of `root` now. What it says is the very same as the last time where nothing changed.
    pub(super) fn of(root: &Path, last: Option<&Index>) -> Index {
        let found = find(root);
        let stat = found.as_ref().and_then(|(file, _)| file.metadata().ok()).map(|meta| Stat::of(&meta));
        if let Some(last) = last.filter(|last| stat.is_some() && last.stamp == stat) {
            return last.clone();
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i128::try_from(now.as_nanos()).unwrap_or(0);
        let settled = i128::try_from(SETTLED.as_nanos()).unwrap_or(i128::MAX);
        let stamp = stat.filter(|stat| now - stat.status.max(stat.changed) > settled);
        let is_read = stat.is_some_and(|stat| stat.is_file() && stat.size <= MAX_INDEX);
        let tracked = found.filter(|_| is_read).and_then(|(file, within)| {
            let mut bytes = Vec::new();
            file.take(MAX_INDEX).read_to_end(&mut bytes).ok()?;
            OBJECT_NAMES.iter().find_map(|name| parse(&bytes, *name, &within))
        });
        let (tracked, objects) = tracked.unwrap_or_default();
        let same = last.map(|last| &last.tracked).filter(|last| ***last == tracked);
        let tracked = same.cloned().unwrap_or_else(|| Arc::new(tracked));
        let same = last.map(|last| &last.objects).filter(|last| ***last == objects);
        Index { tracked, objects: same.cloned().unwrap_or_else(|| Arc::new(objects)), stamp }
    }

    /// The content that git has recorded of a file in a folder.
    pub(super) fn object(&self, folder: &TrackedFolder<'_>, name: &[u8]) -> Option<ObjectId> {
        self.objects.get(folder.find(name)?).copied().filter(|object| *object != NO_OBJECT)
    }

    /// Whether it says the very same of every path.
    pub(super) fn is_same(&self, other: &Index) -> bool {
        Arc::ptr_eq(&self.tracked, &other.tracked) && Arc::ptr_eq(&self.objects, &other.objects)
    }
}

/// The index of the repository that a folder belongs to, and the way from its top to the folder.
fn find(root: &Path) -> Option<(File, Vec<u8>)> {
    let top = root.ancestors().find(|top| top.join(".git").symlink_metadata().is_ok())?;
    let within = root.strip_prefix(top).ok()?.as_os_str().as_bytes().to_vec();
    Some((File::open(records(top)?.0.join("index")).ok()?, within))
}

/// The recorded paths of a workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tracked {
    /// One after the other, in the order of their bytes.
    bytes: Vec<u8>,
    /// Offsets behind each path.
    ends: Vec<usize>,
}

impl Tracked {
    fn path(&self, at: usize) -> &[u8] {
        let begin = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(at).and_then(|end| self.bytes.get(begin..*end)).unwrap_or_default()
    }

    fn push(&mut self, path: &[u8]) {
        self.bytes.extend_from_slice(path);
        self.ends.push(self.bytes.len());
    }

    /// Where a path stands, or would stand.
    fn find(&self, path: &[u8]) -> usize {
        partition(self.ends.len(), |at| self.path(at) < path)
    }

    /// Those below a folder: whoever has many names of one to look for finds them sooner among these.
    pub(super) fn in_folder(&self, folder: &OsStr) -> TrackedFolder<'_> {
        let mut lead = folder.as_bytes().to_vec();
        if !lead.is_empty() {
            lead.push(b'/');
        }
        let first = self.find(&lead);
        let count = partition(self.ends.len() - first, |at| self.path(first + at).starts_with(&lead));
        TrackedFolder { tracked: self, first, count, lead: lead.len() }
    }

    /// Whether this path is recorded, or one below it.
    pub(super) fn holds(&self, path: &Path, is_folder: bool) -> bool {
        let mut path = path.as_os_str().as_bytes().to_vec();
        if is_folder {
            path.push(b'/');
        }
        let at = self.find(&path);
        at < self.ends.len()
            && if is_folder { self.path(at).starts_with(&path) } else { self.path(at) == path }
    }
}

/// The recorded paths below a folder.
pub(crate) struct TrackedFolder<'a> {
    tracked: &'a Tracked,
    first: usize,
    count: usize,
    /// Bytes of their way to the folder.
    lead: usize,
}

impl TrackedFolder<'_> {
    fn name(&self, at: usize) -> &[u8] {
        self.tracked.path(at).get(self.lead..).unwrap_or_default()
    }

    /// Where a file right in the folder stands.
    fn find(&self, name: &[u8]) -> Option<usize> {
        let at = self.first + partition(self.count, |at| self.name(self.first + at) < name);
        (at < self.first + self.count && self.name(at) == name).then_some(at)
    }

    /// Whether a file right in the folder is recorded.
    pub(super) fn has(&self, name: &[u8]) -> bool {
        self.find(name).is_some()
    }
}

/// The first of so many for which something no longer is so.
fn partition(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Reads an index whose objects have names of so many bytes: the paths below a folder of the repository, and their objects.
fn parse(bytes: &[u8], name: usize, within: &[u8]) -> Option<(Tracked, Vec<ObjectId>)> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?));
    let version = number(4).filter(|_| bytes.starts_with(b"DIRC"))?;
    let count = number(8).filter(|_| (2..=4).contains(&version))?;
    let (mut found, mut objects) = (Tracked::default(), Vec::new());
    let mut path: Vec<u8> = Vec::new();
    let mut at = 12;
    for _ in 0..count {
        let flags = at + FIXED + name;
        let flagged = u16::from_be_bytes(bytes.get(flags..flags + 2)?.try_into().ok()?);
        let is_extended = flagged & IS_EXTENDED != 0 && version > 2;
        let mut begin = flags + if is_extended { 4 } else { 2 };
        if version == 4 {
            // What is left of the path before it, and what comes behind that.
            let (cut, length) = varint(bytes.get(begin..)?)?;
            path.truncate(path.len().checked_sub(cut)?);
            begin += length;
        } else {
            path.clear();
        }
        let told = usize::from(flagged & LENGTH);
        let is_told = told < usize::from(LENGTH) && version != 4 && bytes.get(begin + told) == Some(&0);
        let length = if is_told { told } else { bytes.get(begin..)?.iter().position(|byte| *byte == 0)? };
        path.extend_from_slice(bytes.get(begin..begin + length)?);
        at = match version {
            4 => begin + length + 1,
            // Filled up to eight bytes, with at least one.
            _ => at + (begin + length - at + 8) / 8 * 8,
        };
        if let Some(below) = below(&path, within) {
            found.push(below);
            let object = bytes.get(flags - name..flags).and_then(|object| ObjectId::try_from(object).ok());
            objects.extend(object.map(|object| if flagged & SIDES == 0 { object } else { NO_OBJECT }));
        }
    }
    // Behind the extensions comes a sum of everything, as long as an object's name.
    let end = bytes.len().checked_sub(name)?;
    while at < end {
        let length = usize::try_from(number(at + 4)?).ok()?;
        if bytes.get(at..at + 4)? == SPLIT {
            return None;
        }
        at = at.checked_add(8)?.checked_add(length)?;
    }
    let is_in_order = (1..found.ends.len()).all(|at| found.path(at - 1) <= found.path(at));
    (at == end && is_in_order).then_some((found, objects))
}

fn below<'p>(path: &'p [u8], within: &[u8]) -> Option<&'p [u8]> {
    match within.is_empty() {
        true => Some(path),
        false => path.strip_prefix(within)?.strip_prefix(b"/"),
    }
}

/// A number as git packs it, and how many bytes that took.
fn varint(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(8) {
        value = value.checked_shl(7)? | usize::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
        value += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(root: &Path, args: &[&str]) {
        let done = Command::new("git").arg("-C").arg(root).args(args).output().unwrap();
        assert!(done.status.success(), "{args:?} {done:?}");
    }

    #[test]
    fn what_git_recorded_is_read_in_every_form() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        git(&root, &["init", "-q"]);
        let files = ["a", "dir/a", "dir/b-long-name", "dir/deep/er/file", "dir.txt", "z"];
        for file in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), file).unwrap();
        }
        git(&root, &["add", "-f", "."]);
        for version in ["2", "3", "4"] {
            git(&root, &["update-index", "--index-version", version]);
            // An entry with more flags is what version 3 is for.
            let flag = if version == "2" { "--no-skip-worktree" } else { "--skip-worktree" };
            git(&root, &["update-index", flag, "dir/a"]);
            let tracked = Index::of(&root, None).tracked;
            assert_eq!(tracked.ends.len(), files.len(), "{version}");
            for (path, is_folder, expected) in [
                ("a", false, true),
                ("dir/deep/er/file", false, true),
                ("dir", true, true),
                ("dir/deep", true, true),
                ("dir", false, false),
                ("dir/de", true, false),
                ("b", false, false),
                ("zz", false, false),
            ] {
                assert_eq!(tracked.holds(Path::new(path), is_folder), expected, "{version} {path}");
            }
            // Where the workspace is a part of the repository.
            let below = Index::of(&root.join("dir"), None).tracked;
            assert!(below.holds(Path::new("deep/er/file"), false) && !below.holds(Path::new("z"), false));
        }
        let index = std::fs::read(root.join(".git/index")).unwrap();
        for cut in 0..index.len() {
            assert_eq!(parse(&index[..cut], 20, b""), None, "{cut}");
        }
        git(&root, &["update-index", "--split-index"]);
        assert_eq!(*Index::of(&root, None).tracked, Tracked::default());
    }
}
