//! Enums that the vocabulary has in groups and the written form has flat: `Body` and `Command`.
//!
//! Writing needs nothing: a group writes its own variant under its flat name. Reading looks at the name first and hands the rest to
//! the group that has it, without looking at the value twice.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer as _, VariantAccess, Visitor,
};
use std::fmt;

/// A variant whose name was read already: what remains of reading an enum.
pub(crate) struct Named<A> {
    pub(crate) name: &'static str,
    pub(crate) rest: A,
}

impl<'de, A: VariantAccess<'de>> Deserializer<'de> for Named<A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: VariantAccess<'de>> EnumAccess<'de> for Named<A> {
    type Error = A::Error;
    type Variant = A;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, A), A::Error> {
        let name: StrDeserializer<'_, A::Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.rest))
    }
}

/// Reads a name, which must be one of these.
pub(crate) struct OneOf(pub(crate) &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for OneOf {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for OneOf {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a known name")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<&'static str, E> {
        self.0.iter().find(|name| **name == text).copied().ok_or_else(|| E::unknown_variant(text, self.0))
    }
}

/// The variants of all groups beside each other, and what stands alone.
#[cfg(feature = "schema")]
pub(crate) fn flat<const GROUPS: usize>(
    groups: [schemars::Schema; GROUPS],
    alone: Vec<(&str, schemars::Schema)>,
) -> schemars::Schema {
    let mut all = Vec::new();
    for group in groups {
        match group.get("oneOf").and_then(serde_json::Value::as_array) {
            Some(variants) => all.extend(variants.iter().cloned()),
            None => all.push(group.to_value()),
        }
    }
    for (name, schema) in alone {
        all.push(serde_json::json!({
            "type": "object",
            "properties": { name: schema },
            "required": [name],
            "additionalProperties": false,
        }));
    }
    schemars::json_schema!({ "oneOf": all })
}

/// Makes a grouped enum [`Written`](crate::Written): the groups with the flat names that each has, then what
/// stands alone, with the type of what it carries.
macro_rules! grouped {
    ($ty:ident {
        $($group:ident($inner:ident): [$($name:literal),+ $(,)?],)+
        $($alone:literal($alone_is:ty): $pattern:pat => $write:ident($($field:ident),+), $read:ident,)*
    }) => {
        const NAMES: &[&str] = &[$($($name,)+)+ $($alone,)*];

        impl $crate::Written for $ty {
            fn write<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $($ty::$group(inner) => inner.write(serializer),)+
                    $($pattern => $write(serializer, $($field),+),)*
                }
            }

            fn read<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<$ty, D::Error> {
                struct Reader;
                impl<'de> serde::de::Visitor<'de> for Reader {
                    type Value = $ty;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("a ", stringify!($ty)))
                    }
                    fn visit_enum<A: serde::de::EnumAccess<'de>>(self, data: A) -> Result<$ty, A::Error> {
                        let (name, rest) = data.variant_seed($crate::grouped::OneOf(NAMES))?;
                        match name {
                            $($($name)|+ => {
                                <$inner as $crate::Written>::read($crate::grouped::Named { name, rest }).map($ty::$group)
                            })+
                            $($alone => $read(rest),)*
                            other => Err(serde::de::Error::unknown_variant(other, NAMES)),
                        }
                    }
                }
                deserializer.deserialize_enum(stringify!($ty), NAMES, Reader)
            }

            #[cfg(feature = "schema")]
            const NOUN: Option<&'static str> = Some(stringify!($ty));

            #[cfg(feature = "schema")]
            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let groups = [$(<$inner as $crate::Written>::schema(generator)),+];
                let alone: Vec<(&str, schemars::Schema)> =
                    vec![$(($alone, generator.subschema_for::<$alone_is>())),*];
                $crate::grouped::flat(groups, alone)
            }
        }
    };
}
pub(crate) use grouped;
