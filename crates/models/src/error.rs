//! What can go wrong with a model, and what the person can do about it.

use std::fmt;
use std::time::Duration;

use crate::secret::{Secret, redact};

/// Characters of a provider's text that are kept in an error.
pub const MAX_ERROR_TEXT: usize = 2_000;

/// A response that failed. Its text is capped and free of keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: {kind}{}", Tail(self))]
pub struct ModelError {
    /// What sort of failure.
    pub kind: ErrorKind,
    /// Which model or provider failed.
    pub source_name: String,
    /// The HTTP status, if there was one.
    pub status: Option<u16>,
    /// How long the provider asks to wait.
    pub retry_after: Option<Duration>,
    /// The provider's words, capped and redacted; may be empty.
    pub message: String,
    /// The provider says that trying again is pointless (such as an account without credit).
    pub permanent: bool,
}

struct Tail<'a>(&'a ModelError);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(status) = self.0.status {
            write!(f, " (HTTP {status})")?;
        }
        if let Some(wait) = self.0.retry_after {
            write!(f, ", asks to wait {} s", wait.as_secs_f64().ceil())?;
        }
        if self.0.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.0.message) }
    }
}

/// The sorts of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No key, a wrong key, or a key without the right.
    Auth,
    /// Too many requests or tokens, or no credit left.
    RateLimited,
    /// The provider has trouble of its own.
    Overloaded,
    /// The conversation does not fit in the context window.
    ContextOverflow,
    /// The provider refused the request as it is.
    BadRequest,
    /// No connection, or it broke before the answer began.
    Network,
    /// The connection broke in the middle of the answer.
    Cut,
    /// The server took the request and ended without a word.
    Empty,
    /// The provider was silent for too long.
    Timeout { which: Wait },
    /// The provider said something that is not its protocol.
    Protocol,
    /// The person or the program cancelled.
    Cancelled,
}

/// The two waits that are watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// From the request to the first byte of the answer.
    FirstByte,
    /// From one piece of the answer to the next.
    Idle,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auth => "not authorized",
            Self::RateLimited => "rate limited",
            Self::Overloaded => "overloaded",
            Self::ContextOverflow => "the conversation is too long",
            Self::BadRequest => "bad request",
            Self::Network => "no connection",
            Self::Cut => "connection lost",
            Self::Empty => "an empty answer",
            Self::Timeout { which: Wait::FirstByte } => "no answer in time",
            Self::Timeout { which: Wait::Idle } => "the answer stalled",
            Self::Protocol => "unexpected answer",
            Self::Cancelled => "cancelled",
        })
    }
}

impl ModelError {
    /// An error without status. The text is capped and redacted.
    pub fn new(kind: ErrorKind, source_name: impl Into<String>, message: impl AsRef<str>) -> Self {
        Self {
            kind,
            source_name: source_name.into(),
            status: None,
            retry_after: None,
            message: cap(&redact(message.as_ref(), None)),
            permanent: false,
        }
    }

    /// The same with the HTTP status.
    #[must_use]
    pub fn with_status(self, status: u16) -> Self {
        Self { status: Some(status), ..self }
    }

    /// The same with the wait the provider asked for; `None` keeps what is known.
    #[must_use]
    pub fn with_retry_after(self, retry_after: Option<Duration>) -> Self {
        Self { retry_after: retry_after.or(self.retry_after), ..self }
    }

    /// The same, marked as not worth another attempt unless `again`.
    #[must_use]
    pub(crate) fn retryable(self, again: bool) -> Self {
        Self { permanent: self.permanent || !again, ..self }
    }

    /// The same without this key in its text.
    #[must_use]
    pub fn without(self, key: Option<&Secret>) -> Self {
        let message = redact(&self.message, key);
        Self { message, ..self }
    }

    /// Trying again later may help.
    pub fn is_transient(&self) -> bool {
        let passing = matches!(
            self.kind,
            ErrorKind::RateLimited
                | ErrorKind::Overloaded
                | ErrorKind::Network
                | ErrorKind::Cut
                | ErrorKind::Empty
                | ErrorKind::Timeout { .. }
        );
        passing && !self.permanent
    }

    /// Another model may answer where this one could not. An account without credit is no hindrance to that.
    pub fn another_may_answer(&self) -> bool {
        self.is_transient() || self.kind == ErrorKind::RateLimited
    }

    /// What the person can do next, one sentence.
    pub fn hint(&self) -> &'static str {
        match (self.kind, self.status) {
            (ErrorKind::Auth, _) => {
                "check the provider's key (`parlor doctor` shows which one is used, `parlor login` adds another)"
            }
            (ErrorKind::RateLimited, _) => {
                "wait a little and try again, check the account's limits and credit, or switch the model"
            }
            (ErrorKind::Overloaded, _) => "the provider has trouble: try again soon, or switch the model",
            (ErrorKind::ContextOverflow, _) => {
                "compact the conversation, start a new one, or switch to a model with a larger window"
            }
            (ErrorKind::BadRequest, Some(300..400 | 404)) => {
                "`parlor models` lists what is there; check the model's name and the base URL"
            }
            (ErrorKind::BadRequest, _) => {
                "the provider refused this request: the text above says why; another model may accept it"
            }
            (ErrorKind::Network, _) => "check the network, the proxy and the provider's base URL",
            (ErrorKind::Cut, _) => {
                "send the prompt again; if it keeps happening, look at the network and the proxy, or switch the model"
            }
            (ErrorKind::Empty, _) => {
                "servers do this when the conversation is longer than their window (compact it, or give the server a larger \
                 one) and when they break down (their log says why)"
            }
            (ErrorKind::Timeout { .. }, _) => {
                "send the prompt again; if it keeps happening, switch the model or check the server; `[network]` in the \
                 settings sets how long is waited"
            }
            (ErrorKind::Protocol, _) => "check that the base URL belongs to this provider's interface",
            (ErrorKind::Cancelled, _) => "nothing to do: it was cancelled on request",
        }
    }
}

/// Shortens a text to [`MAX_ERROR_TEXT`] characters.
pub(crate) fn cap(text: &str) -> String {
    match text.char_indices().nth(MAX_ERROR_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_well_and_is_capped() {
        let error = ModelError::new(ErrorKind::Overloaded, "anthropic/x", "try later").with_status(529);
        assert_eq!(error.to_string(), "anthropic/x: overloaded (HTTP 529): try later");
        assert_eq!(ModelError::new(ErrorKind::Cancelled, "a/b", "").to_string(), "a/b: cancelled");
        let long = ModelError::new(ErrorKind::Protocol, "a/b", "ä".repeat(5_000));
        assert_eq!(long.message.chars().count(), MAX_ERROR_TEXT + 1);
    }
}
