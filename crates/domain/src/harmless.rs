//! Text from elsewhere (models, tools, peers, files) without anything that a terminal would obey: the one reader of control sequences,
//! for every screen and every line that we write.
//!
//! It lies here because the terminal UI and the plain commands both need it and share nothing else. Invariants, however the text is cut
//! into pieces: what comes out holds no control character but `\n` and `\t`, nothing that reorders what is read (bidi controls), nothing
//! that cannot be seen and carries words (tags and other format characters), and nothing that a terminal would take for a picture. A
//! return never overwrites what stands in its line. Joiners stay: scripts and emoji need them.

use std::borrow::Cow;

/// The character that stands for a piece of a picture in terminals that draw them.
pub const PICTURE: char = '\u{10EEEE}';
/// Longest string of an escape sequence that is read as one; what comes after shows as text.
const MAX_SEQUENCE: usize = 4096;

/// Characters of a name that are shown where somebody is asked about it: a longer one could bring words of the question.
const MAX_NAME: usize = 40;

/// Whether a character does something else than being read. Line breaks and tabs are harmful here: who lets them through says so.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || c == PICTURE
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}')
}

/// Characters that nobody sees, or takes for another: Unicode's `Default_Ignorable_Code_Point`, blank letters, and every space but the
/// plain one. In most texts they belong there (joiners, emoji, typography); in what a person agrees to they may carry or part words.
const UNSEEN: &[(char, char)] = &[
    ('\u{a0}', '\u{a0}'),
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{2000}', '\u{200f}'),
    ('\u{2028}', '\u{202f}'),
    ('\u{205f}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// Whether a character in what a person agrees to is written out: it is harmful, or not seen. Line breaks and tabs are not.
pub fn is_hidden(c: char) -> bool {
    c != '\n' && c != '\t' && (is_harmful(c) || UNSEEN.iter().any(|(from, to)| (*from..=*to).contains(&c)))
}

/// The text with what a screen would obey or hide written out: a yes is for what stands there, not for what is left of it.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// A name in one line: what would break the line, or is not seen, is written out. Whoever makes a file or a branch chooses its name, and
/// could add lines to what is told of it.
pub fn in_line(name: &str) -> String {
    visible(name).replace('\n', "\\n").replace('\t', "\\t")
}

/// What begins each line of somebody else's text within words of ours.
pub const MARK: &str = "  | ";
/// What begins the first line of a command.
const PROMPT: &str = "$ ";

/// Somebody else's text within words of ours, where a person decides by them: what is hidden is written out and each line marked, so that
/// it reads as what it is. Screens repeat the mark where they break such a line ([`mark_of`]).
pub fn marked(text: &str) -> String {
    visible(text).split('\n').map(|line| format!("{MARK}{line}")).collect::<Vec<_>>().join("\n")
}

/// A command in the same way: `$ ` stands before its first line.
pub fn marked_command(line: &str) -> String {
    format!("{PROMPT}{}", visible(line).split('\n').collect::<Vec<_>>().join(&format!("\n{MARK}")))
}

/// The mark of a line of a message, and the line without it. `None`: the line is our own.
pub fn mark_of(line: &str) -> Option<(&'static str, &str)> {
    [MARK, PROMPT].into_iter().find_map(|mark| Some((mark, line.strip_prefix(mark)?)))
}

/// Somebody else's words in quotes of code that they cannot close.
pub fn in_ticks(text: &str) -> String {
    format!("`{}`", in_line(text).replace('`', "\\u{60}"))
}

/// A name, an address or another word of somebody else's: as it is where it is one word, else [`in_ticks`].
pub fn as_word(text: &str) -> String {
    let is_plain = |c: char| !is_hidden(c) && c != '`' && (c.is_alphanumeric() || c.is_ascii_graphic());
    let is_word = !text.is_empty() && text.chars().all(is_plain);
    if is_word { text.to_owned() } else { in_ticks(text) }
}

/// What somebody else calls itself, in quotes that it cannot close and in one short line: whatever it says, it reads as a name.
pub fn quoted(name: &str) -> String {
    let clean = clean(name);
    let seen = visible(&clean);
    let words: Vec<&str> = seen.split_whitespace().collect();
    let inner = words.join(" ").replace(['“', '”', '„', '"'], "'");
    let short: String = inner.chars().take(MAX_NAME).collect();
    let more = if short.len() < inner.len() { "…" } else { "" };
    format!("“{short}{more}”")
}

/// Text without sequences and controls; line breaks and tabs stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && c != '\t' && is_harmful(c)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut scanner) = (String::with_capacity(text.len()), Scanner::default());
    for c in text.chars() {
        scanner.feed(c, |piece| {
            if let Piece::Char(c) = piece {
                out.push(c);
            }
        });
    }
    Cow::Owned(out)
}

/// What text is made of, once it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// A character to show, `\n` or `\t`.
    Char(char),
    /// A sequence that sets colours, by its numbers.
    Colours(Vec<u16>),
}

