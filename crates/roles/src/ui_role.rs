//! We play the UI: what a dialect implements to drive foreign runtimes, and what it is shown.
//!
//! The same rules hold as for a [`RuntimeRole`](crate::RuntimeRole): no I/O, no clock, one call at a time.

use crate::context::UiCx;
use crate::effect::TimerKey;
use crate::line::{Lane, Line};
use domain::canon::Names;
use domain::command::Command;
use domain::errand::{ErrandId, ErrandNews};
use domain::ids::SessionId;
use domain::port::{Abilities, Ticket};
use domain::state::State;
use std::sync::Arc;
use std::time::Duration;

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
    /// The link is up: greet, where the wire has a greeting.
    fn open(&mut self, _cx: &mut UiCx<'_>, _hello: &Hello) {}
    /// A line came.
    fn line(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, lane: Lane, line: Line);
    /// Our side wants something. Must be settled exactly once, now or later; what the wire cannot do is refused as unsupported.
    fn command(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command);
    /// The same for one of several sessions that the peer has shown. Only wires that name the session with each command need it.
    fn command_in(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        _session: &SessionId,
        ticket: Ticket,
        command: Command,
    ) {
        self.command(cx, seen, ticket, command);
    }
    /// A timer ran out.
    fn timer(&mut self, _cx: &mut UiCx<'_>, _seen: Seen<'_>, _key: TimerKey) {}
    /// Whether runtimes of this wire have files and commands done by our hands.
    fn has_errands(&self) -> bool {
        false
    }
    /// What became of an errand, or that a person must say. Comes only where [`Hello::does_errands`] was told.
    fn errand(&mut self, _cx: &mut UiCx<'_>, _seen: Seen<'_>, _id: ErrandId, _news: ErrandNews) {}
    /// The program that has not greeted yet wrote something beside its wire since it was last looked at: it lives and works.
    fn stirred(&mut self) {}
    /// We leave: a last word to the peer, where its wire has one.
    fn leave(&mut self, _cx: &mut UiCx<'_>) {}
    /// The peer is gone: settle what is open. (The canon closes the run by itself.)
    fn closed(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>);
    /// What the peer can do, once known; `None` before the handshake is over.
    fn abilities(&self) -> Option<Abilities>;
    /// The peer's own name of the session where it works, once known.
    fn session_name(&self) -> Option<Arc<str>> {
        None
    }
    /// Whether the facts that come now are the past of a session that is being opened: they belong to the session of the receipt that
    /// settles this, which goes first.
    fn is_arriving(&self) -> bool {
        false
    }
    /// Which of the facts that come now are the past of a session, be it that one or the one of the handshake. They were true before
    /// this link was there: a side that has kept them passes over them.
    fn past(&self) -> Past {
        if self.is_arriving() { Past::Comes } else { Past::None }
    }
}

/// Whether a runtime tells the past of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// What comes is news.
    None,
    /// Everything that comes is the past, until it is over.
    Comes,
    /// What comes is news of a session that the peer will name in a moment.
    Unplaced,
    /// It was asked for and comes with the one answer that ends this; everything before that is news.
    Awaited,
}

/// Who we are, for greetings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hello {
    pub version: String,
    /// Working directory of the UI.
    pub cwd: String,
    /// Columns and rows, if there is a terminal.
    pub size: Option<(u16, u16)>,
    /// The person's shell, by its name.
    pub shell: Option<String>,
    /// Session to go to at once, by the peer's id.
    pub session: Option<Arc<str>>,
    /// Session where the person was before the link broke, by the peer's id: to go back to, where the peer still has it.
    pub last_session: Option<Arc<str>>,
    /// Whether nobody is there who could choose or write anything, so that only consent is answered.
    pub is_away: bool,
    /// Whether errands of the peer are done here; one that is wanted all the same would never be answered.
    pub does_errands: bool,
    /// Whether what the peer asks consent for is judged here first, by our mode and our rules: needs `does_errands`.
    pub judges: bool,
    /// Whether a person looks at one session and named none: one is begun at once where the peer shows none by itself, so that its
    /// folder, model and mode are known before the first prompt.
    pub begins: bool,
    /// Whether the conversation is kept: then the peer's name for it is worth a question, where its wire does not tell it by itself.
    pub keeps: bool,
    /// Whether no question can be answered here: the peer has others to ask.
    pub is_mute: bool,
    /// After so long without a word a message is given up, where the person wants another time than the wire's usual one.
    pub patience: Option<Duration>,
    /// Whether a person looks at it who can leave: a program that starts is waited for while it lives.
    pub is_attended: bool,
    /// How long the program may take to start, where the person wants another time than that it lives or moves.
    pub start_within: Option<Duration>,
}

/// Longest time that a foreign runtime may take for its handshake.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// The same for a program whose interpreter has to load it first: several seconds by itself, many on a busy machine.
pub const START_TIMEOUT: Duration = Duration::from_secs(30);
/// On a wire where the runtime speaks first: after so long without a word it is asked whether it is there. One of another wire, which
/// itself waits to be spoken to, answers that in its own words.
pub const KNOCK_AFTER: Duration = Duration::from_secs(1);
