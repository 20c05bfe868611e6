//! We are the client: what an agent says, and what it is told.

use super::{client, client_of, told};
use domain::ask::{Answer, AskKind, Preview};
use domain::command::{Command, LibraryCommand, ListScope, Receipt, RefusalKind, SessionCommand};
use domain::content::{Json, Part};
use domain::event::{Outcome, PlanState};
use domain::ids::SessionId;
use domain::session::Effort;
use domain::state::EntryKind;
use domain::tool::{ToolOutcome, ToolPhase};
use roles::{Hello, Reason};
use serde_json::{Value, json};
use testkit::bench::UiBench;

fn text(kind: &str, words: &str) -> String {
    told(json!({"sessionUpdate":kind,"content":{"type":"text","text":words}}))
}

fn answer_to(bench: &mut UiBench, id: u64, result: Value) {
    bench.hear(&json!({"jsonrpc":"2.0","id":id,"result":result}).to_string());
}

/// A prompt that was taken: its id is 3.
fn prompted() -> UiBench {
    let mut bench = client();
    let ticket = bench.prompt("go");
    bench.hear(&text("agent_message_chunk", "Let me see."));
    assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Done)));
    bench
}

fn permission(bench: &mut UiBench, id: u64, call: Value, kinds: &[&str]) {
    let options: Vec<Value> = kinds
        .iter()
        .map(|kind| json!({"optionId":format!("opt-{kind}"),"name":format!("Do {kind}"),"kind":kind}))
        .collect();
    let params = json!({"sessionId":"theirs-1","toolCall":call,"options":options});
    bench.hear(
        &json!({"jsonrpc":"2.0","id":id,"method":"session/request_permission","params":params}).to_string(),
    );
}

#[test]
fn words_that_we_do_not_know_are_kept_and_shown() {
    let mut bench = prompted();
    bench.hear(&told(json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"Dance","kind":"dance",
        "status":"in_progress","rawInput":{"steps":3}})));
    bench.wait(400);
    bench.hear(&told(json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"paused"})));
    assert!(format!("{:?}", bench.events).contains("paused"), "it is shown while it happens");
    bench.hear(&told(json!({"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"})));
    let tool = bench.state.tools.values().next().expect("a call");
    let kept = format!("{:?}", tool.result);
    assert!(kept.contains("dance") && kept.contains("paused"), "{kept}");
    bench.hear(&told(json!({"sessionUpdate":"from_the_future","payload":"SEE ME"})));
    answer_to(&mut bench, 3, json!({"stopReason":"paused_for_payment"}));
    let told = format!("{:?}", bench.events);
    assert!(told.contains("paused_for_payment") && told.contains("SEE ME"), "{told}");
}

#[test]
fn a_call_that_the_agent_leaves_open_keeps_what_was_told_of_it() {
    for (stop, outcome) in [("end_turn", ToolOutcome::Unknown), ("cancelled", ToolOutcome::Cancelled)] {
        let mut bench = prompted();
        bench.hear(&told(
            json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","status":"in_progress",
            "content":[{"type":"content","content":{"type":"text","text":"half of it"}}]}),
        ));
        bench.hear(&told(json!({"sessionUpdate":"tool_call","toolCallId":"d","title":"never begun"})));
        answer_to(&mut bench, 3, json!({"stopReason":stop}));
        let tools: Vec<_> = bench.state.tools.values().collect();
        assert_eq!(tools.len(), 2, "{stop}");
        for tool in &tools {
            assert_eq!(tool.phase, ToolPhase::Ended(outcome.clone()), "{stop}");
        }
        let kept = format!("{:?}", tools.iter().map(|tool| &tool.result).collect::<Vec<_>>());
        assert!(kept.contains("half of it") && kept.contains("did not say how it ended"), "{kept}");
    }
}

#[test]
fn a_prompt_that_is_refused_at_once_is_refused_and_one_that_breaks_later_fails() {
    let mut bench = client();
    let ticket = bench.prompt("go");
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid params","data":"a prompt is running"}}"#);
    let refusal = bench.settlement(ticket).unwrap().unwrap_err();
    assert_eq!(
        (refusal.kind, refusal.message.as_str()),
        (RefusalKind::Invalid, "Invalid params: a prompt is running")
    );
    assert_eq!(bench.outcome(), None);
    let mut bench = prompted();
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"error":{"code":400,"message":"","data":{"details":"quota"}}}"#);
    assert!(matches!(bench.outcome(), Some(Outcome::Failed(failure)) if failure.message == "quota"));
    // An agent that begins slowly has taken it all the same.
    let mut bench = client();
    let ticket = bench.prompt("go");
    bench.wait(400);
    assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Done)));
}

