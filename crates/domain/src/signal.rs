//! Signals: one way, from the runtime to the UIs, never stored as conversation.
//!
//! The newest value of each lasting signal is kept on a [`Board`], so that a late UI sees the same screen.

use std::collections::BTreeMap;

/// How loud a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// Above the composer.
    Above,
    /// Below the composer.
    Below,
}

/// A one-way word to the UIs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Signal {
    /// A toast.
    Notify {
        /// How loud.
        level: Level,
        /// The text.
        text: String,
    },
    /// A field of the status line; `None` takes it away.
    Status {
        /// Which field.
        key: String,
        /// Its text.
        text: Option<String>,
    },
    /// The line that says what is going on; `None` takes it away.
    Working(Option<String>),
    /// A small block near the composer; empty takes it away.
    Widget {
        /// Which block.
        key: String,
        /// Its lines.
        lines: Vec<String>,
        /// Where it stands.
        place: Place,
    },
    /// The window's title.
    Title(String),
    /// Text for the composer.
    EditorText(String),
    /// What the person may want to type next.
    Suggestion {
        /// The text.
        text: String,
        /// Thousandths.
        confidence: u16,
        /// Where it comes from.
        source: String,
        /// Why.
        context: Option<String>,
    },
}

/// The lasting signals as they stand now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Board {
    /// Status fields.
    pub status: BTreeMap<String, String>,
    /// Widgets.
    pub widgets: BTreeMap<String, (Place, Vec<String>)>,
    /// The working line.
    pub working: Option<String>,
    /// The title.
    pub title: Option<String>,
}

/// Most status fields and widgets kept; a runtime that invents more keys loses the newest.
pub const MAX_BOARD_KEYS: usize = 64;

impl Board {
    /// Takes a signal in; true when the board changed.
    pub fn take(&mut self, signal: &Signal) -> bool {
        let before = self.clone();
        match signal {
            Signal::Status { key, text: Some(text) } => {
                if self.status.len() < MAX_BOARD_KEYS || self.status.contains_key(key) {
                    self.status.insert(key.clone(), text.clone());
                }
            }
            Signal::Status { key, text: None } => {
                self.status.remove(key);
            }
            Signal::Widget { key, lines, .. } if lines.is_empty() => {
                self.widgets.remove(key);
            }
            Signal::Widget { key, lines, place } => {
                if self.widgets.len() < MAX_BOARD_KEYS || self.widgets.contains_key(key) {
                    self.widgets.insert(key.clone(), (*place, lines.clone()));
                }
            }
            Signal::Working(text) => self.working.clone_from(text),
            Signal::Title(title) => self.title = Some(title.clone()),
            Signal::Notify { .. } | Signal::EditorText(_) | Signal::Suggestion { .. } => {}
        }
        *self != before
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
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct UiContext {
    /// Working directory of the UI.
    pub cwd: Option<String>,
    /// Root of the workspace.
    pub workspace_root: Option<String>,
    /// File that has the focus.
    pub active_file: Option<String>,
    /// Selected text and its file.
    pub selection: Option<(String, String)>,
    /// Shell, recent commands, open files: lines of text for the model.
    pub notes: Vec<String>,
}
