//! One step: a model response as it streams, then its tool calls.

use super::{Progress, Turn, Waits};
use crate::briefing::Told;
use crate::cache_meter::RequestPrint;
use crate::chat;
use crate::context::Context;
use crate::usage::counted;
use domain::content::{Json, KEPT, Part, Role, TextKind};
use domain::event::{
    Body, CACHE_LOST, ContextEvent, EMPTY_ANSWER, Failure, Finish, MessageEvent, RetryKind, RunEvent,
    ToolEvent,
};
use domain::ids::{EntryId, MessageId, StepId, ToolRunId};
use domain::port::{OpenConsent, Resume, TurnEnd};
use domain::signal::Level;
use domain::tool::{ToolOutcome, ToolResult};
use models::{
    ChatMessage, Delta, ErrorKind, Model, ModelError, OpaquePart, Reply, StopReason, ToolArgs, ToolCall,
};
use std::time::SystemTime;
use tokio::time::Instant;
use tools::{CallArgs, Outcome, Toolbox};

/// Whether the turn goes on.
pub(super) enum StepEnd {
    /// The model must be asked again.
    Again,
    /// The conversation does not fit; nothing was said yet.
    TooLong(ModelError),
    /// The model could not answer.
    Failed(ModelError),
    /// The model has nothing more to do; its last words.
    Said(String),
    /// The turn is over.
    End(TurnEnd),
}

/// A tool call with the id it has in the record.
pub(super) struct Call {
    pub(super) id: ToolRunId,
    pub(super) call: ToolCall,
    /// The answer's limit was reached in the middle of its arguments.
    pub(super) cut: bool,
    /// Why it cannot be taken for a call of any tool, and what to write instead.
    pub(super) unclear: Option<String>,
}

/// What became of the calls of a step.
pub(super) struct CallOutcomes {
    pub(super) outcomes: Vec<(ToolRunId, Outcome)>,
    /// A denial without a reason: the person wants to speak first.
    pub(super) stop: bool,
}

struct ReplyStream {
    /// The step under way: each attempt that said something is one of its own.
    step: StepId,
    reply: Reply,
    calls: Vec<Call>,
    message: Option<MessageId>,
    /// What the model is told beside the conversation; kept with what it says.
    told: Told,
    asked: RequestPrint,
    error: Option<ModelError>,
}

