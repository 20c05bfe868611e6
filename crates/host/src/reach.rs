//! Brings whoever asks to a session: to the process that has it open, else to a room of the server, else to one that is started here.
//! Nothing is started twice.

use crate::control::Control;
use crate::rooms::{IDLE, OpenedRoom, RoomRequest, Rooms};
use crate::{kept, paths, processes};
use anyhow::Context;
use domain::ids::SessionId;
use store::SqliteStore;

/// The process that has a session, which may be named by the beginning of its id.
///
/// # Errors
/// When there is no such session, or it cannot be opened.
pub async fn session(id: &str) -> anyhow::Result<(OpenedRoom, SessionId)> {
    let whole = match processes::find(id).await {
        Ok((_, whole)) => SessionId::parse(&whole).context("a process names a session that is none")?,
        Err(_) => {
            anyhow::ensure!(
                SqliteStore::is_at(&paths::data()?)?,
                "no conversation is kept yet; start one with `parlor`"
            );
            let store = SqliteStore::to_read(&paths::data()?).map_err(|why| kept::told(&why))?;
            kept::find(&store, id)?
        }
    };
    Ok((open(RoomRequest::session(whole.clone())).await?, whole))
}

/// What is wanted, from the server where one runs, else from a room that is started here.
///
/// # Errors
/// When it cannot be had.
pub async fn open(wanted: RoomRequest) -> anyhow::Result<OpenedRoom> {
    match Control::here().await? {
        Some(mut control) => control.open(&wanted).await,
        None => Ok(Rooms::new(IDLE)?.open(wanted).await?),
    }
}
