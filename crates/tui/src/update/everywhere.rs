//! Searching all sessions, as one types: `/search`, and `parlor sessions search -i`. What is typed goes to whoever keeps the sessions, which
//! answers with those in which it was said last; choosing one goes there and to the words.
//!
//! Invariants: what is shown was found with the words that were sent last, or with the ones before while those are on their way; nothing is
//! sent for words that every session has.

use super::{lists, reading};
use crate::clean::clean_line;
use crate::figures::ago;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::picker::{CURRENT, Choice, Hint, Item, ListKind, Picker};
use crate::world::SessionView;
use domain::command::{Command, LibraryCommand, ListScope};
use domain::ids::SessionId;
use domain::session::SessionSummary;

/// Sessions that are shown; more words find fewer.
const MAX_HITS: u64 = 50;
/// Characters of what was said before the first word that was found.
const LEAD: usize = 12;

const HINTS: &[Hint] = &[("Enter opens the match", "Enter opens it")];

/// Opens the search; with words, their first results come at once.
pub(super) fn open(model: &mut Model, words: &str, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    if !can.sessions || !can.open_session {
        // Another program's runtime: what is on this screen can be searched all the same.
        return reading::search(model, words);
    }
    let mut picker = Picker::new(ListKind::Search, "Search all sessions", HINTS);
    picker.fill(Vec::new(), 0, "");
    picker.begin_with(words);
    model.screen.over.choose(picker);
    if !words.is_empty() {
        look(model, words, fx);
    }
}

/// Looks for what is typed now.
pub(super) fn look(model: &mut Model, words: &str, fx: &mut Vec<Fx>) {
    if is_too_short(words) {
        if let Some(picker) = model.screen.over.list_mut() {
            picker.fill(Vec::new(), 0, "");
        }
        return;
    }
    if let Some(picker) = model.screen.over.list_mut() {
        picker.looks_for(words.to_owned());
    }
    let search = Some(words.to_owned());
    let command = LibraryCommand::List { scope: ListScope::All, limit: Some(MAX_HITS), search };
    model.send(Want::List(ListKind::Search), Command::Library(command), fx);
}

/// A single letter begins words of every session; a sign of a script without letters is a word.
fn is_too_short(words: &str) -> bool {
    let words = words.trim();
    words.chars().count() < 2 && words.is_ascii()
}

/// The sessions in which the words stand.
pub(super) fn items(model: &Model, sessions: &[SessionSummary], words: &str) -> Vec<Item> {
    let now = model.screen.window.now();
    let current = model.world.current.as_ref();
    // In front of our own runtime those of other programs are gone on with there.
    let goes_on = model.screen.start.here().exits && model.world.seen().abilities.policy;
    let item = |session: &SessionSummary| {
        let said = session.found.as_ref().map(|found| clean_line(&found.text));
        let at = session.found.as_ref().map_or(session.updated_at, |found| found.at);
        // A line that is cut stands below the list as well.
        let more = format!("{} · {}", ago(now, at), clean_line(&session.cwd));
        let detail = match &said {
            Some(said) => around(said, words),
            None => "in its title".to_owned(),
        };

        let is_here = current == Some(&session.id);
        Item {
            cells: Vec::new(),
            label: clean_line(&session.title),
            detail,
            more,
            choice: match &session.origin {
                Some(_) if goes_on && !is_here => Choice::Elsewhere(session.id.clone()),
                _ => Choice::Found(session.id.clone(), words.to_owned()),
            },
            sign: if is_here { CURRENT } else { "  " },
        }
    };
    sessions.iter().map(item).collect()
}

/// What was said, beginning a little before the first of the words, so that it is seen on a narrow screen too.
fn around(said: &str, words: &str) -> String {
    let lower = said.to_lowercase();
    let words = words.to_lowercase();
    let wanted: Vec<&str> =
        words.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let begins = |(at, _): &(usize, char)| {
        let before = lower[..*at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric())
            && wanted.iter().any(|word| lower[*at..].starts_with(word))
    };
    let at = lower.char_indices().position(|place| begins(&place)).unwrap_or(0);
    match at.saturating_sub(LEAD) {
        0 => said.to_owned(),
        from => format!("…{}", said.chars().skip(from).collect::<String>().trim_start()),
    }
}

/// Goes to the words in a session.
pub(super) fn go(model: &mut Model, session: SessionId, words: String, fx: &mut Vec<Fx>) {
    if model.world.current.as_ref() == Some(&session) {
        return show(model, &words);
    }
    model.send(Want::Words(words), Command::Library(LibraryCommand::Open { session }), fx);
}

/// Shows the words on this screen: all of them where they stand together, else the longest one.
pub(super) fn show(model: &mut Model, words: &str) {
    let together = has(model.world.seen(), words);
    let longest = words.split_whitespace().max_by_key(|word| word.len()).unwrap_or(words);
    reading::search(model, if together { words } else { longest });
}

fn has(seen: &SessionView, words: &str) -> bool {
    crate::search::Search::new(words, &seen.state, &seen.thread).current().is_some()
}

/// The sessions that hold the words that were sent last, if their list is still open.
pub(super) fn found(model: &mut Model, sessions: &[SessionSummary]) {
    let words = model.screen.over.list().filter(|list| list.kind() == ListKind::Search);
    let Some(words) = words.and_then(|list| list.looked_for().map(str::to_owned)) else { return };
    let items = items(model, sessions, &words);
    lists::put(model, ListKind::Search, items, "no match");
}
