//! serde functions for what existing peers really send. For `#[serde(default, deserialize_with = "…")]` on the fields
//! of wire types; each loosens one thing and nothing else.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer};

/// Tells absent, null and a value apart: `None`, `Some(None)`, `Some(Some(value))`. Needs `default` on the field, which
/// gives the absent case.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Wire {
///     #[serde(default, deserialize_with = "wire::lenient::present")]
///     title: Option<Option<String>>,
/// }
/// let read = |json| serde_json::from_str::<Wire>(json).map(|wire| wire.title).ok();
/// assert_eq!(read("{}"), Some(None));
/// assert_eq!(read(r#"{"title":null}"#), Some(Some(None)));
/// assert_eq!(read(r#"{"title":"x"}"#), Some(Some(Some("x".to_owned()))));
/// ```
pub fn present<'de, D, T>(deserializer: D) -> Result<Option<Option<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Some)
}

/// Reads null as the default value of the type.
pub fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads a string, and null as the empty string.
pub fn string_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    null_as_default(deserializer)
}

/// Reads a whole number, also when written as a float (`3.0`).
pub fn whole_i64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let Whole(value) = Whole::deserialize(deserializer)?;
    i64::try_from(value).map_err(|_| de::Error::custom("the number is too large"))
}

/// Reads a whole number from zero up, also when written as a float (`3.0`).
pub fn whole_u64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let Whole(value) = Whole::deserialize(deserializer)?;
    u64::try_from(value).map_err(|_| de::Error::custom("the number is negative or too large"))
}

/// As [`whole_i64`], with null (and, by `default`, absence) as `None`.
pub fn opt_whole_i64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Option::<Whole>::deserialize(deserializer)?
        .map(|Whole(value)| i64::try_from(value).map_err(|_| de::Error::custom("the number is too large")))
        .transpose()
}

/// As [`whole_u64`], with null (and, by `default`, absence) as `None`.
pub fn opt_whole_u64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Option::<Whole>::deserialize(deserializer)?
        .map(|Whole(value)| {
            u64::try_from(value).map_err(|_| de::Error::custom("the number is negative or too large"))
        })
        .transpose()
}

/// As [`whole_u64`], with null (and, by `default`, absence) as zero.
pub fn whole_or_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    opt_whole_u64(deserializer).map(Option::unwrap_or_default)
}

/// Reads something that must not spoil the message it stands in: what has another shape counts as absent.
pub fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: de::DeserializeOwned + Default,
{
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).unwrap_or_default())
}

/// Reads a number from zero up and cuts off its fraction; anything else is `None`. For times and counts that nothing hangs on: they
/// must not spoil the message they stand in.
pub fn floor_or_none<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    let floored = |number: f64| (number.is_finite() && number >= 0.0).then_some(number as u64);
    Ok(value.as_u64().or_else(|| value.as_f64().and_then(floored)))
}

struct Whole(i128);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl de::Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Whole, E> {
        Ok(Whole(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Whole, E> {
        Ok(Whole(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Whole, E> {
        // The cast is exact for whole values in range and saturates past it, which the callers then refuse.
        if value.fract() == 0.0 {
            Ok(Whole(value as i128))
        } else {
            Err(E::invalid_value(de::Unexpected::Float(value), &self))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Sample {
        #[serde(default, deserialize_with = "string_or_null")]
        text: String,
        #[serde(default, deserialize_with = "null_as_default")]
        list: Vec<u8>,
        #[serde(default, deserialize_with = "whole_i64")]
        signed: i64,
        #[serde(default, deserialize_with = "opt_whole_u64")]
        count: Option<u64>,
        #[serde(default, deserialize_with = "opt_whole_i64")]
        shift: Option<i64>,
        #[serde(default, deserialize_with = "floor_or_none")]
        about: Option<u64>,
        #[serde(default, deserialize_with = "whole_or_zero")]
        total: u64,
        #[serde(default, deserialize_with = "or_default")]
        names: Vec<String>,
    }

    fn read(json: &str) -> Result<Sample, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn nulls_and_floats_are_read() {
        let plain = Sample {
            text: "t".into(),
            list: vec![1],
            signed: -3,
            count: Some(7),
            shift: Some(-1),
            about: Some(2),
            total: 4,
            names: vec!["n".into()],
        };
        let json = r#"{"text":"t","list":[1],"signed":-3.0,"count":7.0,"shift":-1,"about":2.9,"total":4.0,"names":["n"]}"#;
        assert_eq!(read(json).as_ref(), Ok(&plain));
        let empty = Sample {
            text: String::new(),
            list: vec![],
            signed: 0,
            count: None,
            shift: None,
            about: None,
            total: 0,
            names: vec![],
        };
        assert_eq!(read("{}").as_ref(), Ok(&empty));
        let nulls = r#"{"text":null,"list":null,"count":null,"shift":null,"total":null,"names":null}"#;
        assert_eq!(read(nulls).as_ref(), Ok(&empty));
        for odd in ["3", "{}", "[1]", "\"n\""] {
            assert_eq!(read(&format!(r#"{{"names":{odd}}}"#)).as_ref(), Ok(&empty), "{odd}");
        }
        for odd in ["null", "-1", "\"x\"", "{}", "[1]", "true"] {
            assert_eq!(read(&format!(r#"{{"about":{odd}}}"#)).as_ref(), Ok(&empty), "{odd}");
        }
    }

    #[test]
    fn wrong_values_stay_wrong() {
        for json in [
            r#"{"text":1}"#,
            r#"{"signed":1.5}"#,
            r#"{"signed":"1"}"#,
            r#"{"signed":null}"#,
            r#"{"signed":1e300}"#,
            r#"{"count":-1}"#,
            r#"{"count":-1.0}"#,
            r#"{"count":1e19,"shift":1e19}"#,
            r#"{"shift":true}"#,
            r#"{"total":1.5}"#,
            r#"{"total":"1"}"#,
        ] {
            assert!(read(json).is_err(), "{json}");
        }
    }
}
