//! The day on the screen: the program is left and started again as a person would, and once it is killed.

use super::*;
use crate::task::Wire;
use rustix::process::{Pid, Signal, kill_process};
use testkit::Screen;

/// What stands in the composer when no run is under way: only then files are taken back.
const IDLE: &str = "ask anything";

struct Day {
    wire: Wire,
    project: Project,
    server: Server,
}

impl Day {
    #[track_caller]
    fn open(&self, args: &[&str]) -> Screen {
        let mut terminal = Screen::start(&mut self.project.parlor(self.wire, &self.server, args));
        let (_, model) = self.wire.model().split_once('/').unwrap();
        terminal.shows(&[model]);
        terminal
    }

    /// Edits, breaks the test, loses a stream; taken back, done again, taken back. Then a command rewrites files, and is taken back.
    fn morning(&self) {
        let mut terminal = self.open(&[]);
        terminal.send(&format!("{MEND}\r"));
        terminal.asks(&["edit sum.sh", "- echo $(( $1 - $2 ))", "+ echo $(( $1 * $2 ))"]);
        terminal.send("y");
        terminal.asks(&["Does the te", "… cut here", "Does the test like it?", "sh test.sh"]);
        terminal.send("y");
        terminal.shows(&["FAILED: 2 and 3 made 6", BROKEN, IDLE]);
        for (what, (says, file), sign) in [
            ("undo", ("Undid", "restored"), '-'),
            ("redo", ("Redid", "changed"), '*'),
            ("undo", ("Undid", "restored"), '-'),
        ] {
            terminal.send(&format!("/{what}\r"));
            terminal.sees(what, || self.project.sum().contains(sign));
            terminal.shows(&[&format!("{says} 1 file change of “{MEND}”"), &format!("{file} sum.sh")]);
        }
        terminal.send(&format!("{REWRITE}\r"));
        terminal.asks(&["rm test.sh"]);
        terminal.send("y");
        terminal.shows(&[REWRITTEN, IDLE]);
        assert!(rewritten(&self.project) && self.project.sum().contains('+'));
        terminal.send("/undo\r");
        terminal.shows(&["Undid 3 file changes", "restored test.sh", "removed new/c"]);
        assert!(is_as_before(&self.project));
        self.leave(terminal);
    }

    /// A budget ends a run; it goes on without one, and the past becomes a summary when the person says so.
    fn afternoon(&self) {
        let mut terminal = self.open(&["--continue", "--max-steps", "1"]);
        terminal.shows(&["removed new/c"]);
        terminal.send(&format!("{LIST}\r"));
        terminal.shows(&[
            "The budget is used up: the model was asked 1 of 1 times for this prompt.",
            "--max-steps",
        ]);
        self.leave(terminal);
        let mut terminal = self.open(&["--continue"]);
        terminal.send(&format!("{GO_ON}\r"));
        terminal.shows(&[LISTED, IDLE]);
        terminal.send("/compact keep the names\r");
        // It is told with what the provider has counted.
        terminal.shows(&["Older messages were summarised (as you asked; 900"]);
        let asked = self.server.last().to_string();
        assert!(asked.contains("The person asks to keep in mind: keep the names"), "{asked}");
        terminal.send(&format!("{TRY}\r"));
        terminal.asks(&["rm test.sh"]);
        terminal.send("y");
        terminal.sees("the command at work", || half_done(&self.project));
        kill_process(Pid::from_child(terminal.child()), Signal::KILL).unwrap();
        assert_eq!(terminal.code(), None);
    }

    /// It goes on with all of it, and the half command is taken back too.
    fn night(&self) {
        let mut terminal = self.open(&["--continue"]);
        terminal.shows(&["Older messages were summarised", TRY, "nobody knows how far it came"]);
        terminal.send(&format!("{BACK}\r"));
        terminal.shows(&[RETURNED, IDLE]);
        assert!(half_done(&self.project), "nobody took it back yet");
        terminal.send("/undo\r");
        terminal.shows(&["Undid 2 file changes", "removed half"]);
        assert!(is_as_before(&self.project));
        self.leave(terminal);
        told_all(&self.server);
    }

    #[track_caller]
    fn leave(&self, mut terminal: Screen) {
        terminal.send("\x04");
        assert!(terminal.finish(), "it ends well");
        assert_eq!(self.server.trouble(), Vec::<String>::new());
    }
}

#[track_caller]
fn day(wire: Wire) {
    let day = Day { wire, project: Project::new(), server: Server::start(wire, script()) };
    day.morning();
    day.afternoon();
    day.night();
}

#[test]
fn a_day_through_anthropic_messages() {
    day(Wire::Anthropic);
}

#[test]
fn a_day_through_openai_chat_completions() {
    day(Wire::OpenAiChat);
}

#[test]
fn a_day_through_openai_responses() {
    day(Wire::OpenAiResponses);
}

#[test]
fn a_day_through_gemini() {
    day(Wire::Gemini);
}
