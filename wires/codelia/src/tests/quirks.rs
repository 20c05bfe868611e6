//! One test per quirk, under its name.

use super::{SESSION, greeted, may_it_run, run_event, runtime, said, ui, ui_greeted, ui_running, waiting};
use domain::ask::{Answer, Ask, AskKind, Closing, Scope};
use domain::command::{Command, ListCommand, Receipt, Refusal, RefusalKind, RunCommand, Target};
use domain::content::{Json, Role};
use domain::event::{AskEvent, Body, Cause, Failure, MessageEvent, NoteEvent, Outcome, RunEvent, ToolEvent};
use domain::ids::{AskId, EntryId, MessageId, RunId, StepId, TurnId};
use domain::session::RunSummary;
use domain::signal::Level;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::TimerKey;
use testkit::bench::{RuntimeBench, UiBench, cancel, session, told};

fn start(bench: &mut RuntimeBench) {
    let run = bench.mint_run();
    let (target, _) = bench.asked(
        r#"{"id":"2","method":"run.start","params":{"input":{"type":"text","text":"x"}}}"#,
        Ok(Receipt::Started { session: session(SESSION), run }),
    );
    assert_eq!(target, Target::Current);
}

#[test]
fn string_ids_only() {
    let mut bench = greeted();
    bench.say(r#"{"id":7,"method":"nothing"}"#);
    bench.say(r#"{"id":"7","method":"nothing"}"#);
    let sent = said(&mut bench.link);
    assert!(sent.contains(r#""id":7"#) && sent.contains(r#""id":"7""#), "{sent}");
    let mut bench = ui();
    bench.hear(r#"{"id":1,"result":{"protocol_version":"0","server":{"name":"rt","version":"1"}}}"#);
    assert!(said(&mut bench.link).contains("model.list"));
}

#[test]
fn no_version_negotiation() {
    let mut bench = runtime();
    bench.say(r#"{"id":"1","method":"initialize","params":{"protocol_version":"99","client":{"name":"t","version":"0"}}}"#);
    assert!(said(&mut bench.link).contains(r#""protocol_version":"0""#));
    let mut bench = ui();
    bench.hear(r#"{"id":"1","result":{"protocol_version":"99","server":{"name":"rt","version":"1"}}}"#);
    assert!(bench.link.drifts.len() == 1 && bench.link.closed.is_none());
}

#[test]
fn requests_before_initialize() {
    let mut bench = runtime();
    bench.say(r#"{"id":"2","method":"model.list","params":{"include_details":false}}"#);
    assert_eq!(bench.command().2, Command::List(ListCommand::Models { provider: None }));
}

#[test]
fn result_of_run_start_alone() {
    for (name, pause) in [
        ("codelia-cli-prompt", Some(crate::RESULT_PAUSE)),
        ("codelia-tui", None),
        ("codelia-cli-prompter", None),
    ] {
        let mut bench = named(name);
        start(&mut bench);
        let pauses: Vec<_> = bench.link.outgoing(None).iter().map(|sent| sent.alone).collect();
        assert_eq!(pauses, [pause], "{name}");
    }
}

/// Our runtime and a UI that calls itself so.
pub(super) fn named(name: &str) -> RuntimeBench {
    let mut bench = greeted();
    bench.say(&format!(
        r#"{{"id":"1","method":"initialize","params":{{"protocol_version":"0","client":{{"name":"{name}","version":"0"}},
           "ui_capabilities":{{"supports_confirm":true,"supports_prompt":true,"supports_pick":true}}}}}}"#
    ));
    bench.forget();
    bench
}

/// The events that were told: their type and what they say.
fn events(bench: &mut RuntimeBench) -> Vec<(String, String)> {
    let sent = bench.sent();
    let events = sent.iter().filter(|line| line["method"] == "agent.event");
    let words = events.map(|line| {
        let event = &line["params"]["event"];
        let said = event["content"].as_str().or(event["result"].as_str()).or(event["tool"].as_str());
        (event["type"].as_str().unwrap().to_owned(), said.unwrap_or_default().to_owned())
    });
    words.collect()
}

#[test]
fn commands_are_shown_by_shell() {
    let ran = |code: &str| {
        Some(Json::verbatim(format!(r#"{{"exit_code":{code},"duration_ms":27,"timed_out":false}}"#)))
    };
    let result = |text: &str, json| ToolResult { json, ..ToolResult::text(text) };
    let job = Some(Json::verbatim(r#"{"job":"job-1"}"#));
    for (outcome, result, told) in [
        (
            ToolOutcome::Done,
            result("hi\nho\n", ran("0")),
            r#"{"state":"completed","command":"ls","exit_code":0,"duration_ms":27,"stdout":"hi\nho\n","stderr":""}"#,
        ),
        (
            ToolOutcome::Done,
            result("(no output)", ran("0")),
            r#"{"state":"completed","command":"ls","exit_code":0,"duration_ms":27,"stdout":"","stderr":""}"#,
        ),
        (
            ToolOutcome::Failed,
            result("no such file\n(exit code 2)", ran("2")),
            r#"{"state":"failed","command":"ls","exit_code":2,"duration_ms":27,"stdout":"no such file\n","stderr":""}"#,
        ),
        (
            ToolOutcome::Cancelled,
            result("half\n(cancelled)", ran("null")),
            r#"{"state":"cancelled","command":"ls","exit_code":null,"duration_ms":27,"stdout":"half\n(cancelled)","stderr":""}"#,
        ),
        (
            ToolOutcome::Done,
            result("started as job-1", job),
            r#"{"key":"job-1","state":"running","command":"ls","exit_code":null,"stdout":"","stderr":"","detached_wait":true}"#,
        ),
        (
            ToolOutcome::Failed,
            result("bash: not found", None),
            r#"{"state":"failed","command":"ls","exit_code":null,"duration_ms":0,"stdout":"","stderr":"","failure_message":"bash: not found"}"#,
        ),
    ] {
        let mut bench = greeted();
        bench.begin("do it");
        let (_, message) = bench.step();
        let tool = bench.propose(message, "bash", r#"{"command":"ls"}"#);
        bench.run_tool(tool, outcome, result);
        let told_events = events(&mut bench);
        assert!(told_events.contains(&("tool_call".into(), "shell".into())), "{told_events:?}");
        assert!(told_events.contains(&("tool_result".into(), told.into())), "{told_events:?}");
        let lines = bench.lines().join("");
        assert!(!lines.contains("bash"), "{lines}");
        // And heard again it reads as a terminal would show it.
        let result = serde_json::to_string(told).unwrap();
        let heard = heard(&[
            r#"{"type":"tool_call","tool":"shell","args":{"command":"ls"},"tool_call_id":"c1"}"#,
            &format!(
                r#"{{"type":"tool_result","tool":"shell","result":{result},"tool_call_id":"c1","is_error":true}}"#
            ),
        ]);
        let text = &heard.state.tools.values().next().unwrap().result.as_ref().unwrap().text;
        assert!(!text.contains('{'), "{text}");
    }
    // A question about it names it so too, and what is denied has no result to show.
    let (mut bench, _) = waiting(None);
    assert!(said(&mut bench.link).contains(r#""tool":"shell","tool_call_id""#));
}

#[test]
fn plans_are_todo_lists() {
    let mut bench = greeted();
    bench.begin("do it");
    let (_, message) = bench.step();
    let tool = bench.propose(message, "todo", r#"{"items":[]}"#);
    let items = r#"{"items":[{"text":"a","state":"done"},{"text":"b\n c","state":"active"},{"text":"d","state":"pending"}]}"#;
    let result = ToolResult { json: Some(Json::verbatim(items)), ..ToolResult::text("the plan has 3 steps") };
    bench.run_tool(tool, ToolOutcome::Done, result);
    let told = events(&mut bench);
    assert!(told.contains(&("tool_call".into(), "todo_new".into())), "{told:?}");
    let list =
        "Updated todos (new): 1 pending, 1 in progress, 1 completed. Next:\n1. [x] a\n2. [>] b c\n3. [ ] d";
    assert!(told.contains(&("tool_result".into(), list.into())), "{told:?}");
}

#[test]
fn paragraphs_for_the_terminal_ui() {
    let talk = |name: &str, pieces: &[&str], outcome: Outcome| {
        let mut bench = named(name);
        bench.begin("do it");
        let (_, message) = bench.step();
        let mut before = Vec::new();
        for piece in pieces {
            bench.delta(message, piece);
            before.extend(events(&mut bench));
        }
        bench.end_message(message);
        bench.end(outcome);
        (before, events(&mut bench))
    };
    let text = |words: &str| ("text".to_owned(), words.to_owned());
    let last = |words: &str| ("final".to_owned(), words.to_owned());
    let prompt = ("hidden_user_message".to_owned(), "do it".to_owned());
    let pieces = ["one\n", "\ntwo\n\n```\na\n", "\nb\n```\n\nthr", "ee"];
    let (before, after) = talk("codelia-tui", &pieces, Outcome::Done);
    assert_eq!(before, [prompt.clone(), text("one"), text("two"), text("```\na\n\nb\n```")]);
    assert_eq!(after, [text("three"), last("three")]);
    let (before, after) = talk("codelia-tui", &["one\n\ntwo\n\n"], Outcome::Done);
    assert_eq!(before, [prompt.clone(), text("one"), text("two")]);
    assert_eq!(after, [last("two")]);
    let (before, after) = talk("codelia-tui", &["one\n\ntw"], Outcome::Cancelled);
    assert_eq!((before, after), (vec![prompt.clone(), text("one")], vec![text("tw")]));
    // A run that had begun when the UI came to its session is told so too, unless the model had been asked.
    for (asked, told) in [(false, vec![text("one")]), (true, vec![])] {
        let mut bench = named("codelia-tui");
        bench.detach(&session(SESSION));
        let run = bench.mint_run();
        bench.miss(Body::Run(RunEvent::Started { run }));
        let turn = TurnId::mint(&bench.ids);
        bench.miss(Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
        if !asked {
            bench.attach();
        }
        let step = StepId::mint(&bench.ids);
        let started = Body::Run(RunEvent::StepStarted { turn, step, model: None });
        if asked {
            bench.miss(started);
            bench.attach();
        } else {
            bench.happen(started);
        }
        let message = MessageId::mint(&bench.ids);
        let (role, parent) = (Role::Assistant, None);
        let (turn, step) = (Some(turn), Some(step));
        bench.happen(Body::Message(MessageEvent::Started { message, parent, role, turn, step }));
        bench.delta(message, "one\n\ntw");
        assert_eq!(events(&mut bench), told, "{asked}");
    }
    // A plain answer is a final alone, and nobody else is told in paragraphs.
    let (before, after) = talk("codelia-tui", &["one ", "line"], Outcome::Done);
    assert_eq!((before, after), (vec![prompt.clone()], vec![last("one line")]));
    let (before, after) = talk("codelia-cli-prompt", &pieces, Outcome::Done);
    assert_eq!((before, after.len()), (vec![prompt], 1));
    assert_eq!(after[0].1, pieces.concat());
}

#[test]
fn nothing_follows_a_cancel() {
    let cancel = r#"{"id":"9","method":"run.cancel","params":{"run_id":"run_0123abcd_1"}}"#;
    let accepted = |run| Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } });
    let begun = || {
        let mut bench = greeted();
        let run = bench.begin("do it");
        let (_, message) = bench.step();
        bench.delta(message, "half");
        bench.forget();
        (bench, run, message)
    };
    let what = |line: &serde_json::Value| match line["method"].as_str() {
        Some("agent.event") => line["params"]["event"]["type"].as_str().unwrap().to_owned(),
        Some(_) => line["params"]["status"].as_str().unwrap().to_owned(),
        None => line["result"].to_string(),
    };
    let whats = |bench: &mut RuntimeBench| bench.sent().iter().map(what).collect::<Vec<_>>();
    let order = ["text", r#"{"ok":true}"#, "cancelled"];
    // The hub says yes before the run is over.
    let (mut bench, run, _) = begun();
    bench.say(cancel);
    let (ticket, ..) = bench.command();
    bench.settle(ticket, accepted(run));
    assert_eq!(whats(&mut bench), [""; 0]);
    bench.end(Outcome::Cancelled);
    assert_eq!(whats(&mut bench), order);
    // The run is over before the hub has said yes.
    let (mut bench, run, _) = begun();
    bench.say(cancel);
    let (ticket, ..) = bench.command();
    bench.end(Outcome::Cancelled);
    assert_eq!(whats(&mut bench), ["text"]);
    bench.settle(ticket, accepted(run));
    assert_eq!(whats(&mut bench), order[1..]);
    // A run that does not end: the answer comes all the same, and then nothing but the end.
    let (mut bench, run, message) = begun();
    bench.say(cancel);
    let (ticket, ..) = bench.command();
    bench.settle(ticket, accepted(run));
    bench.wait(u64::try_from(crate::ANSWERS_WITHIN.as_millis()).unwrap());
    assert_eq!(whats(&mut bench), order[1..2]);
    bench.delta(message, "more");
    bench.end_message(message);
    bench.end(Outcome::Cancelled);
    assert_eq!(whats(&mut bench), order[2..]);
    // A run that ended by itself meanwhile says so.
    let (mut bench, run, _) = begun();
    bench.say(cancel);
    let (ticket, ..) = bench.command();
    bench.end(Outcome::Done);
    assert_eq!(whats(&mut bench), ["final"]);
    bench.settle(ticket, Ok(Receipt::Cancelling { run: RunSummary { run, outcome: Some(Outcome::Done) } }));
    assert_eq!(whats(&mut bench), ["completed", r#"{"ok":false,"status":"completed"}"#]);
}

#[test]
fn stderr_is_shown() {
    let failure = Failure::new("model_overloaded", "the model is overloaded").hint("try again later");
    for (outcome, logs) in [(Outcome::Failed(failure), 0), (Outcome::Done, 1)] {
        let mut bench = greeted();
        let run = Some(bench.begin("do it"));
        let text = "the model is overloaded\ntry again later".to_owned();
        let (entry, level) = (EntryId::mint(&bench.ids), Level::Error);
        bench.happen(Body::Note(NoteEvent::Noticed {
            entry,
            parent: None,
            run,
            level,
            code: "x".into(),
            text,
        }));
        bench.end(outcome);
        assert_eq!(bench.link.logs.len(), logs, "{:?}", bench.link.logs);
    }
    // And a question is said once.
    let mut bench = greeted();
    bench.ask("Sure?", AskKind::Confirm { message: "Sure?".into(), yes: None, no: None, danger: false });
    assert_eq!(said(&mut bench.link).matches("Sure?").count(), 1);
}

#[test]
fn typed_ahead_is_an_answer() {
    let mut bench = greeted();
    bench.begin("do it");
    bench.forget();
    let kind = AskKind::Confirm { message: "start them?".into(), yes: None, no: None, danger: true };
    let (id, title) = (AskId::mint(&bench.ids), "This project brings MCP servers".to_owned());
    let ask = Ask { id, run: None, title, kind, deadline: None };
    bench.happen(Body::Ask(AskEvent::Opened(ask)));
    assert_eq!(said(&mut bench.link), "");
    // What the run itself waits for is asked.
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", "{}");
    let asked = may_it_run(&mut bench, tool, None);
    assert!(said(&mut bench.link).contains("Run command?"));
    bench.close_ask(asked, Closing::Withdrawn);
    bench.end_tool(tool, ToolOutcome::Denied, ToolResult::text("no"));
    bench.forget();
    bench.end(Outcome::Done);
    let lines: Vec<_> = bench.lines();
    assert!(lines.last().unwrap().contains("This project brings MCP servers"), "{lines:?}");
}

#[test]
fn absent_session_is_current() {
    start(&mut greeted());
}

#[test]
fn terminal_status_always() {
    for outcome in [Outcome::Done, Outcome::Cancelled, Outcome::Interrupted, Outcome::Lost] {
        let mut bench = greeted();
        bench.begin("do it");
        bench.end(outcome);
        let sent = said(&mut bench.link);
        let terminal =
            |line: &&str| ["completed", "error", "cancelled"].iter().any(|word| line.contains(word));
        assert_eq!(sent.lines().filter(terminal).count(), 1, "{sent}");
        assert!(terminal(&sent.lines().last().unwrap()), "{sent}");
    }
}

#[test]
fn one_question_at_a_time() {
    let mut bench = greeted();
    bench.begin("do it");
    let (_, message) = bench.step();
    let (first, second) = (bench.propose(message, "bash", "{}"), bench.propose(message, "bash", "{}"));
    let one = may_it_run(&mut bench, first, None);
    may_it_run(&mut bench, second, None);
    let sent = said(&mut bench.link);
    assert!(sent.contains("ui_1") && !sent.contains("ui_2"), "{sent}");
    bench.close_ask(one, Closing::Expired);
    assert!(said(&mut bench.link).contains("ui_2"));
}

#[test]
fn final_repeats_text() {
    let mut bench = greeted();
    bench.begin("do it");
    bench.talk("Hello");
    bench.end(Outcome::Done);
    assert_eq!(said(&mut bench.link).matches("Hello").count(), 1);
    let mut bench = ui_running();
    bench.hear(&run_event(r#"{"type":"text","content":"Hello"}"#));
    bench.hear(&run_event(r#"{"type":"final","content":"Hello"}"#));
    assert_eq!(told(&bench.state).matches("Hello").count(), 1);
    assert!(bench.state.open_run().is_some(), "a final alone does not end a run");
}

#[test]
fn cancel_of_a_finished_run() {
    let mut bench = greeted();
    let run = RunSummary { run: RunId(1), outcome: Some(Outcome::Done) };
    bench.asked(
        r#"{"id":"2","method":"run.cancel","params":{"run_id":"run_0123abcd_1"}}"#,
        Ok(Receipt::Cancelling { run }),
    );
    assert!(said(&mut bench.link).contains(r#""result":{"ok":false,"status":"completed"}"#));
    for answer in [
        r#""result":{"ok":false,"status":"completed"}"#,
        r#""error":{"code":-32002,"message":"run not found"}"#,
    ] {
        let mut bench = ui_running();
        let run = bench.state.open_run().unwrap().id;
        let ticket = bench.command(Command::Run(RunCommand::Cancel { run: Some(run), reason: None }));
        bench.hear(r#"{"method":"run.status","params":{"run_id":"r1","status":"completed"}}"#);
        bench.hear(&format!(r#"{{"id":"4",{answer}}}"#));
        let over = Receipt::Cancelling { run: RunSummary { run, outcome: Some(Outcome::Done) } };
        assert_eq!(bench.settlement(ticket), Some(Ok(over)));
    }
}

#[test]
fn stale_yes_executes() {
    let (mut bench, ask) = waiting(None);
    bench.close_ask(ask, Closing::Withdrawn);
    bench.forget();
    bench.say(r#"{"id":"ui_1","result":{"ok":true}}"#);
    assert_eq!(std::mem::take(&mut bench.link.logs).len(), 1);
    assert!(bench.is_silent());
    let mut bench = ui_running();
    bench.hear(
        r#"{"id":"ui_1","method":"ui.confirm.request","params":{"run_id":"r1","title":"t","message":"m"}}"#,
    );
    bench.forget();
    bench.command(cancel());
    let sent = said(&mut bench.link);
    let lines: Vec<&str> = sent.lines().collect();
    assert!(
        lines[0].contains("run.cancel") && lines[1].contains(r#""id":"ui_1","result":{"ok":false"#),
        "{sent}"
    );
}

#[test]
fn busy_after_the_end() {
    let mut bench = ui_greeted();
    let ticket = bench.prompt("x");
    for id in 3..8 {
        bench.hear(&format!(r#"{{"id":"{id}","error":{{"code":-32001,"message":"runtime busy"}}}}"#));
        bench.lines();
        bench.fire(TimerKey(3));
        assert!(said(&mut bench.link).contains("run.start"));
    }
    bench.hear(r#"{"id":"8","error":{"code":-32001,"message":"runtime busy"}}"#);
    assert!(matches!(bench.settlement(ticket), Some(Err(refusal)) if refusal.kind == RefusalKind::Busy));
}

#[test]
fn deny_with_and_without_reason() {
    for (answer, reason) in [
        (r#""result":{"ok":false,"remember":false,"reason":"not now"}"#, Some("not now")),
        (r#""result":{"ok":false,"reason":null}"#, None),
        (r#""result":{"ok":false,"reason":"  "}"#, None),
        (r#""result":{"ok":"perhaps"}"#, None),
        (r#""result":null"#, None),
        (r#""error":{"code":-32003,"message":"user cancelled"}"#, None),
    ] {
        let (mut bench, ask) = waiting(None);
        bench.say(&format!(r#"{{"id":"ui_1",{answer}}}"#));
        let denied = Answer::Deny { reason: reason.map(str::to_owned) };
        assert_eq!(bench.command().2, Command::Answer { ask, answer: denied }, "{answer}");
    }
}

#[test]
fn a_no_has_a_last_word() {
    let mut bench = greeted();
    bench.begin("do it");
    let (_, message) = bench.step();
    let tool = bench.propose(message, "bash", "{}");
    // Told by what was decided, whatever the words of the result.
    let (by, scope) = (Decider::Person(None), Scope::Once);
    let decision = Decision { allowed: false, by, scope, reason: None, digest: None };
    bench.happen(Body::Tool(ToolEvent::Decided { tool, decision }));
    bench.end_tool(tool, ToolOutcome::Denied, ToolResult::text("Non."));
    bench.end(Outcome::Done);
    let sent = said(&mut bench.link);
    assert!(sent.contains(r#""result":"Permission denied: permission denied""#), "{sent}");
    assert!(sent.contains(r#""content":"Stopped, because permission was denied.""#), "{sent}");
}

#[test]
fn files_by_file_path() {
    let mut bench = greeted();
    bench.begin("do it");
    let (_, message) = bench.step();
    bench.propose(message, "read", r#"{"path":"a.txt"}"#);
    bench.propose(message, "ls", r#"{"path":"src"}"#);
    let sent = said(&mut bench.link);
    assert!(sent.contains(r#""args":{"file_path":"a.txt","path":"a.txt"}"#), "{sent}");
    assert!(sent.contains(r#""args":{"path":"src"}"#), "{sent}");
    let bench = heard(&[
        r#"{"type":"tool_call","tool":"read","args":{"path":"a.txt","file_path":"a.txt"},"tool_call_id":"c1"}"#,
        r#"{"type":"tool_call","tool":"read","args":{"file_path":"b.txt"},"tool_call_id":"c2"}"#,
    ]);
    let told = told(&bench.state);
    assert!(told.contains(r#"{"path":"a.txt"}"#) && told.contains(r#"{"file_path":"b.txt"}"#), "{told}");
}

/// What is heard of one run with these events.
fn heard(events: &[&str]) -> UiBench {
    let mut bench = ui_running();
    for event in events {
        bench.hear(&run_event(event));
    }
    bench
}

#[test]
fn shell_results_are_json() {
    for (result, text) in [
        (r#"\"exit_code\":0,\"stdout\":\"hi\\n\""#, "hi"),
        (r#"\"exit_code\":3,\"stdout\":\"a\",\"stderr\":\"b\""#, "a\nb\nexit code 3"),
        (r#"\"exit_code\":null,\"signal\":\"SIGKILL\""#, "ended by SIGKILL"),
    ] {
        let result = format!(r#""{{\"key\":\"k\",\"state\":\"completed\",\"command\":\"c\",{result}}}""#);
        let bench = heard(&[
            r#"{"type":"tool_call","tool":"shell","args":{"command":"c"},"tool_call_id":"c1"}"#,
            &format!(r#"{{"type":"tool_result","tool":"shell","result":{result},"tool_call_id":"c1"}}"#),
        ]);
        let tool = bench.state.tools.values().next().unwrap();
        let told = tool.result.as_ref().unwrap();
        assert_eq!(told.text, text);
        assert!(told.json.as_ref().unwrap().as_str().contains("\"key\""));
    }
}

#[test]
fn numbers_with_fractions() {
    let mut bench = heard(&[
        r#"{"type":"text","content":"Hello","timestamp":1794720006175.25}"#,
        r#"{"type":"llm.retry","provider":"p","failure_kind":"timeout","next_attempt":2,"max_attempts":3,"delay_ms":812.7}"#,
        r#"{"type":"step_start","step_id":"c1","title":"t","step_number":"one"}"#,
    ]);
    bench.hear(r#"{"method":"run.context","params":{"run_id":"r1","context_left_percent":41.7}}"#);
    assert_eq!(bench.texts(), ["Hello"]);
    assert_eq!(bench.link.drifts, []);
    assert_eq!(bench.state.context, Some((59, 100)));
}

#[test]
fn unknown_session_has_no_history() {
    let mut bench = greeted();
    bench.asked(
        r#"{"id":"2","method":"session.history","params":{"session_id":"sess-nothere0"}}"#,
        Err(Refusal::new(RefusalKind::SessionUnknown, "no such session")),
    );
    bench.say(r#"{"id":"3","method":"session.history","params":{"session_id":"?"}}"#);
    bench
        .say(r#"{"id":"4","method":"session.history","params":{"session_id":"sess-nothere0","max_runs":0}}"#);
    assert_eq!(said(&mut bench.link).matches(r#""result":{"events_sent":0,"runs":0}"#).count(), 3);
}

#[test]
fn tools_of_the_ui() {
    let start = |tools: &str| {
        let mut bench = greeted();
        bench.say(&format!(
            r#"{{"id":"2","method":"run.start","params":{{"input":{{"type":"text","text":"x"}},"tools":{tools}}}}}"#
        ));
        bench
    };
    let mut bench = start(r#"[{"type":"function","name":"tui_pick","description":"d","parameters":{}}]"#);
    assert!(bench.link.losses.is_empty(), "they are used");
    assert_eq!(bench.commands().len(), 1);
    for tools in [
        r#"[{"name":"a b"}]"#,
        r#"[{"name":""}]"#,
        r#"[{"name":"a"},{"name":"a"}]"#,
        r#"[{"name":"read"}]"#,
        r#"[{"name":"shell"}]"#,
        r#"[{"name":"todo_new"}]"#,
        "[1]",
        r#"[{}]"#,
    ] {
        let refused = said(&mut start(tools).link);
        assert!(refused.contains("-32602"), "{tools}: {refused}");
    }
}

#[test]
fn remember_lines() {
    let (mut bench, _) = waiting(Some("bash: echo"));
    assert!(said(&mut bench.link).contains(r"echo hi\n\nRemember (don't ask again):\n- bash: echo"));
}

#[test]
fn context_update_as_request() {
    let mut bench = greeted();
    let line = r#"{"id":"2","method":"ui.context.update","params":{"cwd":"/w"}}"#;
    let (_, command) = bench.asked(line, Ok(Receipt::Done));
    assert!(matches!(command, Command::UpdateContext(context) if context.cwd.as_deref() == Some("/w")));
    assert!(said(&mut bench.link).contains(r#"{"id":"2","result":{}}"#));
    bench.asked(r#"{"method":"ui.context.update","params":{"cwd":"/w"}}"#, Ok(Receipt::Done));
    assert_eq!(said(&mut bench.link), "");
}
