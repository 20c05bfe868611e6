//! What every store does. It runs over the places of the crate that includes it: memory and SQLite here, PostgreSQL in `team`.

use crate::places::{each, each_shared};
use crate::script::{fold, following, numbered, opened, said, script, session};
use domain::content::{Role, Usage};
use domain::event::{Body, Compaction, ContextEvent, Event, NoteEvent, RunEvent, SessionEvent, Trigger};
use domain::ids::{EntryId, Millis, Seq, SessionId};
use domain::session::SessionSummary;
use domain::signal::Level;
use domain::state::State;
use store::{Batch, Durability, Listing, Store, StoreError};

fn keep(store: &mut dyn Store, number: u64, bodies: Vec<Body>) -> SessionId {
    let id = SessionId::from_number(number);
    store.create(&id).unwrap();
    let mut events = numbered(bodies);
    for event in &mut events {
        event.at.0 += number * 1_000;
    }
    store.append(&id, &events, Durability::Now).unwrap();
    store.close(&id).unwrap();
    id
}

#[test]
fn what_was_appended_comes_back_in_any_mix_of_durabilities() {
    each(|store| {
        let (id, events) = (session(), script());
        store.create(&id).unwrap();
        for (at, event) in events.iter().enumerate() {
            let durability = if event.body.is_durable() { Durability::Now } else { Durability::Soon };
            store.append(&id, std::slice::from_ref(event), durability).unwrap();
            assert_eq!(store.load(&id).unwrap().state, fold(&events[..=at]));
            assert_eq!(store.events(&id, Seq(0), 1_000).unwrap(), events[..=at]);
        }
        assert_eq!(store.events(&id, Seq(5), 3).unwrap(), events[5..8]);
        assert_eq!(store.events(&id, Seq(5), 0).unwrap(), Vec::new());
        store.close(&id).unwrap();
        let opened = store.open(&id).unwrap();
        assert_eq!((opened.state, opened.damage), (fold(&events), None));
    });
}

#[test]
fn numbers_must_follow_and_nothing_is_half_appended() {
    each(|store| {
        let (id, events) = (session(), script());
        assert!(matches!(store.append(&id, &events, Durability::Now), Err(StoreError::NotOpen(_))));
        assert!(matches!(store.open(&id), Err(StoreError::Unknown(_))));
        store.create(&id).unwrap();
        store.append(&id, &events[..3], Durability::Soon).unwrap();
        let gap = [events[3].clone(), events[5].clone()];
        let refused = store.append(&id, &gap, Durability::Now);
        assert!(matches!(refused, Err(StoreError::OutOfOrder { expected: Seq(5), got: Seq(6), .. })));
        store.append(&id, &events[3..], Durability::Now).unwrap();
        assert_eq!(store.load(&id).unwrap().state, fold(&events));
        assert!(matches!(store.create(&id), Err(StoreError::Exists(_))));
    });
}

#[test]
fn a_summary_says_what_the_state_says() {
    each(|store| {
        let (id, mut events) = (session(), script());
        let seq = events.last().map_or(Seq(1), |last| last.seq.next());
        let compaction = Compaction {
            summary: "so far".to_owned(),
            first_kept: None,
            tokens_before: 10,
            trigger: Trigger::Manual,
            unexplained: false,
            usage: Usage { input: 7, output: 5, ..Usage::default() },
        };
        let body = Body::Context(ContextEvent::Compacted { entry: EntryId(9_999), parent: None, compaction });
        events.push(Event { seq, at: Millis(seq.0 * 10), body });
        store.create(&id).unwrap();
        for number in 1..=events.len() {
            store.append(&id, &events[number - 1..number], Durability::Now).unwrap();
            let state = fold(&events[..number]);
            assert_eq!(store.summary(&id).unwrap(), SessionSummary::of(&id, &state), "{number}");
        }
    });
}

