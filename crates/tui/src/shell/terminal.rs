//! The terminal itself: entered once, always left again, also by a panic or a signal. What it can do is asked, not assumed.

use super::decode::Answer;
use super::raw;
use domain::harmless::clean;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;

/// How long an answer is waited for where something depends on it. The screen never does: what comes later is taken in then.
pub(super) const ANSWER: Duration = Duration::from_secs(1);

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
/// Synchronized output? Key forms? Its name? Background? Where is the cursor? And a question that every terminal answers, to know that
/// nothing more is to come.
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
    /// It tells where its cursor is.
    pub(super) cursor: bool,
    /// Whether it wraps what was written anew when its width changes.
    pub(super) reflows: bool,
    /// Whether it may have another size for a while before it says so.
    pub(super) tells_late: bool,
}

/// The terminal while it is ours.
#[derive(Debug)]
pub(super) struct Terminal {
    facts: Facts,
    /// How many times it was asked something, when last, and how many times it came to the end of its answers.
    asked: u32,
    asked_at: Instant,
    answered: u32,
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
        raw::enter()?;
        let facts = Facts::assumed(|name| std::env::var(name).unwrap_or_default());
        let mut terminal = Terminal { facts, asked: 0, asked_at: Instant::now(), answered: 0, mouse, full };
        terminal.resume()?;
        terminal.ask(QUESTIONS)?;
        Ok(terminal)
    }

    /// Asks; the answers come like keys, and are told by [`Terminal::learn`].
    fn ask(&mut self, questions: &str) -> io::Result<()> {
        self.asked += 1;
        self.asked_at = Instant::now();
        self.write(questions)
    }

    /// Asks where the cursor is; which of its answers that will be.
    pub(super) fn locate(&mut self) -> io::Result<u32> {
        self.ask(WHERE)?;
        Ok(self.asked)
    }

    /// The terminal answered.
    pub(super) fn learn(&mut self, answer: &Answer) -> io::Result<()> {
        let knew = self.facts;
        self.facts.learn(answer);
        if *answer == Answer::Attributes {
            self.answered = (self.answered + 1).min(self.asked);
        }
        if self.facts.keys && !knew.keys { self.write(KEYS_ON) } else { Ok(()) }
    }

    /// Which of its answers it is giving, if any is to come.
    pub(super) fn answering(&self) -> Option<u32> {
        (self.answered < self.asked).then_some(self.answered + 1)
    }

    /// Until when an answer may be on its way that would be typed into whatever reads the terminal next.
    pub(super) fn owes_until(&self) -> Option<Instant> {
        self.answering().map(|_| self.asked_at + ANSWER)
    }

    /// What the terminal said about its abilities so far.
    pub(super) fn facts(&self) -> Facts {
        self.facts
    }

    /// Columns and rows; the usual 80 by 24 if nobody can say.
    pub(super) fn size(&self) -> (u16, u16) {
        tcgetwinsize(stdout()).map_or((80, 24), |size| (size.ws_col, size.ws_row))
    }

    /// Takes the terminal (again).
    pub(super) fn resume(&mut self) -> io::Result<()> {
        raw::enter()?;
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
        let _ = raw::leave();
        for broken in lock(&BROKEN).drain(..) {
            let _ = writeln!(stderr(), "{}", clean(&broken));
        }
    }
}

/// The terminal as it was before another process drew on it, which may die without giving it back.
#[derive(Debug)]
pub struct FoundTerminal(Termios);

impl FoundTerminal {
    /// Looks at the terminal on stdin.
    ///
    /// # Errors
    /// When there is none.
    pub fn find() -> io::Result<FoundTerminal> {
        Ok(FoundTerminal(tcgetattr(io::stdin())?))
    }

