//! The model without a network: what Parlor uses when there is no key, so that everything can be tried.
//!
//! It is a pure plan ([`plan`]: request → what to do) and a thin streamer. It is deterministic, needs no state of its
//! own (the conversation says how far it has come), and only calls tools that the request offers.

mod closing;
mod plan;
mod samples;
mod wishes;

use std::time::Duration;

use tokio_util::sync::CancellationToken;

pub use plan::{Planned, plan};

use crate::emit::{Emit, Halt, produce};
use crate::scripted::send_call;
use crate::{
    ChatMessage, Content, Delta, Deltas, Model, ModelError, ModelInfo, ModelName, Request, StopReason,
    ToolArgs, ToolCall, Usage,
};

/// The wait between two numbers of "count to N slowly".
pub const SLOW_STEP: Duration = Duration::from_millis(50);
/// A token is about this many bytes; good enough for a model that costs nothing.
const BYTES_PER_TOKEN: u64 = 4;

/// The embedded model `offline/offline`.
#[derive(Debug, Clone)]
pub struct Offline {
    name: ModelName,
}

impl Default for Offline {
    fn default() -> Self {
        Self { name: ModelName::new("offline", "offline") }
    }
}

impl Model for Offline {
    fn name(&self) -> &ModelName {
        &self.name
    }

    fn info(&self) -> ModelInfo {
        ModelInfo {
            context_window: Some(100_000),
            max_output: Some(100_000),
            price: Some(crate::Price { input: 0.0, output: 0.0, cache_read: None, cache_write: None }),
            images: true,
            thinking: Some(true),
            window_guessed: false,
            price_guessed: false,
        }
    }

    fn stream(&self, request: Request, cancel: CancellationToken) -> Deltas {
        let source = self.name.to_string();
        produce(source.clone(), cancel, move |emit| async move { speak(&request, &source, &emit).await })
    }
}

async fn speak(request: &Request, source: &str, emit: &Emit) -> Result<(), Halt> {
    let mut out = Counted { emit, bytes: 0 };
    let mut calls = 0;
    // Ids stay unique in the conversation because earlier messages are counted in.
    let turn = request.messages.len();
    for planned in plan(request) {
        match planned {
            Planned::Say(text) => {
                for piece in pieces(&text) {
                    out.send(Delta::Text(piece.to_owned()), piece.len()).await?;
                }
            }
            Planned::Think(text) => {
                for piece in pieces(&text) {
                    out.send(Delta::Thought(piece.to_owned()), piece.len()).await?;
                }
            }
            Planned::Call { tool, args } => {
                let id = format!("call_{turn}_{}", calls + 1);
                out.bytes += tool.len() + args.to_string().len();
                send_call(emit, calls, ToolCall { id, name: tool, args: ToolArgs::Parsed(args) }).await?;
                calls += 1;
            }
            Planned::Count { to, slowly } => count(&mut out, to, slowly).await?,
            Planned::Fail { kind, text } => return Err(ModelError::new(kind, source, text).into()),
        }
    }
    let output = u64::try_from(out.bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN);
    emit.send(Delta::Usage(Usage { input: input_tokens(request), output, ..Usage::default() })).await?;
    let stop = if calls > 0 { StopReason::ToolUse } else { StopReason::EndTurn };
    emit.send(Delta::Done { stop }).await
}

struct Counted<'a> {
    emit: &'a Emit,
    bytes: usize,
}

impl Counted<'_> {
    async fn send(&mut self, delta: Delta, bytes: usize) -> Result<(), Halt> {
        self.bytes += bytes;
        self.emit.send(delta).await
    }
}

async fn count(out: &mut Counted<'_>, to: u32, slowly: bool) -> Result<(), Halt> {
    for number in 1..=to {
        if slowly && number > 1 {
            out.emit.pause(SLOW_STEP).await?;
        }
        let piece = if number == to { format!("{number}.") } else { format!("{number}, ") };
        let bytes = piece.len();
        out.send(Delta::Text(piece), bytes).await?;
    }
    Ok(())
}

/// Words with the blanks that follow them; together they are the text.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let blank = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let after = rest[blank..].find(|c: char| !c.is_whitespace()).map_or(rest.len(), |at| blank + at);
        let (piece, tail) = rest.split_at(after);
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

fn input_tokens(request: &Request) -> u64 {
    let content = |content: &[Content]| -> usize {
        content
            .iter()
            .map(|piece| match piece {
                Content::Text(text) => text.len(),
                // A picture counts like a page of text, whatever its bytes.
                Content::Image { .. } => 4_000,
            })
            .sum()
    };
    let messages: usize = request
        .messages
        .iter()
        .map(|message| match message {
            ChatMessage::User { content: pieces } | ChatMessage::Tool { content: pieces, .. } => {
                content(pieces)
            }
            ChatMessage::Assistant { content: pieces, tool_calls, .. } => {
                content(pieces)
                    + tool_calls.iter().map(|call| call.args.to_object().to_string().len()).sum::<usize>()
            }
        })
        .sum();
    let bytes = messages + request.system.as_ref().map_or(0, String::len);
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests;
