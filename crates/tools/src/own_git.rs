//! Git as Parlor itself runs it: for a worktree, for what differs from the last commit. What the model runs is judged elsewhere
//! (`shell`).
//!
//! Always: nothing that a repository names is run. Git that only looks runs in the leash for looking, where the kernel can hold one; git
//! that writes runs outside of it, since it writes to the repository and checks files out. Both run with hooks, fsmonitor, signing,
//! filters and merge drivers off, and with a cleaned environment. Filters and drivers of the person's own settings (Git LFS) stay on for
//! git that writes, as long as the repository's settings are all known to be harmless: a program of the person's may obey those, too.

mod blobs;
mod child;
mod state;
mod switches;

use crate::env;
use crate::sandbox::{Guard, Leash, handed_on};
use crate::shell::git_word;
pub(crate) use blobs::hex;
pub use state::GitState;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use switches::Switches;

/// How long git may take to look.
const MAX_LOOK: Duration = Duration::from_secs(60);
/// How long git may take to write: a checkout may be large, and a filter of the person's may fetch what it writes.
const MAX_WRITE: Duration = Duration::from_secs(60 * 60);
/// How far the clock of files may be behind the other one.
const CLOCK_LAG: Duration = Duration::from_millis(20);
/// Places beside a repository where it keeps objects, as far as they are looked at.
const MAX_ALTERNATES: usize = 32;
/// Variables of the person's that git needs beside the usual ones: who commits, and where the person's own settings are.
const PERSON: &[&str] = &[
    "EMAIL",
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_SYSTEM",
];

/// What git is about to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Tells its settings: it runs nothing for that, and the leash would hide some of them.
    Settings,
    Looks,
    Writes,
}

/// What git was wanted for, where the person may count on a program that runs along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitDeed {
    CheckOut,
    Commit,
    Merge,
    Remove,
}

impl GitDeed {
    fn hooks(self) -> &'static [&'static str] {
        match self {
            GitDeed::CheckOut => &["post-checkout", "reference-transaction"],
            GitDeed::Commit => {
                &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction"]
            }
            GitDeed::Merge => &[
                "pre-merge-commit",
                "prepare-commit-msg",
                "commit-msg",
                "post-merge",
                "reference-transaction",
            ],
            GitDeed::Remove => &["reference-transaction"],
        }
    }
}

/// The person's own `git` in one folder, started by Parlor.
#[derive(Debug)]
pub struct OwnGit {
    here: PathBuf,
    guard: Option<Guard>,
    /// How long it may take to look, where that is less than usual.
    within: Option<Duration>,
    /// What the settings that count here make git run. Read once: whoever works in one folder for long makes another of this.
    switches: OnceLock<Result<Switches, String>>,
}

impl OwnGit {
    /// Git in a folder; `guard` is what holds it while it looks.
    pub fn at(here: &Path, guard: Option<&Guard>) -> OwnGit {
        let guard = guard.filter(|guard| guard.holds()).cloned();
        OwnGit { here: here.to_owned(), guard, within: None, switches: OnceLock::new() }
    }

    /// The same git in another folder.
    #[must_use]
    pub fn elsewhere(&self, here: &Path) -> OwnGit {
        OwnGit { guard: self.guard.clone(), within: self.within, ..OwnGit::at(here, None) }
    }

    /// What git says to a question that changes nothing.
    ///
    /// # Errors
    /// When git is not there, says no (in its own words) or takes too long.
    pub fn look<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, String> {
        self.run(Does::Looks, args)
    }

    /// What git says when it has changed something.
    ///
    /// # Errors
    /// When git is not there, says no (in its own words) or takes too long.
    pub fn write<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, String> {
        self.run(Does::Writes, args)
    }

    /// Has git take note of files that it has just written through filters of the person's: as long as it has not, it compares them by
    /// their contents, and a look, which has no filters, finds others.
    ///
    /// # Errors
    /// When git is not there, says no or takes too long.
    pub fn take_note(&self) -> Result<(), String> {
        if self.switches()?.has_own_filters() {
            self.wait_for_next_second();
            self.write(&["status", "--porcelain", "--untracked-files=no"])?;
        }
        Ok(())
    }

    /// Git knows times by the second. Of a file that was written in the second of its index it cannot tell whether it changed since, and
    /// compares it by its contents for as long as that index is the last one.
    fn wait_for_next_second(&self) {
        let index = self.repository().first().map(|records| records.join("index"));
        let Some(written) = index.and_then(|index| index.metadata().ok()?.modified().ok()) else { return };
        let since = written.duration_since(UNIX_EPOCH).unwrap_or_default();
        let next = UNIX_EPOCH + Duration::from_secs(since.as_secs() + 1) + CLOCK_LAG;
        // A file of the future is not waited for.
        let wait = next.duration_since(SystemTime::now()).unwrap_or_default();
        std::thread::sleep(wait.min(Duration::from_secs(1) + CLOCK_LAG));
    }

    /// What git would have run here for a deed and did not: for the person, who may count on it.
    ///
    /// # Errors
    /// When the settings cannot be read.
    pub fn left_out(&self, deed: GitDeed) -> Result<Vec<String>, String> {
        let switches = self.switches()?;
        let mut left = switches.left_out(deed);
        let named = switches.hooks.as_ref().zip(self.top()).map(|(hooks, top)| top.join(hooks));
        let folder = named.or_else(|| Some(self.repository().pop()?.join("hooks")));
        let there = |hook: &&&str| folder.as_ref().is_some_and(|folder| is_program(&folder.join(hook)));
        left.extend(deed.hooks().iter().filter(there).map(|hook| format!("hook {hook}")));
        Ok(left)
    }

