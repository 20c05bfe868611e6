//! Each quirk in the list has a test of the same name here, and each test stands in the list.

use super::super::quirks::QUIRKS;
use super::{agent, client, here, one, settle_lists, told, up, updates};
use domain::ask::{Answer, AskKind, Scope};
use domain::command::{Command, Receipt, RefusalKind, RunCommand, SessionCommand};
use domain::event::{Body, Outcome, SessionEvent};
use domain::session::{Policy, RunSummary};
use domain::tool::ToolPhase;
use serde_json::json;
use testkit::bench::{cancel, summary};

#[test]
fn every_quirk_has_its_test() {
    let source = include_str!("quirks.rs");
    for quirk in QUIRKS {
        assert!(source.contains(&format!("fn {}()", quirk.name)), "{}", quirk.name);
    }
    assert_eq!(source.matches("#[test]").count(), QUIRKS.len() + 1 + 1, "a test that is in no list");
}

#[test]
fn nothing_before_the_answer() {
    let mut bench = agent();
    bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    bench.say(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#);
    let ticket = one(&mut bench, |_| true);
    bench.forget();
    bench.attach();
    bench.opened("/w");
    // Somebody else is quick.
    bench.happen(Body::Session(SessionEvent::PolicyChosen { policy: Policy::Full }));
    bench.begin("from another");
    bench.talk("yes");
    assert!(bench.sent().is_empty());
    bench.settle(ticket, Ok(Receipt::Session { session: summary(&here()), parent: None }));
    settle_lists(&mut bench);
    let sent = bench.sent();
    assert_eq!(sent[0]["id"], 1);
    assert!(updates(&sent).contains(&"agent_message_chunk"), "and nothing of it is lost: {sent:?}");
}

#[test]
fn set_model_is_taken() {
    let mut bench = up(json!({}));
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"session/set_model","params":{"sessionId":"sess-0001","modelId":"north/small"}}"#);
    let ticket = one(
        &mut bench,
        |command| matches!(command, Command::Session(SessionCommand::SetModel { provider: Some(provider), name }) if provider == "north" && name == "small"),
    );
    bench.forget();
    bench.settle(ticket, Ok(Receipt::Done));
    assert_eq!(bench.sent()[0]["result"], json!({}));
}

#[test]
fn mode_by_another_name() {
    let mut bench = client();
    bench.hear(&told(json!({"sessionUpdate":"current_mode_update","modeId":"plan"})));
    assert!(bench.link.drifts.is_empty(), "{:?}", bench.link.drifts);
    assert!(format!("{:?}", bench.signals).contains("plan"));
}

fn permission(id: u64) -> String {
    json!({"jsonrpc":"2.0","id":id,"method":"session/request_permission","params":{"sessionId":"theirs-1",
        "toolCall":{"toolCallId":"c","title":"ls","kind":"execute","rawInput":{"command":"ls"}},
        "options":[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]}})
    .to_string()
}

#[test]
fn question_without_call() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&permission(50));
    let AskKind::Consent(consent) = bench.state.asks[0].kind.clone() else { panic!("no consent") };
    assert_eq!((consent.args.as_str(), bench.state.tools.len()), (r#"{"command":"ls"}"#, 1));
    bench.answer(Answer::Allow { scope: Scope::Once, digest: None });
    bench.hear(&told(json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"})));
    assert_eq!(bench.state.tools.len(), 1, "the same call");
}

#[test]
fn question_after_in_progress() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&told(
        json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"bash","rawInput":{"command":"ls"}}),
    ));
    bench.hear(&told(json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"})));
    bench.hear(&permission(50));
    assert_eq!(bench.state.asks.len(), 1);
    let phase = |bench: &testkit::bench::UiBench| bench.state.tools.values().next().unwrap().phase.clone();
    assert!(matches!(phase(&bench), ToolPhase::Awaiting(_)));
    // One that ran for a while before it is asked about is asked about all the same.
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&told(json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"bash","status":"in_progress","rawInput":{"command":"ls"}})));
    bench.wait(300);
    assert_eq!(phase(&bench), ToolPhase::Running);
    bench.hear(&permission(50));
    assert_eq!(bench.state.asks.len(), 1);
}

#[test]
fn late_yes_runs_the_tool() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&permission(50));
    let ask = bench.state.asks[0].id;
    bench.command(cancel());
    bench.forget();
    let late =
        bench.command(Command::Answer { ask, answer: Answer::Allow { scope: Scope::Once, digest: None } });
    assert_eq!(bench.settlement(late).unwrap().unwrap_err().kind, RefusalKind::AskOver);
    assert!(bench.sent().is_empty(), "nothing may be said that could be taken for a yes");
}

