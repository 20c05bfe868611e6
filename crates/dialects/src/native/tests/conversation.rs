//! Handshake, attachment in one line and in many, resuming, the proof that both sides agree, and what happens at the end.

use super::bench::Bench;
use crate::native::{ATTACH_BYTES, MAX_RESYNCS};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, SessionCommand, Target};
use domain::content::{Part, Role, TextKind};
use domain::event::{Body, Cause, Finish, MessageEvent, Outcome, RunEvent, SessionEvent};
use domain::ids::{MessageId, RunId, TurnId};
use domain::port::{News, Ticket};
use domain::state::State;
use expect_test::expect;
use roles::{Answers, LinkEffect, Reason, RuntimeEffect, RuntimeRole, TimerKey, UiEffect, UiRole};

fn opened() -> Body {
    Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None })
}

/// A run whose one message is under way.
fn mid_message(bench: &mut Bench) {
    let (run, turn, message) = (RunId(1), TurnId(2), MessageId(3));
    bench.happen(opened());
    bench.happen(Body::Run(RunEvent::Started { run }));
    bench.happen(Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }));
    bench.happen(Body::Message(MessageEvent::Started {
        message,
        parent: None,
        role: Role::Assistant,
        turn: Some(turn),
        step: None,
    }));
    bench.happen(Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: "Hel".into() }));
}

