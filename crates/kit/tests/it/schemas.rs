//! The committed schemas require what their list says, and hold for what is said.
//!
//! The lists (`required.txt`) are kept by hand: what a wire requires is for its document to say, so a change there is to be thought about.
//! That the schemas are what the types say is for `crates/dialects/tests/schemas.rs`.

#![expect(clippy::unwrap_used, reason = "a test fails by panic")]

use dialects::native::wire::{
    About, Attached, Complaint, Cursor, FleetNews, FleetWatch, FromRuntime, FromUi, Happened, Hello, Named,
    Replay, Said, Settled, Wanted,
};
use domain::event::{AskEvent, Body, Event};
use domain::ids::{Millis, Seq};
use domain::port::Ticket;
use domain::rights::Standing;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;
use std::path::{Path, PathBuf};
use testkit::arb;
use testkit::contract::{Contract, Side, requirements};

/// The schema of the native wire.
fn native() -> Contract {
    let dialect = dialects::ALL.iter().find(|dialect| dialect.is_lossless()).unwrap();
    Contract::read(&dialects::schema(*dialect)).unwrap()
}

fn folder(wire: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wires").join(wire).join("src")
}

/// A document's own example may lack what we always write: whoever checks it with a schema has to know.
#[test]
fn every_schema_says_that_it_is_about_what_we_write() {
    for dialect in dialects::ALL {
        let schema: Value = serde_json::from_str(&dialects::schema(*dialect)).unwrap();
        let about = schema["description"].as_str().unwrap_or_default();
        assert!(about.contains("describes the lines that Parlor writes"), "{dialect}: {about}");
    }
}

#[test]
fn every_schema_requires_what_its_list_says() {
    for dialect in dialects::ALL {
        let schema: Value = serde_json::from_str(&dialects::schema(*dialect)).unwrap();
        let required = requirements(&schema);
        let list = folder(dialect.name()).join("required.txt");
        let listed = std::fs::read_to_string(&list).unwrap_or_default();
        let missing: Vec<&str> =
            listed.lines().filter(|line| !required.lines().any(|r| r == *line)).collect();
        let extra: Vec<&str> = required.lines().filter(|line| !listed.lines().any(|l| l == *line)).collect();
        assert!(
            missing.is_empty() && extra.is_empty(),
            "{dialect}: {} and the types differ\nonly in the list: {missing:#?}\nonly in the types: {extra:#?}",
            list.display()
        );
    }
}

/// Most lines of each side that are made until every kind was met. The largest group has some thirty variants, each with alternatives
/// inside.
const LINES: usize = 12_000;

fn cursor() -> BoxedStrategy<Cursor> {
    let hash = prop::option::of("[0-9a-f]{16}".prop_map(String::from));
    let cursor = (arb::session_id(), arb::number(), hash);
    cursor.prop_map(|(session, seq, hash)| Cursor { session, seq: Seq(seq), hash }).boxed()
}

fn hello() -> BoxedStrategy<Hello> {
    let who = (any::<u32>(), any::<u32>(), arb::text(), arb::text());
    let rights = prop::option::of(prop::sample::select(&Standing::ALL[..]));
    let whither = (prop::option::of(arb::session_id()), prop::option::of(cursor()), rights);
    (who, whither)
        .prop_map(|((protocol, revision, name, version), (session, cursor, rights))| Hello {
            protocol,
            revision,
            name,
            version,
            capabilities: vec!["hash".to_owned()],
            session,
            cursor,
            rights,
        })
        .boxed()
}

fn attached() -> BoxedStrategy<Attached> {
    let told = (arb::number().prop_map(Millis), arb::body());
    let replay = prop::collection::vec(told, 0..3);
    (cursor(), any::<bool>(), replay, arb::board(), arb::abilities())
        .prop_map(|(at, current, replay, board, abilities)| Attached {
            at,
            current,
            replay,
            board,
            abilities,
        })
        .boxed()
}

fn complaint() -> BoxedStrategy<Complaint> {
    let about = prop::sample::select(vec![About::Hello, About::Session, About::Line]);
    (about, prop::option::of(arb::number()), arb::text(), prop::option::of(arb::text()))
        .prop_map(|(about, ticket, message, hint)| Complaint {
            about,
            ticket: ticket.map(Ticket),
            message,
            hint,
        })
        .boxed()
}

fn from_ui() -> BoxedStrategy<FromUi> {
    let wanted = (arb::number(), arb::target(), arb::command());
    let wanted = wanted.prop_map(|(ticket, target, what)| Wanted { ticket: Ticket(ticket), target, what });
    let watch = any::<bool>().prop_map(|alone| FromUi::WatchFleet(FleetWatch { alone }));
    prop_oneof![1 => hello().prop_map(FromUi::Hello), 8 => wanted.prop_map(FromUi::Command), 1 => watch]
        .boxed()
}

