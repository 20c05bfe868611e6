//! A terminal with a program in it, which answers what programs ask of terminals.

use crate::{PATIENCE, ended};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Its size.
const COLUMNS: u16 = 100;
const ROWS: u16 = 30;

/// The terminal; dropped, the program in it is ended.
#[derive(Debug)]
pub struct Terminal {
    master: File,
    child: Child,
    /// All that was written to it.
    pub bytes: Vec<u8>,
}

impl Terminal {
    /// Starts a program in a new one.
    pub fn start(command: &mut Command) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("a terminal");
        unlockpt(&master).expect("a terminal");
        let name = ptsname(&master, Vec::new()).expect("a terminal has a name");
        let name = name.to_str().expect("a plain name");
        let slave = OpenOptions::new().read(true).write(true).open(name).expect("its other end");
        let size = rustix::termios::Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&slave, size).expect("a size");
        let end = || slave.try_clone().expect("its other end");
        let child = command.process_group(0).stdin(end()).stdout(end()).stderr(end()).spawn();
        let child = child.unwrap_or_else(|why| panic!("{command:?}: {why}"));
        Terminal { master: File::from(master), child, bytes: Vec::new() }
    }

    /// The number of the program.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).expect("a terminal takes keys");
    }

    /// Reads what comes within `wait`; how many bytes.
    pub fn read(&mut self, wait: Duration) -> usize {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let nanos = i64::from(wait.subsec_nanos());
        let wait = Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX), tv_nsec: nanos };
        if poll(&mut fds, Some(&wait)).unwrap_or(0) == 0 {
            return 0;
        }
        let mut bytes = [0; 65_536];
        let Ok(count) = self.master.read(&mut bytes) else { return 0 };
        let new = bytes.get(..count).unwrap_or_default();
        self.bytes.extend_from_slice(new);
        if contains(new, "\x1b[c") {
            self.send("\x1b[?2026;2$y\x1b[1;1R\x1b[?62;22c");
        } else if contains(new, "\x1b[6n") {
            self.send("\x1b[1;1R");
        }
        count
    }

    /// Reads until `text` was written after `from`.
    pub fn until(&mut self, from: usize, text: &str) {
        let end = Instant::now() + PATIENCE;
        while !contains(self.bytes.get(from..).unwrap_or_default(), text) {
            let last = self.bytes.get(self.bytes.len().saturating_sub(2_000)..).unwrap_or_default();
            let last = String::from_utf8_lossy(last);
            assert!(Instant::now() < end, "never seen: {text}\n{last:?}");
            self.read(Duration::from_millis(100));
        }
    }

    /// Reads for a while.
    pub fn listen(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.read(left);
        }
    }

    /// Reads until nothing was written for `quiet`.
    pub fn settle(&mut self, quiet: Duration) {
        let end = Instant::now() + PATIENCE;
        while self.read(quiet) > 0 && Instant::now() < end {}
    }

    /// Ends the program and waits for it.
    pub fn end(self) {}
}

impl Drop for Terminal {
    fn drop(&mut self) {
        ended(&mut self.child);
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
