//! Sessions of a foreign runtime that are kept: one conversation is one session, and its past is in it once.

use super::*;
use domain::fact::{Fact, Said};
use domain::session::{Origin, RuntimePlace};
use domain::state::EntryKind;

pub(super) fn origin() -> Origin {
    let place = RuntimePlace::Socket { path: "/run/far".into() };
    Origin { dialect: "far".into(), place, session: None }
}

/// A core in front of a foreign runtime whose sessions are kept, and where it stands.
pub(super) fn in_front() -> (Bench, SessionId) {
    let mut bench = Bench::with(Engine::Followed, None);
    bench.core.keep(origin());
    let (session, outs) = bench.core.runtime_session(Millis(bench.now));
    bench.outs.extend(outs);
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    (bench, session.expect("a session"))
}

fn message(role: Role, text: &str) -> Vec<Said> {
    let text = text.to_owned();
    vec![
        Said::MessageStarted { message: None, role },
        Said::Text { message: None, kind: domain::content::TextKind::Text, text },
        Said::MessageEnded { message: None, finish: Finish::Complete },
    ]
}

/// A run as a runtime tells it.
fn run(name: &str, prompt: &str, answer: &str) -> Vec<Fact> {
    let said = [
        vec![Said::RunStarted],
        message(Role::User, prompt),
        message(Role::Assistant, answer),
        vec![Said::RunEnded(Outcome::Done)],
    ];
    said.concat().into_iter().map(|said| Fact::of(name, said)).collect()
}

pub(super) fn past(prompts: &[&str]) -> Vec<Fact> {
    prompts.iter().enumerate().flat_map(|(at, prompt)| run(&format!("r{at}"), prompt, "well")).collect()
}

pub(super) fn texts(state: &State) -> Vec<String> {
    let said = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) => Some(message.text()),
        EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    });
    said.collect()
}

pub(super) fn notices(state: &State) -> Vec<String> {
    let said = state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Notice { code, .. } => Some(code.clone()),
        EntryKind::Message(_) | EntryKind::Compaction(_) => None,
    });
    said.collect()
}

/// The past as it is kept, up to where its program died.
pub(super) fn kept(prompts: &[&str], name: Option<&str>) -> Opened {
    let (mut bench, session) = in_front();
    bench.step(CoreInput::Told { session, facts: past(prompts) });
    if let Some(name) = name {
        let session = bench.session();
        bench.step(CoreInput::Named { session, name: name.into() });
    }
    Opened { state: bench.state().clone(), damage: None }
}

fn gone_on(prompts: &[&str]) -> (Bench, SessionId) {
    let mut bench = Bench::with(Engine::Followed, None);
    bench.core.keep(origin());
    let session = SessionId::from_number(5);
    let outs = bench.core.runtime_session_in(Millis(2_000), session.clone(), kept(prompts, Some("theirs")));
    bench.outs.extend(outs);
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    (bench, session)
}

#[test]
fn a_named_session_stands_under_the_one_id_of_its_name_and_its_uis_go_along() {
    let (mut bench, before) = in_front();
    assert_eq!(bench.session(), before);
    bench.step(CoreInput::Named { session: before.clone(), name: "theirs".into() });
    let named = origin().named("theirs");
    assert_eq!(Some(bench.session()), named.kept_as());
    assert_eq!(bench.state().settings.origin, Some(named));
    assert!(bench.core.state(&before).is_none());
    let let_go = |out: &CoreEffect| matches!(out, CoreEffect::Unwritten { session } if *session == before);
    assert!(bench.outs.iter().any(let_go), "nothing of the first id is written");
    // What is still said of it by its old id is said there.
    bench.step(CoreInput::Told { session: before, facts: past(&["hi"]) });
    assert_eq!(texts(bench.state()), ["hi", "well"]);
}

#[test]
fn what_is_kept_of_a_name_is_gone_on_with() {
    let (mut bench, session) = in_front();
    let outs = bench
        .core
        .step(Millis(bench.now), CoreInput::Named { session: session.clone(), name: "theirs".into() });
    let fetch = outs.iter().find_map(|out| match out {
        CoreEffect::Fetch { id, request: Request::Find { origin } } => Some((*id, origin.session.clone())),
        _ => None,
    });
    let (id, asked) = fetch.expect("it is looked for");
    assert_eq!(asked.as_deref(), Some("theirs"));
    assert!(bench.core.is_finding() && bench.core.is_away(&session), "everything about it waits");
    let found = SessionId::from_number(77);
    let kept = Some(Box::new((found.clone(), kept(&["one", "two"], Some("theirs")))));
    bench.step(CoreInput::Answered { id, with: Ok(Fetched::Found { kept, free: None }) });
    assert_eq!(bench.session(), found);
    bench.step(CoreInput::Told { session, facts: past(&["one", "two", "three"]) });
    assert_eq!(texts(bench.state()), ["one", "well", "two", "well", "three", "well"]);
    assert!(!bench.core.is_finding());
}

