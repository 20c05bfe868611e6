//! What a state answers about itself: deadlines, context, branches, summaries.

use super::State;
use crate::ask::{Ask, AskKind};
use crate::content::{Input, Role, TextKind, Usage};
use crate::event::{
    AskEvent, Body, Cause, Compaction, ContextEvent, Finish, MessageEvent, Outcome, QueueEvent, RunEvent,
    SessionEvent, Trigger,
};
use crate::ids::{AskId, EntryId, MessageId, Millis, QueuedId, RunId, SessionId, StepId, TurnId};
use crate::queue::QueueKind;
use crate::session::SessionSummary;
use crate::session::summary::{UNTITLED, title_of};
use crate::signal::{Board, MAX_BOARD_KEYS, Signal};

fn folded(bodies: impl IntoIterator<Item = Body>) -> State {
    let mut state = State::new();
    for body in bodies {
        state.apply(Millis(0), &body).unwrap();
    }
    state
}

fn ask(id: u64, deadline: Option<u64>) -> Body {
    let kind = AskKind::Confirm { message: "?".into(), yes: None, no: None, danger: false };
    let deadline = deadline.map(Millis);
    Body::Ask(AskEvent::Opened(Ask { id: AskId(id), run: None, title: "?".into(), kind, deadline }))
}

/// A message of the person in run 1; `ended` or under way.
fn prompt(id: u64, parent: Option<u64>, text: &str, ended: bool) -> Vec<Body> {
    let message = MessageId(id);
    let parent = parent.map(EntryId);
    let mut bodies = vec![
        Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::User,
            turn: Some(TurnId(2)),
            step: None,
        }),
        Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: text.to_owned() }),
    ];
    bodies.extend(ended.then_some(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete })));
    bodies
}

fn run() -> Vec<Body> {
    let (run, turn) = (RunId(1), TurnId(2));
    vec![
        Body::Run(RunEvent::Started { run }),
        Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
    ]
}

fn summary(id: u64, parent: u64, first_kept: u64) -> Body {
    let compaction = Compaction {
        summary: "short".into(),
        first_kept: Some(EntryId(first_kept)),
        tokens_before: 0,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: Usage::default(),
    };
    Body::Context(ContextEvent::Compacted { entry: EntryId(id), parent: Some(EntryId(parent)), compaction })
}

#[test]
fn a_deadline_is_over_when_it_has_come_and_the_earliest_is_next() {
    let state = folded([ask(1, Some(30)), ask(2, Some(20)), ask(3, None)]);
    assert_eq!(state.next_deadline(), Some(Millis(20)));
    assert_eq!(state.expired_asks(Millis(19)), []);
    assert_eq!(state.expired_asks(Millis(20)), [AskId(2)]);
    assert_eq!(state.expired_asks(Millis(30)), [AskId(1), AskId(2)]);
}

#[test]
fn what_an_answer_used_counts_when_its_step_is_closed_before_its_tools_were_through() {
    let (turn, step) = (TurnId(2), StepId(3));
    let usage = Usage { input: 5, cost_micros: 7, ..Usage::default() };
    let started = [Body::Run(RunEvent::StepStarted { turn, step, model: None })];
    let billed = [Body::Run(RunEvent::StepBilled { step, usage })];
    let state = folded(run().into_iter().chain(started).chain(billed));
    assert_eq!((state.usage, state.spent()), (Usage::default(), usage), "it is spent, and its step goes on");
    // What another process sees of it.
    let mut again = folded(state.replay().into_iter().map(|(_, body)| body));
    assert_eq!((again.spent(), again.hash()), (usage, state.hash()));
    for body in again.close_run(Outcome::Interrupted) {
        again.apply(Millis(0), &body).unwrap();
    }
    assert_eq!((again.usage, again.spent()), (usage, usage), "once");
}

