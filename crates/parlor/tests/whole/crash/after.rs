//! The program after the killed one: opens what is left, checks it, answers what is still asked, and checks again.

use super::stage::{KeptEvents, stack, times_run};
use domain::ask::{Answer, Scope};
use domain::command::{Command, LibraryCommand, RefusalKind, Target};
use domain::event::{Body, Event, Outcome, ToolEvent};
use domain::grammar::check_all;
use domain::ids::{AskId, Seq, SessionId, ToolRunId};
use domain::port::{News, Ticket};
use domain::state::State;
use domain::tool::{ToolOutcome, ToolPhase};
use hub::core::Standing;
use hub::{Hub, LocalUi};
use roles::Answers;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use store::{SqliteStore, Store, StoreError};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);
/// What the model says when it is asked again after the crash.
const ENDING: &str =
    "model text \"Where were we?\"\nmodel step\nmodel text \"Done.\"\nmodel step\nmodel text \"Yes.\"\n";

/// What was found, for the count at the end.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) sessions: u64,
    pub(super) asked_again: u64,
    pub(super) unknown: u64,
    pub(super) interrupted: u64,
}

impl Seen {
    pub(super) fn plus(self, other: Seen) -> Seen {
        Seen {
            sessions: self.sessions + other.sessions,
            asked_again: self.asked_again + other.asked_again,
            unknown: self.unknown + other.unknown,
            interrupted: self.interrupted + other.interrupted,
        }
    }
}

/// Checks everything that the killed program left in `place`.
pub(super) fn check(place: &Path, sessions: &[SessionId], told: &KeptEvents, when: &str) -> Seen {
    let nothing = BTreeMap::new();
    let mut store = open_store(place, when);
    let left: Vec<(SessionId, State)> = sessions
        .iter()
        .filter_map(|session| {
            let told = told.get(session).unwrap_or(&nothing);
            Some((session.clone(), check_log(&mut store, place, session, told, when)?))
        })
        .collect();
    drop(store);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let seen = runtime.block_on(async {
        let hub = stack(ENDING, Box::new(open_store(place, when)), place);
        let mut seen = Seen { sessions: left.len() as u64, ..Seen::default() };
        for (session, state) in &left {
            seen = seen.plus(reopen(&hub, session, state, when).await);
        }
        hub.stop().await;
        seen
    });
    runtime.shutdown_background();
    let mut store = open_store(place, when);
    for (session, _) in &left {
        check_end(&mut store, place, session, when);
    }
    seen
}

fn open_store(place: &Path, when: &str) -> SqliteStore {
    SqliteStore::at(&place.join("data")).unwrap_or_else(|why| panic!("{when}: {why}"))
}

/// The store opens, holds what was told, and no tool ran without its start on disk, or twice.
fn check_log(
    store: &mut SqliteStore,
    place: &Path,
    session: &SessionId,
    told: &BTreeMap<u64, String>,
    when: &str,
) -> Option<State> {
    let opened = match store.open(session) {
        Err(StoreError::Unknown(_)) => {
            assert!(told.is_empty(), "{when}: {session} is gone");
            return None;
        }
        opened => opened.unwrap_or_else(|why| panic!("{when}: {why}")),
    };
    assert_eq!(opened.damage, None, "{when}");
    let events = store.events(session, Seq(0), usize::MAX).expect("events");
    check_all(&events).unwrap_or_else(|why| panic!("{when}: {why}"));
    for (seq, event) in told {
        let kept = events.get(usize::try_from(*seq - 1).expect("a small number"));
        let kept =
            kept.map(record::encode).unwrap_or_else(|| panic!("{when}: event {seq} was told and is lost"));
        assert_eq!(&kept, event, "{when}: another event {seq} than was told");
    }
    for tool in opened.state.tools.values() {
        let times = times_run(place, &tool.name, tool.args.as_str());
        let may = match tool.phase {
            ToolPhase::Running => times <= 1,
            ToolPhase::Ended(ToolOutcome::Done) => times == 1,
            ToolPhase::Proposed | ToolPhase::Awaiting(_) | ToolPhase::Allowed | ToolPhase::Ended(_) => {
                times == 0
            }
        };
        assert!(may, "{when}: {} {} ran {times} times in phase {:?}", tool.name, tool.args, tool.phase);
    }
    Some(opened.state)
}

