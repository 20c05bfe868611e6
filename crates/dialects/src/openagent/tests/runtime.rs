//! The runtime's side: what a query says, approvals, and several queries at once.

use super::bench::{HOME, RuntimeBench, SIDE, START, methods, session, summary};
use domain::ask::{Answer, Closing, Risk, Scope};
use domain::command::{
    Command, LibraryCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand, Target,
};
use domain::content::{Part, TextKind, Usage};
use domain::event::{AskEvent, Body, Failure, Finish, MessageEvent, Outcome, ToolEvent};
use domain::ids::Millis;
use domain::signal::{Level, Signal};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use roles::RuntimeRole;
use serde_json::{Value, json};
use std::time::Duration;

#[test]
fn a_query_is_answered_first_and_then_streams() {
    let mut bench = RuntimeBench::by_the_book();
    bench.query();
    let (step, message) = bench.answer(HOME);
    bench.delta(HOME, message, "The ls");
    bench.delta(HOME, message, " command");
    bench.now = Millis(START + 2000);
    bench.end_step(HOME, step, message, Usage { input: 100, output: 50, ..Usage::default() });
    bench.end(HOME, Outcome::Done);
    let lines = bench.sent();
    assert_eq!(lines[0], json!({"jsonrpc":"2.0","id":2,"result":{"query_id":"q-1","status":"processing"}}));
    let wanted = ["response", "agent.thinking", "stream.token", "stream.token", "stream.complete"];
    assert_eq!(methods(&lines), wanted);
    assert_eq!(lines[1]["params"]["phase"], "analyzing");
    let token = json!({"query_id":"q-1","token":"The ls","content":"The ls","index":0,"type":"text","metadata":{"type":"text"}});
    assert_eq!(lines[2], json!({"jsonrpc":"2.0","method":"stream.token","params":token}));
    assert_eq!(lines[3]["params"]["index"], 1);
    let complete = json!({"query_id":"q-1","status":"success","metadata":{"total_tokens":150,"tokens_per_second":25.0,
        "tools_executed":[],"model_used":"offline/echo","duration_ms":2000,"input_tokens":100,"output_tokens":50}});
    assert_eq!(lines[4]["params"], complete);
}

#[test]
fn the_context_goes_before_the_prompt_and_options_with_it() {
    let mut bench = RuntimeBench::by_the_book();
    bench.say(r#"{"jsonrpc":"2.0","method":"context.update","params":{"cwd":"/home/user/new","terminal_size":{"cols":100,"rows":30}}}"#);
    assert_eq!(bench.commands(), []);
    bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"How?","context":{"shell":"bash","recent_commands":[{"command":"cargo test","exit_code":1}],"open_files":["a.rs"]},"options":{"stream":true,"max_tokens":2048,"temperature":0.7,"tools_enabled":false,"require_approval":true}}}"#);
    let (ticket, target, command) = bench.command();
    assert_eq!(target, Target::Current);
    let Command::UpdateContext(context) = command else { panic!("{command:?}") };
    assert_eq!(context.cwd.as_deref(), Some("/home/user/new"));
    assert_eq!(context.notes, ["shell: bash", "ran: cargo test (failed with code 1)", "open file: a.rs"]);
    bench.attach(HOME);
    bench.settle(ticket, Ok(Receipt::Done));
    let (ticket, target, command) = bench.command();
    assert_eq!(target, Target::Session(session(HOME)));
    let Command::Run(RunCommand::Prompt { input, options }) = command else { panic!("{command:?}") };
    assert_eq!(input.text, "How?");
    assert_eq!(
        (options.max_tokens, options.temperature, options.tools),
        (Some(2048), Some(700), Some(false))
    );
    bench.start(HOME, ticket);
    let lines = bench.sent();
    assert_eq!(methods(&lines)[..2], ["response", "suggestion.inline"]);
    assert_eq!(lines[1]["params"]["suggestion"], "cargo test -- --nocapture");
    // From now on a change of the context goes to the session.
    bench.say(r#"{"jsonrpc":"2.0","method":"context.update","params":{"cwd":"/x"}}"#);
    assert!(matches!(bench.command(), (_, _, Command::UpdateContext(_))));
    bench
        .say(r#"{"jsonrpc":"2.0","method":"context.update","params":{"terminal_size":{"cols":1,"rows":1}}}"#);
    assert_eq!(bench.commands(), []);
}

#[test]
fn fenced_code_and_diffs_become_blocks() {
    let mut bench = RuntimeBench::by_the_book();
    bench.query();
    let (_, message) = bench.answer(HOME);
    bench.sent();
    for piece in ["Look:\n``", "`sh\nls", " -l\n``", "`\nDone. \u{1b}[31mred"] {
        bench.delta(HOME, message, piece);
    }
    bench.happen(
        HOME,
        Body::Message(MessageEvent::PartAdded {
            message,
            part: Part::Diff { path: Some("a.rs".into()), text: "-a\n+b".into() },
        }),
    );
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["stream.token", "stream.block", "stream.token", "stream.block"]);
    assert_eq!(lines[0]["params"]["token"], "Look:\n");
    let block = &lines[1]["params"];
    assert_eq!(block["block"]["content"], "ls -l");
    assert_eq!(
        (&block["type"], &block["language"], &block["content"]),
        (&json!("code"), &json!("sh"), &json!("ls -l"))
    );
    assert_eq!(block["block"]["metadata"], json!({"diff":false,"executable":true}));
    assert_eq!(lines[2]["params"]["token"], "Done. red");
    assert_eq!(lines[3]["params"]["block"]["type"], "diff");
    assert_eq!(lines[3]["params"]["block"]["metadata"]["file"], "a.rs");
    assert_ne!(lines[1]["params"]["block_id"], lines[3]["params"]["block_id"]);
}

