//! Agents of other programs in the sandbox: which folders are an agent's own, where it is held, and which hosts it reaches.
//!
//! What it is not: what holds it, which is [`tools::leashed`]. Invariants: what it may write is told before it is started; a host that no
//! rule allows is refused; where it cannot be held it is not started.

use domain::ask::Scope;
use domain::path_text;
use domain::session::Policy;
use engine::WorkDir;
use link::child::TERM_GRACE;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tools::leashed::{Leashed, LeashedPlaces};
use tools::policy::{Allowance, Matcher, Rule, Rules, Verdict, decide};
use tools::sandbox::Guard;
use tools::{Gate, Host, HostSay, Plan, ToolContext};

/// Folders for an agent beside the workspace: those that the person named. Its own are found.
#[derive(Debug, Clone, Default)]
pub struct LeashWish {
    pub shared: Vec<PathBuf>,
    /// Where it is started, where that is not the folder of this process.
    pub folder: Option<PathBuf>,
    /// Decides on hosts in the place of the rules of the project.
    pub gate: Option<Arc<dyn Gate>>,
}

/// Where something of an agent lies: in the folder that a variable names, else in this one of the home folder.
struct OwnPlace {
    variable: &'static str,
    /// Below what the variable names.
    below: &'static str,
    /// Below the home folder, where it is not set.
    usual: &'static str,
}

const fn own(variable: &'static str, below: &'static str, usual: &'static str) -> OwnPlace {
    OwnPlace { variable, below, usual }
}

/// Logins, settings and caches of agents, by the names of their programs. What is not there is passed over.
const OWN: &[(&[&str], &[OwnPlace])] = &[
    (
        &["claude", "claude-agent-acp", "claude-code-acp"],
        &[own("CLAUDE_CONFIG_DIR", "", ".claude"), own("", "", ".claude.json")],
    ),
    (&["codex", "codex-acp"], &[own("CODEX_HOME", "", ".codex")]),
    (&["gemini"], &[own("", "", ".gemini")]),
    (&["qwen"], &[own("", "", ".qwen")]),
    (
        &["goose"],
        &[
            own("XDG_CONFIG_HOME", "goose", ".config/goose"),
            own("XDG_DATA_HOME", "goose", ".local/share/goose"),
            own("XDG_STATE_HOME", "goose", ".local/state/goose"),
            own("XDG_CACHE_HOME", "goose", ".cache/goose"),
        ],
    ),
    (
        &["opencode"],
        &[
            own("XDG_CONFIG_HOME", "opencode", ".config/opencode"),
            own("XDG_DATA_HOME", "opencode", ".local/share/opencode"),
            own("XDG_STATE_HOME", "opencode", ".local/state/opencode"),
            own("XDG_CACHE_HOME", "opencode", ".cache/opencode"),
        ],
    ),
];

/// What of an agent's own is on this machine, by the words of its command.
pub fn own_places(
    command: &[OsString],
    home: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    let names: BTreeSet<String> = command
        .iter()
        .filter_map(|word| Path::new(word).file_stem())
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    let known = OWN.iter().filter(|(programs, _)| programs.iter().any(|program| names.contains(*program)));
    let place = |own: &OwnPlace| {
        let named = variable(own.variable).filter(|_| !own.variable.is_empty()).map(PathBuf::from);
        match named.filter(|named| named.is_absolute()) {
            Some(named) => Some(named.join(own.below)),
            None => Some(home?.join(own.usual)),
        }
    };
    let found = known.flat_map(|(_, places)| places.iter()).filter_map(place);
    found.filter_map(|place| place.canonicalize().ok()).collect()
}

