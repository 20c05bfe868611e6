//! A list over the screen with a fuzzy filter: sessions, branches, models, tools, and whatever else is chosen from a list.

use crate::clean::clean_line;
use crate::composer::Editor;
use crate::fuzzy::rank;
use crate::key::{Code, Key};
use crate::settings::Setting;
use domain::ids::{EntryId, QueuedId, SessionId};
use domain::session::Policy;

/// What a key does, and the same in fewer words, none of them another, for a narrow screen.
pub(crate) type Hint = (&'static str, &'static str);

/// What closes a page or a list.
pub(crate) const CLOSES: Hint = ("Esc closes", "Esc closes");

/// The sign of the one in use; a run under way has another.
pub(crate) const CURRENT: &str = "◆ ";

/// Behind the title of the session on this screen.
pub(crate) const HERE: &str = " (here)";

/// Behind the title of one that another process has open.
pub(crate) const ELSEWHERE: &str = " (open)";

/// What is told first of the one in use.
pub(crate) const IN_USE: &str = "in use · ";

/// Said while something is looked for.
const LOOKING: &str = "looking…";

/// What can be chosen from a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind {
    Sessions,
    /// All sessions in which words were said; what is typed is looked for.
    Search,
    /// Messages of this session, with its branches.
    Tree,
    Models,
    Policies,
    /// What was allowed for good.
    Rules,
    /// Where commands of the session listen.
    Ports,
    /// The devices of the page, and who wants to become one.
    Devices,
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
    /// What can be set of an agent, in its own words.
    Options,
    OptionValues,
    /// Agents of other programs.
    Agents,
    /// Whose key can be given.
    Providers,
    /// What goes back to an earlier message.
    GoBack,
    /// What can be copied.
    Copies,
}

/// A thing that `/copy` offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    /// The last answer.
    Answer,
    /// A block of code, counted from the newest.
    Code(usize),
    /// What the last command printed.
    Output,
    /// The whole conversation.
    All,
}

/// Something that was allowed for more than once, as the runtime tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AllowedRule {
    /// The project that it is kept for; without one it ends with the session.
    pub(crate) project: Option<String>,
    /// The rule itself, to be named when it is taken back.
    pub(crate) rule: String,
    /// The words to begin with when it is to be narrowed from here, if it can be.
    pub(crate) narrow: Option<String>,
}

/// Something that a server may reach, or may not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReachLine {
    pub(crate) server: String,
    /// Its word on the wire.
    pub(crate) what: &'static str,
    pub(crate) on: bool,
}