#[test]
fn the_past_that_is_told_again_is_not_there_twice() {
    for (known, told, news) in [
        (&["a", "b"][..], &["a", "b"][..], &[][..]),
        (&["a", "b"], &["a", "b", "c"], &["c"]),
        (&["a", "b", "c"], &["b", "c", "d", "e"], &["d", "e"]),
        (&["a", "b", "c"], &["a", "b"], &[]),
        (&["a", "b", "c"], &["c"], &[]),
        (&["hi", "hi"], &["hi", "hi", "hi"], &["hi"]),
        (&["a"], &[], &[]),
    ] {
        let (mut bench, session) = gone_on(known);
        let before = texts(bench.state());
        bench.step(CoreInput::Told { session, facts: past(told) });
        let expected: Vec<&str> = news.iter().flat_map(|prompt| [*prompt, "well"]).collect();
        assert_eq!(texts(bench.state())[before.len()..], expected, "{known:?} {told:?}");
        assert_eq!(notices(bench.state()), Vec::<String>::new(), "{known:?} {told:?}");
    }
}

#[test]
fn another_past_than_the_kept_one_is_told_and_not_mixed_in() {
    let (mut bench, session) = gone_on(&["a", "b"]);
    bench.step(CoreInput::Told { session, facts: past(&["x", "y"]) });
    assert_eq!(texts(bench.state()), ["a", "well", "b", "well"]);
    assert_eq!(notices(bench.state()), ["other_past"]);
}

#[test]
fn what_a_run_said_when_nobody_followed_it_any_more_is_taken() {
    let (mut bench, session) = in_front();
    let cut: Vec<Fact> = run("r0", "long work", "well").into_iter().take(6).collect();
    bench.step(CoreInput::Told { session, facts: cut });
    assert!(bench.state().open_run().is_some());
    let died = Opened { state: bench.state().clone(), damage: None };
    let (mut bench, session) = gone_on(&[]);
    let outs = bench.core.runtime_session_in(Millis(3_000), session.clone(), died);
    bench.outs.extend(outs);
    assert!(bench.state().open_run().is_none(), "the run is closed when the session is taken in");
    assert_eq!(bench.state().runs[0].ended.as_ref().map(|(_, how)| how), Some(&Outcome::Interrupted));
    bench.step(CoreInput::Told { session, facts: run("r0", "long work", "well, here it is") });
    assert_eq!(texts(bench.state()), ["long work", "well", "well, here it is"]);
}

#[test]
fn a_runtime_that_begins_anew_is_told_and_the_session_goes_on_under_its_new_name() {
    let (mut bench, session) = gone_on(&["a"]);
    bench.step(CoreInput::Named { session: session.clone(), name: "theirs".into() });
    assert_eq!(notices(bench.state()), Vec::<String>::new(), "it is back where it was");
    bench.step(CoreInput::Named { session: session.clone(), name: "new one".into() });
    assert_eq!(notices(bench.state()), ["not_resumed"]);
    let name = bench.state().settings.origin.as_ref().and_then(|origin| origin.session.clone());
    assert_eq!((bench.session(), name.as_deref()), (session, Some("new one")));
}

#[test]
fn a_session_that_was_never_named_says_that_its_runtime_begins_anew() {
    let mut bench = Bench::with(Engine::Followed, None);
    bench.core.keep(origin());
    let outs = bench.core.runtime_session_in(Millis(2_000), SessionId::from_number(5), kept(&["a"], None));
    bench.outs.extend(outs);
    let state = bench.core.state(&SessionId::from_number(5)).expect("it is there");
    assert_eq!(notices(state), ["not_resumed"]);
    assert_eq!(texts(state), ["a", "well"]);
}

#[test]
fn a_session_that_somebody_else_writes_goes_on_and_is_left_out() {
    let (mut bench, session) = in_front();
    let outs = bench
        .core
        .step(Millis(bench.now), CoreInput::Named { session: session.clone(), name: "theirs".into() });
    let id = outs.iter().find_map(|out| match out {
        CoreEffect::Fetch { id, .. } => Some(*id),
        _ => None,
    });
    let busy = Err(Refusal::new(RefusalKind::Busy, "it is open in another program"));
    bench.step(CoreInput::Answered { id: id.expect("asked"), with: busy });
    let left_out =
        |out: &CoreEffect| matches!(out, CoreEffect::LeaveOut { session: left, .. } if *left == session);
    assert!(bench.outs.iter().any(left_out));
    bench.step(CoreInput::Told { session, facts: past(&["hi"]) });
    assert_eq!(texts(bench.state()), ["hi", "well"]);
}

