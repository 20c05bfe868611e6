//! What a runtime says, as we read it: flat, with everything optional that some version leaves out. Objects are told apart by `type`
//! and `role` alone; `__struct__` is not read, since two namespaces are in use.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use wire::lenient::{null_as_default, opt_whole_u64, present};

/// Only the type of a line.
#[derive(Debug, Deserialize)]
pub struct Head {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
}

/// `ready`.
#[derive(Debug, Default, Deserialize)]
pub struct Ready {
    /// Working directory.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cwd: String,
    /// The model in use.
    #[serde(default)]
    pub model: Option<ModelId>,
    /// Whether it asks; the first servers did not say.
    #[serde(default)]
    pub ui: Option<bool>,
    /// Absent: the server has no sessions to choose from. Null: none is open yet.
    #[serde(default, deserialize_with = "present")]
    pub active_session_id: Option<Option<String>>,
    /// As `active_session_id`.
    #[serde(default, deserialize_with = "present")]
    pub primary_session_id: Option<Option<String>>,
    /// The session's past follows as one run. Only our own server says it.
    #[serde(default)]
    pub history: bool,
}

/// A model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ModelId {
    /// Its provider.
    #[serde(default, deserialize_with = "null_as_default")]
    pub provider: String,
    /// Its name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
}

/// `event`.
#[derive(Debug, Deserialize)]
pub struct EventLine {
    /// Where, if said.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Its number, if said.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub event_seq: Option<u64>,
    /// What.
    pub event: Event,
}

/// A tuple: its tag and the rest.
#[derive(Debug, Deserialize)]
pub struct Event {
    /// The tag.
    #[serde(rename = "type")]
    pub kind: String,
    /// The rest; existing servers leave it out when it is empty.
    #[serde(default, deserialize_with = "null_as_default")]
    pub data: Vec<Box<RawValue>>,
}

/// A message of any role.
#[derive(Debug, Default, Deserialize)]
pub struct Message {
    /// `user`, `assistant` or `tool_result`.
    #[serde(default)]
    pub role: String,
    /// A string or blocks.
    #[serde(default)]
    pub content: Option<Box<RawValue>>,
    /// Assistant: tokens.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Assistant: why it ended.
    #[serde(default)]
    pub stop_reason: Option<String>,
    /// Assistant: what went wrong.
    #[serde(default)]
    pub error_message: Option<String>,
    /// Tool result: which call.
    #[serde(default)]
    pub tool_call_id: Option<String>,
    /// Tool result: which tool.
    #[serde(default)]
    pub tool_name: Option<String>,
    /// Tool result: anything structured.
    #[serde(default)]
    pub details: Option<Box<RawValue>>,
    /// Tool result: whether it went wrong.
    #[serde(default, deserialize_with = "null_as_default")]
    pub is_error: bool,
}

