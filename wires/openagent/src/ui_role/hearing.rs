//! What one query says, as facts: stream, tools, questions, and its end.
//!
//! The existing backend ends the stream before its question is answered; so a query that ended well stays open while an answer is out.
//! Invariants: a tool run that has ended is not heard of again; nothing is said after [`Hearing::end`].

use super::super::runtime_role::{BREAK, SHELLS};
use super::super::wire::notify::{
    Annotation, BlockParams, Complete, Piece, Preview as WirePreview, Progress as WireProgress,
    RequestApproval, StreamFault, Thinking, Token, Tokens, ToolComplete, ToolResult as WireToolResult,
};
use super::super::wire::{ApproveResult, code};
use domain::ask::{Assessment, Preview, Risk};
use domain::content::{Input, Json, Part, TextKind, Usage};
use domain::event::{Failure, Finish, Outcome};
use domain::fact::{FactAsk, Key, Said};
use domain::ids::Millis;
use domain::signal::{Level, Signal};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use rolekit::listener::Listener;
use rolekit::said::DescribedCall;
use roles::{Drift, UiCx};
use serde_json::value::RawValue;

/// Most bytes of diffs that wait for the results they belong to; one more stands in the message instead.
const MAX_DIFFS: usize = 4 * 1024 * 1024;

/// Where a tool run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// The person is asked.
    Asked,
    /// The answer is on its way to the backend.
    Answered,
    /// The backend took the yes, or never asked.
    Free,
    /// The backend took the no.
    Rejected,
}

#[derive(Debug)]
struct HeardTool {
    stands: Stands,
    /// It runs: a question of it is about more than itself, and it goes on whatever is said.
    runs: bool,
    takes_reason: bool,
    /// Diffs that came as blocks of this tool run.
    diffs: Vec<Part>,
}

/// A query under way.
#[derive(Debug)]
pub(super) struct Hearing {
    listener: Listener<HeardTool>,
    /// The existing backend says it.
    existing: bool,
    /// What the last error block said.
    last_error: Option<String>,
    outcome: Option<Outcome>,
    usage: Usage,
    working: bool,
}

impl Hearing {
    pub(super) fn new(key: Key, existing: bool) -> Hearing {
        let usage = Usage::default();
        let listener = Listener::new(key);
        Hearing { listener, existing, last_error: None, outcome: None, usage, working: false }
    }

    /// Its name on the wire.
    pub(super) fn key(&self) -> &Key {
        self.listener.run()
    }

    /// Says something of this query.
    pub(super) fn say(&self, cx: &mut UiCx<'_>, said: Said) {
        self.listener.say(cx, said);
    }

    /// What the person asked.
    pub(super) fn prompt(&self, cx: &mut UiCx<'_>, input: &Input) {
        self.listener.input(cx, input);
    }

    /// Whether it ended, and nothing that it asked is open.
    pub(super) fn is_over(&self) -> bool {
        let open = |tool: &HeardTool| matches!(tool.stands, Stands::Asked | Stands::Answered);
        match &self.outcome {
            Some(Outcome::Done) => !self.listener.open().any(|(_, tool)| open(tool)),
            Some(_) => true,
            None => false,
        }
    }

    /// Ends the run.
    pub(super) fn end(mut self, cx: &mut UiCx<'_>) {
        let outcome = self.outcome.take().unwrap_or(Outcome::Done);
        if self.working {
            cx.signal(Signal::Working(None));
        }
        for id in self.standing(Stands::Rejected) {
            self.tool_ended(cx, &id, ToolOutcome::Denied, ToolResult::text("The person said no."));
        }
        if self.usage != Usage::default() {
            self.say(cx, Said::StepEnded(self.usage));
        }
        self.listener.end(cx, outcome);
    }

    /// The tool runs that stand so.
    fn standing(&self, stands: Stands) -> Vec<Key> {
        let open = self.listener.open().filter(|(_, tool)| tool.stands == stands);
        open.map(|(id, _)| id.clone()).collect()
    }

    /// Stops it from our side, whatever the backend does.
    pub(super) fn stop(&mut self) -> Vec<Key> {
        self.outcome = Some(Outcome::Cancelled);
        self.standing(Stands::Asked)
    }

