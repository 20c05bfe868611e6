//! Sub-agents: who there is. Two that are built in, and Markdown files of the person and of the project in the forms of Parlor and of
//! Claude Code as they are.
//!
//! A sub-agent is text for a model and a choice among the tools that there are anyway; it allows nothing. Invariants: a project's never
//! takes the place of a person's or of a built-in one, chooses no model, and its `tools` only leave some out; a file that leads out of the
//! project is not read; everything is bounded. Reads files: call where blocking is allowed.

mod story;
mod tool;
mod transcript;

use crate::delegation::OtherAgent;
use crate::skills::front_matter;
use crate::text_sources::{TextSources, read_text};
use domain::{harmless, path_text};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) use story::{Story, asked_in_parent, named_by_task, shortened};
pub(crate) use tool::{NAME, Task, TaskTool};
pub(crate) use transcript::{Transcript, write as write_transcript};

/// Where they lie, below the person's home, the project's root and each directory on the way to it.
const PLACES: &[&str] = &[".parlor/agents", ".claude/agents"];
/// Those that are there without a file.
const BUILT_IN: &[&str] =
    &[include_str!("sub_agents/built_in/explore.md"), include_str!("sub_agents/built_in/general.md")];
/// The one that only looks, whatever mode it is used in.
const LOOKS: &str = "explore";
/// Most that are listed.
const MAX_AGENTS: usize = 50;
/// Most entries of one folder that are looked at.
const MAX_ENTRIES: usize = 1_000;
/// Bytes of one file; a longer one is left out, since half of it could mislead.
const MAX_BYTES: u64 = 64 * 1024;
/// Longest name and description, in characters.
const MAX_NAME: usize = 64;
const MAX_ABOUT: usize = 240;
/// What of a front matter is read, and what says nothing that would matter here.
const READ: &[&str] = &["name", "description", "tools", "disallowedTools", "model", ISOLATION];
const IDLE: &[&str] = &["color", "author", "version"];
/// Where it works, and the one word for that: in a git worktree of its own.
const ISOLATION: &str = "isolation";
pub(crate) const WORKTREE: &str = "worktree";
/// The word for the model of whoever uses it.
const INHERIT: &str = "inherit";

/// Who is given a task, as a file or we ourselves describe them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubAgent {
    pub(crate) name: String,
    pub(crate) about: String,
    /// What it is told of itself.
    pub(crate) role: String,
    /// The tools that it may use, as its file names them; `None` for all.
    pub(crate) tools: Option<Vec<String>>,
    /// Those that it may not use.
    pub(crate) without: Vec<String>,
    /// The model that it wants; only a person's file may want one.
    pub(crate) model: Option<String>,
    /// Whether nothing is changed by it in any mode.
    pub(crate) only_looks: bool,
    /// Whether it works in a git worktree of its own.
    pub(crate) apart: bool,
    /// The agent of another program that it is.
    pub(crate) other: Option<OtherAgent>,
    /// What the person should know of its file.
    pub(crate) notice: Option<String>,
}

/// The sub-agents that can be used at a place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SubAgents {
    all: Vec<SubAgent>,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose<'a> {
    Ours,
    Persons,
    Projects { root: &'a Path },
}

impl SubAgents {
    /// Looks for sub-agents: the person's first, then our own, then the project's from the nearest directory up.
    pub(crate) fn find(look: &TextSources) -> SubAgents {
        let mut found = SubAgents::default();
        if let Some(settings) = &look.settings {
            found.below(&settings.join("agents"), Whose::Persons);
        }
        for place in look.home.iter().flat_map(|home| PLACES.iter().map(move |place| home.join(place))) {
            found.below(&place, Whose::Persons);
        }
        for text in BUILT_IN {
            found.add("", text, None, Whose::Ours);
        }
        for dir in look.dirs_up() {
            // A home that is itself the project was looked at as the person's.
            if let Some(root) = look.project.as_deref().filter(|_| look.home.as_deref() != Some(dir)) {
                for place in PLACES {
                    found.below(&dir.join(place), Whose::Projects { root });
                }
            }
        }
        found
    }

