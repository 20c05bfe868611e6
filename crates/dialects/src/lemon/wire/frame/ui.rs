//! Questions and signals, as we write them.

use super::super::ConsentHint;
use serde::Serialize;
use serde_json::{Map, Value};
use std::borrow::Cow;

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
