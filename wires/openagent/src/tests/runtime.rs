//! The runtime's side: what a query says, approvals, and several queries at once.

use super::super::{MAX_UNSAID, OpenagentRuntime};
use super::{
    HOME, SIDE, awaiting, by_the_book, consent, greeted, may_it_write, methods, query, runtime, start,
    terminal,
};
use domain::ask::{ActionDigest, Answer, Ask, AskKind, Closing, Risk, Scope};
use domain::command::{
    Command, LibraryCommand, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand, Target,
};
use domain::content::{Part, TextKind, Usage};
use domain::event::{
    AskEvent, Body, FILES_UNDONE, Failure, Finish, MessageEvent, NoteEvent, Outcome, ToolEvent,
};
use domain::ids::{AskId, EntryId, Millis};
use domain::session::SessionSummary;
use domain::signal::{Level, Signal};
use domain::tool::{Progress, ToolOutcome, ToolResult};
use roles::Greeting;
use serde_json::{Value, json};
use std::time::Duration;
use testkit::bench::{RuntimeBench, session, summary};

#[test]
fn the_numbers_at_the_end_of_a_query() {
    let mut bench = by_the_book();
    query(&mut bench);
    let (step, message) = bench.step();
    bench.delta(message, "The ls command");
    bench.now = Millis(bench.now.0 + 2000);
    bench.end_step(step, Usage { input: 100, output: 50, ..Usage::default() });
    bench.end(Outcome::Done);
    let complete = json!({"query_id":"q-1","status":"success","metadata":{"total_tokens":150,"tokens_per_second":25.0,
        "tools_executed":[],"model_used":"offline/echo","duration_ms":2000,"input_tokens":100,"output_tokens":50}});
    assert_eq!(bench.sent().last().unwrap()["params"], complete);
}

#[test]
fn the_context_goes_before_the_prompt_and_options_with_it() {
    let mut bench = by_the_book();
    bench.say(r#"{"jsonrpc":"2.0","method":"context.update","params":{"cwd":"/home/user/new","terminal_size":{"cols":100,"rows":30}}}"#);
    assert_eq!(bench.commands(), []);
    bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"How?","context":{"shell":"bash","recent_commands":[{"command":"cargo test","exit_code":1}],"open_files":["a.rs"]},"options":{"stream":true,"max_tokens":2048,"temperature":0.7,"tools_enabled":false,"require_approval":true}}}"#);
    let (ticket, target, command) = bench.command();
    assert_eq!(target, Target::Current);
    let Command::UpdateContext(context) = command else { panic!("{command:?}") };
    assert_eq!(context.cwd.as_deref(), Some("/home/user/new"));
    assert_eq!(context.notes, ["shell: bash", "ran: cargo test (failed with code 1)", "open file: a.rs"]);
    bench.attach();
    bench.settle(ticket, Ok(Receipt::Done));
    let (ticket, target, command) = bench.command();
    assert_eq!(target, Target::Session(session(HOME)));
    let Command::Run(RunCommand::Prompt { input, options }) = command else { panic!("{command:?}") };
    assert_eq!(input.text, "How?");
    assert_eq!(
        (options.max_tokens, options.temperature, options.tools),
        (Some(2048), Some(700), Some(false))
    );
    start(&mut bench, ticket);
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
    let mut bench = by_the_book();
    query(&mut bench);
    let (_, message) = bench.step();
    bench.sent();
    for piece in ["Look:\n``", "`sh\nls", " -l\n``", "`\nDone. \u{1b}[31mred"] {
        bench.delta(message, piece);
    }
    bench.part(message, Part::Diff { path: Some("a.rs".into()), text: "-a\n+b".into() });
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
fn a_client_without_blocks_gets_text() {
    let mut bench = greeted(r#"{"client_info":{"name":"x","version":"1"},"capabilities":["streaming"]}"#);
    assert!(!bench.role.can_answer().consent);
    query(&mut bench);
    let (_, message) = bench.step();
    bench.sent();
    bench.delta(message, "```sh\nls\n```\n");
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["stream.token"]);
    assert_eq!(lines[0]["params"]["token"], "```sh\nls\n```\n");
}

