//! `parlor __room`: this program as a room, started by a server or a relay.

use crate::aloud;
use crate::exit::Exit;
use crate::output;
use host::launch::Launch;
use host::rooms::room;
use std::path::PathBuf;
use std::time::Duration;

/// The process of a room.
#[derive(Debug, clap::Args)]
pub(crate) struct Room {
    /// The session that is opened before anybody comes.
    #[arg(long)]
    session: Option<String>,
    /// How many seconds it stays without UI, run and question.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    idle: u64,
    /// The log that it writes.
    #[arg(long)]
    log: PathBuf,
    /// Sessions begin there in Parlor's own terminal or page.
    #[arg(long)]
    own_ui: bool,
}

/// Is a room until nobody needs it, or it is told to end.
pub(crate) async fn run(launch: Launch, asked: Room) -> anyhow::Result<Exit> {
    let Room { session, idle, log, own_ui } = asked;
    let launch = Launch { own_ui, ..launch };
    let room = room::Room { session, idle: Duration::from_secs(idle), log };
    room::run(launch, room, aloud::log(), output::stderr_log()).await?;
    Ok(Exit::Done)
}
