//! What the person has set for the agent. Pure: reading files is the caller's business, and so are all other settings.

use crate::place::Look;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tools::policy::Mode;

/// Percent of the window at which a conversation is compacted.
pub const COMPACT_AT: u8 = 80;
/// How long an extension may take, unless its entry says otherwise.
pub const EXTENSION_DEADLINE: Duration = Duration::from_secs(30);
/// Longest time an entry may give to an extension.
const MAX_DEADLINE_S: u64 = 600;

/// What the person has set for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// The model to use where nobody named one, as `provider/name`.
    pub model: Option<String>,
    /// The mode of new sessions where nobody named one.
    pub policy: Option<Mode>,
    /// Percent of the window at which a conversation is compacted.
    pub compact_at: u8,
    /// Commands that answer [`domain::command::Command::Extension`], by name.
    pub extensions: BTreeMap<String, Extension>,
    /// Whether the model may fetch pages of the web.
    pub fetch: Fetching,
    /// What commands may reach beside the workspace.
    pub sandbox: Sandbox,
    /// The person's home: skills lie there. `None`: no such skills.
    pub home: Option<PathBuf>,
    /// The person's directory of settings: `AGENTS.md` and `mcp.json` lie there. `None`: there are none.
    pub settings: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: None,
            policy: None,
            compact_at: COMPACT_AT,
            extensions: BTreeMap::new(),
            fetch: Fetching::default(),
            sandbox: Sandbox::default(),
            home: None,
            settings: None,
        }
    }
}

/// Whether the model may fetch pages of the web; each host is asked for all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub struct Fetching {
    /// Whether the tool is there at all.
    #[serde(default)]
    pub enabled: bool,
    /// Whether this machine and its own network may be asked too.
    #[serde(default)]
    pub private: bool,
}

/// What commands may reach beside the workspace: absolute paths, or paths that start with `~/`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
pub struct Sandbox {
    /// Places that may be read although people keep secrets there.
    #[serde(default)]
    pub also_readable: Vec<PathBuf>,
    /// Places that may be written, such as a build cache.
    #[serde(default)]
    pub also_writable: Vec<PathBuf>,
}

impl Sandbox {
    fn checked(self) -> Result<Sandbox, ConfigError> {
        let lists = [("also_readable", &self.also_readable), ("also_writable", &self.also_writable)];
        for (key, places) in lists {
            if let Some(place) = places.iter().find(|place| !place.is_absolute() && !place.starts_with("~")) {
                let why = format!("{} starts with neither / nor ~/", place.display());
                return Err(ConfigError::Value { key: format!("sandbox.{key}"), why });
            }
        }
        Ok(self)
    }

    fn at(self, home: Option<&Path>) -> Sandbox {
        let settle = |places: Vec<PathBuf>| {
            let settled = places.into_iter().filter_map(|place| match place.strip_prefix("~") {
                Ok(rest) => home.map(|home| home.join(rest)),
                Err(_) => Some(place),
            });
            settled.collect()
        };
        Sandbox { also_readable: settle(self.also_readable), also_writable: settle(self.also_writable) }
    }
}

/// An external command that answers in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// How long it may take.
    pub deadline: Duration,
}

/// Settings that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Not TOML, or a value of the wrong kind.
    #[error("the settings cannot be read: {0}")]
    Malformed(String),
    /// A value that makes no sense.
    #[error("{key}: {why}")]
    Value {
        /// Which.
        key: String,
        /// What is wrong and what would be right.
        why: String,
    },
}

/// Only the keys of the agent; the others belong to other parts of the program.
#[derive(Debug, Deserialize)]
struct Wanted {
    model: Option<String>,
    policy: Option<String>,
    compact_at: Option<u8>,
    #[serde(default)]
    extensions: BTreeMap<String, WantedExtension>,
    #[serde(default)]
    fetch: Fetching,
    #[serde(default)]
    sandbox: Sandbox,
}

#[derive(Debug, Deserialize)]
struct WantedExtension {
    command: Vec<String>,
    timeout_s: Option<u64>,
}

