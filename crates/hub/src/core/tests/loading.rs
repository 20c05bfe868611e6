//! A file leads back to the session that it was saved from.

use super::kept::texts;
use super::*;

/// A session with these prompts and their answers.
fn conversation(prompts: &[&str]) -> (Bench, SessionId) {
    let mut bench = Bench::new();
    for prompt in prompts {
        let brief = bench.prompt(prompt);
        bench.turn_done(&brief, TurnEnd::Done);
    }
    let session = bench.session();
    (bench, session)
}

/// Loads a file of a session as it was; where it is not open, this is kept under its id. Gives where the UI is then.
fn load(bench: &mut Bench, file: (&SessionId, &State), kept: Option<State>) -> SessionId {
    bench.next_ticket += 1;
    let (ticket, target) = (Ticket(bench.next_ticket), Target::Current);
    let command = Command::Library(LibraryCommand::Load { path: "a.json".into() });
    let mut inputs = vec![CoreInput::Command { ui: TERMINAL, ticket, target, command }];
    let mut kept = Some(kept.map(|state| Box::new(Opened { state, damage: None })));
    while let Some(input) = inputs.pop() {
        for out in bench.core.step(Millis(bench.now), input) {
            match out {
                CoreEffect::Fetch { id, request: Request::Load { now, .. } } => {
                    let import = imported(file.1, now).with_id(Some(file.0.clone()));
                    inputs.push(CoreInput::Answered { id, with: Ok(Fetched::Loaded(Box::new(import))) });
                }
                CoreEffect::Fetch { id, .. } => {
                    let opened = kept.take().expect("looked for once");
                    inputs.push(CoreInput::Answered { id, with: Ok(Fetched::Opened(opened)) });
                }
                out => bench.outs.push(out),
            }
        }
    }
    bench.session()
}

#[test]
fn a_file_of_a_session_that_is_open_leads_back_to_it_and_to_where_it_stood() {
    let (mut bench, session) = conversation(&["one"]);
    let saved = bench.state().clone();
    assert_eq!(load(&mut bench, (&session, &saved), None), session);
    let brief = bench.prompt("two");
    bench.turn_done(&brief, TurnEnd::Done);
    assert_eq!(load(&mut bench, (&session, &saved), None), session);
    assert_eq!(bench.state().leaf, saved.leaf, "where it was saved");
    assert_eq!(texts(bench.state()), ["one", "two"], "what was said since is in its tree");
}

#[test]
fn a_file_of_a_session_that_is_kept_leads_back_to_it() {
    let (bench, session) = conversation(&["one"]);
    let saved = bench.state().clone();
    let mut later = Bench::new();
    assert_eq!(load(&mut later, (&session, &saved), Some(saved.clone())), session);
    assert_eq!(texts(later.state()), ["one"]);
    let mut other = Bench::new();
    assert_eq!(load(&mut other, (&session, &saved), None), session, "nothing is kept under it");
}

#[test]
fn a_file_that_says_something_else_than_the_session_of_its_id_is_a_session_of_its_own() {
    let (file, session) = conversation(&["one"]);
    let (kept, _) = conversation(&["another"]);
    let mut bench = Bench::new();
    // Ids of ours are made of the time.
    bench.now += 1_000;
    let loaded = load(&mut bench, (&session, file.state()), Some(kept.state().clone()));
    assert_ne!(loaded, session);
    assert_eq!(texts(bench.state()), ["one"]);
    assert!(
        bench.outs.iter().any(|out| matches!(out, CoreEffect::Release { session: left } if *left == session))
    );
}

#[test]
fn a_file_does_not_move_a_session_in_the_middle_of_a_run() {
    let (mut bench, session) = conversation(&["one"]);
    let saved = bench.state().clone();
    bench.prompt("two");
    let leaf = bench.state().leaf;
    assert_eq!(load(&mut bench, (&session, &saved), None), session);
    let refused = |out: &CoreEffect| matches!(out, CoreEffect::Settle { with: Err(refusal), .. } if refusal.kind == RefusalKind::Busy);
    assert!(bench.outs.iter().any(refused), "{:?}", bench.outs);
    assert_eq!(bench.state().leaf, leaf);
}
