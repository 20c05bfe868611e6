//! Messages as asst peers write them, one set of types for each direction. No logic: what they mean stands in the roles.
//!
//! What is written is the document's form, with the names that the existing programs need beside it. What is read may lack nearly
//! everything; a member that is only written is `skip_deserializing`, one that is only read `skip_serializing`.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use wire::lenient::{null_as_default, or_default};

/// A request of the shell. Its id is a string from us; in the wild it may be a number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Request {
    UserMessage {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        id: Value,
        #[serde(default, deserialize_with = "message")]
        message: String,
        /// In no document: a string that holds a JSON array of [`Picture`]s. A plain array is read too.
        #[serde(default, skip_serializing_if = "Value::is_null")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        images: Value,
        #[serde(default, deserialize_with = "attachments", skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    ClearHistory {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        id: Value,
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    GetStatus {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        id: Value,
    },
    NewConversation {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        id: Value,
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    /// In no document.
    LoadConversation {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        id: Value,
        #[serde(default, deserialize_with = "or_default")]
        conversation_id: String,
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
        metadata: Option<Metadata>,
    },
    /// A kind that we do not know.
    #[serde(other, skip_serializing)]
    Unknown,
}

fn message<'de, D: Deserializer<'de>>(reader: D) -> Result<String, D::Error> {
    null_as_default(reader).map_err(|_| D::Error::custom("message must be a string"))
}

fn attachments<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Attachment>, D::Error> {
    let read = null_as_default(reader);
    read.map_err(|why| D::Error::custom(format!("attachments must be a list of {{path, mime}}: {why}")))
}

/// What a request is about, beside what it says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Metadata {
    #[serde(
        default,
        rename = "conversationId",
        deserialize_with = "or_default",
        skip_serializing_if = "Option::is_none"
    )]
    pub(super) conversation: Option<String>,
    #[serde(default, rename = "conversation_id", deserialize_with = "or_default", skip_serializing)]
    pub(super) conversation_too: Option<String>,
    /// Of a new conversation.
    #[serde(default, deserialize_with = "or_default", skip_serializing)]
    pub(super) title: Option<String>,
}

impl Metadata {
    /// The conversation that is meant.
    pub(super) fn of(conversation: &str) -> Metadata {
        Metadata { conversation: Some(conversation.to_owned()), ..Metadata::default() }
    }

    /// The conversation that is meant, by either name.
    pub(super) fn conversation(&self) -> Option<&str> {
        let named = self.conversation.as_deref().or(self.conversation_too.as_deref());
        named.filter(|name| !name.is_empty())
    }
}

/// A file that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Attachment {
    pub(super) path: String,
    #[serde(default)]
    pub(super) mime: String,
}

/// A picture that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Picture {
    pub(super) data: String,
    #[serde(alias = "mime", alias = "mimeType", default)]
    pub(super) mime_type: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
}

/// A response of the runtime. Its id is that of the request, as it came; errors of the existing runtime may lack it. The timestamp is
/// in milliseconds since 1970, a whole number, which the existing shell insists on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Response {
    Ready {
        #[serde(default, deserialize_with = "or_default")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        version: Option<String>,
        #[serde(skip_deserializing)]
        capabilities: Vec<String>,
        #[serde(skip_deserializing)]
        timestamp: u64,
    },
    Token {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "number"])))]
        id: Value,
        #[serde(default, deserialize_with = "null_as_default")]
        token: String,
        #[serde(skip_deserializing)]
        timestamp: u64,
    },
    ToolUse {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "number"])))]
        id: Value,
        #[serde(default, deserialize_with = "null_as_default")]
        data: ToolUse,
        #[serde(skip_deserializing)]
        timestamp: u64,
    },
    ToolResult {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "number"])))]
        id: Value,
        #[serde(default, deserialize_with = "null_as_default")]
        data: ToolResult,
        #[serde(skip_deserializing)]
        timestamp: u64,
    },
    Done {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "number"])))]
        id: Value,
        #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
        data: Option<Conversation>,
        #[serde(skip_deserializing)]
        timestamp: u64,
    },
    Error {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "number"])))]
        id: Value,
        #[serde(default, deserialize_with = "null_as_default")]
        error: String,
        #[serde(skip_deserializing)]
        timestamp: u64,
    },
    Status {
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("type" = ["string", "number"])))]
        id: Value,
        #[serde(skip_deserializing)]
        data: Status,
        #[serde(skip_deserializing)]
        timestamp: u64,
    },
    /// A type that we do not know.
    #[serde(other, skip_serializing)]
    Unknown,
}

