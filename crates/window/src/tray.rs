//! Who waits for the person, and what the tray says of it. A menu leads to a question and never answers one.
//!
//! Invariants: rows are folded as the page folds them (all at first, then what changed); what stands in a menu was written by models and
//! other programs, so it is made harmless and short; the menu is bounded.

use domain::harmless::in_line;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Questions that the menu names; of more, it says how many.
pub const MAX_NAMED: usize = 8;
/// Characters of a title and of a question in the menu.
const MAX_WORDS: usize = 60;

/// A row of the fleet, as far as the tray needs it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    key: String,
    status: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    question: Option<String>,
    #[serde(default)]
    since: u64,
}

#[derive(Deserialize)]
struct Told {
    rows: Rows,
}

#[derive(Deserialize)]
struct Rows {
    #[serde(default)]
    all: bool,
    #[serde(default)]
    rows: Vec<Row>,
    #[serde(default)]
    gone: Vec<String>,
}

/// The fleet as the tray knows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fleet {
    rows: BTreeMap<String, Row>,
}

/// A session whose question waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub session: String,
    /// Its title and its question, in one short line.
    pub words: String,
}

impl Fleet {
    /// Takes in a line; whether anything is another now.
    pub fn hear(&mut self, line: &str) -> bool {
        let Ok(Told { rows: Rows { all, rows, gone } }) = serde_json::from_str(line) else { return false };
        let before = self.clone();
        if all {
            self.rows.clear();
        }
        self.rows.extend(rows.into_iter().map(|row| (row.key.clone(), row)));
        gone.iter().for_each(|key| drop(self.rows.remove(key)));
        *self != before
    }

    /// Who waits, the longest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        let mut waiting: Vec<&Row> = self.rows.values().filter(|row| row.status == "waiting").collect();
        waiting.sort_by_key(|row| row.since);
        let named = |row: &&Row| Some(Waiting { session: row.session.clone()?, words: words(row) });
        waiting.iter().filter_map(named).collect()
    }
}

fn words(row: &Row) -> String {
    let short = |text: &str| {
        let line = in_line(text);
        match line.char_indices().nth(MAX_WORDS) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        }
    };
    match row.question.as_deref().filter(|question| !question.is_empty()) {
        Some(question) => format!("{}: {}", short(&row.title), short(question)),
        None => short(&row.title),
    }
}

/// Which picture the tray shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mood {
    /// Nobody waits.
    Calm,
    Waiting,
    /// Parlor does not run.
    Off,
}

/// What a line of the menu does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// Shows a session, where its question is answered.
    Session(String),
    /// Shows the window, or hides it.
    Toggle,
    /// Shows where a session is begun.
    New,
    /// Ends the shell; sessions go on.
    Quit,
    /// Only words.
    Nothing,
}

/// The tray, as it is to be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tray {
    pub mood: Mood,
    pub waiting: usize,
    pub title: String,
    pub menu: Vec<(String, Choice)>,
}

/// The tray for this fleet; `None` where Parlor does not run.
pub fn tray(fleet: Option<&Fleet>) -> Tray {
    let waiting = fleet.map(Fleet::waiting).unwrap_or_default();
    let (mood, title) = match (fleet, waiting.len()) {
        (None, _) => (Mood::Off, "Parlor does not run".to_owned()),
        (_, 0) => (Mood::Calm, "Parlor".to_owned()),
        (_, 1) => (Mood::Waiting, "Parlor: one session waits for you".to_owned()),
        (_, many) => (Mood::Waiting, format!("Parlor: {many} sessions wait for you")),
    };
    let named = waiting.iter().take(MAX_NAMED);
    let mut menu: Vec<(String, Choice)> =
        named.map(|one| (one.words.clone(), Choice::Session(one.session.clone()))).collect();
    if waiting.len() > MAX_NAMED {
        menu.push((format!("and {} more", waiting.len() - MAX_NAMED), Choice::Nothing));
    }
    menu.push(("Show or hide the window".to_owned(), Choice::Toggle));
    menu.push(("New session".to_owned(), Choice::New));
    menu.push(("Quit the window; sessions go on".to_owned(), Choice::Quit));
    Tray { mood, waiting: waiting.len(), title, menu }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn waits(key: &str, since: u64, question: &str) -> serde_json::Value {
        json!({"key": key, "session": key, "status": "waiting", "title": "T", "since": since, "question": question, "asks": 1})
    }

    #[test]
    fn rows_are_all_at_first_and_then_what_changed() {
        let mut fleet = Fleet::default();
        let line = json!({"rows": {"all": true, "rows": [waits("b", 2, "q"), waits("a", 1, "p"), {"key": "c", "status": "running"}]}});
        assert!(fleet.hear(&line.to_string()));
        assert_eq!(fleet.waiting().iter().map(|one| &one.session[..]).collect::<Vec<_>>(), ["a", "b"]);
        assert!(!fleet.hear(&json!({"said": {"words": "x"}}).to_string()) && !fleet.hear("{"));
        fleet
            .hear(&json!({"rows": {"rows": [{"key": "a", "status": "running"}], "gone": ["b"]}}).to_string());
        assert_eq!((fleet.waiting(), fleet.rows.len()), (vec![], 2));
        fleet.hear(&json!({"rows": {"all": true, "rows": []}}).to_string());
        assert_eq!(fleet, Fleet::default());
    }

    #[test]
    fn the_menu_leads_to_questions_counts_them_and_answers_none() {
        assert_eq!(tray(None).mood, Mood::Off);
        let mut fleet = Fleet::default();
        assert_eq!((tray(Some(&fleet)).mood, tray(Some(&fleet)).menu.len()), (Mood::Calm, 3));
        let rows: Vec<_> = (0..20).map(|at| waits(&format!("s{at}"), at, "Allow?")).collect();
        fleet.hear(&json!({"rows": {"all": true, "rows": rows}}).to_string());
        let tray = tray(Some(&fleet));
        assert_eq!((tray.waiting, tray.mood, tray.menu.len()), (20, Mood::Waiting, MAX_NAMED + 4));
        assert_eq!(tray.title, "Parlor: 20 sessions wait for you");
        assert_eq!(tray.menu[0], ("T: Allow?".to_owned(), Choice::Session("s0".to_owned())));
        assert_eq!(tray.menu[MAX_NAMED], ("and 12 more".to_owned(), Choice::Nothing));
    }

    #[test]
    fn what_others_wrote_is_one_short_harmless_line() {
        let mut fleet = Fleet::default();
        let evil = format!("a\n\u{1b}[31mAllow \u{202e}{}", "x".repeat(500));
        fleet.hear(&json!({"rows": {"rows": [waits("s", 1, &evil)]}}).to_string());
        let words = &tray(Some(&fleet)).menu[0].0;
        assert!(words.chars().count() < 80 && !words.chars().any(domain::harmless::is_harmful), "{words:?}");
    }
}
