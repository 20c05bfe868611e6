//! What cannot be used is answered, and the link lives on.

use super::{greeted, hello, runtime};
use crate::{HINT, MAX_COMPLAINTS, MAX_PENDING, NativeUi};
use expect_test::expect;
use proptest::prelude::*;
use roles::{Hello, Line, Reason};
use testkit::bench::UiBench;

/// A runtime that was greeted says this to these lines, and lives.
fn answers(lines: &[Line]) -> String {
    let mut bench = greeted().runtime;
    for line in lines {
        bench.line(line.clone());
    }
    assert_eq!(bench.link.closed, None);
    let said = bench.lines();
    bench.say(r#"{"command":{"ticket":99,"what":"stats"}}"#);
    assert_eq!(bench.commands().len(), 1);
    said.iter()
        .map(|line| {
            format!(
                "< {line}
"
            )
        })
        .collect()
}

#[test]
fn each_gets_an_answer() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let lines = [
        "no json",
        "[]",
        "{}",
        r#"{"teleport":{}}"#,
        r#"{"command":{"ticket":5,"what":{"fly":{}}}}"#,
        r#"{"command":{"ticket":6,"what":{"prompt":{"input":7}}}}"#,
        r#"{"command":{"ticket":-1,"what":"stats"}}"#,
        r#"{"command":{"ticket":7,"target":{"session":"sess-../../x"},"what":"stats"}}"#,
        r#"{"hello":{"protocol":1}}"#,
        &deep,
        "",
    ];
    let mut lines: Vec<Line> = lines.iter().map(|line| Line::Text((*line).to_owned())).collect();
    lines.push(Line::Overlong("{\"command\"".into()));
    lines.push(Line::Garbled("\u{fffd}".into()));
    let hint = format!(r#","hint":"{HINT}""#);
    let said = answers(&lines).replace(&hint, "");
    expect![[r#"
        < {"error":{"about":"line","message":"expected value at line 1 column 1"}}
        < {"error":{"about":"line","message":"expected value at line 1 column 1"}}
        < {"error":{"about":"line","message":"expected value at line 1 column 2"}}
        < {"error":{"about":"line","message":"unknown variant `teleport`, expected one of `hello`, `command`, `watch_fleet`, `error` at line 1 column 11"}}
        < {"error":{"about":"line","ticket":5,"message":"unknown variant `fly` …
        < {"error":{"about":"line","ticket":6,"message":"invalid type: integer `7`, expected struct Input at line 1 column 50"}}
        < {"error":{"about":"line","message":"invalid value: integer `-1`, expected u64 at line 1 column 23"}}
        < {"error":{"about":"line","ticket":7,"message":"`sess-../../x` is not a session id at line 1 column 58"}}
        < {"error":{"about":"line","message":"hello was said already"}}
        < {"error":{"about":"line","message":"JSON nested deeper than 128 levels (at byte 128)"}}
        < {"error":{"about":"line","message":"the line is longer than 10485760 bytes"}}
        < {"error":{"about":"line","message":"the line is not UTF-8 text"}}
    "#]]
    .assert_eq(&shortened(&said));
}

/// The list of known commands is long and grows: keep the first words.
fn shortened(said: &str) -> String {
    let short = said.lines().map(|line| match line.split_once("unknown variant `fly`") {
        Some((head, _)) => format!("{head}unknown variant `fly` …"),
        None => line.to_owned(),
    });
    short.map(|line| line + "\n").collect()
}

#[test]
fn a_command_before_hello_is_refused() {
    let mut bench = runtime();
    bench.say(r#"{"command":{"ticket":5,"what":"stats"}}"#);
    assert!(bench.lines()[0].contains("say hello first"));
    assert!(bench.is_silent());
}

#[test]
fn a_ticket_under_way_is_not_taken_twice_and_too_many_are_refused() {
    let mut bench = greeted().runtime;
    let mut command = |ticket: usize| {
        bench.now.0 += 20;
        bench.say(&format!(r#"{{"command":{{"ticket":{ticket},"what":"stats"}}}}"#));
        (bench.commands().len(), bench.lines().pop().unwrap_or_default())
    };
    assert!((0..MAX_PENDING).all(|ticket| command(ticket).0 == 1));
    assert!(command(MAX_PENDING).1.contains("too many commands are under way"));
    assert!(command(3).1.contains("still under way"));
}

#[test]
fn a_flood_is_slowed_down() {
    let mut bench = greeted().runtime;
    bench.now.0 += 1_000_000;
    for ticket in 0..500 {
        bench.say(&format!(r#"{{"command":{{"ticket":{ticket},"what":"stats"}}}}"#));
    }
    let taken = wire::rate::REQUESTS_PER_SECOND as usize;
    assert_eq!((bench.commands().len(), bench.lines().len()), (taken, 500 - taken));
}

proptest! {
    #[test]
    fn no_line_makes_a_role_fall_over(line in "(\\PC{0,40}|\\{\"(hello|command|event|attached|replay|hash|settled)\":\\PC{0,30}\\})") {
        let mut pair = greeted();
        pair.runtime.say(&line);
        pair.ui.hear(&line);
    }
}

/// Our UI, shown an empty session by a runtime of somebody else's.
fn shown() -> UiBench {
    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    ui.hear(r#"{"hello":{"protocol":1}}"#);
    ui.hear(
        r#"{"attached":{"at":{"session":"sess-000000000007","seq":0},"replay":[[0,{"session_opened":{"cwd":"/","project":"/"}}]],"abilities":{"name":"mine"}}}"#,
    );
    ui.link.outgoing(None);
    ui
}

fn happens(ui: &mut UiBench, seq: u64, body: &str) {
    ui.hear(&format!(
        r#"{{"event":{{"session":"sess-000000000007","event":{{"seq":{seq},"at":1,"body":{body}}}}}}}"#
    ));
}

fn told(ui: &mut UiBench) -> Vec<String> {
    ui.link.outgoing(None).into_iter().map(|sent| sent.line).collect()
}

#[test]
fn a_runtime_is_told_which_line_cannot_be_used_and_why() {
    let mut ui = shown();
    happens(&mut ui, 1, r#"{"run_started":{}}"#);
    ui.hear("{");
    let hint = format!(r#","hint":"{HINT}"}}}}"#);
    let said = told(&mut ui);
    assert_eq!(said.len(), 2);
    assert!(
        said[0].starts_with(r#"{"error":{"about":"line","message":"missing field `run` at line 1"#),
        "{said:?}"
    );
    assert!(said.iter().all(|line| line.ends_with(&hint)), "{said:?}");
    assert_eq!((ui.link.drifts.len(), &ui.link.closed), (2, &None));
    for _ in 0..100 {
        ui.hear("{");
    }
    assert_eq!(told(&mut ui).len(), MAX_COMPLAINTS as usize - 2, "nobody is told for ever");
}

#[test]
fn what_is_said_before_the_hello_is_answered_with_nothing() {
    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    ui.link.outgoing(None);
    ui.hear("Welcome to another program!");
    assert_eq!(told(&mut ui), Vec::<String>::new());
}

#[test]
fn a_message_without_its_parent_never_takes_the_conversation_from_the_screen() {
    let first = r#"{"message_started":{"message":1,"role":"user"}}"#;
    let second = r#"{"message_started":{"message":2,"role":"user"}}"#;
    let mut ui = shown();
    happens(&mut ui, 1, first);
    happens(&mut ui, 2, second);
    let why = "event 2, message_started: `parent` is missing: it is 1 here, or what was said before would be gone from the screen";
    assert!(told(&mut ui).pop().is_some_and(|line| line.contains(why)));
    assert_eq!(ui.link.closed, Some(Reason::Unusable(why.to_owned())));
    assert_eq!(ui.state.path().len(), 1, "what was there is still shown");
    // Whoever wants to begin anew says so.
    let mut ui = shown();
    happens(&mut ui, 1, first);
    happens(&mut ui, 2, r#"{"leaf_moved":{}}"#);
    happens(&mut ui, 3, second);
    assert_eq!((told(&mut ui), &ui.link.closed), (Vec::new(), &None));
}

#[test]
fn a_session_that_cannot_be_read_is_not_waited_for() {
    let mut ui = UiBench::open(NativeUi::new(), &Hello { begins: true, ..hello(None) });
    ui.hear(r#"{"hello":{"protocol":1}}"#);
    ui.hear(r#"{"attached":{"at":{"session":"sess-000000000007"}}}"#);
    let why = "its line `attached` cannot be read: missing field `seq`";
    assert!(
        matches!(&ui.link.closed, Some(Reason::Unusable(told)) if told.starts_with(why)),
        "{:?}",
        ui.link.closed
    );
}

#[test]
fn a_runtime_of_ours_takes_such_a_word_and_does_not_answer_it() {
    let mut bench = greeted().runtime;
    bench.say(r#"{"error":{"about":"line","message":"what?"}}"#);
    assert_eq!(bench.lines(), Vec::<String>::new());
    assert_eq!(bench.link.logs, ["the UI could not use a line: what?"]);
}
