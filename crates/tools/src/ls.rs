//! `ls`: what is in a directory. What .gitignore leaves out is left out here too, unless all is wanted.

use crate::args::{Args, DIR};
use crate::context::ToolContext;
use crate::passes::Passes;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError, walking};
use domain::tool::ToolResult;
use ignore::WalkBuilder;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// Entries of one listing.
pub const MAX_ENTRIES: usize = 1000;
/// Deepest listing.
pub const MAX_DEPTH: u64 = 8;

const NAME: &str = "ls";

/// The tool that lists a directory.
#[derive(Debug, Clone, Copy)]
pub struct Ls;

impl Tool for Ls {
    fn spec(&self) -> Spec {
        Spec {
            name: NAME.into(),
            description: format!(
                "List a directory, at most {MAX_ENTRIES} entries. Directories end in `/`. Files that .gitignore leaves \
                 out are not shown unless `all` is true. `depth` looks into subdirectories."
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "The working directory if left out"},
                    "depth": {"type": "integer", "minimum": 1, "maximum": MAX_DEPTH, "description": "1 if left out"},
                    "all": {"type": "boolean", "description": "Ignored files too"}
                }
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let path = place.resolve(Args::new(NAME, args).text_opt(DIR)?.unwrap_or("."))?;
        let mut plan = Plan::reading(NAME, args, place, format!("list {}", place.show(&path)));
        plan.digest = crate::digest::action(NAME, args, place.workdir(), &[(path.clone(), None)]);
        plan.reads(&path);
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        walking(plan, port, |plan, start| list(&plan.args, start, &plan.place))
    }
}

fn list(args: &Value, path: &Path, place: &ToolContext) -> Result<ToolResult, ToolError> {
    let args = Args::new(NAME, args);
    let depth = args.count_opt(&["depth"])?.unwrap_or(1).clamp(1, MAX_DEPTH);
    let all = args.flag(&["all", "hidden"])?;
    let meta = std::fs::metadata(path).map_err(ToolError::io(path))?;
    if !meta.is_dir() {
        return Ok(ToolResult::text(format!("{} ({} bytes)", place.show(path), meta.len())));
    }
    let passes = Passes::below(path, place);
    let mut walk = WalkBuilder::new(path);
    walk.standard_filters(!all)
        .hidden(false)
        .require_git(false)
        .max_depth(Some(usize::try_from(depth).unwrap_or(1)))
        .sort_by_file_name(Ord::cmp)
        .filter_entry(passes.filter(move |entry| all || entry.file_name() != ".git"));
    let mut text = String::new();
    let mut count = 0;
    for entry in walk.build() {
        let Ok(entry) = entry else { continue };
        if entry.depth() == 0 {
            continue;
        }
        if count == MAX_ENTRIES {
            let _ = write!(text, "(more than {MAX_ENTRIES} entries: list a subdirectory)");
            return Ok(ToolResult { truncated: true, ..ToolResult::text(text) });
        }
        count += 1;
        let name = entry.path().strip_prefix(path).ok().and_then(Path::to_str);
        let name = name.map_or_else(|| place.show(entry.path()), str::to_owned);
        let mark = match entry.file_type() {
            Some(kind) if kind.is_dir() => "/",
            Some(kind) if kind.is_symlink() => "@",
            _ => "",
        };
        let _ = writeln!(text, "{name}{mark}");
    }
    if text.is_empty() {
        text.push_str("(nothing here)\n");
    }
    passes.tell(&mut text);
    Ok(ToolResult::text(text.trim_end()))
}