/// What a line stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    Session(SessionId),
    /// The same, and these words in it.
    Found(SessionId, String),
    /// A session that is with another program: the screen is left for it.
    Elsewhere(SessionId),
    /// An entry of the tree.
    Entry(EntryId),
    /// A model: provider and name.
    Model(String, String),
    Policy(Policy),
    Rule(Box<AllowedRule>),
    Copy(Copied),
    /// A tool and whether it is on.
    Tool(String, bool),
    /// What a server may reach: choosing it opens or closes that.
    Reach(Box<ReachLine>),
    /// A port at which a command listens, and whether it is open on this machine.
    Port(u16, bool),
    /// A text for the composer.
    Text(String),
    /// An input that waits in a queue.
    Queued(QueuedId),
    Value(Setting, &'static str),
    /// A setting: choosing it takes its next value.
    Setting(Setting),
    Command(&'static str),
    /// The browser that wants to become a device: who is asked for it, and its number there.
    Asking(u32, u64),
    /// A device, by its id.
    Device(String),
    /// An option of the agent's own, by its id: its values are shown.
    Option(String),
    /// A value of such an option.
    SetOption(String, String),
    /// An agent, by its name, or why it cannot be had.
    Agent(Result<String, String>),
    /// A provider whose key is asked for.
    Provider(String),
    /// An entry to go back to, and whether files go with the words.
    GoBack(EntryId, bool),
    /// Only to be read.
    Nothing,
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    /// What is read first.
    pub(crate) label: String,
    /// What is read second.
    pub(crate) detail: String,
    /// The same in columns, where its parts stand below those of other lines; some may be empty.
    pub(crate) cells: Vec<String>,
    pub(crate) choice: Choice,
    /// A sign before it, such as the current one's.
    pub(crate) sign: &'static str,
    /// What is to be known besides, clean, shown below the list while the cursor stands on it.
    pub(crate) more: String,
}

/// A list to choose from, with a filter that is typed.
#[derive(Debug, Clone)]
pub(crate) struct Picker {
    kind: ListKind,
    title: String,
    filter: Editor,
    items: Vec<Item>,
    /// The line under the cursor, among those shown.
    cursor: usize,
    /// Said in the place of an empty list.
    empty: String,
    /// What the keys do, for the last line.
    hints: &'static [Hint],
    /// Where all of its lines are kept, if that is worth telling.
    kept_in: String,
    /// What the lines were found with: they are shown whatever the filter, until it changes.
    found: Option<String>,
    /// Whether a line can be taken away here.
    takes_away: bool,
    /// The line that a second press will take away.
    doomed: Option<usize>,
    shown: Vec<usize>,
}

/// What comes of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Picked {
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
    pub(crate) fn new(kind: ListKind, title: &str, hints: &'static [Hint]) -> Picker {
        Picker {
            kind,
            title: title.to_owned(),
            filter: Editor::default(),
            items: Vec::new(),
            cursor: 0,
            empty: "one moment…".to_owned(),
            hints,
            kept_in: String::new(),
            found: None,
            takes_away: false,
            doomed: None,
            shown: Vec::new(),
        }
    }

    /// Puts lines in; the cursor goes to `at`.
    pub(crate) fn fill(&mut self, items: Vec<Item>, at: usize, empty: &str) {
        self.items = items;
        self.empty = empty.to_owned();
        self.refilter();
        self.cursor = at.min(self.shown.len().saturating_sub(1));
    }

    /// Its lines are kept in this file.
    #[must_use]
    pub(crate) fn kept_in(mut self, path: &str) -> Picker {
        self.kept_in = if path.is_empty() { String::new() } else { format!("saved in {}", clean_line(path)) };
        self
    }

    /// Where its lines are kept, in words; nothing where nobody asks.
    pub(crate) fn kept(&self) -> &str {
        &self.kept_in
    }

    /// Lines can be taken away here.
    #[must_use]
    pub(crate) fn taking_away(mut self) -> Picker {
        self.takes_away = true;
        self
    }

    /// Puts other lines in the place of these; the cursor stays where it is.
    pub(crate) fn refill(&mut self, items: Vec<Item>) {
        let (at, empty) = (self.cursor, std::mem::take(&mut self.empty));
        self.fill(items, at, &empty);
    }

    /// Puts lines in as they are now. The cursor and a line that a second press takes away stay with what they stand for; the cursor never
    /// comes by itself to a browser that asks, if there is another line.
    pub(crate) fn renew(&mut self, items: Vec<Item>, empty: &str) {
        let meant =
            |at: Option<&usize>| at.and_then(|at| self.items.get(*at)).map(|item| item.choice.clone());
        let (under, doomed) = (meant(self.shown.get(self.cursor)), meant(self.doomed.as_ref()));
        let at = self.cursor;
        self.fill(items, at, empty);
        let stands_for =
            |at: &usize, choice: &Choice| self.items.get(*at).is_some_and(|item| item.choice == *choice);
        self.doomed = doomed.and_then(|choice| (0..self.items.len()).find(|at| stands_for(at, &choice)));
        let Some(under) = under else { return };
        if let Some(at) = self.shown.iter().position(|at| stands_for(at, &under)) {
            self.cursor = at;
        } else if self.under().is_some_and(|item| matches!(item.choice, Choice::Asking(..))) {
            self.cursor = (self.cursor + 1).min(self.shown.len() - 1);
        }
    }

    /// These words are looked for elsewhere; what is found will be shown whatever the filter.
    pub(crate) fn look_for(&mut self, words: String) {
        self.found = Some(words);
        self.fill(Vec::new(), 0, LOOKING);
    }

    /// The same, while what was found before stays.
    pub(crate) fn looks_for(&mut self, words: String) {
        self.found = Some(words);
        if self.items.is_empty() {
            LOOKING.clone_into(&mut self.empty);
        }
    }

    /// The words that were looked for last.
    pub(crate) fn looked_for(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// Begins with these words in its filter.
    pub(crate) fn begin_with(&mut self, words: &str) {
        self.filter = Editor::with(words);
    }

    /// What a line stood for is gone, and so is the line.
    pub(crate) fn remove(&mut self, choice: &Choice) {
        let items = std::mem::take(&mut self.items);
        self.refill(items.into_iter().filter(|item| item.choice != *choice).collect());
    }

    /// Switches a tool on or off; those that are on then, unless all are.
    pub(crate) fn switch_tool(&mut self, name: &str, on: bool) -> Option<Vec<String>> {
        let mut active = Vec::new();
        for item in &mut self.items {
            if let Choice::Tool(tool, is_on) = &mut item.choice {
                if tool == name {
                    *is_on = on;
                    item.sign = if on { "☑ " } else { "☐ " };
                }
                if *is_on {
                    active.push(tool.clone());
                }
            }
        }
        (active.len() < self.items.len()).then_some(active)
    }

    /// What its lines stand for.
    pub(crate) fn kind(&self) -> ListKind {
        self.kind
    }

    /// Gives it another first line.
    pub(crate) fn call(&mut self, title: &str) {
        title.clone_into(&mut self.title);
    }

    /// What its first line says.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// What the keys do, for the last line.
    pub(crate) fn hints(&self) -> &'static [Hint] {
        self.hints
    }

    /// What was typed to narrow it down.
    pub(crate) fn filter(&self) -> &Editor {
        &self.filter
    }

    /// Which line is under the cursor, counted among those shown.
    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    /// How many lines fit the filter.
    pub(crate) fn count(&self) -> usize {
        self.shown.len()
    }

    /// Which of the lines that fit the filter is under the cursor, and how many there are; notes are no lines that count, unless the
    /// list is read-only.
    pub(crate) fn place(&self) -> Option<(usize, usize)> {
        let is_note = |at: &usize| self.items.get(*at).is_some_and(|item| item.choice == Choice::Nothing);
        let all_notes = self.shown.iter().all(is_note);
        let counts = |at: &&usize| all_notes || !is_note(at);
        let under = self.shown.get(self.cursor).filter(counts)?;
        let before = self.shown.iter().take_while(|at| *at != under).filter(counts).count();
        Some((before + 1, self.shown.iter().filter(counts).count()))
    }

    /// The lines that fit the filter, and whether a second press takes them away.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&Item, bool)> {
        let lines = self.shown.iter().filter_map(|at| Some((at, self.items.get(*at)?)));
        lines.map(|(at, item)| (item, self.doomed == Some(*at)))
    }

    /// All lines, whatever the filter.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    /// Whether backticks in its lines stand around code: in words of ours they do, what a person wrote is told as it is.
    pub(crate) fn has_code(&self) -> bool {
        matches!(self.kind, ListKind::Rules | ListKind::Copies)
    }

    /// Whether there is more to tell of a line than the line itself.
    pub(crate) fn tells_more(&self) -> bool {
        self.items.iter().any(|item| !item.more.is_empty())
    }

    /// What a second press does, in the word of the keys.
    pub(crate) fn doom(item: &Item) -> &'static str {
        match item.choice {
            Choice::Queued(_) => "Del again deletes it",
            Choice::Rule(_) | Choice::Device(_) => "Del again revokes it",
            Choice::Asking(..) => "Del again denies it",
            _ => "Del again deletes it",
        }
    }

    /// Whether what is told beside its lines stands in columns.
    pub(crate) fn is_in_columns(&self) -> bool {
        self.items.iter().any(|item| !item.cells.is_empty())
    }

    /// What is said in the place of lines.
    pub(crate) fn nothing_word(&self) -> &str {
        match () {
            () if self.kind == ListKind::Search && !self.empty.is_empty() => &self.empty,
            () if self.kind == ListKind::Search => "type words: everything that was said is searched",
            () if self.searches() => "no match; Enter searches what was said",
            () if self.items.is_empty() && self.found.is_some() && self.empty != LOOKING => {
                "no match; Esc closes"
            }
            () if self.items.is_empty() => &self.empty,
            () => "no match",
        }
    }

    /// Whether nothing fits and Enter looks further.
    fn searches(&self) -> bool {
        let words = self.filter.text().trim();
        self.kind == ListKind::Sessions
            && self.shown.is_empty()
            && !words.is_empty()
            && self.found.as_deref() != Some(words)
    }

    /// The line under the cursor.
    pub(crate) fn under(&self) -> Option<&Item> {
        self.shown.get(self.cursor).and_then(|at| self.items.get(*at))
    }

    fn refilter(&mut self) {
        let texts: Vec<String> =
            self.items.iter().map(|item| format!("{} {}", item.label, item.detail)).collect();
        // What is searched for elsewhere is not narrowed down here as well.
        let found = self.kind == ListKind::Search || self.found.as_deref() == Some(self.filter.text());
        self.shown = rank(if found { "" } else { self.filter.text() }, &texts);
        self.cursor = self.cursor.min(self.shown.len().saturating_sub(1));
    }

    /// The first line that is shown where `high` fit.
    pub(crate) fn top(&self, high: usize) -> usize {
        self.cursor.saturating_sub(high.max(1) - 1)
    }

    /// A click on a line moves the cursor there; one on the line under the cursor chooses it.
    pub(crate) fn click(&mut self, row: usize, high: usize) -> Picked {
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
    pub(crate) fn key(&mut self, key: Key, page: usize) -> Picked {
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
            // Not the key that opens a list: pressed once too often it must not take anything away.
            (Code::Delete, _) | (Code::Char('d'), true) if self.takes_away => {
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
                    if self.kind == ListKind::Search {
                        return Picked::Search(self.filter.text().to_owned());
                    }
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
            cells: Vec::new(),
            label: (*label).to_owned(),
            detail: String::new(),
            choice: Choice::Text((*label).to_owned()),
            sign: "  ",
            more: String::new(),
        };
        let mut picker = Picker::new(ListKind::History, "Things", &[]).taking_away();
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
            (&["delete"], Picked::Nothing, 1),
            (&["delete", "delete"], Picked::Drop(text("two")), 1),
            (&["ctrl-d", "ctrl-d"], Picked::Drop(text("two")), 1),
            (&["delete", "down", "delete"], Picked::Nothing, 2),
            (&["ctrl-x", "ctrl-x", "ctrl-x"], Picked::Nothing, 1),
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
    fn notes_are_not_counted_among_what_can_be_chosen() {
        let mut picker = list(&["one", "two"]);
        let note = Item { choice: Choice::Nothing, ..picker.items[0].clone() };
        let lines = [picker.items.clone(), vec![note.clone()]].concat();
        picker.fill(lines, 1, "");
        assert_eq!(picker.place(), Some((2, 2)));
        picker.cursor = 2;
        assert_eq!(picker.place(), None, "the note itself has no number");
        picker.fill(vec![note], 0, "");
        assert_eq!(picker.place(), Some((1, 1)), "where there is nothing else, what is read is counted");
        picker.fill(Vec::new(), 0, "");
        assert_eq!(picker.place(), None);
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
