//! The words for people are those of docs/words.md: what stood beside them before does not come back.

use std::path::{Path, PathBuf};

/// Words that were one step beside the usual ones, each alone.
const REFUSED: &[&str] = &["take", "takes", "stand", "stands", "anew", "nowhere", "leash", "wire"];
/// The same of several words.
const PHRASES: &[&str] = &["in passing", "of its own", "goes along", "go along"];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

/// The texts of more than one word in the code that is shipped, line by line.
fn texts(source: &str) -> impl Iterator<Item = &str> {
    let shipped = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = shipped.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2)).filter(|text| text.contains(' '))
}

fn refused(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| REFUSED.contains(&word)) || PHRASES.iter().any(|phrase| text.contains(phrase))
}

#[test]
fn texts_for_people_use_the_words_that_people_know() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    // Tests that are files: what they say is shown to nobody.
    let tests = ["tests", "update/typing.rs", "update/presses.rs", "update/scenes.rs"];
    files.retain(|path| !tests.iter().any(|test| path.to_string_lossy().contains(test)));
    assert!(files.len() > 100, "{}", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let source = std::fs::read_to_string(&path).unwrap();
        wrong.extend(texts(&source).filter(|text| refused(text)).map(|text| format!("{path:?}: {text}")));
    }
    assert_eq!(wrong, Vec::<String>::new(), "see docs/words.md");
}

#[test]
fn a_refused_word_in_a_text_is_found_and_a_comment_is_not() {
    let source = "// \"it takes that\"\nlet a = \"Enter takes it\";\nlet b = \"goes along with it\";\nlet c = \"takes\";\n";
    assert_eq!(texts(source).filter(|text| refused(text)).count(), 2);
}
