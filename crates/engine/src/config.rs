//! What the person has set for the agent. Pure: reading files is the caller's business, and so are all other settings.

mod known;
mod providers;

pub use known::{KnownSetting, SETTINGS};
pub use providers::cost_micros;

use crate::text_sources::TextSources;
use domain::path_text;
use domain::session::{Budget, Effort, Policy};
use models::{Figures, Limits};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use toml::{Table, Value};
use tools::bash::{MAX_SET_TIMEOUT, MAX_TIMEOUT};
use tools::{Bash, Bounds, NoWorkspace, Tool as _, Toolbox};

/// Percent of the window at which a conversation is compacted.
pub const COMPACT_AT: u8 = 80;
/// How long an extension may take, unless its entry says otherwise.
pub const EXTENSION_DEADLINE: Duration = Duration::from_secs(30);
/// Longest time an entry may give to an extension.
const MAX_DEADLINE_S: u64 = 600;
/// Longest time that a question may be given.
const MAX_ANSWER_S: u64 = 24 * 60 * 60;
/// How long a run that nobody watches waits for servers that are starting: most need a moment, and who never answers costs no more.
const SERVERS_WITHIN: Duration = Duration::from_secs(10);
/// How long a server may take to start and to tell its tools.
pub(crate) const CONNECT: Duration = Duration::from_secs(30);
/// The longest that can be set, in seconds: no server has more time to answer.
const MAX_SERVERS_S: u64 = CONNECT.as_secs();

/// What the person has set for the agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The model to use where nobody named one, as `provider/name`.
    pub model: Option<String>,
    /// The model that goes on where the chosen one could not answer, as `provider/name`.
    pub fallback: Option<String>,
    /// Where conversations are kept, if not in the file of this machine. What it means is read where the store is opened.
    pub store: Option<String>,
    /// How long is waited for a provider, and how often it is asked.
    pub limits: Limits,
    /// Figures of models, by name.
    pub models: BTreeMap<String, Figures>,
    /// What may be spent.
    pub budget: Budget,
    /// How hard the model thinks in new sessions where nobody said it.
    pub effort: Option<Effort>,
    /// The mode of new sessions where nobody named one.
    pub policy: Option<Policy>,
    /// Percent of the window at which a conversation is compacted.
    pub compact_at: u8,
    /// How long a question may wait on a wire that has a deadline, where the person wants another; zero for as long as it takes.
    pub answer_within: Option<Duration>,
    /// How long a runtime of another program may say nothing before a message to it is given up, where the person wants another time.
    pub give_up_after: Option<Duration>,
    /// How long an agent of another program may take to start, where the person wants another time than that it lives or moves.
    pub start_within: Option<Duration>,
    /// Commands that answer [`domain::command::Command::Extension`], by name.
    pub extensions: BTreeMap<String, Extension>,
    /// Whether the model may fetch pages of the web.
    pub fetch: Fetching,
    /// What commands may reach beside the workspace.
    pub sandbox: Sandbox,
    /// Whether nobody is there who could see what is missing, say it again or answer: then the first turn waits until each MCP server has
    /// answered or failed and tells of it in the run, the model knows and cannot ask, and steps are bounded.
    pub is_headless: bool,
    /// Whether it may be kept what a person was asked, so that a question tells how many of the latest ones its rule would have answered.
    /// Not of the settings.
    pub keeps_questions: bool,
    /// Whether it is kept what sub-agents say and read.
    pub keeps_outputs: bool,
    /// How long is waited for MCP servers where nobody is there. Who takes longer joins in a later step.
    pub servers_within: Duration,
    /// The longest that one command of the model may take.
    pub commands_within: Duration,
    /// JSON Schema of the answer that is wanted of every run, for providers that hold their models to one. Not of the settings.
    pub answer_schema: Option<serde_json::Value>,
    /// Folders that the person vouches for as workspaces, whoever owns them.
    pub workspaces: Vec<PathBuf>,
    /// The person's home: skills lie there. `None`: no such skills.
    pub home: Option<PathBuf>,
    /// The person's directory of settings: `AGENTS.md` and `mcp.json` lie there. `None`: there are none.
    pub settings: Option<PathBuf>,
    /// Parlor's own folders: nobody works in them.
    pub own: Vec<PathBuf>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            model: None,
            fallback: None,
            store: None,
            limits: Limits::default(),
            models: BTreeMap::new(),
            budget: Budget::default(),
            effort: None,
            policy: None,
            compact_at: COMPACT_AT,
            answer_within: None,
            give_up_after: None,
            start_within: None,
            extensions: BTreeMap::new(),
            fetch: Fetching::default(),
            sandbox: Sandbox::default(),
            is_headless: false,
            keeps_questions: false,
            keeps_outputs: false,
            servers_within: SERVERS_WITHIN,
            commands_within: Duration::from_secs(MAX_TIMEOUT),
            answer_schema: None,
            workspaces: Vec::new(),
            home: None,
            settings: None,
            own: Vec::new(),
        }
    }
}

