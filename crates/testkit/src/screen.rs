//! A pseudo-terminal with a program in it, and the screen that a person would see. Nothing is slept: it reads until the screen shows
//! what is awaited, with a generous bound. [`crate::Terminal`] is the one for figures: it draws nothing, so that it costs nothing.

use crate::terminal::{opened, set_size};
use crate::{PATIENCE, Running};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use rustix::pty::ptsname;
use rustix::termios::{LocalModes, tcgetattr};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::num::NonZero;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

const COLUMNS: u16 = 100;
const ROWS: u16 = 40;
/// Lines above the screen that are kept.
const SCROLLBACK: usize = 1_000;
/// How long nothing may come from a program that waits for the person.
const QUIET: Duration = Duration::from_millis(500);
/// How long one look waits for more.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// The screen; dropped, the program in it is killed.
pub struct Screen {
    master: File,
    child: Running,
    parser: vt100::Parser,
    bytes: Vec<u8>,
    is_mute: bool,
    name: Option<&'static str>,
}

impl std::fmt::Debug for Screen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.contents())
    }
}

impl Screen {
    /// Starts a program in a new terminal.
    pub fn start(command: &mut Command) -> Screen {
        Screen::sized(command, COLUMNS, ROWS)
    }

    /// The same in a terminal of that size.
    pub fn sized(command: &mut Command, columns: u16, rows: u16) -> Screen {
        let (master, slave) = opened(columns, rows);
        let end = || slave.try_clone().unwrap();
        let child = Running(command.stdin(end()).stdout(end()).stderr(end()).spawn().unwrap());
        let parser = vt100::Parser::new(size(rows), size(columns), SCROLLBACK);
        Screen { master, child, parser, bytes: Vec::new(), is_mute: false, name: None }
    }

    /// From now on it answers nothing that it is asked.
    #[must_use]
    pub fn mute(mut self) -> Screen {
        self.is_mute = true;
        self
    }

    /// A terminal that tells its name and version when it is asked what it is.
    #[must_use]
    pub fn named(mut self, name: &'static str) -> Screen {
        self.name = Some(name);
        self
    }

    /// Types.
    pub fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Puts something on the screen that the program did not write.
    pub fn draw(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// Waits until the screen shows all of this at once.
    #[track_caller]
    pub fn shows(&mut self, texts: &[&str]) {
        self.until(&texts.join(", "), |screen| {
            let contents = screen.contents();
            texts.iter().all(|text| contents.contains(text))
        });
    }

    /// Waits until something holds that the screen does not show.
    #[track_caller]
    pub fn sees(&mut self, what: &str, holds: impl Fn() -> bool) {
        self.until(what, |_| holds());
    }

    /// Waits until a question shows all of this and its keys count: until then the cursor stands in the line for prompts.
    #[track_caller]
    pub fn asks(&mut self, texts: &[&str]) {
        self.until(&texts.join(", "), |screen| {
            let contents = screen.contents();
            screen.hides_cursor()
                && contents.contains("▌")
                && texts.iter().all(|text| contents.contains(text))
        });
    }

    /// Waits until the clock of the run that waits for an answer has gone on.
    #[track_caller]
    pub fn a_second_passes(&mut self) {
        let clock = |screen: &Screen| {
            let contents = screen.contents();
            contents.lines().find(|line| line.contains("waiting for your answer")).map(str::to_owned)
        };
        let now = clock(self);
        self.until("the clock goes on", |screen| clock(screen).is_some_and(|later| Some(later) != now));
    }

    /// Reads until `enough` says so.
    #[track_caller]
    pub fn until(&mut self, what: &str, enough: impl Fn(&Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !enough(self) {
            let over = !self.read() || Instant::now() > end;
            assert!(!over || enough(self), "never: {what}\n{}", self.contents());
        }
    }

    /// Whether the program ended well.
    pub fn finish(&mut self) -> bool {
        self.code() == Some(0)
    }

    /// How the program ended, with all that it wrote read.
    pub fn code(&mut self) -> Option<i32> {
        let end = Instant::now() + PATIENCE;
        loop {
            let status = self.child.0.try_wait().unwrap();
            let before = self.bytes.len();
            self.read();
            if let (Some(status), true) = (status, self.bytes.len() == before) {
                return status.code();
            }
            assert!(Instant::now() < end, "it does not end\n{}", self.contents());
        }
    }

    /// The program in the terminal.
    pub fn child(&self) -> &Child {
        &self.child.0
    }

    /// Sends the program a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).unwrap();
    }

    /// Another size, as a terminal changes it.
    pub fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.screen_mut().set_size(size(rows), size(columns));
        set_size(&self.master, columns, rows);
        self.signal(Signal::WINCH);
    }

