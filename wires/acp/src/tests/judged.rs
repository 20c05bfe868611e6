//! Permissions that are judged here before the person is asked: a rule answers at once, an answer is never longer than once on the wire.

use super::told;
use domain::ask::{Answer, AskKind, Assessment, Preview, Risk, Scope};
use domain::content::Json;
use domain::errand::{
    AskedCall, AskedChange, Errand, ErrandCause, ErrandConsent, ErrandDone, ErrandId, ErrandNews, ErrandStep,
};
use domain::event::{Body, ERRAND_REFUSED, NoteEvent, ToolEvent};
use domain::tool::{Decider, ToolOutcome, ToolPhase};
use roles::Hello;
use serde_json::{Value, json};
use testkit::bench::{UiBench, cancel};

/// A client that judges, up.
fn up() -> UiBench {
    let hello = Hello { cwd: "/w".to_owned(), does_errands: true, judges: true, ..Hello::default() };
    let mut bench = UiBench::open(super::AcpUi::new(), &hello);
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#);
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"theirs-1"}}"#);
    bench.forget();
    bench
}

/// The same with a prompt under way: what stood in the files is kept.
fn prompted() -> UiBench {
    let mut bench = up();
    bench.prompt("go");
    kept(&mut bench);
    bench.hear(&told(
        json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me see."}}),
    ));
    bench.forget();
    bench
}

/// Whether the session has a notice with this code.
fn noticed(bench: &UiBench, wanted: &str) -> bool {
    bench
        .events
        .iter()
        .any(|event| matches!(&event.body, Body::Note(NoteEvent::Noticed { code, .. }) if code == wanted))
}

fn kept(bench: &mut UiBench) -> ErrandId {
    let Some((id, ErrandStep::Wanted(Errand::Before { prompt }))) = bench.errands.pop() else {
        panic!("nothing is kept")
    };
    assert_eq!(prompt, "go");
    bench.errand(id, ErrandNews::Done { done: ErrandDone::Nothing, seen: None });
    id
}

fn asks(bench: &mut UiBench, id: u64, call: Value) -> Option<(ErrandId, AskedCall)> {
    let options = json!([
        {"optionId":"always","name":"Always","kind":"allow_always"},
        {"optionId":"once","name":"Once","kind":"allow_once"},
        {"optionId":"no","name":"No","kind":"reject_once"}
    ]);
    let params = json!({"sessionId":"theirs-1","toolCall":call,"options":options});
    let line = json!({"jsonrpc":"2.0","id":id,"method":"session/request_permission","params":params});
    bench.hear(&line.to_string());
    match bench.errands.pop()? {
        (id, ErrandStep::Wanted(Errand::Judge(call))) => Some((id, *call)),
        other => panic!("{other:?}"),
    }
}

fn command() -> Value {
    json!({"toolCallId":"c1","title":"npm test","kind":"execute","rawInput":{"command":"npm test"}})
}

fn consent() -> ErrandNews {
    let assessment =
        Assessment { risk: Risk::Low, reasons: vec!["ours".to_owned()], reversible: true, unrated: false };
    ErrandNews::Asks(Box::new(ErrandConsent {
        title: "run `npm test`".to_owned(),
        name: "npm test".to_owned(),
        args: Json::empty(),
        preview: Some(Preview::Command { line: "npm test".to_owned(), inner: Vec::new() }),
        assessment,
        rule: Some("run `npm test`".to_owned()),
    }))
}

fn allowed(by: Decider) -> ErrandNews {
    ErrandNews::Done { done: ErrandDone::Allowed(by), seen: None }
}

fn option(bench: &mut UiBench) -> Value {
    let said = bench.sent();
    assert_eq!(said.len(), 1, "{said:?}");
    said[0]["result"]["outcome"].clone()
}

#[test]
fn what_a_rule_allows_is_answered_without_a_question_and_the_record_names_the_rule() {
    let mut bench = prompted();
    let (id, call) = asks(&mut bench, 50, command()).expect("it is judged");
    assert_eq!(
        (call.command.as_deref(), call.cwd.as_deref(), call.is_whole),
        (Some("npm test"), Some("/w"), true)
    );
    assert!(bench.state.asks.is_empty() && bench.sent().is_empty(), "nobody is asked before it is judged");
    bench.errand(id, allowed(Decider::Rule("run `npm`".to_owned())));
    assert_eq!(option(&mut bench), json!({"outcome":"selected","optionId":"once"}));
    assert!(bench.state.asks.is_empty());
    let tool = bench.state.tools.values().next().expect("it stands in the record");
    assert!(matches!(tool.phase, ToolPhase::Running), "{tool:?}");
    let decided = bench.events.iter().find_map(|event| match &event.body {
        Body::Tool(ToolEvent::Decided { decision, .. }) => Some(decision.by.clone()),
        _ => None,
    });
    assert_eq!(decided, Some(Decider::Rule("run `npm`".to_owned())));
}

