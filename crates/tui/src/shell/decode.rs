//! The bytes of a terminal as keys, pastes, the mouse, and answers to what it was asked. Pure.
//!
//! Answers may come at any time, late and in any order, in pieces, between keys: what has the form of an answer is never a key, and
//! what breaks that form is one again. Only where the bytes end in the middle is it a question of time: an Esc that nothing follows
//! is the key ([`Decoder::give_up`]).

mod keys;
#[cfg(test)]
mod tests;

use crate::key::{Code, Key};
use crate::msg::{Mouse, MouseAct};
use keys::{Modifiers, function, letter, numbered, single};
use std::time::Duration;

/// Bytes of a paste that are handed on at once; the rest of a longer one follows.
const MAX_PASTE: usize = 16 * 1024 * 1024;
/// Longest sequence that is waited for.
const MAX_SEQUENCE: usize = 4_096;
/// How long after an Esc something may follow that belongs to it: terminals write both at once.
const ESC_WITHIN: Duration = Duration::from_millis(30);
/// The same for a sequence that has begun: nobody types like that.
const REST_WITHIN: Duration = Duration::from_millis(500);
const PASTE_END: &[u8] = b"\x1b[201~";

/// What the bytes say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InputEvent {
    Key(Key),
    Paste(String),
    Mouse(Mouse),
    Answer(Answer),
}

/// What the terminal tells when it is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    /// Frames can be made to appear at once, or not.
    Synchronized(bool),
    /// Keys come in their own form when asked.
    Keys,
    /// Its name and version.
    Name(String),
    /// Whether its background is dark.
    Dark(bool),
    /// The row and column of the cursor, from 0. Some keys look the same: see [`Answer::as_key`].
    Cursor(u16, u16),
    /// What every terminal tells: the answer to the last question.
    Attributes,
}

impl Answer {
    /// The key that is sent in the form of this answer: F3 with something held looks like where the cursor is.
    pub(super) fn as_key(&self) -> Option<Key> {
        match self {
            Answer::Cursor(0, column @ 1..16) => {
                Some(Modifiers::told(u32::from(*column) + 1).key(Code::F(3)))
            }
            _ => None,
        }
    }
}

/// How the bytes so far end.
enum DecodeStep {
    /// This many bytes say this (nothing that matters, if `None`).
    Whole(usize, Option<InputEvent>),
    /// More must come.
    Part,
}

/// Reads bytes.
#[derive(Debug)]
pub(super) struct Decoder {
    bytes: Vec<u8>,
    paste: Option<Vec<u8>>,
    /// Whether what the terminal was asked at the start may still come. Until then an Esc may begin an answer that a slow line cut.
    expects: bool,
}

impl Default for Decoder {
    fn default() -> Decoder {
        Decoder { bytes: Vec::new(), paste: None, expects: true }
    }
}

impl Decoder {
    /// Takes bytes in; what they say.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<InputEvent> {
        self.bytes.extend_from_slice(bytes);
        let mut said = Vec::new();
        self.read(&mut said);
        said
    }

    /// How long more is to be waited for, where the bytes end in the middle of something that may be whole as it is.
    pub(super) fn waits(&self) -> Option<Duration> {
        let may_be_whole = self.paste.is_none() && !self.bytes.is_empty() && !self.is_answering();
        let begins = [&b"\x1b"[..], b"\x1b]", b"\x1bP", b"\x1b["].contains(&&self.bytes[..]);
        let slow = self.bytes.len() > 2 || (self.expects && begins);
        may_be_whole.then_some(if slow { REST_WITHIN } else { ESC_WITHIN })
    }

    /// Nothing more came for a while: what is there is all there is.
    pub(super) fn give_up(&mut self) -> Vec<InputEvent> {
        let mut said = Vec::new();
        // It was a key. Only this one came late: who waits for ever for a silent terminal makes every Esc slow.
        self.expects = false;
        while self.waits().is_some() {
            let first = self.bytes.remove(0);
            match first {
                0x1b if self.bytes.first().is_some_and(|next| next.is_ascii_graphic()) => {
                    let next = self.bytes.remove(0);
                    said.push(InputEvent::Key(Key { alt: true, ..single(next) }));
                }
                // A character that was cut.
                0x80.. => {}
                byte => said.push(InputEvent::Key(single(byte))),
            }
            self.read(&mut said);
        }
        said
    }

    /// Whether an answer has begun that no key begins like.
    fn is_answering(&self) -> bool {
        [&b"\x1b]11;"[..], b"\x1bP>|", b"\x1b[?"].iter().any(|begin| self.bytes.starts_with(begin))
    }

    fn read(&mut self, said: &mut Vec<InputEvent>) {
        loop {
            if self.paste.is_some() {
                if !self.read_paste(said) {
                    return;
                }
                continue;
            }
            if self.bytes.is_empty() {
                return;
            }
            if self.bytes.starts_with(b"\x1b[200~") {
                self.bytes.drain(..6);
                self.paste = Some(Vec::new());
                continue;
            }
            match one(&self.bytes) {
                DecodeStep::Whole(used, what) => {
                    self.bytes.drain(..used.max(1));
                    // The answer to the last question.
                    self.expects &= what != Some(InputEvent::Answer(Answer::Attributes));
                    said.extend(what);
                }
                DecodeStep::Part if self.bytes.len() < MAX_SEQUENCE => return,
                DecodeStep::Part => self.bytes.clear(),
            }
        }
    }

    /// Takes in as much of a paste as is there; whether it is over.
    fn read_paste(&mut self, said: &mut Vec<InputEvent>) -> bool {
        let Some(paste) = &mut self.paste else { return true };
        let end = self.bytes.windows(PASTE_END.len()).position(|window| window == PASTE_END);
        // Its end may have come in part.
        let kept = end.unwrap_or_else(|| {
            let may_end = |tail: &usize| self.bytes.ends_with(&PASTE_END[..*tail]);
            self.bytes.len() - (1..PASTE_END.len()).rev().find(may_end).unwrap_or(0)
        });
        paste.extend(self.bytes.drain(..kept));
        if end.is_none() && paste.len() < MAX_PASTE {
            return false;
        }
        let text = String::from_utf8_lossy(paste).into_owned();
        said.push(InputEvent::Paste(text));
        paste.clear();
        if end.is_some() {
            self.bytes.drain(..PASTE_END.len());
            self.paste = None;
        }
        end.is_some()
    }
}

