//! Custom commands: Markdown files of the person and of the project that `/name` puts before the model, in the forms of Claude Code,
//! Codex and opencode as they are; and two that are built in.
//!
//! A command is text for the model and allows nothing by itself: what it wants run or read goes through the tools and their questions.
//! Invariants: no command of the person's, of ours or of a UI's is replaced by a project's of the same name; a project's file that leads
//! out of the project is not read; everything is bounded. Reads files: call where blocking is allowed.

mod fill;
mod seen;

use crate::config::{Config, WorkDir};
use crate::skills::front_matter;
use crate::text_sources::{TextSources, read_text};
use domain::harmless;
use domain::path_text;
use domain::port::menu::{AgentCommand, AgentMenu};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the person's commands lie in their home; those of their settings are in `commands` there.
const OF_HOME: &[&str] = &[
    ".parlor/commands",
    ".claude/commands",
    ".codex/prompts",
    ".config/opencode/command",
    ".opencode/command",
];
/// Where a project's lie, below its root and each directory on the way to it.
const OF_PROJECT: &[&str] =
    &[".parlor/commands", ".claude/commands", ".codex/prompts", ".opencode/command", ".opencode/commands"];
/// Most commands that are listed.
const MAX_COMMANDS: usize = 200;
/// Most entries of one folder that are looked at, and folders in folders.
const MAX_ENTRIES: usize = 1_000;
const MAX_DEPTH: usize = 3;
/// Bytes of one command; a longer one is left out, since half of it could mislead.
const MAX_BYTES: u64 = 64 * 1024;
/// Longest name and description, in characters.
const MAX_NAME: usize = 64;
const MAX_ABOUT: usize = 200;
/// Those that are there without a file.
const BUILT_IN: &[(&str, &str)] = &[
    ("init", include_str!("custom_commands/built_in/init.md")),
    ("review", include_str!("custom_commands/built_in/review.md")),
];
/// What the UIs' own commands that choose a mode, a model or what may run are called: a project's of the same name would be used in their
/// place where nobody but the model reads a prompt (`parlor run`).
const OF_UIS: &[&str] = &[
    "abort", "agents", "budget", "clear", "compact", "devices", "effort", "login", "mcp", "mode", "model",
    "options", "plan", "policy", "ports", "quit", "redo", "reset", "rules", "settings", "stop", "tools",
    "undo",
];
/// What of a command's front matter would allow or choose something, and does not.
const NOT_HONOURED: &[&str] = &["allowed-tools", "model", "agent", "disable-model-invocation"];

/// One command that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CustomCommand {
    /// Without the slash.
    pub(crate) name: String,
    pub(crate) about: String,
    /// What is written behind it, where it says so.
    hint: Option<String>,
    origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Origin {
    BuiltIn(&'static str),
    File {
        path: PathBuf,
        /// What the file must lie in: a project's may not lead elsewhere.
        within: Option<PathBuf>,
    },
}

/// A command as a prompt used it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Used {
    /// What the model is told.
    pub(crate) told: String,
    /// What the person should know of it.
    pub(crate) notice: Option<String>,
}

/// The commands that can be used at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CustomCommands {
    all: Vec<CustomCommand>,
}

/// What can be said with a slash in a folder, as UIs list it before the first turn.
pub fn menu(config: &Config, data: &Path, work_dir: &WorkDir) -> AgentMenu {
    let offered = crate::mcp::offered_before(config, data, work_dir);
    with_servers(CustomCommands::find(&config.look(work_dir)).menu(), offered)
}

/// A menu with what MCP servers offer: commands, and what can be named. None takes the place of another command.
pub(crate) fn with_servers(mut menu: AgentMenu, (commands, mentions): crate::mcp::Offers) -> AgentMenu {
    for command in commands {
        if menu.command(&command.name).is_none() {
            menu.commands.push(command);
        }
    }
    menu.mentions = mentions;
    menu.bounded()
}

impl CustomCommands {
    /// Looks for commands: the person's first, then our own, then the project's from the nearest directory up.
    pub(crate) fn find(look: &TextSources) -> CustomCommands {
        let mut found = CustomCommands::default();
        if let Some(settings) = &look.settings {
            found.below(&settings.join("commands"), None);
        }
        for place in look.home.iter().flat_map(|home| OF_HOME.iter().map(move |place| home.join(place))) {
            found.below(&place, None);
        }
        for (name, text) in BUILT_IN {
            found.add((*name).to_owned(), text, Origin::BuiltIn(text));
        }
        for dir in look.dirs_up() {
            // A home that is itself the project was looked at as the person's.
            if look.home.as_deref() != Some(dir) {
                for place in OF_PROJECT {
                    found.below(&dir.join(place), look.project.as_ref());
                }
            }
        }
        found
    }

    /// As UIs list them.
    pub(crate) fn menu(&self) -> AgentMenu {
        let command = |one: &CustomCommand| AgentCommand {
            name: one.name.clone(),
            about: one.about.clone(),
            hint: one.hint.clone(),
        };
        AgentMenu { commands: self.all.iter().map(command).collect(), ..AgentMenu::default() }.bounded()
    }

