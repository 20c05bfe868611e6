//! What openagent's client and backend write, as they write it: names, codes and the types of requests and results. No logic.
//!
//! The document and the existing programs differ; where they do, a type holds both spellings. What is read is lenient: unknown members
//! are skipped, and what may be missing has a default. Notifications are in [`notify`].

pub mod notify;

use rolekit::calls;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wire::lenient;

/// The version of the document.
pub const PROTOCOL_VERSION: &str = "1.0.0";

calls! {
    Ui request "initialize": InitializeParams => InitializeResult;
    Ui request "agent.query": QueryParams => QueryResult;
    Ui request "agent.cancel": CancelParams => CancelResult;
    Ui request "tool.approve": ApproveParams => ApproveResult;
    // A notification; with an id it is answered all the same.
    Ui notification "context.update": Context => ContextResult;
    Ui request "session.save": SaveParams => SaveResult;
    Ui request "session.load": LoadParams => LoadResult;
    // Existing programs only, from here to the end of the UI's calls.
    Ui request "session.list": ListParams => ListResult;
    Ui request "session.export": ExportParams => ExportResult;
    Ui request "session.delete": DeleteParams => DeleteResult;
    Runtime notification "stream.token": notify::Token;
    Runtime notification "stream.tokens": notify::Tokens;
    Runtime notification "stream.block": notify::BlockParams;
    Runtime notification "stream.complete": notify::Complete;
    Runtime notification "stream.error": notify::StreamError;
    Runtime notification "tool.request_approval": notify::RequestApproval;
    Runtime notification "tool.progress": notify::Progress;
    Runtime notification "tool.complete": notify::ToolComplete;
    // Existing backend only: a tool that needed no approval is over.
    Runtime notification "tool.result": notify::ToolResult;
    Runtime notification "agent.thinking": notify::Thinking;
    Runtime notification "suggestion.inline": notify::Suggestion;
}

/// The document's own error codes; those of JSON-RPC are in [`wire::jsonrpc`].
pub mod code {
    /// Agent processing failed.
    pub const AGENT: i64 = -32000;
    /// The model failed.
    pub const MODEL: i64 = -32001;
    /// A tool failed.
    pub const TOOL: i64 = -32002;
    /// It took too long.
    pub const TIMEOUT: i64 = -32003;
    /// The person stopped the query.
    pub const CANCELLED: i64 = -32004;
    /// It is not permitted.
    pub const DENIED: i64 = -32005;

    /// Every code that a refusal may have.
    #[cfg(feature = "schema")]
    pub(in super::super) const ALL: &[i64] = &[
        wire::jsonrpc::PARSE_ERROR,
        wire::jsonrpc::INVALID_REQUEST,
        wire::jsonrpc::METHOD_NOT_FOUND,
        wire::jsonrpc::INVALID_PARAMS,
        wire::jsonrpc::INTERNAL_ERROR,
        AGENT,
        MODEL,
        TOOL,
        TIMEOUT,
        CANCELLED,
        DENIED,
    ];
}

/// Names of capabilities.
pub mod capability {
    /// Text comes in pieces.
    pub const STREAMING: &str = "streaming";
    /// Blocks are told apart.
    pub const BLOCKS: &str = "blocks";
    /// The UI colours code.
    pub const SYNTAX_HIGHLIGHTING: &str = "syntax_highlighting";
    /// The UI asks the person before tools run.
    pub const TOOL_APPROVAL: &str = "tool_approval";
    /// The UI saves and loads sessions.
    pub const SESSION_PERSISTENCE: &str = "session_persistence";
    /// The runtime has tools.
    pub const TOOL_EXECUTION: &str = "tool_execution";
    /// The runtime uses the UI's context.
    pub const CONTEXT_AWARE: &str = "context_aware";
}

/// A program by name and version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub name: String,
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub version: String,
}

/// The size of a terminal; the existing client leaves pixels out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TerminalSize {
    /// Columns.
    #[serde(default)]
    pub cols: u32,
    #[serde(default)]
    pub rows: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixel_width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pixel_height: Option<u32>,
}

/// `initialize`; everything may be missing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitializeParams {
    /// The version that the client speaks.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub protocol_version: Option<String>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Program"))]
    pub client_info: Option<Program>,
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "TerminalSize"))]
    pub terminal_size: Option<TerminalSize>,
    /// What it can do.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub capabilities: Option<Vec<String>>,
    /// Its settings; nobody reads them.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "serde_json::Map<String, serde_json::Value>"))]
    pub config: Option<serde_json::Value>,
}

/// A model in the hello.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    pub name: String,
    /// `code` or `chat`.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// Whether it is the one in use.
    #[serde(default)]
    pub loaded: bool,
}

/// The answer to `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitializeResult {
    /// `ready`.
    #[serde(default)]
    pub status: String,
    /// Ours: the version that both sides speak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    #[serde(default)]
    pub server_info: Program,
    /// What it can do.
    #[serde(default, deserialize_with = "lenient::null_as_default")]
    pub capabilities: Vec<String>,
    /// Its models; the existing backend leaves them out.
    #[serde(default, deserialize_with = "lenient::null_as_default")]
    pub models: Vec<Model>,
}

/// What the error of a version that does not fit carries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionData {
    pub supported: Vec<String>,
    /// What was asked for.
    pub requested: String,
}

/// A command of the person's shell.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecentCommand {
    /// The line.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub command: String,
    #[serde(default, deserialize_with = "lenient::opt_whole_i64", skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// When, in seconds.
    #[serde(default, deserialize_with = "lenient::opt_whole_i64", skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
}