#[test]
fn a_client_without_blocks_gets_text_and_one_without_streams_gets_blocks() {
    let mut bench =
        RuntimeBench::greeted(r#"{"client_info":{"name":"x","version":"1"},"capabilities":["streaming"]}"#);
    assert!(!bench.role.can_answer().consent);
    bench.query();
    let (_, message) = bench.answer(HOME);
    bench.sent();
    bench.delta(HOME, message, "```sh\nls\n```\n");
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["stream.token"]);
    assert_eq!(lines[0]["params"]["token"], "```sh\nls\n```\n");

    let mut bench = RuntimeBench::by_the_book();
    bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go","options":{"stream":false}}}"#);
    let (ticket, ..) = bench.command();
    bench.attach(HOME);
    bench.start(HOME, ticket);
    let (_, message) = bench.answer(HOME);
    bench.sent();
    bench.delta(HOME, message, "one ");
    bench.delta(HOME, message, "two");
    assert!(bench.sent().is_empty());
    bench.end(HOME, Outcome::Done);
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["stream.block", "stream.complete"]);
    assert_eq!(lines[0]["params"]["block"]["content"], "one two");
    assert_eq!(lines[0]["params"]["type"], "text");
}

#[test]
fn a_link_that_lags_gets_its_text_in_batches() {
    let mut bench = RuntimeBench::by_the_book();
    bench.query();
    let (_, message) = bench.answer(HOME);
    bench.sent();
    let delta =
        |text: &str| Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: text.into() });
    let events: Vec<_> = ["Hello", " ", "world"].map(|text| bench.fold(HOME, delta(text))).into();
    for event in &events {
        bench.tell(HOME, event);
    }
    let lines = bench.sent();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["method"], "stream.tokens");
    let tokens = json!([{"token":"Hello","index":0},{"token":" ","index":1},{"token":"world","index":2}]);
    assert_eq!(lines[0]["params"]["tokens"], tokens);
    bench.delta(HOME, message, "!");
    assert_eq!(bench.sent()[0]["params"]["index"], 3);
}

