//! The player itself, with a role that does little.

use super::{Act, parse_command, play};
use crate::notation::{Report, Transcript};
use domain::ask::{Answer, Scope};
use domain::command::{Command, Receipt, RunCommand};
use domain::fact::{Fact, Said};
use domain::port::{Abilities, Ticket};
use proptest::prelude::*;
use roles::{Drift, Hello, Lane, Line, Reason, Seen, TimerKey, UiCx, UiRole};
use std::time::Duration;

/// Repeats lines as text, echoes prompts, gives up after a second.
#[derive(Default)]
struct Parrot;

impl UiRole for Parrot {
    fn open(&mut self, cx: &mut UiCx<'_>, _hello: &Hello) {
        cx.send(r#"{"hello":1}"#.to_owned());
        cx.timer(TimerKey(1), Duration::from_secs(1));
    }

    fn line(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, _lane: Lane, line: Line) {
        match line {
            Line::Text(text) => {
                cx.fact(Fact::new(Said::Text { message: None, kind: domain::content::TextKind::Text, text }));
            }
            Line::Overlong(head) | Line::Garbled(head) => cx.drift(Drift::new("line", "odd", &head)),
        }
    }

    fn command(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, ticket: Ticket, command: Command) {
        if let Command::Run(RunCommand::Prompt { input, .. }) = command {
            cx.send(format!(r#"{{"prompt":{:?}}}"#, input.text));
        }
        cx.settle(ticket, Ok(Receipt::Done));
    }

    fn timer(&mut self, cx: &mut UiCx<'_>, _seen: Seen<'_>, _key: TimerKey) {
        cx.close(Reason::Unusable("too slow".to_owned()));
    }

    fn closed(&mut self, _cx: &mut UiCx<'_>, _seen: Seen<'_>) {}

    fn abilities(&self) -> Option<Abilities> {
        None
    }
}

fn report(text: &str) -> (bool, String) {
    let transcript = Transcript::parse(text).unwrap();
    let outcomes = play(&mut Parrot, &transcript).outcomes;
    let report = Report { name: "t", transcript: &transcript, outcomes: &outcomes };
    (report.passed(), report.to_string())
}

#[test]
fn what_is_as_written_passes() {
    let (passed, text) = report(
        r#"
> {"hello":$n}
command prompt "hi"
> {"prompt":"hi"}
event settled done
< {"a":1}
event run-started
event text "{\"a\":1}"
close
event run-ended lost
!<hex ff0a
event drift line: odd
wait 1s
event close "too slow"
"#,
    );
    assert!(passed, "{text}");
}

#[test]
fn what_is_not_as_written_fails() {
    for (text, why) in [
        ("> {\"hello\":2}", "differs"),
        ("> {\"hello\":1}\n> {\"more\":1}", "missing"),
        ("event run-started", "missing"),
        ("> {\"hello\":1}\nwait 1s", "too slow"),
        ("> {\"hello\":1}\n!<hex ff0a", "drift"),
        ("> {\"hello\":1}\ncommand prompt \"x\"", "not expected"),
        ("> {\"hello\":1}\ncommand fly", "unknown command"),
        ("> {\"hello\":1}\ncommand answer yes", "no open question"),
        ("> {\"hello\":1}\nmodel text \"x\"", "no model"),
    ] {
        let (passed, report) = report(text);
        assert!(!passed && report.contains(why), "{text}:\n{report}");
    }
}

#[test]
fn commands_are_read() {
    let answer = |text: &str| match parse_command(text) {
        Ok(Act::Answer(answer)) => answer,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(answer("answer allow always"), Answer::Allow { scope: Scope::Always, digest: None });
    assert_eq!(answer(r#"answer deny "not \"now\"""#), Answer::Deny { reason: Some("not \"now\"".into()) });
    assert_eq!(answer("answer choose a,b"), Answer::Chosen(vec!["a".into(), "b".into()]));
    for good in [
        "cancel",
        "list-sessions all 5 \"x\"",
        "history sess-00000001 1 2",
        "set-model p/m",
        "leaf none",
        "leaf entry-4",
        "context \"/home\" \"note\"",
        "queue-mode steer all",
        "extension x {\"a\":[1]}",
        "set-tools all",
    ] {
        assert!(matches!(parse_command(good), Ok(Act::Command(_))), "{good}");
    }
    for bad in [
        "",
        "prompt",
        "prompt hi",
        "prompt \"hi\" x",
        "answer",
        "answer maybe",
        "open-session ..",
        "history x",
        "leaf 4",
    ] {
        assert!(parse_command(bad).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in r#"(prompt|answer|history|extension|leaf)? ?["a-z{}\[\]0-9é -]{0,30}"#) {
        let _ = parse_command(&text);
    }
}
