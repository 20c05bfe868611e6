//! One test per quirk, under its name.

use super::bench::{RuntimeBench, UiBench, session};
use domain::ask::{Answer, Closing, Scope};
use domain::command::{
    Command, ListCommand, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand, Target,
};
use domain::content::{Input, Role, TextKind};
use domain::event::{AskEvent, Body, Outcome, ToolEvent};
use domain::ids::RunId;
use domain::session::RunSummary;
use domain::tool::{Decider, Decision, ToolOutcome, ToolResult};
use roles::{Item, LinkEffect, RuntimeEffect, UiEffect};

fn prompt(text: &str) -> Command {
    Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() })
}

fn start(bench: &mut RuntimeBench) -> RunId {
    bench.say(r#"{"id":"2","method":"run.start","params":{"input":{"type":"text","text":"x"}}}"#);
    let (ticket, target, _) = bench.command();
    assert_eq!(target, Target::Current);
    let run = bench.mint_run();
    bench.settle(ticket, Ok(Receipt::Started { session: session(), run }));
    run
}

#[test]
fn string_ids_only() {
    let mut bench = RuntimeBench::greeted();
    bench.say(r#"{"id":7,"method":"nothing"}"#);
    bench.say(r#"{"id":"7","method":"nothing"}"#);
    let sent = bench.sent();
    assert!(sent.contains(r#""id":7"#) && sent.contains(r#""id":"7""#), "{sent}");
    let mut bench = UiBench::new();
    bench.say(r#"{"id":1,"result":{"protocol_version":"0","server":{"name":"rt","version":"1"}}}"#);
    assert!(bench.sent().contains("model.list"));
}

#[test]
fn no_version_negotiation() {
    let mut bench = RuntimeBench::new();
    bench.say(r#"{"id":"1","method":"initialize","params":{"protocol_version":"99","client":{"name":"t","version":"0"}}}"#);
    assert!(bench.sent().contains(r#""protocol_version":"0""#));
    let mut bench = UiBench::new();
    bench.say(r#"{"id":"1","result":{"protocol_version":"99","server":{"name":"rt","version":"1"}}}"#);
    let effects = bench.effects();
    assert!(effects.iter().any(|effect| matches!(effect, UiEffect::Link(LinkEffect::Drift(_)))));
    assert!(!effects.iter().any(|effect| matches!(effect, UiEffect::Link(LinkEffect::Close(_)))));
}

#[test]
fn requests_before_initialize() {
    let mut bench = RuntimeBench::new();
    bench.say(r#"{"id":"2","method":"model.list","params":{"include_details":false}}"#);
    assert_eq!(bench.command().2, Command::List(ListCommand::Models { provider: None }));
}

#[test]
fn result_of_run_start_alone() {
    let mut bench = RuntimeBench::greeted();
    start(&mut bench);
    let effects = bench.effects();
    assert!(
        matches!(effects.as_slice(), [RuntimeEffect::Link(LinkEffect::SendAlone { pause, .. })] if *pause == crate::codelia::RESULT_PAUSE)
    );
}

#[test]
fn absent_session_is_current() {
    let mut bench = RuntimeBench::greeted();
    start(&mut bench);
}

#[test]
fn terminal_status_always() {
    for outcome in [Outcome::Done, Outcome::Cancelled, Outcome::Interrupted, Outcome::Lost] {
        let mut bench = RuntimeBench::greeted();
        bench.begin_run();
        bench.end_run(outcome);
        let sent = bench.sent();
        let terminal =
            |line: &&str| ["completed", "error", "cancelled"].iter().any(|word| line.contains(word));
        assert_eq!(sent.lines().filter(terminal).count(), 1, "{sent}");
        assert!(terminal(&sent.lines().last().unwrap()), "{sent}");
    }
}

#[test]
fn one_question_at_a_time() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    let (first, second) = (bench.propose(message, "bash", "{}"), bench.propose(message, "bash", "{}"));
    let (one, two) = (bench.consent(first, None), bench.consent(second, None));
    let sent = bench.sent();
    assert!(sent.contains("ui_1") && !sent.contains("ui_2"), "{sent}");
    bench.happen(Body::Ask(AskEvent::Closed { ask: one, closing: Closing::Expired }));
    assert!(bench.sent().contains("ui_2"));
    bench.happen(Body::Ask(AskEvent::Closed { ask: two, closing: Closing::Withdrawn }));
}

#[test]
fn final_repeats_text() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    bench.delta(message, TextKind::Text, "Hello");
    bench.end_run(Outcome::Done);
    assert_eq!(bench.sent().matches("Hello").count(), 1);
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    bench.say(r#"{"method":"agent.event","params":{"run_id":"r1","seq":0,"event":{"type":"text","content":"Hello"}}}"#);
    bench.say(r#"{"method":"agent.event","params":{"run_id":"r1","seq":1,"event":{"type":"final","content":"Hello"}}}"#);
    assert_eq!(bench.told().matches("Hello").count(), 1);
    assert!(bench.state.open_run().is_some(), "a final alone does not end a run");
}

#[test]
fn cancel_of_a_finished_run() {
    let mut bench = RuntimeBench::greeted();
    bench.say(r#"{"id":"2","method":"run.cancel","params":{"run_id":"run_0123abcd_1"}}"#);
    let (ticket, ..) = bench.command();
    let run = RunSummary { run: RunId(1), outcome: Some(Outcome::Done) };
    bench.settle(ticket, Ok(Receipt::Cancelling { run }));
    assert!(bench.sent().contains(r#""result":{"ok":false,"status":"completed"}"#));
    for answer in [
        r#""result":{"ok":false,"status":"completed"}"#,
        r#""error":{"code":-32002,"message":"run not found"}"#,
    ] {
        let mut bench = UiBench::greeted();
        bench.command(1, prompt("x"));
        bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
        let run = bench.state.open_run().unwrap().id;
        bench.command(2, Command::Run(RunCommand::Cancel { run: Some(run), reason: None }));
        bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"completed"}}"#);
        bench.effects();
        bench.say(&format!(r#"{{"id":"4",{answer}}}"#));
        let over = Receipt::Cancelling { run: RunSummary { run, outcome: Some(Outcome::Done) } };
        assert!(
            bench
                .effects()
                .iter()
                .any(|effect| matches!(effect, UiEffect::Settle { with: Ok(r), .. } if *r == over))
        );
    }
}

#[test]
fn stale_yes_executes() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    let tool = bench.propose(message, "bash", "{}");
    let ask = bench.consent(tool, None);
    bench.happen(Body::Ask(AskEvent::Closed { ask, closing: Closing::Withdrawn }));
    bench.effects();
    bench.say(r#"{"id":"ui_1","result":{"ok":true}}"#);
    assert!(matches!(bench.effects().as_slice(), [RuntimeEffect::Link(LinkEffect::Log(_))]));
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    bench.say(
        r#"{"id":"ui_1","method":"ui.confirm.request","params":{"run_id":"r1","title":"t","message":"m"}}"#,
    );
    bench.effects();
    bench.command(2, Command::Run(RunCommand::Cancel { run: None, reason: None }));
    let sent = bench.sent();
    let lines: Vec<&str> = sent.lines().collect();
    assert!(
        lines[0].contains("run.cancel") && lines[1].contains(r#""id":"ui_1","result":{"ok":false"#),
        "{sent}"
    );
}

#[test]
fn busy_after_the_end() {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    for id in 3..8 {
        bench.say(&format!(r#"{{"id":"{id}","error":{{"code":-32001,"message":"runtime busy"}}}}"#));
        assert!(
            bench.effects().iter().any(|effect| matches!(effect, UiEffect::Link(LinkEffect::Timer { .. })))
        );
        bench.timer(3);
        assert!(bench.sent().contains("run.start"));
    }
    bench.say(r#"{"id":"8","error":{"code":-32001,"message":"runtime busy"}}"#);
    let busy = |r: &Refusal| r.kind == RefusalKind::Busy;
    assert!(bench.effects().iter().any(|e| matches!(e, UiEffect::Settle { with: Err(r), .. } if busy(r))));
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
        let mut bench = RuntimeBench::greeted();
        bench.begin_run();
        let step = bench.step();
        let message = bench.message(Role::Assistant, None, Some(step));
        let tool = bench.propose(message, "bash", "{}");
        let ask = bench.consent(tool, None);
        bench.effects();
        bench.say(&format!(r#"{{"id":"ui_1",{answer}}}"#));
        let denied = Answer::Deny { reason: reason.map(str::to_owned) };
        assert_eq!(bench.command().2, Command::Answer { ask, answer: denied }, "{answer}");
    }
}

#[test]
fn a_no_has_a_last_word() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    let tool = bench.propose(message, "bash", "{}");
    // Told by what was decided, whatever the words of the result.
    let (by, scope) = (Decider::Person(None), Scope::Once);
    let decision = Decision { allowed: false, by, scope, reason: None, digest: None };
    bench.happen(Body::Tool(ToolEvent::Decided { tool, decision }));
    let result = ToolResult::text("Non.");
    bench.happen(Body::Tool(ToolEvent::Ended { tool, outcome: ToolOutcome::Denied, result }));
    bench.end_run(Outcome::Done);
    let sent = bench.sent();
    assert!(sent.contains(r#""result":"Permission denied: permission denied""#), "{sent}");
    assert!(sent.contains(r#""content":"Stopped, because permission was denied.""#), "{sent}");
}

#[test]
fn files_by_file_path() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    bench.propose(message, "read", r#"{"path":"a.txt"}"#);
    bench.propose(message, "ls", r#"{"path":"src"}"#);
    let sent = bench.sent();
    assert!(sent.contains(r#""args":{"file_path":"a.txt","path":"a.txt"}"#), "{sent}");
    assert!(sent.contains(r#""args":{"path":"src"}"#), "{sent}");
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    for (id, args) in [("c1", r#"{"path":"a.txt","file_path":"a.txt"}"#), ("c2", r#"{"file_path":"b.txt"}"#)]
    {
        bench.say(&format!(
            r#"{{"method":"agent.event","params":{{"run_id":"r1","seq":0,"event":{{"type":"tool_call","tool":"read","args":{args},"tool_call_id":"{id}"}}}}}}"#
        ));
    }
    let told = bench.told();
    assert!(told.contains(r#"{"path":"a.txt"}"#) && told.contains(r#"{"file_path":"b.txt"}"#), "{told}");
}

/// What is heard of one run with these events.
fn heard(events: &[&str]) -> UiBench {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    for event in events {
        bench.say(&format!(
            r#"{{"method":"agent.event","params":{{"run_id":"r1","seq":0,"event":{event}}}}}"#
        ));
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
    bench.say(r#"{"method":"run.context","params":{"run_id":"r1","context_left_percent":41.7}}"#);
    let told = bench.told();
    assert!(told.contains("Hello"), "{told}");
    assert!(!bench.effects().iter().any(|effect| matches!(effect, UiEffect::Link(LinkEffect::Drift(_)))));
    assert_eq!(bench.state.context, Some((59, 100)));
}

#[test]
fn unknown_session_has_no_history() {
    let mut bench = RuntimeBench::greeted();
    bench.say(r#"{"id":"2","method":"session.history","params":{"session_id":"sess-nothere0"}}"#);
    let (ticket, ..) = bench.command();
    bench.settle(ticket, Err(Refusal::new(RefusalKind::SessionUnknown, "no such session")));
    bench.say(r#"{"id":"3","method":"session.history","params":{"session_id":"?"}}"#);
    bench
        .say(r#"{"id":"4","method":"session.history","params":{"session_id":"sess-nothere0","max_runs":0}}"#);
    assert_eq!(bench.sent().matches(r#""result":{"events_sent":0,"runs":0}"#).count(), 3);
}

#[test]
fn tools_of_the_ui() {
    let start = |tools: &str| {
        let mut bench = RuntimeBench::greeted();
        bench.say(&format!(
            r#"{{"id":"2","method":"run.start","params":{{"input":{{"type":"text","text":"x"}},"tools":{tools}}}}}"#
        ));
        bench.effects()
    };
    let offered = start(r#"[{"type":"function","name":"tui_pick","description":"d","parameters":{}}]"#);
    assert!(offered.iter().any(
        |effect| matches!(effect, RuntimeEffect::Link(LinkEffect::Loss(loss)) if loss.item == Item::Tools)
    ));
    assert!(offered.iter().any(|effect| matches!(effect, RuntimeEffect::Command { .. })));
    for tools in
        [r#"[{"name":"a b"}]"#, r#"[{"name":""}]"#, r#"[{"name":"a"},{"name":"a"}]"#, "[1]", r#"[{}]"#]
    {
        let refused = super::bench::sent(&start(tools));
        assert!(refused.contains("-32602"), "{tools}: {refused}");
    }
}

#[test]
fn remember_lines() {
    let mut bench = RuntimeBench::greeted();
    bench.begin_run();
    let step = bench.step();
    let message = bench.message(Role::Assistant, None, Some(step));
    let tool = bench.propose(message, "bash", "{}");
    bench.consent(tool, Some("bash: echo"));
    assert!(bench.sent().contains(r"echo hi\n\nRemember (don't ask again):\n- bash: echo"));
}

#[test]
fn context_update_as_request() {
    let mut bench = RuntimeBench::greeted();
    bench.say(r#"{"id":"2","method":"ui.context.update","params":{"cwd":"/w"}}"#);
    let (ticket, _, command) = bench.command();
    assert!(matches!(command, Command::UpdateContext(context) if context.cwd.as_deref() == Some("/w")));
    bench.settle(ticket, Ok(Receipt::Done));
    assert!(bench.sent().contains(r#"{"id":"2","result":{}}"#));
    bench.say(r#"{"method":"ui.context.update","params":{"cwd":"/w"}}"#);
    let (ticket, ..) = bench.command();
    bench.settle(ticket, Ok(Receipt::Done));
    assert_eq!(bench.sent(), "");
}