#[test]
fn a_link_that_lags_gets_its_text_in_batches() {
    let mut bench = by_the_book();
    query(&mut bench);
    let (_, message) = bench.step();
    bench.sent();
    let delta =
        |text: &str| Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: text.into() });
    let events: Vec<_> = ["Hello", " ", "world"].map(|text| bench.miss(delta(text))).into();
    for event in &events {
        bench.tell(event);
    }
    let lines = bench.sent();
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0]["method"], "stream.tokens");
    let tokens = json!([{"token":"Hello","index":0},{"token":" ","index":1},{"token":"world","index":2}]);
    assert_eq!(lines[0]["params"]["tokens"], tokens);
    bench.delta(message, "!");
    assert_eq!(bench.sent()[0]["params"]["index"], 3);
}

#[test]
fn what_an_approval_shows_and_what_became_of_it() {
    let (mut bench, tool, ask) = awaiting();
    let answers = bench.role.can_answer();
    assert!(answers.consent && !answers.other && answers.deadline == Some(Duration::from_secs(30)));
    let wanted = json!({"execution_id":"exec-1","query_id":"q-1",
        "tool":{"name":"write","description":"Write a.rs","category":"file_system"},"arguments":{},
        "preview":{"type":"diff","content":"--- a\n+++ b\n","file":"a.rs"},
        "risk_assessment":{"level":"high","reasons":["changes a file"],"reversible":true},"timeout":30,
        "tool_name":"write","description":"Write a.rs","risk_level":"high","rule":"write in this project","takes_reason":true});
    assert_eq!(bench.sent().last().unwrap()["params"], wanted);
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"tool.approve","params":{"execution_id":"exec-1","approved":true}}"#);
    let (_, target, command) = bench.command();
    assert_eq!(target, Target::Session(session(HOME)));
    let Command::Answer { ask: asked, answer: answer @ Answer::Allow { digest: Some(_), .. } } = command
    else {
        panic!("{command:?}")
    };
    assert_eq!(asked, ask);
    bench.close_ask(ask, Closing::Answered { answer, by: None });
    bench.start_tool(tool);
    bench.sent();
    bench.happen(Body::Tool(ToolEvent::Progress { tool, progress: Progress::Output("a\nb\n".into()) }));
    let status = Progress::Status { percent: Some(45), message: "Analyzing 15 files...".into() };
    bench.happen(Body::Tool(ToolEvent::Progress { tool, progress: status }));
    let diff = Part::Diff { path: Some("a.rs".into()), text: "-a\n+b".into() };
    let result = ToolResult { text: "written".into(), parts: vec![diff], ..ToolResult::default() };
    bench.end_tool(tool, ToolOutcome::Done, result);
    let lines = bench.sent();
    let wanted = ["tool.progress", "tool.progress", "stream.block", "tool.complete", "stream.block"];
    assert_eq!(methods(&lines), wanted);
    let output = json!({"status":"processing","message":"b","indeterminate":true,"output":"a\nb\n"});
    assert_eq!(lines[0]["params"]["progress"], output);
    let status = json!({"percentage":45.0,"status":"processing","message":"Analyzing 15 files..."});
    assert_eq!(lines[1]["params"]["progress"], status);
    let result = json!({"output":"written","files_modified":["a.rs"],"duration_ms":0});
    assert_eq!(lines[3]["params"]["result"], result);
    assert_eq!(lines[4]["params"]["block"]["type"], "tool_output");
}

