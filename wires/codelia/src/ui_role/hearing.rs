//! One run as it is heard: `agent.event`s in, what was said in our words out.
//!
//! The wire tells whole texts and tool calls, not messages and steps. A step of ours ends when all its tools have ended and the model
//! says something again. Invariants: a `final` that repeats the last text adds nothing; a tool of which nobody asks is told as running
//! only after a question about it would have come, because one that runs is asked about as something beside it.

use super::super::runtime_role::{DENIED, STOPPED};
use super::super::wire::{
    AgentEvent, EventMeta, FileChange, LlmRetry, PermissionPreview, ShellOutcome, StepComplete, StepStart,
    ToolCall, ToolResult,
};
use super::super::{path_alias, retry_kind};
use domain::ask::Preview;
use domain::content::{Input, Json, Part, TextKind, Usage};
use domain::event::{Compaction, Finish, Trigger};
use domain::fact::{Key, Said};
use domain::signal::{Level, Signal};
use domain::tool::{self, ToolOutcome};
use rolekit::listener::Listener;
use roles::UiCx;

/// Most bytes of open tool calls that are remembered; past it the oldest is forgotten and ends without its name. The newest is
/// remembered whatever its size.
const MAX_TOOL_BYTES: usize = 4 * 1024 * 1024;
/// The longest text that is remembered, to know when `final` repeats it. A longer one is not compared: it is taken as repeated.
const MAX_LAST_TEXT: usize = 1024 * 1024;

/// A run under way, or told again.
#[derive(Debug)]
pub(super) struct Hearing {
    listener: Listener<Tool>,
    /// It is told again, not under way.
    pub(super) replayed: bool,
    compaction: bool,
    /// What the person said, when that is known from our side.
    prompt: Option<String>,
    last_text: String,
    /// The message whose pieces come.
    streaming: Option<Key>,
    ready: Option<Key>,
    last_number: u64,
    fresh_tool: bool,
    signals: Vec<Signal>,
}

/// A tool call without a result.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) args: Json,
    pub(super) preview: Option<Preview>,
    phase: Phase,
}

impl Tool {
    fn bytes(&self) -> usize {
        let preview = match &self.preview {
            Some(Preview::Diff { path, text }) => path.len() + text.len(),
            Some(Preview::Text(text)) => text.len(),
            Some(Preview::Command { line, .. }) => line.len(),
            None => 0,
        };
        self.name.len() + self.args.as_str().len() + preview
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Proposed,
    Asked,
    Allowed,
    Running,
}

impl Hearing {
    pub(super) fn new(key: Key, replayed: bool, compaction: bool) -> Hearing {
        Hearing {
            listener: Listener::new(key),
            replayed,
            compaction,
            prompt: None,
            last_text: String::new(),
            streaming: None,
            ready: None,
            last_number: 0,
            fresh_tool: false,
            signals: Vec::new(),
        }
    }

    /// Its name on the wire.
    pub(super) fn key(&self) -> &Key {
        self.listener.run()
    }

    /// Says something of this run.
    pub(super) fn say(&self, cx: &mut UiCx<'_>, said: Said) {
        self.listener.say(cx, said);
    }

    /// What the person said: this wire does not say it again.
    pub(super) fn prompt(&mut self, cx: &mut UiCx<'_>, input: &Input) {
        self.prompt = Some(input.text.clone());
        self.listener.input(cx, input);
    }

