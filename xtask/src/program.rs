//! The code of a source file without what is no program: comments, the inside of strings, and items that only tests see.
//!
//! What it is not: a parser. It knows where strings and comments begin and end, and that an item ends with its brace or its semicolon.
//! Every line keeps its number, so that a finding can say where it is.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::comments::test_modules;
use crate::tree::Page;

/// One file of our crates, apart from its tests.
pub(crate) struct Program<'t> {
    pub(crate) path: &'t str,
    /// Strings are empty in it and comments are blank.
    pub(crate) code: String,
    /// What stands in the strings, with the line each begins in, from 1.
    pub(crate) strings: Vec<(usize, &'t str)>,
}

/// The programs among these files: what lies under the `src` of a crate that is shipped and is compiled without tests.
pub(crate) fn programs(pages: &[Page]) -> Vec<Program<'_>> {
    let shipped = |program: &Program<'_>| is_ours(program.path) && !program.path.starts_with(TESTKIT);
    sources(pages).into_iter().filter(shipped).collect()
}

/// The sources of every crate, shipped or not, as they are compiled without tests.
pub(crate) fn sources(pages: &[Page]) -> Vec<Program<'_>> {
    let tests: BTreeSet<String> = pages.iter().flat_map(test_modules).collect();
    pages.iter().filter(|page| is_source(&page.path, &tests)).map(read).collect()
}

/// Where our crates lie; the project's chores lie elsewhere.
const CRATES: &[&str] = &["crates/", "wires/"];
/// What only tests and benches use.
const TESTKIT: &str = "crates/testkit/";

/// Whether a file is one of our crates'.
pub(crate) fn is_ours(path: &str) -> bool {
    CRATES.iter().any(|folder| path.starts_with(folder))
}

fn is_source(path: &str, tests: &BTreeSet<String>) -> bool {
    path.contains("/src/")
        && !path.contains("/tests/")
        && !path.ends_with("/tests.rs")
        && !tests
            .iter()
            .any(|module| path.strip_prefix(module.as_str()).is_some_and(|rest| rest.starts_with(['.', '/'])))
}

fn read(page: &Page) -> Program<'_> {
    let (mut code, strings) = without_text(&page.text);
    let unseen = test_items(&code);
    for range in &unseen {
        blank(&mut code, range.clone());
    }
    let strings = strings
        .into_iter()
        .filter(|range| !unseen.iter().any(|test| test.contains(&range.start)))
        .map(|range| (line_of(&page.text, range.start), &page.text[range]))
        .collect();
    Program { path: &page.path, code: String::from_utf8_lossy(&code).into_owned(), strings }
}

/// The line of a byte, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn blank(code: &mut [u8], range: Range<usize>) {
    for byte in &mut code[range] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// The text with blanks for comments and for what stands in strings, as long as before; and where the strings were.
fn without_text(text: &str) -> (Vec<u8>, Vec<Range<usize>>) {
    let mut code = text.as_bytes().to_vec();
    let mut strings = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        let named = at > 0 && is_word(text.as_bytes()[at - 1]);
        let end = match rest {
            [b'/', b'/', ..] => {
                let end = at + text[at..].find('\n').unwrap_or(text.len() - at);
                blank(&mut code, at..end);
                end
            }
            [b'/', b'*', ..] => {
                let end = at + comment(&text[at..]);
                blank(&mut code, at..end);
                end
            }
            [b'"', ..] => string(at, quoted(rest), 1, &mut code, &mut strings),
            [b'r', b'"' | b'#', ..] if !named => match raw(rest) {
                Some((begins, ends)) => {
                    let inside = at + begins..at + ends - (begins - 1);
                    blank(&mut code, inside.clone());
                    strings.push(inside);
                    at + ends
                }
                None => at + 1,
            },
            [b'\'', ..] => {
                let end = at + character(&text[at..]);
                blank(&mut code, (at + 1).min(end)..end.saturating_sub(1).max(at + 1));
                end
            }
            _ => at + 1,
        };
        at = end;
    }
    (code, strings)
}

