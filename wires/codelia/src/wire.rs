//! Messages exactly as codelia's programs write them, in their names. No logic: what they mean is the roles' business.
//!
//! Reading ignores unknown members. Absent and null mean the same unless a field says otherwise. `[L]` marks what only the
//! existing programs have, later than the document.

mod agent_event;
mod catalog;
mod client_tools;
mod person;
mod shell;

pub use agent_event::*;
pub use catalog::*;
pub use client_tools::*;
pub use person::*;
pub use shell::*;

use rolekit::calls;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use wire::lenient::{null_as_default, opt_whole_i64};

/// The version of the protocol that we speak.
pub const PROTOCOL_VERSION: &str = "0";

calls! {
    Ui request "initialize": InitializeParams => InitializeResult;
    Ui request "run.start": RunStartParams => RunStartResult;
    Ui request "run.cancel": RunCancelParams => RunCancelResult;
    Ui request "session.list": SessionListParams => SessionListResult;
    Ui request "session.history": SessionHistoryParams => SessionHistoryResult;
    Ui request "model.list": ModelListParams => ModelListResult;
    Ui request "model.set": ModelSetParams => ModelSetResult;
    Ui request "mcp.list": McpListParams => McpListResult;
    Ui request "skills.list": SkillsListParams => SkillsListResult;
    Ui request "context.inspect": ContextInspectParams => ContextInspectResult;
    Ui request "shell.exec": ShellExecParams => ShellExecResult;
    Ui request "shell.start": ShellStartParams => ShellTask;
    Ui request "shell.list": ShellListParams => ShellListResult;
    Ui request "shell.status": ShellStatusParams => ShellTask;
    Ui request "shell.output": ShellOutputParams => ShellOutputResult;
    Ui request "shell.wait": ShellWaitParams => ShellTask;
    Ui request "shell.detach": ShellDetachParams => ShellDetachResult;
    Ui request "shell.cancel": ShellCancelParams => ShellTask;
    Ui request "auth.logout": AuthLogoutParams => AuthLogoutResult;
    Ui request "task.spawn": TaskSpawnParams => Task;
    Ui request "task.list": TaskListParams => TaskListResult;
    Ui request "task.status": TaskStatusParams => Task;
    Ui request "task.wait": TaskWaitParams => Task;
    Ui request "task.cancel": TaskCancelParams => Task;
    Ui request "task.result": TaskResultParams => Option<Task>;
    Ui request "theme.set": ThemeSetParams => ThemeSetResult;
    // A notification; with an id it is answered all the same.
    Ui notification "ui.context.update": UiContextParams => Nothing;
    Runtime notification "agent.event": AgentEventParams<'_, &AgentEvent>;
    Runtime notification "run.status": RunStatusParams;
    Runtime notification "run.context": RunContextParams;
    Runtime notification "run.diagnostics": RunDiagnosticsParams;
    Runtime request "ui.confirm.request": ConfirmParams => ConfirmResult;
    Runtime request "ui.prompt.request": PromptParams => PromptResult;
    Runtime request "ui.pick.request": PickParams => PickResult;
    Runtime request "client.tool.call": ClientToolCallParams => ClientToolCallResult;
    Runtime notification "client.tool.cancel": ClientToolCancelParams;
}

/// Error codes beside those of JSON-RPC.
pub mod code {
    /// `[L]` The runtime itself failed.
    pub const INTERNAL: i64 = -32000;
    /// A run is under way.
    pub const BUSY: i64 = -32001;
    /// No such run.
    pub const RUN_NOT_FOUND: i64 = -32002;
    /// The person said no.
    pub const USER_CANCELLED: i64 = -32003;
    /// `[L]` No such session.
    pub const SESSION_NOT_FOUND: i64 = -32004;
    /// `[L]` The session could not be read.
    pub const SESSION_LOAD_FAILED: i64 = -32005;
    /// `[L]` The sessions could not be listed.
    pub const SESSION_LIST_FAILED: i64 = -32006;

    /// Every code that a refusal may have.
    #[cfg(feature = "schema")]
    pub(in super::super) const ALL: &[i64] = &[
        wire::jsonrpc::PARSE_ERROR,
        wire::jsonrpc::INVALID_REQUEST,
        wire::jsonrpc::METHOD_NOT_FOUND,
        wire::jsonrpc::INVALID_PARAMS,
        INTERNAL,
        BUSY,
        RUN_NOT_FOUND,
        USER_CANCELLED,
        SESSION_NOT_FOUND,
        SESSION_LOAD_FAILED,
        SESSION_LIST_FAILED,
    ];
}

/// Name and version of a peer, for the handshake.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Program {
    pub name: String,
    #[serde(default)]
    pub version: String,
}

/// Parameters of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitializeParams {
    /// The version that the UI speaks.
    pub protocol_version: String,
    /// The UI.
    pub client: Program,
    /// What the UI can do.
    #[serde(default, deserialize_with = "null_as_default")]
    pub ui_capabilities: UiCapabilities,
}

/// What a UI can do; absent means that it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct UiCapabilities {
    /// It answers `ui.confirm.request`.
    pub supports_confirm: bool,
    /// It answers `ui.prompt.request`.
    pub supports_prompt: bool,
    /// It answers `ui.pick.request`.
    pub supports_pick: bool,
    /// It shows Markdown.
    pub supports_markdown: bool,
    /// It shows images.
    pub supports_images: bool,
    /// `[L]` It wants `permission.*` events; never looked at by the existing runtime.
    pub supports_permission_preflight_events: bool,
    /// Ours: it takes text piece by piece.
    pub supports_text_deltas: bool,
}

