//! The file of a store as bare pages, for when SQLite no longer reads it.
//!
//! Pages that were committed to the write-ahead log stand in for those of the file, by the rules that SQLite has for them: frames count
//! up to the last commit whose checksums hold. Nothing here trusts the file: every number in it may be wrong. A page that the disk
//! does not give is a page that is not there.

mod log;

use super::place;
use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The smallest page there is.
const LEAST_SIZE: u64 = 512;
/// What every SQLite file begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// The page size of our files: what a header that is lost said.
const USUAL_SIZE: usize = 4096;

/// What the header of a file says, as far as it is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// Whose file it is.
    pub(super) application: u32,
    pub(super) format: u32,
    first_free: u32,
}

/// A file and its log.
#[derive(Debug)]
pub(super) struct Pages {
    /// `None` when only the log is left.
    file: Option<File>,
    is_orphaned: bool,
    log: Option<File>,
    size: usize,
    count: u32,
    header: Option<Header>,
    /// Where in the log a page stands.
    logged: HashMap<u32, u64>,
    free: HashSet<u32>,
}

impl Pages {
    /// Of the file at `path` and the log beside it, with pages of the size that the header says.
    pub(super) fn open(path: &Path) -> io::Result<Pages> {
        Pages::sized(path, true)
    }

    /// The same with pages of our usual size; `None` when these are of that size.
    pub(super) fn of_usual_size(&self, path: &Path) -> Option<Pages> {
        (self.size != USUAL_SIZE).then(|| Pages::sized(path, false).ok())?
    }

    fn sized(path: &Path, as_it_says: bool) -> io::Result<Pages> {
        let path = &place::real(path);
        let log = match File::open(log_path(path)) {
            Ok(log) => Some(log),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let has_log = log.as_ref().and_then(|log| log.metadata().ok()).is_some_and(|found| found.len() > 0);
        let file = match File::open(path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound && has_log => None,
            Err(error) => return Err(error),
        };
        let is_orphaned = has_log && file.as_ref().is_none_or(is_stump);
        let own = file.as_ref().and_then(|file| read_at(file, 0, 100).ok()).and_then(|bytes| size_in(&bytes));
        let own = if as_it_says { own } else { Some(USUAL_SIZE) };
        let committed = log.as_ref().and_then(|log| log::committed(log, own));
        let size = own.or(committed.as_ref().map(|log| log.size)).unwrap_or(USUAL_SIZE);
        let logged = committed.map(|log| log.pages).unwrap_or_default();
        let length = match &file {
            Some(file) => file.metadata()?.len().div_ceil(size as u64),
            None => 0,
        };
        let last = logged.keys().copied().max().unwrap_or(0);
        let count = u32::try_from(length).unwrap_or(u32::MAX - 1).max(last);
        let mut pages =
            Pages { file, is_orphaned, log, size, count, header: None, logged, free: HashSet::new() };
        pages.header = pages.page(1).as_deref().and_then(header);
        pages.free = pages.unused();
        Ok(pages)
    }

    /// What the header says; `None` when it is none.
    pub(super) fn header(&self) -> Option<Header> {
        self.header
    }

    /// Whether the file is gone or as good as empty, and only its log is left.
    pub(super) fn is_orphaned(&self) -> bool {
        self.is_orphaned
    }

    /// Bytes of a page that hold something.
    pub(super) fn usable(&self) -> usize {
        // A header may say that the end of each page is reserved. In our files it never is, and a damaged byte must not cost rows.
        self.size
    }

    /// The longest that anything in this file can be.
    pub(super) fn capacity(&self) -> usize {
        (self.count as usize).saturating_mul(self.size)
    }

    /// The pages that may hold rows: all but the first and those that are known to be free.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        (2..=self.count).filter(|number| !self.free.contains(number))
    }

