//! We are the agent: what a client is told and when.

use super::{agent, here, one, up, updates};
use domain::ask::{Answer, AskKind, Closing, Scope};
use domain::command::{Command, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand};
use domain::content::{Part, Usage};
use domain::event::{Body, Cause, Failure, Leaving, NoteEvent, Outcome, PlanItem, PlanState, SessionEvent};
use domain::ids::{AskId, QueuedId, RunId};
use domain::queue::QueueKind;
use domain::session::{Policy, RunSummary};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use roles::Line;
use serde_json::{Value, json};
use testkit::bench::RuntimeBench;

pub(super) fn prompt(bench: &mut RuntimeBench, id: u64, text: &str) {
    let params = json!({"sessionId":"sess-0001","prompt":[{"type":"text","text":text}]});
    bench.say(&json!({"jsonrpc":"2.0","id":id,"method":"session/prompt","params":params}).to_string());
}

/// A prompt that begins a run.
pub(super) fn begun(bench: &mut RuntimeBench, id: u64) -> RunId {
    prompt(bench, id, "go");
    let ticket = one(bench, |command| matches!(command, Command::Run(RunCommand::Prompt { .. })));
    let run = bench.mint_run();
    bench.settle(ticket, Ok(Receipt::Started { session: here(), run }));
    bench.start(run, "go");
    run
}

pub(super) fn answers(sent: &[Value], id: u64) -> Vec<&Value> {
    sent.iter().filter(|line| line["id"] == id && line.get("method").is_none()).collect()
}

