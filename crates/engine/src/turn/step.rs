//! One step: a model response as it streams, then its tool calls.

use super::{Leaf, Turn};
use crate::chat;
use domain::content::{Json, Part, Role, TextKind, Usage};
use domain::event::{Body, Failure, Finish};
use domain::ids::{MessageId, StepId, ToolRunId};
use domain::port::{Resume, TurnEnd};
use domain::tool::{ToolOutcome, ToolResult};
use models::{ChatMessage, Delta, Model, ModelError, Reply, StopReason, ToolCall};
use tools::Outcome;

/// Whether the turn goes on.
pub(super) enum Stepped {
    /// The model must be asked again.
    Again,
    /// The turn is over.
    End(TurnEnd),
}

/// A tool call with the id it has in the record.
pub(super) struct Call {
    pub(super) id: ToolRunId,
    pub(super) call: ToolCall,
}

/// What became of the calls of a step.
pub(super) struct Done {
    pub(super) outcomes: Vec<(ToolRunId, Outcome)>,
    /// A denial without a reason: the person wants to speak first.
    pub(super) stop: bool,
}

struct Streamed {
    reply: Reply,
    calls: Vec<Call>,
    message: Option<MessageId>,
    error: Option<ModelError>,
}

impl Turn {
    pub(super) async fn step(
        &self,
        model: &dyn Model,
        messages: &mut Vec<ChatMessage>,
        leaf: &mut Leaf,
    ) -> Stepped {
        let step = self.start_step(model).await;
        let mut streamed = self.stream(model, messages, step, leaf).await;
        let cancelled = self.cancel.is_cancelled();
        if let Some(message) = streamed.message {
            let finish = match (&streamed.error, &streamed.reply.stop) {
                _ if cancelled => Finish::Interrupted,
                (Some(_), _) => Finish::Failed,
                (None, Some(StopReason::Length)) => Finish::Length,
                (None, _) => Finish::Complete,
            };
            self.port.emit_kept(Body::MessageEnded { message, finish }).await;
        }
        let info = model.info();
        let usage = usage(&streamed.reply.usage, &info);
        if cancelled {
            self.port.emit(Body::StepEnded { step, usage }).await;
            return Stepped::End(TurnEnd::Cancelled);
        }
        if let Some(error) = streamed.error.take() {
            for call in streamed.calls.drain(..) {
                let result = ToolResult::text("Not run: the model's answer broke off.");
                self.port
                    .emit(Body::ToolEnded { tool: call.id, outcome: ToolOutcome::Skipped, result })
                    .await;
            }
            self.port.emit(Body::StepEnded { step, usage }).await;
            return Stepped::End(TurnEnd::Failed(failure(&error)));
        }
        let calls = std::mem::take(&mut streamed.calls);
        let mut reply = streamed.reply;
        reply.tool_calls = calls.iter().map(|call| call.call.clone()).collect();
        if reply.tool_calls.is_empty() {
            self.measure(&reply.usage, &info).await;
            self.port.emit(Body::StepEnded { step, usage }).await;
            return Stepped::End(TurnEnd::Done);
        }
        let used = reply.usage;
        messages.push(reply.into_message());
        let done = self.run_calls(&calls).await;
        self.measure(&used, &info).await;
        self.port.emit(Body::StepEnded { step, usage }).await;
        self.after_tools(&calls, done, messages)
    }

    /// Goes on in a step that a crash cut at its consents.
    pub(super) async fn resume(&self, resume: &Resume, messages: &mut Vec<ChatMessage>) -> Stepped {
        let waiting = |id: &ToolRunId| self.brief.tools.iter().find(|tool| tool.id == *id);
        let calls: Vec<(domain::ids::AskId, Call)> = resume
            .consents
            .iter()
            .filter_map(|(ask, tool)| Some((*ask, Call { id: *tool, call: chat::call(waiting(tool)?) })))
            .collect();
        let done = self.run_resumed(&calls).await;
        self.port.emit(Body::StepEnded { step: resume.step, usage: Usage::default() }).await;
        let calls: Vec<Call> = calls.into_iter().map(|(_, call)| call).collect();
        // The answers stand in the conversation already, as calls that never ended: say what became of them now.
        messages.retain(|message| match message {
            ChatMessage::Tool { call_id, .. } => !calls.iter().any(|call| call.call.id == *call_id),
            ChatMessage::User { .. } | ChatMessage::Assistant { .. } => true,
        });
        self.after_tools(&calls, done, messages)
    }