#[test]
fn lists_are_newest_first_by_project_with_a_limit() {
    each(|store| {
        for number in 1..=5 {
            let project = if number % 2 == 0 { "/even" } else { "/odd" };
            let open = Body::Session(SessionEvent::Opened {
                cwd: "/".into(),
                project: project.into(),
                parent: None,
            });
            let mut bodies = vec![open];
            bodies.extend(said(1, Role::User, "hello"));
            keep(store, number, bodies);
        }
        // One in which nothing was said is there for who knows its id, and in no list.
        keep(store, 6, vec![opened()]);
        // One that holds only what a command of the person's own printed, or what was lost, is listed.
        let notice = NoteEvent::Noticed {
            entry: EntryId(1),
            parent: None,
            run: None,
            level: Level::Info,
            code: "shell".into(),
            text: "$ ls".into(),
        };
        keep(store, 7, vec![opened(), Body::Note(notice)]);
        let empty = SessionId::from_number(77);
        store.create(&empty).unwrap();
        let names = |listing: &Listing| -> Vec<String> {
            store.list(listing).unwrap().iter().map(|s| s.id.as_str()[14..].to_owned()).collect()
        };
        assert_eq!(names(&Listing::default()), ["007", "005", "004", "003", "002", "001"]);
        assert_eq!(names(&Listing { limit: Some(2), ..Listing::default() }), ["007", "005"]);
        let even = Listing { project: Some("/even".into()), ..Listing::default() };
        assert_eq!(names(&even), ["004", "002"]);
    });
}

#[test]
fn words_are_found_in_entries_and_titles() {
    each(|store| {
        let mut first = vec![opened()];
        first.extend(said(1, Role::User, "where is the moon landing page?"));
        first.extend(said(2, Role::Assistant, "It is in src/landing.rs; the Moon is far."));
        keep(store, 1, first);
        keep(
            store,
            2,
            vec![opened(), Body::Session(SessionEvent::Renamed { title: "Lunar Gateway".into() })],
        );

        let found = store.search("moon land", 10).unwrap();
        let entries: Vec<EntryId> = found.iter().map(|hit| hit.entry).collect();
        assert_eq!(entries, [EntryId(2), EntryId(1)]);
        assert!(found[1].snippet.contains("moon landing"), "{found:?}");
        assert_eq!(found[0].title, "where is the moon landing page?");
        assert_eq!(store.search("moon land", 1).unwrap().len(), 1);
        for nothing in ["", "\"*", "moonshine", "oon"] {
            assert_eq!(store.search(nothing, 10).unwrap(), Vec::new(), "{nothing}");
        }
        let listed = |words: &str| {
            let listing = Listing { search: Some(words.into()), ..Listing::default() };
            store.list(&listing).unwrap().len()
        };
        assert_eq!((listed("far moon"), listed("gate"), listed("moon gate"), listed("")), (1, 1, 0, 0));
        // With a limit each tells where: the newest entry, or nothing where only its title fits.
        let first = |words: &str, project: Option<&str>| {
            let project = project.map(str::to_owned);
            let listing = Listing { search: Some(words.into()), limit: Some(5), project };
            store.list(&listing).unwrap()
        };
        let moon = first("moon", None);
        let told = moon[0].found.as_deref().map(|found| (found.entry, found.text.clone()));
        assert_eq!(
            told,
            Some((EntryId(2), "It is in src/landing.rs; the Moon is far.".to_owned())),
            "{moon:?}"
        );
        assert!(matches!(&first("gate", None)[..], [one] if one.found.is_none()));
        assert_eq!(
            (moon.len(), first("moon", Some("/elsewhere")).len(), first("oon", None).len()),
            (1, 0, 0)
        );
    });
}

#[test]
fn history_keeps_the_newest_and_says_what_it_left_out() {
    each(|store| {
        let mut bodies = vec![opened()];
        for run in 1..=4 {
            let run = domain::ids::RunId(run);
            bodies.push(Body::Run(RunEvent::Started { run }));
            bodies.push(Body::Run(RunEvent::Ended { run, outcome: domain::event::Outcome::Done }));
        }
        let id = keep(store, 1, bodies);
        for (max_runs, max_events, runs, first, truncated) in [
            (10, 100, 4, Some(2), false),
            (2, 100, 2, Some(6), true),
            (2, 3, 2, Some(7), true),
            (4, 8, 4, Some(2), false),
            (4, 7, 4, Some(3), true),
            (0, 100, 0, None, true),
            (2, 0, 2, None, true),
        ] {
            let history = store.history(&id, max_runs, max_events).unwrap();
            let from = history.events.first().map(|event| event.seq.0);
            let expected = (runs, first, truncated);
            assert_eq!((history.runs, from, history.truncated), expected, "{max_runs} {max_events}");
        }
    });
}