#[test]
fn how_far_an_approval_reaches() {
    for (options, wanted) in [
        ("{}", Scope::Once),
        (r#"{"apply_to_similar":true}"#, Scope::Session),
        (r#"{"remember_choice":true}"#, Scope::Once),
        (r#"{"remember_choice":true,"apply_to_similar":false}"#, Scope::Once),
        (r#"{"remember_choice":true,"apply_to_similar":true}"#, Scope::Always),
    ] {
        let (mut bench, ..) = awaiting();
        bench.say(&format!(r#"{{"jsonrpc":"2.0","id":4,"method":"tool.approve","params":{{"execution_id":"exec-1","approved":true,"options":{options}}}}}"#));
        let (_, _, command) = bench.command();
        assert!(
            matches!(&command, Command::Answer { answer: Answer::Allow { scope, .. }, .. } if *scope == wanted),
            "{command:?}"
        );
    }
}

/// `remember_choice` without `apply_to_similar` reaches no further than the very same action in the same session.
#[test]
fn a_choice_that_is_remembered_covers_nothing_similar() {
    for (digest, risk, asked) in [
        ("the same", Risk::High, false),
        ("another file", Risk::High, true),
        ("the same", Risk::Critical, true),
    ] {
        let mut bench = by_the_book();
        query(&mut bench);
        let (_, message) = bench.step();
        let ask = |bench: &mut RuntimeBench, digest: &str, risk| {
            let tool = bench.propose(message, "write", "{}");
            let AskKind::Consent(mut about) = consent(bench, tool, risk) else { panic!() };
            about.digest = ActionDigest(digest.to_owned());
            bench.ask_until("Write a.rs", AskKind::Consent(about), None)
        };
        ask(&mut bench, "the same", risk);
        bench.sent();
        bench.asked(
            r#"{"jsonrpc":"2.0","id":4,"method":"tool.approve","params":{"execution_id":"exec-1","approved":true,"options":{"remember_choice":true,"apply_to_similar":false}}}"#,
            Ok(Receipt::Done),
        );
        bench.sent();
        let second = ask(&mut bench, digest, risk);
        let told = methods(&bench.sent());
        assert_eq!(told.contains(&"tool.request_approval".to_owned()), asked, "{digest} {risk:?}");
        let answers: Vec<Command> = bench.commands().into_iter().map(|(_, _, command)| command).collect();
        let once = |command: &Command| matches!(command, Command::Answer { ask, answer: Answer::Allow { scope: Scope::Once, .. } } if *ask == second);
        assert_eq!(answers.iter().any(once), !asked, "{answers:?}");
    }
}

#[test]
fn who_requires_approval_is_asked_first_and_who_cannot_be_asked_is_not() {
    for (client, capabilities, options, wanted) in [
        ("x", r#"["tool_approval"]"#, r#"{"require_approval":true}"#, true),
        ("x", r#"["tool_approval"]"#, r#"{"require_approval":false}"#, false),
        ("x", r#"["tool_approval"]"#, "{}", false),
        ("x", r#"["streaming"]"#, r#"{"require_approval":true}"#, false),
        // Our own UI leaves it to the mode, as its first release did.
        ("parlor", r#"["tool_approval"]"#, r#"{"require_approval":true}"#, false),
        ("parlor", r#"["tool_approval"]"#, r#"{"require_approval":true,"ask_first":true}"#, true),
    ] {
        let mut bench = greeted(&format!(
            r#"{{"client_info":{{"name":"{client}","version":"1"}},"capabilities":{capabilities}}}"#
        ));
        bench.say(&format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{{"message":"go","options":{options}}}}}"#
        ));
        let (_, _, command) = bench.command();
        let Command::Run(RunCommand::Prompt { options: asked, .. }) = command else { panic!("{command:?}") };
        assert_eq!(asked.ask_first, wanted, "{client} {capabilities} {options}");
    }
}

#[test]
fn who_cannot_approve_gets_no_request() {
    for (capabilities, asked) in [(r#"["streaming"]"#, false), (r#"["streaming","tool_approval"]"#, true)] {
        let mut bench = greeted(&format!(
            r#"{{"client_info":{{"name":"x","version":"1"}},"capabilities":{capabilities}}}"#
        ));
        query(&mut bench);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "write", "{}");
        may_it_write(&mut bench, tool, Risk::High);
        let told = methods(&bench.sent());
        assert_eq!(told.contains(&"tool.request_approval".to_owned()), asked, "{capabilities}");
        assert!(bench.commands().is_empty(), "nobody said yes");
    }
}

#[test]
fn every_model_that_could_be_used_is_listed_and_the_one_in_use_is_loaded() {
    let mut bench = runtime();
    bench.say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"1.0.0"}}"#);
    let models = bench.sent()[0]["result"]["models"].clone();
    let listed: Vec<_> =
        models.as_array().unwrap().iter().map(|model| (&model["name"], &model["loaded"])).collect();
    assert_eq!(
        format!("{listed:?}"),
        r#"[(String("offline/echo"), Bool(true)), (String("anthropic/claude"), Bool(false))]"#
    );
}

#[test]
fn what_another_program_did_not_count_is_left_out() {
    let greeting = Greeting { cwd: "/home/user/project".into(), follows: true, ..Greeting::default() };
    let mut bench = RuntimeBench::open(OpenagentRuntime::new(), session(HOME), &greeting);
    query(&mut bench);
    let (step, _) = bench.step();
    bench.end_step(step, Usage::default());
    bench.end(Outcome::Done);
    let lines = bench.sent();
    let metadata = &lines.last().unwrap()["params"]["metadata"];
    let known: Vec<&String> = metadata.as_object().unwrap().keys().collect();
    assert_eq!(known, ["duration_ms", "tools_executed"], "{metadata}");
    let list = r#"{"jsonrpc":"2.0","id":6,"method":"session.list","params":{}}"#;
    let summary = || SessionSummary::new(session(HOME));
    bench.asked(list, Ok(Receipt::Sessions(vec![summary()])));
    let item = bench.sent()[0]["result"]["sessions"][0].clone();
    assert!(item.get("message_count").is_none() && item.get("total_tokens").is_none(), "{item}");
    let load =
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"session.load","params":{{"session_id":"{HOME}"}}}}"#);
    bench.asked(&load, Ok(Receipt::Session { session: summary(), parent: None }));
    let result = bench.sent()[0]["result"].clone();
    let told = result["messages"].as_array().unwrap().len();
    assert!(told > 0 && result["message_count"] == told, "{result}");
}

#[test]
fn thoughts_come_line_by_line() {
    let mut bench = by_the_book();
    query(&mut bench);
    let (_, message) = bench.step();
    bench.sent();
    for word in ["First", " this", ".\n", "Then", " that"] {
        let text = word.into();
        bench.happen(Body::Message(MessageEvent::Delta { message, kind: TextKind::Thought, text }));
    }
    bench.delta(message, "Done.");
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["agent.thinking", "agent.thinking", "stream.token"]);
    assert_eq!(lines[0]["params"]["thought"], "First this.\n");
    assert_eq!(lines[1]["params"]["thought"], "Then that");
}

#[test]
fn a_file_written_as_it_stood_has_no_diff() {
    let mut bench = by_the_book();
    query(&mut bench);
    let (_, message) = bench.step();
    let tool = bench.propose(message, "write", "{}");
    bench.start_tool(tool);
    bench.sent();
    let diff = Part::Diff { path: Some("a.rs".into()), text: String::new() };
    let result = ToolResult { text: "nothing to change".into(), parts: vec![diff], ..ToolResult::default() };
    bench.end_tool(tool, ToolOutcome::Done, result);
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["tool.complete", "stream.block"]);
    assert_eq!(lines[0]["params"]["result"]["files_modified"], json!([]));
    assert_eq!(lines[1]["params"]["block"]["type"], "tool_output");
}

/// The session is shown before anybody said who they are, as after a restart; a question waits in it.
#[test]
fn who_joins_sees_a_question_from_before() {
    for (name, told) in [
        ("seedling", vec!["agent.thinking", "tool.request_approval"]),
        ("openagent-terminal", vec!["tool.request_approval"]),
    ] {
        let mut bench = runtime();
        bench.begin("go");
        let (_, message) = bench.step();
        let tool = bench.propose(message, "write", "{}");
        may_it_write(&mut bench, tool, Risk::High);
        bench.attach();
        assert_eq!(bench.sent(), Vec::<Value>::new(), "nobody is known yet");
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"client_info":{{"name":"{name}","version":"0.1.0"}}}}}}"#
        );
        bench.asked(&hello, Ok(Receipt::Done));
        let mut lines = methods(&bench.sent());
        lines.retain(|line| told.contains(&line.as_str()));
        lines.dedup();
        assert_eq!(lines, told, "{name}");
        bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"tool.approve","params":{"execution_id":"exec-1","approved":true}}"#);
        assert!(matches!(bench.command().2, Command::Answer { .. }));
    }
}

