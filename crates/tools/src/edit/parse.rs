//! The edits of a call in the forms that models write: a list, one alone, JSON in a text, or blocks of search and replace. Pure.
//! Lenient about form; what could be read in two ways is refused.

use crate::args::Args;
use crate::tool::ToolError;
use serde_json::Value;
use std::borrow::Cow;

/// Replacements in one call.
pub const MAX_EDITS: usize = 200;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct One {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) all: bool,
    /// How often `old` must stand there, where the call says so.
    pub(super) times: Option<u64>,
    /// Only whole lines are meant.
    pub(super) lines: bool,
}

const LIST: &[&str] = &["edits", "changes", "replacements"];
const OLD: &[&str] =
    &["old", "old_string", "old_str", "old_text", "oldText", "oldString", "search", "TargetContent"];
const NEW: &[&str] =
    &["new", "new_string", "new_str", "new_text", "newText", "newString", "replace", "ReplacementContent"];
const ALL: &[&str] = &["all", "replace_all", "replaceAll", "change_all", "AllowMultiple"];
const TIMES: &[&str] = &["expected_replacements"];
const BLOCKS: &[&str] = &["diff", "blocks"];

/// Reads the edits of a call.
pub(super) fn parse(tool: &str, args: Args<'_>) -> Result<Vec<One>, ToolError> {
    let filled =
        |names| -> Result<bool, ToolError> { Ok(args.text_opt(names)?.is_some_and(|text| !text.is_empty())) };
    let list = args.one(LIST)?;
    let flat = filled(OLD)? || filled(NEW)?;
    let outer = args.one(ALL)?.is_some().then(|| args.flag(ALL)).transpose()?;
    let edits: Vec<One> = match (list, args.text_opt(BLOCKS)?) {
        (Some(_), _) if flat => {
            return Err(
                args.wrong("`edits` and `old` are both there: give the edits once, as a list or one alone")
            );
        }
        (Some(value), None) => {
            let unclear = || args.wrong("`edits` must be a list of {old, new}");
            let value = decoded(value).ok_or_else(unclear)?;
            let values: &[Value] = match value.as_ref() {
                Value::Array(list) => list,
                one @ Value::Object(_) => std::slice::from_ref(one),
                _ => return Err(unclear()),
            };
            let read = |value| {
                let value = decoded(value).ok_or_else(unclear)?;
                one(tool, value.as_ref(), outer)
            };
            values.iter().map(read).collect::<Result<_, _>>()?
        }
        (None, Some(text)) if !flat => blocks(text).map_err(|why| args.wrong(why))?,
        (_, Some(_)) => return Err(args.wrong("`diff` and other edits are both there: give one of them")),
        (None, None) => vec![one(tool, args.value(), None)?],
    };
    if edits.is_empty() || edits.len() > MAX_EDITS {
        return Err(args.wrong(format!("`edits` must have 1 to {MAX_EDITS} entries")));
    }
    Ok(edits)
}

/// `outer` is what stands beside the list for all of it.
fn one(tool: &str, value: &Value, outer: Option<bool>) -> Result<One, ToolError> {
    let args = Args::new(tool, value);
    let own = args.one(ALL)?.is_some().then(|| args.flag(ALL)).transpose()?;
    if let (Some(own), Some(outer)) = (own, outer)
        && own != outer
    {
        return Err(args.wrong("`all` says yes in one place and no in another: say it at each edit"));
    }
    let times = args.count_opt(TIMES)?;
    Ok(One {
        old: args.text(OLD)?.to_owned(),
        new: args.text(NEW)?.to_owned(),
        all: own.or(outer).unwrap_or(false) || times.is_some_and(|times| times > 1),
        times: times.filter(|times| *times > 0),
        lines: false,
    })
}

/// A value, or what a text holds as JSON; `None` where that is no list and no object.
fn decoded(value: &Value) -> Option<Cow<'_, Value>> {
    match value {
        Value::String(text) => {
            let inner = crate::forms::json(text)?;
            (inner.is_array() || inner.is_object()).then_some(Cow::Owned(inner))
        }
        Value::Array(_) | Value::Object(_) => Some(Cow::Borrowed(value)),
        _ => None,
    }
}

const HOW: &str =
    "a block is `<<<<<<< SEARCH`, the lines as they stand there, `=======`, the new lines, `>>>>>>> REPLACE`";

/// Where in a block a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Outside,
    Old,
    New,
}

