//! Which folder the agent may work in freely, and which never.
//!
//! Started somewhere, the workspace is the nearest folder up with a `.git` or a `.parlor`, else the folder itself. Invariants, on paths
//! with every link followed and whatever mount shows a folder: it is never the home folder nor one above it, never the root of the file
//! system or another top folder of the system, never a place of secrets or one of Parlor's own; it is the person's, everything on the way
//! up is the person's or the system's, and a mark that another user planted does not count; a folder that everybody may write in is
//! nobody's, nor is what could be put in its place by everybody. Where no folder remains, or no home folder is known to keep away from,
//! there is no workspace, and then everything is outside.
//!
//! A folder that the person named (`--workspace`, or `workspaces` in the settings) may belong to another user, and lie where others may
//! write: the person vouches for it.
//! This holds for root too. Root may write everywhere, but a repository of another user would make root run its hooks; so root names
//! such folders as everybody else does. With `sudo`, the folders of the user who called it count as their own.

#[cfg(test)]
mod tests;

use crate::sandbox::Closed;
use crate::sandbox::mounts::identity;
use domain::path_text;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What makes a folder the root of a project.
const MARKS: &[&str] = &[".git", ".parlor"];
/// Top folders that belong to the whole system, whoever owns them. What lies in them may be a workspace.
const SYSTEM: &[&str] = &[
    "/",
    "/bin",
    "/boot",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/tmp",
];
/// What the kernel shows as files: nothing in them is a workspace.
const KERNEL: &[&str] = &["/dev", "/proc", "/sys"];
/// Folders of the home where only some files are secrets, and all the others are about them.
const KEYS: &[&str] = &[".docker"];
/// In the mode of a folder: only the owner of a file may remove it, as in `/tmp`.
const STICKY: u32 = 0o1000;
/// In the mode of a folder: everybody may make files in it.
const BY_ALL: u32 = 0o002;

/// Why there is no workspace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoWorkspace {
    /// It is the home folder.
    #[error("{} is your home folder", path_text::write(.0))]
    Home(PathBuf),
    /// The home folder lies in it.
    #[error("your home folder lies in {}", path_text::write(.0))]
    AboveHome(PathBuf),
    #[error("{} belongs to the whole system", path_text::write(.0))]
    System(PathBuf),
    #[error("{} belongs to another user (number {owner})", path_text::write(dir))]
    Foreign { dir: PathBuf, owner: u32 },
    /// On the way to it there is a folder of another user, who could put another one in its place.
    #[error(
        "{} is reached through {}, which belongs to another user (number {owner})",
        path_text::write(dir),
        path_text::write(above)
    )]
    ThroughForeign {
        dir: PathBuf,
        /// What is on the way.
        above: PathBuf,
        owner: u32,
    },
    /// Everybody may write in it.
    #[error("everybody may write in {}", path_text::write(.0))]
    Shared(PathBuf),
    /// On the way to it everybody may put another folder in its place.
    #[error(
        "{} is reached through {}, where everybody may put something else in its place",
        path_text::write(dir),
        path_text::write(above)
    )]
    ThroughShared {
        dir: PathBuf,
        /// What is on the way.
        above: PathBuf,
    },
    /// Keys lie in it.
    #[error("{} is a place for keys and other secrets", path_text::write(.0))]
    Keys(PathBuf),
    /// Nobody knows which folder is the home.
    #[error("it is not known which folder is your home, to keep away from it; set HOME")]
    NoHome,
    #[error("{} is Parlor's own folder", path_text::write(.0))]
    Own(PathBuf),
    /// It cannot be looked at.
    #[error("{} cannot be worked in: {why}", path_text::write(dir))]
    Gone { dir: PathBuf, why: io::Error },
}

impl NoWorkspace {
    /// All of it for a person: why, what that means, and what to do.
    pub fn words(&self) -> String {
        let trust = match self {
            NoWorkspace::Foreign { .. }
            | NoWorkspace::ThroughForeign { .. }
            | NoWorkspace::Shared(_)
            | NoWorkspace::ThroughShared { .. } => " (this one too, if you trust what lies in it)",
            _ => "",
        };
        format!(
            "no workspace: {self}. All reading and writing is asked for, and commands cannot write. Start Parlor in the \
             folder of a project, or name one with --workspace DIR{trust}"
        )
    }
}

/// What is known about this process and its user, to judge folders by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    home: Option<PathBuf>,
    own: Vec<PathBuf>,
    named: Vec<PathBuf>,
    /// What keeps secrets: files and folders, by what makes them the same ones. Looked for when the first folder is judged.
    secrets: OnceLock<BTreeSet<(u64, u64)>>,
    /// Whose folders are the person's.
    owners: Vec<u32>,
}