#[test]
fn an_approval_round_trip() {
    let mut bench = RuntimeBench::by_the_book();
    let answers = bench.role.can_answer();
    assert!(answers.consent && !answers.other && answers.deadline == Some(Duration::from_secs(30)));
    let run = bench.query();
    let (_, message) = bench.answer(HOME);
    bench.sent();
    let tool = bench.propose(message, "write", r#"{"path":"a.rs","content":"x"}"#);
    bench.happen(HOME, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    let ask = bench.ask(tool, run, Risk::Medium);
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["agent.thinking", "tool.request_approval"]);
    let wanted = json!({"execution_id":"exec-1","query_id":"q-1",
        "tool":{"name":"write","description":"Write a.rs","category":"file_system"},
        "arguments":{"path":"a.rs","content":"x"},
        "preview":{"type":"diff","content":"--- a\n+++ b\n","file":"a.rs"},
        "risk_assessment":{"level":"medium","reasons":["changes a file"],"reversible":true},"timeout":30,
        "tool_name":"write","description":"Write a.rs","risk_level":"medium","rule":"write in this project","takes_reason":true});
    assert_eq!(lines[1]["params"], wanted);
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"tool.approve","params":{"execution_id":"exec-1","approved":true,"options":{"remember_choice":false,"apply_to_similar":true}}}"#);
    let (ticket, target, command) = bench.command();
    assert_eq!(target, Target::Session(session(HOME)));
    let Command::Answer { ask: asked, answer: Answer::Allow { scope, digest } } = command else {
        panic!("{command:?}")
    };
    assert_eq!((asked, scope), (ask, Scope::Session));
    assert!(digest.is_some());
    bench.settle(ticket, Ok(Receipt::Done));
    assert_eq!(
        bench.sent(),
        [json!({"jsonrpc":"2.0","id":4,"result":{"status":"approved","execution_id":"exec-1"}})]
    );
    let answer = Answer::Allow { scope, digest };
    bench.happen(HOME, Body::Ask(AskEvent::Closed { ask, closing: Closing::Answered { answer, by: None } }));
    let diff = Part::Diff { path: Some("a.rs".into()), text: "-a\n+b".into() };
    let result = ToolResult { text: "written".into(), parts: vec![diff], ..ToolResult::default() };
    bench.run_tool(tool, ToolOutcome::Done, result);
    let lines = bench.sent();
    assert_eq!(
        methods(&lines),
        ["agent.thinking", "tool.progress", "stream.block", "tool.complete", "stream.block"]
    );
    assert_eq!(lines[0]["params"]["phase"], "executing");
    assert_eq!(lines[1]["params"]["progress"]["status"], "started");
    let result = json!({"output":"written","files_modified":["a.rs"],"duration_ms":0});
    assert_eq!(lines[3]["params"]["result"], result);
    assert_eq!(lines[3]["params"]["status"], "success");
    assert_eq!(lines[4]["params"]["block"]["type"], "tool_output");
    bench.end(HOME, Outcome::Done);
    assert_eq!(bench.sent().last().unwrap()["params"]["metadata"]["tools_executed"], json!(["write"]));
}

