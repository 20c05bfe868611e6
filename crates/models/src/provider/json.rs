//! Reading loosely typed JSON without ceremony: what is missing or of another type is simply not there.

use serde_json::Value;

/// The text at a JSON pointer.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// The count at a JSON pointer; 0 when there is none.
pub(super) fn count(value: &Value, pointer: &str) -> u64 {
    value.pointer(pointer).and_then(Value::as_u64).unwrap_or(0)
}

/// The list at a JSON pointer; empty when there is none.
pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
