//! The examples of the documents, as they are said: `examples/WIRE.txt` has what a UI says, `examples/WIRE.runtime.txt` what a runtime says,
//! line by line under the section that has it; `{place}` is the folder, `$session` the session that the UI heard of last. The native wire
//! has every command of the vocabulary besides.
//!
//! Held here: no fenced example of the five documents is missing. What is said with them is in `laws.rs` and `laws/heard.rs`.

use dialects::Dialect;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An example of a document.
pub(crate) struct Example {
    pub(crate) section: String,
    pub(crate) line: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/whole/examples")
}

/// What a UI of this wire says.
pub(crate) fn examples(dialect: Dialect) -> Vec<Example> {
    let path = folder().join(format!("{dialect}.txt"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines() {
        match line.strip_prefix("# ") {
            Some(named) => named.clone_into(&mut section),
            None => found.push(Example { section: section.clone(), line: line.to_owned() }),
        }
    }
    if dialect.is_lossless() {
        let rights = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wires/native/src/rights.jsonl");
        let rights = std::fs::read_to_string(rights).expect("every command");
        // What starts a program waits for it by another clock than this one.
        let commands = rights.lines().filter(|row| !row.contains(r#""line":"#));
        found.extend(commands.enumerate().map(|(ticket, row)| {
            let row: Value = serde_json::from_str(row).expect("a row");
            let what = &row["what"];
            let line = serde_json::json!({"command": {"ticket": ticket + 1, "what": what}}).to_string();
            Example { section: what.to_string(), line }
        }));
    }
    found
}

/// A line of a runtime.
pub(crate) struct Told {
    pub(crate) section: String,
    pub(crate) line: String,
    /// Words of it that every UI is told.
    pub(crate) words: Option<String>,
    /// Whether the prompt before it is over with it.
    pub(crate) ends: bool,
    /// Whether the UI has stopped the run before.
    pub(crate) stopped: bool,
}

/// What a runtime says that knows its document and nothing else.
#[derive(Default)]
pub(crate) struct Conversation {
    /// Before anybody asked it for anything.
    pub(crate) greeting: Vec<Told>,
    /// Its answers, by what was asked.
    pub(crate) answers: Vec<(String, String)>,
    /// After each prompt.
    pub(crate) talks: Vec<Vec<Told>>,
}

/// The conversation of a wire's document, where that shows what a runtime says.
pub(crate) fn conversation(dialect: Dialect) -> Option<Conversation> {
    let text = std::fs::read_to_string(folder().join(format!("{dialect}.runtime.txt"))).ok()?;
    let mut conversation = Conversation::default();
    let (mut section, mut answers, mut words) = (String::new(), None, None);
    let (mut ends, mut stopped) = (false, false);
    for line in text.lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("#", named) => named.clone_into(&mut section),
            ("=", asked) => answers = Some(asked.to_owned()),
            ("tells", said) => words = Some(said.to_owned()),
            ("ends", _) => ends = true,
            ("stopped", _) => stopped = true,
            ("prompt", _) => conversation.talks.push(Vec::new()),
            _ => match answers.take() {
                Some(asked) => conversation.answers.push((asked, line.to_owned())),
                None => {
                    let (section, line) = (section.clone(), line.to_owned());
                    let (words, ends, stopped) =
                        (words.take(), std::mem::take(&mut ends), std::mem::take(&mut stopped));
                    let told = Told { section, line, words, ends, stopped };
                    conversation.talks.last_mut().unwrap_or(&mut conversation.greeting).push(told);
                }
            },
        }
    }
    Some(conversation)
}

/// Every line that stands in both files of a wire.
fn kept(dialect: Dialect) -> Vec<Value> {
    let said = examples(dialect).into_iter().map(|example| example.line);
    let told = conversation(dialect).unwrap_or_default();
    let answers = told.answers.into_iter().map(|(_, line)| line);
    let lines = told.greeting.into_iter().chain(told.talks.into_iter().flatten()).map(|told| told.line);
    let all = said.chain(answers).chain(lines);
    all.map(|line| serde_json::from_str(&line).unwrap_or_else(|why| panic!("{dialect}: {why}: {line}")))
        .collect()
}

/// A fenced block of a document.
struct Block {
    heading: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let (mut heading, mut open): (&str, Option<String>) = ("", None);
    for line in document.lines() {
        match (&mut open, line.starts_with("```")) {
            (Some(_), true) => {
                found.push(Block { heading: heading.to_owned(), text: open.take().expect("open") });
            }
            (Some(text), false) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, true) => open = Some(String::new()),
            (None, false) if line.starts_with('#') => heading = line.trim_start_matches(['#', ' ']),
            (None, false) => {}
        }
    }
    found
}

/// The text with null where the document leaves something out (`...`, `<number>`, `[ {blocks} ]`).
fn with_nulls(text: &str) -> String {
    let (mut rest, mut out, mut quoted) = (text, String::new(), false);
    while let Some(next) = rest.chars().next() {
        let gaps = [("{...}", None), ("...", None), ("[ {", Some("} ]")), ("<", Some(">"))];
        let gap = gaps.iter().find(|(begin, _)| !quoted && rest.starts_with(begin));
        let long = gap.and_then(|(begin, end)| match end {
            Some(end) => rest.find(end).map(|at| at + end.len()),
            None => Some(begin.len()),
        });
        if let Some(long) = long {
            out.push_str("null");
            rest = &rest[long..];
            continue;
        }
        let is_escape = quoted && next == '\\';
        quoted ^= next == '"';
        let long =
            next.len_utf8() + if is_escape { rest[1..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        out.push_str(&rest[..long]);
        rest = &rest[long..];
    }
    out
}

/// The messages that a block shows, if it shows any.
fn messages(text: &str) -> Vec<Value> {
    let text = with_nulls(text);
    let without_comments: Vec<&str> = text.lines().filter(|line| !line.starts_with("//")).collect();
    if let Ok(message) = serde_json::from_str(&without_comments.join("\n")) {
        return vec![message];
    }
    let lines = text.lines().filter(|line| line.starts_with("{\"")).map(|line| line.trim_end_matches("\\n"));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}"))).collect()
}

/// Members whose value says what something is.
const TELLING: &[&str] = &["type", "method", "kind", "role", "__struct__"];

/// Whether a value has all that the document shows: its members, and what they say where that tells what it is.
fn fits(shown: &Value, kept: &Value, member: &str) -> bool {
    match (shown, kept) {
        (Value::Null, _) => true,
        (Value::Object(shown), Value::Object(kept)) => {
            shown.iter().all(|(name, shown)| kept.get(name).is_some_and(|kept| fits(shown, kept, name)))
        }
        (Value::Array(shown), Value::Array(kept)) => {
            shown.iter().all(|shown| kept.iter().any(|kept| fits(shown, kept, member)))
        }
        (Value::String(shown), Value::String(kept)) => {
            !TELLING.contains(&member) || shown.starts_with('<') || shown.split('|').any(|one| one == kept)
        }
        (Value::Number(_), Value::Number(_)) | (Value::Bool(_), Value::Bool(_)) => true,
        _ => false,
    }
}

/// Whether it fits a value or something in it.
fn fits_in(shown: &Value, kept: &Value) -> bool {
    fits(shown, kept, "")
        || match kept {
            Value::Object(members) => members.values().any(|kept| fits_in(shown, kept)),
            Value::Array(values) => values.iter().any(|kept| fits_in(shown, kept)),
            _ => false,
        }
}

fn names_in(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                names.insert(name.clone());
                names_in(value, names);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| names_in(value, names)),
        _ => {}
    }
}

