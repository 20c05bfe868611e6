//! Ids as peers write them. Not our own ids: those are minted by the domain and never leave through here.
//!
//! Invariants: what came in goes out again verbatim (`1` stays `1`, `1.0` stays `1.0`); a number and a string are
//! never equal; two spellings of the same whole number are, since some peers count in floats.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;

/// The longest id accepted, in bytes: ids are kept while a request is pending.
pub const MAX_ID_BYTES: usize = 4096;

/// Whole floats beyond this are not exact, so they name nothing.
const MAX_WHOLE_FLOAT: f64 = 9_007_199_254_740_992.0;

/// An id on the wire: a whole number or a string.
#[derive(Clone)]
pub struct WireId(Kind);

#[derive(Clone)]
enum Kind {
    Number { value: i128, written: Box<str> },
    Text(Box<str>),
}

/// Why something is not an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadId {
    #[error("the id is null; send a number or a string")]
    Null,
    /// A boolean, array or object.
    #[error("the id is neither a number nor a string")]
    WrongType,
    /// `1.5`, or a number too large to be exact.
    #[error("the id is not a whole number; send a whole number or a string")]
    NotWhole,
    /// A string with a broken escape.
    #[error("the id is a damaged string")]
    Damaged,
    /// Over [`MAX_ID_BYTES`].
    #[error("the id is longer than {MAX_ID_BYTES} bytes; send a shorter one")]
    TooLong,
}

impl WireId {
    /// An id that is written as a string.
    pub fn text(text: impl Into<Box<str>>) -> Self {
        Self(Kind::Text(text.into()))
    }

    /// An id that is written as a number.
    pub fn number(value: impl Into<i128>) -> Self {
        let value = value.into();
        Self(Kind::Number { value, written: value.to_string().into() })
    }

    /// Reads the JSON text of an id.
    pub fn from_json(json: &str) -> Result<Self, BadId> {
        let json = json.trim_matches([' ', '\t', '\n', '\r']);
        if json.len() > MAX_ID_BYTES {
            return Err(BadId::TooLong);
        }
        match json.as_bytes().first() {
            Some(b'"') => serde_json::from_str::<String>(json).map(Self::text).map_err(|_| BadId::Damaged),
            Some(b'-' | b'0'..=b'9') => {
                let value = match json.parse::<i128>() {
                    Ok(value) => value,
                    Err(_) => whole(json.parse().map_err(|_| BadId::WrongType)?)?,
                };
                Ok(Self(Kind::Number { value, written: json.into() }))
            }
            Some(b'n') => Err(BadId::Null),
            _ => Err(BadId::WrongType),
        }
    }

    /// The value of an id that is a number, however it was written.
    pub fn as_number(&self) -> Option<i128> {
        match &self.0 {
            Kind::Number { value, .. } => Some(*value),
            Kind::Text(_) => None,
        }
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Kind::Number { .. } => None,
            Kind::Text(text) => Some(text),
        }
    }

    fn key(&self) -> Result<&str, i128> {
        match &self.0 {
            Kind::Number { value, .. } => Err(*value),
            Kind::Text(text) => Ok(text),
        }
    }
}

fn whole(float: f64) -> Result<i128, BadId> {
    if float.fract() == 0.0 && float.abs() <= MAX_WHOLE_FLOAT {
        Ok(float as i128)
    } else {
        Err(BadId::NotWhole)
    }
}

impl PartialEq for WireId {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for WireId {}

impl Hash for WireId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

/// As written in JSON: strings quoted, so that `1` and `"1"` look different to people too.
impl fmt::Display for WireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Number { written, .. } => f.write_str(written),
            Kind::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl fmt::Debug for WireId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireId({self})")
    }
}

