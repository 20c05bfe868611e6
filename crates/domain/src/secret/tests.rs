//! Marks in the place of secrets: wherever they are said again, however they are cut, and only there.

use super::*;
use crate::ask::{Answer, Ask, AskKind, Choice, Closing};
use crate::content::{Json, Part, TextKind};
use crate::event::{AskEvent, Body, Finish, MessageEvent, SessionEvent, ToolEvent};
use crate::ids::{MessageId, ToolRunId};
use crate::tool::{Progress, ToolOutcome, ToolResult};
use proptest::prelude::*;

const ASK: AskId = AskId(12);

fn book(value: &str) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.keep(ASK, value).unwrap();
    secrets
}

fn delta(text: &str) -> Body {
    Body::Message(MessageEvent::Delta { message: MessageId(1), kind: TextKind::Text, text: text.into() })
}

/// What a stream of pieces shows after each of them, and at its end.
fn shown(secrets: &Secrets, pieces: &[&str]) -> Vec<String> {
    let (mut veil, mut all, mut steps) = (Veil::default(), String::new(), Vec::new());
    let end = Body::Message(MessageEvent::Ended { message: MessageId(1), finish: Finish::Complete });
    for body in pieces.iter().map(|piece| delta(piece)).chain([end]) {
        for body in veil.pass(secrets, body) {
            if let Body::Message(MessageEvent::Delta { text, .. }) = body {
                all.push_str(&text);
            }
        }
        steps.push(all.clone());
    }
    steps
}

#[test]
fn a_value_is_masked_wherever_it_stands() {
    let secrets = book("hunter2");
    let mark = mark(ASK);
    for (text, want) in [
        ("hunter2", mark.clone()),
        ("mysql -phunter2 -u me", format!("mysql -p{mark} -u me")),
        ("hunter2hunter2", format!("{mark}{mark}")),
        ("hunter1 and hunte", "hunter1 and hunte".to_owned()),
        (&*mark, mark.clone()),
    ] {
        assert_eq!(secrets.mask(text), want);
        assert_eq!(secrets.mask(&want), want, "twice is once");
    }
    assert!(has_mark(&mark) && !has_mark("[secret x: not kept]") && !has_mark("[secret 1"));
    assert_eq!(secrets.unmask(&format!("use {mark}"), |ask| ask == ASK), "use hunter2");
    assert_eq!(secrets.unmask(&format!("use {mark}"), |_| false), format!("use {mark}"));
}

#[test]
fn the_mark_tells_nothing_and_is_no_secret_itself() {
    assert!(!mark(ASK).contains('7'));
    let secrets = book("secret");
    assert_eq!(secrets.mask("my secret is [secret 12: not kept]"), format!("my {0} is {0}", mark(ASK)));
    assert!(!format!("{secrets:?}").contains("secret\""));
}

#[test]
fn a_short_value_is_not_looked_for_in_other_texts() {
    let secrets = book("4711");
    assert_eq!(secrets.mask("in 4711 of 4711 cases"), "in 4711 of 4711 cases");
    assert_eq!(secrets.unmask(&mark(ASK), |_| true), "4711");
}

