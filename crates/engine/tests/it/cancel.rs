//! A cancel at any point: the turn ends at once, what runs is stopped, nothing starts any more.

use crate::bench::{Bench, Plan};
use crate::stand_in::{Deaf, Mark, Orderly};
use domain::event::{AskEvent, Body, Finish, MessageEvent, RunEvent, ToolEvent};
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::tool::{Progress, ToolOutcome};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::Instant;

/// How long a cancel may take. Time stands still in these tests but for waits of the agent's own.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Cancels and sees the turn end in time.
async fn cancelled(bench: &mut Bench) {
    let start = Instant::now();
    let so_far = bench.model.seen().len();
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    assert!(start.elapsed() < AT_ONCE, "{:?}", start.elapsed());
    assert_eq!(bench.model.seen().len(), so_far, "the model is not asked again");
}

#[tokio::test(start_paused = true)]
async fn before_the_first_delta() {
    let mut bench = Bench::new("model pause forever");
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Run(RunEvent::StepStarted { .. }))).await;
    cancelled(&mut bench).await;
    assert_eq!(
        bench.count(|body| matches!(body, Body::Message(MessageEvent::Started { .. }))),
        1,
        "only the person spoke"
    );
}

#[tokio::test(start_paused = true)]
async fn in_mid_stream() {
    let mut bench = Bench::new("model text \"half a\" | tool read {\"path\":\"x\"} | pause forever");
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Proposed { .. }))).await;
    cancelled(&mut bench).await;
    let cut =
        |body: &Body| matches!(body, Body::Message(MessageEvent::Ended { finish: Finish::Interrupted, .. }));
    assert_eq!(bench.count(cut), 1);
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Cancelled);
    assert_eq!(bench.count(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))), 0);
}

#[tokio::test(start_paused = true)]
async fn while_the_provider_is_waited_for_before_another_try() {
    let mut bench = Bench::new("model retry 1/4 30s \"busy\" | pause 30s | text \"late\"");
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Run(RunEvent::Retrying { .. }))).await;
    cancelled(&mut bench).await;
    assert_eq!(bench.count(|body| matches!(body, Body::Message(MessageEvent::Delta { .. }))), 0);
}

#[tokio::test(start_paused = true)]
async fn while_a_consent_is_open() {
    let mark = Mark::default();
    let script = "model tool mark {\"name\":\"a\"} | tool mark {\"name\":\"b\"}";
    let mut bench = Bench::with(Plan::script(script).tool(mark.clone()));
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    cancelled(&mut bench).await;
    assert_eq!(mark.seen(), Vec::<String>::new());
    assert!(bench.outcomes().iter().all(|(_, outcome, _)| *outcome == ToolOutcome::Cancelled));
    assert_eq!(bench.outcomes().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn between_the_calls_of_a_step() {
    let mark = Mark::default();
    let script = "model tool mark {\"name\":\"a\"} | tool mark {\"name\":\"b\"}";
    let mut bench = Bench::with(Plan::script(script).tool(mark.clone()).policy(Policy::Full));
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Ended { .. }))).await;
    cancelled(&mut bench).await;
    assert_eq!(mark.seen(), ["a begins", "a ends"]);
    assert_eq!(bench.outcomes()[1].1, ToolOutcome::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn while_a_tool_runs_that_does_not_listen() {
    let mut bench = Bench::with(Plan::script("model tool deaf | tool deaf").tool(Deaf));
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))).await;
    cancelled(&mut bench).await;
    assert!(bench.outcomes().iter().all(|(_, outcome, _)| *outcome == ToolOutcome::Cancelled));
}

#[tokio::test(start_paused = true)]
async fn while_the_model_waits_for_the_person() {
    let mut bench =
        Bench::new("model tool ask {\"kind\":\"confirm\",\"title\":\"Sure?\",\"message\":\"Really?\"}");
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    cancelled(&mut bench).await;
}

#[tokio::test]
async fn while_bash_runs_its_whole_group_ends() {
    let mut bench = Bench::with(
        Plan::script(
            r#"model tool bash {"command":"exec 3>pipe; (sleep 1000; touch late) & echo ready; sleep 1000; touch late"} | tool bash {"command":"touch late"}"#,
        )
        .policy(Policy::Full),
    );
    let pipe = bench.work().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // Reading the pipe ends when the last process that holds the other end is gone.
    let gone = tokio::task::spawn_blocking(move || std::fs::read(pipe));
    bench.prompt("go").await;
    let ready = |body: &Body| matches!(body, Body::Tool(ToolEvent::Progress { progress: Progress::Output(text), .. }) if text.contains("ready"));
    bench.until(ready).await;
    let start = std::time::Instant::now();
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    // The machine may be busy: this only tells it apart from waiting for the command.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap().unwrap().unwrap();
    assert_eq!(bench.get("late"), None);
    let outcomes: Vec<ToolOutcome> = bench.outcomes().into_iter().map(|(_, outcome, _)| outcome).collect();
    assert_eq!(outcomes, [ToolOutcome::Cancelled, ToolOutcome::Cancelled]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_ends_stops_its_turns_and_waits_for_them() {
    let tool = Orderly::default();
    let mut bench = Bench::with(Plan::script("model tool orderly").tool(tool.clone()));
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))).await;
    bench.end().await;
    assert!(tool.0.load(Ordering::SeqCst), "the tool was broken off");
}

#[tokio::test(start_paused = true)]
async fn a_late_cancel_does_not_touch_the_next_run() {
    let mut bench = Bench::new("model text \"one\"\n---\nmodel text \"two\"");
    let first = bench.prompt("go").await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    bench.prompt("again").await;
    bench.cancel_run(first).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
}
