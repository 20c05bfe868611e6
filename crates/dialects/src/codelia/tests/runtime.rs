//! The runtime role alone: what it answers, what it tells, and what it makes of bad input.

use super::bench::{RuntimeBench, SESSION, session};
use domain::ask::{Answer, AskKind, Choice, Closing, Scope};
use domain::command::{
    Command, History, LibraryCommand, ListScope, Receipt, Refusal, RefusalKind, RunCommand, Target,
};
use domain::content::{Input, Part, Role, TextKind, Usage};
use domain::event::{
    AskEvent, Body, Compaction, ContextEvent, Failure, Finish, MessageEvent, Outcome, RunEvent, Trigger,
};
use domain::ids::{EntryId, Millis, RunId};
use domain::session::{
    ModelEntry, ModelRef, RunSummary, ServerEntry, ServerState, SessionSummary, SkillEntry, SkillList,
};
use domain::tool::{ToolOutcome, ToolResult};
use expect_test::{Expect, expect};
use roles::{Answers, Cx, Line, LinkEffect, RuntimeEffect, RuntimeRole, TimerKey};

fn check(bench: &mut RuntimeBench, expected: &Expect) {
    expected.assert_eq(&bench.sent());
}

/// Says a line, takes the command that follows and settles it. Nothing else may be waiting.
fn asked(bench: &mut RuntimeBench, line: &str, with: Result<Receipt, Refusal>) -> (Target, Command) {
    assert!(bench.effects().is_empty());
    bench.say(line);
    let (ticket, target, command) = bench.command();
    bench.settle(ticket, with);
    (target, command)
}

/// As [`asked`]; gives what was answered.
fn answered(bench: &mut RuntimeBench, line: &str, receipt: Receipt) -> String {
    asked(bench, line, Ok(receipt));
    bench.sent()
}

