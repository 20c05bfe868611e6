//! The one bench for roles: drives either role of any wire as a function. Lines and events go in by hand; what comes out is gathered.
//!
//! It knows no wire: how a peer greets stays in that wire's tests. It has no I/O, and a clock that only [`RuntimeBench::wait`],
//! [`UiBench::wait`] and the tests move.
//!
//! What must always hold is watched in every step, whatever a test looks at: a line is one JSON object without a line break, and
//! none is sent after the link was closed; a ticket is given once and settled once, all of them when the peer is gone; a timer that
//! fires was set; every event keeps the laws of the stream and follows from the state.

mod pair;
mod runtime;
mod story;
#[cfg(test)]
mod tests;
mod ui;

pub use pair::Pair;
pub use runtime::RuntimeBench;
pub use ui::UiBench;

use domain::command::{Command, PromptOptions, RunCommand};
use domain::content::{Input, Part, Role, Usage};
use domain::event::{Event, Outcome};
use domain::grammar::Grammar;
use domain::ids::{Millis, SessionId};
use domain::session::SessionSummary;
use domain::state::{EntryKind, State};
use roles::{Drift, Lane, LinkEffect, Loss, Reason, TimerKey};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a role wanted of its link since the last look; timers and the end as they stand.
#[derive(Debug, Default)]
pub struct Link {
    sent: Vec<Sent>,
    pub timers: BTreeMap<TimerKey, Millis>,
    pub drifts: Vec<Drift>,
    pub losses: Vec<Loss>,
    pub logs: Vec<String>,
    pub closed: Option<Reason>,
}

/// A line as it went out.
#[derive(Debug, Clone)]
pub struct Sent {
    pub lane: Lane,
    pub line: String,
    /// How long nothing may follow it.
    pub alone: Option<Duration>,
}

impl Sent {
    /// The line as a value; it is one, or the link would have refused it.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.line).expect("a line of JSON")
    }
}

impl Link {
    fn take(&mut self, now: Millis, effect: LinkEffect) {
        match effect {
            LinkEffect::Send { lane, line } => self.send(Sent { lane, line, alone: None }),
            LinkEffect::SendAlone { lane, line, pause } => {
                self.send(Sent { lane, line, alone: Some(pause) });
            }
            LinkEffect::Timer { key, after } => {
                let after = u64::try_from(after.as_millis()).expect("a bearable time");
                self.timers.insert(key, Millis(now.0 + after));
            }
            LinkEffect::CancelTimer(key) => {
                self.timers.remove(&key);
            }
            LinkEffect::Drift(drift) => self.drifts.push(drift),
            LinkEffect::Loss(loss) => self.losses.push(loss),
            LinkEffect::Log(line) => self.logs.push(line),
            LinkEffect::Close(reason) => self.closed = Some(reason),
        }
    }

    fn send(&mut self, sent: Sent) {
        assert_eq!(self.closed, None, "sent after the link was closed: {}", sent.line);
        assert!(!sent.line.contains(['\n', '\r']), "a line break inside a line: {}", sent.line);
        // A number may be larger than we can hold, and still be JSON.
        let object = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(&sent.line);
        assert!(object.is_ok(), "not a JSON object: {}", sent.line);
        self.sent.push(sent);
    }

    /// The lines of one kind of lane, or of all.
    pub fn outgoing(&mut self, kind: Option<Lane>) -> Vec<Sent> {
        let wanted = |sent: &mut Sent| kind.is_none_or(|kind| sent.lane.kind() == kind);
        self.sent.extract_if(.., wanted).collect()
    }

    /// The first timer that is due by `end`; it is no longer set.
    fn due(&mut self, end: Millis) -> Option<(TimerKey, Millis)> {
        let first = self.timers.iter().min_by_key(|(_, at)| **at).map(|(key, at)| (*key, *at));
        let (key, at) = first.filter(|(_, at)| *at <= end)?;
        self.timers.remove(&key);
        Some((key, at))
    }

    fn fired(&mut self, key: TimerKey) {
        assert!(self.timers.remove(&key).is_some(), "{key:?} is not set");
    }

    /// Everything that was said is old; timers and the end stay.
    fn forget(&mut self) {
        self.sent.clear();
        self.drifts.clear();
        self.losses.clear();
        self.logs.clear();
    }

    /// Whether nothing was said since the last look.
    fn is_silent(&self) -> bool {
        self.sent.is_empty() && self.drifts.is_empty() && self.losses.is_empty() && self.logs.is_empty()
    }
}

/// Checks an event against the laws and folds it.
fn follow(state: &mut State, grammar: &mut Grammar, event: &Event) {
    grammar.check(event).unwrap_or_else(|law| panic!("{law}: {event:?}"));
    state.fold(event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
}

/// The id of a session by its text.
pub fn session(name: &str) -> SessionId {
    SessionId::parse(name).expect("a session id")
}

/// A session of somebody's list in which little happened.
pub fn summary(id: &SessionId) -> SessionSummary {
    SessionSummary {
        id: id.clone(),
        title: "a title".to_owned(),
        cwd: "/w".to_owned(),
        project: "/w".to_owned(),
        created_at: Millis(1_730_000_000_000),
        updated_at: Millis(1_730_000_001_000),
        messages: 4,
        last_prompt: None,
        last_run: None,
        running: false,
        elsewhere: false,
        outcome: None,
        usage: Usage { input: 10, output: 5, ..Usage::default() },
        origin: None,
        found: None,
    }
}

/// What a person says, without options.
pub fn prompt(text: &str) -> Command {
    Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() })
}

/// Stops whatever is under way.
pub fn cancel() -> Command {
    Command::Run(RunCommand::Cancel { run: None, reason: None })
}

/// How the last run ended.
pub fn outcome(state: &State) -> Option<Outcome> {
    state.runs.last()?.ended.as_ref().map(|(_, outcome)| outcome.clone())
}

/// The texts of one side, without the empty ones.
pub fn texts(state: &State, role: Role) -> Vec<String> {
    let messages = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) if message.role == role => Some(message.text()),
        _ => None,
    });
    messages.filter(|text| !text.is_empty()).collect()
}

/// Runs, texts, thoughts and tools of a session, in order, one line for each.
pub fn told(state: &State) -> String {
    let mut text = String::new();
    for entry in state.path() {
        let EntryKind::Message(message) = &entry.kind else {
            text.push_str("compaction or notice\n");
            continue;
        };
        for part in &message.parts {
            let line = match part {
                Part::Text(words) if message.role == Role::User => format!("user {words:?}"),
                Part::Text(words) => format!("text {words:?}"),
                Part::Thought { text, .. } => format!("thought {text:?}"),
                Part::Tool(tool) => {
                    let tool = state.tool(*tool).expect("a tool");
                    let result = tool.result.as_ref().map(|result| result.text.clone());
                    format!("tool {} {} {:?} {:?}", tool.name, tool.args, tool.phase, result)
                }
                other => format!("{other:?}"),
            };
            text.push_str(&line);
            text.push('\n');
        }
    }
    for run in &state.runs {
        text.push_str(&format!("run {:?}\n", run.ended.as_ref().map(|(_, outcome)| outcome)));
    }
    text
}
