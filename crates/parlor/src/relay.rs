//! `parlor relay`: carries stdin and stdout to a session of this machine, for a terminal on another one (`remote::ssh`).
//!
//! The first line on stdout says who is there, so that the other side knows that ssh has asked all its questions.

use crate::exit::Exit;
use crate::output::{self, Carrier};
use domain::ids::SessionId;
use host::rooms::RoomRequest;
use host::{paths, peer_trust, reach};
use link::unix;
use serde_json::json;
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
        Some(id) => {
            let (opened, session) = reach::session(id).await?;
            (opened, Some(session))
        }
        None => (reach::open(RoomRequest::new_in(Some(paths::here()?))).await?, None),
    };
    let stream = unix::reach(&opened.socket, unix::CONNECT_WITHIN, peer_trust::trust).await?;
    let greeting = json!({"relay": {
        "version": host::version::version(),
        "session": session.as_ref().map(SessionId::as_str),
    }});
    output::print_line(&greeting.to_string());
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
