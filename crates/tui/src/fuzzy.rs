//! Fuzzy matching for every list: best first, equal ones in their own order.

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};

/// The positions of the items that fit `query`, best first.
pub(crate) fn rank<T: AsRef<str>>(query: &str, items: &[T]) -> Vec<usize> {
    if query.trim().is_empty() {
        return (0..items.len()).collect();
    }
    let mut matcher = Matcher::new(Config::DEFAULT);
    let pattern = Pattern::parse(query, CaseMatching::Smart, Normalization::Smart);
    let mut chars = Vec::new();
    let mut found: Vec<(u32, usize)> = items
        .iter()
        .enumerate()
        .filter_map(|(at, item)| {
            let score = pattern.score(Utf32Str::new(item.as_ref(), &mut chars), &mut matcher)?;
            Some((score, at))
        })
        .collect();
    found.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    found.into_iter().map(|(_, at)| at).collect()
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
}