impl Turn {
    /// Streams one response of the model and performs the tool calls in it. `spare`: another model is there to go on.
    pub(super) async fn step(&self, model: &dyn Model, spare: bool, progress: &mut Progress) -> StepEnd {
        let first = self.start_step(model).await;
        let mut streamed = self.stream(model, first, progress).await;
        let step = streamed.step;
        let cancelled = self.cancel.is_cancelled();
        if let Some(message) = streamed.message {
            let finish = match (&streamed.error, &streamed.reply.stop) {
                _ if cancelled => Finish::Interrupted,
                (Some(error), _) if spare && error.another_may_answer() => Finish::Cut,
                (Some(_), _) => Finish::Failed,
                (None, Some(StopReason::Length)) => Finish::Length,
                (None, Some(StopReason::Refusal)) => Finish::Refused,
                (None, _) => Finish::Complete,
            };
            self.port.emit_kept(Body::Message(MessageEvent::Ended { message, finish })).await;
        }
        let info = model.info();
        let mut all = streamed.reply.spent();
        all += std::mem::take(&mut progress.spent);
        let estimated = streamed.reply.estimated;
        let usage = counted(&all, estimated | std::mem::take(&mut progress.estimated), &info);
        self.tally.step(usage.cost_micros);
        let mut calls = std::mem::take(&mut streamed.calls);
        if cancelled {
            self.leave(&calls, ToolOutcome::Cancelled, "Not run: the run was cancelled.").await;
            self.port.emit(Body::Run(RunEvent::StepEnded { step, usage })).await;
            return StepEnd::End(TurnEnd::Cancelled);
        }
        if let Some(error) = streamed.error {
            self.leave(&calls, ToolOutcome::Skipped, "Not run: the model's answer broke off.").await;
            self.port.emit(Body::Run(RunEvent::StepEnded { step, usage })).await;
            if error.kind == ErrorKind::ContextOverflow && streamed.message.is_none() {
                return StepEnd::TooLong(error);
            }
            return StepEnd::Failed(error);
        }
        if let (Some(StopReason::Length), Some(last)) = (&streamed.reply.stop, calls.last_mut()) {
            last.cut = is_cut(&last.call.args);
        }
        let mut reply = streamed.reply;
        if !estimated && let Some(text) = self.cache.answered(streamed.asked, &reply.usage, &info) {
            self.note(Level::Info, progress.leaf, CACHE_LOST, text).await;
        }
        reply.tool_calls = calls.iter().map(|call| call.call.clone()).collect();
        let (said, stop) = (reply.text.clone(), reply.stop.clone());
        let used = reply.usage.input.saturating_add(reply.usage.output);
        if let Some(message) = streamed.message {
            progress.context.push(message.into(), streamed.told, reply.into_message());
            progress.once.clear();
            progress.context.counted(used);
        }
        // A run that nobody watches and that is over needs them no more.
        if let Some(servers) = progress.servers.as_ref().filter(|_| !calls.is_empty() || !self.is_headless) {
            servers.start_known();
        }
        if calls.is_empty() {
            if said.trim().is_empty() {
                self.notice(progress.leaf, EMPTY_ANSWER, without_a_word(stop.as_ref())).await;
            }
            self.measure(&progress.context, &info, estimated).await;
            self.port.emit(Body::Run(RunEvent::StepEnded { step, usage })).await;
            return StepEnd::Said(said);
        }
        // Before the tools: what is spent is known also when the program dies while one of them runs.
        self.port.emit(Body::Run(RunEvent::StepBilled { step, usage })).await;
        self.step_bill.begin(step, usage);
        let began = Instant::now();
        let done = self.run_calls(&calls, progress).await;
        let usage = self.step_bill.end().unwrap_or(usage);
        let repeated = self.repeats.round_over(&said, began.elapsed());
        if let Some(tool) = self.denials.insisted() {
            let text = format!(
                "The model wants the same {tool} again although it was told that the denial is final."
            );
            self.notice(progress.leaf, "denied_again", text).await;
        }
        let stepped = self.after_tools(&calls, done, progress);
        self.measure(&progress.context, &info, estimated).await;
        self.port.emit(Body::Run(RunEvent::StepEnded { step, usage })).await;
        match (stepped, repeated) {
            (StepEnd::Again, Some(words)) => {
                let failure = Failure::new("repeats", words);
                StepEnd::End(TurnEnd::Failed(
                    failure.hint("say what to do differently, or \"go on\" to let it continue"),
                ))
            }
            (stepped, _) => stepped,
        }
    }

    /// Ends calls that will not run.
    async fn leave(&self, calls: &[Call], outcome: ToolOutcome, why: &str) {
        for call in calls {
            let (outcome, result) = (outcome.clone(), ToolResult::text(why));
            self.port.emit(Body::Tool(ToolEvent::Ended { tool: call.id, outcome, result })).await;
        }
    }

    /// Goes on in a step that a crash cut at its consents.
    pub(super) async fn resume(&self, resume: &Resume, waits: Waits, progress: &mut Progress) -> StepEnd {
        let waiting = |id: &ToolRunId| self.brief.tools.iter().find(|tool| tool.id == *id);
        let calls: Vec<(&OpenConsent, Call)> = resume
            .consents
            .iter()
            .filter_map(|open| {
                let call = chat::call(waiting(&open.tool)?);
                Some((open, Call { id: open.tool, call, cut: false, unclear: None }))
            })
            .collect();
        self.step_bill.begin(resume.step, resume.billed);
        let done = self.run_resumed(&calls, waits, progress).await;
        let usage = self.step_bill.end().unwrap_or(resume.billed);
        self.port.emit(Body::Run(RunEvent::StepEnded { step: resume.step, usage })).await;
        let calls: Vec<Call> = calls.into_iter().map(|(_, call)| call).collect();
        self.after_tools(&calls, done, progress)
    }

    fn after_tools(&self, calls: &[Call], done: CallOutcomes, progress: &mut Progress) -> StepEnd {
        for (id, outcome) in done.outcomes {
            if let Some(call) = calls.iter().find(|call| call.id == id) {
                // After a crash a result may stand there already, as of a call that never ended.
                progress.context.answer(&call.call.id, tool_message(&call.call, &outcome));
            }
        }
        if self.cancel.is_cancelled() {
            return StepEnd::End(TurnEnd::Cancelled);
        }
        if done.stop || self.steered.waits() {
            return StepEnd::End(TurnEnd::Done);
        }
        StepEnd::Again
    }

