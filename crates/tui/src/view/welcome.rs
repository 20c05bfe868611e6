//! The first screen: what this is, which model answers, what to try, how to leave.

use super::{look, paste_rows};
use crate::keymap::Action;
use crate::model::Model;
use crate::row::{Links, Row, wrap, wrap_text};
use crate::theme::Role;
use domain::port::LinkState;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

pub(super) fn view(model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    paste_rows(&rows(model, usize::from(area.height)), area, buf, links);
}

/// The rows of the first screen, at most `high`.
pub(super) fn rows(model: &Model, high: usize) -> Vec<Row> {
    let look = look(model);
    let style = |role| look.theme.style(role);
    let about = &model.screen.about;
    let mut rows = vec![Row::of(about.program.clone(), style(Role::Heading))];
    let what = "Talk to an agent: it answers, and uses tools when you allow it.";
    rows.extend(wrap_text(what, look.columns, style(Role::Text)));
    rows.push(Row::empty());
    let seen = model.world.seen();
    let (model_name, cwd) = (seen.state.settings.model.as_ref(), &seen.state.settings.cwd);
    let mut fact = |name: &str, value: &str| {
        let lead = look.piece(format!("{name:<8}"), Role::Dim);
        let rest = look.piece(" ".repeat(8), Role::Dim);
        rows.extend(wrap(&[look.piece(value, Role::Text)], look.columns, &lead, &rest));
    };
    match &model.world.link {
        LinkState::Connecting if model.world.current.is_none() => fact("runtime", "connecting…"),
        LinkState::Lost(why) => fact("runtime", why),
        LinkState::Connecting | LinkState::Up => {
            if let Some(name) = model_name {
                fact("model", &crate::clean::clean_line(&name.to_string()));
            }
            if !seen.abilities.name.is_empty() {
                fact("runtime", &crate::clean::clean_line(&seen.abilities.name));
            }
            if !cwd.is_empty() {
                fact("folder", &crate::clean::clean_line(cwd));
            }
        }
    }
    if !about.examples.is_empty() {
        rows.push(Row::empty());
        rows.push(Row::of("Try one of these:", style(Role::Text)));
        let lead = look.piece("  ", Role::Dim);
        for example in &about.examples {
            rows.extend(wrap(&[look.piece(example.clone(), Role::Accent)], look.columns, &lead, &lead));
        }
    }
    if let Some(note) = &about.note {
        rows.push(Row::empty());
        rows.extend(wrap_text(note, look.columns, style(Role::Dim)));
    }
    if !about.told.is_empty() {
        rows.push(Row::empty());
        rows.push(Row::of("Your settings are not quite right:", style(Role::Warn)));
        let (first, rest) = (look.piece("  ! ", Role::Warn), look.piece("    ", Role::Warn));
        for told in &about.told {
            rows.extend(wrap(
                &[look.piece(crate::clean::clean_line(told), Role::Text)],
                look.columns,
                &first,
                &rest,
            ));
        }
    }
    rows.push(Row::empty());
    let keymap = &model.screen.keymap;
    for (keys, what) in [
        (keymap.shown(Action::Send), "sends"),
        (keymap.shown(Action::Keys), "shows all keys"),
        ("/".to_owned(), "shows all commands"),
        ("Esc".to_owned(), "stops a run"),
        (keymap.shown(Action::Quit), "quits"),
    ] {
        let key = look.piece(format!("{keys:<8}"), Role::Accent);
        rows.push(Row::from(vec![key, look.piece(what, Role::Dim)]));
    }
    // On a small screen the keys matter more than the examples.
    if rows.len() > high {
        let tail = rows.split_off(rows.len().saturating_sub(6));
        rows.truncate(high.saturating_sub(tail.len()));
        rows.extend(tail);
    }
    rows
}
