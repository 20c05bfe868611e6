//! Takes control sequences out of text that comes in pieces: the existing client prints what it gets as it stands, so a model could
//! move its cursor or change its title. Line breaks and tabs stay. How the text was cut does not matter.

/// Longest sequence that is waited for; what does not end by then is text again.
const MAX_SEQUENCE: usize = 256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum InText {
    #[default]
    Text,
    /// After an escape.
    Escape,
    /// In a control sequence, until a letter.
    Control,
    /// In a string, until a bell or an escape and a backslash.
    String,
    /// In a string, after an escape.
    StringEscape,
}

/// The text as a terminal in raw mode needs it, which does not go back to the first column by itself.
pub(super) fn in_raw_mode(text: &str) -> String {
    text.replace('\n', "\r\n")
}

/// The filter.
#[derive(Debug, Default)]
pub(super) struct Plain {
    place: InText,
    length: usize,
}

impl Plain {
    /// What is left of a piece.
    pub(super) fn clean(&mut self, text: &str) -> String {
        text.chars().filter(|c| self.keep(*c)).collect()
    }

    fn keep(&mut self, c: char) -> bool {
        self.length = if self.place == InText::Text { 0 } else { self.length + 1 };
        if self.length > MAX_SEQUENCE {
            self.place = InText::Text;
        }
        let (place, keep) = match (self.place, c) {
            (InText::Text | InText::Control, '\u{1b}') => (InText::Escape, false),
            (InText::Text, '\u{9b}') => (InText::Control, false),
            (InText::Text, '\n' | '\t') => (InText::Text, true),
            (InText::Text, c) => (InText::Text, !c.is_control()),
            (InText::Escape, '[') => (InText::Control, false),
            (InText::Escape, ']' | 'P' | 'X' | '^' | '_') => (InText::String, false),
            (InText::Escape, '\u{1b}') => (InText::Escape, false),
            (InText::Escape, ' '..='/') => (InText::Escape, false),
            (InText::Escape, _) => (InText::Text, false),
            (InText::Control, '@'..='~') => (InText::Text, false),
            (InText::Control, ' '..='?') => (InText::Control, false),
            // Not a sequence after all: the character counts again.
            (InText::Control, c) => (InText::Text, c == '\n' || !c.is_control()),
            (InText::String, '\u{7}') => (InText::Text, false),
            (InText::String | InText::StringEscape, '\u{1b}') => (InText::StringEscape, false),
            (InText::String, _) => (InText::String, false),
            (InText::StringEscape, '\\') => (InText::Text, false),
            (InText::StringEscape, _) => (InText::String, false),
        };
        self.place = place;
        keep
    }
}

/// A whole text without control sequences.
pub(super) fn clean(text: &str) -> String {
    Plain::default().clean(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences_go_words_stay() {
        for (dirty, plain) in [
            ("a\tb\nc", "a\tb\nc"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}]0;title\u{7}x\u{1b}]8;;u\u{1b}\\y", "xy"),
            ("a\rb\u{8}c\u{0}", "abc"),
            ("\u{9b}2Jx", "x"),
            ("\u{1b}(Bx", "x"),
            ("\u{1b}[3\né", "\né"),
        ] {
            assert_eq!(clean(dirty), plain, "{dirty:?}");
        }
    }

    #[test]
    fn a_sequence_that_never_ends_swallows_little() {
        let text = format!("\u{1b}]{}", "x".repeat(1000));
        assert!(clean(&text).len() > 700);
    }

    proptest! {
        #[test]
        fn the_cuts_do_not_matter(text in "[a-z\u{1b}\\[\\];0-9\u{7}\n]{0,40}", cut in 0usize..40) {
            let cut = cut.min(text.len());
            let mut plain = Plain::default();
            let parts = plain.clean(&text[..cut]) + &plain.clean(&text[cut..]);
            prop_assert_eq!(&parts, &clean(&text));
            let escapes = parts.chars().filter(|c| c.is_control() && *c != '\n').count();
            prop_assert_eq!(escapes, 0);
        }
    }
}
