//! The shell on a real pseudo-terminal: what a person sees, and that the terminal is given back whatever ends the program.
//!
//! The program under test is this test binary itself, started again as [`child`] with a runtime that repeats what is said.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use domain::command::{Command as Wish, Receipt, RunCommand};
use domain::content::{Part, Role, TextKind};
use domain::event::{Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent};
use domain::ids::{EntryId, Ids, MessageId, Millis, RunId, Seq, SessionId, TurnId};
use domain::port::{Abilities, News};
use domain::signal::Board;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tui::settings::Settings;
use tui::{About, Options, Outgoing};

const CHILD: &str = "PARLOR_TUI_CHILD";
const COLUMNS: u16 = 80;
const ROWS: u16 = 24;
/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program under test; does nothing when the tests themselves run.
#[test]
fn child() {
    let Ok(mode) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async move {
        let (news, incoming) = mpsc::channel(64);
        let (outgoing, commands) = mpsc::channel(64);
        tokio::spawn(repeat(news, commands));
        let about = About { program: "under test".into(), ..About::default() };
        let settings = Settings { inline: mode == "inline", mouse: false, ..Settings::default() };
        let options = Options { about, settings, ..Options::default() };
        tui::run(options, incoming, outgoing).await.unwrap();
    });
}

async fn repeat(news: mpsc::Sender<News>, mut commands: mpsc::Receiver<Outgoing>) {
    let session = SessionId::from_number(1);
    let opened = Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None });
    let (replay, board) = (vec![(Millis(0), opened)], Board::default());
    let attached =
        News::Attached { session: session.clone(), replay, board, abilities: Abilities::all("test") };
    let _ = news.send(attached).await;
    let (ids, mut seq, mut leaf) = (Ids::default(), 0, None);
    while let Some(Outgoing { ticket, command, .. }) = commands.recv().await {
        let _ = news.send(News::Settled { ticket, with: Ok(Receipt::Done) }).await;
        let Wish::Run(RunCommand::Prompt { input, .. }) = command else { continue };
        if input.text == "break" {
            std::thread::spawn(|| panic!("something else broke"));
            continue;
        }
        let (run, turn) = (RunId::mint(&ids), TurnId::mint(&ids));
        let (asked, answer) = (MessageId::mint(&ids), MessageId::mint(&ids));
        let start = |message, parent, role| {
            Body::Message(MessageEvent::Started { message, parent, role, turn: Some(turn), step: None })
        };
        let end = |message| Body::Message(MessageEvent::Ended { message, finish: Finish::Complete });
        let text = format!("you said **{}**", input.text);
        let bodies = vec![
            Body::Run(RunEvent::Started { run }),
            Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
            start(asked, leaf, Role::User),
            Body::Message(MessageEvent::PartAdded { message: asked, part: Part::Text(input.text) }),
            end(asked),
            start(answer, Some(EntryId::from(asked)), Role::Assistant),
            Body::Message(MessageEvent::Delta { message: answer, kind: TextKind::Text, text }),
            end(answer),
            Body::Run(RunEvent::TurnEnded { turn }),
            Body::Run(RunEvent::Ended { run, outcome: Outcome::Done }),
        ];
        leaf = Some(answer.into());
        for body in bodies {
            seq += 1;
            let event = Arc::new(Event { seq: Seq(seq), at: Millis(0), body });
            let _ = news.send(News::Happened { session: session.clone(), event }).await;
        }
    }
}

/// A terminal with the program in it.
struct Terminal {
    master: File,
    child: Child,
    screen: vt100::Parser,
    bytes: Vec<u8>,
}

