//! Rows: styled text that fits one line of the screen, and how text is wrapped into them. Widths are those of graphemes.

use domain::harmless::{MARK, PICTURE, mark_of};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Position;
use ratatui_core::style::Style;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A blank at which no row is broken.
pub(crate) const KEEPS: &str = "\u{a0}";

/// Text of one look, with the address it leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Piece {
    /// Clean text without line breaks.
    pub(crate) text: String,
    pub(crate) style: Style,
    pub(crate) link: Option<Arc<str>>,
    /// Whether it only stands beside the text (a bar, a line number): it is drawn and never copied.
    pub(crate) decor: bool,
}

impl Piece {
    /// A piece without a link.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Piece {
        Piece { text: text.into(), style, link: None, decor: false }
    }

    /// A piece that stands beside the text and is not copied with it.
    pub(crate) fn decor(text: impl Into<String>, style: Style) -> Piece {
        Piece { decor: true, ..Piece::new(text, style) }
    }

    /// Whether texts of both would look and be the same kind of thing.
    fn is_alike(&self, other: &Piece) -> bool {
        self.style == other.style && self.link == other.link && self.decor == other.decor
    }
}

/// One line of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Row {
    /// Its pieces, left to right.
    pub(crate) pieces: Vec<Piece>,
    /// What fills the rest of the line.
    pub(crate) fill: Option<Style>,
    /// When the next row goes on with the same line of text: how many blanks were left out between them (for copying).
    pub(crate) soft: Option<usize>,
}

impl Row {
    /// A row without pieces, for distance.
    pub(crate) fn empty() -> Row {
        Row::default()
    }

    /// A row of one piece.
    pub(crate) fn of(text: impl Into<String>, style: Style) -> Row {
        Row { pieces: vec![Piece::new(text, style)], ..Row::default() }
    }

    /// A row of pieces.
    pub(crate) fn from(pieces: Vec<Piece>) -> Row {
        Row { pieces, ..Row::default() }
    }

    /// Columns it takes on the screen, wide characters counted twice.
    pub(crate) fn width(&self) -> usize {
        self.pieces.iter().map(|piece| width(&piece.text)).sum()
    }

    /// Its text without looks and pictures.
    pub(crate) fn text(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| piece.text.as_str());
        pieces.filter(|text| !text.starts_with(PICTURE)).collect()
    }

    /// The row with a decoration put before it.
    #[must_use]
    pub(crate) fn after(mut self, text: impl Into<String>, style: Style) -> Row {
        self.pieces.insert(0, Piece::decor(text, style));
        self
    }

    /// What can be copied, piece by piece, each with the column it begins at.
    pub(crate) fn copied(&self) -> impl Iterator<Item = (usize, &str)> {
        let mut column = 0;
        let placed = self.pieces.iter().map(move |piece| {
            let from = column;
            column += width(&piece.text);
            (from, piece)
        });
        placed
            .filter(|(_, piece)| !piece.decor && !piece.text.starts_with(PICTURE))
            .map(|(from, piece)| (from, piece.text.as_str()))
    }
}

/// Columns that a text takes.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    text.graphemes(true).map(grapheme_width).sum()
}

/// Columns of one grapheme; never more than two, as terminals draw them.
pub(crate) fn grapheme_width(grapheme: &str) -> usize {
    grapheme.width().min(2)
}

