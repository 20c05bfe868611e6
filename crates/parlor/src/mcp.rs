//! `parlor mcp`: the MCP servers of the person and of the project. A project's servers start only after the person agreed once.

use crate::cli::Common;
use crate::exit::{self, Exit};
use crate::{places, settings, stack};
use anyhow::Context;
use clap::{Args, Subcommand};
use engine::mcp::{self, Approvals, Listed};

/// The MCP servers there are.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Which there are and whether each may start.
    List,
    /// Add one of your own: `parlor mcp add NAME -- COMMAND…`, or `parlor mcp add NAME --url URL`.
    Add {
        /// The server's name in the settings.
        name: String,
        /// Where it is reached over HTTP.
        #[arg(long, conflicts_with = "command")]
        url: Option<String>,
        /// How it is started.
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Take one of your own away.
    Remove {
        /// The server's name in the settings.
        name: String,
    },
    /// Agree that a server of this project may start, as it is written now.
    Approve {
        /// The server's name in the settings.
        name: String,
    },
    /// Start one, ask what it offers, and let it go.
    Test {
        /// The server's name in the settings.
        name: String,
    },
}

/// Lists, adds, removes, approves or tries servers.
pub(crate) async fn mcp(common: &Common, asked: Mcp) -> anyhow::Result<Exit> {
    let mut config = settings::read_aloud();
    let (data, ground) = (places::data()?, places::ground_aloud(common, &mut config)?);
    let (servers, troubles) = mcp::servers(&config, &data, ground.workspace.as_deref().ok());
    let own = config.settings.clone().context("there is no place for settings: set PARLOR_CONFIG_DIR");
    match asked.what.unwrap_or(What::List) {
        What::List => {
            for listed in &servers {
                exit::say(&line(listed));
            }
            for (file, trouble) in &troubles {
                let name = trouble.name.as_deref().unwrap_or("the file");
                exit::complain(&format!("{}: {name}: {}", file.display(), trouble.why));
            }
            if servers.is_empty() && troubles.is_empty() {
                exit::say(
                    "no MCP servers\n\nhint: parlor mcp add NAME -- COMMAND, or a .mcp.json in the project",
                );
            }
        }
        What::Add { name, url, command } => {
            let value = match (url, command.split_first()) {
                (Some(url), _) => serde_json::json!({ "url": url }),
                (None, Some((program, args))) => serde_json::json!({ "command": program, "args": args }),
                (None, None) => anyhow::bail!("say how it is reached: --url URL, or -- COMMAND"),
            };
            let entry = mcp::add(&own?, &name, &value)?;
            exit::say(&format!("added {}", entry.words()));
        }
        What::Remove { name } => {
            anyhow::ensure!(mcp::remove(&own?, &name)?, "there is no server {name} of yours");
        }
        What::Approve { name } => {
            let project = ground.workspace.as_ref().map_err(|why| anyhow::anyhow!("{}", why.words()))?;
            let listed = find(&servers, &name)?;
            Approvals::in_data(&data).add(project, &listed.entry.digest, &listed.entry.words())?;
            exit::say(&format!("{name} may start in this project: {}", listed.entry.words()));
        }
        What::Test { name } => {
            let listed = find(&servers, &name)?;
            anyhow::ensure!(
                listed.approved,
                "{name} comes from the project: agree first with `parlor mcp approve {name}`"
            );
            let guard = stack::guard(&config);
            let tested = mcp::test(&listed.entry, listed.from_project, &config, &ground, guard).await;
            let tested = tested.map_err(|why| anyhow::anyhow!("{name}: {why}"))?;
            exit::say(&format!("{}: {} tools", tested.name, tested.tools.len()));
            for tool in tested.tools {
                exit::say(&format!("  {tool}"));
            }
        }
    }
    Ok(Exit::Done)
}

fn find<'a>(servers: &'a [Listed], name: &str) -> anyhow::Result<&'a Listed> {
    let found = servers.iter().find(|listed| listed.entry.name == name);
    found.with_context(|| format!("there is no server {name}; `parlor mcp list` shows which there are"))
}

fn line(listed: &Listed) -> String {
    let state = match (listed.entry.disabled, listed.approved) {
        (true, _) => "off",
        (false, true) => "ready to start",
        (false, false) => "waits for your consent (parlor mcp approve)",
    };
    let from = if listed.from_project { "project" } else { "yours" };
    format!("{:<20} {from:<8} {state:<16} {}", listed.entry.name, listed.entry.words())
}
