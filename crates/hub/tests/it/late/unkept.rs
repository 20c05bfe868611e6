//! What the store does not hold yet: it belongs to the session all the same, for whoever opens, reads or exports it.

use crate::late::stage::{Stage, Ui, new, open, rename, session, stats};
use domain::command::{
    Command, ExportFormat, LibraryCommand, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand,
    SessionCommand,
};
use domain::content::Input;
use domain::event::{Body, ToolEvent};
use domain::ids::ToolRunId;
use domain::port::Kept;
use domain::tool::Progress;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A stage whose disk is full since session 1 was given its second title, which is not written.
async fn unwritten() -> (Stage, Ui, Ui) {
    let (stage, mut a, b) = crate::late::stage().await;
    stage.disk.full.store(true, Ordering::SeqCst);
    a.command(rename("unwritten")).await.unwrap();
    (stage, a, b)
}

async fn export(ui: &mut Ui) -> Result<String, Refusal> {
    let format = ExportFormat::Jsonl;
    match ui.command(Command::Library(LibraryCommand::Export { session: None, format })).await? {
        Receipt::Exported { text, .. } => Ok(text),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_closed_with_something_unwritten_opens_again_with_it() {
    let (stage, mut a, _b) = unwritten().await;
    a.command(Command::Session(SessionCommand::Close)).await.unwrap();
    assert!(stage.hub.present().await.unwrap().iter().all(|live| live.id != session(1)));
    let Ok(Receipt::Session { session: summary, .. }) = a.command(open(1)).await else {
        panic!("not opened")
    };
    assert_eq!(summary.title, "unwritten");
    a.command(rename("after")).await.unwrap();
    stage.disk.full.store(false, Ordering::SeqCst);
    a.hears("Saved again").await;
    let text = export(&mut a).await.unwrap();
    assert!(text.contains("unwritten") && text.contains("after"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn what_is_unwritten_survives_an_open_for_somebody_who_left() {
    let (mut stage, mut a, mut b) = unwritten().await;
    a.command(Command::Session(SessionCommand::Close)).await.unwrap();
    let mut c = stage.ui(None).await;
    stage.hold();
    c.say(open(1)).await;
    while !stage.called().await.starts_with("open") {
        // It was tried once more to write it.
        stage.end(true);
    }
    drop(c);
    assert!(b.command(stats()).await.is_ok());
    stage.let_go();
    assert!(
        b.command(Command::Library(LibraryCommand::History {
            session: session(2),
            max_runs: 1,
            max_events: 1
        }))
        .await
        .is_ok()
    );
    stage.disk.full.store(false, Ordering::SeqCst);
    let written = tokio::time::timeout(Duration::from_secs(60), stage.called_with("append")).await;
    assert_eq!(written.expect("it is forgotten"), format!("append 3 to {}", session(1)));
}

#[tokio::test(start_paused = true)]
async fn the_past_and_an_export_hold_what_is_unwritten() {
    let (stage, mut a, _b) = unwritten().await;
    let (input, options) = (Input::text("go"), PromptOptions::default());
    a.command(Command::Run(RunCommand::Prompt { input, options })).await.unwrap();
    a.command(rename("newest")).await.unwrap();
    let past = Command::Library(LibraryCommand::History { session: session(1), max_runs: 9, max_events: 99 });
    let Ok(Receipt::History(history)) = a.command(past).await else { panic!("no history") };
    assert_eq!(history.runs, 1);
    assert!(format!("{:?}", history.events).contains("newest"), "{history:?}");
    // Event by event, not only what became of them.
    let text = export(&mut a).await.unwrap();
    for title in ["first", "unwritten", "newest"] {
        assert!(text.contains(title), "{title} is missing: {text}");
    }
    assert!(stage.disk.full.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn an_export_says_when_the_log_cannot_be_read() {
    let (stage, mut a, mut b) = crate::late::stage().await;
    stage.disk.unreadable.store(true, Ordering::SeqCst);
    assert_eq!(export(&mut a).await.unwrap_err().kind, RefusalKind::Storage);
    stage.disk.unreadable.store(false, Ordering::SeqCst);
    assert!(export(&mut a).await.unwrap().contains("first"));
    // One in which nothing was said is not in the store, which is no failure.
    let (cwd, title, id) = (None, None, Some(session(5)));
    b.command(Command::Library(LibraryCommand::New { cwd, title, id })).await.unwrap();
    assert!(export(&mut b).await.unwrap().contains("/w"));
    b.command(new(6)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn streamed_text_that_was_waited_for_is_written_and_not_only_taken() {
    let (mut stage, mut a, _b) = crate::late::stage().await;
    a.command(crate::late::prompt("go")).await.unwrap();
    let brief = crate::late::turn(&mut stage).await;
    let tool = ToolRunId::mint(&brief.ids);
    crate::late::propose(&mut stage, &brief, tool).await;
    stage.calls();
    let mut waited = false;
    while !waited {
        let progress = Progress::Output("x".repeat(16 * 1024));
        let piece = Body::Tool(ToolEvent::Progress { tool, progress });
        let kept = stage.report(Stage::happened(1, brief.run, piece)).await.await.unwrap();
        assert_eq!(kept, Kept::Safely);
        waited = stage.calls().iter().any(|call| call.starts_with("append"));
        a.fresh();
    }
    assert!(
        !stage.disk.holds_back.load(Ordering::SeqCst),
        "told as kept while the store only has it in memory"
    );
}
