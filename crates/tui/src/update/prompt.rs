//! Prompts on their way: said, queued, steered, stopped, given back.

use super::shell;
use crate::ask::{Focus, Keyboard, keyboard};
use crate::model::{Model, TWICE_MS, Want};
use crate::msg::{Begin, Fx};
use crate::picker::ListKind;
use crate::transcript::Scroll;
use domain::command::{Command, PromptOptions, QueueCommand, RunCommand, WhenBusy};
use domain::content::{Input, Part};
use domain::ids::{Millis, SessionId};
use domain::port::LinkState;
use domain::queue::QueueKind;
use domain::signal::Level;

/// Pictures that go along with one prompt at most.
const MAX_ATTACHED: usize = 8;

/// Texts that wait until a run has stopped at most; one more stays in the composer.
const MAX_AFTERWARDS: usize = 32;

/// How a text is to be heard while a run is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// After what the model is doing.
    FollowUp,
    /// As soon as it can hear.
    Steer,
}

/// Pasted text goes where the person writes: into a field of the question only when its caret can be seen there, never answering it.
pub(super) fn paste(model: &mut Model, text: &str, fx: &mut Vec<Fx>) {
    super::asks::let_go(model, fx);
    let asked = keyboard(model) == Keyboard::Question && model.screen.overlay.is_none();
    let state = model.world.state();
    let field = model
        .screen
        .ask
        .as_mut()
        .filter(|panel| asked && state.ask(panel.id).is_some_and(|ask| panel.has_field(ask)));
    if let Some(panel) = field {
        panel.focus = Focus::Question;
        return panel.editor.paste(text);
    }
    super::asks::writes(model);
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
pub(super) fn attach(model: &mut Model, name: String, part: Part) {
    if model.screen.attached.len() >= MAX_ATTACHED {
        return model
            .toast(Level::Warning, format!("at most {MAX_ATTACHED} pictures go along with a prompt"));
    }
    model.screen.attached.push((crate::clean::clean_line(&name), part));
}

/// What the UI was started with.
pub(super) fn begin(model: &mut Model, begin: Begin, fx: &mut Vec<Fx>) {
    match begin {
        Begin::Sessions => super::lists::open(model, ListKind::Sessions, fx),
        Begin::Prompt(text) => say(model, text, Manner::FollowUp, fx),
    }
}

/// Sends what stands in the composer.
pub(super) fn submit(model: &mut Model, manner: Manner, fx: &mut Vec<Fx>) {
    if model.screen.composer.text().trim().is_empty() {
        return;
    }
    let text = model.screen.composer.take().trim_end().to_owned();
    model.screen.completion = None;
    model.screen.suggestion = None;
    model.screen.history.remember(text.clone());
    fx.push(Fx::SaveHistory(text.clone()));
    if let Some(line) = text.strip_prefix('!') {
        return shell::run(model, &text, line.trim(), fx);
    }
    if super::commands::execute(model, text.trim(), fx) {
        return;
    }
    if matches!(model.world.link, LinkState::Lost(_)) {
        model.screen.composer.set(text);
        return model.toast(Level::Warning, "the runtime is gone: your text stays here until it is back");
    }
    let text = shell::along(model, text);
    say(model, text, manner, fx);
}

/// Says a text to the model.
pub(super) fn say(model: &mut Model, text: String, manner: Manner, fx: &mut Vec<Fx>) {
    model.screen.scroll = Scroll::Tail;
    model.screen.selected = None;
    let attachments = model.screen.attached.drain(..).map(|(_, part)| part).collect();
    let input = Input { text, attachments };
    if !model.world.is_running() {
        return prompt(model, input, fx);
    }
    let kind = match manner {
        Manner::FollowUp => QueueKind::FollowUp,
        Manner::Steer => QueueKind::Steer,
    };
    let want = Want::Waits(model.world.current.clone(), input.clone());
    model.send(want, Command::Queue(QueueCommand::Add { kind, input }), fx);
}

fn prompt(model: &mut Model, input: Input, fx: &mut Vec<Fx>) {
    let want = Want::Said(input.text.clone());
    let options = PromptOptions { when_busy: WhenBusy::Queue, ..Default::default() };
    model.send(want, Command::Run(RunCommand::Prompt { input, options }), fx);
}

/// The run that an input should have waited for was over, or about to be, when the runtime heard of it: it is a prompt then.
pub(super) fn say_anew(model: &mut Model, session: Option<&SessionId>, input: Input, fx: &mut Vec<Fx>) {
    if session != model.world.current.as_ref() {
        // The person has gone to another session meanwhile: it waits in the one that it was for.
        match session.and_then(|session| model.world.sessions.get_mut(session)) {
            Some(seen) => seen.draft = joined(&input.text, &seen.draft),
            None => give_back(model, &input.text),
        }
    } else if model.world.is_running() {
        if model.screen.afterwards.len() >= MAX_AFTERWARDS {
            return give_back(model, &input.text);
        }
        model.screen.afterwards.push(input);
        model.toast(Level::Info, "it is said as soon as the run has stopped");
    } else {
        prompt(model, input, fx);
    }
}

/// The run is over: what was written while it was being stopped is said now, or put away with all the rest.
pub(super) fn after_run(model: &mut Model, fx: &mut Vec<Fx>) {
    for input in std::mem::take(&mut model.screen.afterwards) {
        if model.screen.put_away {
            put_away(model, input.text, fx);
        } else {
            prompt(model, input, fx);
        }
    }
}

/// Nobody will hear what was written for the end of the run: it comes back.
pub(super) fn give_back_afterwards(model: &mut Model) {
    for input in std::mem::take(&mut model.screen.afterwards).into_iter().rev() {
        give_back(model, &input.text);
    }
}

/// Stops the run under way.
pub(super) fn stop(model: &mut Model, fx: &mut Vec<Fx>) {
    if !model.world.is_running() {
        return;
    }
    let waiting = model.world.state().queues.all().count();
    let word = match waiting {
        0 => "stopping the run".to_owned(),
        1 => "stopping the run; what waited comes back to the composer (Esc again drops it)".to_owned(),
        n => format!("stopping the run; the {n} texts that waited come back (Esc again drops them)"),
    };
    model.toast(Level::Info, word);
    model.screen.all_until = Some(Millis(model.screen.now.0 + TWICE_MS));
    cancel(model, fx);
}

/// Asks the runtime to stop what it does.
pub(super) fn cancel(model: &mut Model, fx: &mut Vec<Fx>) {
    let run = model.world.state().open_run().map(|run| run.id);
    model.screen.stopped = run;
    model.send(Want::Nothing, Command::Run(RunCommand::Cancel { run, reason: None }), fx);
}

/// Makes a text the newest of the earlier prompts, also after a restart.
pub(super) fn put_away(model: &mut Model, text: String, fx: &mut Vec<Fx>) {
    model.screen.history.remember(text.clone());
    fx.push(Fx::SaveHistory(text));
}

/// Gives a text that was not heard back to the composer, before what stands there.
pub(super) fn give_back(model: &mut Model, text: &str) {
    let composer = &mut model.screen.composer;
    composer.set(joined(text, &composer.unfolded()));
}

fn joined(text: &str, kept: &str) -> String {
    if kept.is_empty() { text.to_owned() } else { format!("{text}\n{kept}") }
}
