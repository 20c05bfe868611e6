//! Commands of the person's own (`!`): begun and stopped, one at a time.

use crate::clean::clean_line;
use crate::model::Model;
use crate::msg::Fx;
use crate::overlay::Content;
use crate::toasts::Topic;
use crate::user_command::Escaped;
use domain::signal::Level;

/// Runs a command; one at a time.
pub(super) fn run(model: &mut Model, text: &str, line: &str, fx: &mut Vec<Fx>) {
    if line.is_empty() {
        return model.toast(Level::Info, "write a command behind the !");
    }
    if model.screen.own.runs() {
        model.screen.composer.set(text);
        return model.toast(Level::Info, "your command before still runs; Esc stops it");
    }
    model.screen.own.begin(line, model.screen.window.now());
    fx.push(Fx::Shell(line.to_owned()));
}

/// Stops a running command, drops the output of one that is over; `false` when there is neither.
pub(super) fn escape(model: &mut Model, fx: &mut Vec<Fx>) -> bool {
    match model.screen.own.escape() {
        Escaped::Nothing => return false,
        Escaped::Stopping => fx.push(Fx::StopShell),
        Escaped::Dropped => {
            let ran = model.screen.own.shown();
            let line = ran.map(|ran| format!("$ {}: its output was not sent", ran.line)).unwrap_or_default();
            model.notice(Level::Info, &line);
            let word = "the output will not be sent with your prompt";
            model.toast_about(Topic::Prompt, Level::Info, word);
        }
    }
    true
}

/// Shows all that is kept of what the command wrote.
pub(super) fn open(model: &mut Model) {
    let Some(ran) = model.screen.own.shown() else { return };
    let title = format!("$ {}", clean_line(&ran.line));
    model.screen.over.read(title, Content::Own);
}