    /// A piece of text came.
    pub(super) fn token(&mut self, cx: &mut UiCx<'_>, token: Token) {
        if token.metadata.is_some_and(|metadata| metadata.kind == BREAK) {
            return self.say(cx, Said::MessageEnded { message: None, finish: Finish::Complete });
        }
        self.text(cx, token.token.or(token.content).unwrap_or_default());
    }

    /// Several pieces came in one line.
    pub(super) fn tokens(&mut self, cx: &mut UiCx<'_>, tokens: Tokens) {
        for Piece { token, .. } in tokens.tokens {
            self.text(cx, token);
        }
    }

    fn text(&mut self, cx: &mut UiCx<'_>, text: String) {
        self.say(cx, Said::Text { message: None, kind: TextKind::Text, text });
    }

    /// Something came that is no running text: code, a diff, output of a tool, an error.
    pub(super) fn block(&mut self, cx: &mut UiCx<'_>, params: BlockParams, raw: &str) {
        let mut block = params.block.unwrap_or_default();
        if block.kind.is_empty() {
            block.kind = params.kind.unwrap_or_default();
            block.content = params.content.unwrap_or_default();
            block.language = params.language;
        }
        let metadata = block.metadata;
        let mut said_about = String::new();
        let part = match block.kind.as_str() {
            "text" if metadata.level.is_none() => return self.text(cx, block.content),
            "text" | "error" => {
                let level = match metadata.level.as_deref() {
                    Some("warning") => Level::Warning,
                    Some("success") => Level::Success,
                    Some("info") => Level::Info,
                    _ => Level::Error,
                };
                let code = metadata.code.unwrap_or_else(|| "backend".to_owned());
                // Ours are told as they are; others end theirs with a line break, which would stand as a line of its own.
                let ours = metadata.level.is_some();
                let text = if ours { block.content } else { block.content.trim().to_owned() };
                if level == Level::Error {
                    self.last_error = Some(text.clone());
                }
                // It stands between what was said before and what comes after.
                self.say(cx, Said::MessageEnded { message: None, finish: Finish::Complete });
                return self.say(cx, Said::Notice { level, code, text });
            }
            "code" => {
                let path = match (metadata.file, metadata.lines) {
                    (Some(file), Some(lines)) => Some(format!("{file}:{lines}")),
                    (file, lines) => file.or(lines.map(|lines| format!("lines {lines}"))),
                };
                let shell = block.language.as_deref().is_some_and(|language| SHELLS.contains(&language));
                said_about = about(&block.annotations, metadata.executable && !shell);
                Part::Code { language: block.language, text: block.content, path }
            }
            "diff" => {
                let part = Part::Diff { path: metadata.file, text: block.content };
                let diffs = self.listener.open().flat_map(|(_, tool)| &tool.diffs);
                let waiting: usize = diffs.map(Part::weight).sum();
                let tool = metadata.execution_id.and_then(|id| self.listener.noted(&id));
                match tool.filter(|_| waiting + part.weight() <= MAX_DIFFS) {
                    Some(tool) => return tool.diffs.push(part),
                    None => part,
                }
            }
            // The same stands in `tool.complete`.
            "tool_output" if metadata.execution_id.is_some() => return,
            "tool_output" => Part::Code { language: None, text: block.content, path: None },
            kind => {
                if kind != "interactive" {
                    cx.drift(Drift::new("stream.block", format!("a block of type {kind:?}"), raw));
                }
                let json = serde_json::Value::from(block.content).to_string();
                Part::Opaque { kind: kind.to_owned(), json: Json::verbatim(json) }
            }
        };
        self.say(cx, Said::Part { message: None, part });
        if !said_about.is_empty() {
            self.text(cx, said_about);
        }
    }

    /// The backend says what it is at.
    pub(super) fn thinking(&mut self, cx: &mut UiCx<'_>, thinking: Thinking) {
        if let Some(text) = thinking.thought {
            return self.say(cx, Said::Text { message: None, kind: TextKind::Thought, text });
        }
        let words = if thinking.message.is_empty() { thinking.phase } else { thinking.message };
        self.working = true;
        cx.signal(Signal::Working(Some(words)));
    }

