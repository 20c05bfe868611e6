//! `write`: a whole file, written beside its place and moved there in one step. Keeps the mode of what it replaces.
//!
//! A file that changed since the model saw it is not overwritten; one that the model never saw is, but the person is told.

use crate::args::{Args, PATH};
use crate::context::ToolContext;
use crate::diff::{Diff, diff};
use crate::encoding::{self, Encoding};
use crate::policy::{Matcher, Rule};
use crate::shell::STEERS;
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
                    "path": {"type": "string"},
                    "content": {"type": "string", "description": "All of its text"}
                },
                "required": ["path", "content"]
            }),
            read_only: false,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let (path, content) = wanted(args, place)?;
        let old = Old::look(&path, place)?;
        old.not_changed_since_seen(&path, place)?;
        old.encode(&path, content)?;
        let mut plan = plan_change(NAME, args, place, &path, &old, content);
        plan.writes_the_same = old.holds(content, &path, place);
        let verb = if old.digest.is_some() { "overwrite" } else { "write" };
        plan.title = crate::tool::one_line(&format!("{verb} {}", place.show(&path)));
        if old.digest.is_some() && place.last_seen(&path).is_none() {
            plan.raise(Risk::Medium, "replaces a file that was not read in this session");
        }
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        blocking(plan.place.clone(), port, move || {
            let (path, content) = wanted(&plan.args, &plan.place)?;
            same_file(&plan, &path)?;
            let old = Old::look(&path, &plan.place)?;
            old.not_changed_since_seen(&path, &plan.place)?;
            let shown = plan.place.show(&path);
            if old.holds(content, &path, &plan.place) {
                plan.place.saw(&path, old.digest.unwrap_or_default());
                let text = format!("{shown} holds exactly this already: nothing was changed");
                return Ok(ToolResult::text(text));
            }
            if plan.writes_the_same {
                // Nobody may have been asked, because nothing was to change.
                return Err(ToolError::Changed { path });
            }
            put(&path, content, &old, &plan.place)?;
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

fn wanted<'a>(args: &'a Value, place: &ToolContext) -> Result<(std::path::PathBuf, &'a str), ToolError> {
    let args = Args::new(NAME, args);
    let path = place.resolve_written(args.text(PATH)?)?;
    let content = args.text(&["content", "contents", "text", "file_text"])?;
    if content.len() > MAX_WRITE {
        return Err(args.wrong(format!("`content` has {} bytes, more than {MAX_WRITE}", content.len())));
    }
    Ok((path, content))
}

/// Whether the path still leads to the file that was planned for.
pub(crate) fn same_file(plan: &Plan, path: &Path) -> Result<(), ToolError> {
    match &plan.deed {
        Deed::Write { paths } if paths.as_slice() == [path] => Ok(()),
        _ => Err(ToolError::Stale { tool: plan.tool.clone() }),
    }
}

/// What is at a path before it is changed.
#[derive(Default)]
pub(crate) struct Old {
    /// `None` when there is no file.
    pub(crate) digest: Option<String>,
    /// The text, when it is text and not too long.
    pub(crate) text: Option<String>,
    /// How that is written down.
    encoding: Encoding,
}

impl Old {
    /// Reads what stands at the path now; nothing there is fine.
    pub(crate) fn look(path: &Path, place: &ToolContext) -> Result<Old, ToolError> {
        let saved = match exact::Spot::find(path) {
            Ok(spot) => Old::at(&spot, path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Old::default(),
            Err(error) => return Err(ToolError::at_path(NAME, path)(error)),
        };
        if saved.digest.is_some() && saved.text.is_none() {
            return Ok(saved);
        }
        // What neither the disk nor the editor has is not there.
        let held = if saved.digest.is_some() { place.held(path) } else { place.held_only(path) };
        match held.transpose()? {
            Some(text) => {
                let digest = Some(digest::hex(text.as_bytes()));
                Ok(Old { digest, text: Some(text), encoding: saved.encoding })
            }
            None => Ok(saved),
        }
    }

    fn at(spot: &exact::Spot, path: &Path) -> Result<Old, ToolError> {
        let failed = ToolError::at_path(NAME, path);
        let mut file = match spot.open() {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Old::default());
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
            return Ok(Old { digest: Some(digest::of_open(&mut file).map_err(&failed)?), ..Old::default() });
        }
        // One read for both, so that the digest is the digest of the text that is shown.
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(&failed)?;
        let digest = Some(digest::hex(&bytes));
        Ok(match encoding::decode(bytes) {
            Ok((text, encoding)) => Old { digest, text: Some(text), encoding },
            Err(_) => Old { digest, ..Old::default() },
        })
    }

    /// Whether the file on the disk is this text already. What an editor holds is not asked for: to write it may save it.
    fn holds(&self, content: &str, path: &Path, place: &ToolContext) -> bool {
        self.text.as_deref() == Some(content) && !place.is_read_through(path)
    }

    /// What another content changes; `None` where something is there that is no text, or too much.
    pub(crate) fn change(&self, shown: &str, content: &str) -> Option<Diff> {
        let known = self.text.is_some() || self.digest.is_none();
        known.then(|| diff(shown, self.text.as_deref().unwrap_or_default(), content))
    }

    /// Another content as the file would hold it: its way of writing text down is kept.
    pub(crate) fn encode(&self, path: &Path, content: &str) -> Result<Vec<u8>, ToolError> {
        self.encoding.encode(content).map_err(|foreign| {
            let name = self.encoding.name();
            let why = format!(
                "is written in {name}, which has no {foreign:?}: say it otherwise, or convert the file first"
            );
            ToolError::path(path, why)
        })
    }

    /// The same, to be written as another is.
    pub(crate) fn written_like(self, other: &Old) -> Old {
        Old { encoding: other.encoding, ..self }
    }

    /// Whether the model knows the file that a part of it is changed in. What a command of its own made of it counts; what anybody else
    /// did since is refused.
    pub(crate) fn standing(&self, path: &Path, place: &ToolContext) -> Result<Standing, ToolError> {
        let by_command = self.digest.as_deref().is_some_and(|now| place.is_by_command(path, now));
        match by_command {
            true => Ok(Standing::ByCommand),
            false => self.not_changed_since_seen(path, place).map(|()| Standing::AsSeen),
        }
    }

    /// Refuses to write over a file that changed after the model last saw it.
    pub(crate) fn not_changed_since_seen(&self, path: &Path, place: &ToolContext) -> Result<(), ToolError> {
        match (place.last_seen(path), &self.digest) {
            (Some(seen), Some(now)) if seen != *now => Err(ToolError::Changed { path: path.to_owned() }),
            _ => Ok(()),
        }
    }
}

/// How a file stands to what the model knows of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is what the model saw, or the model never saw it.
    AsSeen,
    /// A command of the model changed it since.
    ByCommand,
}

