//! How something is drawn: how wide, in which colours, folded or open. Everything that makes rows takes one.

use crate::key::{Code, Key};
use crate::row::Piece;
use crate::theme::{Role, Theme};
use ratatui_core::style::Style;

/// Columns of running text at most: longer lines are hard to find the way back from. Code, tables and diffs may be wider.
const PROSE: usize = 100;

/// What a cell is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Appearance {
    pub(crate) columns: usize,
    pub(crate) theme: Theme,
    /// Whether it is unfolded.
    pub(crate) open: bool,
    /// Whether nothing of it is left out: words were found in it.
    pub(crate) whole: bool,
    /// The key that unfolds it.
    pub(crate) opens: Option<Key>,
    /// Whether pictures are shown.
    pub(crate) pictures: bool,
}

impl Appearance {
    /// What to press to see more, in words.
    pub(crate) fn how_to_open(self) -> String {
        self.opens.map_or(String::new(), |key| format!(" ({key} opens)"))
    }

    /// Columns of running text.
    pub(crate) fn prose(self) -> usize {
        self.columns.min(PROSE)
    }

    /// Words in which code stands between backticks: with a look of its own, or with the backticks where there are no colours.
    pub(crate) fn words(self, text: &str, role: Role) -> Vec<Piece> {
        self.words_on(text, role, |role| self.theme.style(role))
    }

    /// The same, each role with a style that the ground decides on.
    pub(crate) fn words_on(self, text: &str, role: Role, style: impl Fn(Role) -> Style) -> Vec<Piece> {
        let parts: Vec<&str> = text.split('`').collect();
        // A backtick without another stands for itself.
        let paired = parts.len() - usize::from(parts.len().is_multiple_of(2));
        let tail = parts.get(paired).map(|tail| format!("`{tail}"));
        let mut pieces = Vec::new();
        for (at, part) in parts[..paired].iter().enumerate() {
            pieces.extend(match at % 2 {
                0 => vec![Piece::new(*part, style(role))],
                _ => self.code(part, style(Role::Code)),
            });
        }
        pieces.extend(tail.map(|tail| Piece::new(tail, style(role))));
        pieces.retain(|piece| !piece.text.is_empty());
        pieces
    }

    /// Code inside a line. Without colours it keeps its marks, which are not copied with it.
    pub(crate) fn code(self, text: &str, style: Style) -> Vec<Piece> {
        let mark = || Piece::decor("`", style);
        match self.theme {
            Theme::Plain => vec![mark(), Piece::new(text, style), mark()],
            Theme::Terminal | Theme::Dark | Theme::Light | Theme::Contrast => vec![Piece::new(text, style)],
        }
    }

    /// What keys do: the keys stand out from it. Parts stand between dots, each begins with its keys.
    pub(crate) fn keyed(self, words: &str) -> Vec<Piece> {
        let is_key = |word: &str| {
            let named = matches!(word, "↑↓" | "PgUp" | "PgDn" | "Del");
            named || word.parse::<Key>().is_ok_and(|key| !matches!(key.code, Code::Char('0'..='9' | '·')))
        };
        let words = words.split_inclusive(' ');
        words
            .scan(false, |over, word| {
                let bare = word.trim_end();
                *over = bare != "·" && (*over || !bare.is_empty() && !is_key(bare));
                Some(self.piece(word, if *over || !is_key(bare) { Role::Dim } else { Role::Key }))
            })
            .collect()
    }

    /// A piece of this role.
    pub(crate) fn piece(self, text: impl Into<String>, role: Role) -> Piece {
        Piece::new(text, self.theme.style(role))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_words_has_a_look_and_without_colours_its_marks() {
        let look = |theme| Appearance {
            columns: 80,
            theme,
            open: false,
            whole: false,
            opens: None,
            pictures: false,
        };
        let told = |theme, text: &str| {
            let pieces = look(theme).words(text, Role::Text);
            let code = |piece: &&Piece| piece.style == Theme::style(theme, Role::Code);
            let coded: String = pieces.iter().filter(code).map(|piece| piece.text.as_str()).collect();
            (pieces.iter().map(|piece| piece.text.as_str()).collect::<String>(), coded)
        };
        for (text, dark, code) in [
            ("run `make check` now", "run make check now", "make check"),
            ("`a` and `b`", "a and b", "ab"),
            ("one ` alone", "one ` alone", ""),
            ("`a` and ` alone", "a and ` alone", "a"),
            ("``", "", ""),
            ("", "", ""),
        ] {
            assert_eq!(told(Theme::Dark, text), (dark.to_owned(), code.to_owned()), "{text}");
            assert_eq!(told(Theme::Plain, text).0.replace("``", ""), text.replace("``", ""), "{text}");
        }
    }
}