    /// The query broke, and is over with that.
    pub(super) fn error(&mut self, error: StreamFault) {
        let cancelled = error.code == code::CANCELLED;
        let failure = lift_fault(error);
        self.outcome = Some(if cancelled { Outcome::Cancelled } else { Outcome::Failed(failure) });
    }

    /// The query is over.
    pub(super) fn complete(&mut self, cx: &mut UiCx<'_>, complete: Complete) {
        let failure = |hearing: &mut Hearing, code: &str| {
            let said = complete.error.clone().or_else(|| hearing.last_error.take());
            let words = said.unwrap_or_else(|| "the backend gave no reason".to_owned());
            Outcome::Failed(Failure::new(code, words))
        };
        let outcome = match complete.status.as_str() {
            "cancelled" => Outcome::Cancelled,
            "error" => failure(self, "agent_error"),
            "timeout" => failure(self, "timeout"),
            "success" => Outcome::Done,
            other => {
                cx.drift(Drift::new("stream.complete", format!("status {other:?}"), ""));
                Outcome::Done
            }
        };
        self.outcome = Some(outcome);
        if let Some(metadata) = complete.metadata {
            // A sum alone says nothing of what was read and what was written.
            let (input, output) = (metadata.input_tokens.unwrap_or(0), metadata.output_tokens.unwrap_or(0));
            self.usage = Usage { input, output, ..Usage::default() };
        }
    }

    fn tool(&mut self, id: &str) -> Option<&mut HeardTool> {
        if self.listener.has_ended(id) {
            return None;
        }
        let fresh =
            || HeardTool { stands: Stands::Free, runs: false, takes_reason: false, diffs: Vec::new() };
        self.listener.note(&Key::from(id), fresh)
    }

    /// The backend asks whether a tool may run.
    pub(super) fn approval(&mut self, cx: &mut UiCx<'_>, request: RequestApproval, now: Millis) {
        let id = request.execution_id;
        let may_ask = |tool: &mut HeardTool| tool.runs && tool.stands == Stands::Free;
        if self.knows(&id) && !self.listener.noted(&id).is_some_and(may_ask) {
            return cx.drift(Drift::new("tool.request_approval", "asked twice", &id));
        }
        let (by_the_book, ours) = (request.tool.is_some(), request.takes_reason.is_some());
        let tool = request.tool.unwrap_or_default();
        let name = if tool.name.is_empty() { request.tool_name.unwrap_or_default() } else { tool.name };
        let title = request.description.unwrap_or(tool.description);
        let level = request.risk_assessment.as_ref().map(|risk| risk.level.clone()).or(request.risk_level);
        let told = lift_risk(cx, level.as_deref());
        // Better asked twice than run; that it cannot be undone is said only where the backend does.
        let (risk, unrated) = (told.unwrap_or(Risk::High), told.is_none());
        let (reasons, reversible) =
            request.risk_assessment.map_or((Vec::new(), None), |told| (told.reasons, told.reversible));
        let reversible = reversible.unwrap_or(true);
        let rule = match request.rule {
            // The document lets every choice be remembered; ours says which can.
            None if by_the_book && !ours => {
                Some(format!("every further use of {name}, as the backend remembers it"))
            }
            rule => rule,
        };
        let Some(noted) = self.tool(&id) else { return };
        noted.stands = Stands::Asked;
        noted.takes_reason = request.takes_reason.unwrap_or(false);
        let takes_reason = noted.takes_reason;
        let args = request.arguments.map_or_else(Json::empty, |raw| Json::verbatim(raw.get()));
        let preview = request.preview.and_then(lift_preview);
        // A backend of ours shows what is to be seen; of another one all is shown that it said of the call.
        let (preview, beside) = match preview {
            Some(preview) if !ours => DescribedCall::with_preview(&title, preview, &args).shown(),
            preview => (preview, Vec::new()),
        };
        let reasons = reasons.into_iter().chain(beside).collect();
        let kind = FactAsk::Consent {
            tool: Some(Key::from(id.as_str())),
            name,
            args,
            preview,
            assessment: Assessment { risk, reasons, reversible, unrated },
            rule,
            takes_reason,
        };
        let deadline =
            request.timeout.map(|seconds| Millis(now.0.saturating_add(seconds.saturating_mul(1000))));
        self.say(cx, Said::AskOpened { ask: Key::from(id.as_str()), title, kind, deadline });
    }

