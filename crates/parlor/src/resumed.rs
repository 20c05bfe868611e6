//! `--resume` and `--continue` of a conversation with another program's runtime: that program is started or reached again, in its folder,
//! and goes on with its own session where its wire can. What it is not: a session of ours, which `stack.rs` opens.
//!
//! Invariant: what is started is shown before it is started.

use crate::agents::{self, Agreed};
use crate::attach;
use crate::attach::Attach;
use crate::exit::{self, Exit};
use crate::headless::{Run, Said};
use crate::kept;
use crate::launch::Launch;
use crate::origin;
use crate::{places, settings, their_flags};
use domain::ids::SessionId;
use domain::path_text;
use domain::session::{Origin, RuntimePlace};
use store::{SqliteStore, Store};

/// A kept conversation with another program's runtime.
#[derive(Debug)]
pub(crate) struct KeptElsewhere {
    session: SessionId,
    origin: Origin,
    /// Where the person worked.
    cwd: String,
}

/// Finds what is to be gone on with, if that is a conversation with another program. It is named by its whole id in `launch` afterwards,
/// so that nobody is asked twice which one was meant.
pub(crate) fn find(launch: &mut Launch) -> anyhow::Result<Option<KeptElsewhere>> {
    if launch.resume.is_none() && !launch.continue_last || launch.ephemeral {
        return Ok(None);
    }
    let data = places::data()?;
    // What is wrong with a store is told by who opens it to write.
    let Ok(true) = SqliteStore::is_at(&data) else { return Ok(None) };
    let Ok(store) = SqliteStore::at(&data) else { return Ok(None) };
    let ground = places::ground(launch, &mut settings::read().config)?;
    let Some(session) = kept::wanted(launch, &store, &places::project(&ground))? else { return Ok(None) };
    (launch.resume, launch.continue_last) = (Some(Some(session.to_string())), false);
    let summary = store.summary(&session).map_err(|why| kept::told(&why))?;
    Ok(summary.origin.map(|origin| KeptElsewhere { session, origin: *origin, cwd: summary.cwd }))
}

/// Goes on with it in the terminal UI, or with one prompt.
pub(crate) async fn go_on(
    mut launch: Launch,
    kept: KeptElsewhere,
    said: Option<(Said, Run)>,
) -> anyhow::Result<Exit> {
    let KeptElsewhere { session, origin, cwd } = kept;
    let dialect = dialects::named(&origin.dialect).map_err(|why| anyhow::anyhow!("{why}"))?;
    their_flags::refuse_resumed(&launch, dialect)?;
    let (place, folder) = origin::address(&origin)?;
    if launch.cwd.is_none() {
        // The folder may be gone; the runtime's own is looked at where it is started.
        launch.cwd = Some(path_text::read(&cwd)).filter(|cwd| cwd.is_dir()).or_else(|| folder.clone());
    }
    let what = match &origin.place {
        RuntimePlace::Command { .. } => "starting",
        RuntimePlace::Socket { .. } => "connecting to",
    };
    exit::complain(&format!("{what} {}", origin::words(&origin)));
    if !origin::is_typed(&origin) {
        agreed().await?;
        origin::remember(&origin);
    }
    let (said, run) = match said {
        Some((said, run)) => (Some(said), run),
        None => (None, Run::of(String::new())),
    };
    let attach = Attach {
        session: origin.session.clone(),
        json: run.json,
        allow: run.allow,
        timeout: run.timeout,
        ..Attach::on(dialect)
    };
    attach::go(&launch, &attach, said, place, attach::Kept { session: Some(session), folder }).await
}

/// Asks before a program is started that nobody has typed here.
async fn agreed() -> anyhow::Result<()> {
    const UNTYPED: &str = "this command was never typed here: the conversation came from another store";
    match agents::ask_to_start(&format!("{UNTYPED}. Start it?")).await? {
        Agreed::Yes => Ok(()),
        Agreed::No => anyhow::bail!("nothing was started"),
        Agreed::Nobody => anyhow::bail!(
            "{UNTYPED}\nhint: go on in a terminal, where you can be asked, or start it by hand with parlor attach"
        ),
    }
}
