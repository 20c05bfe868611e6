//! Messages as asst peers write them. No logic: what they mean stands in the roles.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request of the shell. `id` may be a number in the wild.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Request {
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) id: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Value>,
    /// In no document: a string that holds a JSON array of pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) images: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attachments: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Value>,
    /// In no document: which conversation to load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) conversation_id: Option<Value>,
}

/// A file that goes with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// A response of the runtime.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Response {
    #[serde(rename = "type")]
    pub(super) kind: String,
    /// The request it belongs to; `ready` has none, and errors of the existing runtime may lack it.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) id: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) capabilities: Option<Vec<String>>,
    /// Milliseconds since 1970; a whole number, which the existing shell insists on. Never looked at here.
    #[serde(default, deserialize_with = "passed_over")]
    pub(super) timestamp: u64,
}

/// Whatever stands there does not spoil the line.
fn passed_over<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<u64, D::Error> {
    serde::de::IgnoredAny::deserialize(reader).map(|_| 0)
}

/// What `tool_use` and `tool_result` carry, in the names of the document and in those of the existing programs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ToolData {
    #[serde(rename = "toolId")]
    pub(super) tool_id: String,
    pub(super) tool_use_id: String,
    #[serde(rename = "toolName")]
    pub(super) tool_name: String,
    #[serde(rename = "tool_name")]
    pub(super) tool_name_too: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Value>,
}
