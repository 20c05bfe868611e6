//! The terminal itself: entered once, always left again, also by a panic or a signal. What it can do is asked, not assumed.

use crossterm::terminal::{disable_raw_mode, enable_raw_mode, size};
use domain::harmless::clean;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long the terminal may take to tell what it can do. Long, since an answer that comes later would be read as typing.
const ANSWER: Duration = Duration::from_secs(1);
/// Longest answer read.
const MAX_ANSWER: usize = 4_096;

/// The screen of its own, and back to the one before.
const ALTERNATE_ON: &str = "\x1b[?1049h\x1b[2J\x1b[H";
const ALTERNATE_OFF: &str = "\x1b[?1049l";
/// Pastes come as pastes.
const ENTER: &str = "\x1b[?2004h";
const LEAVE: &str = "\x1b[<u\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?25h";
const MOUSE_ON: &str = "\x1b[?1000h\x1b[?1002h\x1b[?1006h";
const MOUSE_OFF: &str = "\x1b[?1006l\x1b[?1002l\x1b[?1000l";
/// Keys that cannot be told apart otherwise (Shift-Enter) come in their own form.
const KEYS_ON: &str = "\x1b[>1u";
/// Synchronized output? Key forms? Its name? Background? Where is the cursor? And a question that every terminal answers, to know when to
/// stop waiting.
const QUESTIONS: &str = "\x1b[?2026$p\x1b[?u\x1b[>q\x1b]11;?\x1b\\\x1b[6n\x1b[c";
/// Only where the cursor is.
const WHERE: &str = "\x1b[6n\x1b[c";
/// Terminals that leave what was written as it is when they become narrower: by the name they tell, and by `TERM` without its ending.
const RIGID: &[&str] = &["XTerm"];
const RIGID_TERMS: &[&str] = &["linux", "rxvt", "screen", "vt100", "vt220", "cons25", "eterm", "dumb"];

static ENTERED: AtomicBool = AtomicBool::new(false);
static ALTERNATE: AtomicBool = AtomicBool::new(false);
/// Rows of the inline live part below the cursor: whatever is written after a sudden end belongs below them.
static BELOW: AtomicU16 = AtomicU16::new(0);
static HOOK: Once = Once::new();
/// The thread that the screen is drawn from.
static OWNER: Mutex<Option<ThreadId>> = Mutex::new(None);
/// What broke elsewhere while the screen was ours.
static BROKEN: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// How much of that is kept.
const MAX_BROKEN: usize = 8;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the terminal said it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Facts {
    /// Frames can be made to appear at once.
    pub(super) synchronized: bool,
    /// Keys come in their own form when asked.
    pub(super) keys: bool,
    /// Whether the background is dark, if it said so.
    pub(super) dark: Option<bool>,
    /// Pictures are drawn where placeholders stand.
    pub(super) placeholders: bool,
    /// The row and column of the cursor at the start, from 0.
    pub(super) cursor: Option<(u16, u16)>,
    /// Whether it wraps what was written anew when its width changes.
    pub(super) reflows: bool,
    /// Whether it may have another size for a while before it says so.
    pub(super) tells_late: bool,
}

/// The terminal while it is ours.
#[derive(Debug)]
pub(super) struct Terminal {
    facts: Facts,
    mouse: bool,
    /// Whether everything stands on a screen of its own.
    full: bool,
}