impl Bounds {
    /// For this process: the person's home (the usual one when none is given), Parlor's own folders, and the folders that the person
    /// named.
    pub fn new(home: Option<&Path>, own: &[PathBuf], named: &[PathBuf]) -> Bounds {
        let caller = std::env::var_os("SUDO_UID").and_then(|uid| uid.to_str()?.parse().ok());
        let user = rustix::process::geteuid();
        let owners = [user.as_raw()].into_iter().chain(caller.filter(|_| user.is_root())).collect();
        let real = |dir: &PathBuf| dir.canonicalize().unwrap_or_else(|_| dir.clone());
        let home = home.filter(|home| home.is_absolute()).map(Path::to_owned).or_else(crate::home);
        let home = home.map(|home| real(&home));
        Bounds {
            secrets: OnceLock::new(),
            home,
            own: own.iter().map(real).collect(),
            named: named.iter().map(real).collect(),
            owners,
        }
    }

    /// The workspace of whoever works in `cwd`, canonical.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find(&self, cwd: &Path) -> Result<PathBuf, NoWorkspace> {
        let cwd = self.judge(cwd)?;
        let fitting = cwd.ancestors().take_while(|dir| self.may_be(dir).is_ok());
        let root = fitting.into_iter().find(|dir| self.is_root(dir)).unwrap_or(&cwd).to_owned();
        Ok(root)
    }

    /// Whether this very folder may be a workspace; gives it canonical.
    ///
    /// # Errors
    /// Why it may not.
    pub fn judge(&self, dir: &Path) -> Result<PathBuf, NoWorkspace> {
        let real = dir.canonicalize().map_err(|why| NoWorkspace::Gone { dir: dir.to_owned(), why })?;
        self.may_be(&real)?;
        Ok(real)
    }

    fn may_be(&self, dir: &Path) -> Result<(), NoWorkspace> {
        let found = || dir.to_owned();
        let Some(home) = self.home.as_deref() else { return Err(NoWorkspace::NoHome) };
        // A mount may show the same folder under another path.
        let same = |other: &Path| identity(other).is_some_and(|other| identity(dir) == Some(other));
        if dir != Path::new("/") {
            if same(home) || dir == home {
                return Err(NoWorkspace::Home(found()));
            }
            if home.starts_with(dir) || home.ancestors().skip(1).any(same) {
                return Err(NoWorkspace::AboveHome(found()));
            }
        }
        if dir.ancestors().filter_map(identity).any(|place| self.secrets().contains(&place)) {
            return Err(NoWorkspace::Keys(found()));
        }
        if SYSTEM.iter().any(|known| dir == Path::new(known))
            || KERNEL.iter().any(|known| dir.starts_with(known))
        {
            return Err(NoWorkspace::System(found()));
        }
        if self.own.iter().any(|own| dir.starts_with(own)) {
            return Err(NoWorkspace::Own(found()));
        }
        let meta = std::fs::metadata(dir).map_err(|why| NoWorkspace::Gone { dir: found(), why })?;
        if !meta.is_dir() {
            let why = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(NoWorkspace::Gone { dir: found(), why });
        }
        if self.is_vouched(dir) {
            return Ok(());
        }
        if !self.owners.contains(&meta.uid()) {
            return Err(NoWorkspace::Foreign { dir: found(), owner: meta.uid() });
        }
        if meta.mode() & BY_ALL != 0 {
            return Err(NoWorkspace::Shared(found()));
        }
        self.judge_way(dir)
    }

    fn secrets(&self) -> &BTreeSet<(u64, u64)> {
        self.secrets.get_or_init(|| {
            let closed = Closed::of(self.home.as_deref(), None);
            let keys = self.home.iter().flat_map(|home| KEYS.iter().map(|keys| home.join(keys)));
            closed.places().map(Path::to_owned).chain(keys).filter_map(|place| identity(&place)).collect()
        })
    }

    /// Whether nobody but the person and the system can put another folder in the place of this one.
    fn judge_way(&self, dir: &Path) -> Result<(), NoWorkspace> {
        let look =
            |dir: &Path| std::fs::metadata(dir).map_err(|why| NoWorkspace::Gone { dir: dir.to_owned(), why });
        // Whoever has the root of all can do what they like; in some containers that is not user 0.
        let system = look(Path::new("/"))?.uid();
        let trusted = |user: u32| user == 0 || user == system || self.owners.contains(&user);
        let mut below = look(dir)?.uid();
        for above in dir.ancestors().skip(1) {
            let meta = look(above)?;
            if !trusted(meta.uid()) {
                let (dir, above) = (dir.to_owned(), above.to_owned());
                return Err(NoWorkspace::ThroughForeign { dir, above, owner: meta.uid() });
            }
            let kept = meta.mode() & STICKY != 0 && trusted(below);
            if meta.mode() & BY_ALL != 0 && !kept {
                return Err(NoWorkspace::ThroughShared { dir: dir.to_owned(), above: above.to_owned() });
            }
            below = meta.uid();
        }
        Ok(())
    }

    /// Whether the person named it, or a folder above it.
    fn is_vouched(&self, dir: &Path) -> bool {
        self.named.iter().any(|named| dir.starts_with(named))
    }

    fn is_root(&self, dir: &Path) -> bool {
        let planted = |owner: u32| owner != 0 && !self.owners.contains(&owner) && !self.is_vouched(dir);
        self.named.iter().any(|named| named == dir)
            || MARKS
                .iter()
                .any(|mark| std::fs::symlink_metadata(dir.join(mark)).is_ok_and(|meta| !planted(meta.uid())))
    }
}
