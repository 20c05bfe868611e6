//! Reading: one pass over the members as raw text, then one explicit decision. No guessing by trial.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Inspected, Invalid, Message, RpcError, Version};
use crate::depth::{self, TooDeep};
use crate::{BadId, WireId};

/// What the line is. Accepts a missing or odd `jsonrpc` member; see [`inspect`] to know about it.
pub fn classify(text: &str) -> Message<'_> {
    inspect(text).message
}

/// What the line is, and how it was marked.
pub fn inspect(text: &str) -> Inspected<'_> {
    // What some programs put before all that they write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let members = match read(text) {
        Err(why) => {
            return Inspected { message: Message::Invalid { id: None, why }, version: Version::Absent };
        }
        Ok(members) => members,
    };
    let version = version(members.jsonrpc);
    let message = match depth::check(text) {
        Ok(()) => decide(members),
        Err(deep) => too_deep(&members, deep),
    };
    Inspected { message, version }
}

/// The members that count, each `None` if absent, `Some("null")` if null. Of a repeated member the last one counts.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<&'a RawValue>,
    id: Option<&'a RawValue>,
    method: Option<&'a RawValue>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

/// Raw members are skipped over without recursion, so this is safe at any depth.
fn read(text: &str) -> Result<Members<'_>, Invalid> {
    let not_json = |error: serde_json::Error| Invalid::NotJson(error.to_string());
    let first = text.trim_start_matches([' ', '\t', '\n', '\r']).as_bytes().first();
    if first == Some(&b'{') {
        return serde_json::from_str(text).map_err(not_json);
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(not_json)?;
    Err(if first == Some(&b'[') { Invalid::Batch } else { Invalid::NotObject })
}

fn version(jsonrpc: Option<&RawValue>) -> Version {
    match jsonrpc {
        None => Version::Absent,
        Some(raw) if raw.get() == "\"2.0\"" => Version::Two,
        Some(_) => Version::Other,
    }
}

fn decide(members: Members<'_>) -> Message<'_> {
    let id = match members.id.map(|raw| WireId::from_json(raw.get())).transpose() {
        Ok(id) => id,
        Err(bad) => return without_id(&members, bad),
    };
    match members.method {
        Some(method) => call(id, method, &members),
        None => response(id, &members),
    }
}

/// The id is still worth reading: the sender of a deep request gets its error, and a deep answer settles its request.
fn too_deep<'a>(members: &Members<'_>, deep: TooDeep) -> Message<'a> {
    let id = members.id.and_then(|raw| WireId::from_json(raw.get()).ok());
    let answer = members.method.is_none() && (members.result.is_some() || members.error.is_some());
    Message::Invalid { id, why: if answer { Invalid::DeepAnswer(deep) } else { Invalid::TooDeep(deep) } }
}

fn call<'a>(id: Option<WireId>, method: &RawValue, members: &Members<'a>) -> Message<'a> {
    // Peers that write every member of a struct send nulls here; only a value makes it two things at once.
    if members.result.is_some_and(is_value) || members.error.is_some_and(is_value) {
        return Message::Invalid { id, why: Invalid::MethodAndOutcome };
    }
    let Ok(method) = serde_json::from_str::<String>(method.get()) else {
        return Message::Invalid { id, why: Invalid::BadMethod };
    };
    let params = members.params;
    match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    }
}

fn response<'a>(id: Option<WireId>, members: &Members<'a>) -> Message<'a> {
    let outcome = match (members.result, members.error) {
        (None, None) => return Message::Invalid { id, why: Invalid::NoMethod },
        (Some(result), None) => Ok(result),
        (Some(result), Some(error)) if !is_value(error) => Ok(result),
        (Some(result), Some(_)) if is_value(result) => {
            return Message::Invalid { id, why: Invalid::BothResultAndError };
        }
        (_, Some(error)) => match rpc_error(error) {
            Some(error) => Err(error),
            None => return Message::Invalid { id, why: Invalid::BadError },
        },
    };
    match (id, outcome) {
        (Some(id), outcome) => Message::Response { id, outcome },
        (None, Ok(_)) => Message::Invalid { id: None, why: Invalid::NoId },
        (None, Err(error)) => Message::Invalid { id: None, why: Invalid::ErrorWithoutId(error) },
    }
}

/// A null id is how a peer says that it could not read ours; any other bad id is just bad.
fn without_id<'a>(members: &Members<'_>, bad: BadId) -> Message<'a> {
    let why = match members.error.and_then(rpc_error) {
        Some(error) if bad == BadId::Null && members.method.is_none() => Invalid::ErrorWithoutId(error),
        _ if members.method.is_none() && (members.result.is_some() || members.error.is_some()) => {
            Invalid::NoId
        }
        _ => Invalid::BadId(bad),
    };
    Message::Invalid { id: None, why }
}

fn is_value(raw: &RawValue) -> bool {
    raw.get() != "null"
}

fn rpc_error(raw: &RawValue) -> Option<RpcError> {
    #[derive(serde::Deserialize)]
    struct ErrorMembers<'a> {
        #[serde(deserialize_with = "crate::lenient::whole_i64")]
        code: i64,
        #[serde(borrow, default)]
        message: Option<&'a RawValue>,
        #[serde(borrow, default)]
        data: Option<&'a RawValue>,
    }
    let members: ErrorMembers<'_> = serde_json::from_str(raw.get()).ok()?;
    let message = match members.message {
        None => String::new(),
        Some(raw) => serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned()),
    };
    Some(RpcError { code: members.code, message, data: members.data.map(ToOwned::to_owned) })
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Members::default();
        while let Some(name) = map.next_key::<Name>()? {
            let slot = match name {
                Name::Jsonrpc => &mut members.jsonrpc,
                Name::Id => &mut members.id,
                Name::Method => &mut members.method,
                Name::Params => &mut members.params,
                Name::Result => &mut members.result,
                Name::Error => &mut members.error,
                Name::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            *slot = Some(map.next_value::<&'de RawValue>()?);
        }
        Ok(members)
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "lowercase")]
enum Name {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}
