//! What a runtime does not remember is answered from what is kept of it, and of nothing else.

use super::kept::{in_front, kept, notices, origin, past, texts};
use super::*;
use domain::command::ListScope;
use domain::port::Abilities;
use domain::session::Origin;

/// The id of the kept session, and what the runtime calls it.
const KEPT: u64 = 77;
const THEIRS: &str = "session-theirs";

fn kept_id() -> SessionId {
    SessionId::from_number(KEPT)
}

/// A runtime whose abilities are told, and where it stands; `KEPT` is in the store.
fn greeted(abilities: Abilities) -> Bench {
    let (mut bench, _) = in_front();
    bench.step(CoreInput::Abilities(Abilities { name: "far".into(), ..abilities }));
    bench
}

fn listed(id: u64, name: Option<&str>, dialect: &str) -> SessionSummary {
    let of = Origin { dialect: dialect.into(), session: name.map(Into::into), ..origin() };
    SessionSummary {
        origin: Some(Box::new(of)),
        title: "lanterns".to_owned(),
        messages: 3,
        ..SessionSummary::new(SessionId::from_number(id))
    }
}

/// Steps with a store that holds `KEPT` under this name, two sessions beside it, and one of another runtime.
fn step(bench: &mut Bench, name: Option<&str>, input: CoreInput) {
    for out in bench.core.step(Millis(bench.now), input) {
        match out {
            CoreEffect::Again(input) => step(bench, name, *input),
            CoreEffect::Fetch { id, request } => {
                let with = match request {
                    Request::Recall { session, .. } => {
                        let is_it = session == kept_id() || Some(session.as_str()) == name;
                        let opened = is_it.then(|| Box::new((kept_id(), kept(&["one"], name))));
                        Ok(Fetched::Found { kept: opened, free: None })
                    }
                    Request::List { .. } => Ok(Fetched::Listed(vec![
                        listed(KEPT, name, "far"),
                        listed(78, None, "far"),
                        listed(79, Some("other"), "elsewhere"),
                        SessionSummary::new(SessionId::from_number(80)),
                    ])),
                    request => answer(request),
                };
                step(bench, name, CoreInput::Answered { id, with });
            }
            out => bench.outs.push(out),
        }
    }
}

fn command(bench: &mut Bench, name: Option<&str>, target: Target, command: Command) -> Ticket {
    bench.next_ticket += 1;
    let ticket = Ticket(bench.next_ticket);
    step(bench, name, CoreInput::Command { ui: TERMINAL, ticket, target, command });
    ticket
}

fn open() -> Command {
    Command::Library(LibraryCommand::Open { session: kept_id() })
}

fn list() -> Command {
    Command::Library(LibraryCommand::List { scope: ListScope::All, limit: None, search: None })
}

fn settled(bench: &Bench, ticket: Ticket) -> Option<Result<Receipt, Refusal>> {
    bench.outs.iter().find_map(|out| match out {
        CoreEffect::Settle { ticket: of, with, .. } if *of == ticket => Some(with.clone()),
        _ => None,
    })
}

/// What the runtime was asked last.
fn asked(bench: &Bench) -> Option<(Ticket, Command)> {
    bench.outs.iter().rev().find_map(|out| match out {
        CoreEffect::Order(Order::Consult { ticket, command, .. }) => Some((*ticket, command.clone())),
        _ => None,
    })
}

fn answers(bench: &mut Bench, name: Option<&str>, ticket: Ticket, with: Result<Receipt, Refusal>) {
    step(bench, name, CoreInput::Report(Report::Settled { ticket, with }));
}

