//! The way to sessions that other processes of this person have open, for a hub that is asked for one (`hub::Visits`). What it is not:
//! [`crate::reach`], which starts a room where nobody has the session.

use crate::directory::SocketPurpose;
use crate::{directory, peer_trust, processes};
use anyhow::Context;
use domain::ids::SessionId;
use hub::{RemoteSeat, Visits};
use link::{Limits, unix};
use roles::{Hello, Lane};
use std::sync::Arc;

/// Leads to the process that says that it has the session open, by its native socket. Both sides look who the other is.
pub fn port() -> Visits {
    Arc::new(|session, answers| {
        Box::pin(async move { seat(&session, answers).await.map_err(|why| format!("{why:#}")) })
    })
}

async fn seat(session: &SessionId, answers: bool) -> anyhow::Result<RemoteSeat> {
    let directory = directory::here()?;
    let holder = processes::holder(directory.as_ref(), session).await?;
    let holder = holder.context("no process says that it has it open")?;
    let socket = directory.socket(holder.notice.pid, SocketPurpose::Ui);
    let limits = Limits::default();
    let link = unix::connect(&socket, Lane::MAIN, limits, unix::CONNECT_WITHIN, peer_trust::trust).await?;
    let hello = Hello {
        version: crate::version::version().to_owned(),
        cwd: "/".to_owned(),
        session: Some(session.as_str().into()),
        is_mute: !answers,
        ..Hello::default()
    };
    Ok(RemoteSeat {
        role: dialects::native::DIALECT.ui_role(),
        link,
        hello,
        lossless: true,
        errands: None,
        last_lines: None,
        ended: None,
        stranger: None,
    })
}
