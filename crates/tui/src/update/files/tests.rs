//! What is typed about files, and what going back offers.

use crate::update::tests::AttachedUi;
use domain::command::{Command, DiffSince, FilesCommand, Receipt, Refusal, RefusalKind, SessionCommand};
use domain::content::Json;
use domain::event::{Body, Outcome, ToolEvent};
use domain::ids::{MessageId, ToolRunId, TurnId};
use domain::port::{Abilities, News};
use domain::tool::{ToolOutcome, ToolResult};

fn settle(stage: &mut AttachedUi, with: Result<Receipt, Refusal>) {
    let ticket = stage.ui.model.screen.tickets.last();
    stage.ui.hear(News::Settled { ticket, with });
}

fn files(text: &str) -> Result<Receipt, Refusal> {
    Ok(Receipt::Files { text: text.to_owned() })
}

/// A prompt with a tool, and its end.
fn with_a_tool() -> AttachedUi {
    let mut stage = AttachedUi::new(80, 24);
    stage.run("first try");
    stage.text("an answer");
    let (tool, message) = (ToolRunId(20), MessageId(5));
    stage.happen(Body::Tool(ToolEvent::Proposed { tool, message, name: "bash".into(), args: Json::empty() }));
    let (outcome, result) = (ToolOutcome::Skipped, ToolResult::text(""));
    stage.happen(Body::Tool(ToolEvent::Ended { tool, outcome, result }));
    stage.end(Outcome::Done);
    stage
}

#[test]
fn commands_about_files_say_what_they_mean() {
    for (line, command) in [
        ("/undo", FilesCommand::Undo { leave: false }),
        ("/undo rest", FilesCommand::Undo { leave: true }),
        ("/redo", FilesCommand::Redo { leave: false }),
        ("/diff", FilesCommand::Diff { since: DiffSince::Prompt }),
        ("/diff all", FilesCommand::Diff { since: DiffSince::Start }),
        ("/diff git", FilesCommand::Diff { since: DiffSince::Commit }),
    ] {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys(&format!("{line} <enter>"));
        assert_eq!(stage.commands(), [Command::Files(command)], "{line}");
    }
    for line in ["/undo this", "/diff that"] {
        let mut stage = AttachedUi::new(80, 24);
        stage.ui.keys(&format!("{line}<enter>"));
        assert_eq!(stage.commands(), [], "{line}");
    }
    let mut stage = AttachedUi::new(80, 24);
    stage.run("at work");
    stage.ui.keys("/undo <enter>");
    assert_eq!(stage.commands(), []);
    assert!(stage.ui.screen().contains("stop the run first"));
}

#[test]
fn where_nothing_is_kept_nothing_is_offered_and_the_reason_is_said() {
    // A runtime of another program, and one of ours that is older than all this.
    let theirs = Abilities { name: "theirs".into(), go_back: true, ..Abilities::default() };
    for can in [theirs, Abilities { undo: false, ..Abilities::all("parlor 0.1") }] {
        for name in ["undo", "redo", "diff"] {
            let mut stage = AttachedUi::on(can.clone(), 80, 24);
            stage.ui.keys(&format!("/{}", &name[..2]));
            assert!(!stage.ui.screen().contains(&format!("/{name}")), "{}", stage.ui.screen());
            stage.ui.keys("<ctrl-u>");
            stage.ui.keys(&format!("/{name} <enter>"));
            assert_eq!(stage.commands(), [], "{name}");
            let screen = stage.ui.screen();
            assert!(screen.contains(&format!("cannot do /{name}: only what Parlor's own")), "{screen}");
        }
    }
}

#[test]
fn a_diff_is_a_page_and_nothing_is_a_word() {
    let mut stage = AttachedUi::new(80, 24);
    stage.ui.keys("/diff <enter>");
    settle(
        &mut stage,
        files(
            "diff a/x b/x\n@@ -1 +1 @@\n-one\n+two\ndiff a/y b/y\nnew file mode 100644\n@@ -0,0 +1 @@\n+y\n# z: too large",
        ),
    );
    let screen = stage.ui.screen();
    // Words about files are not numbered as if they stood in one.
    for words in ["new file mode 100644", "# z: too large"] {
        assert!(screen.lines().any(|line| line.trim() == words), "{screen}");
    }
    assert!(screen.contains("Changes since the last prompt") && screen.contains("two"), "{screen}");
    stage.ui.keys("<esc>/diff <enter>");
    settle(&mut stage, files(""));
    assert!(stage.ui.screen().contains("nothing changed"));
}

#[test]
fn going_back_past_a_tool_asks_whether_files_go_along() {
    let mut stage = with_a_tool();
    stage.ui.keys("<ctrl-up>b");
    assert!(stage.ui.screen().contains("words and files"), "{}", stage.ui.screen());
    stage.ui.keys("<enter>");
    assert_eq!(stage.commands(), [Command::Session(SessionCommand::SetLeaf { leaf: None })], "words only");

    let mut stage = with_a_tool();
    stage.ui.keys("<ctrl-up>b<down><enter>");
    let go = FilesCommand::Go { back: vec![TurnId(2)], forth: Vec::new(), leave: false };
    assert_eq!(stage.commands(), [Command::Files(go)]);
    settle(&mut stage, files("Moved 1 file change"));
    assert_eq!(stage.commands(), [Command::Session(SessionCommand::SetLeaf { leaf: None })]);
    assert_eq!(stage.ui.model.screen.composer.text(), "first try");
}

#[test]
fn words_stay_where_files_cannot_go() {
    let mut stage = with_a_tool();
    stage.ui.keys("<ctrl-up>b<down><enter>");
    stage.commands();
    settle(&mut stage, Err(Refusal::new(RefusalKind::NotAllowed, "nothing was written, because of a.rs")));
    assert_eq!(stage.commands(), []);
    assert!(stage.ui.screen().contains("because of a.rs"));
}
