//! Which key does what, from the outermost to the composer.

use super::prompt::{self, Manner};
use super::{
    asks, chosen, commands, completion, files, fleet, lists, login, policies, ports, reading, user_command,
};
use crate::ask::Keyboard;
use crate::commands::{Restart, is_command, to_agent};
use crate::composer::MAX_ATTACHED;
use crate::key::{Code, Key};
use crate::keymap::{Action, Does, can_press};
use crate::layout::{areas, composer_columns, list_area, over_area, own_rows, page_size, page_texts};
use crate::model::{Model, Want};
use crate::msg::{Fx, Mouse, MouseAct};
use crate::overlay::{Content, Overlay};
use crate::picker::ListKind;
use crate::toasts::Topic;
use crate::transcript::Stops;
use crate::user_command::Ran;
use domain::command::{Command, RunCommand};
use domain::content::Part;
use domain::port::LinkState;
use domain::signal::Level;

/// Lines per turn of the wheel.
const WHEEL: i64 = 3;

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
    if model.screen.asks.is_held_down(key, model.screen.window.now()) {
        return;
    }
    asks::let_go(model, fx);
    // Enter on an empty line writes nothing.
    let writes = key != Key::plain(Code::Enter) || !model.screen.composer.is_empty();
    if route(model, key, fx) == For::Else && writes {
        model.writes();
        asks::took_as_text(model, key);
    }
}

