//! `edit`: exact replacements in one file, several at once, all or none. Line endings stay what they are.

use crate::args::{Args, PATH};
use crate::diff::{Diff, diff};
use crate::place::Workplace;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError, blocking, one_line};
use crate::write::{MAX_WRITE, Old, plan_change, put, same_file};
use domain::ask::Risk;
use domain::content::Part;
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Replacements in one call.
pub const MAX_EDITS: usize = 200;
/// Lines that are named when a text stands in several places.
const NAMED_LINES: usize = 5;

const NAME: &str = "edit";

/// Changes parts of a file.
#[derive(Debug, Clone, Copy)]
pub struct Edit;

impl Tool for Edit {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description: "Replace exact pieces of a file. Each `old` must stand in the file exactly once (or give `all`), \
                          with enough lines around it to be unique; leave out the line numbers that read shows. The \
                          edits are made in order, all or none. Read the file first."
                .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "edits": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "old": {"type": "string", "description": "What stands there now"},
                                "new": {"type": "string", "description": "What shall stand there"},
                                "all": {"type": "boolean", "description": "Replace every occurrence"}
                            },
                            "required": ["old", "new"]
                        }
                    }
                },
                "required": ["path", "edits"]
            }),
            read_only: false,
        }
    }

    fn plan(&self, args: &Value, place: &Workplace) -> Result<Plan, ToolError> {
        let change = Change::work_out(args, place)?;
        let mut plan = plan_change(NAME, args, place, &change.path, &change.old, &change.new);
        plan.title = one_line(&format!("edit {}", place.show(&change.path)));
        if place.last_seen(&change.path).is_none() {
            plan.raise(Risk::Medium, "changes a file that was not read in this session");
        }
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        blocking(port, move || {
            let change = Change::work_out(&plan.args, &plan.place)?;
            same_file(&plan, &change.path)?;
            put(&change.path, &change.new, &change.old, &plan.place)?;
            let shown = plan.place.show(&change.path);
            let text = change.old.text.as_deref().unwrap_or_default();
            let Diff { text, added, removed } = diff(&shown, text, &change.new);
            let parts = vec![Part::Diff { path: Some(shown.clone()), text }];
            let edits =
                if change.edits == 1 { "1 edit".to_owned() } else { format!("{} edits", change.edits) };
            Ok(ToolResult {
                parts,
                ..ToolResult::text(format!("{shown}: {edits}, +{added} -{removed} lines"))
            })
        })
    }
}

struct Change {
    path: PathBuf,
    old: Old,
    new: String,
    edits: usize,
}

struct One<'a> {
    old: &'a str,
    new: &'a str,
    all: bool,
}

impl Change {
    fn work_out(args: &Value, place: &Workplace) -> Result<Change, ToolError> {
        let said = Args::new(NAME, args);
        let path = place.resolve(said.text(PATH)?)?;
        let edits = parse(said)?;
        let old = Old::look(&path, place)?;
        if old.digest.is_none() {
            return Err(ToolError::path(&path, "there is no such file: use write to make one"));
        }
        old.not_changed_since_seen(&path, place)?;
        let Some(text) = &old.text else {
            return Err(ToolError::path(&path, "is no plain text, or too long to be edited here"));
        };
        let new = apply(&path, text, &edits)?;
        if new.len() > MAX_WRITE {
            return Err(ToolError::path(&path, format!("would hold more than {MAX_WRITE} bytes")));
        }
        Ok(Change { path, new, edits: edits.len(), old })
    }
}

fn parse(args: Args<'_>) -> Result<Vec<One<'_>>, ToolError> {
    let one = |args: Args<'_>| -> Result<(), ToolError> {
        args.text(OLD)?;
        args.text(NEW).map(|_| ())
    };
    let values: Vec<&Value> = match args.find(&["edits", "changes", "replacements"]) {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(value @ Value::Object(_)) => vec![value],
        Some(_) => return Err(args.wrong("`edits` must be a list of {old, new}")),
        None => {
            one(args)?;
            vec![args.value()]
        }
    };
    if values.is_empty() || values.len() > MAX_EDITS {
        return Err(args.wrong(format!("`edits` must have 1 to {MAX_EDITS} entries")));
    }
    values
        .into_iter()
        .map(|value| {
            let args = Args::new(NAME, value);
            Ok(One { old: args.text(OLD)?, new: args.text(NEW)?, all: args.flag(&["all", "replace_all"])? })
        })
        .collect()
}

const OLD: &[&str] = &["old", "old_string", "old_text", "oldText", "search"];
const NEW: &[&str] = &["new", "new_string", "new_text", "newText", "replace"];

/// Makes the edits in order. A file that ends all its lines in CRLF is worked on as if they ended in LF.
fn apply(path: &Path, text: &str, edits: &[One<'_>]) -> Result<String, ToolError> {
    let crlf = text.contains("\r\n") && text.matches('\n').count() == text.matches("\r\n").count();
    let plain = |text: &str| if crlf { text.replace("\r\n", "\n") } else { text.to_owned() };
    let mut work = plain(text);
    for (index, edit) in edits.iter().enumerate() {
        let (old, new) = (plain(edit.old), plain(edit.new));
        let which = if edits.len() == 1 { String::new() } else { format!("edit {}: ", index + 1) };
        let wrong = |why: String| ToolError::path(path, format!("{which}{why}; nothing was changed"));
        if old.is_empty() {
            return Err(wrong("`old` is empty: give the text that stands there, or use write".to_owned()));
        }
        if old == new {
            return Err(wrong("`old` and `new` are the same".to_owned()));
        }
        let places = places(&work, &old);
        match places.as_slice() {
            [] => {
                return Err(wrong(
                    "`old` does not stand in the file: read it again and copy it exactly".to_owned(),
                ));
            }
            [at] if !edit.all => work.replace_range(*at..*at + old.len(), &new),
            _ if edit.all => work = work.replace(&old, &new),
            many => {
                let lines: Vec<String> =
                    many.iter().take(NAMED_LINES).map(|at| line_of(&work, *at).to_string()).collect();
                let why = format!(
                    "`old` stands in the file {} times (lines {}{}): add lines around it, or give `all`",
                    many.len(),
                    lines.join(", "),
                    if many.len() > NAMED_LINES { ", …" } else { "" }
                );
                return Err(wrong(why));
            }
        }
        if work.len() > MAX_WRITE * 2 {
            return Err(wrong("the file would grow too long".to_owned()));
        }
    }
    Ok(if crlf { work.replace('\n', "\r\n") } else { work })
}

/// Where `old` starts, overlapping places included: those are as ambiguous as others. Bounded.
fn places(text: &str, old: &str) -> Vec<usize> {
    const ENOUGH: usize = 1000;
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(found) = text.get(from..).and_then(|rest| rest.find(old)) {
        places.push(from + found);
        let step = old.chars().next().map_or(1, char::len_utf8);
        from += found + step;
        if places.len() == ENOUGH {
            break;
        }
    }
    places
}

fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().matches('\n').count() + 1
}
