//! Reading: the selection that walks over cells, folding, branching from a message, searching.

use super::commands::put_on_clipboard;
use super::{asks, files, lists};
use crate::cell;
use crate::composer::Editor;
use crate::key::{Code, Key};
use crate::model::{Model, Want};
use crate::msg::{Fx, Mouse, MouseAct};
use crate::overlay::Overlay;
use crate::search::Search;
use crate::thread::CellKey;
use crate::transcript::{self, Scroll};
use crate::view::{areas, list_area};
use domain::command::{Command, SessionCommand};
use domain::ids::{EntryId, MessageId};
use domain::signal::Level;
use ratatui::layout::{Position, Rect};

/// Which cells a walk stops at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stops {
    Every,
    Prompts,
}

/// Moves the selection; past the last cell it ends.
pub(super) fn walk(model: &mut Model, back: bool, stops: Stops) {
    let cells = model.world.seen().thread.cells();
    let wanted = |key: CellKey| match stops {
        Stops::Every => !matches!(key, CellKey::End(_)),
        Stops::Prompts => matches!(key, CellKey::Prompt(_)),
    };
    let at = model.screen.selected.and_then(|key| model.world.seen().thread.position(key));
    let next = if back {
        let upto = at.unwrap_or(cells.len());
        cells[..upto].iter().rev().map(|cell| cell.key).find(|key| wanted(*key))
    } else {
        let from = at.map_or(cells.len(), |at| at + 1);
        cells[from.min(cells.len())..].iter().map(|cell| cell.key).find(|key| wanted(*key))
    };
    match next {
        Some(key) => {
            model.screen.selected = Some(key);
            let area = areas(model).transcript;
            transcript::show(model, area, key);
        }
        None if back => {}
        None => leave(model),
    }
}

fn leave(model: &mut Model) {
    model.screen.selected = None;
    model.screen.scroll = Scroll::Tail;
}

/// Gives the key to the selection; `false` when there is none or it means something else.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    let Some(selected) = model.screen.selected else { return false };
    match (key.code, key.ctrl) {
        (Code::Up | Code::Char('k'), false) => walk(model, true, Stops::Every),
        (Code::Down | Code::Char('j'), false) => walk(model, false, Stops::Every),
        (Code::Char('p'), false) => walk(model, true, Stops::Prompts),
        (Code::Char('n'), false) => walk(model, false, Stops::Prompts),
        (Code::Enter | Code::Char(' ' | 'o'), false) => fold(model, selected),
        (Code::Char('c' | 'y'), false) => {
            let text = cell::plain(model.world.state(), selected);
            put_on_clipboard(model, &text, fx);
        }
        (Code::Char('b'), false) => branch(model, selected, fx),
        (Code::Esc, _) => leave(model),
        _ => return false,
    }
    true
}

fn fold(model: &mut Model, key: CellKey) {
    if !cell::folds(model.world.state(), key) {
        let back = if model.world.seen().abilities.go_back { ", b branches" } else { "" };
        model.toast(Level::Info, format!("there is nothing to open here; c copies{back}"));
    } else if !model.screen.flipped.remove(&key) {
        model.screen.flipped.insert(key);
    }
}

