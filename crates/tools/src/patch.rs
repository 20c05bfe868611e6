//! `apply_patch`: changes of several files in the form that models of the GPT family are trained on. One plan with one diff and one digest
//! for all of them; all or nothing.

mod fit;
mod parse;
mod unified;

use crate::args::Args;
use crate::context::ToolContext;
use crate::diff::{Diff, diff};
use crate::exact;
use crate::tool::{BoxFuture, Deed, Outcome, Plan, Port, Spec, Tool, ToolError, blocking, one_line};
use crate::write::{MAX_WRITE, NewContent, Old, Standing, plan_changes, put, remove};
use domain::ask::Risk;
use domain::content::Part;
use domain::tool::ToolResult;
use fit::Sure;
use parse::FilePatch;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Files that one patch may change.
const MAX_FILES: usize = 100;

/// The name that these models know it by.
pub const NAME: &str = crate::policy::allow::PATCH;

/// Changes several files at once.
#[derive(Debug, Clone, Copy)]
pub struct ApplyPatch;

impl Tool for ApplyPatch {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description: "Change one or more files by a patch, all or nothing. Form: `*** Begin Patch`, then for each file \
                          `*** Add File: PATH` with lines that begin with `+`, `*** Delete File: PATH`, or `*** Update File: PATH` \
                          (with `*** Move to: PATH` after it to rename) and hunks: `@@` with a line to look below, such as a function's \
                          head, then lines that begin with a blank (stays), `-` (goes) or `+` (comes); three lines around each \
                          change. At last `*** End Patch`. Paths are relative."
                .into(),
            schema: json!({
                "type": "object",
                "properties": {"input": {"type": "string", "description": "The whole patch"}},
                "required": ["input"]
            }),
            read_only: false,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let changes = work_out(args, place)?;
        let wanted: Vec<NewContent<'_>> = changes
            .iter()
            .map(|change| NewContent { path: &change.path, old: &change.old, new: change.new.as_deref() })
            .collect();
        let mut plan = plan_changes(NAME, args, place, &wanted);
        let shown: Vec<String> = changes.iter().map(|change| place.show(&change.path)).collect();
        plan.title = one_line(&match shown.as_slice() {
            [one] => format!("patch {one}"),
            many => format!("patch {} files: {}", many.len(), many.join(", ")),
        });
        let unread =
            |change: &&PatchedFile| change.old.digest.is_some() && place.last_seen(&change.path).is_none();
        if changes.iter().any(|change| unread(&change)) {
            plan.raise(Risk::Medium, "changes a file that was not read in this session");
        }
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        blocking(plan.place.clone(), port, move || {
            let changes = work_out(&plan.args, &plan.place)?;
            let paths: Vec<&PathBuf> = changes.iter().map(|change| &change.path).collect();
            if !matches!(&plan.deed, Deed::Write { paths: planned } if planned.iter().eq(paths)) {
                return Err(ToolError::Stale { tool: NAME.to_owned() });
            }
            carry_out(&changes, &plan.place)?;
            Ok(told(&changes, &plan.place))
        })
    }
}

/// What happens to one file.
struct PatchedFile {
    path: PathBuf,
    old: Old,
    /// `None` when it is deleted.
    new: Option<String>,
}

