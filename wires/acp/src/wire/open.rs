//! What a peer may add is kept: members, kinds and words that we do not know come out again as they came in.
//!
//! The macros here write the wire's types. `object!` is a struct whose unknown members stay in `rest`; `union!` an enum told by one
//! member, whose unknown kinds stay as they are; `words!` an enum of texts with room for any other. Nothing here knows a message.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Any JSON, kept as it was written.
#[derive(Debug, Clone)]
pub struct Raw(Box<RawValue>);

impl Raw {
    /// Keeps a text that is JSON; what is none becomes a JSON string.
    pub fn keep(text: &str) -> Raw {
        match RawValue::from_string(text.trim().to_owned()) {
            Ok(raw) => Raw(raw),
            Err(_) => Raw(serde_json::value::to_raw_value(text).unwrap_or_default()),
        }
    }

    /// The JSON as it came.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// Whether nothing stands there.
    pub fn is_null(&self) -> bool {
        self.text() == "null"
    }

    /// The text in a member of this object.
    pub fn word(&self, member: &str) -> Option<String> {
        let mut reader = serde_json::Deserializer::from_str(self.text());
        reader.deserialize_map(Member(member)).ok().flatten()
    }

    /// The JSON taken apart.
    pub fn value(&self) -> Value {
        serde_json::from_str(self.text()).unwrap_or_default()
    }
}

/// Looks for one member and passes over the others.
struct Member<'a>(&'a str);

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<String>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<String>, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<Cow<'_, str>>()? {
            if key == self.0 {
                found = map.next_value::<Value>()?.as_str().map(ToOwned::to_owned);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

impl Default for Raw {
    fn default() -> Raw {
        Raw(RawValue::NULL.to_owned())
    }
}

impl PartialEq for Raw {
    fn eq(&self, other: &Raw) -> bool {
        self.text() == other.text()
    }
}

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Raw)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Raw {
    fn schema_name() -> Cow<'static, str> {
        "Raw".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

/// Members that a type does not name.
pub type Rest = Map<String, Value>;

/// A value with room for members that it does not name.
pub trait Keeps {
    /// The members without a name here.
    fn rest(&mut self) -> &mut Rest;
}

impl<T: Keeps> Keeps for Box<T> {
    fn rest(&mut self) -> &mut Rest {
        (**self).rest()
    }
}

/// Reads the members of a kind whose tag was read already.
pub(super) fn kind<'de, T: Deserialize<'de> + Keeps>(raw: &'de Raw, tag: &str) -> Option<T> {
    let mut inner: T = serde_json::from_str(raw.text()).ok()?;
    inner.rest().remove(tag);
    Some(inner)
}

/// `name: T` must be there; `opt name: T` may be absent or null; `list name: T` is empty then, and not written when it is.
macro_rules! object {
    ($(#[$meta:meta])* struct $name:ident { $($body:tt)* }) => {
        object!(@field [$(#[$meta])* struct $name] [] { $($body)* });
    };
    (@field $head:tt [$($done:tt)*] { $(#[$meta:meta])* opt $field:ident: $type:ty, $($more:tt)* }) => {
        object!(@field $head [$($done)*
            $(#[$meta])* #[serde(default, skip_serializing_if = "Option::is_none")]
            pub $field: Option<$type>,
        ] { $($more)* });
    };
    (@field $head:tt [$($done:tt)*] { $(#[$meta:meta])* list $field:ident: $type:ty, $($more:tt)* }) => {
        object!(@field $head [$($done)*
            $(#[$meta])*
            #[serde(default, deserialize_with = "wire::lenient::null_as_default", skip_serializing_if = "Vec::is_empty")]
            pub $field: Vec<$type>,
        ] { $($more)* });
    };
    (@field $head:tt [$($done:tt)*] { $(#[$meta:meta])* flag $field:ident, $($more:tt)* }) => {
        object!(@field $head [$($done)*
            $(#[$meta])* #[serde(default, deserialize_with = "wire::lenient::null_as_default")]
            pub $field: bool,
        ] { $($more)* });
    };
    (@field $head:tt [$($done:tt)*] { $(#[$meta:meta])* $field:ident: $type:ty, $($more:tt)* }) => {
        object!(@field $head [$($done)* $(#[$meta])* pub $field: $type,] { $($more)* });
    };
    (@field [$(#[$meta:meta])* struct $name:ident] [$($done:tt)*] {}) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            $($done)*
            #[cfg_attr(feature = "schema", schemars(skip))]
            #[serde(flatten)]
            pub rest: super::open::Rest,
        }

        impl super::open::Keeps for $name {
            fn rest(&mut self) -> &mut super::open::Rest {
                &mut self.rest
            }
        }
    };
}

/// An enum that one member tells; a kind that is not known, or known and not readable, stays as it came.
macro_rules! union {
    ($(#[$meta:meta])* enum $name:ident by $tag:literal {
        $($(#[$doc:meta])* $word:literal => $variant:ident($inner:ty),)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = $tag)]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant($inner),)+
            /// Of a kind that we do not know, or of a known one with wrong members.
            #[cfg_attr(feature = "schema", schemars(skip))]
            #[serde(untagged)]
            Unknown(super::open::Raw),
        }

        impl Default for $name {
            fn default() -> $name {
                $name::Unknown(super::open::Raw::default())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<$name, D::Error> {
                let raw = super::open::Raw::deserialize(deserializer)?;
                let known = match raw.word($tag).as_deref() {
                    $(Some($word) => super::open::kind::<$inner>(&raw, $tag).map($name::$variant),)+
                    _ => None,
                };
                Ok(known.unwrap_or($name::Unknown(raw)))
            }
        }
    };
}

/// An enum of texts with room for any other.
macro_rules! words {
    ($(#[$meta:meta])* enum $name:ident { $($(#[$doc:meta])* $word:literal => $variant:ident,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name {
            $($(#[$doc])* #[serde(rename = $word)] $variant,)+
            /// A word that we do not know, and never write.
            #[cfg_attr(feature = "schema", schemars(skip))]
            #[serde(untagged)]
            Other(String),
        }

        impl $name {
            /// The word on the wire.
            pub fn word(&self) -> &str {
                match self {
                    $($name::$variant => $word,)+
                    $name::Other(word) => word,
                }
            }
        }
    };
}

pub(super) use {object, union, words};