#[test]
fn every_version_is_answered_with_ours_and_none_is_an_error() {
    for version in [json!(0), json!(1), json!(2), json!(99)] {
        let mut bench = agent();
        bench.say(
            &json!({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":version}})
                .to_string(),
        );
        assert_eq!(bench.sent()[0]["result"]["protocolVersion"], 1, "{version}");
    }
    let mut bench = agent();
    bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    assert_eq!(bench.sent()[0]["error"]["code"], -32602);
}

#[test]
fn capabilities_are_objects_and_what_is_not_there_is_not_offered() {
    let mut bench = agent();
    bench.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    let can = bench.sent()[0]["result"]["agentCapabilities"].clone();
    for name in ["list", "resume", "close", "delete"] {
        assert_eq!(can["sessionCapabilities"][name], json!({}), "{name}");
    }
    assert_eq!(can["sessionCapabilities"]["additionalDirectories"], json!({}));
    assert_eq!(can["mcpCapabilities"], json!({"http":true,"sse":false}));
    assert_eq!(can["auth"], json!({"logout":{}}));
    // What is not offered is refused by the same name.
    let mut bench = up(json!({}));
    for (method, params, code) in [
        ("authenticate", json!({"methodId":"x"}), -32602),
        ("session/archive", json!({"sessionId":"sess-0001"}), -32601),
        ("session/new", json!({"cwd":"/w","mcpServers":[],"additionalDirectories":["x"]}), -32602),
        (
            "session/new",
            json!({"cwd":"/w","mcpServers":[{"type":"sse","name":"a","url":"u","headers":[]}]}),
            -32602,
        ),
        ("session/new", json!({"cwd":"w","mcpServers":[]}), -32602),
        ("session/new", json!({"cwd":"/w"}), -32602),
        ("session/load", json!({"sessionId":"no/such","cwd":"/w","mcpServers":[]}), -32002),
        ("session/list", json!({"cursor":"elsewhere"}), -32602),
        ("session/list", json!({"cwd":"relative"}), -32602),
        ("session/prompt", json!({"sessionId":"sess-9999","prompt":[{"type":"text","text":"x"}]}), -32002),
        ("session/prompt", json!({"sessionId":"sess-0001","prompt":[]}), -32602),
        (
            "session/prompt",
            json!({"sessionId":"sess-0001","prompt":[{"type":"audio","data":"","mimeType":"audio/wav"}]}),
            -32602,
        ),
        ("session/prompt", json!({"sessionId":"sess-0001","prompt":[{"type":"smell"}]}), -32602),
        ("session/set_mode", json!({"sessionId":"sess-0001","modeId":"wild"}), -32602),
        ("session/set_config_option", json!({"sessionId":"sess-0001","configId":"x","value":"y"}), -32602),
        (
            "session/set_config_option",
            json!({"sessionId":"sess-0001","configId":"mode","type":"boolean","value":true}),
            -32602,
        ),
    ] {
        bench.say(&json!({"jsonrpc":"2.0","id":7,"method":method,"params":params}).to_string());
        let sent = bench.sent();
        assert_eq!(sent[0]["error"]["code"], code, "{method} {params}: {sent:?}");
        assert_eq!(bench.commands().len(), 0, "{method} {params}");
    }
}

#[test]
fn a_run_is_told_and_then_answered() {
    let mut bench = up(json!({}));
    begun(&mut bench, 5);
    let (step, message) = bench.step();
    bench.delta(message, "Let me ");
    bench.delta(message, "see.");
    let tool = bench.propose(message, "read", r#"{"path":"a.txt"}"#);
    bench.end_message(message);
    bench.run_tool(tool, ToolOutcome::Done, ToolResult::text("alpha"));
    bench.end_step(step, Usage::default());
    bench.end(Outcome::Done);
    let sent = bench.sent();
    assert_eq!(
        updates(&sent),
        [
            "agent_message_chunk",
            "agent_message_chunk",
            "tool_call",
            "tool_call_update",
            "tool_call_update",
            "session_info_update"
        ],
        "the prompt is no echo, and the title comes before the answer: {sent:#?}"
    );
    let call = &sent[2]["params"]["update"];
    assert_eq!(
        (&call["kind"], &call["name"], &call["status"]),
        (&json!("read"), &json!("read"), &json!("pending"))
    );
    assert_eq!(call["locations"], json!([{"path":"/w/a.txt"}]));
    assert_eq!(call["rawInput"], json!({"path":"a.txt"}));
    let last = sent.last().unwrap();
    assert_eq!((&last["id"], &last["result"]["stopReason"]), (&json!(5), &json!("end_turn")));
    assert_eq!(last["result"]["_meta"]["parlor"]["cursor"]["seq"], bench.state().seq.0);
}

#[test]
fn outcomes_are_stop_reasons_or_errors() {
    for (outcome, stop) in [
        (Outcome::Done, Ok("end_turn")),
        (Outcome::Cancelled, Ok("cancelled")),
        (Outcome::Failed(Failure::new("step_limit", "too often")), Ok("max_turn_requests")),
        (Outcome::Failed(Failure::new("model_overloaded", "no").hint("wait")), Err(-32603)),
        (Outcome::Interrupted, Err(-32603)),
        (Outcome::Lost, Err(-32603)),
    ] {
        let mut bench = up(json!({}));
        begun(&mut bench, 5);
        bench.talk("hm");
        bench.end(outcome.clone());
        let sent = bench.sent();
        let answer = sent.iter().find(|line| line["id"] == 5).unwrap();
        match stop {
            Ok(stop) => assert_eq!(answer["result"]["stopReason"], stop, "{outcome:?}"),
            Err(code) => assert_eq!(answer["error"]["code"], code, "{outcome:?}"),
        }
    }
}

#[test]
fn a_prompt_in_a_run_waits_and_each_is_answered_once() {
    let mut bench = up(json!({}));
    let run = begun(&mut bench, 5);
    bench.talk("first");
    prompt(&mut bench, 6, "then");
    let ticket = one(&mut bench, |command| matches!(command, Command::Run(RunCommand::Prompt { .. })));
    // In front of another program the hub has to be asked otherwise.
    bench.settle(ticket, Err(Refusal::new(RefusalKind::Busy, "a run is under way")));
    let ticket = one(&mut bench, |command| {
        matches!(command, Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, .. }))
    });
    let item = bench.queue(QueueKind::FollowUp, "then");
    bench.settle(ticket, Ok(Receipt::Queued { item, run }));
    assert!(answers(&bench.sent(), 5).is_empty());
    bench.end_turn();
    bench.leave(item, Leaving::Taken);
    bench.turn(Cause::FollowUp, "then");
    let sent = bench.sent();
    assert_eq!(answers(&sent, 5)[0]["result"]["stopReason"], "end_turn");
    assert!(!updates(&sent).contains(&"user_message_chunk"), "the client said it itself: {sent:?}");
    // What steers a turn belongs to its prompt.
    bench.end_turn();
    bench.turn(Cause::Steer, "shorter");
    assert!(answers(&bench.sent(), 6).is_empty());
    bench.talk("second");
    bench.end(Outcome::Done);
    let sent = bench.sent();
    assert_eq!(answers(&sent, 5).len(), 0);
    assert_eq!(answers(&sent, 6)[0]["result"]["stopReason"], "end_turn");
}

#[test]
fn a_cancel_stops_the_run_and_what_waits() {
    let mut bench = up(json!({}));
    let run = begun(&mut bench, 5);
    bench.talk("first");
    prompt(&mut bench, 6, "then");
    let ticket = one(&mut bench, |_| true);
    let item = bench.queue(QueueKind::FollowUp, "then");
    bench.settle(ticket, Ok(Receipt::Queued { item, run }));
    bench.say(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"sess-0001"}}"#);
    let ticket = one(&mut bench, |command| matches!(command, Command::Run(RunCommand::Cancel { .. })));
    bench.settle(ticket, Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
    bench.end(Outcome::Cancelled);
    let sent = bench.sent();
    for id in [5, 6] {
        assert_eq!(answers(&sent, id).len(), 1, "{id}: {sent:?}");
        assert_eq!(answers(&sent, id)[0]["result"]["stopReason"], "cancelled", "{id}");
    }
    // Nothing to stop, an unknown session, or the id of nothing: no answer, and no effect.
    for line in [
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"sess-9999"}}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}"#,
    ] {
        bench.say(line);
        assert!(bench.sent().is_empty() && bench.commands().is_empty(), "{line}");
    }
}

