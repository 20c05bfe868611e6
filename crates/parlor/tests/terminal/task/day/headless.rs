//! The day without a screen: every prompt is a program of its own.

use super::*;
use crate::task::{Wire, until};
use serde_json::Value;
use std::process::{Output, Stdio};

const ALLOWED: [&str; 4] = ["run", "--json", "--allow", "edit,bash"];

struct Day {
    wire: Wire,
    project: Project,
    server: Server,
}

impl Day {
    /// Says something; gives the lines of `--json` and the last of them.
    #[track_caller]
    fn prompt(&self, more: &[&str], prompt: &str, code: i32) -> (String, Value) {
        let args = [&ALLOWED, more, &[prompt]].concat();
        let (out, err) =
            self.said(&self.project.parlor(self.wire, &self.server, &args).output().unwrap(), code);
        let last: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        assert_eq!(last["result"]["exit_code"], json!(code), "{out}\n{err}");
        (out, last["result"].clone())
    }

    /// `parlor sessions …` about the newest conversation.
    #[track_caller]
    fn sessions(&self, what: &str) -> String {
        self.said(&self.project.bare(&["sessions", what]).output().unwrap(), 0).0
    }

    #[track_caller]
    fn said(&self, output: &Output, code: i32) -> (String, String) {
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (words(&output.stdout), words(&output.stderr));
        assert_eq!(self.server.trouble(), Vec::<String>::new(), "{:?} {err}", self.wire);
        assert_eq!(output.status.code(), Some(code), "{:?} {out}\n{err}", self.wire);
        (out, err)
    }

    /// Edits, breaks the test, loses a stream; taken back, done again, taken back.
    fn morning(&self) {
        let (out, result) = self.prompt(&[], MEND, 0);
        assert!(self.project.sum().contains('*'));
        assert!(out.contains(r#""retrying":"#) && out.contains(r#""finish":"cut""#), "{out}");
        assert!(out.contains("FAILED: 2 and 3 made 6"), "{out}");
        assert!(result["text"].as_str().unwrap().contains(BROKEN), "{result}");
        let diff = self.sessions("diff");
        assert!(diff.contains("-echo $(( $1 - $2 ))\n+echo $(( $1 * $2 ))"), "{diff}");
        for (what, (says, file), sign) in [
            ("undo", ("Undid", "restored"), '-'),
            ("redo", ("Redid", "changed"), '*'),
            ("undo", ("Undid", "restored"), '-'),
        ] {
            let told = self.sessions(what);
            assert!(
                told.contains(says) && told.contains(MEND) && told.contains(&format!("{file} sum.sh")),
                "{told}"
            );
            assert!(self.project.sum().contains(sign), "{}", self.project.sum());
        }
    }

    /// A command rewrites files, and is taken back.
    fn noon(&self) {
        self.prompt(&["--continue"], REWRITE, 0);
        assert!(rewritten(&self.project) && !self.project.path("work/test.sh").exists());
        assert!(self.project.sum().contains('+'));
        let told = self.sessions("undo");
        for line in ["restored sum.sh", "restored test.sh", "removed new/c"] {
            assert!(told.contains(line), "{line}: {told}");
        }
        assert!(is_as_before(&self.project));
    }

    /// A budget ends a run; it goes on without one.
    fn afternoon(&self) {
        let (out, result) = self.prompt(&["--continue", "--max-steps", "1"], LIST, 8);
        assert_eq!(result["outcome"], json!("over_budget"), "{out}");
        let why = result["error"].as_str().unwrap();
        assert!(
            why.contains("The budget is used up: the model was asked 1 of 1 times for this prompt."),
            "{why}"
        );
        let (_, result) = self.prompt(&["--continue"], GO_ON, 0);
        assert_eq!(result["text"], json!(format!("{LISTED}\n")));
    }

    /// The past becomes a summary, and a command is killed with the program.
    fn evening(&self) {
        let args = [&ALLOWED[..], &["--continue", TRY]].concat();
        let mut command = self.project.parlor(self.wire, &self.server, &args);
        let mut run = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        until("the command runs", &self.server, || half_done(&self.project));
        run.kill().unwrap();
        let output = run.wait_with_output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), None, "{out}");
        assert!(out.contains(r#""compacted":"#) && out.contains(SUMMARY), "{out}");
    }

    /// It goes on with all of it, and the half command is taken back too.
    fn night(&self) {
        let (_, result) = self.prompt(&["--continue"], BACK, 0);
        assert_eq!(result["text"], json!(format!("{RETURNED}\n")));
        assert!(half_done(&self.project), "nobody took it back yet");
        let told = self.sessions("undo");
        assert!(
            told.contains(TRY) && told.contains("removed half") && told.contains("restored test.sh"),
            "{told}"
        );
        assert!(is_as_before(&self.project));
        let shown = self.said(&self.project.bare(&["sessions", "show", "--all"]).output().unwrap(), 0).0;
        for words in [MEND, BROKEN, "Undid 3 file changes", SUMMARY, TRY, RETURNED] {
            assert!(shown.contains(words), "{words}: {shown}");
        }
        told_all(&self.server);
    }
}

#[track_caller]
fn day(wire: Wire) {
    let day = Day { wire, project: Project::new(), server: Server::start(wire, script()) };
    day.morning();
    day.noon();
    day.afternoon();
    day.evening();
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
