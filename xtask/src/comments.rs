//! Judges doc comments: public types, traits and functions have one, and none merely repeats the name it stands on.
//!
//! A comment repeats when every word of it, words without content set aside, is already in the name of the item, in the type of a field
//! or variant, or in the name of what the item belongs to: `/// The name.` on `name`, `/// Which.` on anything. So does a question word
//! with little behind it: `/// Which folder.` on `dir`. One more word and it passes, so that nobody is accused of a sentence that says
//! something. Private functions, fields and variants may go without a comment.
//! What it is not: a judge of English, or of code that only tests see.

mod items;

use std::collections::BTreeSet;

use crate::tree::Page;
pub(crate) use items::test_modules;
use items::{Item, ItemKind, items};

/// Crates that are not judged yet. The list only shrinks: a crate that has no finding left must leave it.
const NOT_JUDGED_YET: &[&str] = &[];

/// Words that tell nothing beside a name.
const WITHOUT_CONTENT: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "does", "each", "every", "for",
    "from", "get", "give", "given", "has", "have", "here", "how", "if", "in", "into", "is", "it", "its",
    "many", "much", "none", "of", "one", "or", "our", "own", "s", "self", "so", "some", "such", "that",
    "the", "their", "them", "there", "these", "they", "thing", "this", "those", "to", "was", "we", "what",
    "when", "where", "whether", "which", "who", "whom", "whose", "will", "with", "yes", "you",
];

/// Functions whose name is a convention that every reader knows: they may go without a comment.
const CONVENTIONS: &[&str] = &["new", "len", "is_empty", "iter", "next", "serialize", "deserialize"];

/// Words that ask instead of telling, at the beginning of a comment,
const QUESTIONS: &[&str] = &["how", "what", "when", "where", "which", "who", "whom", "whose"];
/// and how many words such a comment needs to tell something all the same.
const WORDS_THAT_TELL: usize = 4;

/// Every finding about the comments of the source files.
pub(crate) fn findings(pages: &[Page]) -> Vec<String> {
    judged(pages, NOT_JUDGED_YET)
}

fn judged(pages: &[Page], spared: &[&str]) -> Vec<String> {
    let tests: BTreeSet<String> = pages.iter().flat_map(test_modules).collect();
    let mut findings = Vec::new();
    let mut guilty = BTreeSet::new();
    for page in pages.iter().filter(|page| is_program(&page.path, &tests)) {
        let folder = page.path.split("/src/").next().unwrap_or_default();
        let crate_name = folder.rsplit('/').next().unwrap_or_default();
        let found = of_page(page);
        if !spared.contains(&crate_name) {
            findings.extend(found);
        } else if !found.is_empty() {
            guilty.insert(crate_name);
        }
    }
    for name in spared.iter().filter(|name| !guilty.contains(*name)) {
        findings.push(format!(
            "crate `{name}`: its comments pass: remove it from the list in xtask/src/comments.rs"
        ));
    }
    findings
}

/// Whether the file is compiled into a program: no test, no bench, no example.
fn is_program(path: &str, tests: &BTreeSet<String>) -> bool {
    let source = path.contains("/src/") && !path.contains("/tests/") && !path.ends_with("/tests.rs");
    source
        && !tests
            .iter()
            .any(|module| path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with(['.', '/'])))
}

fn of_page(page: &Page) -> Vec<String> {
    items(&page.text)
        .iter()
        .filter_map(|item| of_item(item).map(|why| format!("{}:{}: {why}", page.path, item.line)))
        .collect()
}

fn of_item(item: &Item) -> Option<String> {
    let name = item.name;
    let wanted = item.public && item.kind != ItemKind::Value && !CONVENTIONS.contains(&name);
    if item.comment.is_empty() {
        return wanted
            .then(|| format!("`{name}` is public and has no doc comment: say what its name does not"));
    }
    repeats(item).then(|| {
        format!(
            "the doc comment of `{name}` repeats what stands there: remove it, or say what the name does not"
        )
    })
}

/// Whether every word of the comment that has content is in the item already, or there is next to none.
fn repeats(item: &Item) -> bool {
    let comment = item.comment.join(" ").to_lowercase();
    let plain: Vec<&str> = comment.split_whitespace().collect();
    let question = plain.first().is_some_and(|first| QUESTIONS.contains(&first.trim_end_matches('.')));
    if question && plain.len() < WORDS_THAT_TELL && !comment.contains('`') {
        return true;
    }
    let known: BTreeSet<String> =
        words(item.name).chain(words(item.owner)).chain(words(item.value)).collect();
    words(&item.comment.join(" ")).all(|word| known.contains(&word))
}

/// The words of a text or of a name in any spelling (`RunId`, `run_id`), without those that have no content, each without its ending.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut before_lower = false;
    for c in text.chars().chain([' ']) {
        let splits = !c.is_alphanumeric() || (c.is_uppercase() && before_lower);
        if splits && !word.is_empty() {
            found.push(std::mem::take(&mut word));
        }
        before_lower = c.is_lowercase();
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    found
        .into_iter()
        .filter(|word| !WITHOUT_CONTENT.contains(&word.as_str()))
        .map(|word| stem(&word).to_owned())
}

