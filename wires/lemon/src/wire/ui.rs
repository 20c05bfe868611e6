//! Questions and signals.

use super::Words;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use wire::lenient::{null_as_default, or_default, present};

/// The person is asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UiRequest<'a> {
    /// To be given back.
    pub id: Cow<'a, str>,
    pub method: Method,
    #[serde(default, deserialize_with = "null_as_default")]
    pub params: Question<'a>,
}

/// What kind of answer a question wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// One of a list.
    Select,
    /// Yes or no.
    Confirm,
    /// A line of text.
    Input,
    /// A text to change.
    Editor,
    /// Something that we cannot ask.
    #[serde(untagged, skip_serializing)]
    Other(String),
}

/// The words and choices of a `ui_request`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question<'a> {
    /// The line on top.
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: Cow<'a, str>,
    /// `confirm`: the text under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Cow<'a, str>>,
    /// `select`: what there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Vec<Choice<'a>>>,
    /// `input`: shown in the empty field, or null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "text_or_null"))]
    pub placeholder: Option<Option<Cow<'a, str>>>,
    /// `editor`: what stands there at first, or null.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "text_or_null"))]
    pub prefill: Option<Option<Cow<'a, str>>>,
    /// More; always a map from us.
    #[serde(default, deserialize_with = "or_default")]
    pub opts: Opts,
}

/// The schema of a text that may be null where it is not absent.
#[cfg(feature = "schema")]
fn text_or_null(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "oneOf": [{ "type": "string" }, { "type": "null" }] })
}

/// One thing to select: an object, or only its value.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice<'a> {
    /// What the person reads.
    pub label: Cow<'a, str>,
    /// What the answer names, as it came.
    pub value: Words<'a>,
    /// A second line, or null.
    pub description: Option<Cow<'a, str>>,
}

impl<'de> Deserialize<'de> for Choice<'_> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        let json = Value::deserialize(reader)?;
        let member = |name: &str| json.get(name).cloned().map(Words::from);
        let value = member("value").unwrap_or_else(|| json.clone().into());
        let label = member("label").as_ref().unwrap_or(&value).shown().into();
        let description = member("description").map(|words| words.shown()).filter(|text| !text.is_empty());
        Ok(Choice { label, value, description: description.map(Cow::Owned) })
    }
}

/// More about a question. Ours; existing clients ignore it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Opts {
    /// It is about a tool.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub consent: Option<ConsentHint>,
    /// Not to be shown or kept.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// How long it may wait, in milliseconds; null for as long as it takes. Absent: the document's 30 s.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "number_or_null"))]
    pub deadline_ms: Option<Option<u64>>,
}

/// The schema of a number that may be null where it is not absent.
#[cfg(feature = "schema")]
fn number_or_null(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "oneOf": [{ "type": "integer", "minimum": 0 }, { "type": "null" }] })
}

/// What a question about a tool carries, so that a peer that knows it can show more than yes and no.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ConsentHint {
    pub tool_call_id: String,
    pub tool_name: String,
    /// `low`, `medium`, `high` or `critical`.
    pub risk: String,
    /// Why it is as dangerous as that.
    pub reasons: Vec<String>,
    /// Whether it can be undone.
    pub reversible: bool,
    /// What "always" would remember, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// All of what would happen, where the question has only its two ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

/// Values of the options that a question about a tool offers when there is a rule to remember.
pub mod consent {
    /// This one action.
    pub const ONCE: &str = "allow_once";
    /// The same kind of action until the session closes.
    pub const SESSION: &str = "allow_session";
    /// The rule, for this project.
    pub const ALWAYS: &str = "allow_always";
    /// Not this action.
    pub const DENY: &str = "deny";
}

/// A signal on its line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(bound = "T: schemars::JsonSchema + Default + Serialize")
)]
#[serde(bound(deserialize = "T: Deserialize<'de> + Default"))]
pub struct Params<T> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub params: T,
}

/// A word to show.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Notify<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub message: Cow<'a, str>,
    /// How loud. Always there from us.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(with = "NotifyType"))]
    pub notify_type: Option<NotifyType>,
    /// How loud, in the other adapter's spelling.
    #[serde(default, rename = "type", skip_serializing)]
    pub other_type: Option<NotifyType>,
}

/// How loud a word is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotifyType {
    Info,
    /// The document's.
    Warn,
    /// The existing programs'.
    Warning,
    Error,
    Success,
    /// A word that we do not know.
    #[serde(untagged, skip_serializing)]
    Other(String),
}

/// A field of the status line.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Status<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub key: Cow<'a, str>,
    /// Null takes it away.
    #[serde(default)]
    pub text: Option<Cow<'a, str>>,
}

/// A small block near the editor.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Widget<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub key: Cow<'a, str>,
    /// A text; null takes it away. A list of lines is read too.
    #[serde(default)]
    pub content: Option<Words<'a>>,
    /// Always a map from us.
    #[serde(default, deserialize_with = "or_default")]
    pub opts: WidgetOpts,
}

/// Where a widget stands.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WidgetOpts {
    #[serde(default, deserialize_with = "or_default")]
    pub position: Position,
}

/// Where a widget stands, seen from the editor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Position {
    #[default]
    Above,
    Below,
}

/// What is going on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Working<'a> {
    /// Null takes it away.
    #[serde(default)]
    pub message: Option<Cow<'a, str>>,
}

/// The terminal's title.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Title<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub title: Cow<'a, str>,
}

/// Replaces what stands in the composer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditorText<'a> {
    #[serde(default, deserialize_with = "null_as_default")]
    pub text: Cow<'a, str>,
}
