//! Messages as nous peers write them. No logic: what they mean stands in the roles.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A command as a UI writes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Command {
    pub(super) v: &'static str,
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) payload: Value,
}

/// The answer to a command. Carries no time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Response {
    #[serde(default)]
    pub(super) v: String,
    #[serde(default)]
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) payload: Value,
    pub(super) ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<ErrorBody>,
}

/// Why a command was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorBody {
    #[serde(default)]
    pub(super) code: String,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cause: Option<String>,
}

/// An event as it comes over the event socket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Event {
    #[serde(default)]
    pub(super) v: String,
    #[serde(default)]
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) payload: Payload,
    #[serde(default)]
    pub(super) ts: String,
}

/// What an event carries; what is empty is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Payload {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) delta: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_call_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cause: Option<String>,
}

/// An event inside the `result` of a waiting prompt: flat, with the turn as a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct FlatEvent {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(flatten)]
    pub(super) payload: Payload,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) turn: Option<u32>,
    pub(super) ts: String,
}

/// The answer to `get_state`. Empty strings, never null.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    #[serde(default)]
    pub(super) run_state: String,
    #[serde(default)]
    pub(super) run_id: String,
    #[serde(default)]
    pub(super) session_id: String,
    #[serde(default)]
    pub(super) steering_mode: String,
    #[serde(default)]
    pub(super) follow_up_mode: String,
    #[serde(default)]
    pub(super) pending_counts: PendingCounts,
}

/// How many inputs wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct PendingCounts {
    #[serde(default)]
    pub(super) steer: u64,
    #[serde(default)]
    pub(super) follow_up: u64,
}

/// One message of the history.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct MessageEntry {
    #[serde(rename = "type", default)]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) parent_id: Option<String>,
    #[serde(default)]
    pub(super) role: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn_kind: Option<String>,
    #[serde(default)]
    pub(super) created_at: String,
    /// Ours: the message is still being said, or was cut before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) partial: bool,
    /// Ours: the tools it used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<ToolEntry>,
}

/// A tool that a message used. Not in the document; existing clients ignore it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ToolEntry {
    #[serde(default)]
    pub(super) tool_call_id: String,
    #[serde(default)]
    pub(super) tool_name: String,
    #[serde(default)]
    pub(super) status: String,
    #[serde(default)]
    pub(super) output: String,
}

/// A node of `get_tree`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Node {
    pub(super) id: String,
    pub(super) parent_id: String,
    pub(super) role: &'static str,
    pub(super) snippet: String,
}

/// The answer to `get_messages`, as a UI reads it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Messages {
    #[serde(default)]
    pub(super) messages: Vec<MessageEntry>,
}

/// The keys of a payload.
pub(super) type Keys = Map<String, Value>;
