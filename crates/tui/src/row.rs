//! Rows: styled text that fits one line of the screen, and how text is wrapped into them. Widths are those of graphemes.

use crate::picture::PLACEHOLDER;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;
use ratatui::style::Style;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Text of one look, with the address it leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Piece {
    /// Clean text without line breaks.
    pub text: String,
    pub style: Style,
    pub link: Option<Arc<str>>,
}

impl Piece {
    /// A piece without a link.
    pub fn new(text: impl Into<String>, style: Style) -> Piece {
        Piece { text: text.into(), style, link: None }
    }
}

/// One line of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row {
    /// Its pieces, left to right.
    pub pieces: Vec<Piece>,
    /// What fills the rest of the line.
    pub fill: Option<Style>,
    /// Whether the next row goes on with the same line of text (for copying).
    pub soft: bool,
}

impl Row {
    /// A row without pieces, for distance.
    pub fn empty() -> Row {
        Row::default()
    }

    /// A row of one piece.
    pub fn of(text: impl Into<String>, style: Style) -> Row {
        Row { pieces: vec![Piece::new(text, style)], ..Row::default() }
    }

    /// A row of pieces.
    pub fn from(pieces: Vec<Piece>) -> Row {
        Row { pieces, ..Row::default() }
    }

    /// Columns it takes on the screen, wide characters counted twice.
    pub fn width(&self) -> usize {
        self.pieces.iter().map(|piece| width(&piece.text)).sum()
    }

    /// Its text without looks and pictures.
    pub fn text(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| piece.text.as_str());
        pieces.filter(|text| !text.starts_with(PLACEHOLDER)).collect()
    }

    /// The row with something put before it.
    #[must_use]
    pub fn after(mut self, text: impl Into<String>, style: Style) -> Row {
        self.pieces.insert(0, Piece::new(text, style));
        self
    }
}

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Columns of one grapheme; never more than two, as terminals draw them.
pub fn grapheme_width(grapheme: &str) -> usize {
    grapheme.width().min(2)
}

/// The beginning of `text` that fits `columns`, with `…` when something was cut.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for grapheme in text.graphemes(true) {
        let wide = grapheme_width(grapheme);
        if used + wide + 1 > columns {
            break;
        }
        used += wide;
        out.push_str(grapheme);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// The part of `text` from one column up to another.
pub fn between(text: &str, from: usize, to: usize) -> String {
    let mut column = 0;
    let mut out = String::new();
    for grapheme in text.graphemes(true) {
        if column >= to {
            break;
        }
        let wide = grapheme_width(grapheme);
        if column + wide > from {
            out.push_str(grapheme);
        }
        column += wide;
    }
    out
}

/// Wraps pieces into rows of at most `columns`, the first row after `first`, the others after `rest`.
pub fn wrap(pieces: &[Piece], columns: usize, first: &Piece, rest: &Piece) -> Vec<Row> {
    let mut wrapping = Wrapping::new(columns, first, rest);
    for piece in pieces {
        for grapheme in piece.text.graphemes(true) {
            wrapping.push(grapheme, piece);
        }
    }
    wrapping.finish()
}

/// Wraps plain text, which may have several lines.
pub fn wrap_text(text: &str, columns: usize, style: Style) -> Vec<Row> {
    let none = Piece::default();
    text.split('\n').flat_map(|line| wrap(&[Piece::new(line, style)], columns, &none, &none)).collect()
}

struct Wrapping<'a> {
    columns: usize,
    rest: &'a Piece,
    rows: Vec<Row>,
    /// Graphemes of the row under way: text, columns, look.
    line: Vec<(String, usize, Piece)>,
    used: usize,
    /// How many of `line` stand before the last place where it may be broken.
    break_at: usize,
    lead: Piece,
}

