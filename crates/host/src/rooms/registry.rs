//! Which rooms live: each holds a lock on a file of its own in the data folder (`rooms/PID.room`) for as long as it lives. The kernel
//! lets go of the lock when the process ends, however it ends, so that a number that another process has by now is never taken for a
//! room. Beside them lie their logs; a room that ends well takes its own along.

use super::{detach, folder};
use anyhow::Context;
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files of the folder that are looked at.
const MAX_FILES: usize = 1024;
/// Logs that are kept, those of rooms that live among them; older ones are removed.
const MAX_LOGS: usize = 128;
/// How long rooms may take to end their runs and write everything down, and then how long until they are gone after a kill.
const END_WITHIN: Duration = Duration::from_secs(20);
const KILLED_WITHIN: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// This process as a room, until it is dropped.
pub(super) struct Entry {
    path: PathBuf,
    _held: File,
}

impl Entry {
    /// Notes this process.
    pub(super) fn new(data: &Path) -> anyhow::Result<Entry> {
        let path = folder(data)?.join(format!("{}.room", std::process::id()));
        let cannot = || format!("{} cannot be written", path.display());
        let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(&path);
        let file = file.with_context(cannot)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).with_context(cannot)?;
        Ok(Entry { path, _held: file })
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The process numbers of the rooms that live. What dead ones left is removed.
pub fn live(data: &Path) -> Vec<u32> {
    let files = std::fs::read_dir(data.join("rooms")).into_iter().flatten().flatten().take(MAX_FILES);
    let rooms = files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|is| is == "room"));
    rooms.filter_map(|path| held(&path)).collect()
}

/// Whose file it is, if that one lives.
fn held(path: &Path) -> Option<u32> {
    let pid = path.file_stem()?.to_str()?.parse().ok()?;
    let file = File::open(path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(rustix::io::Errno::WOULDBLOCK) => Some(pid),
        // Nobody holds it: its room is gone, or not yet there.
        Ok(()) if !detach::is_there(pid) => {
            let _ = std::fs::remove_file(path);
            None
        }
        Ok(()) | Err(_) => None,
    }
}

/// What became of the rooms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EndedRooms {
    pub rooms: usize,
    /// Of these, those that had to be killed.
    pub killed: usize,
    /// Those that are still there.
    pub left: usize,
}

/// Ends all rooms of a data folder: they end their runs in the record first.
pub async fn end_all(data: &Path) -> EndedRooms {
    let rooms = live(data);
    signal(&rooms, Signal::TERM);
    let stubborn = gone_within(data, END_WITHIN).await;
    signal(&stubborn, Signal::KILL);
    let left = if stubborn.is_empty() { stubborn.clone() } else { gone_within(data, KILLED_WITHIN).await };
    // A room lets go of its lock a moment before its process ends.
    let end = Instant::now() + KILLED_WITHIN;
    while rooms.iter().any(|pid| detach::is_there(*pid)) && Instant::now() < end {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    EndedRooms { rooms: rooms.len(), killed: stubborn.len(), left: left.len() }
}

/// Sends a signal to each of these that is still there.
pub(super) fn signal(rooms: &[u32], signal: Signal) {
    for pid in rooms.iter().filter_map(|pid| i32::try_from(*pid).ok()).filter_map(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Waits until no room lives; gives those that still do.
async fn gone_within(data: &Path, within: Duration) -> Vec<u32> {
    let end = Instant::now() + within;
    loop {
        let rooms = live(data);
        if rooms.is_empty() || Instant::now() >= end {
            return rooms;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// A name for a log that nobody has; the oldest logs are removed.
pub(super) fn fresh_log(data: &Path) -> anyhow::Result<PathBuf> {
    static COUNT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    let folder = folder(data)?;
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().take(MAX_FILES);
    let mut logs: Vec<PathBuf> =
        files.map(|file| file.path()).filter(|path| path.extension().is_some_and(|is| is == "log")).collect();
    // Their names begin with when they were made.
    logs.sort();
    for old in logs.iter().take(logs.len().saturating_sub(MAX_LOGS)) {
        let _ = std::fs::remove_file(old);
    }
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    Ok(folder.join(format!("{:013}-{}-{count}.log", since.as_millis(), std::process::id())))
}

/// The log of a room, as the system knows where its words go; none where the system does not tell that.
pub(super) fn log_of(data: &Path, room: u32) -> Option<PathBuf> {
    let log = std::fs::read_link(format!("/proc/{room}/fd/2")).ok()?;
    let folder = folder(data).ok()?.canonicalize().ok()?;
    (log.parent() == Some(&folder) && log.extension().is_some_and(|is| is == "log")).then_some(log)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_lives_for_as_long_as_it_holds_its_file() {
        let data = tempfile::tempdir().unwrap();
        assert!(live(data.path()).is_empty());
        let entry = Entry::new(data.path()).unwrap();
        assert_eq!(live(data.path()), [std::process::id()]);
        drop(entry);
        assert!(live(data.path()).is_empty());
        // What a dead one left is removed; a number that another process has is no room.
        let folder = folder(data.path()).unwrap();
        for name in ["4194305.room", "1.room", "x.room"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        assert!(live(data.path()).is_empty());
        assert!(!folder.join("4194305.room").exists() && folder.join("1.room").exists());
    }

    #[test]
    fn only_so_many_logs_are_kept() {
        let data = tempfile::tempdir().unwrap();
        for _ in 0..MAX_LOGS + 9 {
            std::fs::write(fresh_log(data.path()).unwrap(), "").unwrap();
        }
        let newest = fresh_log(data.path()).unwrap();
        let left = std::fs::read_dir(newest.parent().unwrap()).unwrap().count();
        assert_eq!(left, MAX_LOGS);
    }
}
