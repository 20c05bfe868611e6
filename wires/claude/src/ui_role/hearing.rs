//! One run as it is heard: lines in, what was said in our words out.
//!
//! The program says each answer twice where it streams: in pieces, and whole when a block is over. Invariant: a text is said once.

use super::super::wire::{
    AssistantLine, Block, CompactMetadata, Content, Init, Retry, StreamEvent, StreamLine, Tokens, Told,
    ToldBlock, TurnResult, UserLine,
};
use super::{ASK_GRACE, CALL_RUNS, ClaudeUi, STOPPED};
use domain::command::{Receipt, Refusal, RefusalKind};
use domain::content::{Input, Json, Part, TextKind, Usage};
use domain::event::{Compaction, Failure, Finish, Outcome, PlanItem, PlanState, REFUSED, RetryKind, Trigger};
use domain::fact::{Fact, Key, Said};
use domain::ids::SessionId;
use domain::session::SessionSummary;
use domain::signal::Level;
use domain::tool::{Progress, ToolOutcome, ToolResult};
use rolekit::listener::Listener;
use roles::{Drift, UiCx};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the program writes where a command has nothing to say.
const NOTHING: &str = "(no content)";
/// Around what a command of its own wrote.
const STDOUT: (&str, &str) = ("<local-command-stdout>", "</local-command-stdout>");

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Proposed,
    Asked,
    Denied,
    Running,
}

/// A call without a result.
#[derive(Debug)]
pub(super) struct Call {
    name: String,
    args: Json,
    pub(super) phase: Phase,
}

/// A run under way.
#[derive(Debug)]
pub(super) struct Hearing {
    pub(super) listener: Listener<Call>,
    /// The person stopped it.
    pub(super) stopped: bool,
    /// The message that comes in pieces.
    streamed: Option<String>,
    /// What the model has read and written in its last response.
    tokens: Tokens,
    /// A summary is in place, whose words come next.
    compacts: Option<Compaction>,
    /// A summary was made: what stood before it and is kept is told again, by the names of the lines.
    repeated: BTreeSet<String>,
}

impl Hearing {
    fn new(listener: Listener<Call>) -> Hearing {
        Hearing {
            listener,
            stopped: false,
            streamed: None,
            tokens: Tokens::default(),
            compacts: None,
            repeated: BTreeSet::new(),
        }
    }

    /// A run for what the person said.
    pub(super) fn prompted(cx: &mut UiCx<'_>, key: Key, input: &Input) -> Hearing {
        Hearing::new(Listener::begin(cx, key, input))
    }

    fn block(&mut self, cx: &mut UiCx<'_>, block: Block, streamed: bool) {
        match (block.kind.as_str(), block.text, block.thinking) {
            ("text", Some(text), _) if !streamed && text != NOTHING => {
                self.listener.text(cx, TextKind::Text, text);
            }
            ("thinking", _, Some(text)) if !streamed => self.listener.text(cx, TextKind::Thought, text),
            (kind, ..) if kind.ends_with("tool_use") => {
                let Some(key) = block.id.map(Key::from) else { return };
                let name = block.name.unwrap_or_else(|| "tool".to_owned());
                self.call(cx, key, name, block.input.unwrap_or_else(Json::empty));
            }
            _ => {}
        }
    }

    fn call(&mut self, cx: &mut UiCx<'_>, key: Key, name: String, args: Json) {
        if self.listener.noted(&key).is_some() || self.listener.has_ended(&key) {
            return;
        }
        if let Some(plan) = plan_of(&name, &args) {
            self.listener.say(cx, Said::Plan(plan));
        }
        let call = Call { name: name.clone(), args: args.clone(), phase: Phase::Proposed };
        self.listener.call(cx, key, name, args, call);
        cx.timer(CALL_RUNS, ASK_GRACE);
    }

