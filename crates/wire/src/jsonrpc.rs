//! JSON-RPC 2.0: what a line is, decided explicitly, and writing one. Knows no method.
//!
//! Invariants: a message with a method and an unusable id is never taken for a notification (its sender would wait for
//! ever); null and absent differ; `params`, results and error data stay raw text; everything written is one line.
//! Reading is lenient where peers are known to differ: a missing `jsonrpc`, whole floats as ids and codes, nulls beside
//! the member that counts.

mod classify;
mod head;
mod write;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::depth::TooDeep;
use crate::{BadId, WireId};

pub use classify::{classify, inspect};
pub use head::{request_id_in_head, response_id_in_head};
pub use write::{error, notification, one_line, request, result};

/// The line is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is not a request.
pub const INVALID_REQUEST: i64 = -32600;
/// There is no such method.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method.
pub const INVALID_PARAMS: i64 = -32602;
/// The fault is on the answering side.
pub const INTERNAL_ERROR: i64 = -32603;
/// First of the codes a server may give its own meaning (down to -32099).
pub const SERVER_ERROR: i64 = -32000;

/// What one line is.
#[derive(Debug)]
pub enum Message<'a> {
    /// Wants an answer with the same id.
    Request {
        /// To be echoed in the answer.
        id: WireId,
        method: String,
        /// Raw text; `None` if absent, `Some("null")` if null.
        params: Option<&'a RawValue>,
    },
    /// Wants no answer.
    Notification {
        method: String,
        /// Raw text; `None` if absent, `Some("null")` if null.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of ours; to be decoded by what was asked.
    Response {
        /// The id of the request.
        id: WireId,
        outcome: Result<&'a RawValue, RpcError>,
    },
    Invalid {
        /// The id, where one could be read: an error can be sent for it, or a pending request settled.
        id: Option<WireId>,
        why: Invalid,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Invalid {
    #[error("not JSON: {0}; send one JSON object per line")]
    NotJson(String),
    /// JSON, but a bare string, number, boolean or null.
    #[error("not a JSON object; send one JSON object per line")]
    NotObject,
    /// An array.
    #[error("batches are not supported; send one message per line")]
    Batch,
    #[error(transparent)]
    TooDeep(#[from] TooDeep),
    /// A response nested too deep; its request is over.
    #[error("the response is unusable: {0}")]
    DeepAnswer(TooDeep),
    /// The `jsonrpc` member is not `"2.0"`; only reported by [`Inspected::strict`].
    #[error("the member \"jsonrpc\" must be \"2.0\"")]
    WrongVersion,
    /// There is an id, but not a usable one.
    #[error(transparent)]
    BadId(#[from] BadId),
    /// Neither method nor result nor error.
    #[error("there is no method")]
    NoMethod,
    /// The method is not a string.
    #[error("the method is not a string")]
    BadMethod,
    /// A method together with a result or an error.
    #[error("a message cannot have a method and a result or error")]
    MethodAndOutcome,
    /// A response with a result and an error.
    #[error("a response cannot have both a result and an error")]
    BothResultAndError,
    /// A result without an id: it answers nothing.
    #[error("the response has no id")]
    NoId,
    /// The peer could not tell which request its error belongs to.
    #[error("error without id from the peer: {0}")]
    ErrorWithoutId(RpcError),
    /// The error of a response is not an object with a whole number as code.
    #[error("the error of the response is not an object with a code")]
    BadError,
}

impl Invalid {
    /// The error code to answer with.
    pub fn code(&self) -> i64 {
        match self {
            Self::NotJson(_) => PARSE_ERROR,
            _ => INVALID_REQUEST,
        }
    }

    /// What is wrong in words of ours alone, for a log: the error itself may quote the line, and a line may hold a secret.
    pub fn kind(&self) -> String {
        match self {
            Self::NotJson(_) => "a line that is not JSON".to_owned(),
            Self::BadId(_) => "a line whose id is none".to_owned(),
            Self::ErrorWithoutId(_) => "an error of the peer without id".to_owned(),
            other => other.to_string(),
        }
    }

    /// Whether to answer with an error. Damaged answers are not answered, else two peers could complain to each other
    /// for ever.
    pub fn answerable(&self) -> bool {
        !matches!(
            self,
            Self::DeepAnswer(_)
                | Self::BothResultAndError
                | Self::NoId
                | Self::ErrorWithoutId(_)
                | Self::BadError
        )
    }

    /// Whether somebody waits for an answer to which no id leads. It is told with the id null, as JSON-RPC has it.
    pub fn is_waited_for(&self) -> bool {
        matches!(self, Self::BadId(_))
    }
}

/// The error of a response.
#[derive(Debug, Clone, Serialize, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// See the constants of this module.
    pub code: i64,
    /// For people. Empty if the peer sent none.
    pub message: String,
    /// Anything else, as raw text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<RawValue>>,
}

impl RpcError {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// Adds data. What cannot be written as JSON is left out.
    #[must_use]
    pub fn with_data(mut self, data: &impl Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }
}

/// Data is compared as text.
impl PartialEq for RpcError {
    fn eq(&self, other: &Self) -> bool {
        let data = |error: &Self| error.data.as_ref().map(|raw| raw.get().to_owned());
        self.code == other.code && self.message == other.message && data(self) == data(other)
    }
}

/// What the `jsonrpc` member said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `"2.0"`
    Two,
    /// It is missing.
    Absent,
    /// Something else.
    Other,
}

/// A message and how it was marked.
#[derive(Debug)]
pub struct Inspected<'a> {
    /// The message, read leniently.
    pub message: Message<'a>,
    /// What its `jsonrpc` member said. [`Version::Absent`] where there was no object to look into.
    pub version: Version,
}

impl<'a> Inspected<'a> {
    /// The message, refused if it is not marked as 2.0.
    pub fn strict(self) -> Message<'a> {
        if self.version == Version::Two {
            return self.message;
        }
        match self.message {
            invalid @ Message::Invalid { .. } => invalid,
            Message::Request { id, .. } | Message::Response { id, .. } => {
                Message::Invalid { id: Some(id), why: Invalid::WrongVersion }
            }
            Message::Notification { .. } => Message::Invalid { id: None, why: Invalid::WrongVersion },
        }
    }
}
