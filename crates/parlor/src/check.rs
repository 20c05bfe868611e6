//! `parlor check`: whether a program keeps to its wire.

pub(crate) mod relay;

use crate::exit::Exit;

/// What the program under test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TestedRole {
    /// It runs an agent.
    Runtime,
    /// A person sits at it.
    Ui,
}

/// Check.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {}

pub(crate) async fn check(_: Check) -> anyhow::Result<Exit> {
    Ok(Exit::Done)
}
