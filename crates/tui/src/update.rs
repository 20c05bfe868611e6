//! The one place where the model changes. Pure: what is to be done comes out as [`Fx`].

mod asks;
mod budget;
mod choices;
mod chosen;
mod commands;
mod completion;
#[cfg(test)]
mod copied;
mod copies;
mod devices;
mod everywhere;
mod files;
mod fleet;
mod keys;
mod lists;
mod login;
mod news;
mod options;
mod policies;
mod ports;
#[cfg(test)]
mod presses;
mod prompt;
mod reading;
mod rules;
#[cfg(test)]
mod scenes;
mod servers;
#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
mod typing;
mod user_command;

use crate::ask::Keyboard;
use crate::model::{Model, Want};
use crate::msg::{Begin, Fx, Msg};
use crate::picker::{ListKind, Picked};
use crate::toasts::Topic;
use domain::command::Command;
use domain::ids::Millis;
use domain::signal::{Level, UiContext};
use prompt::Manner;
use std::time::Duration;

/// How often the spinner turns while a run is under way.
const SPIN_MS: u64 = 125;

/// Takes in what came; says in `fx` what is to be done.
pub(crate) fn update(model: &mut Model, msg: Msg, fx: &mut Vec<Fx>) {
    match msg {
        Msg::Tick(now) => tick(model, now),
        Msg::Drawn => asks::drawn(model, fx),
        Msg::Back => model.screen.asks.back(model.screen.window.now()),
        Msg::Key(key) => keys::press(model, key, fx),
        Msg::Paste(text) => keys::paste(model, &text, fx),
        Msg::Mouse(mouse) => keys::point(model, mouse, fx),
        Msg::Resize(columns, rows) => {
            if model.screen.window.resize((columns, rows)) && model.world.current.is_some() {
                let context = UiContext::of_size(columns, rows);
                model.send(Want::Nothing, Command::UpdateContext(context), fx);
            }
        }
        Msg::News(news) => news::hear(model, news, fx),
        Msg::Slash(line) => {
            commands::execute(model, &line, fx);
        }
        Msg::Pick(at) => {
            let choice = model.screen.over.list().and_then(|list| list.lines().nth(at));
            let picked = choice.map(|(item, _)| Picked::Chosen(item.choice.clone()));
            picked.into_iter().for_each(|picked| chosen::picked(model, picked, fx));
        }
        Msg::FromEditor(Some(text)) => asks::written(model, &text),
        Msg::FromEditor(None) => {
            model.screen.asks.edit_failed();
            model.toast(Level::Error, "the editor could not be run; set EDITOR to the one you use");
        }
        Msg::Attached(Ok((name, part))) => keys::attach(model, &name, part),
        Msg::Attached(Err(why)) => model.toast(Level::Warning, why),
        Msg::Picture { framed, decoded } => {
            let (pixels, png) = decoded.map_or((None, None), |decoded| (Some(decoded.pixels), decoded.png));
            model.screen.pictures.keep(framed.id, pixels);
            fx.extend(png.map(|png| Fx::Draw { framed, png }));
        }
        Msg::Begin(Begin::Sessions) => lists::open(model, ListKind::Sessions, fx),
        Msg::Begin(Begin::Search(words)) => everywhere::open(model, &words, fx),
        Msg::Begin(Begin::Prompt(text)) => prompt::say(model, text, Manner::FollowUp, fx),
        Msg::Begin(Begin::With { name, part }) => keys::attach(model, &name, part),
        Msg::History(earlier) => model.screen.composer.load(earlier),
        Msg::Branch { cwd, name } => model.screen.start.checked_out(cwd, name),
        Msg::Note(note) => model.screen.start.note(note),
        Msg::Agents(agents) => lists::fill_agents(model, agents),
        Msg::Login(news) => login::hear(model, news, fx),
        Msg::Fleet(news) => fleet::hear(model, news, fx),
        Msg::ShellNotice(text) => model.toast(Level::Info, text),
        Msg::Files { query, paths } => {
            let menu = &model.world.seen().abilities.menu;
            let paths = crate::complete::with_mentions(&query, menu, paths);
            model.screen.composer.found(&query, paths);
        }
        Msg::ShellSaid(said) => model.screen.own.said(&said),
        Msg::Shell { line, said, code } => {
            model.screen.own.ended(line, &said, code, model.screen.window.now());
            news::look_at_branch(model, fx);
        }
        Msg::Background { dark } => model.screen.preferences.fit_background(dark),
    }
    asks::settle(model, fx);
    fleet::settle(model, fx);
    wake(model, fx);
}

fn tick(model: &mut Model, now: Millis) {
    if model.screen.window.tick(now) {
        model.screen.asks.clock_went_back(now);
    }
    model.screen.toasts.tick(now);
    model.screen.wishes.tick(now);
    if !model.screen.wishes.is_quitting() {
        model.screen.toasts.over(Topic::Quitting);
    }
    if !model.screen.wishes.is_editing() {
        model.screen.toasts.over(Topic::Editing);
    }
}

/// Asks to be woken when something on the screen changes by time alone. Idle, nothing does.
fn wake(model: &Model, fx: &mut Vec<Fx>) {
    let screen = &model.screen;
    let now = screen.window.now();
    let mut next: Option<u64> = None;
    let mut at = |ms: u64| next = Some(next.map_or(ms, |n| n.min(ms)));
    if model.world.is_running() {
        at(if screen.asks.is_open() { 1_000 } else { SPIN_MS });
    }
    let deadline = model.world.state().asks.iter().any(|ask| ask.deadline.is_some());
    if screen.own.runs() || deadline {
        at(1_000);
    }
    let soon = if let Keyboard::Soon(from) = model.keyboard() { from } else { None };
    let ends = screen.toasts.ends().chain(screen.wishes.ends()).chain(soon).chain(screen.asks.held_until());
    ends.for_each(|until| at(until.since(now).max(1)));
    if let Some(ms) = next {
        fx.push(Fx::Wake(Duration::from_millis(ms)));
    }
}
