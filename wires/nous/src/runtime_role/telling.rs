//! One run as this wire tells it: events of ours in, events of the wire out.
//!
//! Invariants: what began is ended on every path, children first, since our own stream keeps that law. A turn has one
//! assistant message, whatever number of steps it takes; tools stand inside it.

use crate::wire::Payload;
use domain::content::{Part, Role, Usage};
use domain::event::{Body, ContextEvent, Failure, Finish, Leaving, NoteEvent, Outcome, QueueEvent, RunEvent};
use domain::ids::{MessageId, Millis, RunId, ToolRunId};
use domain::signal::Level;
use domain::state::State;
use domain::tool::{NOT_ACTIVE, Progress, ToolOutcome, ToolResult};
use rolekit::narrator::{self, NarratedCall, Narrator, Opens};
use roles::Item;

/// What stands before the text of a tool that did not do what it was asked.
pub(crate) const TOOL_ERROR: &str = "tool_error: ";
/// Longest text of a warning.
const MAX_WARNING_CHARS: usize = 300;
/// Parts the texts of two steps, which are one message here.
const BETWEEN_STEPS: &str = "\n\n";

/// An event of the wire without its envelope.
pub(super) type BareEvent = (&'static str, Payload);

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
    narrator: Narrator,
    turn: u32,
    user: Option<(MessageId, String)>,
    /// The name of the turn's one message of the model.
    assistant: Option<String>,
    told_error: bool,
    told_abort: bool,
    lost_thought: bool,
    out: Vec<BareEvent>,
    losses: Vec<(Item, &'static str)>,
}

impl Telling {
    pub(super) fn new(run: RunId, name: String) -> Telling {
        Telling {
            run,
            name,
            waiting: (0, 0),
            aborting: false,
            narrator: Narrator::new(run),
            turn: 0,
            user: None,
            assistant: None,
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

    /// What the session knows of the run and was not told.
    pub(super) fn missed(&self, state: &State) -> Vec<(Millis, Body)> {
        self.narrator.missed(state)
    }

    /// Takes what happened; gives what to tell. `minted` numbers the messages of the wire.
    pub(super) fn hear(&mut self, minted: &mut u64, at: Millis, body: &Body) -> Vec<BareEvent> {
        for told in self.narrator.hear(at, body) {
            self.tell(minted, told);
        }
        match body {
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
            | Body::Run(_)
            | Body::Message(_)
            | Body::Tool(_)
            | Body::Ask(_)
            | Body::Queue(_)
            | Body::Context(ContextEvent::Measured { .. })
            | Body::Rebased(_) => {}
        }
        std::mem::take(&mut self.out)
    }

    fn tell(&mut self, minted: &mut u64, told: narrator::Narration<'_>) {
        use narrator::Narration;
        match told {
            Narration::RunStarted => self.push("agent_start", Payload::default()),
            Narration::RunEnded { outcome, .. } => self.run_ended(outcome),
            Narration::TurnStarted => {
                self.turn += 1;
                self.push("turn_start", Payload::default());
            }
            Narration::TurnEnded => self.turn_ended(),
            Narration::StepStarted { again, .. } => {
                if again {
                    self.status("await_next: continue_with_tool_results".to_owned());
                }
                self.assistant(minted);
            }
            Narration::StepEnded { usage, called, .. } => self.step_ended(usage, called),
            Narration::MessageStarted { message, role } => self.message_started(minted, message, role),
            Narration::MessageEnded { message, finish, .. } => self.message_ended(message, finish),
            Narration::Text { text, opens, .. } => self.text(minted, text, opens),
            Narration::Thought { .. } => {
                if !std::mem::replace(&mut self.lost_thought, true) {
                    self.losses.push((Item::Thought, "the model's thinking"));
                }
            }
            Narration::Block { part, opens, .. } => self.block(minted, part, opens),
            Narration::CallStarted { tool } => self.tool_started(minted, tool),
            Narration::CallProgress { tool, progress, told } => self.tool_progress(tool, progress, told),
            Narration::CallResult { tool, call, outcome, result } => {
                self.tool_ended(minted, tool, &call, outcome, result);
            }
            Narration::Prompt { .. } | Narration::Whole(_) | Narration::Call { .. } => {}
        }
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
        if let Some(message_id) = self.assistant.take() {
            self.push("message_end", Payload { message_id: Some(message_id), ..Payload::default() });
        }
        self.push("turn_end", Payload::default());
    }

    fn step_ended(&mut self, usage: Usage, called: bool) {
        if called {
            self.status("provider_stop_reason: tool_use".to_owned());
        }
        if usage.total() > 0 {
            let (input, output, total) = (usage.input, usage.output, usage.total());
            self.status(format!("provider_usage: input={input} output={output} total={total}"));
        }
    }

    /// The name of the turn's message, which begins if it has not.
    fn assistant(&mut self, minted: &mut u64) -> String {
        if let Some(open) = &self.assistant {
            return open.clone();
        }
        *minted += 1;
        let id = format!("assistant-{minted}");
        let (message_id, role) = (Some(id.clone()), Some("assistant".to_owned()));
        self.push("message_start", Payload { message_id, role, ..Payload::default() });
        self.assistant.insert(id).clone()
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
                self.assistant(minted);
            }
            Role::System => {}
        }
    }

    fn text(&mut self, minted: &mut u64, text: &str, opens: Opens) {
        let message_id = Some(self.assistant(minted));
        let delta = if opens == Opens::Message { format!("{BETWEEN_STEPS}{text}") } else { text.to_owned() };
        self.push("message_update", Payload { message_id, delta: Some(delta), ..Payload::default() });
    }

    fn block(&mut self, minted: &mut u64, part: &Part, opens: Opens) {
        match part {
            Part::Code { language, text, .. } => {
                let fenced = format!("\n```{}\n{text}\n```\n", language.as_deref().unwrap_or_default());
                self.text(minted, &fenced, opens);
            }
            Part::Diff { text, .. } => {
                self.text(minted, &format!("\n```diff\n{text}\n```\n"), opens);
            }
            Part::Image { .. } => self.losses.push((Item::Image, "a picture in a message")),
            Part::Text(_) | Part::Thought { .. } | Part::Tool(_) | Part::Opaque { .. } => {}
        }
    }

    fn message_ended(&mut self, message: MessageId, finish: &Finish) {
        if let Some((_, id)) = self.user.take_if(|(user, _)| *user == message) {
            self.push("message_end", Payload { message_id: Some(id), ..Payload::default() });
        } else if *finish == Finish::Length {
            self.status("provider_stop_reason: length".to_owned());
        }
    }

    fn tool(&mut self, kind: &'static str, tool: ToolRunId, name: &str, delta: Option<String>) {
        let (tool_call_id, tool_name) = (Some(tool.to_string()), Some(name.to_owned()));
        self.push(kind, Payload { tool_call_id, tool_name, delta, ..Payload::default() });
    }

    fn name(&self, tool: ToolRunId) -> String {
        self.narrator.call(tool).map(|call| call.name.clone()).unwrap_or_default()
    }

    fn tool_started(&mut self, minted: &mut u64, tool: ToolRunId) {
        self.assistant(minted);
        self.tool("tool_execution_start", tool, &self.name(tool), None);
    }

    fn tool_progress(&mut self, tool: ToolRunId, progress: &Progress, told: usize) {
        let more = match progress {
            Progress::Output(text) => text.clone(),
            // The whole again: only what is new can be said.
            Progress::Replace(whole) => whole.get(told..).unwrap_or_default().to_owned(),
            Progress::Status { message, .. } => return self.status(format!("tool_progress: {message}")),
        };
        if !more.is_empty() {
            self.tool("tool_execution_update", tool, &self.name(tool), Some(more));
        }
    }

    fn tool_ended(
        &mut self,
        minted: &mut u64,
        tool: ToolRunId,
        call: &NarratedCall,
        outcome: &ToolOutcome,
        result: &ToolResult,
    ) {
        if call.started_at.is_none() {
            // A tool that never ran has both ends here.
            self.assistant(minted);
            self.tool("tool_execution_start", tool, &call.name, None);
        }
        let code = match outcome {
            ToolOutcome::Done => None,
            ToolOutcome::Failed if result.text.starts_with(NOT_ACTIVE) => Some("tool_not_active"),
            ToolOutcome::Failed | ToolOutcome::Unknown => Some("tool_execution_error"),
            ToolOutcome::Denied => Some("tool_blocked"),
            // What was running when the run was stopped was not passed over.
            ToolOutcome::Cancelled if call.started_at.is_some() => Some("tool_execution_error"),
            ToolOutcome::Skipped | ToolOutcome::Cancelled => Some("tool_execution_skipped"),
        };
        match code {
            None if call.output == 0 && !result.text.is_empty() => {
                self.tool("tool_execution_update", tool, &call.name, Some(result.text.clone()));
            }
            None => {}
            Some(code) => {
                self.warn(code, &result.text);
                if let Some((_, warning)) = self.out.last_mut() {
                    // Existing clients need not know which tool it is about; ours may run several at once.
                    warning.tool_call_id = Some(tool.to_string());
                }
                let delta = Some(format!("{TOOL_ERROR}{}", result.text));
                self.tool("tool_execution_update", tool, &call.name, delta);
            }
        }
        self.tool("tool_execution_end", tool, &call.name, None);
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
