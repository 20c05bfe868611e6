//! MCP servers that mean no good, and commands that never stop talking: the turn goes on, and what is kept stays small.

use crate::bench::{Bench, Plan, put};
use domain::command::{Command, ListCommand, Receipt};
use domain::event::{AskEvent, Body, ToolEvent};
use domain::live::MAX_LIVE;
use domain::port::TurnEnd;
use domain::session::{Policy, ServerEntry, ServerState};
use domain::tool::ToolOutcome;
use engine::Config;
use serde_json::json;
use std::time::{Duration, Instant};

/// The example server, which cargo builds beside the tests.
fn hostile() -> std::path::PathBuf {
    let exe = std::env::current_exe().unwrap();
    let path = exe.parent().unwrap().parent().unwrap().join("examples/mcp_hostile");
    assert!(path.exists(), "{} is missing: run `cargo build -p engine --examples`", path.display());
    path
}

async fn server(bench: &mut Bench) -> ServerEntry {
    let Ok(Receipt::Servers(mut servers)) = bench.consult(Command::List(ListCommand::Servers)).await else {
        panic!()
    };
    servers.remove(0)
}

/// A bench whose only server is the hostile one, ready.
async fn ready(script: &str) -> Bench {
    let dir = tempfile::tempdir().unwrap();
    let servers = json!({"mcpServers": {"bad": {"command": hostile()}}});
    put(dir.path(), "settings/mcp.json", &servers.to_string());
    std::fs::create_dir(dir.path().join("work")).unwrap();
    let config = Config::default().at(None, Some(dir.path().join("settings")));
    let script = format!("model text \"starting\"\n---\n{script}");
    let mut bench = Bench::at(dir, Plan::script(script).config(config));
    assert_eq!(bench.run("start").await, TurnEnd::Done);
    let start = Instant::now();
    while server(&mut bench).await.state != ServerState::Ready {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", server(&mut bench).await);
        tokio::task::yield_now().await;
    }
    bench
}

/// What the session holds of live output and progress.
fn told_live(bench: &Bench) -> usize {
    let live = |body: &&Body| matches!(body, Body::Tool(ToolEvent::Progress { .. }));
    bench.events.iter().map(|event| &event.body).filter(live).map(Body::weight).sum()
}

#[tokio::test]
async fn what_a_server_says_of_its_tools_is_cut_to_what_a_model_may_read() {
    let mut bench = ready("model text \"ok\"").await;
    let Ok(Receipt::Tools(tools)) = bench.consult(Command::List(ListCommand::Tools)).await else { panic!() };
    let theirs: Vec<_> = tools.iter().filter(|tool| tool.source == "mcp:bad").collect();
    assert!((12..=128).contains(&theirs.len()), "{}", theirs.len());
    for tool in &theirs {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        assert!(tool.name.len() <= 64 && tool.name.chars().all(plain), "{}", tool.name);
        assert!(tool.description.chars().count() <= 2_000, "{}", tool.name);
    }
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let seen = bench.model.seen();
    let request = format!("{:?}", seen.last().unwrap());
    assert!(request.len() < 2_000_000, "{}", request.len());
}

#[tokio::test]
async fn whatever_a_server_answers_the_turn_goes_on() {
    let calls = ["result", "pictures", "error", "progress", "changed", "asks", "pings", "junk", "plain"];
    let script: String =
        calls.iter().map(|name| format!("model tool mcp__bad__{name} {{}}\n---\n")).collect();
    let mut bench = ready(&format!("{script}model text \"ok\"")).await;
    bench.closings = vec![domain::ask::Closing::Unattended; 600];
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let outcomes = bench.outcomes();
    assert_eq!(outcomes.len(), calls.len());
    for ((_, outcome, text), name) in outcomes.iter().zip(calls) {
        let expected = if name == "error" { ToolOutcome::Failed } else { ToolOutcome::Done };
        assert_eq!(*outcome, expected, "{name}: {}", text.chars().take(300).collect::<String>());
        assert!(text.len() < 60_000, "{name}: {} bytes", text.len());
    }
    assert!(told_live(&bench) <= calls.len() * MAX_LIVE, "{}", told_live(&bench));
    let progress = bench.count(|body| matches!(body, Body::Tool(ToolEvent::Progress { .. })));
    assert!(progress < 500, "{progress} of 5,000 words of progress are kept");
    let asked = bench.count(|body| matches!(body, Body::Ask(AskEvent::Opened(_))));
    assert!(asked < 600, "{asked}");
}

#[tokio::test]
async fn a_line_too_deep_or_too_long_is_passed_over() {
    let calls = ["deep", "long"];
    let script: String =
        calls.iter().map(|name| format!("model tool mcp__bad__{name} {{}}\n---\n")).collect();
    let mut bench = ready(&format!("{script}model text \"ok\"")).await;
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    for (_, outcome, text) in bench.outcomes() {
        assert!(outcome == ToolOutcome::Done && text.starts_with("after the "), "{outcome:?} {text}");
    }
}

#[tokio::test]
async fn a_line_without_end_is_ended_by_a_cancel() {
    let mut bench = ready("model tool mcp__bad__endless {}\n---\nmodel text \"went on\"").await;
    bench.prompt("go").await;
    bench.until(|body| matches!(body, Body::Tool(ToolEvent::Started { .. }))).await;
    bench.cancel().await;
    assert_eq!(bench.finish().await, TurnEnd::Cancelled);
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Cancelled);
}

#[tokio::test]
async fn a_command_that_never_stops_talking_leaves_a_bounded_record() {
    let script = "model tool bash {\"command\":\"seq 1 400000; echo the end\"}\n---\nmodel text \"ok\"";
    let mut bench = Bench::with(Plan::script(script).policy(Policy::Full));
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let (_, outcome, text) = bench.outcomes().remove(0);
    assert_eq!(outcome, ToolOutcome::Done, "{text}");
    assert!(text.contains("the end"), "the result has the end");
    let told = told_live(&bench);
    assert!(told <= MAX_LIVE, "{told} bytes of 2.7 MB are kept");
    let tool = bench.state.tools.values().next().unwrap();
    assert!(tool.output.len() <= domain::live::LIVE_WHOLE, "{}", tool.output.len());
}
