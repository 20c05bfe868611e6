//! Handshake, attachment in one line and in many, resuming, the proof that both sides agree, and what happens at the end.

use super::super::runtime_role::cursor;
use super::super::wire::FromRuntime;
use super::{greeted, greeting, hello, opened, runtime};
use crate::{ATTACH_BYTES, MAX_RESYNCS, NativeRuntime, NativeUi, REVISION};
use domain::command::{Command, LibraryCommand, Receipt, Refusal, RefusalKind, SessionCommand, Target};
use domain::content::Part;
use domain::event::{Body, Outcome, RunEvent, SessionEvent};
use domain::ids::{MessageId, SessionId};
use domain::port::{News, Ticket};
use domain::signal::Signal;
use expect_test::expect;
use roles::{Answers, Greeting, Hello, Reason, TimerKey};
use testkit::bench::{Pair, RuntimeBench, UiBench, prompt};

fn session_opened() -> Body {
    Body::Session(SessionEvent::Opened { cwd: "/w".into(), project: "/w".into(), parent: None })
}

/// A run whose one message of the model is under way; the UI has not heard of it.
fn mid_message() -> (Pair, MessageId) {
    let mut pair = greeted();
    pair.runtime.happen(session_opened());
    pair.runtime.begin("hello");
    let (_, message) = pair.runtime.step();
    pair.runtime.delta(message, "Hel");
    pair.runtime.forget();
    (pair, message)
}

fn attach(pair: &mut Pair) {
    pair.runtime.attach();
    pair.exchange();
}

/// The link is gone; a UI that remembers greets a runtime that does not.
fn come_again(pair: &mut Pair) {
    pair.ui.gone();
    pair.runtime.restart(NativeRuntime::new(), &greeting());
    pair.ui.call(|role, cx, _| role.open(cx, &hello(None)));
    pair.ui.news.clear();
    pair.lines.clear();
    pair.exchange();
}

fn agree(pair: &mut Pair) {
    pair.exchange();
    assert_eq!(pair.ui.state, *pair.runtime.state());
}

