//! Prompts of the client that wait for their answer: each is answered once, when its turn is over.
//!
//! A prompt that comes while another runs waits in the queue and becomes the next turn of the same run. The one before is answered when
//! that turn begins. Invariant: an id is answered exactly once, also when the run breaks or the session goes.

use super::super::wire::{Meta, PromptResult, StopReason};
use domain::event::{Cause, Failure, Outcome};
use domain::ids::{QueuedId, RunId};
use roles::RuntimeCx;
use serde_json::json;
use wire::WireId;
use wire::jsonrpc::{self, INTERNAL_ERROR, RpcError};

/// How a run says that it made all the steps it may; the protocol has a word for that.
const STEPS_USED_UP: &str = "step_limit";

/// The prompts of one session.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    waiting: Vec<Prompt>,
    /// A run of ours that has not begun to be told.
    begins: Option<RunId>,
}

#[derive(Debug)]
struct Prompt {
    id: WireId,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Runs,
    /// It is (part of) the turn that begins.
    Begins,
    Waits(QueuedId),
}

/// Where a prompt is that has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Run,
    Queue(QueuedId),
}

impl Prompts {
    /// A run began with this prompt.
    pub(super) fn started(&mut self, id: WireId, run: RunId) {
        self.begins = Some(run);
        self.waiting.push(Prompt { id, stage: Stage::Runs });
    }

    /// This prompt waits for the turns before it.
    pub(super) fn queued(&mut self, id: WireId, item: QueuedId) {
        self.waiting.push(Prompt { id, stage: Stage::Waits(item) });
    }

    /// Where the prompt of this id is.
    pub(super) fn place(&self, id: &WireId) -> Option<Place> {
        let prompt = self.waiting.iter().find(|prompt| prompt.id == *id)?;
        Some(match prompt.stage {
            Stage::Waits(item) => Place::Queue(item),
            Stage::Runs | Stage::Begins => Place::Run,
        })
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether this run began with a prompt of this link.
    pub(super) fn began(&mut self, run: RunId) -> bool {
        self.begins.take_if(|begins| *begins == run).is_some()
    }

    /// A waiting input becomes (part of) the next turn.
    pub(super) fn taken(&mut self, item: QueuedId) {
        for prompt in self.waiting.iter_mut().filter(|prompt| prompt.stage == Stage::Waits(item)) {
            prompt.stage = Stage::Begins;
        }
    }

    /// A turn begins: what ran before is over, unless it is only steered. Whether the turn is of a prompt of this link.
    pub(super) fn turn_begins(&mut self, cx: &mut RuntimeCx<'_>, cause: Cause) -> bool {
        if cause == Cause::FollowUp {
            self.answer(cx, |prompt| prompt.stage == Stage::Runs, &StopReason::EndTurn, None);
        }
        let mut begins = self.waiting.iter_mut().filter(|prompt| prompt.stage == Stage::Begins).peekable();
        let own = begins.peek().is_some();
        begins.for_each(|prompt| prompt.stage = Stage::Runs);
        own
    }

    /// A waiting input was taken back, or its run was stopped.
    pub(super) fn dropped(&mut self, cx: &mut RuntimeCx<'_>, item: QueuedId) {
        self.answer(cx, |prompt| prompt.stage == Stage::Waits(item), &StopReason::Cancelled, None);
    }

    /// The run is over: all that belongs to it is answered.
    pub(super) fn ended(&mut self, cx: &mut RuntimeCx<'_>, outcome: &Outcome, cut: bool, meta: Option<Meta>) {
        let stop = match outcome {
            Outcome::Done if cut => StopReason::MaxTokens,
            Outcome::Done => StopReason::EndTurn,
            Outcome::Cancelled => StopReason::Cancelled,
            Outcome::Failed(failure) if failure.code == STEPS_USED_UP => StopReason::MaxTurnRequests,
            Outcome::Failed(failure) => return self.fail(cx, &failed(failure)),
            Outcome::Interrupted => {
                return self.fail(cx, &broken("interrupted", "the runtime stopped in the middle"));
            }
            Outcome::Lost => return self.fail(cx, &broken("lost", "the runtime behind this one is gone")),
        };
        self.answer(cx, |_| true, &stop, meta.as_ref());
    }

    /// Nothing more of the session is told.
    pub(super) fn drop_all(&mut self, cx: &mut RuntimeCx<'_>) {
        self.answer(cx, |_| true, &StopReason::Cancelled, None);
    }

    fn answer(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        is: impl Fn(&Prompt) -> bool,
        stop: &StopReason,
        meta: Option<&Meta>,
    ) {
        for prompt in self.waiting.extract_if(.., |prompt| is(prompt)) {
            let (stop_reason, meta) = (stop.clone(), meta.cloned());
            let result = PromptResult { stop_reason, meta, ..PromptResult::default() };
            cx.send(jsonrpc::result(&prompt.id, &result));
        }
    }

    fn fail(&mut self, cx: &mut RuntimeCx<'_>, error: &RpcError) {
        for prompt in self.waiting.drain(..) {
            cx.send(jsonrpc::error(Some(&prompt.id), error));
        }
    }
}

fn failed(failure: &Failure) -> RpcError {
    let message = with_hint(&failure.message, failure.hint.as_deref());
    RpcError::new(INTERNAL_ERROR, message).with_data(&json!({ "code": failure.code }))
}

fn broken(code: &str, message: &str) -> RpcError {
    RpcError::new(INTERNAL_ERROR, message).with_data(&json!({ "code": code }))
}

/// What went wrong, with what to do about it where that is known.
fn with_hint(message: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{message} ({hint})"),
        None => message.to_owned(),
    }
}
