//! Says in a schema what each of its parts means, from a table that is written by hand.
//!
//! A line of the table is a path and words: `Ask` is a definition, `Ask.title` a member of it, `Answer/allow` one of its forms, known by its
//! word, `Answer/allow.scope` a member of that form; `*.run` is every member of that name without a line of its own. Invariant: each part
//! has words, no words are left over, and those of a list of words name every one of them.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Puts the words of a table into the definitions, and tells what has none and what is for nothing.
pub(super) fn put(defs: &mut Map<String, Value>, table: &str) -> Vec<String> {
    let mut words = Words::read(table);
    for (name, schema) in defs.iter_mut() {
        words.say(name, "", schema);
        words.inside(name, schema);
    }
    let Words { lines, used, mut wrong } = words;
    wrong.extend(
        lines
            .keys()
            .filter(|path| !used.contains(*path))
            .map(|path| format!("{path}: there is no such part")),
    );
    wrong
}

/// The table, and what became of it.
struct Words<'a> {
    lines: BTreeMap<&'a str, &'a str>,
    used: BTreeSet<&'a str>,
    wrong: Vec<String>,
}

impl<'a> Words<'a> {
    fn read(table: &'a str) -> Words<'a> {
        let (mut lines, mut wrong) = (BTreeMap::new(), Vec::new());
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(' ') {
                Some((path, words)) if !words.trim().is_empty() => {
                    if lines.insert(path, words.trim()).is_some() {
                        wrong.push(format!("{path}: is described twice"));
                    }
                }
                _ => wrong.push(format!("{line}: has no words")),
            }
        }
        Words { lines, used: BTreeSet::new(), wrong }
    }

    /// Describes one part. `name` is that of a member, whose words may be those of every member of that name.
    fn say(&mut self, path: &str, name: &str, schema: &mut Value) {
        let every = format!("*.{name}");
        let found = self.lines.get_key_value(path).or_else(|| self.lines.get_key_value(every.as_str()));
        let Some((found, words)) = found.map(|(found, words)| (*found, *words)) else {
            self.wrong.push(format!("{path}: nothing says what it means"));
            return;
        };
        self.used.insert(found);
        for word in schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !words.contains(&format!("`{word}`")) {
                self.wrong.push(format!("{path}: its words do not name `{word}`"));
            }
        }
        match schema {
            Value::Object(rules) => drop(rules.insert("description".to_owned(), words.into())),
            // Any value at all.
            any => *any = json!({ "description": words }),
        }
    }

    /// Describes the forms and the members of a part.
    fn inside(&mut self, path: &str, schema: &mut Value) {
        for key in ["oneOf", "anyOf"] {
            for form in schema.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten() {
                let word = form["const"].as_str().or_else(|| form["enum"][0].as_str()).map(str::to_owned);
                let only = form["properties"].as_object().and_then(|members| members.keys().next()).cloned();
                let Some(word) = word.or(only) else { continue };
                let path = format!("{path}/{word}");
                self.say(&path, "", form);
                if let Some(inner) = form.get_mut("properties").and_then(|members| members.get_mut(&word)) {
                    self.inside(&path, inner);
                }
            }
        }
        for (name, member) in
            schema.get_mut("properties").and_then(Value::as_object_mut).into_iter().flatten()
        {
            let path = format!("{path}.{name}");
            self.say(&path, name, member);
            self.inside(&path, member);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn defs() -> Map<String, Value> {
        let defs = json!({
            "Ask": { "properties": { "title": { "type": "string" }, "args": true, "run": { "type": "integer" } } },
            "Answer": { "oneOf": [
                { "enum": ["dismissed", "over"] },
                { "properties": { "allow": { "properties": { "scope": { "type": "string" } } } } },
            ] },
        });
        defs.as_object().cloned().unwrap_or_default()
    }

    const TABLE: &str = "# a note\n\nAsk  A question.\nAsk.title  Its title.\nAsk.args  Any JSON.\n*.run  The run.\nAnswer  What is said.\n\
        Answer/dismissed  `dismissed` or `over`.\nAnswer/allow  Yes.\nAnswer/allow.scope  How far.\n";

    #[test]
    fn each_part_is_described() {
        let mut defs = defs();
        assert_eq!(put(&mut defs, TABLE), Vec::<String>::new());
        assert_eq!(defs["Ask"]["properties"]["args"], json!({ "description": "Any JSON." }));
        assert_eq!(defs["Ask"]["properties"]["run"]["description"], "The run.");
        assert_eq!(defs["Answer"]["oneOf"][0]["description"], "`dismissed` or `over`.");
        let allow = &defs["Answer"]["oneOf"][1];
        assert_eq!(allow["description"], "Yes.");
        assert_eq!(allow["properties"]["allow"]["properties"]["scope"]["description"], "How far.");
    }

    #[test]
    fn what_has_no_words_and_words_for_nothing_are_told() {
        for (from, to, told) in [
            ("Ask.title  Its title.\n", "", "Ask.title: nothing says what it means"),
            ("Answer/allow.scope  How far.\n", "", "Answer/allow.scope: nothing says what it means"),
            (" or `over`", "", "Answer/dismissed: its words do not name `over`"),
            ("# a note", "Ask.deadline  When.", "Ask.deadline: there is no such part"),
            ("# a note", "Ask  Twice.", "Ask: is described twice"),
            ("Ask  A question.", "Ask", "Ask: has no words"),
        ] {
            let wrong = put(&mut defs(), &TABLE.replacen(from, to, 1));
            assert!(wrong.iter().any(|one| one == told), "{told}: {wrong:?}");
        }
    }
}
