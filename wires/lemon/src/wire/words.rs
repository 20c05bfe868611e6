//! Text that some program writes as something else: a tuple, a number, a list.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// A text, which is all that we write; anything else is only read.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Words<'a> {
    /// As the document has it.
    Text(Cow<'a, str>),
    /// Any other JSON.
    #[serde(skip)]
    Other(Value),
}

impl Words<'_> {
    /// For people: nothing for null, and JSON as it is.
    pub fn shown(&self) -> String {
        match self {
            Words::Text(text) => text.clone().into_owned(),
            Words::Other(Value::Null) => String::new(),
            Words::Other(value) => value.to_string(),
        }
    }

    /// The JSON that was read.
    pub fn into_json(self) -> Value {
        match self {
            Words::Text(text) => Value::String(text.into_owned()),
            Words::Other(value) => value,
        }
    }
}

impl Default for Words<'_> {
    fn default() -> Self {
        Words::Other(Value::Null)
    }
}

impl<'a> From<&'a str> for Words<'a> {
    fn from(text: &'a str) -> Words<'a> {
        Words::Text(text.into())
    }
}

impl From<String> for Words<'_> {
    fn from(text: String) -> Self {
        Words::Text(text.into())
    }
}

impl From<Value> for Words<'_> {
    fn from(value: Value) -> Self {
        match value {
            Value::String(text) => Words::Text(text.into()),
            value => Words::Other(value),
        }
    }
}

impl<'de> Deserialize<'de> for Words<'_> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        Value::deserialize(reader).map(Words::from)
    }
}
