//! How values are written: the trait, its containers and its plain values. The nouns are in files of their own.

use domain::content::Json;
use domain::ids::{
    AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, SessionId, StepId, ToolRunId, TurnId, UiId,
};
use domain::port::Ticket;
#[cfg(feature = "schema")]
use schemars::{Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Serialize, Serializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

/// A value that has a written form.
pub trait Written: Sized {
    /// Writes it.
    ///
    /// # Errors
    /// What the serializer says.
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads it.
    ///
    /// # Errors
    /// When it is something else.
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;

    /// Its name in a schema, if it has a definition of its own there.
    #[cfg(feature = "schema")]
    const NOUN: Option<&'static str> = None;

    /// The JSON Schema of what [`Written::write`] gives.
    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// Writes and reads a member: `#[serde(with = "As::<SessionId>")]`. It is also the member's schema.
#[derive(Debug)]
pub struct As<T>(PhantomData<T>);

impl<T: Written> As<T> {
    /// Writes it.
    ///
    /// # Errors
    /// What the serializer says.
    pub fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        value.write(serializer)
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it is something else.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        T::read(deserializer)
    }
}

#[cfg(feature = "schema")]
impl<T: Written> schemars::JsonSchema for As<T> {
    fn inline_schema() -> bool {
        T::NOUN.is_none()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::NOUN.unwrap_or("Value").into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        std::any::type_name::<T>().into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::schema(generator)
    }
}

/// A borrowed value, to be serialized.
#[derive(Debug)]
pub struct Ref<'a, T>(pub &'a T);

impl<T: Written> Serialize for Ref<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(serializer)
    }
}

/// A value that was deserialized.
#[derive(Debug)]
pub struct Own<T>(pub T);

impl<'de, T: Written> Deserialize<'de> for Own<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Own<T>, D::Error> {
        T::read(deserializer).map(Own)
    }
}

/// Values whose written form serde knows.
macro_rules! plain {
    ($($ty:ty),* $(,)?) => { $(
        impl Written for $ty {
            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.serialize(serializer)
            }
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$ty, D::Error> {
                <$ty>::deserialize(deserializer)
            }

            #[cfg(feature = "schema")]
            fn schema(generator: &mut SchemaGenerator) -> Schema {
                <$ty as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )* };
}

plain!(bool, u8, u16, u32, u64, String);

/// Types that wrap a number: written as the number alone.
macro_rules! numbers {
    ($($ty:ident),* $(,)?) => { $(
        impl Written for $ty {
            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u64(self.0)
            }
            fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$ty, D::Error> {
                u64::deserialize(deserializer).map($ty)
            }

            #[cfg(feature = "schema")]
            fn schema(generator: &mut SchemaGenerator) -> Schema {
                <u64 as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )* };
}

numbers!(AskId, EntryId, MessageId, Millis, QueuedId, RunId, Seq, StepId, Ticket, ToolRunId, TurnId, UiId,);

/// Nouns whose written form is a serde type of this crate that mirrors them (`#[serde(remote)]`), which fails to compile when
/// the vocabulary has a variant or a field that the mirror lacks.
macro_rules! mirrored {
    ($($ty:ty => $mirror:ident),* $(,)?) => { $(
        impl $crate::Written for $ty {
            fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $mirror::serialize(self, serializer)
            }
            fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<$ty, D::Error> {
                $mirror::deserialize(deserializer)
            }

            #[cfg(feature = "schema")]
            const NOUN: Option<&'static str> = Some(stringify!($ty));

            #[cfg(feature = "schema")]
            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$mirror as schemars::JsonSchema>::json_schema(generator)
            }
        }
    )* };
}
pub(crate) use mirrored;

impl<T: Written> Written for Option<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().map(Ref).serialize(serializer)
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
        Ok(Option::<Own<T>>::deserialize(deserializer)?.map(|own| own.0))
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <Option<As<T>> as schemars::JsonSchema>::json_schema(generator)
    }
}

impl<T: Written> Written for Vec<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Ref))
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
        Ok(Vec::<Own<T>>::deserialize(deserializer)?.into_iter().map(|own| own.0).collect())
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <Vec<As<T>> as schemars::JsonSchema>::json_schema(generator)
    }
}

impl<T: Written> Written for Box<T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (**self).write(serializer)
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<T>, D::Error> {
        T::read(deserializer).map(Box::new)
    }

    // The definition of what is in it: one of its own would be a second with the same name.
    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<As<T>>()
    }
}

impl<T: Written> Written for BTreeMap<String, T> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(key, value)| (key, Ref(value))))
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error> {
        let read = BTreeMap::<String, Own<T>>::deserialize(deserializer)?;
        Ok(read.into_iter().map(|(key, own)| (key, own.0)).collect())
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <BTreeMap<String, As<T>> as schemars::JsonSchema>::json_schema(generator)
    }
}

impl<A: Written, B: Written> Written for (A, B) {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (Ref(&self.0), Ref(&self.1)).serialize(serializer)
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<(A, B), D::Error> {
        <(Own<A>, Own<B>)>::deserialize(deserializer).map(|(a, b)| (a.0, b.0))
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <(As<A>, As<B>) as schemars::JsonSchema>::json_schema(generator)
    }
}

impl Written for Arc<str> {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <String as schemars::JsonSchema>::json_schema(generator)
    }
}

impl Written for SessionId {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SessionId, D::Error> {
        let text = String::deserialize(deserializer)?;
        SessionId::parse(&text).ok_or_else(|| D::Error::custom(format!("`{text}` is not a session id")))
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <String as schemars::JsonSchema>::json_schema(generator)
    }
}

/// The key of a JSON text that cannot stand in a line as it is; its value is the text as a string.
const VERBATIM: &str = "$verbatim";

#[derive(serde::Serialize, serde::Deserialize)]
struct Verbatim<'a> {
    #[serde(rename = "$verbatim", borrow)]
    text: std::borrow::Cow<'a, str>,
}

/// Embedded as a JSON value, verbatim. What would break the line or not come back the same (line breaks between tokens, space
/// around it, our own escape) is escaped as `{"$verbatim": "…"}`; what is no JSON at all becomes a string.
impl Written for Json {
    fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
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

    fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let Some(text) = escaped(raw.get()) else { return Ok(Json::verbatim(raw.get())) };
        if serde_json::from_str::<&RawValue>(&text).is_ok() {
            return Ok(Json::verbatim(text));
        }
        // Whoever made a `Json` promises that it is one: keep that promise for peers that do not.
        Ok(Json::verbatim(serde_json::Value::String(text).to_string()))
    }

    #[cfg(feature = "schema")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        <serde_json::Value as schemars::JsonSchema>::json_schema(generator)
    }
}

/// The text inside our escape.
fn escaped(json: &str) -> Option<String> {
    if !json.starts_with('{') || !json.contains(VERBATIM) {
        return None;
    }
    serde_json::from_str::<Verbatim<'_>>(json).ok().map(|verbatim| verbatim.text.into_owned())
}
