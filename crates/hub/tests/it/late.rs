//! A store that answers late, or never: who waits for it waits, in order; everybody else goes on.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fall over; its helping functions too")]

mod bounds;
mod links;
mod locked;
mod order;
mod stage;
mod unkept;

use domain::ask::{Answer, Ask, AskKind, Closing};
use domain::command::{Command, LibraryCommand, ListScope, PromptOptions, Receipt, RefusalKind, RunCommand};
use domain::content::Input;
use domain::event::{AskEvent, Body, RunEvent, ToolEvent};
use domain::ids::{AskId, StepId, ToolRunId};
use domain::port::{Kept, Order, TurnBrief};
use domain::tool::Progress;
use hub::Files;
use stage::{Stage, Ui, new, open, rename, session, stats};
use std::time::Duration;

fn prompt(text: &str) -> Command {
    Command::Run(RunCommand::Prompt { input: Input::text(text), options: PromptOptions::default() })
}

async fn stage() -> (Stage, Ui, Ui) {
    let stage = Stage::new(Files::default()).await;
    let (mut a, mut b) = (stage.ui(None).await, stage.ui(None).await);
    a.command(new(1)).await.unwrap();
    b.command(new(2)).await.unwrap();
    (stage, a, b)
}

async fn turn(stage: &mut Stage) -> TurnBrief {
    loop {
        if let Order::Turn(brief) = stage.orders.recv().await.unwrap() {
            return *brief;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_session_waits_for_the_store_and_nobody_else_does() {
    let (mut stage, mut a, mut b) = stage().await;
    stage.hold();
    a.fresh();
    let first = a.say(rename("held")).await;
    assert_eq!(stage.called().await, format!("append 3 to {}", session(1)));
    // Another UI goes on: what it asks needs no disk, though the store is busy.
    assert!(matches!(b.command(stats()).await, Ok(Receipt::Stats(_))));
    let behind = a.say(rename("behind")).await;
    assert!(b.command(stats()).await.is_ok());
    assert!(a.fresh().is_empty(), "told before it is kept");
    stage.end(true);
    a.settled(first).await.unwrap();
    assert_eq!(stage.called().await, format!("append 4 to {}", session(1)));
    assert!(b.command(stats()).await.is_ok());
    let heard = a.fresh();
    assert!(heard.len() == 2 && heard[0].contains("held") && heard[1] == "settled 2", "{heard:?}");
    stage.let_go();
    a.settled(behind).await.unwrap();
    let heard = a.fresh();
    assert!(heard.len() == 2 && heard[0].contains("behind"), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn receipts_orders_and_acks_come_after_it_is_kept_and_in_order() {
    let (mut stage, mut a, mut b) = stage().await;
    a.fresh();
    stage.hold();
    let asked = a.say(prompt("go")).await;
    stage.called_with("append").await;
    assert!(b.command(stats()).await.is_ok());
    assert!(stage.orders.try_recv().is_err(), "the engine works on what is not kept");
    assert!(a.fresh().is_empty());
    stage.end(true);
    let brief = turn(&mut stage).await;
    assert!(matches!(a.settled(asked).await, Ok(Receipt::Started { .. })));
    let step = StepId::mint(&brief.ids);
    let body = Body::Run(RunEvent::StepStarted { turn: brief.turn, step, model: None });
    let mut kept = stage.report(Stage::happened(1, brief.run, body)).await;
    stage.called_with("append").await;
    a.fresh();
    // What comes behind waits in the order in which it came: a report, then a command, then a report.
    let (id, run) = (AskId::mint(&brief.ids), brief.run);
    let kind = AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false };
    let ask = Ask { id, run: Some(run), title: "?".into(), kind, deadline: None };
    let mut asking = stage.report(Stage::happened(1, run, Body::Ask(AskEvent::Opened(ask)))).await;
    tokio::task::yield_now().await;
    assert!(b.command(stats()).await.is_ok());
    let renamed = a.say(rename("meanwhile")).await;
    assert!(b.command(stats()).await.is_ok());
    let ended = Body::Run(RunEvent::StepEnded { step, usage: domain::content::Usage::default() });
    let mut over = stage.report(Stage::happened(1, run, ended)).await;
    tokio::task::yield_now().await;
    assert!(b.command(stats()).await.is_ok());
    assert!(kept.try_recv().is_err() && asking.try_recv().is_err() && over.try_recv().is_err());
    assert!(a.fresh().is_empty());
    stage.end(true);
    assert_eq!((&mut kept).await.unwrap(), Kept::Safely);
    stage.called_with("append").await;
    assert!(asking.try_recv().is_err(), "acknowledged before it is kept");
    stage.let_go();
    assert_eq!((asking.await.unwrap(), over.await.unwrap()), (Kept::Safely, Kept::Safely));
    a.settled(renamed).await.unwrap();
    a.hears("StepEnded").await;
    let heard = a.fresh();
    let at = |what: &str| heard.iter().position(|heard| heard.contains(what)).unwrap();
    assert!(at("StepStarted") < at("Opened") && at("Opened") < at("meanwhile"), "{heard:?}");
    assert!(at("meanwhile") < at("StepEnded"), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn commands_behind_an_open_wait_in_order_and_one_open_serves_two() {
    let (mut stage, mut a, mut b) = stage().await;
    let mut c = stage.ui(None).await;
    stage.hold();
    let (opened, renamed) = (a.say(open(9)).await, a.say(rename("there")).await);
    assert_eq!(stage.called().await, format!("open {}", session(9)));
    let too = c.say(open(9)).await;
    assert!(b.command(stats()).await.is_ok());
    a.fresh();
    assert!(c.fresh().is_empty());
    stage.let_go();
    let Ok(Receipt::Session { session: summary, .. }) = a.settled(opened).await else { panic!("not opened") };
    assert_eq!((summary.id, summary.title.as_str()), (session(9), "kept before"));
    a.settled(renamed).await.unwrap();
    assert!(
        a.fresh().iter().any(|heard| heard.contains("there")),
        "the second command is for where the first led"
    );
    c.settled(too).await.unwrap();
    assert!(c.fresh()[0].starts_with(&format!("attached {}", session(9))));
    assert!(!stage.calls().iter().any(|call| call.starts_with("open")), "opened once");
}

#[tokio::test(start_paused = true)]
async fn an_open_that_fails_refuses_its_own_command_and_lets_the_next_go_on() {
    let (mut stage, mut a, mut b) = stage().await;
    stage.hold();
    let (opened, renamed) = (a.say(open(9)).await, a.say(rename("here")).await);
    stage.called().await;
    assert!(b.command(stats()).await.is_ok());
    stage.held.store(false, std::sync::atomic::Ordering::SeqCst);
    stage.end(false);
    assert_eq!(a.settled(opened).await.unwrap_err().kind, RefusalKind::Storage);
    a.settled(renamed).await.unwrap();
    let present = stage.hub.present().await.unwrap();
    assert!(present.iter().any(|live| live.id == session(1) && live.title == "here"), "{present:?}");
}

#[tokio::test(start_paused = true)]
async fn looking_keeps_nobody_waiting_but_who_looks() {
    let (mut stage, mut a, _b) = stage().await;
    a.command(prompt("go")).await.unwrap();
    stage.hold();
    let scope = ListScope::All;
    let list = a.say(Command::Library(LibraryCommand::List { scope, limit: None, search: None })).await;
    stage.called_with("list").await;
    let updated = a.command(Command::UpdateContext(domain::signal::UiContext::default())).await;
    assert!(updated.is_ok(), "a command waits behind a list");
    stage.let_go();
    assert!(matches!(a.settled(list).await, Ok(Receipt::Sessions(_))));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_never_answers_counts_as_failing_and_may_answer_later() {
    let (mut stage, mut a, mut b) = stage().await;
    stage.hold();
    let renamed = a.say(rename("in memory")).await;
    stage.called().await;
    tokio::time::advance(Duration::from_secs(7)).await;
    assert!(b.command(stats()).await.is_ok());
    a.fresh();
    assert!(stage.orders.try_recv().is_err());
    tokio::time::advance(Duration::from_secs(2)).await;
    a.settled(renamed).await.unwrap();
    a.hears("The conversation goes on in memory").await;
    assert!(
        matches!(stage.orders.recv().await, Some(Order::StoreFails { why: Some(why), .. }) if why.contains("not answered"))
    );
    // Nobody waits for it a second time.
    a.command(rename("again in memory")).await.unwrap();
    a.command(prompt("go")).await.unwrap();
    let brief = turn(&mut stage).await;
    let step = StepId::mint(&brief.ids);
    let body = Body::Run(RunEvent::StepStarted { turn: brief.turn, step, model: None });
    let kept = stage.report(Stage::happened(1, brief.run, body)).await.await.unwrap();
    assert!(matches!(kept, Kept::InMemory(_)), "{kept:?}");
    stage.let_go();
    a.hears("Saved again").await;
    assert_eq!(a.command(rename("saved")).await.unwrap(), Receipt::Done);
    a.fresh();
    let last =
        Command::Library(LibraryCommand::History { session: session(1), max_runs: 1, max_events: 100 });
    let Ok(Receipt::History(history)) = a.command(last).await else { panic!("no history") };
    assert!(history.events.windows(2).all(|pair| pair[1].seq == pair[0].seq.next()), "written without a gap");
    assert!(format!("{:?}", history.events).contains("saved"));
}

#[tokio::test(start_paused = true)]
async fn a_read_that_never_ends_is_refused_and_what_it_opened_is_closed_again() {
    let (mut stage, mut a, mut b) = stage().await;
    stage.hold();
    let opened = a.say(open(9)).await;
    stage.called_with("open").await;
    tokio::time::advance(Duration::from_secs(61)).await;
    let refused = a.settled(opened).await.unwrap_err();
    assert!(refused.kind == RefusalKind::Storage && refused.message.contains("not answered"), "{refused}");
    assert!(b.command(stats()).await.is_ok());
    stage.let_go();
    assert_eq!(stage.called_with("close").await, format!("close {}", session(9)));
    a.command(open(9)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_delete_that_was_given_up_and_happens_later_is_taken_in() {
    let (mut stage, mut a, _b) = stage().await;
    stage.hold();
    let deleted = a.say(Command::Library(LibraryCommand::Delete { session: session(1) })).await;
    stage.called_with("delete").await;
    tokio::time::advance(Duration::from_secs(61)).await;
    assert!(a.settled(deleted).await.is_err());
    stage.let_go();
    while stage.hub.present().await.unwrap().iter().any(|live| live.id == session(1)) {
        tokio::task::yield_now().await;
    }
    assert!(a.command(open(1)).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn who_leaves_while_it_is_read_for_leaves_nothing_open() {
    let (mut stage, _a, mut b) = stage().await;
    let mut c = stage.ui(None).await;
    stage.hold();
    c.say(open(9)).await;
    stage.called_with("open").await;
    drop(c);
    assert!(b.command(stats()).await.is_ok());
    stage.let_go();
    assert_eq!(stage.called_with("close").await, format!("close {}", session(9)));
    assert!(stage.hub.present().await.unwrap().iter().all(|live| live.id != session(9)));
}

#[tokio::test(start_paused = true)]
async fn what_somebody_said_before_leaving_is_done() {
    let (mut stage, mut a, mut b) = stage().await;
    stage.hold();
    a.say(rename("one")).await;
    stage.called_with("append").await;
    a.say(rename("two")).await;
    drop(a);
    assert!(b.command(stats()).await.is_ok());
    stage.let_go();
    assert_eq!(stage.called_with("append").await, format!("append 4 to {}", session(1)));
    let present = stage.hub.present().await.unwrap();
    assert!(present.iter().any(|live| live.title == "two" && live.uis.is_empty()), "{present:?}");
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_the_store_is_bounded_and_slows_down_its_own_session_alone() {
    const PIECE: usize = 16 * 1024;
    let (mut stage, mut a, mut b) = stage().await;
    a.command(prompt("go")).await.unwrap();
    let brief = turn(&mut stage).await;
    let tool = ToolRunId::mint(&brief.ids);
    let piece = || {
        let progress = Progress::Output("x".repeat(PIECE));
        Stage::happened(1, brief.run, Body::Tool(ToolEvent::Progress { tool, progress }))
    };
    propose(&mut stage, &brief, tool).await;
    stage.hold();
    let mut acks = Vec::new();
    for _ in 0..40 {
        acks.push(stage.report(piece()).await);
        tokio::task::yield_now().await;
        assert!(b.command(stats()).await.is_ok());
        a.fresh();
    }
    let taken = acks.iter_mut().filter_map(|ack| ack.try_recv().ok()).count();
    assert!((1..8).contains(&taken), "{taken} pieces of 16 KiB were taken while the store took none");
    stage.let_go();
    acks.retain_mut(|ack| ack.try_recv().is_err());
    let last = acks.pop().unwrap();
    while !last.is_terminated() && {
        tokio::task::yield_now().await;
        last.is_empty()
    } {
        a.fresh();
    }
    assert_eq!(last.await.unwrap(), Kept::Safely);
}

/// A message that proposes a tool, which is allowed and started.
async fn propose(stage: &mut Stage, brief: &TurnBrief, tool: ToolRunId) {
    use domain::content::{Json, Role};
    use domain::event::{Finish, MessageEvent};
    use domain::tool::{Decider, Decision};
    let (step, message) = (StepId::mint(&brief.ids), domain::ids::MessageId::mint(&brief.ids));
    let (turn, parent) = (Some(brief.turn), brief.leaf);
    let decision = Decision {
        allowed: true,
        by: Decider::Policy,
        scope: domain::ask::Scope::Once,
        reason: None,
        digest: None,
    };
    for body in [
        Body::Run(RunEvent::StepStarted { turn: brief.turn, step, model: None }),
        Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::Assistant,
            turn,
            step: Some(step),
        }),
        Body::Tool(ToolEvent::Proposed { tool, message, name: "print".into(), args: Json::empty() }),
        Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }),
        Body::Tool(ToolEvent::Decided { tool, decision }),
        Body::Tool(ToolEvent::Started { tool }),
    ] {
        assert_eq!(stage.report(Stage::happened(1, brief.run, body)).await.await.unwrap(), Kept::Safely);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_came_in_time_counts_though_the_store_was_slow() {
    let (mut stage, mut a, mut b) = stage().await;
    a.command(prompt("go")).await.unwrap();
    let brief = turn(&mut stage).await;
    let (id, run) = (AskId::mint(&brief.ids), brief.run);
    let kind = AskKind::Confirm { message: String::new(), yes: None, no: None, danger: false };
    let ask = |id, deadline| Ask { id, run: Some(run), title: "?".into(), kind: kind.clone(), deadline };
    // The clock of the hub began when the test did.
    let now = u64::try_from(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(),
    );
    let deadline = now.unwrap() + 3_000;
    let opened = Body::Ask(AskEvent::Opened(ask(id, Some(domain::ids::Millis(deadline)))));
    assert_eq!(stage.report(Stage::happened(1, run, opened)).await.await.unwrap(), Kept::Safely);
    stage.hold();
    a.say(rename("slow")).await;
    stage.called_with("append").await;
    let answered = a.say(Command::Answer { ask: id, answer: Answer::Confirmed(true) }).await;
    assert!(b.command(stats()).await.is_ok());
    tokio::time::advance(Duration::from_secs(5)).await;
    assert!(b.command(stats()).await.is_ok());
    stage.let_go();
    a.settled(answered).await.unwrap();
    let closing = loop {
        if let Order::AskClosed { closing, .. } = stage.orders.recv().await.unwrap() {
            break closing;
        }
    };
    assert!(matches!(closing, Closing::Answered { .. }), "{closing:?}");
    // And a deadline that nobody met is still found.
    let late = AskId::mint(&brief.ids);
    let opened = Body::Ask(AskEvent::Opened(ask(late, Some(domain::ids::Millis(deadline + 3_000)))));
    stage.report(Stage::happened(1, run, opened)).await.await.unwrap();
    loop {
        if let Order::AskClosed { ask, closing, .. } = stage.orders.recv().await.unwrap()
            && ask == late
        {
            assert!(matches!(closing, Closing::Expired));
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_is_saved_and_loaded_while_the_store_is_busy() {
    let place = tempfile::tempdir().unwrap();
    let files = Files { data: Some(place.path().to_owned()), ..Files::default() };
    let mut stage = Stage::new(files).await;
    let (mut a, mut b) = (stage.ui(None).await, stage.ui(None).await);
    a.command(new(1)).await.unwrap();
    b.command(new(2)).await.unwrap();
    stage.hold();
    let renamed = a.say(rename("held")).await;
    stage.called_with("append").await;
    let saved = b.command(Command::Library(LibraryCommand::Save { path: None, history: true })).await;
    let Ok(Receipt::Saved { path, .. }) = saved else { panic!("{saved:?}") };
    let loaded = b.say(Command::Library(LibraryCommand::Load { path })).await;
    // What was loaded is a new session, which is kept before it is told. Meanwhile what comes behind waits to be there.
    let behind = b.say(rename("after the load")).await;
    stage.end(true);
    a.settled(renamed).await.unwrap();
    stage.let_go();
    let Ok(Receipt::Session { session: summary, .. }) = b.settled(loaded).await else { panic!("not loaded") };
    assert_ne!(summary.id, session(2));
    b.settled(behind).await.unwrap();
    let present = stage.hub.present().await.unwrap();
    let title = |id| present.iter().find(|live| live.id == id).map(|live| live.title.clone());
    assert_eq!(
        (title(summary.id).as_deref(), title(session(2)).as_deref()),
        (Some("after the load"), Some("first"))
    );
}

#[tokio::test(start_paused = true)]
async fn the_end_waits_until_everything_is_kept_and_told() {
    let (mut stage, mut a, mut b) = stage().await;
    stage.hold();
    let renamed = a.say(rename("the last word")).await;
    stage.called_with("append").await;
    let behind = a.say(rename("and one behind it")).await;
    assert!(b.command(stats()).await.is_ok());
    let hub = stage.hub.clone();
    let ending = tokio::spawn(async move { hub.end().await });
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!ending.is_finished());
    stage.let_go();
    ending.await.unwrap();
    a.settled(renamed).await.unwrap();
    a.settled(behind).await.unwrap();
    stage.hub.stop().await;
    let calls = stage.calls();
    assert!(calls.contains(&format!("append 4 to {}", session(1))), "{calls:?}");
    assert!(calls.contains(&format!("close {}", session(1))), "{calls:?}");
}

#[tokio::test(start_paused = true)]
async fn the_end_does_not_wait_for_ever() {
    let (mut stage, mut a, mut b) = stage().await;
    stage.hold();
    a.say(rename("lost with the disk")).await;
    stage.called_with("append").await;
    assert!(b.command(stats()).await.is_ok());
    let hub = stage.hub.clone();
    let stopping = tokio::spawn(async move { hub.stop().await });
    for _ in 0..4 {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_secs(10)).await;
    }
    stopping.await.unwrap();
    stage.let_go();
}
