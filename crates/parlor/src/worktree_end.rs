//! What becomes of a worktree when its session is over: the person is asked, and told what came of it.

use crate::exit::{self, Exit};
use crate::output::{self, Stream};
use domain::path_text;
use host::worktrees::{Git, Merged, Work, Worktree, merge, refuse_while_open, remove, work};
use std::io::IsTerminal;
use tui::{Echo, TypedLine, ask_line};

/// What any other word does when the worktree is to be removed, and when it is to be merged.
const KEEPS: &str = "Enter keeps";
const MERGES: &str = "Enter merges and keeps the folder";

/// What came of a merge, in words.
pub(crate) fn merged_words(tree: &Worktree, merged: &Merged) -> String {
    let (branch, into) = (tree.branch(), &merged.into);
    match &merged.rest {
        None => format!("merged {branch} into {into}; the worktree is gone"),
        Some(rest) => format!(
            "merged {branch} into {into}; the worktree is kept, for it has {}: {}\nhint: copy what you need, then: parlor worktrees remove {} --discard",
            rest.words(),
            path_text::write(&tree.path),
            tree.name
        ),
    }
}

/// That it is gone, and what went with it.
pub(crate) fn removed_words(tree: &Worktree, gone: &Work) -> String {
    let with = if gone.is_none() { String::new() } else { format!(", with {}", gone.words()) };
    format!("removed worktree {} and its branch{with}", tree.name)
}

/// Where it is and how to go on.
pub(crate) fn kept(git: &Git, tree: &Worktree) -> String {
    let work = work(git, tree).map_or_else(|_| String::new(), |work| format!(", {}", work.words()));
    format!(
        "worktree {} is kept (branch {}{work}): {}\nTo go on there: parlor --worktree {}; to merge it: parlor worktrees merge {}",
        tree.name,
        tree.branch(),
        path_text::write(&tree.path),
        tree.name,
        tree.name
    )
}

/// A run in it is over, and nobody can be asked.
pub(crate) fn told_kept(tree: &Worktree) {
    if let Ok(git) = Git::of(&tree.path, output::stderr_log()) {
        output::print_error(&kept(&git, tree));
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
    let Ok(git) = Git::of(&tree.path, output::stderr_log()) else { return Ok(()) };
    let Ok(left) = work(&git, tree) else { return Ok(()) };
    let asks = exit == Exit::Done && std::io::stdin().is_terminal() && Stream::Err.is_terminal();
    let open = refuse_while_open(tree).await;
    if let (true, Err(why)) = (asks, &open) {
        output::print_error(&exit::in_words(why));
    }
    let chosen = if asks && open.is_ok() { ask(tree, &left).await? } else { Wish::Keep };
    // Somebody may have worked there while the question stood.
    let left = work(&git, tree).unwrap_or(left);
    let done = match chosen {
        Wish::Keep => None,
        Wish::Merge => {
            let message = format!("Work of a session in worktree {}", tree.name);
            let discard = !left.outside.is_empty() && is_sure(&left.outside_words(), MERGES).await?;
            Some(merge(&git, tree, Some(&message), discard).await.map(|merged| merged_words(tree, &merged)))
        }
        Wish::Remove if left.is_none() => {
            Some(remove(&git, tree, false).await.map(|gone| removed_words(tree, &gone)))
        }
        Wish::Remove if is_sure(&left.words(), KEEPS).await? => {
            Some(remove(&git, tree, true).await.map(|gone| removed_words(tree, &gone)))
        }
        Wish::Remove => None,
    };
    match done {
        Some(Ok(words)) => output::print_line(&words),
        Some(Err(why)) => {
            output::print_error(&format!("error: {}", exit::in_words(&why)));
            output::print_error(&kept(&git, tree));
        }
        None => output::print_error(&kept(&git, tree)),
    }
    Ok(())
}

async fn ask(tree: &Worktree, left: &Work) -> anyhow::Result<Wish> {
    let into = tree.base.as_deref().map_or(String::new(), |base| format!(" into {base}"));
    let commits = if left.files > 0 { ", after a commit of all files" } else { "" };
    output::print_error(&format!(
        "worktree {} has {}.\nmerge: merge it{into}{commits}. keep: leave it as it is. remove: delete it.",
        tree.name,
        left.words()
    ));
    loop {
        match ask_line("merge, keep or remove? (Enter keeps) ", Echo::Shown).await? {
            TypedLine::Line(line) => match wish(&line) {
                Some(wish) => return Ok(wish),
                None => output::print_error("write one of the three words"),
            },
            TypedLine::Unusable(_) => output::print_error("write one of the three words"),
            TypedLine::Cancelled | TypedLine::Told(_) => return Ok(Wish::Keep),
        }
    }
}

/// Asks once more before something is lost.
async fn is_sure(lost: &str, otherwise: &str) -> anyhow::Result<bool> {
    let question = format!("{lost} would be lost. Write \"discard\" to throw it away ({otherwise}): ");
    Ok(matches!(ask_line(&question, Echo::Shown).await?, TypedLine::Line(line) if line.trim() == "discard"))
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
