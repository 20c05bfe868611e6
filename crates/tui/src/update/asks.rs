//! Which question stands on the screen, who has the keyboard, and what comes of its answers.

use crate::ask::{
    self, Answered, AskPanel, Focus, HELD_MS, Held, Keyboard, PanelMode, Reply, SEEN_MS, Waits, keyboard,
};
use crate::key::{Code, Key};
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::overlay::{Content, Overlay, Pager};
use crate::view;
use domain::ask::{Closing, EARLIER_YES};
use domain::command::Command;
use domain::ids::{AskId, Millis, RunId};
use domain::session::Policy;
use domain::signal::Level;

/// What is said of a question that somebody else ended.
const OVER: &str = "the question is over";

/// The question on the screen was closed: says how, unless it was by the person, with what they said or set before.
pub(super) fn closed(model: &mut Model, id: AskId, run: Option<RunId>, closing: &Closing) {
    let stopped = model.screen.stopped.is_some_and(|stopped| run.is_none_or(|run| run == stopped));
    let Some(panel) = model.screen.ask.as_mut().filter(|panel| panel.id == id && !panel.answered) else {
        return;
    };
    // Nothing more is said about it when it goes.
    panel.answered = true;
    let how = match closing {
        Closing::Answered { by: Some(by), .. } if by == EARLIER_YES || Policy::named(by).is_some() => return,
        Closing::Answered { by: Some(by), .. } => format!("{by} answered it"),
        Closing::Answered { by: None, .. } => "it was answered elsewhere".to_owned(),
        Closing::Withdrawn if stopped => return,
        Closing::Withdrawn => "it was withdrawn".to_owned(),
        Closing::Expired => "it expired".to_owned(),
        Closing::Unattended => "nobody could be asked".to_owned(),
    };
    model.toast(Level::Info, format!("{OVER}: {how}"));
}

/// Puts the oldest open ask on the screen; one that is over goes.
pub(super) fn settle(model: &mut Model, fx: &mut Vec<Fx>) {
    release(model, fx);
    let covered = ask::is_covered(model);
    if let Some(panel) = &mut model.screen.ask {
        if covered {
            panel.shown_at = None;
        }
        if model.world.state().ask(panel.id).is_some() {
            return;
        }
        let unanswered = !panel.answered;
        model.screen.ask = None;
        if matches!(&model.screen.overlay, Some(Overlay::Pager(pager)) if pager.content == Content::Ask) {
            model.screen.overlay = None;
        }
        if unanswered {
            // How is not known: the session was shown anew without it.
            model.toast(Level::Info, format!("{OVER}: it was answered elsewhere, withdrawn or it expired"));
        }
    }
    let (now, before) = (model.screen.now, model.screen.last_answer);
    if let Some(ask) = model.world.state().asks.first() {
        let title = ask.title.clone();
        model.screen.ask = Some(AskPanel::open(ask, now, before));
        model.ring(&title, fx);
    }
}

/// A frame is on the screen: what it shows can be seen from now on.
pub(super) fn drawn(model: &mut Model) {
    if ask::is_unseen(model) {
        let now = model.screen.now;
        model.screen.ask.iter_mut().for_each(|panel| panel.shown_at = Some(now));
    }
}

/// The terminal is ours again: nobody saw the question meanwhile, but for the one whose answer they were writing.
pub(super) fn back(model: &mut Model) {
    let edited = model.screen.edited;
    if let Some(panel) = model.screen.ask.as_mut().filter(|panel| edited != Some(panel.id)) {
        panel.shown_at = None;
        panel.in_a_row = false;
        writes(model);
    }
}

/// The clock went back: what was is taken for now, so that nobody waits for a time that is long gone.
pub(super) fn clock_went_back(model: &mut Model) {
    let now = model.screen.now;
    model.screen.typed_at = model.screen.typed_at.map(|at| at.min(now));
    model.screen.last_answer = None;
    if let Some(panel) = &mut model.screen.ask {
        panel.shown_at = panel.shown_at.map(|at| at.min(now));
    }
}

/// The person writes: what they say to the question next, they say when they are done.
pub(super) fn writes(model: &mut Model) {
    model.screen.typed_at = Some(model.screen.now);
    model.screen.last_answer = None;
    if let Some(panel) = model.screen.ask.as_mut().filter(|panel| panel.focus == Focus::Question) {
        panel.focus = Focus::Auto;
    }
}

/// What was written in the person's own editor: the answer to the question it was opened for, else the prompt.
pub(super) fn written(model: &mut Model, text: &str) {
    let text = text.trim_end();
    match (model.screen.edited.take(), &mut model.screen.ask) {
        (None, _) => model.screen.composer.set(text),
        (Some(id), Some(panel)) if panel.id == id && !panel.answered => panel.editor.set(text),
        (Some(_), _) => {
            model.screen.composer.set(text);
            model.toast(Level::Info, "the question is over; what you wrote is in the composer");
        }
    }
}

/// Whether the key is held down since it answered a question. It means nothing then, and takes back what it meant a moment ago.
pub(super) fn is_held_down(model: &mut Model, key: Key) -> bool {
    let now = model.screen.now;
    let Some(last) = model.screen.last_answer.as_mut() else { return false };
    if last.key != key || now.since(last.at) >= HELD_MS {
        return false;
    }
    last.at = now;
    model.screen.ask.iter_mut().for_each(|panel| panel.held = None);
    true
}

