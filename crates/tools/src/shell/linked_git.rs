//! Where git keeps the repository of a worktree, by what both of them say.

use std::path::{Path, PathBuf};

/// Largest file of git's that is read for where it leads.
const MAX_WORDS: u64 = 64 * 1024;

/// The repository of a worktree, which lies outside of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedGit {
    /// The `.git` of the repository, real.
    pub common: PathBuf,
    /// The part of it that is about this worktree alone.
    pub records: PathBuf,
}

/// The repository that the workspace is a worktree of. Both sides must say so: a file that a project brings could name any repository of
/// the person's, but only who may write to that repository can make it name the worktree.
pub fn linked_git(root: &Path) -> Option<LinkedGit> {
    let real = |path: &Path| path.canonicalize().ok();
    let (root, dot) = (real(root)?, root.join(".git"));
    if !dot.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let records = real(&root.join(git_word(&dot, "gitdir:")?))?;
    let common = real(&records.join(git_word(&records.join("commondir"), "")?))?;
    let back = real(Path::new(&git_word(&records.join("gitdir"), "")?))?;
    let is_its_own = records.parent() == Some(&common.join("worktrees")) && back == real(&dot)?;
    (is_its_own && !common.starts_with(&root)).then_some(LinkedGit { common, records })
}

/// What one of git's own small files says after a word.
pub(crate) fn git_word(file: &Path, word: &str) -> Option<String> {
    let text = small(file)?;
    Some(text.trim().strip_prefix(word)?.trim().to_owned()).filter(|told| !told.is_empty())
}

/// The text of a file, where it is one and not too large to be git's.
pub(crate) fn small(file: &Path) -> Option<String> {
    let meta = file.metadata().ok()?;
    if meta.is_file() && meta.len() <= MAX_WORDS { std::fs::read_to_string(file).ok() } else { None }
}