#[test]
fn a_denial_an_expiry_and_answers_that_come_too_late() {
    let (mut bench, tool, ask) = awaiting();
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
    bench.close_ask(ask, Closing::Expired);
    bench.say(&approve(5, "true"));
    assert_eq!(bench.sent()[0]["error"]["code"], -32003);
    bench.say(r#"{"jsonrpc":"2.0","id":6,"method":"tool.approve","params":{"execution_id":"exec-7","approved":true}}"#);
    bench.say(r#"{"jsonrpc":"2.0","id":7,"method":"tool.approve","params":{}}"#);
    for line in bench.sent() {
        assert_eq!(line["error"]["code"], -32602, "{line}");
    }
    bench.end_tool(tool, ToolOutcome::Denied, ToolResult::text("late"));
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["tool.complete"]);
    assert_eq!(lines[0]["params"]["status"], "timeout");
    assert_eq!(bench.commands(), []);
}

#[test]
fn approval_is_not_required_if_the_client_says_so_unless_it_cannot_be_undone() {
    for (risk, asked) in [(Risk::Medium, false), (Risk::High, true)] {
        let mut bench = by_the_book();
        bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go","options":{"require_approval":false}}}"#);
        let (ticket, ..) = bench.command();
        bench.attach();
        start(&mut bench, ticket);
        let (_, message) = bench.step();
        let tool = bench.propose(message, "write", "{}");
        bench.sent();
        may_it_write(&mut bench, tool, risk);
        assert_eq!(methods(&bench.sent()).contains(&"tool.request_approval".to_owned()), asked);
        assert_eq!(bench.commands().len(), usize::from(!asked));
    }
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
        let mut bench = by_the_book();
        query(&mut bench);
        let (_, message) = bench.step();
        bench.delta(message, "Processing...");
        bench.end(outcome);
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
fn a_query_beside_another_branches_from_before_it_and_its_session_is_closed() {
    let mut bench = by_the_book();
    // A first conversation, so that there is something to branch from.
    query(&mut bench);
    bench.talk("first");
    bench.end(Outcome::Done);
    let leaf = bench.state().leaf;
    let query = |id: u32| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"agent.query","params":{{"message":"go"}}}}"#)
    };
    bench.say(&query(3));
    let (ticket, ..) = bench.command();
    bench.say(&query(4));
    assert_eq!(bench.commands(), [], "where the first was asked is not known yet");
    start(&mut bench, ticket);
    let (branch, _, command) = bench.command();
    assert_eq!(command, Command::Library(LibraryCommand::Branch { session: Some(session(HOME)), at: leaf }));
    bench.session = session(SIDE);
    bench.attach();
    let beside = Receipt::Session { session: summary(&session(SIDE)), parent: Some(session(HOME)) };
    bench.settle(branch, Ok(beside));
    let commands = bench.commands();
    let [(prompt, target, Command::Run(RunCommand::Prompt { .. })), (_, home, Command::UpdateContext(_))] =
        commands.as_slice()
    else {
        panic!("{commands:?}")
    };
    assert_eq!((target, home), (&Target::Session(session(SIDE)), &Target::Session(session(HOME))));
    start(&mut bench, *prompt);
    bench.end(Outcome::Done);
    let (_, target, command) = bench.commands().remove(0);
    assert_eq!((target, command), (Target::Session(session(SIDE)), Command::Session(SessionCommand::Close)));
}

