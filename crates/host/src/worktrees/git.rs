//! The few things that are asked of git here. Each is one call of the person's own `git` as Parlor runs it (`tools::own_git`): it runs
//! nothing that the repository names, and what that leaves out is told.

use crate::guard;
use crate::settings;
use anyhow::Context;
use hub::Log;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use tools::own_git::{GitDeed, OwnGit};
use tools::steering::linked_git;

/// How a submodule stands in the index, before its name.
const SUBMODULE: &str = "160000 ";

/// What no commit of a checkout has.
#[derive(Debug)]
pub(super) struct Changed {
    /// How many files are changed or new.
    pub(super) files: usize,
    /// Files and whole folders that git ignores.
    pub(super) ignored: Vec<String>,
}

/// A repository, seen from one of its checkouts.
pub struct Git {
    git: OwnGit,
    /// The root of the main checkout.
    root: PathBuf,
    /// Where it is told what git did not run.
    log: Log,
}

impl Git {
    /// The repository of a folder, whether that lies in its main checkout or in a worktree.
    ///
    /// # Errors
    /// When it belongs to none, or to a bare one.
    pub fn of(folder: &Path, log: Log) -> anyhow::Result<Git> {
        let here = folder.canonicalize()?;
        let common =
            common_of(&here).context("this is no checkout of a git repository; `git init` makes one")?;
        // A bare repository has no files to work on.
        let root =
            common.parent().filter(|_| common.ends_with(".git")).context("the repository is a bare one")?;
        let guard = guard::of(&settings::read().config);
        Ok(Git { root: root.to_owned(), git: OwnGit::at(&here, guard.as_ref()), log })
    }

    /// One checkout of it, for what is asked about that alone.
    pub(super) fn at(&self, folder: &Path) -> Git {
        Git { git: self.git.elsewhere(folder), root: folder.to_owned(), log: self.log.clone() }
    }

    /// The `.git` of the repository.
    pub(super) fn common(&self) -> PathBuf {
        self.root.join(".git")
    }

    /// Where the person's own checkout is.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// What git says to a question; an error is what it says on stderr.
    fn look<S: AsRef<OsStr>>(&self, args: &[S]) -> anyhow::Result<String> {
        self.git.look(args).map_err(|why| anyhow::anyhow!("git: {why}"))
    }

    /// Has git change something.
    fn write<S: AsRef<OsStr>>(&self, args: &[S]) -> anyhow::Result<()> {
        self.git.write(args).map(|_| ()).map_err(|why| anyhow::anyhow!("git: {why}"))
    }

    /// Tells the person what git would have run for a deed and did not.
    pub(super) fn tell_left_out(&self, deed: GitDeed) {
        let left = self.git.left_out(deed).unwrap_or_default();
        if !left.is_empty() {
            (self.log)(&format!(
                "note: Parlor's git runs no programs that settings of git name; left out here: {}",
                left.join(", ")
            ));
        }
    }

    /// The commit that a name stands for.
    pub(super) fn commit(&self, name: &str) -> anyhow::Result<String> {
        self.find_commit(name)?.with_context(|| format!("git: there is no commit {name}"))
    }

    /// The commit that a name stands for, if it stands for one.
    pub(super) fn find_commit(&self, name: &str) -> anyhow::Result<Option<String>> {
        let name = format!("{name}^{{commit}}");
        match self.git.look(&["rev-parse", "--verify", "--quiet", &name]) {
            Ok(commit) => Ok(Some(commit.trim().to_owned())),
            // So it says that there is none; whatever else is wrong it tells.
            Err(why) if why.is_empty() => Ok(None),
            Err(why) => Err(anyhow::anyhow!("git: {why}")),
        }
    }

    /// The branch that is checked out here.
    pub(super) fn branch(&self) -> Option<String> {
        let branch = self.look(&["symbolic-ref", "--quiet", "--short", "HEAD"]).ok()?;
        Some(branch.trim().to_owned()).filter(|branch| !branch.is_empty())
    }

    /// A new worktree on a new branch.
    pub(super) fn add(&self, path: &Path, branch: &str, start: &str) -> anyhow::Result<()> {
        let args: [&OsStr; 9] = [
            "worktree".as_ref(),
            "add".as_ref(),
            "--quiet".as_ref(),
            "--no-checkout".as_ref(),
            "-b".as_ref(),
            branch.as_ref(),
            "--".as_ref(),
            path.as_ref(),
            start.as_ref(),
        ];
        self.write(&args)?;
        // From inside: settings may hold for this branch or this folder alone, and are read there before files are checked out.
        let inside = self.at(path);
        let filled = inside.write(&["reset", "--hard", "--quiet", "--no-recurse-submodules"]);
        match filled {
            Ok(()) => {
                let _ = inside.git.take_note();
                inside.tell_left_out(GitDeed::CheckOut);
            }
            Err(_) => {
                let _ = self.remove(path, true);
                let _ = self.delete_branch(branch);
            }
        }
        filled
    }

    /// How many commits one has that the other has not.
    pub(super) fn count(&self, since: &str, tip: &str) -> anyhow::Result<usize> {
        let count = self.look(&["rev-list", "--count", &format!("{since}..{tip}"), "--"])?;
        Ok(count.trim().parse()?)
    }