#[test]
fn how_far_an_approval_reaches() {
    for (options, wanted) in [
        ("{}", Scope::Once),
        (r#"{"apply_to_similar":true}"#, Scope::Session),
        (r#"{"remember_choice":true}"#, Scope::Always),
        (r#"{"remember_choice":true,"apply_to_similar":true}"#, Scope::Always),
    ] {
        let mut bench = RuntimeBench::by_the_book();
        let run = bench.query();
        let (_, message) = bench.answer(HOME);
        let tool = bench.propose(message, "write", "{}");
        bench.ask(tool, run, Risk::High);
        bench.say(&format!(r#"{{"id":4,"method":"tool.approve","params":{{"execution_id":"exec-1","approved":true,"options":{options}}}}}"#));
        let (_, _, command) = bench.command();
        assert!(
            matches!(&command, Command::Answer { answer: Answer::Allow { scope, .. }, .. } if *scope == wanted),
            "{command:?}"
        );
    }
}

#[test]
fn a_denial_an_expiry_and_answers_that_come_too_late() {
    let mut bench = RuntimeBench::by_the_book();
    let run = bench.query();
    let (_, message) = bench.answer(HOME);
    let tool = bench.propose(message, "write", "{}");
    let ask = bench.ask(tool, run, Risk::High);
    bench.sent();
    let approve = |id: u32, approved: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tool.approve","params":{{"execution_id":"exec-1","approved":{approved},"reason":"not now"}}}}"#
        )
    };
    bench.say(&approve(4, "false"));
    let (ticket, _, command) = bench.command();
    assert_eq!(command, Command::Answer { ask, answer: Answer::Deny { reason: Some("not now".into()) } });
    bench.settle(ticket, Err(Refusal::new(RefusalKind::AskOver, "too late")));
    assert_eq!(bench.sent()[0]["error"]["code"], -32602);
    bench.happen(HOME, Body::Ask(AskEvent::Closed { ask, closing: Closing::Expired }));
    bench.say(&approve(5, "true"));
    assert_eq!(bench.sent()[0]["error"]["code"], -32003);
    bench.say(r#"{"jsonrpc":"2.0","id":6,"method":"tool.approve","params":{"execution_id":"exec-7","approved":true}}"#);
    bench.say(r#"{"jsonrpc":"2.0","id":7,"method":"tool.approve","params":{}}"#);
    for line in bench.sent() {
        assert_eq!(line["error"]["code"], -32602, "{line}");
    }
    let decision = domain::tool::Decision {
        allowed: false,
        by: domain::tool::Decider::Policy,
        scope: Scope::Once,
        reason: None,
        digest: None,
    };
    bench.happen(HOME, Body::Tool(ToolEvent::Decided { tool, decision }));
    bench.happen(
        HOME,
        Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Denied, result: ToolResult::text("late") }),
    );
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["tool.complete"]);
    assert_eq!(lines[0]["params"]["status"], "timeout");
    assert_eq!(bench.commands(), []);
}

#[test]
fn approval_is_not_required_if_the_client_says_so_unless_it_cannot_be_undone() {
    for (risk, asked) in [(Risk::Medium, false), (Risk::High, true)] {
        let mut bench = RuntimeBench::by_the_book();
        bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go","options":{"require_approval":false}}}"#);
        let (ticket, ..) = bench.command();
        bench.attach(HOME);
        let run = bench.start(HOME, ticket);
        let (_, message) = bench.answer(HOME);
        let tool = bench.propose(message, "write", "{}");
        bench.sent();
        bench.ask(tool, run, risk);
        assert_eq!(methods(&bench.sent()).contains(&"tool.request_approval".to_owned()), asked);
        assert_eq!(bench.commands().len(), usize::from(!asked));
    }
}

#[test]
fn tools_that_need_no_approval_are_told_too() {
    let mut bench = RuntimeBench::by_the_book();
    bench.query();
    let (_, message) = bench.answer(HOME);
    let tool = bench.propose(message, "bash", r#"{"command":"ls"}"#);
    bench.happen(HOME, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    let decision = domain::tool::Decision {
        allowed: true,
        by: domain::tool::Decider::Policy,
        scope: Scope::Once,
        reason: None,
        digest: None,
    };
    bench.happen(HOME, Body::Tool(ToolEvent::Decided { tool, decision }));
    bench.sent();
    bench.happen(HOME, Body::Tool(ToolEvent::Started { tool }));
    bench.happen(HOME, Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output("a\nb\n".into()) }));
    let status = Progress::Status { percent: Some(45), message: "Analyzing 15 files...".into() };
    bench.happen(HOME, Body::Tool(ToolEvent::Progress { tool, progress: status }));
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["agent.thinking", "tool.progress", "tool.progress", "tool.progress"]);
    assert_eq!(lines[1]["params"]["tool"]["name"], "bash");
    assert_eq!(lines[1]["params"]["arguments"], json!({"command":"ls"}));
    let output =
        json!({"percentage":0.0,"status":"processing","message":"b","indeterminate":true,"output":"a\nb\n"});
    assert_eq!(lines[2]["params"]["progress"], output);
    let status = json!({"percentage":45.0,"status":"processing","message":"Analyzing 15 files..."});
    assert_eq!(lines[3]["params"]["progress"], status);
}

#[test]
fn every_end_has_one_complete() {
    let failure = |code: &str| Outcome::Failed(Failure::new(code, "boom").hint("try again"));
    for (outcome, status, code) in [
        (Outcome::Done, "success", None),
        (Outcome::Cancelled, "cancelled", None),
        (failure("model_overloaded"), "error", Some(-32001)),
        (failure("tool_crashed"), "error", Some(-32002)),
        (failure("model_timeout"), "timeout", Some(-32003)),
        (failure("not_allowed"), "error", Some(-32005)),
        (failure("odd"), "error", Some(-32000)),
        (Outcome::Lost, "error", Some(-32000)),
        (Outcome::Interrupted, "error", Some(-32000)),
    ] {
        let mut bench = RuntimeBench::by_the_book();
        bench.query();
        let (_, message) = bench.answer(HOME);
        bench.delta(HOME, message, "Processing...");
        bench.end(HOME, outcome);
        let lines = bench.sent();
        let complete: Vec<_> = lines.iter().filter(|line| line["method"] == "stream.complete").collect();
        assert_eq!(complete.len(), 1);
        assert_eq!(lines.last(), complete.last().copied());
        assert_eq!(complete[0]["params"]["status"], status);
        let error = lines.iter().find(|line| line["method"] == "stream.error");
        assert_eq!(error.and_then(|line| line["params"]["error"]["code"].as_i64()), code);
    }
}

#[test]
fn a_second_and_third_query_run_beside_the_first_and_a_fourth_is_refused() {
    let mut bench = RuntimeBench::by_the_book();
    // A first conversation, so that there is something to branch from.
    bench.query();
    let (step, message) = bench.answer(HOME);
    bench.delta(HOME, message, "first");
    bench.end_step(HOME, step, message, Usage::default());
    bench.end(HOME, Outcome::Done);
    let leaf = bench.states[&session(HOME)].leaf;
    let query = |id: u32| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"agent.query","params":{{"message":"go"}}}}"#)
    };
    bench.say(&query(3));
    let (ticket, ..) = bench.command();
    bench.say(&query(4));
    assert_eq!(bench.commands(), [], "where the first was asked is not known yet");
    bench.start(HOME, ticket);
    let (branch, _, command) = bench.command();
    assert_eq!(command, Command::Library(LibraryCommand::Branch { session: Some(session(HOME)), at: leaf }));
    bench.attach(SIDE);
    bench.settle(branch, Ok(Receipt::Session { session: summary(SIDE), parent: Some(session(HOME)) }));
    let commands = bench.commands();
    let [(prompt, target, Command::Run(RunCommand::Prompt { .. })), (_, home, Command::UpdateContext(_))] =
        commands.as_slice()
    else {
        panic!("{commands:?}")
    };
    assert_eq!((target, home), (&Target::Session(session(SIDE)), &Target::Session(session(HOME))));
    let prompt = *prompt;
    bench.sent();
    bench.start(SIDE, prompt);
    assert_eq!(bench.sent()[0]["result"]["query_id"], "q-3");
    bench.say(&query(5));
    bench.say(&query(6));
    let refused = bench.sent();
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!(6), &json!(-32000)));
    assert_eq!(refused[0]["error"]["data"]["max_concurrent_queries"], 3);
    bench.commands();
    // Both streams go on under their own names.
    let (_, at_home) = bench.answer(HOME);
    let (_, beside) = bench.answer(SIDE);
    bench.sent();
    bench.delta(HOME, at_home, "h");
    bench.delta(SIDE, beside, "s");
    let ids: Vec<_> = bench.sent().iter().map(|line| line["params"]["query_id"].clone()).collect();
    assert_eq!(ids, ["q-2", "q-3"]);
    bench.end(SIDE, Outcome::Done);
    assert_eq!(bench.sent().last().unwrap()["params"]["query_id"], "q-3");
    let commands = bench.commands();
    assert_eq!(commands[0].1, Target::Session(session(SIDE)));
    assert_eq!(commands[0].2, Command::Session(SessionCommand::Close));
    bench.end(HOME, Outcome::Done);
    assert_eq!(bench.sent().last().unwrap()["params"]["query_id"], "q-2");
}