#[test]
fn a_session_that_the_runtime_goes_to_gets_an_id_of_ours() {
    let (mut bench, runtime_session) = in_front();
    bench.step(CoreInput::Abilities(domain::port::Abilities {
        name: "far".into(),
        open_session: true,
        ..Default::default()
    }));
    // The name of a session of ours: the store may hold one of that id.
    let theirs = SessionId::from_number(0xabc);
    bench.next_ticket += 1;
    let (ticket, target) = (Ticket(bench.next_ticket), Target::Current);
    let command = Command::Library(LibraryCommand::Open { session: theirs.clone() });
    bench.step(CoreInput::Command { ui: TERMINAL, ticket, target, command });
    let consult = bench.outs.iter().rev().find_map(|out| match out {
        CoreEffect::Order(Order::Consult { ticket, .. }) => Some(*ticket),
        _ => None,
    });
    let with = Ok(Receipt::Session { session: SessionSummary::new(theirs.clone()), parent: None });
    bench.step(CoreInput::Report(Report::Settled { ticket: consult.expect("asked"), with }));
    bench.step(CoreInput::Named { session: theirs.clone(), name: theirs.as_str().into() });
    bench.step(CoreInput::Told { session: theirs.clone(), facts: past(&["there"]) });
    let here = bench.session();
    assert!(here != theirs && here != runtime_session, "{here}");
    assert_eq!(Some(here), origin().named(theirs.as_str()).kept_as());
    assert_eq!(texts(bench.state()), ["there", "well"]);
}

#[test]
fn our_own_agent_does_not_go_on_with_a_conversation_of_another_program() {
    let mut bench = Bench::new();
    let foreign = SessionId::from_number(9);
    bench.next_ticket += 1;
    let (ticket, target) = (Ticket(bench.next_ticket), Target::Current);
    let command = Command::Library(LibraryCommand::Open { session: foreign.clone() });
    let outs = bench.core.step(Millis(1_000), CoreInput::Command { ui: TERMINAL, ticket, target, command });
    let id = outs.iter().find_map(|out| match out {
        CoreEffect::Fetch { id, .. } => Some(*id),
        _ => None,
    });
    let opened = Fetched::Opened(Some(Box::new(kept(&["a"], Some("theirs")))));
    bench.step(CoreInput::Answered { id: id.expect("asked"), with: Ok(opened) });
    let refused = bench.outs.iter().find_map(|out| match out {
        CoreEffect::Settle { with: Err(refusal), .. } => Some(refusal.to_string()),
        _ => None,
    });
    let refused = refused.expect("refused");
    assert!(refused.contains(&format!("parlor --resume {foreign}")), "{refused}");
    assert!(
        bench.outs.iter().any(|out| matches!(out, CoreEffect::Release { session } if *session == foreign))
    );
}

#[test]
fn a_kept_session_is_held_to_what_the_person_set_for_it() {
    use super::rules::{says, wants};
    let mut opened = kept(&["one"], Some("theirs"));
    let chosen = Body::Session(SessionEvent::PolicyChosen { policy: Policy::ReadOnly });
    opened.state.apply(Millis(1_900), &chosen).expect("lawful");
    let mut bench = Bench::with(Engine::Followed, None);
    bench.core.keep(origin());
    let session = SessionId::from_number(5);
    let outs = bench.core.runtime_session_in(Millis(2_000), session.clone(), opened);
    bench.outs.extend(outs);
    bench.step(CoreInput::Left { ui: TERMINAL });
    bench.arrive(TERMINAL, Answers::ALL, Standing::Controller);
    says(&mut bench, &session, wants("t"));
    let denied = |closing: &Closing| matches!(closing, Closing::Answered { answer: Answer::Deny { .. }, .. });
    assert!(bench.closings().iter().any(denied), "{:?}", bench.closings());
    assert_eq!(bench.state().settings.policy, Policy::ReadOnly, "and that is what is shown");
}

#[test]
fn a_kept_session_shows_what_it_is_held_to_now() {
    let mut bench = Bench::with(Engine::Followed, None);
    bench.core.setup.policy = Policy::ReadOnly;
    bench.core.keep(origin());
    bench.core.runtime_session_in(Millis(2_000), SessionId::from_number(5), kept(&["one"], Some("theirs")));
    let state = bench.core.state(&SessionId::from_number(5)).expect("a session");
    assert_eq!(state.settings.policy, Policy::ReadOnly);
}

#[test]
fn what_is_loaded_from_a_file_keeps_its_id_where_that_is_free() {
    let mut bench = Bench::new();
    let mut load = |path: &str| {
        let loaded = bench.command(TERMINAL, Command::Library(LibraryCommand::Load { path: path.into() }));
        let Ok(Receipt::Session { session, .. }) = loaded else { panic!("{loaded:?}") };
        session.id.to_string()
    };
    assert_eq!(load("sess-0123"), "sess-0123");
    assert_ne!(load("sess-0123"), "sess-0123", "it is open");
    assert_ne!(load(SANDBOXED), SANDBOXED, "something is kept under it");
    assert!(load("no id").starts_with("sess-"));
}