#[test]
fn a_person_sees_what_we_make_of_it_and_their_always_is_kept_here_and_once_there() {
    let mut bench = prompted();
    let (id, _) = asks(&mut bench, 50, command()).expect("it is judged");
    bench.errand(id, consent());
    let AskKind::Consent(asked) = &bench.state.asks[0].kind else { panic!() };
    assert_eq!(asked.rule.as_deref(), Some("run `npm test`"), "our rule, not the agent's");
    assert_eq!((asked.assessment.risk, asked.takes_reason), (Risk::Low, true));
    bench.answer(Answer::Allow { scope: Scope::Always, digest: None });
    assert_eq!(bench.errands.pop(), Some((id, ErrandStep::Allowed(Scope::Always))));
    assert!(bench.sent().is_empty(), "it is looked at once more first");
    bench.errand(id, allowed(Decider::Foreign));
    assert_eq!(option(&mut bench), json!({"outcome":"selected","optionId":"once"}));
    bench.forget();
    bench.errand(id, allowed(Decider::Foreign));
    assert!(bench.sent().is_empty(), "once");
}

#[test]
fn what_changed_after_it_was_shown_is_refused_though_the_person_said_yes() {
    let mut bench = prompted();
    let (id, _) = asks(&mut bench, 50, command()).expect("it is judged");
    bench.errand(id, consent());
    bench.answer(Answer::Allow { scope: Scope::Once, digest: None });
    let why = "it is not what was shown any more".to_owned();
    bench.errand(id, ErrandNews::Refused { cause: ErrandCause::Failed, why });
    assert_eq!(option(&mut bench)["optionId"], "no");
}

#[test]
fn what_the_mode_denies_is_refused_and_told() {
    let mut bench = prompted();
    let (id, _) = asks(&mut bench, 50, command()).expect("it is judged");
    bench.errand(id, ErrandNews::Refused { cause: ErrandCause::Mode, why: "read-only".to_owned() });
    assert_eq!(option(&mut bench)["optionId"], "no");
    assert!(noticed(&bench, ERRAND_REFUSED), "the person hears of it");
    let tool = bench.state.tools.values().next().expect("it stands in the record");
    assert!(
        matches!(&tool.phase, ToolPhase::Ended(ToolOutcome::Denied)),
        "whatever the agent says of it later: {tool:?}"
    );
}