impl Config {
    /// The agent's part of a settings file:
    ///
    /// ```toml
    /// model = "anthropic/claude-sonnet-4-5"
    /// policy = "ask"
    /// compact_at = 80
    /// [extensions.weather]
    /// command = ["weather-json", "--short"]
    /// timeout_s = 10
    /// [fetch]
    /// enabled = true
    /// [sandbox]
    /// also_readable = ["~/.aws"]
    /// ```
    ///
    /// # Errors
    /// When the text is not TOML or a value cannot be used.
    pub fn from_toml(text: &str) -> Result<Config, ConfigError> {
        let wanted: Wanted =
            toml::from_str(text).map_err(|why| ConfigError::Malformed(why.message().to_owned()))?;
        let compact_at = wanted.compact_at.unwrap_or(COMPACT_AT);
        if !(10..=100).contains(&compact_at) {
            let why = format!("{compact_at} is no percentage between 10 and 100");
            return Err(ConfigError::Value { key: "compact_at".to_owned(), why });
        }
        let policy = wanted.policy.as_deref().map(str::parse::<Mode>).transpose();
        let policy =
            policy.map_err(|why| ConfigError::Value { key: "policy".to_owned(), why: why.to_string() })?;
        let mut extensions = BTreeMap::new();
        for (name, entry) in wanted.extensions {
            extensions.insert(name.clone(), extension(&name, entry)?);
        }
        let (model, fetch, sandbox) = (wanted.model, wanted.fetch, wanted.sandbox.checked()?);
        Ok(Config { model, policy, compact_at, extensions, fetch, sandbox, home: None, settings: None })
    }

    /// Where instructions and skills are looked for.
    pub(crate) fn look(&self, project: &str, cwd: &str) -> Look {
        Look::new(project.as_ref(), cwd.as_ref(), self.home.clone(), self.settings.clone())
    }

    /// The same with the places where the person keeps things.
    #[must_use]
    pub fn at(self, home: Option<PathBuf>, settings: Option<PathBuf>) -> Config {
        Config { sandbox: self.sandbox.at(home.as_deref()), home, settings, ..self }
    }
}

fn extension(name: &str, entry: WantedExtension) -> Result<Extension, ConfigError> {
    let wrong = |key: &str, why: String| ConfigError::Value { key: format!("extensions.{name}.{key}"), why };
    if entry.command.first().is_none_or(|program| program.trim().is_empty()) {
        return Err(wrong("command", "name a program, such as [\"my-tool\", \"--json\"]".to_owned()));
    }
    let deadline = match entry.timeout_s {
        None => EXTENSION_DEADLINE,
        Some(seconds @ 1..=MAX_DEADLINE_S) => Duration::from_secs(seconds),
        Some(_) => return Err(wrong("timeout_s", format!("must be between 1 and {MAX_DEADLINE_S} seconds"))),
    };
    Ok(Extension { command: entry.command, deadline })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agents_part_of_the_settings_is_read() {
        let text = "model = \"x\"\ncompact_at = 60\n[extensions.weather]\ncommand = [\"w\", \"-j\"]\ntimeout_s = 5\n\
                    [extensions.plain]\ncommand = [\"p\"]\n";
        let config = Config::from_toml(text).unwrap();
        assert_eq!((config.compact_at, config.model.as_deref()), (60, Some("x")));
        let weather = Extension { command: vec!["w".into(), "-j".into()], deadline: Duration::from_secs(5) };
        assert_eq!(config.extensions["weather"], weather);
        assert_eq!(config.extensions["plain"].deadline, EXTENSION_DEADLINE);
        assert_eq!(Config::from_toml("").unwrap(), Config::default());
        assert!(!config.fetch.enabled, "nothing goes out unless somebody said so");
        let fetching = Config::from_toml("[fetch]\nenabled = true").unwrap().fetch;
        assert_eq!(fetching, Fetching { enabled: true, private: false });
    }

    #[test]
    fn what_commands_may_reach_is_told_by_whole_paths() {
        let text = "[sandbox]\nalso_readable = [\"~/.aws\", \"/data\"]\nalso_writable = [\"~/.cache/x\"]\n";
        let sandbox = Config::from_toml(text).unwrap().at(Some("/home/u".into()), None).sandbox;
        assert_eq!(sandbox.also_readable, [Path::new("/home/u/.aws"), Path::new("/data")]);
        assert_eq!(sandbox.also_writable, [Path::new("/home/u/.cache/x")]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, what) in [
            (
                "[sandbox]\nalso_readable = [\"keys\"]",
                "sandbox.also_readable: keys starts with neither / nor ~/",
            ),
            ("compact_at = 5", "compact_at: 5 is no percentage between 10 and 100"),
            ("[extensions.a]\ncommand = []", "extensions.a.command: name a program"),
            ("[extensions.a]\ncommand = [\"a\"]\ntimeout_s = 0", "extensions.a.timeout_s: must be between"),
            ("[extensions.a]\ncommand = \"a\"", "the settings cannot be read: invalid type: string"),
            ("compact_at = [", "the settings cannot be read"),
        ] {
            let said = Config::from_toml(text).unwrap_err().to_string();
            assert!(said.starts_with(what), "{text}: {said}");
        }
    }
}
