//! What a person allows before anything is asked: `parlor run --allow`, and the words by which other programs say the same.
//!
//! It holds for one process and is never written down. What it covers is decided by the policy.

use std::fmt;

/// The word for everything.
const ALL: &str = "all";
const NETWORK: &str = "bash:network";
const FREE: &str = "bash:free";
/// How the names of tools of MCP servers begin; which there are is known only when the servers run.
const SERVER: &str = "mcp__";

/// Something that a person allows from the start.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Allowance {
    /// Every call of this tool that stays inside: for `bash`, inside the leash.
    Tool(String),
    /// Commands, also those that ask for the network.
    Network,
    /// Commands, also those that ask to run free of the leash, which has the network too.
    Free,
    /// Whatever would be asked.
    All,
}

/// The text names nothing that can be allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no tool `{said}`: allow {known}, a tool of an MCP server as mcp__SERVER__TOOL, or all")]
pub struct NotAllowable {
    pub said: String,
    pub known: String,
}

impl Allowance {
    /// Reads what a person wrote; `tools` are the names of the tools that there are.
    pub fn parse(text: &str, tools: &[&str]) -> Result<Allowance, NotAllowable> {
        match text {
            ALL => Ok(Allowance::All),
            NETWORK => Ok(Allowance::Network),
            FREE => Ok(Allowance::Free),
            name if tools.contains(&name) || is_servers(name) => Ok(Allowance::Tool(name.to_owned())),
            other => {
                let mut known = tools.to_vec();
                known.extend([NETWORK, FREE]);
                known.sort_unstable();
                Err(NotAllowable { said: other.to_owned(), known: known.join(", ") })
            }
        }
    }

    /// The name of the tool, when it is one of an MCP server.
    pub fn of_server(&self) -> Option<&str> {
        match self {
            Allowance::Tool(name) => Some(name.as_str()).filter(|name| name.starts_with(SERVER)),
            Allowance::Network | Allowance::Free | Allowance::All => None,
        }
    }
}

fn is_servers(name: &str) -> bool {
    let mut parts = name.strip_prefix(SERVER).unwrap_or_default().splitn(2, "__");
    matches!((parts.next(), parts.next()), (Some(server), Some(tool)) if !server.is_empty() && !tool.is_empty())
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Allowance::Tool(name) => name,
            Allowance::Network => NETWORK,
            Allowance::Free => FREE,
            Allowance::All => ALL,
        })
    }
}
