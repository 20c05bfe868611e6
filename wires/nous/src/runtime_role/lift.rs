//! From a line to a command and the keys of its payload. Pure; the words of refusals are those that existing clients know.

use super::answers::why;
use crate::VERSION;
use crate::wire::{ErrorBody, Keys};
use domain::queue::Mode;
use serde_json::Value;
use wire::depth;

/// A command that could be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawCommand {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) payload: Keys,
}

/// Reads a line. What is wrong is told with an empty id, as the existing core does.
///
/// # Errors
/// The message for an `invalid_command`.
pub(super) fn decode(line: &str) -> Result<RawCommand, String> {
    depth::check(line).map_err(|why| format!("invalid_json: {why}"))?;
    let value: Value = serde_json::from_str(line).map_err(|why| format!("invalid_json: {why}"))?;
    let keys = match value {
        Value::Object(keys) => keys,
        // The existing core reads null as an empty envelope.
        Value::Null => Keys::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            return Err("invalid_json: a command is a JSON object".to_owned());
        }
    };
    let version = text_key(&keys, "v")?;
    if !version.is_empty() && version != VERSION {
        return Err(format!("invalid_version: expected {VERSION}, got {version}"));
    }
    let id = text_key(&keys, "id")?;
    if id.is_empty() {
        return Err("missing_id".to_owned());
    }
    let kind = text_key(&keys, "type")?;
    if kind.is_empty() {
        return Err("missing_type".to_owned());
    }
    let payload = match find(&keys, "payload") {
        None | Some(Value::Null) => Keys::new(),
        Some(Value::Object(payload)) => payload.clone(),
        Some(_) => return Err("invalid_json: payload must be an object".to_owned()),
    };
    if super::super::tables::command(&kind).is_none() {
        return Err(format!("invalid_command: {kind}"));
    }
    Ok(RawCommand { id, kind, payload })
}

/// Keys of the envelope match in any case, the exact one first: existing clients may be decoded so.
fn find<'a>(keys: &'a Keys, name: &str) -> Option<&'a Value> {
    keys.get(name).or_else(|| keys.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, v)| v))
}

fn text_key(keys: &Keys, name: &str) -> Result<String, String> {
    match find(keys, name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("invalid_json: {name} must be a string")),
    }
}

/// A key that is a string with something in it.
pub(super) fn maybe(keys: &Keys, name: &str) -> Option<String> {
    keys.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// A key that must be such a string.
pub(super) fn required(keys: &Keys, name: &str) -> Result<String, ErrorBody> {
    maybe(keys, name).ok_or_else(|| invalid(format!("{name} is required")))
}

/// What the person says. The existing core cannot keep a text of nothing but blanks, and calls that an error of the session.
pub(super) fn said(keys: &Keys) -> Result<String, ErrorBody> {
    let text = required(keys, "text")?;
    if text.trim().is_empty() {
        let cause = Some("invalid_message_entry".to_owned());
        return Err(ErrorBody { cause, ..why("session_error", "the text is blank") });
    }
    Ok(text)
}

/// The error for a payload that cannot be understood.
pub(super) fn invalid(message: impl Into<String>) -> ErrorBody {
    why("invalid_payload", message)
}

/// Whether the answer waits for the end of the run.
pub(super) fn wait(keys: &Keys) -> Result<bool, ErrorBody> {
    match keys.get("wait") {
        None => Ok(true),
        Some(Value::Bool(wait)) => Ok(*wait),
        Some(_) => Err(invalid("wait must be a boolean")),
    }
}

/// Where in the conversation a prompt goes on.
pub(super) fn leaf(keys: &Keys) -> Result<Option<String>, ErrorBody> {
    match keys.get("leaf_id") {
        None => Ok(None),
        Some(Value::String(leaf)) => Ok(Some(leaf.clone()).filter(|leaf| !leaf.is_empty())),
        Some(_) => Err(invalid("leaf_id must be a string")),
    }
}

/// The names of tools.
pub(super) fn tools(keys: &Keys) -> Result<Vec<String>, ErrorBody> {
    let Some(Value::Array(tools)) = keys.get("tools") else { return Err(invalid("tools must be an array")) };
    let names = tools.iter().map(|tool| tool.as_str().map(str::to_owned));
    names.collect::<Option<Vec<_>>>().ok_or_else(|| invalid("tools must be string array"))
}

/// How a queue gives out what waits in it.
pub(super) fn mode(keys: &Keys) -> Result<Mode, ErrorBody> {
    match maybe(keys, "mode").as_deref() {
        None => Err(invalid("mode is required")),
        Some("one-at-a-time") => Ok(Mode::OneAtATime),
        Some("all") => Ok(Mode::All),
        Some(_) => Err(invalid("mode must be one-at-a-time or all")),
    }
}

/// What the model shall keep in mind when it summarises.
pub(super) fn instruction(keys: &Keys) -> Result<Option<String>, ErrorBody> {
    match keys.get("instruction") {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(invalid("instruction must be a string")),
    }
}
