//! Makes text from models, tools and peers harmless: no control sequence of theirs ever reaches the terminal.
//!
//! Invariant: what comes out holds no control character but `\n`, nothing that reorders what is read (bidi overrides), and nothing
//! that a terminal would take for a picture.
//! Colours in tool output survive as styles ([`colours`]); everything else of a sequence is dropped.

use crate::picture::PLACEHOLDER;
use crate::theme::{direct, indexed};
use ratatui::style::{Modifier, Style};
use std::borrow::Cow;
use std::iter::Peekable;
use std::str::Chars;

/// Columns between tab stops.
const TAB: usize = 4;
/// Longest escape sequence that is read as one; a longer one is dropped up to here and the rest shows as text.
const MAX_SEQUENCE: usize = 4096;

/// Text without sequences and controls; line breaks stay.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_harmful(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    scan(text, |piece| {
        if let Scanned::Char(c) = piece {
            out.push(c);
        }
    });
    Cow::Owned(out)
}

/// One line of clean text: line breaks become spaces.
pub fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

/// Clean lines with the colours that the text asked for.
pub fn colours(text: &str, base: Style) -> Vec<Vec<(String, Style)>> {
    let mut lines = vec![Vec::new()];
    let mut style = base;
    let mut run = String::new();
    scan(text, |piece| match piece {
        Scanned::Char('\n') => {
            flush(&mut lines, &mut run, style);
            lines.push(Vec::new());
        }
        Scanned::Char(c) => run.push(c),
        Scanned::Colour(numbers) => {
            flush(&mut lines, &mut run, style);
            style = recolour(&numbers, style, base);
        }
    });
    flush(&mut lines, &mut run, style);
    lines
}

fn flush(lines: &mut [Vec<(String, Style)>], run: &mut String, style: Style) {
    if let Some(line) = lines.last_mut().filter(|_| !run.is_empty()) {
        line.push((std::mem::take(run), style));
    }
}

enum Scanned {
    Char(char),
    Colour(Vec<u16>),
}

fn is_harmful(c: char) -> bool {
    c.is_control()
        || c == PLACEHOLDER
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{200e}' | '\u{200f}')
}

fn scan(text: &str, mut take: impl FnMut(Scanned)) {
    let mut chars = text.chars().peekable();
    let mut column = 0usize;
    while let Some(c) = chars.next() {
        match c {
            '\n' => {
                column = 0;
                take(Scanned::Char('\n'));
            }
            '\t' => {
                let spaces = TAB - column % TAB;
                column += spaces;
                (0..spaces).for_each(|_| take(Scanned::Char(' ')));
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            // A bare return overwrites its line in a terminal; here each rewriting stands on its own line.
            '\r' if column > 0 => {
                column = 0;
                take(Scanned::Char('\n'));
            }
            '\u{1b}' => {
                if let Some(numbers) = escape(&mut chars) {
                    take(Scanned::Colour(numbers));
                }
            }
            '\u{9b}' => {
                if let Some(numbers) = control_sequence(&mut chars) {
                    take(Scanned::Colour(numbers));
                }
            }
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => string_sequence(&mut chars),
            c if is_harmful(c) => {}
            c => {
                column += 1;
                take(Scanned::Char(c));
            }
        }
    }
}

/// Reads what follows an ESC; the numbers when it sets colours.
fn escape(chars: &mut Peekable<Chars<'_>>) -> Option<Vec<u16>> {
    match chars.peek()? {
        '[' => {
            chars.next();
            control_sequence(chars)
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            chars.next();
            string_sequence(chars);
            None
        }
        ' '..='/' => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| !c.is_control());
            None
        }
        '0'..='~' => {
            chars.next();
            None
        }
        _ => None,
    }
}

fn control_sequence(chars: &mut Peekable<Chars<'_>>) -> Option<Vec<u16>> {
    let mut inside = String::new();
    while let Some(c) = chars.next_if(|c| (' '..='?').contains(c)) {
        if inside.len() < MAX_SEQUENCE {
            inside.push(c);
        }
    }
    let last = chars.next_if(|c| ('@'..='~').contains(c))?;
    if last != 'm' || inside.contains(['<', '=', '>', '?', ' ']) {
        return None;
    }
    Some(inside.split([';', ':']).map(|n| n.parse().unwrap_or(0)).collect())
}