#[test]
fn what_the_person_sees_before_deciding_is_what_the_agent_showed() {
    let diff = json!({"toolCallId":"c","title":"Edit b.txt","kind":"edit","rawInput":{"path":"b.txt"},
        "content":[{"type":"diff","path":"/w/b.txt","oldText":"one\n","newText":"two\n"}]});
    let words = json!({"toolCallId":"c","title":"Ask around","content":[{"type":"content","content":{"type":"text","text":"three people"}}]});
    let shell =
        json!({"toolCallId":"c","title":"x","kind":"execute","rawInput":{"command":["bash","-lc","ls"]}});
    for (call, preview) in [
        (
            diff,
            Preview::Diff {
                path: "/w/b.txt".to_owned(),
                text: "--- /w/b.txt\n+++ /w/b.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n".to_owned(),
            },
        ),
        (words, Preview::Text("three people".to_owned())),
        (shell, Preview::Command { line: "bash -lc ls".to_owned(), inner: Vec::new() }),
        (json!({"toolCallId":"c","title":"Think"}), Preview::Text("Think".to_owned())),
    ] {
        let mut bench = prompted();
        permission(&mut bench, 50, call, &["allow_once", "allow_always"]);
        let AskKind::Consent(consent) = bench.state.asks[0].kind.clone() else { panic!("no consent") };
        assert_eq!(consent.preview, Some(preview));
        assert_eq!(consent.rule.as_deref(), Some("Do allow_always"));
        assert!(consent.assessment.unrated, "nobody told how dangerous it is");
    }
}

