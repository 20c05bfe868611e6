//! Unified diffs as rows: line numbers, colours, and the words that changed inside a changed line.

use crate::clean::clean_line;
use crate::row::{Piece, Row, fit, width, wrap};
use crate::theme::{Role, Theme};
use similar::{ChangeTag, TextDiff};

/// Lines longer than this are not compared word by word.
const MAX_WORD_LINE: usize = 600;
/// Lines of a diff that are drawn at most.
pub const MAX_DIFF_LINES: usize = 5_000;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Line {
    Head(String),
    Same(usize, usize, String),
    Removed(usize, String),
    Added(usize, String),
}

/// Lines added and removed.
pub fn counts(text: &str) -> (usize, usize) {
    let lines = parse(text);
    let added = lines.iter().filter(|line| matches!(line, Line::Added(..))).count();
    let removed = lines.iter().filter(|line| matches!(line, Line::Removed(..))).count();
    (added, removed)
}

/// The rows of a unified diff.
pub fn rows(text: &str, columns: usize, theme: Theme) -> Vec<Row> {
    let lines = parse(text);
    let last = lines.iter().map(|line| match line {
        Line::Head(_) => 0,
        Line::Same(old, new, _) => *old.max(new),
        Line::Removed(number, _) | Line::Added(number, _) => *number,
    });
    let digits = last.max().unwrap_or(0).to_string().len().max(2);
    let mut rows = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        match &lines[at] {
            Line::Head(head) => {
                rows.push(Row::of(fit(head, columns), theme.style(Role::Dim)));
                at += 1;
            }
            Line::Same(_, number, text) => {
                let piece = Piece::new(text.clone(), theme.style(Role::Text));
                rows.extend(numbered(*number, ' ', vec![piece], Role::Dim, digits, columns, theme));
                at += 1;
            }
            Line::Removed(..) | Line::Added(..) => {
                let end = lines[at..].iter().position(|l| !matches!(l, Line::Removed(..) | Line::Added(..)));
                let block = &lines[at..end.map_or(lines.len(), |end| at + end)];
                rows.extend(changed(block, digits, columns, theme));
                at += block.len();
            }
        }
    }
    rows
}

fn parse(text: &str) -> Vec<Line> {
    let (mut old, mut new) = (1, 1);
    let mut lines = Vec::new();
    let mut in_hunk = false;
    // A diff of several files is written by a program: what does not begin with a blank is no line of a file.
    let mut is_strict = false;
    for line in text.lines().take(MAX_DIFF_LINES) {
        if let Some((o, n)) = hunk(line) {
            (old, new, in_hunk) = (o, n, true);
            lines.push(Line::Head(clean_line(line)));
        } else if !in_hunk && (line.starts_with("--- ") || line.starts_with("+++ ")) {
            continue;
        } else if let Some(rest) = line.strip_prefix('+') {
            lines.push(Line::Added(new, clean_line(rest)));
            new += 1;
        } else if let Some(rest) = line.strip_prefix('-') {
            lines.push(Line::Removed(old, clean_line(rest)));
            old += 1;
        } else if line.starts_with('\\') || line.starts_with("diff ") || line.starts_with("index ") {
            lines.push(Line::Head(clean_line(line)));
            in_hunk = in_hunk && line.starts_with('\\');
            is_strict |= line.starts_with("diff ");
        } else if is_strict && !line.is_empty() && !line.starts_with(' ') {
            lines.push(Line::Head(clean_line(line)));
        } else {
            lines.push(Line::Same(old, new, clean_line(line.strip_prefix(' ').unwrap_or(line))));
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

/// A block of removed and added lines; where two of them are alike, the words that differ stand out.
fn changed(block: &[Line], digits: usize, columns: usize, theme: Theme) -> Vec<Row> {
    let of = |added: bool| {
        let fits = move |line: &&Line| matches!(line, Line::Added(..)) == added;
        block.iter().filter(fits).collect::<Vec<_>>()
    };
    let (removed, added) = (of(false), of(true));
    let mut rows = Vec::new();
    for (side, other, sign) in [(&removed, &added, '-'), (&added, &removed, '+')] {
        let (plain, word) =
            if sign == '-' { (Role::Removed, Role::RemovedWord) } else { (Role::Added, Role::AddedWord) };
        for (at, line) in side.iter().enumerate() {
            let (Line::Removed(number, text) | Line::Added(number, text)) = line else { continue };
            let twin = other.get(at).and_then(|line| match line {
                Line::Removed(_, text) | Line::Added(_, text) => Some(text.as_str()),
                Line::Head(_) | Line::Same(..) => None,
            });
            let pieces = match twin.filter(|twin| text.len().max(twin.len()) <= MAX_WORD_LINE) {
                Some(twin) => words(text, twin, theme, plain, word),
                None => vec![Piece::new(text.clone(), theme.style(plain))],
            };
            rows.extend(numbered(*number, sign, pieces, plain, digits, columns, theme));
        }
    }
    rows
}

fn words(text: &str, twin: &str, theme: Theme, plain: Role, word: Role) -> Vec<Piece> {
    let diff = TextDiff::from_words(twin, text);
    let changes: Vec<_> = diff.iter_all_changes().filter(|c| c.tag() != ChangeTag::Delete).collect();
    let same: usize = changes.iter().filter(|c| c.tag() == ChangeTag::Equal).map(|c| c.value().len()).sum();
    // Lines that share almost nothing are simply different: marking every word would say nothing.
    if same * 3 < text.len() {
        return vec![Piece::new(text, theme.style(plain))];
    }
    let role = |tag| if tag == ChangeTag::Insert { word } else { plain };
    changes.iter().map(|c| Piece::new(c.value(), theme.style(role(c.tag())))).collect()
}

fn numbered(
    number: usize,
    sign: char,
    pieces: Vec<Piece>,
    role: Role,
    digits: usize,
    columns: usize,
    theme: Theme,
) -> Vec<Row> {
    let first = Piece::new(format!("{number:>digits$} {sign} "), theme.style(role));
    let rest = Piece::new(" ".repeat(width(&first.text)), theme.style(role));
    let mut rows = wrap(&pieces, columns, &first, &rest);
    if sign != ' ' {
        rows.iter_mut().for_each(|row| row.fill = Some(theme.style(role)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -9,3 +9,3 @@\n same\n-let a = 1;\n+let a = 2;\n end\n";

    #[test]
    fn lines_are_numbered_and_changed_words_stand_out() {
        let rows = rows(DIFF, 40, Theme::Terminal);
        let texts: Vec<String> = rows.iter().map(Row::text).collect();
        assert_eq!(texts, ["@@ -9,3 +9,3 @@", " 9   same", "10 - let a = 1;", "10 + let a = 2;", "11   end"]);
        let strong: Vec<&str> = rows[3]
            .pieces
            .iter()
            .filter(|p| p.style == Theme::Terminal.style(Role::AddedWord))
            .map(|p| p.text.as_str())
            .collect();
        assert_eq!(strong, ["2;"]);
    }

    #[test]
    fn a_removed_line_that_looks_like_a_head_is_still_a_line() {
        assert_eq!(counts("@@ -1,2 +1,1 @@\n--- gone\n x\n"), (0, 1));
        assert_eq!(counts(DIFF), (1, 1));
        assert_eq!(counts(""), (0, 0));
    }
}
