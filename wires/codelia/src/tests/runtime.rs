//! The runtime role alone: what it answers, what it tells, and what it makes of bad input.

use super::super::CodeliaRuntime;
use super::{SESSION, greeted, said};
use domain::ask::{Answer, AskKind, Choice, Closing};
use domain::command::{
    Command, History, LibraryCommand, ListScope, Receipt, Refusal, RefusalKind, RunCommand, SessionCommand,
};
use domain::content::{Part, Usage};
use domain::event::{
    Body, Cause, Compaction, ContextEvent, Event, Failure, Outcome, RunEvent, SessionEvent, Trigger,
};
use domain::ids::{EntryId, Millis, RunId, Seq, StepId, TurnId};
use domain::session::{
    Effort, ModelEntry, ModelRef, RunSummary, ServerEntry, ServerState, SessionSummary, SkillEntry, SkillList,
};
use domain::tool::{ToolOutcome, ToolResult};
use expect_test::{Expect, expect};
use roles::{Answers, Greeting, Line, TimerKey};
use testkit::bench::{RuntimeBench, session, summary};

fn check(bench: &mut RuntimeBench, expected: &Expect) {
    expected.assert_eq(&said(&mut bench.link));
}

#[test]
fn a_second_handshake_replaces_the_first() {
    let mut bench = greeted();
    assert_eq!(bench.role.can_answer(), Answers::ALL);
    bench.say(r#"{"id":"2","method":"initialize","params":{"protocol_version":"99","client":{"name":"x","version":"0"},"ui_capabilities":{"supports_confirm":true}}}"#);
    assert!(said(&mut bench.link).contains(r#""protocol_version":"0""#));
    assert_eq!(bench.role.can_answer(), Answers { other: false, ..Answers::ALL });
}

#[test]
fn a_run_that_fails_or_is_stopped_has_no_final() {
    let failed =
        Outcome::Failed(Failure::new("model_overloaded", "the model is overloaded").hint("try again later"));
    for (outcome, status) in [
        (failed, r#""status":"error""#),
        (Outcome::Cancelled, r#""status":"cancelled""#),
        (Outcome::Interrupted, r#""status":"error""#),
        (Outcome::Lost, r#""status":"error""#),
    ] {
        let mut bench = greeted();
        bench.begin("do it");
        let (_, message) = bench.step();
        bench.delta(message, "half");
        bench.end(outcome);
        let sent = said(&mut bench.link);
        assert!(!sent.contains("final"), "{sent}");
        assert!(sent.contains(r#""content":"half""#), "{sent}");
        assert!(sent.lines().last().unwrap().contains(status), "{sent}");
    }
}

#[test]
fn how_long_a_tool_took_and_what_is_left_of_the_context() {
    let mut bench = greeted();
    bench.begin("do it");
    let (step, message) = bench.step();
    let tool = bench.propose(message, "ls", "{}");
    bench.start_tool(tool);
    bench.forget();
    bench.now = Millis(bench.now.0 + 70);
    bench.end_tool(tool, ToolOutcome::Done, ToolResult::text("a.ts"));
    bench.end_step(step, Usage::default());
    for used in [1, 2, 200] {
        bench.happen(Body::Context(ContextEvent::Measured { used, window: 400, rough: false }));
    }
    let sent = said(&mut bench.link);
    assert!(sent.contains(r#""duration_ms":70,"#), "{sent}");
    // Told when the percentage changes.
    let left: Vec<&str> = sent.lines().filter(|line| line.contains("run.context")).collect();
    assert!(left.len() == 2 && left[0].contains("99") && left[1].contains("50"), "{sent}");
}

#[test]
fn a_run_of_another_ui_and_what_is_steered_into_it() {
    let mut bench = greeted();
    bench.begin("do it");
    bench.talk("done");
    bench.end_turn();
    bench.turn(Cause::Steer, "and now this");
    bench.end(Outcome::Done);
    check(
        &mut bench,
        &expect![[r#"
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"running"}}
        {"method":"agent.event","params":{"event":{"content":"do it","timestamp":1730000000000,"type":"hidden_user_message"},"run_id":"run_0123abcd_1","seq":-1}}
        {"method":"agent.event","params":{"event":{"content":"done","timestamp":1730000000000,"type":"text"},"run_id":"run_0123abcd_1","seq":0}}
        {"method":"agent.event","params":{"event":{"content":"and now this","timestamp":1730000000000,"type":"hidden_user_message"},"run_id":"run_0123abcd_1","seq":-1}}
        {"method":"agent.event","params":{"event":{"content":"done","timestamp":1730000000000,"type":"final"},"run_id":"run_0123abcd_1","seq":1}}
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"completed"}}
    "#]],
    );
}

#[test]
fn the_other_questions_and_their_answers() {
    let choice = |id: &str| Choice { id: id.into(), label: id.to_uppercase(), detail: None };
    let pick =
        AskKind::Choose { message: "which".into(), choices: vec![choice("a"), choice("b")], many: true };
    let text = AskKind::Text {
        message: "key".into(),
        placeholder: None,
        default: None,
        secret: true,
        multiline: false,
    };
    let confirm = AskKind::Confirm { message: "sure?".into(), yes: None, no: None, danger: true };
    for (kind, answer, lifted) in [
        (pick.clone(), r#"{"ids":["b"]}"#, Answer::Chosen(vec!["b".into()])),
        (pick.clone(), r#"{"ids":[]}"#, Answer::Dismissed),
        (pick.clone(), r#"{"ids":["c"]}"#, Answer::Dismissed),
        (pick, "null", Answer::Dismissed),
        (text.clone(), r#"{"value":"s3cret"}"#, Answer::Entered("s3cret".into())),
        (text.clone(), r#"{"value":null}"#, Answer::Dismissed),
        (text, r#"{"value":7}"#, Answer::Dismissed),
        (confirm.clone(), r#"{"ok":true}"#, Answer::Confirmed(true)),
        (confirm, r#"["yes"]"#, Answer::Confirmed(false)),
    ] {
        let mut bench = greeted();
        let ask = bench.ask("Title", kind);
        bench.forget();
        bench.say(&format!(r#"{{"id":"ui_1","result":{answer}}}"#));
        let (_, _, command) = bench.command();
        assert_eq!(command, Command::Answer { ask, answer: lifted }, "{answer}");
    }
}

#[test]
fn questions_as_they_are_sent() {
    let mut bench = greeted();
    let text = AskKind::Text {
        message: "key".into(),
        placeholder: None,
        default: None,
        secret: true,
        multiline: false,
    };
    let ask = bench.ask("Key?", text);
    bench.close_ask(ask, Closing::Withdrawn);
    let ask = bench.ask("Edit", AskKind::Edit { message: "the text".into(), prefill: "a\nb".into() });
    bench.close_ask(ask, Closing::Expired);
    let choices = vec![Choice { id: "a".into(), label: "A".into(), detail: Some("first".into()) }];
    bench.ask("Mode", AskKind::Choose { message: "which".into(), choices, many: false });
    check(
        &mut bench,
        &expect![[r#"
        {"id":"ui_1","method":"ui.prompt.request","params":{"message":"key","multiline":false,"secret":true,"title":"Key?"}}
        {"id":"ui_2","method":"ui.prompt.request","params":{"default_value":"a\nb","message":"the text","multiline":true,"secret":false,"title":"Edit"}}
        {"id":"ui_3","method":"ui.pick.request","params":{"items":[{"detail":"first","id":"a","label":"A"}],"multi":false,"title":"Mode: which"}}
    "#]],
    );
}

#[test]
fn lists() {
    let mut bench = greeted();
    let summary = SessionSummary {
        cwd: "/home/user/p".into(),
        project: "/home/user/p".into(),
        updated_at: Millis(1_794_701_808_058),
        messages: 2,
        last_prompt: Some("hello".into()),
        last_run: Some(RunId(7)),
        ..summary(&session(SESSION))
    };
    let (_, command) =
        bench.asked(r#"{"id":"1","method":"session.list"}"#, Ok(Receipt::Sessions(vec![summary])));
    assert_eq!(
        command,
        Command::Library(LibraryCommand::List {
            scope: ListScope::Project(None),
            limit: Some(50),
            search: None
        })
    );
    let model = |name: &str| ModelRef { provider: "p".into(), name: name.into() };
    let entry = ModelEntry {
        model: model("m"),
        context_window: Some(1000),
        max_output: Some(100),
        price_input: Some(1_500_000),
        price_output: None,
        thinks: None,
    };
    let models = Receipt::Models { models: vec![entry], current: Some(model("m")) };
    bench.asked(r#"{"id":"2","method":"model.list","params":{"include_details":true}}"#, Ok(models.clone()));
    bench.asked(r#"{"id":"3","method":"model.list","params":{"provider":"nobody"}}"#, Ok(models));
    bench.asked(r#"{"id":"4","method":"model.set","params":{"name":"m"}}"#, Ok(Receipt::Model(model("m"))));
    let server = ServerEntry {
        id: "files".into(),
        http: false,
        from_project: true,
        state: ServerState::Failed("exit 1".into()),
        tools: None,
        connected_at: None,
        reach: None,
    };
    bench.asked(
        r#"{"id":"5","method":"mcp.list","params":{"scope":"loaded"}}"#,
        Ok(Receipt::Servers(vec![server])),
    );
    let skill = SkillEntry {
        id: "s".into(),
        name: "S".into(),
        description: "d".into(),
        path: "/home/user/p/.skills/s/SKILL.md".into(),
        from_project: true,
        modified_at: Millis(5),
    };
    let skills =
        SkillList { skills: vec![skill], errors: vec![("/x".into(), "bad".into())], truncated: false };
    bench.asked(r#"{"id":"6","method":"skills.list","params":{}}"#, Ok(Receipt::Skills(skills)));
    expect![[r#"
        {"id":"1","result":{"current_workspace_root":"/home/user/p","sessions":[{"last_user_message":"hello","message_count":2,"run_id":"run_0123abcd_7","session_id":"sess-0123abcd","updated_at":"2026-11-15T00:16:48.058Z","workspace_root":"/home/user/p"}]}}
        {"id":"2","result":{"current":"m","details":{"m":{"context_window":1000,"cost_per_1m_input_tokens_usd":1.5,"max_input_tokens":900,"max_output_tokens":100}},"models":["m"],"provider":"p","source":"config"}}
        {"error":{"code":-32602,"message":"invalid params: unknown provider: nobody"},"id":"3"}
        {"id":"4","result":{"name":"m","provider":"p","source":"session"}}
        {"id":"5","result":{"servers":[{"enabled":true,"id":"files","last_error":"exit 1","source":"project","state":"error","transport":"stdio"}]}}
        {"id":"6","result":{"errors":[{"message":"bad","path":"/x"}],"skills":[{"description":"d","dir":"/home/user/p/.skills/s","id":"s","mtime_ms":5,"name":"S","path":"/home/user/p/.skills/s/SKILL.md","scope":"repo"}],"truncated":false}}
    "#]]
    .assert_eq(&said(&mut bench.link));
}

#[test]
fn a_runtime_without_a_list_of_models_lists_what_answers_or_nothing() {
    let ask = r#"{"id":"1","method":"model.list","params":{"include_details":false}}"#;
    let cannot = || Refusal::new(RefusalKind::Unsupported, "this runtime cannot do that");
    let known = Greeting { model: Some(("p".into(), "m".into())), ..Greeting::default() };
    let is = |greeting: &Greeting, refusal| {
        let mut bench = RuntimeBench::open(CodeliaRuntime::new(), session(SESSION), greeting);
        bench.asked(ask, Err(refusal));
        said(&mut bench.link)
    };
    expect![[r#"
        {"id":"1","result":{"current":"m","models":["m"],"provider":"p","source":"config"}}
    "#]]
    .assert_eq(&is(&known, cannot()));
    expect![[r#"
        {"id":"1","result":{"models":[],"provider":""}}
    "#]]
    .assert_eq(&is(&Greeting::default(), cannot()));
    let lost = is(&known, Refusal::new(RefusalKind::Lost, "the runtime is gone"));
    assert!(lost.contains("the runtime is gone"), "{lost}");
}

#[test]
fn a_count_that_nobody_told_is_left_out() {
    for (follows, messages, told) in [(true, 0, None), (true, 3, Some(3)), (false, 0, Some(0))] {
        let greeting = Greeting { follows, ..Greeting::default() };
        let mut bench = RuntimeBench::open(CodeliaRuntime::new(), session(SESSION), &greeting);
        let summary = SessionSummary { messages, ..SessionSummary::new(session(SESSION)) };
        bench.asked(r#"{"id":"1","method":"session.list"}"#, Ok(Receipt::Sessions(vec![summary])));
        let listed = bench.sent().last().unwrap()["result"]["sessions"][0].clone();
        assert_eq!(listed.get("message_count").and_then(serde_json::Value::as_u64), told, "{listed}");
    }
}

#[test]
fn what_is_said_with_a_model_holds_or_is_refused() {
    let model = ModelRef { provider: "p".into(), name: "m".into() };
    let set = |more: &str| format!(r#"{{"id":"1","method":"model.set","params":{{"name":"m",{more}}}}}"#);
    let effort = |effort| Command::Session(SessionCommand::SetEffort { effort: Some(effort) });
    for (word, asked) in [("low", Effort::Low), ("high", Effort::High), ("xhigh", Effort::Xhigh)] {
        let mut bench = greeted();
        bench.asked(
            &set(&format!(r#""reasoning":"{word}","scope":"config""#)),
            Ok(Receipt::Model(model.clone())),
        );
        assert_eq!(said(&mut bench.link), "", "the answer waits for both");
        let (ticket, _, command) = bench.command();
        assert_eq!(command, effort(asked));
        bench.settle(ticket, Ok(Receipt::Done));
        let told = format!(
            r#"{{"id":"1","result":{{"name":"m","provider":"p","reasoning":"{}","source":"session"}}}}"#,
            asked.name()
        );
        assert_eq!(said(&mut bench.link).trim(), told);
    }
    // A model that does not think is set all the same; that it does not is an error, since the existing UI shows nothing else.
    let mut bench = greeted();
    bench.asked(&set(r#""reasoning":"high""#), Ok(Receipt::Model(model)));
    let (ticket, ..) = bench.command();
    bench.settle(ticket, Err(Refusal::new(RefusalKind::Unsupported, "it does not think")));
    let sent = said(&mut bench.link);
    assert!(
        sent.contains("-32602") && sent.contains("p/m is set, without reasoning: it does not think"),
        "{sent}"
    );
    for wrong in [r#""reasoning":"hard""#, r#""fast":true"#, r#""scope":"world""#, r#""reset":true"#] {
        let mut bench = greeted();
        bench.say(&set(wrong));
        assert!(said(&mut bench.link).contains(r#""code":-32602"#), "{wrong}");
        assert!(bench.commands().is_empty(), "{wrong}");
    }
}

#[test]
fn where_it_works_is_told_to_who_inspects_it() {
    let mut bench = greeted();
    bench.opened("/home/user/p/src");
    let context = r#"{"method":"ui.context.update","params":{"cwd":"/ui","active_file":{"path":"a.rs"}}}"#;
    bench.asked(context, Ok(Receipt::Done));
    let skill = SkillEntry {
        id: "s".into(),
        name: "S".into(),
        description: "d".into(),
        path: "/home/user/p/.skills/s/SKILL.md".into(),
        from_project: true,
        modified_at: Millis(5),
    };
    let skills = SkillList { skills: vec![skill], errors: vec![], truncated: false };
    let ask = |id: u64, skills: bool| {
        format!(
            r#"{{"id":"{id}","method":"context.inspect","params":{{"include_agents":true,"include_skills":{skills}}}}}"#
        )
    };
    bench.asked(&ask(2, true), Ok(Receipt::Skills(skills.clone())));
    bench.asked(&ask(3, false), Ok(Receipt::Skills(skills)));
    bench.asked(&ask(4, true), Err(Refusal::new(RefusalKind::Unsupported, "no")));
    let sent = bench.sent();
    let results: Vec<_> = sent.iter().map(|line| &line["result"]).collect();
    assert_eq!(results[0]["runtime_working_dir"], "/home/user/p/src");
    assert_eq!(results[0]["ui_context"]["active_file_path"], "a.rs");
    assert_eq!(results[0]["skills"]["catalog"]["skills"][0]["name"], "S");
    for result in &results[1..] {
        assert!(
            result["skills"].is_null() && result["runtime_working_dir"] == "/home/user/p/src",
            "{result}"
        );
    }
}

#[test]
fn numbers_are_told_to_who_asked_for_them() {
    let usage =
        Usage { input: 100, output: 20, cache_read: 60, cache_write: 0, cost_micros: 1_500, rough: false };
    for (option, told) in [(Some("true"), 2), (Some("false"), 0), (None, 0)] {
        let mut bench = greeted();
        let options = option.map(|value| ("diagnostics".to_owned(), value.to_owned()));
        let greeting = Greeting { options: options.into_iter().collect(), ..Greeting::default() };
        bench.call(|role, cx| role.open(cx, &greeting));
        bench.begin("do it");
        let (step, message) = bench.step();
        bench.delta(message, "hi");
        bench.now = Millis(bench.now.0 + 70);
        bench.end_message(message);
        bench.now = Millis(bench.now.0 + 900);
        bench.end_step(step, usage);
        bench.end(Outcome::Done);
        let sent = bench.sent();
        let lines: Vec<_> = sent.iter().filter(|line| line["method"] == "run.diagnostics").collect();
        assert_eq!(lines.len(), told, "{option:?}");
        let [call, summary] = lines[..] else { continue };
        let call = &call["params"]["call"];
        assert_eq!((&call["latency_ms"], &call["cache"]["hit_state"]), (&70.into(), &"hit".into()));
        assert_eq!((&call["usage"]["total_tokens"], &call["cost_usd"]), (&120.into(), &0.0015.into()));
        assert_eq!(summary["params"]["summary"]["total_calls"], 1);
        assert!(sent.last().unwrap()["params"]["status"] == "completed", "the end is the last word");
    }
}

#[test]
fn what_changed_since_a_session_was_left_is_told_with_its_history() {
    let model = |name: &str| ModelRef { provider: "p".into(), name: name.into() };
    let replay = |cwd: &str, used: &str, chosen: Option<&str>, truncated: bool| {
        let mut bench = greeted();
        let now =
            Greeting { cwd: "/here".into(), model: Some(("p".into(), "new".into())), ..Greeting::default() };
        bench.call(|role, cx| role.open(cx, &now));
        let opened = SessionEvent::Opened { cwd: cwd.into(), project: cwd.into(), parent: None };
        let chosen = chosen.map(|name| Body::Session(SessionEvent::ModelChosen { model: model(name) }));
        let step = RunEvent::StepStarted { turn: TurnId(2), step: StepId(3), model: Some(model(used)) };
        let bodies = [Some(Body::Session(opened)), chosen, Some(Body::Run(step))];
        let number = |(at, body): (usize, Body)| Event { seq: Seq(at as u64 + 1), at: Millis(1), body };
        let events = bodies.into_iter().flatten().enumerate().map(number).collect();
        let history = Receipt::History(History { runs: 1, events, truncated });
        bench.asked(
            r#"{"id":"1","method":"session.history","params":{"session_id":"sess-0123abcd"}}"#,
            Ok(history),
        );
        bench.sent().pop().unwrap()["result"]["resume_diff"].as_str().map(str::to_owned)
    };
    assert_eq!(replay("/here", "new", None, false), None);
    assert_eq!(replay("/here", "old", Some("old"), false), None, "the session keeps its own model");
    assert_eq!(replay("/here", "old", None, true), None, "of a history that was cut it is not known");
    assert_eq!(
        replay("/there", "old", None, false).as_deref(),
        Some(
            "Resume context:\n- Working directory: this session works in /there, the runtime was started in /here\n\
             - Model changed: p/old -> p/new"
        )
    );
}

#[test]
fn refusals_have_the_codes_of_the_document() {
    for (line, kind, expected) in [
        (
            r#"{"id":"1","method":"run.start","params":{"input":{"type":"text","text":"x"}}}"#,
            RefusalKind::Busy,
            -32001,
        ),
        (
            r#"{"id":"1","method":"run.cancel","params":{"run_id":"run_0123abcd_9"}}"#,
            RefusalKind::RunUnknown,
            -32002,
        ),
        (
            r#"{"id":"1","method":"run.cancel","params":{"run_id":"run_0123abcd_9"}}"#,
            RefusalKind::SessionUnknown,
            -32002,
        ),
        (
            r#"{"id":"1","method":"run.start","params":{"input":{"type":"text","text":"x"},"session_id":"sess-99999999"}}"#,
            RefusalKind::SessionUnknown,
            -32004,
        ),
        (r#"{"id":"1","method":"model.set","params":{"name":"no"}}"#, RefusalKind::ModelUnknown, -32602),
        (r#"{"id":"1","method":"session.list"}"#, RefusalKind::Storage, -32006),
        (r#"{"id":"1","method":"skills.list"}"#, RefusalKind::Unsupported, -32601),
        (r#"{"id":"1","method":"mcp.list"}"#, RefusalKind::Internal, -32000),
        (r#"{"id":"1","method":"mcp.list"}"#, RefusalKind::Remote { code: "-32042".into() }, -32042),
    ] {
        let mut bench = greeted();
        bench.asked(line, Err(Refusal::new(kind, "no").hint("do this")));
        let sent = said(&mut bench.link);
        assert!(
            sent.contains(&format!(r#""code":{expected},"#)) && sent.contains(r#""id":"1""#),
            "{line}: {sent}"
        );
    }
}

#[test]
fn bad_input_gets_its_error_and_nothing_else() {
    for (line, code) in [
        (r#"{"id":"1","method":"initialize"}"#, -32602),
        (r#"{"id":"1","method":"initialize","params":["0"]}"#, -32602),
        (r#"{"id":"1","method":"run.start","params":{}}"#, -32602),
        (r#"{"id":"1","method":"run.start","params":{"input":{"type":"voice"}}}"#, -32602),
        (r#"{"id":"1","method":"run.start","params":{"input":{"type":"text","text":7}}}"#, -32602),
        (r#"{"id":"1","method":"run.start","params":{"input":{"type":"text","text":"  "}}}"#, -32602),
        (
            r#"{"id":"1","method":"run.start","params":{"input":{"type":"parts","parts":[{"type":"image_url","image_url":{"url":"http://x/y.png"}}]}}}"#,
            -32602,
        ),
        (
            r#"{"id":"1","method":"run.start","params":{"input":{"type":"text","text":"x"},"session_id":"../.."}}"#,
            -32004,
        ),
        (r#"{"id":"1","method":"run.cancel","params":{"run_id":"nothing"}}"#, -32002),
        (r#"{"id":"1","method":"run.cancel","params":{"run_id":5}}"#, -32602),
        (r#"{"id":"1","method":"session.list","params":{"scope":"moon"}}"#, -32602),
        (r#"{"id":"1","method":"mcp.list","params":{"scope":"moon"}}"#, -32602),
        (r#"{"id":"1"}"#, -32600),
    ] {
        let mut bench = greeted();
        bench.say(line);
        let sent = said(&mut bench.link);
        assert!(bench.is_silent() && sent.lines().count() == 1, "{line}: {sent}");
        assert!(
            sent.contains(&format!(r#""code":{code},"#)) && sent.contains(r#""id":"1""#),
            "{line}: {sent}"
        );
    }
}

#[test]
fn what_has_no_id_gets_a_line_in_the_log() {
    for line in [
        Line::Text("hello".into()),
        Line::Text("[1,2]".into()),
        Line::Text("\"x\"".into()),
        Line::Text(r#"{"method":"run.start","params":{"input":{"type":"text","text":"x"}}}"#.into()),
        Line::Text(r#"{"method":"ui.context.update","params":{"cwd":7}}"#.into()),
        Line::Text(r#"{"id":"ui_9","result":{"ok":true}}"#.into()),
        Line::Overlong("xxxx".into()),
        Line::Garbled("\u{fffd}".into()),
    ] {
        let mut bench = greeted();
        bench.line(line.clone());
        assert_eq!(std::mem::take(&mut bench.link.logs).len(), 1, "{line:?}");
        assert!(bench.is_silent(), "{line:?}");
    }
    let mut bench = greeted();
    bench.line(Line::Overlong(r#"{"jsonrpc":"2.0","id":"5","method":"run.start","params":{"inp"#.into()));
    assert!(said(&mut bench.link).contains(r#""id":"5""#));
}

#[test]
fn too_many_requests_are_refused_and_the_link_lives() {
    let mut bench = greeted();
    for _ in 0..300 {
        bench.say(r#"{"id":"1","method":"nothing"}"#);
    }
    let sent = said(&mut bench.link);
    assert!(sent.contains("too many requests"));
    bench.now = Millis(bench.now.0 + 1000);
    bench.say(r#"{"id":"2","method":"nothing"}"#);
    assert!(said(&mut bench.link).contains("-32601"));
}

#[test]
fn a_long_compaction_is_under_way_before_it_is_done() {
    let line = r#"{"id":"2","method":"run.start","params":{"input":{"type":"text","text":""},"force_compaction":true}}"#;
    let begin = || {
        let mut bench = greeted();
        bench.say(line);
        let (ticket, ..) = bench.command();
        bench.fire(TimerKey(ticket.0));
        assert!(said(&mut bench.link).ends_with("\"seq\":0}}\n"), "its beginning is told");
        bench.say(r#"{"id":"3","method":"run.cancel","params":{"run_id":"compaction_1"}}"#);
        assert!(said(&mut bench.link).contains(r#"{"ok":false,"status":"running"}"#));
        (bench, ticket)
    };
    let (mut bench, ticket) = begin();
    bench.settle(ticket, Err(Refusal::new(RefusalKind::NothingToCompact, "nothing")));
    let sent = said(&mut bench.link);
    assert!(!sent.contains(r#""id":"2""#) && sent.contains(r#""seq":1"#), "{sent}");
    assert!(sent.ends_with("\"status\":\"completed\"}}\n"), "{sent}");
    bench.say(r#"{"id":"4","method":"run.cancel","params":{"run_id":"compaction_1"}}"#);
    assert!(said(&mut bench.link).contains(r#"{"ok":false,"status":"completed"}"#));
    let (mut bench, ticket) = begin();
    bench.settle(ticket, Err(Refusal::new(RefusalKind::Internal, "the model is away")));
    let sent = said(&mut bench.link);
    assert!(
        sent.contains(r#""message":"the model is away""#) && sent.contains(r#""status":"error""#),
        "{sent}"
    );
    let mut bench = greeted();
    bench.asked(line, Err(Refusal::new(RefusalKind::Busy, "a run is under way")));
    assert!(said(&mut bench.link).contains("-32001"), "refused at once, with an error");
}

#[test]
fn a_compaction_that_was_told_as_a_run_is_not_told_again() {
    let mut bench = greeted();
    let compaction = Compaction {
        summary: "s".into(),
        first_kept: None,
        tokens_before: 9,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: Usage::default(),
    };
    let line = r#"{"id":"2","method":"run.start","params":{"input":{"type":"text","text":""},"force_compaction":true}}"#;
    let receipt = Receipt::Compacted { entry: EntryId(40), compaction: compaction.clone() };
    let (_, command) = bench.asked(line, Ok(receipt));
    assert_eq!(command, Command::Run(RunCommand::Compact { instruction: None }));
    assert!(said(&mut bench.link).contains(r#""compacted":true"#));
    bench.happen(Body::Context(ContextEvent::Compacted { entry: EntryId(40), parent: None, compaction }));
    assert_eq!(said(&mut bench.link), "");
}

#[test]
fn images_and_context_are_lifted() {
    let mut bench = greeted();
    bench.say(
        r#"{"id":"2","method":"run.start","params":{"input":{"type":"parts","parts":[{"type":"text","text":"see"},
           {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}}]},
           "ui_context":{"cwd":"/w","active_file":{"path":"a.rs"},"selection":{"path":"a.rs","range":{"start":{"line":1,"column":0},"end":{"line":2,"column":0}},"selected_text":"fn"},"extensions":{"notes":["n"]}}}}"#,
    );
    let commands: Vec<Command> = bench.commands().into_iter().map(|(_, _, command)| command).collect();
    let [Command::UpdateContext(context), Command::Run(RunCommand::Prompt { input, .. })] = &commands[..]
    else {
        panic!("{commands:?}")
    };
    assert_eq!(context.selection, Some(("fn".to_owned(), "a.rs".to_owned())));
    assert_eq!(context.notes, ["n", "The selection in a.rs is in line 2."]);
    assert_eq!(input.attachments, [Part::Image { mime: "image/png".into(), base64: "AAAA".into() }]);
}

#[test]
fn why_a_run_is_stopped_is_handed_on() {
    let mut bench = greeted();
    let run = bench.begin("do it");
    let line = r#"{"id":"3","method":"run.cancel","params":{"run_id":"run_0123abcd_1","reason":"enough"}}"#;
    let stopping = Receipt::Cancelling { run: RunSummary { run, outcome: None } };
    let reason = Some("enough".to_owned());
    assert_eq!(
        bench.asked(line, Ok(stopping)).1,
        Command::Run(RunCommand::Cancel { run: Some(run), reason })
    );
}

#[test]
fn a_ui_that_comes_in_the_middle_hears_the_rest() {
    let mut bench = greeted();
    bench.begin("do it");
    let (_, message) = bench.step();
    bench.delta(message, "Hello ");
    bench.role = Box::new(CodeliaRuntime::new());
    bench.forget();
    bench.attach();
    bench.delta(message, "there");
    bench.end(Outcome::Done);
    check(
        &mut bench,
        &expect![[r#"
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"running"}}
        {"method":"agent.event","params":{"event":{"content":"Hello there","timestamp":1730000000000,"type":"final"},"run_id":"run_0123abcd_1","seq":0}}
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"completed"}}
    "#]],
    );
}

#[test]
fn who_read_the_past_of_a_session_is_led_there_unless_it_would_leave_a_run() {
    let history = || Ok(Receipt::History(History { runs: 1, events: Vec::new(), truncated: false }));
    let line = r#"{"id":"7","method":"session.history","params":{"session_id":"sess-0000beef"}}"#;
    let other = session("sess-0000beef");
    let mut bench = greeted();
    bench.asked(line, history());
    let (ticket, _, command) = bench.command();
    assert_eq!(command, Command::Library(LibraryCommand::Open { session: other }));
    assert!(bench.sent().is_empty(), "the answer is the last word");
    bench.settle(ticket, Err(Refusal::new(RefusalKind::Busy, "not now")));
    assert!(bench.sent()[0]["result"]["runs"].is_number(), "its past was told all the same");
    // One that sees a run of another session stays there, and so does one in front of another runtime.
    let mut running = greeted();
    running.begin("do it");
    let mut bridge = greeted();
    bridge.call(|role, cx| role.open(cx, &Greeting { follows: true, ..Greeting::default() }));
    for mut bench in [running, bridge] {
        bench.forget();
        bench.asked(line, history());
        assert!(bench.commands().is_empty());
        assert!(bench.sent()[0]["result"]["runs"].is_number());
    }
}

#[test]
fn a_change_of_context_leaves_the_rest_as_it_was() {
    let mut bench = greeted();
    let update = |params: &str| format!(r#"{{"method":"ui.context.update","params":{params}}}"#);
    let heard = |bench: &mut RuntimeBench, params: &str| {
        bench.say(&update(params));
        let (ticket, _, command) = bench.command();
        bench.settle(ticket, Ok(Receipt::Done));
        let Command::UpdateContext(context) = command else { panic!("{command:?}") };
        context
    };
    let whole = r#"{"cwd":"/a","active_file":{"path":"f"},"selection":{"path":"f","selected_text":"x"}}"#;
    heard(&mut bench, whole);
    let moved = heard(&mut bench, r#"{"cwd":"/b"}"#);
    assert_eq!((moved.cwd.as_deref(), moved.active_file.as_deref()), (Some("/b"), Some("f")));
    assert_eq!(moved.selection, Some(("x".to_owned(), "f".to_owned())));
    let range =
        r#"{"selection":{"path":"f","range":{"start":{"line":11,"column":2},"end":{"line":14,"column":0}}}}"#;
    let marked = heard(&mut bench, range);
    assert_eq!(marked.notes, ["The selection in f is lines 12 to 14."]);
    let closed = heard(&mut bench, r#"{"active_file":null}"#);
    assert_eq!((closed.cwd.as_deref(), closed.active_file), (Some("/b"), None), "null takes away");
}

#[test]
fn a_no_that_should_last_answers_the_same_action_and_no_other() {
    let mut bench = greeted();
    bench.begin("do it");
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", "{}");
    let ask = super::may_it_run(&mut bench, tool, None);
    bench.forget();
    bench.say(r#"{"id":"ui_1","result":{"ok":false,"remember":true}}"#);
    let (_, _, command) = bench.command();
    assert_eq!(command, Command::Answer { ask, answer: Answer::Deny { reason: None } });
    bench.close_ask(ask, Closing::Answered { answer: Answer::Deny { reason: None }, by: None });
    let again = |bench: &mut RuntimeBench, name: &str| {
        let tool = bench.propose(message, name, "{}");
        bench.forget();
        super::may_it_run(bench, tool, None)
    };
    let same = again(&mut bench, "bash");
    assert!(!bench.lines().iter().any(|line| line.contains("ui.confirm.request")), "nobody is asked");
    let (_, _, command) = bench.command();
    let Command::Answer { ask, answer: Answer::Deny { reason: Some(reason) } } = command else { panic!() };
    assert!(ask == same && reason.contains("said no to exactly this"), "{reason}");
    bench.close_ask(same, Closing::Answered { answer: Answer::Deny { reason: None }, by: None });
    again(&mut bench, "write");
    assert!(bench.lines().iter().any(|line| line.contains("ui.confirm.request")), "another is asked for");
}
