//! A payload as it is written: a JSON value in the line, verbatim.
//!
//! What would break the line or not come back the same (line breaks between tokens, space around it, our own escape) is escaped as
//! `{"$verbatim": "…"}`; what is no JSON at all becomes a string.

use super::Json;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The key of a JSON text that cannot stand in a line as it is; its value is the text as a string.
const VERBATIM: &str = "$verbatim";

#[derive(Serialize, Deserialize)]
struct Verbatim<'a> {
    #[serde(rename = "$verbatim", borrow)]
    text: Cow<'a, str>,
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.as_str();
        let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
            return serializer.serialize_str(text);
        };
        let plain = raw.get() == text && !text.contains(['\n', '\r']) && escaped(text).is_none();
        if plain {
            return raw.serialize(serializer);
        }
        Verbatim { text: text.into() }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let Some(text) = escaped(raw.get()) else { return Ok(Json::verbatim(raw.get())) };
        if serde_json::from_str::<&RawValue>(&text).is_ok() {
            return Ok(Json::verbatim(text));
        }
        // Whoever made a `Json` promises that it is one: keep that promise for peers that do not.
        Ok(Json::verbatim(serde_json::Value::String(text).to_string()))
    }
}

/// The text inside our escape.
fn escaped(json: &str) -> Option<String> {
    if !json.starts_with('{') || !json.contains(VERBATIM) {
        return None;
    }
    serde_json::from_str::<Verbatim<'_>>(json).ok().map(|verbatim| verbatim.text.into_owned())
}

/// Reads a payload whose `null` is a value of its own: the member is there exactly when there is one.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}
