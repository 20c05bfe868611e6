//! Who else is in a worktree: another process of Parlor's with a session there, found as `parlor ps` finds it.

use super::Worktree;
use crate::{directory, processes};
use domain::path_text;

/// An error where another process has a session in it: its folder is not taken from under it.
///
/// # Errors
/// Who that is.
pub async fn refuse_while_open(tree: &Worktree) -> anyhow::Result<()> {
    let own = std::process::id();
    // Where nobody can be asked, nobody is known to be there.
    let all = processes::all(directory::here()?.as_ref()).await.unwrap_or_default();
    for process in all.into_iter().filter(|process| process.notice.pid != own) {
        let sessions = process.sessions.iter().flatten();
        let folders = sessions.filter_map(|session| session["cwd"].as_str());
        if folders.chain([process.notice.cwd.as_str()]).any(|cwd| is_in(tree, cwd)) {
            anyhow::bail!(
                "worktree {} is open in another Parlor (pid {}, {})\nhint: close it there first",
                tree.name,
                process.notice.pid,
                process.notice.serving
            );
        }
    }
    Ok(())
}

fn is_in(tree: &Worktree, cwd: &str) -> bool {
    let cwd = path_text::read(cwd);
    cwd.canonicalize().unwrap_or(cwd).starts_with(&tree.path)
}
