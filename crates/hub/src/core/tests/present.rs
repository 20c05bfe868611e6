//! Who is here, and what those see who only watch.

use super::*;
use domain::fleet::Doing;

#[test]
fn a_question_is_told_with_the_time_at_which_it_was_asked() {
    let mut bench = Bench::new();
    let brief = bench.prompt("hello");
    let member = |bench: &Bench| bench.core.members().remove(0);
    assert_eq!((member(&bench).doing, member(&bench).since), (Doing::Running, Millis(1_000)));
    let (_, tool) = bench.propose(&brief);
    bench.now = 2_000;
    bench.ask(&brief, tool);
    bench.now = 3_000;
    let kind = AskKind::Confirm { message: "sure?".to_owned(), yes: None, no: None, danger: false };
    let second = AskId::mint(&brief.ids);
    let ask = Ask { id: second, run: Some(brief.run), title: "sure?".to_owned(), kind, deadline: None };
    bench.happened(&brief, Body::Ask(AskEvent::Opened(ask)));
    let waiting = |asks, question: &str| Doing::Waiting { asks, question: question.to_owned() };
    assert_eq!((member(&bench).doing, member(&bench).since), (waiting(2, "run it?"), Millis(2_000)));
    // The first is answered: the other one waits since it was asked.
    let first = bench.state().asks[0].id;
    assert_ne!(first, second);
    bench.command(TERMINAL, Command::Answer { ask: first, answer: allow() }).expect("taken");
    assert_eq!((member(&bench).doing, member(&bench).since), (waiting(1, "sure?"), Millis(3_000)));
    bench.now = 4_000;
    bench.command(TERMINAL, Command::Run(RunCommand::Cancel { run: None, reason: None })).expect("stopping");
    bench.turn_done(&brief, TurnEnd::Cancelled);
    assert_eq!(
        (member(&bench).doing, member(&bench).since),
        (Doing::Ended(Outcome::Cancelled), Millis(4_000))
    );
}

#[test]
fn who_only_watches_is_shown_nothing_counts_for_nobody_and_commands_nothing() {
    let mut bench = Bench::with(Engine::Followed, None);
    bench.core.ground(Millis(1_000));
    bench.arrive(OTHER, Answers::ALL, Standing::Controller);
    assert!(bench.core.current(OTHER).is_some(), "in front of another program everybody sees its session");
    bench.step(In::Apart { ui: OTHER });
    assert_eq!(bench.core.current(OTHER), None);
    let seen = bench.core.present();
    assert!(seen.iter().all(|session| session.uis.iter().all(|ui| ui.name != "ui2")), "{seen:?}");
    let refusal = bench.command(OTHER, Command::Session(SessionCommand::Stats)).expect_err("refused");
    assert_eq!(refusal.kind, RefusalKind::NotAllowed);
}
