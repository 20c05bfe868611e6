//! Files and terminals that an agent wants of us: offered where somebody does errands, asked for where our mode says so, answered once.

use super::{client, told};
use domain::ask::{Answer, AskKind, Assessment, Preview, Risk, Scope};
use domain::content::Json;
use domain::errand::{
    CommandEnd, Errand, ErrandCause, ErrandConsent, ErrandDone, ErrandId, ErrandNews, ErrandStep,
};
use domain::tool::{ToolOutcome, ToolPhase, ToolResult};
use roles::Hello;
use serde_json::{Value, json};
use testkit::bench::{UiBench, cancel};

/// A client in front of whom somebody does errands, with a prompt under way.
fn prompted() -> UiBench {
    let hello = Hello { cwd: "/w".to_owned(), does_errands: true, ..Hello::default() };
    let mut bench = UiBench::open(super::AcpUi::new(), &hello);
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#);
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"theirs-1"}}"#);
    let offered = &bench.sent()[0]["params"]["clientCapabilities"];
    assert_eq!(offered["fs"], json!({"readTextFile":true,"writeTextFile":true}));
    assert_eq!(offered["terminal"], json!(true));
    bench.prompt("go");
    bench.hear(&told(
        json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me see."}}),
    ));
    bench.forget();
    bench
}

fn wants(bench: &mut UiBench, id: u64, method: &str, params: Value) -> Option<(ErrandId, ErrandStep)> {
    let mut params = params;
    params["sessionId"] = params.get("sessionId").cloned().unwrap_or(json!("theirs-1"));
    bench.hear(&json!({"jsonrpc":"2.0","id":id,"method":method,"params":params}).to_string());
    bench.errands.pop()
}