#[test]
fn a_runtime_that_cannot_branch_does_one_query_at_a_time() {
    let mut bench = RuntimeBench::by_the_book();
    bench.query();
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"agent.query","params":{"message":"go"}}"#);
    let (branch, ..) = bench.command();
    bench.sent();
    bench.settle(branch, Err(Refusal::new(RefusalKind::Unsupported, "no branches")));
    let refused = bench.sent();
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!(3), &json!(-32000)));
    bench.end(HOME, Outcome::Done);
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"agent.query","params":{"message":"go"}}"#);
    assert!(matches!(bench.command().2, Command::Run(RunCommand::Prompt { .. })));
}

#[test]
fn somebody_elses_run_is_told_along() {
    let mut bench = RuntimeBench::by_the_book();
    bench.attach(HOME);
    let run = domain::ids::RunId(77);
    bench.begin(HOME, run);
    let (_, message) = bench.answer(HOME);
    bench.delta(HOME, message, "theirs");
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"agent.query","params":{"message":"mine"}}"#);
    assert!(
        matches!(bench.command().2, Command::Library(LibraryCommand::New { .. })),
        "beside it, since nothing was said before it"
    );
    bench.end(HOME, Outcome::Done);
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["agent.thinking", "stream.token", "stream.complete"]);

    let mut bench = RuntimeBench::terminal();
    bench.attach(HOME);
    bench.begin(HOME, run);
    bench.end(HOME, Outcome::Done);
    assert_eq!(
        bench.sent(),
        Vec::<Value>::new(),
        "the existing client takes every end for that of its own query"
    );
}

