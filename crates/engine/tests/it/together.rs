//! Which calls of one answer run at the same time: those that cannot touch each other, and no others.

use crate::bench::{Bench, Plan};
use domain::command::{Command, FilesCommand};
use domain::event::{Body, ToolEvent};
use domain::ids::ToolRunId;
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::tool::ToolOutcome;
use std::path::Path;
use std::time::Duration;

/// Longer than any machine needs; only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

fn pipe(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mkfifoat(rustix::fs::CWD, path, mode).unwrap();
}

/// Which call began and ended when, by its place in the answer.
fn order(bench: &Bench) -> Vec<String> {
    let mut ids: Vec<ToolRunId> = Vec::new();
    let mut order = Vec::new();
    for event in &bench.events {
        let (tool, what) = match &event.body {
            Body::Tool(ToolEvent::Proposed { tool, .. }) => {
                ids.push(*tool);
                continue;
            }
            Body::Tool(ToolEvent::Started { tool }) => (tool, "begins"),
            Body::Tool(ToolEvent::Ended { tool, .. }) => (tool, "ends"),
            _ => continue,
        };
        order.push(format!("{} {what}", ids.iter().position(|id| id == tool).unwrap()));
    }
    order
}

#[tokio::test]
async fn commands_that_write_apart_run_at_the_same_time_and_are_taken_back_as_one() {
    let mut bench = Bench::with(
        Plan::script(
            r#"
            model tool bash {"command":"echo go > one; echo 1 > x"} | tool bash {"command":"echo go > two; echo 2 > y"}
            ---
            model text "ok"
            "#,
        )
        .policy(Policy::Full),
    );
    bench.put("x", "before\n");
    let (one, two) = (bench.work().join("one"), bench.work().join("two"));
    pipe(&one);
    pipe(&two);
    // The first command ends only when somebody reads its pipe, and nobody does before the second has come to its own.
    let reader = tokio::task::spawn_blocking(move || {
        [two, one].map(|pipe| std::fs::read_to_string(pipe).unwrap_or_default())
    });
    let end = tokio::time::timeout(PATIENCE, bench.run("go")).await;
    assert_eq!(end.expect("the second command waits for the first"), TurnEnd::Done);
    assert_eq!(reader.await.unwrap(), ["go\n", "go\n"]);
    assert_eq!((bench.get("x").as_deref(), bench.get("y").as_deref()), (Some("1\n"), Some("2\n")));
    bench.consult(Command::Files(FilesCommand::Undo { leave: false })).await.unwrap();
    assert_eq!((bench.get("x").as_deref(), bench.get("y")), (Some("before\n"), None));
}

#[tokio::test]
async fn calls_that_touch_each_other_stay_in_order() {
    let mut bench = Bench::with(
        Plan::script(
            r#"
            model tool write {"path":"f","content":"one\n"} | tool edit {"path":"f","old_text":"one","new_text":"two"} | tool bash {"command":"cat f > g"} | tool bash {"command":"cp g h"} | tool read {"path":"h"}
            ---
            model text "ok"
            "#,
        )
        .policy(Policy::Full),
    );
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let expected: Vec<String> =
        (0..5).flat_map(|call| [format!("{call} begins"), format!("{call} ends")]).collect();
    assert_eq!(order(&bench), expected);
    assert!(
        bench.outcomes().iter().all(|(_, outcome, _)| *outcome == ToolOutcome::Done),
        "{:?}",
        bench.outcomes()
    );
    assert_eq!(bench.get("h").as_deref(), Some("two\n"));
}

#[tokio::test]
async fn writes_of_different_files_run_together_and_the_model_hears_of_them_in_their_order() {
    let mut bench = Bench::with(
        Plan::script(
            r#"
            model tool write {"path":"a","content":"1"} | tool write {"path":"b","content":"2"} | tool write {"path":"c","content":"3"}
            ---
            model text "ok"
            "#,
        )
        .policy(Policy::Full),
    );
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let order = order(&bench);
    let first_end = order.iter().position(|step| step.ends_with("ends")).unwrap();
    assert!(first_end >= 2, "each waited for the one before it: {order:?}");
    let told = bench.told();
    let results: Vec<&String> = told.iter().filter(|line| line.starts_with("tool:")).collect();
    for (result, name) in results.iter().zip(["a", "b", "c"]) {
        assert!(result.contains(name), "{results:?}");
    }
    bench.consult(Command::Files(FilesCommand::Undo { leave: false })).await.unwrap();
    assert_eq!(["a", "b", "c"].map(|name| bench.get(name)), [None, None, None]);
}

#[tokio::test]
async fn questions_come_one_at_a_time_and_in_order() {
    let mut bench = Bench::new(
        r#"
        model tool write {"path":"a","content":"1"} | tool write {"path":"b","content":"2"}
        ---
        model text "ok"
        "#,
    );
    bench.prompt("go").await;
    for name in ["a", "b"] {
        bench.until(|body| matches!(body, Body::Ask(domain::event::AskEvent::Opened(_)))).await;
        let open: Vec<_> = bench.state.asks.iter().map(|ask| (ask.id, ask.title.clone())).collect();
        assert!(open.len() == 1 && open[0].1.contains(name), "{open:?}");
        bench.close(open[0].0, crate::bench::allow(domain::ask::Scope::Once)).await;
    }
    assert_eq!(bench.turn_end().await, TurnEnd::Done);
}
