//! The schema against what the roles say, by a small check: required keys, constants, and the shapes that are named.

use super::super::schema::schema;
use super::{read, up};
use domain::event::Outcome;
use domain::tool::ToolResult;
use serde_json::{Value, json};

/// Whether `value` is what `schema` says, as far as this schema's own words go.
pub(super) fn fits(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    if schema == &json!(true) {
        return Ok(());
    }
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/");
        return fits(root, &root["$defs"][name], value);
    }
    if let Some(options) = schema["oneOf"].as_array() {
        let fitting = options.iter().filter(|option| fits(root, option, value).is_ok()).count();
        return if fitting == 1 {
            Ok(())
        } else {
            Err(format!("{fitting} of {} fit {value}", options.len()))
        };
    }
    if !schema["const"].is_null() && schema["const"] != *value {
        return Err(format!("{value} is not {}", schema["const"]));
    }
    if let Some(words) = schema["enum"].as_array().filter(|words| !words.contains(value)) {
        return Err(format!("{value} is none of {words:?}"));
    }
    let right = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_u64(),
        Some("null") => value.is_null(),
        _ => true,
    };
    if !right {
        return Err(format!("{value} is no {}", schema["type"]));
    }
    for key in schema["required"].as_array().into_iter().flatten() {
        let key = key.as_str().unwrap_or_default();
        value.get(key).ok_or_else(|| format!("{key} is missing in {value}"))?;
    }
    for (key, schema) in schema["properties"].as_object().into_iter().flatten() {
        if let Some(value) = value.get(key) {
            fits(root, schema, value).map_err(|why| format!("{key}: {why}"))?;
        }
    }
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    if schema["minItems"].as_u64().is_some_and(|least| (items.len() as u64) < least) {
        return Err(format!("too few items in {value}"));
    }
    for (schema, value) in schema["prefixItems"].as_array().into_iter().flatten().zip(items) {
        fits(root, schema, value)?;
    }
    if schema["items"].is_object() {
        items.iter().try_for_each(|value| fits(root, &schema["items"], value))?;
    }
    Ok(())
}

#[test]
fn what_our_server_says_fits() {
    let mut stage = up(&[("debug", "true")]);
    stage.begin("look");
    let (step, message) = stage.step();
    stage.delta(message, "Let me see.");
    read(&mut stage, message, ToolResult::text("alpha"));
    stage.end_step(step, Default::default());
    stage.talk("Done.");
    stage.end(Outcome::Cancelled);
    for line in [
        "nonsense {",
        r#"{"type":"ping"}"#,
        r#"{"type":"debug"}"#,
        r#"{"type":"list_running_sessions"}"#,
        r#"{"type":"get_config"}"#,
        r#"{"type":"quit"}"#,
        r#"{"type":"close_session","session_id":"x"}"#,
    ] {
        stage.say(line);
    }
    let root = schema();
    for line in stage.sent() {
        fits(&root, &root["$defs"]["from_runtime"], &line).unwrap_or_else(|why| panic!("{line}\n{why}"));
    }
}

#[test]
fn every_line_of_the_transcripts_fits() {
    let root = schema();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../transcripts/lemon");
    let mut checked = 0;
    for side in ["runtime", "ui"] {
        for entry in std::fs::read_dir(folder.join(side)).into_iter().flatten().flatten() {
            let text = std::fs::read_to_string(entry.path()).expect("a readable transcript");
            for line in text.lines() {
                let (direction, json) = match line.split_once(' ') {
                    Some((">", json)) => ("from_ui", json),
                    Some(("<", json)) => ("from_runtime", json),
                    _ => continue,
                };
                // Lines with pattern signs are not JSON; those that are must fit, unless they are said to be odd.
                let Ok(value) = serde_json::from_str::<Value>(json) else { continue };
                if text.contains("title bad input") || text.contains("event drift") {
                    continue;
                }
                fits(&root, &root["$defs"][direction], &value).unwrap_or_else(|why| panic!("{line}\n{why}"));
                checked += 1;
            }
        }
    }
    assert!(checked > 20, "only {checked} lines were checked");
}
