//! Keeps what happened: one append per session and round. A store that fails does not stop the conversation: it goes on in memory,
//! says so, and what could not be written is tried again.
//!
//! Invariant: [`Keeper::trouble`] names every session of which something that happened is not on disk for want of a working store, from
//! the round in which that was found; the engine is told before anything else of that round.

use super::files::Cabinet;
use super::{Log, Shell};
use crate::core::{Core, In};
use crate::shelf::Shelf;
use domain::command::{ExportFormat, History, Refusal};
use domain::event::{Body, ContextEvent, Event, MessageEvent, RunEvent, SessionEvent};
use domain::ids::{Seq, SessionId};
use domain::port::{Order, Report};
use domain::session::SessionSummary;
use domain::signal::{Level, Signal};
use domain::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Durability, Listing, Opened, Store, StoreError};

/// Events of one session that may wait for a store that fails; past it the session stays in memory only.
const MAX_UNSAVED: usize = 100_000;

/// The field of the status line that says why the conversation is not saved, while it is not. A UI without a person goes by it.
pub const UNSAVED: &str = "unsaved";

/// A session of fewer events is read from its log as quickly as from a snapshot.
const WORTH_SNAPSHOT: u64 = 1_024;

pub(super) struct Keeper {
    store: Box<dyn Store>,
    cabinet: Cabinet,
    keeps: bool,
    waiting: BTreeMap<SessionId, Vec<Event>>,
    open: BTreeSet<SessionId>,
    /// Sessions that cannot be written now, and why.
    failing: BTreeMap<SessionId, String>,
    /// Sessions whose UIs know that nothing is kept.
    warned: BTreeSet<SessionId>,
}

impl Keeper {
    pub(super) fn new(store: Box<dyn Store>, cabinet: Cabinet, keeps: bool) -> Keeper {
        let (waiting, open, failing) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Keeper { store, cabinet, keeps, waiting, open, failing, warned: BTreeSet::new() }
    }

    /// Whether the store wants to be tended, or something waits for it to work again.
    pub(super) fn is_busy(&self) -> bool {
        !self.open.is_empty() || !self.failing.is_empty()
    }

    /// Why what happens in this session is in memory only, if it is.
    pub(super) fn trouble(&self, session: &SessionId) -> Option<&str> {
        self.failing.get(session).map(String::as_str)
    }

    pub(super) fn add(&mut self, session: SessionId, event: Arc<Event>) {
        if self.keeps {
            let waiting = self.waiting.entry(session).or_default();
            if waiting.len() < MAX_UNSAVED {
                waiting.push(Arc::unwrap_or_clone(event));
            }
        }
    }

    /// Writes what waits. A session in which nothing was said yet is not worth keeping.
    pub(super) fn commit(&mut self, core: &Core, log: &Log) -> Vec<Trouble> {
        let mut troubles = Vec::new();
        if let Some(why) = self.store.forgets() {
            for session in self.waiting.keys().filter(|session| !self.warned.contains(*session)) {
                troubles.push(Trouble { session: session.clone(), what: What::Forgets(why.to_owned()) });
            }
            self.warned.extend(self.waiting.keys().cloned());
        }
        for (session, events) in &mut self.waiting {
            let worth = self.open.contains(session) || events.iter().any(|event| is_said(&event.body));
            if events.is_empty() || !worth {
                continue;
            }
            let durable = events.iter().any(|event| event.body.is_durable());
            let durability = if durable { Durability::Now } else { Durability::Soon };
            let created = if self.open.contains(session) { Ok(()) } else { self.store.create(session) };
            match created.and_then(|()| self.store.append(session, events, durability)) {
                Ok(appended) => {
                    events.clear();
                    self.open.insert(session.clone());
                    if appended.snapshot_due
                        && let Some(state) = core.state(session)
                        && let Err(why) = self.store.snapshot(session, state)
                    {
                        log(&format!("snapshot of {session}: {why}"));
                    }
                    if self.failing.remove(session).is_some() {
                        troubles.push(Trouble { session: session.clone(), what: What::Works });
                    }
                }
                Err(why) => troubles.extend(failed(&mut self.failing, session, &why, log)),
            }
        }
        self.waiting.retain(|_, events| !events.is_empty());
        troubles
    }

