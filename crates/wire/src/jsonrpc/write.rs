//! Writing: each function gives one line, without the newline, and cannot fail. What cannot be put into JSON (no wire
//! type of ours) is told to the peer as such instead of being lost in silence.

use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{INTERNAL_ERROR, RpcError};
use crate::{WireId, encode};
use serde_json::json;

/// A request. Parameters that are null (such as `&()`) are left out.
pub fn request(id: &WireId, method: &str, params: &impl Serialize) -> String {
    let params = parameters(params);
    line(&Call { jsonrpc: "2.0", id: Some(id), method, params: params.as_deref() })
}

/// A notification. Parameters that are null (such as `&()`) are left out.
pub fn notification(method: &str, params: &impl Serialize) -> String {
    let params = parameters(params);
    line(&Call { jsonrpc: "2.0", id: None, method, params: params.as_deref() })
}

/// The answer to a request.
pub fn result(id: &WireId, result: &impl Serialize) -> String {
    match to_raw_value(result) {
        Ok(result) => line(&Answer { jsonrpc: "2.0", id, result: &result }),
        Err(cause) => {
            error(Some(id), &RpcError::new(INTERNAL_ERROR, format!("the result cannot be written: {cause}")))
        }
    }
}

/// The refusal of a request; the id is null when it is not known.
pub fn error(id: Option<&WireId>, error: &RpcError) -> String {
    line(&Refusal { jsonrpc: "2.0", id, error })
}

/// Makes a JSON text one line. Newlines in JSON stand only between tokens, so a space means the same.
pub fn one_line(json: String) -> String {
    // On the way of every line that is said: searched by bytes, since neither is part of another character.
    let broken = memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some();
    if broken { json.replace(['\n', '\r'], " ") } else { json }
}

#[derive(Serialize)]
struct Call<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a WireId>,
    method: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: &'a WireId,
    result: &'a RawValue,
}

#[derive(Serialize)]
struct Refusal<'a> {
    jsonrpc: &'static str,
    id: Option<&'a WireId>,
    error: &'a RpcError,
}

fn parameters(params: &impl Serialize) -> Option<Box<RawValue>> {
    #[derive(Serialize)]
    struct UnwritableParams {
        unwritable: String,
    }
    let raw = to_raw_value(params)
        .or_else(|cause| to_raw_value(&UnwritableParams { unwritable: cause.to_string() }))
        .ok()?;
    (raw.get() != "null").then_some(raw)
}

/// Strings, ids and raw parts always have a form in JSON. Should one not, the peer is told so in words, which have one.
fn line(message: &impl Serialize) -> String {
    encode(message).map(one_line).unwrap_or_else(|why| {
        let error = json!({ "code": INTERNAL_ERROR, "message": why.to_string() });
        json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_cannot_be_written_is_never_an_empty_line() {
        let line = line(&std::collections::BTreeMap::from([(vec![1], 1)]));
        let told: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(told["error"]["code"], INTERNAL_ERROR);
    }
}