#[test]
fn forms_are_asked_field_by_field_and_pages_are_agreed_to() {
    let mut bench = prompted();
    let schema = json!({"type":"object","properties":{"a":{"type":"boolean","title":"Sure?"},
        "b":{"type":"integer","title":"How many?"},"c":{"type":"array","items":{"type":"string","enum":["x","y"]}}}});
    let params =
        json!({"sessionId":"theirs-1","mode":"form","message":"Some things","requestedSchema":schema});
    bench.hear(&json!({"jsonrpc":"2.0","id":60,"method":"elicitation/create","params":params}).to_string());
    bench.forget();
    bench.answer(Answer::Confirmed(true));
    bench.answer(Answer::Entered("3".to_owned()));
    assert!(bench.sent().is_empty());
    bench.answer(Answer::Chosen(vec!["y".to_owned()]));
    assert_eq!(bench.sent()[0]["result"], json!({"action":"accept","content":{"a":true,"b":3,"c":["y"]}}));
    let page = json!({"sessionId":"theirs-1","mode":"url","message":"Log in","elicitationId":"p","url":"https://example.org"});
    bench.hear(&json!({"jsonrpc":"2.0","id":61,"method":"elicitation/create","params":page}).to_string());
    let AskKind::Confirm { message, .. } = bench.state.asks[0].kind.clone() else { panic!("no question") };
    assert!(message.contains("https://example.org"));
    bench.hear(r#"{"jsonrpc":"2.0","method":"elicitation/complete","params":{"elicitationId":"p"}}"#);
    assert_eq!(bench.sent()[0]["result"]["action"], "accept");
    assert!(bench.state.asks.is_empty());
    let odd = json!({"sessionId":"theirs-1","mode":"hologram","message":"?"});
    bench.hear(&json!({"jsonrpc":"2.0","id":62,"method":"elicitation/create","params":odd}).to_string());
    assert_eq!(bench.sent()[0]["error"]["code"], -32602);
}

#[test]
fn unknown_updates_are_counted_kept_and_shown() {
    let mut bench = prompted();
    bench.hear(&told(json!({"sessionUpdate":"subagent_update","x":[1,{"y":null}]})));
    assert_eq!(bench.link.drifts.len(), 1);
    let kept = bench.state.entries.values().any(|entry| match &entry.kind {
        EntryKind::Message(message) => message.parts.iter().any(|part| {
            matches!(part, Part::Opaque { kind, json } if kind == "subagent_update" && json.as_str().contains(r#"{"y":null}"#))
        }),
        _ => false,
    });
    assert!(kept, "{:?}", bench.state.entries);
    answer_to(&mut bench, 3, json!({"stopReason":"end_turn"}));
    bench.hear(&told(json!({"sessionUpdate":"plan","entries":"none"})));
    assert_eq!(bench.link.drifts.len(), 2, "a known kind that cannot be read is none");
    let noticed = |entry: &&std::sync::Arc<domain::state::Entry>| matches!(&entry.kind, EntryKind::Notice { code, .. } if code == "unknown_update");
    assert_eq!(bench.state.entries.values().filter(noticed).count(), 1);
}

#[test]
fn plans_usage_titles_modes_and_options_are_heard() {
    let options = json!([{"id":"model","name":"Model","category":"model","type":"select","currentValue":"north/large",
        "options":[{"group":"g","name":"G","options":[{"value":"north/large","name":"L"},{"value":"north/small","name":"S"}]}]},
        {"id":"think","name":"T","category":"thought_level","type":"select","currentValue":"low","options":[{"value":"low","name":"l"},{"value":"high","name":"h"}]}]);
    let mut bench = client();
    bench.hear(&told(json!({"sessionUpdate":"config_option_update","configOptions":options})));
    assert_eq!(bench.state.settings.model.as_ref().map(ToString::to_string).as_deref(), Some("north/large"));
    assert_eq!(bench.state.settings.effort, Some(Effort::Low));
    bench.hear(&told(
        json!({"sessionUpdate":"usage_update","used":10,"size":100,"cost":{"amount":0.5,"currency":"USD"}}),
    ));
    assert_eq!(bench.state.context, Some((10, 100)));
    bench.hear(&told(json!({"sessionUpdate":"session_info_update","title":"A title"})));
    assert_eq!(bench.state.settings.title.as_deref(), Some("A title"));
    let entries = json!([{"content":"look","priority":"high","status":"in_progress"}]);
    bench.hear(&told(json!({"sessionUpdate":"plan","entries":entries})));
    assert_eq!(bench.state.plan[0].state, PlanState::Active);
    bench.forget();
    let set = bench
        .command(Command::Session(SessionCommand::SetModel { provider: None, name: "small".to_owned() }));
    let sent = bench.sent();
    assert_eq!(sent[0]["params"], json!({"sessionId":"theirs-1","configId":"model","value":"north/small"}));
    answer_to(&mut bench, 3, json!({"configOptions":[]}));
    assert!(bench.settlement(set).unwrap().is_ok());
    let abilities = bench.role.abilities().unwrap();
    assert!(!abilities.set_model, "an agent that takes its options back has none");
}

#[test]
fn sessions_are_listed_by_page_opened_with_their_past_and_begun() {
    let mut bench = client();
    let list = bench.command(Command::Library(LibraryCommand::List {
        scope: ListScope::All,
        limit: None,
        search: None,
    }));
    answer_to(
        &mut bench,
        3,
        json!({"sessions":[{"sessionId":"odd name/1","cwd":"/x","title":"One"}],"nextCursor":"c"}),
    );
    let sent = bench.sent();
    assert_eq!(sent[1]["params"]["cursor"], "c");
    answer_to(&mut bench, 4, json!({"sessions":[{"sessionId":"theirs-two","cwd":"/y"}]}));
    let Some(Ok(Receipt::Sessions(sessions))) = bench.settlement(list) else { panic!("no list") };
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0].id, SessionId::of_peer("odd name/1"));
    let open = bench.command(Command::Library(LibraryCommand::Open { session: sessions[0].id.clone() }));
    let sent = bench.sent();
    assert_eq!(
        (sent[0]["method"].as_str(), sent[0]["params"]["sessionId"].as_str()),
        (Some("session/load"), Some("odd name/1"))
    );
    assert_eq!(sent[0]["params"]["cwd"], "/x", "where it works");
    assert!(bench.role.is_arriving());
    for (kind, words) in [
        ("user_message_chunk", "one"),
        ("agent_message_chunk", "First."),
        ("user_message_chunk", "two"),
        ("agent_message_chunk", "Second."),
    ] {
        let update = json!({"sessionUpdate":kind,"content":{"type":"text","text":words}});
        let line = json!({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"odd name/1","update":update}});
        bench.hear(&line.to_string());
    }
    answer_to(&mut bench, 5, json!({}));
    assert!(!bench.role.is_arriving());
    assert!(matches!(bench.settlement(open), Some(Ok(Receipt::Session { .. }))));
    assert_eq!(bench.state.runs.len(), 2, "each thing that the person said began a run");
    assert_eq!(bench.texts(), ["First.", "Second."]);
    assert_eq!(bench.role.session_name().as_deref(), Some("odd name/1"));
}

