//! Which key a byte, a number or a last letter stands for.

use crate::key::{Code, Key};

/// What was held with a key.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Modifiers {
    pub(super) shift: bool,
    pub(super) alt: bool,
    pub(super) ctrl: bool,
}

impl Modifiers {
    /// As terminals tell it: one more than the sum of shift (1), alt (2) and control (4).
    pub(super) fn told(number: u32) -> Modifiers {
        let bits = number.saturating_sub(1);
        Modifiers { shift: bits & 1 != 0, alt: bits & 2 != 0, ctrl: bits & 4 != 0 }
    }

    /// Shift is not told of characters: they carry it.
    pub(super) fn key(self, code: Code) -> Key {
        let shift = self.shift && !matches!(code, Code::Char(_) | Code::BackTab);
        Key { code, ctrl: self.ctrl, alt: self.alt, shift }
    }
}

/// A key that is one byte.
pub(super) fn single(byte: u8) -> Key {
    match byte {
        b'\r' => Key::plain(Code::Enter),
        b'\t' => Key::plain(Code::Tab),
        0x7f => Key::plain(Code::Backspace),
        0x1b => Key::plain(Code::Esc),
        0 => Key::ctrl(' '),
        // Terminals send Ctrl-/ and Ctrl-_ as the same byte.
        0x1f => Key::ctrl('_'),
        0x1c..=0x1e => Key::ctrl(char::from(byte - 0x1c + b'4')),
        1..0x1b => Key::ctrl(char::from(byte - 1 + b'a')),
        _ => Key::char(char::from(byte)),
    }
}

/// A key that ends with a letter: `ESC [ A`, `ESC [ 1 ; 5 A`, `ESC O A`.
pub(super) fn letter(last: u8, held: Modifiers) -> Option<Key> {
    let code = match last {
        b'A' => Code::Up,
        b'B' => Code::Down,
        b'C' => Code::Right,
        b'D' => Code::Left,
        b'F' => Code::End,
        b'H' => Code::Home,
        b'M' => Code::Enter,
        b'P'..=b'S' => Code::F(last - b'P' + 1),
        _ => return None,
    };
    Some(held.key(code))
}

/// The first function keys of the Linux console: `ESC [ [ A`.
pub(super) fn function(last: u8) -> Option<Key> {
    (b'A'..=b'E').contains(&last).then(|| Key::plain(Code::F(last - b'A' + 1)))
}

/// A key with a number: `ESC [ 5 ~`.
pub(super) fn numbered(number: u32, held: Modifiers) -> Option<Key> {
    let code = match number {
        1 | 7 => Code::Home,
        4 | 8 => Code::End,
        3 => Code::Delete,
        5 => Code::PageUp,
        6 => Code::PageDown,
        11..=15 => Code::F(u8::try_from(number - 10).ok()?),
        17..=21 => Code::F(u8::try_from(number - 11).ok()?),
        23..=26 => Code::F(u8::try_from(number - 12).ok()?),
        28 | 29 => Code::F(u8::try_from(number - 13).ok()?),
        31..=34 => Code::F(u8::try_from(number - 14).ok()?),
        _ => return None,
    };
    Some(held.key(code))
}

/// A key in its own form: its character, or a number of those set aside for keys.
pub(super) fn own_form(number: u32, held: Modifiers) -> Option<Key> {
    let code = match number {
        9 if held.shift => Code::BackTab,
        9 => Code::Tab,
        13 | 57_414 => Code::Enter,
        27 => Code::Esc,
        127 => Code::Backspace,
        57_399..=57_408 => Code::Char(char::from_digit(number - 57_399, 10)?),
        57_409 => Code::Char('.'),
        57_410 => Code::Char('/'),
        57_411 => Code::Char('*'),
        57_412 => Code::Char('-'),
        57_413 => Code::Char('+'),
        57_415 => Code::Char('='),
        57_416 => Code::Char(','),
        57_417 => Code::Left,
        57_418 => Code::Right,
        57_419 => Code::Up,
        57_420 => Code::Down,
        57_421 => Code::PageUp,
        57_422 => Code::PageDown,
        57_423 => Code::Home,
        57_424 => Code::End,
        57_426 => Code::Delete,
        57_344..=63_743 => return None,
        _ => Code::Char(char::from_u32(number).filter(|c| !c.is_control())?),
    };
    let code = match code {
        Code::Char(c) if held.ctrl => Code::Char(c.to_ascii_lowercase()),
        // A shifted letter comes as the small one with shift.
        Code::Char(c) if held.shift && c.is_lowercase() => Code::Char(c.to_uppercase().next().unwrap_or(c)),
        Code::Char('7' | '/') if held.ctrl => Code::Char('_'),
        other => other,
    };
    Some(held.key(code))
}
