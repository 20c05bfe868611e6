//! Text on its way to a terminal. Pure.

use domain::harmless::{Piece, Scanner};
use std::fmt::Write as _;

/// Colours that our own reports use: plain, strong, dim, underlined, and some colours in front. Nothing that hides text.
const OURS: &[u16] = &[0, 1, 2, 4, 31, 32, 33, 36];

/// What a terminal has been shown so far.
#[derive(Debug)]
pub(super) struct Screen {
    scanner: Option<Scanner>,
    /// Bytes of a character whose rest has not come yet.
    begun: Vec<u8>,
}

impl Screen {
    pub(super) const fn new() -> Screen {
        Screen { scanner: None, begun: Vec::new() }
    }

    /// The text without anything that the terminal would obey; with `colours` those of our own reports stay.
    pub(super) fn harmless(&mut self, text: &str, colours: bool) -> String {
        let scanner = self.scanner.get_or_insert_default();
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            scanner.feed(c, |piece| match piece {
                Piece::Char(c) => out.push(c),
                Piece::Colours(numbers) if colours && numbers.iter().all(|number| OURS.contains(number)) => {
                    let numbers: Vec<String> = numbers.iter().map(u16::to_string).collect();
                    let _ = write!(out, "\u{1b}[{}m", numbers.join(";"));
                }
                Piece::Colours(_) => {}
            });
        }
        out
    }

    /// The same for bytes, which may be cut anywhere and may be no text.
    pub(super) fn harmless_bytes(&mut self, bytes: &[u8]) -> String {
        self.begun.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.begun);
        let mut text = String::with_capacity(bytes.len());
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            text.push_str(chunk.valid());
            let may_go_on = chunks.peek().is_none() && begins_character(chunk.invalid());
            if may_go_on {
                self.begun = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                text.push(char::REPLACEMENT_CHARACTER);
            }
        }
        self.harmless(&text, false)
    }
}

/// Whether these bytes are the beginning of a character.
fn begins_character(bytes: &[u8]) -> bool {
    matches!(std::str::from_utf8(bytes), Err(why) if why.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "a\u{1b}]52;c;RVZJTA==\u{7}b\u{1b}[2J\u{9b}1;1Hc\rd\u{202e}e\u{1b}[8mf 日本\u{1b}[1mg\n\th";

    #[test]
    fn a_sequence_that_is_cut_anywhere_is_no_way_through() {
        let whole = Screen::new().harmless(HOSTILE, false);
        assert_eq!(whole, "abc\ndef 日本g\n\th");
        for (at, _) in HOSTILE.char_indices() {
            let (first, second) = HOSTILE.split_at(at);
            let mut screen = Screen::new();
            let pieces = screen.harmless(first, false) + &screen.harmless(second, false);
            assert_eq!(pieces, whole, "cut at {at}");
        }
        for at in 0..HOSTILE.len() {
            let (first, second) = HOSTILE.as_bytes().split_at(at);
            let mut screen = Screen::new();
            let pieces = screen.harmless_bytes(first) + &screen.harmless_bytes(second);
            assert_eq!(pieces, whole, "bytes cut at {at}");
        }
    }

    #[test]
    fn only_our_own_colours_stay_and_only_where_they_are_ours() {
        let ours = "\u{1b}[1;33mx\u{1b}[0m";
        assert_eq!(Screen::new().harmless(ours, true), ours);
        assert_eq!(Screen::new().harmless(ours, false), "x");
        assert_eq!(Screen::new().harmless("\u{1b}[8mhidden\u{1b}[38;5;1my\u{1b}[2Jz", true), "hiddenyz");
    }

    #[test]
    fn bytes_that_are_no_text_are_marked() {
        assert_eq!(Screen::new().harmless_bytes(b"a\xffb\xc3"), "a\u{fffd}b");
    }
}