#[test]
fn agents_that_cannot_be_spoken_with_are_diagnosed() {
    let unusable = |bench: &UiBench| match &bench.link.closed {
        Some(Reason::Unusable(why)) => why.clone(),
        other => panic!("it goes on: {other:?}"),
    };
    let open = || UiBench::open(super::AcpUi::new(), &Hello { cwd: "/w".to_owned(), ..Hello::default() });
    for version in [json!(0), json!(2), json!(99)] {
        let mut bench = open();
        bench.hear(
            &json!({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":version,"info":{"name":"x"}}})
                .to_string(),
        );
        assert!(unusable(&bench).contains(&format!("version {version}")));
    }
    let mut bench = open();
    bench.hear("Starting up...");
    bench.wait(9_500);
    assert_eq!(bench.signals.len(), 1, "the person knows within 10 s");
    assert!(format!("{:?}", bench.signals).contains("Starting up..."));
    bench.wait(30_000);
    assert!(unusable(&bench).contains("Starting up..."));
    for (line, words) in [
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no key"}}"#, "no key"),
        (r#"{"jsonrpc":"2.0","id":1,"result":"hello"}"#, "cannot be read"),
    ] {
        let mut bench = open();
        bench.hear(line);
        assert!(unusable(&bench).contains(words), "{line}");
    }
    let mut bench = open();
    let ticket = bench.prompt("early");
    let greeting =
        json!({"protocolVersion":1,"authMethods":[{"id":"k","name":"API key","description":"set KEY"}]});
    bench.hear(&json!({"jsonrpc":"2.0","id":1,"result":greeting}).to_string());
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}"#);
    assert!(unusable(&bench).contains("API key: set KEY"));
    assert_eq!(bench.settlement(ticket).unwrap().unwrap_err().kind, RefusalKind::Lost);
}

#[test]
fn results_are_shown_wherever_they_stand() {
    for (update, words) in [
        (json!({"content":[{"type":"content","content":{"type":"text","text":"seen"}}]}), "seen"),
        (json!({"rawOutput":"seen"}), "seen"),
        (json!({"rawOutput":{"stdout":"seen","exit_code":0}}), "seen"),
        (json!({"content":[],"rawOutput":{"formatted_output":"seen","stdout":"other"}}), "seen"),
        (json!({"_meta":{"terminal_output":{"terminal_id":"t","data":"seen"}}}), "seen"),
        (json!({"rawOutput":{"odd":1}}), r#"{"odd":1}"#),
    ] {
        let mut bench = prompted();
        bench.hear(&told(
            json!({"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","rawInput":{"command":"ls"}}),
        ));
        let mut last = update.clone();
        last["sessionUpdate"] = json!("tool_call_update");
        last["toolCallId"] = json!("c");
        last["status"] = json!("completed");
        bench.hear(&told(last.clone()));
        // What comes twice counts once.
        bench.hear(&told(last));
        let tools: Vec<_> = bench.state.tools.values().collect();
        assert_eq!(tools.len(), 1);
        assert_eq!(tools[0].phase, ToolPhase::Ended(ToolOutcome::Done));
        assert_eq!(tools[0].result.as_ref().map(|result| result.text.as_str()), Some(words), "{update}");
    }
}

#[test]
fn modes_and_added_methods_are_extensions() {
    let mut bench = client_of(json!({"protocolVersion":1}));
    bench.hear(&told(json!({"sessionUpdate":"current_mode_update","currentModeId":"plan"})));
    bench.forget();
    let set =
        bench.command(Command::Extension { name: "mode".to_owned(), payload: Json::verbatim("\"auto\"") });
    assert_eq!(bench.sent()[0]["params"], json!({"sessionId":"theirs-1","modeId":"auto"}));
    answer_to(&mut bench, 3, json!({}));
    assert_eq!(bench.settlement(set), Some(Ok(Receipt::Done)));
    let added =
        bench.command(Command::Extension { name: "_x/y".to_owned(), payload: Json::verbatim("{\"a\":1}") });
    let sent = bench.sent();
    assert_eq!((sent[0]["method"].as_str(), &sent[0]["params"]), (Some("_x/y"), &json!({"a":1})));
    answer_to(&mut bench, 4, json!({"b":2}));
    assert_eq!(bench.settlement(added), Some(Ok(Receipt::Extension(Json::verbatim("{\"b\":2}")))));
    bench.command(Command::Extension { name: "y".to_owned(), payload: Json::empty() });
    assert_eq!(bench.refused(), RefusalKind::ExtensionUnknown);
    // What never comes back has a deadline.
    let slow = bench.command(Command::Extension { name: "_x/z".to_owned(), payload: Json::empty() });
    bench.wait(61_000);
    assert_eq!(bench.settlement(slow).unwrap().unwrap_err().kind, RefusalKind::TimedOut);
}
