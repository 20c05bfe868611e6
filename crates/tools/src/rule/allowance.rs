//! What a person allows before anything is asked: `parlor run --allow`, and the words by which other programs say the same.
//!
//! It holds for one process and is never written down. What it covers is decided by the policy.

use crate::address::Host;
use std::fmt;

/// The word for everything.
const ALL: &str = "all";
const NETWORK: &str = "bash:network";
const FREE: &str = "bash:free";
/// How the word for one host begins.
const HOST: &str = "host:";
/// How the word for one port of this machine begins.
const PORT: &str = "port:";
/// The port of a host where the word names none; it stands for the other usual one too.
const USUAL_PORT: u16 = 443;
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
    /// That commands reach this host by the session's proxy; the commands themselves are another matter.
    Host(String),
    /// Whatever would be asked.
    All,
}

/// The text names nothing that can be allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no tool `{said}`: allow {known}, host:NAME, port:NUMBER of this machine, a tool of an MCP server as mcp__SERVER__TOOL, or all"
)]
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
                if let Some(host) = named_host(other) {
                    return Ok(Allowance::Host(host));
                }
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
            Allowance::Network | Allowance::Free | Allowance::Host(_) | Allowance::All => None,
        }
    }
}

/// The host that a word names, as rules name it.
fn named_host(word: &str) -> Option<String> {
    if let Some(digits) = word.strip_prefix(PORT) {
        let words = format!("port {digits} of this machine");
        return Host::named_machine_port(&words).map(|_| words);
    }
    let host = Host::parse(word.strip_prefix(HOST)?, Some(USUAL_PORT)).ok()?;
    Some(host.to_string())
}

fn is_servers(name: &str) -> bool {
    let mut parts = name.strip_prefix(SERVER).unwrap_or_default().splitn(2, "__");
    matches!((parts.next(), parts.next()), (Some(server), Some(tool)) if !server.is_empty() && !tool.is_empty())
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowance::Tool(name) => f.write_str(name),
            Allowance::Network => f.write_str(NETWORK),
            Allowance::Free => f.write_str(FREE),
            Allowance::Host(host) => match Host::named_machine_port(host) {
                Some(port) => write!(f, "{PORT}{port}"),
                None => write!(f, "{HOST}{host}"),
            },
            Allowance::All => f.write_str(ALL),
        }
    }
}
