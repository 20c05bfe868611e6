//! The relay that a UI under test starts in place of its runtime: carries stdin and stdout to the socket where the kit listens.

use crate::exit::Exit;
use anyhow::Context;
use host::peer_trust;
use link::unix;
use std::ffi::OsString;
use std::path::Path;

/// The hidden sub-command.
pub(crate) const RELAY: &str = "__relay";

/// The command of the relay, to which the path of a socket is added.
pub(crate) fn command() -> anyhow::Result<Vec<OsString>> {
    let exe = std::env::current_exe().context("cannot find this program's own path")?;
    Ok(vec![exe.into(), RELAY.into()])
}

/// Carries until one side ends.
pub(crate) async fn relay(path: &Path) -> anyhow::Result<Exit> {
    let stream =
        unix::reach(path, unix::CONNECT_WITHIN, peer_trust::trust).await.context("cannot reach the kit")?;
    crate::relay::carry(stream).await;
    Ok(Exit::Done)
}