/// What a file shall hold instead of what it holds.
pub(crate) struct NewContent<'a> {
    pub(crate) path: &'a Path,
    pub(crate) old: &'a Old,
    /// `None` when it shall be gone.
    pub(crate) new: Option<&'a str>,
}

/// The plan of changing one file from what it holds to `content`.
pub(crate) fn plan_change(
    tool: &str,
    args: &Value,
    place: &ToolContext,
    path: &Path,
    old: &Old,
    content: &str,
) -> Plan {
    plan_changes(tool, args, place, &[NewContent { path, old, new: Some(content) }])
}

/// The plan of changing files: one digest and one diff for all of them.
pub(crate) fn plan_changes(tool: &str, args: &Value, place: &ToolContext, all: &[NewContent<'_>]) -> Plan {
    let mut plan = Plan::reading(tool, args, place, "");
    plan.read_only = false;
    plan.deed = Deed::Write { paths: all.iter().map(|one| one.path.to_owned()).collect() };
    let touched: Vec<_> = all.iter().map(|one| (one.path.to_owned(), one.old.digest.clone())).collect();
    plan.digest = digest::action(tool, args, place.workdir(), &touched);
    plan.preview = Some(preview(place, all));
    for one in all {
        rate(&mut plan, place, one);
    }
    let mut folders: Vec<&Path> = all.iter().filter_map(|one| one.path.parent()).collect();
    folders.sort_unstable();
    folders.dedup();
    if all.iter().all(|one| place.inside(one.path) && place.steering_when_written(one.path).is_none()) {
        let names: Vec<String> = folders.iter().map(|dir| path_text::write(dir)).collect();
        let under = |dir: &&Path| Rule { tool: None, matcher: Matcher::Under { dir: (*dir).to_owned() } };
        let words = format!("write files under {}", names.join(", "));
        plan.rule = Some(RuleOffer { words, rules: folders.iter().map(under).collect() });
    }
    plan
}

fn preview(place: &ToolContext, all: &[NewContent<'_>]) -> Preview {
    let mut whole = String::new();
    for one in all {
        let (shown, content) = (place.show(one.path), one.new.unwrap_or_default());
        match one.old.change(&shown, content) {
            Some(change) => whole.push_str(&change.text),
            None => {
                let bytes = content.len();
                return Preview::Text(format!(
                    "{bytes} bytes of text in the place of all that {shown} holds"
                ));
            }
        }
    }
    let names: Vec<String> = all.iter().map(|one| place.show(one.path)).collect();
    Preview::Diff { path: names.join(", "), text: whole }
}

/// Takes in how dangerous it is to change one file.
fn rate(plan: &mut Plan, place: &ToolContext, one: &NewContent<'_>) {
    let (path, old) = (one.path, one.old);
    if !place.inside(path) && !place.in_temp(path) {
        plan.raise(Risk::High, format!("writes {}, outside the project", path_text::write(path)));
    } else if let Some(part) = place.steering_when_written(path) {
        plan.raise(Risk::High, format!("changes `{part}`, which {STEERS}"));
    } else {
        let what = match (one.new, &old.digest) {
            (None, _) => "deletes a file",
            (Some(_), Some(_)) => "changes a file",
            (Some(_), None) => "makes a file",
        };
        if !plan.assessment.reasons.iter().any(|reason| reason == what) {
            plan.raise(Risk::Medium, what);
        }
    }
    if old.digest.is_some() && old.text.is_none() {
        plan.raise(Risk::High, "replaces a file that holds more than plain text");
        plan.assessment.reversible = false;
    }
}

/// Writes `content` beside `path` and moves it there, or has the editor do it. Refuses when the file is no longer the one in `old`.
pub(crate) fn put(path: &Path, content: &str, old: &Old, place: &ToolContext) -> Result<(), ToolError> {
    let is_same = |now: &Old| match now.digest == old.digest {
        true => Ok(()),
        false => Err(ToolError::Changed { path: path.to_owned() }),
    };
    let is_held = place.is_read_through(path);
    if is_held {
        is_same(&Old::look(path, place)?)?;
    }
    let digest = match place.hand_over(path, content) {
        Some(written) => {
            written?;
            digest::hex(content.as_bytes())
        }
        None => {
            let bytes = old.encode(path, content)?;
            let failed = ToolError::at_path(NAME, path);
            let spot = exact::Spot::make(path).map_err(&failed)?;
            let unchanged = |spot: &exact::Spot| match is_held {
                true => Ok(()),
                false => is_same(&Old::at(spot, path)?),
            };
            spot.put(&bytes, spot.permissions(), unchanged, &failed)?;
            digest::hex(&bytes)
        }
    };
    match old.digest.as_deref().is_some_and(|before| place.is_by_command(path, before)) {
        true => place.wrote_after_command(path, digest),
        false => place.saw(path, digest),
    }
    Ok(())
}

/// Deletes a file. Refuses when it is no longer the one in `old`.
pub(crate) fn remove(path: &Path, old: &Old, place: &ToolContext) -> Result<(), ToolError> {
    let is_same = |now: &Old| match now.digest == old.digest {
        true => Ok(()),
        false => Err(ToolError::Changed { path: path.to_owned() }),
    };
    is_same(&Old::look(path, place)?)?;
    let failed = ToolError::at_path(NAME, path);
    exact::Spot::find(path).and_then(|spot| spot.remove()).map_err(failed)
}