impl Terminal {
    /// Takes the terminal: raw mode, and the alternate screen if `full`. Dropping gives it back, and so does a panic.
    pub(super) fn enter(mouse: bool, full: bool) -> io::Result<Terminal> {
        if !io::stdin().is_terminal() || !stdout().is_terminal() {
            return Err(io::Error::other(
                "the screen needs a terminal at both ends; use `parlor run` in pipes",
            ));
        }
        HOOK.call_once(|| {
            let earlier = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                let elsewhere = lock(&OWNER).is_some_and(|owner| owner != thread::current().id());
                if elsewhere && ENTERED.load(Ordering::SeqCst) {
                    // Something in the background broke: the screen stays, and it is told when the screen is gone.
                    let mut broken = lock(&BROKEN);
                    if broken.len() < MAX_BROKEN {
                        broken.push(panic.to_string());
                    }
                    return;
                }
                restore();
                earlier(panic);
            }));
        });
        *lock(&OWNER) = Some(thread::current().id());
        enable_raw_mode()?;
        let mut terminal = Terminal { facts: Facts::default(), mouse, full };
        let answer = ask(QUESTIONS)?;
        terminal.facts = understand(&answer, |name| std::env::var(name).unwrap_or_default());
        terminal.resume()?;
        Ok(terminal)
    }

    /// What the terminal said about its abilities when it was taken.
    pub(super) fn facts(&self) -> Facts {
        self.facts
    }

    /// Columns and rows; the usual 80 by 24 if nobody can say.
    pub(super) fn size(&self) -> (u16, u16) {
        size().unwrap_or((80, 24))
    }

    /// Takes the terminal (again).
    pub(super) fn resume(&mut self) -> io::Result<()> {
        enable_raw_mode()?;
        ENTERED.store(true, Ordering::SeqCst);
        if self.full {
            self.alternate(true)?;
        }
        self.write(ENTER)?;
        if self.facts.keys {
            self.write(KEYS_ON)?;
        }
        self.set_mouse(self.mouse)
    }

    /// Goes to the screen of its own, or back.
    pub(super) fn alternate(&self, on: bool) -> io::Result<()> {
        if ALTERNATE.swap(on, Ordering::SeqCst) == on {
            return Ok(());
        }
        self.write(if on { ALTERNATE_ON } else { ALTERNATE_OFF })
    }

    /// Asks where the cursor is; nothing else may read the terminal meanwhile.
    pub(super) fn ask_cursor(&self) -> io::Result<Option<(u16, u16)>> {
        if self.facts.cursor.is_none() {
            return Ok(None);
        }
        Ok(cursor(&ask(WHERE)?))
    }

    /// Tells how many rows of the live part stand below the cursor.
    pub(super) fn set_below(&self, rows: u16) {
        BELOW.store(rows, Ordering::SeqCst);
    }

    /// Lets the terminal report the mouse, or select text by itself again.
    pub(super) fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        self.write(if on { MOUSE_ON } else { MOUSE_OFF })
    }

    /// Gives the terminal back as it was.
    pub(super) fn leave(&self) {
        restore();
    }

    /// Writes the bytes out at once.
    pub(super) fn write(&self, bytes: &str) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut out = stdout().lock();
        out.write_all(bytes.as_bytes())?;
        out.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

fn restore() {
    if ENTERED.swap(false, Ordering::SeqCst) {
        let mut out = stdout().lock();
        let _ = out.write_all(LEAVE.as_bytes());
        if ALTERNATE.swap(false, Ordering::SeqCst) {
            let _ = out.write_all(ALTERNATE_OFF.as_bytes());
        }
        let below = usize::from(BELOW.swap(0, Ordering::SeqCst));
        if below > 0 {
            let _ = out.write_all(format!("\r{}", "\n".repeat(below + 1)).as_bytes());
        }
        let _ = out.flush();
        let _ = disable_raw_mode();
        for broken in lock(&BROKEN).drain(..) {
            let _ = writeln!(stderr(), "{}", clean(&broken));
        }
    }
}

/// The screen: drawn from clean cells.
pub(super) fn stdout() -> io::Stdout {
    io::stdout()
}

/// Only for what is left to say when the screen is gone, cleaned first, and for what a person types where there is none.
pub(super) fn stderr() -> io::Stderr {
    io::stderr()
}

/// Whether the other end of the terminal is gone.
pub(super) fn is_gone() -> bool {
    hung_up(Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))
}

/// Waits until it is. Costs nothing meanwhile.
pub(super) fn wait_until_gone() {
    while !hung_up(None) {}
}

/// That the other end hung up is told without being asked for; nothing that is typed ends the wait.
fn hung_up(wait: Option<&Timespec>) -> bool {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::empty())];
    match poll(&mut fds, wait) {
        Ok(found) => found > 0,
        Err(why) => why != rustix::io::Errno::INTR,
    }
}

