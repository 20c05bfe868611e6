//! A git worktree and a branch of its own for a session (`--worktree`, `parlor worktrees`), so that what the agent does stays apart until the person merges it, keeps it or throws it away.
//!
//! Invariants: nothing that was done there is lost without a word of the person that says so, also not by a crash: the worktree is an
//! ordinary one of git's, and what Parlor knows of it lies in git's own records of it. Untracked files go along only when they are named,
//! and are never committed by us.

mod end;
mod git;
mod of_tasks;
mod others;

pub use end::{Merged, merge, remove};
pub use git::{Git, common_of};
pub use of_tasks::OfTasks;
pub use others::refuse_while_open;

use crate::error::usage;
use crate::kept;
use crate::launch::Launch;
use crate::{paths, settings, store_place};
use anyhow::Context;
use domain::path_text;
use hub::Log;
use serde_json::json;
use std::io::{BufReader, Read};
use std::path::{Component, Path, PathBuf};
use store::{SqliteStore, Store};
use tools::steering::linked_git;

/// Before the name of a worktree in that of its branch.
const BRANCHES: &str = "parlor/";
/// What Parlor knows of a worktree, in git's records of it.
const NOTE: &str = "parlor.json";
/// Longest name.
const MAX_NAME: usize = 64;
/// Names that are tried where none was given.
const MAX_NUMBER: u32 = 10_000;
/// Largest note that is read.
const MAX_NOTE: u64 = 64 * 1024;
/// Worktrees of a repository that are looked at.
const MAX_LISTED: usize = 1_000;
/// Files outside of git that are named.
const MAX_NAMED: usize = 5;

/// A worktree that Parlor made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worktree {
    pub name: String,
    /// Its folder.
    pub path: PathBuf,
    /// The branch that it began from, if it was one.
    pub base: Option<String>,
    /// The commit that it began from.
    start: String,
    /// Files that came along and belong to no commit.
    copied: Vec<String>,
}

impl Worktree {
    /// Made with it, and gone with it.
    pub fn branch(&self) -> String {
        format!("{BRANCHES}{}", self.name)
    }

    /// For the footer.
    pub fn shown(&self) -> String {
        format!("worktree {}", self.name)
    }
}

/// What a new worktree is to be called.
#[derive(Debug, Clone, Copy)]
enum Named<'a> {
    So(&'a str),
    /// By this word and the first number that is free.
    After(&'a str),
}

impl Named<'_> {
    fn of(asked: Option<&str>) -> Named<'_> {
        asked.map_or(Named::After("work"), Named::So)
    }
}

/// What is in a worktree that its beginning does not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Work {
    pub commits: usize,
    /// Files that are changed or new, and not committed.
    pub files: usize,
    /// What no merge takes over: ignored files and folders, and copies that are no longer what they were copied from.
    pub outside: Vec<String>,
}

impl Work {
    /// Whether nothing is lost with it.
    pub fn is_none(&self) -> bool {
        self.commits == 0 && self.files == 0 && self.outside.is_empty()
    }

    /// The part that is lost with the folder even when all is merged.
    pub fn outside_words(&self) -> String {
        let named: Vec<&str> = self.outside.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = match self.outside.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("{} outside of git ({}{more})", self.outside.len(), named.join(", "))
    }

    /// For lists and questions: what is nothing is left out.
    pub fn words(&self) -> String {
        let count =
            |count: usize, one: &str| if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") };
        let parts = [
            (self.commits > 0).then(|| format!("{} not merged", count(self.commits, "commit"))),
            (self.files > 0).then(|| format!("{} not committed", count(self.files, "file"))),
            (!self.outside.is_empty()).then(|| self.outside_words()),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "nothing in it yet".to_owned() } else { parts.join(", ") }
    }
}

/// A line about the other worktrees of the repository that is here, for the first screen; none where that cannot be known.
pub fn told_at_start(launch: &Launch) -> Vec<String> {
    let Ok(here) = paths::working_directory(launch) else { return Vec::new() };
    let others = common_of(&here).map(|common| all(&common)).unwrap_or_default();
    let others: Vec<Worktree> = others.into_iter().filter(|tree| !here.starts_with(&tree.path)).collect();
    // One line, however many there are: the first screen has other things to tell.
    let told = match &others[..] {
        [] => return Vec::new(),
        [tree] => format!(
            "worktree {} waits on branch {}: `parlor worktrees` tells what is in it",
            tree.name,
            tree.branch()
        ),
        [tree, ..] => {
            format!(
                "{} worktrees wait, {} first: `parlor worktrees` tells what is in them",
                others.len(),
                tree.name
            )
        }
    };
    vec![told]
}

