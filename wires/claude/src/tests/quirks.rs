//! Each quirk has its test.

use super::super::quirks::QUIRKS;
use super::{hear, init, over, says, up};
use domain::port::menu::OptionKind;
use domain::state::EntryKind;
use serde_json::json;

#[test]
fn each_quirk_has_a_test_of_its_name() {
    let source = include_str!("quirks.rs");
    for quirk in QUIRKS {
        assert!(source.contains(&format!("fn {}()", quirk.name)), "{}", quirk.name);
    }
}

#[test]
fn no_name_before_the_first_turn() {
    let mut bench = up();
    assert_eq!(bench.role.session_name(), None);
    bench.prompt("hello");
    init(&mut bench);
    assert!(bench.role.session_name().is_some());
}

#[test]
fn a_mode_of_no_meaning_is_taken() {
    let mut bench = up();
    let payload = domain::content::Json::verbatim(r#"{"id":"mode","value":"nonsense"}"#);
    let name = domain::port::menu::SET_OPTION.to_owned();
    let ticket = bench.command(domain::command::Command::Extension { name, payload });
    assert!(bench.sent().is_empty(), "it would say yes");
    assert!(bench.settlement(ticket).is_some_and(|with| with.is_err()));
}

#[test]
fn default_is_no_model() {
    let mut bench = up();
    init(&mut bench);
    let menu = bench.role.abilities().expect("up").menu;
    assert_eq!(menu.of_kind(OptionKind::Model).map(|model| model.value.clone()).as_deref(), Some("opus[1m]"));
}

#[test]
fn told_again_after_a_summary() {
    let mut bench = up();
    bench.prompt("/compact");
    hear(
        &mut bench,
        json!({"type":"system","subtype":"compact_boundary","compact_metadata":{"trigger":"manual","pre_tokens":262,
        "preserved_messages":{"all_uuids":["u"]}}}),
    );
    hear(
        &mut bench,
        json!({"type":"user","message":{"role":"user","content":"What was before."},"isSynthetic":true}),
    );
    says(&mut bench, "msg_0", json!({"type":"text","text":"An answer from before."}));
    over(&mut bench, json!({"result":""}));
    assert_eq!(bench.texts(), Vec::<String>::new());
    let compacted = bench.state.entries.values().filter_map(|entry| match &entry.kind {
        EntryKind::Compaction(compaction) => Some((compaction.summary.clone(), compaction.tokens_before)),
        _ => None,
    });
    assert_eq!(compacted.collect::<Vec<_>>(), [("What was before.".to_owned(), 262)]);
}
