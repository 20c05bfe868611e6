//! Keys as the update knows them, and how they are written (`ctrl-c`, `enter`, `a`). The terminal's own events are translated in the
//! shell; nothing else knows them.

use std::fmt;
use std::str::FromStr;

/// The key itself, without what was held with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Code {
    /// A character, as typed (an upper-case letter has shift in it).
    Char(char),
    Enter,
    Tab,
    /// Shift and tab.
    BackTab,
    Backspace,
    Delete,
    Esc,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// A function key.
    F(u8),
}

/// A key with what was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    pub(crate) code: Code,
    pub(crate) ctrl: bool,
    pub(crate) alt: bool,
    /// Shift was held (never set for characters: they carry it).
    pub(crate) shift: bool,
}

impl Key {
    /// A key with nothing held.
    pub(crate) const fn plain(code: Code) -> Key {
        Key { code, ctrl: false, alt: false, shift: false }
    }

    /// A character with nothing held.
    pub(crate) const fn char(c: char) -> Key {
        Key::plain(Code::Char(c))
    }

    /// A character with control held.
    pub(crate) const fn ctrl(c: char) -> Key {
        Key { code: Code::Char(c), ctrl: true, alt: false, shift: false }
    }

    /// A key with alt held.
    #[cfg(test)]
    pub(crate) const fn alt(code: Code) -> Key {
        Key { code, ctrl: false, alt: true, shift: false }
    }

    /// The character, when it would be typed as text.
    pub(crate) fn typed(self) -> Option<char> {
        match self.code {
            Code::Char(c) if !self.ctrl && !self.alt => Some(c),
            _ => None,
        }
    }
}

const NAMES: &[(&str, Code)] = &[
    ("enter", Code::Enter),
    ("tab", Code::Tab),
    ("backtab", Code::BackTab),
    ("backspace", Code::Backspace),
    ("delete", Code::Delete),
    ("esc", Code::Esc),
    ("up", Code::Up),
    ("down", Code::Down),
    ("left", Code::Left),
    ("right", Code::Right),
    ("home", Code::Home),
    ("end", Code::End),
    ("pageup", Code::PageUp),
    ("pagedown", Code::PageDown),
    ("space", Code::Char(' ')),
];

impl FromStr for Key {
    type Err = NotAKey;

    fn from_str(text: &str) -> Result<Key, NotAKey> {
        let mut key = Key::char(' ');
        let mut rest = text;
        loop {
            let lower = rest.to_ascii_lowercase();
            if lower.starts_with("ctrl-") && rest.len() > 5 {
                (key.ctrl, rest) = (true, &rest[5..]);
            } else if lower.starts_with("alt-") && rest.len() > 4 {
                (key.alt, rest) = (true, &rest[4..]);
            } else if lower.starts_with("shift-") && rest.len() > 6 {
                (key.shift, rest) = (true, &rest[6..]);
            } else {
                break;
            }
        }
        let lower = rest.to_ascii_lowercase();
        let named = NAMES.iter().find(|(name, _)| *name == lower).map(|(_, code)| *code);
        let function = lower.strip_prefix('f').and_then(|n| n.parse().ok()).map(Code::F);
        let mut chars = rest.chars();
        let single = chars.next().filter(|_| chars.next().is_none()).map(Code::Char);
        key.code = named.or(function).or(single).ok_or_else(|| NotAKey(text.to_owned()))?;
        if let Code::Char(c) = key.code {
            // A character carries its shift; with control terminals cannot tell.
            key.code = match (key.ctrl, key.shift) {
                (true, _) => Code::Char(c.to_ascii_lowercase()),
                (false, true) => Code::Char(c.to_ascii_uppercase()),
                (false, false) => Code::Char(c),
            };
            key.shift = false;
        }
        Ok(key)
    }
}

/// The text names no key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAKey(pub(crate) String);

impl fmt::Display for NotAKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` names no key; write it like `ctrl-k`, `alt-enter` or `f2`", self.0)
    }
}

impl std::error::Error for NotAKey {}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in [(self.ctrl, "Ctrl-"), (self.alt, "Alt-"), (self.shift, "Shift-")] {
            if held {
                f.write_str(name)?;
            }
        }
        match self.code {
            Code::Char(' ') => f.write_str("Space"),
            Code::Char(c) if self.alt && c.is_ascii_uppercase() => write!(f, "Shift-{c}"),
            Code::Char(c) if self.ctrl || self.alt => write!(f, "{}", c.to_ascii_uppercase()),
            Code::Char(c) => write!(f, "{c}"),
            Code::F(n) => write!(f, "F{n}"),
            Code::Up => f.write_str("↑"),
            Code::Down => f.write_str("↓"),
            Code::Left => f.write_str("←"),
            Code::Right => f.write_str("→"),
            Code::PageUp => f.write_str("PgUp"),
            Code::PageDown => f.write_str("PgDn"),
            Code::BackTab => f.write_str("Shift-Tab"),
            code => {
                let name = NAMES.iter().find(|(_, c)| *c == code).map_or("?", |(name, _)| *name);
                let mut chars = name.chars();
                let first = chars.next().map(|c| c.to_ascii_uppercase());
                write!(f, "{}{}", first.unwrap_or(' '), chars.as_str())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_what_people_write() {
        for (text, key, shown) in [
            ("ctrl-c", Key::ctrl('c'), "Ctrl-C"),
            ("Ctrl-C", Key::ctrl('c'), "Ctrl-C"),
            ("alt-enter", Key::alt(Code::Enter), "Alt-Enter"),
            ("f2", Key::plain(Code::F(2)), "F2"),
            ("f", Key::char('f'), "f"),
            ("-", Key::char('-'), "-"),
            ("space", Key::char(' '), "Space"),
            ("alt-z", Key::alt(Code::Char('z')), "Alt-Z"),
            ("alt-shift-z", Key::alt(Code::Char('Z')), "Alt-Shift-Z"),
            ("ctrl-shift-x", Key::ctrl('x'), "Ctrl-X"),
        ] {
            assert_eq!(text.parse(), Ok(key), "{text}");
            assert_eq!(key.to_string(), shown);
        }
        assert!("nonsense".parse::<Key>().is_err());
    }
}
