//! Pages and lists that cover the screen: the pager (keys, full views), the picker and the fleet.

use crate::composer::Editor;
use crate::fleet::Board;
use crate::key::{Code, Key};
use crate::login::LoginForm;
use crate::picker::Picker;
use crate::search;

/// What stands over everything: one page, one list, or nothing.
#[derive(Debug, Default)]
pub(crate) struct Over(Option<Overlay>);

/// A page or a list.
#[derive(Debug)]
pub(crate) enum Overlay {
    /// A long text to read.
    Pager(Pager),
    /// A list to choose from.
    Picker(Box<Picker>),
    /// All sessions, wherever they run.
    Fleet(Box<Board>),
    /// The key of a provider is asked for.
    Login(Box<LoginForm>),
}

impl Over {
    /// The page or list that gets the keys, when one is open.
    pub(crate) fn top(&self) -> Option<&Overlay> {
        self.0.as_ref()
    }

    /// The same, to be scrolled or chosen from.
    pub(crate) fn top_mut(&mut self) -> Option<&mut Overlay> {
        self.0.as_mut()
    }

    /// Whether the screen below is covered.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Opens a page at its beginning.
    pub(crate) fn read(&mut self, title: impl Into<String>, content: Content) {
        self.0 = Some(Overlay::Pager(Pager::new(title, content)));
    }

    /// Opens a list.
    pub(crate) fn choose(&mut self, picker: Picker) {
        self.0 = Some(Overlay::Picker(Box::new(picker)));
    }

    /// Opens the fleet.
    pub(crate) fn survey(&mut self, board: Board) {
        self.0 = Some(Overlay::Fleet(Box::new(board)));
    }

    /// Asks for a key.
    pub(crate) fn log_in(&mut self, form: LoginForm) {
        self.0 = Some(Overlay::Login(Box::new(form)));
    }

    /// The form for a key, when it is open.
    pub(crate) fn login(&self) -> Option<&LoginForm> {
        match &self.0 {
            Some(Overlay::Login(form)) => Some(form),
            Some(Overlay::Pager(_) | Overlay::Picker(_) | Overlay::Fleet(_)) | None => None,
        }
    }

    /// The same, to be changed.
    pub(crate) fn login_mut(&mut self) -> Option<&mut LoginForm> {
        match &mut self.0 {
            Some(Overlay::Login(form)) => Some(form),
            Some(Overlay::Pager(_) | Overlay::Picker(_) | Overlay::Fleet(_)) | None => None,
        }
    }

    /// The fleet, when it is open.
    pub(crate) fn fleet(&self) -> Option<&Board> {
        match &self.0 {
            Some(Overlay::Fleet(board)) => Some(board),
            Some(Overlay::Pager(_) | Overlay::Picker(_) | Overlay::Login(_)) | None => None,
        }
    }

    /// The fleet, when it is open, to be changed.
    pub(crate) fn fleet_mut(&mut self) -> Option<&mut Board> {
        match &mut self.0 {
            Some(Overlay::Fleet(board)) => Some(board),
            Some(Overlay::Pager(_) | Overlay::Picker(_) | Overlay::Login(_)) | None => None,
        }
    }

    /// Shows the screen below again.
    pub(crate) fn close(&mut self) {
        self.0 = None;
    }

    /// The page, when one is open.
    pub(crate) fn page(&self) -> Option<&Pager> {
        match &self.0 {
            Some(Overlay::Pager(pager)) => Some(pager),
            Some(Overlay::Picker(_) | Overlay::Fleet(_) | Overlay::Login(_)) | None => None,
        }
    }

    /// The list, when one is open.
    pub(crate) fn list(&self) -> Option<&Picker> {
        match &self.0 {
            Some(Overlay::Picker(picker)) => Some(picker),
            Some(Overlay::Pager(_) | Overlay::Fleet(_) | Overlay::Login(_)) | None => None,
        }
    }

