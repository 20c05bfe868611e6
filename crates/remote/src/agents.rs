//! The agents of other programs that can be talked to, whether each is installed, and how to get it.
//!
//! Invariant: nothing is fetched, installed or started here.

mod look;
mod registry;

pub use registry::{Agent, AgentRegistry, State};

use host::error::usage;
use host::settings;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

/// All that are known, these lists of agents among them.
pub fn known(registries: &[PathBuf]) -> AgentRegistry {
    registry::gather(&settings::own_agents(), registries, &|program| {
        look::on_path(program, std::env::var_os("PATH"))
    })
}

/// The agent of this name.
///
/// # Errors
/// When there is none, or it cannot be started. What is wrong with the lists is said where it may be the reason.
pub fn find(name: &str, registries: &[PathBuf], say: impl Fn(&str)) -> anyhow::Result<Agent> {
    let AgentRegistry { agents, told } = known(registries);
    let names: Vec<String> = agents.iter().map(|agent| agent.name.clone()).collect();
    let Some(agent) = agents.into_iter().find(|agent| agent.name == name) else {
        for what in told {
            say(&format!("warning: {what}"));
        }
        let near = names
            .iter()
            .map(|known| (strsim::jaro_winkler(known, name), known))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|one, two| one.0.total_cmp(&two.0));
        let hint = match near {
            Some((_, near)) => format!("did you mean {near}? `parlor agents` lists all"),
            None if name.contains('@') => {
                format!("parlor attach ssh://{name} opens the runtime of another machine")
            }
            None => "`parlor agents` lists what there is; -- COMMAND starts a program of your own".to_owned(),
        };
        return Err(usage(format!("there is no agent `{name}`\n\nhint: {hint}")));
    };
    match agent.missing() {
        Some(missing) => anyhow::bail!("{missing}"),
        None => Ok(agent),
    }
}

/// How long a command may take to start, where the settings say so of the agent that it is, or of all.
pub(crate) fn start_within(command: &[OsString]) -> Option<Duration> {
    let own = settings::own_agents();
    let of_agent = || {
        let agents = known(&[]).agents;
        let typed = || command.iter().map(OsString::as_os_str);
        let agent = agents.into_iter().find(|agent| agent.command.iter().map(OsStr::new).eq(typed()))?;
        own.start_within.get(&agent.name).copied()
    };
    let of_agent = if own.start_within.is_empty() { None } else { of_agent() };
    of_agent.or_else(|| settings::read().config.start_within)
}

/// How alike two names must be for one to be meant by the other, from 0 to 1.
const ALIKE: f64 = 0.75;
