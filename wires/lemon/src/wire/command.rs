//! What a UI says.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::lenient::{null_as_default, present};

/// One line of a UI. What cannot be read as one of these is [`UNKNOWN_COMMAND`](super::UNKNOWN_COMMAND).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Starts a run.
    Prompt {
        /// What the person says.
        text: String,
        /// `[L]` The active session if absent, here and below.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// Stops the run.
    Abort {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// Empties the conversation.
    Reset {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// Writes the session to a file.
    Save {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// Asks for numbers.
    Stats {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// Asks whether anybody is there.
    Ping,
    /// Asks for a word of the other side.
    Debug,
    /// Says goodbye.
    Quit,
    /// Answers a `ui_request`.
    UiResponse {
        /// The request's.
        #[serde(default, deserialize_with = "null_as_default")]
        id: String,
        /// The answer. Absent and null differ: without both this and `error` it is no answer at all.
        #[serde(default, deserialize_with = "present")]
        result: Option<Option<Value>>,
        /// A text when it went wrong; wins over `result`.
        #[serde(default, deserialize_with = "present")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        error: Option<Option<Value>>,
    },
    /// `[L]` Asks for the saved sessions.
    ListSessions,
    /// `[L]` Asks for the sessions that are open.
    ListRunningSessions,
    /// `[L]` Asks for the models.
    ListModels,
    /// `[L]` Makes or resumes a session.
    StartSession(StartSession),
    /// `[L]` Leaves a session.
    CloseSession {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        session_id: Option<String>,
    },
    /// `[L]` Says which session commands without an id are for.
    SetActiveSession {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        session_id: Option<String>,
    },
    /// `[L]` Asks for the switches of the web client.
    GetConfig,
    /// `[L]` Sets one of them.
    SetConfig {
        #[serde(default, deserialize_with = "null_as_default")]
        key: String,
        /// On or off.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "bool"))]
        value: Value,
    },
}

/// `[L]` How a session is made or resumed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartSession {
    /// Working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `provider:id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the model is told first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// The saved session to go on with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_file: Option<String>,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_session: Option<String>,
}
