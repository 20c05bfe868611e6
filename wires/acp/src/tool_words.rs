//! Our tools in this wire's words: what kind of call it is, what it is called, which places it is about. Pure; what is not known is left out.

use super::wire::{Location, ToolKind};
use domain::content::Json;
use domain::path_text;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Longest title of a call, in characters.
const MAX_TITLE: usize = 120;
/// Our tools by their kind; what is not here is of no kind.
const KINDS: &[(&str, ToolKind)] = &[
    ("read", ToolKind::Read),
    ("ls", ToolKind::Read),
    ("write", ToolKind::Edit),
    ("edit", ToolKind::Edit),
    ("apply_patch", ToolKind::Edit),
    ("grep", ToolKind::Search),
    ("find", ToolKind::Search),
    ("bash", ToolKind::Execute),
    ("fetch", ToolKind::Fetch),
    ("todo", ToolKind::Think),
];

/// What sort of call a tool of this name makes.
pub(super) fn kind(name: &str) -> ToolKind {
    KINDS.iter().find(|(known, _)| *known == name).map_or(ToolKind::Unsaid, |(_, kind)| kind.clone())
}

/// The arguments that say what a call is about; whatever else they are is the tool's.
#[derive(Deserialize, Default)]
#[serde(default)]
struct About {
    path: Value,
    file_path: Value,
    command: Value,
    pattern: Value,
    query: Value,
    url: Value,
}

impl About {
    fn of(args: &Json) -> About {
        serde_json::from_str(args.as_str()).unwrap_or_default()
    }

    fn path(&self) -> Option<&str> {
        self.path.as_str().or(self.file_path.as_str())
    }
}

/// The command line that a call would run.
pub(super) fn command(args: &Json) -> Option<String> {
    match About::of(args).command {
        Value::String(line) => Some(line),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(words.join(" ")).filter(|line| !line.is_empty())
        }
        _ => None,
    }
}

/// A line for the person.
pub(super) fn title(name: &str, args: &Json) -> String {
    let about = About::of(args);
    let what = [
        about.command.as_str(),
        about.path(),
        about.pattern.as_str(),
        about.query.as_str(),
        about.url.as_str(),
    ];
    let what = what.into_iter().flatten().next().and_then(|what| what.lines().next());
    let title = match what {
        Some(command) if kind(name) == ToolKind::Execute => command.to_owned(),
        // An agent whose calls have no name calls one by what it does.
        Some(what) if what == name => name.to_owned(),
        Some(what) => format!("{name} {what}"),
        None => name.to_owned(),
    };
    let mut shown: String = title.chars().take(MAX_TITLE).collect();
    if shown.len() < title.len() {
        shown.push('…');
    }
    shown
}

/// The files that a call is about, by their whole paths.
pub(super) fn locations(args: &Json, cwd: &str) -> Vec<Location> {
    let about = About::of(args);
    let path = about.path().map(|path| absolute(path, cwd));
    path.into_iter().map(|path| Location { path, ..Location::default() }).collect()
}

/// A path as this wire wants it.
pub(super) fn absolute(path: &str, cwd: &str) -> String {
    if Path::new(path).is_absolute() || cwd.is_empty() {
        return path.to_owned();
    }
    path_text::write(&Path::new(cwd).join(path))
}