    async fn stream(&self, model: &dyn Model, step: StepId, progress: &mut Progress) -> ReplyStream {
        let told = progress.told();
        let request = self.request(progress, &told);
        let asked = RequestPrint::of(&request, super::named(model), SystemTime::now());
        let mut deltas = model.stream(request, self.cancel.clone());
        let mut streamed = ReplyStream {
            step,
            reply: Reply::default(),
            calls: Vec::new(),
            message: None,
            told,
            asked,
            error: None,
        };
        loop {
            let delta = tokio::select! {
                biased;
                () = self.cancel.cancelled() => break,
                delta = deltas.recv() => delta,
            };
            match delta {
                Some(Ok(delta)) => {
                    if matches!(delta, Delta::Retrying { .. }) && streamed.message.is_some() {
                        self.begin_anew(model, &mut streamed, progress).await;
                    }
                    let (delta, unclear) = self.hear(delta, &progress.toolbox);
                    self.delta(delta, unclear, &mut streamed, &mut progress.leaf).await;
                }
                Some(Err(error)) => {
                    streamed.error = Some(error);
                    break;
                }
                None => break,
            }
        }
        streamed
    }

    /// An answer broke off and the model is asked again: what was said is marked as cut, and the step that said it is paid for. No tool
    /// of it has run: tools run when an answer is complete.
    async fn begin_anew(&self, model: &dyn Model, streamed: &mut ReplyStream, progress: &mut Progress) {
        let Some(message) = streamed.message.take() else { return };
        let finish = Finish::Cut;
        self.port.emit_kept(Body::Message(MessageEvent::Ended { message, finish })).await;
        let calls = std::mem::take(&mut streamed.calls);
        self.leave(&calls, ToolOutcome::Skipped, "Not run: the model's answer broke off.").await;
        let reply = std::mem::take(&mut streamed.reply);
        let estimated = reply.estimated | std::mem::take(&mut progress.estimated);
        let mut all = reply.spent();
        all += std::mem::take(&mut progress.spent);
        let (step, usage) = (streamed.step, counted(&all, estimated, &model.info()));
        self.tally.step(usage.cost_micros);
        self.port.emit(Body::Run(RunEvent::StepEnded { step, usage })).await;
        streamed.step = self.start_step(model).await;
    }

    /// A call as it is taken: the record, the question and what the model is sent of its past all have this one.
    fn hear(&self, delta: Delta, toolbox: &Toolbox) -> (Delta, Option<String>) {
        let Delta::ToolCall(call) = delta else { return (delta, None) };
        let said = match call.args {
            ToolArgs::Parsed(value) => CallArgs::Value(value),
            ToolArgs::Unparsed(text) => CallArgs::Text(text),
        };
        let heard = toolbox.hear(&call.name, said, self.place.workdir());
        let args = match heard.said {
            CallArgs::Value(value) => ToolArgs::Parsed(value),
            CallArgs::Text(text) => ToolArgs::Unparsed(text),
        };
        (Delta::ToolCall(ToolCall { id: call.id, name: heard.name, args }), heard.unclear)
    }

    async fn delta(
        &self,
        delta: Delta,
        unclear: Option<String>,
        streamed: &mut ReplyStream,
        leaf: &mut Option<EntryId>,
    ) {
        match &delta {
            Delta::Text(text) | Delta::Thought(text) if text.is_empty() => return,
            Delta::Text(text) => {
                let message = self.message(streamed, leaf).await;
                self.port
                    .emit(Body::Message(MessageEvent::Delta {
                        message,
                        kind: TextKind::Text,
                        text: text.clone(),
                    }))
                    .await;
            }
            Delta::Thought(text) => {
                let message = self.message(streamed, leaf).await;
                self.port
                    .emit(Body::Message(MessageEvent::Delta {
                        message,
                        kind: TextKind::Thought,
                        text: text.clone(),
                    }))
                    .await;
            }
            Delta::ToolCall(call) => {
                let message = self.message(streamed, leaf).await;
                let id = ToolRunId::mint(&self.brief.ids);
                let args = Json::verbatim(call.args.to_object().to_string());
                self.port
                    .emit(Body::Tool(ToolEvent::Proposed {
                        tool: id,
                        message,
                        name: call.name.clone(),
                        args,
                    }))
                    .await;
                let call = ToolCall { id: chat::call_id(id), ..call.clone() };
                streamed.calls.push(Call { id, call, cut: false, unclear });
            }
            Delta::Keep(kept) => {
                let message = self.message(streamed, leaf).await;
                self.keep_with(message, kept).await;
            }
            Delta::Retrying { attempt, max, delay_ms, reason, kind, .. } => {
                let (attempt, max, delay_ms, reason) = (*attempt, *max, *delay_ms, reason.clone());
                let kind = kind.map(retry_kind);
                self.port.emit(Body::Run(RunEvent::Retrying { attempt, max, delay_ms, reason, kind })).await;
            }
            Delta::ToolCallStart { .. }
            | Delta::ToolCallArgs { .. }
            | Delta::Usage(_)
            | Delta::Estimated(_)
            | Delta::Done { .. } => {}
        }
        streamed.reply.push(delta);
    }