#[test]
fn a_runtime_that_cannot_branch_does_one_query_at_a_time() {
    let mut bench = by_the_book();
    query(&mut bench);
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"agent.query","params":{"message":"go"}}"#);
    let (branch, ..) = bench.command();
    bench.sent();
    bench.settle(branch, Err(Refusal::new(RefusalKind::Unsupported, "no branches")));
    let refused = bench.sent();
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!(3), &json!(-32000)));
    bench.end(Outcome::Done);
    bench.say(r#"{"jsonrpc":"2.0","id":4,"method":"agent.query","params":{"message":"go"}}"#);
    assert!(matches!(bench.command().2, Command::Run(RunCommand::Prompt { .. })));
}

#[test]
fn somebody_elses_run_is_told_along() {
    let mut bench = by_the_book();
    bench.attach();
    bench.begin("go");
    let (_, message) = bench.step();
    bench.delta(message, "theirs");
    bench.say(r#"{"jsonrpc":"2.0","id":3,"method":"agent.query","params":{"message":"mine"}}"#);
    assert!(
        matches!(bench.command().2, Command::Library(LibraryCommand::New { .. })),
        "beside it, since nothing was said before it"
    );
    bench.end(Outcome::Done);
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["agent.thinking", "stream.token", "stream.complete"]);

    let mut bench = terminal();
    bench.attach();
    bench.begin("go");
    bench.end(Outcome::Done);
    assert_eq!(
        bench.sent(),
        Vec::<Value>::new(),
        "the existing client takes every end for that of its own query"
    );
}

