//! Runs that the UI wants stopped. The answer to `run.cancel` stands between the last thing that is told of the run and `cancelled`:
//! whoever has read it knows that nothing follows but the end.
//!
//! So the answer waits for the end of the run, at most [`ANSWERS_WITHIN`]; past that it is given, and what the run still says is
//! dropped until it ends. The end in turn waits for the answers, which the hub gives at once.

use super::telling::RunLine;
use super::{CodeliaRuntime, runs};
use domain::ids::{RunId, SessionId};
use domain::port::Ticket;
use rolekit::endpoint::MAX_PENDING;
use roles::{RuntimeCx, TimerKey};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use wire::WireId;

/// How long an answer to `run.cancel` waits for what the run still has to say.
pub const ANSWERS_WITHIN: Duration = Duration::from_millis(1500);

/// A run that is being stopped.
#[derive(Debug, Default)]
pub(super) struct Stop {
    /// Cancels that the hub has not settled.
    asked: BTreeSet<Ticket>,
    /// Requests whose answer waits for the end of the run.
    answers: Vec<WireId>,
    /// An answer was given: nothing may follow but the end.
    silent: bool,
    /// The end, which waits for the hub.
    end: Option<(String, RunLine)>,
}

/// All runs that are being stopped.
#[derive(Debug, Default)]
pub(super) struct Stops(BTreeMap<(SessionId, RunId), Stop>);

impl Stops {
    /// The UI asks to stop a run that is told.
    pub(super) fn ask(&mut self, session: SessionId, run: RunId, ticket: Ticket) {
        if self.0.len() < MAX_PENDING {
            self.0.entry((session, run)).or_default().asked.insert(ticket);
        }
    }

    /// The stop that a cancel was asked for; it waits for it no more.
    fn asked(&mut self, ticket: Ticket) -> Option<((SessionId, RunId), &mut Stop)> {
        self.0.iter_mut().find_map(|(key, stop)| stop.asked.remove(&ticket).then(|| (key.clone(), stop)))
    }

    /// Whether nothing of this run is told any more.
    pub(super) fn silent(&self, session: &SessionId, run: RunId) -> bool {
        self.0.get(&(session.clone(), run)).is_some_and(|stop| stop.silent)
    }

    /// Nothing of this session is told any more: what waits is given back to be answered.
    pub(super) fn forget(&mut self, session: &SessionId) -> Vec<WireId> {
        let mut answers = Vec::new();
        self.0.retain(|(of, _), stop| {
            if of == session {
                answers.append(&mut stop.answers);
            }
            of != session
        });
        answers
    }
}

impl CodeliaRuntime {
    /// The hub stops the run: the answer waits for its end, or is given at once where there is nothing to wait for.
    pub(super) fn stopping(&mut self, cx: &mut RuntimeCx<'_>, ticket: Ticket, id: WireId) {
        let Some((key, stop)) = self.stops.asked(ticket) else {
            return send_accepted(cx, &id);
        };
        if stop.silent {
            return send_accepted(cx, &id);
        }
        stop.answers.push(id);
        self.end_stop(cx, &key);
    }

    /// The hub does not stop the run; its refusal is the answer.
    pub(super) fn not_stopping(&mut self, cx: &mut RuntimeCx<'_>, ticket: Ticket) {
        let Some((key, _)) = self.stops.asked(ticket) else { return };
        self.end_stop(cx, &key);
    }

    /// The run is over: its last line waits for answers that the hub has not given.
    pub(super) fn run_over(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        run: RunId,
        name: &str,
        end: RunLine,
    ) {
        let key = (session.clone(), run);
        match self.stops.0.get_mut(&key) {
            Some(stop) => {
                stop.end = Some((name.to_owned(), end));
                self.end_stop(cx, &key);
            }
            None => cx.send(end.line(name)),
        }
    }

    fn end_stop(&mut self, cx: &mut RuntimeCx<'_>, key: &(SessionId, RunId)) {
        let due = self.stops.0.get(key).is_some_and(|stop| stop.end.is_some() && stop.asked.is_empty());
        if let Some(stop) = due.then(|| self.stops.0.remove(key)).flatten() {
            stop.answers.iter().for_each(|id| send_accepted(cx, id));
            if let Some((name, end)) = stop.end {
                cx.send(end.line(&name));
            }
        }
    }

    /// The run takes its time: the UI gets its answer now, and hears nothing more of the run but its end.
    pub(super) fn stop_takes_long(&mut self, cx: &mut RuntimeCx<'_>) {
        for stop in self.stops.0.values_mut().filter(|stop| !stop.answers.is_empty()) {
            stop.silent = true;
            std::mem::take(&mut stop.answers).iter().for_each(|id| send_accepted(cx, id));
        }
    }

    /// Waits for the end of a run that is being stopped.
    pub(super) fn await_stop(cx: &mut RuntimeCx<'_>) {
        cx.timer(STOP_TAKES_LONG, ANSWERS_WITHIN);
    }
}

/// No ticket has this number, and no other timer.
pub(super) const STOP_TAKES_LONG: TimerKey = TimerKey(u64::MAX - 1);

fn send_accepted(cx: &mut RuntimeCx<'_>, id: &WireId) {
    cx.send(runs::cancel_accepted(id));
}
