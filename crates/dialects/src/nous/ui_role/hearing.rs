//! Events of a nous core become facts.
//!
//! The core does not say what the person said: the texts that we sent are kept until their turn begins, in the order that the
//! core takes them (steers before follow-ups, by mode). After a tool the core repeats its result as text of the message; that
//! echo is not told twice.

use super::commands::Sent;
use crate::listener::Listener;
use crate::nous::runtime_role::TOOL_ERROR;
use crate::nous::wire::{Event, MessageEntry, Payload, State};
use domain::content::{Role, TextKind, Usage};
use domain::event::{Cause, Failure, Finish, Outcome};
use domain::fact::{Fact, Key, Said};
use domain::queue::{Mode, QueueKind};
use domain::signal::{Level, Signal};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use roles::{Drift, UiCx};
use std::collections::VecDeque;

/// Most texts of each kind that wait for their turn.
const MAX_TEXTS: usize = 256;
/// Bound of the text that is kept for the results of all tools under way.
const MAX_RESULTS: usize = 4 * 1024 * 1024;

/// What is being heard.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    /// The run under way.
    run: Option<Listener<Tool>>,
    /// Prompts that were sent and whose turn has not begun.
    prompts: VecDeque<String>,
    steers: VecDeque<String>,
    follow_ups: VecDeque<String>,
    steer_mode: Mode,
    follow_up_mode: Mode,
    turns: u32,
    cancelled: bool,
    failure: Option<Failure>,
    cut: bool,
    echo: Option<Echo>,
}

#[derive(Debug, Default)]
struct Tool {
    text: String,
    outcome: Option<(ToolOutcome, String)>,
}

/// A tool's result that the core is expected to repeat as text of the message.
#[derive(Debug)]
struct Echo {
    text: String,
    failed: bool,
}

impl Hearing {
    /// Whether a run is being heard.
    pub(super) fn follows(&self) -> bool {
        self.run.is_some()
    }

    /// Notes a prompt that was sent, so that the run which follows begins with it.
    pub(super) fn prompting(&mut self, text: String) {
        keep(&mut self.prompts, text);
    }

    /// The core took the prompt. Its events may have come before this, even its last.
    pub(super) fn accepted(&mut self, cx: &mut UiCx<'_>, run: String) {
        if !run.is_empty() {
            cx.fact(Fact::of(run, Said::RunStarted));
        }
    }

    /// Notes what was put into a queue of the core, so that its turn begins with it.
    pub(super) fn queued(&mut self, kind: QueueKind, text: String) {
        match kind {
            QueueKind::Steer => keep(&mut self.steers, text),
            QueueKind::FollowUp => keep(&mut self.follow_ups, text),
        }
    }

    /// Notes that the person stopped the run.
    pub(super) fn cancelled(&mut self) {
        self.cancelled = true;
        self.steers.clear();
        self.follow_ups.clear();
    }

    /// Notes how many inputs a turn takes from a queue.
    pub(super) fn set_mode(&mut self, kind: QueueKind, mode: Mode) {
        match kind {
            QueueKind::Steer => self.steer_mode = mode,
            QueueKind::FollowUp => self.follow_up_mode = mode,
        }
    }

    /// Something was not taken: its text will never come up.
    pub(super) fn unsaid(&mut self, sent: &Sent) {
        if let Sent::Prompt { text, .. } = sent
            && let Some(at) = self.prompts.iter().position(|prompt| prompt == text)
        {
            self.prompts.remove(at);
        }
    }

    /// Takes up the queue modes that the core has after a connection.
    pub(super) fn recover(&mut self, cx: &mut UiCx<'_>, state: &State) {
        let mode = |word: &str| if word == "all" { Mode::All } else { Mode::OneAtATime };
        (self.steer_mode, self.follow_up_mode) = (mode(&state.steering_mode), mode(&state.follow_up_mode));
        for (kind, mode) in [(QueueKind::Steer, self.steer_mode), (QueueKind::FollowUp, self.follow_up_mode)]
        {
            if mode != Mode::default() {
                cx.fact(Fact::new(Said::QueueMode(kind, mode)));
            }
        }
    }

    /// Takes a line of the event socket.
    pub(super) fn event(&mut self, cx: &mut UiCx<'_>, line: &str) {
        let event: Event = match serde_json::from_str(line) {
            Ok(event) => event,
            Err(why) => return cx.drift(Drift::new("event", why.to_string(), line)),
        };
        let payload = event.payload;
        if event.kind != "agent_end"
            && let Some(run) = &payload.run_id
            && self.run.as_ref().is_none_or(|heard| **heard.run() != **run)
        {
            self.begin(run);
        }
        if self.run.is_none() && !matches!(event.kind.as_str(), "status" | "warning" | "error" | "agent_end")
        {
            return cx.drift(Drift::new(event.kind, "it names no run", line));
        }
        match event.kind.as_str() {
            "agent_start" => self.fact(cx, Said::RunStarted),
            "agent_end" => self.ended(cx, payload.run_id),
            "turn_start" => {
                self.turns += 1;
                self.turn_started(cx);
            }
            "turn_end" => self.fact(cx, Said::TurnEnded),
            "message_start" => self.message_started(cx, &payload),
            "message_update" => self.text(cx, payload),
            "message_end" => {
                let finish = if self.cut { Finish::Length } else { Finish::Complete };
                self.fact(cx, Said::MessageEnded { message: payload.message_id.map(Key::from), finish });
            }
            "tool_execution_start" => self.tool_started(cx, payload),
            "tool_execution_update" => self.tool_updated(cx, payload),
            "tool_execution_end" => self.tool_ended(cx, payload),
            "status" => self.status(cx, payload.message.unwrap_or_default()),
            "warning" => self.warning(cx, payload),
            "error" => self.error(cx, payload),
            other => cx.drift(Drift::new("event", format!("unknown type {other}"), line)),
        }
    }

