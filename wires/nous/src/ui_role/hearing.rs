//! Events of a nous core become facts.
//!
//! The core does not say what the person said: the texts that we sent are kept until their turn begins, in the order that the
//! core takes them (steers before follow-ups, by mode). After a tool the core repeats its result as text of the message; that
//! echo is not told twice.

use super::commands::Sent;
use crate::runtime_role::TOOL_ERROR;
use crate::wire::{Event, MessageEntry, Payload, PendingCounts, State};
use domain::content::{Input, Role, TextKind, Usage};
use domain::event::{Cause, Failure, Finish, Leaving, Outcome};
use domain::fact::{Fact, Key, Said};
use domain::queue::{Mode, QueueKind};
use domain::signal::{Level, Signal};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use rolekit::listener::Listener;
use roles::{Drift, UiCx};
use std::collections::VecDeque;

/// Most texts of each kind that wait for their turn.
const MAX_TEXTS: usize = 256;
/// Bound of the text that is kept for the results of all tools under way.
const MAX_RESULTS: usize = 4 * 1024 * 1024;

/// Inputs that waited are dropped with their run.
const QUEUE_CLEARED: &str = "queue_cleared";

/// Marks the id of a message in events: the core's name for the message that it keeps is another one.
const PASSING: &str = "passing:";

/// The key of a message that is being said.
fn passing(id: &str) -> Key {
    Key::from(format!("{PASSING}{id}"))
}

/// Whether this is such a key, which the core takes for no name.
pub(super) fn is_passing(key: &str) -> bool {
    key.starts_with(PASSING)
}

