//! Which servers of which projects the person agreed to, and what each server may reach: by digests of entries, in the user's data
//! directory.
//!
//! Never in the project. An entry that changes is another entry: it is asked for again. One that was agreed to before reach was a choice
//! has none here: it is asked about once more. A file that cannot be understood approves nothing and is not overwritten. Whoever changes it
//! holds a lock beside it from reading to replacing, so that programs that change it at once lose nothing of each other's.

use super::reach::Reach;
use crate::private_file::{hold, write_private};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// Most approvals that are kept; past it nothing is added.
const MAX_KEPT: usize = 1_000;
/// Largest file that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// What the person agreed to.
#[derive(Debug, Clone)]
pub struct Approvals {
    file: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct ApprovalFile {
    /// Digest of project and entry → what it is, for a person who looks into the file.
    approved: BTreeMap<String, String>,
    /// The same digest → what the server may reach.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    reach: BTreeMap<String, Reach>,
    /// Digests of those that get the network for their next start.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    downloads: BTreeSet<String>,
}

/// What the person said to one server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agreed {
    /// It may start.
    pub approved: bool,
    /// What it may reach; `None`: they were never asked.
    pub reach: Option<Reach>,
}

impl Approvals {
    /// Those in the user's data directory.
    pub fn in_data(data: &Path) -> Approvals {
        Approvals { file: data.join("mcp-approved.json") }
    }

    /// The same for hooks of projects, which reach what the leash of a command lets reach.
    pub(crate) fn of_hooks(data: &Path) -> Approvals {
        Approvals { file: data.join("hooks-approved.json") }
    }

    /// What the person said to exactly this entry in this project; without a project, to one of their own.
    pub fn of(&self, project: Option<&Path>, digest: &str) -> Agreed {
        let (key, Ok(mut kept)) = (key(project, digest), self.read()) else { return Agreed::default() };
        Agreed { approved: kept.approved.contains_key(&key), reach: kept.reach.remove(&key) }
    }

    /// Keeps that the person agreed, and what it may reach where that was said.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn agree(
        &self,
        project: Option<&Path>,
        digest: &str,
        words: &str,
        reach: Option<&Reach>,
    ) -> io::Result<()> {
        self.change(|kept| {
            let key = key(project, digest);
            if kept.approved.len() >= MAX_KEPT && !kept.approved.contains_key(&key) {
                let why =
                    format!("{} is full: remove entries that are no longer needed", self.file.display());
                return Err(io::Error::other(why));
            }
            let whose = project.map_or("yours".into(), Path::to_string_lossy);
            kept.approved.insert(key.clone(), format!("{whose}: {words}"));
            kept.reach.extend(reach.map(|reach| (key, reach.clone())));
            Ok(())
        })
    }

    /// It gets the network for its next start, to download itself.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn allow_download(&self, project: Option<&Path>, digest: &str) -> io::Result<()> {
        self.change(|kept| {
            kept.downloads.insert(key(project, digest));
            Ok(())
        })
    }

    /// Whether it gets the network for this start; from then on it does not any more, whatever becomes of the start.
    pub(super) fn take_download(&self, project: Option<&Path>, digest: &str) -> bool {
        let key = key(project, digest);
        // Most starts are none of those: they need not wait for anybody.
        let waits = self.read().is_ok_and(|kept| kept.downloads.contains(&key));
        // What cannot be taken back is not given, and what another start took meanwhile is gone.
        waits && self.change(|kept| Ok(kept.downloads.remove(&key))).unwrap_or(false)
    }

    /// Takes back what was said; `false` when nothing was.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn forget(&self, project: Option<&Path>, digest: &str) -> io::Result<bool> {
        let key = key(project, digest);
        if !self.read()?.approved.contains_key(&key) {
            return Ok(false);
        }
        self.change(|kept| {
            kept.reach.remove(&key);
            kept.downloads.remove(&key);
            Ok(kept.approved.remove(&key).is_some())
        })
    }

    /// Changes the file while nobody else does.
    fn change<T>(&self, change: impl FnOnce(&mut ApprovalFile) -> io::Result<T>) -> io::Result<T> {
        let _held = hold(&self.file)?;
        let mut kept = self.read()?;
        let changed = change(&mut kept)?;
        let text = serde_json::to_string_pretty(&kept).map_err(io::Error::other)?;
        write_private(&self.file, &text)?;
        Ok(changed)
    }

    fn read(&self) -> io::Result<ApprovalFile> {
        match std::fs::metadata(&self.file) {
            Ok(meta) if meta.len() > MAX_BYTES => {
                Err(io::Error::other(format!("{} is too large", self.file.display())))
            }
            Ok(_) => serde_json::from_str(&std::fs::read_to_string(&self.file)?).map_err(|why| {
                io::Error::other(format!("{} cannot be understood: {why}", self.file.display()))
            }),
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(ApprovalFile::default()),
            Err(why) => Err(why),
        }
    }
}

