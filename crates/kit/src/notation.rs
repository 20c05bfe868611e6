//! The transcript notation: one text form for dialect tests, TUI scenarios, conformance cases, recordings and bug
//! reports.
//!
//! This is the model of it, its reader ([`Transcript::parse`]) and its canonical printer (`Display`); the judging of
//! a run ([`Judge`]), its report ([`Report`]) and the rewriting of a file by what came ([`accept`]). All of it is
//! pure: nothing here talks to a role, a process or a clock. What the model, tools, commands and events say is kept
//! as written; the crates that own those words read them.
//!
//! Invariants: `parse(print(t)) == t`; no text makes it panic; every error names its line.

mod accept;
mod judge;
mod parse;
mod print;
mod report;
#[cfg(test)]
mod tests;

use crate::pattern::Pattern;

pub use accept::accept;
pub use judge::{Judge, Next};
pub use parse::NotationError;
pub use report::{Came, Outcome, Report, Verdict};

/// The longest transcript that is read.
pub const MAX_TRANSCRIPT: usize = 256 * 1024 * 1024;
/// The largest screen, in columns and in rows.
pub const MAX_SCREEN: u16 = 1000;

/// A recorded or written conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transcript {
    /// What the file says about itself.
    pub heads: Heads,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// The lines before the first step.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Heads {
    /// Comment lines above or between the heads, with their `#`.
    pub preface: Vec<String>,
    /// `dialect openagent`.
    pub dialect: Option<String>,
    /// `title one line telling what this shows`.
    pub title: Option<String>,
    /// `seed "section 5.1"`: the place in the dialect's document, as written.
    pub seed: Option<String>,
    /// `session-cwd /home/user/project`.
    pub session_cwd: Option<String>,
    /// `home /home/user`: where the home of the recorded person was.
    pub home: Option<String>,
    /// `option name=value`, in order.
    pub options: Vec<(String, String)>,
}

/// One thing that happens. Two steps are equal when they say the same, wherever they stand.
#[derive(Debug, Clone)]
pub struct Step {
    /// The line it begins on, counted from 1; 0 for a step that was not read from a text.
    pub line_no: usize,
    /// The line it ends on.
    pub last_line: usize,
    /// `@+12ms`: the time since the step before, where it was recorded.
    pub after: Option<Millis>,
    pub kind: Kind,
}

/// What happens in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A comment with its `#`, or an empty line.
    Note(String),
    Say(Say),
    /// `optional < {…}`: may come from here on, or not.
    Optional(Say),
    /// `anyorder` … `end`: lines of one side in any order; holds only notes, says and optional says.
    AnyOrder(Vec<Step>),
    /// `! …`, `!< …`, `!hex …`: bytes that need not be a good line.
    Raw(Raw),
    /// `model text "…"`: what the scripted model does.
    Model(String),
    /// `tool read ok "…"`: what a scripted tool answers.
    Tool(String),
    /// `command prompt "…"`: what a person does at our UI.
    Command(String),
    /// `event run-started …`: an event of the domain, in short notation.
    Event(String),
    /// `keys fix the bug<enter>`.
    Keys(String),
    /// `screen 80x24` and the lines that should stand there.
    Screen(Screen),
    /// `wait 30s`: the fake clock moves on.
    Wait(Millis),
    /// `close` or `kill`.
    Leave(Leave),
}

/// The two ends of a wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Ui,
    Runtime,
}

/// A line of the wire: a pattern to the side that hears it, a template to the side that speaks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Say {
    pub side: Side,
    /// Which of a wire's sockets carries it; 0 unless written `>@1`.
    pub lane: u8,
    pub pattern: Pattern,
}

/// Bytes said as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raw {
    pub side: Side,
    /// Which of a wire's sockets carries them.
    pub lane: u8,
    pub bytes: RawBytes,
}

/// How raw bytes are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawBytes {
    /// A line of text, without the newline that ends it on the wire. Holds neither newline nor carriage return.
    Line(String),
    /// `!hex`: exactly these bytes, no newline added.
    Exact(Vec<u8>),
}

/// What should stand on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screen {
    /// Columns and rows, if the file says them.
    pub size: Option<(u16, u16)>,
    /// The lines, without spaces at their ends.
    pub lines: Vec<String>,
}

/// A side goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leave {
    /// In which way.
    pub how: Leaving,
    /// Which side; without it, the peer of whatever is tested.
    pub side: Option<Side>,
}

/// The way a side goes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// It closes its end in good order.
    Close,
    /// It dies in the middle.
    Kill,
}

/// A span of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Millis(pub u64);

impl PartialEq for Step {
    fn eq(&self, other: &Self) -> bool {
        self.after == other.after && self.kind == other.kind
    }
}

impl Eq for Step {}

impl Transcript {
    /// Reads a transcript.
    pub fn parse(text: &str) -> Result<Self, NotationError> {
        parse::transcript(text)
    }
}

impl Step {
    /// A step that was made, not read.
    pub fn new(kind: Kind) -> Self {
        Self { line_no: 0, last_line: 0, after: None, kind }
    }

    /// A line as it came over a wire, without its newline: JSON becomes a say, anything else raw bytes.
    pub fn recorded(side: Side, lane: u8, line: &[u8], after: Option<Millis>) -> Self {
        let text = std::str::from_utf8(line).ok();
        let kind = match text.map(Pattern::parse_literal) {
            Some(Ok(pattern)) => Kind::Say(Say { side, lane, pattern }),
            _ => Kind::Raw(Raw { side, lane, bytes: RawBytes::line(line) }),
        };
        Self { after, ..Self::new(kind) }
    }

    /// The line of the wire this step is about, if it is one.
    pub fn say(&self) -> Option<&Say> {
        match &self.kind {
            Kind::Say(say) | Kind::Optional(say) => Some(say),
            _ => None,
        }
    }
}

impl Side {
    /// The other one.
    #[must_use]
    pub fn peer(self) -> Self {
        match self {
            Self::Ui => Self::Runtime,
            Self::Runtime => Self::Ui,
        }
    }

    /// The mark that begins a line of this side in a transcript.
    pub fn sign(self) -> char {
        match self {
            Self::Ui => '>',
            Self::Runtime => '<',
        }
    }
}

impl RawBytes {
    /// A line without its newline, as text where the notation can hold it so.
    pub fn line(line: &[u8]) -> Self {
        match std::str::from_utf8(line) {
            Ok(text) if !text.contains(['\n', '\r']) => Self::Line(text.to_owned()),
            _ => Self::Exact([line, b"\n"].concat()),
        }
    }

    /// The bytes to put on the wire, newline included where one belongs.
    pub fn to_wire(&self) -> Vec<u8> {
        match self {
            Self::Line(text) => [text.as_bytes(), b"\n"].concat(),
            Self::Exact(bytes) => bytes.clone(),
        }
    }
}