    /// One of these files that goes through a filter which is off here, with the filter's name: git would keep or write it as it is
    /// without the filter.
    ///
    /// # Errors
    /// When git does not tell.
    pub fn unfiltered(&self, files: &[String]) -> Result<Option<(String, String)>, String> {
        /// How many files are asked about at once: a command line has a bound.
        const AT_ONCE: usize = 200;
        let off = &self.switches()?.filters;
        if off.is_empty() {
            return Ok(None);
        }
        for files in files.chunks(AT_ONCE) {
            let lead = ["check-attr", "-z", "filter", "--"].map(str::to_owned);
            let said = self.look(&[&lead, files].concat())?;
            let fields: Vec<&str> = said.split('\0').collect();
            for told in fields.chunks_exact(3) {
                if off.iter().any(|name| name == told[2]) {
                    return Ok(Some((told[0].to_owned(), told[2].to_owned())));
                }
            }
        }
        Ok(None)
    }

    fn switches(&self) -> Result<&Switches, String> {
        let read = || {
            let said = self.run(Does::Settings, &["config", "--list", "-z", "--show-scope"])?;
            Switches::of(&said)
        };
        self.switches.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The folder whose checkout this is.
    fn top(&self) -> Option<&Path> {
        self.here.ancestors().find(|dir| dir.join(".git").symlink_metadata().is_ok())
    }

    /// Where the repository's records lie: those of this checkout, then the whole.
    fn repository(&self) -> Vec<PathBuf> {
        let Some(dot) = self.top().and_then(|top| top.join(".git").canonicalize().ok()) else {
            return Vec::new();
        };
        if dot.is_dir() {
            return vec![dot];
        }
        let records = dot.parent().and_then(|top| Some(top.join(git_word(&dot, "gitdir:")?)));
        let Some(records) = records.and_then(|records| records.canonicalize().ok()) else {
            return Vec::new();
        };
        let common = git_word(&records.join("commondir"), "").map(|common| records.join(common));
        let common = common.and_then(|common| common.canonicalize().ok());
        std::iter::once(records).chain(common).collect()
    }

    /// What git reads to look.
    fn readable(&self) -> Vec<PathBuf> {
        let mut places: Vec<PathBuf> =
            self.top().and_then(|top| top.canonicalize().ok()).into_iter().collect();
        let repository = self.repository();
        let objects = repository.last().map(|common| common.join("objects"));
        let listed = objects.as_ref().and_then(|objects| git_word(&objects.join("info/alternates"), ""));
        for other in listed.iter().flat_map(|listed| listed.lines()).take(MAX_ALTERNATES) {
            let other = objects.as_ref().and_then(|objects| objects.join(other).canonicalize().ok());
            // A repository may name any place here. What is no place of objects is none that git needs.
            places.extend(other.filter(|other| other.ends_with("objects")));
        }
        places.extend(repository);
        places
    }

    fn run<S: AsRef<OsStr>>(&self, does: Does, args: &[S]) -> Result<String, String> {
        self.said(does, args, Stdio::null(), child::MAX_SAID)
            .map(|said| String::from_utf8_lossy(&said).into_owned())
    }

    /// What git says, as bytes and at most so many, when it reads `asked`.
    fn said<S: AsRef<OsStr>>(
        &self,
        does: Does,
        args: &[S],
        asked: Stdio,
        most: u64,
    ) -> Result<Vec<u8>, String> {
        let mut settings = switches::always();
        let mut variables = env::cleaned(std::env::vars_os());
        variables
            .extend(PERSON.iter().filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?))));
        let fixed = switches::VARIABLES.iter().chain(switches::NO_FETCH);
        variables.extend(fixed.map(|(name, value)| (name.into(), value.into())));
        // The repository could name another folder to check out to.
        variables.extend(self.top().map(|top| ("GIT_WORK_TREE".into(), top.into())));
        if does == Does::Looks {
            variables.push(("GIT_OPTIONAL_LOCKS".into(), "0".into()));
        }
        if does != Does::Settings {
            let switches = self.switches()?;
            settings.extend(switches.settings(does == Does::Writes));
        }
        variables.extend(switches::as_variables(&settings));
        let mut command = match &self.guard {
            Some(guard) if does == Does::Looks => {
                let leash = Leash { readable: self.readable(), looking: true, ..Leash::default() };
                let mut command = guard.command("git".as_ref(), &leash);
                command.env_clear().envs(handed_on(variables));
                command
            }
            _ => {
                let mut command = Command::new("git");
                command.env_clear().envs(variables);
                command
            }
        };
        command.arg("--no-pager").args(args).current_dir(&self.here).stdin(asked);
        let within = if does == Does::Writes { MAX_WRITE } else { self.within.unwrap_or(MAX_LOOK) };
        let ended = child::ended(command, within, does == Does::Looks && self.guard.is_some(), most)?;
        match ended.success {
            // What was not read of them could not be switched off.
            true if ended.cut && does == Does::Settings => Err("the settings of git are too long".to_owned()),
            true => Ok(ended.out),
            false => {
                let out = String::from_utf8_lossy(&ended.out).into_owned();
                let words = if ended.err.trim().is_empty() { out } else { ended.err };
                Err(words.trim().trim_start_matches("fatal: ").to_owned())
            }
        }
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests;
