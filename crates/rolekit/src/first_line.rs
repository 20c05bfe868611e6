//! Looks at the first line of a client or a runtime, by which its wire is recognised. What cannot be read has nothing.

use serde_json::Value;

fn read(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or(Value::Null)
}

/// Whether the object has all these members.
pub fn has(line: &str, members: &[&str]) -> bool {
    let line = read(line);
    members.iter().all(|member| line.get(member).is_some())
}

/// Whether the object in this member has any of these.
pub fn has_any(line: &str, member: &str, inner: &[&str]) -> bool {
    let line = read(line);
    inner.iter().any(|inner| line.get(member).is_some_and(|object| object.get(inner).is_some()))
}

/// Whether this member is a number.
pub fn has_number(line: &str, member: &str) -> bool {
    read(line).get(member).is_some_and(Value::is_number)
}

/// Whether this member is this text.
pub fn is(line: &str, member: &str, text: &str) -> bool {
    read(line).get(member).is_some_and(|value| value == text)
}

/// Whether a runtime that speaks JSON-RPC may begin with this line: it answers the greeting, with any of these members, or refuses what
/// was said to it.
pub fn greets_by_rpc(line: &str, result: &[&str]) -> bool {
    has(line, &["jsonrpc", "error"]) || has(line, &["jsonrpc"]) && has_any(line, "result", result)
}
