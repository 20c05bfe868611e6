//! Reading: what the keys of a selected cell do, and what the mouse does to the text.

use super::{files, user_command};
use crate::cell;
use crate::key::{Code, Key};
use crate::layout::areas;
use crate::model::Model;
use crate::msg::{Fx, Mouse, MouseAct};
use crate::thread::CellKey;
use crate::transcript::{Released, Stops};
use domain::signal::Level;
use ratatui_core::layout::Position;

/// Gives the key to the selection; `false` when there is none or it means something else.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    if model.screen.own.is_selected() {
        return press_own(model, key, fx);
    }
    let Some(selected) = model.screen.transcript.selected() else { return false };
    match (key.code, key.ctrl) {
        (Code::Up | Code::Char('k'), false) => step(model, true),
        (Code::Down | Code::Char('j'), false) => step(model, false),
        (Code::Char('p'), false) => walk(model, true, Stops::Prompts),
        (Code::Char('n'), false) => walk(model, false, Stops::Prompts),
        (Code::Enter | Code::Char(' ' | 'o'), false) => fold(model, selected),
        (Code::Char('c' | 'y'), false) => {
            let text = cell::plain(model.world.state(), selected);
            model.copy(&text, fx);
        }
        (Code::Char('/'), false) => search(model, ""),
        (Code::Char('b'), false) => branch(model, selected, fx),
        (Code::Esc, _) => model.screen.transcript.leave(),
        _ => return false,
    }
    true
}

/// The same where the selection stands on what a command of the person's own wrote.
fn press_own(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    match (key.code, key.ctrl) {
        (Code::Up | Code::Char('k'), false) => step(model, true),
        (Code::Down | Code::Char('j'), false) => step(model, false),
        (Code::Enter | Code::Char(' ' | 'o'), false) => user_command::open(model),
        (Code::Char('c' | 'y'), false) => {
            let output = model.screen.own.shown().map(|ran| ran.output.clone()).unwrap_or_default();
            model.copy(&output, fx);
        }
        (Code::Esc, _) => model.screen.own.deselect(),
        _ => return false,
    }
    true
}

/// Moves the selection by one. What a command of the person's own wrote stands below the last cell.
pub(super) fn step(model: &mut Model, back: bool) {
    let on_own = model.screen.own.is_selected();
    let on_cell = model.screen.transcript.selected().is_some();
    model.screen.own.deselect();
    match (back, on_own) {
        (true, false) if !on_cell && model.screen.own.select() => return,
        (false, true) => return,
        _ => walk(model, back, Stops::Every),
    }
    // Nothing stands above it, or the walk came down to it.
    if model.screen.transcript.selected().is_none() && (on_own || on_cell && !back) {
        model.screen.own.select();
    }
}

/// Moves the selection, and shows what it stands on.
pub(super) fn walk(model: &mut Model, back: bool, stops: Stops) {
    model.screen.own.deselect();
    let next = model.screen.transcript.walk(&model.world.seen().thread, back, stops);
    if let Some(key) = next {
        // What is told of a selection takes room: only now it is known how much is left.
        let area = areas(model).transcript;
        let (transcript, page) = model.reading(area);
        transcript.show(page, key);
    }
}

fn fold(model: &mut Model, key: CellKey) {
    if cell::folds(model.world.state(), key) {
        model.screen.transcript.fold(key);
    } else {
        let back = if model.world.seen().abilities.go_back { ", b branches" } else { "" };
        model.toast(Level::Info, format!("there is nothing to open here; c copies{back}"));
    }
}

/// Goes back to a message: a prompt comes to the composer to be said differently, anything else becomes the tip.
fn branch(model: &mut Model, key: CellKey, fx: &mut Vec<Fx>) {
    let entry = match key {
        CellKey::Prompt(entry)
        | CellKey::Part(entry, _)
        | CellKey::Notice(entry)
        | CellKey::Summary(entry) => entry,
        CellKey::Tool(tool) => match model.world.state().tool(tool) {
            Some(tool) => tool.message.into(),
            None => return,
        },
        CellKey::End(_) => return,
    };
    files::go_back(model, entry, fx);
}

/// The mouse over the conversation: a click opens or folds a cell, drawing it over text copies that.
pub(super) fn point(model: &mut Model, mouse: Mouse, fx: &mut Vec<Fx>) {
    let area = areas(model).transcript;
    let here = Position::new(mouse.column, mouse.row);
    let (transcript, page) = model.reading(area);
    match mouse.act {
        MouseAct::Press => transcript.press(area, here),
        MouseAct::Drag => transcript.drag_to(here),
        MouseAct::Release => match transcript.release(page, mouse.row) {
            Released::Click(key) => click(model, key),
            Released::Text(text) if !text.trim().is_empty() => model.copy(&text, fx),
            Released::Text(_) | Released::Nothing => {}
        },
        MouseAct::WheelUp | MouseAct::WheelDown => {}
    }
}

fn click(model: &mut Model, key: CellKey) {
    if cell::folds(model.world.state(), key) {
        model.screen.transcript.fold(key);
    } else {
        model.screen.transcript.select(key);
        model.writes();
    }
}

/// Begins to look for words.
pub(super) fn search(model: &mut Model, words: &str) {
    model.screen.transcript.look_for(model.world.seen(), words);
    show_found(model);
}

/// Gives the key to the search; `false` when there is none.
pub(super) fn search_key(model: &mut Model, key: Key) -> bool {
    let taken = model.screen.transcript.search_key(model.world.seen(), key);
    if taken {
        show_found(model);
    }
    taken
}

fn show_found(model: &mut Model) {
    let area = areas(model).transcript;
    let (transcript, page) = model.reading(area);
    transcript.show_found(page);
}
