//! The UI role alone: what a transcript cannot show of it.

use super::{run_event, said, ui, ui_greeted, ui_running};
use domain::ask::{Answer, AskKind, Preview, Risk, Scope};
use domain::command::{Command, LibraryCommand, ListCommand, ListScope, Receipt, RefusalKind};
use domain::event::Outcome;
use roles::Line;
use testkit::bench::UiBench;

#[test]
fn what_a_runtime_of_the_document_can_do() {
    let mut bench = ui();
    assert_eq!(bench.role.abilities(), None);
    bench.hear(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"codelia-runtime","version":"0.1.0"}}}"#);
    let abilities = bench.role.abilities().unwrap();
    assert!(abilities.cancel && abilities.consent && !abilities.servers && !abilities.steer);
}

#[test]
fn what_a_list_holds() {
    let mut bench = ui();
    bench.hear(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"rt","version":"1"},"server_capabilities":{"supports_skills_list":true}}}"#);
    let models = bench.command(Command::List(ListCommand::Models { provider: None }));
    bench.hear(r#"{"id":"3","result":{"provider":"p","models":["m"],"current":"m","details":{"m":{"context_window":10,"cost_per_1m_input_tokens_usd":1}}}}"#);
    // All providers are asked; one that is there already or cannot be had adds nothing.
    bench.hear(r#"{"id":"4","result":{"provider":"openai","models":["g"],"details":{}}}"#);
    bench.hear(r#"{"id":"5","result":{"provider":"p","models":["m"],"current":"m"}}"#);
    for id in 6..=8 {
        bench.hear(&format!(r#"{{"id":"{id}","error":{{"code":-32602,"message":"no key"}}}}"#));
    }
    assert_eq!(bench.settlement(models), None);
    bench.hear(r#"{"id":"9","error":{"code":-32602,"message":"no key"}}"#);
    let Some(Ok(Receipt::Models { models, current })) = bench.settlement(models) else { panic!("no models") };
    let names: Vec<String> = models.iter().map(|entry| entry.model.to_string()).collect();
    assert_eq!(
        (names, current.unwrap().to_string()),
        (vec!["p/m".to_owned(), "openai/g".into()], "p/m".into())
    );
    assert_eq!((models[0].context_window, models[0].price_input), (Some(10), Some(1_000_000)));
    // A runtime without models says so, whoever else might have some.
    let refused = bench.command(Command::List(ListCommand::Models { provider: None }));
    bench.hear(r#"{"id":"10","error":{"code":-32601,"message":"method not found"}}"#);
    assert!(
        matches!(bench.settlement(refused), Some(Err(refusal)) if refusal.kind == RefusalKind::Unsupported)
    );
    let skills = bench.command(Command::List(ListCommand::Skills { cwd: None, reload: true }));
    bench.hear(r#"{"id":"11","result":{"skills":[{"id":"s","name":"n","description":"d","path":"/p","dir":"/","scope":"user","mtime_ms":12.5}],"errors":[],"truncated":false}}"#);
    let Some(Ok(Receipt::Skills(list))) = bench.settlement(skills) else { panic!("no skills") };
    assert_eq!(list.skills[0].modified_at.0, 12);
}

#[test]
fn what_a_runtime_can_do_is_what_it_said_and_what_it_answered() {
    let can = |bench: &UiBench| bench.role.abilities().expect("abilities");
    let greeted = |capabilities: &str| {
        let mut bench = ui();
        bench.hear(&format!(
            r#"{{"id":"1","result":{{"protocol_version":"0","server":{{"name":"rt","version":"1"}}{capabilities}}}}}"#
        ));
        bench
    };
    // Whether it asks is known only where it says so.
    for (capabilities, asks) in [
        ("", true),
        (r#","server_capabilities":{}"#, true),
        (r#","server_capabilities":{"supports_ui_requests":true}"#, true),
        (r#","server_capabilities":{"supports_ui_requests":false}"#, false),
    ] {
        assert_eq!(can(&greeted(capabilities)).consent, asks, "{capabilities}");
    }
    // A runtime that names its model can be told how hard it thinks, also where it did not say it.
    let mut bench = greeted("");
    assert!(!can(&bench).effort);
    bench.hear(r#"{"id":"2","result":{"provider":"p","models":["m"],"current":"m"}}"#);
    assert!(can(&bench).effort && can(&bench).models && can(&bench).set_model);
    // What it does not know is not offered again.
    let unknown = r#""error":{"code":-32601,"message":"method not found"}"#;
    let mut bench = greeted(r#","server_capabilities":{}"#);
    bench.hear(&format!(r#"{{"id":"2",{unknown}}}"#));
    let without = can(&bench);
    assert!(!without.models && !without.set_model && !without.effort && without.sessions);
    let list = LibraryCommand::List { scope: ListScope::All, limit: None, search: None };
    bench.command(Command::Library(list));
    bench.hear(&format!(r#"{{"id":"3",{unknown}}}"#));
    assert!(!can(&bench).sessions && !can(&bench).open_session);
}

#[test]
fn a_question_about_a_command_shows_the_command_and_its_risk() {
    let mut bench = ui_running();
    bench.hear(&run_event(
        r#"{"type":"tool_call","tool":"shell","args":{"command":"echo hi"},"tool_call_id":"c1"}"#,
    ));
    bench.hear(&run_event(r#"{"type":"permission.ready","tool":"shell","tool_call_id":"c1"}"#));
    bench.hear(r#"{"id":"ui_2","method":"ui.confirm.request","params":{"run_id":"r1","title":"Run command?","message":"echo hi\n\nRemember (don't ask again):\n- shell: echo","allow_remember":true,"allow_reason":true}}"#);
    bench.hear(r#"{"id":7,"method":"ui.confirm.request","params":{"title":"Log out?","message":"really","danger_level":"danger"}}"#);
    let [AskKind::Consent(consent), AskKind::Confirm { danger: true, .. }] =
        &bench.state.asks.iter().map(|ask| ask.kind.clone()).collect::<Vec<_>>()[..]
    else {
        panic!("{:?}", bench.state.asks)
    };
    assert_eq!(consent.rule.as_deref(), Some("shell: echo"));
    assert_eq!(consent.preview, Some(Preview::Command { line: "echo hi".into(), inner: vec![] }));
    assert!(consent.takes_reason && consent.assessment.unrated, "the wire does not say how dangerous it is");
}

#[test]
fn a_question_in_a_run_is_a_consent_whether_or_not_its_tool_call_came_before() {
    let mut bench = ui();
    bench.hear(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"rt","version":"1"}}}"#);
    bench.prompt("x");
    bench.hear(r#"{"id":"3","result":{"run_id":"r1"}}"#);
    bench.forget();
    bench.hear(r#"{"id":"9","method":"ui.confirm.request","params":{"run_id":"r1","title":"Drop the table?","message":"DROP TABLE users","confirm_label":"Drop it","danger_level":"danger","allow_remember":true,"allow_reason":true}}"#);
    let ask = bench.state.asks.first().cloned().expect("an ask");
    let AskKind::Consent(consent) = &ask.kind else { panic!("{ask:?}") };
    assert_eq!((ask.title.as_str(), consent.rule.as_deref()), ("Drop the table?", Some("do not ask again")));
    assert_eq!(consent.preview, Some(Preview::Text("DROP TABLE users".to_owned())));
    assert_eq!(consent.assessment.risk, Risk::High);
    assert_eq!(consent.assessment.reasons, ["the runtime calls it dangerous", "yes means: Drop it"]);
    assert!(consent.takes_reason);
    let answer = Answer::Allow { scope: Scope::Always, digest: None };
    bench.command(Command::Answer { ask: ask.id, answer });
    let sent = said(&mut bench.link);
    assert!(sent.contains(r#""ok":true"#) && sent.contains(r#""remember":true"#), "{sent}");
    // The document's own example.
    bench.hear(r#"{"id":"10","method":"ui.confirm.request","params":{"run_id":"r1","title":"Run command?","message":"rg -n"}}"#);
    let ask = bench.state.asks.last().cloned().expect("an ask");
    assert!(
        matches!(&ask.kind, AskKind::Consent(consent) if consent.rule.is_none() && !consent.takes_reason)
    );
    // One that announces its consents means a confirm where it announces none.
    let mut bench = ui_running();
    bench.hear(
        r#"{"id":"9","method":"ui.confirm.request","params":{"run_id":"r1","title":"t","message":"m"}}"#,
    );
    assert!(matches!(bench.state.asks[0].kind, AskKind::Confirm { .. }));
}

#[test]
fn where_the_person_works_goes_along_and_a_past_that_was_cut_is_told() {
    let (session, cwd) = (Some("s1".into()), "/w".to_owned());
    let hello = roles::Hello { cwd, session, ..roles::Hello::default() };
    let mut bench = UiBench::open(super::super::CodeliaUi::new(), &hello);
    bench.hear(r#"{"id":"1","result":{"protocol_version":"0","server":{"name":"rt","version":"1"}}}"#);
    bench.hear(r#"{"id":"3","result":{"runs":1,"events_sent":9,"truncated":true}}"#);
    assert!(bench.signals.iter().any(|signal| format!("{signal:?}").contains("newest part of this session")));
    bench.prompt("x");
    let sent = said(&mut bench.link);
    assert!(sent.contains(r#""ui_context":{"cwd":"/w"}"#), "{sent}");
}

#[test]
fn that_a_command_cannot_be_undone_is_never_said_for_the_runtime() {
    let mut bench = ui_running();
    bench.hear(&run_event(
        r#"{"type":"tool_call","tool":"shell","args":{"command":"rm -rf /"},"tool_call_id":"c1"}"#,
    ));
    bench.hear(&run_event(r#"{"type":"permission.ready","tool":"shell","tool_call_id":"c1"}"#));
    bench.hear(r#"{"id":"ui_2","method":"ui.confirm.request","params":{"run_id":"r1","title":"Run command?","message":"rm -rf /","danger_level":"danger"}}"#);
    let AskKind::Consent(consent) = &bench.state.asks[0].kind else { panic!("{:?}", bench.state.asks) };
    assert!(consent.assessment.reversible && consent.assessment.risk == Risk::High);
    assert!(!consent.assessment.unrated, "that it is dangerous was said");
}

#[test]
fn what_is_not_known_is_drift_and_does_no_harm() {
    let mut bench = ui_greeted();
    for line in [
        Line::Text(
            r#"{"method":"agent.event","params":{"run_id":"r1","event":{"type":"tool_call"}}}"#.into(),
        ),
        Line::Text(r#"{"method":"agent.event","params":{"run_id":"r1"}}"#.into()),
        Line::Text(r#"{"id":"1"}"#.into()),
        Line::Overlong("{".into()),
    ] {
        bench.line(line.clone());
        assert_eq!(bench.link.drifts.len(), 1, "{line:?}");
        assert!(bench.lines().is_empty() && bench.settled.is_empty() && bench.events.is_empty(), "{line:?}");
        bench.forget();
    }
    bench.hear("  ");
    assert_eq!(bench.link.drifts, []);
}

#[test]
fn a_run_is_over_with_its_final_where_no_status_comes() {
    let mut bench = ui_running();
    bench.hear(&run_event(r#"{"type":"final","content":"done"}"#));
    assert_eq!(bench.outcome(), None, "a status may still come");
    bench.wait(10_000);
    assert_eq!(bench.outcome(), Some(Outcome::Done));
    bench.forget();
    bench.prompt("next");
    assert!(said(&mut bench.link).contains("run.start"), "one can go on");
    // Something after a final: it was not the last word.
    let mut bench = ui_running();
    bench.hear(&run_event(r#"{"type":"final","content":"first"}"#));
    bench.hear(&run_event(r#"{"type":"reasoning","content":"hm"}"#));
    bench.wait(10_000);
    assert_eq!(bench.outcome(), None);
}

#[test]
fn sessions_keep_the_names_that_their_runtime_gives_them() {
    let mut bench = ui_greeted();
    let all = LibraryCommand::List { scope: ListScope::All, limit: None, search: None };
    let ticket = bench.command(Command::Library(all));
    bench.hear(r#"{"id":"3","result":{"sessions":[{"session_id":"s1","updated_at":""},{"session_id":"a b/c","updated_at":""},{"session_id":"","updated_at":""}]}}"#);
    let Some(Ok(Receipt::Sessions(sessions))) = bench.settlement(ticket) else { panic!("listed") };
    let titles: Vec<&str> = sessions.iter().map(|session| session.title.as_str()).collect();
    assert_eq!(titles, ["s1", "a b/c"]);
    bench.forget();
    bench.command(Command::Library(LibraryCommand::Open { session: sessions[0].id.clone() }));
    assert!(said(&mut bench.link).contains(r#""session_id":"s1""#));
    bench.hear(r#"{"id":"4","result":{"runs":0,"events_sent":0}}"#);
    bench.prompt("go on");
    assert!(said(&mut bench.link).contains(r#""session_id":"s1""#));
}