/// Asks the terminal; the answers as they came. A terminal that stays silent can do nothing special.
fn ask(questions: &str) -> io::Result<String> {
    let mut out = stdout().lock();
    out.write_all(questions.as_bytes())?;
    out.flush()?;
    let stdin = io::stdin();
    let end = Instant::now() + ANSWER;
    let mut answer = Vec::new();
    while answer.len() < MAX_ANSWER && !is_whole(&answer) {
        let left = end.saturating_duration_since(Instant::now());
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut fds, Some(&wait)) {
            Ok(0) => break,
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let mut bytes = [0; 256];
        let read = rustix::io::read(stdin.as_fd(), &mut bytes)?;
        if read == 0 {
            break;
        }
        answer.extend_from_slice(&bytes[..read]);
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Whether the answer to the last question is there: `ESC [ ? … c`.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    text.rsplit("\x1b[?").next().is_some_and(|last| {
        last.ends_with('c') && last[..last.len() - 1].chars().all(|c| c.is_ascii_digit() || c == ';')
    })
}

fn understand(answer: &str, variable: impl Fn(&str) -> String) -> Facts {
    let mode = |setting: &str| answer.contains(&format!("\x1b[?2026;{setting}$y"));
    let synchronized = mode("1") || mode("2");
    let keys = answer.split("\x1b[?").any(|part| {
        part.split_once('u')
            .is_some_and(|(flags, _)| !flags.is_empty() && flags.chars().all(|c| c.is_ascii_digit()))
    });
    let tmux = !variable("TMUX").is_empty();
    let reflows = reflows(answer, &variable("TERM"), tmux);
    Facts {
        synchronized,
        keys,
        dark: dark(answer),
        placeholders: placeholders(answer),
        cursor: cursor(answer),
        reflows,
        tells_late: tmux,
    }
}

/// Where the cursor is: `ESC [ row ; column R`.
fn cursor(answer: &str) -> Option<(u16, u16)> {
    answer.split("\x1b[").find_map(|part| {
        let (row, column) = part.split_once('R')?.0.split_once(';')?;
        Some((row.parse::<u16>().ok()?.saturating_sub(1), column.parse::<u16>().ok()?.saturating_sub(1)))
    })
}

/// Whether the terminal wraps what was written anew for another width. Nearly all do today.
fn reflows(answer: &str, term: &str, tmux: bool) -> bool {
    let name = answer.split("\x1bP>|").nth(1);
    if let Some(name) = name {
        return !RIGID.iter().any(|rigid| name.starts_with(rigid));
    }
    tmux || !RIGID_TERMS.contains(&term.split('-').next().unwrap_or(""))
}

/// Whether the terminal named itself as one that draws pictures where placeholders stand. Others that know the protocol do not.
fn placeholders(answer: &str) -> bool {
    let name = answer.split("\x1bP>|").nth(1).and_then(|rest| rest.split('\x1b').next()).unwrap_or("");
    let old =
        ["kitty(0.1", "kitty(0.20", "kitty(0.21", "kitty(0.22", "kitty(0.23", "kitty(0.24", "kitty(0.25"];
    let known = name.starts_with("kitty(") || name.starts_with("ghostty");
    known && !old.iter().any(|old| name.starts_with(old))
}

/// Whether `rgb:RRRR/GGGG/BBBB` in the answer is a dark colour.
fn dark(answer: &str) -> Option<bool> {
    let colour = answer.split("rgb:").nth(1)?;
    let mut parts = colour.split(['/', '\x1b', '\x07']).take(3);
    let mut part = || u32::from_str_radix(parts.next()?.get(..2)?, 16).ok();
    let (red, green, blue) = (part()?, part()?, part()?);
    Some(red * 299 + green * 587 + blue * 114 < 128_000)
}

/// Signals that end the program.
pub(super) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_terminals_are_understood() {
        let none = |_: &str| String::new();
        let nothing = Facts { reflows: true, ..Facts::default() };
        let all =
            Facts { synchronized: true, keys: true, dark: Some(false), cursor: Some((11, 0)), ..nothing };
        let answer = "\x1b[?2026;2$y\x1b[?0u\x1bP>|foot(1.20)\x1b\\\x1b]11;rgb:ffff/fafa/f0f0\x1b\\\x1b[12;1R\x1b[?62;22c";
        assert_eq!(understand(answer, none), all);
        assert!(understand("\x1b[?2026;2$y\x1bP>|kitty(0.36.4)\x1b\\\x1b[?62;22c", none).placeholders);
        assert!(understand("\x1bP>|ghostty 1.1.3\x1b\\\x1b[?62;22c", none).placeholders);
        for other in ["WezTerm 20240203", "tmux 3.4", "kitty(0.19.3)", "iTerm2 3.5"] {
            assert!(!understand(&format!("\x1bP>|{other}\x1b\\\x1b[?62;22c"), none).placeholders, "{other}");
        }
        assert_eq!(dark("\x1b]11;rgb:1e1e/1e1e/2e2e\x07"), Some(true));
        for answer in ["\x1b[?2026;0$y\x1b[?62;c", "\x1b[?1;2c", ""] {
            assert_eq!(understand(answer, none), nothing);
        }
        assert!(!understand("\x1bP>|XTerm(390)\x1b\\\x1b[?64c", none).reflows);
        assert!(
            !reflows("\x1b[?1;2c", "screen-256color", false)
                && reflows("\x1b[?1;2c", "screen-256color", true)
        );
        assert!(!reflows("", "linux", false) && reflows("", "xterm-256color", false));
        assert!(is_whole(b"\x1b[?2026;2$y\x1b[?62;22c"));
        assert!(!is_whole(b"\x1b[?2026;2$y\x1b[?62;2"));
        assert!(!is_whole(b"abc"));
    }
}
