//! The events that `agent.event` carries. Each is read by its `type`; a type that we do not know is told apart from a known one with
//! wrong members.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wire::lenient::{floor_or_none, null_as_default};

/// What the agent did.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type")]
pub enum AgentEvent {
    /// A whole text beside tool calls.
    #[serde(rename = "text")]
    Text(Words),
    /// A whole thought.
    #[serde(rename = "reasoning")]
    Reasoning(Words),
    /// The end of the turn, with its text.
    #[serde(rename = "final")]
    Final(Words),
    /// What the person said, in a replay.
    #[serde(rename = "hidden_user_message")]
    HiddenUserMessage(Words),
    /// A tool call begins.
    #[serde(rename = "step_start")]
    StepStart(StepStart),
    /// The model wants a tool.
    #[serde(rename = "tool_call")]
    ToolCall(ToolCall),
    /// What the tool gave back.
    #[serde(rename = "tool_result")]
    ToolResult(ToolResult),
    /// The tool call is over.
    #[serde(rename = "step_complete")]
    StepComplete(StepComplete),
    /// The context is being compacted.
    #[serde(rename = "compaction_start")]
    CompactionStart(CompactionStart),
    /// The context was compacted.
    #[serde(rename = "compaction_complete")]
    CompactionComplete(CompactionComplete),
    /// `[L]` What a tool would change.
    #[serde(rename = "permission.preview")]
    PermissionPreview(PermissionPreview),
    /// `[L]` The person will be asked about this tool.
    #[serde(rename = "permission.ready")]
    PermissionReady(PermissionReady),
    /// `[L]` The model will be asked again.
    #[serde(rename = "llm.retry")]
    LlmRetry(LlmRetry),
}

/// Why an event could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadEvent {
    /// A type that we do not know.
    Unknown(String),
    /// A type that we know, with members that do not fit.
    Malformed(String),
}

impl AgentEvent {
    /// Reads an event by its type.
    ///
    /// # Errors
    /// When the type is unknown or its members do not fit.
    pub fn read(raw: &str) -> Result<AgentEvent, BadEvent> {
        #[derive(Deserialize)]
        struct Tag {
            r#type: String,
        }
        fn as_type<'de, T: Deserialize<'de>>(raw: &'de str) -> Result<T, BadEvent> {
            serde_json::from_str(raw).map_err(|error| BadEvent::Malformed(error.to_string()))
        }
        let Tag { r#type } = as_type(raw)?;
        Ok(match r#type.as_str() {
            "text" => AgentEvent::Text(as_type(raw)?),
            "reasoning" => AgentEvent::Reasoning(as_type(raw)?),
            "final" => AgentEvent::Final(as_type(raw)?),
            "hidden_user_message" => AgentEvent::HiddenUserMessage(as_type(raw)?),
            "step_start" => AgentEvent::StepStart(as_type(raw)?),
            "tool_call" => AgentEvent::ToolCall(as_type(raw)?),
            "tool_result" => AgentEvent::ToolResult(as_type(raw)?),
            "step_complete" => AgentEvent::StepComplete(as_type(raw)?),
            "compaction_start" => AgentEvent::CompactionStart(as_type(raw)?),
            "compaction_complete" => AgentEvent::CompactionComplete(as_type(raw)?),
            "permission.preview" => AgentEvent::PermissionPreview(as_type(raw)?),
            "permission.ready" => AgentEvent::PermissionReady(as_type(raw)?),
            "llm.retry" => AgentEvent::LlmRetry(as_type(raw)?),
            _ => return Err(BadEvent::Unknown(r#type)),
        })
    }
}

/// Text, thought, final and what the person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// The words.
    #[serde(default, deserialize_with = "null_as_default")]
    pub content: String,
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "floor_or_none", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
}

/// A tool call begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepStart {
    /// The tool call's id.
    pub step_id: String,
    /// The tool's name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: String,
    /// Counts the calls of one answer of the model, from 1.
    #[serde(default, deserialize_with = "floor_or_none", skip_serializing_if = "Option::is_none")]
    pub step_number: Option<u64>,
}

/// The model wants a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: String,
    /// An object; `{"_raw": …}` if the model wrote something else.
    #[serde(default)]
    pub args: Option<Box<RawValue>>,
    /// Its id.
    pub tool_call_id: String,
    /// A name to show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
}

/// What a tool gave back.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ToolResult {
    /// The tool's name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub tool: String,
    /// A string; some tools write JSON into it, some runtimes put the JSON itself here.
    #[serde(default)]
    pub result: Option<Box<RawValue>>,
    /// The call's id.
    pub tool_call_id: String,
    /// Whether it failed.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

/// What the tools that change files write into their result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// What was done.
    #[serde(default, deserialize_with = "null_as_default")]
    pub summary: String,
    /// Unified diff.
    pub diff: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
}

/// A tool call is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepComplete {
    /// The tool call's id.
    pub step_id: String,
    /// `completed` or `error`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub status: String,
    /// How long it took.
    #[serde(default, deserialize_with = "floor_or_none", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}

/// The context is being compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionStart {
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "floor_or_none", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
}

/// The context was compacted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionComplete {
    /// Milliseconds since 1970.
    #[serde(default, deserialize_with = "floor_or_none", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<u64>,
    /// Whether there was anything to compact.
    #[serde(default, deserialize_with = "null_as_default")]
    pub compacted: bool,
}

/// `[L]` What a tool would change.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionPreview {
    /// The tool's name.
    pub tool: String,
    /// The call's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The file.
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
pub struct PermissionReady {
    /// The tool's name.
    pub tool: String,
    /// The call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

/// `[L]` The model will be asked again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmRetry {
    /// Who was asked.
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
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ShellOutcome {
    /// `completed`, `failed` and the like.
    pub state: String,
    /// What was run.
    pub command: String,
    /// How it ended; null when it was killed.
    #[serde(default)]
    pub exit_code: Option<i64>,
    /// The signal that killed it.
    #[serde(default)]
    pub signal: Option<String>,
    /// What it wrote.
    #[serde(default, deserialize_with = "null_as_default")]
    pub stdout: String,
    /// What it complained about.
    #[serde(default, deserialize_with = "null_as_default")]
    pub stderr: String,
}
