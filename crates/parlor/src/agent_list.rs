//! `parlor agents`: lists the agents of other programs that can be talked to, also for the terminal UI, and asks before one is started.
//!
//! Invariants: nothing is fetched, installed or started here. A listed command is started only after the person has seen it whole and
//! agreed; that is kept by the command itself, so that one that changes is asked for again.

use crate::aloud;
use crate::exit::Exit;
use crate::login::is_yes;
use crate::output::{self, Stream};
use anyhow::Context;
use clap::Args;
use remote::agents::{Agent, AgentRegistry, State, known};
use remote::agreement::agreement;
pub(crate) use remote::agreement::is_agreed;
use remote::origin;
use std::io::IsTerminal;
use std::path::PathBuf;
use tui::{AgentLine, Echo, TypedLine, ask_line};

/// What `parlor agents` is told.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor agents                            what there is, and how to get it\n  parlor agents --registry registry.json   also what is published there\n  parlor attach goose                      talk to one"
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
    let AgentRegistry { agents, told } = known(&asked.registry);
    for what in &told {
        output::print_error(&format!("warning: {what}"));
    }
    for agent in &agents {
        output::print_line(&if asked.json { as_json(agent) } else { lines(agent) });
    }
    if !asked.json {
        output::print_line(
            "\n`parlor attach NAME` starts one and opens the terminal UI on it; before its first start you see its command and are asked.\n`parlor acp --to NAME` is one for your editor, by your rules: docs/editors/between.md.",
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
    known(&[]).agents.into_iter().map(line).collect()
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

/// What came of asking whether a program may be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartConsent {
    Yes,
    No,
    /// Nobody is there who could say it.
    Nobody,
}

/// Asks for the first start of an agent, with what is said where it may not be started, and the exit code of that; `None` where it may.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) async fn started(agent: &Agent, yes: bool) -> anyhow::Result<Option<Exit>> {
    Ok(match agree(agent, yes).await? {
        StartConsent::Yes => None,
        StartConsent::No => {
            output::print_error("nothing was started");
            Some(Exit::Denied)
        }
        StartConsent::Nobody => {
            output::print_error(
                "nothing was started: there is no terminal to ask on\nhint: say yes with --yes, or start it once in a terminal",
            );
            Some(Exit::NeedsInput)
        }
    })
}

/// The agents that can be started and that the person has agreed to.
pub(crate) fn agreed() -> Vec<String> {
    let agents = known(&[]).agents.into_iter();
    agents.filter(|agent| agent.missing().is_none() && is_agreed(agent)).map(|agent| agent.name).collect()
}

/// Shows the command of an agent whole and asks for its first start, unless the person has agreed to it before.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) async fn agree(agent: &Agent, yes: bool) -> anyhow::Result<StartConsent> {
    let (origin, whole) = agreement(agent);
    if whole && origin::is_typed(&origin) {
        return Ok(StartConsent::Yes);
    }
    output::print_error(&format!(
        "{} ({}, {}) is another program's agent. To be started:\n\n  {}\n\n{}. It speaks {}, and acts by its own rules.",
        agent.title,
        agent.name,
        agent.source,
        agent.typed(),
        agent.state.words(),
        agent.dialect
    ));
    let agreed = if yes {
        StartConsent::Yes
    } else {
        ask_to_start("Start it, now and whenever you ask for it?").await?
    };
    if agreed == StartConsent::Yes && whole {
        aloud::remember(&origin);
    }
    Ok(agreed)
}

/// Asks before a program is started that nobody has typed here.
///
/// # Errors
/// When the terminal cannot be read.
pub(crate) async fn ask_to_start(question: &str) -> anyhow::Result<StartConsent> {
    if !std::io::stdin().is_terminal() || !Stream::Err.is_terminal() {
        return Ok(StartConsent::Nobody);
    }
    let typed = ask_line(&format!("{question} [y/N] "), Echo::Shown).await.context("nothing was answered")?;
    Ok(match typed {
        TypedLine::Line(line) if is_yes(&line) => StartConsent::Yes,
        TypedLine::Line(_) | TypedLine::Unusable(_) | TypedLine::Cancelled | TypedLine::Told(_) => {
            StartConsent::No
        }
    })
}
