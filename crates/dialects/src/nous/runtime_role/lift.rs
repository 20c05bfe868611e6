//! From a line to what is wanted. Pure; the words of refusals are those that existing clients know.

use crate::nous::VERSION;
use crate::nous::wire::Keys;
use domain::content::Json;
use domain::queue::{Mode, QueueKind};
use serde_json::Value;
use wire::depth;

/// What is wrong with a text of nothing but blanks. The existing core cannot keep such a message, and calls that an error of the session.
pub(super) const BLANK: &str = "the text is blank";

/// A command that could be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RawCommand {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) payload: Keys,
}

/// What a command wants.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    Ping,
    Prompt { text: String, wait: bool, leaf: Option<String> },
    Enqueue { kind: QueueKind, text: String },
    Abort,
    State,
    Messages { session: Option<String>, leaf: Option<String> },
    NewSession,
    Switch { session: String },
    Branch { session: String },
    SetTools { tools: Vec<String> },
    SetMode { kind: QueueKind, mode: Mode },
    Extension { name: String, payload: Json },
    Tree { session: Option<String> },
    SetLeaf { leaf: String, session: Option<String> },
    Compact { session: Option<String>, instruction: Option<String> },
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

/// What a command wants.
///
/// # Errors
/// The message for an `invalid_payload`.
pub(super) fn wanted(asked: &RawCommand) -> Result<Wanted, &'static str> {
    let keys = &asked.payload;
    let wanted = match asked.kind.as_str() {
        "prompt" => Wanted::Prompt { text: said(keys)?, wait: wait(keys)?, leaf: leaf(keys)? },
        "steer" => Wanted::Enqueue { kind: QueueKind::Steer, text: said(keys)? },
        "follow_up" => Wanted::Enqueue { kind: QueueKind::FollowUp, text: said(keys)? },
        "abort" => Wanted::Abort,
        "get_state" => Wanted::State,
        "get_messages" => {
            Wanted::Messages { session: maybe(keys, "session_id"), leaf: maybe(keys, "leaf_id") }
        }
        "new_session" => Wanted::NewSession,
        "switch_session" => {
            Wanted::Switch { session: maybe(keys, "session_id").ok_or("session_id is required")? }
        }
        "branch_session" => {
            let session = maybe(keys, "session_id").or_else(|| maybe(keys, "parent_id"));
            Wanted::Branch { session: session.ok_or("session_id is required")? }
        }
        "set_active_tools" => Wanted::SetTools { tools: tools(keys)? },
        "set_steering_mode" => Wanted::SetMode { kind: QueueKind::Steer, mode: mode(keys)? },
        "set_follow_up_mode" => Wanted::SetMode { kind: QueueKind::FollowUp, mode: mode(keys)? },
        "extension_command" => Wanted::Extension {
            name: maybe(keys, "name").ok_or("name is required")?,
            payload: match keys.get("payload") {
                Some(payload @ Value::Object(_)) => Json::verbatim(payload.to_string()),
                _ => Json::empty(),
            },
        },
        "get_tree" => Wanted::Tree { session: maybe(keys, "session_id") },
        "set_leaf" => Wanted::SetLeaf {
            leaf: maybe(keys, "leaf_id").ok_or("leaf_id is required")?,
            session: maybe(keys, "session_id"),
        },
        "compact_session" => {
            let instruction = match keys.get("instruction") {
                None => None,
                Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.is_empty()),
                Some(_) => return Err("instruction must be a string"),
            };
            Wanted::Compact { session: maybe(keys, "session_id"), instruction }
        }
        // Only known types are decoded; this is the last of them.
        _ => Wanted::Ping,
    };
    Ok(wanted)
}

/// A key that is a string with something in it.
fn maybe(keys: &Keys, name: &str) -> Option<String> {
    keys.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn said(keys: &Keys) -> Result<String, &'static str> {
    let text = maybe(keys, "text").ok_or("text is required")?;
    if text.trim().is_empty() { Err(BLANK) } else { Ok(text) }
}

fn wait(keys: &Keys) -> Result<bool, &'static str> {
    match keys.get("wait") {
        None => Ok(true),
        Some(Value::Bool(wait)) => Ok(*wait),
        Some(_) => Err("wait must be a boolean"),
    }
}

fn leaf(keys: &Keys) -> Result<Option<String>, &'static str> {
    match keys.get("leaf_id") {
        None => Ok(None),
        Some(Value::String(leaf)) => Ok(Some(leaf.clone()).filter(|leaf| !leaf.is_empty())),
        Some(_) => Err("leaf_id must be a string"),
    }
}

fn tools(keys: &Keys) -> Result<Vec<String>, &'static str> {
    let Some(Value::Array(tools)) = keys.get("tools") else { return Err("tools must be an array") };
    let names = tools.iter().map(|tool| tool.as_str().map(str::to_owned));
    names.collect::<Option<Vec<_>>>().ok_or("tools must be string array")
}

fn mode(keys: &Keys) -> Result<Mode, &'static str> {
    match maybe(keys, "mode").as_deref() {
        None => Err("mode is required"),
        Some("one-at-a-time") => Ok(Mode::OneAtATime),
        Some("all") => Ok(Mode::All),
        Some(_) => Err("mode must be one-at-a-time or all"),
    }
}
