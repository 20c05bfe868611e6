//! Notifications of the runtime. Params are a superset: the document's names and those that the existing programs use, side by side.
//! Nothing may stand beside `params` at the top level: the existing client drops such a line.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wire::lenient;

/// `stream.token`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Token {
    #[serde(default)]
    pub query_id: String,
    /// Document: the piece.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub token: Option<String>,
    /// Existing programs: the piece.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub content: Option<String>,
    /// Document: its place, from 0.
    #[serde(default, deserialize_with = "lenient::opt_whole_u64")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub index: Option<u64>,
    /// Existing programs: `text`.
    #[serde(rename = "type", default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: Option<String>,
    /// Document: what is known about it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "TokenMetadata"))]
    pub metadata: Option<TokenMetadata>,
}

/// What is known about a piece.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenMetadata {
    /// `text`.
    #[serde(rename = "type", default)]
    pub kind: String,
}

/// A piece in a batch.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Piece {
    #[serde(default)]
    pub token: String,
    /// Its place.
    #[serde(default, deserialize_with = "lenient::opt_whole_u64")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub index: Option<u64>,
}

/// `stream.tokens`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tokens {
    #[serde(default)]
    pub query_id: String,
    /// The pieces, in order.
    #[serde(default)]
    pub tokens: Vec<Piece>,
}

/// What a block is about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockMetadata {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its lines, such as `10-15`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    #[serde(default)]
    pub diff: bool,
    /// Whether it could be run as it stands.
    #[serde(default)]
    pub executable: bool,
    /// Ours: the tool run that it is the output of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// Ours: how loud a word for the person is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// Ours: a short stable word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A word about a line of a block.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Annotation {
    #[serde(default)]
    pub line: u64,
    /// `suggestion` and the like.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// The word.
    #[serde(default)]
    pub message: String,
}

/// The document's nested block.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Block {
    /// text, code, diff, error, tool_output or interactive.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// The language of code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// What stands in it.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub content: String,
    /// What it is about.
    #[serde(default, deserialize_with = "lenient::null_as_default")]
    pub metadata: BlockMetadata,
    /// Words about its lines.
    #[serde(default, deserialize_with = "lenient::null_as_default")]
    pub annotations: Vec<Annotation>,
}

/// `stream.block`: nested (document) and flat (existing programs).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockParams {
    #[serde(default)]
    pub query_id: String,
    /// Document: its name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub block_id: Option<String>,
    /// Document: the block.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Block"))]
    pub block: Option<Block>,
    /// Existing programs: its type.
    #[serde(rename = "type", default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub kind: Option<String>,
    /// Existing programs: what stands in it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub content: Option<String>,
    /// Existing programs: the language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// Numbers of a query.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompleteMetadata {
    /// Where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Written tokens per second, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens_per_second: Option<f64>,
    /// Names of the tools that ran.
    #[serde(default)]
    pub tools_executed: Vec<String>,
    /// Where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_used: Option<String>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
    /// Ours: tokens read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Ours: tokens written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
}

/// `stream.complete`: exactly one per query.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Complete {
    #[serde(default)]
    pub query_id: String,
    /// success, error, cancelled or timeout.
    #[serde(default)]
    pub status: String,
    /// Document: numbers.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "CompleteMetadata"))]
    pub metadata: Option<CompleteMetadata>,
    /// Existing backend: what went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Why a query broke, with its code.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamFault {
    /// One of the document's codes.
    #[serde(default)]
    pub code: i64,
    /// In short.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub message: String,
    /// At length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

/// Tells that a query broke.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamError {
    #[serde(default)]
    pub query_id: String,
    #[serde(default)]
    pub error: StreamFault,
}

/// The tool that a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    #[serde(default)]
    pub name: String,
    /// What it would do.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub description: String,
    /// file_system, shell, network and the like.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub category: String,
}

/// How dangerous a tool run is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RiskAssessment {
    /// low, medium, high or critical.
    #[serde(default)]
    pub level: String,
    /// Why.
    #[serde(default, deserialize_with = "lenient::null_as_default")]
    pub reasons: Vec<String>,
    /// Whether it can be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub reversible: Option<bool>,
}

/// What would happen: an object (document) or a text (existing programs).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Preview {
    /// Existing programs.
    Text(String),
    /// Document.
    Object {
        /// diff, command or text.
        #[serde(rename = "type", default)]
        kind: String,
        /// The text.
        #[serde(default)]
        content: String,
        /// Ours: the file of a diff.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

/// `tool.request_approval`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RequestApproval {
    /// What the answer names.
    #[serde(default)]
    pub execution_id: String,
    /// Document: which query; the existing backend leaves it out.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub query_id: Option<String>,
    /// Document: the tool.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Tool"))]
    pub tool: Option<Tool>,
    /// Document: its arguments.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub arguments: Option<Box<RawValue>>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Preview"))]
    pub preview: Option<Preview>,
    /// Document: how dangerous it is.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "RiskAssessment"))]
    pub risk_assessment: Option<RiskAssessment>,
    /// Document: seconds.
    #[serde(default, deserialize_with = "lenient::opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Existing programs: the tool's name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub tool_name: Option<String>,
    /// Existing programs: what it would do.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub description: Option<String>,
    /// Existing programs: how dangerous it is.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub risk_level: Option<String>,
    /// Ours: what `remember_choice` would allow from now on, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Ours: whether `tool.approve` may carry a `reason` for a no.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub takes_reason: Option<bool>,
}

/// How far a tool is.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProgressState {
    /// 0 to 100; left out while nothing is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentage: Option<f64>,
    /// `started` or `processing`.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub status: String,
    /// What it does now.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub message: String,
    /// Ours: the percentage says nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub indeterminate: bool,
    /// Ours: more of its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}

/// `tool.progress`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Progress {
    #[serde(default)]
    pub execution_id: String,
    #[serde(default)]
    pub progress: ProgressState,
    /// Ours: which query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// Ours, when it starts: the tool, since one that needed no approval was not told before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// Ours, when it starts: its arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<RawValue>>,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolOutput {
    /// The text.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub output: String,
    /// Files that it changed.
    #[serde(default, deserialize_with = "lenient::null_as_default")]
    pub files_modified: Vec<String>,
    /// How long it took.
    #[serde(default)]
    pub duration_ms: u64,
    /// Ours: the text was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Tells how a tool ended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolComplete {
    #[serde(default)]
    pub execution_id: String,
    /// success or error (document); ours: rejected, timeout, skipped, cancelled, unknown.
    #[serde(default)]
    pub status: String,
    /// What it gave back.
    #[serde(default)]
    pub result: ToolOutput,
    /// Ours: which query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_id: Option<String>,
    /// Ours: the tool's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
}

/// `tool.result` of the existing backend.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult {
    #[serde(default)]
    pub execution_id: String,
    /// `success`.
    #[serde(default)]
    pub status: String,
    /// What the tool gave back.
    #[serde(default)]
    pub result: Option<Box<RawValue>>,
}

/// `agent.thinking`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Thinking {
    #[serde(default)]
    pub query_id: String,
    /// analyzing, planning, generating or executing.
    #[serde(default)]
    pub phase: String,
    /// In words.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub message: String,
    /// Ours: a piece of the model's thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thought: Option<String>,
}

/// `suggestion.inline`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suggestion {
    /// The text.
    #[serde(default)]
    pub suggestion: String,
    /// 0 to 1.
    #[serde(default)]
    pub confidence: f64,
    /// Where it comes from.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub source: String,
    /// Why.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub context: String,
}
