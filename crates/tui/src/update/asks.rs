//! What comes of a question: how it goes, what its answers do.

use super::prompt;
use crate::ask::{AskStatus, Keyboard, Moved, Pressed, Reply, TextOwner, page_title};
use crate::key::{Code, Key};
use crate::layout;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::overlay::Content;
use crate::toasts::Topic;
use domain::ask::{Closing, EARLIER_YES};
use domain::command::{Command, shown};
use domain::ids::{AskId, RunId};
use domain::session::Policy;
use domain::signal::Level;

/// What is said of a question that somebody else ended.
const OVER: &str = "the question is over";

/// The question on the screen was closed: says how, unless it was by the person, with what they said or set before.
pub(super) fn closed(model: &mut Model, id: AskId, run: Option<RunId>, closing: &Closing) {
    if !model.screen.asks.close(id) {
        return;
    }
    let how = match closing {
        Closing::Answered { by: Some(by), .. } if by == EARLIER_YES || Policy::named(by).is_some() => return,
        Closing::Withdrawn if model.screen.wishes.has_stopped(run) => return,
        closing => closing.told(),
    };
    model.toast_about(Topic::EarlierQuestion, Level::Info, format!("{OVER}: {how}"));
}

/// Puts the oldest open ask on the screen; one that is over goes.
pub(super) fn settle(model: &mut Model, fx: &mut Vec<Fx>) {
    let now = model.screen.window.now();
    if let Some(reply) = model.screen.asks.release(now) {
        answer(model, reply, fx);
    }
    if model.screen.over.covers_question() {
        model.screen.asks.cover();
    }
    let standing = model.screen.asks.look_after(model.world.state());
    if matches!(standing, AskStatus::Over | AskStatus::Vanished) {
        model.screen.toasts.over(Topic::Question);
        if model.screen.over.shows_question() {
            model.screen.over.close();
        }
    }
    match standing {
        AskStatus::Stays => return,
        // How is not known: the session was shown anew without it.
        AskStatus::Vanished => {
            let words = format!("{OVER}: it was answered elsewhere, withdrawn or it expired");
            model.toast_about(Topic::EarlierQuestion, Level::Info, words);
        }
        AskStatus::Over | AskStatus::Nothing => {}
    }
    if let Some(title) = model.screen.asks.open_next(model.world.state(), now) {
        // What is over does not stand above what is open; it can be read again among the notices.
        model.screen.toasts.over(Topic::EarlierQuestion);
        model.ring(&title, fx);
    }
}

/// A frame is on the screen: what it shows can be seen from now on.
pub(super) fn drawn(model: &mut Model, fx: &mut Vec<Fx>) {
    if !model.screen.over.covers_question() {
        model.screen.asks.drawn(model.screen.window.now());
        for ask in model.screen.asks.say(model.world.state()) {
            fx.push(Fx::Shown(model.outgoing(Want::Shown, shown(ask))));
        }
    }
    if let Some(sight) = layout::page_sight(model) {
        model.screen.asks.viewed(sight);
    }
}

/// What was written in the person's own editor: the answer to the question it was opened for, else the prompt.
pub(super) fn written(model: &mut Model, text: &str) {
    let text = text.trim_end();
    match model.screen.asks.written(text) {
        TextOwner::Answer => {}
        TextOwner::Prompt => model.screen.composer.set(text),
        TextOwner::Late => {
            model.screen.composer.set(text);
            model.toast(Level::Info, "the question is over; what you wrote is in the composer");
        }
    }
}

/// Gives the answer whose key was not held down after all. Any other key tells so at once.
pub(super) fn let_go(model: &mut Model, fx: &mut Vec<Fx>) {
    if let Some(reply) = model.screen.asks.let_go() {
        answer(model, reply, fx);
    }
}

/// Gives the key to the question; `false` when there is none or it does not have the keyboard.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    let keyboard = model.keyboard();
    let now = model.screen.window.now();
    if key == Key::plain(Code::Tab) {
        let moved = model.screen.asks.tab(keyboard, now);
        if moved == Moved::ToQuestion {
            if lone_answer(model).is_some() {
                // It was meant for the question, and was told to be text.
                model.screen.composer.set("");
            }
            model.screen.transcript.end_search();
            model.screen.transcript.deselect();
        }
        return moved != Moved::Nowhere;
    }
    if matches!(keyboard, Keyboard::Soon(_)) && model.screen.asks.views(key, now) {
        answer(model, Reply::Full, fx);
        return true;
    }
    if keyboard != Keyboard::Question {
        return false;
    }
    let offers = layout::offered(model);
    match model.screen.asks.press(model.world.state(), key, &offers, now) {
        Pressed::NotMine => return false,
        Pressed::Letter => {
            let word = "this letter is no answer; Tab goes back to your text";
            model.toast_about(Topic::Question, Level::Info, word);
        }
        Pressed::Reply(reply) => answer(model, reply, fx),
        Pressed::Held => {}
    }
    true
}

/// A key that answers stands alone in the composer: it came when the question had not the keyboard.
fn lone_answer(model: &Model) -> Option<char> {
    let mut letters = model.screen.composer.text().chars();
    let (letter, rest) = (letters.next()?, letters.next());
    let answers = model.screen.asks.is_answer(model.world.state(), letter);
    (rest.is_none() && answers).then_some(letter)
}

/// Says so when a key that would answer was taken as text.
pub(super) fn took_as_text(model: &mut Model, key: Key) {
    if let Some(letter) = lone_answer(model).filter(|letter| key.typed() == Some(*letter)) {
        let word = format!("{letter} was taken as text; Tab, then {letter}");
        model.toast_about(Topic::Question, Level::Info, word);
    }
}

/// A key on the page that shows all of the question.
pub(super) fn page_key(model: &mut Model, key: Key, fx: &mut Vec<Fx>) {
    if matches!(key.code, Code::Esc | Code::F(2) | Code::Char('v' | 'q')) {
        return model.screen.over.close();
    }
    let offers = layout::page_offers(model);
    let now = model.screen.window.now();
    let (pressed, closes) = model.screen.asks.page_press(model.world.state(), key, &offers, now);
    if closes {
        model.screen.over.close();
    }
    if let Pressed::Reply(reply) = pressed {
        answer(model, reply, fx);
    }
}

fn answer(model: &mut Model, reply: Reply, fx: &mut Vec<Fx>) {
    match reply {
        Reply::Nothing | Reply::Writes => {}
        Reply::Answer(answer) => {
            if let Some(ask) = model.screen.asks.answer() {
                model.screen.toasts.over(Topic::Question);
                model.send(Want::Answer, Command::Answer { ask, answer }, fx);
                let here = model.world.current.clone();
                model.screen.fleet.answered(here.as_ref());
            }
        }
        Reply::Full => {
            let shown = model.screen.asks.shown(model.world.state());
            let title = shown.map(|(_, ask)| page_title(ask)).unwrap_or_default();
            model.screen.over.read(title, Content::Ask);
        }
        Reply::Editor => fx.extend(model.screen.asks.edit().map(Fx::OpenEditor)),
        Reply::Stop => {
            // Who stops the run knows why its question goes.
            if model.screen.asks.answer().is_some() {
                prompt::stop(model, fx);
            }
        }
        Reply::Word(word) => model.toast_about(Topic::Question, Level::Info, word),
    }
}
