//! Fuzzy matching for every list: best first, equal ones in their own order.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The positions of the items that fit `query`, best first.
pub(crate) fn rank<T: AsRef<str>>(query: &str, items: &[T]) -> Vec<usize> {
    if query.trim().is_empty() {
        return (0..items.len()).collect();
    }
    let mut found: Vec<(u32, usize)> = scores(query, items).collect();
    found.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    found.into_iter().map(|(_, at)| at).collect()
}

/// The best of items that come little by little: what was looked at is not looked at again.
#[derive(Debug)]
pub(crate) struct Best {
    query: String,
    most: usize,
    /// How many were looked at.
    seen: usize,
    /// The best so far, best first: how well they fit, and which they are.
    best: Vec<(u32, usize)>,
}

impl Best {
    /// Nothing was looked at yet; `most` are kept.
    pub(crate) fn of(query: &str, most: usize) -> Best {
        Best { query: query.to_owned(), most, seen: 0, best: Vec::new() }
    }

    /// What they are to fit.
    pub(crate) fn query(&self) -> &str {
        &self.query
    }

    /// Looks at the items that came since.
    pub(crate) fn look<T: AsRef<str>>(&mut self, items: &[T]) -> Vec<usize> {
        let from = self.seen.min(items.len());
        self.best.extend(scores(&self.query, &items[from..]).map(|(score, at)| (score, from + at)));
        self.best.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
        self.best.truncate(self.most);
        self.seen = items.len();
        self.best.iter().map(|(_, at)| *at).collect()
    }
}

/// How well items fit, of those that do.
fn scores<'a, T: AsRef<str>>(query: &str, items: &'a [T]) -> impl Iterator<Item = (u32, usize)> + use<'a, T> {
    let mut matcher = Matcher::new(Config::DEFAULT);
    let all = query.trim().is_empty();
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut chars = Vec::new();
    items.iter().enumerate().filter_map(move |(at, item)| match all {
        true => Some((0, at)),
        false => Some((pattern.score(Utf32Str::new(item.as_ref(), &mut chars), &mut matcher)?, at)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_comes_first() {
        let items = ["crates/domain/src/lib.rs", "crates/tui/src/lib.rs", "README.md"];
        assert_eq!(rank("tui lib", &items), [1]);
        assert_eq!(rank("readme", &items), [2]);
        assert_eq!(rank("", &items), [0, 1, 2]);
        assert_eq!(rank("zzz", &items), Vec::<usize>::new());
    }

    #[test]
    fn the_best_of_what_comes_little_by_little_is_the_best_of_all() {
        let items: Vec<String> = (0..300).map(|at| format!("src/part_{}/file_{at}.rs", at % 7)).collect();
        for query in ["", "file_29", "part_3 rs", "zzz"] {
            let mut best = Best::of(query, 5);
            for many in [1, 2, 120, 299] {
                best.look(&items[..many]);
            }
            let all: Vec<usize> = rank(query, &items).into_iter().take(5).collect();
            assert_eq!(best.look(&items), all, "{query}");
        }
    }
}
