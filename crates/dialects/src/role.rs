//! What a dialect must implement, and all that it may use.
//!
//! A role is called with what arrived; it answers by pushing [`Effect`]s. It never blocks, never reads a clock, never does I/O.
//! Calls come one at a time and effects are performed in order, so a role needs no locks and can be tested as a function.

use domain::canon::Names;
use domain::command::{Command, Receipt, Refusal, Target};
use domain::event::Event;
use domain::fact::Fact;
use domain::ids::{Millis, SessionId};
use domain::port::{Abilities, News, Ticket};
use domain::signal::{Board, Signal};
use domain::state::State;
use std::sync::Arc;
use std::time::Duration;

/// Which of a link's byte streams. Most wires have one. nous has two kinds (commands, events) and any number of connections
/// of each, all served by one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lane(pub u32);

impl Lane {
    /// The only lane, or the first one that commands go over.
    pub const MAIN: Lane = Lane(0);
    /// The first lane of the second kind, on wires that have it.
    pub const EVENTS: Lane = Lane(1);

    /// The lane of the `number`th connection on the main (0) or the second (1) kind.
    pub fn connection(kind: Lane, number: u32) -> Lane {
        Lane((kind.0 & 1) | (number << 1))
    }

    /// [`Lane::MAIN`] or [`Lane::EVENTS`]: which kind it is.
    pub fn kind(self) -> Lane {
        Lane(self.0 & 1)
    }
}

/// One line as the framing saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole line of UTF-8 text without its line break.
    Text(String),
    /// Too long; skipped up to its line break. Carries its beginning.
    Overlong(String),
    /// Not UTF-8, or with a NUL in it; the bytes as far as they can be shown.
    Garbled(String),
}

/// Names a timer of a role; setting it again replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimerKey(pub u64);

/// The wire said something we do not know: kept, counted, shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drift {
    /// Where, in words: a method, a field.
    pub place: String,
    /// What is odd about it.
    pub what: String,
    /// The beginning of the line it stood in.
    pub raw: String,
}

impl Drift {
    /// Longest piece of a line that is kept.
    pub const MAX_RAW: usize = 400;

    /// A drift with its line cut to a bearable size.
    pub fn new(place: impl Into<String>, what: impl Into<String>, raw: &str) -> Drift {
        Drift { place: place.into(), what: what.into(), raw: raw.chars().take(Drift::MAX_RAW).collect() }
    }
}

/// We could not say something on this wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The item of the vocabulary, as in the fidelity table.
    pub item: &'static str,
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

/// What a role wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Write a line (without line break).
    Send {
        /// On which lane.
        lane: Lane,
        /// The line.
        line: String,
    },
    /// Write a line alone: flush it, then wait before the next one, for peers that drop what comes in the same chunk.
    SendAlone {
        /// On which lane.
        lane: Lane,
        /// The line.
        line: String,
        /// How long nothing follows.
        pause: Duration,
    },
    /// A UI wants something (runtime roles only). [`RuntimeRole::settled`] brings the answer.
    Command {
        /// Chosen by the role.
        ticket: Ticket,
        /// About which session.
        target: Target,
        /// What.
        command: Command,
    },
    /// A foreign runtime said something (UI roles only).
    Fact(Fact),
    /// A runtime on a lossless wire told its news; they are mirrored instead of canonised (UI roles only).
    News(Box<News>),
    /// A foreign runtime sent a one-way word (UI roles only).
    Signal(Signal),
    /// A command that was given to this role is settled (UI roles only).
    Settle {
        /// Which.
        ticket: Ticket,
        /// How.
        with: Result<Receipt, Refusal>,
    },
    /// Call [`RuntimeRole::timer`] or [`UiRole::timer`] after a while.
    Timer {
        /// Which.
        key: TimerKey,
        /// After how long.
        after: Duration,
    },
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

/// All that a role may use in one call.
#[derive(Debug)]
pub struct Cx<'a> {
    /// The time.
    pub now: Millis,
    /// What the role wants done, in order.
    pub effects: &'a mut Vec<Effect>,
}

impl Cx<'_> {
    /// Writes a line on the main lane.
    pub fn send(&mut self, line: String) {
        self.effects.push(Effect::Send { lane: Lane::MAIN, line });
    }

    /// Writes a line on a lane.
    pub fn send_on(&mut self, lane: Lane, line: String) {
        self.effects.push(Effect::Send { lane, line });
    }

    /// Hands a command of the UI to the hub.
    pub fn command(&mut self, ticket: Ticket, target: Target, command: Command) {
        self.effects.push(Effect::Command { ticket, target, command });
    }

    /// Reports what a foreign runtime said.
    pub fn fact(&mut self, fact: Fact) {
        self.effects.push(Effect::Fact(fact));
    }

    /// Settles a command.
    pub fn settle(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        self.effects.push(Effect::Settle { ticket, with });
    }

    /// Sets a timer.
    pub fn timer(&mut self, key: TimerKey, after: Duration) {
        self.effects.push(Effect::Timer { key, after });
    }

    /// Reports something odd.
    pub fn drift(&mut self, drift: Drift) {
        self.effects.push(Effect::Drift(drift));
    }

    /// Reports something that could not be said.
    pub fn loss(&mut self, item: &'static str, what: impl Into<String>) {
        self.effects.push(Effect::Loss(Loss { item, what: what.into() }));
    }

    /// Says that a signal cannot be said on this wire.
    pub fn lost(&mut self, signal: &Signal) {
        let (item, what) = match signal {
            Signal::Notify { text, .. } => ("notify", text.as_str()),
            Signal::Status { .. } => ("status", "a field of the status line"),
            Signal::Working(_) => ("working", "what is going on"),
            Signal::Widget { .. } => ("widget", "a block near the composer"),
            Signal::Title(_) => ("title", "the window's title"),
            Signal::EditorText(_) => ("editor text", "text for the composer"),
            Signal::Suggestion { .. } => ("suggestion", "what to type next"),
        };
        self.loss(item, what);
    }

    /// Writes to the log.
    pub fn log(&mut self, line: impl Into<String>) {
        self.effects.push(Effect::Log(line.into()));
    }
}

