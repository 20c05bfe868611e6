//! A list over the screen with a fuzzy filter: sessions, branches, models, tools, and whatever else is chosen from a list.

use crate::composer::Editor;
use crate::fuzzy::rank;
use crate::key::{Code, Key};
use crate::settings::Setting;
use domain::ids::{EntryId, QueuedId, SessionId};
use domain::session::Policy;

/// What can be chosen from a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    Sessions,
    /// Messages of this session, with its branches.
    Tree,
    Models,
    Policies,
    Tools,
    Skills,
    /// MCP servers.
    Servers,
    /// Earlier prompts.
    History,
    Queue,
    Themes,
    /// What the person has set.
    Settings,
    /// Agents of other programs.
    Agents,
    /// What goes back to an earlier message.
    GoBack,
}

/// What a line stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    Session(SessionId),
    /// An entry of the tree.
    Entry(EntryId),
    /// A model: provider and name.
    Model(String, String),
    Policy(Policy),
    /// A tool and whether it is on.
    Tool(String, bool),
    /// A text for the composer.
    Text(String),
    /// An input that waits in a queue.
    Queued(QueuedId),
    Value(Setting, &'static str),
    /// A setting: choosing it takes its next value.
    Setting(Setting),
    Command(&'static str),
    /// An agent, by its name, or why it cannot be had.
    Agent(Result<String, String>),
    /// An entry to go back to, and whether files go with the words.
    GoBack(EntryId, bool),
    /// Only to be read.
    Nothing,
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What is read first.
    pub label: String,
    /// What is read second.
    pub detail: String,
    pub choice: Choice,
    /// A sign before it, such as the current one's.
    pub sign: &'static str,
    /// All of it, clean, shown below the list while the cursor stands on it; nothing when the line tells everything.
    pub more: String,
}

/// A list to choose from, with a filter that is typed.
#[derive(Debug, Clone)]
pub struct Picker {
    pub kind: ListKind,
    pub title: String,
    pub filter: Editor,
    pub items: Vec<Item>,
    /// The line under the cursor, among those shown.
    pub cursor: usize,
    /// Said in the place of an empty list.
    pub empty: String,
    /// What the keys do, for the last line.
    pub hint: &'static str,
    /// What the lines were found with: they are shown whatever the filter, until it changes.
    pub found: Option<String>,
    /// Whether a line can be taken away here.
    pub takes_away: bool,
    /// The line that a second press will take away.
    pub doomed: Option<usize>,
    shown: Vec<usize>,
}

/// What comes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picked {
    Nothing,
    /// The cursor stands elsewhere.
    Moved,
    /// This line was chosen.
    Chosen(Choice),
    /// This line is to be taken away.
    Drop(Choice),
    /// Nothing fits: these words are to be looked for elsewhere.
    Search(String),
    /// The list is closed.
    Closed,
}

impl Picker {
    /// A list that has yet to be filled.
    pub fn new(kind: ListKind, title: &str, hint: &'static str) -> Picker {
        Picker {
            kind,
            title: title.to_owned(),
            filter: Editor::default(),
            items: Vec::new(),
            cursor: 0,
            empty: "one moment…".to_owned(),
            hint,
            found: None,
            takes_away: false,
            doomed: None,
            shown: Vec::new(),
        }
    }

    /// Puts lines in; the cursor goes to `at`.
    pub fn fill(&mut self, items: Vec<Item>, at: usize, empty: &str) {
        self.items = items;
        self.empty = empty.to_owned();
        self.refilter();
        self.cursor = at.min(self.shown.len().saturating_sub(1));
    }

    /// The lines that fit the filter, by their place.
    pub fn shown(&self) -> &[usize] {
        &self.shown
    }

    /// Whether nothing fits and Enter looks further.
    pub fn searches(&self) -> bool {
        let words = self.filter.text().trim();
        self.kind == ListKind::Sessions
            && self.shown.is_empty()
            && !words.is_empty()
            && self.found.as_deref() != Some(words)
    }

    /// The line under the cursor.
    pub fn under(&self) -> Option<&Item> {
        self.shown.get(self.cursor).and_then(|at| self.items.get(*at))
    }

    fn refilter(&mut self) {
        let texts: Vec<String> =
            self.items.iter().map(|item| format!("{} {}", item.label, item.detail)).collect();
        let found = self.found.as_deref() == Some(self.filter.text());
        self.shown = rank(if found { "" } else { self.filter.text() }, &texts);
        self.cursor = self.cursor.min(self.shown.len().saturating_sub(1));
    }

