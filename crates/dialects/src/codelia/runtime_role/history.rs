//! `session.history`: events of the past told again, run by run, as they were told live.

use super::super::run_name;
use super::super::wire::{AgentEvent, SessionHistoryResult};
use super::asking::{self, Reader};
use super::telling::{Prompted, RunLine, Telling, Texts};
use domain::command::History;
use domain::event::{AskEvent, Body, Event, RunEvent, SessionEvent};
use domain::ids::{RunId, SessionId};
use roles::Greeting;
use std::collections::VecDeque;

/// The lines of a replay and what its result says.
pub(super) fn replay(
    session: &SessionId,
    history: &History,
    max_events: u64,
    reader: Reader,
) -> (Vec<String>, SessionHistoryResult) {
    let max = usize::try_from(max_events).unwrap_or(usize::MAX);
    let mut kept: VecDeque<(RunId, String)> = VecDeque::new();
    let mut cut = false;
    let begin = |run| Telling::new(run, run_name::write(session, run), Texts::Whole, Prompted::Elsewhere);
    // A replay that was cut may begin inside a run.
    let mut telling = run_ahead(&history.events).map(begin);
    for event in &history.events {
        if let Body::Run(RunEvent::Started { run }) = &event.body {
            telling = Some(begin(*run));
        }
        let Some(run) = &mut telling else { continue };
        for told in run.hear(event.at, &event.body) {
            if let RunLine::Event { event, .. } = &told
                && !is_live_only(event)
            {
                kept.push_back((run.run, told.line(&run.name)));
            }
        }
        if let Body::Ask(AskEvent::Opened(ask)) = &event.body
            && ask.run == Some(run.run)
        {
            // Told live, not replayed: the numbers after it stay the same.
            run.number(asking::before(ask, reader));
        }
        while kept.len() > max {
            kept.pop_front();
            cut = true;
        }
        if matches!(event.body, Body::Run(RunEvent::Ended { .. })) {
            telling = None;
        }
    }
    let mut runs: Vec<RunId> = kept.iter().map(|(run, _)| *run).collect();
    runs.dedup();
    let events_sent = kept.len() as u64;
    let truncated = (cut || history.truncated).then_some(true);
    let result = SessionHistoryResult { runs: runs.len() as u64, events_sent, truncated, resume_diff: None };
    (kept.into_iter().map(|(_, line)| line).collect(), result)
}

/// What is other than when the session was left, as far as its events tell: where it worked, and which model answered.
pub(super) fn differences(history: &History, now: &Greeting) -> Option<String> {
    let (mut place, mut answered, mut chosen) = (None, None, None);
    for event in &history.events {
        match &event.body {
            Body::Session(SessionEvent::Opened { cwd, .. }) => place = Some(cwd),
            Body::Session(SessionEvent::ModelChosen { model }) => chosen = Some(model),
            Body::Run(RunEvent::StepStarted { model: Some(model), .. }) => answered = Some(model),
            _ => {}
        }
    }
    let mut lines = Vec::new();
    if let Some(cwd) = place.filter(|cwd| **cwd != now.cwd) {
        lines.push(format!(
            "- Working directory: this session works in {cwd}, the runtime was started in {}",
            now.cwd
        ));
    }
    // Of a history that was cut nobody knows whether the session has a model of its own.
    let default = now.model.as_ref().map(|(provider, name)| format!("{provider}/{name}"));
    let next = match chosen {
        Some(model) => Some(model.to_string()),
        None => default.filter(|_| !history.truncated),
    };
    if let (Some(before), Some(next)) = (answered.map(ToString::to_string), next)
        && before != next
    {
        lines.push(format!("- Model changed: {before} -> {next}"));
    }
    (!lines.is_empty()).then(|| format!("Resume context:\n{}", lines.join("\n")))
}

/// Waiting for the model is over by the time of a replay.
fn is_live_only(event: &AgentEvent) -> bool {
    matches!(event, AgentEvent::LlmRetry(_))
}

/// The run that the first events belong to, if they belong to one: the next thing that names a run is not its start.
fn run_ahead(events: &[Event]) -> Option<RunId> {
    events.iter().find_map(|event| match &event.body {
        Body::Run(RunEvent::Started { .. }) => Some(None),
        Body::Run(RunEvent::TurnStarted { run, .. } | RunEvent::Ended { run, .. }) => Some(Some(*run)),
        _ => None,
    })?
}
