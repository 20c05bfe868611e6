//! What a runtime says, as we write it: the document's names and shapes, `__struct__` included. Serialise only.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

use super::ConsentHint;

/// Names of the Elixir structs that objects are marked with. Decoration: no client depends on it.
pub mod of {
    /// A person's message.
    pub const USER: &str = "Elixir.Ai.Types.UserMessage";
    /// The model's message.
    pub const ASSISTANT: &str = "Elixir.Ai.Types.AssistantMessage";
    /// A tool's message.
    pub const TOOL_RESULT: &str = "Elixir.Ai.Types.ToolResultMessage";
    /// A text block.
    pub const TEXT: &str = "Elixir.Ai.Types.TextContent";
    /// A thinking block.
    pub const THINKING: &str = "Elixir.Ai.Types.ThinkingContent";
    /// A tool call block.
    pub const TOOL_CALL: &str = "Elixir.Ai.Types.ToolCall";
    /// An image block.
    pub const IMAGE: &str = "Elixir.Ai.Types.ImageContent";
    /// Tokens.
    pub const USAGE: &str = "Elixir.Ai.Types.Usage";
    /// Money.
    pub const COST: &str = "Elixir.Ai.Types.Cost";
    /// What a tool gave back.
    pub const RESULT: &str = "Elixir.AgentCore.Types.AgentToolResult";
}

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
    pub data: Vec<Item<'a>>,
}

/// An element of an event's tuple.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Item<'a> {
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
    Change(Vec<Item<'a>>),
    /// A content block.
    Block(Block<'a>),
    /// A summary in the place of older messages.
    Compaction(Compaction<'a>),
}

/// A message, whole or so far.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Message<'a> {
    /// Of the person.
    User(UserMessage<'a>),
    /// Of the model.
    Assistant(AssistantMessage<'a>),
    /// Of a tool.
    Tool(ToolResultMessage<'a>),
}

/// Of the person.
#[derive(Debug, Clone, Serialize)]
pub struct UserMessage<'a> {
    /// [`of::USER`].
    #[serde(rename = "__struct__")]
    pub of: &'static str,
    /// `user`.
    pub role: &'static str,
    /// A string when it is only text.
    pub content: Content<'a>,
    /// Milliseconds.
    pub timestamp: u64,
}

/// A string or blocks.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum Content<'a> {
    /// Only text.
    Text(Cow<'a, str>),
    /// Blocks.
    Blocks(Vec<Block<'a>>),
}

/// Of the model.
#[derive(Debug, Clone, Serialize)]
pub struct AssistantMessage<'a> {
    /// [`of::ASSISTANT`].
    #[serde(rename = "__struct__")]
    pub of: &'static str,
    /// `assistant`.
    pub role: &'static str,
    /// All of it so far.
    pub content: Vec<Block<'a>>,
    /// Who runs the model.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
    /// How it is reached; a word.
    pub api: &'static str,
    /// Tokens and money, at the end.
    pub usage: Option<Usage>,
    /// `stop`, `length`, `tool_use`, `error`, `aborted`; null while it comes.
    pub stop_reason: Option<&'static str>,
    /// Why, when it is `error`.
    pub error_message: Option<Cow<'a, str>>,
    /// Milliseconds.
    pub timestamp: u64,
}

/// Of a tool.
#[derive(Debug, Clone, Serialize)]
pub struct ToolResultMessage<'a> {
    /// [`of::TOOL_RESULT`].
    #[serde(rename = "__struct__")]
    pub of: &'static str,
    /// `tool_result`.
    pub role: &'static str,
    /// Which call.
    pub tool_call_id: String,
    /// Of which tool.
    pub tool_name: &'a str,
    /// Text and images.
    pub content: Vec<Block<'a>>,
    /// Anything structured.
    pub details: Option<Cow<'a, RawValue>>,
    /// Whether it went wrong.
    pub is_error: bool,
    /// Milliseconds.
    pub timestamp: u64,
}

/// What a tool gave back, or gives back so far.
#[derive(Debug, Clone, Serialize)]
pub struct ToolResult<'a> {
    /// [`of::RESULT`].
    #[serde(rename = "__struct__")]
    pub of: &'static str,
    /// Text and images.
    pub content: Vec<Block<'a>>,
    /// Anything structured.
    pub details: Option<Cow<'a, RawValue>>,
}

/// A block of content.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block<'a> {
    /// Text.
    Text {
        /// [`of::TEXT`].
        #[serde(rename = "__struct__")]
        of: &'static str,
        /// The text.
        text: Cow<'a, str>,
        /// Always null from us.
        text_signature: Option<&'a str>,
    },
    /// Thinking.
    Thinking {
        /// [`of::THINKING`].
        #[serde(rename = "__struct__")]
        of: &'static str,
        /// The text.
        thinking: Cow<'a, str>,
        /// What the provider wants back.
        thinking_signature: Option<&'a str>,
    },
    /// A tool call.
    ToolCall {
        /// [`of::TOOL_CALL`].
        #[serde(rename = "__struct__")]
        of: &'static str,
        /// Its id.
        id: String,
        /// The tool.
        name: &'a str,
        /// As the model wrote them.
        arguments: Cow<'a, RawValue>,
    },
    /// A picture.
    Image {
        /// [`of::IMAGE`].
        #[serde(rename = "__struct__")]
        of: &'static str,
        /// Base64.
        data: &'a str,
        /// Media type.
        mime_type: &'a str,
    },
}

/// Tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Usage {
    /// [`of::USAGE`].
    #[serde(rename = "__struct__")]
    pub of: &'static str,
    /// Read, cached ones left out.
    pub input: u64,
    /// Written.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache.
    pub cache_write: u64,
    /// All.
    pub total_tokens: u64,
    /// Money.
    pub cost: Cost,
}

/// Money, in dollars.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cost {
    /// [`of::COST`].
    #[serde(rename = "__struct__")]
    pub of: &'static str,
    /// Not told apart by us.
    pub input: f64,
    /// Not told apart by us.
    pub output: f64,
    /// Not told apart by us.
    pub cache_read: f64,
    /// Not told apart by us.
    pub cache_write: f64,
    /// All.
    pub total: f64,
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

/// What is asked.
#[derive(Debug, Default, Serialize)]
pub struct Question<'a> {
    /// The line on top.
    pub title: Cow<'a, str>,
    /// `confirm`: the text under it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Cow<'a, str>>,
    /// `select`: what there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<Choice<'a>>>,
    /// `input`: shown in the empty field, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<Option<&'a str>>,
    /// `editor`: what stands there at first, or null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefill: Option<Option<&'a str>>,
    /// More; always a map.
    pub opts: Opts,
}

/// One thing to select.
#[derive(Debug, Serialize)]
pub struct Choice<'a> {
    /// What the person reads.
    pub label: Cow<'a, str>,
    /// What the answer names.
    pub value: &'a str,
    /// A second line, or null.
    pub description: Option<&'a str>,
}

/// More about a question.
#[derive(Debug, Default, Serialize)]
pub struct Opts {
    /// It is about a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentHint>,
    /// Not to be shown or kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
}

/// A word to show.
#[derive(Debug, Serialize)]
pub struct Notify<'a> {
    /// The word.
    pub message: &'a str,
    /// `info`, `warning` (in the document: `warn`), `error`, `success`.
    pub notify_type: &'static str,
}

/// A field of the status line.
#[derive(Debug, Serialize)]
pub struct Status<'a> {
    /// Which.
    pub key: &'a str,
    /// Its text; null takes it away.
    pub text: Option<&'a str>,
}

/// A small block near the editor.
#[derive(Debug, Serialize)]
pub struct Widget<'a> {
    /// Which.
    pub key: &'a str,
    /// Its text; null takes it away.
    pub content: Option<String>,
    /// Where it stands; always a map.
    pub opts: Map<String, Value>,
}

/// What is going on.
#[derive(Debug, Serialize)]
pub struct Working<'a> {
    /// The word; null takes it away.
    pub message: Option<&'a str>,
}

/// The terminal's title.
#[derive(Debug, Serialize)]
pub struct Title<'a> {
    /// The title.
    pub title: &'a str,
}

/// Text for the editor.
#[derive(Debug, Serialize)]
pub struct EditorText<'a> {
    /// The text.
    pub text: &'a str,
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