/// The beginning of `text` that fits `columns`, with `…` when something was cut.
pub(crate) fn fit(text: &str, columns: usize) -> String {
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

/// The same with no word cut in two, unless that left little of the text.
pub(crate) fn fit_words(text: &str, columns: usize) -> String {
    let cut = fit(text, columns);
    let Some(begin) = cut.strip_suffix('…').filter(|_| cut != text) else { return cut };
    let whole = text[begin.len()..].starts_with(' ');
    let words = if whole { Some(begin) } else { begin.rfind(' ').map(|at| &begin[..at]) };
    match words.map(str::trim_end).filter(|words| width(words) * 2 >= columns) {
        Some(words) => format!("{words}…"),
        None => cut,
    }
}

/// The first of the words that fit, or the beginning of the last: the longest stand first.
pub(crate) fn fitting(tries: &[String], columns: usize) -> String {
    let found = tries.iter().find(|words| width(words) <= columns);
    found.cloned().unwrap_or_else(|| fit(tries.last().map_or("", String::as_str), columns))
}

/// Pieces cut like that: whole ones, and the beginning of the one that does not fit.
pub(crate) fn fit_pieces(pieces: Vec<Piece>, columns: usize) -> Vec<Piece> {
    let total: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
    let mut left = columns;
    let mut out = Vec::new();
    for piece in pieces {
        let wide = width(&piece.text);
        // The sign that something is missing needs a column of its own.
        let text = if wide < left || wide == left && total <= columns {
            piece.text.clone()
        } else {
            fit(&format!("{}…", piece.text), left)
        };
        let cut = text != piece.text;
        left = left.saturating_sub(wide);
        out.push(Piece { text, ..piece });
        if cut {
            break;
        }
    }
    out
}

/// The part of `text` from one column up to another.
pub(crate) fn between(text: &str, from: usize, to: usize) -> String {
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
pub(crate) fn wrap(pieces: &[Piece], columns: usize, first: &Piece, rest: &Piece) -> Vec<Row> {
    let mut wrapping = Wrapping::new(columns, first, rest);
    for piece in pieces {
        for grapheme in piece.text.graphemes(true) {
            wrapping.push(grapheme, piece);
        }
    }
    wrapping.finish()
}

/// Wraps a line of code: what does not fit goes on further in than it began, so that it does not look like a line of its own.
pub(crate) fn wrap_code(pieces: &[Piece], columns: usize, first: &Piece, rest: &Piece) -> Vec<Row> {
    const FURTHER: usize = 2;
    let line: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let indent = line.len() - line.trim_start_matches(' ').len();
    // Never so far that nothing would be left for it.
    let hang = (indent + FURTHER).min(columns.saturating_sub(width(&rest.text)) / 3);
    let rest = Piece::decor(format!("{}{}", rest.text, " ".repeat(hang)), rest.style);
    wrap(pieces, columns, first, &rest)
}

/// Wraps plain text, which may have several lines.
pub(crate) fn wrap_text(text: &str, columns: usize, style: Style) -> Vec<Row> {
    let none = Piece::default();
    text.split('\n').flat_map(|line| wrap(&[Piece::new(line, style)], columns, &none, &none)).collect()
}

/// The same of a message of ours: a line in it that is marked as somebody else's goes on behind its mark, in each of its rows.
pub(crate) fn wrap_told(text: &str, columns: usize, style: Style) -> Vec<Row> {
    let rows = |line| match mark_of(line) {
        None => wrap_text(line, columns, style),
        Some((mark, theirs)) => {
            let [first, rest] = [mark, MARK].map(|mark| Piece::decor(mark, style));
            wrap(&[Piece::new(theirs, style)], columns, &first, &rest)
        }
    };
    text.split('\n').flat_map(rows).collect()
}

/// Signs that must not begin a row: they belong to what is before them.
fn closes(grapheme: &str) -> bool {
    const CLOSING: &str = "、。，．・：；？！）］｝」』】〉》〕〗〙〛”’ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ‥…％,.:;?!)]}%";
    grapheme.chars().next().is_some_and(|first| CLOSING.contains(first))
}

/// Signs that must not end a row: they belong to what follows.
fn opens(grapheme: &str) -> bool {
    const OPENING: &str = "（［｛「『【〈《〔〖〘〚“‘";
    grapheme.chars().next().is_some_and(|first| OPENING.contains(first))
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
    /// The same before the last grapheme that something may follow which must not begin a row.
    earlier: usize,
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
            earlier: 0,
            lead,
        }
    }

    fn push(&mut self, grapheme: &str, piece: &Piece) {
        let wide = grapheme_width(grapheme);
        let look = || Piece {
            text: String::new(),
            style: piece.style,
            link: piece.link.clone(),
            decor: piece.decor,
        };
        let blank = grapheme == " ";
        // Only where a row could be broken it matters what must not begin one.
        let here = self.break_at == self.line.len();
        let closes = (here || wide == 2) && closes(grapheme);
        if closes && here && !self.ends_blank() {
            self.break_at = self.earlier;
        }
        while self.used + wide > self.columns && !self.line.is_empty() {
            if blank && self.break_at < self.line.len() {
                // The space that does not fit any more is where the line breaks; it is not shown.
                self.break_at = self.line.len();
                self.turn(1);
                return;
            }
            self.turn(0);
        }
        if wide == 2 && !closes {
            if !self.line.last().is_some_and(|(text, _, _)| opens(text)) {
                self.break_at = self.line.len();
            }
            self.earlier = self.break_at;
        }
        self.line.push((grapheme.to_owned(), wide, look()));
        self.used += wide;
        if blank || wide == 2 && !opens(grapheme) {
            self.break_at = self.line.len();
        }
    }

    fn ends_blank(&self) -> bool {
        self.line.last().is_none_or(|(text, _, _)| text == " ")
    }

    /// Ends the row at the last place where it may be broken, or right here; so many blanks were left out already.
    fn turn(&mut self, left_out: usize) {
        // A break after nothing but an indent would leave an empty row.
        let indent = self.line.iter().take_while(|(text, _, _)| text == " ").count();
        let at = if self.break_at <= indent { self.inside_a_word(indent) } else { self.break_at };
        let mut rest = self.line.split_off(at.min(self.line.len()));
        // Spaces around the break belong to it.
        let blanks = rest.iter().take_while(|(text, _, _)| text == " ").count();
        rest.drain(..blanks);
        let row = std::mem::replace(&mut self.line, rest);
        self.emit(row, Some(left_out + blanks));
        self.lead = self.rest.clone();
        self.used = width(&self.lead.text) + self.line.iter().map(|(_, wide, _)| wide).sum::<usize>();
        (self.break_at, self.earlier) = (0, 0);
    }

    /// Where a word that is longer than a row is broken: behind a folder of its path, else before a call of what a call gave, else behind
    /// a sign, else where the row ends. Never so early that most of the row is left empty.
    fn inside_a_word(&self, indent: usize) -> usize {
        let end = self.line.len();
        let least = indent + (end - indent).div_ceil(3);
        let text = |at: usize| self.line.get(at).map_or("", |(text, _, _)| text.as_str());
        let folder = |at: &usize| text(at - 1) == "/";
        let call = |at: &usize| text(*at) == "." && matches!(text(at - 1), ")" | "]" | "\"");
        let sign = |at: &usize| {
            let behind =
                matches!(text(at - 1), "(" | "[" | "{" | "," | ";" | ":" | "=" | "&" | "|" | "?" | "-" | "_");
            behind && text(*at) != text(at - 1) && !closes(text(*at))
        };
        let last = |fits: &dyn Fn(&usize) -> bool| (least.max(1)..end).rev().find(fits);
        last(&folder).or_else(|| last(&call)).or_else(|| last(&sign)).unwrap_or(end)
    }

    fn emit(&mut self, mut graphemes: Vec<(String, usize, Piece)>, mut soft: Option<usize>) {
        if let Some(left_out) = &mut soft {
            while graphemes.last().is_some_and(|(text, _, _)| text == " ") {
                graphemes.pop();
                *left_out += 1;
            }
        }
        let mut pieces: Vec<Piece> = Vec::new();
        if !self.lead.text.is_empty() {
            pieces.push(self.lead.clone());
        }
        let leads = pieces.len();
        for (text, _, look) in graphemes {
            match pieces[leads..].last_mut() {
                Some(last) if last.is_alike(&look) => last.text.push_str(&text),
                _ => pieces.push(Piece { text, ..look }),
            }
        }
        self.rows.push(Row { pieces, fill: None, soft });
    }

    fn finish(mut self) -> Vec<Row> {
        let line = std::mem::take(&mut self.line);
        self.emit(line, None);
        self.rows
    }
}