/// The first thing that the bytes say.
fn one(bytes: &[u8]) -> DecodeStep {
    match bytes {
        [0x1b] => DecodeStep::Part,
        [0x1b, b'[', ..] => sequence(bytes),
        [0x1b, b'O', rest @ ..] => match rest {
            [] => DecodeStep::Part,
            [last, ..] => DecodeStep::Whole(3, letter(*last, Modifiers::default()).map(InputEvent::Key)),
        },
        [0x1b, b']', ..] => string(
            bytes,
            b"\x1b]11;",
            |c| c.is_ascii_alphanumeric() || b":/".contains(&c),
            |text| dark(text).map(Answer::Dark),
        ),
        [0x1b, b'P', ..] => string(
            bytes,
            b"\x1bP>|",
            |c| c.is_ascii_graphic() || c == b' ',
            |text| Some(Answer::Name(text.to_owned())),
        ),
        // Some terminals send Alt and an arrow as Esc and the arrow; else the first Esc stands for itself.
        [0x1b, 0x1b] => DecodeStep::Part,
        [0x1b, 0x1b, b'[' | b'O', ..] => match one(&bytes[1..]) {
            DecodeStep::Whole(used, Some(InputEvent::Key(key))) => {
                DecodeStep::Whole(used + 1, Some(InputEvent::Key(Key { alt: true, ..key })))
            }
            DecodeStep::Whole(..) => escape(),
            DecodeStep::Part => DecodeStep::Part,
        },
        [0x1b, 0x1b, ..] => escape(),
        [0x1b, rest @ ..] => match character(rest) {
            DecodeStep::Whole(used, Some(InputEvent::Key(key))) => {
                DecodeStep::Whole(used + 1, Some(InputEvent::Key(Key { alt: true, ..key })))
            }
            DecodeStep::Whole(used, what) => DecodeStep::Whole(used + 1, what),
            DecodeStep::Part => DecodeStep::Part,
        },
        _ => character(bytes),
    }
}

fn escape() -> DecodeStep {
    DecodeStep::Whole(1, Some(InputEvent::Key(Key::plain(Code::Esc))))
}

/// A character, or a byte that stands for a key.
fn character(bytes: &[u8]) -> DecodeStep {
    let Some(first) = bytes.first() else { return DecodeStep::Part };
    let long = match first {
        0..0x80 => return DecodeStep::Whole(1, Some(InputEvent::Key(single(*first)))),
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf8 => 4,
        _ => return DecodeStep::Whole(1, None),
    };
    let Some(whole) = bytes.get(..long) else {
        let goes_on = bytes[1..].iter().all(|byte| (0x80..0xc0).contains(byte));
        return if goes_on { DecodeStep::Part } else { DecodeStep::Whole(1, None) };
    };
    match std::str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
        Some(c) => DecodeStep::Whole(long, Some(InputEvent::Key(Key::char(c)))),
        None => DecodeStep::Whole(1, None),
    }
}

/// An answer that is a text: `begin`, what may stand in it, and a BEL or `ESC \`. What breaks this form is typed.
fn string(
    bytes: &[u8],
    begin: &[u8],
    fits: impl Fn(u8) -> bool,
    understand: impl Fn(&str) -> Option<Answer>,
) -> DecodeStep {
    let same = bytes.iter().zip(begin).take_while(|(byte, wanted)| byte == wanted).count();
    if same < begin.len() {
        // Alt and the second byte, if it is no answer.
        return if same == bytes.len() {
            DecodeStep::Part
        } else {
            DecodeStep::Whole(2, Some(InputEvent::Key(Key { alt: true, ..single(bytes[1]) })))
        };
    }
    let long = bytes[same..].iter().take_while(|byte| fits(**byte)).count();
    let end = same + long;
    let used = match &bytes[end..] {
        [] | [0x1b] => return DecodeStep::Part,
        [0x07, ..] => end + 1,
        [0x1b, b'\\', ..] => end + 2,
        // What is typed in the middle of an answer is still typed; what was an answer is none.
        _ => return DecodeStep::Whole(end, None),
    };
    let text = String::from_utf8_lossy(&bytes[same..end]);
    DecodeStep::Whole(used, understand(&text).map(InputEvent::Answer))
}

