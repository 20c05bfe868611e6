//! The canonical bytes of a value: its written form as bytes that two programs write alike. The state's hash is over them.
//!
//! They are the JSON that `crates/record` writes, with five things settled, as docs/native-protocol.md tells under "Proof": members stand in
//! the order of their names, members that are null or false are left out, there is no space, a string is its UTF-8 between two bytes
//! that no text has instead of being escaped, and a payload (JSON of others) is a string of the text that it came in. A test of
//! `record` holds one against the other for every noun, so that a member added there and forgotten here is found.
//!
//! Not here: reading, and the nouns that are no part of a state.

mod entities;
mod nouns;

pub use entities::ToolOutput;
pub(super) use entities::{Ended, Proposed, Started, WrittenPart, mark};

/// Before a string and behind it. Nothing is escaped: a long text is fed as it is.
const BEGIN: u8 = 0xfe;
const END: u8 = 0xff;

/// Takes the bytes.
pub trait Sink {
    /// The next bytes.
    fn take(&mut self, bytes: &[u8]);
}

impl Sink for Vec<u8> {
    fn take(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// What has canonical bytes.
pub trait Canonical {
    /// Writes them.
    fn put<S: Sink>(&self, to: &mut S);

    /// Whether a member of this value is left out.
    fn is_left_out(&self) -> bool {
        false
    }
}

/// The canonical bytes of a value.
pub fn bytes(of: &impl Canonical) -> Vec<u8> {
    let mut bytes = Vec::new();
    of.put(&mut bytes);
    bytes
}

impl<T: Canonical + ?Sized> Canonical for &T {
    fn put<S: Sink>(&self, to: &mut S) {
        (**self).put(to);
    }
    fn is_left_out(&self) -> bool {
        (**self).is_left_out()
    }
}

impl Canonical for bool {
    fn put<S: Sink>(&self, to: &mut S) {
        to.take(if *self { b"true" } else { b"false" });
    }
    fn is_left_out(&self) -> bool {
        !*self
    }
}

impl<T: Canonical> Canonical for Option<T> {
    fn put<S: Sink>(&self, to: &mut S) {
        match self {
            Some(value) => value.put(to),
            None => to.take(b"null"),
        }
    }
    fn is_left_out(&self) -> bool {
        self.as_ref().is_none_or(Canonical::is_left_out)
    }
}

impl Canonical for u64 {
    fn put<S: Sink>(&self, to: &mut S) {
        let (mut digits, mut at, mut left) = ([0; 20], 20, *self);
        loop {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
            if left == 0 {
                return to.take(&digits[at..]);
            }
        }
    }
}

impl Canonical for str {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        to.take(&[BEGIN]);
        to.take(self.as_bytes());
        to.take(&[END]);
    }
}

impl Canonical for String {
    fn put<S: Sink>(&self, to: &mut S) {
        self.as_str().put(to);
    }
}

impl<T: Canonical> Canonical for [T] {
    fn put<S: Sink>(&self, to: &mut S) {
        put_list(self, to);
    }
}

impl<T: Canonical> Canonical for Vec<T> {
    fn put<S: Sink>(&self, to: &mut S) {
        put_list(self, to);
    }
}

impl<T: Canonical> Canonical for std::collections::VecDeque<T> {
    fn put<S: Sink>(&self, to: &mut S) {
        put_list(self, to);
    }
}

fn put_list<'a, T: Canonical + 'a>(values: impl IntoIterator<Item = &'a T>, to: &mut impl Sink) {
    to.take(b"[");
    for (at, value) in values.into_iter().enumerate() {
        if at > 0 {
            to.take(b",");
        }
        value.put(to);
    }
    to.take(b"]");
}

impl<A: Canonical, B: Canonical> Canonical for (A, B) {
    fn put<S: Sink>(&self, to: &mut S) {
        to.take(b"[");
        self.0.put(to);
        to.take(b",");
        self.1.put(to);
        to.take(b"]");
    }
}

/// A number of 64 bits as sixteen hex digits in a string.
#[derive(Debug, Clone, Copy)]
struct Hex(u64);

impl Canonical for Hex {
    #[inline]
    fn put<S: Sink>(&self, to: &mut S) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 18];
        for (pair, byte) in digits[1..17].chunks_exact_mut(2).zip(self.0.to_be_bytes()) {
            pair.copy_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
        }
        (digits[0], digits[17]) = (BEGIN, END);
        to.take(&digits);
    }
}

/// An object under way. Its members are to come in the order of their names.
struct Object<'a, S: Sink> {
    to: &'a mut S,
    any: bool,
}

impl<'a, S: Sink> Object<'a, S> {
    fn begin(to: &'a mut S) -> Object<'a, S> {
        to.take(b"{");
        Object { to, any: false }
    }

    #[inline]
    fn name(&mut self, name: &str) {
        if self.any {
            self.to.take(b",");
        }
        self.any = true;
        name.put(self.to);
        self.to.take(b":");
    }

    #[inline]
    fn member(mut self, name: &str, value: impl Canonical) -> Self {
        if !value.is_left_out() {
            self.name(name);
            value.put(self.to);
        }
        self
    }

    /// A member that is an object.
    fn within(mut self, name: &str, members: impl FnOnce(Object<'_, S>) -> Object<'_, S>) -> Self {
        self.name(name);
        members(Object::begin(self.to)).end();
        self
    }

    fn end(self) {
        self.to.take(b"}");
    }
}

/// A list that is left out while it is empty.
fn filled<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}
