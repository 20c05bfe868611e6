//! Calls in the forms of other harnesses: the record, the question and undo know our tool, whatever the model called it.

use crate::bench::{Bench, Plan, allow, deny};
use domain::ask::{AskKind, Scope};
use domain::command::{Command, FilesCommand};
use domain::content::Json;
use domain::event::{AskEvent, Body, ToolEvent};
use domain::offer::Offer;
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::tool::ToolOutcome;

const PATCHED: &str = r#"
    model tool Bash {"command":"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a\n-one\n+two\n*** End Patch\nEOF"}
    ---
    model text "Done."
    "#;

fn proposed(bench: &Bench) -> Vec<(String, String)> {
    let calls = bench.events.iter().filter_map(|event| match &event.body {
        Body::Tool(ToolEvent::Proposed { name, args, .. }) => Some((name.clone(), args.as_str().to_owned())),
        _ => None,
    });
    calls.collect()
}

#[tokio::test]
async fn a_patch_as_a_command_goes_through_the_door_of_patches() {
    let mut bench = Bench::with(Plan::script(PATCHED).policy(Policy::Ask));
    bench.put("a", "one\n");
    bench.prompt("change it").await;
    bench.until(|body| matches!(body, Body::Ask(AskEvent::Opened(_)))).await;
    let ask = bench.state.asks[0].clone();
    let AskKind::Consent(consent) = &ask.kind else { panic!() };
    assert_eq!((consent.name.as_str(), ask.title.as_str()), ("apply_patch", "patch a"));
    assert!(format!("{:?}", consent.preview).contains("-one\\n+two"), "{:?}", consent.preview);
    bench.close(ask.id, deny(Some("not now"))).await;
    assert_eq!(bench.finish().await, TurnEnd::Done);
    assert_eq!(bench.get("a").as_deref(), Some("one\n"));
    assert_eq!(proposed(&bench)[0].0, "apply_patch");
}

#[tokio::test]
async fn it_is_taken_back_like_a_patch() {
    let mut bench = Bench::with(Plan::script(PATCHED).policy(Policy::Ask));
    bench.closings = vec![allow(Scope::Once)];
    bench.put("a", "one\n");
    assert_eq!(bench.run("change it").await, TurnEnd::Done);
    assert_eq!(bench.get("a").as_deref(), Some("two\n"));
    bench.consult(Command::Files(FilesCommand::Undo { leave: false })).await.unwrap();
    assert_eq!(bench.get("a").as_deref(), Some("one\n"));
}

#[tokio::test]
async fn no_mode_lets_another_form_through() {
    let mut bench = Bench::with(
        Plan::script(PATCHED.replace("Update File: a", "Update File: AGENTS.md")).policy(Policy::AutoEdit),
    );
    bench.put("AGENTS.md", "one\n");
    bench.closings = vec![deny(Some("it steers"))];
    assert_eq!(bench.run("change it").await, TurnEnd::Done);
    assert_eq!(bench.outcomes()[0].1, ToolOutcome::Denied);
    assert_eq!(bench.get("AGENTS.md").as_deref(), Some("one\n"));
}

#[tokio::test]
async fn a_tool_that_a_ui_offers_keeps_its_name_and_its_arguments() {
    let script = r#"
    model tool Read {"file_path":"a"}
    ---
    model tool read_file {"file_path":"a"}
    ---
    model tool Grep {"pattern":"x","multiline":true}
    ---
    model text "Done."
    "#;
    let mut bench = Bench::with(Plan::script(script).policy(Policy::Ask));
    bench.put("a", "one\n");
    bench.offers = vec![Offer {
        name: "Read".to_owned(),
        description: "Reads".to_owned(),
        schema: Json::verbatim(r#"{"type":"object"}"#),
        patience_ms: Some(5_000),
        unasked: false,
    }];
    bench.closings = vec![deny(Some("not that one"))];
    assert_eq!(bench.run("read it").await, TurnEnd::Done);
    let names: Vec<(String, String)> = proposed(&bench);
    assert_eq!(names[0], ("Read".to_owned(), r#"{"file_path":"a"}"#.to_owned()));
    assert_eq!(names[1], ("read".to_owned(), r#"{"path":"a"}"#.to_owned()));
    let outcomes = bench.outcomes();
    assert_eq!((outcomes[0].1.clone(), outcomes[1].1.clone()), (ToolOutcome::Denied, ToolOutcome::Done));
    assert!(
        outcomes[2].2.contains("in one line") && outcomes[2].1 == ToolOutcome::Failed,
        "{:?}",
        outcomes[2]
    );
}