    /// The message of this step, begun with the first thing said in it.
    async fn message(&self, streamed: &mut ReplyStream, leaf: &mut Option<EntryId>) -> MessageId {
        if let Some(message) = streamed.message {
            return message;
        }
        let message = MessageId::mint(&self.brief.ids);
        let (parent, turn) = (*leaf, Some(self.brief.turn));
        let start = Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::Assistant,
            turn,
            step: Some(streamed.step),
        });
        self.port.emit(start).await;
        *leaf = Some(message.into());
        streamed.message = Some(message);
        if let Some(told) = streamed.told.to_part() {
            self.keep_with(message, &told).await;
        }
        message
    }

    /// Keeps with an answer what nobody is shown.
    async fn keep_with(&self, message: MessageId, kept: &OpaquePart) {
        // In the order of its names, as whoever reads it into a map would write it again: the text counts in the hash of a state.
        if let Ok(json) = serde_json::to_value(kept) {
            let part = Part::Opaque { kind: KEPT.to_owned(), json: Json::verbatim(json.to_string()) };
            self.port.emit(Body::Message(MessageEvent::PartAdded { message, part })).await;
        }
    }

    async fn measure(&self, context: &Context, info: &models::ModelInfo, estimated: bool) {
        if let Some(window) = info.context_window {
            let (used, window, rough) = (context.tokens(), window.into(), estimated || info.window_guessed);
            self.port.emit(Body::Context(ContextEvent::Measured { used, window, rough })).await;
        }
    }
}

/// Whether the arguments of the last call before a limit stop in the middle. None at all are some that never came.
fn is_cut(args: &ToolArgs) -> bool {
    match args {
        ToolArgs::Unparsed(_) => true,
        ToolArgs::Parsed(value) => value.as_object().is_some_and(serde_json::Map::is_empty),
    }
}

/// What the person is told where an answer has no word in it.
fn without_a_word(stop: Option<&StopReason>) -> String {
    let text = match stop {
        Some(StopReason::Length) => {
            "The answer reached its length limit before the first word: the model may have spent it on thinking. Ask for less at \
             once, or lower the thinking effort."
        }
        Some(StopReason::Refusal) => {
            "The model or its provider declined to answer, without a word. Say it differently, or switch the model."
        }
        Some(StopReason::EndTurn | StopReason::ToolUse | StopReason::Other(_)) | None => {
            "The model ended without a word. Say \"go on\" if something is missing."
        }
    };
    text.to_owned()
}

fn tool_message(call: &ToolCall, outcome: &Outcome) -> ChatMessage {
    let failed = outcome.outcome != ToolOutcome::Done;
    let mut content = vec![models::Content::Text(outcome.result.text.clone())];
    content.extend(outcome.result.parts.iter().filter_map(|part| match part {
        Part::Image { mime, base64 } => {
            Some(models::Content::Image { mime: mime.clone(), base64: base64.to_string() })
        }
        _ => None,
    }));
    ChatMessage::Tool { call_id: call.id.clone(), name: call.name.clone(), content, is_error: failed }
}

/// Why the model is asked again, as the record has it.
fn retry_kind(kind: ErrorKind) -> RetryKind {
    match kind {
        ErrorKind::RateLimited => RetryKind::RateLimit,
        ErrorKind::Overloaded => RetryKind::Overloaded,
        ErrorKind::Timeout { .. } => RetryKind::Timeout,
        ErrorKind::Network | ErrorKind::Cut => RetryKind::Network,
        _ => RetryKind::Provider,
    }
}

/// What the person is told when the model could not answer.
pub(super) fn failure(error: &ModelError) -> Failure {
    let code = match error.kind {
        ErrorKind::ContextOverflow => "context_overflow",
        _ => "model_error",
    };
    Failure::new(code, error.to_string()).hint(error.hint())
}
