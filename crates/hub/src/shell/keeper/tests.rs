//! What waits for the store, in order and within bounds; and what is told when it does not take it.

use super::*;
use domain::ids::Millis;

fn keeper() -> Keeper {
    Keeper::new(Keeping::First, None, Arc::new(|_| {}))
}

fn say(keeper: &mut Keeper, session: u64, seq: u64, bytes: usize) {
    let body = Body::Session(SessionEvent::Renamed { title: "x".repeat(bytes) });
    let event = Event { seq: Seq(seq), at: Millis(seq), body };
    keeper.add(SessionId::from_number(session), Arc::new(event));
}

#[tokio::test(start_paused = true)]
async fn so_many_bytes_wait_for_the_store_and_then_everybody_waits() {
    let mut keeper = keeper();
    let other = SessionId::from_number(99);
    for session in 1..=6 {
        say(&mut keeper, session, 1, 10 * 1024 * 1024);
        assert_eq!(keeper.asks().len(), 1);
    }
    assert!(!keeper.is_busy_with(&other) && keeper.is_busy_with(&SessionId::from_number(1)));
    say(&mut keeper, 7, 1, 10 * 1024 * 1024);
    keeper.asks();
    assert!(keeper.is_busy_with(&other), "{} bytes wait", keeper.bytes);
    let first = SessionId::from_number(1);
    let batch = keeper.take(&first).unwrap();
    assert!(keeper.is_busy_with(&other), "what the store is writing takes room as well");
    keeper.appended(&first, batch, Ok(Appended::default()));
    assert!(!keeper.is_busy_with(&other));
    say(&mut keeper, 1, 2, 10 * 1024 * 1024);
    keeper.asks();
    assert!(keeper.is_busy_with(&other));
    tokio::time::advance(WRITE_PATIENCE).await;
    keeper.give_up(Instant::now());
    assert!(!keeper.is_busy_with(&other), "nobody waits for a store that does not answer");
}

#[test]
fn a_batch_that_fails_comes_back_before_what_came_meanwhile() {
    let mut keeper = keeper();
    let session = SessionId::from_number(1);
    say(&mut keeper, 1, 1, 1);
    let batch = keeper.take(&session).unwrap();
    say(&mut keeper, 1, 2, 1);
    assert!(keeper.take(&session).is_none(), "one batch of a session at a time");
    keeper.appended(&session, batch, Err(StoreError::NotOpen(session.clone())));
    assert!(!keeper.is_settled(&session), "the second was not tried yet");
    let seqs: Vec<u64> = keeper.take(&session).unwrap().events.iter().map(|event| event.seq.0).collect();
    assert_eq!(seqs, [1, 2]);
}

fn told(keeper: &mut Keeper) -> Vec<String> {
    keeper.troubles().into_iter().map(|trouble| trouble.what.said().1).collect()
}

fn works(keeper: &mut Keeper, session: &SessionId) -> Vec<u64> {
    let batch = keeper.take(session).unwrap();
    let seqs = batch.events.iter().map(|event| event.seq.0).collect();
    keeper.appended(session, batch, Ok(Appended::default()));
    seqs
}

fn fails(keeper: &mut Keeper, session: &SessionId) {
    let batch = keeper.take(session).unwrap();
    keeper.appended(session, batch, Err(StoreError::NotOpen(session.clone())));
}