#[test]
fn what_is_said_outside_of_a_query_comes_with_the_next_one() {
    let mut bench = by_the_book();
    bench.attach();
    bench.sent();
    for number in 0..=MAX_UNSAID {
        let (entry, parent, run) = (EntryId(bench.ids.next()), bench.state().leaf, None);
        let (level, code, text) = (Level::Info, FILES_UNDONE.to_owned(), format!("Undid {number}"));
        bench.happen(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text }));
    }
    assert_eq!(bench.sent(), Vec::<Value>::new());
    query(&mut bench);
    let blocks = |lines: Vec<Value>| -> Vec<Value> {
        lines.into_iter().filter(|line| line["method"] == "stream.block").collect()
    };
    let told = blocks(bench.sent());
    assert_eq!(told.len(), MAX_UNSAID, "the oldest is lost");
    assert_eq!(told[0]["params"]["block"]["content"], "Undid 1");
    assert_eq!(told[0]["params"]["block"]["metadata"]["code"], FILES_UNDONE);
    bench.end(Outcome::Done);
    query(&mut bench);
    assert_eq!(blocks(bench.sent()), Vec::<Value>::new(), "once");
}

#[test]
fn events_before_the_receipt_wait_for_it() {
    let mut bench = by_the_book();
    bench.attach();
    bench.say(r#"{"jsonrpc":"2.0","id":2,"method":"agent.query","params":{"message":"go"}}"#);
    let (ticket, ..) = bench.command();
    bench.begin("go");
    let (_, message) = bench.step();
    bench.delta(message, "early");
    assert!(bench.sent().is_empty());
    bench.settle(ticket, Ok(Receipt::Done));
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["response", "agent.thinking", "stream.token"]);
    bench.end(Outcome::Done);
    assert_eq!(methods(&bench.sent()), ["stream.complete"]);
}

#[test]
fn a_session_shown_again_is_told_without_gaps_and_without_repeats() {
    let mut bench = by_the_book();
    let run = query(&mut bench);
    let (_, message) = bench.step();
    bench.delta(message, "one ");
    let tool = bench.propose(message, "write", "{}");
    bench.sent();
    // The link lags: these are known and never told one by one.
    bench.miss(Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: "two".into() }));
    bench.miss(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    let kind = consent(&mut bench, tool, Risk::High);
    let ask = Ask { id: AskId(900), run: Some(run), title: "Write a.rs".into(), kind, deadline: None };
    bench.miss(Body::Ask(AskEvent::Opened(ask)));
    bench.attach();
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["stream.token", "tool.request_approval"]);
    assert_eq!(lines[0]["params"]["token"], "two");
    bench.attach();
    assert_eq!(bench.sent(), Vec::<Value>::new());
    for body in bench.state().close_run(Outcome::Cancelled) {
        bench.miss(body);
    }
    bench.attach();
    assert_eq!(methods(&bench.sent()), ["tool.complete", "stream.complete"]);
}

#[test]
fn signals() {
    let mut bench = by_the_book();
    let suggestion = Signal::Suggestion {
        text: "cargo test -- --nocapture".into(),
        confidence: 870,
        source: "command_history".into(),
        context: Some("why".into()),
    };
    bench.signal(&suggestion);
    let wanted = json!({"suggestion":"cargo test -- --nocapture","confidence":0.87,"source":"command_history","context":"why"});
    assert_eq!(bench.sent()[0]["params"], wanted);
    query(&mut bench);
    bench.sent();
    bench.signal(&Signal::Working(Some("Indexing".into())));
    bench.signal(&Signal::Notify { level: Level::Warning, text: "careful".into() });
    let lines = bench.sent();
    assert_eq!(methods(&lines), ["agent.thinking", "stream.block"]);
    assert_eq!(lines[1]["params"]["block"]["metadata"]["level"], "warning");
}
