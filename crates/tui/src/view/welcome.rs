//! The first screen: what this is, which model answers, when it asks, what to try, how to leave.
//!
//! Invariants: eight rows at most, and as many before the runtime is there as after: nothing moves between the first two frames. What
//! there is no room for is among the recent messages.

use super::paste_rows;
use crate::clean::clean_line;
use crate::commands::Restart;
use crate::keymap::Action;
use crate::layout::{appearance, loss};
use crate::look::Appearance;
use crate::model::Model;
use crate::policy::{asks_when, policy_shown};
use crate::row::{KEEPS, Links, Piece, Row, fit_words, width, wrap, wrap_text};
use crate::theme::Role;
use domain::port::LinkState;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// Rows of it at most: it goes when the conversation begins, and must be small enough to find its way out of any window.
pub(super) const MAX_ROWS: usize = 8;
/// Columns of what stands before a fact, the examples and the keys.
const LEAD: usize = 8;
/// Fewer columns leave the keys all of their line.
const NARROW: usize = 60;
/// Requests that are shown: enough to see what one can ask.
const EXAMPLES: usize = 2;
/// What is said of a model before whoever answers has told it.
const CONNECTING: &str = "connecting…";
/// The same of an agent that is being started.
const STARTING: &str = "starting… (Esc twice gives it up)";
/// Where the rest of what is to be known stands.
const THE_REST: &str = " … /notices shows all";
/// How the words on the model begin, where they are read alone.
const MODEL: &str = "model: ";

/// Draws what an empty session shows.
pub(super) fn view(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    paste_rows(&rows(model, usize::from(area.height)), area, buf, links);
}

/// The rows of the first screen, at most `high`. Where they are too many, the examples go first: a person who cannot leave
/// or get help is lost.
pub(super) fn rows(model: &Model, high: usize) -> Vec<Row> {
    let look = appearance(model);
    let high = high.min(MAX_ROWS);
    let none = Piece::default();
    let program = look.piece(format!("{}  ", model.screen.start.about().program), Role::Heading);
    let mut rows = wrap(&[program, look.piece("An AI coding agent", Role::Text)], look.columns, &none, &none);
    let keys = keys(model, look);
    let room = high.saturating_sub(keys.len());
    let (facts, told) = (facts(model, look), told(model, look));
    // Air goes before anything that is read.
    if rows.len() + facts.len() + told.len() < room {
        rows.push(Row::empty());
    }
    rows.extend(facts);
    rows.truncate(room);
    let left = room - rows.len();
    let is_cut = told.len() > left;
    rows.extend(told.into_iter().take(left));
    if let Some(last) = rows.last_mut().filter(|_| is_cut && left > 0) {
        let words = fit_words(last.text().trim_end(), look.columns.saturating_sub(width(THE_REST)));
        let words = words.trim_end_matches('…').to_owned();
        *last = Row::from(vec![look.piece(words, Role::Text), look.piece(THE_REST, Role::Dim)]);
    }
    rows.extend(examples(model, look, room - rows.len()));
    // The keys stand where they stood before the rest was known.
    rows.resize_with(room, Row::empty);
    rows.extend(keys);
    rows.truncate(high);
    rows
}

/// Which model answers, where, and when it asks: a row each, whether it is known by now or not.
fn facts(model: &Model, look: Appearance) -> Vec<Row> {
    let mut rows = Vec::new();
    let seen = model.world.seen();
    let about = model.screen.start.about();
    let mut fact = |name: &str, value: &str| {
        let lead = look.piece(format!("{name:<LEAD$}"), Role::Dim);
        let rest = look.piece(" ".repeat(LEAD), Role::Dim);
        rows.extend(wrap(&[look.piece(value, Role::Text)], look.columns, &lead, &rest));
    };
    if let LinkState::Lost(why) = &model.world.link {
        fact("runtime", &format!("gone: {}", clean_line(loss(why).0)));
        return rows;
    }
    let is_known = !matches!(model.world.link, LinkState::Connecting) || model.world.current.is_some();
    let words = clean_line(&about.note.words);
    let (of_model, of_agent) = match words.strip_prefix(MODEL) {
        Some(of_model) => (Some(of_model), ""),
        None => (None, words.as_str()),
    };
    let name = seen.model_name().map(|name| clean_line(&name));
    // Why it is this one is told only as long as it is.
    let of_model = of_model.filter(|said| name.as_ref().is_none_or(|name| is_of(said, name)));
    match of_model.or(name.as_deref()) {
        Some(words) => fact("model", words),
        None if is_known => {}
        None if model.screen.start.here().restart == Restart::Start => fact("runtime", STARTING),
        None => fact("model", CONNECTING),
    }
    let cwd = if seen.state.settings.cwd.is_empty() { &about.folder } else { &seen.state.settings.cwd };
    // Of our own agent it is told only where that runs.
    let place = if seen.abilities.policy { of_agent } else { "" };
    let parts: Vec<String> =
        [clean_line(cwd), place.to_owned()].into_iter().filter(|part| !part.is_empty()).collect();
    if !parts.is_empty() {
        fact("folder", &parts.join(" · "));
    }
    // Whose rules hold is said above of Parlor's own.
    match (seen.abilities.policy, seen.abilities.name.as_str()) {
        // A narrow screen has room for its name alone.
        (true, _) if look.columns < NARROW => fact("mode", policy_shown(seen).map_or("", |(word, _)| word)),
        (true, _) => fact("mode", asks_when(seen.state.settings.policy)),
        // Its place is kept for what is told a moment later.
        (false, "") if of_agent.is_empty() => rows.push(Row::empty()),
        (false, "") => fact("agent", of_agent),
        (false, name) => {
            let rules = policy_shown(seen).map_or("", |(word, _)| word);
            let parts = [clean_line(name), of_agent.to_owned(), rules.to_owned()];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            fact("agent", &parts.join(" · "));
        }
    }
    rows
}

