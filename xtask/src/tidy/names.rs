//! Names of types: each is used once in its crate, so that a reader who meets one knows which is meant.
//!
//! What it is not: a judge of whether a name is a good noun. Counted are structs, enums and traits outside of tests, wherever they stand;
//! a name for another type (`type`) is none of its own.

use std::collections::BTreeMap;

use crate::program::{Program, line_of};

/// What begins the definition of a type.
const KEYWORDS: &[&str] = &["struct", "enum", "trait"];

/// A crate's folder, and a name that it still has twice or more.
type Listed = (&'static str, &'static str);

/// The names that are left: none. A crate that must have one for a while is written down here.
const LEFT: &[Listed] = &[];

/// Every name that two types of a crate share, and whatever of the list is not so any more.
pub(super) fn findings(sources: &[Program<'_>]) -> Vec<String> {
    judged(sources, LEFT)
}

fn judged(sources: &[Program<'_>], left: &[Listed]) -> Vec<String> {
    let mut places: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for source in sources {
        for (at, name) in types(&source.code) {
            let place = format!("{}:{}", source.path, line_of(&source.code, at));
            places.entry((crate_of(source.path), name)).or_default().push(place);
        }
    }
    places.retain(|_, places| places.len() > 1);
    let shared = places.iter().filter(|(name, _)| !left.contains(name)).map(|((_, name), places)| {
        format!(
            "{}: `{name}` names {} types of this crate: give each a noun that says whose it is ({})",
            places[0],
            places.len(),
            places[1..].join(", ")
        )
    });
    let over = left.iter().filter(|listed| !places.contains_key(*listed)).map(|(place, name)| {
        format!("{place}: `{name}` is listed in xtask/src/tidy/names.rs and names no two types: remove it")
    });
    shared.chain(over).collect()
}

/// The folder of a file's crate.
fn crate_of(path: &str) -> &str {
    path.split("/src/").next().unwrap_or(path)
}

/// The types that are defined in this code, and where each name begins.
fn types(code: &str) -> Vec<(usize, &str)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for keyword in KEYWORDS {
        for (at, _) in code.match_indices(keyword) {
            let rest = &code[at + keyword.len()..];
            let name = rest.trim_start();
            let end = name.find(|c| !is_name(c)).unwrap_or(name.len());
            let is_type = !code[..at].ends_with(is_name)
                && name.len() < rest.len()
                && name.starts_with(|c: char| c.is_uppercase());
            if is_type {
                found.push((code.len() - name.len(), &name[..end]));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::sources;
    use crate::tree::Page;

    fn found(files: &[(&str, &str)], left: &[Listed]) -> Vec<String> {
        let page = |(path, text): &(&str, &str)| Page { path: (*path).to_owned(), text: (*text).to_owned() };
        let pages: Vec<Page> = files.iter().map(page).collect();
        judged(&sources(&pages), left)
    }

    #[test]
    fn two_types_of_a_crate_do_not_share_a_name() {
        let a = "crates/a/src/one.rs";
        for (path, text, count) in [
            ("crates/a/src/two.rs", "pub(crate) enum Wish<'a> {}", 1),
            ("crates/a/src/two/deep.rs", "fn f() {\n    struct Wish;\n}", 1),
            (a, "trait Wish {}", 1),
            ("crates/b/src/two.rs", "struct Wish;", 0),
            ("crates/a/src/two.rs", "struct Wishes; struct NoWish;", 0),
            ("crates/a/src/two.rs", "type Wish = u8; impl Wish {} use super::Wish;", 0),
            ("crates/a/src/two.rs", "// struct Wish\nlet x = \"struct Wish\"; let r#struct = Wish;", 0),
            ("crates/a/src/two.rs", "#[cfg(test)]\nmod tests {\n    struct Wish;\n}", 0),
            ("crates/a/src/two/tests.rs", "struct Wish;", 0),
            ("crates/a/tests/it/two.rs", "struct Wish;", 0),
        ] {
            let found = found(&[(a, "\nstruct Wish;"), (path, text)], &[]);
            assert_eq!(found.len(), count, "{path}: {text}: {found:?}");
            assert!(found.iter().all(|one| one.contains(&format!("{a}:2: `Wish` names 2"))), "{found:?}");
        }
    }

    #[test]
    fn what_is_left_is_listed_and_leaves_the_list_when_it_is_gone() {
        let twice = [("crates/a/src/one.rs", "struct Wish;"), ("crates/a/src/two.rs", "struct Wish;")];
        assert!(found(&twice, &[("crates/a", "Wish")]).is_empty());
        let over = found(&twice[..1], &[("crates/a", "Wish")]);
        assert!(over.len() == 1 && over[0].contains("remove it"), "{over:?}");
    }
}
