//! What becomes of a worktree: merged, kept or thrown away, as the person says.

use super::git::Git;
use super::{Work, Worktree, others, work};
use crate::exit::{self, Exit, Stream};
use domain::path_text;
use std::io::IsTerminal;
use tools::own_git::Deed;
use tui::{Echo, Typed, ask_line};

/// What any other word does when the worktree is to be removed, and when it is to be merged.
const KEEPS: &str = "Enter keeps";
const MERGES: &str = "Enter merges and keeps the folder";

/// Merges its branch into the one it began from, then removes it. What is not committed must be, with `commit`, or it is refused; where
/// something outside of git would be lost with it, it stays unless that is thrown away.
pub(super) fn merge(git: &Git, tree: &Worktree, commit: Option<&str>, discard: bool) -> anyhow::Result<Exit> {
    others::refuse_while_open(tree)?;
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
        exit::say(&format!(
            "merged {} into {into}; the worktree is kept, for it has {}: {}\nhint: take out what you need, then: parlor worktrees remove {} --discard",
            tree.branch(),
            rest.words(),
            path_text::write(&tree.path),
            tree.name
        ));
        return Ok(Exit::Done);
    }
    drop_tree(&main, tree)?;
    exit::say(&format!("merged {} into {into}; the worktree is gone", tree.branch()));
    Ok(Exit::Done)
}

/// Removes it; what is only there is kept unless the person throws it away.
pub(super) fn remove(git: &Git, tree: &Worktree, discard: bool) -> anyhow::Result<Exit> {
    others::refuse_while_open(tree)?;
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
    main.tell_left_out(Deed::Remove);
    let gone = if left.is_none() { String::new() } else { format!(", with {}", left.words()) };
    exit::say(&format!("removed worktree {} and its branch{gone}", tree.name));
    Ok(Exit::Done)
}

/// Takes away folder and branch. Whoever calls this has counted what is lost; of copies that are as they were git is told not to mind.
fn drop_tree(main: &Git, tree: &Worktree) -> anyhow::Result<()> {
    main.remove(&tree.path, true)?;
    main.delete_branch(&tree.branch())
}

/// Where it is and how to go on.
pub(super) fn kept(git: &Git, tree: &Worktree) -> String {
    let work = work(git, tree).map_or_else(|_| String::new(), |work| format!(", {}", work.words()));
    format!(
        "worktree {} is kept (branch {}{work}): {}\nTo go on there: parlor --worktree {}; to take it over: parlor worktrees merge {}",
        tree.name,
        tree.branch(),
        path_text::write(&tree.path),
        tree.name,
        tree.name
    )
}

/// A run in it is over, and nobody can be asked.
pub(crate) fn told_kept(tree: &Worktree) {
    if let Ok(git) = Git::of(&tree.path) {
        exit::complain(&kept(&git, tree));
    }
}

/// What the person wants done with a worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Merge,
    Keep,
    Remove,
}

/// What a word stands for; `None` where it stands for nothing. Only whole words: what is removed is gone.
fn wish(line: &str) -> Option<Wish> {
    match line.trim().to_lowercase().as_str() {
        "merge" => Some(Wish::Merge),
        "" | "keep" => Some(Wish::Keep),
        "remove" => Some(Wish::Remove),
        _ => None,
    }
}

/// The session in a worktree is over: asks what becomes of it, where somebody can be asked. Without an answer it is kept.
pub(crate) async fn at_end(tree: &Worktree, exit: Exit) -> anyhow::Result<()> {
    let Ok(git) = Git::of(&tree.path) else { return Ok(()) };
    let Ok(left) = work(&git, tree) else { return Ok(()) };
    let asks = exit == Exit::Done && std::io::stdin().is_terminal() && Stream::Err.is_terminal();
    let open = others::refuse_while_open(tree);
    if let (true, Err(why)) = (asks, &open) {
        exit::complain(&exit::in_words(why));
    }
    let chosen = if asks && open.is_ok() { ask(tree, &left).await? } else { Wish::Keep };
    // Somebody may have worked there while the question stood.
    let left = work(&git, tree).unwrap_or(left);
    let done = match chosen {
        Wish::Keep => None,
        Wish::Merge => {
            let message = format!("Work of a session in worktree {}", tree.name);
            let discard = !left.outside.is_empty() && is_sure(&left.outside_words(), MERGES).await?;
            Some(merge(&git, tree, Some(&message), discard))
        }
        Wish::Remove if left.is_none() => Some(remove(&git, tree, false)),
        Wish::Remove if is_sure(&left.words(), KEEPS).await? => Some(remove(&git, tree, true)),
        Wish::Remove => None,
    };
    match done {
        Some(Ok(_)) => {}
        Some(Err(why)) => {
            exit::complain(&format!("error: {}", exit::in_words(&why)));
            exit::complain(&kept(&git, tree));
        }
        None => exit::complain(&kept(&git, tree)),
    }
    Ok(())
}

async fn ask(tree: &Worktree, left: &Work) -> anyhow::Result<Wish> {
    let into = tree.base.as_deref().map_or(String::new(), |base| format!(" into {base}"));
    let commits = if left.files > 0 { ", after a commit of all files" } else { "" };
    exit::complain(&format!(
        "worktree {} has {}.\nmerge: take it over{into}{commits}. keep: leave it as it is. remove: throw it away.",
        tree.name,
        left.words()
    ));
    loop {
        match ask_line("merge, keep or remove? (Enter keeps) ", Echo::Shown).await? {
            Typed::Line(line) => match wish(&line) {
                Some(wish) => return Ok(wish),
                None => exit::complain("write one of the three words"),
            },
            Typed::Unusable(_) => exit::complain("write one of the three words"),
            Typed::Cancelled | Typed::Told(_) => return Ok(Wish::Keep),
        }
    }
}

/// Asks once more before something is lost.
async fn is_sure(lost: &str, otherwise: &str) -> anyhow::Result<bool> {
    let question = format!("{lost} would be lost. Write \"discard\" to throw it away ({otherwise}): ");
    Ok(matches!(ask_line(&question, Echo::Shown).await?, Typed::Line(line) if line.trim() == "discard"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_say_what_becomes_of_it() {
        for (line, meant) in [
            ("merge", Some(Wish::Merge)),
            (" Keep ", Some(Wish::Keep)),
            ("", Some(Wish::Keep)),
            ("remove", Some(Wish::Remove)),
            ("m", None),
            ("r", None),
            ("y", None),
            ("yes", None),
        ] {
            assert_eq!(wish(line), meant, "{line:?}");
        }
    }
}
