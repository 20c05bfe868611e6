//! What changed between two looks at a workspace, and what only came into sight: files that were there before, where nobody looked.

use super::image::Image;
use super::scan::{Seen, Snapshot};
use super::step::Change;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How far the clock of files may be behind that of programs.
const CLOCK: Duration = Duration::from_millis(100);

/// The outcome of a comparison.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) changes: Vec<Change>,
    /// What is in sight now, and older than the first look: it was moved here from where nobody looks, or is no longer ignored. It is
    /// nobody's to remove.
    pub(crate) strangers: Vec<PathBuf>,
}

/// Compares two looks at `root`, the first of which began at `since`.
pub(crate) fn between(root: &Path, before: &Snapshot, after: &Snapshot, since: SystemTime) -> Changes {
    let inodes: HashSet<(u64, u64)> = before.values().map(inode).collect();
    let mut found = Changes::default();
    for (path, now) in after {
        match before.get(path) {
            Some(was) if was.image == now.image => {}
            Some(was) => found.changes.push(Change {
                path: path.clone(),
                before: was.image.clone(),
                after: now.image.clone(),
            }),
            None if !inodes.contains(&inode(now)) && is_older(&root.join(path), since) => {
                found.strangers.push(path.clone());
            }
            None => found.changes.push(Change {
                path: path.clone(),
                before: Image::Absent,
                after: now.image.clone(),
            }),
        }
    }
    let gone = before.iter().filter(|(path, _)| !after.contains_key(*path));
    found.changes.extend(gone.map(|(path, was)| Change {
        path: path.clone(),
        before: was.image.clone(),
        after: Image::Absent,
    }));
    found
}

fn inode(seen: &Seen) -> (u64, u64) {
    (seen.stamp.device, seen.stamp.inode)
}

/// Whether something was made before a moment, where the system knows that.
fn is_older(full: &Path, moment: SystemTime) -> bool {
    let made = full.symlink_metadata().ok().and_then(|meta| meta.created().ok());
    made.is_some_and(|made| moment.duration_since(made).is_ok_and(|age| age > CLOCK))
}
