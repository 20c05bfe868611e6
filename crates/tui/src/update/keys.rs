//! Which key does what, from the outermost to the composer.

use super::prompt::{self, Manner};
use super::reading::{self, Stops};
use super::{asks, completion, lists};
use crate::composer::lay_out;
use crate::key::{Code, Key};
use crate::model::{Model, QUIT_MS};
use crate::msg::Fx;
use crate::overlay::{Content, Overlay, Pager};
use crate::picker::Of;
use crate::transcript::{Scroll, scroll_by};
use crate::view::{areas, composer_columns};
use domain::ids::Millis;
use domain::signal::Level;

pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) {
    let key = model.screen.keymap.get(&key).copied().unwrap_or(key);
    if everywhere(model, key, fx) {
        return;
    }
    model.screen.quit_until = None;
    if over(model, key, fx) || scrolls(model, key) {
        return;
    }
    if asks::press(model, key, fx) || reading::search_key(model, key) || reading::press(model, key, fx) {
        return;
    }
    if model.screen.selected.take().is_some() {
        model.screen.scroll = Scroll::Tail;
    }
    if !completion::press(model, key, fx) {
        compose(model, key, fx);
        completion::refresh(model, fx);
    }
}

/// Keys that mean the same everywhere.
fn everywhere(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    match (key.code, key.ctrl) {
        (Code::Char('c'), true) => {
            interrupt(model, fx);
            true
        }
        (Code::Char('z'), true) => {
            fx.push(Fx::Suspend);
            true
        }
        (Code::Char('l'), true) => {
            fx.push(Fx::Redraw);
            true
        }
        _ => false,
    }
}

fn interrupt(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.quit_until.is_some() {
        fx.push(Fx::Quit);
        return;
    }
    model.screen.quit_until = Some(Millis(model.screen.now.0 + QUIT_MS));
    model.screen.overlay = None;
    if model.world.is_running() {
        prompt::stop(model, fx);
    } else if !model.screen.composer.is_empty() {
        let text = model.screen.composer.take();
        model.screen.history.remember(text);
        model.toast(Level::Info, "cleared (↑ brings it back); Ctrl-C again quits");
    } else {
        model.toast(Level::Info, "Ctrl-C again quits");
    }
}

fn over(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    let page = usize::from(model.screen.size.1.saturating_sub(3));
    match &mut model.screen.overlay {
        Some(Overlay::Pager(pager)) => {
            if !pager.key(key, page) {
                model.screen.overlay = None;
            }
            true
        }
        Some(Overlay::Picker(picker)) => {
            let picked = picker.key(key, page);
            lists::picked(model, picked, fx);
            true
        }
        None => false,
    }
}

fn scrolls(model: &mut Model, key: Key) -> bool {
    let area = areas(model).transcript;
    let page = i64::from(area.height.saturating_sub(2).max(1));
    match (key.code, key.ctrl, key.shift) {
        (Code::Up, true, _) => reading::walk(model, true, Stops::Prompts),
        (Code::Down, true, _) => reading::walk(model, false, Stops::Prompts),
        (Code::Up, ..) if key.alt => reading::walk(model, true, Stops::Every),
        (Code::Down, ..) if key.alt => reading::walk(model, false, Stops::Every),
        (Code::PageUp, ..) => scroll_by(model, area, -page),
        (Code::PageDown, ..) => scroll_by(model, area, page),
        (Code::Up, _, true) => scroll_by(model, area, -1),
        (Code::Down, _, true) => scroll_by(model, area, 1),
        (Code::Home, true, _) if model.screen.composer.is_empty() => scroll_by(model, area, i64::MIN / 2),
        (Code::End, true, _) => model.screen.scroll = Scroll::Tail,
        (Code::Char('o'), true, _) => reading::fold_all(model),
        _ => return false,
    }
    true
}

