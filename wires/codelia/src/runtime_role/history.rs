//! `session.history`: events of the past told again, run by run, as they were told live.

use super::super::run_name;
use super::super::wire::{AgentEvent, SessionHistoryParams, SessionHistoryResult};
use super::CodeliaRuntime as Role;
use super::asking::{self, Reader};
use super::requests::{CodeliaMemo, invalid, read};
use super::telling::{Prompted, RunLine, Telling, Texts};
use domain::command::{Command, History, LibraryCommand, Receipt, RefusalKind, Target};
use domain::event::{AskEvent, Body, Event, RunEvent, SessionEvent};
use domain::ids::{RunId, SessionId};
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement};
use roles::{Greeting, RuntimeCx};
use std::collections::VecDeque;

pub(super) const REQUESTS: &[Exchange<Role>] =
    &[Exchange::of::<SessionHistoryParams>(session_history, session_told)];

/// Runs in a replay unless the UI says otherwise.
const DEFAULT_RUNS: i64 = 20;
/// Events in a replay unless the UI says otherwise.
const DEFAULT_EVENTS: i64 = 1500;
/// Events that a replay is made from; one line of the wire may stand for many of them.
const MAX_HISTORY: u64 = 200_000;

fn session_history(_: &mut Role, _: &mut RuntimeCx<'_>, request: Request<'_, Role>) -> Asking<Role> {
    let params: SessionHistoryParams = read(request.params)?;
    if params.session_id.is_empty() {
        return Err(invalid("session_id is required"));
    }
    let count = |given: Option<i64>, usual: i64| u64::try_from(given.unwrap_or(usual)).unwrap_or(0);
    let (max_runs, max_events) =
        (count(params.max_runs, DEFAULT_RUNS), count(params.max_events, DEFAULT_EVENTS));
    let session = SessionId::parse(&params.session_id).filter(|_| max_runs > 0 && max_events > 0);
    let Some(session) = session else { return Ok(reply(&SessionHistoryResult::default())) };
    let command = LibraryCommand::History { session: session.clone(), max_runs, max_events: MAX_HISTORY };
    let memo = CodeliaMemo::History { session: session.clone(), max_events };
    Ok(Next::Hub(Target::Session(session), Command::Library(command), memo))
}

fn session_told(role: &mut Role, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    match (settled.memo, settled.with) {
        (CodeliaMemo::History { session, max_events }, Ok(Receipt::History(events))) => {
            let (lines, mut result) = replay(&session, &events, max_events, role.reader());
            result.resume_diff = differences(&events, &role.endpoint.greeting);
            lines.into_iter().for_each(|line| cx.send(line));
            if !role.joins(&session) {
                return Ok(reply(&result));
            }
            let command = LibraryCommand::Open { session: session.clone() };
            Ok(Next::Hub(Target::Session(session), Command::Library(command), CodeliaMemo::Joined(result)))
        }
        // Its past was told, whether or not more can be heard of it.
        (CodeliaMemo::Joined(result), _) => Ok(reply(&result)),
        (_, Err(refusal)) if refusal.kind == RefusalKind::SessionUnknown => {
            Ok(reply(&SessionHistoryResult::default()))
        }
        (_, Err(refusal)) => Err(refusal.into()),
        (_, Ok(_)) => Err(Fault::Odd),
    }
}

impl Role {
    /// Whether the UI is led to a session of which it read the past: it resumes it, and hears it from then on. A run of another session that it
    /// sees is not left for that, and behind a bridge the runtime stays where it is until something is said.
    fn joins(&self, session: &SessionId) -> bool {
        let is_free = self.tellings.keys().all(|told| told == session);
        is_free && !self.endpoint.greeting.follows && self.current.as_ref() != Some(session)
    }
}

/// The lines of a replay and what its result says.
fn replay(
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
fn differences(history: &History, now: &Greeting) -> Option<String> {
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
