//! The files of a workspace that steer programs (`domain::steering` has their names): where they lie, and which of them a command may not
//! touch.
//!
//! Found by a walk that goes down level by level and ends somewhere: what lies deeper than it got is not protected. Folders that hold
//! what was installed or built are passed over: nobody opens them as a project of their own.

pub(crate) mod compare;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Entries that one walk looks at.
pub const MAX_WALKED: usize = 50_000;
/// Places that are locked; those past it are only compared.
const MAX_LOCKS: usize = 256;
/// Folders of installed or built things.
const HEAVY: &[&str] = &["node_modules", ".venv", "__pycache__", ".tox", ".mypy_cache", ".pytest_cache"];
/// What cargo builds lies there, beside this file.
const BUILT: (&str, &str) = ("target", "Cargo.toml");
/// Parts of a repository that make git run something or obey somebody.
const GIT: &[&str] = &["hooks", "config", "config.worktree", "info", "commondir"];
/// Parts of a repository that hold more repositories.
const GIT_MORE: &[&str] = &["modules", "worktrees"];
/// Of yarn's folder only this is run; the rest is a cache that it writes.
const YARN: (&str, &[&str]) = (".yarn", &["releases", "plugins", "sdks"]);

/// Whether a person agreed that git writes its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    /// They did: `.git` is open but for what makes git run something. What git checks out may steer too, so that is left to comparison.
    Agreed,
    /// They did not.
    Not,
}

/// The places below `root` that steer: files, and folders as a whole. Also tells whether the walk ended before it was through.
pub fn places(root: &Path) -> (Vec<PathBuf>, bool) {
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([root.to_owned()]);
    let mut walked = 0;
    while let Some(folder) = waiting.pop_front() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            walked += 1;
            if walked > MAX_WALKED {
                found.sort();
                return (found, true);
            }
            let name = entry.file_name();
            let text = name.to_string_lossy();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if domain::steering::part([&*text]).is_some() {
                found.push(entry.path());
            } else if is_folder && !is_heavy(&folder, &text) {
                waiting.push_back(entry.path());
            }
        }
    }
    found.sort();
    (found, false)
}

fn is_heavy(folder: &Path, name: &str) -> bool {
    HEAVY.contains(&name) || name == BUILT.0 && folder.join(BUILT.1).exists()
}

/// What a command in `root` may not write, and what it may write but not move: for [`crate::sandbox::Leash`].
pub fn locks(root: &Path, commits: Commits) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut locked, mut pinned) = (Vec::new(), Vec::new());
    for place in places(root).0 {
        let name =
            place.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        match commits {
            Commits::Agreed if name == ".git" && place.is_dir() => {
                locked.extend(parts_of_git(&place));
                pinned.push(place);
            }
            Commits::Agreed => {}
            Commits::Not if name == YARN.0 => {
                locked.extend(YARN.1.iter().map(|part| place.join(part)).filter(|part| part.exists()));
            }
            Commits::Not => locked.push(place),
        }
    }
    locked.truncate(MAX_LOCKS);
    pinned.truncate(MAX_LOCKS);
    (locked, pinned)
}

/// The parts of a repository, and of those inside it, that make git run something.
fn parts_of_git(git: &Path) -> Vec<PathBuf> {
    let mut repositories = vec![git.to_owned()];
    for more in GIT_MORE {
        let inner = std::fs::read_dir(git.join(more)).into_iter().flatten().flatten().take(MAX_LOCKS);
        repositories.extend(inner.map(|entry| entry.path()));
    }
    let parts = repositories.iter().flat_map(|repository| GIT.iter().map(|part| repository.join(part)));
    parts.filter(|part| part.symlink_metadata().is_ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for file in files {
            std::fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            std::fs::write(root.join(file), "").unwrap();
        }
        (dir, root)
    }

    fn below(root: &Path, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect()
    }

    #[test]
    fn what_steers_is_found_at_any_depth_but_not_in_what_was_installed() {
        let (_dir, root) = workspace(&[
            ".git/config",
            "a/b/c/AGENTS.md",
            "node_modules/x/.npmrc",
            "Cargo.toml",
            "target/.npmrc",
            "a/target/.npmrc",
            "src/main.rs",
            ".GITHUB/workflows/ci.yml",
        ]);
        let (found, cut) = places(&root);
        assert_eq!(below(&root, &found), [".GITHUB", ".git", "a/b/c/AGENTS.md", "a/target/.npmrc"]);
        assert!(!cut);
    }

    #[test]
    fn with_an_agreement_git_writes_its_records_but_not_what_it_runs() {
        let files = [
            ".git/config",
            ".git/hooks/x",
            ".git/index",
            ".git/modules/m/config",
            ".yarn/cache/x",
            ".yarn/releases/y",
            ".envrc",
        ];
        let (_dir, root) = workspace(&files);
        let (locked, pinned) = locks(&root, Commits::Not);
        assert_eq!(below(&root, &locked), [".envrc", ".git", ".yarn/releases"]);
        assert!(pinned.is_empty());
        let (locked, pinned) = locks(&root, Commits::Agreed);
        assert_eq!(below(&root, &locked), [".git/hooks", ".git/config", ".git/modules/m/config"]);
        assert_eq!(below(&root, &pinned), [".git"]);
    }
}