    /// Gives it back in place of the process that took it. As far as it can be done: there is nobody else to tell.
    pub fn give_back(&self) {
        let mut out = stdout().lock();
        let _ = out.write_all(format!("{LEAVE}{ALTERNATE_OFF}").as_bytes());
        let _ = out.flush();
        // What the terminal answered or was typed meanwhile was meant for the one that is gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Flush, &self.0);
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

impl Facts {
    /// What is held true until the terminal says otherwise.
    fn assumed(variable: impl Fn(&str) -> String) -> Facts {
        let tmux = !variable("TMUX").is_empty();
        let rigid = RIGID_TERMS.contains(&variable("TERM").split('-').next().unwrap_or(""));
        // Nearly all wrap anew today.
        Facts { reflows: tmux || !rigid, tells_late: tmux, ..Facts::default() }
    }

    fn learn(&mut self, answer: &Answer) {
        match answer {
            Answer::Synchronized(can) => self.synchronized = *can,
            Answer::Keys => self.keys = true,
            Answer::Name(name) => {
                self.reflows = !RIGID.iter().any(|rigid| name.starts_with(rigid));
                self.placeholders = placeholders(name);
            }
            Answer::Dark(dark) => self.dark = Some(*dark),
            Answer::Cursor(..) => self.cursor = true,
            Answer::Attributes => {}
        }
    }
}

/// Whether the terminal of this name draws pictures where placeholders stand. Others that know the protocol do not.
fn placeholders(name: &str) -> bool {
    let old =
        ["kitty(0.1", "kitty(0.20", "kitty(0.21", "kitty(0.22", "kitty(0.23", "kitty(0.24", "kitty(0.25"];
    let known = name.starts_with("kitty(") || name.starts_with("ghostty");
    known && !old.iter().any(|old| name.starts_with(old))
}

/// Whether the variable that some terminals set says that the background is dark: `15;0`, the last number is its.
pub(super) fn dark_told(variable: &str) -> Option<bool> {
    let number: u8 = variable.rsplit(';').next()?.parse().ok()?;
    (number < 16).then_some(matches!(number, 0..=6 | 8))
}

/// Tells when the size of the window may be another.
pub(super) struct Sizes(Signal);

impl Sizes {
    pub(super) fn new() -> io::Result<Sizes> {
        Ok(Sizes(signal(SignalKind::window_change())?))
    }

    /// Several changes may be told as one.
    pub(super) async fn changed(&mut self) {
        self.0.recv().await;
    }
}

/// What tells a program to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopSignal {
    /// The person, with Ctrl-C or by name.
    Interrupt,
    Terminate,
    /// The person, with Ctrl-\ where a program leaves keys to the terminal, or by name.
    Quit,
    /// The terminal is gone, or somebody says so.
    HangUp,
}

impl StopSignal {
    /// As people and manuals call it.
    pub const fn name(self) -> &'static str {
        match self {
            StopSignal::Interrupt => "SIGINT",
            StopSignal::Quit => "SIGQUIT",
            StopSignal::Terminate => "SIGTERM",
            StopSignal::HangUp => "SIGHUP",
        }
    }

    /// What a shell reports of a program that it ended: 128 and its number.
    pub const fn exit_code(self) -> u8 {
        match self {
            StopSignal::HangUp => 129,
            StopSignal::Interrupt => 130,
            StopSignal::Quit => 131,
            StopSignal::Terminate => 143,
        }
    }
}

/// Signals that end the program.
pub(super) struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    /// Waits for the next.
    pub(super) async fn next(&mut self) -> StopSignal {
        tokio::select! {
            _ = self.terminate.recv() => StopSignal::Terminate,
            _ = self.hang_up.recv() => StopSignal::HangUp,
            _ = self.interrupt.recv() => StopSignal::Interrupt,
            _ = self.quit.recv() => StopSignal::Quit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(answers: &[Answer], term: &str, tmux: &str) -> Facts {
        let said = |name: &str| if name == "TERM" { term.to_owned() } else { tmux.to_owned() };
        let mut facts = Facts::assumed(said);
        answers.iter().for_each(|answer| facts.learn(answer));
        facts
    }

    #[test]
    fn answers_of_terminals_are_understood() {
        let nothing = Facts { reflows: true, ..Facts::default() };
        let name = |name: &str| Answer::Name(name.to_owned());
        let all = Facts { synchronized: true, keys: true, dark: Some(false), cursor: true, ..nothing };
        let answers = [
            Answer::Attributes,
            Answer::Dark(false),
            Answer::Cursor(11, 0),
            name("foot(1.20)"),
            Answer::Keys,
            Answer::Synchronized(true),
        ];
        assert_eq!(known(&answers, "foot", ""), all, "in whatever order they come");
        assert_eq!(known(&[Answer::Attributes, Answer::Synchronized(false)], "xterm", ""), nothing);
        for drawing in ["kitty(0.36.4)", "ghostty 1.1.3"] {
            assert!(known(&[name(drawing)], "xterm", "").placeholders, "{drawing}");
        }
        for other in ["WezTerm 20240203", "tmux 3.4", "kitty(0.19.3)", "iTerm2 3.5"] {
            assert!(!known(&[name(other)], "xterm", "").placeholders, "{other}");
        }
        assert!(!known(&[name("XTerm(390)")], "xterm", "").reflows);
        assert!(!known(&[], "screen-256color", "").reflows && known(&[], "screen-256color", "1").reflows);
        assert!(!known(&[], "linux", "").reflows && known(&[], "xterm-256color", "").reflows);
    }

    #[test]
    fn a_variable_may_tell_the_background() {
        for (told, dark) in [("15;0", Some(true)), ("0;15", Some(false)), ("0;default;7", Some(false))] {
            assert_eq!(dark_told(told), dark, "{told}");
        }
        assert!(dark_told("").is_none() && dark_told("15;default").is_none() && dark_told("0;99").is_none());
    }
}
