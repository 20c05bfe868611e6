//! Steer before follow-up, in both modes, against a naive model.

use super::{Mode, QueueKind, Queues, Waiting};
use crate::content::Input;
use crate::event::Cause;
use crate::ids::QueuedId;
use proptest::prelude::*;

fn queues(items: &[(QueueKind, String)], steer_mode: Mode, follow_up_mode: Mode) -> Queues {
    let mut queues = Queues { steer_mode, follow_up_mode, ..Queues::default() };
    for (number, (kind, text)) in items.iter().enumerate() {
        let waiting = Waiting { id: QueuedId(number as u64), input: Input::text(text.clone()), by: None };
        queues.of_mut(*kind).push_back(waiting);
    }
    queues
}

proptest! {
    #[test]
    fn all_steers_come_before_all_follow_ups_and_none_is_lost(
        items in prop::collection::vec((prop_oneof![Just(QueueKind::Steer), Just(QueueKind::FollowUp)], "[a-z]{1,4}"), 0..12),
        steer_mode in prop_oneof![Just(Mode::OneAtATime), Just(Mode::All)],
        follow_up_mode in prop_oneof![Just(Mode::OneAtATime), Just(Mode::All)],
    ) {
        let mut queues = queues(&items, steer_mode, follow_up_mode);
        let mut turns = Vec::new();
        while let Some(taken) = queues.next_turn() {
            for item in &taken.items {
                prop_assert!(queues.remove(*item).is_some());
            }
            turns.push((taken.cause, taken.input.text));
        }
        let naive = |kind, mode, cause| {
            let texts: Vec<String> = items.iter().filter(|(k, _)| *k == kind).map(|(_, t)| t.clone()).collect();
            match mode {
                Mode::OneAtATime => texts.into_iter().map(|t| (cause, t)).collect::<Vec<_>>(),
                Mode::All if texts.is_empty() => Vec::new(),
                Mode::All => vec![(cause, texts.join("\n"))],
            }
        };
        let mut expected = naive(QueueKind::Steer, steer_mode, Cause::Steer);
        expected.extend(naive(QueueKind::FollowUp, follow_up_mode, Cause::FollowUp));
        prop_assert_eq!(turns, expected);
    }
}

#[test]
fn the_mode_is_read_when_a_turn_is_taken() {
    let items = [(QueueKind::Steer, "a".to_owned()), (QueueKind::Steer, "b".to_owned())];
    let mut queues = queues(&items, Mode::OneAtATime, Mode::OneAtATime);
    assert_eq!(queues.next_turn().map(|t| t.input.text), Some("a".to_owned()));
    queues.steer_mode = Mode::All;
    assert_eq!(queues.next_turn().map(|t| t.input.text), Some("a\nb".to_owned()));
}