fn from_runtime() -> BoxedStrategy<FromRuntime> {
    let settled = (arb::number(), arb::settlement());
    let settled = settled.prop_map(|(ticket, with)| Settled { ticket: Ticket(ticket), with });
    let happened = (arb::session_id(), arb::event());
    let happened = happened.prop_map(|(session, event)| Happened { session, event });
    let asked = (arb::session_id(), arb::number(), arb::ask()).prop_map(|(session, seq, ask)| {
        let body = Body::Ask(AskEvent::Opened(ask));
        Happened { session, event: Event { seq: Seq(seq), at: Millis(0), body } }
    });
    let said = (arb::session_id(), arb::signal()).prop_map(|(session, signal)| Said { session, signal });
    let named = || arb::session_id().prop_map(|session| Named { session });
    let replay =
        (arb::session_id(), prop::collection::vec((arb::number().prop_map(Millis), arb::body()), 0..3));
    let replay = replay.prop_map(|(session, items)| Replay { session, items });
    let members = prop::collection::vec(arb::member(), 0..3);
    let fleet = (any::<bool>(), members, prop::collection::vec(arb::session_id(), 0..2));
    let fleet =
        fleet.prop_map(|(all, members, closed)| FromRuntime::Fleet(FleetNews { all, members, closed }));
    prop_oneof![
        1 => hello().prop_map(FromRuntime::Hello),
        9 => settled.prop_map(FromRuntime::Settled),
        1 => attached().prop_map(FromRuntime::Attached),
        1 => attached().prop_map(FromRuntime::AttachedBegin),
        1 => replay.prop_map(FromRuntime::Replay),
        1 => named().prop_map(FromRuntime::AttachedEnd),
        1 => named().prop_map(FromRuntime::Detached),
        9 => happened.prop_map(FromRuntime::Event),
        4 => asked.prop_map(FromRuntime::Event),
        3 => said.prop_map(FromRuntime::Signal),
        2 => fleet,
        1 => cursor().prop_map(FromRuntime::Hash),
        1 => complaint().prop_map(FromRuntime::Error),
    ]
    .boxed()
}

#[test]
fn every_value_of_the_vocabulary_is_of_the_native_schema_and_none_is_when_broken() {
    let mut contract = native();
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let all = &contract.all(Side::Ui) | &contract.all(Side::Runtime);
    let mut broken = 0;
    for _ in 0..LINES {
        let up = wire::encode(&from_ui().new_tree(&mut runner).unwrap().current()).unwrap();
        let down = wire::encode(&from_runtime().new_tree(&mut runner).unwrap().current()).unwrap();
        for (side, line) in [(Side::Ui, up), (Side::Runtime, down)] {
            // A number that is too large for JSON libraries is a value of the vocabulary all the same; it is passed on as text.
            if let Ok(line) = serde_json::from_str(&line) {
                broken += contract.judge(side, &line).unwrap();
            }
        }
        if all.is_subset(contract.seen()) {
            break;
        }
    }
    let unmet: Vec<_> = all.difference(contract.seen()).collect();
    assert!(unmet.is_empty(), "never made: {unmet:#?}");
    assert!(broken > all.len() * 3, "only {broken} breakages of {} kinds", all.len());
}

#[test]
fn a_misspelt_tag_or_member_of_the_native_wire_is_refused() {
    let mut contract = native();
    for (good, line) in [
        (
            true,
            r#"{"command":{"ticket":1,"what":{"prompt":{"input":{"text":"hi"},"options":{"when_busy":"refuse"}}}}}"#,
        ),
        (
            false,
            r#"{"command":{"ticket":1,"what":{"promt":{"input":{"text":"hi"},"options":{"when_busy":"refuse"}}}}}"#,
        ),
        (
            false,
            r#"{"command":{"ticket":1,"what":{"prompt":{"input":{"txt":"hi"},"options":{"when_busy":"refuse"}}}}}"#,
        ),
        (
            false,
            r#"{"command":{"ticket":1,"what":{"prompt":{"input":{"text":"hi"},"options":{"when_busy":"refused"}}}}}"#,
        ),
        (true, r#"{"command":{"ticket":1,"what":"stats"}}"#),
        (false, r#"{"command":{"ticket":1,"what":"stat"}}"#),
        (false, r#"{"command":{"ticket":1,"what":{"stats":{}}}}"#),
        (false, r#"{"command":{"ticket":"1","what":"stats"}}"#),
        (false, r#"{"commands":{"ticket":1,"what":"stats"}}"#),
    ] {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(!contract.kinds_of(Side::Ui, &line).is_empty(), good, "{line}");
    }
}
