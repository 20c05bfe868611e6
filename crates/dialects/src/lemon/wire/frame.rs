//! What a runtime says, as we write it: the document's names and shapes, `__struct__` included. Serialise only.

mod message;
mod ui;

pub use message::*;
pub use ui::*;

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// One line of a runtime.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Frame<'a> {
    /// First of all.
    Ready {
        /// Working directory.
        cwd: &'a str,
        /// The model in use.
        model: ModelId<'a>,
        /// Whether `--debug` was given.
        debug: bool,
        /// Whether `ui_*` lines are sent.
        ui: bool,
        /// `[L]` The session that is there from the start.
        primary_session_id: Option<&'a str>,
        /// `[L]` The session that commands without an id are for.
        active_session_id: Option<&'a str>,
        /// Proposed by the document against drift.
        protocol_version: u32,
        /// The session's past follows as one run. Ours; existing clients ignore it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        history: bool,
    },
    /// Something happened in a run.
    Event {
        /// `[L]` Where.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<&'a str>,
        /// `[L]` From 0, by one, per session.
        #[serde(skip_serializing_if = "Option::is_none")]
        event_seq: Option<u64>,
        /// What.
        event: Event<'a>,
    },
    /// Numbers.
    Stats {
        /// `[L]` Of which session.
        session_id: &'a str,
        /// The numbers.
        stats: Stats<'a>,
    },
    /// Answer to `ping`.
    Pong,
    /// Answer to `debug`, and a word after `ready` with `--debug`.
    Debug {
        /// The word.
        message: &'a str,
    },
    /// A command could not be done.
    Error {
        /// Why.
        message: Cow<'a, str>,
        /// `[L]` In which session.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<&'a str>,
    },
    /// The person is asked.
    UiRequest {
        /// To be given back.
        id: &'a str,
        /// One of [`super::method`].
        method: &'static str,
        /// What.
        params: Question<'a>,
    },
    /// A word to show.
    UiNotify {
        /// What.
        params: Notify<'a>,
    },
    /// A field of the status line.
    UiStatus {
        /// What.
        params: Status<'a>,
    },
    /// A small block near the editor.
    UiWidget {
        /// What.
        params: Widget<'a>,
    },
    /// What is going on.
    UiWorking {
        /// What.
        params: Working<'a>,
    },
    /// The terminal's title.
    UiSetTitle {
        /// What.
        params: Title<'a>,
    },
    /// Text for the editor.
    UiSetEditorText {
        /// What.
        params: EditorText<'a>,
    },
    /// `[L]` Answer to `save`.
    SaveResult {
        /// Whether it worked.
        ok: bool,
        /// Where it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<&'a str>,
        /// Why not.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Which session.
        session_id: &'a str,
    },
    /// `[L]` Saved sessions, newest first.
    SessionsList {
        /// They.
        sessions: Vec<Saved>,
        /// Why there are none.
        error: Option<String>,
    },
    /// `[L]` Open sessions.
    RunningSessions {
        /// They.
        sessions: Vec<Running<'a>>,
        /// Always null from us.
        error: Option<String>,
    },
    /// `[L]` Models by provider.
    ModelsList {
        /// They.
        providers: Vec<Provider>,
        /// Why there are none.
        error: Option<String>,
    },
    /// `[L]` A session is open.
    SessionStarted {
        /// Which.
        session_id: &'a str,
        /// Working directory.
        cwd: &'a str,
        /// The model in use.
        model: ModelId<'a>,
        /// The session's past follows as one run. Ours; existing clients ignore it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        history: bool,
    },
    /// `[L]` A session is closed.
    SessionClosed {
        /// Which.
        session_id: &'a str,
        /// `normal`, `not_found` or `error`.
        reason: &'static str,
    },
    /// `[L]` Which session commands without an id are for.
    ActiveSession {
        /// It, or none.
        session_id: Option<&'a str>,
    },
    /// `[L]` The switches of the web client.
    ConfigState {
        /// They.
        config: Config,
    },
}

impl Frame<'_> {
    /// The line.
    pub fn line(&self) -> String {
        // Writing to memory fails only for maps with keys that are no strings, and there are none.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ModelId<'a> {
    /// Its provider.
    pub provider: &'a str,
    /// Its name.
    pub id: &'a str,
}

/// An Elixir tuple: its tag and the rest.
#[derive(Debug, Serialize)]
pub struct Event<'a> {
    /// The tag.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The rest; always an array.
    pub data: Vec<Element<'a>>,
}

/// An element of an event's tuple.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Element<'a> {
    /// nil.
    Null,
    /// A boolean.
    Flag(bool),
    /// A number.
    Number(u64),
    /// A string or an atom.
    Text(Cow<'a, str>),
    /// Arguments as the model wrote them.
    Raw(&'a RawValue),
    /// A message.
    Message(Box<Message<'a>>),
    /// Messages.
    Messages(Vec<Message<'a>>),
    /// What a tool gave back.
    Result(ToolResult<'a>),
    /// What changed in a partial message.
    Change(Vec<Element<'a>>),
    /// A content block.
    Block(Block<'a>),
    /// A summary in the place of older messages.
    Compaction(Compaction<'a>),
}

/// `[L]` A summary in the place of older messages.
#[derive(Debug, Clone, Serialize)]
pub struct Compaction<'a> {
    /// The summary.
    pub summary: &'a str,
    /// The oldest entry that stays.
    pub first_kept_entry_id: Option<String>,
    /// Tokens before.
    pub tokens_before: u64,
}

/// The numbers of a session.
#[derive(Debug, Serialize)]
pub struct Stats<'a> {
    /// Which.
    pub session_id: &'a str,
    /// Messages.
    pub message_count: u64,
    /// Turns.
    pub turn_count: u64,
    /// Whether a run is under way.
    pub is_streaming: bool,
    /// Working directory.
    pub cwd: &'a str,
    /// The model in use.
    pub model: ModelId<'a>,
    /// How much it may think.
    pub thinking_level: &'static str,
}

/// `[L]` A saved session.
#[derive(Debug, Serialize)]
pub struct Saved {
    /// What `start_session` takes as `session_file`.
    pub path: String,
    /// Its id.
    pub id: String,
    /// When something last happened, in milliseconds.
    pub timestamp: u64,
    /// Working directory.
    pub cwd: String,
    /// Its title. Ours; existing clients ignore it.
    pub title: String,
}

/// `[L]` An open session.
#[derive(Debug, Serialize)]
pub struct Running<'a> {
    /// Which.
    pub session_id: &'a str,
    /// Working directory.
    pub cwd: &'a str,
    /// Whether a run is under way.
    pub is_streaming: bool,
    /// The model in use.
    pub model: ModelId<'a>,
}

/// `[L]` The models of a provider.
#[derive(Debug, Serialize)]
pub struct Provider {
    /// Its name.
    pub id: String,
    /// Its models.
    pub models: Vec<ModelName>,
}

/// `[L]` A model in a list.
#[derive(Debug, Serialize)]
pub struct ModelName {
    /// Its id.
    pub id: String,
    /// What the person reads.
    pub name: String,
}

/// `[L]` The switches of the web client. They concern engines that we do not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Config {
    /// One.
    pub claude_skip_permissions: bool,
    /// The other.
    pub codex_auto_approve: bool,
}
