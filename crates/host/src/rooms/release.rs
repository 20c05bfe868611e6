//! Making way: a command without a screen works in a session itself. The room that has it open lets go of it, if nobody needs that room.
//!
//! Invariant: the room decides. It is asked by a signal, and looks at that moment whether somebody is there; what runs, asks or is looked
//! at is never ended for a command.

use super::{detach, live, registry};
use crate::directory::{self, Directory};
use crate::paths;
use crate::processes::{self, Process};
use domain::ids::SessionId;
use rustix::process::Signal;
use std::time::{Duration, Instant};
use store::StoreError;

/// Asks a room to end if nobody needs it.
const LET_GO: Signal = Signal::USR1;
/// How long it may take for that: it writes everything down first.
const GONE_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Sees to it that a session can be opened here, where another process of ours has it open.
///
/// # Errors
/// When somebody is there, or it is no room: what can be done then.
pub async fn make_way(session: &SessionId) -> anyhow::Result<()> {
    let data = std::path::absolute(paths::data()?)?;
    let directory = directory::here()?;
    let Some(holder) = holder(session, directory.as_ref()).await else { return Ok(()) };
    let pid = holder.notice.pid;
    if !live(&data).contains(&pid) {
        return Err(refused(session, pid, "close it there"));
    }
    if let Some(why) = holder.needed(session) {
        return Err(refused(session, pid, &format!("{why}; `parlor down` ends every session process")));
    }
    registry::signal(&[pid], LET_GO);
    let end = Instant::now() + GONE_WITHIN;
    while detach::is_there(pid) {
        if Instant::now() >= end {
            let why = "the session is still in use in the background; `parlor down` ends all of these";
            return Err(refused(session, pid, why));
        }
        // Somebody was quicker than we.
        let came = holder_in(session, directory.as_ref(), pid).await;
        if let Some(why) = came.and_then(|holder| holder.needed(session)) {
            return Err(refused(session, pid, &format!("{why}; `parlor down` ends every session process")));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// The process that has the session open. One that cannot be asked is told by who opens the store.
async fn holder(session: &SessionId, directory: &dyn Directory) -> Option<Process> {
    processes::holder(directory, session).await.unwrap_or_default()
}

async fn holder_in(session: &SessionId, directory: &dyn Directory, pid: u32) -> Option<Process> {
    holder(session, directory).await.filter(|process| process.notice.pid == pid)
}

fn refused(session: &SessionId, pid: u32, why: &str) -> anyhow::Error {
    let open = StoreError::Busy { session: session.clone(), pid };
    anyhow::anyhow!(
        "{open}\nhint: {why}, and `parlor attach --session {session}` goes there (with --prompt TEXT for one prompt)"
    )
}