fn consent() -> ErrandNews {
    let assessment = Assessment { risk: Risk::Medium, reasons: Vec::new(), reversible: true, unrated: false };
    let preview = Some(Preview::Diff { path: "f".to_owned(), text: "-a\n+b\n".to_owned() });
    ErrandNews::Asks(Box::new(ErrandConsent {
        title: "overwrite f".to_owned(),
        name: "write".to_owned(),
        args: Json::verbatim(r#"{"path":"/w/f"}"#),
        preview,
        assessment,
        rule: Some("write files under /w".to_owned()),
    }))
}

fn write(bench: &mut UiBench, id: u64) -> ErrandId {
    let wanted = wants(bench, id, "fs/write_text_file", json!({"path":"/w/f","content":"b\n"}));
    let Some((errand, ErrandStep::Wanted(Errand::Write { path, text }))) = wanted else {
        panic!("{wanted:?}")
    };
    assert_eq!((path.as_str(), text.as_str()), ("/w/f", "b\n"));
    errand
}

fn done(done: ErrandDone) -> ErrandNews {
    ErrandNews::Done { done, seen: Some(ToolResult::text("wrote f")) }
}

#[test]
fn nothing_is_offered_or_done_where_nobody_does_errands() {
    let mut bench = client();
    bench.prompt("go");
    bench.forget();
    for (id, method) in [(50, "fs/read_text_file"), (51, "fs/write_text_file"), (52, "terminal/create")] {
        assert_eq!(wants(&mut bench, id, method, json!({"path":"/w/f","content":"","command":"ls"})), None);
        assert_eq!(bench.sent()[0]["error"]["code"], -32601, "{method}");
        bench.forget();
    }
    assert!(!bench.role.abilities().expect("it is up").errands);
}

#[test]
fn a_read_is_answered_with_what_was_read() {
    let mut bench = prompted();
    assert!(bench.role.abilities().expect("it is up").errands);
    let params = json!({"path":"/w/f","line":2,"limit":3});
    let Some((id, ErrandStep::Wanted(errand))) = wants(&mut bench, 50, "fs/read_text_file", params) else {
        panic!("not handed on")
    };
    assert_eq!(errand, Errand::Read { path: "/w/f".to_owned(), line: Some(2), limit: Some(3) });
    bench.errand(id, done(ErrandDone::Text("two\n".to_owned())));
    assert_eq!(bench.sent()[0]["result"], json!({"content":"two\n"}));
    assert!(bench.state.tools.is_empty(), "a look is not shown");
    bench.forget();
    let (id, _) = wants(&mut bench, 51, "fs/read_text_file", json!({"path":"/w/none"})).expect("wanted");
    let why = "none: not found".to_owned();
    bench.errand(id, ErrandNews::Refused { cause: ErrandCause::Missing, why });
    assert_eq!(bench.sent()[0]["error"]["code"], -32002);
    bench.forget();
    // The answer is said once.
    bench.errand(id, done(ErrandDone::Nothing));
    assert!(bench.sent().is_empty());
}

#[test]
fn a_write_waits_for_the_person_who_sees_the_diff() {
    let mut bench = prompted();
    let id = write(&mut bench, 50);
    bench.errand(id, consent());
    assert!(bench.sent().is_empty(), "nothing is said before the answer");
    let AskKind::Consent(asked) = &bench.state.asks[0].kind else { panic!() };
    assert!(matches!(&asked.preview, Some(Preview::Diff { text, .. }) if text == "-a\n+b\n"));
    assert_eq!((asked.name.as_str(), asked.takes_reason), ("write", true));
    bench.answer(Answer::Allow { scope: Scope::Session, digest: None });
    assert_eq!(bench.errands.pop(), Some((id, ErrandStep::Allowed(Scope::Session))));
    assert!(bench.sent().is_empty(), "it is not done yet");
    bench.errand(id, done(ErrandDone::Nothing));
    assert_eq!(bench.sent()[0], json!({"jsonrpc":"2.0","id":50,"result":{}}));
    let tool = bench.state.tools.values().next().expect("it is shown");
    assert!(tool.ended() && tool.name == "write", "{tool:?}");
}

#[test]
fn a_no_reaches_the_agent_with_its_reason_and_nothing_is_done() {
    let mut bench = prompted();
    let id = write(&mut bench, 50);
    bench.errand(id, consent());
    bench.answer(Answer::Deny { reason: Some("not there".to_owned()) });
    assert_eq!(bench.errands.pop(), Some((id, ErrandStep::Dropped)));
    let error = &bench.sent()[0]["error"];
    assert_eq!(
        (&error["code"], &error["message"]),
        (&json!(-32603), &json!("the person said no: not there"))
    );
    let tool = bench.state.tools.values().next().expect("it is shown");
    assert!(matches!(tool.phase, ToolPhase::Ended(ToolOutcome::Denied)), "{tool:?}");
}

#[test]
fn what_is_done_unasked_is_shown() {
    let mut bench = prompted();
    let id = write(&mut bench, 50);
    let args = Json::verbatim(r#"{"path":"/w/f"}"#);
    bench.errand(id, ErrandNews::Begins { name: "write".to_owned(), args });
    assert!(bench.state.tools.values().any(|tool| tool.name == "write" && !tool.ended()));
    bench.errand(id, done(ErrandDone::Nothing));
    assert!(bench.state.tools.values().all(|tool| tool.ended()));
    assert_eq!(bench.sent()[0]["result"], json!({}));
}

#[test]
fn what_the_mode_denies_is_told() {
    let mut bench = prompted();
    let id = write(&mut bench, 50);
    let why = "writing files is denied in read-only".to_owned();
    bench.errand(id, ErrandNews::Refused { cause: ErrandCause::Mode, why });
    assert_eq!(bench.sent()[0]["error"]["code"], -32603);
    assert!(format!("{:?}", bench.events).contains("was refused: writing files"));
}

#[test]
fn a_stopped_prompt_takes_what_it_wanted_with_it() {
    let mut bench = prompted();
    let asked = write(&mut bench, 50);
    bench.errand(asked, consent());
    let (running, _) =
        wants(&mut bench, 51, "terminal/create", json!({"command":"sleep 9"})).expect("wanted");
    bench.errand(running, done(ErrandDone::Started("terminal-1".to_owned())));
    assert_eq!(bench.sent()[0]["result"], json!({"terminalId":"terminal-1"}));
    bench.forget();
    bench.command(cancel());
    assert!(bench.errands.contains(&(asked, ErrandStep::Dropped)), "{:?}", bench.errands);
    assert_eq!(bench.sent()[0]["error"]["code"], -32800);
    // What it wants while it stops, and after, is not done.
    bench.errands.clear();
    bench.forget();
    assert_eq!(wants(&mut bench, 52, "fs/write_text_file", json!({"path":"/w/f","content":""})), None);
    assert_eq!(bench.sent()[0]["id"], 52);
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}"#);
    assert!(bench.errands.contains(&(running, ErrandStep::Dropped)), "its command is ended");
    bench.errands.clear();
    assert_eq!(wants(&mut bench, 53, "terminal/create", json!({"command":"ls"})), None);
}

#[test]
fn terminals_are_asked_about_by_name() {
    let mut bench = prompted();
    let params = json!({"command":"make","args":["-j","2"],"env":[{"name":"CI","value":"1"},
        {"name":"AGENT_SESSION_ID","value":"x"}],"cwd":"/w/sub","outputByteLimit":9});
    let Some((_, ErrandStep::Wanted(Errand::Start(command)))) =
        wants(&mut bench, 50, "terminal/create", params)
    else {
        panic!("not handed on")
    };
    assert_eq!((command.command.as_str(), command.args.len()), ("make", 2));
    assert_eq!(command.env, [("CI".to_owned(), "1".to_owned())]);
    assert_eq!((command.cwd.as_deref(), command.output_limit), (Some("/w/sub"), Some(9)));
    bench.forget();
    let end = CommandEnd::Exited(Some(3));
    let output = ErrandDone::Output { text: "hi".to_owned(), truncated: true, end: Some(end) };
    for (method, news, result) in [
        ("terminal/output", output, json!({"output":"hi","truncated":true,"exitStatus":{"exitCode":3}})),
        ("terminal/wait_for_exit", ErrandDone::Ended(CommandEnd::Stopped), json!({"signal":"SIGTERM"})),
        ("terminal/kill", ErrandDone::Nothing, json!({})),
        ("terminal/release", ErrandDone::Nothing, json!({})),
    ] {
        let (id, _) = wants(&mut bench, 60, method, json!({"terminalId":"terminal-1"})).expect("wanted");
        bench.errand(id, ErrandNews::Done { done: news, seen: None });
        assert_eq!(bench.sent()[0]["result"], result, "{method}");
        bench.forget();
    }
}

#[test]
fn other_sessions_bad_words_and_what_is_taken_back_are_answered_too() {
    let mut bench = prompted();
    assert_eq!(wants(&mut bench, 50, "fs/read_text_file", json!({"sessionId":"other","path":"/w/f"})), None);
    assert_eq!(wants(&mut bench, 51, "fs/write_text_file", json!({"path":7})), None);
    let codes: Vec<Value> = bench.sent().iter().map(|line| line["error"]["code"].clone()).collect();
    assert_eq!(codes, [json!(-32002), json!(-32602)]);
    bench.forget();
    let (id, _) = wants(&mut bench, 52, "terminal/wait_for_exit", json!({"terminalId":"t"})).expect("wanted");
    bench.hear(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":52}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32800);
    assert_eq!(bench.errands.pop(), Some((id, ErrandStep::Dropped)));
}

#[test]
fn what_runs_at_the_end_of_a_prompt_is_ended_with_it() {
    let mut bench = prompted();
    let (running, _) =
        wants(&mut bench, 51, "terminal/create", json!({"command":"sleep 9"})).expect("wanted");
    let (name, args) = ("bash".to_owned(), Json::verbatim("{}"));
    bench.errand(running, ErrandNews::Begins { name, args });
    bench.errand(running, done(ErrandDone::Started("terminal-1".to_owned())));
    for piece in ["one\n", "two\n"] {
        bench.errand(running, ErrandNews::Wrote(piece.to_owned()));
    }
    let outputs: Vec<_> = bench.state.tools.values().map(|tool| tool.output.clone()).collect();
    assert_eq!(outputs, ["one\ntwo\n"], "what it writes is seen as it comes");
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#);
    assert_eq!(bench.errands.pop(), Some((running, ErrandStep::Dropped)));
    let outcomes: Vec<_> = bench.state.tools.values().map(|tool| tool.phase.clone()).collect();
    assert!(matches!(outcomes.as_slice(), [ToolPhase::Ended(ToolOutcome::Cancelled)]), "{outcomes:?}");
}

#[test]
fn a_no_without_a_reason_stops_the_prompt() {
    for (reason, stops) in [(None, true), (Some("other".to_owned()), false)] {
        let mut bench = prompted();
        let id = write(&mut bench, 50);
        bench.errand(id, consent());
        bench.answer(Answer::Deny { reason });
        let cancelled = bench.sent().iter().any(|line| line["method"] == "session/cancel");
        assert_eq!(cancelled, stops);
    }
}

#[test]
fn what_makes_room_passes_however_much_is_under_way() {
    let mut bench = prompted();
    for id in 0..64 {
        wants(&mut bench, 100 + id, "terminal/wait_for_exit", json!({"terminalId":"t"})).expect("wanted");
    }
    assert_eq!(wants(&mut bench, 50, "fs/read_text_file", json!({"path":"/w/f"})), None);
    for method in ["terminal/output", "terminal/kill", "terminal/release"] {
        assert!(wants(&mut bench, 60, method, json!({"terminalId":"t"})).is_some(), "{method}");
    }
}

#[test]
fn a_read_before_the_first_word_of_the_agent_can_be_asked_about() {
    let hello = Hello { cwd: "/w".to_owned(), does_errands: true, ..Hello::default() };
    let mut bench = UiBench::open(super::AcpUi::new(), &hello);
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#);
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"theirs-1"}}"#);
    bench.prompt("go");
    let (id, _) =
        wants(&mut bench, 50, "fs/read_text_file", json!({"path":"/etc/hostname"})).expect("wanted");
    bench.forget();
    bench.errand(id, consent());
    assert!(bench.sent().is_empty() && bench.state.asks.len() == 1, "{:?}", bench.sent());
}