fn work_out(args: &Value, place: &ToolContext) -> Result<Vec<PatchedFile>, ToolError> {
    let args = Args::new(NAME, args);
    let text = args.text(&["input", "patch", "patchText", "patch_text", "diff"])?;
    let files = parse::parse(text).map_err(|why| args.wrong(format!("{why}; nothing was changed")))?;
    let mut changes: Vec<PatchedFile> = Vec::new();
    for file in &files {
        match file {
            FilePatch::Add { path, text } => changes.push(PatchedFile::make(path, text.clone(), place)?),
            FilePatch::Delete { path } => {
                let (change, _, standing) = PatchedFile::there(path, place)?;
                if standing == Standing::ByCommand {
                    return Err(ToolError::Changed { path: change.path });
                }
                changes.push(PatchedFile { new: None, ..change });
            }
            FilePatch::Update { path, to, hunks } => {
                let (change, text, standing) = PatchedFile::there(path, place)?;
                let sure = if standing == Standing::AsSeen { Sure::First } else { Sure::Only };
                let wrong =
                    |why: String| ToolError::path(&change.path, format!("{why}; nothing was changed"));
                let new = fit::apply(&text, hunks, sure).map_err(wrong)?;
                match to {
                    Some(to) => {
                        changes.extend([
                            PatchedFile::make(to, new, place)?,
                            PatchedFile { new: None, ..change },
                        ]);
                    }
                    None if new == text => return Err(wrong("the patch changes nothing here".to_owned())),
                    None => changes.push(PatchedFile { new: Some(new), ..change }),
                }
            }
        }
    }
    if changes.len() > MAX_FILES {
        return Err(args.wrong(format!("a patch may change {MAX_FILES} files at most")));
    }
    // What is deleted is deleted last: until then everything can be put back.
    changes.sort_by_key(|change| change.new.is_none());
    for (at, change) in changes.iter().enumerate() {
        if changes.iter().skip(at + 1).any(|other| other.path == change.path) {
            return Err(ToolError::path(&change.path, "is in the patch twice; nothing was changed"));
        }
        if let Some(new) = &change.new {
            change.old.encode(&change.path, new)?;
        }
    }
    let size: usize = changes.iter().filter_map(|change| change.new.as_ref()).map(String::len).sum();
    if size > MAX_WRITE {
        return Err(args.wrong(format!("the files would hold {size} bytes, more than {MAX_WRITE}")));
    }
    Ok(changes)
}

impl PatchedFile {
    /// A file that is not there yet.
    fn make(path: &str, text: String, place: &ToolContext) -> Result<PatchedFile, ToolError> {
        let path = place.resolve_written(path)?;
        let old = Old::look(&path, place)?;
        if old.digest.is_some() {
            return Err(ToolError::path(&path, "is there already: update it; nothing was changed"));
        }
        Ok(PatchedFile { path, old, new: Some(text) })
    }

    /// A file that is there, its text, and whether the model knows it.
    fn there(path: &str, place: &ToolContext) -> Result<(PatchedFile, String, Standing), ToolError> {
        let path = place.resolve(path)?;
        let old = Old::look(&path, place)?;
        let standing = old.standing(&path, place)?;
        if old.digest.is_none() {
            let near = place.near(&path).map(|near| format!("; {near}")).unwrap_or_default();
            return Err(ToolError::path(&path, format!("there is no such file; nothing was changed{near}")));
        }
        let Some(text) = old.text.clone() else {
            return Err(ToolError::path(&path, "is no plain text, or too long; nothing was changed"));
        };
        Ok((PatchedFile { path, old, new: None }, text, standing))
    }

    fn diff(&self, place: &ToolContext) -> Diff {
        let old = self.old.text.as_deref().unwrap_or_default();
        diff(&place.show(&self.path), old, self.new.as_deref().unwrap_or_default())
    }
}

/// Makes all changes; where one fails, those before it are taken back.
fn carry_out(changes: &[PatchedFile], place: &ToolContext) -> Result<(), ToolError> {
    let mut done: Vec<(&PatchedFile, FileBefore)> = Vec::new();
    for change in changes {
        let before = FileBefore {
            mode: exact::Spot::find(&change.path).ok().and_then(|spot| spot.permissions()),
            held: place.is_read_through(&change.path),
        };
        let made = match &change.new {
            Some(new) => put(&change.path, new, &change.old, place),
            None => remove(&change.path, &change.old, place),
        };
        match made {
            Ok(()) => done.push((change, before)),
            Err(why) => {
                let lost: Vec<String> = done
                    .into_iter()
                    .rev()
                    .filter(|(change, before)| take_back(change, before, place).is_err())
                    .map(|(change, _)| place.show(&change.path))
                    .collect();
                let also = if lost.is_empty() {
                    "; nothing was changed".to_owned()
                } else {
                    format!("; these had been changed before and could not be put back: {}", lost.join(", "))
                };
                return Err(ToolError::path(&change.path, format!("{why}{also}")));
            }
        }
    }
    Ok(())
}