#[test]
fn what_stands_in_json_is_masked_and_is_json_still() {
    let mark = mark(ASK);
    let awkward = "pa\"ss\\wö\nrd";
    let mut secrets = book(awkward);
    secrets.keep(AskId(13), "482913").unwrap();
    let pin = super::mark(AskId(13));
    for (json, want) in [
        (r#"{"p":"pa\"ss\\wö\nrd","q":1}"#, format!(r#"{{"p":"{mark}","q":1}}"#)),
        (r#"["x pa\"ss\\w\u00f6\nrd y"]"#, format!(r#"["x {mark} y"]"#)),
        (r#"{"pin":482913, "at":[482913.5]}"#, format!(r#"{{"pin":"{pin}", "at":["{pin}.5"]}}"#)),
        (r#"{"482913":true}"#, format!(r#"{{"{pin}":true}}"#)),
        (r#"{"a":"b\u0041\\"}"#, r#"{"a":"b\u0041\\"}"#.to_owned()),
    ] {
        assert_eq!(secrets.mask_json(&Json::verbatim(json)).as_str(), want, "{json}");
    }
    // In a text that holds JSON, as it is written there.
    assert_eq!(secrets.mask(r#"said {"p":"pa\"ss\\wö\nrd"}"#), format!(r#"said {{"p":"{mark}"}}"#));
}

#[test]
fn a_long_secret_is_masked_line_by_line() {
    let key = "-----BEGIN KEY-----\nb3BlbnNzaC1rZXktdjEAAAA\nAAAABG5vbmUAAAAEbm9uZQ\n-----END KEY-----\n";
    let secrets = book(key);
    let numbered: String = key.lines().enumerate().map(|(n, line)| format!("{n:>5}\t{line}\n")).collect();
    let masked = secrets.mask(&numbered);
    assert!(!masked.contains("b3BlbnNz") && !masked.contains("AAAABG5v"), "{masked}");
}

#[test]
fn too_many_or_too_long_is_refused() {
    let mut secrets = Secrets::default();
    assert_eq!(secrets.keep(ASK, &"x".repeat(MAX_LENGTH + 1)), Err(Unkept::Long));
    for number in 0..MAX_SECRETS as u64 {
        secrets.keep(AskId(number), &format!("secret number {number}")).unwrap();
    }
    assert_eq!(secrets.keep(ASK, "one more"), Err(Unkept::Many));
}

#[test]
fn every_text_of_an_event_is_masked() {
    let secrets = book("hunter2");
    let text = || "say hunter2".to_owned();
    let kind = AskKind::Choose {
        message: text(),
        choices: vec![Choice { id: text(), label: text(), detail: Some(text()) }],
        many: false,
    };
    let ask = Ask { id: AskId(1), run: None, title: text(), kind, deadline: None };
    let result = ToolResult {
        text: text(),
        parts: vec![Part::Diff { path: None, text: text() }],
        json: Some(Json::verbatim(r#"{"x":"hunter2"}"#)),
        truncated: false,
    };
    let tool = ToolRunId(1);
    for body in [
        Body::Session(SessionEvent::Renamed { title: text() }),
        Body::Message(MessageEvent::PartAdded { message: MessageId(1), part: Part::Text(text()) }),
        Body::Tool(ToolEvent::Proposed {
            tool,
            message: MessageId(1),
            name: "bash".into(),
            args: Json::verbatim(r#"{"command":"echo hunter2"}"#),
        }),
        Body::Tool(ToolEvent::Progress { tool, progress: Progress::Replace(text()) }),
        Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result }),
        Body::Ask(AskEvent::Opened(ask)),
        Body::Ask(AskEvent::Closed {
            ask: AskId(1),
            closing: Closing::Answered { answer: Answer::Chosen(vec![text()]), by: None },
        }),
    ] {
        let masked = format!("{:?}", secrets.mask_body(body));
        assert!(!masked.contains("hunter2") && masked.contains("not kept"), "{masked}");
    }
}

#[test]
fn what_waited_comes_before_what_ends_it() {
    let secrets = book("hunter2");
    let tool = ToolRunId(7);
    let mut veil = Veil::default();
    let output =
        |text: &str| Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output(text.into()) });
    assert_eq!(veil.pass(&secrets, output("pass: hunt")), [output("pass: ")]);
    let ended =
        Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Done, result: ToolResult::default() });
    assert_eq!(veil.pass(&secrets, ended.clone()), [output("hunt"), ended]);
    let part = Body::Message(MessageEvent::PartAdded { message: MessageId(1), part: Part::Text("x".into()) });
    assert_eq!(veil.pass(&secrets, delta("a h")), [delta("a ")]);
    assert_eq!(veil.pass(&secrets, part.clone()), [delta("h"), part]);
    let thought = Body::Message(MessageEvent::Delta {
        message: MessageId(1),
        kind: TextKind::Thought,
        text: "unter2".into(),
    });
    veil.pass(&secrets, delta("h"));
    assert_eq!(veil.pass(&secrets, thought.clone()), [delta("h"), thought], "another stream goes on");
}

proptest! {
    #[test]
    fn however_a_stream_is_cut_the_value_is_never_said(
        value in "[abcé]{6,12}",
        around in prop::collection::vec("[abcé ]{0,8}", 1..5),
        cuts in prop::collection::vec(0..80usize, 0..12),
    ) {
        let secrets = book(&value);
        let whole = around.join(&value);
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|at| whole.is_char_boundary(*at)).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&str> = cuts.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect();
        let steps = shown(&secrets, &pieces);
        let masked = secrets.mask(&whole);
        prop_assert!(!masked.contains(&value));
        prop_assert_eq!(steps.last().map(String::as_str), Some(&*masked));
        for (count, step) in steps[..steps.len() - 1].iter().enumerate() {
            prop_assert!(masked.starts_with(step.as_str()), "nothing is taken back");
            // Nothing stands at the end that, with what waits, the next piece could make whole.
            let so_far = secrets.mask(&pieces[..=count].concat()).into_owned();
            let waits = so_far.strip_prefix(step.as_str()).unwrap_or_default();
            let begins = (1..value.len()).filter(|at| value.is_char_boundary(*at)).any(|at| {
                step.ends_with(&value[..at]) && value[at..].starts_with(waits)
            });
            prop_assert!(!begins, "{:?} shows a beginning of {:?}", step, value);
        }
    }
}