#[test]
fn a_short_conversation_line_by_line() {
    let mut pair = opened(None);
    pair.ui.command(Command::Library(LibraryCommand::New { cwd: None, title: None, id: None }));
    pair.exchange();
    pair.runtime.happen(session_opened());
    attach(&mut pair);
    let (ticket, ..) = pair.runtime.command();
    let (session, run) = (pair.runtime.session.clone(), pair.runtime.mint_run());
    pair.runtime.settle(ticket, Ok(Receipt::Started { session: session.clone(), run }));
    pair.runtime.happen(Body::Run(RunEvent::Started { run }));
    pair.runtime.end(Outcome::Done);
    pair.runtime.detach(&session);
    pair.exchange();
    expect![[r#"
        > {"hello":{"protocol":1,"revision":2,"name":"parlor","version":"1.2.3","capabilities":["hash","cursor","answers","shown"]}}
        < {"hello":{"protocol":1,"revision":2,"name":"parlor","version":"1.2.3","capabilities":["hash","cursor","fleet","begins"]}}
        > {"command":{"ticket":1,"what":{"new_session":{}}}}
        < {"event":{"session":"sess-000000000007","event":{"seq":1,"at":1,"body":{"session_opened":{"cwd":"/w","project":"/w"}}}}}
    "#]]
    .assert_eq(&pair.lines.iter().take(4).map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!(pair.ui.state.hash(), pair.runtime.state().hash());
    assert!(pair.lines.iter().any(|line| line.starts_with("< {\"hash\":")), "{:#?}", pair.lines);
    assert_eq!(pair.ui.link.drifts, []);
    assert!(pair.ui.role.abilities().is_some_and(|abilities| abilities.consent));
    assert_eq!(pair.runtime.role.can_answer(), Answers::ON_SCREEN);
}

#[test]
fn a_person_who_names_no_session_has_one_at_once_where_none_is_shown() {
    let begun = |greeting: Greeting, hello: Hello| {
        let runtime = RuntimeBench::open(NativeRuntime::new(), SessionId::from_number(7), &greeting);
        let mut pair = Pair::new(runtime, UiBench::open(NativeUi::new(), &hello));
        pair.exchange();
        pair.lines.iter().filter(|line| line.contains("new_session")).count()
    };
    let person = || Hello { begins: true, ..hello(None) };
    assert_eq!(begun(greeting(), person()), 1);
    assert_eq!(begun(greeting(), hello(None)), 0);
    assert_eq!(begun(greeting(), Hello { begins: true, ..hello(Some(&SessionId::from_number(7))) }), 0);
    assert_eq!(begun(Greeting { follows: true, ..greeting() }, person()), 0, "it has a session of its own");
    assert_eq!(begun(Greeting { shows_session: true, ..greeting() }, person()), 0);
}

#[test]
fn the_model_of_a_session_that_chose_none_is_told() {
    let model = ("some".to_owned(), "m-1".to_owned());
    let greeting = Greeting { model: Some(model), ..greeting() };
    let runtime = RuntimeBench::open(NativeRuntime::new(), SessionId::from_number(7), &greeting);
    let mut pair = Pair::new(runtime, UiBench::open(NativeUi::new(), &hello(None)));
    pair.exchange();
    pair.runtime.happen(session_opened());
    pair.runtime.attach();
    pair.exchange();
    let told = pair.ui.role.abilities().and_then(|abilities| abilities.model);
    assert_eq!(told.map(|model| model.to_string()), Some("some/m-1".to_owned()));
}

#[test]
fn a_late_ui_gets_all_of_it_in_mid_message() {
    let (mut pair, message) = mid_message();
    pair.runtime.attach();
    agree(&mut pair);
    pair.runtime.delta(message, "lo");
    pair.runtime.end_message(message);
    agree(&mut pair);
}

#[test]
fn a_long_session_comes_in_lines_of_bearable_size() {
    let (mut pair, message) = mid_message();
    for _ in 0..30 {
        pair.runtime.part(message, Part::Text("x".repeat(ATTACH_BYTES / 10)));
    }
    pair.forget();
    pair.runtime.attach();
    agree(&mut pair);
    assert!(pair.lines.len() > 4, "{}", pair.lines.len());
    assert!(pair.lines.iter().all(|line| line.len() < ATTACH_BYTES + 10_000));
    assert!(pair.lines[0].starts_with("< {\"attached_begin\":"), "{}", &pair.lines[0][..40]);
    assert_eq!(pair.ui.news.len(), 1);
}

#[test]
fn a_returning_ui_that_knows_everything_gets_no_replay() {
    let (mut pair, _) = mid_message();
    attach(&mut pair);
    come_again(&mut pair);
    let (ticket, _, command) = pair.runtime.command();
    let session = pair.runtime.session.clone();
    assert_eq!(command, Command::Library(LibraryCommand::Open { session }));
    attach(&mut pair);
    pair.runtime.settle(ticket, Ok(Receipt::Done));
    agree(&mut pair);
    let line = pair.lines.last().unwrap();
    assert!(line.contains("\"current\":true") && !line.contains("replay"), "{line}");
    assert!(matches!(pair.ui.news[..], [News::Attached { .. }]));
}

#[test]
fn a_returning_ui_that_missed_something_gets_all_of_it() {
    let (mut pair, message) = mid_message();
    attach(&mut pair);
    pair.runtime.end_message(message);
    come_again(&mut pair);
    assert_ne!(pair.ui.state, *pair.runtime.state());
    pair.runtime.attach();
    agree(&mut pair);
}

#[test]
fn sides_that_differ_find_out_and_start_anew_but_not_for_ever() {
    let (mut pair, _) = mid_message();
    attach(&mut pair);
    pair.runtime.signal(&Signal::Working(None));
    pair.exchange();
    pair.forget();
    for round in 0..MAX_RESYNCS + 2 {
        // Something the UI never heard of, at the same number.
        pair.ui.state.settings.title = Some(format!("drifted {round}"));
        let session = pair.runtime.session.clone();
        let at = cursor(REVISION, &session, pair.runtime.state());
        pair.ui.hear(&serde_json::to_string(&FromRuntime::Hash(at)).unwrap());
        pair.exchange();
    }
    let session = pair.runtime.session.clone();
    let again = Command::Library(LibraryCommand::Open { session });
    let asked = pair.runtime.commands().into_iter().filter(|(_, _, command)| *command == again).count();
    assert_eq!(asked, MAX_RESYNCS as usize);
    let drifts = pair.ui.link.drifts.iter().filter(|drift| drift.place == "hash").count();
    assert_eq!(drifts, MAX_RESYNCS as usize + 2);
}

#[test]
fn a_newer_peer_is_met_at_the_lower_protocol_and_an_unknown_capability_does_no_harm() {
    let mut bench = runtime();
    bench.say(r#"{"hello":{"protocol":9,"revision":4,"capabilities":["telepathy"],"mood":"good"}}"#);
    assert!(bench.lines()[0].starts_with(r#"{"hello":{"protocol":1,"#));
    assert_eq!(bench.role.can_answer(), Answers::NONE);
}

#[test]
fn a_peer_that_is_too_old_is_told_what_to_do() {
    let mut bench = runtime();
    bench.say(r#"{"hello":{"protocol":0}}"#);
    assert!(bench.lines()[0].contains("update the UI"));
    assert!(matches!(bench.link.closed, Some(Reason::Unusable(_))));
}

#[test]
fn a_runtime_that_says_nothing_is_given_up() {
    let mut bench = UiBench::open(NativeUi::new(), &hello(None));
    bench.fire(TimerKey(1));
    assert!(matches!(bench.link.closed, Some(Reason::Unusable(_))));
}

#[test]
fn a_session_that_is_not_there_ends_the_attempt_with_words() {
    let session = runtime().session;
    let mut pair = opened(Some(&session));
    let (ticket, ..) = pair.runtime.command();
    let refusal = Refusal::new(RefusalKind::SessionUnknown, "there is no such session").hint("list them");
    pair.runtime.settle(ticket, Err(refusal));
    pair.exchange();
    let why = "there is no such session: list them".to_owned();
    assert_eq!(pair.ui.link.closed, Some(Reason::Unusable(why)));
}

#[test]
fn a_lost_link_settles_what_was_under_way() {
    let mut pair = greeted();
    for _ in 0..3 {
        pair.ui.command(Command::Session(SessionCommand::Stats));
    }
    pair.ui.gone();
    for _ in 0..3 {
        assert_eq!(pair.ui.refused(), RefusalKind::Lost);
    }
}

#[test]
fn commands_name_the_session_that_is_seen() {
    let mut pair = greeted();
    pair.runtime.happen(session_opened());
    attach(&mut pair);
    pair.ui.command(Command::Session(SessionCommand::Stats));
    pair.exchange();
    let (_, target, _) = pair.runtime.command();
    assert_eq!(target, Target::Session(pair.runtime.session.clone()));
}

/// The commands that came to the runtime, with where they are meant.
fn came(pair: &mut Pair) -> Vec<(Target, Command)> {
    pair.exchange();
    pair.runtime.commands().into_iter().map(|(_, target, command)| (target, command)).collect()
}

#[test]
fn what_is_said_before_the_session_is_shown_waits_for_it_and_is_said_there() {
    let session = SessionId::from_number(7);
    for named in [None, Some(&session)] {
        let hello = Hello { begins: named.is_none(), ..hello(named) };
        let mut pair = Pair::new(runtime(), UiBench::open(NativeUi::new(), &hello));
        pair.ui.command_as(Ticket(1), prompt("early"));
        pair.ui.command_as(Ticket(2), prompt("and this"));
        let first = came(&mut pair);
        assert!(matches!(first.as_slice(), [(Target::Current, Command::Library(_))]), "{first:?}");
        pair.runtime.attach();
        let there = Target::Session(session.clone());
        assert_eq!(came(&mut pair), [(there.clone(), prompt("early")), (there.clone(), prompt("and this"))]);
        pair.ui.command_as(Ticket(3), prompt("later"));
        assert_eq!(came(&mut pair), [(there, prompt("later"))]);
    }
}

#[test]
fn what_waits_for_a_session_that_is_never_shown_comes_back() {
    let hello = Hello { begins: true, ..hello(None) };
    let mut pair = Pair::new(runtime(), UiBench::open(NativeUi::new(), &hello));
    pair.ui.command_as(Ticket(1), prompt("early"));
    pair.exchange();
    let (new, ..) = pair.runtime.command();
    pair.runtime.settle(new, Err(Refusal::new(RefusalKind::Internal, "no room")));
    pair.exchange();
    assert!(
        matches!(pair.ui.settled.as_slice(), [(Ticket(1), Err(refusal))] if refusal.message == "no room")
    );
}
