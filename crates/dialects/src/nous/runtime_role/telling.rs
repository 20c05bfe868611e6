//! One run as this wire tells it: events of ours in, events of the wire out.
//!
//! Invariants: what began is ended on every path, children first, since our own stream keeps that law. A turn has one
//! assistant message, whatever number of steps it takes; tools stand inside it.

use crate::nous::wire::Payload;
use domain::content::{Part, Role, TextKind, Usage};
use domain::event::{
    Body, ContextEvent, Failure, Finish, Leaving, MessageEvent, NoteEvent, Outcome, QueueEvent, RunEvent,
    ToolEvent,
};
use domain::ids::{MessageId, RunId, ToolRunId};
use domain::signal::Level;
use domain::state::State;
use domain::tool::{Progress, ToolOutcome, ToolResult};
use roles::Item;
use std::collections::BTreeMap;

/// What stands before the text of a tool that did not do what it was asked.
pub(in crate::nous) const TOOL_ERROR: &str = "tool_error: ";
/// Longest text of a warning.
const MAX_WARNING_CHARS: usize = 300;
/// Parts the texts of two steps, which are one message here.
const BETWEEN_STEPS: &str = "\n\n";

/// An event of the wire without its envelope.
pub(super) type Told = (&'static str, Payload);

/// A run being told.
#[derive(Debug)]
pub(super) struct Telling {
    pub(super) run: RunId,
    /// Its name on the wire.
    pub(super) name: String,
    /// Inputs that wait: steers, follow-ups.
    pub(super) waiting: (u64, u64),
    /// Somebody asked to stop it.
    pub(super) aborting: bool,
    begun: bool,
    turn: u32,
    steps: u32,
    user: Option<(MessageId, String)>,
    assistant: Option<Assistant>,
    /// Tools that were started on the wire, and how many bytes of output were told.
    tools: BTreeMap<ToolRunId, usize>,
    step_used_tools: bool,
    told_error: bool,
    told_abort: bool,
    lost_thought: bool,
    out: Vec<Told>,
    losses: Vec<(Item, &'static str)>,
}

#[derive(Debug)]
struct Assistant {
    id: String,
    texted: bool,
    /// The next text belongs to another message of ours.
    parted: bool,
}

impl Telling {
    pub(super) fn new(run: RunId, name: String) -> Telling {
        Telling {
            run,
            name,
            waiting: (0, 0),
            aborting: false,
            begun: false,
            turn: 0,
            steps: 0,
            user: None,
            assistant: None,
            tools: BTreeMap::new(),
            step_used_tools: false,
            told_error: false,
            told_abort: false,
            lost_thought: false,
            out: Vec::new(),
            losses: Vec::new(),
        }
    }

    /// The turn under way, as a number.
    pub(super) fn turn(&self) -> u32 {
        self.turn
    }

    /// What could not be said since the last call.
    pub(super) fn losses(&mut self) -> Vec<(Item, &'static str)> {
        std::mem::take(&mut self.losses)
    }

    /// Takes what happened; gives what to tell. `minted` numbers the messages of the wire.
    pub(super) fn hear(&mut self, state: &State, minted: &mut u64, body: &Body) -> Vec<Told> {
        match body {
            Body::Run(RunEvent::Started { run }) if *run == self.run && !self.begun => {
                self.begun = true;
                self.push("agent_start", Payload::default());
            }
            Body::Run(RunEvent::Ended { run, outcome }) if *run == self.run => self.run_ended(outcome),
            Body::Run(RunEvent::TurnStarted { .. }) => {
                self.turn += 1;
                self.steps = 0;
                self.push("turn_start", Payload::default());
            }
            Body::Run(RunEvent::TurnEnded { .. }) => self.turn_ended(),
            Body::Run(RunEvent::StepStarted { .. }) => self.step_started(minted),
            Body::Run(RunEvent::StepEnded { usage, .. }) => self.step_ended(*usage),
            Body::Message(MessageEvent::Started { message, role, .. }) => {
                self.message_started(minted, *message, *role);
            }
            Body::Message(MessageEvent::Delta { message, kind, text }) => {
                self.text(state, minted, *message, *kind, text);
            }
            Body::Message(MessageEvent::PartAdded { message, part }) => {
                self.part(state, minted, *message, part);
            }
            Body::Message(MessageEvent::Ended { message, finish }) => self.message_ended(*message, finish),
            Body::Tool(ToolEvent::Proposed { .. }) => self.step_used_tools = true,
            Body::Tool(ToolEvent::Started { tool }) => self.tool_started(state, minted, *tool),
            Body::Tool(ToolEvent::Progress { tool, progress }) => {
                self.tool_progress(state, minted, *tool, progress);
            }
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                self.tool_ended(state, minted, *tool, outcome, result);
            }
            Body::Queue(QueueEvent::Left { leaving: Leaving::Cleared, .. }) => {
                self.warn("queue_cleared", "a queued input was dropped with its run");
            }
            Body::Run(RunEvent::Retrying { attempt, max, reason, .. }) => {
                self.warn("provider_retry", &format!("attempt {attempt} of {max}: {reason}"));
            }
            Body::Context(ContextEvent::Compacted { compaction, .. }) => {
                self.status(format!("session_compacted: tokens_before={}", compaction.tokens_before));
            }
            Body::Note(NoteEvent::Noticed { level, code, text, .. }) => self.noticed(*level, code, text),
            Body::Note(NoteEvent::PlanChanged { .. }) => self.losses.push((Item::Plan, "the agent's plan")),
            Body::Session(_)
            | Body::Run(RunEvent::Started { .. } | RunEvent::Ended { .. })
            | Body::Tool(ToolEvent::Decided { .. })
            | Body::Ask(_)
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Rebased(_) => {}
        }
        std::mem::take(&mut self.out)
    }

    fn push(&mut self, kind: &'static str, payload: Payload) {
        let in_turn = self.turn > 0 && kind != "agent_start" && kind != "agent_end";
        let turn_id = in_turn.then(|| self.turn.to_string());
        self.out.push((kind, Payload { run_id: Some(self.name.clone()), turn_id, ..payload }));
    }

    fn warn(&mut self, code: &str, message: &str) {
        let message = message.chars().take(MAX_WARNING_CHARS).collect();
        self.push(
            "warning",
            Payload { code: Some(code.to_owned()), message: Some(message), ..Payload::default() },
        );
    }

    fn status(&mut self, message: String) {
        self.push("status", Payload { message: Some(message), ..Payload::default() });
    }

    fn error(&mut self, code: &str, message: &str, cause: Option<String>) {
        self.told_error = true;
        let (code, message) = (Some(code.to_owned()), Some(message.to_owned()));
        self.push("error", Payload { code, message, cause, ..Payload::default() });
    }

    fn run_ended(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Done => {}
            Outcome::Cancelled if !self.told_abort => self.told_aborted(),
            Outcome::Cancelled => {}
            Outcome::Failed(_) if self.told_error => {}
            Outcome::Failed(failure) => self.failed(failure),
            Outcome::Interrupted | Outcome::Lost => {
                self.error("provider_error", "the runtime went away in the middle of the run", None);
            }
        }
        self.push("agent_end", Payload::default());
    }

    fn failed(&mut self, failure: &Failure) {
        self.error(error_code(&failure.code), &failure.message, failure.hint.clone());
    }

    fn told_aborted(&mut self) {
        self.told_abort = true;
        self.warn("provider_aborted", "request_aborted");
    }

    fn turn_ended(&mut self) {
        if self.aborting && !self.told_abort {
            self.told_aborted();
        }
        if let Some(assistant) = self.assistant.take() {
            self.push("message_end", Payload { message_id: Some(assistant.id), ..Payload::default() });
        }
        self.push("turn_end", Payload::default());
    }

    fn step_started(&mut self, minted: &mut u64) {
        if self.steps > 0 {
            self.status("await_next: continue_with_tool_results".to_owned());
        }
        self.steps += 1;
        self.step_used_tools = false;
        self.open_assistant(minted);
    }

    fn step_ended(&mut self, usage: Usage) {
        if self.step_used_tools {
            self.status("provider_stop_reason: tool_use".to_owned());
        }
        if usage.total() > 0 {
            let (input, output, total) = (usage.input, usage.output, usage.total());
            self.status(format!("provider_usage: input={input} output={output} total={total}"));
        }
    }

    fn open_assistant(&mut self, minted: &mut u64) -> &mut Assistant {
        if self.assistant.is_none() {
            *minted += 1;
            let message_id = Some(format!("assistant-{minted}"));
            let role = Some("assistant".to_owned());
            self.push("message_start", Payload { message_id, role, ..Payload::default() });
        }
        let number = *minted;
        self.assistant.get_or_insert_with(|| Assistant {
            id: format!("assistant-{number}"),
            texted: false,
            parted: false,
        })
    }

    fn message_started(&mut self, minted: &mut u64, message: MessageId, role: Role) {
        match role {
            Role::User => {
                *minted += 1;
                let id = format!("user-{minted}");
                self.user = Some((message, id.clone()));
                let (message_id, role) = (Some(id), Some("user".to_owned()));
                self.push("message_start", Payload { message_id, role, ..Payload::default() });
            }
            Role::Assistant => {
                let assistant = self.open_assistant(minted);
                assistant.parted = assistant.texted;
            }
            Role::System => {}
        }
    }

    fn text(&mut self, state: &State, minted: &mut u64, message: MessageId, kind: TextKind, text: &str) {
        if kind == TextKind::Thought {
            if !std::mem::replace(&mut self.lost_thought, true) {
                self.losses.push((Item::Thought, "the model's thinking"));
            }
            return;
        }
        let of_model = state.message(message).is_none_or(|message| message.role == Role::Assistant);
        if !of_model || text.is_empty() {
            return;
        }
        let assistant = self.open_assistant(minted);
        assistant.texted = true;
        let parted = std::mem::take(&mut assistant.parted);
        let message_id = Some(assistant.id.clone());
        let delta = if parted { format!("{BETWEEN_STEPS}{text}") } else { text.to_owned() };
        self.push("message_update", Payload { message_id, delta: Some(delta), ..Payload::default() });
    }

    fn part(&mut self, state: &State, minted: &mut u64, message: MessageId, part: &Part) {
        match part {
            Part::Text(text) => self.text(state, minted, message, TextKind::Text, text),
            Part::Thought { text, .. } => self.text(state, minted, message, TextKind::Thought, text),
            Part::Code { language, text, .. } => {
                let fenced = format!("\n```{}\n{text}\n```\n", language.as_deref().unwrap_or_default());
                self.text(state, minted, message, TextKind::Text, &fenced);
            }
            Part::Diff { text, .. } => {
                self.text(state, minted, message, TextKind::Text, &format!("\n```diff\n{text}\n```\n"));
            }
            Part::Image { .. } => self.losses.push((Item::Image, "a picture in a message")),
            Part::Tool(_) | Part::Opaque { .. } => {}
        }
    }

    fn message_ended(&mut self, message: MessageId, finish: &Finish) {
        if let Some((_, id)) = self.user.take_if(|(user, _)| *user == message) {
            self.push("message_end", Payload { message_id: Some(id), ..Payload::default() });
        } else if *finish == Finish::Length {
            self.status("provider_stop_reason: length".to_owned());
        }
    }

    fn tool(&mut self, kind: &'static str, state: &State, tool: ToolRunId, delta: Option<String>) {
        let name = state.tool(tool).map_or_else(|| "tool".to_owned(), |tool| tool.name.clone());
        let (tool_call_id, tool_name) = (Some(tool.to_string()), Some(name));
        self.push(kind, Payload { tool_call_id, tool_name, delta, ..Payload::default() });
    }

    fn tool_started(&mut self, state: &State, minted: &mut u64, tool: ToolRunId) {
        if !self.tools.contains_key(&tool) {
            self.open_assistant(minted);
            self.tools.insert(tool, 0);
            self.tool("tool_execution_start", state, tool, None);
        }
    }

    fn tool_progress(&mut self, state: &State, minted: &mut u64, tool: ToolRunId, progress: &Progress) {
        self.tool_started(state, minted, tool);
        let told = self.tools.get(&tool).copied().unwrap_or_default();
        let more = match progress {
            Progress::Output(text) => text.clone(),
            // The whole again: only what is new can be said.
            Progress::Replace(whole) => whole.get(told..).unwrap_or_default().to_owned(),
            Progress::Status { message, .. } => return self.status(format!("tool_progress: {message}")),
        };
        if !more.is_empty() {
            self.tools.insert(tool, told + more.len());
            self.tool("tool_execution_update", state, tool, Some(more));
        }
    }

    fn tool_ended(
        &mut self,
        state: &State,
        minted: &mut u64,
        tool: ToolRunId,
        outcome: &ToolOutcome,
        result: &ToolResult,
    ) {
        self.tool_started(state, minted, tool);
        let told = self.tools.remove(&tool).unwrap_or_default();
        let code = match outcome {
            ToolOutcome::Done => None,
            ToolOutcome::Failed | ToolOutcome::Unknown => Some("tool_execution_error"),
            ToolOutcome::Denied => Some("tool_blocked"),
            ToolOutcome::Skipped | ToolOutcome::Cancelled => Some("tool_execution_skipped"),
        };
        match code {
            None if told == 0 && !result.text.is_empty() => {
                self.tool("tool_execution_update", state, tool, Some(result.text.clone()));
            }
            None => {}
            Some(code) => {
                self.warn(code, &result.text);
                if let Some((_, warning)) = self.out.last_mut() {
                    // Existing clients need not know which tool it is about; ours may run several at once.
                    warning.tool_call_id = Some(tool.to_string());
                }
                let delta = Some(format!("{TOOL_ERROR}{}", result.text));
                self.tool("tool_execution_update", state, tool, delta);
            }
        }
        self.tool("tool_execution_end", state, tool, None);
    }

    fn noticed(&mut self, level: Level, code: &str, text: &str) {
        match level {
            Level::Error => self.error(error_code(code), text, None),
            Level::Warning => self.warn(code, text),
            Level::Info | Level::Success => self.status(format!("{code}: {text}")),
        }
    }
}

/// What the model's side did wrong has one name on this wire.
fn error_code(code: &str) -> &str {
    if code.starts_with("model") || code.is_empty() { "provider_error" } else { code }
}