/// The members that a block of types declares.
fn declared(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default();
        for (at, _) in line.match_indices(':') {
            let before = line[..at].trim_end_matches('?');
            let name = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
            if !name.is_empty() {
                names.insert(name.to_owned());
            }
        }
    }
    names
}

/// Blocks that show no message, by the heading above them and their beginning.
const PASSED_OVER: &[(&str, &str, &str, &str)] = &[
    ("asst", "Message Flow", "┌", "a drawing"),
    ("asst", "Sending from Tauri (Rust)", "use ", "a program; its request is the one of 1 Message Framing"),
    ("asst", "Receiving in Agent (Node)", "import ", "a program that reads"),
    ("asst", "Sending from Agent (Node)", "function ", "a program; its line is the one of Token Response"),
    ("asst", "Receiving in Tauri (Rust)", "use ", "a program that reads"),
    ("asst", "Automated Testing", "// Mock", "a program of tests"),
    ("asst", "Debug Logging", "function ", "a program that writes to stderr"),
    ("asst", "Debug Logging", "eprintln", "a program that writes to stderr"),
    ("openagent", "Example 1: Simple Query", "Client", "the order of messages that are there by themselves"),
    (
        "openagent",
        "Example 2: Query with Tool Execution",
        "Client",
        "the order of messages that are there by themselves",
    ),
    ("openagent", "Example 3: Cancellation", "Client", "the order of messages that are there by themselves"),
];

