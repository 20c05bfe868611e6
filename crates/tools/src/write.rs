//! `write`: a whole file, written beside its place and moved there in one step. Keeps the mode of what it replaces.
//!
//! A file that changed since the model saw it is not overwritten; one that the model never saw is, but the person is told.

use crate::args::{Args, PATH};
use crate::diff::{Diff, diff};
use crate::place::Workplace;
use crate::policy::allow::STEERS;
use crate::policy::{Matcher, Rule};
use crate::tool::{BoxFuture, Deed, Outcome, Plan, Port, RuleOffer, Spec, Tool, ToolError, blocking};
use crate::{digest, exact};
use domain::ask::{Preview, Risk};
use domain::content::Part;
use domain::path_text;
use domain::tool::ToolResult;
use serde_json::{Value, json};
use std::io::{self, Read as _};
use std::path::Path;

/// Largest text one call writes.
pub const MAX_WRITE: usize = 10 * 1024 * 1024;

const NAME: &str = "write";

/// The tool that writes whole files.
#[derive(Debug, Clone, Copy)]
pub struct Write;

impl Tool for Write {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description:
                "Write a whole file, making directories as needed. Takes the place of what is there: read a \
                          file before overwriting it, and use edit for small changes."
                    .into(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The file"},
                    "content": {"type": "string", "description": "All of its text"}
                },
                "required": ["path", "content"]
            }),
            read_only: false,
        }
    }

    fn plan(&self, args: &Value, place: &Workplace) -> Result<Plan, ToolError> {
        let (path, content) = wanted(args, place)?;
        let old = Old::look(&path, place)?;
        old.not_changed_since_seen(&path, place)?;
        let mut plan = plan_change(NAME, args, place, &path, &old, content);
        let verb = if old.digest.is_some() { "overwrite" } else { "write" };
        plan.title = crate::tool::one_line(&format!("{verb} {}", place.show(&path)));
        if old.digest.is_some() && place.last_seen(&path).is_none() {
            plan.raise(Risk::Medium, "replaces a file that was not read in this session");
        }
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        blocking(port, move || {
            let (path, content) = wanted(&plan.args, &plan.place)?;
            same_file(&plan, &path)?;
            let old = Old::look(&path, &plan.place)?;
            old.not_changed_since_seen(&path, &plan.place)?;
            put(&path, content, &old, &plan.place)?;
            let shown = plan.place.show(&path);
            let lines = match content.lines().count() {
                1 => "1 line".to_owned(),
                lines => format!("{lines} lines"),
            };
            let change = old.change(&shown, content).filter(|change| !change.text.is_empty());
            let diff = |change: Diff| Part::Diff { path: Some(shown.clone()), text: change.text };
            let parts = change.map(diff).into_iter().collect();
            Ok(ToolResult { parts, ..ToolResult::text(format!("wrote {shown} ({lines})")) })
        })
    }
}

fn wanted<'a>(args: &'a Value, place: &Workplace) -> Result<(std::path::PathBuf, &'a str), ToolError> {
    let args = Args::new(NAME, args);
    let path = place.resolve(args.text(PATH)?)?;
    let content = args.text(&["content", "contents", "text", "file_text"])?;
    if content.len() > MAX_WRITE {
        return Err(args.wrong(format!("`content` has {} bytes, more than {MAX_WRITE}", content.len())));
    }
    Ok((path, content))
}

/// Whether the path still leads to the file that was planned for.
pub(crate) fn same_file(plan: &Plan, path: &Path) -> Result<(), ToolError> {
    match &plan.deed {
        Deed::Write { path: planned } if planned == path => Ok(()),
        _ => Err(ToolError::Stale { tool: plan.tool.clone() }),
    }
}

/// What is at a path before it is changed.
pub(crate) struct Old {
    /// `None` when there is no file.
    pub(crate) digest: Option<String>,
    /// The text, when it is text and not too long.
    pub(crate) text: Option<String>,
}