/// Opens or closes everything; what was opened or closed singly follows again.
pub(super) fn fold_all(model: &mut Model) {
    model.screen.details = !model.screen.details;
    model.screen.flipped.clear();
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

/// Makes an entry the tip; a prompt comes to the composer instead, and what stood before it becomes the tip.
pub(super) fn go_back_to(model: &mut Model, entry: EntryId, fx: &mut Vec<Fx>) {
    if !model.world.seen().abilities.go_back {
        return model.toast(Level::Warning, "this runtime cannot go back to an earlier message");
    }
    if model.world.is_running() {
        return model.toast(Level::Info, "stop the run first (Esc), then branch");
    }
    let (leaf, text) = tip_of(model, entry);
    if leaf.is_none() && !model.world.seen().abilities.clear {
        return model.toast(Level::Info, "nothing stands before this message: begin a new session (/new)");
    }
    model.send(Want::Nothing, Command::Session(SessionCommand::SetLeaf { leaf }), fx);
    let word = if text.is_some() {
        "change the prompt and send it: what came after stays on its own branch (/tree)"
    } else {
        "you go on from here; what came after stays on its own branch (/tree)"
    };
    if let Some(text) = text {
        model.screen.composer.set(text);
    }
    leave(model);
    model.toast(Level::Info, word);
}

/// Where the tip stands after going back to an entry, and the prompt that comes to the composer.
pub(super) fn tip_of(model: &Model, entry: EntryId) -> (Option<EntryId>, Option<String>) {
    let state = model.world.state();
    let message = state.message(MessageId(entry.0)).filter(|m| m.role == domain::content::Role::User);
    match message {
        Some(message) => (state.entries.get(&entry).and_then(|entry| entry.parent), Some(message.text())),
        None => (Some(entry), None),
    }
}

/// The mouse: a click opens or folds a cell, drawing it over text copies that.
pub(super) fn point(model: &mut Model, mouse: Mouse, fx: &mut Vec<Fx>) {
    if let Some(overlay) = &mut model.screen.overlay {
        let (columns, rows) = model.screen.size;
        if let (Overlay::Picker(picker), MouseAct::Press) = (overlay, mouse.act) {
            let area = list_area(picker, Rect::new(0, 0, columns, rows));
            if let Some(row) = mouse.row.checked_sub(area.y).filter(|row| *row < area.height) {
                let picked = picker.click(usize::from(row), usize::from(area.height));
                lists::picked(model, picked, fx);
            }
        }
        return;
    }
    let area = areas(model).transcript;
    let here = Position::new(mouse.column, mouse.row);
    match (mouse.act, model.screen.drag) {
        (MouseAct::Press, _) => model.screen.drag = area.contains(here).then_some((here, here)),
        (MouseAct::Drag, Some((from, _))) => model.screen.drag = Some((from, here)),
        (MouseAct::Release, Some((from, to))) => {
            model.screen.drag = None;
            if from == to {
                click(model, area, mouse.row);
                return;
            }
            let text = transcript::text_between(model, area, from, to);
            if !text.trim().is_empty() {
                put_on_clipboard(model, &text, fx);
            }
        }
        _ => {}
    }
}

fn click(model: &mut Model, area: Rect, row: u16) {
    let Some(key) = transcript::cell_at(model, area, row) else { return };
    if cell::folds(model.world.state(), key) {
        fold(model, key);
    } else {
        model.screen.selected = Some(key);
        asks::writes(model);
    }
}

/// Begins to look for words.
pub(super) fn search(model: &mut Model, words: &str) {
    let mut search = Search { editor: Editor::with(words), ..Search::default() };
    let seen = model.world.seen();
    search.look(&seen.state, &seen.thread);
    model.screen.search = Some(search);
    look_at(model);
}

/// Gives the key to the search; `false` when there is none.
pub(super) fn search_key(model: &mut Model, key: Key) -> bool {
    let Some(mut search) = model.screen.search.take() else { return false };
    match (key.code, key.ctrl) {
        (Code::Esc, _) => return true,
        (Code::Enter | Code::Up, _) | (Code::Char('f' | 'p' | 'r'), true) => search.step(true),
        (Code::Down, _) | (Code::Char('n' | 's'), true) => search.step(false),
        _ => {
            if search.editor.key(key) {
                let seen = model.world.seen();
                search.look(&seen.state, &seen.thread);
            }
        }
    }
    model.screen.search = Some(search);
    look_at(model);
    true
}

fn look_at(model: &mut Model) {
    let Some(search) = &model.screen.search else { return };
    if let Some(key) = search.current() {
        let words = search.editor.text().to_owned();
        model.screen.selected = Some(key);
        let area = areas(model).transcript;
        transcript::show_words(model, area, key, &words);
    }
}
