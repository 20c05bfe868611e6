//! A pseudo-terminal with the program in it, and the screen that a person would see. Nothing is slept: it reads until the screen
//! shows what is awaited, with a generous bound.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZero;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// How long anything may take to happen on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const COLUMNS: u16 = 100;
const ROWS: u16 = 40;
/// How long nothing may come from a program that waits for the person.
const QUIET: Duration = Duration::from_millis(500);

/// A terminal with the program in it.
pub(crate) struct Terminal {
    master: File,
    child: Left,
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

impl Terminal {
    pub(crate) fn start(command: &mut Command) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        tcsetwinsize(&slave, Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let child = command
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        let size = |n| NonZero::new(n).unwrap();
        let screen = vt100::Parser::new(size(ROWS), size(COLUMNS), 0);
        Terminal { master: File::from(master), child: Left(child), screen, bytes: Vec::new() }
    }

    pub(crate) fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until the screen shows all of this at once.
    #[track_caller]
    pub(crate) fn shows(&mut self, texts: &[&str]) {
        self.until(texts, |screen| texts.iter().all(|text| contents(screen).contains(text)));
    }

    /// Waits until something holds that the screen does not show.
    #[track_caller]
    pub(crate) fn sees(&mut self, what: &str, holds: impl Fn() -> bool) {
        self.until(&[what], |_| holds());
    }

    /// Waits until a question shows all of this and its keys count: until then the cursor stands in the line for prompts.
    #[track_caller]
    pub(crate) fn asks(&mut self, texts: &[&str]) {
        self.until(texts, |screen| {
            let contents = contents(screen);
            screen.hide_cursor()
                && contents.contains("question")
                && texts.iter().all(|text| contents.contains(text))
        });
    }

    /// Waits until the clock of the run that waits for an answer has gone on.
    #[track_caller]
    pub(crate) fn a_second_passes(&mut self) {
        let clock = |screen: &vt100::Screen| {
            let contents = screen.contents();
            contents.lines().find(|line| line.contains("waiting for your answer")).map(str::to_owned)
        };
        let now = clock(self.screen.screen());
        self.until(&["the clock goes on"], |screen| clock(screen).is_some_and(|later| Some(later) != now));
    }

    /// Whether the program ended well.
    pub(crate) fn finish(&mut self) -> bool {
        self.code() == Some(0)
    }

    /// How the program ended, with all that it wrote read.
    pub(crate) fn code(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            let status = self.child.0.try_wait().unwrap();
            let before = self.bytes.len();
            self.read();
            if let (Some(status), true) = (status, self.bytes.len() == before) {
                return status.code();
            }
            assert!(Instant::now() < end, "it does not end\n{}", self.screen.screen().contents());
        }
    }

    /// The program in the terminal.
    pub(crate) fn child(&self) -> &Child {
        &self.child.0
    }

    /// Whether what is typed is shown by the terminal itself, as it is before a program takes it.
    pub(crate) fn echoes(&self) -> bool {
        tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    /// All that the program ever wrote.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads until nothing more comes for a while: the program waits for the person.
    pub(crate) fn settles(&mut self) {
        let (mut since, mut before) = (Instant::now(), self.bytes.len());
        while since.elapsed() < QUIET {
            self.read();
            if self.bytes.len() != before {
                (since, before) = (Instant::now(), self.bytes.len());
            }
        }
    }

    /// Takes the terminal away without a word to the program, which has none that could tell it; how the program ends.
    pub(crate) fn vanish(self, within: Duration) -> Option<i32> {
        let Terminal { master, child: mut left, .. } = self;
        drop(master);
        let (pid, wait) = (Pid::from_child(&left.0), Timespec::try_from(within).unwrap());
        let program = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        let ended = poll(&mut [PollFd::new(&program, PollFlags::IN)], Some(&wait)).unwrap();
        assert_eq!(ended, 1, "it goes on without a terminal");
        left.0.wait().unwrap().code()
    }

    /// How often this is on the screen.
    pub(crate) fn count(&self, text: &str) -> usize {
        self.screen.screen().contents().matches(text).count()
    }

    /// Whether the program ever wrote this.
    pub(crate) fn said(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    #[track_caller]
    fn until(&mut self, what: &[&str], enough: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !enough(self.screen.screen()) {
            let open = self.read();
            let seen = enough(self.screen.screen());
            let over = !open || Instant::now() > end;
            assert!(seen || !over, "never: {what:?}\n{}", self.screen.screen().contents());
        }
    }

    /// Reads what is there; `false` when the program has closed its end.
    fn read(&mut self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let wait = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        if poll(&mut fds, Some(&wait)).unwrap_or(0) == 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        let Ok(count) = self.master.read(&mut bytes) else { return false };
        let new = &bytes[..count];
        self.screen.process(new);
        self.bytes.extend_from_slice(new);
        // A terminal answers when it is asked what it is.
        if String::from_utf8_lossy(new).contains("\x1b[c") {
            self.send("\x1b[?2026;2$y\x1b[3;1R\x1b[?62;22c");
        }
        count > 0
    }
}

/// What the screen shows, every blank as a blank.
fn contents(screen: &vt100::Screen) -> String {
    screen.contents().replace('\u{a0}', " ")
}

/// A program that is ended with this value.
struct Left(Child);

impl Drop for Left {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
