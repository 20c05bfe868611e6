//! Words for people: what the shipped crates say in strings does not use the words that `docs/words.md` refuses.
//!
//! Looked at are strings of more than one word. What only a model, the author of a wire or a programmer reads is left out, by its file.

use crate::program::Program;
use crate::tree::Page;

/// Where the refused words stand.
const LIST: &str = "docs/words.md";
/// What their line begins with.
const BEGINS: &str = "Refused: ";
/// Files whose strings are for a model: what it is told, and descriptions of tools.
const FOR_MODELS: &[&str] = &[
    "crates/engine/src/briefing.rs",
    "crates/engine/src/compact.rs",
    "crates/engine/src/skills/tool.rs",
    "crates/tools/src/ask.rs",
    "crates/tools/src/edit.rs",
    "crates/tools/src/edit/parse.rs",
    "crates/tools/src/heard/",
    "crates/tools/src/write.rs",
    "crates/engine/src/secrets.rs",
    "crates/models/src/offline/",
];
/// Files whose strings are for authors of UIs and agents, in the words of their documents, or for a database.
const FOR_AUTHORS: &[&str] = &[
    "crates/kit/",
    "crates/parlor/src/docs",
    "crates/roles/",
    "crates/store/src/sqlite/schema.rs",
    "wires/",
];

/// Every string that has a refused word, and a list without any.
pub(super) fn findings(programs: &[Program<'_>], documents: &[Page]) -> Vec<String> {
    let refused = refused(documents);
    if refused.is_empty() {
        return vec![format!("{LIST}: no line begins with `{BEGINS}`: the words that people do not read")];
    }
    let read = programs.iter().filter(|program| is_for_people(program.path));
    let texts =
        read.flat_map(|program| program.strings.iter().map(|(line, text)| (program.path, line, *text)));
    texts
        .filter_map(|(path, line, text)| {
            let word = refused.iter().find(|word| says(text, word))?;
            Some(format!("{path}:{line}: \"{text}\" says `{word}`: {LIST} has the word that people know"))
        })
        .collect()
}

/// Whether people read what this file says.
pub(crate) fn is_for_people(path: &str) -> bool {
    !FOR_MODELS.iter().chain(FOR_AUTHORS).any(|place| path.starts_with(place))
}

fn refused(documents: &[Page]) -> Vec<String> {
    let list = documents.iter().find(|page| page.path == LIST);
    let line = list.and_then(|page| page.text.lines().find_map(|line| line.strip_prefix(BEGINS)));
    let words = line.and_then(|line| line.split_once(": ")).map(|(_, words)| words.trim_end_matches('.'));
    words.into_iter().flat_map(|words| words.split(", ")).map(str::to_owned).collect()
}

/// Whether a text of several words says this one, or one that it ends with an `s`. Names in braces, flags and paths are no words.
fn says(text: &str, word: &str) -> bool {
    if !text.contains(' ') {
        return false;
    }
    let text = without_names(&text.to_lowercase());
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let behind =
            text[at + word.len()..].strip_prefix('s').unwrap_or(&text[at + word.len()..]).chars().next();
        [before, behind]
            .iter()
            .all(|c| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/')))
    })
}

fn without_names(text: &str) -> String {
    let mut inside = false;
    let keeps = |c: &char| {
        inside = match c {
            '{' => true,
            '}' => false,
            _ => inside,
        };
        !inside
    };
    text.chars().filter(keeps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program<'t>(path: &'t str, text: &'t str) -> Program<'t> {
        Program { path, code: String::new(), strings: vec![(3, text)] }
    }

    #[test]
    fn a_refused_word_is_found_where_people_read_it() {
        let words = "# Words\n\nRefused: take, of its own, anew, because people do not say so: take, of its own, anew.\n";
        let page = Page { path: LIST.to_owned(), text: words.to_owned() };
        let documents = std::slice::from_ref(&page);
        let said = |path: &str, text: &str| findings(&[program(path, text)], documents).len();
        for (text, count) in [
            ("Enter takes it", 1),
            ("a branch of its own", 1),
            ("it may be {takes}", 0),
            ("take", 0),
            ("a mistaken word", 0),
            ("retake it", 0),
            ("say it anew.", 1),
        ] {
            assert_eq!(said("crates/parlor/src/run.rs", text), count, "{text}");
        }
        assert_eq!(said("crates/tools/src/write.rs", "it takes the place"), 0, "a model reads that");
        assert_eq!(findings(&[], &[]).len(), 1, "a list that is gone refuses nothing");
    }
}