/// Whether words on a model are about the one of this name, which may be told without its provider.
fn is_of(said: &str, name: &str) -> bool {
    let said = said.split(' ').next().unwrap_or_default();
    said == name || said.rsplit('/').next() == name.rsplit('/').next()
}

/// What to know before anything else.
fn told(model: &Model, look: Appearance) -> Vec<Row> {
    let about = model.screen.start.about();
    let unkept = about.note.unkept.as_ref().map(|why| format!("Nothing will be kept: {why}"));
    let warnings = about.warning.iter().chain(&unkept);
    let style = look.theme.style(Role::Warn);
    let mut rows: Vec<Row> =
        warnings.flat_map(|text| wrap_text(&clean_line(text), look.columns, style)).collect();
    let (first, rest) = (look.piece("! ", Role::Warn), look.piece("  ", Role::Warn));
    for text in about.told.iter().chain(&about.note.told) {
        rows.extend(wrap(&look.words(&clean_line(text), Role::Text), look.columns, &first, &rest));
    }
    if !about.settings.is_empty() && !about.told.is_empty() {
        let place = format!("/settings changes what is saved in {}", clean_line(&about.settings));
        let lead = look.piece("  ", Role::Dim);
        rows.extend(wrap(&[look.piece(place, Role::Dim)], look.columns, &lead, &lead));
    }
    rows
}

/// Requests to try, as many as there is room for.
fn examples(model: &Model, look: Appearance, room: usize) -> Vec<Row> {
    let note = &model.screen.start.about().note;
    let offline = model.world.seen().model().is_some_and(|model| model.provider == "offline");
    let others = Some(&note.offline_examples).filter(|others| offline && !others.is_empty());
    let rest = look.piece(" ".repeat(LEAD), Role::Dim);
    let mut rows = Vec::new();
    for (at, example) in others.unwrap_or(&note.examples).iter().take(EXAMPLES).enumerate() {
        let first = if at == 0 { look.piece(format!("{:<LEAD$}", "try"), Role::Dim) } else { rest.clone() };
        let next = wrap(&[look.piece(example.clone(), Role::Accent)], look.columns, &first, &rest);
        // One that does not stand whole is no request.
        if rows.len() + next.len() > room {
            break;
        }
        rows.extend(next);
    }
    rows
}

/// How to get on and how to leave. What not every runtime can do comes last, so that the rest stands where it stood.
fn keys(model: &Model, look: Appearance) -> Vec<Row> {
    let keymap = model.screen.preferences.keymap();
    let can = &model.world.seen().abilities;
    let told = [
        (keymap.shown(Action::Keys), "shows all keys", true),
        ("/".to_owned(), "commands", true),
        (keymap.shown(Action::Quit), "quits", true),
        (keymap.shown(Action::Sessions), "earlier sessions", can.sessions && can.open_session),
    ];
    let told = told.into_iter().filter(|(_, _, can)| *can).enumerate().flat_map(|(at, (keys, what, _))| {
        let between = if at == 0 { "" } else { "   " };
        let what = format!("{KEEPS}{}", what.replace(' ', KEEPS));
        [look.piece(between, Role::Dim), look.piece(keys, Role::Key), look.piece(what, Role::Dim)]
    });
    // A narrow screen has no room for a column before them.
    let (first, rest) = match look.columns < NARROW {
        true => (Piece::default(), Piece::default()),
        false => {
            (look.piece(format!("{:<LEAD$}", "keys"), Role::Dim), look.piece(" ".repeat(LEAD), Role::Dim))
        }
    };
    wrap(&told.collect::<Vec<_>>(), look.columns, &first, &rest)
}