impl Old {
    /// Reads what stands at the path now; nothing there is fine.
    pub(crate) fn look(path: &Path, place: &Workplace) -> Result<Old, ToolError> {
        let saved = match exact::Spot::find(path) {
            Ok(spot) => Old::at(&spot, path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Old { digest: None, text: None },
            Err(error) => return Err(exact::failed(NAME, path)(error)),
        };
        if saved.digest.is_some() && saved.text.is_none() {
            return Ok(saved);
        }
        match place.held(path) {
            Some(Ok(text)) => Ok(Old { digest: Some(digest::hex(text.as_bytes())), text: Some(text) }),
            // What is not on the disk either is not there.
            Some(Err(why)) if saved.digest.is_some() => Err(why),
            Some(Err(_)) | None => Ok(saved),
        }
    }

    fn at(spot: &exact::Spot, path: &Path) -> Result<Old, ToolError> {
        let failed = exact::failed(NAME, path);
        let mut file = match spot.open() {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Old { digest: None, text: None });
            }
            Err(error) => return Err(failed(error)),
        };
        let meta = file.metadata().map_err(&failed)?;
        if meta.is_dir() {
            return Err(ToolError::path(path, "is a directory: name a file"));
        }
        if !meta.is_file() {
            return Err(ToolError::path(path, "is not a plain file"));
        }
        if meta.len() > MAX_WRITE as u64 {
            return Ok(Old { digest: Some(digest::of_open(&mut file).map_err(&failed)?), text: None });
        }
        // One read for both, so that the digest is the digest of the text that is shown.
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(&failed)?;
        Ok(Old { digest: Some(digest::hex(&bytes)), text: String::from_utf8(bytes).ok() })
    }

    /// What another content changes; `None` where something is there that is no text, or too much.
    pub(crate) fn change(&self, shown: &str, content: &str) -> Option<Diff> {
        let known = self.text.is_some() || self.digest.is_none();
        known.then(|| diff(shown, self.text.as_deref().unwrap_or_default(), content))
    }

    /// Refuses to write over a file that changed after the model last saw it.
    pub(crate) fn not_changed_since_seen(&self, path: &Path, place: &Workplace) -> Result<(), ToolError> {
        match (place.last_seen(path), &self.digest) {
            (Some(seen), Some(now)) if seen != *now => Err(ToolError::Changed { path: path.to_owned() }),
            _ => Ok(()),
        }
    }
}

/// The plan of changing one file from what it holds to `content`.
pub(crate) fn plan_change(
    tool: &str,
    args: &Value,
    place: &Workplace,
    path: &Path,
    old: &Old,
    content: &str,
) -> Plan {
    let mut plan = Plan::reading(tool, args, place, "");
    let shown = place.show(path);
    plan.read_only = false;
    plan.deed = Deed::Write { path: path.to_owned() };
    plan.digest = digest::action(tool, args, place.workdir(), &[(path.to_owned(), old.digest.clone())]);
    plan.preview = Some(match old.change(&shown, content) {
        Some(change) => Preview::Diff { path: shown.clone(), text: change.text },
        None => {
            Preview::Text(format!("{} bytes of text in the place of all that {shown} holds", content.len()))
        }
    });
    if !place.inside(path) {
        plan.raise(Risk::High, format!("writes {}, outside the workspace", path_text::write(path)));
    } else if let Some(part) = place.steering(path) {
        plan.raise(Risk::High, format!("changes `{part}`, which {STEERS}"));
    } else {
        plan.raise(Risk::Medium, if old.digest.is_some() { "changes a file" } else { "makes a file" });
        if let Some(dir) = path.parent() {
            let words = format!("write files under {}", path_text::write(dir));
            plan.rule = Some(RuleOffer {
                words,
                rules: vec![Rule { tool: None, matcher: Matcher::Under { dir: dir.to_owned() } }],
            });
        }
    }
    if old.digest.is_some() && old.text.is_none() {
        plan.raise(Risk::High, "replaces a file that holds more than plain text");
        plan.assessment.reversible = false;
    }
    plan
}

/// Writes `content` beside `path` and moves it there, or has the editor do it. Refuses when the file is no longer the one in `old`.
pub(crate) fn put(path: &Path, content: &str, old: &Old, place: &Workplace) -> Result<(), ToolError> {
    let is_same = |now: &Old| match now.digest == old.digest {
        true => Ok(()),
        false => Err(ToolError::Changed { path: path.to_owned() }),
    };
    let is_held = place.is_read_through(path);
    if is_held {
        is_same(&Old::look(path, place)?)?;
    }
    match place.hand_over(path, content) {
        Some(written) => written?,
        None => {
            let failed = exact::failed(NAME, path);
            let spot = exact::Spot::make(path).map_err(&failed)?;
            let unchanged = |spot: &exact::Spot| match is_held {
                true => Ok(()),
                false => is_same(&Old::at(spot, path)?),
            };
            spot.put(content.as_bytes(), spot.permissions(), unchanged, &failed)?;
        }
    }
    place.saw(path, digest::hex(content.as_bytes()));
    Ok(())
}