    /// The first line that is shown where `high` fit.
    pub fn top(&self, high: usize) -> usize {
        self.cursor.saturating_sub(high.max(1) - 1)
    }

    /// A click on a line moves the cursor there; one on the line under the cursor chooses it.
    pub fn click(&mut self, row: usize, high: usize) -> Picked {
        let at = self.top(high) + row;
        if at >= self.shown.len() {
            return Picked::Nothing;
        }
        if at == self.cursor {
            return self.under().map_or(Picked::Nothing, |item| Picked::Chosen(item.choice.clone()));
        }
        (self.cursor, self.doomed) = (at, None);
        Picked::Moved
    }

    /// Does what the key means.
    pub fn key(&mut self, key: Key, page: usize) -> Picked {
        let last = self.shown.len().saturating_sub(1);
        let before = self.cursor;
        let doomed = self.doomed.take();
        match (key.code, key.ctrl) {
            (Code::Esc, _) => return Picked::Closed,
            (Code::Up, _) | (Code::Char('p'), true) => {
                self.cursor = self.cursor.checked_sub(1).unwrap_or(last);
            }
            (Code::Down, _) | (Code::Char('n'), true) => {
                self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 };
            }
            (Code::PageUp, _) => self.cursor = self.cursor.saturating_sub(page),
            (Code::PageDown, _) => self.cursor = (self.cursor + page).min(last),
            (Code::Home, _) => self.cursor = 0,
            (Code::End, _) => self.cursor = last,
            (Code::Enter, _) if self.searches() => {
                return Picked::Search(self.filter.text().trim().to_owned());
            }
            (Code::Enter, _) => {
                return self.under().map_or(Picked::Nothing, |item| Picked::Chosen(item.choice.clone()));
            }
            (Code::Delete, _) | (Code::Char('x'), true) if self.takes_away => {
                let at = self.shown.get(self.cursor).copied();
                if at.is_some() && doomed == at {
                    return self.under().map_or(Picked::Nothing, |item| Picked::Drop(item.choice.clone()));
                }
                self.doomed = at;
            }
            _ => {
                if self.filter.key(key) {
                    self.cursor = 0;
                    self.refilter();
                    return Picked::Moved;
                }
            }
        }
        if before == self.cursor { Picked::Nothing } else { Picked::Moved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(labels: &[&str]) -> Picker {
        let item = |label: &&str| Item {
            label: (*label).to_owned(),
            detail: String::new(),
            choice: Choice::Text((*label).to_owned()),
            sign: "  ",
            more: String::new(),
        };
        let mut picker = Picker::new(ListKind::History, "Things", "");
        picker.takes_away = true;
        picker.fill(labels.iter().map(item).collect(), 1, "none");
        picker
    }

    #[test]
    fn keys_move_choose_filter_and_close() {
        let text = |text: &str| Choice::Text(text.to_owned());
        for (keys, picked, cursor) in [
            (&["up"][..], Picked::Moved, 0),
            (&["down"], Picked::Moved, 2),
            (&["down", "down"], Picked::Moved, 0),
            (&["home", "up"], Picked::Moved, 2),
            (&["end"], Picked::Moved, 2),
            (&["pagedown"], Picked::Moved, 2),
            (&["enter"], Picked::Chosen(text("two")), 1),
            (&["esc"], Picked::Closed, 1),
            (&["ctrl-x"], Picked::Nothing, 1),
            (&["ctrl-x", "ctrl-x"], Picked::Drop(text("two")), 1),
            (&["ctrl-x", "down", "ctrl-x"], Picked::Nothing, 2),
            (&["t", "h"], Picked::Moved, 0),
            (&["t", "h", "enter"], Picked::Chosen(text("three")), 0),
            (&["q", "enter"], Picked::Nothing, 0),
        ] {
            let mut picker = list(&["one", "two", "three"]);
            let last = keys.iter().map(|key| picker.key(key.parse().unwrap(), 10)).last();
            assert_eq!((last, picker.cursor), (Some(picked), cursor), "{keys:?}");
        }
    }

    #[test]
    fn an_empty_list_takes_every_key() {
        for key in ["up", "down", "home", "end", "pageup", "pagedown", "enter", "delete", "x"] {
            let mut picker = list(&[]);
            assert_ne!(picker.key(key.parse().unwrap(), 10), Picked::Closed);
            assert_eq!((picker.cursor, picker.click(0, 5)), (0, Picked::Nothing));
        }
    }
}