#[test]
fn what_was_let_go_is_told_and_never_told_to_be_saved() {
    let (mut keeper, session) = (keeper(), SessionId::from_number(1));
    say(&mut keeper, 1, 1, 1);
    fails(&mut keeper, &session);
    assert!(told(&mut keeper)[0].contains("will be written when that works again"));
    let most = MAX_UNSAVED as u64;
    for seq in 2..=most {
        say(&mut keeper, 1, seq, 1);
    }
    // What the store has in its hands waits as well.
    let lent = keeper.take(&session).unwrap();
    say(&mut keeper, 1, most + 1, 1);
    say(&mut keeper, 1, most + 2, 1);
    let lost = told(&mut keeper);
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(lost[0].contains(&format!("from event {} on", most + 1)) && lost[0].contains("Export it"));
    keeper.appended(&session, lent, Err(StoreError::NotOpen(session.clone())));
    // The store works again: what waited is written, up to the gap, and nobody is told that all is.
    assert_eq!(works(&mut keeper, &session), (1..=most).collect::<Vec<_>>());
    say(&mut keeper, 1, most + 3, 1);
    keeper.flush();
    assert!(keeper.take(&session).is_none(), "nothing is written behind a gap");
    keeper.tended(Ok(()));
    assert_eq!(told(&mut keeper), [""; 0]);
    assert!(keeper.trouble(&session).unwrap().contains(&format!("event {} on", most + 1)));
    assert!(!keeper.is_kept(&session) && keeper.is_settled(&session));
    keeper.tended(Err(StoreError::NotOpen(session.clone())));
    assert_eq!(told(&mut keeper), [""; 0], "that it will be written would not be true");
    // Opened again it goes on from what is written, and that is kept as ever.
    keeper.opened(session.clone());
    assert!(told(&mut keeper)[0].contains("is gone"));
    keeper.tended(Ok(()));
    keeper.troubles();
    say(&mut keeper, 1, most + 1, 1);
    assert_eq!(works(&mut keeper, &session), [most + 1]);
    assert!(keeper.is_kept(&session) && keeper.trouble(&session).is_none());
}

#[test]
fn so_many_bytes_wait_for_a_store_that_fails() {
    let (mut keeper, session) = (keeper(), SessionId::from_number(1));
    say(&mut keeper, 1, 1, MAX_UNSAVED_BYTES / 2);
    say(&mut keeper, 1, 2, MAX_UNSAVED_BYTES / 2);
    say(&mut keeper, 1, 3, 1);
    assert!(told(&mut keeper).is_empty(), "a store that works is waited for");
    fails(&mut keeper, &session);
    keeper.troubles();
    say(&mut keeper, 1, 4, 1);
    assert!(told(&mut keeper)[0].contains("from event 4 on"));
    assert_eq!(works(&mut keeper, &session), [1, 2, 3]);
}

#[test]
fn what_is_kept_beside_goes_to_the_store_at_once_and_nobody_waits() {
    let mut keeper = Keeper::new(Keeping::Beside, None, Arc::new(|_| {}));
    let session = SessionId::from_number(1);
    say(&mut keeper, 1, 1, 1);
    assert_eq!(keeper.asks(), std::slice::from_ref(&session));
    assert!(keeper.is_settled(&session) && !keeper.is_busy_with(&session));
    let batch = keeper.take(&session).unwrap();
    assert!(batch.create && batch.durability == Durability::Now);
    say(&mut keeper, 1, 2, 1);
    assert!(keeper.asks().is_empty(), "one batch of a session at a time");
    keeper.appended(&session, batch, Ok(Appended::default()));
    assert_eq!(keeper.asks(), [session]);
}

#[test]
fn what_somebody_else_keeps_is_told_once_and_left_out() {
    let mut keeper = Keeper::new(Keeping::Beside, None, Arc::new(|_| {}));
    let session = SessionId::from_number(1);
    say(&mut keeper, 1, 1, 1);
    keeper.asks();
    let batch = keeper.take(&session).unwrap();
    keeper.appended(&session, batch, Err(StoreError::Exists(session.clone())));
    let words = told(&mut keeper);
    assert!(matches!(&words[..], [one] if one.contains("not kept from here")), "{words:?}");
    say(&mut keeper, 1, 2, 1);
    assert!(keeper.asks().is_empty() && told(&mut keeper).is_empty());
    assert_eq!(keeper.bytes, 0);
}

#[test]
fn a_runtime_that_floods_a_slow_store_costs_its_record_and_no_more_memory() {
    let mut keeper = Keeper::new(Keeping::Beside, None, Arc::new(|_| {}));
    for seq in 1..=20 {
        say(&mut keeper, 1, seq, 10 * 1024 * 1024);
    }
    assert!(keeper.bytes < MAX_UNSAVED_BYTES + 11 * 1024 * 1024, "{} bytes wait", keeper.bytes);
    assert!(told(&mut keeper).iter().any(|words| words.contains("too much waited")));
}
