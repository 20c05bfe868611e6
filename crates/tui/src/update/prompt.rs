//! Prompts on their way: said, queued, steered, stopped, given back.

use crate::composer::joined;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::toasts::Topic;
use domain::command::{Command, PromptOptions, QueueCommand, RunCommand, WhenBusy};
use domain::content::Input;
use domain::ids::SessionId;
use domain::queue::QueueKind;
use domain::signal::Level;

/// How a text is to be heard while a run is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// After what the model is doing.
    FollowUp,
    /// As soon as it can hear.
    Steer,
}

/// Says a text to the model.
pub(super) fn say(model: &mut Model, text: String, manner: Manner, fx: &mut Vec<Fx>) {
    model.screen.transcript.leave();
    model.screen.toasts.over(Topic::Prompt);
    // Who says something there stays there.
    model.screen.fleet.ends_errand();
    let attachments = model.screen.composer.take_attached();
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
            None => model.screen.composer.give_back(&input.text),
        }
    } else if model.world.is_running() {
        match model.screen.wishes.say_later(input) {
            Ok(()) => {
                model.toast_about(Topic::Run, Level::Info, "it is said as soon as the run has stopped");
            }
            Err(input) => model.screen.composer.give_back(&input.text),
        }
    } else {
        prompt(model, input, fx);
    }
}

/// The run is over: what was written while it was being stopped is said now, or put away with all the rest.
pub(super) fn after_run(model: &mut Model, fx: &mut Vec<Fx>) {
    for input in model.screen.wishes.take_later() {
        if model.screen.wishes.puts_away() {
            put_away(model, input.text, fx);
        } else {
            prompt(model, input, fx);
        }
    }
}

/// Nobody will hear what was written for the end of the run: it comes back.
pub(super) fn give_back_afterwards(model: &mut Model) {
    for input in model.screen.wishes.take_later().into_iter().rev() {
        model.screen.composer.give_back(&input.text);
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
        1 => "stopping the run; what waited comes back to the composer (Esc again discards it)".to_owned(),
        n => format!("stopping the run; the {n} texts that waited come back (Esc again discards them)"),
    };
    model.toast_about(Topic::Run, Level::Info, word);
    model.screen.wishes.stop_once(model.screen.window.now());
    cancel(model, fx);
}

/// Asks the runtime to stop what it does.
pub(super) fn cancel(model: &mut Model, fx: &mut Vec<Fx>) {
    let run = model.world.state().open_run().map(|run| run.id);
    model.screen.wishes.stop(run);
    model.send(Want::Nothing, Command::Run(RunCommand::Cancel { run, reason: None }), fx);
}

/// Makes a text the newest of the earlier prompts, also after a restart.
pub(super) fn put_away(model: &mut Model, text: String, fx: &mut Vec<Fx>) {
    model.screen.composer.remember(text.clone());
    fx.push(Fx::SaveHistory(text));
}
