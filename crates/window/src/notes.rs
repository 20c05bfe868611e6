//! Notifications of the desktop: that a session waits, while nobody looks at the window. One leads to the question and never answers it.
//!
//! Invariants: each question is told once; a notification whose question is gone is taken back; what stands in one is a short harmless
//! line, in which no markup is read; of many at once only some are told, since the tray counts them all.

use crate::tray::{Fleet, Waiting};
use std::collections::BTreeMap;

/// Notifications that stand at once.
pub const MAX_SHOWN: usize = 4;

/// What is to be done about notifications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// Tell that this session waits.
    Show(Waiting),
    /// Take it back: the question of this session is gone, or is another one.
    Take(String),
}

/// What was told, by session, with its words.
#[derive(Debug, Default)]
pub struct Notes {
    /// Every question that waits, and whether it was told.
    known: BTreeMap<String, (String, bool)>,
}

impl Notes {
    /// What is to be told and taken back now. `seen` says that the person looks at the window, or wants none: what waits counts as told.
    pub fn look(&mut self, fleet: Option<&Fleet>, seen: bool) -> Vec<Note> {
        // While no server runs it is not known who waits; what was told stays told.
        let Some(fleet) = fleet else { return Vec::new() };
        let waiting = fleet.waiting();
        let stays = |session: &str, words: &str| {
            waiting.iter().any(|one| one.session == session && one.words == words)
        };
        let gone: Vec<String> = self
            .known
            .iter()
            .filter(|(id, (words, _))| !stays(id, words))
            .map(|(id, _)| id.clone())
            .collect();
        let mut notes = Vec::new();
        for session in gone {
            if let Some((_, true)) = self.known.remove(&session) {
                notes.push(Note::Take(session));
            }
        }
        if seen {
            for (session, (_, shown)) in &mut self.known {
                if std::mem::take(shown) {
                    notes.push(Note::Take(session.clone()));
                }
            }
        }
        for one in waiting {
            if self.known.contains_key(&one.session) {
                continue;
            }
            let shown = !seen && self.known.values().filter(|(_, shown)| *shown).count() < MAX_SHOWN;
            self.known.insert(one.session.clone(), (one.words.clone(), shown));
            if shown {
                notes.push(Note::Show(one));
            }
        }
        notes
    }
}

/// Words of others where a desktop may read markup.
pub fn plain(words: &str) -> String {
    let mut plain = String::with_capacity(words.len());
    for one in words.chars() {
        match one {
            '&' => plain.push_str("&amp;"),
            '<' => plain.push_str("&lt;"),
            '>' => plain.push_str("&gt;"),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fleet(rows: &[(&str, &str)]) -> Fleet {
        let row = |(at, (session, question)): (usize, &(&str, &str))| json!({"key": session, "session": session, "status": "waiting", "title": "T", "since": at, "question": question});
        let rows: Vec<_> = rows.iter().enumerate().map(row).collect();
        let mut fleet = Fleet::default();
        fleet.hear(&json!({"rows": {"all": true, "rows": rows}}).to_string());
        fleet
    }

    fn told(notes: &[Note]) -> Vec<String> {
        notes
            .iter()
            .map(|note| match note {
                Note::Show(one) => format!("+{}", one.session),
                Note::Take(session) => format!("-{session}"),
            })
            .collect()
    }

    #[test]
    fn a_question_is_told_once_and_taken_back_when_it_is_gone() {
        let mut notes = Notes::default();
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "q")])), false)), ["+a"]);
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "q")])), false)), [""; 0]);
        // No server for a while is no news.
        assert_eq!(told(&notes.look(None, false)), [""; 0]);
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "q"), ("b", "q")])), false)), ["+b"]);
        // Another question of the same session.
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "other"), ("b", "q")])), false)), ["-a", "+a"]);
        assert_eq!(told(&notes.look(Some(&fleet(&[])), false)), ["-a", "-b"]);
    }

    #[test]
    fn what_the_person_sees_in_the_window_is_not_told() {
        let mut notes = Notes::default();
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "q")])), true)), [""; 0]);
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "q")])), false)), [""; 0]);
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "q"), ("b", "q")])), false)), ["+b"]);
        assert_eq!(told(&notes.look(Some(&fleet(&[("a", "q"), ("b", "q")])), true)), ["-b"]);
    }

    #[test]
    fn of_many_only_some_are_told() {
        let mut notes = Notes::default();
        let many: Vec<(String, &str)> = (0..30).map(|at| (format!("s{at:02}"), "q")).collect();
        let many: Vec<(&str, &str)> = many.iter().map(|(id, question)| (id.as_str(), *question)).collect();
        assert_eq!(notes.look(Some(&fleet(&many)), false).len(), MAX_SHOWN);
        assert_eq!(notes.look(Some(&fleet(&many)), false), []);
    }

    #[test]
    fn no_markup_is_read() {
        assert_eq!(plain("<b>a & b</b>"), "&lt;b&gt;a &amp; b&lt;/b&gt;");
    }
}
