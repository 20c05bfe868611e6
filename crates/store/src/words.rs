//! What a person types to find something, as words; and the piece of text around a hit.

use crate::contract::SNIPPET_CHARS;

/// Most words of one search; more are ignored.
const MAX_WORDS: usize = 16;
/// Characters shown before a hit.
const LEAD_CHARS: usize = 40;

/// The words of a search, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// Takes what was typed apart. Nothing in it has a special meaning.
    pub fn of(text: &str) -> Words {
        Words(split(text).map(str::to_lowercase).take(MAX_WORDS).collect())
    }

    /// Whether nothing was typed that could be looked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether each of these words begins a word of `text`. No words are in no text.
    pub fn all_in(&self, text: &str) -> bool {
        let there: Vec<String> = split(text).map(str::to_lowercase).collect();
        !self.is_empty() && self.0.iter().all(|word| there.iter().any(|t| t.starts_with(word.as_str())))
    }

    /// The words, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// One line of text around the first hit.
pub fn snippet(text: &str, words: &Words) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hit = line
        .split_inclusive(|c: char| !c.is_alphanumeric())
        .scan(0, |at, piece| {
            let begin = *at;
            *at += piece.chars().count();
            Some((begin, piece.to_lowercase()))
        })
        .find(|(_, piece)| words.iter().any(|word| piece.starts_with(word)));
    let begin = hit.map_or(0, |(at, _)| at).saturating_sub(LEAD_CHARS);
    let mut shown: String = line.chars().skip(begin).take(SNIPPET_CHARS).collect();
    if begin > 0 {
        shown.insert(0, '…');
    }
    if begin + SNIPPET_CHARS < line.chars().count() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_its_beginning_in_any_case() {
        let words = Words::of("\"Bug\" AND fix*");
        assert!(words.all_in("and then we fixed the bugs"));
        assert!(!words.all_in("and then we debugged"));
        assert!(!Words::of(" *\"-").all_in("anything"));
    }

    #[test]
    fn a_snippet_shows_the_hit() {
        let long = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let shown = snippet(&long, &Words::of("need"));
        assert!(shown.starts_with('…') && shown.ends_with('…') && shown.contains("needle"), "{shown}");
    }
}
