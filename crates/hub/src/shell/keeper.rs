//! Keeps what happened: one append per session and round. A store that fails does not stop the conversation: it goes on in memory,
//! says so, and what could not be written is tried again.

use super::files::Cabinet;
use super::{Log, Trouble};
use crate::core::Core;
use crate::shelf::Shelf;
use domain::command::{ExportFormat, History, Refusal};
use domain::event::{Body, Event};
use domain::ids::{Seq, SessionId};
use domain::session::SessionSummary;
use domain::signal::{Level, Signal};
use domain::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use store::{Durability, Listing, Opened, Store, StoreError};

/// Events of one session that may wait for a store that fails; past it the session stays in memory only.
const MAX_UNSAVED: usize = 100_000;

/// A session of fewer events is read from its log as quickly as from a snapshot.
const WORTH_SNAPSHOT: u64 = 1_024;

pub(super) struct Keeper {
    store: Box<dyn Store>,
    cabinet: Cabinet,
    keeps: bool,
    waiting: BTreeMap<SessionId, Vec<Event>>,
    open: BTreeSet<SessionId>,
    failing: BTreeSet<SessionId>,
}

impl Keeper {
    pub(super) fn new(store: Box<dyn Store>, cabinet: Cabinet, keeps: bool) -> Keeper {
        let (waiting, open, failing) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Keeper { store, cabinet, keeps, waiting, open, failing }
    }

    /// Whether the store wants to be tended, or something waits for it to work again.
    pub(super) fn is_busy(&self) -> bool {
        !self.open.is_empty() || !self.failing.is_empty()
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
                    if self.failing.remove(session) {
                        troubles.push(recovered(session));
                    }
                }
                Err(why) => {
                    log(&format!("store: {session}: {why}"));
                    if self.failing.insert(session.clone()) {
                        troubles.push(failed(session, &why));
                    }
                }
            }
        }
        self.waiting.retain(|_, events| !events.is_empty());
        troubles
    }

    pub(super) fn tend(&mut self, log: &Log) {
        if !self.open.is_empty()
            && let Err(why) = self.store.tend()
        {
            log(&format!("store: {why}"));
        }
    }

    pub(super) fn delete(&mut self, session: &SessionId, log: &Log) {
        self.waiting.remove(session);
        self.failing.remove(session);
        if self.open.remove(session) {
            let _ = self.store.close(session);
        }
        match self.store.delete(session) {
            Ok(()) | Err(StoreError::Unknown(_)) => {}
            Err(why) => log(&format!("store: {why}")),
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
        Body::MessageStarted { .. } | Body::RunStarted { .. } | Body::Renamed { .. } | Body::Compacted { .. }
    )
}

/// The same bounds for what is kept and what waits together: the newest stay.
fn with_waiting(mut history: History, waiting: &[Event], max_runs: usize, max_events: usize) -> History {
    let began = |event: &Event| matches!(event.body, Body::RunStarted { .. });
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

fn failed(session: &SessionId, why: &StoreError) -> Trouble {
    let text = format!(
        "Not saved: {why} ({}). The conversation goes on in memory and will be written when that works again.",
        why.hint()
    );
    Trouble { session: session.clone(), signal: Signal::Notify { level: Level::Error, text } }
}

fn recovered(session: &SessionId) -> Trouble {
    let text = "Saved again: everything is written.".to_owned();
    Trouble { session: session.clone(), signal: Signal::Notify { level: Level::Success, text } }
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
            (Ok(history), None) => Ok(history),
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
            [(n * 2, Body::RunStarted { run }), (n * 2 + 1, Body::RunEnded { run, outcome: Outcome::Done })]
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
        waiting.insert(0, Event { seq: Seq(1), at: Millis(1), body: Body::Renamed { title: "x".into() } });
        let fresh = with_waiting(History::default(), &waiting, 10, 100);
        assert_eq!((fresh.runs, fresh.events, fresh.truncated), (1, runs(1, 1), false));
    }
}