    /// No question came: the calls that wait for none run.
    pub(super) fn quiet_calls_run(&mut self, cx: &mut UiCx<'_>) {
        let quiet = self.listener.open().filter(|(_, call)| call.phase == Phase::Proposed);
        for key in quiet.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.start(cx, &key);
        }
    }

    /// A call runs from here on.
    pub(super) fn start(&mut self, cx: &mut UiCx<'_>, key: &Key) {
        let Some(call) = self.listener.noted(key).filter(|call| call.phase != Phase::Running) else { return };
        call.phase = Phase::Running;
        let (name, args) = (Some(call.name.clone()), Some(call.args.clone()));
        self.listener.say(cx, Said::ToolStarted { tool: key.clone(), name, args });
    }

    /// What an agent below a call says, as the call's output.
    fn below(&mut self, cx: &mut UiCx<'_>, call: &Key, blocks: Vec<Block>) {
        self.start(cx, call);
        if self.listener.noted(call).is_none() {
            return;
        }
        for block in blocks {
            let line = match (block.text, block.name) {
                (Some(text), _) => text,
                (None, Some(name)) => {
                    let args = block.input.unwrap_or_else(Json::empty);
                    format!("{name} {}", args.as_str())
                }
                (None, None) => continue,
            };
            let progress = Progress::Output(format!("{line}\n"));
            self.listener.say(cx, Said::ToolProgress { tool: call.clone(), progress });
        }
    }

    fn result(&mut self, cx: &mut UiCx<'_>, block: ToldBlock, kept: Option<&Value>) {
        let Some(key) = block.tool_use_id.map(Key::from) else { return };
        let denied = self.listener.noted(&key).is_some_and(|call| call.phase == Phase::Denied);
        let outcome = match block.is_error.unwrap_or_default() {
            true if denied => ToolOutcome::Denied,
            true if self.stopped => ToolOutcome::Cancelled,
            true => ToolOutcome::Failed,
            false => ToolOutcome::Done,
        };
        if outcome == ToolOutcome::Done {
            self.start(cx, &key);
        }
        let (text, mut parts) = read_content(block.content);
        parts.extend(kept.and_then(diff_of));
        self.listener.result(cx, &key, outcome, ToolResult { parts, ..ToolResult::text(text) });
    }

    fn compaction_over(&mut self, cx: &mut UiCx<'_>, summary: String) {
        if let Some(compaction) = self.compacts.take() {
            self.listener.say(cx, Said::Compacted(Compaction { summary, ..compaction }));
        }
    }
}

/// The lines of a list of things to do, where a call writes one.
fn plan_of(tool: &str, args: &Json) -> Option<Vec<PlanItem>> {
    if tool != "TodoWrite" {
        return None;
    }
    let args: Value = serde_json::from_str(args.as_str()).ok()?;
    let item = |todo: &Value| {
        let state = match todo.get("status").and_then(Value::as_str) {
            Some("completed") => PlanState::Done,
            Some("in_progress") => PlanState::Active,
            _ => PlanState::Pending,
        };
        Some(PlanItem { text: todo.get("content")?.as_str()?.to_owned(), state })
    };
    Some(args.get("todos")?.as_array()?.iter().filter_map(item).collect())
}

/// The text of a result, and its pictures.
fn read_content(content: Option<Content>) -> (String, Vec<Part>) {
    let blocks = match content {
        None => return (String::new(), Vec::new()),
        Some(Content::Text(text)) => return (text, Vec::new()),
        Some(Content::Blocks(blocks)) => blocks,
    };
    let (mut texts, mut parts) = (Vec::new(), Vec::new());
    for block in blocks {
        match (block.text, block.source) {
            (Some(text), _) => texts.push(text),
            (None, Some(source)) if source.kind == "base64" => {
                parts.push(Part::Image { mime: source.media_type, base64: source.data.into() });
            }
            _ => {}
        }
    }
    (texts.join("\n"), parts)
}

/// What changed in a file, as the program keeps it.
fn diff_of(kept: &Value) -> Option<Part> {
    let path = kept.get("filePath")?.as_str()?;
    let hunks = kept.get("structuredPatch")?.as_array().filter(|hunks| !hunks.is_empty())?;
    let mut text = format!("--- {path}\n+++ {path}\n");
    for hunk in hunks {
        let number = |name: &str| hunk.get(name).and_then(Value::as_u64).unwrap_or_default();
        let [old, olds, new, news] = ["oldStart", "oldLines", "newStart", "newLines"].map(number);
        text.push_str(&format!("@@ -{old},{olds} +{new},{news} @@\n"));
        for line in
            hunk.get("lines").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
        {
            text.push_str(line);
            text.push('\n');
        }
    }
    Some(Part::Diff { text, path: Some(path.to_owned()) })
}

impl ClaudeUi {
    /// The run that something is heard of: the prompt's, or what the program does by itself.
    pub(super) fn hearing(&mut self, cx: &mut UiCx<'_>) -> &mut Hearing {
        let run = self.run.take().unwrap_or_else(|| {
            self.runs += 1;
            let key = Key::from(format!("own-{}", self.runs));
            cx.fact(Fact::of(key.clone(), Said::RunStarted));
            Hearing::new(Listener::new(key))
        });
        self.run.insert(run)
    }

    /// A turn begins: how the session is set now.
    pub(super) fn began(&mut self, cx: &mut UiCx<'_>, init: Init) {
        self.session = Some(init.session_id.into());
        self.version = init.claude_code_version;
        self.options.learn_names(init.slash_commands);
        if let Some(mode) = init.permission_mode {
            self.learn_mode(cx, mode);
        }
        self.learn_model(cx, &init.model);
    }