/// Whether the model may fetch pages of the web; each host is asked for all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fetching {
    /// Whether the tool is there at all.
    pub enabled: bool,
    /// Whether this machine and its own network may be asked too.
    pub private: bool,
}

/// What commands may reach beside the workspace: absolute paths, or paths that start with `~/`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// Places that may be read although people keep secrets there.
    pub also_readable: Vec<PathBuf>,
    /// Places that may be written, such as a build cache.
    pub also_writable: Vec<PathBuf>,
}

/// Folders that start with `~/` in the person's home; where there is none they lead nowhere.
fn settled(places: Vec<PathBuf>, home: Option<&Path>) -> Vec<PathBuf> {
    let settled = places.into_iter().filter_map(|place| match place.strip_prefix("~") {
        Ok(rest) => home.map(|home| home.join(rest)),
        Err(_) => Some(place),
    });
    settled.collect()
}

/// An external command that answers in JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// How long it may take.
    pub deadline: Duration,
}

/// A setting that cannot be used; everything else counts all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Not TOML.
    #[error("it is not TOML, so nothing in it counts: {0}")]
    Malformed(String),
    /// A value of the wrong kind, or one that makes no sense.
    #[error("{key}: {why}")]
    Value {
        key: String,
        /// What is wrong and what would be right.
        why: String,
    },
}

impl ConfigError {
    fn value(key: impl Into<String>, why: impl Into<String>) -> ConfigError {
        ConfigError::Value { key: key.into(), why: why.into() }
    }
}