/// Puts an agent on the leash. `say` is told what it may reach, line by line.
///
/// # Errors
/// When it cannot be held here, and when a folder that was named is not there.
pub(crate) async fn hold(
    wish: &LeashWish,
    command: &[OsString],
    work_dir: &WorkDir,
    data: &Path,
    guard: Option<Guard>,
    allow: &[Allowance],
    say: &(dyn Fn(&str) + Sync),
) -> anyhow::Result<Leashed> {
    let outputs = data.join("outputs").join("leashed");
    let Ok(root) = &work_dir.workspace else {
        anyhow::bail!("--leash needs a folder that is a project: start it in one, or name it with --cwd");
    };
    let place = ToolContext::new(root, &outputs)?;
    let guard = guard.ok_or_else(|| anyhow::anyhow!("nothing here could hold the agent"))?;
    let place = place.guarded(guard);
    let rules = Rules::load(data, root).unwrap_or_else(|_| Rules::none(data, root)).with(allow);
    let mut shared = Vec::new();
    for folder in &wish.shared {
        let real = folder.canonicalize().ok().filter(|real| real.is_dir());
        shared.push(real.ok_or_else(|| {
            anyhow::anyhow!("--share {}: there is no such folder\n\nhint: make it first", folder.display())
        })?);
    }
    let own = own_places(command, tools::home().as_deref(), |name| std::env::var_os(name));
    let hosts: Vec<String> =
        rules.all().iter().filter(|rule| reaches(rule)).map(ToString::to_string).collect();
    let names = |places: &[PathBuf]| {
        let names: Vec<String> = places.iter().map(|place| path_text::write(place)).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    say(&format!("in the sandbox: it writes in {}", path_text::write(root)));
    say(&format!("in the sandbox: its own folders: {}", names(&own)));
    say(&format!("in the sandbox: shared folders (--share): {}", names(&shared)));
    let hosts = if hosts.is_empty() { "none; --allow host:NAME".to_owned() } else { hosts.join(", ") };
    say(&format!("in the sandbox: network: {hosts}"));
    let writable = own.iter().filter(|place| place.is_dir()).chain(&shared).cloned().collect();
    let readable = own.iter().flat_map(|place| closed_in(place)).collect();
    let places = LeashedPlaces { writable, readable };
    let gate = match &wish.gate {
        Some(gate) => gate.clone(),
        None => Arc::new(LeashGate { rules: Mutex::new(rules), place: place.without_net() }),
    };
    let line = command.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Leashed::open(&place, &places, gate, TERM_GRACE, &line).await?)
}

/// An agent's own place, and what lies right in it: logins in it are closed one by one, and are its own.
fn closed_in(place: &Path) -> Vec<PathBuf> {
    /// Most entries of such a place that are opened.
    const MAX_ENTRIES: usize = 256;
    let entries = std::fs::read_dir(place).into_iter().flatten().take(MAX_ENTRIES);
    std::iter::once(place.to_owned()).chain(entries.flatten().map(|entry| entry.path())).collect()
}

fn reaches(rule: &Rule) -> bool {
    matches!(rule.matcher, Matcher::Reach { .. } | Matcher::Given(Allowance::Host(_)))
}

/// Decides on hosts for an agent in the sandbox: rules alone.
#[derive(Debug)]
struct LeashGate {
    rules: Mutex<Rules>,
    place: ToolContext,
}

impl LeashGate {
    fn all(&self) -> Vec<Rule> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        // What cannot be read changes nothing.
        let _ = rules.keep_up();
        rules.all()
    }
}

impl Gate for LeashGate {
    fn says(&self, host: &Host) -> HostSay {
        match decide(Policy::Ask, &Plan::reaching(host, &self.place), &self.all()) {
            Verdict::Allow(_) => HostSay::Allowed,
            Verdict::Deny(why) => HostSay::Denied(why),
            Verdict::Ask => HostSay::Denied(format!(
                "no rule lets the agent reach {host}: start it with --allow host:{host}"
            )),
        }
    }

    fn machine_ports(&self) -> Vec<u16> {
        self.all().iter().filter_map(Rule::machine_port).collect()
    }

    fn remember(&self, _: Scope, _: &Host) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agents_own_folders_are_found_by_its_program_and_by_variables() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for folder in [".codex", ".config/goose", "elsewhere/goose"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let found = |line: &str| own_places(&words(line), Some(&home), |_| None);
        assert_eq!(found("/opt/bin/codex-acp"), [home.join(".codex")]);
        assert_eq!(found("env A=b goose acp"), [home.join(".config/goose")]);
        assert_eq!(found("python3 agent.py"), Vec::<PathBuf>::new());
        let elsewhere = home.join("elsewhere").into_os_string();
        let named = |name: &str| (name == "XDG_CONFIG_HOME").then(|| elsewhere.clone());
        assert_eq!(own_places(&words("goose acp"), Some(&home), named), [home.join("elsewhere/goose")]);
    }
}
