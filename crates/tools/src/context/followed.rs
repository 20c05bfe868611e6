//! Files that the model has seen, over a command of its own: what the command made of them needs no new read where an edit says exactly
//! where it is to happen.
//!
//! What somebody else changed before the command is theirs, and stays protected. What changes while it runs counts as the command's, as
//! it does for undo: nobody can tell the two apart.

use super::ToolContext;
use crate::digest;
use crate::exact;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// Larger files are not followed: to compare them takes too long.
const MAX_FOLLOWED: u64 = 10 * 1024 * 1024;

/// What is known of a file that the model saw or wrote.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) digest: String,
    /// What a command of the model made of it since.
    by_command: Option<String>,
    /// How the file looked to the system when it was last compared.
    compared: Option<ContentStamp>,
}

impl Known {
    /// Nothing has been compared since.
    pub(super) fn seen(digest: String) -> Known {
        Known { digest, ..Known::default() }
    }

    /// What it should hold now if nobody else changed it.
    fn expected(&self) -> &str {
        self.by_command.as_deref().unwrap_or(&self.digest)
    }
}

/// How a file looks to the system: another look, perhaps another content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ContentStamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl ContentStamp {
    fn of(meta: &Metadata) -> ContentStamp {
        ContentStamp {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    fn at(path: &Path) -> Option<ContentStamp> {
        let meta = std::fs::symlink_metadata(path).ok()?;
        (meta.is_file() && meta.len() <= MAX_FOLLOWED).then(|| ContentStamp::of(&meta))
    }
}

/// Files that are what the model knows, before a command of its own.
#[derive(Debug)]
pub(crate) struct Followed(Vec<(PathBuf, ContentStamp)>);

impl ToolContext {
    /// The same workplace with a memory of its own: what happens there is not the model's doing.
    #[must_use]
    pub fn with_own_memory(self) -> ToolContext {
        ToolContext { seen: Arc::default(), ..self }
    }

    /// Before a command of the model: which of the files that it has seen are still what it knows. Reads files that were never compared.
    pub(crate) fn before_command(&self) -> Followed {
        let seen: Vec<(PathBuf, Known)> = {
            let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            seen.files.iter().map(|(path, known)| (path.clone(), known.clone())).collect()
        };
        let mut followed = Vec::new();
        for (path, known) in seen {
            // What an editor holds is the person's.
            let Some(stamp) = ContentStamp::at(&path).filter(|_| !self.is_read_through(&path)) else {
                continue;
            };
            if known.compared != Some(stamp) {
                if content(&path).as_deref() != Some(known.expected()) {
                    continue;
                }
                self.compared(&path, &known, stamp, known.by_command.clone());
            }
            followed.push((path, stamp));
        }
        Followed(followed)
    }

    /// After it: what it made of them is known to be its doing.
    pub(crate) fn after_command(&self, followed: Followed) {
        for (path, before) in followed.0 {
            let Some(stamp) = ContentStamp::at(&path).filter(|stamp| *stamp != before) else { continue };
            let (Some(known), Some(now)) = (self.known(&path), content(&path)) else { continue };
            let by_command = Some(now).filter(|now| *now != known.digest);
            self.compared(&path, &known, stamp, by_command);
        }
    }

    /// Whether a command of the model made of a file what it holds now.
    pub(crate) fn is_by_command(&self, path: &Path, now: &str) -> bool {
        self.known(path).is_some_and(|known| known.by_command.as_deref() == Some(now))
    }

    /// Remembers what the model made of a file that it has not seen whole since a command changed it.
    pub(crate) fn wrote_after_command(&self, path: &Path, digest: String) {
        if let Some(known) = self.known(path) {
            self.know(path, Known { by_command: Some(digest), compared: None, ..known });
        }
    }

    /// Takes in a comparison, unless the model saw the file anew meanwhile.
    fn compared(&self, path: &Path, then: &Known, stamp: ContentStamp, by_command: Option<String>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = seen.files.get_mut(path)
            && known.digest == then.digest
            && known.by_command == then.by_command
        {
            known.compared = Some(stamp);
            known.by_command = by_command;
        }
    }
}

fn content(path: &Path) -> Option<String> {
    digest::of_open(&mut exact::open(path).ok()?).ok()
}