/// Gives the answer whose key was not held down after all. Any other key tells so at once.
pub(super) fn let_go(model: &mut Model, fx: &mut Vec<Fx>) {
    if let Some(held) = model.screen.ask.as_mut().and_then(|panel| panel.held.take()) {
        answer(model, held.reply, fx);
    }
}

/// The same, when enough time has passed.
fn release(model: &mut Model, fx: &mut Vec<Fx>) {
    let now = model.screen.now;
    if model.screen.ask.as_ref().and_then(|panel| panel.held.as_ref()).is_some_and(|held| held.until <= now) {
        let_go(model, fx);
    }
}

/// Gives the key to the question; `false` when there is none or it does not have the keyboard.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    let keyboard = keyboard(model);
    if key == Key::plain(Code::Tab) {
        return moves(model, keyboard);
    }
    if keyboard != Keyboard::Question {
        return false;
    }
    let offers = view::offered(model);
    let Some(panel) = model.screen.ask.as_mut() else { return false };
    let Some(ask) = model.world.state().ask(panel.id) else { return false };
    let unused = panel.focus == Focus::Auto;
    let reply = panel.key(ask, key, &offers);
    match reply {
        // Who has not used the question yet and begins with another letter writes a prompt.
        Reply::Writes if unused => return false,
        Reply::Writes => {
            model.toast(Level::Info, "the keys of the question are in its last line; Tab goes back");
        }
        // A letter that this question does not offer may be the first of a word: what follows it is no answer.
        reply @ Reply::Word(_) if unused => {
            model.screen.typed_at = Some(model.screen.now);
            take(model, reply, key, unused, fx);
        }
        reply => {
            panel.focus = Focus::Question;
            if reply == Reply::Full {
                model.screen.typed_at = Some(model.screen.now);
            }
            take(model, reply, key, unused, fx);
        }
    }
    true
}

/// Tab: moves the keyboard to the question, and back to where the person writes.
fn moves(model: &mut Model, keyboard: Keyboard) -> bool {
    let now = model.screen.now;
    let Some(panel) = model.screen.ask.as_mut() else { return false };
    match keyboard {
        Keyboard::Question => panel.focus = Focus::Composer,
        // Nobody moves to what they cannot have seen: this Tab is meant for something else.
        Keyboard::Waits(Waits::Text | Waits::Reading | Waits::Left) | Keyboard::Soon(Some(_))
            if panel.seen_at().is_some_and(|at| at <= now) =>
        {
            panel.focus = Focus::Question;
            model.screen.search = None;
            model.screen.selected = None;
        }
        Keyboard::Waits(_) | Keyboard::Soon(_) | Keyboard::Composer => return false,
    }
    true
}

/// A key on the page that shows all of the question; `false` when it is none of the page's.
pub(super) fn page_key(model: &mut Model, key: Key, fx: &mut Vec<Fx>) {
    if matches!(key.code, Code::Esc | Code::Char('v' | 'q')) {
        model.screen.overlay = None;
        return;
    }
    // Nobody can have read the page in that time: this key belongs to the one that opened it.
    if model.screen.typed_at.is_some_and(|at| model.screen.now.since(at) < SEEN_MS) {
        return;
    }
    let offers = view::page_offers(model);
    let Some(panel) = model.screen.ask.as_mut().filter(|panel| !panel.answered) else { return };
    let Some(ask) = model.world.state().ask(panel.id) else { return };
    match panel.key(ask, key, &offers) {
        Reply::Writes | Reply::Full | Reply::Editor | Reply::Word(_) => {}
        reply => {
            if reply != Reply::Nothing || panel.mode == PanelMode::Reason {
                model.screen.overlay = None;
            }
            take(model, reply, key, false, fx);
        }
    }
}

/// Does what came of a key, or waits a moment with it when the key may be held down.
fn take(model: &mut Model, reply: Reply, key: Key, by_itself: bool, fx: &mut Vec<Fx>) {
    let now = model.screen.now;
    let again = model.screen.last_answer.is_some_and(|last| last.key == key);
    let answers = matches!(reply, Reply::Answer(_) | Reply::Stop);
    model.screen.last_answer = answers.then_some(Answered { key, at: now, moved: !by_itself });
    match model.screen.ask.as_mut().filter(|_| answers && again) {
        Some(panel) => panel.held = Some(Held { reply, key, until: Millis(now.0 + HELD_MS) }),
        None => answer(model, reply, fx),
    }
}

fn answer(model: &mut Model, reply: Reply, fx: &mut Vec<Fx>) {
    let Some(panel) = model.screen.ask.as_mut() else { return };
    let id = panel.id;
    match reply {
        Reply::Nothing | Reply::Writes => {}
        Reply::Answer(answer) => {
            panel.answered = true;
            model.send(Want::Answer, Command::Answer { ask: id, answer }, fx);
        }
        Reply::Full => {
            let title = model.world.state().ask(id).map(|ask| crate::clean::clean_line(&ask.title));
            let page = Pager::new(title.unwrap_or_default(), Content::Ask);
            model.screen.overlay = Some(Overlay::Pager(page));
        }
        Reply::Editor => {
            fx.push(Fx::OpenEditor(panel.editor.unfolded()));
            model.screen.edited = Some(id);
        }
        Reply::Stop => {
            // Who stops the run knows why its question goes.
            panel.answered = true;
            super::prompt::stop(model, fx);
        }
        Reply::Word(word) => model.toast(Level::Info, word),
    }
}