/// Links that the frame shows: row, first column, column after the last, address.
pub(crate) type Links = Vec<(u16, u16, u16, Arc<str>)>;

/// Draws a row into the buffer from `at` on, `columns` wide; tells where links stand.
pub(crate) fn draw(row: &Row, at: Position, columns: u16, buf: &mut Buffer, links: &mut Links) {
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
            // What only keeps words together is a blank on the screen.
            let shown = if grapheme == KEEPS { " " } else { grapheme };
            buf[(x, at.y)].set_symbol(shown).set_style(piece.style);
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
        assert_eq!(wrapped("日本語。です", 6), ["日本", "語。で", "す"]);
        assert_eq!(wrapped("日本語」。です", 6), ["日本", "語」。", "です"]);
        assert_eq!(wrapped("日本（語）", 6), ["日本", "（語）"]);
        assert_eq!(wrapped("日本語, a", 6), ["日本", "語, a"]);
        assert_eq!(wrapped("。。。", 4), ["。。", "。"], "where nothing else fits, it stands");
        assert_eq!(wrapped("a\n\nb", 4), ["a", "", "b"]);
        assert_eq!(wrapped("abc def", 3), ["abc", "def"]);
        assert_eq!(wrapped("  indented text here", 12), ["  indented", "text here"]);
        assert_eq!(wrapped("    toolongforit", 8), ["    tool", "ongforit"]);
    }

    #[test]
    fn a_long_word_breaks_behind_a_folder_or_at_a_sign() {
        assert_eq!(wrapped("/home/ann/parlor/config.toml", 24), ["/home/ann/parlor/", "config.toml"]);
        assert_eq!(
            wrapped("in /home/ann/parlor/config.toml", 24),
            ["in", "/home/ann/parlor/", "config.toml"]
        );
        assert_eq!(wrapped("std::env::args().nth(1).unwrap()", 26), ["std::env::args().nth(1)", ".unwrap()"]);
        assert_eq!(wrapped("a_rather_long_name", 10), ["a_rather_", "long_name"]);
        assert_eq!(
            wrapped("a/tail_without_any_folder", 10),
            ["a/tail_", "without_", "any_folder"],
            "not too early"
        );
    }

    #[test]
    fn no_control_character_reaches_the_screen() {
        let mut buf = Buffer::empty(ratatui_core::layout::Rect::new(0, 0, 10, 1));
        let row = Row::of("a\u{1b}[2Jb\u{7}\u{9b}c\r\n", Style::new());
        draw(&row, Position::new(0, 0), 10, &mut buf, &mut Links::new());
        let text: String = buf.content.iter().map(ratatui_core::buffer::Cell::symbol).collect();
        assert_eq!(text.trim_end(), "a[2Jbc");
    }

    #[test]
    fn code_goes_on_further_in_than_it_began() {
        let (bar, code) =
            (Piece::decor("│ ", Style::new()), [Piece::new("  let x = one + two;", Style::new())]);
        let rows = wrap_code(&code, 16, &bar, &bar);
        assert_eq!(rows.iter().map(Row::text).collect::<Vec<_>>(), ["│   let x = one", "│     + two;"]);
        let copied: Vec<&str> = rows.iter().flat_map(|row| row.copied().map(|(_, text)| text)).collect();
        assert_eq!(copied, ["  let x = one", "+ two;"], "what stands beside it is not copied");
    }

    #[test]
    fn leads_count_into_the_width() {
        let (first, rest) = (Piece::new("- ", Style::new()), Piece::new("  ", Style::new()));
        let rows = wrap(&[Piece::new("one two three", Style::new())], 8, &first, &rest);
        assert_eq!(rows.iter().map(Row::text).collect::<Vec<_>>(), ["- one", "  two", "  three"]);
    }

    #[test]
    fn words_are_not_cut_in_two_where_enough_is_left() {
        for (columns, cut) in [
            (29, "cargo test -p shop --features"),
            (22, "cargo test -p shop…"),
            (19, "cargo test -p shop…"),
            (18, "cargo test -p…"),
            (7, "cargo…"),
            (5, "carg…"),
            (1, "…"),
            (0, ""),
        ] {
            assert_eq!(fit_words("cargo test -p shop --features", columns), cut);
        }
        assert_eq!(fit_words("a-word-that-is-long", 12), "a-word-that…");
        assert_eq!(fit_words("it is done …", 12), "it is done …");
    }

    #[test]
    fn a_text_is_cut_by_columns_not_characters() {
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("👩‍👩‍👧 family", 4), "👩‍👩‍👧 …");
        assert_eq!(fit("short", 5), "short");
        for (columns, told) in
            [(9, "one two"), (7, "one two"), (6, "one t…"), (4, "one…"), (3, "on…"), (0, "")]
        {
            let pieces = ["one", " ", "two"].map(|text| Piece::new(text, Style::new())).to_vec();
            let text: String = fit_pieces(pieces, columns).iter().map(|piece| piece.text.as_str()).collect();
            assert_eq!(text, told, "{columns}");
        }
    }

    proptest! {
        #[test]
        fn no_row_is_too_wide_and_no_word_is_lost(text in "[a-z日é。「 ]{0,80}", columns in 2usize..30) {
            let rows = wrap_text(&text, columns, Style::new());
            prop_assert!(rows.iter().all(|row| row.width() <= columns));
            let squeeze = |t: &str| t.chars().filter(|c| *c != ' ').collect::<String>();
            let all: String = rows.iter().map(Row::text).collect();
            prop_assert_eq!(squeeze(&all), squeeze(&text));
        }
    }
}