#[test]
fn deleting_takes_everything_away() {
    each(|store| {
        let mut bodies = vec![opened()];
        bodies.extend(said(1, Role::User, "a secret plan"));
        let id = keep(store, 1, bodies);
        store.delete(&id).unwrap();
        assert!(matches!(store.load(&id), Err(StoreError::Unknown(_))));
        assert!(matches!(store.delete(&id), Err(StoreError::Unknown(_))));
        assert_eq!(store.search("secret", 10).unwrap(), Vec::new());
        assert_eq!(store.list(&Listing::default()).unwrap(), Vec::new());
        store.create(&id).unwrap();
    });
}

#[test]
fn a_snapshot_changes_nothing_that_is_seen() {
    each(|store| {
        let (id, events) = (session(), script());
        store.create(&id).unwrap();
        store.append(&id, &events[..20], Durability::Soon).unwrap();
        let early = store.snapshot(&id, &State::new());
        assert!(matches!(early, Err(StoreError::OutOfOrder { .. })), "{early:?}");
        store.snapshot(&id, &fold(&events[..20])).unwrap();
        store.append(&id, &events[20..], Durability::Now).unwrap();
        store.close(&id).unwrap();
        assert_eq!(store.open(&id).unwrap().state, fold(&events));
        assert_eq!(store.events(&id, Seq(0), 1_000).unwrap(), events);
        let more = following(&fold(&events), [Body::Session(SessionEvent::Renamed { title: "done".into() })]);
        store.append(&id, &more, Durability::Now).unwrap();
        assert_eq!(store.summary(&id).unwrap().title, "done");
    });
}

#[test]
fn a_summary_entry_survives_and_an_emptied_conversation_keeps_its_past() {
    each(|store| {
        let mut bodies = vec![opened()];
        bodies.extend(said(1, Role::User, "a long way"));
        let compaction = Compaction {
            summary: "we walked to the harbour".into(),
            first_kept: None,
            tokens_before: 9_000,
            trigger: Trigger::Manual,
            unexplained: false,
            usage: Usage::default(),
        };
        bodies.push(Body::Context(ContextEvent::Compacted {
            entry: EntryId(2),
            parent: Some(EntryId(1)),
            compaction,
        }));
        bodies.push(Body::Session(SessionEvent::LeafMoved { leaf: None }));
        let id = keep(store, 1, bodies.clone());
        let opened = store.open(&id).unwrap().state;
        store.snapshot(&id, &opened).unwrap();
        store.close(&id).unwrap();
        let state = store.open(&id).unwrap().state;
        assert_eq!(state, opened);
        assert!(state.path().is_empty() && state.entries.len() == 2);
        let found = store.search("harbour", 10).unwrap();
        assert_eq!(found.iter().map(|hit| hit.entry).collect::<Vec<_>>(), [EntryId(2)]);
        assert_eq!(state.path_to(Some(EntryId(2))).len(), 2, "the branch is still there");
    });
}

#[test]
fn one_program_has_the_lease_and_each_taking_of_it_raises_the_fence() {
    each_shared(|place| {
        let (mut one, mut other) = ((place.open)(), (place.open)());
        let (id, events) = (session(), script());
        one.create(&id).unwrap();
        one.append(&id, &events[..3], Durability::Now).unwrap();
        let first = one.fence(&id).unwrap();
        assert!(other.fence(&id).is_none());
        for refused in [other.open(&id).err(), other.delete(&id).err()] {
            match refused {
                Some(StoreError::Busy { pid, .. }) => assert_eq!(pid, std::process::id()),
                Some(StoreError::Elsewhere { holder, .. }) => {
                    assert!(holder.ends_with(&format!("process {}", std::process::id())), "{holder}");
                }
                other => panic!("{other:?}"),
            }
        }
        one.tend().unwrap();
        assert_eq!(one.fence(&id), Some(first), "to renew it is not to take it");
        one.close(&id).unwrap();
        assert!(one.fence(&id).is_none());
        other.open(&id).unwrap();
        let second = other.fence(&id).unwrap();
        assert!(second > first, "{first:?} {second:?}");
        other.close(&id).unwrap();
        one.open(&id).unwrap();
        assert!(one.fence(&id).unwrap() > second);
    });
}

