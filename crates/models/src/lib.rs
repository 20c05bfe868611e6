//! Models behind one streaming trait.
//!
//! What it is: the types of a chat ([`Request`], [`ChatMessage`], [`Delta`], [`ModelError`]), the trait
//! [`Model`], two embedded models ([`offline`], [`scripted`]), and the providers on the network.
//! What it is not: it knows no session, runs no tool, asks for no consent and uses no other crate of the house.
//!
//! Invariants:
//! - A stream ends with exactly one `Ok(Delta::Done)` or exactly one `Err`, then the channel closes.
//! - A cancelled or dropped stream does nothing more: its task ends and its connection is closed.
//! - No key appears in `Debug`, `Display` or an error (see [`Secret`]).

mod breaks;
pub mod catalog;
mod chat;
mod delta;
mod emit;
mod error;
mod half;
mod http;
mod name;
pub mod offline;
mod provider;
mod reply;
mod retry;
pub mod scripted;
mod secret;
pub mod sse;

pub use chat::{ChatMessage, Content, Effort, OpaquePart, Request, ToolArgs, ToolCall, ToolSpec};
pub use delta::{Delta, StopReason, Usage};
pub use error::{ErrorKind, MAX_ERROR_TEXT, ModelError, Wait};
pub use name::{Figures, ModelInfo, ModelName, Price};
pub use reply::Reply;
pub use retry::Limits;
pub use secret::{Secret, redact};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many deltas may wait for a slow reader before the producer waits too.
pub const DELTA_BACKLOG: usize = 64;

/// What [`Model::stream`] hands out. Dropping it stops the producer.
pub type Deltas = mpsc::Receiver<Result<Delta, ModelError>>;

/// One model, ready to answer. Object safe: kept as `Arc<dyn Model>`.
pub trait Model: Send + Sync {
    /// What the model is called, as `provider/name`.
    fn name(&self) -> &ModelName;

    /// What is known of the model: window, price, abilities.
    fn info(&self) -> ModelInfo;

    /// Starts one response. Must be called inside a tokio runtime.
    ///
    /// The producer ends when the receiver is dropped. When `cancel` fires, the connection is dropped at once
    /// and the stream ends with [`ErrorKind::Cancelled`]; what arrived before stays valid.
    fn stream(&self, request: Request, cancel: CancellationToken) -> Deltas;
}