#[test]
fn events_before_the_receipt_wait_for_it() {
    let mut bench = RuntimeBench::by_the_book();
    bench.attach(HOME);
    bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go"}}"#);
    let (ticket, ..) = bench.command();
    bench.begin(HOME, domain::ids::RunId(5));
    let (_, message) = bench.answer(HOME);
    bench.delta(HOME, message, "early");
    assert!(bench.sent().is_empty());
    bench.settle(ticket, Ok(Receipt::Done));
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["response", "agent.thinking", "stream.token"]);
    bench.end(HOME, Outcome::Done);
    assert_eq!(methods(&bench.sent()), ["stream.complete"]);
}

#[test]
fn a_session_shown_again_is_told_without_gaps_and_without_repeats() {
    let mut bench = RuntimeBench::by_the_book();
    let run = bench.query();
    let (_, message) = bench.answer(HOME);
    bench.delta(HOME, message, "one ");
    let tool = bench.propose(message, "write", "{}");
    bench.sent();
    // The link lags: these are known and never told one by one.
    bench
        .fold(HOME, Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: "two".into() }));
    bench.fold(HOME, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    let ask = super::bench::consent_ask(domain::ids::AskId(900), tool, run, Risk::High, None);
    bench.fold(HOME, Body::Ask(AskEvent::Opened(ask)));
    bench.attach(HOME);
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["stream.token", "tool.request_approval"]);
    assert_eq!(lines[0]["params"]["token"], "two");
    bench.attach(HOME);
    assert_eq!(bench.sent(), Vec::<Value>::new());
    for body in bench.states[&session(HOME)].close_run(Outcome::Cancelled) {
        bench.fold(HOME, body);
    }
    bench.attach(HOME);
    assert_eq!(methods(&bench.sent()), ["tool.complete", "stream.complete"]);
}

#[test]
fn signals() {
    let mut bench = RuntimeBench::by_the_book();
    let suggestion = Signal::Suggestion {
        text: "cargo test -- --nocapture".into(),
        confidence: 870,
        source: "command_history".into(),
        context: Some("why".into()),
    };
    bench.signal(&suggestion);
    let wanted = json!({"suggestion":"cargo test -- --nocapture","confidence":0.87,"source":"command_history","context":"why"});
    assert_eq!(bench.sent()[0]["params"], wanted);
    bench.query();
    bench.sent();
    bench.signal(&Signal::Working(Some("Indexing".into())));
    bench.signal(&Signal::Notify { level: Level::Warning, text: "careful".into() });
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["agent.thinking", "stream.block"]);
    assert_eq!(lines[1]["params"]["block"]["metadata"]["level"], "warning");
}
