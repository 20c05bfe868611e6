//! The first screen: what this is, which model answers, what to try, how to leave.

use super::paste_rows;
use crate::clean::clean_line;
use crate::commands::Restart;
use crate::keymap::Action;
use crate::layout::{appearance, loss};
use crate::look::Appearance;
use crate::model::Model;
use crate::row::{KEEPS, Links, Piece, Row, wrap, wrap_text};
use crate::theme::Role;
use domain::port::LinkState;
use domain::session::Policy;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// Columns of what stands before a fact, the examples and the keys.
const LEAD: usize = 8;
/// Fewer columns leave the keys all of their line.
const NARROW: usize = 60;

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
    let can = &model.world.seen().abilities;
    let is_known = !matches!(model.world.link, LinkState::Connecting) || model.world.current.is_some();
    let what = match (can.policy, can.name.as_str()) {
        (true, _) => match model.world.seen().state.settings.policy {
            Policy::ReadOnly => "An AI coding agent. It only reads here, and changes nothing.",
            Policy::Ask => "An AI coding agent. It asks before it changes anything.",
            Policy::AutoEdit => "An AI coding agent. It edits files here, and asks before anything else.",
            Policy::Sandboxed => {
                "An AI coding agent. It works inside this project, and asks before anything leaves it."
            }
            Policy::Full => "An AI coding agent. What stays inside the sandbox runs unasked.",
        },
        (false, "") => "An AI coding agent.",
        (false, _) => "An AI coding agent. It asks by its own rules.",
    };
    let program = look.piece(format!("{}  ", about.program), Role::Heading);
    let none = Piece::default();
    let mut head = wrap(&[program, look.piece(what, Role::Text)], look.columns, &none, &none);
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
            let place = format!("/settings changes what is saved in {}", clean_line(&about.settings));
            told.extend(wrap(&[look.piece(place, Role::Dim)], look.columns, &lead, &lead));
        }
    }
    let mut examples = Vec::new();
    let offline = model.world.seen().model().is_some_and(|model| model.provider == "offline");
    let others = Some(&about.note.offline_examples).filter(|others| offline && !others.is_empty());
    let requests = others.unwrap_or(&about.note.examples);
    if !requests.is_empty() {
        let rest = look.piece(" ".repeat(LEAD), Role::Dim);
        for (at, example) in requests.iter().enumerate() {
            let first =
                if at == 0 { look.piece(format!("{:<LEAD$}", "try"), Role::Dim) } else { rest.clone() };
            examples.extend(wrap(&[look.piece(example.clone(), Role::Accent)], look.columns, &first, &rest));
        }
    }
    // What comes once the runtime is there comes below what stands there: nothing moves.
    let keys = if is_known { keys(model, look) } else { Vec::new() };
    let examples = if is_known { examples } else { Vec::new() };
    let mut left = high.saturating_sub(keys.len());
    let mut rows = Vec::new();
    let mut warning = Vec::new();
    let unkept = about.note.unkept.as_ref().map(|why| format!("Nothing will be kept: {why}"));
    for text in about.warning.iter().chain(&unkept) {
        warning.extend(wrap_text(&clean_line(text), look.columns, style(Role::Warn)));
    }
    head.append(&mut facts);
    for part in [head, warning, told, examples] {
        let blank = usize::from(!rows.is_empty());
        let room = left.saturating_sub(blank);
        if part.is_empty() || room == 0 {
            continue;
        }
        left -= blank + room.min(part.len());
        rows.extend((0..blank).map(|_| Row::empty()));
        rows.extend(part.into_iter().take(room));
    }
    rows.extend(keys);
    rows.truncate(high);
    rows
}

fn facts(model: &Model, look: Appearance) -> Vec<Row> {
    let mut rows = Vec::new();
    let seen = model.world.seen();
    let (model_name, cwd) = (seen.model_name(), &seen.state.settings.cwd);
    let mut fact = |name: &str, value: &str| {
        let lead = look.piece(format!("{name:<LEAD$}"), Role::Dim);
        let rest = look.piece(" ".repeat(LEAD), Role::Dim);
        rows.extend(wrap(&[look.piece(value, Role::Text)], look.columns, &lead, &rest));
    };
    match &model.world.link {
        LinkState::Connecting if model.world.current.is_none() => {
            let starts = model.screen.start.here().restart == Restart::Start;
            fact("runtime", if starts { "starting… (Esc twice gives it up)" } else { "connecting…" });
        }
        LinkState::Lost(why) => fact("runtime", &format!("gone: {}", clean_line(loss(why).0))),
        LinkState::Connecting | LinkState::Odd(_) | LinkState::Up => {
            if let Some(name) = model_name {
                fact("model", &clean_line(&name));
            }
            // Whose rules hold is said above of Parlor's own.
            if !seen.abilities.policy && !seen.abilities.name.is_empty() {
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
    let told = [
        (keymap.shown(Action::Keys), "shows all keys", true),
        ("/".to_owned(), "commands", true),
        (keymap.shown(Action::Sessions), "earlier sessions", can.sessions && can.open_session),
        (keymap.shown(Action::Quit), "quits", true),
    ];
    let told = told.into_iter().filter(|(_, _, can)| *can).flat_map(|(keys, what, _)| {
        let what = format!("{KEEPS}{}   ", what.replace(' ', KEEPS));
        [look.piece(keys, Role::Key), look.piece(what, Role::Dim)]
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
