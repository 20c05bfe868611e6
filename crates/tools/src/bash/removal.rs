//! Whether a line only removes folders that can be built or installed again, so that a rule may cover it although it cannot be undone.
//!
//! What always holds: the line is one `rm -rf` of names written out, right below the workspace's root, which the command begins in; each
//! is a name that tools use, a folder and no link, on the same disk; git ignored it when Parlor opened this session and ignores it now, so
//! undo passes over it; git has recorded nothing in it, then and now; and it holds no repository and no other disk, however deep.

use crate::built::{BuiltFolders, NAMES};
use crate::context::ToolContext;
use crate::own_git::OwnGit;
use crate::sandbox::mounts::mounted_below;
use crate::shell::{Cover, Judgement, removed};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Files and folders that are looked at in one of them; one with more is asked about each time.
const MAX_ENTRIES: usize = 300_000;
/// Where programs that keep versions have their records.
const RECORDS: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr", ".fossil", "_darcs", "CVS"];
/// What stands in the records of git themselves, in whatever folder they are.
const BARE: [&str; 3] = ["HEAD", "objects", "refs"];

/// Lets a rule cover the line where all of this holds. To be told of every line that does more than look, before it runs.
pub(super) fn look(line: &str, place: &ToolContext, judgement: &mut Judgement) {
    let Some((root, built)) = place.root().zip(place.built()) else { return };
    let git = || OwnGit::at(root, place.guard());
    built.record(|| recorded(&git(), NAMES));
    let Some(removed) = removed(line).filter(|_| place.workdir() == root) else { return };
    let [inner] = judgement.inner.as_mut_slice() else { return };
    if judgement.doubts.is_empty() && removed.folders.iter().all(|name| is_built(name, root, built, &git)) {
        judgement.only_built = true;
        judgement.reasons.push(
            "git ignored it when Parlor opened this session; it can be built or installed again".to_owned(),
        );
        inner.cover = Cover::Words(removed.words);
    }
}

fn is_built(name: &str, root: &Path, built: &BuiltFolders, git: &dyn Fn() -> OwnGit) -> bool {
    let Some(known) = NAMES.iter().find(|known| **known == name) else { return false };
    let folder = root.join(known);
    let disk = |path: &Path| path.symlink_metadata().ok().filter(|meta| meta.is_dir()).map(|meta| meta.dev());
    let Some(on) = disk(&folder).filter(|on| Some(*on) == disk(root)) else { return false };
    built.held_nothing_of_git(known)
        && git().look(&["check-ignore", "--quiet", "--", known]).is_ok()
        && recorded(&git(), &[known]).is_some_and(|recorded| recorded.is_empty())
        && !mounted_below(&folder)
        && is_plain(&folder, on)
}

/// Which of these names, right below git's folder, have a file that it keeps; `None` where it does not say.
fn recorded(git: &OwnGit, names: &[&'static str]) -> Option<BTreeSet<&'static str>> {
    let mut words = vec!["--literal-pathspecs", "ls-files", "-z", "--cached", "--"];
    words.extend(names);
    let told = git.look(&words).ok()?;
    let tops: BTreeSet<&str> = told.split('\0').filter_map(|path| path.split('/').next()).collect();
    Some(names.iter().copied().filter(|name| tops.contains(name)).collect())
}

/// Whether a folder holds nothing, however deep, that is more than files: no repository, and nothing of another disk. `rm` follows no
/// links, and neither is one followed here.
fn is_plain(folder: &Path, disk: u64) -> bool {
    let (mut left, mut folders) = (MAX_ENTRIES, vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { return false };
        let mut of_git = 0;
        for entry in entries {
            let Some(after) = left.checked_sub(1) else { return false };
            left = after;
            let Ok((name, kind)) = entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))) else {
                return false;
            };
            if RECORDS.iter().any(|records| name.eq_ignore_ascii_case(records)) {
                return false;
            }
            of_git += usize::from(BARE.iter().any(|part| name == *part));
            if kind.is_dir() {
                let below = folder.join(&name);
                if below.symlink_metadata().map_or(true, |meta| meta.dev() != disk) {
                    return false;
                }
                folders.push(below);
            }
        }
        if of_git == BARE.len() {
            return false;
        }
    }
    true
}