/// How the runtime greets back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InitializeResult {
    /// The version that the runtime speaks.
    pub protocol_version: String,
    /// The runtime.
    pub server: Program,
    /// What the runtime can do; `None` when it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_capabilities: Option<ServerCapabilities>,
    /// `[L]` How the UI shall look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tui: Option<TuiLook>,
}

/// `[L]` What the UI chose with `theme.set`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TuiLook {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

/// What a runtime can do; absent means that it cannot, unless a member says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ServerCapabilities {
    /// It takes `run.cancel`.
    pub supports_run_cancel: bool,
    /// It sends `ui.*.request`; one that leaves this out may do so too.
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub supports_ui_requests: Option<bool>,
    /// It takes `mcp.list`.
    pub supports_mcp_list: bool,
    /// It takes `skills.list`.
    pub supports_skills_list: bool,
    /// `[L]` It takes `context.inspect`.
    pub supports_context_inspect: bool,
    /// `[L]` It takes `tool.call`.
    pub supports_tool_call: bool,
    /// `[L]` It takes `shell.exec`.
    pub supports_shell_exec: bool,
    /// `[L]` It takes `shell.start` and its kin.
    pub supports_shell_tasks: bool,
    /// `[L]` It takes `shell.detach`.
    pub supports_shell_detach: bool,
    /// `[L]` It takes `task.*`.
    pub supports_tasks: bool,
    /// `[L]` It takes `theme.set`.
    pub supports_theme_set: bool,
    /// `[L]` It sends `run.diagnostics`.
    pub supports_run_diagnostics: bool,
    /// `[L]` It sends `permission.*` events.
    pub supports_permission_preflight_events: bool,
    /// Ours: it tells text piece by piece to a UI that wants it.
    pub supports_text_deltas: bool,
}

/// A result that says nothing but that it was heard.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Nothing {}

/// Parameters of `run.start`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunStartParams {
    pub input: RunInput,
    /// Which session; absent is the runtime's current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Where the person works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ui_context: Option<UiContextParams>,
    /// `[L]` Only compact; the input is not looked at.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "std::ops::Not::not")]
    pub force_compaction: bool,
    /// `[L]` Tools that the UI offers.
    #[serde(default, deserialize_with = "null_as_default", skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ClientTool>,
}

/// What is said with `run.start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunInput {
    /// Plain text.
    Text { text: String },
    /// `[L]` Text and images.
    Parts {
        /// In order.
        parts: Vec<InputPart>,
    },
}

/// `[L]` A part of what is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputPart {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

/// `[L]` An image by address; `data:` addresses carry it along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImageUrl {
    /// The address.
    pub url: String,
    /// Media type such as `image/png`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// `auto`, `low` or `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A run was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunStartResult {
    /// The run's name.
    pub run_id: String,
    /// `[L]` The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// Parameters of `run.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunCancelParams {
    pub run_id: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether there was something to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunCancelResult {
    /// Whether it is being stopped.
    pub ok: bool,
    /// How it stands, where that is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Under way.
    Running,
    /// The person is asked.
    AwaitingUi,
    /// Over.
    Completed,
    /// Broken.
    Error,
    /// Stopped.
    Cancelled,
    /// A word that we do not know, and never write.
    #[cfg_attr(feature = "schema", schemars(skip))]
    #[serde(untagged)]
    Other(String),
}

/// Parameters of `run.status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunStatusParams {
    pub run_id: String,
    pub status: Status,
    /// For the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Parameters of `run.context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunContextParams {
    pub run_id: String,
    /// 0 to 100.
    #[serde(deserialize_with = "percent")]
    pub context_left_percent: i64,
}

/// Worked out by division: the fraction does not matter.
fn percent<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    f64::deserialize(deserializer).map(|percent| percent as i64)
}

/// `[L]` Parameters of `run.diagnostics`: numbers for developers, sent on demand only. We do not read them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunDiagnosticsParams {
    pub run_id: String,
    /// `llm_call` or `run_summary`.
    pub kind: String,
    /// One call of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<serde_json::Map<String, serde_json::Value>>,
    /// All calls of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<serde_json::Map<String, serde_json::Value>>,
}

/// Parameters of `agent.event`. The event is written as what it is, and first read as raw text: one of a type that we do not know
/// must not spoil the message.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "AgentEventParams"))]
pub struct AgentEventParams<'a, E> {
    #[serde(borrow)]
    pub run_id: Cow<'a, str>,
    /// Its place in the run; -1 for what the person said, in a replay.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub seq: i64,
    /// What the agent did.
    pub event: E,
    /// Room for more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<EventMeta>,
}

/// Nobody goes by the place of an event that says none.
fn whole_or_zero<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    opt_whole_i64(deserializer).map(Option::unwrap_or_default)
}

/// As written.
pub type AgentEventNotify<'a> = AgentEventParams<'a, &'a AgentEvent>;

/// What we put into the room for more: this event is one piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EventMeta {
    /// Whether the event is a piece.
    pub delta: bool,
    /// The message that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