/// Where the person works: in `agent.query`, and in parts in `context.update`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Context {
    /// Working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    /// Variables; read for `PWD` only, since they may hold secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<std::collections::BTreeMap<String, serde_json::Value>>,
    /// What was run lately, oldest first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent_commands: Option<Vec<RecentCommand>>,
    /// What the last command wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recent_output: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_files: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terminal_size: Option<TerminalSize>,
}

/// The answer to a `context.update` that came with an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextResult {
    /// `success`.
    pub status: String,
}

impl ContextResult {
    /// The only thing that this answer can say.
    pub fn success() -> ContextResult {
        ContextResult { status: "success".to_owned() }
    }
}

/// How a query is to be answered.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryOptions {
    /// In pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<bool>,
    /// Most tokens of one answer.
    #[serde(default, deserialize_with = "lenient::opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// 0 to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Whether tools may be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools_enabled: Option<bool>,
    /// Whether the person wants to be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub require_approval: Option<bool>,
    /// Ours: whether every action is asked about, whatever the mode says. `require_approval` means just that to others, but our
    /// first release said it with every query.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ask_first: bool,
}

/// `agent.query`; the existing client sends no context.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryParams {
    pub message: String,
    /// Where the person works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<QueryOptions>,
}

/// The immediate answer to `agent.query`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QueryResult {
    /// The name of the query; null in a refusal.
    #[serde(default)]
    pub query_id: Option<String>,
    /// `processing` (document), `streaming` or `rate_limited` (existing backend).
    #[serde(default)]
    pub status: String,
    /// Why it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `agent.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelParams {
    pub query_id: String,
}

/// The answer to `agent.cancel`; the existing backend only says `{"status":"not_implemented"}`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CancelResult {
    /// Whether it is being stopped.
    #[serde(default)]
    pub cancelled: bool,
    #[serde(default)]
    pub query_id: String,
    /// Existing backend only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// How far an approval reaches.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApproveOptions {
    /// Do not ask again for this.
    #[serde(default)]
    pub remember_choice: bool,
    /// Nor for what is like it.
    #[serde(default)]
    pub apply_to_similar: bool,
}

/// `tool.approve`; the existing client sends no options.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApproveParams {
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub execution_id: Option<String>,
    /// Yes or no; never guessed.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub approved: Option<bool>,
    /// How far it reaches.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "ApproveOptions"))]
    pub options: Option<ApproveOptions>,
    /// Ours: what the model is told after a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The answer to `tool.approve`: `approved` or `rejected` (document); `executed`, `rejected` or `error` (existing backend).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApproveResult {
    /// What became of it.
    #[serde(default)]
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// Existing backend only: what the tool gave back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// Existing backend only: words after a no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Existing backend only: what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `session.save`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SaveParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// With the messages; yes unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_history: Option<bool>,
    /// With the blocks; they are part of the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_blocks: Option<bool>,
}

/// The answer to `session.save`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SaveResult {
    #[serde(default)]
    pub saved: bool,
    #[serde(default)]
    pub path: String,
    /// Bytes.
    #[serde(default, deserialize_with = "lenient::whole_u64")]
    pub size: u64,
}

/// `session.load`: a file (document) or an id (existing client).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadParams {
    /// A file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// The session that was loaded, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedSession {
    #[serde(default)]
    pub id: String,
    /// Made at, in seconds.
    #[serde(default, deserialize_with = "lenient::whole_u64")]
    pub created: u64,
    #[serde(default, deserialize_with = "lenient::whole_u64")]
    pub blocks_count: u64,
    #[serde(default, deserialize_with = "lenient::whole_u64")]
    pub messages_count: u64,
}

/// A message of a loaded session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionMessage {
    /// `user`, `assistant` or `system`; the existing client fails on any other.
    #[serde(default)]
    pub role: String,
    /// The text.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub content: String,
    /// When, with a zone.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub timestamp: String,
    /// Tokens, if known.
    #[serde(default, deserialize_with = "lenient::opt_whole_u64")]
    pub token_count: Option<u64>,
}

/// The answer to `session.load`, in both shapes at once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadResult {
    /// Document: yes.
    #[serde(default)]
    pub loaded: bool,
    /// Document: the session.
    #[serde(default)]
    pub session: LoadedSession,
    /// Existing backend: `success` or `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Existing backend: the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Existing backend: how many messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// Existing backend: the messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<SessionMessage>>,
    /// Existing backend: what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `session.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListParams {
    /// How many at most.
    #[serde(default, deserialize_with = "lenient::opt_whole_u64", skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionItem {
    pub session_id: String,
    /// Its title; the existing client fails on null.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub title: String,
    /// When it was made; the existing client wants a zone, the existing backend gives none.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub created_at: String,
    /// When something last happened.
    #[serde(default, deserialize_with = "lenient::string_or_null")]
    pub updated_at: String,
    /// Where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_count: Option<u64>,
    /// Where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
}

/// The answer to `session.list`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListResult {
    /// `success`.
    #[serde(default)]
    pub status: String,
    /// Newest first.
    #[serde(default)]
    pub sessions: Vec<SessionItem>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `session.export`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportParams {
    /// `markdown` unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Which; the current one unless said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// The answer to `session.export`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportResult {
    /// `success` or `error`.
    #[serde(default)]
    pub status: String,
    /// As asked.
    #[serde(default)]
    pub format: String,
    /// The text.
    #[serde(default)]
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// `session.delete`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeleteParams {
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub session_id: Option<String>,
}

/// The answer to `session.delete`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeleteResult {
    /// `success` or `error`.
    #[serde(default)]
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