impl Terminal {
    fn start(mode: &str) -> Terminal {
        let master: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let size = rustix::termios::Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&slave, size).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--quiet", "--nocapture"])
            .env(CHILD, mode)
            .env("TERM", "xterm-256color")
            .stdin(slave.try_clone().unwrap())
            .stdout(slave.try_clone().unwrap())
            .stderr(slave)
            .spawn()
            .unwrap();
        let size = |n| NonZero::new(n).unwrap();
        let screen = vt100::Parser::new(size(ROWS), size(COLUMNS), 1_000);
        Terminal { master: File::from(master), child, screen, bytes: Vec::new() }
    }

    fn send(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Reads until `enough` says so.
    #[track_caller]
    fn until(&mut self, what: &str, enough: impl Fn(&Terminal) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !enough(self) {
            assert!(Instant::now() < end, "never: {what}\n{}", self.screen.screen().contents());
            if !self.read() {
                assert!(enough(self), "ended before: {what}\n{}", self.screen.screen().contents());
            }
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
        // A terminal answers when it is asked what it is, and where its cursor is.
        let asked = String::from_utf8_lossy(new).into_owned();
        let (row, column) = self.screen.screen().cursor_position();
        let place = format!("\x1b[{};{}R", row + 1, column + 1);
        if asked.contains("\x1b[c") {
            self.send(&format!("\x1b[?2026;2$y\x1bP>|XTerm(390)\x1b\\{place}\x1b[?62;22c"));
        } else if asked.contains("\x1b[6n") {
            self.send(&place);
        }
        count > 0
    }

    #[track_caller]
    fn shows(&mut self, text: &str) {
        self.until(text, |terminal| terminal.screen.screen().contents().contains(text));
    }

    /// Another size, as a terminal changes it.
    fn resize(&mut self, columns: u16, rows: u16) {
        self.screen.screen_mut().set_size(NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap());
        let size = rustix::termios::Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        rustix::termios::tcsetwinsize(&self.master, size).unwrap();
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::WINCH).unwrap();
    }

    /// Every line, scrollback first.
    fn lines(&mut self) -> Vec<String> {
        let screen = self.screen.screen_mut();
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

    fn finish(&mut self) -> bool {
        let end = Instant::now() + PATIENCE;
        loop {
            let open = self.read();
            if let Some(status) = self.child.try_wait().unwrap() {
                while open && self.read() && Instant::now() < end && self.drains() {}
                return status.success();
            }
            assert!(Instant::now() < end, "it does not end");
        }
    }

    fn drains(&self) -> bool {
        let mut fds = [PollFd::new(&self.master, PollFlags::IN)];
        let wait = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&wait)).unwrap_or(0) > 0
    }

    fn said(&self, bytes: &str) -> bool {
        String::from_utf8_lossy(&self.bytes).contains(bytes)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_person_talks_and_leaves_and_the_terminal_is_as_it_was() {
    let mut terminal = Terminal::start("full");
    terminal.shows("under test");
    terminal.send("hello\r");
    terminal.shows("you said hello");
    terminal.send("?");
    terminal.shows("steers the run");
    terminal.send("q");
    terminal.shows("you said hello");
    terminal.send("\x04");
    assert!(terminal.finish());
    assert!(terminal.said("\x1b[?1049h") && terminal.said("\x1b[?1049l") && terminal.said("\x1b[?25h"));
    assert!(terminal.said("\x1b[?2026h"), "the terminal said that it can show frames at once");
}

#[test]
fn a_paste_comes_as_a_paste() {
    let mut terminal = Terminal::start("full");
    terminal.shows("under test");
    terminal.send("\x1b[200~two\nlines\x1b[201~");
    terminal.shows("lines");
    assert!(!terminal.screen.screen().contents().contains("you said"));
    terminal.send("\r");
    terminal.shows("you said");
    terminal.send("\x03\x03");
    assert!(terminal.finish());
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let mut terminal = Terminal::start("full");
    terminal.shows("under test");
    let id = rustix::process::Pid::from_child(&terminal.child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    terminal.finish();
    assert!(terminal.said("\x1b[?1049l"));
}

#[test]
fn what_breaks_elsewhere_does_not_break_the_screen_and_is_told_at_the_end() {
    let mut terminal = Terminal::start("full");
    terminal.shows("under test");
    terminal.send("break\rhello\r");
    terminal.shows("you said hello");
    assert!(!terminal.said("something else broke"));
    terminal.send("\x04");
    assert!(terminal.finish());
    assert!(terminal.said("something else broke"));
}

#[test]
fn inline_leaves_the_conversation_in_the_terminal() {
    let mut terminal = Terminal::start("inline");
    terminal.shows("under test");
    terminal.send("hello\r");
    terminal.shows("you said hello");
    terminal.send("\x04");
    assert!(terminal.finish());
    let left = terminal.screen.screen().contents();
    assert!(left.contains("> hello") && left.contains("you said hello"), "{left}");
    assert!(!left.contains("ask for something"), "the live part is gone: {left}");
    assert!(!terminal.said("\x1b[?1049h"));
}

#[test]
fn inline_survives_a_storm_of_sizes_and_leaves_what_stood_there_before() {
    let mut terminal = Terminal::start("inline");
    terminal.screen.process(b"$ ls\r\none two\r\n$ parlor --inline\r\n");
    terminal.shows("under test");
    let mut expected = Vec::new();
    for (number, (columns, rows)) in
        [(60, 20), (40, 12), (100, 30), (50, 16), (50, 24), (72, 14), (80, 24)].into_iter().enumerate()
    {
        terminal.resize(columns, rows);
        let rule = "─".repeat(columns.into());
        terminal.until("the live part in its new width", |terminal| {
            terminal.screen.screen().contents().lines().any(|line| line == rule)
        });
        terminal.send(&format!("hello {number}\r"));
        terminal.shows(&format!("you said hello {number}"));
        expected.extend([format!(" > hello {number}"), format!(" you said hello {number}")]);
    }
    terminal.send("\x04");
    assert!(terminal.finish());
    let lines = terminal.lines();
    assert_eq!(lines[..3], ["$ ls", "one two", "$ parlor --inline"]);
    let said: Vec<&String> = lines[3..].iter().filter(|line| line.starts_with(' ')).collect();
    assert_eq!(said, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_signal_ends_the_inline_screen_below_what_was_said() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::HUP, rustix::process::Signal::INT]
    {
        let mut terminal = Terminal::start("inline");
        terminal.shows("under test");
        terminal.send("hello\r");
        terminal.shows("you said hello");
        rustix::process::kill_process(rustix::process::Pid::from_child(&terminal.child), signal).unwrap();
        terminal.finish();
        let left = terminal.screen.screen().contents();
        assert!(left.contains("you said hello") && !left.contains("ask for something"), "{left}");
        assert!(terminal.said("\x1b[?2004l") && !terminal.screen.screen().hide_cursor());
    }
}
