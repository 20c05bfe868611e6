//! What is said to a model: one request with the conversation so far. Plain data, no provider's wire in it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One call of a model. The model itself is chosen by the [`crate::Model`] it is given to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Request {
    /// Instructions that stand before the conversation.
    pub system: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// The tools the model may call.
    pub tools: Vec<ToolSpec>,
    /// Upper bound of the answer in tokens; `None` leaves it to the provider or the known limit of the model.
    pub max_tokens: Option<u32>,
    /// Sampling temperature; `None` leaves it to the provider.
    pub temperature: Option<f64>,
    /// How hard the model shall think before it answers.
    pub thinking: Effort,
    /// JSON Schema of the answer, for providers that hold their models to one; others leave it out, and so does one that refuses it. Tell the
    /// model in words as well, and judge what comes.
    pub schema: Option<Value>,
    /// What requests of the same conversation have in common: a provider that has several machines sends them to the one that has the
    /// beginning in its cache. It is no secret and tells nothing about the person.
    pub cache_key: Option<String>,
}

/// How hard a model shall think. Ignored by models that cannot; what a model does not have becomes the nearest that it has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effort {
    /// Nothing is asked: the provider decides.
    #[default]
    Off,
    /// Not at all, or as little as the model can.
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl Effort {
    /// All that can be asked for, the least first.
    pub(crate) const ALL: [Effort; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum ChatMessage {
    User {
        /// Text and images, in order.
        content: Vec<Content>,
    },
    Assistant {
        content: Vec<Content>,
        /// The tools it called, in order.
        tool_calls: Vec<ToolCall>,
        /// What the provider wants back word for word (signed thoughts and the like).
        kept: Vec<OpaquePart>,
    },
    /// The result of one tool call.
    Tool {
        /// The id of the call that this answers.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// What the tool gave.
        content: Vec<Content>,
        /// The tool failed or was denied.
        is_error: bool,
    },
}

impl ChatMessage {
    /// A message of the person that is only text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User { content: vec![Content::Text(text.into())] }
    }

    /// A message of the model that is only text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant {
            content: vec![Content::Text(text.into())],
            tool_calls: Vec::new(),
            kept: Vec::new(),
        }
    }

    /// A tool's result that is only text.
    pub fn tool(call: &ToolCall, text: impl Into<String>) -> Self {
        Self::Tool {
            call_id: call.id.clone(),
            name: call.name.clone(),
            content: vec![Content::Text(text.into())],
            is_error: false,
        }
    }

    /// The text of the message, its pieces joined by newlines.
    pub fn text(&self) -> String {
        let (Self::User { content } | Self::Assistant { content, .. } | Self::Tool { content, .. }) = self;
        join_text(content)
    }
}

/// The text pieces of a content list, joined by newlines.
pub(crate) fn join_text(content: &[Content]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text(text) => Some(text.as_str()),
            Content::Image { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Plain text or Markdown.
    Text(String),
    Image {
        /// Such as `image/png`.
        mime: String,
        /// The bytes in standard base64.
        base64: String,
    },
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// The name the model uses.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments (an object).
    pub schema: Value,
}

/// A complete tool call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Unique within the conversation; made up where the provider gives none.
    pub id: String,
    /// The tool's name as the model wrote it.
    pub name: String,
    pub args: ToolArgs,
}

/// The arguments of a tool call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolArgs {
    /// Valid JSON; an empty text counts as an empty object.
    Parsed(Value),
    /// What the model wrote when it was not JSON; tell the model so.
    Unparsed(String),
}

impl ToolArgs {
    /// Reads what a model wrote.
    pub fn read(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Parsed(Value::Object(serde_json::Map::new()));
        }
        match crate::breaks::read(text) {
            Ok(value) => Self::Parsed(value),
            Err(_) => Self::Unparsed(text.to_owned()),
        }
    }

    /// The JSON object to send back to a provider; what was not an object is wrapped so that the history stays valid.
    pub fn to_object(&self) -> Value {
        match self {
            Self::Parsed(value @ Value::Object(_)) => value.clone(),
            Self::Parsed(other) => serde_json::json!({ "value": other }),
            Self::Unparsed(text) => serde_json::json!({ "unparsed": text }),
        }
    }
}

/// Opaque data of a provider that belongs to a message of the model and must go back unchanged,
/// such as a signed or encrypted thought. Store it, show it to nobody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpaquePart {
    /// The wire it came from; another wire ignores it.
    pub wire: String,
    /// The data, word for word.
    pub value: Value,
}
