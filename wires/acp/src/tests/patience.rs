//! We are the client of an agent that is silent, slow, stopped or gone and back: nobody waits for ever, and nothing is agreed to unasked.

use super::{client, client_of, told};
use domain::ask::{Answer, AskKind};
use domain::command::{Receipt, RefusalKind};
use domain::event::Outcome;
use roles::{Hello, Past};
use serde_json::{Value, json};
use testkit::bench::{UiBench, cancel, prompt};

fn says(words: &str) -> String {
    told(json!({"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":words}}))
}

fn permission(bench: &mut UiBench, id: u64) {
    let params = json!({"sessionId":"theirs-1","toolCall":{"toolCallId":format!("c{id}"),"title":"ls"},
        "options":[{"optionId":"y","name":"Y","kind":"allow_once"}]});
    let line = json!({"jsonrpc":"2.0","id":id,"method":"session/request_permission","params":params});
    bench.hear(&line.to_string());
}

fn elicits(bench: &mut UiBench, id: u64, params: Value) {
    let line = json!({"jsonrpc":"2.0","id":id,"method":"elicitation/create","params":params});
    bench.hear(&line.to_string());
}

fn form(properties: Value) -> Value {
    json!({"sessionId":"theirs-1","mode":"form","message":"Well?",
        "requestedSchema":{"type":"object","properties":properties}})
}

#[test]
fn what_is_asked_while_it_stops_is_answered_at_once() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&says("Let me see."));
    bench.command(cancel());
    bench.forget();
    permission(&mut bench, 51);
    elicits(&mut bench, 52, form(json!({"a":{"type":"boolean"}})));
    let sent = bench.sent();
    assert_eq!(sent[0]["result"]["outcome"], json!({"outcome":"cancelled"}));
    assert_eq!(sent[1]["result"], json!({"action":"cancel"}));
    assert!(bench.state.asks.is_empty(), "nobody is asked about what was stopped");
}

#[test]
fn an_agent_that_never_says_that_it_stopped_holds_up_nobody() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&says("Let me see."));
    bench.command(cancel());
    bench.wait(29_000);
    assert_eq!(bench.outcome(), None, "it has its time");
    bench.wait(2_000);
    assert_eq!(bench.outcome(), Some(Outcome::Cancelled));
    assert!(format!("{:?}", bench.signals).contains("start it again"), "{:?}", bench.signals);
    bench.forget();
    bench.command(prompt("and now"));
    assert_eq!(bench.sent()[0]["method"], "session/prompt");
    // The answer that comes after all is nobody's.
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}"#);
    bench.command(prompt("a third"));
    assert_eq!(bench.refused(), RefusalKind::Busy, "the second prompt is not ended by it");
    bench.hear(&says("Now."));
    // One that stops in time has nothing to fear from the clock of the first.
    bench.hear(r#"{"jsonrpc":"2.0","id":4,"result":{"stopReason":"end_turn"}}"#);
    bench.wait(60_000);
    assert_eq!(bench.outcome(), Some(Outcome::Done));
}

#[test]
fn an_agent_that_acts_by_itself_may_wait_for_an_answer_and_for_its_calls() {
    let mut bench = client();
    bench.hear(&says("By the way."));
    permission(&mut bench, 50);
    bench.wait(60_000);
    assert_eq!(bench.state.asks.len(), 1, "silence is no answer");
    bench.answer(Answer::Allow { scope: domain::ask::Scope::Once, digest: None });
    bench.wait(60_000);
    assert!(bench.state.open_run().is_some(), "its call runs");
    bench.hear(&told(json!({"sessionUpdate":"tool_call_update","toolCallId":"c50","status":"completed"})));
    bench.wait(6_000);
    assert_eq!(bench.outcome(), Some(Outcome::Done));
    let mut bench = client();
    bench.hear(&says("By the way."));
    elicits(&mut bench, 60, form(json!({"a":{"type":"boolean"}})));
    bench.wait(700_000);
    assert_eq!(bench.state.asks.len(), 1, "nor is it where no call is open");
    // A call that never ends is not waited for without end.
    let mut bench = client();
    bench.hear(&told(
        json!({"sessionUpdate":"tool_call","toolCallId":"d","title":"ls","status":"in_progress"}),
    ));
    bench.wait(700_000);
    assert_eq!(bench.outcome(), Some(Outcome::Done));
    // One that is stopped is over, whatever the agent says.
    let mut bench = client();
    bench.hear(&told(
        json!({"sessionUpdate":"tool_call","toolCallId":"d","title":"ls","status":"in_progress"}),
    ));
    bench.command(cancel());
    bench.wait(31_000);
    assert_eq!(bench.outcome(), Some(Outcome::Cancelled));
}

#[test]
fn a_form_is_agreed_to_by_the_person_alone() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&says("Let me see."));
    bench.forget();
    elicits(&mut bench, 60, form(json!({})));
    assert!(bench.sent().is_empty(), "a form without fields still wants a yes");
    let AskKind::Confirm { message, .. } = bench.state.asks[0].kind.clone() else { panic!("no question") };
    assert_eq!(message, "Well?");
    bench.answer(Answer::Confirmed(false));
    assert_eq!(bench.sent()[0]["result"], json!({"action":"decline"}));
    // Of another session nobody is asked.
    let mut elsewhere = form(json!({"a":{"type":"boolean"}}));
    elsewhere["sessionId"] = json!("theirs-9");
    elicits(&mut bench, 61, elsewhere);
    assert_eq!(bench.sent()[0]["result"], json!({"action":"cancel"}));
}

