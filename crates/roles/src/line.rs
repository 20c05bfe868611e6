//! What comes and goes on a link, as a role sees it: lines, on one of a link's byte streams.

/// Which of a link's byte streams. Most wires have one. nous has two kinds (commands, events) and any number of connections
/// of each, all served by one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lane(pub u32);

impl Lane {
    /// The only lane, or the first one that commands go over.
    pub const MAIN: Lane = Lane(0);
    /// The first lane of the second kind, on wires that have it.
    pub const EVENTS: Lane = Lane(1);

    /// The lane of the `number`th connection on the main (0) or the second (1) kind.
    pub fn connection(kind: Lane, number: u32) -> Lane {
        Lane((kind.0 & 1) | (number << 1))
    }

    /// [`Lane::MAIN`] or [`Lane::EVENTS`]: which kind it is.
    pub fn kind(self) -> Lane {
        Lane(self.0 & 1)
    }
}

/// One line as the framing saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A whole line of UTF-8 text without its line break.
    Text(String),
    /// Too long; skipped up to its line break. Carries its beginning.
    Overlong(String),
    /// Not UTF-8, or with a NUL in it; the bytes as far as they can be shown.
    Garbled(String),
}

impl Line {
    /// What came, as far as it was kept.
    pub fn kept(&self) -> &str {
        match self {
            Line::Text(text) | Line::Overlong(text) | Line::Garbled(text) => text,
        }
    }
}