/// What is wrong with the examples that are kept of a document, and how many blocks it has.
fn faults(dialect: Dialect, document: &str) -> (Vec<String>, usize) {
    let kept = kept(dialect);
    let mut names = BTreeSet::new();
    kept.iter().for_each(|line| names_in(line, &mut names));
    let mut faults = Vec::new();
    let mut passed: Vec<_> = PASSED_OVER.iter().filter(|(of, ..)| *of == dialect.name()).collect();
    let blocks = blocks(document);
    for Block { heading, text } in &blocks {
        if text.contains("export type") || text.contains("export interface") {
            let missing: Vec<_> = declared(text).difference(&names).cloned().collect();
            if !missing.is_empty() {
                faults.push(format!("{dialect}: {heading}: members that no example has: {missing:?}"));
            }
            continue;
        }
        let messages = messages(text);
        for message in messages.iter().filter(|message| !kept.iter().any(|kept| fits_in(message, kept))) {
            faults.push(format!("{dialect}: {heading}: an example that is not played: {message}"));
        }
        if messages.is_empty() {
            let row = passed.iter().position(|row| row.1 == heading && text.starts_with(row.2));
            match row {
                Some(at) => drop(passed.remove(at)),
                None => faults
                    .push(format!("{dialect}: {heading}: a block without a message or a reason: {text}")),
            }
        }
    }
    faults.extend(passed.iter().map(|row| format!("{dialect}: {}: a reason without a block", row.1)));
    (faults, blocks.len())
}

#[test]
fn no_example_of_the_five_documents_is_missing() {
    let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kit/documents");
    let mut all = Vec::new();
    // How many fenced blocks there are: who reads them wrongly reads another number.
    for (name, count) in [("codelia", 35), ("nous", 0), ("lemon", 13), ("openagent", 30), ("asst", 22)] {
        let dialect = *dialects::ALL.iter().find(|dialect| dialect.name() == name).expect("a wire");
        let document = std::fs::read_to_string(documents.join(format!("{name}.txt"))).expect("a document");
        let (faults, found) = faults(dialect, &document);
        all.extend(faults);
        assert_eq!(found, count, "{name}: fenced blocks");
    }
    // The one without examples lists its commands.
    let document = std::fs::read_to_string(documents.join("nous.txt")).expect("a document");
    let (_, listed) = document.split_once("## 3. ").expect("its commands");
    let (listed, _) = listed.split_once("## 4. ").expect("what follows");
    let nous = kept(dialects::nous::DIALECT);
    let commands: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split('`').nth(1).filter(|_| !line.contains(' ') || line.contains(". `")))
        .collect();
    assert!(commands.len() >= 14, "{commands:?}");
    let missing = commands
        .iter()
        .filter(|command| !command.contains('.') && !nous.iter().any(|line| line["type"] == **command));
    all.extend(missing.map(|command| format!("nous: {command} is not played")));
    assert!(all.is_empty(), "{} are missing: {all:#?}", all.len());
}