/// The questions about tools that are open in a state.
fn consents(state: &State) -> Vec<(AskId, ToolRunId)> {
    let awaiting = state.tools.values().filter_map(|tool| match tool.phase {
        ToolPhase::Awaiting(ask) => Some((ask, tool.id)),
        _ => None,
    });
    awaiting.collect()
}

/// Opens the session in a hub, answers what is asked, and waits until its run is over.
async fn reopen(hub: &Hub, session: &SessionId, left: &State, when: &str) -> Seen {
    let start = Command::Library(LibraryCommand::Open { session: session.clone() });
    let ui = hub.attach("after", Standing::Controller, Answers::ALL, Some(start)).await;
    let LocalUi { mut news, port } = ui.expect("the hub runs");
    let mut state = State::new();
    let mut seen = Seen::default();
    let mut refused_again = false;
    loop {
        let heard = tokio::time::timeout(PATIENCE, news.recv()).await;
        let Ok(Some(news)) = heard else {
            panic!(
                "{when}: nothing more comes, but the run goes on: {:?} {:?}",
                state.runs.last(),
                state.tools
            )
        };
        match news {
            News::Attached { replay, .. } => {
                state = State::new();
                for (at, body) in replay {
                    state.apply(at, &body).expect("a replay applies");
                }
                let asked = consents(left);
                assert_eq!(
                    consents(&state),
                    asked,
                    "{when}: what was asked is asked again, under the same id"
                );
                seen.asked_again += asked.len() as u64;
                for (id, was) in &left.tools {
                    if was.phase == ToolPhase::Running {
                        let is = &state.tools[id].phase;
                        assert_eq!(*is, ToolPhase::Ended(ToolOutcome::Unknown), "{when}");
                        seen.unknown += 1;
                    }
                }
                for (ask, _) in &asked {
                    let answer = Answer::Allow { scope: Scope::Once, digest: None };
                    for ticket in [1, 2] {
                        // The second is one yes too many.
                        let answer = Command::Answer { ask: *ask, answer: answer.clone() };
                        port.command(Ticket(ticket), Target::Current, answer).await.expect("the hub runs");
                    }
                }
                refused_again = asked.is_empty();
            }
            News::Happened { event, .. } => {
                state.follow(&event).unwrap_or_else(|why| panic!("{when}: {why}"));
            }
            News::Settled { ticket: Ticket(1), with } => {
                with.unwrap_or_else(|why| panic!("{when}: {why}"));
            }
            News::Settled { ticket: Ticket(2), with } => {
                let kind = with.expect_err("a second yes").kind;
                assert!(matches!(kind, RefusalKind::AskOver | RefusalKind::AskUnknown), "{when}: {kind:?}");
                refused_again = true;
            }
            News::Settled { .. } | News::Signal { .. } | News::Link(_) => {}
        }
        if state.seq > Seq(0) && state.open_run().is_none() && refused_again {
            break;
        }
    }
    for (_, tool) in consents(left) {
        let tool = &state.tools[&tool];
        assert_eq!(tool.phase, ToolPhase::Ended(ToolOutcome::Done), "{when}");
    }
    let interrupted = |run: &domain::state::Run| matches!(run.ended, Some((_, Outcome::Interrupted)));
    seen.interrupted = u64::from(state.runs.last().is_some_and(interrupted));
    seen
}

/// The whole stream is lawful and closed, and in all its lives no tool ran twice.
fn check_end(store: &mut SqliteStore, place: &Path, session: &SessionId, when: &str) {
    let state = store.open(session).expect("a session").state;
    let events: Vec<Event> = store.events(session, Seq(0), usize::MAX).expect("events");
    let grammar = check_all(&events).unwrap_or_else(|why| panic!("{when}: {why}"));
    assert!(grammar.is_closed(), "{when}: something stayed open");
    for tool in state.tools.values() {
        let times = times_run(place, &tool.name, tool.args.as_str());
        let starts = events
            .iter()
            .filter(|e| matches!(e.body, Body::Tool(ToolEvent::Started { tool: id }) if id == tool.id))
            .count();
        let may = match tool.phase {
            ToolPhase::Ended(ToolOutcome::Done) => times == 1 && starts == 1,
            ToolPhase::Ended(ToolOutcome::Unknown) => times <= 1 && starts == 1,
            _ => times == 0 && starts == 0,
        };
        assert!(may, "{when}: {} {} ran {times} times and ended {:?}", tool.name, tool.args, tool.phase);
    }
}
