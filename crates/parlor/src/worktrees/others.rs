//! Who else is in a worktree: another process of Parlor's with a session there, found as `parlor ps` finds it.

use super::Worktree;
use crate::announcement::Notice;
use crate::places;
use domain::path_text;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Processes that are looked at.
const MAX_PROCESSES: usize = 1024;
/// How long one may take to tell what it has open.
const TOLD_WITHIN: Duration = Duration::from_secs(2);
/// Longest answer that is read.
const MAX_TOLD: u64 = 1024 * 1024;

/// An error where another process has a session in it: its folder is not taken from under it.
pub(super) fn refuse_while_open(tree: &Worktree) -> anyhow::Result<()> {
    let directory = places::runtime()?;
    let own = std::process::id();
    let notices = Notice::all(&directory, MAX_PROCESSES);
    let alive = notices.into_iter().filter(|notice| notice.pid != own && notice.is_alive());
    for notice in alive {
        let Some(sessions) = sessions(&notice.who(&directory)) else { continue };
        let session_folders = sessions.iter().filter_map(|session| session["cwd"].as_str());
        if session_folders.chain([notice.cwd.as_str()]).any(|cwd| is_in(tree, cwd)) {
            anyhow::bail!(
                "worktree {} is open in another Parlor (pid {}, {})\nhint: close it there first",
                tree.name,
                notice.pid,
                notice.serving
            );
        }
    }
    Ok(())
}

fn is_in(tree: &Worktree, cwd: &str) -> bool {
    let cwd = path_text::read(cwd);
    cwd.canonicalize().unwrap_or(cwd).starts_with(&tree.path)
}

/// What a process says that it has open, nothing if it is only slow; `None` where nobody listens: then its number belongs to another
/// process now.
fn sessions(who: &Path) -> Option<Vec<Value>> {
    let link = match UnixStream::connect(who) {
        Ok(link) => link,
        Err(why) if matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) => {
            return None;
        }
        Err(_) => return Some(Vec::new()),
    };
    let mut line = String::new();
    let told = link
        .set_read_timeout(Some(TOLD_WITHIN))
        .and_then(|()| BufReader::new(link.take(MAX_TOLD)).read_line(&mut line));
    Some(told.ok().and_then(|_| serde_json::from_str(&line).ok()).unwrap_or_default())
}
