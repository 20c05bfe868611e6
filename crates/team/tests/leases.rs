//! Who may write: epochs in the database, and an owner that stops by itself.

use crate::places::{address, lapse, store};
use crate::script::{ASK, BASH, fold, following, script, session};
use domain::event::{AskEvent, Body, ToolEvent};
use domain::ids::{Seq, SessionId};
use domain::tool::ToolOutcome;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use store::{Durability, Store as _, StoreError, recover};
use team::{Clock, PostgresStore, RENEW_AFTER, STOP_AFTER};
use testkit::postgres::Database;

/// A clock that stands still until it is told otherwise.
fn told() -> (Clock, Arc<AtomicU64>) {
    let seconds = Arc::new(AtomicU64::new(1_000));
    let by = seconds.clone();
    (Clock::told(move || Duration::from_secs(by.load(Ordering::Relaxed))), seconds)
}

fn until(database: &Database) -> String {
    database.sql("SELECT until FROM parlor.lease")
}

#[test]
fn a_lease_is_renewed_at_three_seconds_and_not_before() {
    let database = Database::new();
    let (clock, seconds) = told();
    let mut owner = PostgresStore::with_clock(address(&database), clock).unwrap();
    owner.create(&session()).unwrap();
    let taken = until(&database);
    seconds.fetch_add(RENEW_AFTER.as_secs() - 1, Ordering::Relaxed);
    owner.tend().unwrap();
    assert_eq!(until(&database), taken);
    seconds.fetch_add(1, Ordering::Relaxed);
    owner.tend().unwrap();
    assert!(until(&database) > taken);
}

#[test]
fn an_owner_that_slept_stops_by_its_own_clock_before_it_asks_anybody() {
    let database = Database::new();
    let (clock, seconds) = told();
    let mut owner = PostgresStore::with_clock(address(&database), clock).unwrap();
    let (id, events) = (session(), script());
    owner.create(&id).unwrap();
    owner.append(&id, &events[..3], Durability::Now).unwrap();
    seconds.fetch_add(STOP_AFTER.as_secs(), Ordering::Relaxed);
    // The database would still let it: nobody else has come.
    let late = owner.append(&id, &events[3..4], Durability::Now);
    assert!(
        matches!(&late, Err(StoreError::LeaseLost { sessions, why }) if sessions[..] == [id.clone()] && why.contains("7 s")),
        "{late:?}"
    );
    assert!(owner.fence(&id).is_none());
    assert_eq!(owner.events(&id, Seq(0), 100).unwrap(), events[..3]);
    // Opened again it goes on.
    assert_eq!(owner.open(&id).unwrap().state, fold(&events[..3]));
    owner.append(&id, &events[3..], Durability::Now).unwrap();
}

#[test]
fn everything_that_was_lost_is_told_at_once_with_who_has_it() {
    let database = Database::new();
    let (clock, seconds) = told();
    let mut owner = PostgresStore::with_clock(address(&database), clock).unwrap();
    let ids: Vec<SessionId> = (1..=3).map(SessionId::from_number).collect();
    for id in &ids {
        owner.create(id).unwrap();
        owner.append(id, &script()[..1], Durability::Now).unwrap();
    }
    lapse(&database);
    let mut other = store(&database);
    ids[..2].iter().for_each(|id| drop(other.open(id).unwrap()));
    seconds.fetch_add(RENEW_AFTER.as_secs(), Ordering::Relaxed);
    match owner.tend() {
        Err(StoreError::LeaseLost { sessions, why }) => {
            assert_eq!(sessions, ids[..2]);
            assert!(why.contains("taken over by") && why.contains("process"), "{why}");
        }
        other => panic!("{other:?}"),
    }
    owner.tend().unwrap();
    owner.append(&ids[2], &script()[1..], Durability::Now).unwrap();
}

