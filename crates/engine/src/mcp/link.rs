//! The way from a tool to its server's connection, which may not be there yet: the tool is known from the server's last run.

use super::client::Client;
use super::tool::Offered;
use std::sync::Arc;
use tokio::sync::watch;

/// Why there is no connection to a server that is not wanted any more.
const STOPPED: &str = "it was stopped";

/// How a server can be reached.
#[derive(Clone, Default)]
pub(super) enum Link {
    /// It was not started, or has not answered yet.
    #[default]
    Coming,
    Open {
        client: Arc<Client>,
        /// What it offers now; `None` until it has told that.
        tools: Option<Arc<[Offered]>>,
    },
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
            Ok(Link::Open { client, .. }) => Ok(client.clone()),
            Ok(Link::Over(why)) => Err(why.clone()),
            Ok(Link::Coming) | Err(_) => Err(STOPPED.to_owned()),
        }
    }

    /// What the server offers, once it has told that since it was started.
    ///
    /// # Errors
    /// Why it never will, in words.
    pub(super) async fn offered(mut link: watch::Receiver<Link>) -> Result<Arc<[Offered]>, String> {
        let told = |link: &Link| matches!(link, Link::Open { tools: Some(_), .. } | Link::Over(_));
        match link.wait_for(told).await.as_deref() {
            Ok(Link::Open { tools: Some(tools), .. }) => Ok(tools.clone()),
            Ok(Link::Over(why)) => Err(why.clone()),
            Ok(Link::Open { tools: None, .. } | Link::Coming) | Err(_) => Err(STOPPED.to_owned()),
        }
    }
}
