//! Files that the person's editor holds: a turn reads and writes them there, and the disk is not taken instead.

use crate::bench::{Bench, Plan};
use domain::port::TurnEnd;
use domain::session::Policy;
use domain::tool::ToolOutcome;
use domain::ui_files::UiFiles;

const SCRIPT: &str = r#"
    model tool read {"path":"a.txt"}
    model step
    model tool edit {"path":"a.txt","edits":[{"old":"open","new":"changed"}]}
    model step
    model text "done"
    "#;

fn bench(ui_files: UiFiles) -> Bench {
    let mut bench = Bench::with(Plan::script(SCRIPT).policy(Policy::AutoEdit));
    bench.ui_files = ui_files;
    bench.put("a.txt", "saved and open\n");
    bench
}

#[tokio::test]
async fn a_turn_reads_and_changes_what_is_open_in_the_editor() {
    let mut bench = bench(UiFiles { reads: true, writes: true });
    bench.editor = Some([("a.txt".to_owned(), "typed and open\n".to_owned())].into());
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    let outcomes = bench.outcomes();
    assert!(outcomes.iter().all(|(_, outcome, _)| *outcome == ToolOutcome::Done), "{outcomes:?}");
    assert!(outcomes[0].2.contains("typed and open"), "{outcomes:?}");
    assert_eq!(bench.editor.as_ref().unwrap()["a.txt"], "typed and changed\n");
    assert_eq!(bench.get("a.txt").as_deref(), Some("saved and open\n"), "the editor saves");
}

#[tokio::test]
async fn an_editor_that_only_reads_leaves_the_writing_to_us() {
    let mut bench = bench(UiFiles { reads: true, writes: false });
    bench.editor = Some([("a.txt".to_owned(), "typed and open\n".to_owned())].into());
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    assert_eq!(bench.get("a.txt").as_deref(), Some("typed and changed\n"), "{:?}", bench.outcomes());
}

#[tokio::test]
async fn an_editor_that_has_left_is_told_to_the_model() {
    let mut bench = bench(UiFiles { reads: true, writes: true });
    assert_eq!(bench.run("go").await, TurnEnd::Done);
    for (_, outcome, text) in bench.outcomes() {
        assert!(outcome == ToolOutcome::Failed && text.contains("the editor has left"), "{text}");
    }
    assert_eq!(bench.get("a.txt").as_deref(), Some("saved and open\n"));
}