    /// Words that already came in pieces, and lines repeated after a summary, are not told twice. It may begin a run by itself.
    pub(super) fn assistant(&mut self, cx: &mut UiCx<'_>, line: AssistantLine) {
        if self.clearing.is_some() {
            return;
        }
        let AssistantLine { message, parent_tool_use_id, error, uuid } = line;
        if let Some(call) = parent_tool_use_id {
            if let Some(run) = &mut self.run {
                run.below(cx, &Key::from(call), message.content);
            }
            return;
        }
        // A failure is told with the end of the run.
        if error.is_some() {
            return;
        }
        if self.run.as_ref().is_some_and(|run| run.repeated.contains(&uuid)) {
            return;
        }
        let run = self.hearing(cx);
        let streamed = !message.id.is_empty() && run.streamed.as_ref() == Some(&message.id);
        if let Some(tokens) = message.usage.filter(|_| !streamed) {
            run.tokens = tokens;
        }
        for block in message.content {
            run.block(cx, block, streamed);
        }
    }

    /// Pieces of what the model says, as they come. Those of an agent below a call are passed over: its whole lines follow.
    pub(super) fn streamed(&mut self, cx: &mut UiCx<'_>, line: StreamLine) {
        if line.parent_tool_use_id.is_some() || self.clearing.is_some() {
            return;
        }
        match line.event {
            StreamEvent::MessageStart { message } => {
                let run = self.hearing(cx);
                run.streamed = Some(message.id);
                run.tokens = message.usage.unwrap_or_default();
            }
            StreamEvent::ContentBlockDelta { delta } => {
                let run = self.hearing(cx);
                match (delta.text, delta.thinking) {
                    (Some(text), _) => run.listener.text(cx, TextKind::Text, text),
                    (None, Some(text)) => run.listener.text(cx, TextKind::Thought, text),
                    (None, None) => {}
                }
            }
            StreamEvent::MessageDelta { usage: Some(tokens) } => {
                self.hearing(cx).tokens.output_tokens = tokens.output_tokens;
            }
            StreamEvent::MessageDelta { usage: None } | StreamEvent::Other => {}
        }
    }

    /// What goes to the model: results of calls are news, the rest is said elsewhere or was written by the program.
    pub(super) fn user(&mut self, cx: &mut UiCx<'_>, line: UserLine) {
        let Some(run) = self.run.as_mut().filter(|_| line.parent_tool_use_id.is_none()) else { return };
        match line.message.content {
            Content::Text(text) if run.compacts.is_some() => run.compaction_over(cx, text),
            Content::Text(text) => {
                let inside = text.strip_prefix(STDOUT.0).and_then(|text| text.strip_suffix(STDOUT.1));
                if let Some(text) = inside.map(str::trim).filter(|text| !text.is_empty()) {
                    let text = text.to_owned();
                    run.listener
                        .say(cx, Said::Notice { level: Level::Info, code: "command".to_owned(), text });
                }
            }
            Content::Blocks(blocks) => {
                for block in blocks.into_iter().filter(|block| block.kind == "tool_result") {
                    run.result(cx, block, line.tool_use_result.as_ref());
                }
            }
        }
    }

    /// The conversation was summed up. It is told only when the words of the summary come, or when the run ends without them.
    pub(super) fn compacted(&mut self, cx: &mut UiCx<'_>, metadata: CompactMetadata) {
        let manual = metadata.trigger == "manual";
        let run = self.hearing(cx);
        run.repeated = metadata.preserved_messages.all_uuids;
        run.compacts = Some(Compaction {
            summary: String::new(),
            first_kept: None,
            tokens_before: metadata.pre_tokens,
            trigger: if manual { Trigger::Manual } else { Trigger::Threshold },
            unexplained: false,
            usage: Usage::default(),
        });
    }

    /// The model could not be asked, and the program tries again by itself: nothing is to be done, the person only sees why.
    pub(super) fn retrying(&mut self, cx: &mut UiCx<'_>, retry: &Retry) {
        let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        let kind = match retry.error_status {
            Some(429) => RetryKind::RateLimit,
            Some(529) => RetryKind::Overloaded,
            Some(408 | 504) => RetryKind::Timeout,
            Some(_) => RetryKind::Provider,
            None => RetryKind::Network,
        };
        let reason = match (&retry.error, retry.error_status) {
            (Value::String(word), Some(status)) => format!("{word} ({status})"),
            (Value::String(word), None) => word.clone(),
            (_, Some(status)) => format!("status {status}"),
            (_, None) => "no answer".to_owned(),
        };
        let said = Said::Retrying {
            attempt: number(retry.attempt),
            max: number(retry.max_retries),
            delay_ms: retry.retry_delay_ms,
            reason,
            kind: Some(kind),
        };
        self.say(cx, said);
    }