    /// Takes an event; says what it says.
    pub(super) fn hear(&mut self, cx: &mut UiCx<'_>, event: AgentEvent, delta: Option<EventMeta>) {
        match (event, delta) {
            (AgentEvent::Text(words), Some(meta)) => self.piece(cx, meta, TextKind::Text, words.content),
            (AgentEvent::Reasoning(words), Some(meta)) => {
                self.piece(cx, meta, TextKind::Thought, words.content);
            }
            (AgentEvent::Text(words), None) => self.text(cx, words.content),
            (AgentEvent::Reasoning(words), None) => {
                self.model_speaks(cx);
                self.say(
                    cx,
                    Said::Part {
                        message: None,
                        part: Part::Thought { text: words.content, signature: None },
                    },
                );
            }
            (AgentEvent::Final(words), _) => {
                // The runtime's own words for what the result has told already.
                let repeats = words.content.trim() == self.last_text.trim()
                    || self.last_text.len() > MAX_LAST_TEXT && words.content.len() > MAX_LAST_TEXT;
                if !repeats && words.content != STOPPED {
                    self.text(cx, words.content);
                }
                self.message_over(cx);
            }
            (AgentEvent::HiddenUserMessage(words), _) => {
                if self.prompt.take().is_none_or(|prompt| prompt != words.content) {
                    self.message_over(cx);
                    self.listener.prompt(cx, None, vec![Part::Text(words.content)]);
                }
            }
            (AgentEvent::StepStart(start), _) => self.step_start(cx, &start),
            (AgentEvent::ToolCall(call), _) => self.tool_call(cx, call),
            (AgentEvent::ToolResult(result), _) => self.tool_result(cx, result),
            (AgentEvent::StepComplete(complete), _) => self.step_complete(cx, &complete),
            (AgentEvent::CompactionStart(_), _) => {
                self.signals.push(Signal::Working(Some("compacting the conversation".to_owned())));
            }
            (AgentEvent::CompactionComplete(complete), _) => self.compacted(cx, complete.compacted),
            (AgentEvent::PermissionPreview(preview), _) => self.preview(preview),
            (AgentEvent::PermissionReady(ready), _) => {
                self.ready = self.find(ready.tool_call_id.as_deref(), &ready.tool);
            }
            (AgentEvent::LlmRetry(retry), _) => self.say(cx, lift_retry(retry)),
        }
    }

    /// One-way words that came with the last event.
    pub(super) fn signals(&mut self) -> Vec<Signal> {
        std::mem::take(&mut self.signals)
    }

    /// Whether a tool was proposed of which it must be found out whether anybody asks; once per proposal.
    pub(super) fn wants_timer(&mut self) -> bool {
        std::mem::take(&mut self.fresh_tool)
    }

    /// No question came: the tools that were proposed run.
    pub(super) fn quiet_tools_run(&mut self, cx: &mut UiCx<'_>) {
        self.advance(cx, Phase::Proposed);
    }

    /// The runtime goes on after a question: what was allowed runs.
    pub(super) fn goes_on(&mut self, cx: &mut UiCx<'_>) {
        self.advance(cx, Phase::Allowed);
    }

    fn advance(&mut self, cx: &mut UiCx<'_>, from: Phase) {
        let ready = self.ready.as_ref();
        let due = self.listener.open_mut().filter(|(key, tool)| tool.phase == from && ready != Some(*key));
        let started = due.map(|(key, tool)| {
            tool.phase = Phase::Running;
            Said::ToolStarted { tool: key.clone(), name: None, args: None }
        });
        for said in started.collect::<Vec<_>>() {
            self.listener.say(cx, said);
        }
    }

    /// The tool that a question is about: the one announced, or the only one that could be meant when the runtime does not announce.
    pub(super) fn asked_about(&mut self, announces: bool) -> Option<(Key, Tool)> {
        let waiting = || {
            let mut open = self.listener.open().filter(|(_, tool)| tool.phase == Phase::Proposed);
            open.next_back().map(|(key, _)| key.clone()).filter(|_| !announces)
        };
        let key = self.ready.take().or_else(waiting)?;
        let tool = self.listener.noted(&key)?;
        match tool.phase {
            Phase::Proposed => tool.phase = Phase::Asked,
            // Announced, it asks about more than itself, and goes on running.
            Phase::Running => {}
            Phase::Asked | Phase::Allowed => return None,
        }
        Some((key, tool.clone()))
    }

    /// The person allowed a tool.
    pub(super) fn allowed(&mut self, key: &Key) {
        if let Some(tool) = self.listener.noted(key).filter(|tool| tool.phase == Phase::Asked) {
            tool.phase = Phase::Allowed;
        }
    }

    /// Ends the step if the model speaks after its tools.
    fn model_speaks(&mut self, cx: &mut UiCx<'_>) {
        if self.listener.model_speaks(cx) {
            (self.last_number, self.streaming) = (0, None);
        }
    }

