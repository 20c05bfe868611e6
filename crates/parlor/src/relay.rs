//! `parlor relay`: carries stdin and stdout to a session of this machine, for a terminal on another one (`attach/ssh.rs`). It starts
//! nothing twice: the process that has the session open is gone to, else the server is asked for a room, else one is started here.
//!
//! The first line on stdout says who is there, so that the other side knows that ssh has asked all its questions.

use crate::control::Control;
use crate::exit::{self, Carrier, Exit};
use crate::kept;
use crate::processes;
use crate::rooms::{IDLE, Opened, Rooms, Wanted};
use crate::{entrance, places};
use anyhow::Context;
use domain::ids::SessionId;
use link::unix;
use serde_json::json;
use store::SqliteStore;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::task::JoinSet;

/// Carry stdin and stdout to a session of this machine.
#[derive(Debug, clap::Args)]
pub(crate) struct Relay {
    /// The session, by its id or the beginning of it; without one a room for a new session in this folder.
    session: Option<String>,
}

/// Carries until one side ends.
pub(crate) async fn relay(asked: Relay) -> anyhow::Result<Exit> {
    let session = asked.session.as_deref();
    let (opened, session) = match session {
        Some(id) => to_session(id).await?,
        None => (open(Wanted::new_in(Some(places::here()?))).await?, None),
    };
    let stream = unix::reach(&opened.socket, unix::CONNECT_WITHIN, entrance::trust).await?;
    let greeting = json!({"relay": {
        "version": crate::version::version(),
        "session": session.as_ref().map(SessionId::as_str),
    }});
    exit::say(&greeting.to_string());
    carry(stream).await;
    Ok(Exit::Done)
}

/// Carries stdin and stdout to a socket and back, byte for byte, until the socket ends.
pub(crate) async fn carry(stream: UnixStream) {
    let (mut from, mut to) = stream.into_split();
    let mut up = JoinSet::new();
    up.spawn(async move {
        let _ = tokio::io::copy(&mut tokio::io::stdin(), &mut to).await;
        let _ = to.shutdown().await;
    });
    let _ = tokio::io::copy(&mut from, &mut Carrier::of_tasks()).await;
}

/// The process that has a session, which may be named by the beginning of its id.
async fn to_session(id: &str) -> anyhow::Result<(Opened, Option<SessionId>)> {
    let whole = match processes::find(id).await {
        Ok((_, whole)) => SessionId::parse(&whole).context("a process names a session that is none")?,
        Err(_) => {
            let store = SqliteStore::to_read(&places::data()?).map_err(|why| kept::told(&why))?;
            kept::find(&store, id)?
        }
    };
    Ok((open(Wanted::session(whole.clone())).await?, Some(whole)))
}

async fn open(wanted: Wanted) -> anyhow::Result<Opened> {
    match Control::here().await? {
        Some(mut control) => control.open(&wanted).await,
        None => Ok(Rooms::new(IDLE)?.open(wanted).await?),
    }
}
