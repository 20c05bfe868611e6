//! The UI role alone: what it asks, what it makes of the answers, and what it tolerates.

use super::bench::UiBench;
use domain::ask::{Answer, AskKind, Preview, Risk, Scope};
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, PromptOptions, QueueCommand, Receipt, Refusal,
    RefusalKind, RunCommand, SessionCommand,
};
use domain::content::Input;
use domain::ids::SessionId;
use domain::port::Ticket;
use domain::queue::QueueKind;
use expect_test::expect;
use roles::{Hello, Line, LinkEffect, Reason, UiEffect, UiRole};

fn prompt(text: &str) -> Command {
    Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() })
}

fn settled(effects: &[UiEffect]) -> Vec<(Ticket, Result<Receipt, Refusal>)> {
    let settled = effects.iter().filter_map(|effect| match effect {
        UiEffect::Settle { ticket, with } => Some((*ticket, with.clone())),
        _ => None,
    });
    settled.collect()
}

fn run_event(event: &str) -> String {
    format!(r#"{{"method":"agent.event","params":{{"run_id":"r1","seq":0,"event":{event}}}}}"#)
}

#[test]
fn it_greets_and_asks_for_the_model() {
    let mut bench = UiBench::new();
    expect![[r#"
        {"id":"1","method":"initialize","params":{"client":{"name":"parlor","version":"1.0.0"},"protocol_version":"0","ui_capabilities":{"supports_confirm":true,"supports_images":true,"supports_markdown":true,"supports_permission_preflight_events":true,"supports_pick":true,"supports_prompt":true,"supports_text_deltas":true}}}
    "#]]
    .assert_eq(&bench.sent());
    assert_eq!(bench.role.abilities(), None);
    bench.command(1, prompt("early"));
    assert_eq!(bench.sent(), "");
    bench.say(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"codelia-runtime","version":"0.1.0"}}}"#);
    expect![[r#"
        {"id":"2","method":"model.list","params":{"include_details":false}}
        {"id":"3","method":"run.start","params":{"input":{"text":"early","type":"text"}}}
    "#]]
    .assert_eq(&bench.sent());
    let abilities = bench.role.abilities().unwrap();
    assert!(abilities.cancel && abilities.consent && !abilities.servers && !abilities.steer);
}

#[test]
fn a_runtime_that_does_not_answer_is_given_up() {
    let mut bench = UiBench::new();
    bench.timer(1);
    assert!(bench.effects().iter().any(
        |e| matches!(e, UiEffect::Link(LinkEffect::Close(Reason::Unusable(why))) if why.contains("30 s"))
    ));
    bench.command(1, prompt("x"));
    assert!(
        matches!(settled(&bench.effects()).as_slice(), [(Ticket(1), Err(r))] if r.kind == RefusalKind::Lost)
    );
}

#[test]
fn a_run_with_a_consent_as_recorded() {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("run it"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"running"}}"#);
    bench.say(&run_event(r#"{"type":"step_start","step_id":"c1","title":"shell","step_number":1}"#));
    bench.say(r#"{"method":"run.context","params":{"run_id":"r1","context_left_percent":97}}"#);
    bench.say(&run_event(r#"{"type":"tool_call","tool":"shell","args":{"command":"echo hi"},"raw_args":"{}","tool_call_id":"c1"}"#));
    bench.say(&run_event(r#"{"type":"permission.ready","tool":"shell","tool_call_id":"c1"}"#));
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"awaiting_ui","message":"waiting for confirmation"}}"#);
    bench.say(r#"{"id":"ui_2","method":"ui.confirm.request","params":{"run_id":"r1","title":"Run command?","message":"echo hi\n\nRemember (don't ask again):\n- shell: echo","allow_remember":true,"allow_reason":true}}"#);
    let ask = bench.state.asks[0].clone();
    let AskKind::Consent(consent) = ask.kind else { panic!("{ask:?}") };
    assert_eq!(consent.rule.as_deref(), Some("shell: echo"));
    assert_eq!(consent.preview, Some(Preview::Command { line: "echo hi".into(), inner: vec![] }));
    assert!(consent.takes_reason && consent.assessment.risk == Risk::Medium);
    assert_eq!(bench.state.context_left(), Some(97));
    bench.effects();
    bench.answer(2, Answer::Allow { scope: Scope::Always, digest: None });
    expect![[r#"
        {"id":"ui_2","result":{"ok":true,"reason":null,"remember":true}}
    "#]]
    .assert_eq(&bench.sent());
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"running"}}"#);
    bench.say(&run_event(r#"{"type":"tool_result","tool":"shell","result":"hi","tool_call_id":"c1"}"#));
    bench.say(&run_event(r#"{"type":"step_complete","step_id":"c1","status":"completed","duration_ms":70}"#));
    bench.say(&run_event(r#"{"type":"final","content":"It says hi."}"#));
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"completed"}}"#);
    expect![[r#"
        user "run it"
        tool shell {"command":"echo hi"} Ended(Done) Some("hi")
        text "It says hi."
        run Some(Done)
    "#]]
    .assert_eq(&bench.told());
}

#[test]
fn a_question_about_no_tool_is_a_confirm() {
    let mut bench = UiBench::greeted();
    bench.say(r#"{"id":7,"method":"ui.confirm.request","params":{"title":"Log out?","message":"really","danger_level":"danger"}}"#);
    let ask = bench.state.asks[0].clone();
    assert!(matches!(ask.kind, AskKind::Confirm { danger: true, .. }), "{ask:?}");
    bench.effects();
    bench.answer(1, Answer::Confirmed(true));
    expect![[r#"
        {"id":7,"result":{"ok":true,"reason":null,"remember":false}}
    "#]]
    .assert_eq(&bench.sent());
}

#[test]
fn a_runtime_of_the_document_does_not_announce_its_questions() {
    let mut bench = UiBench::new();
    bench.say(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"seed","version":"0"}}}"#);
    bench.command(1, prompt("x"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    bench.say(&run_event(r#"{"type":"tool_call","tool":"rg","args":{"q":"x"},"tool_call_id":"c1"}"#));
    bench.say(r#"{"id":"9","method":"ui.confirm.request","params":{"run_id":"r1","title":"Run command?","message":"rg -n x"}}"#);
    let ask = bench.state.asks[0].clone();
    assert!(matches!(ask.kind, AskKind::Consent(_)), "{ask:?}");
    bench.answer(2, Answer::Deny { reason: Some("no".into()) });
    bench.say(&run_event(r#"{"type":"tool_result","tool":"rg","result":"Permission denied: no","tool_call_id":"c1","is_error":true}"#));
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"completed"}}"#);
    assert!(bench.told().contains(r#"Ended(Denied) Some("no")"#), "{}", bench.told());
}

#[test]
fn other_questions() {
    let mut bench = UiBench::greeted();
    bench.say(r#"{"id":"ui_1","method":"ui.pick.request","params":{"title":"Mode","items":[{"id":"a","label":"A"},{"id":"b","label":"B"}],"multi":true}}"#);
    bench.answer(1, Answer::Chosen(vec!["a".into(), "b".into()]));
    bench.say(
        r#"{"id":"ui_2","method":"ui.prompt.request","params":{"title":"Key","message":"m","secret":true}}"#,
    );
    bench.answer(2, Answer::Entered("k".into()));
    bench.say(r#"{"id":"ui_3","method":"ui.prompt.request","params":{"title":"Key","message":"m"}}"#);
    bench.answer(3, Answer::Dismissed);
    bench.say(r#"{"id":"ui_4","method":"client.tool.call","params":{"name":"x"}}"#);
    bench.say(r#"{"id":"ui_5","method":"ui.pick.request","params":{"title":"Mode"}}"#);
    expect![[r#"
        {"id":"ui_1","result":{"ids":["a","b"]}}
        {"id":"ui_2","result":{"value":"k"}}
        {"id":"ui_3","result":{"value":null}}
        {"error":{"code":-32601,"message":"method not found"},"id":"ui_4"}
        {"error":{"code":-32602,"message":"invalid params: missing field `items` at line 1 column 16"},"id":"ui_5"}
    "#]]
    .assert_eq(&bench.sent());
}

#[test]
fn events_before_the_result_belong_to_the_run() {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("quick"));
    bench.say(&run_event(r#"{"type":"reasoning","content":"hm"}"#));
    bench.say(&run_event(r#"{"type":"final","content":"done"}"#));
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"completed"}}"#);
    bench.say(r#"{"id":3,"result":{"run_id":"r1"}}"#);
    expect![[r#"
        user "quick"
        thought "hm"
        text "done"
        run Some(Done)
    "#]]
    .assert_eq(&bench.told());
    assert!(matches!(settled(&bench.effects()).as_slice(), [(Ticket(1), Ok(Receipt::Done))]));
}

#[test]
fn steps_are_seen_from_the_numbers() {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    for (id, number) in [("c1", 1), ("c2", 2), ("c3", 1)] {
        bench.say(&run_event(&format!(
            r#"{{"type":"step_start","step_id":"{id}","title":"t","step_number":{number}}}"#
        )));
        bench.say(&run_event(&format!(
            r#"{{"type":"tool_call","tool":"t","args":{{}},"tool_call_id":"{id}"}}"#
        )));
        bench.say(&run_event(&format!(
            r#"{{"type":"tool_result","tool":"t","result":{{"a":1}},"tool_call_id":"{id}"}}"#
        )));
        bench
            .say(&run_event(&format!(r#"{{"type":"step_complete","step_id":"{id}","status":"completed"}}"#)));
    }
    bench.say(&run_event(r#"{"type":"final","content":"end"}"#));
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"completed"}}"#);
    let steps = bench.state.runs[0].turns[0].steps.len();
    assert_eq!(steps, 3, "{}", bench.told());
}

#[test]
fn a_tool_that_nobody_asks_about_runs_after_a_moment() {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    bench.say(&run_event(r#"{"type":"tool_call","tool":"t","args":{},"tool_call_id":"c1"}"#));
    assert!(bench.told().contains("Proposed"));
    bench.timer(2);
    assert!(bench.told().contains("Running"));
    bench.closed();
}

#[test]
fn what_is_not_known_is_drift_and_does_no_harm() {
    let mut bench = UiBench::greeted();
    for line in [
        Line::Text("warming up…".into()),
        Line::Text(r#"{"method":"run.end","params":{}}"#.into()),
        Line::Text(r#"{"method":"agent.event","params":{"run_id":"r1","event":{"type":"sparkles"}}}"#.into()),
        Line::Text(
            r#"{"method":"agent.event","params":{"run_id":"r1","event":{"type":"tool_call"}}}"#.into(),
        ),
        Line::Text(r#"{"method":"agent.event","params":{"run_id":"r1"}}"#.into()),
        Line::Text(r#"{"method":"run.status","params":{"run_id":"r1","status":"paused"}}"#.into()),
        Line::Text(r#"{"id":"99","result":{}}"#.into()),
        Line::Text(r#"{"id":"1"}"#.into()),
        Line::Overlong("{".into()),
        Line::Garbled("\u{fffd}".into()),
    ] {
        bench.line(line.clone());
        let effects = bench.effects();
        assert!(
            matches!(effects.as_slice(), [UiEffect::Link(LinkEffect::Drift(_))]),
            "{line:?}: {effects:?}"
        );
    }
    bench.line(Line::Text("  ".into()));
    assert!(bench.effects().is_empty());
}

#[test]
fn lists_are_lifted() {
    let mut bench = UiBench::new();
    bench.say(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"rt","version":"1"},"server_capabilities":{"supports_mcp_list":true,"supports_skills_list":true}}}"#);
    bench.say(r#"{"id":"2","result":{"provider":"moonshot","models":["kimi-k3"],"current":"kimi-k3"}}"#);
    assert_eq!(bench.state.settings.model.as_ref().unwrap().to_string(), "moonshot/kimi-k3");
    bench.command(
        1,
        Command::Library(LibraryCommand::List {
            scope: ListScope::Project(None),
            limit: None,
            search: Some("HELLO".into()),
        }),
    );
    bench.say(r#"{"id":"3","result":{"sessions":[{"session_id":"a2cd5951-4fc0-4989-9fe5-0180d66bda8b","updated_at":"2026-11-15T00:16:48.058Z","message_count":2,"last_user_message":"hello there","workspace_root":"/w"},{"session_id":"b2cd5951","updated_at":""},{"session_id":"x"}]}}"#);
    bench.command(2, Command::List(ListCommand::Models { provider: None }));
    bench.say(r#"{"id":"4","result":{"provider":"p","models":["m"],"current":"m","details":{"m":{"context_window":10,"cost_per_1m_input_tokens_usd":1}}}}"#);
    bench.command(3, Command::Session(SessionCommand::SetModel { provider: None, name: "no".into() }));
    bench.say(r#"{"id":"5","error":{"code":-32602,"message":"unknown model: no"}}"#);
    bench.command(4, Command::List(ListCommand::Servers));
    bench.say(r#"{"id":"6","result":{"servers":[{"id":"s","transport":"http","enabled":true,"state":"auth_required"}]}}"#);
    bench.command(5, Command::List(ListCommand::Skills { cwd: None, reload: true }));
    bench.say(r#"{"id":"7","result":{"skills":[{"id":"s","name":"n","description":"d","path":"/p","dir":"/","scope":"user","mtime_ms":12.5}],"errors":[],"truncated":false}}"#);
    bench.command(6, Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: Input::text("x") }));
    let effects = bench.effects();
    let settled = settled(&effects);
    assert!(
        matches!(&settled[0].1, Ok(Receipt::Sessions(all)) if all.len() == 1 && all[0].title == "hello there")
    );
    assert!(
        matches!(&settled[1].1, Ok(Receipt::Models { models, .. }) if models[0].price_input == Some(1_000_000))
    );
    assert!(
        matches!(&settled[2].1, Err(r) if r.kind == RefusalKind::ModelUnknown && r.message == "unknown model: no")
    );
    assert!(matches!(&settled[3].1, Ok(Receipt::Servers(all)) if all.len() == 1));
    assert!(matches!(&settled[4].1, Ok(Receipt::Skills(all)) if all.skills[0].modified_at.0 == 12));
    assert!(matches!(&settled[5].1, Err(r) if r.kind == RefusalKind::Unsupported));
}

#[test]
fn a_session_is_opened_with_its_past() {
    let mut bench = UiBench::with(&Hello { session: Some("sess-aaaaaaaa".into()), ..Hello::default() });
    bench.say(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"rt","version":"1"}}}"#);
    bench.command(1, prompt("go on"));
    for (run, text) in [("r1", "one"), ("r2", "two")] {
        bench.say(&format!(r#"{{"method":"agent.event","params":{{"run_id":"{run}","seq":-1,"event":{{"type":"hidden_user_message","content":"say {text}"}}}}}}"#));
        bench.say(&format!(r#"{{"method":"agent.event","params":{{"run_id":"{run}","seq":0,"event":{{"type":"final","content":"{text}"}}}}}}"#));
    }
    bench.say(r#"{"id":"3","result":{"runs":2,"events_sent":4}}"#);
    expect![[r#"
        user "say one"
        text "one"
        user "say two"
        text "two"
        run Some(Done)
        run Some(Done)
    "#]]
    .assert_eq(&bench.told());
    let sent = bench.sent();
    assert!(sent.lines().last().unwrap().contains(r#""session_id":"sess-aaaaaaaa""#), "{sent}");
    bench.say(r#"{"id":"4","result":{"run_id":"r3"}}"#);
    bench.command(
        2,
        Command::Library(LibraryCommand::Open { session: SessionId::parse("sess-bbbbbbbb").unwrap() }),
    );
    assert!(
        matches!(settled(&bench.effects()).as_slice(), [.., (Ticket(2), Err(r))] if r.kind == RefusalKind::Busy)
    );
}

#[test]
fn everything_is_settled_when_the_runtime_goes() {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.command(2, Command::Run(RunCommand::Cancel { run: None, reason: None }));
    bench.command(3, Command::List(ListCommand::Models { provider: None }));
    bench.closed();
    let effects = bench.effects();
    let mut tickets: Vec<u64> = settled(&effects).iter().map(|(ticket, _)| ticket.0).collect();
    tickets.sort_unstable();
    assert_eq!(tickets, [1, 2, 3]);
}

#[test]
fn a_run_can_be_stopped_before_it_has_a_name() {
    let mut bench = UiBench::greeted();
    bench.command(1, prompt("x"));
    bench.command(2, Command::Run(RunCommand::Cancel { run: None, reason: None }));
    bench.effects();
    bench.say(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    expect![[r#"
        {"id":"4","method":"run.cancel","params":{"run_id":"r1"}}
    "#]]
    .assert_eq(&bench.sent());
    bench.say(r#"{"id":"4","result":{"ok":true}}"#);
    bench.say(r#"{"method":"run.status","params":{"run_id":"r1","status":"cancelled","message":"Operation aborted"}}"#);
    bench.say(&run_event(r#"{"type":"final","content":"late"}"#));
    assert!(
        bench.told().ends_with("run Some(Cancelled)\n") && !bench.told().contains("late"),
        "{}",
        bench.told()
    );
}
