//! A small wire, sound and hollow.

use super::*;
use serde_json::json;

fn wire(event: Value) -> Contract {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "oneOf": [{ "$ref": "#/$defs/said" }],
        "$defs": {
            "from_ui": { "anyOf": [false] },
            "from_runtime": { "anyOf": [{ "$ref": "#/$defs/said" }] },
            "said": {
                "type": "object",
                "properties": { "kind": { "const": "said" }, "event": { "$ref": "#/$defs/Event" }, "why": { "type": "string" } },
                "required": ["event", "kind"],
                "unevaluatedProperties": false,
            },
            "Event": event,
        },
    });
    Contract::read(&schema.to_string()).unwrap()
}

fn sound() -> Value {
    json!({ "oneOf": [
        { "type": "object", "properties": { "type": { "const": "text" }, "at": { "type": "integer" } },
          "required": ["at", "type"], "additionalProperties": false },
        { "type": "object", "properties": { "type": { "const": "end" } }, "required": ["type"], "additionalProperties": false },
    ] })
}

#[test]
fn a_sound_schema_notices_every_breakage() {
    let mut wire = wire(sound());
    let line = json!({ "kind": "said", "event": { "type": "text", "at": 3 } });
    // Four required members: missing, renamed, of five other types; and an unknown member in each of two objects.
    assert_eq!(wire.judge(Side::Runtime, &line), Ok(4 * 7 + 2));
    assert_eq!(wire.seen().iter().collect::<Vec<_>>(), ["Event: text", "said"]);
    let all = wire.all(Side::Runtime);
    assert_eq!(all.difference(wire.seen()).collect::<Vec<_>>(), ["Event: end"]);
}

#[test]
fn lines_of_no_kind_are_refused() {
    let mut wire = wire(sound());
    for line in [
        json!({ "kind": "sais", "event": { "type": "end" } }),
        json!({ "kind": "said", "event": { "type": "ends" } }),
        json!({ "kind": "said", "event": { "type": "end" }, "whi": "x" }),
        json!({ "kind": "said" }),
        json!("said"),
    ] {
        assert!(wire.judge(Side::Runtime, &line).is_err(), "{line}");
    }
    assert!(wire.judge(Side::Ui, &json!({ "kind": "said", "event": { "type": "end" } })).is_err());
}

#[test]
fn a_schema_that_forgets_to_close_an_object_is_found() {
    let mut open = sound();
    open["oneOf"][0].as_object_mut().unwrap().remove("additionalProperties");
    let why =
        wire(open).judge(Side::Runtime, &json!({ "kind": "said", "event": { "type": "text", "at": 3 } }));
    assert!(why.unwrap_err().contains("unknown member"));
}

#[test]
fn the_list_names_each_object_and_its_required_members() {
    let schema = wire(sound()).root;
    assert_eq!(
        requirements(&schema),
        "Event: end: type=end\nEvent: text: at, type=text\nsaid: event, kind=said\n"
    );
}