    fn begin(&mut self, run: &str) {
        self.run = Some(Listener::new(run.into()));
        self.turns = 0;
        self.cancelled = false;
        self.failure = None;
        self.cut = false;
        self.echo = None;
    }

    fn fact(&self, cx: &mut UiCx<'_>, said: Said) {
        match &self.run {
            Some(listener) => listener.say(cx, said),
            None => cx.fact(Fact::new(said)),
        }
    }

    fn ended(&mut self, cx: &mut UiCx<'_>, run: Option<String>) {
        let outcome = match self.failure.take() {
            _ if self.cancelled => Outcome::Cancelled,
            Some(failure) => Outcome::Failed(failure),
            None => Outcome::Done,
        };
        let heard = self.run.take().map(|listener| listener.run().clone());
        cx.fact(Fact { run: run.map(Key::from).or(heard), said: Said::RunEnded(outcome) });
        self.cancelled = false;
        self.steers.clear();
        self.follow_ups.clear();
    }

    fn turn_started(&mut self, cx: &mut UiCx<'_>) {
        self.echo = None;
        let cause = if self.turns <= 1 {
            Cause::Prompt
        } else if !self.steers.is_empty() || self.follow_ups.is_empty() {
            Cause::Steer
        } else {
            Cause::FollowUp
        };
        self.fact(cx, Said::TurnStarted(Some(cause)));
    }

    fn message_started(&mut self, cx: &mut UiCx<'_>, payload: &Payload) {
        let message = payload.message_id.as_deref().map(Key::from);
        if payload.role.as_deref() != Some("user") {
            return self.fact(cx, Said::MessageStarted { message, role: Role::Assistant });
        }
        let text = if self.turns <= 1 { self.prompts.pop_front() } else { self.next_queued() };
        // Another client's words are not on this wire: an empty message would claim that nothing was said.
        let Some(text) = text else { return };
        self.fact(cx, Said::MessageStarted { message: message.clone(), role: Role::User });
        self.fact(cx, Said::Text { message, kind: TextKind::Text, text });
    }

    fn next_queued(&mut self) -> Option<String> {
        let (queue, mode) = if self.steers.is_empty() {
            (&mut self.follow_ups, self.follow_up_mode)
        } else {
            (&mut self.steers, self.steer_mode)
        };
        match mode {
            Mode::OneAtATime => queue.pop_front(),
            Mode::All if queue.is_empty() => None,
            Mode::All => Some(queue.drain(..).collect::<Vec<_>>().join("\n")),
        }
    }

    fn text(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        let text = payload.delta.unwrap_or_default();
        let echoed = self
            .echo
            .take()
            .is_some_and(|echo| text == echo.text || (echo.failed && text.starts_with(TOOL_ERROR)));
        if !echoed {
            let message = payload.message_id.map(Key::from);
            self.fact(cx, Said::Text { message, kind: TextKind::Text, text });
        }
    }

    fn tool_started(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        let Some(tool) = payload.tool_call_id.map(Key::from) else { return };
        self.echo = None;
        if let Some(noted) = self.run.as_mut().and_then(|listener| listener.note(&tool, Tool::default)) {
            *noted = Tool::default();
        }
        self.fact(cx, Said::ToolStarted { tool, name: payload.tool_name, args: None });
    }

    fn tool_updated(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        let (Some(tool), Some(text)) = (payload.tool_call_id.map(Key::from), payload.delta) else { return };
        if let Some(listener) = &mut self.run {
            let kept: usize = listener.open().map(|(_, tool)| tool.text.len()).sum();
            if let Some(known) = listener.noted(&tool).filter(|_| kept + text.len() <= MAX_RESULTS) {
                known.text.push_str(&text);
            }
        }
        if !text.starts_with(TOOL_ERROR) {
            self.fact(cx, Said::ToolProgress { tool, progress: Progress::Output(text) });
        }
    }