    /// Lets the store write what it holds back; a store that cannot fails for the sessions that it was to write.
    pub(super) fn tend(&mut self, log: &Log) -> Vec<Trouble> {
        if self.open.is_empty() {
            return Vec::new();
        }
        match self.store.tend() {
            Ok(()) => {
                let waits = |session: &SessionId| self.waiting.contains_key(session);
                let well: Vec<SessionId> = self.failing.keys().filter(|s| !waits(s)).cloned().collect();
                well.into_iter()
                    .map(|session| {
                        self.failing.remove(&session);
                        Trouble { session, what: What::Works }
                    })
                    .collect()
            }
            Err(why) => {
                let one = match &why {
                    StoreError::NotOpen(session) => Some(session.clone()),
                    _ => None,
                };
                let hit = self.open.iter().filter(|session| one.as_ref().is_none_or(|one| one == *session));
                hit.flat_map(|session| failed(&mut self.failing, session, &why, log)).collect()
            }
        }
    }

    /// Everything that happened in a session, as it happened; where the log is not whole, the shortest events that give `state`.
    fn events(&self, session: &SessionId, state: &State) -> Vec<Event> {
        let mut events = self.store.events(session, Seq(0), usize::MAX).unwrap_or_default();
        events.extend(self.waiting.get(session).into_iter().flatten().cloned());
        let mut folded = State::new();
        let whole = events.iter().all(|event| folded.fold(event).is_ok()) && folded.hash() == state.hash();
        if whole { events } else { export::events_of(state) }
    }

    /// A last run whose program died is told with its end, before anybody has opened the session again: what was said until then
    /// is a whole message to wires that know no other.
    fn with_end(&self, session: &SessionId, history: History, max_runs: usize, max_events: usize) -> History {
        let last = history.events.iter().rev().find_map(|event| match &event.body {
            Body::Run(RunEvent::Started { .. }) => Some(true),
            Body::Run(RunEvent::Ended { .. }) => Some(false),
            _ => None,
        });
        let goes_on =
            self.open.contains(session) || self.store.summary(session).is_ok_and(|summary| summary.running);
        if last == Some(false) || history.runs == 0 || goes_on {
            return history;
        }
        let Ok(opened) = self.store.load(session) else { return history };
        let (mut seq, at) = (opened.state.seq, opened.state.updated_at);
        let ends: Vec<Event> = store::recover(&opened.state)
            .bodies
            .into_iter()
            .map(|body| {
                seq = seq.next();
                Event { seq, at, body }
            })
            .collect();
        with_waiting(history, &ends, max_runs, max_events)
    }

    pub(super) fn close(&mut self, core: &Core, log: &Log) {
        for session in std::mem::take(&mut self.open) {
            // So that it opens at once the next time. One that cannot be kept costs only that.
            if let Some(state) = core.state(&session).filter(|state| state.seq.0 >= WORTH_SNAPSHOT) {
                let _ = self.store.snapshot(&session, state);
            }
            if let Err(why) = self.store.close(&session) {
                log(&format!("store: {why}"));
            }
        }
    }
}

/// Whether somebody said or did something that a person would miss.
fn is_said(body: &Body) -> bool {
    matches!(
        body,
        Body::Message(MessageEvent::Started { .. })
            | Body::Run(RunEvent::Started { .. })
            | Body::Session(SessionEvent::Renamed { .. })
            | Body::Context(ContextEvent::Compacted { .. })
    )
}