    fn after_tools(&self, calls: &[Call], done: Done, messages: &mut Vec<ChatMessage>) -> Stepped {
        if self.cancel.is_cancelled() {
            return Stepped::End(TurnEnd::Cancelled);
        }
        for (id, outcome) in done.outcomes {
            if let Some(call) = calls.iter().find(|call| call.id == id) {
                messages.push(tool_message(&call.call, &outcome));
            }
        }
        if done.stop || self.steered.waits() {
            return Stepped::End(TurnEnd::Done);
        }
        Stepped::Again
    }

    async fn stream(
        &self,
        model: &dyn Model,
        messages: &[ChatMessage],
        step: StepId,
        leaf: &mut Leaf,
    ) -> Streamed {
        let mut deltas = model.stream(self.request(messages), self.cancel.clone());
        let mut streamed =
            Streamed { reply: Reply::default(), calls: Vec::new(), message: None, error: None };
        while let Some(delta) = deltas.recv().await {
            if self.cancel.is_cancelled() {
                break;
            }
            match delta {
                Ok(delta) => self.delta(delta, &mut streamed, step, leaf).await,
                Err(error) => {
                    streamed.error = Some(error);
                    break;
                }
            }
        }
        streamed
    }

    async fn delta(&self, delta: Delta, streamed: &mut Streamed, step: StepId, leaf: &mut Leaf) {
        match &delta {
            Delta::Text(text) | Delta::Thought(text) if text.is_empty() => return,
            Delta::Text(text) => {
                let message = self.message(streamed, step, leaf).await;
                self.port
                    .emit(Body::MessageDelta { message, kind: TextKind::Text, text: text.clone() })
                    .await;
            }
            Delta::Thought(text) => {
                let message = self.message(streamed, step, leaf).await;
                self.port
                    .emit(Body::MessageDelta { message, kind: TextKind::Thought, text: text.clone() })
                    .await;
            }
            Delta::ToolCall(call) => {
                let message = self.message(streamed, step, leaf).await;
                let id = ToolRunId::mint(&self.brief.ids);
                let args = Json::verbatim(call.args.to_object().to_string());
                self.port.emit(Body::ToolProposed { tool: id, message, name: call.name.clone(), args }).await;
                let call = ToolCall { id: chat::call_id(id), ..call.clone() };
                streamed.calls.push(Call { id, call });
            }
            Delta::Keep(kept) => {
                let message = self.message(streamed, step, leaf).await;
                if let Ok(json) = serde_json::to_string(kept) {
                    let part = Part::Opaque { kind: chat::KEPT.to_owned(), json: Json::verbatim(json) };
                    self.port.emit(Body::PartAdded { message, part }).await;
                }
            }
            Delta::Retrying { attempt, max, delay_ms, reason, .. } => {
                let (attempt, max, delay_ms, reason) = (*attempt, *max, *delay_ms, reason.clone());
                self.port.emit(Body::Retrying { attempt, max, delay_ms, reason }).await;
            }
            Delta::ToolCallStart { .. }
            | Delta::ToolCallArgs { .. }
            | Delta::Usage(_)
            | Delta::Done { .. } => {}
        }
        streamed.reply.push(delta);
    }

    /// The message of this step, begun with the first thing said in it.
    async fn message(&self, streamed: &mut Streamed, step: StepId, leaf: &mut Leaf) -> MessageId {
        if let Some(message) = streamed.message {
            return message;
        }
        let message = MessageId::mint(&self.brief.ids);
        let (parent, turn) = (*leaf, Some(self.brief.turn));
        let start = Body::MessageStarted { message, parent, role: Role::Assistant, turn, step: Some(step) };
        self.port.emit(start).await;
        *leaf = Some(message.into());
        streamed.message = Some(message);
        message
    }

    async fn measure(&self, usage: &models::Usage, info: &models::ModelInfo) {
        let used = usage.input + usage.output;
        if let (Some(window), true) = (info.context_window, used > 0) {
            self.port.emit(Body::ContextMeasured { used, window: window.into() }).await;
        }
    }
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

fn usage(usage: &models::Usage, info: &models::ModelInfo) -> Usage {
    let dollars = info.price.as_ref().map_or(0.0, |price| price.cost(usage));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cost is a small positive number"
    )]
    let cost_micros = (dollars * 1_000_000.0).round().max(0.0) as u64;
    Usage {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
        cost_micros,
    }
}

fn failure(error: &ModelError) -> Failure {
    Failure::new("model_error", error.to_string()).hint(error.hint())
}
