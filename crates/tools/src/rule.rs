//! What a person allowed for more than once, as data: a rule, what it matches, and how it is offered and narrowed.
//!
//! Whether one covers a planned call is decided by the policy, which knows plans.

mod allowance;

use crate::address::Host;
use crate::shell::{ScriptFile, barred};
use domain::path_text;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

pub use allowance::{Allowance, NotAllowable};

/// What a person allowed for more than once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rule {
    /// The tool it is for; `None` when the matcher alone says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(flatten)]
    pub matcher: Matcher,
}

/// Which calls a rule covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "allow", rename_all = "snake_case")]
pub enum Matcher {
    /// Every call of the tool.
    Whole,
    /// Commands that start with these words.
    Prefix { words: Vec<String> },
    /// Commands that are exactly these words.
    Exact { words: Vec<String> },
    /// One script of the workspace as it was then, whatever words it gets.
    Script {
        /// The program that runs it; left out where it is run itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
        /// The script, canonical.
        #[serde(with = "path")]
        file: PathBuf,
        /// What it held, as a digest.
        digest: String,
    },
    /// Writes to files in this directory or below.
    Under {
        /// The directory, canonical.
        #[serde(with = "path")]
        dir: PathBuf,
    },
    /// Pages of this host.
    Host {
        /// The host, with its port where that is not the usual one.
        host: String,
    },
    /// Commands that go to this host by the session's proxy. Not the same as its pages: a command sends what it likes.
    Reach {
        /// The host, with its port where that is not a usual one.
        host: String,
    },
    /// What was allowed when the program was started. Never kept.
    #[serde(skip)]
    Given(Allowance),
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.matcher {
            Matcher::Whole => write!(f, "use {}", self.tool.as_deref().unwrap_or("nothing")),
            Matcher::Prefix { words } => write!(f, "run commands that start with `{}`", words.join(" ")),
            Matcher::Exact { words } => write!(f, "run exactly `{}`", words.join(" ")),
            Matcher::Script { by, file, .. } => {
                let by = by.as_ref().map(|by| format!("{by} ")).unwrap_or_default();
                write!(f, "run `{by}{}` as it is now, with any arguments", path_text::write(file))
            }
            Matcher::Under { dir } => write!(f, "write files under {}", path_text::write(dir)),
            Matcher::Host { host } => write!(f, "fetch pages from {host}"),
            Matcher::Reach { host } => write!(f, "let commands reach {host}"),
            Matcher::Given(allowance) => write!(f, "allowed from the start: {allowance}"),
        }
    }
}

impl Rule {
    /// Every call of one tool, as for tools of an MCP server.
    pub fn whole(tool: &str) -> Rule {
        Rule { tool: Some(tool.to_owned()), matcher: Matcher::Whole }
    }

    /// That commands reach one host.
    pub fn reach(host: &Host) -> Rule {
        Rule { tool: None, matcher: Matcher::Reach { host: host.to_string() } }
    }

    /// What a person allowed when the program was started.
    pub fn given(allowance: Allowance) -> Rule {
        Rule { tool: None, matcher: Matcher::Given(allowance) }
    }

    /// The narrower rule that these words stand for: more words of the command, or the same words for exactly that command; a folder
    /// below.
    pub fn narrowed(&self, to: &str) -> Result<Rule, NotNarrower> {
        let no = || NotNarrower { rule: self.to_string(), how: self.how_to_narrow() };
        let matcher = match &self.matcher {
            Matcher::Prefix { words } => {
                let said: Vec<String> = to.split_whitespace().map(str::to_owned).collect();
                if said == *words {
                    Matcher::Exact { words: said }
                } else if said.starts_with(words) {
                    Matcher::Prefix { words: said }
                } else {
                    return Err(no());
                }
            }
            Matcher::Under { dir } => {
                let below = dir.join(path_text::read(to.trim()));
                let steps = below.components().all(|step| !matches!(step, std::path::Component::ParentDir));
                if !steps || below == *dir || !below.starts_with(dir) {
                    return Err(no());
                }
                Matcher::Under { dir: below }
            }
            Matcher::Whole
            | Matcher::Exact { .. }
            | Matcher::Script { .. }
            | Matcher::Host { .. }
            | Matcher::Reach { .. }
            | Matcher::Given(_) => {
                return Err(no());
            }
        };
        Ok(Rule { tool: self.tool.clone(), matcher })
    }

    /// The words to begin with when it is to be narrowed; nothing when it cannot be.
    pub fn to_narrow(&self) -> Option<String> {
        match &self.matcher {
            Matcher::Prefix { words } => Some(words.join(" ")),
            Matcher::Under { dir } => Some(path_text::write(dir)),
            Matcher::Whole
            | Matcher::Exact { .. }
            | Matcher::Script { .. }
            | Matcher::Host { .. }
            | Matcher::Reach { .. }
            | Matcher::Given(_) => None,
        }
    }

    fn how_to_narrow(&self) -> &'static str {
        match &self.matcher {
            Matcher::Prefix { .. } => "write its words and more of them, or just its words for exactly that",
            Matcher::Under { .. } => "write a folder below",
            Matcher::Whole
            | Matcher::Exact { .. }
            | Matcher::Script { .. }
            | Matcher::Host { .. }
            | Matcher::Reach { .. }
            | Matcher::Given(_) => "it cannot be narrowed, only revoked",
        }
    }

    /// Whether a command of these words is one that it allows.
    pub(crate) fn covers_words(&self, said: &[String]) -> bool {
        match &self.matcher {
            Matcher::Prefix { words } => !words.is_empty() && said.starts_with(words) && !barred(said),
            Matcher::Exact { words } => said == words.as_slice(),
            Matcher::Whole
            | Matcher::Script { .. }
            | Matcher::Under { .. }
            | Matcher::Host { .. }
            | Matcher::Reach { .. }
            | Matcher::Given(_) => false,
        }
    }

    /// Whether it allows this script, as it is now.
    pub(crate) fn covers_script(&self, script: &ScriptFile) -> bool {
        matches!(&self.matcher, Matcher::Script { by, file, digest }
            if *by == script.by && *file == script.file && *digest == script.digest)
    }

    /// Whether it allows pages of this host.
    pub(crate) fn covers_host(&self, wanted: &str) -> bool {
        matches!(&self.matcher, Matcher::Host { host } if host == wanted)
    }

    /// The port of this machine that it lets commands reach.
    pub fn machine_port(&self) -> Option<u16> {
        match &self.matcher {
            Matcher::Reach { host } | Matcher::Given(Allowance::Host(host)) => Host::named_machine_port(host),
            _ => None,
        }
    }

    /// Whether it allows commands to reach this host.
    pub(crate) fn covers_reach(&self, wanted: &str) -> bool {
        matches!(&self.matcher, Matcher::Reach { host } if host == wanted)
    }

    /// Whether it allows to write this file, by its resolved path.
    pub(crate) fn covers_file(&self, path: &Path) -> bool {
        matches!(&self.matcher, Matcher::Under { dir } if path.starts_with(dir))
    }
}

/// The words make no narrower rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("that is not narrower than to {rule}: {how}")]
pub struct NotNarrower {
    rule: String,
    how: &'static str,
}

/// The rules that "always" would add, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleOffer {
    /// Shown to the person: "run commands that start with `cargo test`".
    pub words: String,
    /// What would be remembered.
    pub rules: Vec<Rule>,
}

/// Paths in the file: also those that are not UTF-8.
pub(crate) mod path {
    use domain::path_text;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use std::path::{Path, PathBuf};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&path_text::write(path))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Ok(path_text::read(&String::deserialize(from)?))
    }
}