/// What the runtime behind a runtime role is, for greetings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Greeting {
    /// Our version.
    pub version: String,
    /// Working directory of the runtime.
    pub cwd: String,
    /// The model that a new session would use, as provider and name.
    pub model: Option<(String, String)>,
    /// Options of this dialect, as given on the command line (`--option name=value`, `--no-ui`, `--compat seed|peer`).
    pub options: Vec<(String, String)>,
}

impl Greeting {
    /// The value of an option.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }
}

/// A session as a runtime role sees it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Which session.
    pub session: &'a SessionId,
    /// As it stands now. When a slow link catches up, this may be ahead of the event that is being told.
    pub state: &'a State,
    /// The lasting signals.
    pub board: &'a Board,
    /// Whether it is this link's current session.
    pub current: bool,
}

/// We play the runtime: a foreign UI is at the other end.
pub trait RuntimeRole: Send {
    /// The link is up.
    fn open(&mut self, cx: &mut Cx<'_>, greeting: &Greeting);
    /// A line came.
    fn line(&mut self, cx: &mut Cx<'_>, lane: Lane, line: Line);
    /// The peer opened one more connection on a lane (wires with several); `false` when it closed one.
    fn lane(&mut self, _cx: &mut Cx<'_>, _lane: Lane, _open: bool) {}
    /// This link now sees `view.session` (it asked for it, or was put there). Everything so far is in the state; events follow.
    fn attached(&mut self, cx: &mut Cx<'_>, view: View<'_>);
    /// This link no longer sees the session.
    fn detached(&mut self, _cx: &mut Cx<'_>, _session: &SessionId) {}
    /// What the runtime behind this role can do; again when that changes, with what this link works in. `true` when the role has
    /// shown that session once more because of it: everything so far is told.
    fn abilities(&mut self, _cx: &mut Cx<'_>, _view: Option<View<'_>>, _abilities: &Abilities) -> bool {
        false
    }
    /// Something happened in a session that this link sees.
    fn event(&mut self, cx: &mut Cx<'_>, view: View<'_>, event: &Event);
    /// A one-way word.
    fn signal(&mut self, _cx: &mut Cx<'_>, _view: View<'_>, _signal: &Signal) {}
    /// A command of this link is settled.
    fn settled(
        &mut self,
        cx: &mut Cx<'_>,
        view: Option<View<'_>>,
        ticket: Ticket,
        with: Result<Receipt, Refusal>,
    );
    /// A timer ran out.
    fn timer(&mut self, _cx: &mut Cx<'_>, _key: TimerKey) {}
    /// The peer is gone.
    fn closed(&mut self, _cx: &mut Cx<'_>) {}
    /// What asks the peer can answer: nobody is asked on a wire that cannot carry the question.
    fn can_answer(&self) -> Answers;
}

/// Which asks a link's peer can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answers {
    /// Whether a tool may run.
    pub consent: bool,
    /// Anything else.
    pub other: bool,
    /// How long a question may wait on this wire; `None` means for ever.
    pub deadline: Option<Duration>,
}

impl Answers {
    /// Everything.
    pub const ALL: Answers = Answers { consent: true, other: true, deadline: None };
    /// Nothing: the wire has no asks.
    pub const NONE: Answers = Answers { consent: false, other: false, deadline: None };
}

/// What a UI role may look at.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The session as our side knows it.
    pub state: &'a State,
    /// The peer's ids of what is open.
    pub names: &'a Names,
}

/// We play the UI: a foreign runtime is at the other end.
pub trait UiRole: Send {
    /// The link is up: greet.
    fn open(&mut self, cx: &mut Cx<'_>, hello: &Hello);
    /// A line came.
    fn line(&mut self, cx: &mut Cx<'_>, seen: Seen<'_>, lane: Lane, line: Line);
    /// Our side wants something. Must be settled exactly once, now or later; what the wire cannot do is refused as unsupported.
    fn command(&mut self, cx: &mut Cx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command);
    /// A timer ran out.
    fn timer(&mut self, _cx: &mut Cx<'_>, _seen: Seen<'_>, _key: TimerKey) {}
    /// The peer is gone: settle what is open. (The canon closes the run by itself.)
    fn closed(&mut self, cx: &mut Cx<'_>, seen: Seen<'_>);
    /// What the peer can do, once known; `None` before the handshake is over.
    fn abilities(&self) -> Option<Abilities>;
}

/// Who we are, for greetings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hello {
    /// Our version.
    pub version: String,
    /// Working directory of the UI.
    pub cwd: String,
    /// Columns and rows, if there is a terminal.
    pub size: Option<(u16, u16)>,
    /// Session to go to at once, by the peer's id.
    pub session: Option<Arc<str>>,
}

/// Longest time that a foreign runtime may take for its handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for a program whose interpreter has to load it first: several seconds by itself, many on a busy machine.
pub const START_TIMEOUT: Duration = Duration::from_secs(30);
