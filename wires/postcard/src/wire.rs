//! Lines as peers of this wire write them: ten messages, each an object whose one member names it. No logic.

use domain::content::Json;
use serde::{Deserialize, Serialize};

/// `yes` and `no` answer the `may_i` of the same number.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromUi {
    Say { text: String },
    Stop {},
    Yes { ask: u64 },
    No { ask: u64, reason: Option<String> },
}

/// `may_i` asks whether a call may run; the `error` of `end` says why the answer is none.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FromRuntime {
    Text { text: String },
    Thought { text: String },
    Call { call: u64, tool: String, args: Json },
    Result { call: u64, ok: bool, text: String },
    MayI { ask: u64, call: u64, tool: String, args: Json },
    End { error: Option<String> },
}

pub(crate) const STOPPED: &str = "stopped";
