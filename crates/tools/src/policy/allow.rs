//! Which calls and questions an allowance covers, and which would be the least that covers one.
//!
//! Invariant: only `all` covers what cannot be undone, what steers programs, what
//! is written outside and what is read of secrets.

use super::table::{Act, acts};
use crate::rule::Allowance;
use crate::shell::STEERS;
use crate::tool::{Deed, KEEPS_SECRETS, Plan};
use domain::ask::{Consent, Risk};
use serde_json::Value;

const BASH: &str = "bash";
const EDIT: &str = "edit";
/// The other form of editing, which some models know better.
pub(crate) const PATCH: &str = "apply_patch";

impl Allowance {
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
            Allowance::Host(host) => matches!(&plan.deed, Deed::Reach { host: wanted } if wanted == host),
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

    /// Whether a file is to be changed outside the project, which another workspace would allow.
    pub fn is_elsewhere(consent: &Consent) -> bool {
        let said = |words: &str| consent.assessment.reasons.iter().any(|reason| reason.contains(words));
        matches!(consent.name.as_str(), "write" | "edit" | PATCH)
            && consent.assessment.risk == Risk::High
            && !said(STEERS)
            && !said(KEEPS_SECRETS)
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
            _ if Allowance::is_elsewhere(consent) => Allowance::All,
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

/// How the reason begins that is about a command which begins outside the project.
pub(crate) const RUNS_IN: &str = "runs in ";

const INSIDE: &[Act] = &[
    Act::LookInside,
    Act::LookOutside,
    Act::Write,
    Act::Repository,
    Act::Command,
    Act::CommandForGood,
    Act::Server,
];

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
        for word in [
            "bash",
            "write",
            "bash:network",
            "bash:free",
            "all",
            "mcp__files__read_file",
            "host:registry.npmjs.org",
            "host:a.example:8080",
            "port:5432",
        ] {
            assert_eq!(Allowance::parse(word, &tools).unwrap().to_string(), word);
        }
        for word in [
            "bsah",
            "",
            "Bash",
            "bash:",
            "bash:all",
            "mcp__",
            "mcp__x",
            "mcp____x",
            "write:free",
            "*",
            "host:",
            "host:me@x",
            "port:",
            "port:0",
            "port:99999",
        ] {
            let why = Allowance::parse(word, &tools).unwrap_err().to_string();
            assert!(why.contains("bash, bash:free, bash:network, write"), "{why}");
        }
    }
}