fn string(at: usize, length: usize, mark: usize, code: &mut [u8], strings: &mut Vec<Range<usize>>) -> usize {
    let inside = at + mark..(at + length).saturating_sub(mark).max(at + mark).min(code.len());
    blank(code, inside.clone());
    strings.push(inside);
    at + length
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How long a string with its marks is.
fn quoted(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Where the inside of a raw string begins and where the whole ends. Nothing for `r#name`.
fn raw(text: &[u8]) -> Option<(usize, usize)> {
    let hashes = text[1..].iter().take_while(|byte| **byte == b'#').count();
    if text.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let begins = hashes + 2;
    let mark: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', hashes)).collect();
    let inside = text[begins..].windows(mark.len()).position(|here| here == mark)?;
    Some((begins, begins + inside + mark.len()))
}

/// How long a comment in stars is; such comments nest.
fn comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// How long what begins with this apostrophe is: a character, or one sign of a lifetime.
fn character(text: &str) -> usize {
    let mut signs = text.char_indices().skip(1);
    match signs.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(1, |end| end + 4),
        Some(_) => match signs.next() {
            Some((end, '\'')) => end + 1,
            _ => 1,
        },
        None => 1,
    }
}

/// Where the items are that only tests see, with their attributes.
fn test_items(code: &[u8]) -> Vec<Range<usize>> {
    let text = String::from_utf8_lossy(code);
    let mut found: Vec<Range<usize>> = Vec::new();
    for mark in ["#[cfg(test)]", "#[cfg(all(test"] {
        for (at, _) in text.match_indices(mark) {
            found.push(at..item_end(code, at));
        }
    }
    found
}

/// Words that begin an item: it ends with its brace or its semicolon. A field, a variant or an argument ends with its comma, too.
const ITEMS: &[&str] = &[
    "pub",
    "fn",
    "mod",
    "use",
    "impl",
    "struct",
    "enum",
    "const",
    "static",
    "trait",
    "type",
    "async",
    "macro_rules",
];

fn item_end(code: &[u8], from: usize) -> usize {
    let mut at = from;
    // The attributes before the item, this one first.
    while code.get(at) == Some(&b'#') {
        at = closed(code, at);
        at += code[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    }
    let word: Vec<u8> = code[at..].iter().copied().take_while(|byte| is_word(*byte)).collect();
    let item = ITEMS.iter().any(|begins| begins.as_bytes() == word);
    while at < code.len() {
        match code[at] {
            b';' => return at + 1,
            b',' if !item => return at + 1,
            b'{' => return closed(code, at),
            b'(' | b'[' => at = closed(code, at),
            b'}' | b')' | b']' => return at,
            _ => at += 1,
        }
    }
    code.len()
}

/// Where the next bracket from here is closed.
fn closed(code: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (String, Vec<(usize, String)>) {
        let page = Page { path: "crates/a/src/run.rs".to_owned(), text: text.to_owned() };
        let read = read(&page);
        assert_eq!(read.code.len(), text.len(), "{text}");
        assert_eq!(read.code.lines().count(), text.lines().count(), "{text}");
        (read.code.clone(), read.strings.iter().map(|(line, text)| (*line, (*text).to_owned())).collect())
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        for text in [
            "a // spawn\nb",
            "a /* spawn /* spawn */ spawn */ b",
            "a(\"spawn \\\" spawn\", b)",
            "a(r#\"spawn \" spawn\"#, b)",
            "a(r\"spawn\\\", b)",
            "a(b\"spawn\", '\"', b'\\'', '\\u{20}', b)",
        ] {
            let (code, _) = code(text);
            assert!(!code.contains("spawn"), "{code}");
            assert!(code.starts_with('a') && code.trim_end().ends_with(['b', ')']), "{code}");
        }
        assert_eq!(code("fn f<'a>(a: &'a str) {}").0, "fn f<'a>(a: &'a str) {}");
        assert_eq!(code("let r#fn = 1;").0, "let r#fn = 1;");
        assert_eq!(code("x\n(\"one\",\n r#\"two\"#)").1, [(2, "one".to_owned()), (3, "two".to_owned())]);
    }

    #[test]
    fn only_the_item_of_a_test_is_left_out() {
        for text in [
            "#[cfg(test)]\nmod tests;\nkept();",
            "#[cfg(test)]\npub(crate) use a::spawn;\nkept();",
            "#[cfg(test)]\n#[expect(dead_code, reason = \"x\")]\nfn f<A, B>(a: A, b: B) { spawn(); }\nkept();",
            "#[cfg(test)]\nmod tests { fn f() { spawn(\"}\"); } }\nkept();",
            "struct A {\n    #[cfg(test)]\n    spawn: B,\n    kept: C,\n}",
            "#[cfg(all(test, unix))]\nimpl A { fn spawn(); }\nkept();",
        ] {
            let (code, strings) = code(text);
            assert!(code.contains("kept") && !code.contains("spawn") && strings.is_empty(), "{code}");
        }
        let (code, strings) =
            code("#[cfg(test)]\nmod tests { const A: &str = \"test\"; }\nlet a = \"kept\";");
        assert!(!code.contains("const"), "{code}");
        assert_eq!(strings, [(3, "kept".to_owned())]);
    }

    #[test]
    fn files_of_tests_are_no_programs() {
        let page = |path: &str, text: &str| Page { path: path.to_owned(), text: text.to_owned() };
        let pages = [
            page("crates/a/src/lib.rs", "#[cfg(test)]\nmod bench;\nmod run;\n"),
            page("crates/a/src/bench.rs", ""),
            page("crates/a/src/bench/clock.rs", ""),
            page("crates/a/src/run.rs", ""),
            page("crates/a/src/run/tests.rs", ""),
            page("crates/a/tests/whole.rs", ""),
            page("xtask/src/main.rs", ""),
        ];
        let found: Vec<&str> = programs(&pages).iter().map(|program| program.path).collect();
        assert_eq!(found, ["crates/a/src/lib.rs", "crates/a/src/run.rs"]);
        assert_eq!(sources(&pages).last().map(|program| program.path), Some("xtask/src/main.rs"));
    }
}