#[test]
fn whoever_slept_through_the_end_of_its_lease_writes_nothing_more() {
    each_shared(|place| {
        let (mut sleeper, mut other) = ((place.open)(), (place.open)());
        let (id, events) = (session(), script());
        sleeper.create(&id).unwrap();
        sleeper.append(&id, &events[..3], Durability::Now).unwrap();
        let old = sleeper.fence(&id).unwrap();
        (place.lapse)();
        other.open(&id).unwrap();
        assert!(other.fence(&id).unwrap() > old);
        let late = sleeper.append(&id, &events[3..4], Durability::Now);
        assert!(matches!(late, Err(StoreError::NotOpen(_) | StoreError::LeaseLost { .. })), "{late:?}");
        assert!(sleeper.fence(&id).is_none());
        assert_eq!(other.events(&id, Seq(0), 1_000).unwrap(), events[..3]);
        other.append(&id, &events[3..], Durability::Now).unwrap();
    });
}

#[test]
fn many_sessions_are_appended_in_one_call_and_none_pays_for_another() {
    each(|store| {
        let ids: Vec<SessionId> = (1..=5).map(SessionId::from_number).collect();
        let (events, gap) = (script(), [script()[0].clone(), script()[2].clone()]);
        ids[..4].iter().for_each(|id| store.create(id).unwrap());
        let now = Durability::Now;
        let batches: Vec<Batch<'_>> = ids
            .iter()
            .enumerate()
            .map(|(at, session)| match at {
                1 => Batch { session, events: &gap, durability: now },
                2 => Batch { session, events: &events[..7], durability: Durability::Soon },
                _ => Batch { session, events: &events, durability: now },
            })
            .collect();
        let answers = store.append_many(&batches);
        assert_eq!(answers.len(), 5);
        assert!(
            matches!(answers[1], Err(StoreError::OutOfOrder { expected: Seq(2), got: Seq(3), .. })),
            "{answers:?}"
        );
        assert!(matches!(answers[4], Err(StoreError::NotOpen(_))), "it was never made: {answers:?}");
        assert!(answers[0].is_ok() && answers[2].is_ok() && answers[3].is_ok(), "{answers:?}");
        for (id, kept) in
            [(&ids[0], &events[..]), (&ids[1], &[]), (&ids[2], &events[..7]), (&ids[3], &events[..])]
        {
            assert_eq!(store.events(id, Seq(0), 1_000).unwrap(), kept);
        }
        // What was refused may come again as it should have been.
        store.append(&ids[1], &events, now).unwrap();
        assert_eq!(store.load(&ids[1]).unwrap().state, fold(&events));
    });
}

#[test]
fn the_same_log_has_the_same_digest_in_every_store() {
    each(|store| {
        let (id, events) = (session(), script());
        store.create(&id).unwrap();
        store.append(&id, &events[..5], Durability::Now).unwrap();
        store.append(&id, &events[5..], Durability::Now).unwrap();
        let whole = store::parts::Chain::default().then(&events);
        assert_eq!(store.chain(&id).unwrap(), (events.last().unwrap().seq, whole));
        store.close(&id).unwrap();
        store.open(&id).unwrap();
        assert_eq!(store.chain(&id).unwrap().1, whole, "and after it was opened again");
    });
}

#[test]
fn a_letter_that_some_databases_cannot_hold_is_kept() {
    each(|store| {
        let (id, text) = (session(), "nul \0 and \u{10ffff} and 'quotes' \\ %s $1");
        let open = SessionEvent::Opened { cwd: "/a\0b".into(), project: "/a\0b".into(), parent: None };
        let mut bodies =
            vec![Body::Session(open), Body::Session(SessionEvent::Renamed { title: text.into() })];
        bodies.extend(said(1, Role::User, text));
        let events = numbered(bodies);
        store.create(&id).unwrap();
        store.append(&id, &events, Durability::Now).unwrap();
        assert_eq!(store.events(&id, Seq(0), 100).unwrap(), events);
        assert_eq!(store.summary(&id).unwrap().title, text);
        assert_eq!(store.search("quotes", 5).unwrap().len(), 1);
        let listing = Listing { project: Some("/a\0b".into()), ..Listing::default() };
        assert_eq!(store.list(&listing).unwrap().len(), 1);
    });
}
