//! All that a role may use in one call: the time, and a place to say what it wants done.

use crate::effect::{Drift, LinkEffect, Loss, Reason, RoleEffect, RuntimeEffect, TimerKey, UiEffect};
use crate::item::Item;
use crate::line::Lane;
use domain::command::{Command, Receipt, Refusal, Target};
use domain::errand::{ErrandId, ErrandStep};
use domain::fact::Fact;
use domain::ids::{AskId, Millis, SessionId};
use domain::port::{News, Ticket};
use domain::signal::{Level, Signal};
use domain::ui_files::{FileAnswer, FileRequestId};
use std::time::Duration;

/// What a call of a role gets. `E` is what that role may want done.
#[derive(Debug)]
pub struct Cx<'a, E> {
    pub now: Millis,
    /// What the role wants done, in order.
    pub effects: &'a mut Vec<E>,
}

/// For the role that plays the runtime.
pub type RuntimeCx<'a> = Cx<'a, RuntimeEffect>;
/// For the role that plays the UI.
pub type UiCx<'a> = Cx<'a, UiEffect>;

impl<E: RoleEffect> Cx<'_, E> {
    /// Wants something of the link.
    pub fn link(&mut self, effect: LinkEffect) {
        self.effects.push(effect.into());
    }

    /// Writes a line on the main lane.
    pub fn send(&mut self, line: String) {
        self.send_on(Lane::MAIN, line);
    }

    /// Writes a line on a lane.
    pub fn send_on(&mut self, lane: Lane, line: String) {
        self.link(LinkEffect::Send { lane, line });
    }

    /// Sets a timer.
    pub fn timer(&mut self, key: TimerKey, after: Duration) {
        self.link(LinkEffect::Timer { key, after });
    }

    /// Forgets a timer.
    pub fn cancel_timer(&mut self, key: TimerKey) {
        self.link(LinkEffect::CancelTimer(key));
    }

    /// Reports something odd.
    pub fn drift(&mut self, drift: Drift) {
        self.link(LinkEffect::Drift(drift));
    }

    /// Reports something that could not be said.
    pub fn loss(&mut self, item: Item, what: impl Into<String>) {
        self.link(LinkEffect::Loss(Loss { item, what: what.into() }));
    }

    /// Writes to the log.
    pub fn log(&mut self, line: impl Into<String>) {
        self.link(LinkEffect::Log(line.into()));
    }

    /// Closes the link after what was sent is out.
    pub fn close(&mut self, reason: Reason) {
        self.link(LinkEffect::Close(reason));
    }
}

impl RuntimeCx<'_> {
    /// Hands a command of the UI to the hub.
    pub fn command(&mut self, ticket: Ticket, target: Target, command: Command) {
        self.effects.push(RuntimeEffect::Command { ticket, target, command });
    }

    /// The peer has done what was wanted with a file, or could not.
    pub fn file_done(&mut self, id: FileRequestId, with: FileAnswer) {
        self.effects.push(RuntimeEffect::FileDone { id, with });
    }

    /// The peer cannot be asked this, though it was: whoever else can answer still may.
    pub fn cannot_answer(&mut self, session: SessionId, ask: AskId) {
        self.effects.push(RuntimeEffect::CannotAnswer { session, ask });
    }

    /// The peer may come back to this session by its id: it is kept, also if nothing is said in it.
    pub fn keep(&mut self, session: SessionId) {
        self.effects.push(RuntimeEffect::Keep { session });
    }

    /// The peer watches the sessions that are open here; `alone` when that is all it does.
    pub fn watch_fleet(&mut self, alone: bool) {
        self.effects.push(RuntimeEffect::WatchFleet { alone });
    }

    /// The words of a signal, on a wire that has a place for words and for no other signal: those are lost.
    pub fn words<'s>(&mut self, signal: &'s Signal) -> Option<(Level, &'s str)> {
        match signal {
            Signal::Notify { level, text } => return Some((*level, text)),
            Signal::Status { .. }
            | Signal::Working(_)
            | Signal::Widget { .. }
            | Signal::Title(_)
            | Signal::EditorText(_)
            | Signal::Suggestion { .. } => self.lost(signal),
        }
        None
    }

    /// Says that a signal cannot be said on this wire.
    pub fn lost(&mut self, signal: &Signal) {
        let (item, what) = match signal {
            Signal::Notify { text, .. } => (Item::Notify, text.as_str()),
            Signal::Status { .. } => (Item::Status, "a field of the status line"),
            Signal::Working(_) => (Item::Working, "what is going on"),
            Signal::Widget { .. } => (Item::Widget, "a block near the composer"),
            Signal::Title(_) => (Item::Title, "the window's title"),
            Signal::EditorText(_) => (Item::EditorText, "text for the composer"),
            Signal::Suggestion { .. } => (Item::Suggestion, "what to type next"),
        };
        self.loss(item, what);
    }
}

impl UiCx<'_> {
    /// Reports what the runtime said.
    pub fn fact(&mut self, fact: Fact) {
        self.effects.push(UiEffect::Fact(fact));
    }

    /// Reports what a runtime on a lossless wire told.
    pub fn news(&mut self, news: News) {
        self.effects.push(UiEffect::News(Box::new(news)));
    }

    /// Reports a one-way word of the runtime.
    pub fn signal(&mut self, signal: Signal) {
        self.effects.push(UiEffect::Signal(signal));
    }

    /// Wants something done by our hands, or says what was decided about it.
    pub fn errand(&mut self, id: ErrandId, step: ErrandStep) {
        self.effects.push(UiEffect::Errand { id, step });
    }

    /// Settles a command.
    pub fn settle(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        self.effects.push(UiEffect::Settle { ticket, with });
    }
}