fn route(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> For {
    let asked = model.keyboard() == Keyboard::Question;
    let looks = if asked { For::Question } else { For::Else };
    let does = model.screen.preferences.keymap().does(key);
    if does == Some(Does::Action(Action::Fleet)) {
        fleet::toggle(model, fx);
        return For::Else;
    }
    if everywhere(model, key, does, fx) {
        return looks;
    }
    model.screen.wishes.go_on(key.code == Code::Esc);
    let Some(key) = model.screen.preferences.keymap().edits(key) else { return looks };
    if let Some(over) = over(model, key, fx) {
        return over;
    }
    if scrolls(model, does) {
        return if model.selects() { For::Else } else { looks };
    }
    if asks::press(model, key, fx) {
        return For::Question;
    }
    if reading::search_key(model, key) || reading::press(model, key, fx) {
        return For::Else;
    }
    model.screen.own.deselect();
    if model.screen.transcript.deselect() {
        model.screen.transcript.go_to_end();
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
        Some(Does::Action(Action::OpenPort)) => ports::press(model, fx),
        Some(Does::Action(Action::NextWaiting)) => fleet::next(model, fx),
        _ => return false,
    }
    true
}

fn interrupt(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.wishes.quit(model.screen.window.now()) {
        fx.push(Fx::Quit);
        return;
    }
    if login::stop(model, fx) {
        return model.toast(Level::Info, "nothing was saved");
    }
    fleet::close(model, fx);
    model.screen.preferences.recolour();
    if model.screen.own.runs() {
        user_command::escape(model, fx);
    } else if model.world.is_running() {
        prompt::stop(model, fx);
    } else if !model.screen.composer.is_empty() {
        set_aside(model, fx);
        let word = "cleared (↑ brings it back); Ctrl-C again quits";
        model.toast_about(Topic::Quitting, Level::Info, word);
    } else {
        model.toast_about(Topic::Quitting, Level::Info, "Ctrl-C again quits");
    }
}

/// Empties the composer; what stood there is the newest of the earlier prompts, also after a restart.
fn set_aside(model: &mut Model, fx: &mut Vec<Fx>) {
    let text = model.screen.composer.put_away();
    fx.push(Fx::SaveHistory(text));
}

/// Gives the key to what stands over everything; tells whom it was for.
fn over(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> Option<For> {
    // A page further on begins with the row behind the last that was seen.
    let page = match model.screen.over.page() {
        Some(pager) => page_size(pager.content(), model).1,
        None => usize::from(model.screen.window.size().1.saturating_sub(3)),
    };
    match model.screen.over.top_mut() {
        Some(Overlay::Pager(pager)) => {
            let content = pager.content().clone();
            if pager.key(key, page) {
                let (rows, fits) = page_size(&content, model);
                let looks = model.screen.over.page().is_some_and(|pager| pager.finding().is_some());
                let texts = if looks { page_texts(&content, model) } else { Vec::new() };
                if let Some(Overlay::Pager(pager)) = model.screen.over.top_mut() {
                    pager.look(&texts, fits);
                    pager.settle(rows, fits);
                }
            } else if content == Content::Ask {
                asks::page_key(model, key, fx);
            } else {
                model.screen.over.close();
            }
            Some(if content == Content::Ask { For::Question } else { For::Else })
        }
        Some(Overlay::Picker(picker)) => {
            let picked = picker.key(key, page);
            chosen::picked(model, picked, fx);
            Some(For::Else)
        }
        Some(Overlay::Fleet(_)) => {
            fleet::press(model, key, page, fx);
            Some(For::Else)
        }
        Some(Overlay::Login(form)) => {
            let step = form.key(key);
            login::does(model, step, fx);
            Some(For::Else)
        }
        None => None,
    }
}

fn scrolls(model: &mut Model, does: Option<Does>) -> bool {
    let Some(Does::Action(action)) = does else { return false };
    match action {
        Action::PromptUp => reading::walk(model, true, Stops::Prompts),
        Action::PromptDown => reading::walk(model, false, Stops::Prompts),
        Action::SelectUp => reading::step(model, true),
        Action::SelectDown => reading::step(model, false),
        Action::PageUp => scroll_by(model, |page| -page),
        Action::PageDown => scroll_by(model, |page| page),
        Action::LineUp => scroll_by(model, |_| -1),
        Action::LineDown => scroll_by(model, |_| 1),
        Action::ToStart if model.screen.composer.is_empty() => scroll_by(model, |_| i64::MIN / 2),
        Action::ToEnd => model.screen.transcript.go_to_end(),
        // What stands nearest to the person opens first.
        Action::Fold if model.screen.own.shown().is_some_and(Ran::has_output) => user_command::open(model),
        Action::Fold => model.screen.transcript.fold_all(),
        _ => return false,
    }
    true
}

/// Moves the transcript by as many lines as `lines` says, given those of a page; down is positive.
fn scroll_by(model: &mut Model, lines: impl Fn(i64) -> i64) {
    let area = areas(model).transcript;
    let page_lines = i64::from(area.height.saturating_sub(2).max(1));
    let (transcript, page) = model.reading(area);
    transcript.scroll_by(page, lines(page_lines));
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
        (Code::Tab, ..) => model.screen.composer.take_suggestion(),
        _ => model.screen.composer.key(key),
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
        Action::Steer => submit(model, Manner::Steer, fx),
        Action::NewLine => model.screen.composer.insert("\n"),
        Action::Earlier => model.screen.composer.earlier(),
        Action::Later => model.screen.composer.later(),
        Action::History => lists::open(model, ListKind::History, fx),
        Action::Editor => fx.push(Fx::OpenEditor(model.screen.composer.unfolded())),
        Action::Picture => fx.push(Fx::Attach(None)),
        Action::Search => reading::search(model, ""),
        Action::Queue => lists::open(model, ListKind::Queue, fx),
        Action::Sessions => lists::open(model, ListKind::Sessions, fx),
        Action::NextSession => lists::next_session(model, false, fx),
        Action::PreviousSession => lists::next_session(model, true, fx),
        Action::NextPolicy => policies::next(model, fx),
        Action::LessEffort => commands::step_effort(model, false, fx),
        Action::MoreEffort => commands::step_effort(model, true, fx),
        Action::Restart if matches!(model.world.link, LinkState::Lost(_)) => {
            commands::execute(model, "/restart", fx);
        }
        Action::Keys if empty => model.screen.over.read("Keys", Content::Shortcuts),
        Action::Quit if empty => fx.push(Fx::Quit),
        _ => return false,
    }
    true
}

fn enter(model: &mut Model, fx: &mut Vec<Fx>) {
    if !model.screen.composer.break_line() {
        submit(model, Manner::FollowUp, fx);
    }
}

/// Sends what stands in the composer.
fn submit(model: &mut Model, manner: Manner, fx: &mut Vec<Fx>) {
    let Some(text) = model.screen.composer.submit() else { return };
    // A command is no prompt to come back to.
    if !is_command(text.trim()) {
        fx.push(Fx::SaveHistory(text.clone()));
    }
    if let Some(line) = text.strip_prefix('!') {
        return user_command::run(model, &text, line.trim(), fx);
    }
    if commands::execute(model, text.trim(), fx) {
        return;
    }
    if matches!(model.world.link, LinkState::Lost(_)) {
        model.screen.composer.set(text);
        let key = model.screen.preferences.keymap().shown_or(Action::Restart, "/restart");
        let back = match model.screen.start.here().restart {
            Restart::Start => format!("; {key} starts it again"),
            Restart::Connect => format!(" until it is back; {key} looks for it now"),
            Restart::None => " until it is back".to_owned(),
        };
        return model.toast(Level::Warning, format!("the runtime is gone: your text stays here{back}"));
    }
    let said = to_agent(text.trim(), &model.world.seen().abilities, model.screen.start.here());
    let text = model.screen.own.along(said.unwrap_or(text));
    prompt::say(model, text, manner, fx);
}

fn escape(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.wishes.stops_everything() {
        everything(model, fx);
    } else if model.screen.own.runs() {
        user_command::escape(model, fx);
        model.screen.wishes.stop_once(model.screen.window.now());
    } else if model.world.is_running() {
        prompt::stop(model, fx);
    } else if !model.screen.transcript.is_at_end() {
        model.screen.transcript.go_to_end();
    } else if !model.screen.composer.take_attached().is_empty() {
        let word = "the pictures were removed";
        model.toast_about(Topic::Prompt, Level::Info, word);
    } else if user_command::escape(model, fx) {
    } else if !model.screen.composer.is_empty() {
        set_aside(model, fx);
        model.toast_about(Topic::Prompt, Level::Info, "cleared; ↑ brings it back");
    } else if is_starting(model) {
        give_up_start(model, fx);
    } else if files::last_prompt(model).is_some() && model.world.seen().abilities.go_back {
        edit_last(model, fx);
    }
}

/// Whether a program that was started for this screen has not answered yet.
fn is_starting(model: &Model) -> bool {
    let ours = model.screen.start.here().restart == Restart::Start;
    ours && model.world.current.is_none() && matches!(model.world.link, LinkState::Connecting)
}

/// The second Esc while a program starts lets it go; the screen stays, and it can be started again.
fn give_up_start(model: &mut Model, fx: &mut Vec<Fx>) {
    if model.screen.wishes.gives_up(model.screen.window.now()) {
        model.screen.toasts.over(Topic::Editing);
        model.send(Want::Nothing, Command::Run(RunCommand::Cancel { run: None, reason: None }), fx);
    } else {
        model.toast_about(Topic::Editing, Level::Info, "Esc again gives up the start");
    }
}

/// Esc where it means nothing else: the second one brings the last prompt back, to be said differently.
fn edit_last(model: &mut Model, fx: &mut Vec<Fx>) {
    if !model.screen.wishes.edits_last(model.screen.window.now()) {
        model.toast_about(Topic::Editing, Level::Info, "Esc again edits your last prompt");
    } else if let Some(entry) = files::last_prompt(model) {
        model.screen.toasts.over(Topic::Editing);
        files::go_back(model, entry, fx);
    }
}

/// Stops all that is under way, and puts away what was written for it.
fn everything(model: &mut Model, fx: &mut Vec<Fx>) {
    user_command::escape(model, fx);
    if model.world.is_running() {
        model.screen.wishes.put_away();
        prompt::cancel(model, fx);
    }
    model.screen.composer.take_attached();
    if !model.screen.composer.is_empty() {
        set_aside(model, fx);
    }
    model.toast(Level::Info, "everything is stopped; ↑ brings back what was written");
}

fn vertical(model: &mut Model, step: isize) {
    let columns = composer_columns(model);
    model.screen.composer.vertical(step, columns);
}

/// Pasted text goes where the person writes: into a field of the question only when its caret can be seen there, never answering it.
pub(super) fn paste(model: &mut Model, text: &str, fx: &mut Vec<Fx>) {
    asks::let_go(model, fx);
    let asked = model.keyboard() == Keyboard::Question && !model.screen.over.is_open();
    if asked && model.screen.asks.paste(model.world.state(), text) {
        return;
    }
    model.writes();
    if let Some(board) = model.screen.over.fleet_mut() {
        return board.paste(text);
    }
    // A key that is pasted a moment late stands nowhere else.
    if let Some(form) = model.screen.over.login_mut() {
        return form.paste(text);
    }
    match picture_path(text) {
        Some(path) => fx.push(Fx::Attach(Some(path))),
        None => model.screen.composer.paste(text),
    }
}

/// The path, when what was pasted is nothing but the name of a picture (as terminals paste what is dropped on them).
fn picture_path(text: &str) -> Option<String> {
    let path = text.trim().trim_matches(['\'', '"']).replace("\\ ", " ");
    let path = path.strip_prefix("file://").map_or(path.clone(), str::to_owned);
    let lower = path.to_ascii_lowercase();
    let picture = [".png", ".jpg", ".jpeg", ".gif", ".webp"].iter().any(|ending| lower.ends_with(ending));
    (picture && path.starts_with('/') && !path.contains('\n')).then_some(path)
}

/// A picture goes along with the next prompt.
pub(super) fn attach(model: &mut Model, name: &str, part: Part) {
    if !model.screen.composer.attach(name, part) {
        model.toast(Level::Warning, format!("at most {MAX_ATTACHED} pictures can be attached to a prompt"));
    }
}

/// The mouse: in a list it chooses; over the conversation a click opens or folds a cell, drawing it over text copies that.
pub(super) fn point(model: &mut Model, mouse: Mouse, fx: &mut Vec<Fx>) {
    let free = over_area(model);
    let opens = mouse.act == MouseAct::Press && model.screen.own.shown().is_some_and(Ran::has_output);
    let on_own = opens && own_rows(model).contains(&mouse.row);
    match mouse.act {
        MouseAct::WheelUp => wheel(model, -WHEEL),
        MouseAct::WheelDown => wheel(model, WHEEL),
        MouseAct::Press | MouseAct::Drag | MouseAct::Release => match model.screen.over.top_mut() {
            None if on_own => user_command::open(model),
            None => reading::point(model, mouse, fx),
            Some(Overlay::Picker(picker)) if mouse.act == MouseAct::Press => {
                let area = list_area(picker, free);
                if let Some(row) = mouse.row.checked_sub(area.y).filter(|row| *row < area.height) {
                    let picked = picker.click(usize::from(row), usize::from(area.height));
                    chosen::picked(model, picked, fx);
                }
            }
            Some(Overlay::Fleet(_)) if mouse.act == MouseAct::Press => fleet::click(model, mouse.row),
            Some(_) => {}
        },
    }
}

fn wheel(model: &mut Model, lines: i64) {
    match model.screen.over.top_mut() {
        Some(Overlay::Picker(picker)) => {
            let code = if lines < 0 { Code::Up } else { Code::Down };
            picker.key(Key::plain(code), 1);
        }
        Some(Overlay::Pager(pager)) => pager.scroll(lines),
        Some(Overlay::Login(_)) => {}
        Some(Overlay::Fleet(board)) => {
            let code = if lines < 0 { Code::Up } else { Code::Down };
            board.key(Key::plain(code), model.screen.fleet.rows(), 1);
        }
        None => scroll_by(model, |_| lines),
    }
}