/// A block of content of any type.
#[derive(Debug, Default, Deserialize)]
pub struct Block {
    /// `text`, `thinking`, `tool_call` or `image`.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Text.
    #[serde(default, deserialize_with = "null_as_default")]
    pub text: String,
    /// Thinking.
    #[serde(default, deserialize_with = "null_as_default")]
    pub thinking: String,
    /// Tool call: its id.
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
    /// Tool call: the tool.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
    /// Tool call: its arguments.
    #[serde(default)]
    pub arguments: Option<Box<RawValue>>,
    /// Image: base64.
    #[serde(default, deserialize_with = "null_as_default")]
    pub data: String,
    /// Image: media type.
    #[serde(default, deserialize_with = "null_as_default")]
    pub mime_type: String,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Usage {
    /// Read, cached ones left out.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub input: Option<u64>,
    /// Written.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub output: Option<u64>,
    /// Read from a cache.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub cache_read: Option<u64>,
    /// Written to a cache.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub cache_write: Option<u64>,
    /// Money.
    #[serde(default)]
    pub cost: Option<Cost>,
}

/// Money, in dollars.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
pub struct Cost {
    /// All.
    #[serde(default, deserialize_with = "null_as_default")]
    pub total: f64,
}

/// What a tool gave back.
#[derive(Debug, Default, Deserialize)]
pub struct ToolResult {
    /// A string or blocks.
    #[serde(default)]
    pub content: Option<Box<RawValue>>,
    /// Anything structured.
    #[serde(default)]
    pub details: Option<Box<RawValue>>,
}

/// What the `task` tool says about itself in `details`.
#[derive(Debug, Default, Deserialize)]
pub struct TaskDetails {
    /// What it does now.
    #[serde(default)]
    pub current_action: Option<TaskAction>,
    /// Ours: how far it is, 0 to 100.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub percent: Option<u64>,
    /// Ours: what it does now.
    #[serde(default)]
    pub message: Option<String>,
}

/// What the `task` tool does now.
#[derive(Debug, Default, Deserialize)]
pub struct TaskAction {
    /// In words.
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: String,
}

/// `compaction_complete`.
#[derive(Debug, Default, Deserialize)]
pub struct Compaction {
    /// The summary.
    #[serde(default, deserialize_with = "null_as_default")]
    pub summary: String,
    /// Tokens before.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub tokens_before: Option<u64>,
}

/// `ui_request`.
#[derive(Debug, Deserialize)]
pub struct UiRequest {
    /// To be given back.
    pub id: String,
    /// Which question.
    pub method: String,
    /// What.
    #[serde(default, deserialize_with = "null_as_default")]
    pub params: Question,
}

/// What is asked.
#[derive(Debug, Default, Deserialize)]
pub struct Question {
    /// The line on top.
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: String,
    /// `confirm`: the text under it.
    #[serde(default, deserialize_with = "null_as_default")]
    pub message: String,
    /// `select`: what there is; objects, or plain strings.
    #[serde(default, deserialize_with = "null_as_default")]
    pub options: Vec<Value>,
    /// `input`: shown in the empty field.
    #[serde(default)]
    pub placeholder: Option<String>,
    /// `editor`: what stands there at first.
    #[serde(default)]
    pub prefill: Option<String>,
    /// More.
    #[serde(default)]
    pub opts: Value,
}

/// `ui_*` signals: all their fields.
#[derive(Debug, Default, Deserialize)]
pub struct Signal {
    /// What.
    #[serde(default, deserialize_with = "null_as_default")]
    pub params: SignalParams,
}

/// The fields of all signals.
#[derive(Debug, Default, Deserialize)]
pub struct SignalParams {
    /// `ui_notify`, `ui_working`: the word.
    #[serde(default)]
    pub message: Option<String>,
    /// `ui_notify`: how loud.
    #[serde(default)]
    pub notify_type: Option<String>,
    /// `ui_notify`: how loud, in the other adapter's spelling.
    #[serde(default, rename = "type")]
    pub other_type: Option<String>,
    /// `ui_status`, `ui_widget`: which.
    #[serde(default, deserialize_with = "null_as_default")]
    pub key: String,
    /// `ui_status`, `ui_set_editor_text`: the text.
    #[serde(default)]
    pub text: Option<String>,
    /// `ui_widget`: a string, strings, or null.
    #[serde(default)]
    pub content: Value,
    /// `ui_widget`: more.
    #[serde(default)]
    pub opts: Value,
    /// `ui_set_title`: the title.
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: String,
}

/// `error`, `debug`.
#[derive(Debug, Default, Deserialize)]
pub struct Word {
    /// The word; something else than a string is shown as it came.
    #[serde(default)]
    pub message: Value,
    /// In which session.
    #[serde(default)]
    pub session_id: Option<String>,
}

/// `save_result`.
#[derive(Debug, Default, Deserialize)]
pub struct SaveResult {
    /// Whether it worked.
    #[serde(default, deserialize_with = "null_as_default")]
    pub ok: bool,
    /// Where it is.
    #[serde(default)]
    pub path: Option<String>,
    /// Why not.
    #[serde(default)]
    pub error: Option<Value>,
}

/// `stats`.
#[derive(Debug, Default, Deserialize)]
pub struct StatsLine {
    /// The numbers.
    #[serde(default, deserialize_with = "null_as_default")]
    pub stats: Stats,
}

/// The numbers of a session.
#[derive(Debug, Default, Deserialize)]
pub struct Stats {
    /// Messages.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub message_count: Option<u64>,
    /// Turns.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub turn_count: Option<u64>,
}

/// `sessions_list`, `running_sessions`.
#[derive(Debug, Default, Deserialize)]
pub struct SessionsList {
    /// They.
    #[serde(default, deserialize_with = "null_as_default")]
    pub sessions: Vec<ListedSession>,
    /// Why there are none.
    #[serde(default)]
    pub error: Option<Value>,
}

/// A saved or open session.
#[derive(Debug, Default, Deserialize)]
pub struct ListedSession {
    /// Its file.
    #[serde(default)]
    pub path: Option<String>,
    /// Its id when saved.
    #[serde(default)]
    pub id: Option<String>,
    /// When it was last used, in milliseconds.
    #[serde(default, deserialize_with = "opt_whole_u64")]
    pub timestamp: Option<u64>,
    /// Working directory.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cwd: String,
    /// Ours: its title.
    #[serde(default)]
    pub title: Option<String>,
}

/// `models_list`.
#[derive(Debug, Default, Deserialize)]
pub struct ModelsList {
    /// They.
    #[serde(default, deserialize_with = "null_as_default")]
    pub providers: Vec<Provider>,
    /// Why there are none.
    #[serde(default)]
    pub error: Option<Value>,
}

/// The models of a provider.
#[derive(Debug, Default, Deserialize)]
pub struct Provider {
    /// Its name.
    #[serde(default)]
    pub id: String,
    /// Its models.
    #[serde(default, deserialize_with = "null_as_default")]
    pub models: Vec<ListedModel>,
}

/// A model in a list.
#[derive(Debug, Default, Deserialize)]
pub struct ListedModel {
    /// Its id.
    #[serde(default)]
    pub id: String,
}

/// `session_started`, `session_closed`, `active_session`.
#[derive(Debug, Default, Deserialize)]
pub struct SessionLine {
    /// Which.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Working directory.
    #[serde(default, deserialize_with = "null_as_default")]
    pub cwd: String,
    /// The model in use.
    #[serde(default)]
    pub model: Option<ModelId>,
    /// The session's past follows as one run. Only our own server says it.
    #[serde(default)]
    pub history: bool,
}