/// Whether `rgb:RRRR/GGGG/BBBB` is a dark colour.
fn dark(text: &str) -> Option<bool> {
    let mut parts = text.strip_prefix("rgb:").or(text.strip_prefix("rgba:"))?.split('/');
    let mut part = || {
        let hex = parts.next()?;
        let high = u32::from_str_radix(hex.get(..hex.len().min(2))?, 16).ok()?;
        Some(if hex.len() == 1 { high * 17 } else { high })
    };
    let (red, green, blue) = (part()?, part()?, part()?);
    Some(red * 299 + green * 587 + blue * 114 < 128_000)
}

/// `ESC [`, numbers, a last byte.
fn sequence(bytes: &[u8]) -> DecodeStep {
    if let [_, _, b'M', rest @ ..] = bytes {
        // The oldest form of the mouse; without it a click would be typed.
        return if rest.len() < 3 { DecodeStep::Part } else { DecodeStep::Whole(6, None) };
    }
    let inner = bytes[2..].iter().take_while(|byte| (0x20..0x40).contains(*byte)).count();
    let Some(last) = bytes.get(2 + inner) else { return DecodeStep::Part };
    let whole = 3 + inner;
    let text = String::from_utf8_lossy(&bytes[2..2 + inner]);
    if !(0x40..0x7f).contains(last) {
        // Something else begins in the middle of it.
        return DecodeStep::Whole(2 + inner, None);
    }
    // The Linux console has a form of its own for the first function keys.
    if inner == 0 && *last == b'[' {
        return match bytes.get(3) {
            None => DecodeStep::Part,
            Some(key) => DecodeStep::Whole(4, function(*key).map(InputEvent::Key)),
        };
    }
    DecodeStep::Whole(whole, meaning(&text, *last))
}

fn meaning(text: &str, last: u8) -> Option<InputEvent> {
    if let Some(told) = text.strip_prefix('?') {
        return answer(told, last).map(InputEvent::Answer);
    }
    if let Some(place) = text.strip_prefix('<') {
        return mouse(place, last).map(InputEvent::Mouse);
    }
    // `number;held`, each perhaps with parts after a colon.
    let mut fields = text.split(';').map(|field| field.split(':').collect::<Vec<_>>());
    let number = |field: &[&str], at: usize| field.get(at).and_then(|text| text.parse::<u32>().ok());
    let first = fields.next().unwrap_or_default();
    let second = fields.next();
    if last == b'R'
        && let (Some(row), Some(column)) = (number(&first, 0), second.as_ref().and_then(|f| number(f, 0)))
    {
        let from_0 = |n: u32| u16::try_from(n.saturating_sub(1)).unwrap_or(u16::MAX);
        return Some(InputEvent::Answer(Answer::Cursor(from_0(row), from_0(column))));
    }
    let second = second.unwrap_or_default();
    if number(&second, 1) == Some(RELEASED) {
        return None;
    }
    let held = Modifiers::told(number(&second, 0).unwrap_or(1));
    let key = match last {
        b'u' => keys::own_form(number(&first, 0)?, held),
        b'~' if number(&first, 0) == Some(27) => {
            // Another form for the same: 27, what was held, the character.
            let code = fields.next().and_then(|field| number(&field, 0))?;
            keys::own_form(code, held)
        }
        b'~' => numbered(number(&first, 0)?, held),
        b'Z' => Some(Key { ctrl: false, alt: held.alt, ..Key::plain(Code::BackTab) }),
        _ => letter(last, held),
    };
    key.map(InputEvent::Key)
}

/// A key that is let go.
const RELEASED: u32 = 3;

fn answer(told: &str, last: u8) -> Option<Answer> {
    let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == ';');
    match last {
        b'y' => {
            let mode = told.strip_prefix("2026;")?.strip_suffix('$')?;
            Some(Answer::Synchronized(mode == "1" || mode == "2"))
        }
        b'u' if digits(told) => Some(Answer::Keys),
        b'c' if told.is_empty() || digits(told) => Some(Answer::Attributes),
        _ => None,
    }
}

fn mouse(place: &str, last: u8) -> Option<Mouse> {
    let mut numbers = place.split(';').map(|number| number.parse::<u16>().ok());
    let (what, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    // What was held does not matter.
    let act = match (what & !0b1_1100, last) {
        (64, b'M') => MouseAct::WheelUp,
        (65, b'M') => MouseAct::WheelDown,
        (0, b'M') => MouseAct::Press,
        (32, b'M') => MouseAct::Drag,
        (0, b'm') => MouseAct::Release,
        _ => return None,
    };
    Some(Mouse { act, column: column.saturating_sub(1), row: row.saturating_sub(1) })
}