#[test]
fn result_in_raw_output() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&told(json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","status":"in_progress","rawInput":{"command":["ls"]}})));
    bench.hear(&told(json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","rawOutput":{"stdout":"a.txt\n"}})));
    let tool = bench.state.tools.values().next().unwrap();
    assert_eq!(tool.result.as_ref().unwrap().text, "a.txt\n");
}

#[test]
fn calls_left_open() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&told(json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","status":"in_progress","rawInput":{"command":"ls"}})));
    bench.command(cancel());
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}"#);
    assert_eq!(bench.outcome(), Some(Outcome::Cancelled));
    assert!(bench.state.tools.values().all(|tool| tool.ended()));
    // What still comes for it begins nothing.
    bench.hear(&told(json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"})));
    assert_eq!((bench.state.runs.len(), bench.state.tools.len()), (1, 1));
}

#[test]
fn command_names_its_session() {
    let hello = roles::Hello { cwd: "/w".to_owned(), does_errands: true, ..roles::Hello::default() };
    let mut bench = testkit::bench::UiBench::open(super::AcpUi::new(), &hello);
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#);
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"theirs-1"}}"#);
    bench.prompt("go");
    bench.hear(
        r#"{"jsonrpc":"2.0","id":7,"method":"terminal/create","params":{"sessionId":"theirs-1","command":"ls",
        "env":[{"name":"AGENT_SESSION_ID","value":"theirs-1"}]}}"#,
    );
    assert!(format!("{:?}", bench.errands).contains("env: []"), "{:?}", bench.errands);
}

#[test]
fn reads_what_it_makes() {
    for (agent, told) in [("gemini-cli", "result"), ("another", "error")] {
        let hello = roles::Hello { cwd: "/w".to_owned(), does_errands: true, ..roles::Hello::default() };
        let mut bench = testkit::bench::UiBench::open(super::AcpUi::new(), &hello);
        let info =
            json!({"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":agent,"version":"1"}});
        bench.hear(&json!({"jsonrpc":"2.0","id":1,"result":info}).to_string());
        bench.hear(r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"theirs-1"}}"#);
        bench.prompt("go");
        let params = json!({"sessionId":"theirs-1","path":"/w/new"});
        bench.hear(&json!({"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":params}).to_string());
        let (id, _) = bench.errands.pop().unwrap();
        let (cause, why) = (domain::errand::ErrandCause::Missing, "there is no such file".to_owned());
        bench.forget();
        bench.errand(id, domain::errand::ErrandNews::Refused { cause, why });
        assert!(bench.sent()[0].get(told).is_some(), "{:?}", bench.sent());
        // Only what it reads: a terminal that is not there is not.
        let params = json!({"sessionId":"theirs-1","terminalId":"t"});
        bench.hear(&json!({"jsonrpc":"2.0","id":8,"method":"terminal/output","params":params}).to_string());
        let (id, _) = bench.errands.pop().unwrap();
        let (cause, why) = (domain::errand::ErrandCause::Missing, "there is no such terminal".to_owned());
        bench.forget();
        bench.errand(id, domain::errand::ErrandNews::Refused { cause, why });
        assert!(bench.sent()[0].get("error").is_some(), "{:?}", bench.sent());
    }
}

#[test]
fn prompts_wait() {
    let mut bench = up(json!({}));
    for id in [5, 6] {
        let params = json!({"sessionId":"sess-0001","prompt":[{"type":"text","text":"go"}]});
        bench.say(&json!({"jsonrpc":"2.0","id":id,"method":"session/prompt","params":params}).to_string());
    }
    let wanted = bench.commands();
    assert_eq!(wanted.len(), 2);
    let is = |command: &Command| matches!(command, Command::Run(RunCommand::Prompt { options, .. }) if options.when_busy == domain::command::WhenBusy::Queue);
    assert!(wanted.iter().all(|(_, _, command)| is(command)));
    let run = bench.mint_run();
    bench.settle(wanted[0].0, Ok(Receipt::Started { session: here(), run }));
    bench.start(run, "go");
    let item = bench.queue(domain::queue::QueueKind::FollowUp, "go");
    bench.settle(wanted[1].0, Ok(Receipt::Queued { item, run }));
    bench.forget();
    bench.end(Outcome::Cancelled);
    let ids: Vec<_> =
        bench.sent().into_iter().filter_map(|line| line.get("result").map(|_| line["id"].clone())).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    let _ = RunSummary { run, outcome: None };
}

#[test]
fn other_versions() {
    let mut bench = agent();
    bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":99}}"#);
    assert_eq!(bench.sent()[0]["result"]["protocolVersion"], 1);
}

#[test]
fn ids_from_zero() {
    for id in [json!(0), json!(-7), json!("a-b"), json!(9_007_199_254_740_993_i64)] {
        let mut bench = agent();
        bench.say(
            &json!({"jsonrpc":"2.0","id":id,"method":"initialize","params":{"protocolVersion":1}})
                .to_string(),
        );
        assert_eq!(bench.sent()[0]["id"], id);
    }
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&permission(0));
    bench.forget();
    bench.answer(Answer::Deny { reason: None });
    assert_eq!(bench.sent()[0]["id"], 0);
}

#[test]
fn errors_without_id() {
    let mut bench = client();
    bench.prompt("go");
    bench.forget();
    bench.hear(r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}"#);
    assert_eq!(bench.link.drifts.len(), 1);
    assert!(bench.sent().is_empty());
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}"#);
    assert_eq!(bench.outcome(), Some(Outcome::Done));
}
