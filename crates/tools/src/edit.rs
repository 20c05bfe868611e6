//! `edit`: replacements in one file, several at once, all or none. Ends of lines and the encoding stay what they are.
//!
//! What is read of the call is in `parse`, what becomes of the text in `apply`.

mod apply;
mod parse;

use crate::args::{Args, PATH};
use crate::context::ToolContext;
use crate::diff::{Diff, diff};
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError, blocking, one_line};
use crate::write::{MAX_WRITE, Old, Standing, plan_change, put, same_file};
use apply::{Applied, Knows, Not, apply};
use domain::ask::Risk;
use domain::content::Part;
use domain::tool::ToolResult;
pub use parse::MAX_EDITS;
use parse::parse;
use serde_json::{Value, json};
use std::path::PathBuf;

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
                    "path": {"type": "string"},
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
        let mut plan = plan_change(NAME, args, place, &change.path, &change.old, &change.new.text);
        plan.title = one_line(&format!("edit {}", place.show(&change.path)));
        for fitted in &change.new.fitted {
            plan.raise(Risk::Low, fitted.clone());
        }
        if place.last_seen(&change.path).is_none() {
            plan.raise(Risk::Medium, "changes a file that was not read in this session");
        }
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        blocking(plan.place.clone(), port, move || {
            let change = FileEdit::work_out(&plan.args, &plan.place)?;
            same_file(&plan, &change.path)?;
            put(&change.path, &change.new.text, &change.old, &plan.place)?;
            let shown = plan.place.show(&change.path);
            let text = change.old.text.as_deref().unwrap_or_default();
            let Diff { text, added, removed } = diff(&shown, text, &change.new.text);
            let parts = vec![Part::Diff { path: Some(shown.clone()), text }];
            let edits =
                if change.edits == 1 { "1 edit".to_owned() } else { format!("{} edits", change.edits) };
            Ok(ToolResult {
                parts,
                ..ToolResult::text(format!(
                    "{shown}: {edits}, +{added} -{removed} lines{}{}",
                    change.since(),
                    change.new.told
                ))
            })
        })
    }
}

struct FileEdit {
    path: PathBuf,
    old: Old,
    new: Applied,
    edits: usize,
    standing: Standing,
}

impl FileEdit {
    fn work_out(args: &Value, place: &ToolContext) -> Result<FileEdit, ToolError> {
        let said = Args::new(NAME, args);
        let path = place.resolve(said.text(PATH)?)?;
        let edits = parse(NAME, said)?;
        let old = Old::look(&path, place)?;
        if old.digest.is_none() {
            let near = place.near(&path).map(|near| format!("; {near}")).unwrap_or_default();
            return Err(ToolError::path(
                &path,
                format!("there is no such file: use write to make one{near}"),
            ));
        }
        let standing = old.standing(&path, place)?;
        let Some(text) = &old.text else {
            return Err(ToolError::path(&path, "is no plain text, or too long to be edited here"));
        };
        let knows = if standing == Standing::AsSeen { Knows::All } else { Knows::Place };
        let new = apply(text, &edits, knows).map_err(|not| match not {
            Not::Fits(why) => ToolError::path(&path, why),
            Not::Known => ToolError::Changed { path: path.clone() },
        })?;
        old.encode(&path, &new.text)?;
        if new.text.len() > MAX_WRITE {
            return Err(ToolError::path(&path, format!("would hold more than {MAX_WRITE} bytes")));
        }
        Ok(FileEdit { path, new, edits: edits.len(), old, standing })
    }

    /// What the model has to know of a file that is no longer the one it read.
    fn since(&self) -> &'static str {
        match self.standing {
            Standing::AsSeen => "",
            Standing::ByCommand => " (a command had changed the file since it was read)",
        }
    }
}