/// Reads text character by character, also when a sequence is cut in two.
#[derive(Debug, Clone, Default)]
pub struct Scanner {
    state: Reading,
    /// A return came: what follows begins the line anew, unless it is a line break.
    returned: bool,
    /// Whether something stands in the line.
    begun: bool,
}

#[derive(Debug, Clone, Default)]
enum Reading {
    #[default]
    Text,
    /// After an ESC.
    Escape,
    /// After an ESC and intermediate characters.
    Designation,
    /// In a control sequence, with what it says.
    Control(String),
    /// In an OSC, DCS, APC, PM or SOS, with its length.
    Words(usize),
    /// The same, after an ESC that may end it.
    WordsEnd,
}

impl Scanner {
    /// Reads one more character.
    pub fn feed(&mut self, c: char, mut take: impl FnMut(Piece)) {
        let state = std::mem::take(&mut self.state);
        self.state = match (state, c) {
            (Reading::Text, c) => self.text(c, &mut take),
            (Reading::Escape, '[') => Reading::Control(String::new()),
            (Reading::Escape, ']' | 'P' | 'X' | '^' | '_') => Reading::Words(0),
            (Reading::Escape | Reading::Designation, ' '..='/') => Reading::Designation,
            (Reading::Escape, '0'..='~') => Reading::Text,
            (Reading::Designation, c) if !c.is_control() => Reading::Text,
            (Reading::Control(mut said), ' '..='?') => {
                if said.len() < MAX_SEQUENCE {
                    said.push(c);
                }
                Reading::Control(said)
            }
            (Reading::Control(said), '@'..='~') => {
                if c == 'm' && !said.contains(['<', '=', '>', '?', ' ']) {
                    take(Piece::Colours(said.split([';', ':']).map(|n| n.parse().unwrap_or(0)).collect()));
                }
                Reading::Text
            }
            (Reading::Words(_), '\u{7}' | '\u{9c}') | (Reading::WordsEnd, '\\') => Reading::Text,
            (Reading::Words(_), '\u{1b}') => Reading::WordsEnd,
            (Reading::Words(length), c) if c != '\n' && length < MAX_SEQUENCE => Reading::Words(length + 1),
            // Another sequence begins in the middle of this one.
            (Reading::WordsEnd, '[') => Reading::Control(String::new()),
            // Whatever it was, it is broken off: the character stands for itself.
            (_, c) => self.text(c, &mut take),
        };
    }

