//! `parlor __room`: this program as a room, started by a server or a relay.

use crate::agent_room::{self, RoomAgent};
use crate::aloud;
use crate::exit::Exit;
use crate::output;
use dialects::Dialect;
use host::launch::Launch;
use host::rooms::room;
use host::store_place;
use remote::elsewhere;
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
    /// The agent of another program behind it, by the name that it is listed under.
    #[arg(long)]
    agent: Option<String>,
    /// The wire that it speaks beside the native one.
    #[arg(long, value_parser = crate::flags::dialect())]
    wire: Option<Dialect>,
    /// Sessions begin there in Parlor's own terminal or page.
    #[arg(long)]
    own_ui: bool,
}

/// Is a room until nobody needs it, or it is told to end.
pub(crate) async fn run(launch: Launch, asked: Room) -> anyhow::Result<Exit> {
    let Room { session, idle, log, agent, wire, own_ui } = asked;
    // Rooms, and all who look for them, share the file of this machine; whoever set a database was refused before this, or asked for it.
    let launch = Launch { store: Some(store_place::HERE.to_owned()), ..launch };
    let kept = match &session {
        Some(id) => elsewhere::find(&mut Launch { resume: Some(Some(id.clone())), ..launch.clone() })?,
        None => None,
    };
    let room = room::Room { session, idle: Duration::from_secs(idle), log, wire };
    match (agent, kept) {
        (_, Some(kept)) => agent_room::run(launch, room, RoomAgent::Kept(kept)).await,
        (Some(name), None) => agent_room::run(launch, room, RoomAgent::Listed(name)).await,
        (None, None) => {
            let launch = Launch { own_ui, ..launch };
            room::run(launch, room, aloud::log(), output::stderr_log()).await?;
            Ok(Exit::Done)
        }
    }
}
