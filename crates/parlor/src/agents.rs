//! `parlor agents`: the agents of other programs that can be talked to, whether each is installed, and how to get it. Also who finds one by
//! its name for `parlor attach NAME` and for the list of the terminal UI.
//!
//! Invariants: nothing is fetched, installed or started here. A listed command is started only after the person has seen it whole and
//! agreed; that is kept by the command itself, so that one that changes is asked for again.

mod book;
mod look;

pub(crate) use book::Agent;

use crate::exit::{self, Exit, Stream};
use crate::login::is_yes;
use crate::origin::RuntimeAddress;
use crate::{origin, settings};
use anyhow::Context;
use book::{Book, State};
use clap::Args;
use domain::session::RuntimePlace;
use std::io::IsTerminal;
use std::path::PathBuf;
use tui::{AgentLine, Echo, Typed, ask_line};

/// What `parlor agents` is told.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor agents                            what there is, and how to get it\n  parlor agents --registry registry.json   also what is published there\n  parlor attach goose                      talk to one; its first start is asked"
)]
pub(crate) struct Agents {
    /// A list of agents as the ACP registry publishes it: its `registry.json`, one `agent.json`, or a folder with entries. Also
    /// `registries` in your settings.
    #[arg(long, value_name = "PATH")]
    registry: Vec<PathBuf>,
    /// Print them as JSON, one in a line.
    #[arg(long)]
    json: bool,
}

/// Prints the list.
pub(crate) fn list(asked: &Agents) -> Exit {
    let Book { agents, told } = book(&asked.registry);
    for what in &told {
        exit::complain(&format!("warning: {what}"));
    }
    for agent in &agents {
        exit::say(&if asked.json { as_json(agent) } else { lines(agent) });
    }
    if !asked.json {
        exit::say(
            "\n`parlor attach NAME` starts one and opens the terminal UI on it; before its first start you see its command and are asked.",
        );
    }
    // What is wrong in the settings costs only itself; what was named now was meant.
    if told.is_empty() || asked.registry.is_empty() { Exit::Done } else { Exit::Failed }
}

/// The agents there are, for the list of the terminal UI.
pub(crate) fn for_screen() -> Vec<AgentLine> {
    let line = |agent: Agent| AgentLine {
        about: format!("{} · {}", agent.state.word(), agent.title),
        more: format!(
            "{}\n{}\n{}speaks {}, {}",
            agent.typed(),
            agent.state.words(),
            agent.how_to_get().map(|how| format!("{how}\n")).unwrap_or_default(),
            agent.dialect,
            agent.source
        ),
        missing: agent.missing(),
        name: agent.name,
    };
    book(&[]).agents.into_iter().map(line).collect()
}

fn book(registries: &[PathBuf]) -> Book {
    book::gather(&settings::own_agents(), registries, &|program| {
        look::on_path(program, std::env::var_os("PATH"))
    })
}

fn lines(agent: &Agent) -> String {
    let mut lines = format!("{:<14} {:<14} {}", agent.name, agent.state.word(), agent.typed());
    if let Some(how) = agent.how_to_get() {
        lines.push_str(&format!("\n{:<29} {how}", ""));
    }
    lines
}

fn as_json(agent: &Agent) -> String {
    let found = match &agent.state {
        State::Installed(at) | State::Fetched { runner: at, .. } => Some(at.display().to_string()),
        State::Missing { .. } => None,
    };
    serde_json::json!({
        "name": agent.name,
        "title": agent.title,
        "dialect": agent.dialect.name(),
        "command": agent.command,
        "state": agent.state.word(),
        "program": found,
        "install": agent.install,
        "source": agent.source.to_string(),
    })
    .to_string()
}

/// The agent of this name.
///
/// # Errors
/// When there is none, or it cannot be started.
pub(crate) fn find(name: &str, registries: &[PathBuf]) -> anyhow::Result<Agent> {
    let Book { agents, told } = book(registries);
    let known: Vec<String> = agents.iter().map(|agent| agent.name.clone()).collect();
    let Some(agent) = agents.into_iter().find(|agent| agent.name == name) else {
        for what in told {
            exit::complain(&format!("warning: {what}"));
        }
        let near = known
            .iter()
            .map(|known| (strsim::jaro_winkler(known, name), known))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|one, two| one.0.total_cmp(&two.0));
        let hint = match near {
            Some((_, near)) => format!("did you mean {near}? `parlor agents` lists all"),
            None => "`parlor agents` lists what there is; -- COMMAND starts a program of your own".to_owned(),
        };
        return Err(exit::usage(format!("there is no agent `{name}`\n\nhint: {hint}")));
    };
    match agent.missing() {
        Some(missing) => anyhow::bail!("{missing}"),
        None => Ok(agent),
    }
}

/// How alike two names must be for one to be meant by the other, from 0 to 1.
const ALIKE: f64 = 0.75;

/// What came of asking whether a program may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreed {
    Yes,
    No,
    /// Nobody is there who could say it.
    Nobody,
}

/// Shows the command of an agent whole and asks for its first start, unless the person has agreed to it before.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) async fn agree(agent: &Agent, yes: bool) -> anyhow::Result<Agreed> {
    let place = RuntimeAddress::Command(agent.command.iter().map(Into::into).collect());
    // Its program is found by its name or whole path: it is the same in every folder, and another one once the path leads to another
    // file. So what is agreed to is the words, at this file.
    let origin = origin::origin(agent.dialect, &place, &agent.file());
    // Of one with a key in it not all words are kept, and another key would look the same.
    let whole = matches!(origin.place, RuntimePlace::Command { incomplete: false, .. });
    if whole && origin::is_typed(&origin) {
        return Ok(Agreed::Yes);
    }
    exit::complain(&format!(
        "{} ({}, {}) is another program's agent. To be started:\n\n  {}\n\n{}. It speaks {}, and acts by its own rules.",
        agent.title,
        agent.name,
        agent.source,
        agent.typed(),
        agent.state.words(),
        agent.dialect
    ));
    let agreed =
        if yes { Agreed::Yes } else { ask_to_start("Start it, now and whenever you ask for it?").await? };
    if agreed == Agreed::Yes && whole {
        origin::remember(&origin);
    }
    Ok(agreed)
}

/// Asks before a program is started that nobody has typed here.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) async fn ask_to_start(question: &str) -> anyhow::Result<Agreed> {
    if !std::io::stdin().is_terminal() || !Stream::Err.is_terminal() {
        return Ok(Agreed::Nobody);
    }
    let typed = ask_line(&format!("{question} [y/N] "), Echo::Shown).await.context("nothing was answered")?;
    Ok(match typed {
        Typed::Line(line) if is_yes(&line) => Agreed::Yes,
        Typed::Line(_) | Typed::Unusable(_) | Typed::Cancelled | Typed::Told(_) => Agreed::No,
    })
}