/// What must be put back beside the text.
struct FileBefore {
    mode: Option<std::fs::Permissions>,
    /// An editor held the file.
    held: bool,
}

/// Puts back what was there before a change that was made.
fn take_back(change: &PatchedFile, before: &FileBefore, place: &ToolContext) -> Result<(), ToolError> {
    if before.held && !place.is_read_through(&change.path) {
        // The editor no longer answers: what it holds stays changed, whatever the disk has.
        return Err(ToolError::path(&change.path, "is held by an editor that does not answer"));
    }
    let now = Old::look(&change.path, place)?;
    match (&change.old.digest, &change.old.text) {
        (Some(_), Some(text)) => {
            put(&change.path, text, &now.written_like(&change.old), place)?;
            put_mode(&change.path, before.mode.clone())
        }
        (Some(_), None) => Err(ToolError::path(&change.path, "cannot be put back")),
        (None, _) => remove(&change.path, &now, place),
    }
}

fn put_mode(path: &Path, mode: Option<std::fs::Permissions>) -> Result<(), ToolError> {
    let Some(mode) = mode else { return Ok(()) };
    let file = exact::open(path).map_err(ToolError::at_path(NAME, path))?;
    file.set_permissions(mode).map_err(ToolError::at_path(NAME, path))
}

fn told(changes: &[PatchedFile], place: &ToolContext) -> ToolResult {
    let mut lines = Vec::new();
    let mut parts = Vec::new();
    for change in changes {
        let (shown, Diff { text, added, removed }) = (place.show(&change.path), change.diff(place));
        lines.push(match (&change.new, &change.old.digest) {
            (None, _) => format!("deleted {shown}"),
            (Some(_), None) => format!("made {shown}, +{added} lines"),
            (Some(_), Some(_)) => format!("changed {shown}, +{added} -{removed} lines"),
        });
        parts.push(Part::Diff { path: Some(shown), text });
    }
    ToolResult { parts, ..ToolResult::text(lines.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn where_one_change_fails_in_the_middle_those_before_it_are_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let place = ToolContext::new(&root, &root.join("outputs")).unwrap();
        std::fs::write(root.join("a"), b"caf\xe9\r\n").unwrap();
        std::fs::write(root.join("gone"), "gone\n").unwrap();
        std::fs::set_permissions(root.join("gone"), std::fs::Permissions::from_mode(0o640)).unwrap();
        std::fs::write(root.join("last"), "last\n").unwrap();
        let input = "*** Begin Patch\n*** Update File: a\n-café\n+thé\n*** Add File: new\n+n\n*** Delete File: gone\n\
                     *** Delete File: last\n*** End Patch";
        let changes = work_out(&json!({"input": input}), &place).unwrap();
        // Somebody else is quicker with the last of them.
        std::fs::write(root.join("last"), "theirs\n").unwrap();
        let why = carry_out(&changes, &place).unwrap_err().to_string();
        assert!(why.contains("changed since it was read") && why.ends_with("nothing was changed"), "{why}");
        assert_eq!(std::fs::read(root.join("a")).unwrap(), b"caf\xe9\r\n");
        assert_eq!(std::fs::read_to_string(root.join("gone")).unwrap(), "gone\n");
        assert_eq!(std::fs::metadata(root.join("gone")).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(!root.join("new").exists());
        assert_eq!(std::fs::read_to_string(root.join("last")).unwrap(), "theirs\n");
    }
}