/// The word without what grammar adds: `reads`, `reading` and `read` are one.
fn stem(word: &str) -> &str {
    const SHORTEST: usize = 3;
    for ending in ["ing", "ies", "es", "ed", "s", "e", "y"] {
        match word.strip_suffix(ending) {
            Some(rest) if rest.len() >= SHORTEST => return rest,
            _ => {}
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Page {
        Page { path: path.to_owned(), text: text.to_owned() }
    }

    #[track_caller]
    fn expect(text: &str, wanted: &[&str]) {
        let found = judged(&[page("crates/a/src/b.rs", text)], &[]);
        assert_eq!(found.len(), wanted.len(), "{text}\n{found:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            assert!(found.contains(wanted), "{found} does not contain {wanted}");
        }
    }

    #[test]
    fn what_is_public_has_a_comment() {
        for item in [
            "struct Run;",
            "enum Run {",
            "trait Run {",
            "type Run = u8;",
            "fn run() {",
            "const fn run() {",
            "async fn run() {",
        ] {
            let name = if item.contains("fn") { "`run`" } else { "`Run`" };
            for public in ["pub", "pub(crate)", "pub(super)", "pub(in crate::core)"] {
                expect(&format!("//! Head.\n#[derive(Debug)]\n{public} {item}\n"), &[name]);
                expect(&format!("/// Says a good deal.\n#[derive(Debug)]\n{public} {item}\n"), &[]);
            }
            expect(&format!("{item}\n"), &[]);
        }
        expect("impl Run {\n    pub fn new() -> Run {}\n    pub fn len(&self) {}\n}\n", &[]);
        expect("pub const LIMIT: u8 = 1;\npub mod run;\npub use run::Run;\n", &[]);
        expect(
            "struct Run {\n    pub id: u8,\n}\nimpl Run {\n    pub fn stop(&self) {}\n    fn go(&self) {}\n}\n",
            &["`stop`"],
        );
    }

    #[test]
    fn methods_of_a_public_trait_are_public_and_those_that_implement_it_are_not() {
        expect(
            "/// Says a good deal.\npub trait Run {\n    fn stop(&self);\n}\n",
            &["b.rs:3: `stop` is public"],
        );
        expect("trait Run {\n    fn stop(&self);\n}\nimpl Run for u8 {\n    fn stop(&self) {}\n}\n", &[]);
    }

    #[test]
    fn empty_phrases_are_found() {
        for phrase in [
            "Which folder.",
            "How many more.",
            "Which.",
            "What.",
            "How.",
            "They.",
            "Its id.",
            "The id",
            "One.",
            "The run's id, if there is one.",
        ] {
            expect(
                &format!("struct Run {{\n    /// {phrase}\n    pub id: Option<u8>,\n}}\n"),
                &["b.rs:2: the doc comment of `id`"],
            );
        }
        expect("/// Runs.\npub(crate) fn run() {}\n", &["`run` repeats"]);
        expect("enum Run {\n    /// It stopped.\n    Stopped,\n}\n", &["`Stopped` repeats"]);
        expect("struct A {\n    /// The session.\n    at: SessionId,\n}\n", &["`at` repeats"]);
        expect("/// The longest line.\nconst LONGEST_LINE: usize = 9;\n", &["`LONGEST_LINE` repeats"]);
    }

    #[test]
    fn a_word_more_is_enough() {
        expect("struct Run {\n    /// The id at the peer.\n    pub id: u8,\n}\n", &[]);
        expect("struct Run {\n    /// Where the peer keeps it.\n    pub id: u8,\n}\n", &[]);
        expect("struct Run {\n    /// Not the id.\n    pub id: u8,\n}\n", &[]);
        expect("/// Runs it twice.\npub fn run() {}\n", &[]);
        expect(
            "struct Run {\n    /// The id.\n    ///\n    /// It is never used again.\n    pub id: u8,\n}\n",
            &[],
        );
    }

    #[test]
    fn code_that_only_tests_see_is_spared() {
        let bare = "pub fn run() {}\n";
        expect(&format!("#[cfg(test)]\nmod tests {{\n    {bare}}}\n{bare}"), &["b.rs:5"]);
        expect(
            &format!("#[cfg(test)]\npub(crate) fn sample(\n    a: u8,\n) -> u8 {{\n    a\n}}\n{bare}"),
            &["b.rs:7"],
        );
        for path in [
            "crates/a/src/tests.rs",
            "crates/a/src/b/tests/run.rs",
            "crates/a/tests/run.rs",
            "crates/a/examples/run.rs",
        ] {
            assert_eq!(judged(&[page(path, bare)], &[]), Vec::<String>::new(), "{path}");
        }
        let parent = page("crates/a/src/lib.rs", "#[cfg(test)]\nmod bench;\nmod benches;\n");
        let child = page("crates/a/src/bench.rs", bare);
        let sibling = page("crates/a/src/benches.rs", bare);
        let found = judged(&[parent, child, sibling], &[]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/benches.rs"), "{found:?}");
    }

    #[test]
    fn text_that_looks_like_code_is_spared() {
        expect("const SAMPLE: &str = r#\"\npub fn run() {}\n\"#;\n", &[]);
        expect(
            "macro_rules! run {\n    () => {\n        pub fn run() {}\n    };\n}\npub fn run() {}\n",
            &["b.rs:6"],
        );
    }

    #[test]
    fn the_list_of_crates_not_judged_only_shrinks() {
        let bare = page("crates/a/src/b.rs", "pub fn run() {}\n");
        let good = page("crates/a/src/b.rs", "/// Runs it twice.\npub fn run() {}\n");
        assert_eq!(judged(&[bare], &["a"]), Vec::<String>::new());
        for pages in [vec![good], Vec::new()] {
            let found = judged(&pages, &["a"]);
            assert!(found.len() == 1 && found[0].contains("crate `a`: its comments pass"), "{found:?}");
        }
    }
}
