//! Secrets that a person typed into a question that asked for one: what may be known of them outside of this process is a mark.
//!
//! Who asked gets the value; record, other links, recordings and exports get [`mark`], also where the value is said again.
//! Not here: deciding who may see a value. Always: a book holds at most [`MAX_SECRETS`] of [`MAX_LENGTH`] bytes and is never written
//! anywhere; masking twice changes nothing more; a value shorter than [`MIN_MASKED`] characters is not looked for in other texts, where
//! it would hit ordinary words.

mod body;
mod json;
#[cfg(test)]
mod tests;
mod veil;

use crate::ids::AskId;
use crate::mark::BEFORE;
use std::borrow::Cow;
use std::fmt;

pub use crate::mark::{has_mark, mark};
pub use veil::Veil;

/// Secrets of one session at most; one more is refused.
pub const MAX_SECRETS: usize = 64;
/// Bytes of a secret at most: a private key has room.
pub const MAX_LENGTH: usize = 16 * 1024;
/// Characters from which a value is looked for wherever something is said.
pub const MIN_MASKED: usize = 6;
/// Characters from which a line of a longer secret is looked for by itself: tools number and cut lines.
const MIN_LINE: usize = 12;

/// Why a secret cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unkept {
    /// There are too many.
    Many,
    /// It is too long.
    Long,
}

impl fmt::Display for Unkept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unkept::Many => write!(f, "this session holds {MAX_SECRETS} secrets already"),
            Unkept::Long => write!(f, "a secret has at most {MAX_LENGTH} bytes"),
        }
    }
}

/// The secrets of one session, for as long as this process keeps it open.
#[derive(Clone, Default)]
pub struct Secrets {
    kept: Vec<(AskId, String)>,
    /// What is looked for, and what stands in its place.
    forms: Vec<Form>,
    /// Whether a form begins with this byte.
    first: Vec<bool>,
}

#[derive(Clone)]
struct Form {
    bytes: Vec<u8>,
    shown: String,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.kept.len())
    }
}

/// What a look through a text found.
struct Scanned {
    /// The text with marks; `None` when nothing had to be changed.
    out: Option<Vec<u8>>,
    /// Bytes at its end that may be the beginning of a secret.
    held: usize,
}

impl Secrets {
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Takes in what was typed into a question.
    ///
    /// # Errors
    /// When it is too long, or there are too many.
    pub fn keep(&mut self, ask: AskId, value: &str) -> Result<(), Unkept> {
        if value.len() > MAX_LENGTH {
            return Err(Unkept::Long);
        }
        if self.kept.len() >= MAX_SECRETS {
            return Err(Unkept::Many);
        }
        self.kept.push((ask, value.to_owned()));
        self.forms.push(Form { bytes: mark(ask).into_bytes(), shown: mark(ask) });
        for form in forms(value) {
            if self.forms.iter().all(|known| known.bytes != form.as_bytes()) {
                self.forms.push(Form { bytes: form.into_bytes(), shown: mark(ask) });
            }
        }
        self.first = vec![false; 256];
        for form in &self.forms {
            if let Some(first) = form.bytes.first() {
                self.first[usize::from(*first)] = true;
            }
        }
        Ok(())
    }

    /// The text with marks in the place of secrets.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.scan(text.as_bytes(), End::Whole).out {
            // Forms are whole characters, so what is between them is too.
            Some(out) => Cow::Owned(String::from_utf8_lossy(&out).into_owned()),
            None => Cow::Borrowed(text),
        }
    }

    /// The beginning of a stream of bytes with marks, and how many bytes at its end must wait for what comes.
    pub fn mask_beginning(&self, bytes: &[u8]) -> (Vec<u8>, usize) {
        let scanned = self.scan(bytes, End::MoreComes);
        let ready = bytes.len() - scanned.held;
        (scanned.out.unwrap_or_else(|| bytes[..ready].to_vec()), scanned.held)
    }

    /// The rest of a stream of bytes with marks.
    pub fn mask_rest(&self, bytes: &[u8]) -> Vec<u8> {
        self.scan(bytes, End::Whole).out.unwrap_or_else(|| bytes.to_vec())
    }

    /// Whether a secret stands somewhere in the text.
    pub fn holds(&self, text: &str) -> bool {
        matches!(self.mask(text), Cow::Owned(masked) if masked != text)
    }

    /// The text with the values of those questions that `may` allows, in the place of their marks.
    pub fn unmask<'t>(&self, text: &'t str, may: impl Fn(AskId) -> bool) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        if text.contains(BEFORE) {
            for (ask, value) in self.kept.iter().filter(|(ask, _)| may(*ask)) {
                let mark = mark(*ask);
                if shown.contains(&mark) {
                    shown = Cow::Owned(shown.replace(&mark, value));
                }
            }
        }
        shown
    }

    fn scan(&self, text: &[u8], end: End) -> Scanned {
        let mut scanned = Scanned { out: None, held: 0 };
        if self.forms.is_empty() {
            return scanned;
        }
        let (mut at, mut copied) = (0, 0);
        while let Some(byte) = text.get(at) {
            if !self.first[usize::from(*byte)] {
                at += 1;
                continue;
            }
            let rest = &text[at..];
            let begins = |form: &Form| form.bytes.len() > rest.len() && form.bytes.starts_with(rest);
            if end == End::MoreComes && self.forms.iter().any(begins) {
                scanned.held = rest.len();
                break;
            }
            let found = self.forms.iter().filter(|form| rest.starts_with(&form.bytes));
            let Some(found) = found.max_by_key(|form| form.bytes.len()) else {
                at += 1;
                continue;
            };
            let out = scanned.out.get_or_insert_with(Vec::new);
            out.extend_from_slice(&text[copied..at]);
            out.extend_from_slice(found.shown.as_bytes());
            at += found.bytes.len();
            copied = at;
        }
        if let Some(out) = &mut scanned.out {
            out.extend_from_slice(&text[copied..text.len() - scanned.held]);
        }
        scanned
    }
}

/// Whether a text may go on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    MoreComes,
}

/// The ways in which a value may be said again: as it is, inside JSON (also inside JSON in JSON), and a long one line by line.
fn forms(value: &str) -> Vec<String> {
    let trimmed = value.trim();
    let mut plain = vec![value.to_owned(), trimmed.to_owned(), value.replace('\n', "\r\n")];
    if trimmed.contains('\n') {
        let lines = trimmed.lines().map(str::trim);
        plain.extend(lines.filter(|line| line.chars().count() >= MIN_LINE).map(str::to_owned));
    }
    let escaped: Vec<String> =
        plain.iter().flat_map(|text| [json::escaped(text), json::escaped_ascii(text)]).collect();
    let twice: Vec<String> = escaped.iter().map(|text| json::escaped(text)).collect();
    let mut all: Vec<String> = plain.into_iter().chain(escaped).chain(twice).collect();
    all.retain(|form| form.chars().count() >= MIN_MASKED);
    all.sort();
    all.dedup();
    all
}
