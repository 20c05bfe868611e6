//! Kept conversations with other programs' runtimes: which one is meant by `--resume` and `--continue`. What it is not: a session of ours,
//! which the stack opens.

use domain::ids::SessionId;
use domain::session::Origin;
use host::launch::Launch;
use host::{kept, paths, settings, store_place};
use store::{SqliteStore, Store};

/// A kept conversation with another program's runtime.
#[derive(Debug)]
pub struct KeptElsewhere {
    pub session: SessionId,
    pub origin: Origin,
    /// Where the person worked.
    pub cwd: String,
}

/// Finds what is to be gone on with, if that is a conversation with another program that no process has open: one that is open is joined
/// where it is, and nothing is started for it. It is named by its whole id in `launch` afterwards, so that nobody is asked twice which one
/// was meant.
///
/// # Errors
/// When what was typed names none or several.
pub fn find(launch: &mut Launch) -> anyhow::Result<Option<KeptElsewhere>> {
    if launch.resume.is_none() && !launch.continue_last || launch.ephemeral {
        return Ok(None);
    }
    if store_place::database(launch)?.is_some() {
        // Which of them are with other programs is not looked up there: they are refused with the way when they are opened.
        return Ok(None);
    }
    let data = paths::data()?;
    // What is wrong with a store is told by who opens it to write.
    let Ok(true) = SqliteStore::is_at(&data) else { return Ok(None) };
    let Ok(store) = SqliteStore::at(&data) else { return Ok(None) };
    let work_dir = paths::work_dir(launch, &mut settings::read().config)?;
    let Some(session) = kept::wanted(launch, &store, &paths::project(&work_dir))? else { return Ok(None) };
    (launch.resume, launch.continue_last) = (Some(Some(session.to_string())), false);
    if store.holders().map_err(|why| kept::told(&why))?.contains_key(&session) {
        return Ok(None);
    }
    let summary = store.summary(&session).map_err(|why| kept::told(&why))?;
    Ok(summary.origin.map(|origin| KeptElsewhere { session, origin: *origin, cwd: summary.cwd }))
}
