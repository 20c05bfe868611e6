//! Looks at what lies on the disk: the notices of live processes, the store where it changed, what git has checked out. Blocks.

use crate::directory::{Directory, FoundProcess};
use domain::fleet::{MAX_KEPT, MAX_PROCESSES};
use domain::path_text;
use domain::session::SessionSummary;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use store::{Listing, SqliteStore, Store as _};

/// Folders in which it is looked what git has checked out.
const MAX_FOLDERS: usize = 256;
/// The files in which the store keeps what is new.
const STORE_FILES: [&str; 2] = ["sessions.db", "sessions.db-wal"];

/// What a file was when it was looked at last: its size and when it changed.
type Stamp = Option<(u64, Option<SystemTime>)>;

/// Looks again and again.
pub(super) struct Look {
    directory: Arc<dyn Directory>,
    data: PathBuf,
    store: Option<[Stamp; 2]>,
    /// A run was under way in what the store kept: whether it still is, is known by whoever does it being alive, not by a file.
    saw_runs: bool,
}

/// One look, with what may be new in it.
#[derive(Debug, Default)]
pub(super) struct Sighting {
    pub(super) processes: Vec<FoundProcess>,
    /// The newest sessions, where the store may have changed.
    pub(super) kept: Option<Vec<SessionSummary>>,
    pub(super) branches: Vec<(String, Option<String>)>,
}

impl Look {
    pub(super) fn new(directory: Arc<dyn Directory>, data: PathBuf) -> Look {
        Look { directory, data, store: None, saw_runs: false }
    }

    /// Looks; `folders` are those where live sessions work.
    pub(super) fn look(&mut self, folders: BTreeSet<String>) -> Sighting {
        let branch = |cwd: String| {
            let branch = engine::branch(&path_text::read(&cwd));
            (cwd, branch)
        };
        Sighting {
            // One that cannot be read tells of nobody.
            processes: self.directory.look(MAX_PROCESSES).unwrap_or_default(),
            kept: self.kept(),
            branches: folders.into_iter().take(MAX_FOLDERS).map(branch).collect(),
        }
    }

    /// The newest sessions. A store that cannot be read keeps nothing that could be shown; `parlor doctor` says why.
    fn kept(&mut self) -> Option<Vec<SessionSummary>> {
        let stamps = STORE_FILES.map(|file| stamp(&self.data.join(file)));
        if self.store.replace(stamps) == Some(stamps) && !self.saw_runs {
            return None;
        }
        if !SqliteStore::is_at(&self.data).unwrap_or(false) {
            return Some(Vec::new());
        }
        let listing = Listing { limit: Some(MAX_KEPT), ..Listing::default() };
        let listed = SqliteStore::to_read(&self.data).and_then(|store| store.list(&listing));
        if listed.is_err() {
            // Perhaps only just now.
            self.store = None;
        }
        let kept = listed.ok()?;
        self.saw_runs = kept.iter().any(|summary| summary.running);
        Some(kept)
    }
}

fn stamp(file: &Path) -> Stamp {
    let found = std::fs::metadata(file).ok()?;
    Some((found.len(), found.modified().ok()))
}
