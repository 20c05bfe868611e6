//! The bytes, judged by a terminal emulator: after each frame it shows the buffer.

use super::*;
use crate::row::{Piece, Row, draw};
use proptest::prelude::*;
use ratatui_core::style::Style;
use std::num::NonZero;

struct Screen {
    painter: Painter,
    terminal: vt100::Parser,
    bytes: usize,
}

impl Screen {
    fn new(columns: u16, rows: u16) -> Screen {
        Screen {
            painter: Painter::new(Able { synchronized: true, ..Able::default() }),
            terminal: vt100::Parser::new(NonZero::new(rows).unwrap(), NonZero::new(columns).unwrap(), 0),
            bytes: 0,
        }
    }

    fn show(&mut self, buffer: &Buffer) {
        let frame = self.painter.frame(buffer.clone(), &Links::new(), Some(Position::new(0, 0)));
        self.bytes += frame.len();
        self.terminal.process(frame.as_bytes());
    }

    #[track_caller]
    fn assert_shows(&self, buffer: &Buffer) {
        let screen = self.terminal.screen();
        for y in 0..buffer.area.height {
            let mut skip = 0;
            for x in 0..buffer.area.width {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let (cell, shown) = (&buffer[(x, y)], screen.cell(y, x).unwrap());
                skip = columns(cell) - 1;
                let text = if shown.contents().is_empty() { " " } else { shown.contents() };
                assert_eq!(text, cell.symbol(), "at {x},{y}");
                assert_eq!(shown.bold(), cell.modifier.contains(Modifier::BOLD), "bold at {x},{y}");
                let red = shown.fgcolor() == vt100::Color::Idx(1);
                assert_eq!(red, cell.fg == Color::Red, "red at {x},{y}");
            }
        }
    }
}

fn buffer(columns: u16, lines: &[String]) -> Buffer {
    let area = Rect::new(0, 0, columns, u16::try_from(lines.len()).unwrap());
    let mut buffer = Buffer::empty(area);
    for (y, line) in lines.iter().enumerate() {
        let style = match line.len() % 3 {
            0 => Style::new(),
            1 => Style::new().fg(Color::Red),
            _ => Style::new().add_modifier(Modifier::BOLD),
        };
        let row = Row::from(vec![Piece::new(line.clone(), style)]);
        let y = u16::try_from(y).unwrap();
        draw(&row, Position::new(0, y), columns, &mut buffer, &mut Links::new());
    }
    buffer
}

proptest! {
    #[test]
    fn the_terminal_shows_what_was_drawn(
        frames in prop::collection::vec(prop::collection::vec("[ab日👍é ]{0,14}", 8), 1..8),
        roll in 0usize..8,
    ) {
        let mut screen = Screen::new(12, 8);
        for lines in frames {
            let next = buffer(12, &lines);
            screen.show(&next);
            screen.assert_shows(&next);
            let mut rolled = lines.clone();
            rolled.rotate_left(roll);
            let next = buffer(12, &rolled);
            screen.show(&next);
            screen.assert_shows(&next);
        }
    }
}

#[test]
fn a_frame_that_shows_nothing_new_writes_nothing() {
    let mut screen = Screen::new(20, 2);
    let frame = buffer(20, &["hello".to_owned(), "world".to_owned()]);
    screen.show(&frame);
    let before = screen.bytes;
    screen.show(&frame);
    assert_eq!(screen.bytes, before);
}

#[test]
fn streaming_text_costs_little_more_than_the_text() {
    let (columns, rows) = (80u16, 24usize);
    let words = "several words of the usual length come in one after the other and fill line after line ";
    let text: String = words.repeat(120);
    let mut screen = Screen::new(columns, 24);
    let mut sent = 0;
    let tokens: Vec<&str> = text.split_inclusive(' ').collect();
    // A thousand tokens a second at sixty frames: about sixteen tokens a frame.
    for upto in (0..tokens.len()).step_by(16) {
        let said: String = tokens[..upto].concat();
        let wrapped = crate::row::wrap_text(&said, usize::from(columns), Style::new());
        let skip = wrapped.len().saturating_sub(rows - 2);
        let mut lines: Vec<String> = wrapped.iter().skip(skip).map(Row::text).collect();
        lines.resize(rows - 2, String::new());
        lines.extend(["─".repeat(80), "> ".to_owned()]);
        let frame = buffer(columns, &lines);
        screen.show(&frame);
        screen.assert_shows(&frame);
        sent = said.len();
    }
    assert!(screen.bytes <= 3 * sent, "{} bytes for {sent} of text", screen.bytes);
}

#[test]
fn links_are_opened_and_closed_around_their_text() {
    let mut painter = Painter::new(Able::default());
    let mut frame = Buffer::empty(Rect::new(0, 0, 10, 1));
    let mut links = Links::new();
    let link = Piece { text: "site".into(), link: Some("https://example.org".into()), ..Piece::default() };
    draw(
        &Row::from(vec![link, Piece::new(" x", Style::new())]),
        Position::new(0, 0),
        10,
        &mut frame,
        &mut links,
    );
    let bytes = painter.frame(frame.clone(), &links, None);
    assert!(bytes.contains("\x1b]8;;https://example.org\x1b\\site\x1b]8;;\x1b\\ x"), "{bytes:?}");
    let bytes = painter.frame(frame, &Links::new(), None);
    assert!(bytes.contains("site") && !bytes.contains("example"), "{bytes:?}");
}

#[test]
fn a_row_with_signs_of_uneven_width_is_written_to_its_end() {
    let of = |lines: &[&str]| buffer(12, &lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
    for sign in ["👍🏽", "❤️", "1️⃣", "🇩🇪", "👩‍👩‍👧"] {
        let mut painter = Painter::new(Able::default());
        let (first, second) = (format!("{sign} abcdef"), format!("{sign} abcxef"));
        painter.frame(of(&[&first, "same"]), &Links::new(), None);
        assert_eq!(painter.frame(of(&[&first, "same"]), &Links::new(), None), "", "nothing changed");
        let bytes = painter.frame(of(&[&second, "same"]), &Links::new(), None);
        // The cursor is put where the next sign belongs, wherever the terminal thinks it is.
        assert!(bytes.contains(sign) && bytes.contains("\x1b[3G"), "{sign}: {bytes:?}");
        let plain = bytes.replace("\x1b[0m", "");
        assert!(plain.contains(" abcxef   ") && !bytes.contains("same"), "{sign}: {bytes:?}");
    }
    let mut painter = Painter::new(Able::default());
    painter.frame(of(&["日本 abcdef"]), &Links::new(), None);
    let bytes = painter.frame(of(&["日本 abcxef"]), &Links::new(), None);
    assert!(!bytes.contains('日'), "wide signs that all know are not written again: {bytes:?}");
}
