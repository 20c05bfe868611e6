//! A foreign runtime that dies at any moment of a conversation leaves a grammatical, closed stream at our UI.
//!
//! The runtime is our own, behind codelia's wire; its link is cut after a number of bytes, over the whole length of what it says.

use crate::bench::{self, Conversation, Cut};
use domain::event::{Body, Event, Outcome, RunEvent};
use domain::grammar::check_all;
use domain::port::{LinkState, News};
use hub::core::Standing;
use roles::{Answers, Lane};

/// Where the link is cut: this many places, spread over the whole conversation.
const CUTS: usize = 100;
/// The same for each wire.
const CUTS_OF_EACH: usize = 6;
/// How many conversations are held at once.
const AT_ONCE: usize = 10;

#[test]
fn a_run_that_is_killed_at_any_moment_leaves_a_grammatical_stream() {
    let conversation = Conversation::new(dialects::codelia::DIALECT);
    let whole = conversation.play(Cut::Never);
    assert!(
        whole
            .events
            .iter()
            .any(|event| matches!(event.body, Body::Run(RunEvent::Ended { outcome: Outcome::Done, .. })))
    );
    let length = whole.bytes;
    // Each takes a moment of real time, since the wire wants a pause after its first answer: many at once.
    std::thread::scope(|scope| {
        for first in 0..AT_ONCE {
            let conversation = &conversation;
            scope.spawn(move || {
                for cut in (first..CUTS).step_by(AT_ONCE) {
                    let after = length * (cut + 1) / (CUTS + 1);
                    let played = conversation.play(Cut::After(after));
                    let place = format!("cut after {after} of {length} bytes");
                    let grammar = check_all(&played.events).unwrap_or_else(|why| panic!("{place}: {why}"));
                    assert!(grammar.is_closed(), "{place}: something stayed open");
                }
            });
        }
    });
}

#[test]
fn a_run_that_is_cut_off_is_over_for_who_sees_it_on_every_wire() {
    let begins = |event: &&Event| matches!(event.body, Body::Run(RunEvent::Started { .. }));
    let ends = |event: &&Event| matches!(event.body, Body::Run(RunEvent::Ended { .. }));
    for dialect in dialects::ALL.iter().copied().filter(|dialect| !dialect.has_event_lane()) {
        let conversation = Conversation::new(dialect);
        let length = conversation.play(Cut::Never).bytes;
        let mut begun = 0;
        for part in 1..CUTS_OF_EACH {
            let seen = conversation.play(Cut::After(length * part / CUTS_OF_EACH));
            let runs = seen.events.iter().filter(begins).count();
            assert_eq!(runs, seen.events.iter().filter(ends).count(), "{dialect}, {part} of {CUTS_OF_EACH}");
            begun += runs;
        }
        assert!(begun > 0, "{dialect}: no cut was in the run");
    }
}

#[tokio::test]
async fn whoever_comes_after_the_runtime_went_is_told_so() {
    let (near, far) = tokio::io::duplex(1024);
    let hub = bench::front(dialects::native::DIALECT, bench::wire(&[Lane::MAIN], vec![near]));
    drop(far);
    for name in ["there when it went", "later"] {
        let mut ui = hub.attach(name, Standing::Controller, Answers::ALL, None).await.unwrap();
        loop {
            let news = ui.news.recv().await.expect("the hub runs");
            if matches!(news, News::Link(LinkState::Lost(_))) {
                break;
            }
        }
    }
    hub.stop().await;
}
