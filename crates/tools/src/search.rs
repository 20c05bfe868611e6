//! `grep` and `find`: what is in files, and which files there are. What .gitignore leaves out is left out; links are not
//! followed; results, files and time are bounded, and said so when a bound was met.

use crate::args::{Args, DIR};
use crate::context::ToolContext;
use crate::exact;
use crate::passes::Passes;
use crate::tool::{BoxFuture, Outcome, Plan, Port, Spec, Tool, ToolError, walking};
use domain::tool::ToolResult;
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::overrides::OverrideBuilder;
use ignore::{Walk, WalkBuilder};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Matches or files of one answer unless the call says otherwise.
pub const DEFAULT_RESULTS: u64 = 200;
/// Most matches or files of one answer.
pub const MAX_RESULTS: u64 = 1000;
/// Bytes of one answer.
pub const MAX_BYTES: usize = 50 * 1024;
/// Files that one search looks at.
pub const MAX_FILES: usize = 200_000;
/// How long one search may take.
pub const MAX_TIME: Duration = Duration::from_secs(20);
/// Most lines shown around a match.
const MAX_CONTEXT: u64 = 10;
/// Characters shown of one line.
const MAX_LINE: usize = 400;
/// Longest line that is searched, in bytes.
const MAX_HEAP: usize = 16 * 1024 * 1024;

/// The tool that searches in files.
#[derive(Debug, Clone, Copy)]
pub struct Grep;

/// The tool that finds files by their names.
#[derive(Debug, Clone, Copy)]
pub struct Find;

impl Tool for Grep {
    fn spec(&self) -> Spec {
        Spec {
            name: "grep".into(),
            description: format!(
                "Search files for a regular expression (Rust syntax). Looks below `path`, leaves out what .gitignore \
                 leaves out, shows `file:line:text`, {DEFAULT_RESULTS} matches unless `limit` says otherwise."
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "What to look for"},
                    "path": {"type": "string", "description": "File or directory; the working directory if left out"},
                    "glob": {"type": "string", "description": "Only files like this, such as *.rs"},
                    "ignore_case": {"type": "boolean"},
                    "literal": {"type": "boolean", "description": "The pattern is plain text"},
                    "context": {"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT, "description": "Lines around"},
                    "files_only": {"type": "boolean", "description": "Only the names of files"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS}
                },
                "required": ["pattern"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let said = Args::new("grep", args);
        let pattern = said.text(PATTERN)?;
        matcher(said)?;
        plan("grep", args, place, &format!("search for `{pattern}`"))
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        let cancel = port.cancel.clone();
        walking(plan, port, move |plan, start| grep(&plan.args, start, &plan.place, cancel))
    }
}

impl Tool for Find {
    fn spec(&self) -> Spec {
        Spec {
            name: "find".into(),
            description: format!(
                "Find files by name: a glob such as *.rs or src/**/mod.rs, or a part of the name. Looks below `path`, \
                 leaves out what .gitignore leaves out, {DEFAULT_RESULTS} files unless `limit` says otherwise."
            ),
            schema: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string", "description": "The glob, or a part of the name"},
                    "path": {"type": "string", "description": "The working directory if left out"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS}
                },
                "required": ["pattern"]
            }),
            read_only: true,
        }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let pattern = Args::new("find", args).text(PATTERN)?;
        plan("find", args, place, &format!("find files like `{pattern}`"))
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        let cancel = port.cancel.clone();
        walking(plan, port, move |plan, start| find(&plan.args, start, &plan.place, cancel))
    }
}

const PATTERN: &[&str] = &["pattern", "query", "regex", "glob_pattern", "name"];

fn plan(tool: &str, args: &Value, place: &ToolContext, title: &str) -> Result<Plan, ToolError> {
    let start = start(Args::new(tool, args), place)?;
    let mut plan = Plan::reading(tool, args, place, format!("{title} in {}", place.show(&start)));
    plan.digest = crate::digest::action(tool, args, place.workdir(), &[(start.clone(), None)]);
    plan.reads(&start);
    Ok(plan)
}

fn start(args: Args<'_>, place: &ToolContext) -> Result<PathBuf, ToolError> {
    place.resolve(args.text_opt(DIR)?.unwrap_or("."))
}

fn limit(args: Args<'_>) -> Result<usize, ToolError> {
    let limit = args.count_opt(&["limit", "max_results", "head_limit"])?.unwrap_or(DEFAULT_RESULTS);
    Ok(usize::try_from(limit.clamp(1, MAX_RESULTS)).unwrap_or(1))
}

fn matcher(args: Args<'_>) -> Result<grep_regex::RegexMatcher, ToolError> {
    RegexMatcherBuilder::new()
        .case_insensitive(args.flag(&["ignore_case", "case_insensitive", "-i"])?)
        .fixed_strings(args.flag(&["literal", "fixed"])?)
        .line_terminator(Some(b'\n'))
        .build(args.text(PATTERN)?)
        .map_err(|error| {
            args.wrong(format!("`pattern` cannot be used: {error}; give `literal` for plain text"))
        })
}

fn walk(start: &Path, globs: &[String], args: Args<'_>, passes: &Passes) -> Result<Walk, ToolError> {
    let mut overrides = OverrideBuilder::new(start);
    for glob in globs {
        let bad = |error: ignore::Error| args.wrong(format!("`{glob}` is no glob: {error}"));
        overrides.add(glob).map_err(bad)?;
    }
    let overrides = overrides.build().map_err(|error| args.wrong(error.to_string()))?;
    let mut walk = WalkBuilder::new(start);
    walk.hidden(false)
        .require_git(false)
        .sort_by_file_path(Ord::cmp)
        // Not as the walk's own overrides: those would bring back what is ignored.
        .filter_entry(passes.filter(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.file_name() != ".git" && !overrides.matched(entry.path(), is_folder).is_ignore()
        }));
    Ok(walk.build())
}