impl Config {
    /// The agent's part of a settings file, and what in it cannot be used:
    ///
    /// ```toml
    /// model = "anthropic/claude-sonnet-4-5"
    /// fallback = "openai/gpt-5"
    /// effort = "high"
    /// policy = "ask"
    /// compact_at = 80
    /// workspaces = ["/srv/shared-project"]
    /// [extensions.weather]
    /// command = ["weather-json", "--short"]
    /// timeout_s = 10
    /// [fetch]
    /// enabled = true
    /// [sandbox]
    /// also_readable = ["~/.aws"]
    /// [network]
    /// first_byte_s = 300
    /// idle_s = 180
    /// attempts = 5
    /// [budget]
    /// max_cost = 2.50
    /// max_steps = 40
    /// max_time_s = 1800
    /// [models."openai/gpt-9"]
    /// window = 400_000
    /// max_output = 128_000
    /// price = { input = 1.25, output = 10.0, cache_read = 0.125 }
    /// ```
    ///
    /// A mistake costs only the key it stands in. Other keys belong to other parts of the program.
    pub fn from_toml(text: &str) -> (Config, Vec<ConfigError>) {
        let (mut config, mut wrong) = (Config::default(), Vec::new());
        let table: Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(why) => return (config, vec![ConfigError::Malformed(why.message().to_owned())]),
        };
        let mut take = |key: &str, read: &mut dyn FnMut(&Value) -> Result<(), ConfigError>| {
            if let Some(Err(why)) = table.get(key).map(read) {
                wrong.push(why);
            }
        };
        let names =
            [("model", &mut config.model), ("fallback", &mut config.fallback), ("store", &mut config.store)];
        for (key, place) in names {
            take(key, &mut |value| {
                let name =
                    value.as_str().ok_or_else(|| ConfigError::value(key, "must be a name in quotes"))?;
                *place = Some(name.to_owned());
                Ok(())
            });
        }
        take("effort", &mut |value| {
            let effort = value.as_str().and_then(Effort::named).ok_or_else(|| {
                let names = Effort::ALL.map(Effort::name).join(", ");
                ConfigError::value("effort", format!("{} is no effort; there are {names}", shown(value)))
            })?;
            config.effort = Some(effort);
            Ok(())
        });
        take("policy", &mut |value| {
            // A mode that cannot be read may have been meant as a narrow one: nothing wider than the narrowest counts.
            config.policy = Some(Policy::ReadOnly);
            let narrowed = "read-only counts until it is put right";
            let wrong = |why: String| ConfigError::value("policy", format!("{why}; {narrowed}"));
            let name = value.as_str().ok_or_else(|| wrong("must be a mode in quotes".to_owned()))?;
            config.policy = Some(Policy::named(name).ok_or_else(|| {
                let names = Policy::ALL.map(Policy::name).join(", ");
                wrong(format!("`{name}` is no policy mode; there are {names}"))
            })?);
            Ok(())
        });
        take("compact_at", &mut |value| {
            let percent = value.as_integer().and_then(|number| u8::try_from(number).ok());
            let percent = percent.filter(|percent| (10..=100).contains(percent));
            let why = || format!("{} is no percentage between 10 and 100", shown(value));
            config.compact_at = percent.ok_or_else(|| ConfigError::value("compact_at", why()))?;
            Ok(())
        });
        let mut seconds = |key: &str, from: u64, to: u64| {
            let mut found = None;
            take(key, &mut |value| {
                let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
                let why = || format!("{} is no number of seconds from {from} to {to}", shown(value));
                let number = number.filter(|number| (from..=to).contains(number));
                found = Some(Duration::from_secs(number.ok_or_else(|| ConfigError::value(key, why()))?));
                Ok(())
            });
            found
        };
        config.answer_within = seconds("answer_within_s", 0, MAX_ANSWER_S);
        config.give_up_after = seconds("give_up_after_s", 1, MAX_ANSWER_S);
        config.start_within = seconds("start_within_s", 1, MAX_ANSWER_S);
        config.servers_within =
            seconds("servers_within_s", 0, MAX_SERVERS_S).unwrap_or(config.servers_within);
        config.commands_within =
            seconds("commands_within_s", 1, MAX_SET_TIMEOUT).unwrap_or(config.commands_within);
        let mut more = Vec::new();
        take("workspaces", &mut |value| folders("workspaces", value, &mut config.workspaces, &mut more));
        take("extensions", &mut |value| {
            let words = "must be a table: [extensions.NAME] with a command";
            let entries = value.as_table().ok_or_else(|| ConfigError::value("extensions", words))?;
            for (name, entry) in entries {
                match extension(name, entry) {
                    Ok(entry) => drop(config.extensions.insert(name.clone(), entry)),
                    Err(why) => more.push(why),
                }
            }
            Ok(())
        });
        take("fetch", &mut |value| {
            let words = "must be a table: [fetch] with `enabled = true`";
            let part = value.as_table().ok_or_else(|| ConfigError::value("fetch", words))?;
            for (name, place) in
                [("enabled", &mut config.fetch.enabled), ("private", &mut config.fetch.private)]
            {
                match part.get(name).map(Value::as_bool) {
                    None => {}
                    Some(Some(on)) => *place = on,
                    Some(None) => {
                        more.push(ConfigError::value(format!("fetch.{name}"), "must be true or false"));
                    }
                }
            }
            Ok(())
        });
        take("sandbox", &mut |value| {
            let words = "must be a table: [sandbox] with lists of folders";
            let part = value.as_table().ok_or_else(|| ConfigError::value("sandbox", words))?;
            for (name, place) in [
                ("also_readable", &mut config.sandbox.also_readable),
                ("also_writable", &mut config.sandbox.also_writable),
            ] {
                if let Some(list) = part.get(name) {
                    folders(&format!("sandbox.{name}"), list, place, &mut more)?;
                }
            }
            Ok(())
        });
        take("network", &mut |value| providers::network(value, &mut config.limits, &mut more));
        take("models", &mut |value| providers::models(value, &mut config.models, &mut more));
        take("budget", &mut |value| providers::budget(value, &mut config.budget, &mut more));
        wrong.extend(more);
        wrong.extend(known::unknown(&table));
        (config, wrong)
    }

    /// Makes tools what was set for them.
    pub(crate) fn fit(&self, toolbox: &mut Toolbox) {
        if self.fetch.enabled {
            toolbox.add(Arc::new(tools::Fetch { private: self.fetch.private }));
        }
        let bash = Bash { max_timeout: self.commands_within.as_secs() };
        if toolbox.get(&bash.spec().name).is_some() {
            toolbox.add(Arc::new(bash));
        }
    }

    /// What a workspace may be.
    pub fn bounds(&self) -> Bounds {
        Bounds::new(self.home.as_deref(), &self.own, &self.workspaces)
    }

    /// The folder that a session works in freely, from how the session names its places.
    pub fn work_dir(&self, project: &str, cwd: &str) -> WorkDir {
        let bounds = self.bounds();
        let (project, cwd) = (path_text::read(project), path_text::read(cwd));
        let workspace = bounds.judge(&project).or_else(|_| bounds.find(&cwd));
        WorkDir { cwd, workspace }
    }

    /// Where instructions and skills are looked for.
    pub(crate) fn look(&self, work_dir: &WorkDir) -> TextSources {
        let workspace = work_dir.workspace.as_deref().ok();
        TextSources::new(workspace, &work_dir.cwd, self.home.clone(), self.settings.clone())
    }

    /// The same with the places where the person keeps things.
    #[must_use]
    pub fn at(self, home: Option<PathBuf>, settings: Option<PathBuf>) -> Config {
        let sandbox = Sandbox {
            also_readable: settled(self.sandbox.also_readable, home.as_deref()),
            also_writable: settled(self.sandbox.also_writable, home.as_deref()),
        };
        Config { workspaces: settled(self.workspaces, home.as_deref()), sandbox, home, settings, ..self }
    }
}

