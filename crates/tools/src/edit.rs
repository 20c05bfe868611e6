//! `edit`: exact replacements in one file, several at once, all or none. Ends of lines and the encoding stay what they are.

use crate::args::{Args, PATH};
use crate::context::ToolContext;
use crate::diff::{Diff, diff};
use crate::line_ends::{Plain, with_ending};
use crate::nearest::nearest;
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

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let change = FileEdit::work_out(args, place)?;
        let mut plan = plan_change(NAME, args, place, &change.path, &change.old, &change.new);
        plan.title = one_line(&format!("edit {}", place.show(&change.path)));
        if place.last_seen(&change.path).is_none() {
            plan.raise(Risk::Medium, "changes a file that was not read in this session");
        }
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        blocking(port, move || {
            let change = FileEdit::work_out(&plan.args, &plan.place)?;
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

struct FileEdit {
    path: PathBuf,
    old: Old,
    new: String,
    edits: usize,
}

struct Replacement<'a> {
    old: &'a str,
    new: &'a str,
    all: bool,
}

impl FileEdit {
    fn work_out(args: &Value, place: &ToolContext) -> Result<FileEdit, ToolError> {
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
        old.encode(&path, &new)?;
        if new.len() > MAX_WRITE {
            return Err(ToolError::path(&path, format!("would hold more than {MAX_WRITE} bytes")));
        }
        Ok(FileEdit { path, new, edits: edits.len(), old })
    }
}

fn parse(args: Args<'_>) -> Result<Vec<Replacement<'_>>, ToolError> {
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
            Ok(Replacement {
                old: args.text(OLD)?,
                new: args.text(NEW)?,
                all: args.flag(&["all", "replace_all"])?,
            })
        })
        .collect()
}

const OLD: &[&str] = &["old", "old_string", "old_text", "oldText", "search"];
const NEW: &[&str] = &["new", "new_string", "new_text", "newText", "replace"];

/// Makes the edits in order. Ends of lines do not count when text is looked for; what is put in gets those of its place.
fn apply(path: &Path, text: &str, edits: &[Replacement<'_>]) -> Result<String, ToolError> {
    let mut work = text.to_owned();
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() == 1 { String::new() } else { format!("edit {}: ", index + 1) };
        let wrong = |why: String| ToolError::path(path, format!("{which}{why}"));
        if edit.old.is_empty() {
            let why = "`old` is empty, nothing was changed: give the text that stands there, or use write";
            return Err(wrong(why.to_owned()));
        }
        if edit.old == edit.new {
            return Err(wrong("`old` and `new` are the same; nothing was changed".to_owned()));
        }
        let (old, new) = (Plain::of(edit.old).text, Plain::of(edit.new).text);
        // Whoever changes nothing else means the ends of lines themselves.
        let plain = if old == new { None } else { Some(Plain::of(&work)) };
        let places = match &plain {
            Some(plain) => places(&plain.text, &old),
            None => places(&work, edit.old),
        };
        match places.as_slice() {
            [] => {
                return Err(wrong(missing(plain.as_ref().map_or(work.as_str(), |plain| &plain.text), &old)));
            }
            [_] => {}
            _ if edit.all => {}
            many => {
                let lines: Vec<String> =
                    many.iter().take(NAMED_LINES).map(|at| line_of(&work, *at).to_string()).collect();
                let why = format!(
                    "`old` stands in the file {} times (lines {}{}), nothing was changed: add lines around it, or give `all`",
                    many.len(),
                    lines.join(", "),
                    if many.len() > NAMED_LINES { ", …" } else { "" }
                );
                return Err(wrong(why));
            }
        }
        work = match &plain {
            Some(plain) => replaced(plain, &work, &old, &new),
            None => work.replace(edit.old, edit.new),
        };
        if work.len() > MAX_WRITE * 2 {
            return Err(wrong("the file would grow too long; nothing was changed".to_owned()));
        }
    }
    Ok(work)
}

/// The text with every `old` replaced where it stands, the rest byte by byte as it was.
fn replaced(plain: &Plain, text: &str, old: &str, new: &str) -> String {
    let mut done = String::with_capacity(text.len());
    let mut rest = 0;
    for (at, _) in plain.text.match_indices(old) {
        let end = at + old.len();
        done.push_str(text.get(rest..plain.origin(at)).unwrap_or_default());
        done.push_str(&with_ending(new, plain.ending(at, end)));
        rest = plain.origin(end);
    }
    done.push_str(text.get(rest..).unwrap_or_default());
    done
}

fn missing(text: &str, old: &str) -> String {
    let missing = "`old` does not stand in the file, nothing was changed";
    match nearest(text, old) {
        Some(nearest) => format!("{missing}; {nearest}"),
        None => format!("{missing}: read it again and copy it exactly"),
    }
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