    /// The person answered: whether a reason may go along. `None` when the question is not open.
    pub(super) fn answered(&mut self, id: &str) -> Option<bool> {
        let tool = self.listener.noted(id).filter(|tool| tool.stands == Stands::Asked)?;
        tool.stands = Stands::Answered;
        Some(tool.takes_reason)
    }

    /// What the backend said to the answer.
    pub(super) fn approved(
        &mut self,
        cx: &mut UiCx<'_>,
        id: &str,
        allowed: bool,
        said: Result<ApproveResult, String>,
    ) {
        let Some(tool) = self.listener.noted(id).filter(|tool| tool.stands == Stands::Answered) else {
            return;
        };
        if tool.runs {
            tool.stands = Stands::Free;
            return;
        }
        let result = match said {
            Ok(result) => result,
            Err(why) => return self.tool_ended(cx, id, ToolOutcome::Failed, ToolResult::text(why)),
        };
        match result.status.as_str() {
            "executed" => {
                let (done, text) = lift_result(result.result.as_deref());
                let outcome = if done { ToolOutcome::Done } else { ToolOutcome::Failed };
                self.say(cx, Said::ToolStarted { tool: Key::from(id), name: None, args: None });
                self.tool_ended(cx, id, outcome, ToolResult::text(text));
            }
            "rejected" if self.existing => {
                let text = result.message.unwrap_or_else(|| "The person said no.".to_owned());
                self.tool_ended(cx, id, ToolOutcome::Denied, ToolResult::text(text));
            }
            "rejected" => tool.stands = Stands::Rejected,
            "error" => {
                let text = result.error.unwrap_or_else(|| "the backend gave no reason".to_owned());
                self.tool_ended(cx, id, ToolOutcome::Failed, ToolResult::text(text));
            }
            _ if allowed => tool.stands = Stands::Free,
            _ => tool.stands = Stands::Rejected,
        }
    }

    /// A tool is under way.
    pub(super) fn progress(&mut self, cx: &mut UiCx<'_>, progress: WireProgress) {
        let id = progress.execution_id;
        let Some(tool) = self.tool(&id) else { return };
        if tool.stands == Stands::Rejected {
            return;
        }
        if !tool.runs {
            tool.stands = Stands::Free;
        }
        tool.runs = true;
        let key = Key::from(id.as_str());
        if let Some(tool) = progress.tool {
            let args = progress.arguments.map_or_else(Json::empty, |raw| Json::verbatim(raw.get()));
            self.say(cx, Said::ToolProposed { tool: key.clone(), name: tool.name, args });
        }
        let state = progress.progress;
        let progress = match state.output {
            _ if state.status == "started" => {
                return self.say(cx, Said::ToolStarted { tool: key, name: None, args: None });
            }
            Some(text) => Progress::Output(text),
            None => {
                let known = state.percentage.filter(|_| !state.indeterminate);
                let percent = known.map(|percent| percent.clamp(0.0, 100.0) as u8);
                Progress::Status { percent, message: state.message }
            }
        };
        self.say(cx, Said::ToolProgress { tool: key, progress });
    }

    /// A tool is over.
    pub(super) fn tool_complete(&mut self, cx: &mut UiCx<'_>, complete: ToolComplete) {
        let id = complete.execution_id;
        let known = self.knows(&id);
        if self.tool(&id).is_none() {
            return;
        }
        if let Some(name) = complete.tool_name.filter(|_| !known) {
            self.say(cx, Said::ToolProposed { tool: Key::from(id.as_str()), name, args: Json::empty() });
        }
        let outcome = match complete.status.as_str() {
            "success" => ToolOutcome::Done,
            "rejected" | "timeout" | "denied" => ToolOutcome::Denied,
            "skipped" => ToolOutcome::Skipped,
            "cancelled" => ToolOutcome::Cancelled,
            "unknown" => ToolOutcome::Unknown,
            _ => ToolOutcome::Failed,
        };
        let result = ToolResult {
            text: complete.result.output,
            truncated: complete.result.truncated,
            ..ToolResult::default()
        };
        self.tool_ended(cx, &id, outcome, result);
    }

