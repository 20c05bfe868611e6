//! Blocks of content, in prompts and in what the agent says.

use super::open::{Raw, object, union};
use serde::{Deserialize, Serialize};
use wire::lenient::opt_whole_i64;

union! {
    enum ContentBlock by "type" {
        "text" => Text(TextContent),
        "image" => Image(ImageContent),
        "audio" => Audio(AudioContent),
        "resource_link" => ResourceLink(ResourceLink),
        "resource" => Resource(EmbeddedResource),
    }
}

impl ContentBlock {
    /// A block of plain words.
    pub fn text(text: impl Into<String>) -> ContentBlock {
        ContentBlock::Text(TextContent { text: text.into(), ..TextContent::default() })
    }
}

object! {
    struct TextContent {
        text: String,
        opt annotations: Raw,
    }
}

object! {
    struct ImageContent {
        /// Base64.
        data: String,
        mime_type: String,
        opt uri: String,
        opt annotations: Raw,
    }
}

object! {
    struct AudioContent {
        /// Base64.
        data: String,
        mime_type: String,
        opt annotations: Raw,
    }
}

object! {
    /// A file or page that goes along by its address.
    struct ResourceLink {
        name: String,
        uri: String,
        opt title: String,
        opt description: String,
        opt mime_type: String,
        #[serde(deserialize_with = "opt_whole_i64")]
        opt size: i64,
        opt annotations: Raw,
    }
}

object! {
    /// A file that goes along with what is in it.
    struct EmbeddedResource {
        resource: ResourceContents,
        opt annotations: Raw,
    }
}

object! {
    /// Text, or bytes as base64.
    struct ResourceContents {
        uri: String,
        opt mime_type: String,
        opt text: String,
        opt blob: String,
    }
}

union! {
    /// What a tool call shows.
    enum ToolCallContent by "type" {
        "content" => Content(ToolContent),
        "diff" => Diff(Box<DiffContent>),
        "terminal" => Terminal(TerminalContent),
    }
}

object! {
    struct ToolContent {
        content: ContentBlock,
    }
}

object! {
    struct DiffContent {
        path: String,
        /// Absent for a new file.
        opt old_text: String,
        new_text: String,
        #[serde(rename = "_meta", deserialize_with = "wire::lenient::or_default")]
        opt meta: super::own::Meta,
    }
}

object! {
    struct TerminalContent {
        terminal_id: String,
    }
}

/// A value of an option: the id of a choice, or a switch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ConfigValue {
    Id(String),
    Switch(bool),
}

impl Default for ConfigValue {
    fn default() -> ConfigValue {
        ConfigValue::Id(String::new())
    }
}
