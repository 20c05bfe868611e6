//! Unified diffs as rows: line numbers, the colours of code, and the words that changed inside a changed line.

mod twins;

use crate::clean::clean_line;
use crate::highlight::role;
use crate::row::{Piece, Row, fit, width, wrap_code};
use crate::theme::{Role, Theme};
use export::code::Lexer;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::ops::Range;

/// Lines of a diff that are drawn at most.
pub(crate) const MAX_DIFF_LINES: usize = 5_000;
/// Diffs kept drawn: a question is laid out several times for each frame, and stays on the screen for many.
const MAX_KEPT: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
enum DiffLine {
    /// What follows is of this file.
    File(String),
    /// Something was left out.
    Gap,
    Head(String),
    Same(usize, usize, String),
    Removed(usize, String),
    Added(usize, String),
}

/// Lines added and removed.
pub(crate) fn counts(text: &str) -> (usize, usize) {
    let lines = parse(text);
    let added = lines.iter().filter(|line| matches!(line, DiffLine::Added(..))).count();
    let removed = lines.iter().filter(|line| matches!(line, DiffLine::Removed(..))).count();
    (added, removed)
}

/// The lines as they are drawn, without numbers and signs.
pub(crate) fn changed_text(text: &str) -> String {
    let drawn = parse(text).into_iter().filter_map(|line| match line {
        DiffLine::Head(text) | DiffLine::Same(_, _, text) => Some(text),
        DiffLine::Removed(_, text) | DiffLine::Added(_, text) => Some(text),
        DiffLine::File(_) | DiffLine::Gap => None,
    });
    drawn.collect::<Vec<_>>().join("\n")
}

#[derive(PartialEq)]
struct DrawnDiff {
    text: String,
    path: String,
    columns: usize,
    theme: Theme,
}

thread_local! {
    /// Diffs as they were drawn last. Dropping them changes nothing but time.
    static KEPT: RefCell<VecDeque<(DrawnDiff, Vec<Row>)>> = const { RefCell::new(VecDeque::new()) };
}

/// The rows of a unified diff of the file at `path`, where that is known.
pub(crate) fn rows(text: &str, path: Option<&str>, columns: usize, theme: Theme) -> Vec<Row> {
    let path = path.unwrap_or_default();
    KEPT.with_borrow_mut(|kept| {
        let same = |key: &DrawnDiff| {
            key.columns == columns && key.theme == theme && key.path == path && key.text == text
        };
        if let Some((_, rows)) = kept.iter().find(|(key, _)| same(key)) {
            return rows.clone();
        }
        let rows = DiffDrawing::new(path, columns, theme).draw(&parse(text));
        kept.truncate(MAX_KEPT - 1);
        let key = DrawnDiff { text: text.to_owned(), path: path.to_owned(), columns, theme };
        kept.push_front((key, rows.clone()));
        rows
    })
}

fn parse(text: &str) -> Vec<DiffLine> {
    let (mut old, mut new) = (1, 1);
    let mut lines = Vec::new();
    let mut in_hunk = false;
    // A diff of several files is written by a program: what does not begin with a blank is no line of a file.
    let mut is_strict = false;
    let mut begun = false;
    for line in text.lines().take(MAX_DIFF_LINES) {
        if let Some((o, n)) = hunk(line) {
            (old, new, in_hunk) = (o, n, true);
            // The numbers of the lines say where they are; between two places something is left out.
            lines.extend(begun.then_some(DiffLine::Gap));
            begun = true;
        } else if !in_hunk && (line.starts_with("--- ") || line.starts_with("+++ ")) {
            lines.push(DiffLine::File(clean_line(&line[4..])));
        } else if let Some(rest) = line.strip_prefix('+') {
            lines.push(DiffLine::Added(new, clean_line(rest)));
            new += 1;
        } else if let Some(rest) = line.strip_prefix('-') {
            lines.push(DiffLine::Removed(old, clean_line(rest)));
            old += 1;
        } else if line.starts_with('\\') || line.starts_with("diff ") || line.starts_with("index ") {
            lines.push(DiffLine::Head(clean_line(line)));
            in_hunk = in_hunk && line.starts_with('\\');
            begun = begun && in_hunk;
            is_strict |= line.starts_with("diff ");
        } else if is_strict && !line.is_empty() && !line.starts_with(' ') {
            lines.push(DiffLine::Head(clean_line(line)));
        } else {
            lines.push(DiffLine::Same(old, new, clean_line(line.strip_prefix(' ').unwrap_or(line))));
            old += 1;
            new += 1;
        }
    }
    lines
}