    /// The same with agents of other programs, as far as their names are free.
    pub(crate) fn with_others(mut self, others: Option<Vec<OtherAgent>>) -> SubAgents {
        for other in others.into_iter().flatten() {
            if self.all.len() >= MAX_AGENTS || self.named(&other.name).is_some() {
                continue;
            }
            let title: String = harmless::in_line(&other.title).chars().take(MAX_ABOUT).collect();
            self.all.push(SubAgent {
                name: other.name.clone(),
                about: format!("another program's agent ({title}); only where the person wants it"),
                role: String::new(),
                tools: None,
                without: Vec::new(),
                model: None,
                only_looks: false,
                apart: false,
                other: Some(other),
                notice: None,
            });
        }
        self
    }

    /// Who a call means; nobody where the model made the name up.
    pub(crate) fn named(&self, name: &str) -> Option<&SubAgent> {
        self.all.iter().find(|agent| agent.name == name)
    }

    /// In the order in which the model is offered them.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.all.iter().map(|agent| agent.name.as_str())
    }

    /// What the model is told of those that the tool itself does not name; nothing where there are none.
    pub(crate) fn listed(&self) -> Option<String> {
        let ours = |agent: &&SubAgent| BUILT_IN.iter().any(|text| named(text) == Some(agent.name.as_str()));
        let mut own = self.all.iter().filter(|agent| !ours(agent)).peekable();
        own.peek()?;
        let lines = own.map(|agent| format!("\n- {}: {}", agent.name, agent.about));
        Some(format!("\nFurther sub-agents for `{NAME}`:{}", lines.collect::<String>()))
    }

    fn below(&mut self, place: &Path, whose: Whose<'_>) {
        let Ok(entries) = fs::read_dir(place) else { return };
        let markdown = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "md");
        let mut files: Vec<PathBuf> =
            entries.flatten().take(MAX_ENTRIES).map(|entry| entry.path()).filter(markdown).collect();
        files.sort();
        let within = match whose {
            Whose::Projects { root } => Some(root),
            Whose::Ours | Whose::Persons => None,
        };
        for path in files {
            let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
            let Ok(text) = read_text(&path, within, MAX_BYTES) else { continue };
            self.add(stem, &text, Some(&path), whose);
        }
    }

    fn add(&mut self, stem: &str, text: &str, path: Option<&Path>, whose: Whose<'_>) {
        let (matter, body) =
            front_matter(text).unwrap_or_else(|_| (BTreeMap::new(), text.trim_start_matches('\u{feff}')));
        let name = matter.get("name").filter(|name| !name.is_empty()).map_or(stem, String::as_str);
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let fits = !name.is_empty() && name.chars().count() <= MAX_NAME && name.chars().all(plain);
        let about = matter.get("description").map(String::as_str).unwrap_or_default();
        if !fits || about.is_empty() || self.all.len() >= MAX_AGENTS || self.named(name).is_some() {
            return;
        }
        let mut ignored: Vec<String> = matter
            .keys()
            .filter(|key| !READ.contains(&key.as_str()) && !IDLE.contains(&key.as_str()))
            .cloned()
            .collect();
        let wanted = matter.get("model").filter(|model| !model.is_empty() && *model != INHERIT);
        let model = wanted.filter(|_| whose == Whose::Persons).cloned();
        if wanted.is_some() && model.is_none() {
            ignored.push("model".to_owned());
        }
        let place = path.map(path_text::write).unwrap_or_default();
        let notice = (!ignored.is_empty()).then(|| {
            format!(
                "{} in {place} counts for nothing here: your mode, your rules and your model are used.",
                ignored.join(", ")
            )
        });
        self.all.push(SubAgent {
            name: name.to_owned(),
            about: about.chars().take(MAX_ABOUT).collect(),
            role: body.trim().to_owned(),
            tools: matter.get("tools").map(|tools| listed_names(tools)),
            without: matter.get("disallowedTools").map(|tools| listed_names(tools)).unwrap_or_default(),
            model,
            // The tool says so of the name, whoever wrote its file.
            only_looks: name == LOOKS,
            apart: matter.get(ISOLATION).is_some_and(|word| word == WORKTREE),
            other: None,
            notice,
        });
    }
}

