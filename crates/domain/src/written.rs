//! How the vocabulary is written: what serde's derives on its types need beside them. The forms stand as attributes on the types and are
//! frozen: whoever renames a member keeps its written name by an attribute.
//!
//! An enum that holds its variants in groups is [`Flat`]: it is written as if the variants of the groups were its own. Writing needs
//! nothing: a group writes its variant under its own name. FlatReading looks at the name first and hands the rest to the group that has it,
//! without looking at the value twice.

#[cfg(feature = "schema")]
mod schema;

use serde::de::value::{CowStrDeserializer, Error as NoValue};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer as _, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

#[cfg(feature = "schema")]
pub(crate) use schema::{flat, plain};

/// A count that is left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
pub(crate) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// An enum of groups.
pub(crate) trait Flat: Sized {
    /// What is expected where something else is found.
    const NOUN: &'static str;

    /// Offers the variant to one group after another.
    fn read<'de, A: VariantAccess<'de>>(reading: FlatReading<'de, Self, A>) -> FlatReading<'de, Self, A>;

    /// The name first, then what the group of that name makes of the rest.
    fn read_flat<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_enum(Self::NOUN, &[], FlatVisitor(PhantomData))
    }
}

struct FlatVisitor<T>(PhantomData<T>);

impl<'de, T: Flat> Visitor<'de> for FlatVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::NOUN)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<T, A::Error> {
        let (name, rest) = data.variant_seed(AnyName)?;
        T::read(FlatReading { name, stage: Stage::Open(rest), known: Vec::new() }).end()
    }
}

/// A variant whose name was read, on its way to the group that has it.
pub(crate) struct FlatReading<'de, T, A: VariantAccess<'de>> {
    name: Cow<'de, str>,
    stage: Stage<T, A, A::Error>,
    /// The names of the groups that do not have it.
    known: Vec<&'static [&'static str]>,
}

enum Stage<T, A, E> {
    Open(A),
    Read(Result<T, E>),
}

impl<'de, T, A: VariantAccess<'de>> FlatReading<'de, T, A> {
    /// Reads the variant if it is one of this group.
    pub(crate) fn group<G: Deserialize<'de>>(mut self, of: impl FnOnce(G) -> T) -> Self {
        let Stage::Open(rest) = self.stage else { return self };
        let names = names_of::<G>();
        self.stage = if names.contains(&&*self.name) {
            let named = Named { name: std::mem::take(&mut self.name), rest };
            Stage::Read(G::deserialize(named).map(of))
        } else {
            self.known.push(names);
            Stage::Open(rest)
        };
        self
    }

    fn end(self) -> Result<T, A::Error> {
        match self.stage {
            Stage::Read(read) => read,
            Stage::Open(_) => {
                let (name, known) = (self.name, self.known.concat().join("`, `"));
                Err(Error::custom(format_args!("unknown variant `{name}`, expected one of `{known}`")))
            }
        }
    }
}

/// The names of an enum's variants, as its derived reading asks for them.
fn names_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    let names = Cell::new(&[][..]);
    let _ = T::deserialize(Listener(&names));
    names.get()
}

/// Gives no value; it hears which variants could be read.
struct Listener<'a>(&'a Cell<&'static [&'static str]>);

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = NoValue;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, NoValue> {
        Err(NoValue::custom(""))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, NoValue> {
        self.0.set(variants);
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// A variant whose name was read already: what remains of reading an enum.
struct Named<'de, A> {
    name: Cow<'de, str>,
    rest: A,
}

impl<'de, A: VariantAccess<'de>> Deserializer<'de> for Named<'de, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: VariantAccess<'de>> EnumAccess<'de> for Named<'de, A> {
    type Error = A::Error;
    type Variant = A;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, A), A::Error> {
        let name: CowStrDeserializer<'_, A::Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.rest))
    }
}

/// Reads a name, whichever it is.
struct AnyName;

impl<'de> DeserializeSeed<'de> for AnyName {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<'de> Visitor<'de> for AnyName {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a known name")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}
