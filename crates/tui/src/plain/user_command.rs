//! Commands of the person's own (`!`): run outside the agent, told line by line as they write. Pure.

use super::Plain;
use super::words::{aloud, many};
use crate::clean::{clean_line, settled};
use crate::msg::{CommandOutput, Fx, Msg};
use crate::user_command::Escaped;
use domain::prompt_text::OwnEnd;

/// How many lines of what the command wrote were told.
#[derive(Debug, Default)]
pub(super) struct OwnTelling(usize);

impl OwnTelling {
    /// The lines that are whole and were not told; at its end what is left, too. What was written faster than it could be told is counted.
    fn said(&mut self, said: &CommandOutput, over: bool) -> Vec<String> {
        let mut whole: Vec<&str> = said.text.split('\n').collect();
        let rest = whole.pop().unwrap_or_default();
        if over && !rest.is_empty() {
            whole.push(rest);
        }
        let mut lines = Vec::new();
        if said.lost > self.0 {
            lines.push(format!("{} left out.", many((said.lost - self.0) as u64, "line")));
        }
        let from = self.0.saturating_sub(said.lost);
        lines.extend(whole.iter().skip(from).map(|line| clean_line(&settled(line))));
        self.0 = self.0.max(said.lost + whole.len());
        lines
    }
}

impl Plain {
    /// Runs a command, one at a time; without one, what the last one wrote does not go along.
    pub(super) fn own(&mut self, text: &str) {
        let line = text.trim_start_matches('!').trim();
        if self.model.screen.own.runs() {
            return self
                .say(format!("Not run: {}. Your command before still runs, /stop stops it.", aloud(text)));
        }
        if line.is_empty() {
            let dropped = self.model.screen.own.escape() == Escaped::Dropped;
            let words = if dropped {
                "What your command wrote will not be sent with your next prompt."
            } else {
                "Write a command behind the \"!\"."
            };
            return self.say(words.to_owned());
        }
        self.model.screen.own.begin(line, self.now);
        self.own_telling = OwnTelling::default();
        self.say("Your command runs.".to_owned());
        self.out.fx.extend([Fx::SaveHistory(text.to_owned()), Fx::Shell(line.to_owned())]);
    }

    /// Stops the command; `false` when none runs.
    pub(super) fn stop_own(&mut self) -> bool {
        let runs = self.model.screen.own.runs();
        if runs {
            self.model.screen.own.escape();
            self.say("Stopping your command.".to_owned());
            self.out.fx.push(Fx::StopShell);
        }
        runs
    }

    /// Tells what it wrote, and how it ended.
    pub(super) fn own_said(&mut self, msg: &Msg) {
        let (said, code) = match msg {
            Msg::ShellSaid(said) => (said, None),
            Msg::Shell { said, code, .. } => (said, Some(code.map_or(OwnEnd::Stopped, OwnEnd::Code))),
            _ => return,
        };
        let lines = self.own_telling.said(said, code.is_some());
        lines.into_iter().for_each(|line| self.say(line));
        if let Some(end) = code {
            self.say(format!(
                "Your command is over: {end}. It will be sent with your next prompt; \"!\" alone discards it."
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, lost: usize) -> CommandOutput {
        CommandOutput { text: text.to_owned(), lost }
    }

    #[test]
    fn lines_are_told_once_when_they_are_whole_and_what_was_too_fast_is_counted() {
        let mut telling = OwnTelling::default();
        assert_eq!(telling.said(&said("one\ntw", 0), false), ["one"]);
        assert_eq!(telling.said(&said("one\ntwo\n10%\r90%\r\nth\u{1b}[2Jree", 0), false), ["two", "90%"]);
        assert_eq!(telling.said(&said("six\nsev", 5), false), ["2 lines left out.", "six"]);
        assert_eq!(telling.said(&said("six\nseven", 5), true), ["seven"]);
        assert_eq!(OwnTelling::default().said(&said("", 0), true), [""; 0]);
    }
}