    /// The list, when one is open, to be changed.
    pub(crate) fn list_mut(&mut self) -> Option<&mut Picker> {
        match &mut self.0 {
            Some(Overlay::Picker(picker)) => Some(picker),
            Some(Overlay::Pager(_) | Overlay::Fleet(_) | Overlay::Login(_)) | None => None,
        }
    }

    /// Whether the page that shows all of the question is open.
    pub(crate) fn shows_question(&self) -> bool {
        self.page().is_some_and(|pager| pager.content == Content::Ask)
    }

    /// Whether something stands over the question.
    pub(crate) fn covers_question(&self) -> bool {
        self.is_open() && !self.shows_question()
    }
}

/// What a pager shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// The keys at a glance.
    Shortcuts,
    /// All that is to say of them.
    Keys,
    Commands,
    /// Where the session stands.
    Status,
    /// The words that came and went.
    Notices,
    /// All of the question on the screen.
    Ask,
    /// What changed in files.
    Diff(String),
    /// What the person's own command wrote.
    Own,
}

/// A long text to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pager {
    title: String,
    content: Content,
    /// The first row shown.
    top: usize,
    find: Option<Box<Finding>>,
}

/// Words that are looked for on a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The words, as they are typed.
    words: Editor,
    /// Where it was begun.
    from: usize,
    /// The row that is looked at, among those that hold them.
    at: usize,
    /// Rows that hold them.
    rows: Vec<usize>,
    /// How the next look goes on from the row that is looked at.
    step: FindStep,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum FindStep {
    /// The words changed: the first one from where it was begun.
    #[default]
    Anew,
    Next,
    Previous,
    Stay,
}

impl Finding {
    /// The words, as they are typed.
    pub(crate) fn words(&self) -> &Editor {
        &self.words
    }

    /// Which row is looked at, from 1, and how many hold the words.
    pub(crate) fn place(&self) -> (usize, usize) {
        (self.at + 1, self.rows.len())
    }

    fn key(&mut self, key: Key) {
        self.step = match (key.code, key.ctrl) {
            (Code::Enter | Code::Down, _) | (Code::Char('f' | 'n'), true) => FindStep::Next,
            (Code::Up, _) | (Code::Char('p'), true) => FindStep::Previous,
            _ if self.words.key(key) => FindStep::Anew,
            _ => FindStep::Stay,
        };
    }

    /// Looks through the rows; the one to be shown.
    fn look(&mut self, rows: &[String]) -> Option<usize> {
        let words = self.words.text();
        let holds = |(_, row): &(usize, &String)| !search::columns(row, words).is_empty();
        self.rows = rows.iter().enumerate().filter(holds).map(|(at, _)| at).collect();
        let count = self.rows.len();
        self.at = match std::mem::replace(&mut self.step, FindStep::Stay) {
            _ if count == 0 => 0,
            FindStep::Anew => self.rows.iter().position(|row| *row >= self.from).unwrap_or(0),
            FindStep::Next => (self.at + 1) % count,
            FindStep::Previous => (self.at + count - 1) % count,
            FindStep::Stay => self.at.min(count - 1),
        };
        self.rows.get(self.at).copied()
    }
}

impl Pager {
    /// A pager at its beginning.
    pub(crate) fn new(title: impl Into<String>, content: Content) -> Pager {
        Pager { title: title.into(), content, top: 0, find: None }
    }

    /// What its first line says.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// What is to be read.
    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Moves by rows; down is positive.
    pub(crate) fn scroll(&mut self, rows: i64) {
        self.top = self.top.saturating_add_signed(isize::try_from(rows).unwrap_or(0));
    }

    /// Past its end it stands still, so that the next key up moves at once.
    pub(crate) fn settle(&mut self, rows: usize, fits: usize) {
        self.top = self.clamp(rows, fits);
    }

    /// The words that are looked for, while they are.
    pub(crate) fn finding(&self) -> Option<&Finding> {
        self.find.as_deref()
    }

