//! Skills: `SKILL.md` files of the person and of the project, listed for the model and loaded when they are wanted.
//!
//! A skill is text for the model and allows nothing by itself. Invariants: the person's skill of a name is never replaced by a
//! project's; a project's file that leads out of the project is not read; everything is bounded. Reads files: call where
//! blocking is allowed.

mod matter;
mod tool;

use crate::text_sources::{TextSources, read_text};
use domain::ids::Millis;
use domain::session::{SkillEntry, SkillList};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

pub(crate) use matter::split as front_matter;
pub(crate) use tool::SkillTool;

/// Where skills lie, below the project, each directory on the way to it, and the home.
const PLACES: &[&str] = &[".parlor/skills", ".agents/skills", ".claude/skills"];
/// Most skills that are listed.
pub const MAX_SKILLS: usize = 200;
/// Most entries of one directory that are looked at.
const MAX_ENTRIES: usize = 1_000;
/// Bytes of one skill; a longer one is an error, since half of it could mislead.
pub const MAX_SKILL_BYTES: u64 = 256 * 1024;
/// Most skills that one prompt pulls in.
const MAX_PULLED: usize = 5;
/// Longest name, in characters.
const MAX_NAME: usize = 64;
/// Characters of a description that are kept.
const MAX_DESCRIPTION: usize = 1_024;

/// One skill that can be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skill {
    pub(crate) entry: SkillEntry,
    file: PathBuf,
    /// What the file must lie in: a project's may not lead elsewhere.
    within: Option<PathBuf>,
}

/// The skills that can be seen from a place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skills {
    pub(crate) all: Vec<Skill>,
    errors: Vec<(String, String)>,
    truncated: bool,
}

impl Skills {
    /// Looks for skills: the person's first, then the project's from the nearest directory up.
    pub(crate) fn find(look: &TextSources) -> Skills {
        let mut found = Skills::default();
        if let Some(home) = &look.home {
            found.below(home, None);
        }
        for dir in look.dirs_up() {
            // A home that is itself the project was looked at as the person's.
            if look.home.as_deref() != Some(dir) {
                found.below(dir, look.project.as_ref());
            }
        }
        found
    }

    /// The list as UIs get it.
    pub(crate) fn list(self) -> SkillList {
        let skills = self.all.into_iter().map(|skill| skill.entry).collect();
        SkillList { skills, errors: self.errors, truncated: self.truncated }
    }

    fn below(&mut self, dir: &Path, within: Option<&PathBuf>) {
        for place in PLACES {
            let Ok(entries) = fs::read_dir(dir.join(place)) else { continue };
            let mut files: Vec<PathBuf> =
                entries.flatten().take(MAX_ENTRIES).map(|entry| entry.path().join("SKILL.md")).collect();
            files.sort();
            for file in files.into_iter().filter(|file| file.exists()) {
                self.add(file, within);
            }
        }
    }

    fn add(&mut self, file: PathBuf, within: Option<&PathBuf>) {
        if self.all.len() >= MAX_SKILLS {
            self.truncated = true;
            return;
        }
        match read(file.clone(), within.cloned()) {
            Ok(skill) => match self.all.iter().find(|known| known.entry.name == skill.entry.name) {
                // The same file seen twice, for instance through a link, is no mistake.
                Some(known) if same_file(&known.file, &skill.file) => {}
                Some(known) => {
                    let why = format!("hidden by {}, which has the same name", known.entry.path);
                    self.errors.push((file.display().to_string(), why));
                }
                None => self.all.push(skill),
            },
            Err(why) => self.errors.push((file.display().to_string(), why)),
        }
    }

    /// The skills that a prompt names: `$name` or `/name` at the start of a word.
    pub(crate) fn named_in(&self, prompt: &str) -> Vec<&Skill> {
        let mut named: Vec<&Skill> = Vec::new();
        for word in prompt.split_whitespace() {
            let Some(rest) = word.strip_prefix(['$', '/']) else { continue };
            let name = rest.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
            let known = self.all.iter().find(|skill| skill.entry.name == name);
            if let Some(skill) = known.filter(|skill| !named.contains(skill)) {
                named.push(skill);
            }
        }
        named.truncate(MAX_PULLED);
        named
    }
}

impl Skill {
    /// The text, without its front matter, and where its other files are.
    pub(crate) fn load(&self) -> Result<String, String> {
        let text = read_text(&self.file, self.within.as_deref(), MAX_SKILL_BYTES)?;
        let (_, body) = matter::split(&text)?;
        let dir = self.file.parent().unwrap_or(Path::new("."));
        Ok(format!("Skill {} (its files are in {}):\n{}", self.entry.name, dir.display(), body.trim()))
    }
}

fn read(file: PathBuf, within: Option<PathBuf>) -> Result<Skill, String> {
    let text = read_text(&file, within.as_deref(), MAX_SKILL_BYTES)?;
    let (matter, _) = matter::split(&text)?;
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let name = match matter.get("name").filter(|name| !name.is_empty()) {
        Some(name) => name.clone(),
        None => folder.unwrap_or_default().to_owned(),
    };
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.chars().count() > MAX_NAME || !name.chars().all(plain) {
        return Err(format!(
            "`name` must be 1 to {MAX_NAME} letters, digits, `-`, `_` or `.`; it is {name:?}"
        ));
    }
    let description = matter.get("description").map(String::as_str).unwrap_or_default();
    if description.is_empty() {
        return Err("`description` is missing: the model could not know when to use it".to_owned());
    }
    let modified = fs::metadata(&file).and_then(|meta| meta.modified()).ok();
    let millis =
        modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |time| time.as_millis());
    let entry = SkillEntry {
        id: name.clone(),
        name,
        description: description.chars().take(MAX_DESCRIPTION).collect(),
        path: file.display().to_string(),
        from_project: within.is_some(),
        modified_at: Millis(u64::try_from(millis).unwrap_or(u64::MAX)),
    };
    Ok(Skill { entry, file, within })
}

fn same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