/// Goes to the worktree that was asked for, which is made where it is not there yet, or to that of the session that is gone on with.
/// `launch` works there from then on.
///
/// # Errors
/// When it cannot be made, or what was asked does not go together.
pub fn enter(launch: &mut Launch, log: &Log) -> anyhow::Result<Option<Worktree>> {
    if launch.worktree.is_none() {
        if !launch.copy.is_empty() {
            return Err(usage("--copy goes with --worktree: it says what comes along there"));
        }
        return Ok(again(launch));
    }
    let Some(asked) = launch.worktree.clone() else { return Ok(None) };
    let here = paths::working_directory(launch)?;
    let git = Git::of(&here, log.clone()).map_err(|why| {
        usage(format!("--worktree: {why:#}\n\nhint: start it in a git repository, or leave --worktree out"))
    })?;
    let known = all(&git.common());
    let existing = asked.as_deref().and_then(|name| known.iter().find(|tree| tree.name == name));
    let tree = match existing {
        Some(tree) if launch.copy.is_empty() => tree.clone(),
        Some(tree) => {
            return Err(usage(format!(
                "--copy: the worktree {} is there already\n\nhint: copy the files yourself to {}",
                tree.name,
                path_text::write(&tree.path)
            )));
        }
        None => make(&git, Named::of(asked.as_deref()), &launch.copy)?,
    };
    // The same folder of the project, where it is there.
    let inner = here.strip_prefix(git.root()).unwrap_or(Path::new(""));
    let folder = tree.path.join(inner);
    launch.cwd = Some(if folder.is_dir() { folder } else { tree.path.clone() });
    launch.workspace = None;
    Ok(Some(tree))
}

/// The worktree of the session that is gone on with: it goes on there.
fn again(launch: &mut Launch) -> Option<Worktree> {
    let begins = launch.resume.as_ref().is_none_or(Option::is_none) && !launch.continue_last;
    // Which folder a session of a database works in is looked up when it is opened.
    if begins || launch.ephemeral || !store_place::database(launch).is_ok_and(|place| place.is_none()) {
        // Where we are may be one.
        let here = paths::working_directory(launch).ok()?;
        return holding(&here);
    }
    let data = paths::data().ok()?;
    let Ok(true) = SqliteStore::is_at(&data) else { return None };
    let store = SqliteStore::at(&data).ok()?;
    let work_dir = paths::work_dir(launch, &mut settings::read().config).ok()?;
    let session = kept::wanted(launch, &store, &paths::project(&work_dir)).ok()??;
    let cwd = path_text::read(&store.summary(&session).ok()?.cwd);
    let tree = holding(&cwd)?;
    if launch.cwd.is_none() {
        launch.cwd = Some(cwd);
    }
    Some(tree)
}

/// The worktree of Parlor's that holds a folder.
fn holding(folder: &Path) -> Option<Worktree> {
    let here = folder.canonicalize().ok()?;
    all(&common_of(&here)?).into_iter().find(|tree| here.starts_with(&tree.path))
}

