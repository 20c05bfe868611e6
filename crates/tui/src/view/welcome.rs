//! The first screen: what this is, which model answers, what to try, how to leave.

use super::paste_rows;
use crate::clean::clean_line;
use crate::keymap::Action;
use crate::layout::{appearance, loss};
use crate::look::Appearance;
use crate::model::Model;
use crate::row::{Links, Row, wrap, wrap_text};
use crate::theme::Role;
use domain::port::LinkState;
use domain::session::Policy;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// What stands above the examples, and above one that has room alone.
const ONE_OF: &str = "Type one of these, or anything else:";
const THIS: &str = "Type this, or anything else:";

/// Draws what an empty session shows.
pub(super) fn view(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    paste_rows(&rows(model, usize::from(area.height)), area, buf, links);
}

/// The rows of the first screen, at most `high`. Where they are too many, the examples go first: a person who cannot leave
/// or get help is lost, and one example is enough.
pub(super) fn rows(model: &Model, high: usize) -> Vec<Row> {
    let look = appearance(model);
    let style = |role| look.theme.style(role);
    let about = model.screen.start.about();
    let mut head = vec![Row::of(about.program.clone(), style(Role::Heading))];
    let can = &model.world.seen().abilities;
    let what = match (can.policy, can.name.as_str()) {
        (true, _) if model.world.seen().state.settings.policy == Policy::Sandboxed => {
            "Talk to an agent: it works inside this project, and asks before anything leaves it."
        }
        (true, _) => "Talk to an agent: it answers, and uses tools when you allow it.",
        (false, "") => "Talk to an agent: it answers, and uses tools.",
        (false, _) => "Talk to an agent: it answers, and uses tools by its own rules.",
    };
    head.extend(wrap_text(what, look.columns, style(Role::Text)));
    let mut facts = facts(model, look);
    if !about.note.words.is_empty() {
        facts.extend(wrap_text(&about.note.words, look.columns, style(Role::Dim)));
    }
    let mut told = Vec::new();
    if !about.told.is_empty() || about.note.told.is_some() {
        let head = "Worth knowing before you begin:";
        told.extend(wrap_text(head, look.columns, style(Role::Warn)));
        let (first, rest) = (look.piece("  ! ", Role::Warn), look.piece("    ", Role::Warn));
        for text in about.told.iter().chain(&about.note.told) {
            told.extend(wrap(&look.words(&clean_line(text), Role::Text), look.columns, &first, &rest));
        }
        if !about.settings.is_empty() && !about.told.is_empty() {
            let lead = look.piece("    ", Role::Dim);
            let place = format!("/settings changes what is kept in {}", clean_line(&about.settings));
            told.extend(wrap(&[look.piece(place, Role::Dim)], look.columns, &lead, &lead));
        }
    }
    let mut examples = Vec::new();
    let offline = model.world.seen().model().is_some_and(|model| model.provider == "offline");
    let others = Some(&about.note.offline_examples).filter(|others| offline && !others.is_empty());
    let requests = others.unwrap_or(&about.note.examples);
    if !requests.is_empty() {
        examples.push(Row::of(ONE_OF, style(Role::Text)));
        let lead = look.piece("  ", Role::Dim);
        for example in requests {
            examples.extend(wrap(&[look.piece(example.clone(), Role::Accent)], look.columns, &lead, &lead));
        }
    }
    let keys = keys(model, look);
    let mut left = high.saturating_sub(keys.len());
    let mut rows = Vec::new();
    let mut warning = Vec::new();
    let unkept = about.note.unkept.as_ref().map(|why| format!("Nothing will be kept: {why}"));
    for text in about.warning.iter().chain(&unkept) {
        warning.extend(wrap_text(&clean_line(text), look.columns, style(Role::Warn)));
    }
    for (part, least) in [(head, 1), (warning, 1), (told, 1), (facts, 1), (examples, 2)] {
        let blank = usize::from(!rows.is_empty());
        // A blank line follows each part.
        let room = left.saturating_sub(blank + 1);
        if part.is_empty() || room < least {
            continue;
        }
        left -= blank + room.min(part.len());
        rows.extend((0..blank).map(|_| Row::empty()));
        let alone = room == 2 && part.first().is_some_and(|row| row.text() == ONE_OF);
        rows.extend(part.into_iter().take(room));
        if let Some(row) = alone.then(|| rows.iter_mut().rev().nth(1)).flatten() {
            *row = Row::of(THIS, style(Role::Text));
        }
    }
    if !rows.is_empty() && left > 0 {
        rows.push(Row::empty());
    }
    rows.extend(keys);
    rows.truncate(high);
    rows
}

fn facts(model: &Model, look: Appearance) -> Vec<Row> {
    let mut rows = Vec::new();
    let seen = model.world.seen();
    let (model_name, cwd) = (seen.model(), &seen.state.settings.cwd);
    let mut fact = |name: &str, value: &str| {
        let lead = look.piece(format!("{name:<8}"), Role::Dim);
        let rest = look.piece(" ".repeat(8), Role::Dim);
        rows.extend(wrap(&[look.piece(value, Role::Text)], look.columns, &lead, &rest));
    };
    match &model.world.link {
        LinkState::Connecting if model.world.current.is_none() => fact("runtime", "connecting…"),
        LinkState::Lost(why) => fact("runtime", &format!("gone: {}", clean_line(loss(why).0))),
        LinkState::Connecting | LinkState::Odd(_) | LinkState::Up => {
            if let Some(name) = model_name {
                fact("model", &clean_line(&name.to_string()));
            }
            if !seen.abilities.name.is_empty() {
                fact("runtime", &clean_line(&seen.abilities.name));
            }
            if !cwd.is_empty() {
                fact("folder", &clean_line(cwd));
            }
        }
    }
    rows
}

fn keys(model: &Model, look: Appearance) -> Vec<Row> {
    let keymap = model.screen.preferences.keymap();
    let can = &model.world.seen().abilities;
    [
        (keymap.shown(Action::Send), "sends", true),
        (keymap.shown(Action::Keys), "shows all keys", true),
        ("/".to_owned(), "shows all commands", true),
        (keymap.shown(Action::Sessions), "shows your earlier sessions", can.sessions && can.open_session),
        ("Esc".to_owned(), "stops a run", can.cancel),
        (keymap.shown(Action::Quit), "quits", true),
    ]
    .into_iter()
    .filter(|(_, _, can)| *can)
    .map(|(keys, what, _)| {
        let key = look.piece(format!("{keys:<8}"), Role::Accent);
        Row::from(vec![key, look.piece(what, Role::Dim)])
    })
    .collect()
}