impl<'a> Wrapping<'a> {
    fn new(columns: usize, first: &Piece, rest: &'a Piece) -> Wrapping<'a> {
        let lead = first.clone();
        let used = width(&lead.text);
        Wrapping {
            columns: columns.max(1),
            rest,
            rows: Vec::new(),
            line: Vec::new(),
            used,
            break_at: 0,
            lead,
        }
    }

    fn push(&mut self, grapheme: &str, piece: &Piece) {
        let wide = grapheme_width(grapheme);
        let look = || Piece { text: String::new(), style: piece.style, link: piece.link.clone() };
        let blank = grapheme == " ";
        while self.used + wide > self.columns && !self.line.is_empty() {
            if blank && self.break_at < self.line.len() {
                // The space that does not fit any more is where the line breaks; it is not shown.
                self.break_at = self.line.len();
                self.turn();
                return;
            }
            self.turn();
        }
        if wide == 2 {
            self.break_at = self.line.len();
        }
        self.line.push((grapheme.to_owned(), wide, look()));
        self.used += wide;
        if blank || wide == 2 {
            self.break_at = self.line.len();
        }
    }

    /// Ends the row at the last place where it may be broken, or right here.
    fn turn(&mut self) {
        let at = if self.break_at == 0 { self.line.len() } else { self.break_at };
        let mut rest = self.line.split_off(at.min(self.line.len()));
        // Spaces around the break belong to it.
        let blanks = rest.iter().take_while(|(text, _, _)| text == " ").count();
        rest.drain(..blanks);
        let row = std::mem::replace(&mut self.line, rest);
        self.emit(row, true);
        self.lead = self.rest.clone();
        self.used = width(&self.lead.text) + self.line.iter().map(|(_, wide, _)| wide).sum::<usize>();
        self.break_at = 0;
    }

    fn emit(&mut self, mut graphemes: Vec<(String, usize, Piece)>, soft: bool) {
        if soft {
            while graphemes.last().is_some_and(|(text, _, _)| text == " ") {
                graphemes.pop();
            }
        }
        let mut pieces: Vec<Piece> = Vec::new();
        if !self.lead.text.is_empty() {
            pieces.push(self.lead.clone());
        }
        let leads = pieces.len();
        for (text, _, look) in graphemes {
            match pieces[leads..].last_mut() {
                Some(last) if last.style == look.style && last.link == look.link => last.text.push_str(&text),
                _ => pieces.push(Piece { text, ..look }),
            }
        }
        self.rows.push(Row { pieces, fill: None, soft });
    }

    fn finish(mut self) -> Vec<Row> {
        let line = std::mem::take(&mut self.line);
        self.emit(line, false);
        self.rows
    }
}

/// Links that the frame shows: row, first column, column after the last, address.
pub type Links = Vec<(u16, u16, u16, Arc<str>)>;

/// Draws a row into the buffer from `at` on, `columns` wide; tells where links stand.
pub fn draw(row: &Row, at: Position, columns: u16, buf: &mut Buffer, links: &mut Links) {
    let area = buf.area;
    if at.y >= area.bottom() || at.x >= area.right() {
        return;
    }
    let end = at.x.saturating_add(columns).min(area.right());
    let mut x = at.x;
    for piece in &row.pieces {
        let begin = x;
        for grapheme in piece.text.graphemes(true) {
            let wide = u16::try_from(grapheme_width(grapheme)).unwrap_or(1);
            if x + wide > end {
                break;
            }
            // Text is clean long before; whoever forgets it does no harm.
            if wide == 0 || grapheme.chars().any(char::is_control) {
                continue;
            }
            buf[(x, at.y)].set_symbol(grapheme).set_style(piece.style);
            for extra in 1..wide {
                buf[(x + extra, at.y)].reset();
                buf[(x + extra, at.y)].set_style(piece.style);
            }
            x += wide;
        }
        if let Some(link) = piece.link.as_ref().filter(|_| x > begin) {
            links.push((at.y, begin, x, link.clone()));
        }
    }
    if let Some(fill) = row.fill {
        (x..end).for_each(|x| {
            buf[(x, at.y)].set_style(fill);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str, columns: usize) -> Vec<String> {
        wrap_text(text, columns, Style::new()).iter().map(Row::text).collect()
    }

    #[test]
    fn words_stay_whole_where_they_can() {
        assert_eq!(wrapped("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("日本語です", 4), ["日本", "語で", "す"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(wrapped("abc def", 3), ["abc", "def"]);
        assert_eq!(wrapped("  indented text here", 12), ["  indented", "text here"]);
    }

    #[test]
    fn no_control_character_reaches_the_screen() {
        let mut buf = Buffer::empty(ratatui::layout::Rect::new(0, 0, 10, 1));
        let row = Row::of("a\u{1b}[2Jb\u{7}\u{9b}c\r\n", Style::new());
        draw(&row, Position::new(0, 0), 10, &mut buf, &mut Links::new());
        let text: String = buf.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(text.trim_end(), "a[2Jbc");
    }

    #[test]
    fn leads_count_into_the_width() {
        let (first, rest) = (Piece::new("- ", Style::new()), Piece::new("  ", Style::new()));
        let rows = wrap(&[Piece::new("one two three", Style::new())], 8, &first, &rest);
        assert_eq!(rows.iter().map(Row::text).collect::<Vec<_>>(), ["- one", "  two", "  three"]);
    }

    #[test]
    fn a_text_is_cut_by_columns_not_characters() {
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("👩‍👩‍👧 family", 4), "👩‍👩‍👧 …");
        assert_eq!(fit("short", 5), "short");
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_word_is_lost(text in "[a-z日é ]{0,80}", columns in 2usize..30) {
            let rows = wrap_text(&text, columns, Style::new());
            prop_assert!(rows.iter().all(|row| row.width() <= columns));
            let squeeze = |t: &str| t.chars().filter(|c| *c != ' ').collect::<String>();
            let all: String = rows.iter().map(Row::text).collect();
            prop_assert_eq!(squeeze(&all), squeeze(&text));
        }
    }
}
