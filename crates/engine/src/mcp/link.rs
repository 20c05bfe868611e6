//! The way from a tool to its server's connection, which may not be there yet: the tool is known from the server's last run.

use super::client::Client;
use std::sync::Arc;
use tokio::sync::watch;

/// How a server can be reached.
#[derive(Clone, Default)]
pub(super) enum Link {
    /// It was not started, or has not answered yet.
    #[default]
    Coming,
    Open(Arc<Client>),
    /// It could not be started or has ended; why, in words.
    Over(String),
}

impl Link {
    /// The connection, once there is one.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(super) async fn reach(mut link: watch::Receiver<Link>) -> Result<Arc<Client>, String> {
        let settled = link.wait_for(|link| !matches!(link, Link::Coming)).await;
        match settled.as_deref() {
            Ok(Link::Open(client)) => Ok(client.clone()),
            Ok(Link::Over(why)) => Err(why.clone()),
            Ok(Link::Coming) | Err(_) => Err("it was stopped".to_owned()),
        }
    }
}