    /// Whether what is typed is shown by the terminal itself, as it is before a program takes it.
    pub fn echoes(&self) -> bool {
        tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    /// The end that programs have, once more: what nobody has read yet can be read there.
    pub fn other_end(&self) -> File {
        let name = ptsname(&self.master, Vec::new()).unwrap();
        OpenOptions::new().read(true).open(name.to_str().unwrap()).unwrap()
    }

    /// All that the program ever wrote.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Reads until nothing more comes for a while: the program waits for the person.
    pub fn settles(&mut self) {
        let (mut since, mut before) = (Instant::now(), self.bytes.len());
        while since.elapsed() < QUIET {
            self.read();
            if self.bytes.len() != before {
                (since, before) = (Instant::now(), self.bytes.len());
            }
        }
    }

    /// Takes the terminal away without a word to the program, which has none that could tell it; how the program ends.
    pub fn vanish(self, within: Duration) -> Option<i32> {
        let Screen { master, child: mut left, .. } = self;
        drop(master);
        let (pid, wait) = (Pid::from_child(&left.0), Timespec::try_from(within).unwrap());
        let program = pidfd_open(pid, PidfdFlags::empty()).unwrap();
        let ended = poll(&mut [PollFd::new(&program, PollFlags::IN)], Some(&wait)).unwrap();
        assert_eq!(ended, 1, "it goes on without a terminal");
        left.0.wait().unwrap().code()
    }

    /// What the screen shows, every blank as a blank.
    pub fn contents(&self) -> String {
        self.parser.screen().contents().replace('\u{a0}', " ")
    }

    /// Every line, those above the screen first.
    pub fn lines(&mut self) -> Vec<String> {
        let screen = self.parser.screen_mut();
        let width = screen.size().1.get();
        screen.set_scrollback(usize::MAX);
        let back = screen.scrollback();
        let mut lines = Vec::new();
        for left in (1..=back).rev() {
            screen.set_scrollback(left);
            lines.extend(screen.rows(0, width).next().map(|line| line.trim_end().to_owned()));
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, width).map(|line| line.trim_end().to_owned()));
        lines
    }

    /// Whether no cursor is shown.
    pub fn hides_cursor(&self) -> bool {
        self.parser.screen().hide_cursor()
    }

    /// How often this is on the screen.
    pub fn count(&self, text: &str) -> usize {
        self.contents().matches(text).count()
    }

    /// Whether the program ever wrote this.
    pub fn said(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|window| window == text.as_bytes())
    }

    /// Reads what is there; `false` when the program has closed its end.
    fn read(&mut self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        if poll(&mut fds, Some(&LOOK)).unwrap_or(0) == 0 {
            return true;
        }
        let mut bytes = [0; 4096];
        let Ok(count) = self.master.read(&mut bytes) else { return false };
        let new = bytes.get(..count).unwrap_or_default();
        self.parser.process(new);
        self.bytes.extend_from_slice(new);
        if !self.is_mute {
            let asked = String::from_utf8_lossy(new).into_owned();
            self.answer(&asked);
        }
        count > 0
    }

    /// A terminal answers when it is asked what it is, and where its cursor is.
    fn answer(&mut self, asked: &str) {
        let (row, column) = self.parser.screen().cursor_position();
        let place = format!("\x1b[{};{}R", row + 1, column + 1);
        if asked.contains("\x1b[c") {
            let name = self.name.map(|name| format!("\x1bP>|{name}\x1b\\")).unwrap_or_default();
            self.send(&format!("\x1b[?2026;2$y{name}{place}\x1b[?62;22c"));
        } else if asked.contains("\x1b[6n") {
            self.send(&place);
        }
    }
}

fn size(of: u16) -> NonZero<u16> {
    NonZero::new(of).unwrap()
}