    /// The command that a prompt begins with, and what is written behind it.
    pub(crate) fn named_in<'a>(&self, prompt: &'a str) -> Option<(&CustomCommand, &'a str)> {
        let line = prompt.trim_start().strip_prefix('/')?;
        let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        Some((self.all.iter().find(|command| command.name == name)?, rest.trim()))
    }

    fn below(&mut self, place: &Path, within: Option<&PathBuf>) {
        let mut files = Vec::new();
        collect(place, "", MAX_DEPTH, &mut files);
        files.sort();
        for (name, path) in files {
            let Ok(text) = read_text(&path, within.map(PathBuf::as_path), MAX_BYTES) else { continue };
            self.add(name, &text, Origin::File { path, within: within.cloned() });
        }
    }

    fn add(&mut self, name: String, text: &str, origin: Origin) {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let of_project = matches!(origin, Origin::File { within: Some(_), .. });
        let fits = !name.is_empty() && name.chars().count() <= MAX_NAME && name.chars().all(plain);
        // Where no UI takes them for its own, they are nobody's.
        let fits = fits && !(of_project && OF_UIS.contains(&name.as_str()));
        if !fits || self.all.len() >= MAX_COMMANDS || self.all.iter().any(|known| known.name == name) {
            return;
        }
        let (matter, body) = parts(text);
        let about = matter.get("description").filter(|about| !about.is_empty()).cloned();
        let first_line =
            || body.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
        let about = about.or_else(|| first_line().map(str::to_owned)).unwrap_or_default();
        let hint = matter.get("argument-hint").filter(|hint| !hint.is_empty()).cloned();
        let whose = if of_project { "this project's: " } else { "" };
        let about = harmless::in_line(&about).chars().take(MAX_ABOUT).collect::<String>();
        self.all.push(CustomCommand { name, about: format!("{whose}{about}"), hint, origin });
    }
}

impl CustomCommand {
    /// Uses the command with what is written behind it. `data` is where it is kept how a project's commands looked when they were used
    /// last.
    ///
    /// # Errors
    /// When its file cannot be read any more.
    pub(crate) fn used(&self, behind: &str, data: &Path) -> Result<Used, String> {
        let text = match &self.origin {
            Origin::BuiltIn(text) => (*text).to_owned(),
            Origin::File { path, within } => read_text(path, within.as_deref(), MAX_BYTES)?,
        };
        let (matter, body) = parts(&text);
        let filled = fill::fill(body, behind);
        let place = match &self.origin {
            Origin::BuiltIn(_) => String::new(),
            Origin::File { path, .. } => format!(" from {}", path_text::write(path)),
        };
        let mut told = format!(
            "The person has used the command /{}{place}. Do what it says:\n{}",
            self.name, filled.text
        );
        if filled.wants_commands {
            told.push_str(
                "\n\n(Where this says \"output of\" a command, run that command first with your tool and read what it says in its place.)",
            );
        }
        let ignored: Vec<&str> =
            NOT_HONOURED.iter().copied().filter(|key| matter.contains_key(*key)).collect();
        let notice = match &self.origin {
            Origin::File { path, within: Some(project) } => {
                self.news(&seen::used(data, project, path, &text), path, &ignored)
            }
            Origin::File { path, within: None } => {
                self.news(&seen::used(data, Path::new(""), path, &text), path, &ignored)
            }
            Origin::BuiltIn(_) => None,
        };
        Ok(Used { told, notice })
    }

    /// What the person should know of a command that is new, or another than it was.
    fn news(&self, seen: &seen::Seen, path: &Path, ignored: &[&str]) -> Option<String> {
        let whose = matches!(self.origin, Origin::File { within: Some(_), .. });
        let mut lines = Vec::new();
        if let seen::Seen::Changed { before, now } = seen
            && whose
        {
            lines.push(format!(
                "/{} of this project is another than when you used it last: {} had SHA-256 {before}…, now it has {now}….",
                self.name,
                path_text::write(path)
            ));
        }
        if !ignored.is_empty() && !matches!(seen, seen::Seen::Same) {
            lines.push(format!(
                "{} in /{} counts for nothing here: your mode and your rules say what is asked.",
                ignored.join(", "),
                self.name
            ));
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// Front matter, which it need not have, and the text.
fn parts(text: &str) -> (BTreeMap<String, String>, &str) {
    front_matter(text).unwrap_or_else(|_| (BTreeMap::new(), text.strip_prefix('\u{feff}').unwrap_or(text)))
}

/// Markdown files below a folder with the names of their commands: those of folders in it are named by both, with a colon between.
fn collect(dir: &Path, before: &str, depth: usize, into: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten().take(MAX_ENTRIES) {
        let path = entry.path();
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        let is_markdown = path.extension().is_some_and(|extension| extension == "md");
        if is_markdown && path.is_file() {
            into.push((format!("{before}{name}"), path));
        } else if depth > 1 && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, &format!("{before}{name}:"), depth - 1, into);
        }
        if into.len() > MAX_ENTRIES {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
