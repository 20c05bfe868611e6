//! Messages exactly as codelia's programs write them, in their names. No logic: what they mean is the roles' business.
//!
//! Reading ignores unknown members. Absent and null mean the same unless a field says otherwise. `[L]` marks what only the
//! existing programs have, later than the document.

mod agent_event;
mod catalog;
mod person;

pub use agent_event::*;
pub use catalog::*;
pub use person::*;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use wire::lenient::{null_as_default, opt_whole_i64};

/// The version of the protocol that we speak.
pub const PROTOCOL_VERSION: &str = "0";

/// Names of methods and notifications.
pub mod method {
    /// Handshake.
    pub const INITIALIZE: &str = "initialize";
    /// Starts a run.
    pub const RUN_START: &str = "run.start";
    /// Stops a run.
    pub const RUN_CANCEL: &str = "run.cancel";
    /// Lists sessions.
    pub const SESSION_LIST: &str = "session.list";
    /// Replays a session.
    pub const SESSION_HISTORY: &str = "session.history";
    /// Lists models.
    pub const MODEL_LIST: &str = "model.list";
    /// Takes another model.
    pub const MODEL_SET: &str = "model.set";
    /// Lists MCP servers.
    pub const MCP_LIST: &str = "mcp.list";
    /// Lists skills.
    pub const SKILLS_LIST: &str = "skills.list";
    /// Where the person works (notification).
    pub const UI_CONTEXT_UPDATE: &str = "ui.context.update";
    /// What the agent does (notification).
    pub const AGENT_EVENT: &str = "agent.event";
    /// How a run stands (notification).
    pub const RUN_STATUS: &str = "run.status";
    /// How much context is left (notification).
    pub const RUN_CONTEXT: &str = "run.context";
    /// `[L]` Tokens and times of model calls (notification).
    pub const RUN_DIAGNOSTICS: &str = "run.diagnostics";
    /// Yes or no.
    pub const UI_CONFIRM: &str = "ui.confirm.request";
    /// A text.
    pub const UI_PROMPT: &str = "ui.prompt.request";
    /// Some of a list.
    pub const UI_PICK: &str = "ui.pick.request";
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
}

/// Who a program is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// Its version.
    #[serde(default)]
    pub version: String,
}

/// Parameters of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Result of `initialize`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitializeResult {
    /// The version that the runtime speaks.
    pub protocol_version: String,
    /// The runtime.
    pub server: Program,
    /// What the runtime can do; `None` when it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_capabilities: Option<ServerCapabilities>,
}

/// What a runtime can do; absent means that it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerCapabilities {
    /// It takes `run.cancel`.
    pub supports_run_cancel: bool,
    /// It sends `ui.*.request`.
    pub supports_ui_requests: bool,
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

/// Parameters of `run.start`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunStartParams {
    /// What is said.
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
    pub tools: Vec<Box<RawValue>>,
}

/// What is said with `run.start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunInput {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// `[L]` Text and images.
    Parts {
        /// In order.
        parts: Vec<InputPart>,
    },
}

/// `[L]` A part of what is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum InputPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// An image.
    ImageUrl {
        /// Where it is.
        image_url: ImageUrl,
    },
}

/// `[L]` An image by address; `data:` addresses carry it along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// Result of `run.start`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStartResult {
    /// The run's name.
    pub run_id: String,
    /// `[L]` The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
}

/// Parameters of `run.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCancelParams {
    /// Which run.
    pub run_id: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Result of `run.cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCancelResult {
    /// Whether it is being stopped.
    pub ok: bool,
    /// How it stands, where that is not obvious.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// A word that we do not know.
    #[serde(untagged)]
    Other(String),
}

/// Parameters of `run.status`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunStatusParams {
    /// Which run.
    pub run_id: String,
    /// How it stands.
    pub status: Status,
    /// For the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Parameters of `run.context`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunContextParams {
    /// Which run.
    pub run_id: String,
    /// 0 to 100.
    #[serde(deserialize_with = "percent")]
    pub context_left_percent: i64,
}

/// Worked out by division: the fraction does not matter.
fn percent<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    f64::deserialize(deserializer).map(|percent| percent as i64)
}

/// Parameters of `agent.event`; the event itself is read by its `type` (see [`AgentEvent::read`]).
#[derive(Debug, Clone, Deserialize)]
pub struct AgentEventParams<'a> {
    /// Which run.
    pub run_id: String,
    /// Its place in the run; -1 for what the person said, in a replay.
    #[serde(default, deserialize_with = "opt_whole_i64")]
    pub seq: Option<i64>,
    /// What the agent did.
    #[serde(borrow)]
    pub event: &'a RawValue,
    /// Room for more.
    #[serde(default)]
    pub meta: Option<EventMeta>,
}

/// As [`AgentEventParams`], to write.
#[derive(Debug, Serialize)]
pub struct AgentEventNotify<'a> {
    /// Which run.
    pub run_id: &'a str,
    /// Its place in the run.
    pub seq: i64,
    /// What the agent did.
    pub event: &'a AgentEvent,
    /// Room for more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta: Option<EventMeta>,
}

/// What we put into the room for more: this event is one piece of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EventMeta {
    /// Whether the event is a piece.
    pub delta: bool,
    /// The message that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}
