//! What a process tells of one of its sessions.

use crate::ask::{Ask, MAX_SHOWN};
use crate::content::Usage;
use crate::event::Outcome;
use crate::harmless;
use crate::ids::{Millis, SessionId};
use crate::state::State;
use crate::tool::ToolPhase;
use crate::weight::ask_weight;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest question that is told in a line, in characters.
const QUESTION_CHARS: usize = 200;
/// The tool by which our agent gives a task to a sub-agent, and the one that is meant where none is named.
const TASK: &str = "task";
const USUAL: &str = "general";
/// Most sub-agents that are told of a session: as many as work at the same time.
const MAX_TASKS: usize = 8;
/// Longest line that is told of one, in characters.
const TASK_CHARS: usize = 60;

/// A session that is open in a process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Member {
    pub session: SessionId,
    /// Its title, or the beginning of the first prompt.
    pub title: String,
    /// Where its agent works.
    pub cwd: String,
    /// Project root.
    #[serde(default)]
    pub project: String,
    /// The wire of the runtime, where that is another program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    pub doing: Doing,
    /// The sub-agents that work in it, each by its name and what it is to do; the first few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<String>,
    /// When it began to do that; for a question: when the first open one was asked.
    pub since: Millis,
    /// Tokens and money so far.
    #[serde(default)]
    pub usage: Usage,
}

/// What goes on in a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// Nothing was ever run.
    Nothing,
    /// A run is under way.
    Running,
    /// So many questions wait for the person; the title of the first, and all of it unless it is longer than anybody reads.
    Waiting {
        asks: u64,
        question: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ask: Option<Box<Ask>>,
    },
    /// The last run ended like this.
    Ended(Outcome),
}

impl Member {
    /// Of a session as it stands.
    pub fn of(session: &SessionId, state: &State) -> Member {
        let last = state.runs.last();
        let (doing, since) = match (state.asks.first(), last.map(|run| (run.started_at, &run.ended))) {
            (Some(ask), _) => {
                let asks = u64::try_from(state.asks.len()).unwrap_or(u64::MAX);
                let line = ask.title.lines().next().unwrap_or_default();
                let question = line.chars().take(QUESTION_CHARS).collect();
                let whole = (ask_weight(ask) <= MAX_SHOWN).then(|| Box::new(ask.clone()));
                (Doing::Waiting { asks, question, ask: whole }, state.asked_at().unwrap_or(state.updated_at))
            }
            (None, Some((started, None))) => (Doing::Running, started),
            (None, Some((_, Some((at, outcome))))) => (Doing::Ended(outcome.clone()), *at),
            (None, None) => (Doing::Nothing, state.created_at),
        };
        Member {
            session: session.clone(),
            title: state.title(),
            cwd: state.settings.cwd.clone(),
            project: state.settings.project.clone(),
            runtime: state.settings.origin.as_ref().map(|origin| origin.dialect.clone()),
            doing,
            tasks: tasks(state),
            since,
            usage: state.usage,
        }
    }
}

/// The sub-agents at work: each is a tool run.
fn tasks(state: &State) -> Vec<String> {
    let open = state.open_tools().into_iter().filter_map(|tool| state.tool(tool));
    let at_work = open.filter(|tool| tool.name == TASK && tool.phase == ToolPhase::Running);
    at_work.take(MAX_TASKS).map(|tool| task(tool.args.as_str())).collect()
}

fn task(args: &str) -> String {
    let args: Value = serde_json::from_str(args).unwrap_or_default();
    let said = |names: &[&str]| names.iter().find_map(|name| args[*name].as_str()).unwrap_or_default();
    let who = said(&["agent", "subagent_type", "subagent", "agent_type"]);
    let what = said(&["title", "description", "prompt", "task", "message", "instructions"]);
    let who = if who.is_empty() { USUAL } else { who };
    let line = harmless::in_line(&format!("{who}: {what}"));
    match line.char_indices().nth(TASK_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// What a process tells of its sessions to whoever watches: first all of them, then what changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FleetChange {
    /// These are all there are; what was told before counts no more.
    pub all: bool,
    /// As they stand now.
    pub members: Vec<Member>,
    /// No longer open.
    pub closed: Vec<SessionId>,
}

impl FleetChange {
    /// What somebody has to be told who knows `told`, or nothing so far; `None` when nothing is new. `told` is what it knows then.
    pub fn since(told: &mut Option<BTreeMap<SessionId, Member>>, now: Vec<Member>) -> Option<FleetChange> {
        let now: BTreeMap<SessionId, Member> =
            now.into_iter().map(|member| (member.session.clone(), member)).collect();
        let change = match told {
            None => FleetChange { all: true, members: now.values().cloned().collect(), closed: Vec::new() },
            Some(told) => FleetChange {
                all: false,
                members: now.values().filter(|one| told.get(&one.session) != Some(one)).cloned().collect(),
                closed: told.keys().filter(|session| !now.contains_key(*session)).cloned().collect(),
            },
        };
        *told = Some(now);
        (change.all || !change.members.is_empty() || !change.closed.is_empty()).then_some(change)
    }
}