#[test]
fn what_is_stopped_or_taken_back_while_it_is_judged_is_cancelled_once() {
    let mut bench = prompted();
    let (first, _) = asks(&mut bench, 50, command()).expect("it is judged");
    bench.hear(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":50}}"#);
    assert_eq!(bench.errands.pop(), Some((first, ErrandStep::Dropped)));
    assert_eq!(option(&mut bench)["outcome"], "cancelled");
    bench.forget();
    let mut call = command();
    call["toolCallId"] = json!("c2");
    let (second, _) = asks(&mut bench, 51, call).expect("it is judged");
    bench.command(cancel());
    assert_eq!(bench.errands.pop(), Some((second, ErrandStep::Dropped)));
    let answers = bench.sent().iter().filter(|line| line["id"] == 51).count();
    assert_eq!(answers, 1);
    bench.forget();
    bench.errand(second, allowed(Decider::Policy));
    assert!(bench.sent().is_empty(), "a late yes is never said");
}

#[test]
fn what_is_judged_is_what_a_shell_would_make_of_it_and_nothing_less() {
    let cases = [
        // A list of words is quoted, so that what one word holds is not read as several.
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":["bash","-lc","rm -rf x; ls"],"cwd":"/e"}}),
            (Some("bash -lc 'rm -rf x; ls'"), true),
        ),
        // A program with its arguments beside it is more than its line.
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":"rm","args":["-rf","/"]}}),
            (None, false),
        ),
        (json!({"toolCallId":"c","kind":"fetch","rawInput":{"command":"ls"}}), (None, false)),
        // Variables, another script, what it reads, another line or folder beside it are more than its line; words for eyes are not.
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":"ls","env":{"LD_PRELOAD":"/x.so"}}}),
            (Some("ls"), false),
        ),
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":"ls","script":"rm -rf /"}}),
            (Some("ls"), false),
        ),
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":"ls","cmd":"rm x"}}),
            (Some("ls"), false),
        ),
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":"ls","cwd":"/e","workdir":"/f"}}),
            (Some("ls"), false),
        ),
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":"ls","cwd":"/e","description":"look","env":{}}}),
            (Some("ls"), true),
        ),
        // What it shows beside a line is not known to us.
        (
            json!({"toolCallId":"c","kind":"execute","rawInput":{"command":"ls"},"content":[{"type":"odd","x":1}]}),
            (Some("ls"), false),
        ),
    ];
    for (call, (line, is_whole)) in cases {
        let mut bench = prompted();
        let (_, judged) = asks(&mut bench, 50, call.clone()).expect("it is judged");
        assert_eq!((judged.command.as_deref(), judged.is_whole), (line, is_whole), "{call}");
    }
    let diff = json!({"type":"diff","path":"/w/f","oldText":"a","newText":"b"});
    for (changes, is_whole) in [
        (json!({"/w/f":{"type":"update"}}), true),
        (json!({"/w/f":{"type":"update"},"/w/g":{"type":"delete"}}), false),
        (json!({"/w/f":{"type":"update","move_path":"/w/.git/hooks/x"}}), false),
    ] {
        let mut bench = prompted();
        let call = json!({"toolCallId":"c","kind":"edit","rawInput":{"changes":changes},"content":[diff]});
        let (_, judged) = asks(&mut bench, 50, call.clone()).expect("it is judged");
        let change = AskedChange { path: "/w/f".to_owned(), old: Some("a".to_owned()), new: "b".to_owned() };
        assert_eq!((judged.changes, judged.is_whole), (vec![change], is_whole), "{call}");
    }
}

#[test]
fn the_agent_hears_a_prompt_once_the_files_are_kept_and_its_end_is_looked_at_once() {
    let mut bench = up();
    bench.prompt("go");
    assert!(bench.sent().is_empty(), "not before");
    let before = kept(&mut bench);
    let said = bench.sent();
    assert_eq!(said[0]["method"], "session/prompt");
    let id = said[0]["id"].clone();
    bench.forget();
    bench.hear(&json!({"jsonrpc":"2.0","id":id,"result":{"stopReason":"end_turn"}}).to_string());
    let Some((_, ErrandStep::Wanted(Errand::After { of }))) = bench.errands.pop() else {
        panic!("not looked at")
    };
    assert_eq!(of, before);
    // What cannot be kept costs undo, and nothing else.
    bench.prompt("go");
    let Some((id, _)) = bench.errands.pop() else { panic!() };
    bench.errand(id, ErrandNews::Refused { cause: ErrandCause::Failed, why: "too large".to_owned() });
    assert_eq!(bench.sent()[0]["method"], "session/prompt");
}

#[test]
fn a_prompt_that_is_stopped_before_the_files_are_kept_is_never_heard() {
    let mut bench = up();
    bench.prompt("go");
    let Some((id, ErrandStep::Wanted(Errand::Before { .. }))) = bench.errands.pop() else { panic!() };
    bench.command(cancel());
    assert!(bench.state.open_run().is_none(), "it is over");
    bench.errand(id, ErrandNews::Done { done: ErrandDone::Nothing, seen: None });
    assert!(bench.sent().is_empty(), "{:?}", bench.sent());
}

#[test]
fn files_are_taken_back_by_who_keeps_them_and_the_session_says_so() {
    use domain::command::{Command, FilesCommand};
    let mut bench = prompted();
    bench.command(Command::Files(FilesCommand::Undo { leave: false }));
    let Some((id, ErrandStep::Wanted(Errand::Files(FilesCommand::Undo { leave: false })))) =
        bench.errands.pop()
    else {
        panic!("not handed on")
    };
    let done = ErrandDone::Files { text: "took back f".to_owned(), noted: Some("files_undone".to_owned()) };
    bench.errand(id, ErrandNews::Done { done, seen: None });
    assert!(noticed(&bench, "files_undone"));
}
