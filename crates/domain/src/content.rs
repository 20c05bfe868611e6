//! What messages are made of: parts, roles, and the opaque JSON that tools and extensions carry.

mod json;

use crate::ids::ToolRunId;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub(crate) use json::present;

/// JSON text kept verbatim. The domain never looks inside; whoever makes one promises that it is JSON.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline, with = "serde_json::Value"))]
pub struct Json(Arc<str>);

impl Json {
    /// Keeps `text`, which the caller knows to be one JSON value.
    pub fn verbatim(text: impl Into<Arc<str>>) -> Json {
        Json(text.into())
    }

    /// The empty object.
    pub fn empty() -> Json {
        Json("{}".into())
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The side that a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The program itself, for instance a compaction summary shown to the model.
    System,
}

/// What a stream of text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum TextKind {
    /// Said to the person.
    Text,
    /// The model's thinking.
    Thought,
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Markdown text.
    Text(String),
    /// The model's thinking; `signature` is what a provider wants back unchanged.
    Thought {
        /// The thinking as text.
        text: String,
        /// Opaque proof that some providers demand when the thought is sent back.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A picture.
    Image {
        /// Media type, such as `image/png`.
        mime: String,
        /// Base64, as every wire carries it.
        base64: Arc<str>,
    },
    /// A block of code that a wire announces as such.
    Code {
        /// Language name, if said.
        #[serde(skip_serializing_if = "Option::is_none")]
        language: Option<String>,
        /// The code.
        text: String,
        /// Where it stands, if said.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// A unified diff.
    Diff {
        /// The file, if said.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        /// Unified diff text.
        text: String,
    },
    /// The place in the message where a tool run was proposed.
    Tool(ToolRunId),
    /// Something a wire said that we only keep and show.
    Opaque {
        /// The wire's own name for it.
        kind: String,
        /// As it came.
        json: Json,
    },
}

impl Part {
    /// The streamed text of this part and its kind, if it can be streamed.
    pub fn streamed(&self) -> Option<(TextKind, &str)> {
        match self {
            Part::Text(text) => Some((TextKind::Text, text)),
            Part::Thought { text, .. } => Some((TextKind::Thought, text)),
            Part::Image { .. }
            | Part::Code { .. }
            | Part::Diff { .. }
            | Part::Tool(_)
            | Part::Opaque { .. } => None,
        }
    }

    /// Nobody but the provider that made it can read it: it is neither shown nor given away.
    pub fn is_private(&self) -> bool {
        matches!(self, Part::Opaque { kind, .. } if kind == KEPT)
    }

    /// An empty part that a stream of `kind` fills.
    pub fn stream(kind: TextKind) -> Part {
        match kind {
            TextKind::Text => Part::Text(String::new()),
            TextKind::Thought => Part::Thought { text: String::new(), signature: None },
        }
    }
}

/// What a person (or a program in their place) says to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Input {
    #[serde(default)]
    pub text: String,
    /// Pictures and files that go with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Part>,
}

impl Input {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Input {
        Input { text: text.into(), attachments: Vec::new() }
    }

    /// The parts of the user's message.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::with_capacity(1 + self.attachments.len());
        if !self.text.is_empty() || self.attachments.is_empty() {
            parts.push(Part::Text(self.text.clone()));
        }
        parts.extend(self.attachments.iter().cloned());
        parts
    }
}

/// The kind of an opaque part that holds what a provider wants back unchanged, such as an encrypted thought.
pub const KEPT: &str = "kept";

/// Tokens and money of a step, a run or a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens read by the model, cached ones included.
    #[serde(default, skip_serializing_if = "crate::written::is_zero")]
    pub input: u64,
    /// Tokens written by the model.
    #[serde(default, skip_serializing_if = "crate::written::is_zero")]
    pub output: u64,
    /// Of `input`: read from a cache.
    #[serde(default, skip_serializing_if = "crate::written::is_zero")]
    pub cache_read: u64,
    /// Of `input`: written to a cache.
    #[serde(default, skip_serializing_if = "crate::written::is_zero")]
    pub cache_write: u64,
    /// Millionths of a US dollar; zero when the price is unknown.
    #[serde(default, skip_serializing_if = "crate::written::is_zero")]
    pub cost_micros: u64,
    /// Some of it is an estimate: the provider told no count, or the price is that of a related model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rough: bool,
}

/// As native revision 1 hashes it; what came later counts only where it was said.
impl Hash for Usage {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let Usage { input, output, cache_read, cache_write, cost_micros, rough } = self;
        (input, output, cache_read, cache_write, cost_micros).hash(hasher);
        if *rough {
            rough.hash(hasher);
        }
    }
}

impl Usage {
    /// All tokens.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Percent of what was read that came from a cache, where any did.
    pub fn cached_percent(&self) -> Option<u64> {
        (self.cache_read > 0 && self.input > 0)
            .then(|| self.cache_read.min(self.input).saturating_mul(100) / self.input)
    }

    /// Nothing was counted.
    pub fn is_nothing(&self) -> bool {
        *self == Usage::default()
    }

    /// Sums two usages.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            rough: self.rough || other.rough,
        }
    }
}