    fn text(&mut self, c: char, take: &mut impl FnMut(Piece)) -> Reading {
        if c == '\r' {
            self.returned = true;
            return Reading::Text;
        }
        // A bare return overwrites its line in a terminal; here each rewriting stands on its own line.
        if std::mem::take(&mut self.returned) && self.begun && c != '\n' {
            self.begun = false;
            take(Piece::Char('\n'));
        }
        match c {
            '\n' => {
                self.begun = false;
                take(Piece::Char('\n'));
            }
            '\u{1b}' => return Reading::Escape,
            '\u{9b}' => return Reading::Control(String::new()),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => return Reading::Words(0),
            c if c != '\t' && is_harmful(c) => {}
            c => {
                self.begun = true;
                take(Piece::Char(c));
            }
        }
        Reading::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_does_not_leave_its_quotes() {
        assert_eq!(quoted(" Firefox  on\nLinux"), "“Firefox on Linux”");
        assert_eq!(quoted("x” asks as observer. \u{1b}[2J„y\""), "“x' asks as observer. 'y'”");
        // What nobody sees could part it from what follows.
        assert_eq!(quoted("x\u{3164}\u{2800}\u{3000}y"), "“x\\u{3164}\\u{2800}\\u{3000}y”");
        let long = "Firefox asks to be paired as observer with the code 111 111. Does";
        assert_eq!(quoted(long), "“Firefox asks to be paired as observer wi…”");
        assert_eq!(quoted(&"x".repeat(40)), format!("“{}”", "x".repeat(40)));
    }

    #[test]
    fn sequences_vanish_and_text_stays() {
        for (dirty, cleaned) in [
            ("plain", "plain"),
            ("a\u{1b}[2Jb", "ab"),
            ("\u{1b}]0;owned\u{7}title", "title"),
            ("\u{1b}]52;c;aGk=\u{1b}\\copied", "copied"),
            ("\u{1b}]0;x\u{1b}[2Jafter", "after"),
            ("\u{1b}P1$qm\u{1b}\\x", "x"),
            ("a\tb", "a\tb"),
            ("a\r\nb", "a\nb"),
            ("10%\r20%", "10%\n20%"),
            ("\rx\r", "x"),
            ("bell\u{7}", "bell"),
            ("\u{9b}31mred", "red"),
            ("cut\u{1b}[", "cut"),
            ("cut\u{1b}[31\nnext", "cut\nnext"),
            ("\u{1b}]never ends\nnext", "\nnext"),
            ("e\u{301}👩‍👩‍👧", "e\u{301}👩‍👩‍👧"),
            ("evil\u{202e}txt", "eviltxt"),
            ("a\u{2067}b\u{2069}\u{61c}c", "abc"),
            ("tag\u{e0041}\u{e007f}", "tag"),
            ("\u{10eeee}picture", "picture"),
            ("\u{1b}(Bx", "x"),
            ("del\u{7f}\u{85}\u{200b}\u{ad}", "del\u{ad}"),
        ] {
            assert_eq!(clean(dirty), cleaned, "{dirty:?}");
        }
    }

    #[test]
    fn what_nobody_sees_is_written_out_and_what_is_read_stays() {
        let unseen = [
            0xa0, 0xad, 0x34f, 0x115f, 0x1160, 0x1680, 0x17b4, 0x17b5, 0x180e, 0x2000, 0x200a, 0x200b,
            0x200c, 0x200d, 0x200e, 0x200f, 0x2028, 0x202e, 0x202f, 0x205f, 0x2060, 0x206f, 0x2800, 0x3000,
            0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xe0000, 0xe0041, 0xe0100, 0xe01ef, 0x1b, 0x0, 0x9b, 0xd,
        ];
        for c in unseen.into_iter().filter_map(char::from_u32) {
            let shown = visible(&format!("rm{c}x")).into_owned();
            assert!(shown.bytes().all(|byte| byte.is_ascii_graphic()), "{:x}: {shown}", c as u32);
            assert_ne!(shown, "rmx");
        }
        for text in ["plain\n\ttext", "naïve 漢字 😀 e\u{301}", "العربية", "—“quoted”…"] {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn a_text_of_somebody_elses_is_marked_line_by_line_and_closes_no_quotes() {
        assert_eq!(marked("a\n\nParlor: yes\u{202e}"), "  | a\n  | \n  | Parlor: yes\\u{202e}");
        assert_eq!(marked_command("a\n$ b"), "$ a\n  | $ b");
        for line in marked_command("a\nb\n\nc").lines().chain(marked("\nx").lines()) {
            assert!(mark_of(line).is_some(), "{line:?}");
        }
        assert_eq!(
            (mark_of("  | $ x"), mark_of("$ x"), mark_of("x")),
            (Some((MARK, "$ x")), Some(("$ ", "x")), None)
        );
        assert_eq!(in_ticks("x`.\nParlor: `y"), "`x\\u{60}.\\nParlor: \\u{60}y`");
        for word in ["src/a-b.py", "https://x/${NOPE}/mcp?a=1", "größe.md"] {
            assert_eq!(as_word(word), word);
        }
        for words in ["", "a b", "a`b", "a\u{a0}b", "a\u{3164}b", "a\tb"] {
            assert!(as_word(words).starts_with('`'), "{words:?}");
        }
    }

    const ANY: &str =
        "(\\PC|[\u{0}-\u{9f}]|\u{1b}\\[|\u{1b}\\]|[\u{2028}-\u{206f}\u{e0020}-\u{e0040}]|\r){0,60}";

    proptest! {
        #[test]
        fn nothing_harmful_comes_out(text in ANY) {
            prop_assert!(clean(&text).chars().all(|c| c == '\n' || c == '\t' || !is_harmful(c)));
        }

        #[test]
        fn nothing_hidden_is_left_of_what_is_made_visible(text in ANY) {
            prop_assert!(!visible(&text).contains(is_hidden));
            prop_assert!(visible(&text).contains(|c: char| c != '\n' && c != '\t') || text.trim_matches(['\n', '\t']).is_empty());
        }

        #[test]
        fn what_is_clean_stays_as_it_is(text in "(\\PC|\n|\t){0,60}") {
            let once = clean(&text).into_owned();
            prop_assert_eq!(clean(&once), once.as_str());
        }
    }
}
