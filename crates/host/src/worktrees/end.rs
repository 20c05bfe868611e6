//! What becomes of a worktree: merged, kept or thrown away, as the person says.

use super::git::Git;
use super::{Work, Worktree, others, work};
use domain::path_text;
use tools::own_git::GitDeed;

/// What came of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The branch that it is in now, or words for it.
    pub into: String,
    /// What is still in the worktree, which is kept for it; `None` when the worktree is gone.
    pub rest: Option<Work>,
}

/// Merges its branch into the one it began from, then removes it. What is not committed must be, with `commit`, or it is refused; where
/// something outside of git would be lost with it, it stays unless that is thrown away.
///
/// # Errors
/// When another process works there, something is not committed, or git cannot merge it. Nothing is removed then.
pub async fn merge(
    git: &Git,
    tree: &Worktree,
    commit: Option<&str>,
    discard: bool,
) -> anyhow::Result<Merged> {
    others::refuse_while_open(tree).await?;
    let main = git.at(git.root());
    let there = main.branch();
    if let Some(base) = tree.base.as_ref().filter(|base| there.as_ref() != Some(base)) {
        let now = there.map_or_else(|| "no branch".to_owned(), |there| format!("branch {there}"));
        anyhow::bail!(
            "{} began from branch {base}, but {now} is checked out in {}\nhint: check out {base} there first, or merge by hand: git merge {}",
            tree.name,
            path_text::write(git.root()),
            tree.branch()
        );
    }
    let left = work(git, tree)?;
    if left.files > 0 {
        match commit {
            Some(message) => git.at(&tree.path).commit_all(&tree.copied, message)?,
            None => anyhow::bail!(
                "{} has {}\nhint: commit it there, or say --commit MESSAGE",
                tree.name,
                left.words()
            ),
        }
    }
    main.merge(&tree.branch()).map_err(|why| {
        anyhow::anyhow!(
            "{} could not be merged, and nothing was changed: {why:#}\nhint: merge by hand: git merge {}",
            tree.name,
            tree.branch()
        )
    })?;
    // The branch goes without a further question, so git's word is not enough.
    if !main.has_merged(&tree.branch()) {
        anyhow::bail!(
            "git said that it merged {}, but its commits are not in what is checked out in {}; nothing was removed\nhint: see `git status` there, and merge by hand: git merge {}",
            tree.branch(),
            path_text::write(git.root()),
            tree.branch()
        );
    }
    let into = main.branch().unwrap_or_else(|| "the main checkout".to_owned());
    // Counted again: what is only here now was in nobody's mind before.
    let rest = Work { commits: 0, ..work(git, tree)? };
    if rest.files > 0 || !rest.outside.is_empty() && !discard {
        return Ok(Merged { into, rest: Some(rest) });
    }
    drop_tree(&main, tree)?;
    Ok(Merged { into, rest: None })
}

/// Removes it; what is only there is kept unless the person throws it away. Gives what went with it.
///
/// # Errors
/// When another process works there, or something would be lost that was not thrown away.
pub async fn remove(git: &Git, tree: &Worktree, discard: bool) -> anyhow::Result<Work> {
    others::refuse_while_open(tree).await?;
    let left = work(git, tree)?;
    if !left.is_none() && !discard {
        anyhow::bail!(
            "{} has {}\nhint: merge it, or throw that away with --discard",
            tree.name,
            left.words()
        );
    }
    let main = git.at(git.root());
    drop_tree(&main, tree)?;
    main.tell_left_out(GitDeed::Remove);
    Ok(left)
}

/// Takes away folder and branch. Whoever calls this has counted what is lost; of copies that are as they were git is told not to mind.
pub(super) fn drop_tree(main: &Git, tree: &Worktree) -> anyhow::Result<()> {
    main.remove(&tree.path, true)?;
    main.delete_branch(&tree.branch())
}
