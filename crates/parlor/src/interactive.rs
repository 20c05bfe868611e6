//! The terminal UI on a hub, ours or one in front of a foreign runtime.

use crate::cli::Common;
use crate::exit::Exit;
use crate::stack;
use dialects::role::Answers;
use domain::command::Command;
use hub::Hub;
use hub::core::Standing;

/// `parlor` in a terminal.
pub(crate) async fn own(common: Common) -> anyhow::Result<Exit> {
    let own = stack::own(&common, stack::no_log()).await?;
    let start = own.start.clone().or(Some(Command::NewSession { cwd: None, title: None, id: None }));
    let exit = on(&own.hub, start, "parlor").await;
    own.hub.stop().await;
    exit
}

/// The terminal UI on a running hub.
pub(crate) async fn on(hub: &Hub, start: Option<Command>, _name: &str) -> anyhow::Result<Exit> {
    let ui = hub.attach("terminal", Standing::Controller, Answers::ALL, start).await?;
    drop(ui);
    anyhow::bail!("the terminal UI is not wired yet")
}