/// The same bounds for what is kept and what waits together: the newest stay.
fn with_waiting(mut history: History, waiting: &[Event], max_runs: usize, max_events: usize) -> History {
    let began = |event: &Event| matches!(event.body, Body::Run(RunEvent::Started { .. }));
    // What happened outside the runs that are shown is not shown either.
    let from = if history.runs == 0 { waiting.iter().position(began).unwrap_or(waiting.len()) } else { 0 };
    history.events.extend_from_slice(&waiting[from..]);
    let starts: Vec<usize> =
        history.events.iter().enumerate().filter(|(_, event)| began(event)).map(|(at, _)| at).collect();
    let new = waiting.iter().filter(|event| began(event)).count();
    let mut first = 0;
    if history.runs as usize + new > max_runs {
        let over = starts.len().saturating_sub(max_runs);
        first = starts.get(over).copied().unwrap_or(history.events.len());
    }
    first = first.max(history.events.len().saturating_sub(max_events));
    history.events.drain(..first);
    history.truncated |= first > 0;
    history.runs = (history.runs + new as u64).min(max_runs as u64);
    history
}

/// Notes that a session cannot be written; told only when it is news.
fn failed(
    failing: &mut BTreeMap<SessionId, String>,
    session: &SessionId,
    why: &StoreError,
    log: &Log,
) -> Option<Trouble> {
    let (reason, hint) = (why.to_string(), why.hint());
    let known = failing.insert(session.clone(), reason.clone());
    if known.as_ref() != Some(&reason) {
        log(&format!("store: {session}: {reason}"));
    }
    known.is_none().then(|| Trouble { session: session.clone(), what: What::Fails { reason, hint } })
}

/// What the UIs of a session and the engine must know of the store.
pub(super) struct Trouble {
    session: SessionId,
    what: What,
}

enum What {
    /// The session cannot be written.
    Fails { reason: String, hint: &'static str },
    /// It can again.
    Works,
    /// There is no store on disk: nothing will be there the next time.
    Forgets(String),
}

impl Shell {
    /// The engine first: what it is told next must not be done as if it were written down.
    pub(super) fn tell_trouble(&mut self, trouble: Trouble) {
        let Trouble { session, what } = trouble;
        let (level, text, failing) = match what {
            What::Fails { reason, hint } => {
                let text = format!(
                    "Not saved: {reason} ({hint}). The conversation goes on in memory and will be written when that works again."
                );
                (Level::Error, text, Some(Some(reason)))
            }
            What::Works => (Level::Success, "Saved again: everything is written.".to_owned(), Some(None)),
            What::Forgets(why) => {
                (Level::Warning, format!("Nothing of this conversation will be kept: {why}"), None)
            }
        };
        if let Some(why) = failing {
            self.orders.push_front(Order::StoreFails { session: session.clone(), why: why.clone() });
            let text = why.map(|why| format!("not saved: {why}"));
            let signal = Signal::Status { key: UNSAVED.to_owned(), text };
            self.decide(In::Report(Report::Signal { session: session.clone(), signal }));
        }
        let signal = Signal::Notify { level, text };
        self.decide(In::Report(Report::Signal { session, signal }));
    }
}

impl Shelf for Keeper {
    fn open(&mut self, session: &SessionId) -> Result<Option<Opened>, Refusal> {
        match self.store.open(session) {
            Ok(opened) => {
                self.open.insert(session.clone());
                Ok(Some(opened))
            }
            Err(StoreError::Unknown(_)) => Ok(None),
            Err(why) => Err(why.to_refusal()),
        }
    }

    fn holds(&self, session: &SessionId) -> Result<bool, Refusal> {
        match self.store.summary(session) {
            Ok(_) => Ok(true),
            Err(StoreError::Unknown(_)) => Ok(false),
            Err(why) => Err(why.to_refusal()),
        }
    }

