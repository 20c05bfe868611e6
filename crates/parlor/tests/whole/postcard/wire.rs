//! Lines as peers of this wire write them: ten messages, one JSON object per line. No logic.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A line of the UI.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FromUi {
    Say {
        text: String,
    },
    Stop,
    Yes {
        ask: String,
    },
    No {
        ask: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A line of the runtime.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum FromRuntime {
    Ready,
    Text {
        text: String,
    },
    Call {
        call: String,
        tool: String,
        args: Value,
    },
    Result {
        call: String,
        ok: bool,
        text: String,
    },
    /// Whether a call may run.
    MayI {
        ask: String,
        call: String,
        tool: String,
        args: Value,
    },
    /// The answer is over; `error` says why it is none.
    End {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}
