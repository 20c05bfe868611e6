//! Commands of the person's own (`!`): run outside the agent, never in the way of typing; their output goes along with the next prompt.

use crate::clean::{clean, settled};
use crate::msg::CommandOutput;
use domain::ids::Millis;
use domain::prompt_text::{self, OwnEnd};

/// Bytes of a command's output that go along with a prompt.
const MAX_OUTPUT: usize = 32 * 1024;
/// What the model reads where the beginning is not kept.
const CUT: &str = "… (the beginning is cut)\n";

/// A command that the person ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) line: String,
    /// The end of what it wrote, clean.
    pub(crate) output: String,
    /// Lines before that which are not kept.
    pub(crate) lost: usize,
    pub(crate) since: Millis,
    /// Whether it was asked to end.
    pub(crate) stopping: bool,
    /// How it ended; `None` while it runs.
    pub(crate) end: Option<OwnEnd>,
    /// Whether it was dropped: it can be read, and does not go along.
    pub(crate) dropped: bool,
    /// Whether the selection stands on it.
    pub(crate) selected: bool,
}

impl Ran {
    /// Whether there is something to open.
    pub(crate) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// How many lines it wrote.
    pub(crate) fn lines(&self) -> usize {
        self.lost + self.output.lines().count()
    }
}

/// What Esc did to the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Escaped {
    /// None runs, and no output waits.
    Nothing,
    /// It is asked to end.
    Stopping,
    /// Its output does not go along with the next prompt.
    Dropped,
}

/// The command under way, or the output of the last one.
#[derive(Debug, Default)]
pub(crate) struct OwnCommand(Option<Ran>);

impl OwnCommand {
    /// What is told of it above the composer.
    pub(crate) fn shown(&self) -> Option<&Ran> {
        self.0.as_ref()
    }

    /// Whether one is under way.
    pub(crate) fn runs(&self) -> bool {
        self.0.as_ref().is_some_and(|ran| ran.end.is_none())
    }

    /// One begins; what the last one wrote is gone.
    pub(crate) fn begin(&mut self, line: &str, now: Millis) {
        let line = line.to_owned();
        self.0 = Some(Ran {
            line,
            output: String::new(),
            lost: 0,
            since: now,
            stopping: false,
            end: None,
            dropped: false,
            selected: false,
        });
    }

    /// What the command has written so far.
    pub(crate) fn said(&mut self, said: &CommandOutput) {
        if let Some(ran) = self.0.as_mut().filter(|ran| ran.end.is_none()) {
            (ran.output, ran.lost) = kept(said);
        }
    }

    /// The command is over, with this exit code; without one it was stopped.
    pub(crate) fn ended(&mut self, line: String, said: &CommandOutput, code: Option<i32>, now: Millis) {
        let end = Some(code.map_or(OwnEnd::Stopped, OwnEnd::Code));
        let (output, lost) = kept(said);
        let selected = self.is_selected() && !output.is_empty();
        self.0 = Some(Ran { line, output, lost, since: now, stopping: false, end, dropped: false, selected });
    }

    /// Whether the selection stands on what it wrote.
    pub(crate) fn is_selected(&self) -> bool {
        self.0.as_ref().is_some_and(|ran| ran.selected)
    }

    /// Puts the selection on what it wrote; `false` when there is nothing.
    pub(crate) fn select(&mut self) -> bool {
        let Some(ran) = self.0.as_mut().filter(|ran| ran.has_output()) else { return false };
        ran.selected = true;
        true
    }

    /// Takes the selection off it.
    pub(crate) fn deselect(&mut self) {
        self.0.iter_mut().for_each(|ran| ran.selected = false);
    }

    /// Stops a running command, drops the output of one that is over; it can be read until the next prompt.
    pub(crate) fn escape(&mut self) -> Escaped {
        match &mut self.0 {
            None => Escaped::Nothing,
            Some(ran) if ran.end.is_none() => {
                ran.stopping = true;
                Escaped::Stopping
            }
            Some(ran) if ran.dropped => Escaped::Nothing,
            Some(ran) => {
                ran.dropped = true;
                Escaped::Dropped
            }
        }
    }

    /// A prompt with the output of the command before it, when there is one; a command that still runs keeps its own.
    pub(crate) fn along(&mut self, text: String) -> String {
        match self.0.take() {
            Some(Ran { dropped: true, .. }) => text,
            Some(Ran { line, output, lost, end: Some(end), .. }) => {
                let cut = if lost > 0 { CUT } else { "" };
                prompt_text::with_own_command(&line, end, &format!("{cut}{output}"), &text)
            }
            running => {
                self.0 = running;
                text
            }
        }
    }
}

/// The end of the output, clean, as much as goes along; and how many lines came before it.
fn kept(said: &CommandOutput) -> (String, usize) {
    let output = settled(&said.text);
    let output = clean(&output);
    let output = output.trim_end();
    let from = output.len().saturating_sub(MAX_OUTPUT);
    if from == 0 {
        return (output.to_owned(), said.lost);
    }
    let from = (from..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or(0);
    // A line that is not whole is not kept, unless it is all there is.
    let from = output[from..].find('\n').map_or(from, |end| from + end + 1);
    (output[from..].to_owned(), said.lost + output[..from].matches('\n').count())
}