    /// The existing backend's word for a tool that needed no approval.
    pub(super) fn tool_result(&mut self, cx: &mut UiCx<'_>, result: &WireToolResult) {
        if self.tool(&result.execution_id).is_some() {
            let (done, text) = lift_result(result.result.as_deref());
            let outcome =
                if done && result.status != "error" { ToolOutcome::Done } else { ToolOutcome::Failed };
            self.tool_ended(cx, &result.execution_id, outcome, ToolResult::text(text));
        }
    }

    fn tool_ended(&mut self, cx: &mut UiCx<'_>, id: &str, outcome: ToolOutcome, mut result: ToolResult) {
        if let Some(tool) = self.listener.noted(id) {
            result.parts = std::mem::take(&mut tool.diffs);
        }
        self.listener.result(cx, &Key::from(id), outcome, result);
    }

    fn knows(&mut self, id: &str) -> bool {
        self.listener.has_ended(id) || self.listener.noted(id).is_some()
    }
}

/// What a backend notes about a block, as text below it.
fn about(annotations: &[Annotation], executable: bool) -> String {
    let mut text = String::new();
    for Annotation { line, kind, message } in annotations {
        let kind = if kind.is_empty() { "note" } else { kind };
        text.push_str(&format!("\n- line {line}, {kind}: {message}"));
    }
    if executable {
        text.push_str("\n- it can be run as it stands");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

/// How dangerous the backend says it is; `None` where it says nothing that is known.
fn lift_risk(cx: &mut UiCx<'_>, level: Option<&str>) -> Option<Risk> {
    match level {
        Some("low") => Some(Risk::Low),
        Some("medium") => Some(Risk::Medium),
        Some("high") => Some(Risk::High),
        Some("critical") => Some(Risk::Critical),
        Some("") | None => None,
        other => {
            cx.drift(Drift::new("tool.request_approval", format!("risk level {other:?}"), ""));
            None
        }
    }
}

fn lift_preview(preview: WirePreview) -> Option<Preview> {
    match preview {
        WirePreview::Text(text) => (!text.is_empty()).then_some(Preview::Text(text)),
        WirePreview::Object { kind, content, file } => Some(match kind.as_str() {
            "diff" => Preview::Diff { path: file.unwrap_or_default(), text: content },
            "command" => Preview::Command { line: content, inner: Vec::new() },
            _ => Preview::Text(content),
        }),
    }
}

fn lift_fault(error: StreamFault) -> Failure {
    let name = match error.code {
        code::MODEL => "model_error",
        code::TOOL => "tool_error",
        code::TIMEOUT => "timeout",
        code::CANCELLED => "cancelled",
        code::DENIED => "permission_denied",
        _ => "agent_error",
    };
    let failure = Failure::new(name, error.message);
    match error.details.filter(|details| !details.is_empty()) {
        Some(details) => failure.hint(details),
        None => failure,
    }
}

/// Whether it went well, and what to read: the existing backend's results are objects of any shape.
fn lift_result(raw: Option<&RawValue>) -> (bool, String) {
    let raw = raw.map_or("null", RawValue::get);
    let Ok(serde_json::Value::Object(object)) = serde_json::from_str::<serde_json::Value>(raw) else {
        let text = serde_json::from_str::<String>(raw).unwrap_or_else(|_| raw.to_owned());
        return (true, text);
    };
    let done = object.get("success").and_then(serde_json::Value::as_bool).unwrap_or(true);
    let word = |name: &str| object.get(name).and_then(|value| value.as_str()).filter(|text| !text.is_empty());
    let words: Vec<&str> = ["error", "message", "output", "content", "stdout", "stderr", "note"]
        .iter()
        .filter_map(|n| word(n))
        .collect();
    (done, if words.is_empty() { raw.to_owned() } else { words.join("\n") })
}