    fn message_over(&mut self, cx: &mut UiCx<'_>) {
        self.streaming = None;
        self.say(cx, Said::MessageEnded { message: None, finish: Finish::Complete });
    }

    fn text(&mut self, cx: &mut UiCx<'_>, content: String) {
        if content.is_empty() {
            return;
        }
        self.model_speaks(cx);
        self.last_text.clone_from(&content);
        self.say(cx, Said::Part { message: None, part: Part::Text(content) });
    }

    /// A piece of a message that comes piece by piece.
    fn piece(&mut self, cx: &mut UiCx<'_>, meta: EventMeta, kind: TextKind, text: String) {
        let message: Option<Key> = meta.message.map(Key::from);
        if self.streaming.is_none() || self.streaming != message {
            self.model_speaks(cx);
            if self.streaming.is_some() {
                self.message_over(cx);
            }
            self.streaming.clone_from(&message);
            self.last_text.clear();
        }
        if kind == TextKind::Text && self.last_text.len() <= MAX_LAST_TEXT {
            self.last_text.push_str(&text);
        }
        self.say(cx, Said::Text { message, kind, text });
    }

    fn step_start(&mut self, cx: &mut UiCx<'_>, start: &StepStart) {
        let number = Some(start.step_number).filter(|number| *number > 0).unwrap_or(self.last_number + 1);
        // Counting begins again with every answer of the model.
        if number <= self.last_number && self.listener.open().next().is_none() {
            self.listener.step_over(cx, Usage::default());
            self.streaming = None;
        }
        self.last_number = number;
    }

    fn tool_call(&mut self, cx: &mut UiCx<'_>, call: ToolCall) {
        let key = Key::from(call.tool_call_id);
        let args = call.args.map_or_else(Json::empty, |raw| {
            path_alias::remove(raw.get()).map_or_else(|| Json::verbatim(raw.get()), Json::verbatim)
        });
        self.say(cx, Said::ToolProposed { tool: key.clone(), name: call.tool.clone(), args: args.clone() });
        let tool = Tool { name: call.tool, args, preview: None, phase: Phase::Proposed };
        if let Some(noted) = self.listener.note(&key, || tool.clone()) {
            *noted = tool;
        }
        self.forget_oldest();
        self.fresh_tool = true;
    }

    fn forget_oldest(&mut self) {
        let mut bytes: usize = self.listener.open().map(|(_, tool)| tool.bytes()).sum();
        while bytes > MAX_TOOL_BYTES && self.listener.open().nth(1).is_some() {
            bytes -= self.listener.forget_oldest().map_or(0, |tool| tool.bytes());
        }
    }

    fn tool_result(&mut self, cx: &mut UiCx<'_>, event: ToolResult) {
        let tool = Key::from(event.tool_call_id);
        let Ok(known) = self.listener.end_call(&tool) else { return };
        self.ready.take_if(|ready| *ready == tool);
        let (text, json) = match event.result.as_deref().map(|raw| raw.get()) {
            None | Some("null") => (String::new(), None),
            Some(raw) => match serde_json::from_str::<String>(raw) {
                Ok(text) => (text, None),
                Err(_) => (raw.to_owned(), Some(Json::verbatim(raw))),
            },
        };
        let denied = event.is_error.then(|| text.strip_prefix(DENIED)).flatten();
        let (outcome, result) = match denied {
            Some(reason) => (ToolOutcome::Denied, tool::ToolResult::text(reason)),
            None if event.is_error => (ToolOutcome::Failed, lift_result(text, json)),
            None => (ToolOutcome::Done, lift_result(text, json)),
        };
        if outcome != ToolOutcome::Denied && known.as_ref().is_none_or(|known| known.phase != Phase::Running)
        {
            let name = Some(event.tool).filter(|name| known.is_none() && !name.is_empty());
            self.say(cx, Said::ToolStarted { tool: tool.clone(), name, args: None });
        }
        self.say(cx, Said::ToolEnded { tool, outcome, result });
    }

