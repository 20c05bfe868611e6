//! What a role wants done. Each role has its own type, so that a runtime role cannot report facts and a UI role cannot give commands.
//!
//! Both share [`LinkEffect`]: what any peer of a link may want.

use crate::Item;
use crate::line::Lane;
use domain::command::{Command, Receipt, Refusal, Target};
use domain::errand::{ErrandId, ErrandStep};
use domain::fact::Fact;
use domain::given_server::GivenServer;
use domain::ids::{AskId, SessionId};
use domain::port::{News, Ticket};
use domain::signal::Signal;
use domain::ui_files::{FileAnswer, FileRequestId};
use std::borrow::Cow;
use std::time::Duration;

/// Names a timer of a role; setting it again replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey(pub u64);

/// The wire said something we do not know: kept, counted, shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// Where, in words: a method, a field.
    pub place: String,
    /// What is odd about it. Words of ours alone are borrowed; others may quote what was said.
    pub what: Cow<'static, str>,
    /// The beginning of the line it stood in.
    pub raw: String,
    /// How many bytes the line had, as far as it was read.
    pub length: usize,
}

impl Drift {
    /// Longest piece of a line that is kept.
    pub const MAX_RAW: usize = 400;

    /// Longest name of a place in a log.
    const MAX_PLACE: usize = 64;

    /// A drift with its line cut to a bearable size.
    pub fn new(place: impl Into<String>, what: impl Into<Cow<'static, str>>, raw: &str) -> Drift {
        let kept = raw.chars().take(Drift::MAX_RAW).collect();
        Drift { place: place.into(), what: what.into(), raw: kept, length: raw.len() }
    }

    /// Whether the line goes on behind what is kept of it.
    pub fn is_cut(&self) -> bool {
        self.raw.len() < self.length
    }

    /// For a log: of what kind it is and how long its line was. Nothing that was said stands there: a line that cannot be read may be
    /// the answer to a question for a secret, and an error about it quotes it.
    pub fn logged(&self) -> String {
        let is_name = |c: &char| c.is_alphanumeric() || " _-./:$".contains(*c);
        let place: String = self.place.chars().take(Drift::MAX_PLACE).take_while(is_name).collect();
        let what = match &self.what {
            Cow::Borrowed(what) => what,
            Cow::Owned(_) => "it cannot be read",
        };
        format!("drift at {place}: {what} ({} bytes)", self.length)
    }
}

/// We could not say something on this wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    pub item: Item,
    /// What was not said.
    pub what: String,
}

/// Why a link is closed from our side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// The peer asked for it.
    Quit,
    /// It cannot be spoken with: the text says why and what to do.
    Unusable(String),
}

/// What either role may want of its link and of whoever watches it.
#[derive(Debug, Clone, PartialEq)]
pub enum LinkEffect {
    /// Write a line (without line break).
    Send { lane: Lane, line: String },
    /// Write a line alone: flush it, then wait before the next one, for peers that drop what comes in the same chunk.
    SendAlone {
        lane: Lane,
        line: String,
        /// How long nothing follows.
        pause: Duration,
    },
    /// Call the role's `timer` after a while.
    Timer { key: TimerKey, after: Duration },
    /// Forget a timer.
    CancelTimer(TimerKey),
    /// Count and show something odd.
    Drift(Drift),
    /// Count and show something that could not be said.
    Loss(Loss),
    /// A line for the log (stderr of a stdio runtime).
    Log(String),
    /// Close the link after what was sent is out.
    Close(Reason),
}

/// What a runtime role wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum RuntimeEffect {
    /// The UI wants something. [`RuntimeRole::settled`](crate::RuntimeRole::settled) brings the answer.
    Command {
        /// Chosen by the role.
        ticket: Ticket,
        target: Target,
        command: Command,
    },
    /// What the peer said to [`RuntimeRole::file`](crate::RuntimeRole::file).
    FileDone { id: FileRequestId, with: FileAnswer },
    /// The UI brings MCP servers for a session that this link sees, in the place of those that it brought before.
    Servers { session: SessionId, servers: Vec<GivenServer> },
    /// The peer cannot be asked this, though it was: whoever else can answer still may.
    CannotAnswer { session: SessionId, ask: AskId },
    /// The peer knows this session by its id and may come back to it: it is kept, also if nothing is said in it.
    Keep { session: SessionId },
    /// The peer wants to be told of every session that is open here ([`RuntimeRole::fleet`](crate::RuntimeRole::fleet)).
    WatchFleet {
        /// And of nothing else: it sees no session and gives no command.
        alone: bool,
    },
    /// Something of the link.
    Link(LinkEffect),
}

/// What a UI role wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum UiEffect {
    /// The runtime said something.
    Fact(Fact),
    /// A runtime on a lossless wire told its news; they are mirrored instead of canonised.
    News(Box<News>),
    /// The runtime sent a one-way word.
    Signal(Signal),
    /// A command that was given to this role is settled.
    Settle { ticket: Ticket, with: Result<Receipt, Refusal> },
    /// The runtime wants something done by our hands. [`UiRole::errand`](crate::UiRole::errand) brings what became of it.
    Errand { id: ErrandId, step: ErrandStep },
    /// Something of the link.
    Link(LinkEffect),
}

/// An effect of either role, as far as both are alike.
pub trait RoleEffect: From<LinkEffect> {
    /// What is wanted of the link, if this is about the link.
    fn link(&self) -> Option<&LinkEffect>;
}

impl From<LinkEffect> for RuntimeEffect {
    fn from(effect: LinkEffect) -> RuntimeEffect {
        RuntimeEffect::Link(effect)
    }
}

impl RoleEffect for RuntimeEffect {
    fn link(&self) -> Option<&LinkEffect> {
        match self {
            RuntimeEffect::Link(effect) => Some(effect),
            RuntimeEffect::Command { .. }
            | RuntimeEffect::FileDone { .. }
            | RuntimeEffect::Servers { .. }
            | RuntimeEffect::CannotAnswer { .. }
            | RuntimeEffect::Keep { .. }
            | RuntimeEffect::WatchFleet { .. } => None,
        }
    }
}

impl From<LinkEffect> for UiEffect {
    fn from(effect: LinkEffect) -> UiEffect {
        UiEffect::Link(effect)
    }
}

impl RoleEffect for UiEffect {
    fn link(&self) -> Option<&LinkEffect> {
        match self {
            UiEffect::Link(effect) => Some(effect),
            UiEffect::Fact(_)
            | UiEffect::News(_)
            | UiEffect::Signal(_)
            | UiEffect::Settle { .. }
            | UiEffect::Errand { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_is_not_in_a_log() {
        let why = "invalid type: string \"hunter2\"".to_owned();
        let line = r#"{"text":"hunter2"}"#;
        assert_eq!(Drift::new("line", why, line).logged(), "drift at line: it cannot be read (18 bytes)");
        let known = Drift::new("session/new", "a request that we do not offer", line);
        assert_eq!(known.logged(), "drift at session/new: a request that we do not offer (18 bytes)");
        assert_eq!(Drift::new("ev\"hunter2", "odd", "").logged(), "drift at ev: odd (0 bytes)");
    }
}
