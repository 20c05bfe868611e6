//! The events that `agent.event` carries. Each is read by its `type`; a type that we do not know is told apart from a known one with
//! wrong members.

use rolekit::tagged;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wire::lenient::{floor_or_none, null_as_default};

tagged! {
    /// What the agent did.
    #[derive(Debug, Clone)]
    pub enum AgentEvent by "type" {
        /// A whole text beside tool calls.
        "text" => Text(Words),
        /// A whole thought.
        "reasoning" => Reasoning(Words),
        /// The end of the turn, with its text.
        "final" => Final(Words),
        /// What the person said, in a replay.
        "hidden_user_message" => HiddenUserMessage(Words),
        /// A tool call begins.
        "step_start" => StepStart(StepStart),
        /// The model wants a tool.
        "tool_call" => ToolCall(ToolCall),
        /// What the tool gave back.
        "tool_result" => ToolResult(ToolResult),
        /// The tool call is over.
        "step_complete" => StepComplete(StepComplete),
        /// The context is being compacted.
        "compaction_start" => CompactionStart(CompactionStart),
        /// The context was compacted.
        "compaction_complete" => CompactionComplete(CompactionComplete),
        /// `[L]` What a tool would change.
        "permission.preview" => PermissionPreview(PermissionPreview),
        /// `[L]` The person will be asked about this tool.
        "permission.ready" => PermissionReady(PermissionReady),
        /// `[L]` The model will be asked again.
        "llm.retry" => LlmRetry(LlmRetry),
    }
}

/// Why an event could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadEvent {
    /// A type that we do not know.
    Unknown(String),
    /// A type that we know, with members that do not fit.
    Malformed(String),
}

/// Reads an event by its type.
///
/// # Errors
/// When the type is unknown or its members do not fit.
pub fn read_event(raw: &str) -> Result<AgentEvent, BadEvent> {
    #[derive(Deserialize)]
    struct Tag {
        r#type: String,
    }
    let malformed = |error: serde_json::Error| BadEvent::Malformed(error.to_string());
    let Tag { r#type } = serde_json::from_str(raw).map_err(malformed)?;
    AgentEvent::read(&r#type, raw).ok_or(BadEvent::Unknown(r#type))?.map_err(malformed)
}

/// Text, thought, final and what the person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Words {
    #[serde(default, deserialize_with = "null_as_default")]
    pub content: String,
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "floor_or_zero")]
    pub timestamp: u64,
}

/// A tool call begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepStart {
    /// The tool call's id.
    pub step_id: String,
    /// The tool's name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: String,
    /// Counts the calls of one answer of the model, from 1; 0 when it was not said.
    #[serde(default, deserialize_with = "floor_or_zero")]
    pub step_number: u64,
}

/// The model wants a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// An object; `{"_raw": …}` if the model wrote something else.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub args: Option<Box<RawValue>>,
    pub tool_call_id: String,
    /// A name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

/// What a tool gave back.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    /// The tool's name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tool: String,
    /// A string; some tools write JSON into it, some runtimes put the JSON itself here.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub result: Option<Box<RawValue>>,
    pub tool_call_id: String,
    /// Whether it failed.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// What the tools that change files write into their result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    #[serde(default, deserialize_with = "null_as_default")]
    pub summary: String,
    /// Unified diff.
    pub diff: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
}

/// A tool call is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepComplete {
    /// The tool call's id.
    pub step_id: String,
    /// `completed` or `error`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: String,
    /// How long it took.
    #[serde(default, deserialize_with = "floor_or_zero")]
    pub duration_ms: u64,
}

/// The context is being compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactionStart {
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "floor_or_zero")]
    pub timestamp: u64,
}

/// The context was compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompactionComplete {
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "floor_or_zero")]
    pub timestamp: u64,
    /// Whether there was anything to compact.
    #[serde(default, deserialize_with = "null_as_default")]
    pub compacted: bool,
}

/// `[L]` What a tool would change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct PermissionPreview {
    /// The tool's name.
    pub tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// In words, where there is no diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whether the diff was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncated: Option<bool>,
}

/// `[L]` The person will be asked about this tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionReady {
    /// The tool's name.
    pub tool: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// `[L]` The model will be asked again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct LlmRetry {
    pub provider: String,
    /// `rate_limit`, `overloaded`, `timeout`, `network` or `provider`.
    pub failure_kind: String,
    /// The next attempt's number.
    #[serde(deserialize_with = "few")]
    pub next_attempt: u32,
    /// At most.
    #[serde(deserialize_with = "few")]
    pub max_attempts: u32,
    /// Milliseconds until then.
    #[serde(deserialize_with = "floor_or_zero")]
    pub delay_ms: u64,
    /// What the delay comes from.
    pub delay_source: String,
    /// Ours: what went wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Delays that are worked out have fractions.
fn floor_or_zero<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    floor_or_none(deserializer).map(Option::unwrap_or_default)
}

fn few<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    floor_or_zero(deserializer).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}

/// What the existing runtime's shell tools write into their result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellOutcome {
    /// The name of a command in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `running`, `completed`, `failed` or `cancelled`.
    pub state: String,
    pub command: String,
    /// How it ended; null when it was killed.
    #[serde(default)]
    pub exit_code: Option<i64>,
    /// The signal that killed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    #[serde(default, deserialize_with = "floor_or_none", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub stdout: String,
    /// What it complained about.
    #[serde(default, deserialize_with = "null_as_default")]
    pub stderr: String,
    /// Why it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_message: Option<String>,
    /// It goes on in the background.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detached_wait: Option<bool>,
    /// Ours: it was stopped because it took too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_out: Option<bool>,
}