/// Those that Parlor made in the repository whose `.git` this is, by name.
fn all(common: &Path) -> Vec<Worktree> {
    let entries =
        std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().take(MAX_LISTED);
    let mut all: Vec<Worktree> = entries.filter_map(|entry| read(&entry.path())).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

/// What git's records of a worktree say; `None` for one that somebody else made, or that is gone.
fn read(records: &Path) -> Option<Worktree> {
    let note = small(&records.join(NOTE))?;
    let note: serde_json::Value = serde_json::from_str(&note).ok()?;
    let text = |name: &str| note[name].as_str().map(str::to_owned);
    let name = text("name").filter(|name| refuse_name(name).is_none())?;
    // Somebody may have switched it to another branch: then it is theirs.
    let head = small(&records.join("HEAD"))?;
    head.trim().strip_prefix("ref: refs/heads/").filter(|branch| *branch == format!("{BRANCHES}{name}"))?;
    let dot = PathBuf::from(small(&records.join("gitdir"))?.trim());
    let path = dot.parent()?.canonicalize().ok()?;
    linked_git(&path)
        .filter(|linked| records.canonicalize().is_ok_and(|records| records == linked.records))?;
    let copied = note["copied"].as_array().into_iter().flatten();
    let copied = copied.filter_map(|file| file.as_str().map(str::to_owned)).collect();
    Some(Worktree { name, path, base: text("base"), start: text("start")?, copied })
}

/// A file of git's or ours that is small, as text.
fn small(file: &Path) -> Option<String> {
    let meta = file.symlink_metadata().ok()?;
    if meta.is_file() && meta.len() <= MAX_NOTE { std::fs::read_to_string(file).ok() } else { None }
}

/// Those that Parlor made in this repository, by name.
pub fn listed(git: &Git) -> Vec<Worktree> {
    all(&git.common())
}

/// The one of this name.
///
/// # Errors
/// When there is none.
pub fn find(git: &Git, name: &str) -> anyhow::Result<Worktree> {
    let all = all(&git.common());
    let names: Vec<String> = all.iter().map(|tree| tree.name.clone()).collect();
    all.into_iter().find(|tree| tree.name == name).ok_or_else(|| {
        let there = match names.as_slice() {
            [] => "there is none; parlor --worktree NAME makes one".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        usage(format!("there is no worktree of Parlor's called {name}\n\nhint: {there}"))
    })
}

/// Makes one beside the repository, on a branch of its own.
fn make(git: &Git, name: Named<'_>, copy: &[PathBuf]) -> anyhow::Result<Worktree> {
    let folder = folder(git.root())?;
    let name = match name {
        Named::So(name) => match refuse_name(name) {
            Some(why) => return Err(usage(format!("--worktree {name}: {why}"))),
            None => name.to_owned(),
        },
        Named::After(word) => free_name(git, &folder, word)?,
    };
    let (path, branch) = (folder.join(&name), format!("{BRANCHES}{name}"));
    let files = named(git.root(), copy)?;
    let start = git.find_commit("HEAD")?.context("there is no commit yet to begin from: make a first one")?;
    if git.commit(&format!("refs/heads/{branch}")).is_ok() {
        return Err(usage(format!(
            "the branch {branch} is there already, without a worktree\n\nhint: use another name, or `git branch -m {branch} OTHER`"
        )));
    }
    let base = git.branch();
    git.add(&path, &branch, &start)?;
    let path = path.canonicalize()?;
    let tree = Worktree { name, path, base, start, copied: files };
    // What is half made is taken away again: nobody has worked in it.
    if let Err(why) = equip(git, &tree) {
        let _ = git.remove(&tree.path, true);
        let _ = git.delete_branch(&tree.branch());
        return Err(why);
    }
    Ok(tree)
}

/// Notes what it is, and lets the named files come along.
fn equip(git: &Git, tree: &Worktree) -> anyhow::Result<()> {
    for file in &tree.copied {
        if let Some(link) = link_on_the_way(&tree.path, file) {
            anyhow::bail!(
                "--copy {file}: {} is a link in the last commit, and may lead out of the worktree; nothing was copied\nhint: leave this file out, or remove the link of git first",
                link.display()
            );
        }
    }
    let linked = linked_git(&tree.path).context("git does not tell where it keeps the worktree's records")?;
    let records = linked.records;
    let note = json!({ "name": tree.name, "base": tree.base, "start": tree.start, "copied": tree.copied });
    std::fs::write(records.join(NOTE), note.to_string())?;
    for file in &tree.copied {
        let (from, to) = (git.root().join(file), tree.path.join(file));
        tools::copy_exactly(&from, &to).with_context(|| format!("{file} could not be copied"))?;
    }
    Ok(())
}

/// The first link among a file below a folder and the folders on its way there: a repository may track links to anywhere.
fn link_on_the_way(folder: &Path, file: &str) -> Option<PathBuf> {
    let mut ways: Vec<&Path> =
        Path::new(file).ancestors().filter(|way| !way.as_os_str().is_empty()).collect();
    ways.reverse();
    ways.into_iter().find(|way| folder.join(way).is_symlink()).map(Path::to_owned)
}

/// Where worktrees lie: beside the repository. Inside it every tool would find their files twice.
fn folder(root: &Path) -> anyhow::Result<PathBuf> {
    let name = root.file_name().context("the repository is the root of the file system")?;
    let mut folder = name.to_owned();
    folder.push(".worktrees");
    Ok(root.with_file_name(folder))
}

fn free_name(git: &Git, folder: &Path, word: &str) -> anyhow::Result<String> {
    let is_free = |name: &String| {
        folder.join(name).symlink_metadata().is_err()
            && git.commit(&format!("refs/heads/{BRANCHES}{name}")).is_err()
    };
    (1..MAX_NUMBER)
        .map(|number| format!("{word}-{number}"))
        .find(is_free)
        .context("too many worktrees: name one with --worktree NAME")
}

/// Why this is no name, if so.
fn refuse_name(name: &str) -> Option<&'static str> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match name {
        _ if name.is_empty() || name.len() > MAX_NAME => Some("a name has 1 to 64 letters"),
        _ if !name.chars().all(fits) => Some("a name is of letters, digits, - _ and ."),
        _ if name.starts_with(['-', '.']) || name.ends_with('.') => {
            Some("a name begins and ends with a letter or digit")
        }
        _ if name.contains("..") || name.ends_with(".lock") => Some("git allows no such name"),
        _ => None,
    }
}