/// Reads blocks of search and replace. Each means whole lines.
fn blocks(text: &str) -> Result<Vec<One>, String> {
    let (mut edits, mut part, mut edit) = (Vec::new(), Part::Outside, One::default());
    for line in text.lines() {
        part = match (mark(line), part) {
            (Some(Mark::Search), Part::Outside) => {
                edit = One { lines: true, ..One::default() };
                Part::Old
            }
            (Some(Mark::Middle), Part::Old) => Part::New,
            (Some(Mark::Replace), Part::New) => {
                edits.push(std::mem::take(&mut edit));
                Part::Outside
            }
            (Some(_), _) => return Err(format!("the blocks cannot be told apart at `{line}`: {HOW}")),
            (None, Part::Outside) if line.trim().is_empty() || line.starts_with("```") => Part::Outside,
            (None, Part::Outside) => return Err(format!("`{line}` stands in no block: {HOW}")),
            // What some write between the head and the text.
            (None, Part::Old) if edit.old.is_empty() && is_hint(line) => Part::Old,
            (None, Part::Old) => {
                edit.old.push_str(line);
                edit.old.push('\n');
                Part::Old
            }
            (None, Part::New) => {
                edit.new.push_str(line);
                edit.new.push('\n');
                Part::New
            }
        };
    }
    if part == Part::Outside { Ok(edits) } else { Err(format!("the last block has no end: {HOW}")) }
}

enum Mark {
    Search,
    Middle,
    Replace,
}

fn mark(line: &str) -> Option<Mark> {
    let run = |letter: char| line.chars().take_while(|c| *c == letter).count() >= 5;
    let word = line.trim_start_matches(['<', '>', '-', '+']).trim().trim_end_matches('>');
    match word {
        "SEARCH" if run('<') || run('-') => Some(Mark::Search),
        "REPLACE" if run('>') || run('+') => Some(Mark::Replace),
        _ => (line.trim_end() == "=======").then_some(Mark::Middle),
    }
}

fn is_hint(line: &str) -> bool {
    line.starts_with(":start_line:") || line.starts_with(":end_line:") || line.trim_end() == "-------"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: &Value) -> Result<Vec<One>, String> {
        parse("edit", Args::new("edit", value)).map_err(|why| why.to_string())
    }

    #[test]
    fn every_form_is_the_same_edit() {
        let plain = One { old: "a".into(), new: "b".into(), ..One::default() };
        for form in [
            json!({"edits": [{"old": "a", "new": "b"}]}),
            json!({"edits": {"old_str": "a", "new_str": "b"}}),
            json!({"edits": "[{\"old\": \"a\", \"new\": \"b\",},]"}),
            json!({"edits": ["{\"oldText\": \"a\", \"newText\": \"b\"}"]}),
            json!({"oldString": "a", "newString": "b", "expected_replacements": 0}),
            json!({"old": "a", "new": "b", "edits": null}),
        ] {
            assert_eq!(read(&form), Ok(vec![plain.clone()]), "{form}");
        }
        let all = One { all: true, ..plain };
        assert_eq!(read(&json!({"edits": [{"old": "a", "new": "b"}], "replace_all": true})), Ok(vec![all]));
    }

    #[test]
    fn blocks_are_whole_lines() {
        let text = "<<<<<<< SEARCH\n:start_line:3\n-------\na\n=======\nb\nc\n>>>>>>> REPLACE\n\n------- SEARCH\nx\n=======\n+++++++ REPLACE\n";
        let edit =
            |old: &str, new: &str| One { old: old.into(), new: new.into(), lines: true, ..One::default() };
        assert_eq!(read(&json!({"diff": text})), Ok(vec![edit("a\n", "b\nc\n"), edit("x\n", "")]));
    }

    #[test]
    fn what_has_two_readings_is_refused() {
        for (form, told) in [
            (json!({"old": "a", "new": "b", "edits": [{"old": "c", "new": "d"}]}), "both there"),
            (json!({"old": "a", "old_string": "b", "new": "c"}), "say different things"),
            (
                json!({"edits": [{"old": "a", "new": "b", "all": false}], "replace_all": true}),
                "yes in one place",
            ),
            (json!({"edits": "a -> b"}), "must be a list"),
            (json!({"edits": []}), "1 to 200"),
            (json!({"diff": "<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE"}), "told apart"),
            (json!({"diff": "<<<<<<< SEARCH\na\n=======\nb"}), "no end"),
            (json!({"diff": "@@ -1 +1 @@\n-a\n+b"}), "in no block"),
        ] {
            let why = read(&form).unwrap_err();
            assert!(why.contains(told), "{form}: {why}");
        }
    }
}