/// The name in a file's head.
fn named(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("name: "))
}

/// Names of tools as they are written in one line, or as a list below it. One with conditions of its own (`Bash(git log:*)`) is left out:
/// the whole tool would be more than it says.
fn listed_names(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut words = vec![String::new()];
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let ends = depth == 0 && (c == ',' || c.is_whitespace() || matches!(c, '[' | ']' | '"' | '\''));
        match (ends, words.last_mut()) {
            (true, _) => words.push(String::new()),
            (false, Some(word)) => word.push(c),
            (false, None) => {}
        }
    }
    words.retain(|word| !word.is_empty() && word != "-" && !word.contains('('));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(project: &Path, home: &Path) -> TextSources {
        TextSources::new(Some(project), project, Some(home.to_owned()), None)
    }

    fn put(dir: &Path, name: &str, text: &str) {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn a_project_takes_nobodys_place_and_chooses_no_model() {
        let (project, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let agent = |name: &str, more: &str, body: &str| {
            format!("---\nname: {name}\ndescription: about {name}\n{more}---\n{body}\n")
        };
        put(
            home.path(),
            ".claude/agents/mine.md",
            &agent("mine", "model: fast\ntools: Read, Grep\n", "mine"),
        );
        put(project.path(), ".claude/agents/mine.md", &agent("mine", "", "theirs"));
        put(project.path(), ".parlor/agents/explore.md", &agent("explore", "tools: Bash\n", "run it all"));
        put(
            project.path(),
            ".claude/agents/their.md",
            &agent(
                "their",
                "model: dear\npermissionMode: bypassPermissions\ntools:\n  - Read\n  - Bash(git:*)\n",
                "t",
            ),
        );
        put(project.path(), ".claude/agents/bad.md", "no head");
        let outside = home.path().join("outside.md");
        fs::write(&outside, agent("outside", "", "x")).unwrap();
        std::os::unix::fs::symlink(&outside, project.path().join(".claude/agents/out.md")).unwrap();
        let found = SubAgents::find(&look(project.path(), home.path()));
        assert_eq!(found.names().collect::<Vec<_>>(), ["mine", "explore", "general", "their"]);
        let mine = found.named("mine").unwrap();
        assert_eq!((mine.role.as_str(), mine.model.as_deref(), &mine.notice), ("mine", Some("fast"), &None));
        let explore = found.named("explore").unwrap();
        assert!(explore.only_looks && !explore.role.contains("run it all"));
        put(home.path(), ".claude/agents/explore.md", &agent("explore", "tools: Bash\n", "as I do it"));
        let own = SubAgents::find(&look(project.path(), home.path()));
        let own = own.named("explore").unwrap();
        assert!(own.only_looks && own.role == "as I do it", "the tool says that explore only looks");
        let their = found.named("their").unwrap();
        assert_eq!((&their.model, their.tools.as_deref()), (&None, Some(&["Read".to_owned()][..])));
        assert!(!their.only_looks);
        let notice = their.notice.as_deref().unwrap();
        assert!(notice.starts_with("permissionMode, model in "), "{notice}");
        let listed = found.listed().unwrap();
        assert!(listed.contains("- mine: about mine\n- their: about their"), "{listed}");
        assert!(!listed.contains("explore"), "the tool names those that are built in: {listed}");
    }

    #[test]
    fn names_of_tools_are_read_as_people_write_them() {
        for (text, names) in [
            ("Read, Grep", vec!["Read", "Grep"]),
            ("[Read, \"Grep\"]", vec!["Read", "Grep"]),
            ("- Read - mcp__a__b", vec!["Read", "mcp__a__b"]),
            ("Bash(git log:*, git diff:*), Read", vec!["Read"]),
            ("", vec![]),
        ] {
            assert_eq!(listed_names(text), names, "{text}");
        }
    }
}
