//! What a runtime of another program says of a call that it asks about, as what a person is shown of it. Pure.
//!
//! Nothing is left out here: one change or one command keeps its form and the rest stands beside it as grounds; several things are a
//! text, one below the other. What fits on a screen is decided where it is shown ([`crate::shown`]), which tells what it leaves out and
//! then offers nothing that lasts.

use domain::ask::Preview;
use domain::content::Json;
use serde_json::Value;

/// Before words of the runtime that stand in no other part.
const WORDS: &str = "it says: ";
/// Before arguments that stand in no other part.
const ARGUMENTS: &str = "called with ";
/// Members whose names say no more than where their values are shown anyway: the command, the file, what changes in it.
const IMPLIED: &[&str] = &[
    "command",
    "cmd",
    "path",
    "file_path",
    "filePath",
    "abs_path",
    "content",
    "contents",
    "text",
    "edits",
    "old_string",
    "new_string",
    "old_text",
    "new_text",
    "oldText",
    "newText",
    "old",
    "new",
];

/// One file that would change.
#[derive(Debug, Default)]
pub struct Change {
    pub path: String,
    /// The difference.
    pub text: String,
    /// What it is the difference of, where that was said.
    pub sides: Vec<String>,
}

/// All that was said of a call.
#[derive(Debug)]
pub struct DescribedCall<'a> {
    /// What stands above the question in any case.
    pub title: &'a str,
    pub changes: Vec<Change>,
    pub command: Option<String>,
    /// Whatever was written beside them.
    pub words: Vec<String>,
    pub args: &'a Json,
}

impl<'a> DescribedCall<'a> {
    /// A call that the runtime shows in this form.
    pub fn with_preview(title: &'a str, preview: Preview, args: &'a Json) -> DescribedCall<'a> {
        let mut call = DescribedCall { title, changes: Vec::new(), command: None, words: Vec::new(), args };
        match preview {
            Preview::Diff { path, text } => call.changes.push(Change { path, text, sides: Vec::new() }),
            Preview::Text(text) => call.words.push(text),
            Preview::Command { line, .. } => call.command = Some(line),
        }
        call
    }

    /// What is asked about, and what is to be known besides; nothing where nothing was said.
    pub fn shown(self) -> (Option<Preview>, Vec<String>) {
        let DescribedCall { title, mut changes, command, words, args } = self;
        let sides: Vec<String> = changes.iter_mut().flat_map(|change| change.sides.drain(..)).collect();
        let mut told = Told::new(title, sides);
        let command = command.filter(|line| !line.trim().is_empty());
        for Change { path, text, .. } in &changes {
            told.add(path);
            told.add(text);
            // Without the marks, as the lines stand in the file.
            told.add(&text.lines().map(|line| line.get(1..).unwrap_or("")).collect::<Vec<_>>().join("\n"));
        }
        told.add(command.as_deref().unwrap_or_default());
        let mut beside = Vec::new();
        for said in words.into_iter().filter(|said| !said.trim().is_empty()) {
            if !told.has(&said) {
                told.add(&said);
                beside.push(said);
            }
        }
        let args = told.rest_of(args);
        let form = match (changes.len(), command) {
            (0, Some(line)) => Ok(Preview::Command { line, inner: Vec::new() }),
            (1, None) => Ok(changes.pop().map_or(Preview::Text(String::new()), |change| Preview::Diff {
                path: change.path,
                text: change.text,
            })),
            (_, command) => Err(command),
        };
        match form {
            Ok(form) => {
                let words = beside.into_iter().map(|said| format!("{WORDS}{said}"));
                let args = args.map(|args| format!("{ARGUMENTS}{args}"));
                (Some(form), words.chain(args).collect())
            }
            Err(command) => {
                let changes = changes.into_iter().map(|Change { path, text, .. }| format!("{path}\n{text}"));
                let parts: Vec<String> =
                    beside.into_iter().chain(command).chain(changes).chain(args).collect();
                let text =
                    parts.iter().map(|part| part.trim_end_matches('\n')).collect::<Vec<_>>().join("\n");
                (Some(text).filter(|text| !text.is_empty()).map(Preview::Text), Vec::new())
            }
        }
    }
}

/// Whether every word of a title stands in what is shown below it.
pub fn is_told(title: &str, shown: &str) -> bool {
    let told = Told::new(shown, Vec::new());
    title.split(is_around).filter(|word| !word.is_empty()).all(|word| told.has(word))
}

/// What a person can read already.
struct Told {
    text: String,
    /// Texts whose difference is shown: both of them are, then.
    sides: Vec<String>,
}

impl Told {
    fn new(title: &str, sides: Vec<String>) -> Told {
        Told { text: settled(title), sides }
    }

    fn add(&mut self, text: &str) {
        self.text.push('\n');
        self.text.push_str(&settled(text));
    }

    /// Whether this very text stands there, and no part of a longer one: `a; b` is told by nobody who says `a b` or `a; bc`.
    fn has(&self, text: &str) -> bool {
        let wanted = settled(text);
        let ends = |beside: Option<char>| beside.is_none_or(is_around);
        let stands = |(at, found): (usize, &str)| {
            let (before, behind) = (self.text.get(..at), self.text.get(at + found.len()..));
            ends(before.and_then(|before| before.chars().next_back()))
                && ends(behind.and_then(|behind| behind.chars().next()))
        };
        self.sides.iter().any(|side| side.trim_end() == text.trim_end())
            || wanted.is_empty()
            || self.text.match_indices(wanted.as_str()).any(stands)
    }

    fn has_value(&self, name: &str, value: &Value) -> bool {
        let named = IMPLIED.contains(&name) || self.has(name);
        match value {
            Value::Null => true,
            Value::String(text) => named && self.has(text),
            Value::Bool(_) | Value::Number(_) => self.has(name) && self.has(&value.to_string()),
            // The words of a command that is told as a list.
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
                named && self.has(&words.join(" "))
            }
            Value::Array(items) => items.iter().all(|item| self.has_value(name, item)),
            Value::Object(members) => {
                named && members.iter().all(|(name, value)| self.has_value(name, value))
            }
        }
    }

    /// The arguments that stand nowhere else, as they were written.
    fn rest_of(&self, args: &Json) -> Option<String> {
        let members = match serde_json::from_str(args.as_str()) {
            Ok(Value::Object(members)) => members,
            Ok(Value::Null) => return None,
            Ok(Value::String(text)) => return Some(text).filter(|text| !self.has(text)),
            Ok(_) | Err(_) => return Some(args.as_str().to_owned()),
        };
        let all = members.len();
        let rest: serde_json::Map<String, Value> =
            members.into_iter().filter(|(name, value)| !self.has_value(name, value)).collect();
        match rest.len() {
            0 => None,
            some if some == all => Some(args.as_str().to_owned()),
            _ => Some(Value::Object(rest).to_string()),
        }
    }
}

/// A text whose lines have single spaces between their words.
fn settled(text: &str) -> String {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Whether a sign only stands around what is told.
fn is_around(sign: char) -> bool {
    sign.is_whitespace() || "\"'`{}[](),:?".contains(sign)
}