/// Where a session works.
#[derive(Debug)]
pub struct WorkDir {
    /// Its working directory.
    pub cwd: PathBuf,
    /// What it may work in freely, or why there is no such folder.
    pub workspace: Result<PathBuf, NoWorkspace>,
}

/// Reads a list of folders; one that cannot be used is told and left out.
fn folders(
    key: &str,
    value: &Value,
    into: &mut Vec<PathBuf>,
    wrong: &mut Vec<ConfigError>,
) -> Result<(), ConfigError> {
    let words = "must be a list of folders in quotes, each from `/` or `~/` on";
    for one in value.as_array().ok_or_else(|| ConfigError::value(key, words))? {
        match one.as_str().filter(|dir| dir.starts_with('/') || dir.starts_with("~/")) {
            Some(dir) => into.push(dir.into()),
            None => wrong.push(ConfigError::value(key, format!("{}: {words}", shown(one)))),
        }
    }
    Ok(())
}

/// A value as it is written, where that is short; else what kind it is.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(number) => number.to_string(),
        other => other.type_str().to_owned(),
    }
}

fn extension(name: &str, entry: &Value) -> Result<Extension, ConfigError> {
    let wrong = |key: &str, why: &str| ConfigError::value(format!("extensions.{name}{key}"), why);
    let entry = entry.as_table().ok_or_else(|| wrong("", "must be a table with a command"))?;
    if let Some(unknown) = entry.keys().find(|key| !["command", "timeout_s"].contains(&key.as_str())) {
        return Err(wrong(&format!(".{unknown}"), "is not known; there are command and timeout_s"));
    }
    let words = "name a program, such as [\"my-tool\", \"--json\"]";
    let command = entry.get("command").and_then(Value::as_array).ok_or_else(|| wrong(".command", words))?;
    let command: Option<Vec<String>> = command.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    let command = command.filter(|command| command.first().is_some_and(|program| !program.trim().is_empty()));
    let command = command.ok_or_else(|| wrong(".command", words))?;
    let deadline = match entry.get("timeout_s") {
        None => EXTENSION_DEADLINE,
        Some(seconds) => {
            let seconds = seconds.as_integer().and_then(|number| u64::try_from(number).ok());
            let seconds = seconds.filter(|seconds| (1..=MAX_DEADLINE_S).contains(seconds));
            let why = format!("must be between 1 and {MAX_DEADLINE_S} seconds");
            Duration::from_secs(seconds.ok_or_else(|| wrong(".timeout_s", &why))?)
        }
    };
    Ok(Extension { command, deadline })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Config {
        let (config, wrong) = Config::from_toml(text);
        assert_eq!(wrong, []);
        config
    }

    #[test]
    fn the_agents_part_of_the_settings_is_read() {
        let text = "model = \"x\"\ncompact_at = 60\n[extensions.weather]\ncommand = [\"w\", \"-j\"]\ntimeout_s = 5\n\
                    [extensions.plain]\ncommand = [\"p\"]\n";
        let config = read(text);
        assert_eq!((config.compact_at, config.model.as_deref()), (60, Some("x")));
        let weather = Extension { command: vec!["w".into(), "-j".into()], deadline: Duration::from_secs(5) };
        assert_eq!(config.extensions["weather"], weather);
        assert_eq!(config.extensions["plain"].deadline, EXTENSION_DEADLINE);
        assert_eq!(read(""), Config::default());
        assert_eq!(read("commands_within_s = 3600").commands_within, Duration::from_secs(3600));
        assert_eq!(read("give_up_after_s = 60").give_up_after, Some(Duration::from_secs(60)));
        assert_eq!(read("answer_within_s = 120").answer_within, Some(Duration::from_secs(120)));
        assert_eq!(
            read("answer_within_s = 0").answer_within,
            Some(Duration::ZERO),
            "for as long as it takes"
        );
        let text = "fallback = \"b\"\n[network]\nfirst_byte_s = 7\nidle_s = 9\nattempts = 2\n[models.\"x/y\"]\nwindow = 1000\n\
                    max_output = 50\nprice = { input = 1, output = 2.5 }\nthinking = true\n";
        let config = read(text);
        let limits = config.limits;
        assert_eq!((limits.first_byte.as_secs(), limits.idle.as_secs(), limits.attempts), (7, 9, 2));
        assert_eq!(config.fallback.as_deref(), Some("b"));
        let price = models::Price { input: 1.0, output: 2.5, cache_read: None, cache_write: None };
        let (window, max_output, thinking) = (Some(1000), Some(50), Some(true));
        let figures = Figures { window, max_output, price: Some(price), thinking };
        assert_eq!(config.models["x/y"], figures);
        let budget = read("[budget]\nmax_cost = 2.5\nmax_steps = 3\nmax_time_s = 60\n").budget;
        assert_eq!(
            budget,
            Budget { max_cost_micros: Some(2_500_000), max_steps: Some(3), max_time_s: Some(60) }
        );
        assert!(!config.fetch.enabled, "nothing goes out unless somebody said so");
        let fetching = read("[fetch]\nenabled = true").fetch;
        assert_eq!(fetching, Fetching { enabled: true, private: false });
        let named = read("workspaces = [\"/srv/x\", \"~/y\"]").at(Some("/home/me".into()), None);
        assert_eq!(named.workspaces, [PathBuf::from("/srv/x"), PathBuf::from("/home/me/y")]);
    }

    #[test]
    fn names_that_mean_nothing_are_told() {
        let text = "polcy = \"read-only\"\n[sandboxx]\n[fetch]\nenabeld = true\n[ui]\nwhatever = 1\n";
        let wrong: Vec<String> = Config::from_toml(text).1.iter().map(ToString::to_string).collect();
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        for name in ["polcy", "sandboxx", "fetch.enabeld"] {
            assert!(wrong.iter().any(|why| why.contains(name) && why.contains("is not known")), "{wrong:?}");
        }
    }

    #[test]
    fn what_commands_may_reach_is_told_by_whole_paths() {
        let text = "[sandbox]\nalso_readable = [\"~/.aws\", \"/data\"]\nalso_writable = [\"~/.cache/x\"]\n";
        let sandbox = read(text).at(Some("/home/u".into()), None).sandbox;
        assert_eq!(sandbox.also_readable, [Path::new("/home/u/.aws"), Path::new("/data")]);
        assert_eq!(sandbox.also_writable, [Path::new("/home/u/.cache/x")]);
    }

    #[test]
    fn what_is_wrong_is_named_and_costs_only_itself() {
        for (wrong, what) in [
            (
                "sandbox.also_readable = [\"keys\", \"/kept\"]",
                "sandbox.also_readable: \"keys\": must be a list",
            ),
            ("sandbox = 1", "sandbox: must be a table"),
            ("network.idle_s = 0", "network.idle_s: 0 is no number from 1 to 3600"),
            ("network.attempts = 21", "network.attempts: 21 is no number from 1 to 20"),
            ("budget.max_cost = 0", "budget.max_cost: must be dollars"),
            ("budget.max_steps = -1", "budget.max_steps: -1 is no number from 1 to"),
            ("budget = 3", "budget: must be a table"),
            ("fallback = 1", "fallback: must be a name in quotes"),
            ("models.\"x/y\".window = \"much\"", "models.x/y.window: \"much\" is no number"),
            (
                "models.\"x/y\".windw = 5",
                "models.x/y.windw: is not known; there are window, max_output, price, thinking",
            ),
            ("models.\"x/y\".thinking = \"hard\"", "models.x/y.thinking: must be true or false"),
            ("models.\"x/y\".price = 3", "models.x/y.price: must be a table"),
            ("models.\"x/y\".price = { input = 1 }", "models.x/y.price: needs input and output"),
            ("models.\"x/y\".price = { input = -1, output = 1 }", "models.x/y.price.input: must be dollars"),
            (
                "effort = \"hard\"",
                "effort: \"hard\" is no effort; there are none, minimal, low, medium, high, xhigh, max",
            ),
            ("effort = 3", "effort: 3 is no effort"),
            ("policy = 3", "policy: must be a mode in quotes; read-only counts until"),
            ("policy = \"read-onyl\"", "policy: `read-onyl` is no policy mode"),
            ("compact_at = 5", "compact_at: 5 is no percentage between 10 and 100"),
            ("compact_at = \"many\"", "compact_at: \"many\" is no percentage"),
            ("servers_within_s = 31", "servers_within_s: 31 is no number of seconds from 0 to 30"),
            ("servers_within_s = -1", "servers_within_s: -1 is no number of seconds from 0 to 30"),
            ("commands_within_s = 0", "commands_within_s: 0 is no number of seconds from 1 to 86400"),
            ("answer_within_s = -1", "answer_within_s: -1 is no number of seconds from 0 to 86400"),
            ("give_up_after_s = 0", "give_up_after_s: 0 is no number of seconds from 1 to 86400"),
            ("answer_within_s = \"1m\"", "answer_within_s: \"1m\" is no number of seconds"),
            ("workspaces = \"/x\"", "workspaces: must be a list of folders"),
            ("workspaces = [\"relative\", \"/kept\"]", "workspaces: \"relative\": must be a list"),
            ("fetch = 3", "fetch: must be a table"),
            ("fetch.enabled = \"yes\"", "fetch.enabled: must be true or false"),
            ("extensions = 1", "extensions: must be a table"),
            ("extensions.a = 1", "extensions.a: must be a table with a command"),
            (
                "extensions.a = { command = [\"a\"], timout_s = 5 }",
                "extensions.a.timout_s: is not known; there are command and timeout_s",
            ),
            ("extensions.a.command = []", "extensions.a.command: name a program"),
            ("extensions.a.command = \"a\"", "extensions.a.command: name a program"),
            ("extensions.a.command = [1]", "extensions.a.command: name a program"),
            (
                "extensions.a = { command = [\"a\"], timeout_s = 0 }",
                "extensions.a.timeout_s: must be between",
            ),
        ] {
            let (config, said) = Config::from_toml(&format!("model = \"kept\"\n{wrong}\n"));
            assert_eq!(said.len(), 1, "{wrong}: {said:?}");
            assert!(said[0].to_string().starts_with(what), "{wrong}: {}", said[0]);
            assert_eq!(config.model.as_deref(), Some("kept"), "{wrong}");
        }
        let narrowed = Config::from_toml("policy = \"read-onyl\"").0.policy;
        assert_eq!(narrowed, Some(Policy::ReadOnly), "nothing wider than the narrowest");
        let (config, said) = Config::from_toml("model = 3\ncompact_at = 60\nfetch = 1\n");
        assert_eq!((config.compact_at, said.len()), (60, 2));
        let (config, said) = Config::from_toml("model = \"lost\"\ncompact_at = [");
        assert_eq!(config, Config::default());
        assert!(said[0].to_string().starts_with("it is not TOML, so nothing in it counts"), "{said:?}");
    }

    #[test]
    fn an_older_session_of_the_whole_home_goes_on_in_its_own_folder() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(home.join("docs/x")).unwrap();
        let config = Config::default().at(Some(home.clone()), None);
        let text = |path: &str| home.join(path).display().to_string();
        let work_dir = config.work_dir(&text(""), &text("docs/x"));
        assert_eq!(work_dir.workspace.unwrap(), home.join("docs/x"));
        assert!(config.work_dir(&text(""), &text("")).workspace.is_err());
        assert!(config.work_dir("/", "/").workspace.is_err());
    }
}