    /// Shown as a notice. Without any words the subtype is shown in their place; a level that we do not know is plain information.
    pub(super) fn told(&self, cx: &mut UiCx<'_>, told: Told) {
        let level = match told.level.as_deref() {
            Some("warning") => Level::Warning,
            Some("error") => Level::Error,
            _ => Level::Info,
        };
        let text = told.content.or(told.text).unwrap_or_else(|| told.subtype.replace('_', " "));
        self.say(cx, Said::Notice { level, code: told.subtype, text });
    }

    /// A turn is over, and with it the run.
    pub(super) fn result(&mut self, cx: &mut UiCx<'_>, result: TurnResult) {
        if !result.session_id.is_empty() {
            self.session = Some(result.session_id.as_str().into());
        }
        if let Some(ticket) = self.clearing.take() {
            let with = if result.is_error { Err(refused(&result)) } else { Ok(self.new_session(&result)) };
            return cx.settle(ticket, with);
        }
        let usage = self.usage(&result);
        let window = result.model_usage.values().map(|used| used.context_window).max().unwrap_or_default();
        let Some(run) = &mut self.run else {
            return cx.drift(Drift::new("result", "the end of nothing that was heard", &result.subtype));
        };
        run.compaction_over(cx, String::new());
        if usage != Usage::default() {
            run.listener.step_over(cx, usage);
        }
        let used = all_input(&run.tokens) + run.tokens.output_tokens;
        if used > 0 && window > 0 {
            run.listener.say(cx, Said::Context { used, window });
        }
        if result.stop_reason.as_deref() == Some("max_tokens") {
            run.listener.say(cx, Said::MessageEnded { message: None, finish: Finish::Length });
        }
        let aborted = result.terminal_reason.as_deref().is_some_and(|why| why.starts_with("aborted"));
        let outcome = if run.stopped || aborted { Outcome::Cancelled } else { outcome_of(&result) };
        self.end_run(cx, outcome);
    }

    /// What the turn used. Its cost is told for the whole process.
    fn usage(&mut self, result: &TurnResult) -> Usage {
        let dollars = result.total_cost_usd;
        let so_far = if dollars.is_finite() && dollars > 0.0 { (dollars * 1e6).round() as u64 } else { 0 };
        let cost_micros = so_far.saturating_sub(self.counted);
        self.counted = so_far.max(self.counted);
        Usage {
            input: all_input(&result.usage),
            output: result.usage.output_tokens,
            cache_read: result.usage.cache_read_input_tokens,
            cache_write: result.usage.cache_creation_input_tokens,
            cost_micros,
            rough: false,
        }
    }

    /// Ends what is being heard, and what was asked about it.
    pub(super) fn end_run(&mut self, cx: &mut UiCx<'_>, outcome: Outcome) {
        let Some(run) = self.run.take() else { return };
        cx.cancel_timer(STOPPED);
        cx.cancel_timer(CALL_RUNS);
        self.asks.clear();
        run.listener.end(cx, outcome);
    }

    fn new_session(&self, result: &TurnResult) -> Receipt {
        let name: Arc<str> = result.session_id.as_str().into();
        let session = SessionSummary {
            title: name.to_string(),
            cwd: self.cwd.clone(),
            project: self.cwd.clone(),
            ..SessionSummary::new(SessionId::of_peer(&name))
        };
        Receipt::Session { session, parent: None }
    }
}

fn all_input(tokens: &Tokens) -> u64 {
    tokens.input_tokens + tokens.cache_creation_input_tokens + tokens.cache_read_input_tokens
}

/// Why a turn was none.
fn words_of(result: &TurnResult) -> String {
    let said = result.result.clone().filter(|text| !text.is_empty());
    let errors = Some(result.errors.join("; ")).filter(|text| !text.is_empty());
    said.or(errors).unwrap_or_else(|| result.subtype.replace('_', " "))
}

fn refused(result: &TurnResult) -> Refusal {
    Refusal::new(RefusalKind::Internal, words_of(result))
}

fn outcome_of(result: &TurnResult) -> Outcome {
    if result.stop_reason.as_deref() == Some("refusal") {
        return Outcome::Failed(Failure::new(REFUSED, words_of(result)));
    }
    if !result.is_error && result.subtype == "success" {
        return Outcome::Done;
    }
    let code = match result.api_error_status {
        Some(status) => format!("http_{status}"),
        None if result.subtype == "success" => "claude".to_owned(),
        None => result.subtype.clone(),
    };
    Outcome::Failed(Failure::new(code, words_of(result)))
}