fn ids(receipt: Option<Result<Receipt, Refusal>>) -> Vec<SessionId> {
    match receipt {
        Some(Ok(Receipt::Sessions(sessions))) => {
            assert!(sessions.iter().all(|session| session.origin.is_none()), "they are this runtime's");
            sessions.into_iter().map(|session| session.id).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_runtime_without_a_list_has_the_one_of_what_is_kept_of_it() {
    let mut bench = greeted(Abilities::default());
    let ticket = command(&mut bench, Some(THEIRS), Target::Current, list());
    assert_eq!(ids(settled(&bench, ticket)), [SessionId::from_number(78), kept_id()]);
    assert!(asked(&bench).is_none(), "it is not asked for what it has not");
    assert!(bench.core.abilities().sessions && bench.core.abilities().open_session, "and UIs are told so");
}

#[test]
fn what_was_just_said_is_listed_before_it_is_written() {
    let mut bench = greeted(Abilities::default());
    let here = bench.session();
    let ticket = command(&mut bench, Some(THEIRS), Target::Current, list());
    assert!(!ids(settled(&bench, ticket)).contains(&here), "nothing was said in it");
    bench.step(CoreInput::Told { session: here.clone(), facts: past(&["lanterns"]) });
    let ticket = command(&mut bench, Some(THEIRS), Target::Current, list());
    assert_eq!(ids(settled(&bench, ticket)), [here.clone(), SessionId::from_number(78), kept_id()]);
    let (scope, search) = (ListScope::All, Some("owls".to_owned()));
    let search = Command::Library(LibraryCommand::List { scope, limit: None, search });
    let ticket = command(&mut bench, Some(THEIRS), Target::Current, search);
    assert!(!ids(settled(&bench, ticket)).contains(&here), "the store alone knows what was found");
}

#[test]
fn what_a_runtime_lists_is_called_as_it_is_kept() {
    let mut bench = greeted(Abilities { sessions: true, ..Abilities::default() });
    let ticket = command(&mut bench, Some(THEIRS), Target::Current, list());
    let (asked, _) = asked(&bench).expect("it has a list");
    // One that shares our store lists what is kept of it, too.
    let theirs = [SessionId::of_peer(THEIRS), SessionId::of_peer("unknown"), kept_id()];
    let theirs = theirs.map(SessionSummary::new).to_vec();
    answers(&mut bench, Some(THEIRS), asked, Ok(Receipt::Sessions(theirs)));
    let mut ids = ids(settled(&bench, ticket));
    ids.sort();
    let unknown = SessionId::of_peer("unknown");
    let to_be = origin().named(unknown.as_str()).kept_as().expect("it has a name");
    let mut expected = [kept_id(), to_be];
    expected.sort();
    assert_eq!(ids, expected, "also what is not kept yet");
}

#[test]
fn what_a_runtime_leaves_out_of_its_list_is_told_as_it_is_kept() {
    let mut bench = greeted(Abilities { sessions: true, ..Abilities::default() });
    let ticket = command(&mut bench, Some(THEIRS), Target::Current, list());
    let (asked, _) = asked(&bench).expect("it has a list");
    let theirs =
        SessionSummary { title: THEIRS.to_owned(), ..SessionSummary::new(SessionId::of_peer(THEIRS)) };
    answers(&mut bench, Some(THEIRS), asked, Ok(Receipt::Sessions(vec![theirs])));
    let Some(Ok(Receipt::Sessions(told))) = settled(&bench, ticket) else { panic!("no list") };
    assert_eq!((told[0].title.as_str(), told[0].messages), ("lanterns", 3), "{told:?}");
}

#[test]
fn a_kept_session_is_opened_by_the_runtimes_name_for_it() {
    let theirs = SessionId::of_peer(THEIRS);
    // Some wires tell another id with the answer than the name that they know it by, and some runtimes give it another name.
    for (by, told_as, named) in [
        (kept_id(), THEIRS, THEIRS),
        (theirs.clone(), THEIRS, THEIRS),
        (kept_id(), "sess-session-theirs", THEIRS),
        (kept_id(), "another-name", "another-name"),
    ] {
        let mut bench = greeted(Abilities { open_session: true, ..Abilities::default() });
        let open = Command::Library(LibraryCommand::Open { session: by });
        let ticket = command(&mut bench, Some(THEIRS), Target::Current, open);
        let (told, command) = asked(&bench).expect("it is told to go there");
        assert_eq!(command, Command::Library(LibraryCommand::Open { session: theirs.clone() }));
        let told_as = SessionId::of_peer(told_as);
        let receipt = Receipt::Session { session: SessionSummary::new(told_as.clone()), parent: None };
        answers(&mut bench, Some(THEIRS), told, Ok(receipt));
        step(&mut bench, Some(THEIRS), CoreInput::Named { session: told_as, name: named.into() });
        let entered = settled(&bench, ticket);
        assert!(matches!(&entered, Some(Ok(Receipt::Session { session, .. })) if session.id == kept_id()));
        assert_eq!(bench.session(), kept_id());
        assert_eq!(texts(bench.state()), ["one", "well"]);
        assert_eq!(notices(bench.state()), Vec::<String>::new());
        let name = bench.state().settings.origin.as_ref().and_then(|of| of.session.as_deref());
        assert_eq!(name, Some(named));
    }
}

#[test]
fn a_runtime_that_has_forgotten_a_session_begins_anew_in_it() {
    let forgotten = Refusal::new(RefusalKind::SessionUnknown, "there is none");
    for (name, opens) in [(Some(THEIRS), true), (Some(THEIRS), false), (None, true)] {
        let mut bench = greeted(Abilities { open_session: opens, ..Abilities::default() });
        let ticket = command(&mut bench, name, Target::Current, open());
        if let Some((told, _)) = asked(&bench) {
            answers(&mut bench, name, told, Err(forgotten.clone()));
        }
        assert!(matches!(settled(&bench, ticket), Some(Ok(Receipt::Session { .. }))), "{name:?} {opens}");
        assert_eq!(bench.session(), kept_id());
        assert_eq!(notices(bench.state()), ["not_resumed"], "{name:?} {opens}");
        // Named only now, it is not told twice.
        step(&mut bench, name, CoreInput::Named { session: kept_id(), name: "new".into() });
        assert_eq!(notices(bench.state()), ["not_resumed"], "{name:?} {opens}");
        let named = bench.state().settings.origin.as_ref().and_then(|of| of.session.clone());
        assert_eq!(named.as_deref(), Some("new"));
        let prompt = RunCommand::Prompt { input: Input::text("two"), options: PromptOptions::default() };
        command(&mut bench, name, Target::Session(kept_id()), Command::Run(prompt));
        assert!(matches!(asked(&bench), Some((_, Command::Run(_)))), "what is said next goes to it");
    }
}

#[test]
fn what_is_kept_never_ends_up_in_another_conversation() {
    for makes in [false, true] {
        let mut bench = greeted(Abilities { new_session: makes, ..Abilities::default() });
        let here = bench.session();
        bench.step(CoreInput::Told { session: here.clone(), facts: past(&["hi"]) });
        let ticket = command(&mut bench, Some(THEIRS), Target::Current, open());
        let Some((told, new)) = asked(&bench) else {
            assert!(!makes && matches!(settled(&bench, ticket), Some(Err(_))));
            assert_eq!(bench.session(), here);
            continue;
        };
        assert!(matches!(new, Command::Library(LibraryCommand::New { .. })), "{new:?}");
        let begun = SessionSummary::new(SessionId::of_peer("begun"));
        answers(&mut bench, Some(THEIRS), told, Ok(Receipt::Session { session: begun, parent: None }));
        assert_eq!((bench.session(), texts(bench.state())), (kept_id(), vec!["one".into(), "well".into()]));
        assert_eq!(bench.core.state(&here).map(texts), Some(vec!["hi".into(), "well".into()]));
    }
}

#[test]
fn what_a_session_held_is_read_where_the_runtime_cannot_go_back() {
    let mut bench = greeted(Abilities::default());
    let here = bench.session();
    bench.step(CoreInput::Told { session: here.clone(), facts: past(&["hi"]) });
    let history = LibraryCommand::History { session: kept_id(), max_runs: 10, max_events: 100 };
    let ticket = command(&mut bench, None, Target::Current, Command::Library(history));
    assert!(matches!(settled(&bench, ticket), Some(Ok(Receipt::History(history))) if history.runs == 1));
    assert_eq!(bench.session(), here, "and nobody goes there");
}

#[test]
fn nobody_is_greeted_before_it_is_known_where_the_runtime_is() {
    let (mut bench, session) = in_front();
    let outs = bench.core.step(Millis(1_000), CoreInput::Named { session, name: THEIRS.into() });
    let sought = outs.iter().find_map(|out| match out {
        CoreEffect::Fetch { id, .. } => Some(*id),
        _ => None,
    });
    bench.step(CoreInput::Abilities(Abilities { name: "far".into(), ..Abilities::default() }));
    assert!(!bench.core.knows_runtime());
    let found = Some(Box::new((kept_id(), kept(&["one"], Some(THEIRS)))));
    let with = Ok(Fetched::Found { kept: found, free: None });
    bench.step(CoreInput::Answered { id: sought.expect("it is looked for"), with });
    assert!(bench.core.knows_runtime());
    assert_eq!(bench.session(), kept_id());
}

/// A UI begins a session under a name of its own.
fn new(named: &SessionId) -> Command {
    let id = Some(named.clone());
    Command::Library(LibraryCommand::New { cwd: None, title: None, id })
}

#[test]
fn what_a_ui_names_is_kept_by_that_name_whether_the_runtime_makes_sessions_or_has_one() {
    let named = SessionId::of_peer("conversation-one");
    for makes in [true, false] {
        let mut bench = greeted(Abilities { new_session: makes, ..Abilities::default() });
        let ticket = command(&mut bench, None, Target::Current, new(&named));
        let (told, _) = asked(&bench).expect("the runtime is asked to");
        let with = match makes {
            true => Ok(Receipt::Session {
                session: SessionSummary::new(SessionId::of_peer("begun")),
                parent: None,
            }),
            false => Err(Refusal::new(RefusalKind::Unsupported, "this runtime cannot do that")),
        };
        answers(&mut bench, None, told, with);
        assert!(matches!(settled(&bench, ticket), Some(Ok(Receipt::Session { .. }))), "{makes}");
        let here = bench.session();
        assert_eq!(Some(&here), origin().named(named.as_str()).kept_as().as_ref(), "{makes}");
        // What the runtime calls it is found out later, and changes nothing.
        step(&mut bench, None, CoreInput::Named { session: here.clone(), name: "begun".into() });
        assert_eq!(bench.session(), here, "{makes}");
        let theirs = bench.state().settings.origin.as_ref().and_then(|of| of.session.clone());
        assert_eq!(theirs.as_deref(), Some("begun"), "{makes}");
        let prompt = RunCommand::Prompt { input: Input::text("hi"), options: PromptOptions::default() };
        let target = Target::Session(named.clone());
        command(&mut bench, None, target, Command::Run(prompt));
        assert!(matches!(asked(&bench), Some((_, Command::Run(_)))), "{makes}: it goes by that name");
    }
}

#[test]
fn a_name_that_is_kept_is_not_begun_again() {
    let mut bench = greeted(Abilities { new_session: true, ..Abilities::default() });
    let named = SessionId::of_peer("conversation-one");
    let ticket = command(&mut bench, Some(named.as_str()), Target::Current, new(&named));
    let refused = settled(&bench, ticket);
    assert!(matches!(&refused, Some(Err(refusal)) if refusal.kind == RefusalKind::Invalid), "{refused:?}");
    assert!(asked(&bench).is_none(), "the runtime hears nothing of it");
}