fn compose(model: &mut Model, key: Key, fx: &mut Vec<Fx>) {
    let running = model.world.is_running();
    match (key.code, key.ctrl, key.alt) {
        (Code::Esc, ..) => escape(model, fx),
        (Code::Char('d'), true, _) if model.screen.composer.is_empty() => fx.push(Fx::Quit),
        (Code::Char('?'), false, false) if model.screen.composer.is_empty() => {
            model.screen.overlay = Some(Overlay::Pager(Pager::new("Keys", Content::Keys)));
        }
        (Code::Enter, _, true) if running => prompt::submit(model, Manner::Steer, fx),
        (Code::Char('s'), true, _) => prompt::submit(model, Manner::Steer, fx),
        (Code::Enter, false, false) if !key.shift => enter(model, fx),
        (Code::Enter, ..) => model.screen.composer.insert("\n"),
        (Code::Up, false, false) => vertical(model, -1),
        (Code::Down, false, false) => vertical(model, 1),
        (Code::Char('p'), true, _) => earlier(model),
        (Code::Char('n'), true, _) => later(model),
        (Code::Char('v'), false, true) => fx.push(Fx::Attach(None)),
        (Code::Char(']'), false, true) => lists::next_session(model, false, fx),
        (Code::Char('['), false, true) => lists::next_session(model, true, fx),
        (Code::Char('f'), true, _) => reading::search(model, ""),
        (Code::Char('r'), true, _) => lists::open(model, Of::History, fx),
        (Code::Char('x'), true, _) => lists::open(model, Of::Sessions, fx),
        (Code::Char('q'), true, _) => lists::open(model, Of::Queue, fx),
        (Code::Char('g'), true, _) => fx.push(Fx::OpenEditor(model.screen.composer.unfolded())),
        (Code::Tab, ..) => {
            if let Some(text) = model.screen.suggestion.take().filter(|_| model.screen.composer.is_empty()) {
                model.screen.composer.set(text);
            }
        }
        _ => {
            if model.screen.composer.key(key) {
                model.screen.history.stay();
            }
        }
    }
}

fn enter(model: &mut Model, fx: &mut Vec<Fx>) {
    let composer = &mut model.screen.composer;
    if composer.text()[..composer.caret()].ends_with('\\') {
        composer.complete(composer.caret() - 1, "\n");
        return;
    }
    prompt::submit(model, Manner::FollowUp, fx);
}

fn escape(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.world.is_running() {
        prompt::stop(model, fx);
    } else if model.screen.scroll != Scroll::Tail {
        model.screen.scroll = Scroll::Tail;
    } else if !model.screen.attached.is_empty() {
        model.screen.attached.clear();
        model.toast(Level::Info, "the pictures do not go along with your prompt");
    } else if model.screen.ran.take().is_some() {
        model.toast(Level::Info, "the output does not go along with your prompt");
    } else if !model.screen.composer.is_empty() {
        let text = model.screen.composer.take();
        model.screen.history.remember(text);
        model.toast(Level::Info, "cleared; ↑ brings it back");
    }
}

/// Moves the caret by a row; past the first or last row, walks through earlier prompts.
fn vertical(model: &mut Model, step: isize) {
    let columns = composer_columns(model);
    let composer = &model.screen.composer;
    let laid = lay_out(composer.text(), composer.caret(), columns);
    let row = laid.caret.row.checked_add_signed(step).filter(|row| *row < laid.rows.len());
    match row {
        Some(row)
            if !(model.screen.history.is_walking()
                && step < 0
                && composer.caret() == composer.text().len()) =>
        {
            let at = laid.byte_at(composer.text(), row, laid.caret.column);
            model.screen.composer.move_to(at);
        }
        _ if step < 0 => earlier(model),
        _ => later(model),
    }
}

fn earlier(model: &mut Model) {
    let draft = model.screen.composer.unfolded();
    if let Some(text) = model.screen.history.earlier(&draft) {
        model.screen.composer.set(text);
    }
}

fn later(model: &mut Model) {
    if let Some(text) = model.screen.history.later() {
        model.screen.composer.set(text);
    }
}