/// What is found, and how much more of it there may be.
struct Hits {
    text: String,
    count: usize,
    limit: usize,
    until: Instant,
    cancel: CancellationToken,
    full: Option<String>,
}

impl Hits {
    fn new(limit: usize, cancel: CancellationToken) -> Hits {
        Hits { text: String::new(), count: 0, limit, until: Instant::now() + MAX_TIME, cancel, full: None }
    }

    /// Whether to go on looking.
    fn hungry(&mut self, looked: usize) -> bool {
        if self.full.is_none()
            && (looked > MAX_FILES || Instant::now() > self.until || self.cancel.is_cancelled())
        {
            self.full = Some(format!("(stopped after {looked} files: look in a smaller directory)"));
        }
        self.full.is_none()
    }

    /// Takes one hit; `false` when it has no room.
    fn room(&mut self) -> bool {
        if self.count >= self.limit || self.text.len() >= MAX_BYTES {
            self.full = Some(format!("(more than {} results: narrow the search)", self.count));
            return false;
        }
        self.count += 1;
        true
    }

    fn finish(self, nothing: &str, passes: &Passes) -> ToolResult {
        let truncated = self.full.is_some();
        let mut text = self.text;
        if self.count == 0 {
            text.push_str(nothing);
            text.push('\n');
        }
        text.push_str(self.full.as_deref().unwrap_or_default());
        passes.tell(&mut text);
        ToolResult { truncated, ..ToolResult::text(text.trim_end()) }
    }
}

fn find(
    args: &Value,
    start: &Path,
    place: &ToolContext,
    cancel: CancellationToken,
) -> Result<ToolResult, ToolError> {
    let args = Args::new("find", args);
    let pattern = args.text(PATTERN)?.trim_start_matches("./");
    if pattern.starts_with('!') || pattern.is_empty() {
        return Err(args.wrong("`pattern` must be a glob such as *.rs, or a part of a name"));
    }
    let glob =
        if pattern.contains(['*', '?', '[', '{', '/']) { pattern.to_owned() } else { format!("*{pattern}*") };
    if !start.is_dir() {
        return Err(ToolError::path(start, "is not a directory"));
    }
    let mut hits = Hits::new(limit(args)?, cancel);
    let passes = Passes::below(start, place);
    for (looked, entry) in walk(start, &[glob], args, &passes)?.enumerate() {
        if !hits.hungry(looked) {
            break;
        }
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_none_or(|kind| kind.is_dir()) {
            continue;
        }
        if !hits.room() {
            break;
        }
        let _ = writeln!(hits.text, "{}", place.show(entry.path()));
    }
    Ok(hits.finish("(no such files)", &passes))
}

fn grep(
    args: &Value,
    start: &Path,
    place: &ToolContext,
    cancel: CancellationToken,
) -> Result<ToolResult, ToolError> {
    let args = Args::new("grep", args);
    let matcher = matcher(args)?;
    let globs: Vec<String> = args.text_opt(&["glob", "include"])?.map(str::to_owned).into_iter().collect();
    let around = args.count_opt(&["context", "-C"])?.unwrap_or(0).min(MAX_CONTEXT);
    let around = usize::try_from(around).unwrap_or(0);
    let names_only = args.flag(&["files_only", "files_with_matches"])?;
    let mut searcher = SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .heap_limit(Some(MAX_HEAP))
        .before_context(around)
        .after_context(around)
        .build();
    if !start.exists() {
        return Err(ToolError::path(start, "there is no such file or directory"));
    }
    let mut hits = Hits::new(limit(args)?, cancel);
    let passes = Passes::below(start, place);
    for (looked, entry) in walk(start, &globs, args, &passes)?.enumerate() {
        if !hits.hungry(looked) {
            break;
        }
        let Ok(entry) = entry else { continue };
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let shown = place.show(entry.path());
        // A file that cannot be read is passed over, as is one that turns out to be binary.
        let Ok(file) = exact::open(entry.path()) else { continue };
        let _ = searcher.search_file(&matcher, &file, Lines { hits: &mut hits, shown: &shown, names_only });
    }
    Ok(hits.finish("(no matches)", &passes))
}

struct Lines<'a> {
    hits: &'a mut Hits,
    shown: &'a str,
    names_only: bool,
}

impl Lines<'_> {
    fn put(&mut self, mark: char, number: Option<u64>, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end_matches(['\r', '\n']);
        let short: String = line.chars().take(MAX_LINE).collect();
        let cut = if short.len() < line.len() { "…" } else { "" };
        let number = number.unwrap_or_default();
        let _ = writeln!(self.hits.text, "{}{mark}{number}{mark}{short}{cut}", self.shown);
    }
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, std::io::Error> {
        if !self.hits.room() {
            return Ok(false);
        }
        if self.names_only {
            let _ = writeln!(self.hits.text, "{}", self.shown);
            return Ok(false);
        }
        self.put(':', found.line_number(), found.bytes());
        Ok(!self.hits.cancel.is_cancelled())
    }

    fn context(&mut self, _: &Searcher, around: &SinkContext<'_>) -> Result<bool, std::io::Error> {
        if !self.names_only {
            self.put('-', around.line_number(), around.bytes());
        }
        Ok(self.hits.text.len() < MAX_BYTES)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, std::io::Error> {
        if !self.names_only {
            self.hits.text.push_str("--\n");
        }
        Ok(true)
    }
}