#[test]
fn two_that_reach_for_an_ended_lease_at_once_do_not_both_get_it() {
    let database = Database::new();
    let mut gone = store(&database);
    let (id, events) = (session(), script());
    gone.create(&id).unwrap();
    gone.append(&id, &events[..3], Durability::Now).unwrap();
    for round in 0..5 {
        lapse(&database);
        let mut stores: Vec<PostgresStore> = (0..4).map(|_| store(&database)).collect();
        let got: Vec<_> = std::thread::scope(|scope| {
            let opening: Vec<_> =
                stores.iter_mut().map(|store| scope.spawn(|| store.open(&id).map(drop))).collect();
            opening.into_iter().map(|opened| opened.join().unwrap()).collect()
        });
        assert_eq!(got.iter().filter(|got| got.is_ok()).count(), 1, "round {round}: {got:?}");
        assert!(
            got.iter()
                .flat_map(|got| got.as_ref().err())
                .all(|why| matches!(why, StoreError::Elsewhere { .. })),
            "{got:?}"
        );
    }
    let late = gone.append(&id, &events[3..4], Durability::Now);
    assert!(matches!(late, Err(StoreError::LeaseLost { .. })), "{late:?}");
}

/// At whatever event an owner dies: the next one has the same log, closes the run as it must be, asks what was open again, and never runs
/// a tool that had begun.
#[test]
fn whatever_was_under_way_the_next_owner_makes_it_whole() {
    let database = Database::new();
    let events = script();
    let mut asked_again = 0;
    for cut in 1..=events.len() {
        let id = SessionId::from_number(cut as u64);
        let mut owner = store(&database);
        owner.create(&id).unwrap();
        owner.append(&id, &events[..cut], Durability::Now).unwrap();
        if cut % 3 == 0 {
            owner.snapshot(&id, &fold(&events[..cut])).unwrap();
        }
        let epoch = owner.fence(&id).unwrap();
        // It is gone without a word: no lease is given back.
        std::mem::forget(owner);
        lapse(&database);
        let mut next = store(&database);
        let state = next.open(&id).unwrap().state;
        assert_eq!(next.fence(&id).unwrap().0, epoch.0 + 1);
        assert_eq!(state.hash(), fold(&events[..cut]).hash());
        let recovery = recover(&state);
        let whole = following(&state, recovery.bodies.clone());
        next.append(&id, &whole, Durability::Now).unwrap();
        if let Some(open) = recovery.resumable {
            asked_again += 1;
            assert_eq!((open.consents[0].ask, open.consents[0].tool), (ASK, BASH));
        }
        let started = |event: &domain::event::Event| matches!(event.body, Body::Tool(ToolEvent::Started { tool }) if tool == BASH);
        let ended = |event: &domain::event::Event| matches!(event.body, Body::Tool(ToolEvent::Ended { tool, .. }) if tool == BASH);
        if events[..cut].iter().any(started) && !events[..cut].iter().any(ended) {
            let told = whole.iter().find(|event| ended(event)).map(|event| event.body.clone());
            assert!(
                matches!(told, Some(Body::Tool(ToolEvent::Ended { outcome: ToolOutcome::Unknown, .. }))),
                "cut at {cut}: {told:?}"
            );
        }
        let log = next.events(&id, Seq(0), 1_000).unwrap();
        domain::grammar::check_all(&log).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
        let asked = log.iter().filter(|event| matches!(&event.body, Body::Ask(AskEvent::Opened(_)))).count();
        assert!(asked <= 1);
    }
    assert_eq!(asked_again, 1, "the consent is open after exactly one event");
}

#[test]
fn a_lease_that_was_given_back_is_free_at_once() {
    let database = Database::new();
    let (id, events) = (session(), script());
    let mut one = store(&database);
    one.create(&id).unwrap();
    one.append(&id, &events, Durability::Now).unwrap();
    assert_eq!(one.holders().unwrap().len(), 1);
    drop(one);
    let mut other = store(&database);
    assert!(other.holders().unwrap().is_empty());
    other.open(&id).unwrap();
    // One in which nothing happened leaves nothing behind.
    let empty = SessionId::from_number(7);
    other.create(&empty).unwrap();
    drop(other);
    assert_eq!(database.sql("SELECT count(*) FROM parlor.sessions"), "1");
}
