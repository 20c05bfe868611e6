//! A listener on its own: steps, ends and bounds.

use super::{EndedBefore, Listener, MAX_ENDED, MAX_NAME, MAX_OPEN};
use domain::content::{Input, Role, Usage};
use domain::event::Outcome;
use domain::fact::{Key, Said};
use domain::ids::Millis;
use domain::tool::{ToolOutcome, ToolResult};
use proptest::prelude::*;
use roles::{UiCx, UiEffect};
use std::collections::BTreeSet;

fn said(act: impl FnOnce(&mut UiCx<'_>)) -> Vec<Said> {
    let mut effects = Vec::new();
    act(&mut UiCx { now: Millis(0), effects: &mut effects });
    let facts = effects.into_iter().map(|effect| match effect {
        UiEffect::Fact(fact) => fact,
        other => panic!("{other:?}"),
    });
    facts.inspect(|fact| assert_eq!(fact.run.as_deref(), Some("r"))).map(|fact| fact.said).collect()
}

fn listener() -> Listener<u32> {
    Listener::new("r".into())
}

fn key(name: impl std::fmt::Display) -> Key {
    name.to_string().into()
}

#[test]
fn the_models_next_word_after_all_its_tools_is_another_step() {
    let mut listener = listener();
    let (a, b) = (key("a"), key("b"));
    assert_eq!(said(|cx| assert!(!listener.model_speaks(cx))), []);
    listener.note(&a, || 1);
    listener.note(&b, || 2);
    listener.end_call(&a).unwrap();
    assert_eq!(said(|cx| assert!(!listener.model_speaks(cx))), [], "one tool still runs");
    listener.end_call(&b).unwrap();
    assert_eq!(said(|cx| assert!(listener.model_speaks(cx))), [Said::StepEnded(Usage::default())]);
    assert_eq!(said(|cx| assert!(!listener.model_speaks(cx))), [], "said once");
}

#[test]
fn what_the_person_said_is_one_whole_message() {
    let facts = said(|cx| listener().input(cx, &Input::text("hello")));
    assert!(matches!(facts[0], Said::MessageStarted { role: Role::User, .. }), "{facts:?}");
    assert!(matches!(facts.last(), Some(Said::MessageEnded { .. })), "{facts:?}");
    assert_eq!(facts.len(), 3);
}

#[test]
fn past_the_bounds_the_oldest_is_forgotten() {
    let mut listener = listener();
    for number in 0..MAX_OPEN + 5 {
        listener.note(&key(number), || 0);
    }
    assert_eq!(listener.open().count(), MAX_OPEN);
    assert!(listener.noted("4").is_none());
    assert!(listener.noted("5").is_some());
    for number in 0..MAX_ENDED + 5 {
        listener.end_call(&key(format!("e{number}"))).unwrap();
    }
    assert!(!listener.has_ended("e4"));
    assert!(listener.has_ended("e5"));
    let long = key("x".repeat(MAX_NAME + 1));
    assert!(listener.note(&long, || 0).is_none());
    assert_eq!(listener.end_call(&long), Err(EndedBefore));
}

#[test]
fn the_newest_call_is_the_one_that_was_noted_last() {
    let mut listener = listener();
    for name in ["z", "m", "a"] {
        listener.note(&key(name), || 7);
    }
    assert_eq!(listener.newest(|note| *note == 7).map(|key| &**key), Some("a"));
    assert_eq!(listener.newest(|note| *note == 8), None);
    assert_eq!(said(|cx| listener.end(cx, Outcome::Done)), [Said::RunEnded(Outcome::Done)]);
}

proptest! {
    #[test]
    fn a_call_ends_once_until_its_name_is_used_again(moves in prop::collection::vec((0u8..4, any::<bool>()), 0..60)) {
        let mut listener = listener();
        let mut ended = BTreeSet::new();
        for (name, begins) in moves {
            let call = key(name);
            if begins {
                listener.note(&call, || 0);
                ended.remove(&name);
            } else {
                let facts = said(|cx| listener.result(cx, &call, ToolOutcome::Done, ToolResult::default()));
                prop_assert_eq!(facts.len(), usize::from(ended.insert(name)));
            }
        }
    }
}
