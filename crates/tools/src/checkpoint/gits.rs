//! Contents that are left to git: files that hold, byte for byte, what git's objects hold are not copied as long as the kernel keeps
//! commands from git's records. Those that a command changed are taken from git as soon as it is over.

use super::Vault;
use crate::context::ToolContext;
use crate::digest;
use crate::own_git::OwnGit;
use crate::tree::ObjectId;
use std::collections::HashSet;
use std::path::Path;

/// Contents that git is asked for at once.
const AT_ONCE: usize = 4096;
/// Bytes of them after which no more are asked for.
const BYTES_AT_ONCE: u64 = 8 * 1024 * 1024;

/// A content that is left to git.
pub(super) struct LeftToGit<'a> {
    /// How the vault would know it.
    pub(super) digest: &'a str,
    pub(super) size: u64,
    pub(super) blob: ObjectId,
}

/// Our git in a workspace.
pub(super) fn own(place: &ToolContext, root: &Path) -> OwnGit {
    OwnGit::at(root, place.guard())
}

/// Whether a command on the leash can do nothing to git's objects: they lie in the workspace's own `.git`, which is then mounted so that
/// nobody writes there.
pub(super) fn are_locked(place: &ToolContext) -> bool {
    let (Some(root), Some(guard)) = (place.root(), place.guard()) else { return false };
    let records = root.join(".git");
    let is_folder = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    // Objects that are borrowed lie elsewhere.
    let borrows = || records.join("objects/info/alternates").symlink_metadata().is_ok();
    is_folder(&records)
        && is_folder(&records.join("objects"))
        && is_folder(&records.join("objects/pack"))
        && !borrows()
        && guard.namespaces().is_ok()
}

/// Has the vault keep what was left to git; what git no longer has, nor anybody else, comes back by its digest.
pub(super) fn take<'a>(git: &OwnGit, left: &[LeftToGit<'a>], vault: &dyn Vault) -> HashSet<&'a str> {
    let (mut lost, mut left) = (HashSet::new(), left);
    while !left.is_empty() {
        let mut bytes = 0;
        let fits = |one: &&LeftToGit<'_>| {
            let is_room = bytes < BYTES_AT_ONCE;
            bytes += one.size;
            is_room
        };
        let (now, later) = left.split_at(left.iter().take(AT_ONCE).take_while(fits).count());
        let names: Vec<(ObjectId, u64)> = now.iter().map(|one| (one.blob, one.size)).collect();
        let found = git.blobs(&names).unwrap_or_default().into_iter().chain(std::iter::repeat(None));
        let mut contents = Vec::new();
        for (one, content) in now.iter().zip(found) {
            match content.filter(|content| digest::hex(content) == one.digest) {
                Some(content) => contents.push((one.digest.to_owned(), content)),
                // It may have been moved.
                None if vault.content(one.digest).is_ok_and(|content| content.is_some()) => {}
                None => _ = lost.insert(one.digest),
            }
        }
        if vault.keep(contents).is_err() {
            lost.extend(now.iter().map(|one| one.digest));
        }
        left = later;
    }
    lost
}
