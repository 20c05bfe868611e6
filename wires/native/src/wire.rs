//! The lines of the native dialect, exactly as they are written. No logic.

use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::{Body, Event};
use domain::fleet::Member;
use domain::ids::{Millis, Seq, SessionId};
use domain::port::{Abilities, Ticket};
use domain::rights::Standing;
use domain::signal::{Board, Signal};
use record::Settlement;
use serde::{Deserialize, Serialize};

/// Said by a UI to a runtime that took its greeting in silence for a second: one of another wire, where a greeting without an id gets no
/// answer, refuses it in a form by which it is known. A runtime of this wire may complain of it.
pub(super) const KNOCK_LINE: &str = r#"{"jsonrpc":"2.0","id":"knock","method":"ping"}"#;

/// What a UI says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FromUi {
    /// First of all.
    Hello(Hello),
    /// It wants something.
    Command(Wanted),
    /// It wants to know which sessions are open, now and from now on.
    WatchFleet(FleetWatch),
    /// A line of the runtime's could not be used.
    Error(Complaint),
}

/// What a runtime says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FromRuntime {
    /// The answer to a hello.
    Hello(Hello),
    /// A command is settled.
    Settled(Settled),
    /// The UI now sees this session; all of it in one line.
    Attached(Attached),
    /// The same for a session that does not fit: `replay` lines and `attached_end` follow.
    AttachedBegin(Attached),
    /// A piece of the replay.
    Replay(Replay),
    /// The replay is whole.
    AttachedEnd(Named),
    /// The UI no longer sees this session.
    Detached(Named),
    /// Something happened.
    Event(Happened),
    /// A one-way word.
    Signal(Said),
    /// What is new of the sessions that are open, for a UI that watches them.
    Fleet(FleetNews),
    /// What the session's state must hash to.
    Hash(Cursor),
    /// A line could not be used.
    Error(Complaint),
}

/// Who speaks, in which version, and for a UI where it wants to go.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hello {
    /// The highest protocol the speaker knows.
    pub protocol: u32,
    /// Additions to it that the speaker knows.
    #[serde(default)]
    pub revision: u32,
    /// The program.
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub version: String,
    /// What it can do.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// The session a UI wants to see at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What a returning UI already knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
    /// From a UI: what it wants to be held to; left out, all that its connection may do. From a runtime: what it is held to, which is never
    /// more than its connection may do; left out, everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<Standing>,
}

/// A place in a session, and the hash of its state there where it is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cursor {
    pub session: SessionId,
    /// Its last event.
    pub seq: Seq,
    /// Sixteen hex digits. A side that does not work it out leaves it out, and nothing is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wanted {
    /// Comes back with the settlement; unique among those that wait.
    pub ticket: Ticket,
    /// About which session.
    #[serde(default, skip_serializing_if = "is_current")]
    pub target: Target,
    pub what: Command,
}

fn is_current(target: &Target) -> bool {
    *target == Target::Current
}

/// A settlement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// Of which command.
    pub ticket: Ticket,
    #[serde(with = "Settlement")]
    pub with: Result<Receipt, Refusal>,
}

/// A session that is now seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attached {
    /// Which, with its last event and its hash.
    pub at: Cursor,
    /// The UI's cursor was right: it knows all of it, and no replay comes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub current: bool,
    /// Bodies whose fold is its state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replay: Vec<(Millis, Body)>,
    /// The lasting signals.
    #[serde(default)]
    pub board: Board,
    /// What the runtime behind it can do.
    pub abilities: Abilities,
}

/// A piece of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replay {
    pub session: SessionId,
    /// The next bodies.
    pub items: Vec<(Millis, Body)>,
}

/// Names a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Named {
    pub session: SessionId,
}

/// An event and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Happened {
    pub session: SessionId,
    pub event: Event,
}

/// A signal and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Said {
    pub session: SessionId,
    pub signal: Signal,
}

/// What a complaint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum About {
    /// The handshake: the two cannot speak with each other.
    Hello,
    /// The session that the hello named.
    Session,
    /// One line; the link lives on.
    Line,
}

/// A line could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Complaint {
    pub about: About,
    /// The command, if the line told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<Ticket>,
    pub message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Only the ticket of a command, read when the rest of it cannot be.
#[derive(Debug, Deserialize)]
pub struct TicketOnly {
    pub command: TicketOf,
}

/// See [`TicketOnly`].
#[derive(Debug, Deserialize)]
pub struct TicketOf {
    pub ticket: Ticket,
}

/// How the sessions that are open are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetWatch {
    /// Nothing else is wanted of this link: it is shown no session, and its commands are refused.
    #[serde(default)]
    pub alone: bool,
}

/// Which sessions are open, or what changed of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetNews {
    /// These are all there are; without it only what changed is told.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
    /// As they stand now.
    #[serde(default)]
    pub members: Vec<Member>,
    /// No longer open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<SessionId>,
}
