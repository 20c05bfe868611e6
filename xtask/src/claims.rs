//! Whether the tests that pages name exist: a promise is a test, and a page that names one nobody wrote promises nothing.
//!
//! What it is not: a proof that the test tests what the page says. It looks for functions with the attribute of a test right above.

use crate::tree::Page;
use std::collections::BTreeSet;

/// Pages whose promises name their tests.
const PAGES: &[&str] = &["docs/security.md", "docs/consent.md", "docs/reliability.md"];
/// Names of tests are sentences: that many underscores at least tell them from other code on a page.
const UNDERSCORES: usize = 3;

/// Judges the pages: every test that is named must be one.
pub(crate) fn findings(pages: &[Page], sources: &[Page]) -> Vec<String> {
    let tests: BTreeSet<&str> = sources.iter().flat_map(|page| tests(&page.text)).collect();
    let mut findings = Vec::new();
    for page in pages.iter().filter(|page| PAGES.contains(&page.path.as_str())) {
        for (at, line) in page.text.lines().enumerate() {
            let named = line.split('`').skip(1).step_by(2).filter(|code| is_sentence(code));
            for name in named.filter(|name| !tests.contains(name)) {
                findings.push(format!("{}:{}: there is no test `{name}`", page.path, at + 1));
            }
        }
    }
    findings
}

fn is_sentence(code: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let begins = code.starts_with(|c: char| c.is_ascii_lowercase());
    begins && code.chars().all(plain) && code.matches('_').count() >= UNDERSCORES
}

/// The functions of a source file that are tests.
pub(crate) fn tests(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut marked = false;
    for line in text.lines().map(str::trim) {
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        match function {
            Some(rest) if marked => found.extend(rest.split('(').next()),
            _ => {}
        }
        // Attributes and comments may stand between the mark and the function.
        let mark = line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        marked = mark || marked && (line.starts_with("#[") || line.starts_with("//"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn page(path: &str, text: &str) -> Page {
        Page { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_page_that_names_a_test_nobody_wrote_is_found_out() {
        let source = "#[test]\nfn this_is_a_test() {}\n#[tokio::test]\n#[cfg(unix)]\nasync fn this_is_another_one() {}\n\
                      fn this_is_no_test() {}\n";
        let sources = [page("x.rs", source)];
        let text = "`this_is_a_test`, `this_is_another_one`\n`also_writable` and `this_is_no_test`\n";
        assert_eq!(
            findings(
                &[page("docs/security.md", text), page("docs/other.md", "`not_looked_at_here`")],
                &sources
            ),
            ["docs/security.md:2: there is no test `this_is_no_test`"]
        );
    }

    #[test]
    fn every_test_that_our_pages_name_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let pages = crate::tree::pages(&root.join("docs"), ".md").unwrap();
        let pages: Vec<Page> =
            pages.into_iter().map(|found| page(&format!("docs/{}", found.path), &found.text)).collect();
        let sources = crate::tree::pages(root, ".rs").unwrap();
        assert_eq!(findings(&pages, &sources), Vec::<String>::new());
        for promised in PAGES {
            assert!(
                pages.iter().any(|page| page.path == *promised),
                "{promised}, a page of promises, is gone"
            );
        }
    }
}