    /// Shows the row that holds the words; `rows` are those of the page, of which `fits` fit.
    pub(crate) fn look(&mut self, rows: &[String], fits: usize) {
        let Some(row) = self.find.as_mut().and_then(|find| find.look(rows)) else { return };
        let top = self.clamp(rows.len(), fits);
        if row < top || row >= top + fits {
            self.top = row.saturating_sub(fits / 2);
        }
    }

    /// Scrolls or looks for words; `false` when the key means something else.
    pub(crate) fn key(&mut self, key: Key, page: usize) -> bool {
        if let Some(find) = &mut self.find {
            // While words are typed no letter means anything else: not even on the page of a question.
            match key.code {
                Code::Esc => self.find = None,
                _ => find.key(key),
            }
            return true;
        }
        if key == Key::char('/') || key == Key::ctrl('f') {
            self.find = Some(Box::new(Finding { from: self.top, ..Finding::default() }));
            return true;
        }
        let (page, half) = (page.max(1), (page / 2).max(1));
        match key.code {
            Code::Up | Code::Char('k') => self.top = self.top.saturating_sub(1),
            Code::Down | Code::Char('j') => self.top = self.top.saturating_add(1),
            Code::PageUp | Code::Char('b') => self.top = self.top.saturating_sub(page),
            Code::PageDown | Code::Char(' ') => self.top = self.top.saturating_add(page),
            Code::Char('u') => self.top = self.top.saturating_sub(half),
            Code::Char('d') => self.top = self.top.saturating_add(half),
            Code::Home | Code::Char('g') => self.top = 0,
            Code::End | Code::Char('G') => self.top = usize::MAX,
            _ => return false,
        }
        true
    }

    /// The first row that can be shown, given how many there are and how many fit.
    pub(crate) fn clamp(&self, rows: usize, fits: usize) -> usize {
        self.top.min(rows.saturating_sub(fits))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_scrolls_and_any_other_key_leaves_it() {
        for (keys, top) in [
            (&["down"][..], Some(1)),
            (&["up"], Some(0)),
            (&["pagedown", "pageup"], Some(0)),
            (&["space", "j", "k"], Some(10)),
            (&["d"], Some(5)),
            (&["end"], Some(20)),
            (&["end", "g"], Some(0)),
            (&["esc"], None),
            (&["x"], None),
        ] {
            let mut pager = Pager::new("Page", Content::Keys);
            let kept = keys.iter().all(|key| pager.key(key.parse().unwrap(), 10));
            assert_eq!(kept.then(|| pager.clamp(30, 10)), top, "{keys:?}");
        }
    }

    #[test]
    fn words_are_found_on_a_page_and_every_letter_is_theirs() {
        let rows: Vec<String> =
            (0..100).map(|n| format!("row {n} {}", if n % 30 == 5 { "Here" } else { "" })).collect();
        let mut pager = Pager::new("Page", Content::Keys);
        for (key, top, place) in [
            ("/", 0, (1, 0)),
            ("h", 0, (1, 4)),
            ("e", 0, (1, 4)),
            ("enter", 30, (2, 4)),
            ("down", 60, (3, 4)),
            ("up", 30, (2, 4)),
            ("up", 0, (1, 4)),
            ("up", 90, (4, 4)),
            ("enter", 0, (1, 4)),
            ("x", 0, (1, 0)),
            ("q", 0, (1, 0)),
        ] {
            assert!(pager.key(key.parse().unwrap(), 10), "{key}");
            pager.look(&rows, 10);
            assert_eq!((pager.clamp(100, 10), pager.finding().unwrap().place()), (top, place), "{key}");
        }
        assert!(pager.key("esc".parse().unwrap(), 10) && pager.finding().is_none(), "the page stays");
        assert!(!pager.key("esc".parse().unwrap(), 10));
    }

    #[test]
    fn the_end_of_a_page_can_be_passed_without_harm() {
        let mut pager = Pager::new("Page", Content::Keys);
        for key in ["end", "down", "pagedown", "space", "d"] {
            pager.key(key.parse().unwrap(), usize::MAX);
        }
        assert_eq!(pager.clamp(0, 10), 0);
    }
}
