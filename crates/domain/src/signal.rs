//! Signals: one way, from the runtime to the UIs, never stored as conversation.
//!
//! The newest value of each lasting signal is kept on a [`Board`], so that a late UI sees the same screen.

use crate::live::cut;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Good to know.
    Info,
    /// It worked.
    Success,
    /// Look out.
    Warning,
    /// It did not work.
    Error,
}

/// Where a widget stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = crate::written::plain))]
#[serde(rename_all = "snake_case")]
pub enum WidgetPlace {
    /// Above the composer.
    Above,
    /// Below the composer.
    Below,
}

/// The field of the status line that says why the conversation is not saved, while it is not. A UI without a person goes by it.
pub const UNSAVED: &str = "unsaved";

/// A one-way word to the UIs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// A toast.
    Notify { level: Level, text: String },
    /// A field of the status line; `None` takes it away.
    Status {
        key: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    /// The line that says what is going on; `None` takes it away.
    Working(Option<String>),
    /// A small block near the composer; empty takes it away.
    Widget { key: String, lines: Vec<String>, place: WidgetPlace },
    /// The window's title.
    Title(String),
    /// Text for the composer.
    EditorText(String),
    /// What the person may want to type next.
    Suggestion {
        text: String,
        /// Thousandths.
        confidence: u16,
        /// Where it comes from.
        source: String,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        context: Option<String>,
    },
}

/// Longest line of a signal, in bytes.
pub const MAX_LINE: usize = 1024;
/// Most lines of a widget.
pub const MAX_LINES: usize = 64;
/// Longest text of a notice or a suggestion.
pub const MAX_NOTICE: usize = 4 * 1024;
/// Longest text for the composer.
pub const MAX_EDITOR_TEXT: usize = 64 * 1024;

impl Signal {
    /// Whether it takes the place of an earlier one: only the newest is worth telling.
    pub fn replaces(&self, earlier: &Signal) -> bool {
        match (self, earlier) {
            (Signal::Status { key, .. }, Signal::Status { key: of, .. })
            | (Signal::Widget { key, .. }, Signal::Widget { key: of, .. }) => key == of,
            (Signal::Working(_), Signal::Working(_))
            | (Signal::Title(_), Signal::Title(_))
            | (Signal::EditorText(_), Signal::EditorText(_))
            | (Signal::Suggestion { .. }, Signal::Suggestion { .. }) => true,
            _ => false,
        }
    }

    /// The same with everything cut to what a screen can show: many may wait for a UI, and the lasting ones are kept.
    #[must_use]
    pub fn bounded(mut self) -> Signal {
        match &mut self {
            Signal::Notify { text, .. } => cut(text, MAX_NOTICE),
            Signal::Status { key, text } => {
                cut(key, MAX_LINE) | text.as_mut().is_some_and(|text| cut(text, MAX_LINE))
            }
            Signal::Working(text) => text.as_mut().is_some_and(|text| cut(text, MAX_LINE)),
            Signal::Widget { key, lines, .. } => {
                lines.truncate(MAX_LINES);
                lines.iter_mut().fold(cut(key, MAX_LINE), |any, line| cut(line, MAX_LINE) | any)
            }
            Signal::Title(title) => cut(title, MAX_LINE),
            Signal::EditorText(text) => cut(text, MAX_EDITOR_TEXT),
            Signal::Suggestion { text, source, context, .. } => {
                let context = context.as_mut().is_some_and(|context| cut(context, MAX_NOTICE));
                cut(text, MAX_NOTICE) | cut(source, MAX_LINE) | context
            }
        };
        self
    }
}

/// The lasting signals as they stand now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Board {
    /// Status fields.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub status: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub widgets: BTreeMap<String, (WidgetPlace, Vec<String>)>,
    /// The working line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// Most status fields and widgets kept; a runtime that invents more keys loses the newest.
pub const MAX_BOARD_KEYS: usize = 64;

impl Board {
    /// Takes a signal in; true when the board changed.
    pub fn take(&mut self, signal: &Signal) -> bool {
        match signal {
            Signal::Status { key, text: Some(text) } => {
                let room = self.status.len() < MAX_BOARD_KEYS || self.status.contains_key(key);
                room && self.status.insert(key.clone(), text.clone()).as_ref() != Some(text)
            }
            Signal::Status { key, text: None } => self.status.remove(key).is_some(),
            Signal::Widget { key, lines, .. } if lines.is_empty() => self.widgets.remove(key).is_some(),
            Signal::Widget { key, lines, place } => {
                let room = self.widgets.len() < MAX_BOARD_KEYS || self.widgets.contains_key(key);
                let widget = (*place, lines.clone());
                room && self.widgets.get(key) != Some(&widget) && {
                    self.widgets.insert(key.clone(), widget);
                    true
                }
            }
            Signal::Working(text) => std::mem::replace(&mut self.working, text.clone()) != *text,
            Signal::Title(title) => self.title.replace(title.clone()).as_ref() != Some(title),
            Signal::Notify { .. } | Signal::EditorText(_) | Signal::Suggestion { .. } => false,
        }
    }

    /// The signals that draw this board from nothing.
    pub fn replay(&self) -> Vec<Signal> {
        let status =
            self.status.iter().map(|(k, t)| Signal::Status { key: k.clone(), text: Some(t.clone()) });
        let widgets = self.widgets.iter().map(|(key, (place, lines))| Signal::Widget {
            key: key.clone(),
            lines: lines.clone(),
            place: *place,
        });
        let working = self.working.iter().map(|text| Signal::Working(Some(text.clone())));
        let title = self.title.iter().cloned().map(Signal::Title);
        status.chain(widgets).chain(working).chain(title).collect()
    }
}

/// What the UI knows about where the person works.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UiContext {
    /// Working directory of the UI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_root: Option<String>,
    /// File that has the focus.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_file: Option<String>,
    /// Selected text and its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<(String, String)>,
    /// Shell, recent commands, open files: lines of text for the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Columns and rows of the terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<(u16, u16)>,
}

impl UiContext {
    /// Another size of the terminal, and nothing of where the person works.
    pub fn of_size(columns: u16, rows: u16) -> UiContext {
        UiContext { size: Some((columns, rows)), ..UiContext::default() }
    }

    /// Whether it says nothing but a size: what was known beside it stays.
    pub fn is_size_only(&self) -> bool {
        self.size.is_some() && *self == UiContext { size: self.size, ..UiContext::default() }
    }
}