    fn tool_ended(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        let Some(tool) = payload.tool_call_id.map(Key::from) else { return };
        let Some(Ok(known)) = self.run.as_mut().map(|listener| listener.end_call(&tool)) else { return };
        let known = known.unwrap_or_default();
        let (outcome, warned) = known.outcome.unwrap_or((ToolOutcome::Done, String::new()));
        let failed = outcome != ToolOutcome::Done;
        self.echo = Some(Echo { text: known.text.clone(), failed });
        let text = match known.text.split_once(TOOL_ERROR) {
            // What failed after some output: the output, then why.
            Some((output, why)) if failed => format!("{output}{why}"),
            _ if known.text.is_empty() => warned,
            _ => known.text,
        };
        self.fact(cx, Said::ToolEnded { tool, outcome, result: ToolResult::text(text) });
    }

    fn status(&mut self, cx: &mut UiCx<'_>, message: String) {
        if let Some(figures) = message.strip_prefix("provider_usage: ") {
            return self.fact(cx, Said::StepEnded(usage(figures)));
        }
        match message.as_str() {
            "provider_stop_reason: length" => self.cut = true,
            "provider_stop_reason: tool_use" | "await_next: continue_with_tool_results" => {}
            _ => cx.signal(Signal::Notify { level: Level::Info, text: message }),
        }
    }

    fn warning(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        let code = payload.code.unwrap_or_default();
        let text = payload.message.unwrap_or_default();
        let outcome = match code.as_str() {
            "tool_execution_skipped" => Some(ToolOutcome::Skipped),
            "tool_blocked" | "tool_not_active" => Some(ToolOutcome::Denied),
            "tool_execution_error" | "tool_validation_error" | "tool_not_found" => Some(ToolOutcome::Failed),
            _ => None,
        };
        match outcome {
            Some(outcome) => {
                let Some(listener) = &mut self.run else { return };
                let named = payload.tool_call_id.map(Key::from).filter(|id| listener.noted(id).is_some());
                // The existing core does not say which, but runs tools one after the other.
                let tool = named.or_else(|| listener.newest(|_| true).cloned());
                if let Some(tool) = tool.and_then(|tool| listener.noted(&tool)) {
                    tool.outcome = Some((outcome, text));
                }
            }
            None if code == "provider_aborted" => self.cancelled = true,
            None if code == "provider_retry" => {
                self.fact(cx, Said::Retrying { attempt: 1, max: 1, delay_ms: 0, reason: text, kind: None });
            }
            None => self.fact(cx, Said::Notice { level: Level::Warning, code, text }),
        }
    }

    fn error(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        let code = payload.code.unwrap_or_else(|| "error".to_owned());
        let message = payload.message.unwrap_or_default();
        let text = match &payload.cause {
            Some(cause) => format!("{message}: {cause}"),
            None => message,
        };
        self.failure = Some(Failure::new(code.clone(), text.clone()));
        self.fact(cx, Said::Notice { level: Level::Error, code, text });
    }
}

fn keep(texts: &mut VecDeque<String>, text: String) {
    texts.push_back(text);
    if texts.len() > MAX_TEXTS {
        texts.pop_front();
    }
}

/// `input=11 output=7 total=18`.
fn usage(figures: &str) -> Usage {
    let figure = |name: &str| {
        let found = figures.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.and_then(|number| number.parse().ok()).unwrap_or_default()
    };
    Usage { input: figure("input"), output: figure("output"), ..Usage::default() }
}

/// Messages of the past, told as runs that are over. Their keys are the names that `set_leaf` takes.
pub(super) fn history(cx: &mut UiCx<'_>, messages: &[MessageEntry]) {
    let mut at = 0;
    while let Some(first) = messages.get(at) {
        let of_run =
            messages[at..].iter().take_while(|message| message.run_id == first.run_id).count().max(1);
        let run = Key::from(format!("past:{}", first.id));
        cx.fact(Fact::of(run.clone(), Said::RunStarted));
        for message in &messages[at..at + of_run] {
            past_message(cx, &run, message);
        }
        cx.fact(Fact::of(run, Said::RunEnded(Outcome::Done)));
        at += of_run;
    }
}

fn past_message(cx: &mut UiCx<'_>, run: &Key, entry: &MessageEntry) {
    let message = Some(Key::from(entry.id.as_str()));
    let role = if entry.role == "user" { Role::User } else { Role::Assistant };
    let mut say = |said| cx.fact(Fact { run: Some(run.clone()), said });
    say(Said::MessageStarted { message: message.clone(), role });
    say(Said::Text { message: message.clone(), kind: TextKind::Text, text: entry.text.clone() });
    for tool in &entry.tools {
        let key = Key::from(format!("past:{}:{}", entry.id, tool.tool_call_id));
        say(Said::ToolStarted { tool: key.clone(), name: Some(tool.tool_name.clone()), args: None });
        let outcome = match tool.status.as_str() {
            "failed" => ToolOutcome::Failed,
            "blocked" => ToolOutcome::Denied,
            "skipped" => ToolOutcome::Skipped,
            "aborted" => ToolOutcome::Cancelled,
            "unknown" => ToolOutcome::Unknown,
            _ => ToolOutcome::Done,
        };
        say(Said::ToolEnded { tool: key, outcome, result: ToolResult::text(tool.output.clone()) });
    }
    say(Said::MessageEnded { message, finish: Finish::Complete });
}