fn hunk(line: &str) -> Option<(usize, usize)> {
    let rest = line.strip_prefix("@@ -")?;
    let (old, rest) = rest.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let start = |text: &str| text.split(',').next().and_then(|n| n.parse().ok());
    Some((start(old)?, start(new)?))
}

/// Draws lines in order.
struct DiffDrawing {
    columns: usize,
    theme: Theme,
    digits: usize,
    /// Whether the diff itself says which file it is of.
    follows: bool,
    /// The file before and after: each reads its own lines.
    old: Lexer,
    new: Lexer,
}

impl DiffDrawing {
    fn new(path: &str, columns: usize, theme: Theme) -> DiffDrawing {
        let (old, new) = (Lexer::new(""), Lexer::new(""));
        let mut drawing = DiffDrawing { columns, theme, digits: 2, follows: path.is_empty(), old, new };
        drawing.open(path);
        drawing
    }

    /// What follows is of this file, or of another place in it.
    fn open(&mut self, path: &str) {
        let name = path.split('\t').next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        // Where the theme has no grounds the colours say what changed, and nothing else.
        let language =
            if self.theme.has_grounds() { name.rsplit('.').next().unwrap_or_default() } else { "" };
        (self.old, self.new) = (Lexer::new(language), Lexer::new(language));
    }

    fn draw(mut self, lines: &[DiffLine]) -> Vec<Row> {
        let last = lines.iter().map(|line| match line {
            DiffLine::Head(_) | DiffLine::File(_) | DiffLine::Gap => 0,
            DiffLine::Same(old, new, _) => *old.max(new),
            DiffLine::Removed(number, _) | DiffLine::Added(number, _) => *number,
        });
        self.digits = last.max().unwrap_or(0).to_string().len().max(2);
        let mut rows = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            match &lines[at] {
                DiffLine::Head(head) => {
                    rows.push(Row::of(fit(head, self.columns), self.theme.style(Role::Dim)));
                }
                DiffLine::File(path) if self.follows && path != "/dev/null" => self.open(path),
                DiffLine::File(_) => {}
                DiffLine::Gap => {
                    let sign = format!("{:>width$}", "⋮", width = self.digits);
                    rows.push(Row::of(sign, self.theme.style(Role::Dim)));
                }
                DiffLine::Same(_, number, text) => {
                    let _ = self.old.line(text);
                    let tokens = self.new.line(text);
                    let pieces = tokens
                        .into_iter()
                        .map(|(token, text)| Piece::new(text, self.theme.style(role(token))));
                    let pieces = pieces.collect();
                    rows.extend(self.numbered(*number, ' ', pieces, Role::Dim));
                }
                DiffLine::Removed(..) | DiffLine::Added(..) => {
                    let changes =
                        |line: &DiffLine| matches!(line, DiffLine::Removed(..) | DiffLine::Added(..));
                    let end = lines[at..].iter().position(|line| !changes(line));
                    let block = &lines[at..end.map_or(lines.len(), |end| at + end)];
                    rows.extend(self.changed(block));
                    at += block.len() - 1;
                }
            }
            at += 1;
        }
        rows
    }

    /// A block of removed and added lines; where two of them are alike, the words that differ stand out.
    fn changed(&mut self, block: &[DiffLine]) -> Vec<Row> {
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for line in block {
            match line {
                DiffLine::Removed(number, text) => removed.push((*number, text.as_str())),
                DiffLine::Added(number, text) => added.push((*number, text.as_str())),
                DiffLine::Same(..) | DiffLine::Head(_) | DiffLine::File(_) | DiffLine::Gap => {}
            }
        }
        let texts =
            |side: &[(usize, &str)]| side.iter().map(|(_, text)| (*text).to_owned()).collect::<Vec<_>>();
        let marks = twins::marks(&texts(&removed), &texts(&added));
        let mut rows = Vec::new();
        for ((number, text), marks) in removed.into_iter().zip(&marks.removed) {
            let pieces = coloured(&mut self.old, text, marks, (Role::Removed, Role::RemovedWord), self.theme);
            rows.extend(self.numbered(number, '-', pieces, Role::Removed));
        }
        for ((number, text), marks) in added.into_iter().zip(&marks.added) {
            let pieces = coloured(&mut self.new, text, marks, (Role::Added, Role::AddedWord), self.theme);
            rows.extend(self.numbered(number, '+', pieces, Role::Added));
        }
        rows
    }

    fn numbered(&self, number: usize, sign: char, pieces: Vec<Piece>, role: Role) -> Vec<Row> {
        let style = self.theme.style(role);
        let first = Piece::decor(format!("{number:>digits$} {sign} ", digits = self.digits), style);
        let rest = Piece::decor(" ".repeat(width(&first.text)), style);
        let mut rows = wrap_code(&pieces, self.columns, &first, &rest);
        if sign != ' ' {
            rows.iter_mut().for_each(|row| row.fill = Some(style));
        }
        rows
    }
}

