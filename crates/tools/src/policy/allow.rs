//! What a person allows before anything is asked: `parlor run --allow`, and the words by which other programs say the same.
//!
//! It holds for one process and is never written down. Invariant: only `all` covers what cannot be undone, what steers programs, what
//! is written outside and what is read of secrets.

use super::table::{Act, acts};
use crate::tool::Plan;
use domain::ask::{Consent, Risk};
use serde_json::Value;
use std::fmt;

/// The word for everything.
const ALL: &str = "all";
const BASH: &str = "bash";
const EDIT: &str = "edit";
const PATCH: &str = crate::patch::NAME;
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

    /// Whether it covers all that the plan does.
    pub fn covers(&self, plan: &Plan) -> bool {
        let fits = |tool: &str, more: &[Act]| {
            usual_name(&plan.tool) == tool
                && acts(plan).iter().all(|act| INSIDE.contains(act) || more.contains(act))
        };
        match self {
            Allowance::All => true,
            Allowance::Free => fits(BASH, &[Act::Network, Act::Leave]),
            Allowance::Network => fits(BASH, &[Act::Network]),
            // Its only use is the network.
            Allowance::Tool(name) if name == "fetch" => fits(name, &[Act::Network]),
            Allowance::Tool(name) => fits(name, &[]),
        }
    }

    /// Whether it covers what is asked, as far as the question tells.
    pub fn covers_consent(&self, consent: &Consent) -> bool {
        match (self, Allowance::for_consent(consent)) {
            (Allowance::All, _) => true,
            (Allowance::Free, needed) => needed != Allowance::All && consent.name == BASH,
            (Allowance::Network, Allowance::Tool(name)) => name == BASH,
            (allowed, needed) => *allowed == needed,
        }
    }

    /// The least that would cover what is asked, as far as the question tells: for whoever can be asked nothing more.
    pub fn for_consent(consent: &Consent) -> Allowance {
        let risk = consent.assessment.risk;
        let flag = |name: &str| {
            let args: Option<Value> = serde_json::from_str(consent.args.as_str()).ok();
            args.is_some_and(|args| args.get(name).and_then(Value::as_bool) == Some(true))
        };
        let said = |words: &str| consent.assessment.reasons.iter().any(|reason| reason.contains(words));
        match consent.name.as_str() {
            _ if risk == Risk::Critical || said(STEERS) || said(KEEPS_SECRETS) => Allowance::All,
            "write" | "edit" | PATCH if risk > Risk::Medium => Allowance::All,
            BASH if flag("unsandboxed") || said(RUNS_IN) => Allowance::Free,
            BASH if flag("network") => Allowance::Network,
            name => Allowance::Tool(usual_name(name).to_owned()),
        }
    }
}

/// The name that a person allows it by: which form of editing a model knows is none of their business.
fn usual_name(tool: &str) -> &str {
    if tool == PATCH { EDIT } else { tool }
}

/// What every reason says that is about a file which steers programs.
pub(crate) const STEERS: &str = "steers what programs do here";
/// What every reason says that is about a place which is closed to commands.
pub(crate) const KEEPS_SECRETS: &str = "where people keep secrets";
/// How the reason begins that is about a command which begins outside of the workspace.
pub(crate) const RUNS_IN: &str = "runs in ";

const INSIDE: &[Act] =
    &[Act::LookInside, Act::LookOutside, Act::Write, Act::Repository, Act::Command, Act::Server];

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

#[cfg(test)]
mod tests {
    use super::*;

    fn consent(name: &str, args: &str, risk: Risk) -> Consent {
        Consent {
            tool: domain::ids::ToolRunId(1),
            name: name.to_owned(),
            args: domain::content::Json::verbatim(args),
            preview: None,
            assessment: domain::ask::Assessment {
                risk,
                reasons: Vec::new(),
                reversible: true,
                unrated: false,
            },
            digest: domain::ask::ActionDigest(String::new()),
            rule: None,
            takes_reason: true,
        }
    }

    #[test]
    fn a_question_is_covered_by_what_names_it_and_by_no_less() {
        let tool = |name: &str| Allowance::Tool(name.to_owned());
        let plain = consent("bash", r#"{"command":"ls"}"#, Risk::Medium);
        for allowed in [tool("bash"), Allowance::Network, Allowance::Free, Allowance::All] {
            assert!(allowed.covers_consent(&plain), "{allowed}");
        }
        assert!(!tool("shell").covers_consent(&plain));
        let free = consent("bash", r#"{"command":"ls","unsandboxed":true}"#, Risk::Medium);
        assert!(Allowance::Free.covers_consent(&free) && !Allowance::Network.covers_consent(&free));
        let critical = consent("bash", r#"{"command":"rm -rf /"}"#, Risk::Critical);
        for allowed in [tool("bash"), Allowance::Network, Allowance::Free] {
            assert!(!allowed.covers_consent(&critical), "{allowed}");
        }
        assert!(Allowance::All.covers_consent(&critical));
        assert!(tool("shell").covers_consent(&consent("shell", "{}", Risk::Low)));
    }

    #[test]
    fn a_word_that_names_nothing_is_refused_with_what_there_is() {
        let tools = ["bash", "write"];
        for word in ["bash", "write", "bash:network", "bash:free", "all", "mcp__files__read_file"] {
            assert_eq!(Allowance::parse(word, &tools).unwrap().to_string(), word);
        }
        for word in
            ["bsah", "", "Bash", "bash:", "bash:all", "mcp__", "mcp__x", "mcp____x", "write:free", "*"]
        {
            let why = Allowance::parse(word, &tools).unwrap_err().to_string();
            assert!(why.contains("bash, bash:free, bash:network, write"), "{why}");
        }
    }
}
