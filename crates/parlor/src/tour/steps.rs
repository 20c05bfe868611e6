//! The steps of the tour: what a person is told to do, and how it is seen that they did. Pure but for looks at files.

use dialects::SHOWN_BRIDGED;
use domain::ask::{Answer, Closing, Scope};
use domain::event::{AskEvent, Body, Event, FILES_UNDONE, NoteEvent, Outcome, RunEvent, SessionEvent};
use domain::ids::Seq;
use std::path::PathBuf;

/// What is shown at once, what it needs, and what makes it done.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// What to do, and why it is worth seeing.
    pub(super) words: &'static str,
    pub(super) opens: Opens,
    /// What has to lie in the project before it begins, with its text.
    pub(super) needs: Option<(&'static str, &'static str)>,
    /// What must not lie there.
    pub(super) makes: &'static [&'static str],
    /// What was done; or what is missing.
    pub(super) judge: fn(&Seen) -> Result<String, &'static str>,
}

/// What a step opens in the terminal.
pub(super) enum Opens {
    /// The terminal UI with this prompt.
    Prompt(&'static str),
    /// The same; it is killed when its question is open, and opened again.
    Killed(&'static str),
    /// The page in a browser.
    Page,
    /// The terminal UI, a bridge between two wires, and an agent behind it.
    Bridge,
}

/// What really happened in a step.
#[derive(Default)]
pub(super) struct Seen {
    /// The record of the newest session that began in it.
    pub(super) events: Vec<Event>,
    /// Up to where the record went when the program was killed.
    pub(super) killed: Option<Seq>,
    /// Browsers that were let in during it.
    pub(super) browsers: usize,
    pub(super) project: PathBuf,
}

impl Seen {
    /// What was answered to questions, in order.
    fn answers(&self) -> Vec<(Seq, &Answer)> {
        let mut answers = Vec::new();
        for event in &self.events {
            if let Body::Ask(AskEvent::Closed { closing: Closing::Answered { answer, .. }, .. }) = &event.body
            {
                answers.push((event.seq, answer));
            }
        }
        answers
    }

    fn allowed(&self) -> Result<(), &'static str> {
        let allows = |(_, answer): &(Seq, &Answer)| matches!(answer, Answer::Allow { .. });
        if self.answers().iter().any(allows) { Ok(()) } else { Err("nothing was allowed") }
    }

    fn has(&self, file: &str) -> bool {
        self.project.join(file).exists()
    }
}

/// What the first step writes and later ones remove.
const HELLO: (&str, &str) = ("hello.txt", "hello there");

/// All steps, in their order.
pub(super) const STEPS: &[Step] = &[
    Step {
        name: "allow",
        title: "you allow a change",
        words: "Parlor opens in the mode that asks first, with the prompt\n\"write hello.txt: hello there\". It shows what the file would become, and waits.\nPress y to allow it. Once nothing is asked, Ctrl-D leaves Parlor and comes back\nhere, in every step.",
        opens: Opens::Prompt("write hello.txt: hello there"),
        needs: None,
        makes: &["hello.txt"],
        judge: |seen| {
            seen.allowed()?;
            match std::fs::read_to_string(seen.project.join(HELLO.0)) {
                Ok(text) if text.trim_end() == HELLO.1 => {
                    Ok("You allowed it once, and hello.txt holds what you had seen.".to_owned())
                }
                _ => Err("it was allowed, but hello.txt does not hold what was shown"),
            }
        },
    },
    Step {
        name: "deny",
        title: "you deny, and say why",
        words: "Now the agent wants to run \"rm hello.txt\".\nPress r, write why not, and press Enter. The agent reads your reason and goes\non with it.",
        opens: Opens::Prompt("run `rm hello.txt`"),
        needs: Some(HELLO),
        makes: &[],
        judge: |seen| {
            let mut answers = seen.answers().into_iter();
            let reason = answers.find_map(|(_, answer)| match answer {
                Answer::Deny { reason: Some(reason) } if !reason.trim().is_empty() => Some(reason.clone()),
                _ => None,
            });
            match reason {
                None => Err("nothing was denied with a reason"),
                Some(_) if !seen.has(HELLO.0) => Err("hello.txt is gone"),
                Some(reason) => Ok(format!(
                    "The agent was told {}, and hello.txt is still there.",
                    domain::harmless::quoted(&reason)
                )),
            }
        },
    },
    Step {
        name: "rule",
        title: "you allow more than once",
        words: "The agent wants to write two files. Above the keys you read what a rule would\nallow: writing files in this folder. Press a at the first question, and the\nsecond file is written unasked. The tour forgets the rule again; in a project\nof yours, `parlor rules` shows it and revokes it.",
        opens: Opens::Prompt("write one.txt: 1 then write two.txt: 2"),
        needs: None,
        makes: &["one.txt", "two.txt"],
        judge: |seen| match seen.answers().as_slice() {
            [(_, Answer::Allow { scope: Scope::Always, .. })]
                if seen.has("one.txt") && seen.has("two.txt") =>
            {
                Ok("One answer, two files.".to_owned())
            }
            [(_, Answer::Allow { scope: Scope::Always, .. })] => Err("the files were not both written"),
            _ => Err("the first question was not answered with a"),
        },
    },
    Step {
        name: "kill",
        title: "kill -9, and nothing is lost",
        words: "The agent wants to run \"touch kept.txt\". As soon as that question is open, the\ntour ends Parlor with kill -9; no program can prepare for that. Only watch.\nThen the conversation opens again, with its question: press y.",
        opens: Opens::Killed("run `touch kept.txt`"),
        needs: None,
        makes: &["kept.txt"],
        judge: |seen| {
            let killed = seen.killed.ok_or("Parlor was left before it could be killed")?;
            let allows =
                |(seq, answer): &(Seq, &Answer)| *seq > killed && matches!(answer, Answer::Allow { .. });
            if !seen.answers().iter().any(allows) {
                return Err("what was asked before the kill was not allowed after it");
            }
            if !seen.has("kept.txt") {
                return Err("kept.txt was not made");
            }
            Ok("It was asked before the kill and answered after it, in one conversation.".to_owned())
        },
    },
    Step {
        name: "undo",
        title: "you undo what a command did",
        words: "The agent wants to run \"rm hello.txt\" once more. This time allow it with y:\nthe file is gone. The question warned that it cannot be undone, and rm cannot;\nbut Parlor has kept a copy. Write /undo and press Enter: it is back. Undo covers\nwhat commands do, not only edits.",
        opens: Opens::Prompt("run `rm hello.txt`"),
        needs: Some(HELLO),
        makes: &[],
        judge: |seen| {
            seen.allowed()?;
            let undone = |event: &Event| matches!(&event.body, Body::Note(NoteEvent::Noticed { code, .. }) if code == FILES_UNDONE);
            match (seen.events.iter().any(undone), seen.has(HELLO.0)) {
                (true, true) => Ok("hello.txt was removed by a command, and is back.".to_owned()),
                (true, false) => Err("hello.txt is not back"),
                (false, _) => Err("nothing was undone"),
            }
        },
    },
    Step {
        name: "page",
        title: "the same in a browser",
        words: "`parlor web` opens a page in your browser, with the sessions of this tour.\nBoth sides show the same code: press y here. Look around there, then come\nback with Ctrl-C here. Skip this where there is no browser.",
        opens: Opens::Page,
        needs: None,
        makes: &[],
        judge: |seen| match seen.browsers {
            0 => Err("no browser was let in"),
            _ => {
                Ok("The browser has its own key now; `parlor devices` lists and revokes such keys."
                    .to_owned())
            }
        },
    },
    Step {
        name: "bridge",
        title: "any UI on any agent",
        words: "This opens Parlor's UI on the protocol codelia, an agent that speaks lemon, and\nbetween them a bridge. Write \"list files\" and read the answer: it went through\nboth protocols, there and back.",
        opens: Opens::Bridge,
        needs: None,
        makes: &[],
        judge: |seen| {
            let is = |wanted: fn(&Body) -> bool| seen.events.iter().any(|event| wanted(&event.body));
            let foreign = is(
                |body| matches!(body, Body::Session(SessionEvent::CameFrom { origin }) if origin.dialect == SHOWN_BRIDGED.0.name()),
            );
            let ran = is(|body| matches!(body, Body::Run(RunEvent::Ended { outcome: Outcome::Done, .. })));
            match foreign && ran {
                true => {
                    Ok("Neither knows the other's protocol. Yours may be one of them: parlor new agent NAME"
                        .to_owned())
                }
                false => Err("no prompt went over the bridge and was answered"),
            }
        },
    },
];