#[test]
fn an_older_summary_among_what_is_kept_is_part_of_the_newer_one() {
    let mut bodies = run();
    bodies.extend(prompt(3, None, "a", true));
    bodies.extend(prompt(4, Some(3), "b", true));
    bodies.push(summary(5, 4, 4));
    bodies.extend(prompt(6, Some(5), "c", true));
    bodies.push(summary(7, 6, 4));
    bodies.extend(prompt(8, Some(7), "d", true));
    let state = folded(bodies);
    let context: Vec<u64> = state.context_path().iter().map(|entry| entry.id.0).collect();
    assert_eq!(context, [7, 4, 6, 8]);
}

#[test]
fn a_copy_shares_what_was_said_and_goes_its_own_way() {
    let mut bodies = run();
    bodies.extend(prompt(3, None, "a", true));
    bodies.extend(prompt(4, Some(3), "still typ", false));
    let mut state = folded(bodies);
    let copy = state.clone();
    for (id, entry) in &state.entries {
        assert!(std::sync::Arc::ptr_eq(entry, &copy.entries[id]), "{id} is held twice");
    }
    let delta = MessageEvent::Delta { message: MessageId(4), kind: TextKind::Text, text: "ing".into() };
    state.apply(Millis(0), &Body::Message(delta)).unwrap();
    let text = |state: &State| state.message(MessageId(4)).unwrap().text();
    assert_eq!((text(&state), text(&copy)), ("still typing".to_owned(), "still typ".to_owned()));
    assert!(std::sync::Arc::ptr_eq(&state.entries[&EntryId(3)], &copy.entries[&EntryId(3)]));
}

#[test]
fn a_branch_begins_with_nothing_open_and_nothing_waiting() {
    let mut bodies = run();
    bodies.extend(prompt(3, None, "a", true));
    let (item, kind) = (QueuedId(4), QueueKind::Steer);
    bodies.push(Body::Queue(QueueEvent::Added { item, kind, input: Input::text("later"), by: None }));
    bodies.push(ask(5, None));
    let branch = folded(bodies).branch_at(Some(EntryId(3)));
    assert!(branch.asks.is_empty() && branch.queues.all().next().is_none());
    assert!(branch.open_run().is_none());
    assert_eq!(branch.leaf, Some(EntryId(3)));
}

#[test]
fn a_summary_has_the_last_prompt_that_was_said_to_its_end() {
    let mut bodies = run();
    bodies.extend(prompt(3, None, "\n  first\nmore", true));
    bodies.extend(prompt(4, Some(3), "still typ", false));
    let state = folded(bodies);
    let summary = SessionSummary::of(&SessionId::from_number(1), &state);
    assert_eq!(summary.last_prompt.as_deref(), Some("\n  first\nmore"));
    assert_eq!(summary.title, "first");
    assert_eq!(title_of(" \n\t\n"), UNTITLED);
}

#[test]
fn a_full_board_still_changes_what_stands_on_it() {
    let mut board = Board::default();
    let status =
        |key: usize, text: &str| Signal::Status { key: format!("{key:03}"), text: Some(text.into()) };
    for key in 0..MAX_BOARD_KEYS {
        assert!(board.take(&status(key, "a")));
    }
    assert!(!board.take(&status(MAX_BOARD_KEYS, "a")), "there is no room for one more");
    assert!(board.take(&status(0, "b")));
    assert_eq!(board.status["000"], "b");
}

#[test]
fn a_count_is_good_only_where_the_models_newest_words_stand() {
    let spoken = |id: u64, parent: u64| {
        let message = MessageId(id);
        let parent = Some(EntryId(parent));
        [
            Body::Message(MessageEvent::Started {
                message,
                parent,
                role: Role::Assistant,
                turn: None,
                step: None,
            }),
            Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }),
        ]
    };
    let measured = Body::Context(ContextEvent::Measured { used: 70, window: 100, rough: false });
    let begun = || prompt(1, None, "a", true).into_iter().chain(spoken(2, 1)).chain([measured.clone()]);
    assert_eq!(folded(begun()).counted_tokens(), Some(70));
    assert_eq!(folded(begun().chain(prompt(3, Some(2), "b", true))).counted_tokens(), Some(70));
    let back = Body::Session(SessionEvent::LeafMoved { leaf: Some(EntryId(1)) });
    assert_eq!(
        folded(begun().chain([back])).counted_tokens(),
        None,
        "the words that were counted are not there"
    );
}
