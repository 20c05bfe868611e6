//! Commands of the person's own (`!`): run outside the agent, never in the way of typing; their output goes along with the next prompt.

use crate::model::{Model, Ran};
use crate::msg::Fx;
use domain::prompt_text::{self, OwnEnd};
use domain::signal::Level;

/// Bytes of a command's output that go along with a prompt.
const MAX_RAN: usize = 32 * 1024;

/// Runs a command; one at a time.
pub(super) fn run(model: &mut Model, text: &str, line: &str, fx: &mut Vec<Fx>) {
    if line.is_empty() {
        return model.toast(Level::Info, "write a command behind the !");
    }
    if model.screen.ran.as_ref().is_some_and(Ran::runs) {
        model.screen.composer.set(text);
        return model.toast(Level::Info, "your command before still runs; Esc stops it");
    }
    let since = model.screen.now;
    let ran = Ran { line: line.to_owned(), output: String::new(), since, stopping: false, end: None };
    model.screen.ran = Some(ran);
    fx.push(Fx::Shell(line.to_owned()));
}

/// What the command has written so far.
pub(super) fn said(model: &mut Model, output: &str) {
    if let Some(ran) = model.screen.ran.as_mut().filter(|ran| ran.runs()) {
        ran.output = kept(output);
    }
}

/// The command is over.
pub(super) fn ended(model: &mut Model, line: String, output: &str, code: Option<i32>) {
    let end = code.map_or(OwnEnd::Stopped, OwnEnd::Code);
    let (since, output) = (model.screen.now, kept(output));
    model.screen.ran = Some(Ran { line, output, since, stopping: false, end: Some(end) });
}

/// Stops a running command, drops the output of one that is over; `false` when there is neither.
pub(super) fn escape(model: &mut Model, fx: &mut Vec<Fx>) -> bool {
    match &mut model.screen.ran {
        None => return false,
        Some(ran) if ran.runs() => {
            ran.stopping = true;
            fx.push(Fx::StopShell);
        }
        Some(_) => {
            model.screen.ran = None;
            model.toast(Level::Info, "the output does not go along with your prompt");
        }
    }
    true
}

/// A prompt with the output of the command before it, when there is one; a command that still runs keeps its own.
pub(super) fn along(model: &mut Model, text: String) -> String {
    match model.screen.ran.take() {
        Some(Ran { line, output, end: Some(end), .. }) => {
            prompt_text::with_own_command(&line, end, &output, &text)
        }
        running => {
            model.screen.ran = running;
            text
        }
    }
}

/// The end of the output, clean, as much as goes along.
fn kept(output: &str) -> String {
    let output = crate::clean::clean(output);
    let output = output.trim_end();
    let from = output.len().saturating_sub(MAX_RAN);
    let from = (from..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    if from > 0 { format!("… (the beginning is cut)\n{}", &output[from..]) } else { output.to_owned() }
}
