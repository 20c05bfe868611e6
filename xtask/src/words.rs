//! `cargo xtask words [PLACE]`: every text for people, by crate, file and line, so that somebody can look at all of them once more: those
//! of the terminal and the command line as `tidy` judges them, and those of the page.
//!
//! They stand beside what they are about; this is the one place where all of them are seen.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use crate::program::programs;
use crate::shell::Shell;
use crate::tidy::is_for_people;
use crate::tree::{self, Page};

/// Where the page's sources lie.
const PAGE: &str = "page/src/";
/// What ends a text in a line of the page, by what begins it.
const MARKS: &[(char, char)] = &[('"', '"'), ('`', '`'), ('>', '<')];
/// What only the page's code has within such marks.
const CODE: &[&str] = &["=>", "&&", "||", "import ", "return ", "===", ");", " = ", "const "];

/// Prints the texts whose file begins with `place`.
pub(crate) fn run(shell: &Shell, place: &str) -> Result<()> {
    let rust = tree::pages(shell.root(), ".rs")?;
    let mut page = tree::pages(shell.root(), ".tsx")?;
    page.extend(tree::pages(shell.root(), ".ts")?);
    let told = list(&rust, &page, place);
    if told.is_empty() {
        bail!(
            "no text for people stands below {place}: name a folder as it is written from the root, such as crates/tui"
        );
    }
    print!("{told}");
    Ok(())
}

fn list(rust: &[Page], page: &[Page], place: &str) -> String {
    let mut told = String::new();
    let mut say = |path: &str, line: usize, text: &str| {
        if path.starts_with(place) {
            let _ = writeln!(told, "{path}:{line}: {text}");
        }
    };
    for program in programs(rust).iter().filter(|program| is_for_people(program.path)) {
        for (line, text) in program.strings.iter().filter(|(_, text)| says_something(text)) {
            say(program.path, *line, text);
        }
    }
    for file in page.iter().filter(|file| file.path.starts_with(PAGE) && !file.path.contains(".test.")) {
        for (number, line) in file.text.lines().enumerate() {
            texts(line).into_iter().for_each(|text| say(&file.path, number + 1, text));
        }
    }
    told
}

/// Whether it is more than one word, and words.
fn says_something(text: &str) -> bool {
    text.trim().contains(' ') && text.chars().filter(|c| c.is_alphabetic()).count() > 3
}

/// What a line of the page says: in quotes, or between its tags.
fn texts(line: &str) -> Vec<&str> {
    let bare = line.trim();
    if bare.starts_with("//")
        || bare.starts_with('*')
        || bare.starts_with("/*")
        || bare.starts_with("import ")
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (begins, ends) in MARKS {
        let mut rest = line;
        while let Some((_, behind)) = rest.split_once(*begins) {
            let Some((text, after)) = behind.split_once(*ends) else { break };
            if says_something(text) && !CODE.iter().any(|code| text.contains(code)) {
                found.push(text);
            }
            rest = after;
        }
    }
    // A line between two tags has words and nothing else.
    let code = bare.chars().any(|c| "<>{}()=;\"`".contains(c));
    if !code && says_something(bare) && bare.ends_with(|c: char| c.is_alphanumeric() || ".?!…".contains(c))
    {
        found.push(bare);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_crates_and_of_the_page_are_listed_by_place() {
        let file = |path: &str, text: &str| Page { path: path.to_owned(), text: text.to_owned() };
        let rust =
            [file("crates/tui/src/a.rs", "// no text\nlet a = \"Enter selects it\";\nlet b = \"x\";\n")];
        let page = [file(
            "page/src/view/a.tsx",
            "<button>\n  Deny with reason…\n</button>\n<p title=\"more of it\">Nobody waits</p>\nif (a && b) return c;\n",
        )];
        let told = list(&rust, &page, "");
        let lines: Vec<&str> = told.lines().collect();
        assert_eq!(
            lines,
            [
                "crates/tui/src/a.rs:2: Enter selects it",
                "page/src/view/a.tsx:2: Deny with reason…",
                "page/src/view/a.tsx:4: more of it",
                "page/src/view/a.tsx:4: Nobody waits",
            ]
        );
        assert_eq!(list(&rust, &page, "crates/tui").lines().count(), 1);
    }
}
