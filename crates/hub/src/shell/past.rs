//! The past of a session as it is told: what the store holds, together with what it does not hold yet.

use domain::command::History;
use domain::event::{Body, Event, RunEvent};
use domain::ids::SessionId;
use domain::state::State;
use store::{Store, StoreError};

/// The newest events of the last runs, within `(max_runs, max_events)`; `open` if the session is written here.
pub(super) fn history(
    store: &dyn Store,
    session: &SessionId,
    unkept: &[Event],
    open: bool,
    (max_runs, max_events): (u64, u64),
) -> Result<History, StoreError> {
    let (max_runs, max_events) =
        (max_runs.try_into().unwrap_or(usize::MAX), max_events.try_into().unwrap_or(usize::MAX));
    match store.history(session, max_runs, max_events) {
        Ok(history) if unkept.is_empty() => Ok(with_end(store, session, open, history, max_runs, max_events)),
        Ok(history) => Ok(with_unkept(history, unkept, max_runs, max_events)),
        // Nothing of it is on disk yet.
        Err(StoreError::Unknown(_)) if !unkept.is_empty() => {
            Ok(with_unkept(History::default(), unkept, max_runs, max_events))
        }
        Err(why) => Err(why),
    }
}

/// Everything that happened in a session up to `state`, as it happened; where the log is not whole, the shortest events that give
/// `state`.
pub(super) fn events(mut events: Vec<Event>, state: &State) -> Vec<Event> {
    events.retain(|event| event.seq <= state.seq);
    let mut folded = State::new();
    let whole = events.iter().all(|event| folded.fold(event).is_ok()) && folded.hash() == state.hash();
    if whole { events } else { export::events_of(state) }
}

/// A last run whose program died is told with its end, before anybody has opened the session again: what was said until then is a whole
/// message to wires that know no other.
fn with_end(
    store: &dyn Store,
    session: &SessionId,
    open: bool,
    history: History,
    max_runs: usize,
    max_events: usize,
) -> History {
    let last = history.events.iter().rev().find_map(|event| match &event.body {
        Body::Run(RunEvent::Started { .. }) => Some(true),
        Body::Run(RunEvent::Ended { .. }) => Some(false),
        _ => None,
    });
    let goes_on = open || store.summary(session).is_ok_and(|summary| summary.running);
    if last == Some(false) || history.runs == 0 || goes_on {
        return history;
    }
    let Ok(opened) = store.load(session) else { return history };
    let (mut seq, at) = (opened.state.seq, opened.state.updated_at);
    let ends: Vec<Event> = store::recover(&opened.state)
        .bodies
        .into_iter()
        .map(|body| {
            seq = seq.next();
            Event { seq, at, body }
        })
        .collect();
    with_unkept(history, &ends, max_runs, max_events)
}

/// The same bounds for what is kept and what is not together: the newest stay.
fn with_unkept(mut history: History, unkept: &[Event], max_runs: usize, max_events: usize) -> History {
    let began = |event: &Event| matches!(event.body, Body::Run(RunEvent::Started { .. }));
    // What happened outside the runs that are shown is not shown either.
    let from = if history.runs == 0 { unkept.iter().position(began).unwrap_or(unkept.len()) } else { 0 };
    history.events.extend_from_slice(&unkept[from..]);
    let starts: Vec<usize> =
        history.events.iter().enumerate().filter(|(_, event)| began(event)).map(|(at, _)| at).collect();
    let new = unkept.iter().filter(|event| began(event)).count();
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Outcome, SessionEvent};
    use domain::ids::{Millis, RunId, Seq};

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
            let whole = with_unkept(kept(), &runs(3, 4), max_runs, max_events);
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
        let fresh = with_unkept(History::default(), &waiting, 10, 100);
        assert_eq!((fresh.runs, fresh.events, fresh.truncated), (1, runs(1, 1), false));
    }
}
