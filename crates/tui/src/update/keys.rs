//! Which key does what, from the outermost to the composer.

use super::prompt::{self, Manner};
use super::reading::{self, Stops};
use super::{asks, commands, completion, lists, shell};
use crate::ask::{Keyboard, keyboard};
use crate::commands::can_press;
use crate::composer::lay_out;
use crate::key::{Code, Key};
use crate::keymap::{Action, Does};
use crate::model::{Model, QUIT_MS, Ran, TWICE_MS};
use crate::msg::Fx;
use crate::overlay::{Content, Overlay, Pager};
use crate::picker::ListKind;
use crate::transcript::{Scroll, scroll_by};
use crate::view::{areas, composer_columns, page_size};
use domain::ids::Millis;
use domain::signal::Level;

/// Whom a key was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum For {
    /// The question, or a look around while it has the keyboard.
    Question,
    /// Anything else: the person writes, reads or chooses.
    Else,
}

/// Takes a key to where it belongs: the question, the overlay, the panel or the composer.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) {
    if asks::is_held_down(model, key) {
        return;
    }
    asks::let_go(model, fx);
    if route(model, key, fx) == For::Else {
        asks::writes(model);
    }
}

fn route(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> For {
    let asked = keyboard(model) == Keyboard::Question;
    let looks = if asked { For::Question } else { For::Else };
    let does = model.screen.keymap.does(key);
    if everywhere(model, key, does, fx) {
        return looks;
    }
    model.screen.quit_until = None;
    if key.code != Code::Esc {
        model.screen.all_until = None;
    }
    let Some(key) = model.screen.keymap.edits(key) else { return looks };
    if let Some(over) = over(model, key, fx) {
        return over;
    }
    if scrolls(model, does) {
        return if model.screen.selected.is_some() { For::Else } else { looks };
    }
    if asks::press(model, key, fx) {
        return For::Question;
    }
    if reading::search_key(model, key) || reading::press(model, key, fx) {
        return For::Else;
    }
    if model.screen.selected.take().is_some() {
        model.screen.scroll = Scroll::Tail;
    }
    if !completion::press(model, key, fx) {
        compose(model, key, does, fx);
        completion::refresh(model, fx);
    }
    For::Else
}

/// Keys that mean the same everywhere.
fn everywhere(model: &mut Model, key: Key, does: Option<Does>, fx: &mut Vec<Fx>) -> bool {
    match does {
        _ if key == Key::ctrl('c') => interrupt(model, fx),
        Some(Does::Action(Action::Suspend)) => fx.push(Fx::Suspend),
        Some(Does::Action(Action::Redraw)) => fx.push(Fx::Redraw),
        _ => return false,
    }
    true
}

fn interrupt(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.quit_until.is_some() {
        fx.push(Fx::Quit);
        return;
    }
    model.screen.quit_until = Some(Millis(model.screen.now.0 + QUIT_MS));
    model.screen.overlay = None;
    model.recolour();
    if model.screen.ran.as_ref().is_some_and(Ran::runs) {
        shell::escape(model, fx);
    } else if model.world.is_running() {
        prompt::stop(model, fx);
    } else if !model.screen.composer.is_empty() {
        set_aside(model, fx);
        model.toast(Level::Info, "cleared (↑ brings it back); Ctrl-C again quits");
    } else {
        model.toast(Level::Info, "Ctrl-C again quits");
    }
}

/// Empties the composer; what stood there is the newest of the earlier prompts, also after a restart.
fn set_aside(model: &mut Model, fx: &mut Vec<Fx>) {
    let text = model.screen.composer.take();
    prompt::put_away(model, text, fx);
}

/// Gives the key to what stands over everything; tells whom it was for.
fn over(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> Option<For> {
    let page = usize::from(model.screen.size.1.saturating_sub(3));
    match &mut model.screen.overlay {
        Some(Overlay::Pager(pager)) => {
            let content = pager.content.clone();
            if pager.key(key, page) {
                // Past the end it stands still, so that the next key up moves at once.
                let (rows, fits) = page_size(&content, model);
                if let Some(Overlay::Pager(pager)) = &mut model.screen.overlay {
                    pager.top = pager.clamp(rows, fits);
                }
            } else if content == Content::Ask {
                asks::page_key(model, key, fx);
            } else {
                model.screen.overlay = None;
            }
            Some(if content == Content::Ask { For::Question } else { For::Else })
        }
        Some(Overlay::Picker(picker)) => {
            let picked = picker.key(key, page);
            lists::picked(model, picked, fx);
            Some(For::Else)
        }
        None => None,
    }
}

fn scrolls(model: &mut Model, does: Option<Does>) -> bool {
    let Some(Does::Action(action)) = does else { return false };
    let area = areas(model).transcript;
    let page = i64::from(area.height.saturating_sub(2).max(1));
    match action {
        Action::PromptUp => reading::walk(model, true, Stops::Prompts),
        Action::PromptDown => reading::walk(model, false, Stops::Prompts),
        Action::SelectUp => reading::walk(model, true, Stops::Every),
        Action::SelectDown => reading::walk(model, false, Stops::Every),
        Action::PageUp => scroll_by(model, area, -page),
        Action::PageDown => scroll_by(model, area, page),
        Action::LineUp => scroll_by(model, area, -1),
        Action::LineDown => scroll_by(model, area, 1),
        Action::ToStart if model.screen.composer.is_empty() => scroll_by(model, area, i64::MIN / 2),
        Action::ToEnd => model.screen.scroll = Scroll::Tail,
        Action::Fold => reading::fold_all(model),
        _ => return false,
    }
    true
}

fn compose(model: &mut Model, key: Key, does: Option<Does>, fx: &mut Vec<Fx>) {
    let done = match does {
        Some(Does::Action(action)) => act(model, action, fx),
        Some(Does::Command(at)) => {
            commands::press(model, at, fx);
            true
        }
        None => false,
    };
    if done {
        return;
    }
    match (key.code, key.ctrl, key.alt) {
        (Code::Esc, ..) => escape(model, fx),
        (Code::Up, false, false) => vertical(model, -1),
        (Code::Down, false, false) => vertical(model, 1),
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

/// Does what an action says; `false` when the key means something else just now.
fn act(model: &mut Model, action: Action, fx: &mut Vec<Fx>) -> bool {
    let empty = model.screen.composer.is_empty();
    if !can_press(action, &model.world.seen().abilities) {
        model.toast(Level::Warning, "this runtime stays in its session");
        return true;
    }
    match action {
        Action::Send => enter(model, fx),
        Action::Steer => prompt::submit(model, Manner::Steer, fx),
        Action::NewLine => model.screen.composer.insert("\n"),
        Action::Earlier => earlier(model),
        Action::Later => later(model),
        Action::History => lists::open(model, ListKind::History, fx),
        Action::Editor => fx.push(Fx::OpenEditor(model.screen.composer.unfolded())),
        Action::Picture => fx.push(Fx::Attach(None)),
        Action::Search => reading::search(model, ""),
        Action::Queue => lists::open(model, ListKind::Queue, fx),
        Action::Sessions => lists::open(model, ListKind::Sessions, fx),
        Action::NextSession => lists::next_session(model, false, fx),
        Action::PreviousSession => lists::next_session(model, true, fx),
        Action::Keys if empty => {
            model.screen.overlay = Some(Overlay::Pager(Pager::new("Keys", Content::Keys)));
        }
        Action::Quit if empty => fx.push(Fx::Quit),
        _ => return false,
    }
    true
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
    if model.screen.all_until.take().is_some() {
        everything(model, fx);
    } else if model.screen.ran.as_ref().is_some_and(Ran::runs) {
        shell::escape(model, fx);
        model.screen.all_until = Some(Millis(model.screen.now.0 + TWICE_MS));
    } else if model.world.is_running() {
        prompt::stop(model, fx);
    } else if model.screen.scroll != Scroll::Tail {
        model.screen.scroll = Scroll::Tail;
    } else if !model.screen.attached.is_empty() {
        model.screen.attached.clear();
        model.toast(Level::Info, "the pictures do not go along with your prompt");
    } else if shell::escape(model, fx) {
    } else if !model.screen.composer.is_empty() {
        set_aside(model, fx);
        model.toast(Level::Info, "cleared; ↑ brings it back");
    }
}

/// Stops all that is under way, and puts away what was written for it.
fn everything(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.ran.is_some() {
        shell::escape(model, fx);
    }
    if model.world.is_running() {
        model.screen.put_away = true;
        prompt::cancel(model, fx);
    }
    model.screen.attached.clear();
    if !model.screen.composer.is_empty() {
        set_aside(model, fx);
    }
    model.toast(Level::Info, "everything is stopped; ↑ brings back what was written");
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