    /// What no commit has, but for these files.
    pub(super) fn changed(&self, but: &[String]) -> anyhow::Result<Changed> {
        let said = self.look(&[
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            // A folder that is ignored as a whole is one entry, however much was built in it.
            "--ignored=matching",
            // Git would start itself in each of them and obey what it finds there.
            "--ignore-submodules=all",
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
        changed.ignored.extend(self.submodules()?);
        Ok(changed)
    }

    /// The submodules that were fetched here: what is in them is known to nobody else.
    fn submodules(&self) -> anyhow::Result<Vec<String>> {
        let said = self.look(&["ls-files", "-z", "--stage", "--", ":/"])?;
        let all = said.split('\0').filter(|entry| entry.starts_with(SUBMODULE));
        let names = all.filter_map(|entry| entry.split_once('\t')).map(|(_, name)| name);
        let there = |name: &&str| self.root.join(name).join(".git").symlink_metadata().is_ok();
        Ok(names.filter(there).map(str::to_owned).collect())
    }

    /// Whether an ignored entry is more than a folder of these files.
    fn holds_more(&self, entry: &str, than: &[String]) -> anyhow::Result<bool> {
        if !entry.ends_with('/') || !than.iter().any(|file| file.starts_with(entry)) {
            return Ok(true);
        }
        let said = self.look(&["ls-files", "-z", "--others", "--", &format!(":(top,literal){entry}")])?;
        Ok(said.split('\0').any(|held| !held.is_empty() && !than.iter().any(|file| file == held)))
    }

    /// Commits everything but these files.
    pub(super) fn commit_all(&self, but: &[String], message: &str) -> anyhow::Result<()> {
        // Git refuses a pathspec that names an ignored file, even to leave it out; it leaves those out by itself.
        let listing = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"];
        let named = but.iter().map(|file| format!(":(top,literal){file}"));
        let asked: Vec<String> = listing.into_iter().map(str::to_owned).chain(named).collect();
        let ignored = if but.is_empty() { String::new() } else { self.look(&asked)? };
        let but = but.iter().filter(|file| !ignored.split('\0').any(|ignored| ignored == **file));
        if let Some(name) = self.submodules()?.first() {
            anyhow::bail!("{name} is a separate repository: commit there and here by hand");
        }
        let new =
            self.look(&["ls-files", "-z", "--modified", "--others", "--exclude-standard", "--", ":/"])?;
        self.refuse_unfiltered(&new)?;
        let mut add = vec!["add".to_owned(), "--all".to_owned()];
        add.extend(all_but(but));
        self.write(&add)?;
        // A file that only looked changed, by its time, is none any more.
        if self.look(&["diff", "--cached", "--quiet", "HEAD"]).is_ok() {
            return Ok(());
        }
        self.write(&["commit", "--quiet", "-m", message])?;
        self.tell_left_out(GitDeed::Commit);
        Ok(())
    }

    /// Refuses what would be kept or written as it is, without the filter of the repository's that it should go through.
    fn refuse_unfiltered(&self, names: &str) -> anyhow::Result<()> {
        let names: Vec<String> =
            names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let found = self.git.unfiltered(&names).map_err(|why| anyhow::anyhow!("git: {why}"))?;
        match found {
            None => Ok(()),
            Some((file, filter)) => anyhow::bail!(
                "{file} goes through the filter {filter} of this repository's settings, which Parlor does not run: do it by hand"
            ),
        }
    }

    /// Merges a branch into what is checked out here; what cannot be merged is left as it was.
    pub fn merge(&self, branch: &str) -> anyhow::Result<()> {
        if self.commit(branch)? != self.commit(&format!("refs/heads/{branch}"))? {
            anyhow::bail!("something else is called {branch}, too: rename that tag or ref first");
        }
        let names = ["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let changed = self.look(&[&names[..], &[&format!("HEAD...{branch}"), "--"]].concat())?;
        self.refuse_unfiltered(&changed)?;
        // Said in full: no setting says that the work is to be taken over in another way, or not at all.
        let how = ["merge", "--quiet", "--no-edit", "--commit", "--no-squash", "--no-gpg-sign"];
        let merged = self.write(&[&how[..], &[branch]].concat());
        if merged.is_err() && self.commit("MERGE_HEAD").is_ok() {
            let _ = self.write(&["merge", "--abort"]);
        }
        self.tell_left_out(GitDeed::Merge);
        merged
    }

    /// Whether what is checked out here has all commits of a branch, and no merge is left open.
    pub(super) fn has_merged(&self, branch: &str) -> bool {
        let tip = format!("refs/heads/{branch}");
        self.commit("MERGE_HEAD").is_err()
            && self.look(&["merge-base", "--is-ancestor", &tip, "HEAD"]).is_ok()
    }

    /// Removes a worktree, with what is not committed in it if `discard`.
    pub fn remove(&self, path: &Path, discard: bool) -> anyhow::Result<()> {
        let force: &[&OsStr] = if discard { &["--force".as_ref()] } else { &[] };
        let args =
            [&["worktree".as_ref(), "remove".as_ref()][..], force, &["--".as_ref(), path.as_ref()]].concat();
        self.write(&args)
    }

    /// Merged or not: whoever calls this has asked.
    pub(super) fn delete_branch(&self, branch: &str) -> anyhow::Result<()> {
        self.write(&["branch", "--quiet", "-D", "--", branch])
    }
}

/// The `.git` of the repository that a folder belongs to. Read, not asked: it is looked for at every start.
pub fn common_of(folder: &Path) -> Option<PathBuf> {
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
