//! Looks at a client's first line, by which its wire is recognised. What cannot be read has nothing.

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
