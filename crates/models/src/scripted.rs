//! The model that plays a script: what tests, transcripts and demonstrations use.
//!
//! Each call of `stream` plays the next response of the script; after the last one it answers `(script ended)`.
//! The notation is in [`parse`]. Time is tokio's, so a test with paused time does not wait.
//!
//! ```text
//! model text "To" | text " optimize" | tool read {"path":"a"}
//! model usage in=10 out=5
//! ---
//! model thought "hm" | pause 30s | text "done" | end
//! ```

mod parse;

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use parse::{ScriptError, parse, parse_line};

use crate::emit::{Emit, Halt, produce};
use crate::{
    Delta, Deltas, ErrorKind, Model, ModelError, ModelInfo, ModelName, Request, StopReason, ToolArgs,
    ToolCall, Usage,
};

/// Requests that are kept for a test to look at; older ones are forgotten.
pub const MAX_SEEN: usize = 1_024;
/// What a script that ran out answers.
pub const SCRIPT_ENDED: &str = "(script ended)";

/// One thing the scripted model does.
#[derive(Debug, Clone, PartialEq)]
pub enum Cue {
    /// Says a piece of text.
    Text(String),
    /// Thinks a piece of thought.
    Thought(String),
    /// Calls a tool. Without an id it gets `call_1`, `call_2`, … counted over the script.
    Tool {
        /// The id, if the script sets one.
        id: Option<String>,
        name: String,
        args: ToolArgs,
    },
    /// Reports tokens.
    Usage(Usage),
    /// Announces a retry.
    Retry {
        /// The attempt that follows.
        attempt: u32,
        /// At most so many.
        max: u32,
        /// The announced wait, which is also waited.
        delay: Duration,
        reason: String,
    },
    /// Waits; `None` waits until it is cancelled.
    Pause(Option<Duration>),
    /// Fails; ends the response.
    Error(ErrorKind, String),
    /// Ends the response. `None` means: tool use if a tool was called, else the end of the turn.
    End(Option<StopReason>),
    /// Separates two responses.
    Step,
}

/// A parsed script: responses in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    responses: VecDeque<Vec<Cue>>,
}

impl Script {
    /// Cuts cues into responses at `step`, `end` and `error`. Empty responses vanish.
    pub fn new(cues: impl IntoIterator<Item = Cue>) -> Self {
        let mut responses = VecDeque::new();
        let mut current = Vec::new();
        for cue in cues {
            let last = matches!(cue, Cue::Step | Cue::End(_) | Cue::Error(..));
            if cue != Cue::Step {
                current.push(cue);
            }
            if last && !current.is_empty() {
                responses.push_back(std::mem::take(&mut current));
            }
        }
        if !current.is_empty() {
            responses.push_back(current);
        }
        Self { responses }
    }

    /// How many responses are in it.
    pub fn len(&self) -> usize {
        self.responses.len()
    }

    /// No response in it.
    pub fn is_empty(&self) -> bool {
        self.responses.is_empty()
    }
}

/// A model that plays a [`Script`], for tests and demonstrations.
#[derive(Debug)]
pub struct Scripted {
    name: ModelName,
    info: ModelInfo,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    script: Script,
    calls: usize,
    seen: VecDeque<Request>,
}

impl Scripted {
    /// A model named `scripted/scripted` that plays this script.
    pub fn new(script: Script) -> Self {
        Self {
            name: ModelName::new("scripted", "scripted"),
            info: ModelInfo {
                context_window: Some(200_000),
                images: true,
                thinking: Some(true),
                ..ModelInfo::default()
            },
            state: Mutex::new(State { script, ..State::default() }),
        }
    }

    /// Parses and takes a script.
    pub fn parse(text: &str) -> Result<Self, ScriptError> {
        parse(text).map(Self::new)
    }

    /// The same under another name.
    #[must_use]
    pub fn named(self, name: ModelName) -> Self {
        Self { name, ..self }
    }

    /// The same with other facts, such as a small context window.
    #[must_use]
    pub fn with_info(self, info: ModelInfo) -> Self {
        Self { info, ..self }
    }

    /// Adds responses at the end, also while the model is in use.
    pub fn append(&self, script: Script) {
        self.lock().script.responses.extend(script.responses);
    }

    /// The requests so far, oldest first, at most [`MAX_SEEN`].
    pub fn seen(&self) -> Vec<Request> {
        self.lock().seen.iter().cloned().collect()
    }

    /// Responses that were not played yet.
    pub fn remaining(&self) -> usize {
        self.lock().script.len()
    }

    // A poisoned lock holds plain data that is valid at every point.
    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, request: Request) -> Vec<Cue> {
        let mut state = self.lock();
        if state.seen.len() == MAX_SEEN {
            state.seen.pop_front();
        }
        state.seen.push_back(request);
        let mut response =
            state.script.responses.pop_front().unwrap_or_else(|| vec![Cue::Text(SCRIPT_ENDED.to_owned())]);
        for cue in &mut response {
            if let Cue::Tool { id: id @ None, .. } = cue {
                state.calls += 1;
                *id = Some(format!("call_{}", state.calls));
            }
        }
        response
    }
}

impl Model for Scripted {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn info(&self) -> ModelInfo {
        self.info.clone()
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> Deltas {
        let response = self.next(request);
        let source = self.name.to_string();
        produce(source.clone(), cancel, move |emit| async move { play(response, &source, &emit).await })
    }
}

async fn play(response: Vec<Cue>, source: &str, emit: &Emit) -> Result<(), Halt> {
    let mut index = 0;
    for cue in response {
        match cue {
            Cue::Text(text) => emit.send(Delta::Text(text)).await?,
            Cue::Thought(text) => emit.send(Delta::Thought(text)).await?,
            Cue::Tool { id, name, args } => {
                let call = ToolCall { id: id.unwrap_or_default(), name, args };
                send_call(emit, index, call).await?;
                index += 1;
            }
            Cue::Usage(usage) => emit.send(Delta::Usage(usage)).await?,
            Cue::Retry { attempt, max, delay, reason } => {
                let delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
                let source = source.to_owned();
                let (kind, status) = (None, None);
                emit.send(Delta::Retrying { attempt, max, delay_ms, reason, kind, status, source }).await?;
                emit.pause(delay).await?;
            }
            Cue::Pause(Some(time)) => emit.pause(time).await?,
            Cue::Pause(None) => emit.until_stopped(std::future::pending()).await?,
            Cue::Error(kind, message) => return Err(ModelError::new(kind, source, message).into()),
            Cue::End(Some(stop)) => return emit.send(Delta::Done { stop }).await,
            Cue::End(None) | Cue::Step => break,
        }
    }
    let stop = if index > 0 { StopReason::ToolUse } else { StopReason::EndTurn };
    emit.send(Delta::Done { stop }).await
}

/// Sends a call the way providers do: start, arguments, the complete call.
pub(crate) async fn send_call(emit: &Emit, index: usize, call: ToolCall) -> Result<(), Halt> {
    let fragment = match &call.args {
        ToolArgs::Parsed(value) => value.to_string(),
        ToolArgs::Unparsed(text) => text.clone(),
    };
    emit.send(Delta::ToolCallStart { index, id: call.id.clone(), name: call.name.clone() }).await?;
    emit.send(Delta::ToolCallArgs { index, fragment }).await?;
    emit.send(Delta::ToolCall(call)).await
}

#[cfg(test)]
mod tests;
