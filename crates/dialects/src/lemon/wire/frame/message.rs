//! Messages, their blocks, tokens, and what tools give back, as we write them.

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

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
