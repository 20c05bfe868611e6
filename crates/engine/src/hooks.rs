//! Hooks: commands of the person and of the project that are run at points of a turn, in Claude Code's form. They may deny and add text,
//! and nothing else: what allows, asks or changes a call in that form is read and told as not honoured.
//!
//! The person's own stand in their settings and run as extensions do, watched and not limited. A project's run only after the person
//! agreed to exactly that hook and its program, and only in the sandbox. Invariants: no hook makes anything allowed; one that is slow,
//! broken or gone holds up a turn no longer than its time; what a hook did is in the record.

mod form;
mod matcher;
mod run;
#[cfg(test)]
mod tests;

use crate::config::Config;
use crate::mcp::{Approvals, digest_with_files};
use crate::text_sources::read_text;
use domain::harmless;
use domain::path_text;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

pub use form::{Hook, HookEvent};
pub(crate) use run::{HookCall, HookVerdict, may_write, names_of, run};

/// Largest file of settings that is read.
const MAX_FILE: u64 = 1024 * 1024;
/// The person's file in the folder of their settings, and the one of Claude Code in their home.
const OWN: &str = "hooks.json";
const OWN_OF_HOME: &str = ".claude/settings.json";
/// The project's files below its root.
const PROJECT: &[&str] = &[".parlor/hooks.json", ".claude/settings.json", ".claude/settings.local.json"];

/// A hook that is written down somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedHook {
    pub hook: Hook,
    /// The file that names it.
    pub file: PathBuf,
    /// The project that brought it; `None` for the person's own.
    pub project: Option<PathBuf>,
    /// Whether it may run: the person's own always, a project's once the person agreed.
    pub approved: bool,
    /// What of its program is compared, and what is not, in words for the person.
    pub compared: Option<String>,
    /// Of the hook and its program as they are now.
    digest: String,
}

impl ListedHook {
    /// `PreToolUse (Bash): ./check.sh`, in one line whatever its command is.
    pub fn words(&self) -> String {
        let of = match self.hook.matcher.text() {
            "" | "*" => String::new(),
            text => format!(" ({text})"),
        };
        harmless::in_line(&format!("{}{of}: {}", self.hook.event.name(), self.hook.command))
    }

    /// What tells it from every other, and from itself when its program changes.
    pub(crate) fn key(&self) -> String {
        self.digest.clone()
    }

    /// Whether it is still what the person agreed to: the agent may have changed its program since. Reads files.
    pub(crate) fn is_as_agreed(&self) -> bool {
        self.project.as_deref().is_none_or(|root| compared_with(&self.hook, root).0 == self.digest)
    }

    /// By which of its names a hook means a tool; `None` within: it is for no tool at all. `None`: it is not for this one.
    pub(crate) fn named<'a>(&self, names: &'a [String]) -> Option<Option<&'a str>> {
        if !self.hook.event.is_of_tools() {
            return Some(None);
        }
        names.iter().find(|name| self.hook.matcher.fits(name)).map(|name| Some(name.as_str()))
    }
}

/// The hooks for a project, the person's first; and what is wrong in the files or not honoured, with the file's name. Where there is no
/// workspace there is no project: only the person's own.
pub fn hooks(
    config: &Config,
    data: &Path,
    project: Option<&Path>,
) -> (Vec<ListedHook>, Vec<(PathBuf, String)>) {
    find(config.settings.as_deref(), config.home.as_deref(), data, project)
}

/// The same, where it is known where the person keeps things.
pub(crate) fn find(
    settings: Option<&Path>,
    home: Option<&Path>,
    data: &Path,
    project: Option<&Path>,
) -> (Vec<ListedHook>, Vec<(PathBuf, String)>) {
    let (mut listed, mut told) = (Vec::<ListedHook>::new(), Vec::new());
    let approvals = Approvals::of_hooks(data);
    let own = settings.map(|dir| dir.join(OWN)).into_iter();
    let own: Vec<PathBuf> = own.chain(home.map(|home| home.join(OWN_OF_HOME))).collect();
    // A home that is itself the project was looked at as the person's.
    let theirs = project.into_iter().flat_map(|root| PROJECT.iter().map(move |name| root.join(name)));
    let theirs = theirs.filter(|file| !own.contains(file)).map(|file| (file, project));
    for (file, project) in own.iter().map(|file| (file.clone(), None)).chain(theirs) {
        if !file.exists() {
            continue;
        }
        let (found, wrong) = match read_text(&file, project, MAX_FILE) {
            Ok(text) => form::parse(&text),
            Err(why) => (Vec::new(), vec![why]),
        };
        told.extend(wrong.into_iter().map(|why| (file.clone(), why)));
        for hook in found {
            let (digest, compared) = match project {
                Some(root) => {
                    let (digest, words) = compared_with(&hook, root);
                    (digest, Some(words))
                }
                None => (hook.digest.clone(), None),
            };
            if listed.iter().any(|known| known.digest == digest) {
                continue;
            }
            let approved = project.is_none() || approvals.of(project, &digest).approved;
            let project = project.map(Path::to_owned);
            listed.push(ListedHook { hook, file: file.clone(), project, approved, compared, digest });
        }
    }
    (listed, told)
}

/// What a project's hook is known by, with the files that its command names; and what those are, in words.
fn compared_with(hook: &Hook, root: &Path) -> (String, String) {
    // However the variable stands in quotes, what it names is found.
    let command = without_targets(&in_project(&hook.command, root));
    let line = ["sh", "-c", command.as_str()];
    digest_with_files(&hook.digest, &line, &BTreeMap::new(), root, root)
}

/// A command without the files that it only writes to: what it keeps a log in changes with each call.
fn without_targets(command: &str) -> String {
    let mut kept = Vec::new();
    let mut words = command.split_whitespace();
    while let Some(word) = words.next() {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        match rest.strip_prefix(">>").or_else(|| rest.strip_prefix('>')) {
            Some("") => _ = words.next(),
            // What ends the command after it stays.
            Some(target) => kept.extend(target.split_once([';', '|', '&']).map(|(_, next)| next)),
            None => kept.push(word),
        }
    }
    kept.join(" ")
}

/// A command with the project's root in the place of the variables that name it.
fn in_project(command: &str, root: &Path) -> String {
    let root = path_text::write(root);
    ["CLAUDE_PROJECT_DIR", "PARLOR_PROJECT_DIR"].iter().fold(command.to_owned(), |line, name| {
        line.replace(&format!("${{{name}}}"), &root).replace(&format!("${name}"), &root)
    })
}

/// Keeps that the person agreed to a project's hook as it is now.
///
/// # Errors
/// When it cannot be kept.
pub fn approve_hook(data: &Path, listed: &ListedHook) -> io::Result<()> {
    Approvals::of_hooks(data).agree(listed.project.as_deref(), &listed.digest, &listed.words(), None)
}

/// Takes that back; `false` when nothing was said.
///
/// # Errors
/// When it cannot be kept.
pub fn forget_hook(data: &Path, listed: &ListedHook) -> io::Result<bool> {
    Approvals::of_hooks(data).forget(listed.project.as_deref(), &listed.digest)
}
