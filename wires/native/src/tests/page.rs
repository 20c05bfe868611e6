//! The examples of docs/native-protocol.md: every word of the wire has one, and each is a line that both sides take.

use super::super::wire::{FromRuntime, FromUi};
use super::{greeted, hello};
use crate::NativeUi;
use domain::event::{Body, Event};
use domain::grammar::Grammar;
use domain::ids::{Millis, Seq};
use domain::state::State;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use testkit::bench::UiBench;

const PAGE: &str = include_str!("../../../../docs/native-protocol.md");
const SCHEMA: &str = include_str!("../schema.json");

/// The texts of all blocks with this behind their fence.
pub(super) fn blocks(head: &str) -> Vec<&'static str> {
    let fence = format!("\n```{head}\n");
    let all = PAGE.split(fence.as_str()).skip(1);
    let all: Vec<_> = all.map(|rest| rest.split_once("\n```").expect("a block has an end").0).collect();
    assert!(!all.is_empty(), "the page has no block {head}");
    all
}

/// The lines of a block of JSON.
pub(super) fn block(name: &str) -> Vec<Value> {
    let fence = format!("\n```json {name}\n");
    let text = PAGE.split_once(&fence).and_then(|(_, rest)| rest.split_once("\n```"));
    let text = text.unwrap_or_else(|| panic!("the page has no block {name}")).0;
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")))
        .collect()
}

/// The word of a value: itself, or its only key.
pub(super) fn word(value: &Value) -> String {
    let key = || value.as_object().and_then(|object| object.keys().next().cloned());
    value.as_str().map(str::to_owned).or_else(key).expect("a word")
}

/// The words that the schema has for a noun.
pub(super) fn words(noun: &str) -> BTreeSet<String> {
    let schema: Value = serde_json::from_str(SCHEMA).expect("a schema");
    let noun = &schema["$defs"][noun];
    // One that is nothing but words has no variants.
    let variants = noun["oneOf"].as_array().cloned().unwrap_or_else(|| vec![noun.clone()]);
    let mut words = BTreeSet::new();
    for variant in variants {
        let all = variant["enum"].as_array().cloned().unwrap_or_default();
        words.extend(all.iter().filter_map(|word| word.as_str().map(str::to_owned)));
        words.extend(variant["const"].as_str().map(str::to_owned));
        words.extend(variant["properties"].as_object().and_then(|members| members.keys().next().cloned()));
    }
    assert!(!words.is_empty(), "{noun}");
    words
}

#[test]
fn every_word_of_the_wire_has_an_example() {
    for (noun, name, elsewhere) in [
        ("Body", "events", &["rebased"] as &[&str]),
        ("Command", "commands", &[]),
        ("Receipt", "receipts", &[]),
        ("Signal", "signals", &[]),
    ] {
        let shown: BTreeSet<String> = block(name).iter().map(word).collect();
        let missing: Vec<_> = words(noun).difference(&shown).cloned().collect();
        assert_eq!(missing, elsewhere, "{name}");
    }
    for noun in ["Finish", "ToolOutcome", "Leaving", "Closing", "Cause", "Outcome", "Answer"] {
        for word in words(noun) {
            let shown = [format!("`{word}`"), format!("`\"{word}\"`"), format!("{{\"{word}\":")];
            assert!(shown.iter().any(|shown| PAGE.contains(shown)), "{noun}: the page does not have {word}");
        }
    }
}

