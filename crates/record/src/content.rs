//! Parts, roles, inputs, usage.

use crate::written::{As, mirrored};
use domain::content::{Input, Json, Part, Role, TextKind, Usage};
use domain::ids::ToolRunId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Role", rename_all = "snake_case")]
enum RoleMirror {
    User,
    Assistant,
    System,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "TextKind", rename_all = "snake_case")]
enum TextKindMirror {
    Text,
    Thought,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Part", rename_all = "snake_case")]
enum PartMirror {
    Text(String),
    Thought {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    Image {
        mime: String,
        #[serde(with = "As::<Arc<str>>")]
        base64: Arc<str>,
    },
    Code {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<String>,
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    Diff {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        text: String,
    },
    Tool(#[serde(with = "As::<ToolRunId>")] ToolRunId),
    Opaque {
        kind: String,
        #[serde(with = "As::<Json>")]
        json: Json,
    },
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Input")]
struct InputMirror {
    #[serde(default)]
    text: String,
    #[serde(with = "As::<Vec<Part>>", default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<Part>,
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(remote = "Usage")]
struct UsageMirror {
    #[serde(default, skip_serializing_if = "zero")]
    input: u64,
    #[serde(default, skip_serializing_if = "zero")]
    output: u64,
    #[serde(default, skip_serializing_if = "zero")]
    cache_read: u64,
    #[serde(default, skip_serializing_if = "zero")]
    cache_write: u64,
    #[serde(default, skip_serializing_if = "zero")]
    cost_micros: u64,
    #[serde(default, skip_serializing_if = "is_false")]
    rough: bool,
}

/// What is not so is left out of the record: old sessions read and write as before.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
pub(crate) fn is_false(flag: &bool) -> bool {
    !*flag
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn zero(number: &u64) -> bool {
    *number == 0
}

mirrored!(
    Role => RoleMirror,
    TextKind => TextKindMirror,
    Part => PartMirror,
    Input => InputMirror,
    Usage => UsageMirror,
);