/// What is being heard.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    /// The run under way.
    run: Option<Listener<Tool>>,
    /// A run was heard on this link.
    has_begun: bool,
    /// Prompts that were sent and whose turn has not begun, with their runs once the core has named them.
    prompts: VecDeque<(Option<String>, String)>,
    /// What the person said in this turn was told.
    prompted: bool,
    /// A run of ours of which nothing was heard yet.
    unheard: Option<String>,
    /// A run of another client whose prompt is not known.
    unprompted: Option<String>,
    /// Whether the model has said something in the run.
    spoken: bool,
    steers: VecDeque<String>,
    follow_ups: VecDeque<String>,
    steer_mode: Mode,
    follow_up_mode: Mode,
    /// What other clients have waiting at the core, as it was told last.
    of_others: PendingCounts,
    turns: u32,
    cancelled: bool,
    /// What waited of ours in this run was given back.
    given_back: bool,
    failure: Option<Failure>,
    cut: bool,
    echo: Option<Echo>,
    /// The core is asked once more what another client said, when the run is over.
    late_prompt: bool,
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

    /// Whether what is told of the past from now on may hold what was heard already.
    pub(super) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// Notes a prompt that was sent, so that the run which follows begins with it.
    pub(super) fn prompting(&mut self, text: String) {
        keep(&mut self.prompts, (None, text));
    }

    /// The core took the prompt. Its events may have come before this, even its last.
    pub(super) fn accepted(&mut self, cx: &mut UiCx<'_>, run: String) {
        if run.is_empty() {
            return;
        }
        if let Some(prompt) = self.prompts.iter_mut().find(|(named, _)| named.is_none()) {
            prompt.0 = Some(run.clone());
        }
        self.unheard = Some(run.clone());
        cx.fact(Fact::of(run, Said::RunStarted));
    }

    /// A run of ours of which nothing was heard.
    pub(super) fn unheard(&self) -> Option<&str> {
        self.unheard.as_deref()
    }

    /// A run of another client whose prompt has to be asked for; given once.
    pub(super) fn unprompted(&mut self) -> Option<String> {
        self.unprompted.take()
    }

    /// What the core kept of a run of ours whose events never came: its words, and its end.
    pub(super) fn recovered(&mut self, cx: &mut UiCx<'_>, run: &str, messages: &[MessageEntry]) {
        if self.unheard.take_if(|unheard| unheard == run).is_none() {
            return;
        }
        self.begin(run);
        self.say_prompt(cx);
        let answers: Vec<&MessageEntry> = messages
            .iter()
            .filter(|entry| entry.run_id.as_deref() == Some(run) && entry.role != "user")
            .collect();
        let key = Key::from(run);
        for entry in &answers {
            past_message(cx, &key, entry);
        }
        if answers.is_empty() && !self.cancelled {
            let why = "the core ended the run and kept no answer; ask again";
            self.failure = Some(Failure::new("answer_lost", why));
        }
        self.ended(cx, Some(run.to_owned()));
    }

    /// The words of another client: in their place while nothing was answered, else as a remark.
    pub(super) fn asked_elsewhere(&mut self, cx: &mut UiCx<'_>, run: &str, messages: &[MessageEntry]) {
        let said = messages.iter().find(|entry| entry.run_id.as_deref() == Some(run) && entry.role == "user");
        let open = self.run.as_ref().is_some_and(|heard| **heard.run() == *run);
        match said {
            Some(entry) if open && !self.spoken => {
                let text = entry.text.clone();
                self.fact(cx, Said::MessageStarted { message: None, role: Role::User });
                self.fact(cx, Said::Text { message: None, kind: TextKind::Text, text });
                self.fact(cx, Said::MessageEnded { message: None, finish: Finish::Complete });
            }
            Some(entry) => {
                let text = format!("asked by another client: {}", entry.text);
                cx.fact(Fact::new(Said::Notice { level: Level::Info, code: "prompt".to_owned(), text }));
            }
            // The existing core keeps a prompt only with its answer: it is asked for again when the run is over.
            None if open => self.late_prompt = true,
            None => {}
        }
    }

    /// Notes what was put into a queue of the core, so that its turn begins with it.
    pub(super) fn queued(&mut self, cx: &mut UiCx<'_>, kind: QueueKind, text: String) {
        cx.fact(Fact::new(Said::Queued(kind, Input::text(text.clone()))));
        match kind {
            QueueKind::Steer => keep(&mut self.steers, text),
            QueueKind::FollowUp => keep(&mut self.follow_ups, text),
        }
    }

    /// Notes that the person stopped the run.
    pub(super) fn cancelled(&mut self, cx: &mut UiCx<'_>) {
        self.cancelled = true;
        self.give_back(cx);
    }

    /// What waits is dropped by the core with its run, and given back to the person.
    pub(super) fn give_back(&mut self, cx: &mut UiCx<'_>) {
        for (kind, queue) in
            [(QueueKind::Steer, &mut self.steers), (QueueKind::FollowUp, &mut self.follow_ups)]
        {
            let count = std::mem::take(queue).len();
            if count > 0 {
                self.given_back = true;
                cx.fact(Fact::new(Said::Unqueued { kind, count, leaving: Leaving::Cleared }));
            }
        }
    }

    /// Whether what the core drops with the run is ours and comes back here.
    fn is_given_back(&self) -> bool {
        self.cancelled || self.given_back || !self.steers.is_empty() || !self.follow_ups.is_empty()
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
            && let Some(at) = self.prompts.iter().position(|(_, prompt)| prompt == text)
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

    /// Tells how much of other clients waits: what the core counts without ours, which is shown with its words.
    pub(super) fn waiting(&mut self, cx: &mut UiCx<'_>, there: PendingCounts) {
        let others = |there: u64, ours: &VecDeque<String>| there.saturating_sub(ours.len() as u64);
        let of_others = PendingCounts {
            steer: others(there.steer, &self.steers),
            follow_up: others(there.follow_up, &self.follow_ups),
        };
        if std::mem::replace(&mut self.of_others, of_others) != of_others {
            let some = of_others != PendingCounts::default();
            let PendingCounts { steer, follow_up } = of_others;
            let text = some.then(|| format!("of others wait: {steer} to steer, {follow_up} to follow"));
            cx.signal(Signal::Status { key: "queue".to_owned(), text });
        }
    }

    /// Takes a line of the event socket.
    pub(super) fn event(&mut self, cx: &mut UiCx<'_>, line: &str) {
        let event: Event = match serde_json::from_str(line) {
            Ok(event) => event,
            Err(why) => return cx.drift(Drift::new("event", why.to_string(), line)),
        };
        let payload = event.payload;
        self.unheard.take_if(|unheard| payload.run_id.as_ref() == Some(unheard));
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
                self.fact(
                    cx,
                    Said::MessageEnded { message: payload.message_id.as_deref().map(passing), finish },
                );
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
        self.has_begun = true;
        self.turns = 0;
        self.prompted = false;
        self.spoken = false;
        self.late_prompt = false;
        (self.cancelled, self.given_back) = (false, false);
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
        self.give_back(cx);
        // The core clears its queues with the run.
        self.waiting(cx, PendingCounts::default());
        let heard = self.run.take().map(|listener| listener.run().clone());
        let run = run.map(Key::from).or(heard);
        if let Some(run) = run.as_deref() {
            self.prompts.retain(|(of, _)| of.as_deref() != Some(run));
            if std::mem::take(&mut self.late_prompt) {
                self.unprompted = Some(run.to_owned());
            }
        }
        cx.fact(Fact { run, said: Said::RunEnded(outcome) });
        self.cancelled = false;
    }

    fn turn_started(&mut self, cx: &mut UiCx<'_>) {
        self.echo = None;
        self.prompted = false;
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
        let message = payload.message_id.as_deref().map(passing);
        if payload.role.as_deref() != Some("user") {
            self.say_prompt(cx);
            return self.fact(cx, Said::MessageStarted { message, role: Role::Assistant });
        }
        // Another client's words are not on this wire: an empty message would claim that nothing was said.
        let Some(text) = self.next_said(cx) else { return };
        self.fact(cx, Said::MessageStarted { message: message.clone(), role: Role::User });
        self.fact(cx, Said::Text { message, kind: TextKind::Text, text });
    }

    /// Says what the person said, where the core has no event for it.
    fn say_prompt(&mut self, cx: &mut UiCx<'_>) {
        if self.prompted {
            return;
        }
        if let Some(text) = self.next_said(cx) {
            self.fact(cx, Said::MessageStarted { message: None, role: Role::User });
            self.fact(cx, Said::Text { message: None, kind: TextKind::Text, text });
            self.fact(cx, Said::MessageEnded { message: None, finish: Finish::Complete });
        }
    }

    /// What begins this turn; `None` when it is not of ours, which is noted.
    fn next_said(&mut self, cx: &mut UiCx<'_>) -> Option<String> {
        self.prompted = true;
        if self.turns > 1 {
            return self.next_queued(cx);
        }
        let run = self.run.as_ref().map(|listener| listener.run().clone())?;
        let of_run =
            |(named, _): &(Option<String>, String)| named.as_deref().is_none_or(|named| *named == *run);
        match self.prompts.iter().position(of_run) {
            Some(at) => self.prompts.remove(at).map(|(_, text)| text),
            None => {
                self.unprompted = Some(run.to_string());
                None
            }
        }
    }

    fn next_queued(&mut self, cx: &mut UiCx<'_>) -> Option<String> {
        let (kind, queue, mode) = if self.steers.is_empty() {
            (QueueKind::FollowUp, &mut self.follow_ups, self.follow_up_mode)
        } else {
            (QueueKind::Steer, &mut self.steers, self.steer_mode)
        };
        let taken: Vec<String> = match mode {
            Mode::OneAtATime => queue.pop_front().into_iter().collect(),
            Mode::All => queue.drain(..).collect(),
        };
        if taken.is_empty() {
            return None;
        }
        cx.fact(Fact::new(Said::Unqueued { kind, count: taken.len(), leaving: Leaving::Taken }));
        Some(taken.join("\n"))
    }

    fn text(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        self.say_prompt(cx);
        self.spoken = true;
        let text = payload.delta.unwrap_or_default();
        let echoed = self
            .echo
            .take()
            .is_some_and(|echo| text == echo.text || (echo.failed && text.starts_with(TOOL_ERROR)));
        if !echoed {
            let message = payload.message_id.as_deref().map(passing);
            self.fact(cx, Said::Text { message, kind: TextKind::Text, text });
        }
    }

    fn tool_started(&mut self, cx: &mut UiCx<'_>, payload: Payload) {
        let Some(tool) = payload.tool_call_id.map(Key::from) else { return };
        self.echo = None;
        self.say_prompt(cx);
        self.spoken = true;
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
            // Stopped with its run: the wire has no other word for that.
            "tool_execution_error" if self.cancelled => Some(ToolOutcome::Cancelled),
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
            // What waited of ours goes back to the person; that is word enough, and may come before the abort is answered.
            None if code == QUEUE_CLEARED && self.is_given_back() => self.give_back(cx),
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

fn keep<T>(texts: &mut VecDeque<T>, text: T) {
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