    /// Says nothing new, unless the result never came.
    fn step_complete(&mut self, cx: &mut UiCx<'_>, complete: &StepComplete) {
        let tool = Key::from(complete.step_id.as_str());
        if self.listener.noted(&tool).is_some() {
            self.ready.take_if(|ready| *ready == tool);
            let outcome = if complete.status == "error" { ToolOutcome::Failed } else { ToolOutcome::Done };
            self.say(cx, Said::ToolStarted { tool: tool.clone(), name: None, args: None });
            self.listener.result(cx, &tool, outcome, tool::ToolResult::default());
        }
    }

    fn compacted(&mut self, cx: &mut UiCx<'_>, compacted: bool) {
        self.signals.push(Signal::Working(None));
        let trigger = if self.compaction { Trigger::Manual } else { Trigger::Threshold };
        self.say(
            cx,
            if compacted {
                let summary = String::new();
                Said::Compacted(Compaction {
                    summary,
                    first_kept: None,
                    tokens_before: 0,
                    trigger,
                    unexplained: !self.compaction,
                    usage: Usage::default(),
                })
            } else {
                let text = "there was nothing to compact".to_owned();
                Said::Notice { level: Level::Info, code: "nothing_to_compact".to_owned(), text }
            },
        );
    }

    fn preview(&mut self, preview: PermissionPreview) {
        let Some(key) = self.find(preview.tool_call_id.as_deref(), &preview.tool) else { return };
        let Some(tool) = self.listener.noted(&key) else { return };
        tool.preview = match (preview.diff, preview.summary) {
            (Some(text), _) => Some(Preview::Diff { path: preview.file_path.unwrap_or_default(), text }),
            (None, Some(summary)) => Some(Preview::Text(summary)),
            (None, None) => None,
        };
        self.forget_oldest();
    }

    /// An open tool call by id, or the newest of that name where a runtime leaves the id out.
    fn find(&self, id: Option<&str>, name: &str) -> Option<Key> {
        match id {
            Some(id) => self.listener.open().find(|(key, _)| &***key == id).map(|(key, _)| key.clone()),
            None => self.listener.newest(|tool| tool.name == name).cloned(),
        }
    }
}

/// Tools that change files write what they changed into their result, and those of the shell how it went.
fn lift_result(text: String, json: Option<Json>) -> tool::ToolResult {
    if text.starts_with('{')
        && let Ok(outcome) = serde_json::from_str::<ShellOutcome>(&text)
    {
        let json = Some(Json::verbatim(text));
        return tool::ToolResult { text: shell_words(&outcome), json, ..Default::default() };
    }
    let change = text.starts_with('{').then(|| serde_json::from_str::<FileChange>(&text).ok()).flatten();
    match change {
        Some(FileChange { summary, diff, file_path }) => {
            let parts = vec![Part::Diff { path: file_path, text: diff }];
            tool::ToolResult { text: summary, parts, json: Some(Json::verbatim(text)), truncated: false }
        }
        None => tool::ToolResult { text, json, ..Default::default() },
    }
}

/// As a terminal would show it.
fn shell_words(outcome: &ShellOutcome) -> String {
    let mut lines: Vec<String> = [&outcome.stdout, &outcome.stderr]
        .map(|text| text.trim_end().to_owned())
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect();
    lines.extend(outcome.failure_message.clone());
    match (outcome.exit_code, &outcome.signal) {
        _ if outcome.failure_message.is_some() || outcome.timed_out == Some(true) => {}
        (Some(0), _) => {}
        (Some(code), _) => lines.push(format!("exit code {code}")),
        (None, Some(signal)) => lines.push(format!("ended by {signal}")),
        (None, None) if outcome.state != "completed" => lines.push(outcome.state.clone()),
        (None, None) => {}
    }
    lines.join("\n")
}

fn lift_retry(retry: LlmRetry) -> Said {
    Said::Retrying {
        kind: retry_kind::read(&retry.failure_kind),
        attempt: retry.next_attempt,
        max: retry.max_attempts,
        delay_ms: retry.delay_ms,
        reason: retry.message.unwrap_or(retry.failure_kind),
    }
}
