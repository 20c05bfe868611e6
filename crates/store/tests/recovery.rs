//! After a crash anywhere in the script: the stream stays grammatical, the open consent survives, nothing runs twice.

use crate::script::{ASK, BASH, fold, following, script};
use domain::ask::{Answer, Scope};
use domain::event::{AskEvent, Body, Outcome, ToolEvent};
use domain::grammar;
use domain::tool::{Decider, Decision, ToolOutcome, ToolPhase};
use store::recover;

#[test]
fn every_moment_can_be_recovered_from() {
    let events = script();
    let mut resumed = 0;
    for cut in 0..=events.len() {
        let mut log = events[..cut].to_vec();
        let state = fold(&log);
        let recovery = recover(&state);
        log.extend(following(&state, recovery.bodies));
        let watched = grammar::check_all(&log).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let state = fold(&log);
        match recovery.resumable {
            None => {
                assert!(watched.is_closed(), "cut at {cut}");
                assert_eq!(state.open_run(), None);
            }
            Some(resumable) => {
                resumed += 1;
                assert_eq!(resumable.consents.len(), 1);
                assert_eq!((resumable.consents[0].ask, resumable.consents[0].tool), (ASK, BASH));
                assert_eq!(state.tool(BASH).unwrap().phase, ToolPhase::Awaiting(ASK));
                assert_eq!(state.open_tools(), [BASH]);
                assert_eq!(state.open_messages(), []);
                assert_eq!(state.open_run().unwrap().id, resumable.run);
            }
        }
        let starts = |event: &&domain::event::Event| matches!(event.body, Body::Tool(ToolEvent::Started { tool }) if tool == BASH);
        assert!(log.iter().filter(starts).count() <= 1);
    }
    assert_eq!(resumed, 1, "the consent is open after exactly one event");
}

#[test]
fn a_running_tool_ends_as_unknown_and_an_allowed_one_as_not_run() {
    let events = script();
    let outcome_after = |last: &dyn Fn(&Body) -> bool| {
        let at = events.iter().position(|event| last(&event.body)).unwrap();
        let state = fold(&events[..=at]);
        let bodies = recover(&state).bodies;
        bodies.iter().find_map(|body| match body {
            Body::Tool(ToolEvent::Ended { tool, outcome, .. }) if *tool == BASH => Some(outcome.clone()),
            _ => None,
        })
    };
    let started = |body: &Body| matches!(body, Body::Tool(ToolEvent::Started { tool }) if *tool == BASH);
    assert_eq!(outcome_after(&started), Some(ToolOutcome::Unknown));
    let decided = |body: &Body| matches!(body, Body::Tool(ToolEvent::Decided { tool, .. }) if *tool == BASH);
    assert_eq!(outcome_after(&decided), Some(ToolOutcome::Cancelled));
    let answered = |body: &Body| matches!(body, Body::Ask(AskEvent::Closed { .. }));
    assert_eq!(outcome_after(&answered), Some(ToolOutcome::Cancelled));
}

#[test]
fn a_surviving_consent_is_answered_once_and_the_run_ends_lawfully() {
    let events = script();
    let at = events.iter().position(|event| matches!(event.body, Body::Ask(AskEvent::Opened(_)))).unwrap();
    let mut log = events[..=at].to_vec();
    let state = fold(&log);
    log.extend(following(&state, recover(&state).bodies));
    let state = fold(&log);
    let yes = Answer::Allow { scope: Scope::Once, digest: None };
    let closing = state.close_with(ASK, &yes, None).unwrap();
    let by = Decider::Person(None);
    let decision = Decision { allowed: true, by, scope: Scope::Once, reason: None, digest: None };
    log.extend(following(
        &state,
        [
            Body::Ask(AskEvent::Closed { ask: ASK, closing }),
            Body::Tool(ToolEvent::Decided { tool: BASH, decision }),
            Body::Tool(ToolEvent::Started { tool: BASH }),
        ],
    ));
    let state = fold(&log);
    assert!(state.close_with(ASK, &yes, None).is_err(), "a second answer finds the ask over");
    log.extend(following(&state, state.close_run(Outcome::Done)));
    assert!(grammar::check_all(&log).unwrap().is_closed());
}
