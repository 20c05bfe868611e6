//! How much of a repository's files is changed, in numbers. No name that a repository gives is in it.

use super::OwnGit;
use crate::sandbox::Guard;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// What `git status` counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GitState {
    pub staged: usize,
    pub changed: usize,
    pub untracked: usize,
    pub conflicted: usize,
    /// Commits that the upstream branch does not have, and that it has more.
    pub ahead: usize,
    pub behind: usize,
}

impl GitState {
    /// How it is in a folder; `None` where git does not say it in that time. Waits for git: call where blocking is allowed.
    pub fn of(folder: &Path, guard: Option<&Guard>, within: Duration) -> Option<GitState> {
        let git = OwnGit { within: Some(within), ..OwnGit::at(folder, guard) };
        let args = ["status", "--porcelain=v2", "--branch", "--no-renames", "--untracked-files=normal"];
        Some(GitState::read(&git.look(&args).ok()?))
    }

    fn read(status: &str) -> GitState {
        let mut state = GitState::default();
        for line in status.lines() {
            let mut words = line.split(' ');
            match words.next() {
                Some("1" | "2") => {
                    let mut how = words.next().unwrap_or_default().chars();
                    state.staged += usize::from(how.next().is_some_and(|index| index != '.'));
                    state.changed += usize::from(how.next().is_some_and(|file| file != '.'));
                }
                Some("u") => state.conflicted += 1,
                Some("?") => state.untracked += 1,
                Some("#") if words.next() == Some("branch.ab") => {
                    let mut number =
                        || words.next().and_then(|word| word.get(1..)?.parse().ok()).unwrap_or_default();
                    (state.ahead, state.behind) = (number(), number());
                }
                _ => {}
            }
        }
        state
    }
}

impl fmt::Display for GitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let files = [
            (self.staged, "staged"),
            (self.changed, "changed"),
            (self.untracked, "untracked"),
            (self.conflicted, "in conflict"),
        ];
        let words = |(count, what): &(usize, &str)| (*count > 0).then(|| format!("{count} {what}"));
        let files: Vec<String> = files.iter().filter_map(words).collect();
        match files.is_empty() {
            true => f.write_str("no file was changed")?,
            false => write!(f, "files {}", files.join(", "))?,
        }
        let commits = [(self.ahead, "ahead of"), (self.behind, "behind")];
        commits.iter().filter(|(count, _)| *count > 0).try_for_each(|(count, where_to)| {
            let many = if *count == 1 { "" } else { "s" };
            write!(f, ", {count} commit{many} {where_to} its upstream")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_git_counts_is_told_in_numbers() {
        let status = "# branch.oid abc\n# branch.head x\n# branch.upstream o/x\n# branch.ab +2 -1\n1 M. N... a\n1 .M N... b\n\
                      1 MM N... c\nu UU N... d\n? e\n? f\n! g\n";
        let state = GitState::read(status);
        assert_eq!(
            state.to_string(),
            "files 2 staged, 2 changed, 2 untracked, 1 in conflict, 2 commits ahead of its upstream, 1 commit behind its upstream"
        );
        assert_eq!(GitState::read("# branch.head x\n").to_string(), "no file was changed");
    }

    #[test]
    fn git_is_asked_and_runs_nothing_that_the_repository_names() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path().canonicalize().unwrap();
        let git = |args: &[&str]| {
            let mut command = Command::new("git");
            command.args(args).current_dir(&here).env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &here);
            assert!(command.output().unwrap().status.success(), "{args:?}");
        };
        git(&["init", "-q"]);
        std::fs::write(here.join("a"), "1").unwrap();
        git(&["add", "a"]);
        std::fs::write(here.join("a"), "2").unwrap();
        std::fs::write(here.join("b"), "").unwrap();
        let ran = here.join(".git/ran");
        let hook = format!("#!/bin/sh\ntouch '{}'\n", ran.display());
        std::fs::write(here.join("monitor"), hook).unwrap();
        git(&["config", "core.fsmonitor", "sh ./monitor"]);
        let state = GitState::of(&here, None, Duration::from_secs(60)).unwrap();
        assert_eq!((state.staged, state.changed, state.untracked), (1, 1, 2));
        assert!(!ran.exists());
        assert_eq!(GitState::of(&here.join("nowhere"), None, Duration::from_secs(60)), None);
    }
}