#[test]
fn the_handshake_of_the_document() {
    let mut bench = RuntimeBench::new();
    assert_eq!(bench.role.can_answer(), Answers::NONE);
    bench.say(r#"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocol_version":"0","client":{"name":"codelia-tui","version":"0.0.0"}}}"#);
    check(
        &mut bench,
        &expect![[r#"
        {"id":"1","result":{"protocol_version":"0","server":{"name":"parlor","version":"1.0.0"},"server_capabilities":{"supports_context_inspect":false,"supports_mcp_list":true,"supports_permission_preflight_events":true,"supports_run_cancel":true,"supports_run_diagnostics":false,"supports_shell_detach":false,"supports_shell_exec":false,"supports_shell_tasks":false,"supports_skills_list":true,"supports_tasks":false,"supports_text_deltas":true,"supports_theme_set":false,"supports_tool_call":false,"supports_ui_requests":true}}}
    "#]],
    );
    assert_eq!(bench.role.can_answer(), Answers::NONE);
}

#[test]
fn a_second_handshake_replaces_the_first() {
    let mut bench = RuntimeBench::greeted();
    assert_eq!(bench.role.can_answer(), Answers::ALL);
    bench.say(r#"{"id":"2","method":"initialize","params":{"protocol_version":"99","client":{"name":"x","version":"0"},"ui_capabilities":{"supports_confirm":true}}}"#);
    assert!(bench.sent().contains(r#""protocol_version":"0""#));
    assert_eq!(bench.role.can_answer(), Answers { consent: true, other: false, deadline: None });
}

#[test]
fn a_run_with_thought_text_tools_and_final() {
    let mut bench = RuntimeBench::greeted();
    bench.say(r#"{"id":"2","method":"run.start","params":{"input":{"type":"text","text":"List TypeScript files"}}}"#);
    let (ticket, target, command) = bench.command();
    assert_eq!(target, Target::Current);
    assert!(
        matches!(command, Command::Run(RunCommand::Prompt { input, .. }) if input == Input::text("List TypeScript files"))
    );
    let run = bench.mint_run();
    bench.settle(ticket, Ok(Receipt::Started { session: session(), run }));
    check(
        &mut bench,
        &expect![[r#"
        alone {"id":"2","result":{"run_id":"run_0123abcd_1","session_id":"sess-0123abcd"}}
    "#]],
    );
    bench.begin(run);
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    bench.delta(message, TextKind::Thought, "hm");
    bench.delta(message, TextKind::Thought, "m");
    bench.delta(message, TextKind::Text, "I ");
    bench.delta(message, TextKind::Text, "look.");
    let tool = bench.propose(message, "ls", r#"{"path":"."}"#);
    bench.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    bench.now = Millis(bench.now.0 + 70);
    bench.run_tool(tool, ToolOutcome::Done, ToolResult::text("a.ts"));
    bench.happen(Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
    bench.happen(Body::Context(ContextEvent::Measured { used: 1, window: 400 }));
    bench.happen(Body::Context(ContextEvent::Measured { used: 2, window: 400 }));
    bench.happen(Body::Context(ContextEvent::Measured { used: 200, window: 400 }));
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    bench.delta(message, TextKind::Text, "One file.");
    bench.end_run(Outcome::Done);
    check(
        &mut bench,
        &expect![[r#"
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"running"}}
        {"method":"agent.event","params":{"event":{"content":"hmm","timestamp":1730000000000,"type":"reasoning"},"run_id":"run_0123abcd_1","seq":0}}
        {"method":"agent.event","params":{"event":{"content":"I look.","timestamp":1730000000000,"type":"text"},"run_id":"run_0123abcd_1","seq":1}}
        {"method":"agent.event","params":{"event":{"step_id":"tool-6","step_number":1,"title":"ls","type":"step_start"},"run_id":"run_0123abcd_1","seq":2}}
        {"method":"agent.event","params":{"event":{"args":{"path":"."},"tool":"ls","tool_call_id":"tool-6","type":"tool_call"},"run_id":"run_0123abcd_1","seq":3}}
        {"method":"agent.event","params":{"event":{"result":"a.ts","tool":"ls","tool_call_id":"tool-6","type":"tool_result"},"run_id":"run_0123abcd_1","seq":4}}
        {"method":"agent.event","params":{"event":{"duration_ms":70,"status":"completed","step_id":"tool-6","type":"step_complete"},"run_id":"run_0123abcd_1","seq":5}}
        {"method":"run.context","params":{"context_left_percent":99,"run_id":"run_0123abcd_1"}}
        {"method":"run.context","params":{"context_left_percent":50,"run_id":"run_0123abcd_1"}}
        {"method":"agent.event","params":{"event":{"content":"One file.","timestamp":1730000000070,"type":"final"},"run_id":"run_0123abcd_1","seq":6}}
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"completed"}}
    "#]],
    );
}

#[test]
fn a_run_that_fails_or_is_stopped_has_no_final() {
    let failed =
        Outcome::Failed(Failure::new("model_overloaded", "the model is overloaded").hint("try again later"));
    for (outcome, said) in [
        (failed, r#""status":"error""#),
        (Outcome::Cancelled, r#""status":"cancelled""#),
        (Outcome::Interrupted, r#""status":"error""#),
        (Outcome::Lost, r#""status":"error""#),
    ] {
        let mut bench = RuntimeBench::greeted();
        bench.begin_run();
        let step = bench.step();
        let message = bench.message(Role::Assistant, None, Some(step));
        bench.delta(message, TextKind::Text, "half");
        bench.end_run(outcome);
        let sent = bench.sent();
        assert!(!sent.contains("final"), "{sent}");
        assert!(sent.contains(r#""content":"half""#), "{sent}");
        assert!(sent.lines().last().unwrap().contains(said), "{sent}");
    }
}

#[test]
fn a_run_of_another_ui_and_what_is_steered_into_it() {
    let mut bench = RuntimeBench::greeted();
    let run = bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    bench.delta(message, TextKind::Text, "done");
    bench.happen(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    bench.happen(Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
    let turn = bench.state.open_run().unwrap().open_turn().unwrap().id;
    bench.happen(Body::Run(RunEvent::TurnEnded { turn }));
    bench.begin_turn(run, "and now this");
    bench.end_run(Outcome::Done);
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
fn a_consent_with_a_rule() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    let tool = bench.propose(message, "bash", r#"{"command":"echo hi"}"#);
    bench.effects();
    let ask = bench.consent(tool, Some("bash: echo"));
    check(
        &mut bench,
        &expect![[r#"
        {"method":"agent.event","params":{"event":{"tool":"bash","tool_call_id":"tool-6","type":"permission.ready"},"run_id":"run_0123abcd_1","seq":2}}
        {"method":"run.status","params":{"message":"waiting for confirmation","run_id":"run_0123abcd_1","status":"awaiting_ui"}}
        {"id":"ui_1","method":"ui.confirm.request","params":{"allow_reason":true,"allow_remember":true,"cancel_label":"Deny","confirm_label":"Allow","danger_level":"normal","message":"echo hi\n\nRemember (don't ask again):\n- bash: echo","run_id":"run_0123abcd_1","title":"Run command?"}}
    "#]],
    );
    bench.say(r#"{"jsonrpc":"2.0","id":"ui_1","result":{"ok":true,"remember":true,"reason":null}}"#);
    let (_, target, command) = bench.command();
    assert_eq!(target, Target::Session(session()));
    let Command::Answer { ask: about, answer } = command else { panic!("{command:?}") };
    assert_eq!(about, ask);
    assert!(matches!(&answer, Answer::Allow { scope: Scope::Always, digest: Some(_) }));
    bench.happen(Body::Ask(AskEvent::Closed { ask, closing: Closing::Answered { answer, by: None } }));
    check(
        &mut bench,
        &expect![[r#"
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"running"}}
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
        let mut bench = RuntimeBench::greeted();
        let ask = bench.ask(None, "Title", kind);
        bench.effects();
        bench.say(&format!(r#"{{"id":"ui_1","result":{answer}}}"#));
        let (_, _, command) = bench.command();
        assert_eq!(command, Command::Answer { ask, answer: lifted }, "{answer}");
    }
}

#[test]
fn questions_as_they_are_sent() {
    let mut bench = RuntimeBench::greeted();
    let text = AskKind::Text {
        message: "key".into(),
        placeholder: None,
        default: None,
        secret: true,
        multiline: false,
    };
    let ask = bench.ask(None, "Key?", text);
    bench.happen(Body::Ask(AskEvent::Closed { ask, closing: Closing::Withdrawn }));
    let ask = bench.ask(None, "Edit", AskKind::Edit { message: "the text".into(), prefill: "a\nb".into() });
    bench.happen(Body::Ask(AskEvent::Closed { ask, closing: Closing::Expired }));
    let choices = vec![Choice { id: "a".into(), label: "A".into(), detail: Some("first".into()) }];
    bench.ask(None, "Mode", AskKind::Choose { message: "which".into(), choices, many: false });
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
    let mut bench = RuntimeBench::greeted();
    let summary = SessionSummary {
        id: session(),
        title: "t".into(),
        cwd: "/home/user/p".into(),
        project: "/home/user/p".into(),
        created_at: Millis(0),
        updated_at: Millis(1_794_701_808_058),
        messages: 2,
        last_prompt: Some("hello".into()),
        last_run: Some(RunId(7)),
        running: false,
        usage: Usage::default(),
    };
    let (_, command) =
        asked(&mut bench, r#"{"id":"1","method":"session.list"}"#, Ok(Receipt::Sessions(vec![summary])));
    assert_eq!(
        command,
        Command::Library(LibraryCommand::List {
            scope: ListScope::Project(None),
            limit: Some(50),
            search: None
        })
    );
    let mut all = bench.sent();
    let model = |name: &str| ModelRef { provider: "p".into(), name: name.into() };
    let entry = ModelEntry {
        model: model("m"),
        context_window: Some(1000),
        max_output: Some(100),
        price_input: Some(1_500_000),
        price_output: None,
    };
    let models = Receipt::Models { models: vec![entry], current: Some(model("m")) };
    all += &answered(
        &mut bench,
        r#"{"id":"2","method":"model.list","params":{"include_details":true}}"#,
        models.clone(),
    );
    all +=
        &answered(&mut bench, r#"{"id":"3","method":"model.list","params":{"provider":"nobody"}}"#, models);
    all += &answered(
        &mut bench,
        r#"{"id":"4","method":"model.set","params":{"name":"m"}}"#,
        Receipt::Model(model("m")),
    );
    let server = ServerEntry {
        id: "files".into(),
        http: false,
        from_project: true,
        state: ServerState::Failed("exit 1".into()),
        tools: None,
        connected_at: None,
    };
    all += &answered(
        &mut bench,
        r#"{"id":"5","method":"mcp.list","params":{"scope":"loaded"}}"#,
        Receipt::Servers(vec![server]),
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
    all += &answered(&mut bench, r#"{"id":"6","method":"skills.list","params":{}}"#, Receipt::Skills(skills));
    expect![[r#"
        {"id":"1","result":{"current_workspace_root":"/home/user/p","sessions":[{"last_user_message":"hello","message_count":2,"run_id":"run_0123abcd_7","session_id":"sess-0123abcd","updated_at":"2026-11-15T00:16:48.058Z","workspace_root":"/home/user/p"}]}}
        {"id":"2","result":{"current":"m","details":{"m":{"context_window":1000,"cost_per_1m_input_tokens_usd":1.5,"max_input_tokens":900,"max_output_tokens":100}},"models":["m"],"provider":"p"}}
        {"error":{"code":-32602,"message":"invalid params: unknown provider: nobody"},"id":"3"}
        {"id":"4","result":{"name":"m","provider":"p"}}
        {"id":"5","result":{"servers":[{"enabled":true,"id":"files","last_error":"exit 1","source":"project","state":"error","transport":"stdio"}]}}
        {"id":"6","result":{"errors":[{"message":"bad","path":"/x"}],"skills":[{"description":"d","dir":"/home/user/p/.skills/s","id":"s","mtime_ms":5,"name":"S","path":"/home/user/p/.skills/s/SKILL.md","scope":"repo"}],"truncated":false}}
    "#]].assert_eq(&all);
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
        let mut bench = RuntimeBench::greeted();
        bench.say(line);
        let (ticket, ..) = bench.command();
        bench.settle(ticket, Err(Refusal::new(kind, "no").hint("do this")));
        let sent = bench.sent();
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
        (r#"{"id":"1","method":"session.history","params":{"session_id":""}}"#, -32602),
        (r#"{"id":"1","method":"model.set","params":{}}"#, -32602),
        (r#"{"id":"1","method":"mcp.list","params":{"scope":"moon"}}"#, -32602),
        (r#"{"id":"1","method":"artifact.get"}"#, -32601),
        (r#"{"id":"1","method":"workspace.list"}"#, -32601),
        (r#"{"id":"1","method":"history.export"}"#, -32601),
        (r#"{"id":"1","method":"todos.update"}"#, -32601),
        (r#"{"id":"1","method":"shell.exec","params":{"command":"ls"}}"#, -32601),
        (r#"{"id":"1","method":"auth.logout"}"#, -32601),
        (r#"{"id":"1","method":7}"#, -32600),
        (r#"{"id":"1"}"#, -32600),
    ] {
        let mut bench = RuntimeBench::greeted();
        bench.say(line);
        let effects = bench.effects();
        assert_eq!(effects.len(), 1, "{line}: {effects:?}");
        let sent = super::bench::sent(&effects);
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
        Line::Text(r#"{"id":null,"method":"run.start"}"#.into()),
        Line::Text(r#"{"id":"ui_9","result":{"ok":true}}"#.into()),
        Line::Overlong("xxxx".into()),
        Line::Garbled("\u{fffd}".into()),
    ] {
        let mut bench = RuntimeBench::greeted();
        bench.line(line.clone());
        let effects = bench.effects();
        assert!(
            matches!(effects.as_slice(), [RuntimeEffect::Link(LinkEffect::Log(_))]),
            "{line:?}: {effects:?}"
        );
    }
    let mut bench = RuntimeBench::greeted();
    bench.line(Line::Overlong(r#"{"jsonrpc":"2.0","id":"5","method":"run.start","params":{"inp"#.into()));
    assert!(bench.sent().contains(r#""id":"5""#));
}

#[test]
fn too_many_requests_are_refused_and_the_link_lives() {
    let mut bench = RuntimeBench::greeted();
    for _ in 0..300 {
        bench.say(r#"{"id":"1","method":"nothing"}"#);
    }
    let sent = bench.sent();
    assert!(sent.contains("too many requests"));
    bench.now = Millis(bench.now.0 + 1000);
    bench.say(r#"{"id":"2","method":"nothing"}"#);
    assert!(bench.sent().contains("-32601"));
}

#[test]
fn a_replay_tells_what_was_told_and_numbers_it_alike() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    let tool = bench.propose(message, "bash", "{}");
    let ask = bench.consent(tool, None);
    let closing = Closing::Answered { answer: Answer::Allow { scope: Scope::Once, digest: None }, by: None };
    bench.happen(Body::Ask(AskEvent::Closed { ask, closing }));
    bench.run_tool(tool, ToolOutcome::Failed, ToolResult::text("exit 1"));
    bench.happen(Body::Message(MessageEvent::PartAdded { message, part: Part::Text("sorry".into()) }));
    bench.end_run(Outcome::Done);
    bench.effects();
    let events = bench.events.clone();
    let ask = format!(r#"{{"id":"5","method":"session.history","params":{{"session_id":"{SESSION}"}}}}"#);
    let history = |events| Ok(Receipt::History(History { runs: 1, events, truncated: false }));
    asked(&mut bench, &ask, history(events.clone()));
    check(
        &mut bench,
        &expect![[r#"
        {"method":"agent.event","params":{"event":{"content":"do it","timestamp":1730000000000,"type":"hidden_user_message"},"run_id":"run_0123abcd_1","seq":-1}}
        {"method":"agent.event","params":{"event":{"step_id":"tool-6","step_number":1,"title":"bash","type":"step_start"},"run_id":"run_0123abcd_1","seq":0}}
        {"method":"agent.event","params":{"event":{"args":{},"tool":"bash","tool_call_id":"tool-6","type":"tool_call"},"run_id":"run_0123abcd_1","seq":1}}
        {"method":"agent.event","params":{"event":{"is_error":true,"result":"exit 1","tool":"bash","tool_call_id":"tool-6","type":"tool_result"},"run_id":"run_0123abcd_1","seq":3}}
        {"method":"agent.event","params":{"event":{"duration_ms":0,"status":"error","step_id":"tool-6","type":"step_complete"},"run_id":"run_0123abcd_1","seq":4}}
        {"method":"agent.event","params":{"event":{"content":"sorry","timestamp":1730000000000,"type":"final"},"run_id":"run_0123abcd_1","seq":5}}
        {"id":"5","result":{"events_sent":6,"runs":1}}
    "#]],
    );
    // Cut at the front, as a store would: the run is still known by its end.
    let ask = format!(
        r#"{{"id":"6","method":"session.history","params":{{"session_id":"{SESSION}","max_events":1}}}}"#
    );
    asked(&mut bench, &ask, history(events[4..].to_vec()));
    check(
        &mut bench,
        &expect![[r#"
        {"method":"agent.event","params":{"event":{"content":"sorry","timestamp":1730000000000,"type":"final"},"run_id":"run_0123abcd_1","seq":5}}
        {"id":"6","result":{"events_sent":1,"runs":1,"truncated":true}}
    "#]],
    );
}

#[test]
fn a_long_compaction_is_under_way_before_it_is_done() {
    let line = r#"{"id":"2","method":"run.start","params":{"input":{"type":"text","text":""},"force_compaction":true}}"#;
    let begin = || {
        let mut bench = RuntimeBench::greeted();
        bench.say(line);
        let (ticket, ..) = bench.command();
        let mut effects = Vec::new();
        bench.role.timer(&mut Cx { now: bench.now, effects: &mut effects }, TimerKey(ticket.0));
        assert!(super::bench::sent(&effects).ends_with("\"seq\":0}}\n"), "its beginning is told");
        bench.say(r#"{"id":"3","method":"run.cancel","params":{"run_id":"compaction_1"}}"#);
        assert!(bench.sent().contains(r#"{"ok":false,"status":"running"}"#));
        (bench, ticket)
    };
    let (mut bench, ticket) = begin();
    bench.settle(ticket, Err(Refusal::new(RefusalKind::NothingToCompact, "nothing")));
    let sent = bench.sent();
    assert!(!sent.contains(r#""id":"2""#) && sent.contains(r#""seq":1"#), "{sent}");
    assert!(sent.ends_with("\"status\":\"completed\"}}\n"), "{sent}");
    bench.say(r#"{"id":"4","method":"run.cancel","params":{"run_id":"compaction_1"}}"#);
    assert!(bench.sent().contains(r#"{"ok":false,"status":"completed"}"#));
    let (mut bench, ticket) = begin();
    bench.settle(ticket, Err(Refusal::new(RefusalKind::Internal, "the model is away")));
    let sent = bench.sent();
    assert!(
        sent.contains(r#""message":"the model is away""#) && sent.contains(r#""status":"error""#),
        "{sent}"
    );
    let mut bench = RuntimeBench::greeted();
    bench.say(line);
    let (ticket, ..) = bench.command();
    bench.settle(ticket, Err(Refusal::new(RefusalKind::Busy, "a run is under way")));
    assert!(bench.sent().contains("-32001"), "refused at once, with an error");
}

#[test]
fn a_compaction_is_told_as_a_run() {
    let mut bench = RuntimeBench::greeted();
    let line = r#"{"id":"2","method":"run.start","params":{"input":{"type":"text","text":""},"force_compaction":true}}"#;
    let compaction = Compaction {
        summary: "s".into(),
        first_kept: None,
        tokens_before: 9,
        trigger: Trigger::Manual,
        usage: Usage::default(),
    };
    let receipt = Receipt::Compacted { entry: EntryId(40), compaction: compaction.clone() };
    let (_, command) = asked(&mut bench, line, Ok(receipt));
    assert_eq!(command, Command::Run(RunCommand::Compact { instruction: None }));
    bench.happen(Body::Context(ContextEvent::Compacted { entry: EntryId(40), parent: None, compaction }));
    bench.say(r#"{"id":"3","method":"run.cancel","params":{"run_id":"compaction_1"}}"#);
    check(
        &mut bench,
        &expect![[r#"
        alone {"id":"2","result":{"run_id":"compaction_1"}}
        {"method":"run.status","params":{"run_id":"compaction_1","status":"running"}}
        {"method":"agent.event","params":{"event":{"timestamp":1730000000000,"type":"compaction_start"},"run_id":"compaction_1","seq":0}}
        {"method":"agent.event","params":{"event":{"compacted":true,"timestamp":1730000000000,"type":"compaction_complete"},"run_id":"compaction_1","seq":1}}
        {"method":"agent.event","params":{"event":{"content":"The conversation was compacted.","timestamp":1730000000000,"type":"final"},"run_id":"compaction_1","seq":2}}
        {"method":"run.status","params":{"run_id":"compaction_1","status":"completed"}}
        {"id":"3","result":{"ok":false,"status":"completed"}}
    "#]],
    );
    let nothing = Refusal::new(RefusalKind::NothingToCompact, "nothing");
    asked(&mut bench, line, Err(nothing));
    assert!(bench.sent().contains(r#""compacted":false"#));
}

#[test]
fn images_and_context_are_lifted() {
    let mut bench = RuntimeBench::greeted();
    bench.say(
        r#"{"id":"2","method":"run.start","params":{"input":{"type":"parts","parts":[{"type":"text","text":"see"},
           {"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}}]},
           "ui_context":{"cwd":"/w","active_file":{"path":"a.rs"},"selection":{"path":"a.rs","range":{"start":{"line":1,"column":0},"end":{"line":2,"column":0}},"selected_text":"fn"},"extensions":{"notes":["n"]}}}}"#,
    );
    let commands: Vec<Command> = bench
        .effects()
        .into_iter()
        .filter_map(|effect| match effect {
            RuntimeEffect::Command { command, .. } => Some(command),
            _ => None,
        })
        .collect();
    let [Command::UpdateContext(context), Command::Run(RunCommand::Prompt { input, .. })] =
        commands.as_slice()
    else {
        panic!("{commands:?}")
    };
    assert_eq!(context.selection, Some(("fn".to_owned(), "a.rs".to_owned())));
    assert_eq!(context.notes, ["n"]);
    assert_eq!(input.attachments, [Part::Image { mime: "image/png".into(), base64: "AAAA".into() }]);
}

#[test]
fn stopping_a_run() {
    let mut bench = RuntimeBench::greeted();
    let run = bench.begin_run();
    bench.effects();
    let line = r#"{"id":"3","method":"run.cancel","params":{"run_id":"run_0123abcd_1","reason":"enough"}}"#;
    let stopping = RunSummary { run, outcome: None };
    let (target, command) = asked(&mut bench, line, Ok(Receipt::Cancelling { run: stopping }));
    assert_eq!(target, Target::Session(session()));
    assert_eq!(command, Command::Run(RunCommand::Cancel { run: Some(run), reason: Some("enough".into()) }));
    bench.end_run(Outcome::Cancelled);
    let over = RunSummary { run, outcome: Some(Outcome::Cancelled) };
    bench.say(line);
    let (ticket, ..) = {
        let effects = bench.effects();
        let (sent, rest): (Vec<_>, Vec<_>) =
            effects.into_iter().partition(|e| matches!(e, RuntimeEffect::Link(LinkEffect::Send { .. })));
        expect![[r#"
            {"id":"3","result":{"ok":true}}
            {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"cancelled"}}
        "#]]
        .assert_eq(&super::bench::sent(&sent));
        match rest.into_iter().next() {
            Some(RuntimeEffect::Command { ticket, command, .. }) => (ticket, command),
            other => panic!("{other:?}"),
        }
    };
    bench.settle(ticket, Ok(Receipt::Cancelling { run: over }));
    check(
        &mut bench,
        &expect![[r#"
        {"id":"3","result":{"ok":false,"status":"cancelled"}}
    "#]],
    );
}

#[test]
fn a_ui_that_comes_in_the_middle_hears_the_rest() {
    let mut bench = RuntimeBench::greeted();
    bench.role = crate::codelia::CodeliaRuntime::new();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    bench.delta(message, TextKind::Text, "Hello ");
    bench.role = crate::codelia::CodeliaRuntime::new();
    bench.effects();
    bench.attach();
    bench.delta(message, TextKind::Text, "there");
    bench.end_run(Outcome::Done);
    check(
        &mut bench,
        &expect![[r#"
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"running"}}
        {"method":"agent.event","params":{"event":{"content":"Hello there","timestamp":1730000000000,"type":"final"},"run_id":"run_0123abcd_1","seq":0}}
        {"method":"run.status","params":{"run_id":"run_0123abcd_1","status":"completed"}}
    "#]],
    );
}