fn key(project: Option<&Path>, digest: &str) -> String {
    let project = project.unwrap_or(Path::new("")).display();
    tools::digest::hex(format!("{project}\n{digest}").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_approval_is_for_one_entry_in_one_project() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let approvals = Approvals::in_data(&data);
        let (one, two) = (Some(Path::new("/one")), Some(Path::new("/two")));
        let has = |project, digest| approvals.of(project, digest).approved;
        assert!(!has(one, "d"));
        approvals.agree(one, "d", "runs `x`", None).unwrap();
        assert!(has(one, "d") && !has(two, "d") && !has(one, "e") && !has(None, "d"));
        approvals.agree(two, "d", "runs `x`", None).unwrap();
        assert!(has(one, "d") && has(two, "d"));
        assert!(approvals.forget(one, "d").unwrap() && !approvals.forget(one, "d").unwrap());
        assert!(!has(one, "d") && has(two, "d"));
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&data), mode(&data.join("mcp-approved.json"))), (0o700, 0o600));
    }

    #[test]
    fn what_a_server_may_reach_is_kept_with_the_agreement_and_a_download_is_allowed_once() {
        let dir = tempfile::tempdir().unwrap();
        let (approvals, project) = (Approvals::in_data(dir.path()), Some(Path::new("/p")));
        // As an earlier version wrote it.
        let old = serde_json::json!({"approved": {key(project, "d"): "/p: runs `x`"}});
        std::fs::write(dir.path().join("mcp-approved.json"), old.to_string()).unwrap();
        assert_eq!(approvals.of(project, "d"), Agreed { approved: true, reach: None });
        let reach = Reach { network: true, ..Reach::default() };
        approvals.agree(project, "d", "runs `x`", Some(&reach)).unwrap();
        assert_eq!(approvals.of(project, "d"), Agreed { approved: true, reach: Some(reach) });
        assert!(!approvals.take_download(project, "d"));
        approvals.allow_download(project, "d").unwrap();
        assert!(approvals.take_download(project, "d") && !approvals.take_download(project, "d"));
    }

    #[test]
    fn who_change_it_at_once_lose_nothing_of_each_other() {
        const MANY: usize = 8;
        let dir = tempfile::tempdir().unwrap();
        let (approvals, project) = (Approvals::in_data(dir.path()), Some(Path::new("/p")));
        // A lock belongs to an open file, not to a process: threads stand for programs.
        let at_once = |each: &(dyn Fn(&str) -> bool + Sync)| {
            let begin = std::sync::Barrier::new(MANY);
            std::thread::scope(|scope| {
                let begin = &begin;
                let all: Vec<_> = (0..MANY)
                    .map(|number| {
                        scope.spawn(move || {
                            begin.wait();
                            each(&format!("d{number}"))
                        })
                    })
                    .collect();
                all.into_iter().map(|one| one.join().unwrap()).filter(|is_done| *is_done).count()
            })
        };
        let kept = || (0..MANY).filter(|n| approvals.of(project, &format!("d{n}")).approved).count();
        assert_eq!(at_once(&|digest| approvals.agree(project, digest, "w", None).is_ok()), MANY);
        assert_eq!(kept(), MANY);
        approvals.allow_download(project, "d0").unwrap();
        assert_eq!(at_once(&|_| approvals.take_download(project, "d0")), 1, "one start was allowed");
        assert_eq!(at_once(&|digest| approvals.forget(project, digest).unwrap()), MANY);
        assert_eq!(kept(), 0);
    }

    #[test]
    fn a_broken_file_approves_nothing_and_stays() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("mcp-approved.json"), "{").unwrap();
        let (approvals, project) = (Approvals::in_data(dir.path()), Some(Path::new("/p")));
        assert_eq!(approvals.of(project, "d"), Agreed::default());
        assert!(approvals.agree(project, "d", "w", None).is_err());
        assert_eq!(std::fs::read_to_string(dir.path().join("mcp-approved.json")).unwrap(), "{");
    }
}
