//! What waits behind a store that answers late has an end, for each UI and in bytes.

use crate::late::stage::{open, rename, stats};
use domain::command::{Command, LibraryCommand, ListScope, Receipt, RefusalKind};
use domain::signal::UiContext;
use hub::core::MAX_REQUESTS;

/// So much that four of them may wait, and not five.
const LARGE: usize = 7 * 1024 * 1024;

fn list(search: Option<String>) -> Command {
    Command::Library(LibraryCommand::List { scope: ListScope::All, limit: None, search })
}

fn context(text: String) -> Command {
    Command::UpdateContext(UiContext { notes: vec![text], ..UiContext::default() })
}

#[tokio::test(start_paused = true)]
async fn commands_of_any_kind_wait_up_to_so_many_bytes() {
    let (mut stage, mut a, mut b) = crate::late::stage().await;
    stage.hold();
    let first = a.say(rename("busy")).await;
    stage.called_with("append").await;
    let text = || "x".repeat(LARGE);
    let mut waiting = vec![a.say(rename(&text())).await];
    for _ in 0..3 {
        waiting.push(a.say(context(text())).await);
    }
    let mut too_many = Vec::new();
    for command in [rename(&text()), context(text()), rename(&text())] {
        too_many.push(a.say(command).await);
    }
    // All of that has come in before the store answers.
    assert!(b.command(stats()).await.is_ok());
    stage.let_go();
    a.settled(first).await.unwrap();
    let mut settled = std::collections::BTreeMap::new();
    while settled.len() < 7 {
        let (ticket, with) = a.next_settled().await;
        settled.insert(ticket, with);
    }
    assert!(waiting.iter().all(|ticket| settled[ticket].is_ok()), "{settled:?}");
    for ticket in too_many {
        assert_eq!(settled[&ticket].as_ref().unwrap_err().kind, RefusalKind::TooMany);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_looked_for_waits_up_to_so_many_bytes() {
    let (mut stage, mut a, _b) = crate::late::stage().await;
    stage.hold();
    let text = || Some("x".repeat(LARGE));
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(a.say(list(text())).await);
    }
    assert_eq!(a.command(list(text())).await.unwrap_err().kind, RefusalKind::TooMany);
    stage.let_go();
    for ticket in waiting {
        assert!(matches!(a.settled(ticket).await, Ok(Receipt::Sessions(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn one_ui_that_asks_without_end_takes_no_others_place() {
    let (mut stage, mut a, mut b) = crate::late::stage().await;
    stage.hold();
    let mut asked = Vec::new();
    for _ in 0..MAX_REQUESTS {
        asked.push(a.say(list(None)).await);
    }
    for _ in 0..34 {
        assert_eq!(a.command(list(None)).await.unwrap_err().kind, RefusalKind::TooMany);
    }
    let (listed, opened) = (b.say(list(None)).await, b.say(open(9)).await);
    stage.let_go();
    assert!(matches!(b.settled(listed).await, Ok(Receipt::Sessions(_))));
    b.settled(opened).await.unwrap();
    for ticket in asked {
        a.settled(ticket).await.unwrap();
    }
}