/// A changed line in the colours of code, on the ground of its side; what is marked stands out from it.
fn coloured(
    lexer: &mut Lexer,
    text: &str,
    marks: &[Range<usize>],
    (ground, word): (Role, Role),
    theme: Theme,
) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (token, part) in lexer.line(text) {
        let end = from + part.len();
        while from < end {
            let mark = marks.iter().find(|mark| mark.end > from && mark.start < end);
            let (to, on) = match mark {
                Some(mark) if mark.start <= from => (mark.end.min(end), word),
                Some(mark) => (mark.start, ground),
                None => (end, ground),
            };
            pieces.push(Piece::new(&text[from..to], theme.over(on, role(token))));
            from = to;
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@\n same\n-let a = 1;\n+let a = 2;\n end\n";

    fn texts(rows: &[Row]) -> Vec<String> {
        rows.iter().map(Row::text).collect()
    }

    #[test]
    fn lines_are_numbered_and_changed_words_stand_out() {
        let rows = rows(DIFF, None, 40, Theme::Terminal);
        assert_eq!(texts(&rows), [" 9   same", "10 - let a = 1;", "10 + let a = 2;", "11   end"]);
        let strong: Vec<&str> = rows[2]
            .pieces
            .iter()
            .filter(|p| p.style == Theme::Terminal.style(Role::AddedWord))
            .map(|p| p.text.as_str())
            .collect();
        assert_eq!(strong, ["2"]);
    }

    #[test]
    fn changed_lines_have_the_colours_of_code_on_a_ground() {
        for theme in [Theme::Dark, Theme::Light] {
            let rows = rows(DIFF, Some("src/x.rs"), 40, theme);
            let found = |row: usize, text: &str| {
                let piece = rows[row].pieces.iter().find(|piece| piece.text == text);
                piece.unwrap_or_else(|| panic!("{text}: {:?}", rows[row])).style
            };
            assert_eq!(found(2, "let"), theme.over(Role::Added, Role::Keyword));
            assert_eq!(found(2, "let").bg, theme.style(Role::Added).bg);
            assert_eq!(found(2, "2").bg, theme.style(Role::AddedWord).bg);
            assert_eq!(found(1, "1").bg, theme.style(Role::RemovedWord).bg);
            assert_eq!(found(1, "1"), theme.over(Role::RemovedWord, Role::Number));
            assert_eq!(rows[2].fill, Some(theme.style(Role::Added)), "to the end of the line");
        }
    }

    #[test]
    fn each_side_reads_its_own_lines() {
        // A comment is opened by a line that goes: the lines that come are none.
        let diff = "@@ -1,2 +1,1 @@\n-/*\n-let a = 1;\n+let a = 2;\n";
        let rows = rows(diff, Some("x.rs"), 40, Theme::Dark);
        let bright = |row: &Row| row.pieces.iter().any(|p| p.style.fg == Theme::Dark.style(Role::Keyword).fg);
        assert!(!bright(&rows[1]) && bright(&rows[2]));
    }

    #[test]
    fn what_is_left_out_between_two_places_is_told() {
        let diff =
            "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n@@ -90 +90 @@\n-c\n+d\n";
        let rows = rows(diff, None, 40, Theme::Terminal);
        assert_eq!(texts(&rows), ["diff --git a/x.rs b/x.rs", " 1 - a", " 1 + b", " ⋮", "90 - c", "90 + d"]);
    }

    #[test]
    fn a_removed_line_that_looks_like_a_head_is_still_a_line() {
        assert_eq!(counts("@@ -1,2 +1,1 @@\n--- gone\n x\n"), (0, 1));
        assert_eq!(counts(DIFF), (1, 1));
        assert_eq!(counts(""), (0, 0));
    }
}
