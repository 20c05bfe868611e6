//! Goes on with a conversation with another program's runtime (`--resume`, `--continue`): that program is started or reached again, in its folder,
//! and goes on with its own session where its wire can. What it is not: a session of ours, which `host::stack` opens.
//!
//! Invariant: what is started is shown before it is started.

use crate::agent_list::{self, StartConsent};
use crate::attach;
use crate::attach::Attach;
use crate::exit::Exit;
use crate::headless::{PromptRequest, Run};
use crate::output;
use crate::{aloud, unsupported_flags};
use domain::path_text;
use domain::session::RuntimePlace;
use host::launch::Launch;
use remote::elsewhere::KeptElsewhere;
use remote::origin;

/// Goes on with it in the terminal UI, or with one prompt.
pub(crate) async fn go_on(
    mut launch: Launch,
    kept: KeptElsewhere,
    said: Option<(PromptRequest, Run)>,
) -> anyhow::Result<Exit> {
    let KeptElsewhere { session, origin, cwd } = kept;
    let dialect = dialects::driven(&origin.dialect).map_err(|why| anyhow::anyhow!("{why}"))?;
    unsupported_flags::refuse_resumed(&launch, dialect)?;
    let (place, folder) = origin::address(&origin)?;
    if launch.cwd.is_none() {
        // The folder may be gone; the runtime's own is looked at where it is started.
        launch.cwd = Some(path_text::read(&cwd)).filter(|cwd| cwd.is_dir()).or_else(|| folder.clone());
    }
    let what = match &origin.place {
        RuntimePlace::Command { .. } => "starting",
        RuntimePlace::Socket { .. } => "connecting to",
    };
    output::print_error(&format!("{what} {}", origin::words(&origin)));
    if !origin::is_typed(&origin) {
        agreed().await?;
        aloud::remember(&origin);
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
    attach::go(&launch, &attach, said, place, attach::KeptSession { session: Some(session), folder }).await
}

/// Asks before a program is started that nobody has typed here.
async fn agreed() -> anyhow::Result<()> {
    const UNTYPED: &str = "this command was never typed here: the conversation came from another store";
    match agent_list::ask_to_start(&format!("{UNTYPED}. Start it?")).await? {
        StartConsent::Yes => Ok(()),
        StartConsent::No => anyhow::bail!(
            "nothing was started\n\nhint: `parlor sessions show ID` tells the command; y starts it"
        ),
        StartConsent::Nobody => anyhow::bail!(
            "{UNTYPED}\nhint: go on in a terminal, where you can be asked, or start it by hand with parlor attach"
        ),
    }
}