#[test]
fn the_events_of_the_page_are_a_lawful_session_that_our_ui_shows() {
    let (mut state, mut grammar) = (State::new(), Grammar::new());
    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    ui.hear(r#"{"hello":{"protocol":1}}"#);
    ui.hear(r#"{"attached":{"at":{"session":"sess-000000000007","seq":0},"abilities":{"name":"page"}}}"#);
    ui.link.outgoing(None);
    for (body, seq) in block("events").into_iter().zip(1..) {
        let read: Body = serde_json::from_value(body.clone()).unwrap_or_else(|why| panic!("{why}: {body}"));
        let event = Event { seq: Seq(seq), at: Millis(1), body: read };
        grammar.check(&event).unwrap_or_else(|law| panic!("{law}: {body}"));
        state.fold(&event).unwrap_or_else(|why| panic!("{why}: {body}"));
        let line = json!({"event":{"session":"sess-000000000007","event":{"seq":seq,"at":1,"body":body}}});
        ui.hear(&line.to_string());
    }
    assert_eq!(
        (ui.link.outgoing(None).len(), &ui.link.closed),
        (0, &None),
        "nothing was to be complained of"
    );
    assert_eq!(ui.state.hash(), state.hash());
    assert!(state.open_run().is_none());
}

/// A past that is shown without `rebased` ends with the number that `at` tells, and what comes next is held against the laws.
#[test]
fn a_replay_stands_for_the_number_that_at_tells() {
    let mut ui = UiBench::open(NativeUi::new(), &hello(None));
    ui.hear(r#"{"hello":{"protocol":1}}"#);
    let past: Vec<Value> = block("events").into_iter().take(13).map(|body| json!([1, body])).collect();
    let at = json!({"session":"sess-000000000007","seq":40});
    ui.hear(&json!({"attached":{"at":at,"replay":past,"abilities":{"name":"page"}}}).to_string());
    assert_eq!(ui.state.seq, Seq(40));
    ui.link.outgoing(None);
    let happened = |seq: u64, body: Value| {
        json!({"event":{"session":"sess-000000000007","event":{"seq":seq,"at":1,"body":body}}}).to_string()
    };
    ui.hear(&happened(41, json!({"step_started":{"turn":2,"step":4}})));
    assert_eq!((ui.state.seq, ui.link.outgoing(None).len()), (Seq(41), 0));
    ui.hear(&happened(42, json!({"run_ended":{"run":1,"outcome":"done"}})));
    let told = ui.link.outgoing(None);
    assert!(told.iter().any(|sent| format!("{sent:?}").contains("breaks law 2")), "{told:?}");
}

#[test]
fn the_commands_of_the_page_are_taken_as_they_stand_there() {
    let mut bench = greeted().runtime;
    for (what, ticket) in block("commands").into_iter().zip(1_u64..) {
        bench.now.0 += 1_000;
        bench.say(&json!({"command":{"ticket":ticket,"what":what}}).to_string());
        assert_eq!(bench.commands().len(), 1, "{what}: {:?}", bench.lines());
    }
}

#[test]
fn the_receipts_the_signals_and_the_conversations_of_the_page_can_be_read() {
    for receipt in block("receipts") {
        let line = json!({"settled":{"ticket":1,"with":{"receipt":receipt}}});
        assert!(serde_json::from_value::<FromRuntime>(line).is_ok(), "{receipt}");
    }
    for signal in block("signals") {
        let line = json!({"signal":{"session":"sess-000000000007","signal":signal}});
        assert!(serde_json::from_value::<FromRuntime>(line).is_ok(), "{signal}");
    }
    let mut read = 0;
    // Mistakes, on the way to the errors that they are answered with, are no lines of the wire.
    let mistakes = ["text errors", "text closes"].into_iter().flat_map(blocks);
    let page = mistakes.fold(PAGE.to_owned(), |page, mistakes| page.replace(mistakes, ""));
    for line in page.lines().filter(|line| !line.contains('…')) {
        if let Some(line) = line.strip_prefix("> {") {
            assert!(serde_json::from_str::<FromUi>(&format!("{{{line}")).is_ok(), "{line}");
            read += 1;
        } else if let Some(line) = line.strip_prefix("< {") {
            assert!(serde_json::from_str::<FromRuntime>(&format!("{{{line}")).is_ok(), "{line}");
            read += 1;
        }
    }
    assert!(read >= 5, "{read}");
}