#[test]
fn fields_may_be_left_out_and_what_does_not_fit_is_asked_for_again() {
    let mut bench = client();
    bench.prompt("go");
    bench.hear(&says("Let me see."));
    bench.forget();
    let mut params = form(json!({"a":{"type":"string"},"b":{"type":"integer"}}));
    params["requestedSchema"]["required"] = json!(["b"]);
    elicits(&mut bench, 60, params);
    let enter = |bench: &mut UiBench, text: &str| bench.answer(Answer::Entered(text.to_owned()));
    enter(&mut bench, " ");
    enter(&mut bench, "three");
    assert!(bench.sent().is_empty());
    enter(&mut bench, "3");
    assert_eq!(bench.sent()[0]["result"], json!({"action":"accept","content":{"b":3}}));
}

#[test]
fn what_is_asked_before_there_is_a_session_can_be_answered() {
    let mut bench = UiBench::open(super::AcpUi::new(), &Hello { cwd: "/w".to_owned(), ..Hello::default() });
    bench.hear(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#);
    let mut params = form(json!({"a":{"type":"boolean"}}));
    params.as_object_mut().unwrap().remove("sessionId");
    params["requestId"] = json!(2);
    elicits(&mut bench, 7, params);
    bench.forget();
    bench.answer(Answer::Confirmed(true));
    assert_eq!(bench.sent()[0]["result"]["content"], json!({"a":true}));
}

#[test]
fn after_a_break_it_goes_back_to_the_session_of_before_where_there_is_one() {
    let hello = || Hello { cwd: "/w".to_owned(), last_session: Some("theirs-7".into()), ..Hello::default() };
    let greeting = |can: Value| {
        let result = json!({"protocolVersion":1,"agentCapabilities":can});
        json!({"jsonrpc":"2.0","id":1,"result":result}).to_string()
    };
    let mut bench = UiBench::open(super::AcpUi::new(), &hello());
    bench.forget();
    bench.hear(&greeting(json!({"loadSession":true})));
    let sent = bench.sent();
    assert_eq!(
        (&sent[0]["method"], &sent[0]["params"]["sessionId"]),
        (&json!("session/load"), &json!("theirs-7"))
    );
    assert_eq!(bench.role.past(), Past::Comes, "what it tells was there before");
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"gone"}}"#);
    assert_eq!(bench.sent()[0]["method"], "session/new");
    assert_eq!(bench.role.past(), Past::Unplaced, "it may speak of it before it names it");
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"result":{"sessionId":"theirs-8"}}"#);
    assert_eq!((bench.role.session_name().as_deref(), bench.role.past()), (Some("theirs-8"), Past::None));
    // Nor does anybody hold to a session into which an agent of ours put the link, and which it has left since.
    let mut bench = UiBench::open(super::AcpUi::new(), &Hello { cwd: "/w".to_owned(), ..Hello::default() });
    bench.forget();
    let result = json!({"protocolVersion":1,"agentCapabilities":{"loadSession":true},"_meta":{"parlor":{"session":"s-1"}}});
    bench.hear(&json!({"jsonrpc":"2.0","id":1,"result":result}).to_string());
    assert_eq!(bench.sent()[0]["method"], "session/load");
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"gone"}}"#);
    assert_eq!(bench.sent()[0]["method"], "session/new");
    // One that the person named is not replaced by another.
    let named = Hello { cwd: "/w".to_owned(), session: Some("s-2".into()), ..Hello::default() };
    let mut bench = UiBench::open(super::AcpUi::new(), &named);
    bench.hear(&greeting(json!({"loadSession":true})));
    bench.hear(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"gone"}}"#);
    assert!(bench.link.closed.is_some());
    // An agent that goes back to nothing begins anew.
    let mut bench = UiBench::open(super::AcpUi::new(), &hello());
    bench.forget();
    bench.hear(&greeting(json!({})));
    assert_eq!(bench.sent()[0]["method"], "session/new");
}

#[test]
fn a_run_that_another_client_began_is_not_ended_by_a_prompt() {
    let mut bench = client();
    let note = |state: &str| {
        told(
            json!({"sessionUpdate":"session_info_update","_meta":{"parlor":{"run":{"id":"run-1","state":state}}}}),
        )
    };
    bench.hear(&note("started"));
    bench.hear(&says("Working."));
    bench.forget();
    bench.command(prompt("and me"));
    assert_eq!(bench.refused(), RefusalKind::Busy);
    assert!(bench.sent().is_empty() && bench.state.open_run().is_some());
    bench.hear(&note("done"));
    assert_eq!(bench.outcome(), Some(Outcome::Done));
    // What is told beside the work takes no prompt: it can still be refused.
    let ticket = bench.prompt("now");
    bench.hear(&told(json!({"sessionUpdate":"available_commands_update","availableCommands":[]})));
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"not you"}}"#);
    assert!(bench.settlement(ticket).unwrap().is_err());
}

#[test]
fn a_prompt_that_is_stopped_before_it_began_is_stopped() {
    let mut bench = client_of(json!({"protocolVersion":1}));
    let ticket = bench.prompt("go");
    bench.command(cancel());
    assert_eq!(bench.settlement(ticket), Some(Ok(Receipt::Done)));
    bench.hear(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"broke"}}"#);
    assert!(matches!(bench.outcome(), Some(Outcome::Failed(_))));
    bench.command(cancel());
    assert_eq!(bench.refused(), RefusalKind::NoRun);
}