impl From<&str> for WireId {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<i64> for WireId {
    fn from(value: i64) -> Self {
        Self::number(value)
    }
}

impl From<u64> for WireId {
    fn from(value: u64) -> Self {
        Self::number(value)
    }
}

impl Serialize for WireId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Kind::Text(text) => serializer.serialize_str(text),
            Kind::Number { value, written } => match i64::try_from(*value) {
                Ok(small) if small.to_string() == **written => serializer.serialize_i64(small),
                _ => RawValue::from_string(written.to_string())
                    .map_err(serde::ser::Error::custom)?
                    .serialize(serializer),
            },
        }
    }
}

impl<'de> Deserialize<'de> for WireId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IdVisitor)
    }
}

/// Reads by value, since raw text is not to be had inside tagged or flattened types. An exotic spelling such as `1e3`
/// comes out as `1000.0` on this path only.
struct IdVisitor;

impl de::Visitor<'_> for IdVisitor {
    type Value = WireId;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number or a string as id")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<WireId, E> {
        Ok(WireId::number(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<WireId, E> {
        Ok(WireId::number(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<WireId, E> {
        let whole = whole(value).map_err(E::custom)?;
        Ok(WireId(Kind::Number { value: whole, written: format!("{value:?}").into() }))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<WireId, E> {
        if text.len() > MAX_ID_BYTES { Err(E::custom(BadId::TooLong)) } else { Ok(WireId::text(text)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_go_out_as_they_came() {
        for json in [
            "1",
            "\"1\"",
            "1.0",
            "1e3",
            "-0",
            "-7",
            "0",
            "18446744073709551615",
            "170141183460469231731687303715884105727",
            "\"\"",
            "\"a\\nb\"",
        ] {
            let id = WireId::from_json(json).unwrap();
            assert_eq!(serde_json::to_string(&id).unwrap(), json);
        }
    }

    #[test]
    fn what_is_no_id() {
        for (json, why) in [
            ("null", BadId::Null),
            ("true", BadId::WrongType),
            ("{\"a\":1}", BadId::WrongType),
            ("[1]", BadId::WrongType),
            ("1.5", BadId::NotWhole),
            ("1e400", BadId::NotWhole),
            ("1e30", BadId::NotWhole),
            ("\"\\ud800\"", BadId::Damaged),
            ("", BadId::WrongType),
        ] {
            assert_eq!(WireId::from_json(json).unwrap_err(), why, "{json}");
        }
        let long = format!("\"{}\"", "x".repeat(MAX_ID_BYTES));
        assert_eq!(WireId::from_json(&long).unwrap_err(), BadId::TooLong);
    }

    #[test]
    fn numbers_and_strings_differ_spellings_do_not() {
        let id = |json| WireId::from_json(json).unwrap();
        assert_ne!(id("1"), id("\"1\""));
        assert_eq!(id("1"), id("1.0"));
        assert_eq!(id("1000"), id("1e3"));
        assert_eq!(id("\"A\""), id("\"\\u0041\""));
    }

    #[test]
    fn reads_inside_other_types() {
        assert_eq!(
            serde_json::from_str::<Vec<WireId>>("[1, \"1\", 2.0]").unwrap(),
            [WireId::from(1i64), WireId::from("1"), WireId::from(2i64)]
        );
        assert!(serde_json::from_str::<WireId>("null").is_err());
        assert!(serde_json::from_str::<WireId>("1.5").is_err());
        assert!(serde_json::from_str::<WireId>("true").is_err());
    }

    proptest! {
        #[test]
        fn any_string_survives(text in ".{0,40}") {
            let json = serde_json::to_string(&WireId::from(text.as_str())).unwrap();
            let id = WireId::from_json(&json).unwrap();
            prop_assert_eq!(id.as_text(), Some(text.as_str()));
        }

        #[test]
        fn any_text_is_read_or_refused(json in ".{0,40}") {
            let _ = WireId::from_json(&json);
        }

        #[test]
        fn any_number_survives(value in any::<i64>()) {
            let json = serde_json::to_string(&WireId::from(value)).unwrap();
            prop_assert_eq!(&json, &value.to_string());
            prop_assert_eq!(WireId::from_json(&json).unwrap().as_number(), Some(i128::from(value)));
        }
    }
}
