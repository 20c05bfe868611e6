//! The few things that are asked of git here. Each is one call of the person's own `git`, with a bound on what it may say.

use anyhow::Context;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tools::steering::linked_git;

/// Longest output that is read of git.
const MAX_SAID: usize = 16 * 1024 * 1024;

/// What no commit of a checkout has.
#[derive(Debug)]
pub(super) struct Changed {
    /// How many files are changed or new.
    pub(super) files: usize,
    /// Files and whole folders that git ignores.
    pub(super) ignored: Vec<String>,
}

/// A repository, seen from one of its checkouts.
#[derive(Debug)]
pub(super) struct Git {
    /// Where it was asked.
    here: PathBuf,
    /// The root of the main checkout.
    root: PathBuf,
}

impl Git {
    /// The repository of a folder, whether that lies in its main checkout or in a worktree.
    pub(super) fn of(folder: &Path) -> anyhow::Result<Git> {
        let here = folder.canonicalize()?;
        let common = common_of(&here).context("this is no checkout of a git repository")?;
        // A bare repository has no files to work on.
        let root =
            common.parent().filter(|_| common.ends_with(".git")).context("the repository is a bare one")?;
        Ok(Git { root: root.to_owned(), here })
    }

    /// One checkout, for what is asked about it alone.
    pub(super) fn at(folder: &Path) -> Git {
        Git { here: folder.to_owned(), root: folder.to_owned() }
    }

    /// The `.git` of the repository.
    pub(super) fn common(&self) -> PathBuf {
        self.root.join(".git")
    }

    /// Where the person's own checkout is.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// What git says; an error is what it says on stderr.
    fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> anyhow::Result<String> {
        let output = Command::new("git")
            .args(["-c", "core.quotepath=false"])
            .args(args)
            .current_dir(&self.here)
            .stdin(Stdio::null())
            .output()
            .context("git could not be started; is it installed?")?;
        let words = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_SAID)]).into_owned();
        if output.status.success() {
            return Ok(words(&output.stdout));
        }
        let (err, out) = (words(&output.stderr), words(&output.stdout));
        let why = if err.trim().is_empty() { out } else { err };
        anyhow::bail!("git: {}", why.trim().trim_start_matches("fatal: "))
    }

    /// The commit that a name stands for.
    pub(super) fn commit(&self, name: &str) -> anyhow::Result<String> {
        let commit = self.run(&["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")])?;
        Ok(commit.trim().to_owned())
    }

    /// The branch that is checked out here.
    pub(super) fn branch(&self) -> Option<String> {
        let branch = self.run(&["symbolic-ref", "--quiet", "--short", "HEAD"]).ok()?;
        Some(branch.trim().to_owned()).filter(|branch| !branch.is_empty())
    }

    /// A new worktree on a new branch.
    pub(super) fn add(&self, path: &Path, branch: &str, start: &str) -> anyhow::Result<()> {
        let args: [&OsStr; 8] = [
            "worktree".as_ref(),
            "add".as_ref(),
            "--quiet".as_ref(),
            "-b".as_ref(),
            branch.as_ref(),
            "--".as_ref(),
            path.as_ref(),
            start.as_ref(),
        ];
        self.run(&args).map(|_| ())
    }

    /// How many commits one has that the other has not.
    pub(super) fn count(&self, since: &str, tip: &str) -> anyhow::Result<usize> {
        let count = self.run(&["rev-list", "--count", &format!("{since}..{tip}"), "--"])?;
        Ok(count.trim().parse()?)
    }

    /// What no commit has, but for these files.
    pub(super) fn changed(&self, but: &[String]) -> anyhow::Result<Changed> {
        let said = self.run(&[
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            // A folder that is ignored as a whole is one entry, however much was built in it.
            "--ignored=matching",
        ])?;
        let mut changed = Changed { files: 0, ignored: Vec::new() };
        let mut fields = said.split('\0');
        while let Some(field) = fields.next() {
            let file = field.get(3..).filter(|file| !file.is_empty());
            if let Some(file) = file.filter(|file| !but.iter().any(|but| but == file)) {
                if !field.starts_with("!!") {
                    changed.files += 1;
                } else if self.holds_more(file, but)? {
                    changed.ignored.push(file.to_owned());
                }
            }
            // What was moved is followed by what it was called.
            if field.starts_with(['R', 'C']) {
                fields.next();
            }
        }
        Ok(changed)
    }

    /// Whether an ignored entry is more than a folder of these files.
    fn holds_more(&self, entry: &str, than: &[String]) -> anyhow::Result<bool> {
        if !entry.ends_with('/') || !than.iter().any(|file| file.starts_with(entry)) {
            return Ok(true);
        }
        let said = self.run(&["ls-files", "-z", "--others", "--", &format!(":(top,literal){entry}")])?;
        Ok(said.split('\0').any(|held| !held.is_empty() && !than.iter().any(|file| file == held)))
    }

    /// Commits everything but these files.
    pub(super) fn commit_all(&self, but: &[String], message: &str) -> anyhow::Result<()> {
        // Git refuses a pathspec that names an ignored file, even to leave it out; it leaves those out by itself.
        let listing = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"];
        let named = but.iter().map(|file| format!(":(top,literal){file}"));
        let asked: Vec<String> = listing.into_iter().map(str::to_owned).chain(named).collect();
        let ignored = if but.is_empty() { String::new() } else { self.run(&asked)? };
        let but = but.iter().filter(|file| !ignored.split('\0').any(|ignored| ignored == **file));
        let mut add = vec!["add".to_owned(), "--all".to_owned()];
        add.extend(all_but(but));
        self.run(&add)?;
        self.run(&["commit", "--quiet", "-m", message]).map(|_| ())
    }

    /// Merges a branch into what is checked out here; what cannot be merged is left as it was.
    pub(super) fn merge(&self, branch: &str) -> anyhow::Result<()> {
        let merged = self.run(&["merge", "--quiet", "--no-edit", branch]);
        if merged.is_err() && self.commit("MERGE_HEAD").is_ok() {
            let _ = self.run(&["merge", "--abort"]);
        }
        merged.map(|_| ())
    }

    /// Removes a worktree, with what is not committed in it if `discard`.
    pub(super) fn remove(&self, path: &Path, discard: bool) -> anyhow::Result<()> {
        let force: &[&OsStr] = if discard { &["--force".as_ref()] } else { &[] };
        let args =
            [&["worktree".as_ref(), "remove".as_ref()][..], force, &["--".as_ref(), path.as_ref()]].concat();
        self.run(&args).map(|_| ())
    }

    /// Merged or not: whoever calls this has asked.
    pub(super) fn delete_branch(&self, branch: &str) -> anyhow::Result<()> {
        self.run(&["branch", "--quiet", "-D", "--", branch]).map(|_| ())
    }
}

/// The `.git` of the repository that a folder belongs to. Read, not asked: it is looked for at every start.
pub(super) fn common_of(folder: &Path) -> Option<PathBuf> {
    let holds = |dir: &Path| match dir.join(".git").symlink_metadata() {
        Ok(meta) if meta.is_dir() => Some(dir.join(".git")),
        Ok(_) => linked_git(dir).map(|linked| linked.common),
        Err(_) => None,
    };
    folder.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok()).and_then(holds)
}

/// A pathspec of everything but these files.
fn all_but<'a>(files: impl Iterator<Item = &'a String>) -> Vec<String> {
    let but = files.map(|file| format!(":(top,exclude,literal){file}"));
    ["--".to_owned(), ":/".to_owned()].into_iter().chain(but).collect()
}