impl Response {
    /// The id of the request, if it is a string, as ours are. `line` is where the response was read.
    pub(super) fn id(&self, line: &str) -> Option<String> {
        let id = match self {
            Response::Token { id, .. }
            | Response::ToolUse { id, .. }
            | Response::ToolResult { id, .. }
            | Response::Done { id, .. }
            | Response::Error { id, .. }
            | Response::Status { id, .. } => id,
            Response::Ready { .. } => &Value::Null,
            Response::Unknown => &Head::of(line).id,
        };
        id.as_str().map(str::to_owned)
    }
}

/// What every response has, also one of a type that we do not know.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Head {
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) id: Value,
}

impl Head {
    /// Of a line that is a response.
    pub(super) fn of(line: &str) -> Head {
        serde_json::from_str(line).unwrap_or_default()
    }
}

/// A tool's id and name, in the names of the document and in those of the existing programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub(super) struct ToolNames {
    #[serde(rename = "toolId", deserialize_with = "null_as_default")]
    id: String,
    #[serde(rename = "tool_use_id", deserialize_with = "null_as_default")]
    id_too: String,
    #[serde(rename = "toolName", deserialize_with = "null_as_default")]
    name: String,
    #[serde(rename = "tool_name", deserialize_with = "null_as_default")]
    name_too: String,
}

impl ToolNames {
    /// Under both names each.
    pub(super) fn new(id: String, name: &str) -> ToolNames {
        ToolNames { id: id.clone(), id_too: id, name: name.to_owned(), name_too: name.to_owned() }
    }

    /// The id, whichever way it is written; empty when it is not.
    pub(super) fn id(&self) -> &str {
        if self.id.is_empty() { &self.id_too } else { &self.id }
    }

    /// The name, whichever way it is written; empty when it is not.
    pub(super) fn name(&self) -> &str {
        if self.name.is_empty() { &self.name_too } else { &self.name }
    }
}

/// What a tool is asked to do.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ToolUse {
    #[serde(flatten)]
    pub(super) tool: ToolNames,
    #[serde(default)]
    pub(super) input: Value,
    /// The same, in the existing programs' name.
    #[serde(default)]
    pub(super) tool_input: Value,
}

/// What a tool gave back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct ToolResult {
    #[serde(flatten)]
    pub(super) tool: ToolNames,
    #[serde(default)]
    pub(super) result: Value,
    /// Why it failed, for which the document has no place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub(super) error: Option<Value>,
}

/// The conversation that was made or loaded, in both spellings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct Conversation {
    #[serde(default, deserialize_with = "or_default")]
    conversation_id: String,
    #[serde(default, rename = "conversationId", deserialize_with = "or_default")]
    conversation_id_too: String,
    /// Of one that was loaded.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    message_count: Option<u64>,
}

impl Conversation {
    /// In both spellings.
    pub(super) fn new(name: &str, message_count: Option<u64>) -> Conversation {
        let (conversation_id, conversation_id_too) = (name.to_owned(), name.to_owned());
        Conversation { conversation_id, conversation_id_too, message_count }
    }

    /// How much it holds, where that was told.
    pub(super) fn messages(&self) -> Option<u64> {
        self.message_count
    }

    /// Whichever way it is written.
    pub(super) fn name(self) -> Option<String> {
        [self.conversation_id, self.conversation_id_too].into_iter().find(|name| !name.is_empty())
    }
}

/// How the runtime stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub(super) struct Status {
    pub(super) state: RunState,
    /// In messages.
    pub(super) conversation_length: u64,
    /// In milliseconds.
    pub(super) uptime: u64,
}

/// Whether a request is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(super) enum RunState {
    #[default]
    Idle,
    Processing,
}