#[test]
fn a_short_conversation_line_by_line() {
    let mut bench = Bench::new();
    bench.open(None);
    bench.ui(|role, cx, seen| {
        role.command(
            cx,
            seen,
            Ticket(70),
            Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }),
        );
    });
    bench.happen(opened());
    bench.attach();
    let (session, run) = (bench.session.clone(), RunId(1));
    let receipt = Receipt::Started { session, run };
    bench.runtime(|role, cx, view| role.settled(cx, Some(view), Ticket(1), Ok(receipt)));
    bench.happen(Body::Run(RunEvent::Started { run }));
    bench.happen(Body::Run(RunEvent::Ended { run, outcome: Outcome::Done }));
    bench.runtime(|role, cx, view| role.detached(cx, view.session));
    expect![[r#"
        > {"hello":{"protocol":1,"revision":0,"name":"parlor","version":"1.2.3","capabilities":["hash","cursor","answers"]}}
        < {"hello":{"protocol":1,"revision":0,"name":"parlor","version":"1.2.3","capabilities":["hash","cursor"]}}
        > {"command":{"ticket":1,"what":{"new_session":{}}}}
        < {"event":{"session":"sess-000000000007","event":{"seq":1,"at":1,"body":{"session_opened":{"cwd":"/w","project":"/w"}}}}}
    "#]]
    .assert_eq(&first(&bench, 4));
    assert_eq!(bench.mirror.hash(), bench.state.hash());
    assert!(bench.lines.iter().any(|line| line.starts_with("< {\"hash\":")), "{:#?}", bench.lines);
    assert!(
        !bench.at_ui.iter().any(|effect| matches!(effect, UiEffect::Link(LinkEffect::Drift(_)))),
        "{:#?}",
        bench.at_ui
    );
    assert!(bench.ui.abilities().is_some_and(|abilities| abilities.consent));
    assert_eq!(bench.runtime.can_answer(), Answers::ALL);
}

fn first(bench: &Bench, count: usize) -> String {
    bench.lines.iter().take(count).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_late_ui_gets_all_of_it_in_mid_message() {
    let mut bench = Bench::greeted();
    mid_message(&mut bench);
    bench.mirror = State::new();
    bench.attach();
    assert_eq!(bench.mirror, bench.state);
    bench.happen(Body::Message(MessageEvent::Delta {
        message: MessageId(3),
        kind: TextKind::Text,
        text: "lo".into(),
    }));
    bench.happen(Body::Message(MessageEvent::Ended { message: MessageId(3), finish: Finish::Complete }));
    assert_eq!(bench.mirror, bench.state);
}

#[test]
fn a_long_session_comes_in_lines_of_bearable_size() {
    let mut bench = Bench::greeted();
    mid_message(&mut bench);
    for _ in 0..30 {
        let part = Part::Text("x".repeat(ATTACH_BYTES / 10));
        bench.happen(Body::Message(MessageEvent::PartAdded { message: MessageId(3), part }));
    }
    bench.forget();
    bench.mirror = State::new();
    bench.attach();
    assert!(bench.lines.len() > 4, "{}", bench.lines.len());
    assert!(bench.lines.iter().all(|line| line.len() < ATTACH_BYTES + 10_000));
    assert!(bench.lines[0].starts_with("< {\"attached_begin\":"), "{}", &bench.lines[0][..40]);
    assert_eq!(bench.mirror, bench.state);
    assert_eq!(bench.news().count(), 1);
}

#[test]
fn a_returning_ui_that_knows_everything_gets_no_replay() {
    let mut bench = Bench::greeted();
    mid_message(&mut bench);
    bench.attach();
    bench.ui(|role, cx, seen| role.closed(cx, seen));
    bench.forget();
    bench.runtime = super::super::NativeRuntime::new();
    bench.open(None);
    let session = bench.session.clone();
    let asked = &bench.at_runtime[..];
    let [
        RuntimeEffect::Command {
            ticket,
            command: Command::Library(LibraryCommand::Open { session: wanted }),
            ..
        },
    ] = asked
    else {
        panic!("{asked:?}");
    };
    assert_eq!(*wanted, session);
    let ticket = *ticket;
    bench.attach();
    bench.runtime(|role, cx, view| role.settled(cx, Some(view), ticket, Ok(Receipt::Done)));
    let line = bench.lines.last().unwrap();
    assert!(line.contains("\"current\":true") && !line.contains("replay"), "{line}");
    assert_eq!(bench.mirror, bench.state);
    assert!(matches!(bench.news().next(), Some(News::Attached { .. })));
}

#[test]
fn a_returning_ui_that_missed_something_gets_all_of_it() {
    let mut bench = Bench::greeted();
    mid_message(&mut bench);
    bench.attach();
    bench.ui(|role, cx, seen| role.closed(cx, seen));
    let known = bench.mirror.clone();
    bench.happen(Body::Message(MessageEvent::Ended { message: MessageId(3), finish: Finish::Complete }));
    bench.mirror = known;
    bench.runtime = super::super::NativeRuntime::new();
    bench.open(None);
    bench.attach();
    assert_eq!(bench.mirror, bench.state);
}

#[test]
fn sides_that_differ_find_out_and_start_anew_but_not_for_ever() {
    let mut bench = Bench::greeted();
    mid_message(&mut bench);
    bench.attach();
    bench.runtime(|role, cx, view| role.signal(cx, view, &domain::signal::Signal::Working(None)));
    bench.forget();
    for round in 0..MAX_RESYNCS + 2 {
        // Something the UI never heard of, at the same number.
        bench.mirror.settings.title = Some(format!("drifted {round}"));
        let at = super::super::runtime_role::cursor(&bench.session, &bench.state);
        let line = serde_json::to_string(&super::super::wire::FromRuntime::Hash(at)).unwrap();
        bench.ui(|role, cx, seen| role.line(cx, seen, roles::Lane::MAIN, roles::Line::Text(line)));
    }
    let asked = bench.at_runtime.iter().filter(|e| {
        matches!(e, RuntimeEffect::Command { command: Command::Library(LibraryCommand::Open { session }), .. } if *session == bench.session)
    });
    assert_eq!(asked.count(), MAX_RESYNCS as usize);
    let drifts = bench
        .at_ui
        .iter()
        .filter(|e| matches!(e, UiEffect::Link(LinkEffect::Drift(drift)) if drift.place == "hash"));
    assert_eq!(drifts.count(), MAX_RESYNCS as usize + 2);
}

#[test]
fn a_newer_peer_is_met_at_the_lower_protocol_and_an_unknown_capability_does_no_harm() {
    let mut bench = Bench::new();
    bench.raw(text(r#"{"hello":{"protocol":9,"revision":4,"capabilities":["telepathy"],"mood":"good"}}"#));
    assert!(bench.lines[0].starts_with(r#"< {"hello":{"protocol":1,"#), "{:?}", bench.lines);
    assert_eq!(bench.runtime.can_answer(), Answers::NONE);
}

#[test]
fn a_peer_that_is_too_old_is_told_what_to_do() {
    let mut bench = Bench::new();
    bench.raw(text(r#"{"hello":{"protocol":0}}"#));
    assert!(bench.lines[0].contains("update the UI"), "{:?}", bench.lines);
    assert!(matches!(bench.at_runtime[..], [RuntimeEffect::Link(LinkEffect::Close(Reason::Unusable(_)))]));
}

#[test]
fn a_runtime_that_says_nothing_is_given_up() {
    let mut bench = Bench::new();
    bench.ui(|role, cx, seen| role.timer(cx, seen, TimerKey(1)));
    assert!(
        matches!(bench.at_ui[..], [UiEffect::Link(LinkEffect::Close(Reason::Unusable(_)))]),
        "{:?}",
        bench.at_ui
    );
}

#[test]
fn a_session_that_is_not_there_ends_the_attempt_with_words() {
    let mut bench = Bench::new();
    let session = bench.session.clone();
    bench.open(Some(&session));
    let Some(RuntimeEffect::Command { ticket, .. }) = bench.at_runtime.pop() else {
        panic!("{:?}", bench.lines)
    };
    let refusal = Refusal::new(RefusalKind::SessionUnknown, "there is no such session").hint("list them");
    bench.runtime(|role, cx, _| role.settled(cx, None, ticket, Err(refusal)));
    let close =
        UiEffect::Link(LinkEffect::Close(Reason::Unusable("there is no such session: list them".to_owned())));
    assert_eq!(bench.at_ui.last(), Some(&close));
}

#[test]
fn a_lost_link_settles_what_was_under_way() {
    let mut bench = Bench::greeted();
    for ticket in [Ticket(5), Ticket(5), Ticket(6)] {
        bench.ui(|role, cx, seen| role.command(cx, seen, ticket, Command::Session(SessionCommand::Stats)));
    }
    bench.ui(|role, cx, seen| role.closed(cx, seen));
    let lost = bench.at_ui.iter().filter(|effect| {
        matches!(effect, UiEffect::Settle { with: Err(Refusal { kind: RefusalKind::Lost, .. }), .. })
    });
    assert_eq!(lost.count(), 3);
}

#[test]
fn commands_name_the_session_that_is_seen() {
    let mut bench = Bench::greeted();
    bench.happen(opened());
    bench.attach();
    bench.ui(|role, cx, seen| role.command(cx, seen, Ticket(1), Command::Session(SessionCommand::Stats)));
    let Some(RuntimeEffect::Command { target, .. }) = bench.at_runtime.last() else { panic!("no command") };
    assert_eq!(*target, Target::Session(bench.session.clone()));
}

fn text(line: &str) -> roles::Line {
    roles::Line::Text(line.to_owned())
}
