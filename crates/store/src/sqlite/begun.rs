//! What a person has typed, as a query that reads only as much of the search index as its first results take.
//!
//! Asked for the beginning of a word, the index gathers every place of all words that begin so before it tells the first; asked for whole
//! words, it tells them as they come. So the words of the index that a typed one begins are asked for by name. Where those are many, or
//! the typed word is not plain ASCII, which the index folds in its own way, its beginning is asked for: both find the same.

use crate::words::Words;
use rusqlite::{Connection, OptionalExtension as _};
use std::fmt::Write as _;

/// Most words of the index that are named in the place of one beginning: to look each up takes longer from there on.
const MAX_NAMED: usize = 50;
/// A list of the index's words, which SQLite makes for this connection alone.
const LIST: &str =
    "CREATE VIRTUAL TABLE IF NOT EXISTS temp.found_words USING fts5vocab (main, 'found', 'instance')";
/// The first word from one on: no place of it is read but its first.
const FROM: &str = "SELECT term FROM temp.found_words WHERE term >= ?1 LIMIT 1";

/// The words as a query of the search index: each begins a word.
pub(super) fn query(words: &Words) -> String {
    words.iter().map(beginning).collect::<Vec<_>>().join(" AND ")
}

/// The same in a form whose first results come first.
pub(super) fn lazy_query(connection: &Connection, words: &Words) -> rusqlite::Result<String> {
    connection.execute_batch(LIST)?;
    let mut parts = Vec::new();
    for word in words.iter() {
        let named = if word.is_ascii() { named(connection, word)? } else { None };
        parts.push(named.unwrap_or_else(|| beginning(word)));
    }
    Ok(parts.join(" AND "))
}

fn beginning(word: &str) -> String {
    format!("\"{word}\"*")
}

/// All words that this one begins, each by name; `None` where there are none, or too many.
fn named(connection: &Connection, word: &str) -> rusqlite::Result<Option<String>> {
    let mut next = connection.prepare_cached(FROM)?;
    let (mut named, mut from) = (String::new(), word.to_owned());
    for _ in 0..MAX_NAMED {
        let term: Option<String> = next.query_row([&from], |row| row.get(0)).optional()?;
        let Some(term) = term.filter(|term| term.starts_with(word)) else {
            return Ok((!named.is_empty()).then(|| format!("({named})")));
        };
        let or = if named.is_empty() { "" } else { " OR " };
        let _ = write!(named, "{or}\"{term}\"");
        // Words are letters and digits: nothing lies between a word and this.
        from = term + "\u{1}";
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE VIRTUAL TABLE found USING fts5 (text, content='', detail='none')")
            .unwrap();
        for (at, text) in texts.iter().enumerate() {
            let row = i64::try_from(at).unwrap();
            connection.execute("INSERT INTO found (rowid, text) VALUES (?1, ?2)", (row, text)).unwrap();
        }
        connection
    }

    fn rows(connection: &Connection, query: &str) -> Vec<i64> {
        let sql = "SELECT rowid FROM found WHERE found MATCH ?1 ORDER BY rowid DESC";
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([query], |row| row.get(0)).unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn words_are_named_where_they_are_few_and_both_forms_find_the_same() {
        let many: Vec<String> = (0..=MAX_NAMED).map(|at| format!("many{at}")).collect();
        let many = many.join(" ");
        let texts = [
            "the store opened",
            "State, and a STORE",
            "sto re",
            "naïve café, Straße",
            "or and not near",
            "日本 a",
            many.as_str(),
        ];
        let connection = index(&texts);
        let lazy = |typed: &str| lazy_query(&connection, &Words::of(typed)).unwrap();
        for (typed, query) in [
            ("st", "(\"state\" OR \"sto\" OR \"store\" OR \"strasse\")"),
            ("STORE op", "(\"store\") AND (\"opened\")"),
            ("nosuch", "\"nosuch\"*"),
            ("many", "\"many\"*"),
            ("many50", "(\"many50\")"),
            ("café", "\"café\"*"),
        ] {
            let got = lazy(typed).replace("straße", "strasse");
            assert_eq!(got, query, "{typed}");
        }
        for typed in [
            "st",
            "store",
            "store op",
            "opened state",
            "naiv",
            "naïv",
            "caf",
            "café",
            "or",
            "not near",
            "日",
            "a",
            "many",
            "many5",
        ] {
            let plain = rows(&connection, &query(&Words::of(typed)));
            assert_eq!(rows(&connection, &lazy(typed)), plain, "{typed}");
            assert!(!plain.is_empty() || typed == "opened state", "{typed}");
        }
    }
}
