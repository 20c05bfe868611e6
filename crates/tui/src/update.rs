//! The one place where the model changes. Pure: what is to be done comes out as [`Fx`].

mod asks;
mod choices;
mod commands;
mod completion;
mod files;
mod keys;
mod lists;
mod news;
mod prompt;
mod reading;
#[cfg(test)]
mod scenes;
mod shell;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod typing;

use crate::ask::{Keyboard, keyboard};
use crate::key::{Code, Key};
use crate::model::{Model, Want};
use crate::msg::{Fx, MouseAct, Msg};
use crate::overlay::Overlay;
use crate::theme::Theme;
use crate::transcript::scroll_by;
use crate::view::areas;
use domain::command::Command;
use domain::ids::Millis;
use domain::signal::{Level, UiContext};
use std::time::Duration;

/// Lines per turn of the wheel.
const WHEEL: i64 = 3;
/// From how far back on the clock of the system was set, and nobody just read a key late.
const CLOCK_STEP_MS: u64 = 60_000;
/// How often the spinner turns while a run is under way.
const SPIN_MS: u64 = 125;

/// Takes in what came; says in `fx` what is to be done.
pub fn update(model: &mut Model, msg: Msg, fx: &mut Vec<Fx>) {
    match msg {
        Msg::Tick(now) => tick(model, now),
        Msg::Drawn => asks::drawn(model),
        Msg::Back => asks::back(model),
        Msg::Key(key) => keys::press(model, key, fx),
        Msg::Paste(text) => prompt::paste(model, &text, fx),
        Msg::Mouse(mouse) => match mouse.act {
            MouseAct::WheelUp => wheel(model, -WHEEL),
            MouseAct::WheelDown => wheel(model, WHEEL),
            MouseAct::Press | MouseAct::Drag | MouseAct::Release => reading::point(model, mouse, fx),
        },
        Msg::Resize(columns, rows) => {
            let before = std::mem::replace(&mut model.screen.size, (columns, rows));
            if before != (columns, rows) && model.world.current.is_some() {
                let context = UiContext::of_size(columns, rows);
                model.send(Want::Nothing, Command::UpdateContext(context), fx);
            }
        }
        Msg::News(news) => news::hear(model, news, fx),
        Msg::FromEditor(Some(text)) => asks::written(model, &text),
        Msg::FromEditor(None) => {
            model.screen.edited = None;
            model.toast(Level::Error, "the editor could not be run; set EDITOR to the one you use");
        }
        Msg::Attached(Ok((name, part))) => prompt::attach(model, name, part),
        Msg::Attached(Err(why)) => model.toast(Level::Warning, why),
        Msg::Picture { framed, decoded } => {
            let (pixels, png) = decoded.map_or((None, None), |decoded| (Some(decoded.pixels), decoded.png));
            model.screen.pictures.keep(framed.id, pixels);
            fx.extend(png.map(|png| Fx::Draw { framed, png }));
        }
        Msg::Begin(begin) => prompt::begin(model, begin, fx),
        Msg::History(earlier) => model.screen.history.load(earlier),
        Msg::Note(note) => model.screen.about.note = note,
        Msg::Agents(agents) => lists::fill_agents(model, agents),
        Msg::ShellNotice(text) => model.toast(Level::Info, text),
        Msg::Files { query, paths } => completion::found(model, &query, paths),
        Msg::ShellSaid(output) => shell::said(model, &output),
        Msg::Shell { line, output, code } => shell::ended(model, line, &output, code),
        Msg::Background { dark } => {
            if model.screen.auto == Theme::Terminal && !dark {
                // Dim text on a light screen is too faint in many palettes.
                model.screen.auto = Theme::Light;
                model.screen.theme = model.screen.settings.theme.unwrap_or(Theme::Light);
            }
        }
    }
    asks::settle(model, fx);
    wake(model, fx);
}

fn tick(model: &mut Model, now: Millis) {
    // A key is told with the time at which it was read, which may be a little earlier than what came in meanwhile.
    let back = model.screen.now.since(now) > CLOCK_STEP_MS;
    model.screen.now = now;
    if back {
        asks::clock_went_back(model);
    }
    model.screen.toasts.retain(|toast| toast.until > now);
    model.screen.quit_until = model.screen.quit_until.filter(|until| *until > now);
    model.screen.all_until = model.screen.all_until.filter(|until| *until > now);
}

fn wheel(model: &mut Model, lines: i64) {
    match &mut model.screen.overlay {
        Some(Overlay::Picker(picker)) => {
            let code = if lines < 0 { Code::Up } else { Code::Down };
            picker.key(Key::plain(code), 1);
        }
        Some(Overlay::Pager(pager)) => {
            pager.top = pager.top.saturating_add_signed(isize::try_from(lines).unwrap_or(0));
        }
        None => {
            let area = areas(model).transcript;
            scroll_by(model, area, lines);
        }
    }
}

/// Asks to be woken when something on the screen changes by time alone. Idle, nothing does.
fn wake(model: &Model, fx: &mut Vec<Fx>) {
    let now = model.screen.now;
    let mut next: Option<u64> = None;
    let mut at = |ms: u64| next = Some(next.map_or(ms, |n| n.min(ms)));
    if model.world.is_running() {
        at(if model.screen.ask.is_some() { 1_000 } else { SPIN_MS });
    }
    if model.screen.ran.as_ref().is_some_and(crate::model::Ran::runs) {
        at(1_000);
    }
    let deadline = model.world.state().asks.iter().any(|ask| ask.deadline.is_some());
    if deadline {
        at(1_000);
    }
    for toast in &model.screen.toasts {
        at(toast.until.since(now).max(1));
    }
    for until in [model.screen.quit_until, model.screen.all_until].into_iter().flatten() {
        at(until.since(now).max(1));
    }
    if let Keyboard::Soon(Some(from)) = keyboard(model) {
        at(from.since(now).max(1));
    }
    if let Some(held) = model.screen.ask.as_ref().and_then(|panel| panel.held.as_ref()) {
        at(held.until.since(now).max(1));
    }
    if let Some(ms) = next {
        fx.push(Fx::Wake(Duration::from_millis(ms)));
    }
}
