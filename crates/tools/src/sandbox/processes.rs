//! Processes as `/proc` shows them. What is not shown is unknown, never guessed.

use std::io;

/// One process as it was when we looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessEntry {
    pub(super) pid: i32,
    /// It has ended and waits to be reaped.
    pub(super) dead: bool,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// When it was started; with its number this tells it from any other.
    pub(super) started: u64,
}

/// Looks at one process.
pub(super) fn look(pid: i32) -> io::Result<ProcessEntry> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    read(pid, &stat).ok_or_else(|| io::Error::other("/proc/PID/stat is not as it should be"))
}

/// Whether a process has a thread that has not ended, also when the first one has.
pub(super) fn has_threads(pid: i32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lives = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        read(pid, &stat).is_some_and(|seen| !seen.dead)
    };
    threads.into_iter().any(lives)
}

/// Looks at this very process. Its session and group may be 0 when they are led from outside of a container: a number that
/// `rustix` takes for impossible, so `getsid` is of no use here.
pub(super) fn own() -> io::Result<ProcessEntry> {
    look(std::process::id().cast_signed())
}

fn read(pid: i32, stat: &str) -> Option<ProcessEntry> {
    // The name, in parentheses, may hold anything, also spaces and parentheses.
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<i32>().ok());
    Some(ProcessEntry {
        pid,
        dead: matches!(*fields.first()?, "Z" | "X"),
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        started: fields.get(19)?.parse().ok()?,
    })
}

/// Everybody that is shown.
pub(super) fn everybody() -> Vec<ProcessEntry> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| look(pid).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_it_calls_itself() {
        let stat = "7 (a) R 1 ) Z 5 6 8 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 777 9 10";
        let seen = ProcessEntry { pid: 7, dead: true, parent: 5, group: 6, session: 8, started: 777 };
        assert_eq!(read(7, stat), Some(seen));
        assert_eq!(read(7, "7 (cut) S 1"), None);
    }

    #[test]
    fn we_see_ourselves() {
        let own = std::process::id().cast_signed();
        let seen = look(own).unwrap();
        assert_eq!(Some(seen.parent), rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get()));
        assert!(everybody().contains(&seen));
        // Past the largest number that Linux gives out.
        assert!(look(4_194_305).is_err());
    }
}
