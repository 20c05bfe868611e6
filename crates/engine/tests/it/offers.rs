//! Tools that a UI performs: offered, asked for, called, answered, taken back.

use crate::bench::{Bench, Plan, allow, deny};
use domain::ask::{AskKind, Scope};
use domain::content::Json;
use domain::event::{AskEvent, Body, ToolEvent};
use domain::ids::ToolRunId;
use domain::offer::Offer;
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::tool::{Decider, ToolOutcome, ToolResult};

const SHOW: &str = r#"
    model tool show {"file":"a"}
    ---
    model tool show {"file":"b"}
    ---
    model text "went on"
    "#;

fn offer(name: &str) -> Offer {
    Offer {
        name: name.to_owned(),
        description: "Shows a file".to_owned(),
        schema: Json::verbatim(r#"{"type":"object","properties":{"file":{"type":"string"}}}"#),
        patience_ms: Some(5_000),
        unasked: false,
    }
}

fn unasked() -> Offer {
    Offer { unasked: true, ..offer("show") }
}

fn bench(offer: Offer, policy: Policy) -> Bench {
    let mut bench = Bench::with(Plan::script(SHOW).policy(policy));
    bench.offers = vec![offer];
    bench
}

fn started(body: &Body) -> bool {
    matches!(body, Body::Tool(ToolEvent::Started { .. }))
}

/// Waits until the tool is called, once more than before.
async fn called(bench: &mut Bench) -> ToolRunId {
    let before = bench.count(started);
    while bench.count(started) == before {
        assert_eq!(bench.take_some(1).await, None, "the turn is over");
    }
    match bench.events.last().map(|event| &event.body) {
        Some(Body::Tool(ToolEvent::Started { tool })) => *tool,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn offered_asked_for_called_and_answered() {
    let mut bench = bench(offer("show"), Policy::Ask);
    bench.closings = vec![allow(Scope::Once), allow(Scope::Once)];
    bench.prompt("show it").await;
    let tool = called(&mut bench).await;
    assert_eq!(bench.count(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))), 1, "asked first");
    let offered = bench.model.seen()[0].tools.iter().find(|tool| tool.name == "show").cloned().unwrap();
    assert_eq!(
        (offered.description.as_str(), &offered.schema["properties"]["file"]["type"]),
        ("Shows a file", &"string".into())
    );
    bench.perform(tool, false, ToolResult::text("shown: a")).await;
    let tool = called(&mut bench).await;
    bench.perform(tool, true, ToolResult::text("there is no b")).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let outcomes = bench.outcomes();
    assert_eq!(outcomes[0], ("show".into(), ToolOutcome::Done, "shown: a".into()));
    assert_eq!(outcomes[1], ("show".into(), ToolOutcome::Failed, "there is no b".into()));
    assert_eq!(bench.told().last().unwrap(), "tool: there is no b");
}

#[tokio::test(start_paused = true)]
async fn the_question_names_what_is_done_and_offers_no_rule() {
    let mut bench = bench(offer("show"), Policy::Ask);
    bench.prompt("show it").await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    let ask = bench.state.asks[0].clone();
    let AskKind::Consent(consent) = &ask.kind else { panic!() };
    assert_eq!((consent.name.as_str(), &consent.rule), ("show", &None), "another UI may mean something else");
    assert!(consent.assessment.reasons[0].contains("only it knows"), "{:?}", consent.assessment);
    bench.close(ask.id, deny(Some("not now"))).await;
    bench.closings = vec![deny(None)];
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.count(started), 0, "nothing is called that was denied");
}

#[tokio::test(start_paused = true)]
async fn a_ui_may_waive_the_question_but_not_a_mode_that_denies() {
    let mut waived = bench(unasked(), Policy::Ask);
    waived.prompt("show it").await;
    let tool = called(&mut waived).await;
    let by = waived.state.tool(tool).unwrap().decision.clone().unwrap().by;
    assert!(matches!(by, Decider::Rule(words) if words.contains("nobody has to be asked")));
    let mut denied = bench(unasked(), Policy::ReadOnly);
    assert_eq!(denied.run("show it").await, TurnEnd::Done);
    assert_eq!((denied.count(started), denied.outcomes()[0].1.clone()), (0, ToolOutcome::Denied));
}

#[tokio::test(start_paused = true)]
async fn a_cancel_ends_the_wait() {
    let mut bench = bench(unasked(), Policy::Ask);
    bench.prompt("show it").await;
    let tool = called(&mut bench).await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Cancelled);
    // What comes too late does nothing.
    bench.perform(tool, false, ToolResult::text("late")).await;
    assert_eq!(bench.run("again").await, TurnEnd::Done);
}

#[tokio::test(start_paused = true)]
async fn a_ui_that_leaves_fails_what_it_was_called_for_and_what_follows() {
    let mut bench = bench(unasked(), Policy::Ask);
    bench.prompt("show it").await;
    called(&mut bench).await;
    bench.offers_gone().await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let outcomes = bench.outcomes();
    assert_eq!(outcomes.len(), 2);
    assert!(
        outcomes
            .iter()
            .all(|(_, outcome, text)| *outcome == ToolOutcome::Failed && text.contains("has left"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_is_not_waited_for_for_ever() {
    let mut bench = bench(unasked(), Policy::Ask);
    assert_eq!(bench.run("show it").await, TurnEnd::Done);
    let (_, outcome, text) = &bench.outcomes()[0];
    assert_eq!(*outcome, ToolOutcome::Failed);
    assert!(text.contains("within 5 s"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_long_result_is_cut() {
    let mut bench = bench(unasked(), Policy::Ask);
    bench.prompt("show it").await;
    let tool = called(&mut bench).await;
    bench.perform(tool, false, ToolResult::text("x".repeat(10_000_000))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    let text = &bench.outcomes()[0].2;
    assert!(text.len() < 60_000 && text.contains("all of it is in "), "{}", text.len());
}

#[tokio::test(start_paused = true)]
async fn a_name_of_ours_stays_ours_and_an_odd_schema_is_left_open() {
    for (schema, kept) in
        [(r#"{"type":"object"}"#, true), ("[1,2]", false), ("7", false), ("not json", false)]
    {
        let mut bench = bench(Offer { schema: Json::verbatim(schema), ..unasked() }, Policy::Ask);
        bench.offers.push(offer("read"));
        assert_eq!(bench.run("show it").await, TurnEnd::Done);
        let tools = bench.model.seen()[0].tools.clone();
        let shown = tools.iter().find(|tool| tool.name == "show").unwrap();
        assert_eq!(shown.schema["type"], "object", "{schema} {kept}");
        let read: Vec<_> = tools.iter().filter(|tool| tool.name == "read").collect();
        assert!(read.len() == 1 && read[0].description != "Shows a file");
    }
}
