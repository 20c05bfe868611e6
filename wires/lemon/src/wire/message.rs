//! Messages, their blocks, tokens, and what tools give back. Objects are told apart by `role` and `type` alone: `__struct__` is not read,
//! since two namespaces are in use.

use super::by_member;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use wire::lenient::{null_as_default, whole_or_zero};

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

by_member! {
    /// A message, whole or so far.
    pub enum Message<'a> by "role" {
        /// Of the person.
        User = "user" (UserMessage<'a>),
        /// Of the model.
        Assistant = "assistant" (AssistantMessage<'a>),
        Tool = "tool_result" (ToolResultMessage<'a>),
    }
}

/// Of the person.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserMessage<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    /// A string when it is only text.
    #[serde(default)]
    pub content: Content<'a>,
    /// Milliseconds.
    #[serde(skip_deserializing)]
    pub timestamp: u64,
}

/// A string or blocks. What is neither is read as no blocks at all.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Content<'a> {
    /// Only text.
    Text(Cow<'a, str>),
    /// In order.
    Blocks(Vec<Block<'a>>),
}

impl Default for Content<'_> {
    fn default() -> Self {
        Content::Blocks(Vec::new())
    }
}

impl<'a> From<Content<'a>> for Vec<Block<'a>> {
    fn from(content: Content<'a>) -> Vec<Block<'a>> {
        match content {
            Content::Text(text) => vec![Block::Text(TextBlock { of: of::TEXT, text, text_signature: None })],
            Content::Blocks(blocks) => blocks,
        }
    }
}

impl<'de> Deserialize<'de> for Content<'_> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(reader)?;
        if let Ok(text) = serde_json::from_str::<String>(raw.get()) {
            return Ok(Content::Text(text.into()));
        }
        let blocks = serde_json::from_str::<Vec<&RawValue>>(raw.get()).unwrap_or_default();
        let read = |raw: &RawValue| {
            let unreadable = || Block::Unknown("unreadable block".to_owned());
            serde_json::from_str(raw.get()).unwrap_or_else(|_| unreadable())
        };
        Ok(Content::Blocks(blocks.into_iter().map(read).collect()))
    }
}

/// Reads blocks, also when they are only a text.
fn blocks<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Block<'static>>, D::Error> {
    Content::deserialize(reader).map(Vec::from)
}

/// Of the model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AssistantMessage<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    /// All of it so far.
    #[serde(default, deserialize_with = "blocks")]
    pub content: Vec<Block<'a>>,
    /// Who runs the model.
    #[serde(skip_deserializing)]
    pub provider: Cow<'a, str>,
    #[serde(skip_deserializing)]
    pub model: Cow<'a, str>,
    /// How the model is reached; a word.
    #[serde(skip_deserializing)]
    pub api: &'static str,
    /// Tokens and money, at the end.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// `stop`, `length`, `tool_use`, `error`, `aborted`; null while it comes.
    #[serde(default)]
    pub stop_reason: Option<Cow<'a, str>>,
    /// Why, when it is `error`.
    #[serde(default)]
    pub error_message: Option<Cow<'a, str>>,
    /// Milliseconds.
    #[serde(skip_deserializing)]
    pub timestamp: u64,
}

/// What a tool gave back, as a message of the conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResultMessage<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    #[serde(default, deserialize_with = "null_as_default")]
    pub tool_call_id: String,
    #[serde(skip_deserializing)]
    pub tool_name: Cow<'a, str>,
    /// Text and images.
    #[serde(default, deserialize_with = "blocks")]
    pub content: Vec<Block<'a>>,
    /// Anything structured.
    #[serde(default)]
    pub details: Option<Cow<'a, RawValue>>,
    /// Whether it went wrong.
    #[serde(default, deserialize_with = "null_as_default")]
    pub is_error: bool,
    /// Milliseconds.
    #[serde(skip_deserializing)]
    pub timestamp: u64,
}

/// What a tool gave back, or gives back so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolResult<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    /// Text and images.
    #[serde(default, deserialize_with = "blocks")]
    pub content: Vec<Block<'a>>,
    /// Anything structured.
    #[serde(default)]
    pub details: Option<Cow<'a, RawValue>>,
}

by_member! {
    /// A block of content.
    pub enum Block<'a> by "type" {
        Text = "text" (TextBlock<'a>),
        Thinking = "thinking" (ThinkingBlock<'a>),
        ToolCall = "tool_call" (ToolCallBlock<'a>),
        Image = "image" (ImageBlock<'a>),
    }
}

/// What the model or the person says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TextBlock<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    #[serde(default, deserialize_with = "null_as_default")]
    pub text: Cow<'a, str>,
    /// Always null from us.
    #[serde(skip_deserializing)]
    pub text_signature: Option<Cow<'a, str>>,
}

/// What the model thinks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThinkingBlock<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    #[serde(default, deserialize_with = "null_as_default")]
    pub thinking: Cow<'a, str>,
    /// What the provider wants back.
    #[serde(skip_deserializing)]
    pub thinking_signature: Option<Cow<'a, str>>,
}

/// What the model wants done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ToolCallBlock<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: Cow<'a, str>,
    /// As the model wrote them.
    #[serde(default)]
    pub arguments: Option<Cow<'a, RawValue>>,
}

/// A picture.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImageBlock<'a> {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    /// Base64.
    #[serde(default, deserialize_with = "null_as_default")]
    pub data: Cow<'a, str>,
    #[serde(default, deserialize_with = "null_as_default")]
    pub mime_type: Cow<'a, str>,
}

/// Tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    /// Read, cached ones left out.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub input: u64,
    /// Written.
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub output: u64,
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub cache_read: u64,
    #[serde(default, deserialize_with = "whole_or_zero")]
    pub cache_write: u64,
    #[serde(skip_deserializing)]
    pub total_tokens: u64,
    #[serde(default, deserialize_with = "null_as_default")]
    pub cost: Cost,
}

/// Money, in dollars. Only the total is known to us.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    #[serde(rename = "__struct__", skip_deserializing)]
    pub of: &'static str,
    #[serde(skip_deserializing)]
    pub input: f64,
    #[serde(skip_deserializing)]
    pub output: f64,
    #[serde(skip_deserializing)]
    pub cache_read: f64,
    #[serde(skip_deserializing)]
    pub cache_write: f64,
    #[serde(default, deserialize_with = "null_as_default")]
    pub total: f64,
}