/// Skips to the end of an OSC, DCS, APC, PM or SOS.
fn string_sequence(chars: &mut Peekable<Chars<'_>>) {
    for _ in 0..MAX_SEQUENCE {
        match chars.peek() {
            None | Some('\n') => return,
            Some('\u{7}' | '\u{9c}') => {
                chars.next();
                return;
            }
            Some('\u{1b}') => {
                chars.next();
                chars.next_if_eq(&'\\');
                return;
            }
            Some(_) => {
                chars.next();
            }
        }
    }
}

fn recolour(numbers: &[u16], mut style: Style, base: Style) -> Style {
    let mut numbers = numbers.iter().copied();
    while let Some(number) = numbers.next() {
        let small = |n: u16| u8::try_from(n).unwrap_or(0);
        style = match number {
            0 => base,
            1 => style.add_modifier(Modifier::BOLD),
            2 => style.add_modifier(Modifier::DIM),
            3 => style.add_modifier(Modifier::ITALIC),
            4 => style.add_modifier(Modifier::UNDERLINED),
            7 => style.add_modifier(Modifier::REVERSED),
            9 => style.add_modifier(Modifier::CROSSED_OUT),
            22 => style.remove_modifier(Modifier::BOLD | Modifier::DIM),
            23 => style.remove_modifier(Modifier::ITALIC),
            24 => style.remove_modifier(Modifier::UNDERLINED),
            27 => style.remove_modifier(Modifier::REVERSED),
            29 => style.remove_modifier(Modifier::CROSSED_OUT),
            30..=37 => style.fg(indexed(small(number - 30))),
            40..=47 => style.bg(indexed(small(number - 40))),
            90..=97 => style.fg(indexed(small(number - 90 + 8))),
            100..=107 => style.bg(indexed(small(number - 100 + 8))),
            39 => Style { fg: base.fg, ..style },
            49 => Style { bg: base.bg, ..style },
            38 | 48 => {
                let colour = match numbers.next() {
                    Some(5) => numbers.next().map(|n| indexed(small(n))),
                    Some(2) => match (numbers.next(), numbers.next(), numbers.next()) {
                        (Some(r), Some(g), Some(b)) => Some(direct(small(r), small(g), small(b))),
                        _ => None,
                    },
                    _ => None,
                };
                match colour {
                    Some(colour) if number == 38 => style.fg(colour),
                    Some(colour) => style.bg(colour),
                    None => style,
                }
            }
            _ => style,
        };
    }
    style
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences_vanish_and_text_stays() {
        for (dirty, cleaned) in [
            ("plain", "plain"),
            ("a\u{1b}[2Jb", "ab"),
            ("\u{1b}]0;owned\u{7}title", "title"),
            ("\u{1b}]52;c;aGk=\u{1b}\\copied", "copied"),
            ("\u{1b}P1$qm\u{1b}\\x", "x"),
            ("a\tb", "a   b"),
            ("a\r\nb", "a\nb"),
            ("10%\r20%", "10%\n20%"),
            ("bell\u{7}", "bell"),
            ("\u{9b}31mred", "red"),
            ("cut\u{1b}[", "cut"),
            ("e\u{301}👩‍👩‍👧", "e\u{301}👩‍👩‍👧"),
            ("evil\u{202e}txt", "eviltxt"),
            ("\u{10eeee}picture", "picture"),
            ("\u{1b}(Bx", "x"),
        ] {
            assert_eq!(clean(dirty), cleaned, "{dirty:?}");
        }
    }

    #[test]
    fn colours_become_styles() {
        let lines = colours("a\u{1b}[31;1mred\u{1b}[0m\n\u{1b}[38;5;200mx", Style::new());
        let red = Style::new().fg(indexed(1)).add_modifier(Modifier::BOLD);
        assert_eq!(lines[0], vec![("a".to_owned(), Style::new()), ("red".to_owned(), red)]);
        assert_eq!(lines[1], vec![("x".to_owned(), Style::new().fg(indexed(200)))]);
    }

    proptest! {
        #[test]
        fn nothing_harmful_comes_out(text in "(\\PC|[\u{0}-\u{9f}]|\u{1b}\\[|\u{1b}\\]){0,60}") {
            let safe = |c: char| c == '\n' || !is_harmful(c);
            prop_assert!(clean(&text).chars().all(safe));
            let coloured = colours(&text, Style::new());
            prop_assert!(coloured.iter().flatten().all(|(t, _)| t.chars().all(|c| c != '\n' && safe(c))));
        }
    }
}
