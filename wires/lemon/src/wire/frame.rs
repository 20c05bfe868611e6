//! What a runtime says: its lines, apart from what stands in an event, a question or a signal.

use super::event::EventLine;
use super::ui::{EditorText, Notify, Params, Status, Title, UiRequest, Widget, Working};
use super::{Words, by_member};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::borrow::Cow;
use wire::encode;
use wire::lenient::{null_as_default, present, whole_or_zero};

by_member! {
    /// One line of a runtime.
    pub enum Frame<'a> by "type" {
        /// First of all.
        Ready = "ready" (Ready<'a>),
        /// Something happened in a run.
        Event = "event" (EventLine<'a>),
        /// Answer to `stats`.
        Stats = "stats" (StatsLine<'a>),
        /// Answer to `ping`.
        Pong = "pong" (Bare),
        /// Answer to `debug`, and said after `ready` with `--debug`.
        Debug = "debug" (DebugLine<'a>),
        /// A command could not be done.
        Error = "error" (ErrorLine<'a>),
        /// The person is asked.
        UiRequest = "ui_request" (UiRequest<'a>),
        /// A word to show.
        UiNotify = "ui_notify" (Params<Notify<'a>>),
        /// A field of the status line.
        UiStatus = "ui_status" (Params<Status<'a>>),
        /// A small block near the editor.
        UiWidget = "ui_widget" (Params<Widget<'a>>),
        /// What is going on.
        UiWorking = "ui_working" (Params<Working<'a>>),
        /// The terminal's title.
        UiSetTitle = "ui_set_title" (Params<Title<'a>>),
        UiSetEditorText = "ui_set_editor_text" (Params<EditorText<'a>>),
        /// `[L]` Answer to `save`.
        SaveResult = "save_result" (SaveResult<'a>),
        /// `[L]` Saved sessions, newest first.
        SessionsList = "sessions_list" (SessionsList<'a>),
        /// `[L]` Open sessions.
        RunningSessions = "running_sessions" (RunningSessions<'a>),
        /// `[L]` Models by provider.
        ModelsList = "models_list" (ModelsList<'a>),
        /// `[L]` A session is open.
        SessionStarted = "session_started" (SessionStarted<'a>),
        /// `[L]` A session is closed.
        SessionClosed = "session_closed" (SessionClosed<'a>),
        /// `[L]` The session that commands without an id are for.
        ActiveSession = "active_session" (ActiveSession<'a>),
        /// `[L]` The switches of the web client.
        ConfigState = "config_state" (ConfigState),
    }
}

impl ModelId<'_> {
    /// The same, whatever it was read from.
    pub fn into_owned(self) -> ModelId<'static> {
        ModelId { provider: Cow::Owned(self.provider.into_owned()), id: Cow::Owned(self.id.into_owned()) }
    }
}

impl Frame<'_> {
    /// The line. A frame that cannot be written becomes an error, so that the client hears that something is missing.
    pub fn line(&self) -> String {
        encode(self).unwrap_or_else(|why| {
            let message = format!("a line of the runtime is lost, since {why}");
            json!({ "type": "error", "message": message }).to_string()
        })
    }
}

/// A line that says nothing but its type.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bare {}

/// How the conversation begins.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ready<'a> {
    /// Working directory.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cwd: Cow<'a, str>,
    /// The model in use.
    #[serde(default, deserialize_with = "null_as_default")]
    pub model: ModelId<'a>,
    #[serde(skip_deserializing)]
    pub debug: bool,
    /// Whether it asks and sends `ui_*` lines; the first servers did not say.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "bool"))]
    pub ui: Option<bool>,
    /// `[L]` The session that is there from the start. Absent: the server has no sessions to choose from. Null: none is open yet.
    #[serde(default, deserialize_with = "present")]
    pub primary_session_id: Option<Option<Cow<'a, str>>>,
    /// `[L]` The session that commands without an id are for; as `primary_session_id`.
    #[serde(default, deserialize_with = "present")]
    pub active_session_id: Option<Option<Cow<'a, str>>>,
    /// Proposed by the document against drift.
    #[serde(skip_deserializing)]
    pub protocol_version: u32,
    /// The session's past follows as one run. Ours; existing clients ignore it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub history: bool,
}

/// A model; without a name it is not known which.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelId<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub provider: Cow<'a, str>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: Cow<'a, str>,
}

/// The numbers of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatsLine<'a> {
    /// `[L]`
    #[serde(skip_deserializing)]
    pub session_id: Cow<'a, str>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub stats: Stats<'a>,
}

/// See [`StatsLine`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stats<'a> {
    #[serde(skip_deserializing)]
    pub session_id: Cow<'a, str>,
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub message_count: u64,
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub turn_count: u64,
    /// Whether a run is under way.
    #[serde(skip_deserializing)]
    pub is_streaming: bool,
    /// Working directory.
    #[serde(skip_deserializing)]
    pub cwd: Cow<'a, str>,
    /// The model in use.
    #[serde(skip_deserializing)]
    pub model: ModelId<'a>,
    /// How much it may think, where that is known.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<&'static str>,
}

/// For who looks into the wire.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DebugLine<'a> {
    #[serde(default)]
    pub message: Words<'a>,
}

/// Why a command could not be done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ErrorLine<'a> {
    #[serde(default)]
    pub message: Words<'a>,
    /// `[L]` The session that the command was for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<Cow<'a, str>>,
}

/// `[L]` Whether a session was saved.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SaveResult<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Cow<'a, str>>,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Words<'a>>,
    #[serde(skip_deserializing)]
    pub session_id: Cow<'a, str>,
}

/// `[L]` Saved sessions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionsList<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub sessions: Vec<Saved<'a>>,
    /// Why there are none.
    #[serde(default)]
    pub error: Option<Words<'a>>,
}

/// `[L]` A saved session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Saved<'a> {
    /// What `start_session` takes as `session_file`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub path: Cow<'a, str>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: Cow<'a, str>,
    /// When something last happened, in milliseconds.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub timestamp: u64,
    /// Working directory.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cwd: Cow<'a, str>,
    /// Ours, where there is one; existing servers do not write it, and their clients ignore it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Cow<'a, str>>,
}

/// `[L]` Open sessions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunningSessions<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub sessions: Vec<Running<'a>>,
    /// Always null from us.
    #[serde(skip_deserializing)]
    pub error: Option<Words<'a>>,
}

/// `[L]` An open session.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Running<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub session_id: Cow<'a, str>,
    /// Working directory.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cwd: Cow<'a, str>,
    /// Whether a run is under way.
    #[serde(default, deserialize_with = "null_as_default")]
    pub is_streaming: bool,
    /// The model in use; existing servers do not say it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub model: ModelId<'a>,
}

/// `[L]` Models by provider.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelsList<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub providers: Vec<Provider>,
    /// Why there are none.
    #[serde(default)]
    pub error: Option<Words<'a>>,
}

/// `[L]` The models of a provider.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provider {
    #[serde(default)]
    pub id: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub models: Vec<ModelName>,
}

/// `[L]` A model in a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelName {
    #[serde(default)]
    pub id: String,
    /// What the person reads.
    #[serde(skip_deserializing)]
    pub name: String,
}

/// `[L]` A session is open. Clients begin it empty at this line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionStarted<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub session_id: Cow<'a, str>,
    /// Working directory.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cwd: Cow<'a, str>,
    /// The model in use.
    #[serde(default, deserialize_with = "null_as_default")]
    pub model: ModelId<'a>,
    /// The session's past follows as one run. Ours; existing clients ignore it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub history: bool,
}

/// `[L]` A session is closed. We do not close any.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SessionClosed<'a> {
    #[serde(skip_deserializing)]
    pub session_id: Cow<'a, str>,
    #[serde(skip_deserializing)]
    pub reason: ClosedBecause,
}

/// `[L]` Why a session is closed, or was not.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClosedBecause {
    #[default]
    Normal,
    NotFound,
    Error,
}

/// `[L]` The session that commands without an id are for.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ActiveSession<'a> {
    #[serde(default)]
    pub session_id: Option<Cow<'a, str>>,
}

/// `[L]` The switches of the web client. We have none.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfigState {
    #[serde(skip_deserializing)]
    pub config: Config,
}

/// `[L]` The switches of the web client. They concern engines that we do not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Config {
    pub claude_skip_permissions: bool,
    pub codex_auto_approve: bool,
}