#[test]
fn a_prompt_is_taken_back_by_its_id() {
    let mut bench = up(json!({}));
    begun(&mut bench, 5);
    let run = bench.state().open_run().map(|run| run.id).unwrap();
    prompt(&mut bench, 6, "then");
    let ticket = one(&mut bench, |_| true);
    let item = bench.queue(QueueKind::FollowUp, "then");
    bench.settle(ticket, Ok(Receipt::Queued { item, run }));
    bench.forget();
    // One that waits leaves the queue, and what runs goes on.
    bench.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":6}}"#);
    one(
        &mut bench,
        |command| matches!(command, Command::Queue(QueueCommand::Drop { item: dropped }) if *dropped == item),
    );
    bench.leave(item, Leaving::Dropped);
    let sent = bench.sent();
    assert_eq!(answers(&sent, 6)[0]["result"]["stopReason"], "cancelled");
    assert!(answers(&sent, 5).is_empty());
    bench.say(r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":5}}"#);
    one(&mut bench, |command| matches!(command, Command::Run(RunCommand::Cancel { .. })));
}

#[test]
fn a_question_about_a_command_keeps_the_place_of_its_output() {
    use domain::ask::Preview;
    for shows in [true, false] {
        let mut bench = up(json!({"_meta":{"terminal_output":shows}}));
        begun(&mut bench, 5);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "bash", r#"{"command":"make"}"#);
        let mut consent = bench.consent(tool);
        consent.preview = Some(Preview::Command { line: "make".to_owned(), inner: Vec::new() });
        bench.ask("Run a command?", AskKind::Consent(Box::new(consent)));
        let sent = bench.sent();
        let asked = sent.iter().find(|line| line["method"] == "session/request_permission").unwrap();
        let content = asked["params"]["toolCall"]["content"].as_array().unwrap();
        // A list of content takes the place of the one before: without the terminal nothing of what follows is shown.
        let kept = content.iter().any(|one| one["terminalId"] == tool.to_string());
        assert_eq!(kept, shows, "{asked}");
    }
}

/// A consent in a run of this client, and the request that it became.
fn asked(bench: &mut RuntimeBench, rule: Option<&str>) -> (AskId, Value) {
    begun(bench, 5);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", r#"{"command":"make all"}"#);
    let mut consent = bench.consent(tool);
    consent.rule = rule.map(ToOwned::to_owned);
    let ask = bench.ask("Run a command?", AskKind::Consent(Box::new(consent)));
    let sent = bench.sent();
    let at = |method: &str| sent.iter().position(|line| line["method"] == method);
    let call = sent.iter().position(|line| line["params"]["update"]["sessionUpdate"] == "tool_call");
    assert!(call.unwrap() < at("session/request_permission").unwrap(), "the call is told first");
    (ask, sent[at("session/request_permission").unwrap()].clone())
}

#[test]
fn an_answer_to_a_permission_is_what_its_option_says_and_everything_else_is_no() {
    let selected = |option: &str| json!({"result":{"outcome":{"outcome":"selected","optionId":option}}});
    let yes = |scope| Answer::Allow { scope, digest: Some(domain::ask::ActionDigest("d".to_owned())) };
    let no = || Answer::Deny { reason: None };
    let with_reason = json!({"result":{"outcome":{"outcome":"selected","optionId":"reject_once"},"_meta":{"reason":"use the other"}}});
    for (said, answer) in [
        (selected("allow_once"), yes(Scope::Once)),
        (selected("allow_session"), yes(Scope::Session)),
        (selected("allow_always"), yes(Scope::Always)),
        (selected("reject_once"), no()),
        (with_reason, Answer::Deny { reason: Some("use the other".to_owned()) }),
        (selected("never_offered"), no()),
        (json!({"result":{"outcome":{"outcome":"cancelled"}}}), no()),
        (json!({"result":{"outcome":{"outcome":"shrug"}}}), no()),
        (json!({"result":null}), no()),
        (json!({"result":{}}), no()),
    ] {
        let mut bench = up(json!({}));
        let (ask, request) = asked(&mut bench, Some("make *"));
        assert_eq!(request["params"]["options"].as_array().unwrap().len(), 4);
        let mut line = said.clone();
        line["jsonrpc"] = json!("2.0");
        line["id"] = request["id"].clone();
        bench.say(&line.to_string());
        let (_, _, command) = bench.command();
        assert_eq!(command, Command::Answer { ask, answer }, "{said}");
        // A second answer finds nobody who asked.
        bench.say(&line.to_string());
        assert!(bench.commands().is_empty(), "{said}");
    }
    let mut bench = up(json!({}));
    let (_, request) = asked(&mut bench, None);
    let ids: Vec<&str> = request["params"]["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| option["optionId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["allow_once", "allow_session", "reject_once"], "no rule, no always");
}

#[test]
fn a_question_that_is_over_is_taken_back_and_a_late_yes_does_nothing() {
    let mut bench = up(json!({}));
    let (ask, request) = asked(&mut bench, None);
    bench.close_ask(
        ask,
        Closing::Answered { answer: Answer::Deny { reason: None }, by: Some("another".to_owned()) },
    );
    let sent = bench.sent();
    assert_eq!(sent[0]["method"], "$/cancel_request");
    assert_eq!(sent[0]["params"]["requestId"], request["id"]);
    let late = json!({"jsonrpc":"2.0","id":request["id"],"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}});
    bench.say(&late.to_string());
    assert!(bench.commands().is_empty());
}

#[test]
fn who_says_no_may_say_why_where_forms_are_shown() {
    let mut bench = up(json!({"elicitation":{"form":{}}}));
    let (ask, request) = asked(&mut bench, None);
    let chosen = json!({"jsonrpc":"2.0","id":request["id"],"result":{"outcome":{"outcome":"selected","optionId":"reject_with_reason"}}});
    bench.say(&chosen.to_string());
    assert!(bench.commands().is_empty(), "the question stays open until it is said why");
    let form = bench.sent().remove(0);
    assert_eq!(form["method"], "elicitation/create");
    let said = json!({"jsonrpc":"2.0","id":form["id"],"result":{"action":"accept","content":{"answer":"not that one"}}});
    bench.say(&said.to_string());
    let answer = Answer::Deny { reason: Some("not that one".to_owned()) };
    assert_eq!(bench.command().2, Command::Answer { ask, answer });
}

#[test]
fn questions_become_forms_where_they_are_offered_and_secrets_never_do() {
    let choose = AskKind::Choose {
        message: "Which?".to_owned(),
        choices: vec![domain::ask::Choice { id: "a".to_owned(), label: "A".to_owned(), detail: None }],
        many: false,
    };
    let text = |secret| AskKind::Text {
        message: "Name?".to_owned(),
        placeholder: None,
        default: Some("x".to_owned()),
        secret,
        multiline: false,
    };
    let confirm = AskKind::Confirm { message: "Sure?".to_owned(), yes: None, no: None, danger: false };
    let edit = AskKind::Edit { message: "Mend it".to_owned(), prefill: "b".to_owned() };
    for (kind, content, answer) in [
        (choose.clone(), json!("a"), Answer::Chosen(vec!["a".to_owned()])),
        (choose, json!("z"), Answer::Dismissed),
        (text(false), json!("Ada"), Answer::Entered("Ada".to_owned())),
        (confirm.clone(), json!("yes"), Answer::Confirmed(true)),
        (confirm.clone(), json!("no"), Answer::Confirmed(false)),
        (edit, json!("c"), Answer::Entered("c".to_owned())),
    ] {
        let mut bench = up(json!({"elicitation":{"form":{}}}));
        begun(&mut bench, 5);
        let ask = bench.ask("A question", kind.clone());
        let sent = bench.sent();
        let form = sent.iter().find(|line| line["method"] == "elicitation/create").unwrap();
        assert_eq!(
            (&form["params"]["mode"], &form["params"]["sessionId"]),
            (&json!("form"), &json!("sess-0001"))
        );
        let said = json!({"jsonrpc":"2.0","id":form["id"],"result":{"action":"accept","content":{"answer":content}}});
        bench.say(&said.to_string());
        assert_eq!(bench.command().2, Command::Answer { ask, answer }, "{kind:?}");
    }
    for (capabilities, kind) in
        [(json!({"elicitation":{"form":{}}}), text(true)), (json!({"elicitation":{}}), confirm)]
    {
        let mut bench = up(capabilities);
        begun(&mut bench, 5);
        bench.ask("A question", kind.clone());
        assert!(bench.sent().iter().all(|line| line["method"] != "elicitation/create"), "{kind:?}");
    }
}

#[test]
fn what_a_client_does_not_show_is_not_sent() {
    let plan = Body::Note(NoteEvent::PlanChanged {
        items: vec![PlanItem { text: "look".to_owned(), state: PlanState::Active }],
    });
    for (capabilities, kinds) in [
        (json!({}), vec!["plan"]),
        (json!({"session":{"notices":{},"compaction":{}}}), vec!["plan", "notice"]),
    ] {
        let mut bench = up(capabilities);
        bench.forget();
        bench.happen(plan.clone());
        bench.signal(&domain::signal::Signal::Notify {
            level: domain::signal::Level::Info,
            text: "hm".to_owned(),
        });
        assert_eq!(updates(&bench.sent()), kinds);
    }
}

#[test]
fn changes_of_the_settings_are_told_as_mode_and_as_options() {
    let mut bench = up(json!({}));
    bench.forget();
    bench.happen(Body::Session(SessionEvent::PolicyChosen { policy: Policy::Full }));
    let sent = bench.sent();
    assert_eq!(updates(&sent), ["current_mode_update", "config_option_update"]);
    assert_eq!(sent[0]["params"]["update"]["currentModeId"], "full");
    bench.say(r#"{"jsonrpc":"2.0","id":8,"method":"session/set_config_option","params":{"sessionId":"sess-0001","configId":"effort","value":"high"}}"#);
    let ticket =
        one(&mut bench, |command| matches!(command, Command::Session(SessionCommand::SetEffort { .. })));
    bench.settle(ticket, Ok(Receipt::Done));
    let options = bench.sent()[0]["result"]["configOptions"].clone();
    let ids: Vec<&str> =
        options.as_array().unwrap().iter().map(|option| option["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["mode", "model", "effort"], "the whole list");
    assert_eq!(options[2]["currentValue"], "high");
    // Refused, and still not a method that is not there.
    bench.say(r#"{"jsonrpc":"2.0","id":9,"method":"session/set_config_option","params":{"sessionId":"sess-0001","configId":"model","value":"north/tiny"}}"#);
    let ticket = one(&mut bench, |_| true);
    bench.settle(ticket, Err(Refusal::new(RefusalKind::Unsupported, "not here")));
    assert_eq!(bench.sent()[0]["error"]["code"], -32602);
}

#[test]
fn a_diff_has_old_and_new_text_and_live_output_goes_as_the_client_shows_it() {
    let patch = "--- b.txt\n+++ b.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n";
    let mut bench = up(json!({}));
    begun(&mut bench, 5);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "edit", r#"{"path":"b.txt"}"#);
    let parts = vec![Part::Diff { path: Some("b.txt".to_owned()), text: patch.to_owned() }];
    bench.run_tool(tool, ToolOutcome::Done, ToolResult { parts, ..ToolResult::text("edited") });
    let sent = bench.sent();
    let content = &sent.last().unwrap()["params"]["update"]["content"];
    assert_eq!(
        content[0],
        json!({"type":"diff","path":"/w/b.txt","oldText":"one\ntwo\n","newText":"one\nzwei\n"})
    );
    let run = |capabilities: Value| {
        let mut bench = up(capabilities);
        begun(&mut bench, 5);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "bash", r#"{"command":"make"}"#);
        bench.start_tool(tool);
        for piece in ["one\n", "two\n"] {
            let progress = Progress::Output(piece.to_owned());
            bench.happen(Body::Tool(domain::event::ToolEvent::Progress { tool, progress }));
        }
        bench.end_tool(tool, ToolOutcome::Done, ToolResult::text("one\ntwo"));
        let all: Vec<Value> = bench.sent().into_iter().map(|line| line["params"]["update"].clone()).collect();
        all.into_iter().filter(|update| update.get("toolCallId").is_some()).collect::<Vec<_>>()
    };
    let plain = run(json!({}));
    assert_eq!(plain[3]["content"][0]["content"]["text"], "one\ntwo\n", "the whole of it, since it replaces");
    let pieces = run(json!({"_meta":{"terminal_output":true}}));
    assert_eq!(pieces[0]["content"][0]["type"], "terminal");
    assert_eq!(pieces[0]["_meta"]["terminal_info"]["terminal_id"], pieces[0]["toolCallId"]);
    assert_eq!(pieces[3]["_meta"]["terminal_output"]["data"], "two\n");
    assert!(pieces[4]["_meta"]["terminal_exit"].is_object());
}

#[test]
fn ends_that_the_protocol_has_no_word_for_are_failures_with_ours_beside() {
    for (outcome, word) in [
        (ToolOutcome::Denied, "denied"),
        (ToolOutcome::Skipped, "skipped"),
        (ToolOutcome::Cancelled, "cancelled"),
    ] {
        let mut bench = up(json!({}));
        begun(&mut bench, 5);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "bash", "{}");
        bench.end_message(message);
        bench.end_tool(tool, outcome, ToolResult::text("no"));
        let sent = bench.sent();
        let update = &sent.last().unwrap()["params"]["update"];
        assert_eq!(
            (&update["status"], &update["_meta"]["parlor"]["outcome"]),
            (&json!("failed"), &json!(word))
        );
    }
}

#[test]
fn slash_commands_are_commands_and_other_slashes_are_words() {
    let mut bench = up(json!({}));
    prompt(&mut bench, 5, "/compact the gist");
    let ticket = one(
        &mut bench,
        |command| matches!(command, Command::Run(RunCommand::Compact { instruction: Some(words) }) if words == "the gist"),
    );
    bench.settle(ticket, Err(Refusal::new(RefusalKind::NothingToCompact, "too little")));
    assert_eq!(bench.sent().last().unwrap()["error"]["code"], -32603);
    prompt(&mut bench, 6, "/etc/hosts holds what?");
    one(&mut bench, |command| matches!(command, Command::Run(RunCommand::Prompt { .. })));
}

#[test]
fn a_steer_goes_into_the_run() {
    let mut bench = up(json!({}));
    let run = begun(&mut bench, 5);
    let line = r#"{"jsonrpc":"2.0","id":9,"method":"_session/steering","params":{"sessionId":"sess-0001","prompt":[{"type":"text","text":"shorter"}]}}"#;
    bench.say(line);
    let ticket = one(&mut bench, |command| {
        matches!(command, Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, .. }))
    });
    bench.forget();
    bench.settle(ticket, Ok(Receipt::Queued { item: QueuedId(9), run }));
    assert_eq!(bench.sent()[0]["result"]["outcome"], "injected");
}

#[test]
fn unreadable_lines_are_answered_without_an_id_and_the_link_lives() {
    let mut bench = up(json!({}));
    bench.forget();
    for (line, code) in [("{nope", -32700), ("[]", -32600), ("7", -32600)] {
        bench.say(line);
        let sent = bench.sent();
        assert_eq!((&sent[0]["id"], &sent[0]["error"]["code"]), (&Value::Null, &json!(code)), "{line}");
    }
    bench.line(Line::Garbled("\u{fffd}".to_owned()));
    assert_eq!(bench.sent()[0]["error"]["code"], -32700);
    bench.line(Line::Overlong(
        r#"{"jsonrpc":"2.0","id":12,"method":"session/prompt","params":{"x":"#.to_owned(),
    ));
    assert_eq!(bench.sent()[0]["id"], 12);
    for line in [
        "",
        r#"{"jsonrpc":"2.0","method":"_x/y","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":77,"result":{}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"x"}}"#,
    ] {
        bench.say(line);
        assert!(bench.sent().is_empty(), "{line}");
    }
}
