//! Makes text from models, tools and peers harmless for the screen: what [`domain::harmless`] reads, with tabs as spaces.
//!
//! Invariant: what comes out holds nothing harmful, and no control character but `\n`.
//! Colours in tool output survive as styles ([`colours`]); everything else of a sequence is dropped.

use crate::theme::{direct, indexed};
use domain::harmless::{Piece, Scanner, is_harmful, visible};
use ratatui_core::style::{Modifier, Style};
use serde_json::Value;
use std::borrow::Cow;

/// Columns between tab stops.
const TAB: usize = 4;
/// Text without sequences and controls; line breaks stay.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && is_harmful(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    scan(text, |piece| {
        if let Piece::Char(c) = piece {
            out.push(c);
        }
    });
    Cow::Owned(out)
}

/// One line of clean text: line breaks become spaces.
pub(crate) fn clean_line(text: &str) -> String {
    clean(text).replace('\n', " ")
}

/// What a person agrees to: what a screen would obey or hide is written out instead of taken away.
pub(crate) fn agreed(text: &str) -> String {
    clean(&visible(text)).into_owned()
}

/// The same in one line.
pub(crate) fn agreed_line(text: &str) -> String {
    agreed(text).replace('\n', " ")
}

/// Arguments with the same done to the texts in them, so that what is told of them hides nothing either.
pub(crate) fn agreed_args(args: &str) -> String {
    fn seen(value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(visible(&text).into_owned()),
            Value::Array(items) => items.into_iter().map(seen).collect(),
            Value::Object(fields) => {
                fields.into_iter().map(|(name, value)| (visible(&name).into_owned(), seen(value))).collect()
            }
            plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
        }
    }
    match serde_json::from_str(args) {
        Ok(value) => seen(value).to_string(),
        Err(_) => visible(args).into_owned(),
    }
}

/// Lines as they stand once everything is written: what a line wrote over itself (progress, with `\r`) is gone.
pub(crate) fn settled(text: &str) -> Cow<'_, str> {
    if !text.contains('\r') {
        return Cow::Borrowed(text);
    }
    let last = |line: &'_ str| line.rsplit('\r').find(|state| !state.is_empty()).unwrap_or("").to_owned();
    Cow::Owned(text.split('\n').map(last).collect::<Vec<_>>().join("\n"))
}

/// Clean lines with the colours that the text asked for.
pub(crate) fn colours(text: &str, base: Style) -> Vec<Vec<(String, Style)>> {
    let mut lines = vec![Vec::new()];
    let mut style = base;
    let mut run = String::new();
    scan(text, |piece| match piece {
        Piece::Char('\n') => {
            flush(&mut lines, &mut run, style);
            lines.push(Vec::new());
        }
        Piece::Char(c) => run.push(c),
        Piece::Colours(numbers) => {
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

/// Reads text; tabs come as spaces.
fn scan(text: &str, mut take: impl FnMut(Piece)) {
    let (mut scanner, mut column) = (Scanner::default(), 0usize);
    for c in text.chars() {
        scanner.feed(c, |piece| match piece {
            Piece::Char('\t') => {
                let spaces = TAB - column % TAB;
                column += spaces;
                (0..spaces).for_each(|_| take(Piece::Char(' ')));
            }
            Piece::Char(c) => {
                column = if c == '\n' { 0 } else { column + 1 };
                take(piece);
            }
            Piece::Colours(_) => take(piece),
        });
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
            ("a\tb", "a   b"),
            ("a\r\nb", "a\nb"),
            ("10%\r20%", "10%\n20%"),
            ("\u{9b}31mred", "red"),
        ] {
            assert_eq!(clean(dirty), cleaned, "{dirty:?}");
        }
    }

    #[test]
    fn a_line_that_writes_over_itself_is_its_last_state() {
        for (written, stands) in [
            ("a\r\nb\r\n", "a\nb\n"),
            (" 10%\r 50%\r100%\ndone", "100%\ndone"),
            ("10%\r100%\r", "100%"),
            ("\r\r", ""),
            ("plain", "plain"),
        ] {
            assert_eq!(settled(written), stands, "{written:?}");
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