    fn list(
        &self,
        project: Option<&str>,
        limit: Option<u64>,
        search: Option<&str>,
    ) -> Result<Vec<SessionSummary>, Refusal> {
        let listing = Listing {
            project: project.map(str::to_owned),
            search: search.map(str::to_owned),
            limit: limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
        };
        self.store.list(&listing).map_err(|why| why.to_refusal())
    }

    fn history(&self, session: &SessionId, max_runs: u64, max_events: u64) -> Result<History, Refusal> {
        let (max_runs, max_events) =
            (max_runs.try_into().unwrap_or(usize::MAX), max_events.try_into().unwrap_or(usize::MAX));
        let waiting = self.waiting.get(session);
        match (self.store.history(session, max_runs, max_events), waiting) {
            (Ok(history), None) => Ok(self.with_end(session, history, max_runs, max_events)),
            (Ok(history), Some(waiting)) => Ok(with_waiting(history, waiting, max_runs, max_events)),
            // Nothing of it is on disk yet, or the disk says no.
            (Err(StoreError::Unknown(_)), Some(waiting)) => {
                Ok(with_waiting(History::default(), waiting, max_runs, max_events))
            }
            (Err(why), _) => Err(why.to_refusal()),
        }
    }

    fn export(&self, session: &SessionId, state: &State, format: ExportFormat) -> Result<String, Refusal> {
        Ok(match format {
            ExportFormat::Markdown => export::markdown(state),
            ExportFormat::Html => export::html(state),
            ExportFormat::Jsonl => export::jsonl(session, state, &self.events(session, state)),
        })
    }

    fn delete(&mut self, session: &SessionId) -> Result<(), Refusal> {
        match self.store.delete(session) {
            Ok(()) | Err(StoreError::Unknown(_)) => {}
            Err(why) => return Err(why.to_refusal()),
        }
        self.waiting.remove(session);
        self.failing.remove(session);
        self.open.remove(session);
        Ok(())
    }

    fn save_file(
        &self,
        session: &SessionId,
        state: &State,
        path: Option<&str>,
        history: bool,
    ) -> Result<(String, u64), Refusal> {
        self.cabinet.save(session, state, path, history)
    }

    fn load_file(&self, path: &str) -> Result<State, Refusal> {
        self.cabinet.load(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::Outcome;
    use domain::ids::{Millis, RunId};

    fn runs(from: u64, to: u64) -> Vec<Event> {
        let bodies = (from..=to).flat_map(|n| {
            let run = RunId(n);
            [
                (n * 2, Body::Run(RunEvent::Started { run })),
                (n * 2 + 1, Body::Run(RunEvent::Ended { run, outcome: Outcome::Done })),
            ]
        });
        bodies.map(|(seq, body)| Event { seq: Seq(seq), at: Millis(seq), body }).collect()
    }

    #[test]
    fn what_is_not_written_yet_is_part_of_the_past_within_the_same_bounds() {
        let kept = || History { runs: 2, events: runs(1, 2), truncated: false };
        for (max_runs, max_events, runs_shown, first, truncated) in [
            (10, 100, 4, Some(2), false),
            (3, 100, 3, Some(4), true),
            (1, 100, 1, Some(8), true),
            (10, 3, 4, Some(7), true),
            (10, 0, 4, None, true),
        ] {
            let whole = with_waiting(kept(), &runs(3, 4), max_runs, max_events);
            let from = whole.events.first().map(|event| event.seq.0);
            let expected = (runs_shown, first, truncated);
            assert_eq!((whole.runs, from, whole.truncated), expected, "{max_runs} {max_events}");
        }
        let mut waiting = runs(1, 1);
        waiting.insert(
            0,
            Event {
                seq: Seq(1),
                at: Millis(1),
                body: Body::Session(SessionEvent::Renamed { title: "x".into() }),
            },
        );
        let fresh = with_waiting(History::default(), &waiting, 10, 100);
        assert_eq!((fresh.runs, fresh.events, fresh.truncated), (1, runs(1, 1), false));
    }
}
