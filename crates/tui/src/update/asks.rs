//! Which question stands on the screen, and what comes of its answers.

use crate::ask::{AskPanel, GRACE_MS, Reply};
use crate::key::Key;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::overlay::{Content, Overlay, Pager};
use domain::command::Command;
use domain::ids::Millis;
use domain::signal::Level;

/// Puts the oldest open ask on the screen; one that is over goes.
pub(super) fn settle(model: &mut Model, fx: &mut Vec<Fx>) {
    if let Some(panel) = &model.screen.ask {
        if model.world.state().ask(panel.id).is_some() {
            return;
        }
        let unanswered = !panel.answered;
        model.screen.ask = None;
        if matches!(&model.screen.overlay, Some(Overlay::Pager(pager)) if pager.content == Content::Ask) {
            model.screen.overlay = None;
        }
        if unanswered {
            model.toast(
                Level::Info,
                "the question is over: it was answered elsewhere, withdrawn or it expired",
            );
        }
    }
    let now = model.screen.now;
    if let Some(ask) = model.world.state().asks.first() {
        let title = ask.title.clone();
        model.screen.ask = Some(AskPanel::open(ask, now));
        model.ring(&title, fx);
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

/// Gives the key to the question; `false` when there is none or its keys do not count yet.
pub(super) fn press(model: &mut Model, key: Key, fx: &mut Vec<Fx>) -> bool {
    let now = model.screen.now;
    let Some(panel) = model.screen.ask.as_mut() else { return false };
    if !panel.is_armed(now) {
        // Someone is typing: the question waits for a pause.
        panel.armed_at = Millis(now.0 + GRACE_MS);
        return false;
    }
    let (world, id) = (&model.world, panel.id);
    let Some(ask) = world.state().ask(id).filter(|_| !panel.answered) else { return false };
    match panel.key(ask, key) {
        Reply::Nothing => {}
        Reply::Answer(answer) => {
            panel.answered = true;
            model.send(Want::Answer, Command::Answer { ask: id, answer }, fx);
        }
        Reply::Full => {
            let title = crate::clean::clean_line(&ask.title);
            model.screen.overlay = Some(Overlay::Pager(Pager::new(title, Content::Ask)));
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
    true
}
