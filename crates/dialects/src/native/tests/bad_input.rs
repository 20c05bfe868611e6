//! What cannot be used is answered, and the link lives on.

use super::bench::Bench;
use crate::native::MAX_PENDING;
use expect_test::expect;
use proptest::prelude::*;
use roles::{Lane, Line, LinkEffect, RuntimeEffect, RuntimeRole, UiRole};

fn answers(lines: &[Line]) -> String {
    let mut bench = Bench::greeted();
    for line in lines {
        bench.raw(line.clone());
    }
    assert!(
        !bench.at_runtime.iter().any(|effect| matches!(effect, RuntimeEffect::Link(LinkEffect::Close(_))))
    );
    // The link lives.
    bench.at_runtime.clear();
    bench.raw(Line::Text(r#"{"command":{"ticket":99,"what":"stats"}}"#.into()));
    assert!(matches!(bench.at_runtime.last(), Some(RuntimeEffect::Command { .. })), "{:?}", bench.at_runtime);
    bench.lines.iter().filter(|line| line.starts_with('<')).map(|line| format!("{line}\n")).collect()
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
    let hint = r#","hint":"see docs/native-protocol.md""#;
    let said = answers(&lines).replace(hint, "");
    expect![[r#"
        < {"error":{"about":"line","message":"expected value at line 1 column 1"}}
        < {"error":{"about":"line","message":"expected value at line 1 column 1"}}
        < {"error":{"about":"line","message":"expected value at line 1 column 2"}}
        < {"error":{"about":"line","message":"unknown variant `teleport`, expected `hello` or `command` at line 1 column 11"}}
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
    let mut bench = Bench::new();
    bench.raw(Line::Text(r#"{"command":{"ticket":5,"what":"stats"}}"#.into()));
    assert!(bench.lines[0].contains("say hello first"), "{:?}", bench.lines);
    assert_eq!(bench.at_runtime, Vec::new());
}

#[test]
fn a_ticket_under_way_is_not_taken_twice_and_too_many_are_refused() {
    let mut bench = Bench::greeted();
    for ticket in 0..MAX_PENDING + 2 {
        bench.raw(Line::Text(format!(r#"{{"command":{{"ticket":{ticket},"what":"stats"}}}}"#)));
    }
    assert_eq!(bench.at_runtime.len(), MAX_PENDING);
    assert!(bench.lines.last().unwrap().contains("too many commands are under way"));
    bench.raw(Line::Text(r#"{"command":{"ticket":3,"what":"stats"}}"#.into()));
    assert!(bench.lines.last().unwrap().contains("still under way"));
}

#[test]
fn a_flood_is_slowed_down() {
    let mut bench = Bench::greeted();
    let mut effects = Vec::new();
    let mut cx = roles::Cx { now: domain::ids::Millis(1_000_000), effects: &mut effects };
    for ticket in 0..500 {
        let line = format!(r#"{{"command":{{"ticket":{ticket},"what":"stats"}}}}"#);
        bench.runtime.line(&mut cx, Lane::MAIN, Line::Text(line));
    }
    let taken = effects.iter().filter(|effect| matches!(effect, RuntimeEffect::Command { .. })).count();
    assert_eq!(taken, wire::rate::REQUESTS_PER_SECOND as usize);
    assert_eq!(effects.len(), 500);
}

proptest! {
    #[test]
    fn no_line_makes_a_role_fall_over(line in "(\\PC{0,40}|\\{\"(hello|command|event|attached|replay|hash|settled)\":\\PC{0,30}\\})") {
        let mut bench = Bench::greeted();
        bench.raw(Line::Text(line.clone()));
        bench.ui(|role, cx, seen| role.line(cx, seen, Lane::MAIN, Line::Text(line)));
    }
}