    /// A page; `None` when there is none, or the disk does not give it. One that is cut ends in zeros.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        if number == 0 || number > self.count {
            return None;
        }
        let mut bytes = match (self.logged.get(&number), &self.log) {
            (Some(at), Some(log)) => read_at(log, *at, self.size).ok()?,
            _ => read_at(self.file.as_ref()?, u64::from(number - 1) * self.size as u64, self.size).ok()?,
        };
        bytes.resize(self.size, 0);
        Some(bytes)
    }

    /// Everything in one piece, as a file that has no log.
    pub(super) fn in_one_piece(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.capacity());
        for number in 1..=self.count {
            bytes.extend(self.page(number).unwrap_or_else(|| vec![0; self.size]));
        }
        // Two bytes of the header say that there is a log; without one these are 1.
        if let Some(modes) = bytes.get_mut(18..20) {
            modes.fill(1);
        }
        bytes
    }

    /// Writes the pages of the log to their places in `file`, as SQLite does when it has no more use for its log. May be done any
    /// number of times and be interrupted anywhere as long as the log stays where it is.
    pub(super) fn fold_log(&self, mut file: &File) -> io::Result<()> {
        for number in self.logged.keys() {
            let Some(bytes) = self.page(*number) else { continue };
            file.seek(SeekFrom::Start(u64::from(number - 1) * self.size as u64))?;
            file.write_all(&bytes)?;
        }
        file.sync_all()
    }

    /// Pages that the file keeps for later: what stands in them was taken away.
    fn unused(&self) -> HashSet<u32> {
        let mut free = HashSet::new();
        let mut next = self.header.map_or(0, |header| header.first_free);
        while next != 0 && free.insert(next) {
            let Some(trunk) = self.page(next) else { break };
            let leaves = number_at(&trunk, 4).min(self.usable() as u32 / 4 - 2);
            free.extend((0..leaves as usize).map(|leaf| number_at(&trunk, 8 + 4 * leaf)));
            next = number_at(&trunk, 0);
        }
        free
    }
}

/// Whether the file at `path` is gone or as good as empty while its log is there. SQLite would take it for a new one and remove the log.
pub(super) fn is_orphaned(path: &Path) -> bool {
    let path = place::real(path);
    // The log first: who makes a store makes its first page before the log.
    if !std::fs::metadata(log_path(&path)).is_ok_and(|found| found.len() > 0) {
        return false;
    }
    match std::fs::metadata(&path) {
        // Nothing else is opened: a pipe would wait, and closing a store that we use would give up its locks.
        Ok(found) if is_short(&found) => File::open(&path).is_ok_and(|file| is_stump(&file)),
        Ok(_) => false,
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

fn is_short(found: &Metadata) -> bool {
    found.is_file() && found.len() < LEAST_SIZE
}

/// Whether a file holds not even a page, and nothing that somebody else could have written.
fn is_stump(file: &File) -> bool {
    let is_ours = |begin: Vec<u8>| MAGIC.starts_with(&begin) || begin.iter().all(|byte| *byte == 0);
    file.metadata().is_ok_and(|found| is_short(&found)) && read_at(file, 0, MAGIC.len()).is_ok_and(is_ours)
}

/// Where the log of a file is.
pub(super) fn log_path(path: &Path) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

/// Up to `length` bytes.
fn read_at(mut file: &File, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(length);
    file.seek(SeekFrom::Start(at))?;
    file.take(length as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The four bytes at `at` as a number; 0 when they are not there.
fn number_at(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_be_bytes)
}

fn size_in(bytes: &[u8]) -> Option<usize> {
    let size = usize::from(bytes.get(16)?.to_owned()) << 8 | usize::from(bytes.get(17)?.to_owned());
    let size = if size == 1 { 65_536 } else { size };
    (bytes.starts_with(MAGIC) && size.is_power_of_two() && size >= 512).then_some(size)
}

fn header(page: &[u8]) -> Option<Header> {
    size_in(page)?;
    let (first_free, format, application) = (number_at(page, 32), number_at(page, 60), number_at(page, 68));
    Some(Header { application, format, first_free })
}
