//! Lines exactly as lemon's programs write them, in their names. No logic: what they mean is the roles' business.
//!
//! Three parts: what a UI says ([`Command`], here), what a runtime says as we write it ([`frame`]) and as we read it ([`heard`]).
//! Written and read forms differ because the existing programs leave out, add and rename; the written form is the document's.
//! `[L]` marks what only the existing programs have, later than the document.

pub mod frame;
pub mod heard;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::lenient::present;

/// Names of what a UI says.
pub mod command {
    /// Starts a run.
    pub const PROMPT: &str = "prompt";
    /// Stops the run.
    pub const ABORT: &str = "abort";
    /// Empties the conversation.
    pub const RESET: &str = "reset";
    /// Writes the session to a file.
    pub const SAVE: &str = "save";
    /// Asks for numbers.
    pub const STATS: &str = "stats";
    /// Is anybody there.
    pub const PING: &str = "ping";
    /// A word back.
    pub const DEBUG: &str = "debug";
    /// Goodbye.
    pub const QUIT: &str = "quit";
    /// Answers a `ui_request`.
    pub const UI_RESPONSE: &str = "ui_response";
    /// `[L]` Saved sessions.
    pub const LIST_SESSIONS: &str = "list_sessions";
    /// `[L]` Sessions that are open.
    pub const LIST_RUNNING_SESSIONS: &str = "list_running_sessions";
    /// `[L]` Models.
    pub const LIST_MODELS: &str = "list_models";
    /// `[L]` Makes or resumes a session.
    pub const START_SESSION: &str = "start_session";
    /// `[L]` Leaves a session.
    pub const CLOSE_SESSION: &str = "close_session";
    /// `[L]` Which session commands without an id are for.
    pub const SET_ACTIVE_SESSION: &str = "set_active_session";
    /// `[L]` Switches of the web client.
    pub const GET_CONFIG: &str = "get_config";
    /// `[L]` Sets one.
    pub const SET_CONFIG: &str = "set_config";
    /// All of them.
    pub const ALL: &[&str] = &[
        PROMPT,
        ABORT,
        RESET,
        SAVE,
        STATS,
        PING,
        DEBUG,
        QUIT,
        UI_RESPONSE,
        LIST_SESSIONS,
        LIST_RUNNING_SESSIONS,
        LIST_MODELS,
        START_SESSION,
        CLOSE_SESSION,
        SET_ACTIVE_SESSION,
        GET_CONFIG,
        SET_CONFIG,
    ];
}

/// Methods of a `ui_request`.
pub mod method {
    /// One of a list.
    pub const SELECT: &str = "select";
    /// Yes or no.
    pub const CONFIRM: &str = "confirm";
    /// A line of text.
    pub const INPUT: &str = "input";
    /// A text to change.
    pub const EDITOR: &str = "editor";
}

/// The error that every existing client knows for a prompt while a run is under way.
pub const ALREADY_STREAMING: &str = ":already_streaming";
/// The error for whatever is not a command.
pub const UNKNOWN_COMMAND: &str = "unknown command";
/// `[L]` The error for a command without a session to go to.
pub const NO_ACTIVE_SESSION: &str = "no active session";
/// `[L]` The error for a session that is not open.
pub const SESSION_NOT_FOUND: &str = "session not found";

/// What a UI says: the type and the fields of all types.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Command {
    /// Which, one of [`command::ALL`].
    #[serde(rename = "type")]
    pub kind: String,
    /// `prompt`: what is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// `[L]` Which session; the active one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// `ui_response`: which request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// `ui_response`: the answer. Absent and null differ: without both this and `error` it is no answer at all.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub result: Option<Option<Value>>,
    /// `ui_response`: a text when it went wrong; wins over `result`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub error: Option<Option<Value>>,
    /// `start_session`: working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `start_session`: `provider:id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `start_session`: what the model is told first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// `start_session`: the saved session to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// `start_session`: where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
    /// `set_config`: which switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// `set_config`: on or off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
}

impl Command {
    /// A command without fields.
    pub fn new(kind: &str) -> Command {
        Command { kind: kind.to_owned(), ..Command::default() }
    }
}

/// What a question about a tool carries in `opts`, so that a peer that knows it can show more than yes and no. Ours; existing clients
/// ignore `opts`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ConsentHint {
    /// Id of the tool call.
    #[serde(default)]
    pub tool_call_id: String,
    /// The tool's name.
    #[serde(default)]
    pub tool_name: String,
    /// `low`, `medium`, `high` or `critical`.
    #[serde(default)]
    pub risk: String,
    /// Why.
    #[serde(default)]
    pub reasons: Vec<String>,
    /// Whether it can be undone.
    #[serde(default)]
    pub reversible: bool,
    /// What "always" would remember, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// Values of the options that a question about a tool offers when there is a rule to remember.
pub mod consent {
    /// This one action.
    pub const ONCE: &str = "allow_once";
    /// The same kind of action until the session closes.
    pub const SESSION: &str = "allow_session";
    /// The rule, for this project.
    pub const ALWAYS: &str = "allow_always";
    /// No.
    pub const DENY: &str = "deny";
}