/// The files that come along, from the root of the project.
fn named(root: &Path, copy: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    copy.iter()
        .map(|file| {
            let wrong = |why: &str| usage(format!("--copy {}: {why}", file.display()));
            let plain =
                file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            if !plain {
                return Err(wrong("name a file of the project, from its root"));
            }
            let real = root.join(file).canonicalize().map_err(|why| wrong(&why.to_string()))?;
            if !real.starts_with(root) || !real.is_file() {
                return Err(wrong("it is no file of the project"));
            }
            let text = file.to_str().ok_or_else(|| wrong("its name is not UTF-8"))?;
            Ok(text.trim_start_matches("./").to_owned())
        })
        .collect()
}

/// What is in it that its base does not have.
///
/// # Errors
/// When git cannot tell.
pub fn work(git: &Git, tree: &Worktree) -> anyhow::Result<Work> {
    let inside = git.at(&tree.path);
    let base = tree.base.as_ref().map(|base| format!("refs/heads/{base}"));
    let since = base.filter(|base| git.commit(base).is_ok()).unwrap_or_else(|| tree.start.clone());
    let commits = inside.count(&since, &format!("refs/heads/{}", tree.branch()))?;
    let changed = inside.changed(&tree.copied)?;
    let copies = tree.copied.iter().filter(|file| differs(&tree.path.join(file), &git.root().join(file)));
    let outside = changed.ignored.into_iter().chain(copies.cloned()).collect();
    Ok(Work { commits, files: changed.files, outside })
}

/// Whether a copy has something that its original has not. One that cannot be compared may have.
fn differs(copy: &Path, original: &Path) -> bool {
    let Ok(meta) = copy.symlink_metadata() else { return false };
    let open = |file: &Path| std::fs::File::open(file).map(BufReader::new);
    if !meta.is_file() || original.metadata().map_or(true, |original| original.len() != meta.len()) {
        return true;
    }
    let (Ok(copy), Ok(original)) = (open(copy), open(original)) else { return true };
    !copy.bytes().zip(original.bytes()).all(|pair| matches!(pair, (Ok(one), Ok(other)) if one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_that_git_and_a_folder_take() {
        for name in ["a", "fix-login", "v1.2_x", &"x".repeat(64)] {
            assert_eq!(refuse_name(name), None, "{name}");
        }
        for name in ["", "-x", ".x", "a/b", "a b", "..", "a..b", "x.lock", "x.", "ä", &"x".repeat(65)] {
            assert!(refuse_name(name).is_some(), "{name}");
        }
    }

    #[test]
    fn work_is_told_in_words() {
        let words = |commits, files| Work { commits, files, outside: Vec::new() }.words();
        assert_eq!(words(0, 0), "nothing in it yet");
        assert_eq!(words(1, 0), "1 commit not merged");
        assert_eq!(words(2, 1), "2 commits not merged, 1 file not committed");
        let many = (0..7).map(|number| format!("{number}.log")).collect();
        let told = Work { commits: 0, files: 1, outside: many }.words();
        let named = "0.log, 1.log, 2.log, 3.log, 4.log and 2 more";
        assert_eq!(told, format!("1 file not committed, 7 outside of git ({named})"));
    }
}
