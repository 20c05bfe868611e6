//! All agents that are known, from where they are known: the person's own go before published ones, those before what Parlor knows itself.
//!
//! Reads the files of registries; the machine is looked at through a function, so that the rest is pure. What cannot be used is told and
//! costs only itself.

use dialects::Dialect;
use host::settings::OwnAgents;
use host::text_file::{MAX_REGISTRY, load_up_to};
use roles::agents::{Arguments, PublishedAgent, ReadRegistry};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// Entries of a folder that are looked at.
const MAX_LOOKED: usize = 4_096;
/// The name of an entry's file, in the folder of the entry.
const ENTRY: &str = "agent.json";

/// Where the program of this name is, if it is there.
pub(crate) type Look<'a> = &'a dyn Fn(&str) -> Option<PathBuf>;

/// All agents, by name, and what is wrong with the lists.
pub struct AgentRegistry {
    pub agents: Vec<Agent>,
    pub told: Vec<String>,
}

/// An agent that can be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    pub name: String,
    pub title: String,
    pub dialect: Dialect,
    /// The program and its arguments, with the variables that are set for it before them.
    pub command: Vec<String>,
    pub state: State,
    /// What a person types or reads to have it, if that is known.
    pub install: Option<String>,
    pub source: Source,
}

/// What of it is on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// As this file.
    Installed(PathBuf),
    /// Its runner is, which fetches the package when it is not there yet.
    Fetched { runner: PathBuf, package: String },
    Missing {
        /// What is not on the path.
        program: String,
    },
}

/// From where it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Settings,
    Registry(PathBuf),
    Parlor,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Settings => f.write_str("from your settings"),
            Source::Registry(path) => write!(f, "from {}", path.display()),
            Source::Parlor => f.write_str("known to Parlor"),
        }
    }
}

impl State {
    /// For the column of a list.
    pub fn word(&self) -> &'static str {
        match self {
            State::Installed(_) => "installed",
            State::Fetched { .. } => "by runner",
            State::Missing { .. } => "not installed",
        }
    }

    /// The same in a line.
    pub fn words(&self) -> String {
        match self {
            State::Installed(at) => format!("It is installed as {}", at.display()),
            State::Fetched { runner, package } => format!(
                "{} runs it, and fetches {package} from the network where it is not there yet",
                runner.display()
            ),
            State::Missing { program } => format!("There is no `{program}` on your PATH"),
        }
    }
}

impl Agent {
    /// Its command as it would be typed.
    pub fn typed(&self) -> String {
        let words = wire::secret::words(&self.command);
        domain::session::RuntimePlace::Command { words, folder: String::new(), incomplete: false }.typed()
    }

    /// The file that would be started, every link followed; nothing where there is none.
    pub fn file(&self) -> PathBuf {
        match &self.state {
            State::Installed(at) | State::Fetched { runner: at, .. } => {
                at.canonicalize().unwrap_or_else(|_| at.clone())
            }
            State::Missing { .. } => PathBuf::new(),
        }
    }

    /// How to get it, where it is not there.
    pub fn how_to_get(&self) -> Option<String> {
        let State::Missing { .. } = self.state else { return None };
        self.install.as_ref().map(|how| format!("get it: {how}"))
    }

    /// Why it cannot be started, and what to do; `None` when it can.
    pub fn missing(&self) -> Option<String> {
        let State::Missing { program } = &self.state else { return None };
        let hint = match &self.install {
            Some(how) => format!("{how}; Parlor installs nothing by itself"),
            None => {
                format!("put `{program}` into a folder of your PATH, or name its whole path in your settings")
            }
        };
        Some(format!("{} is not installed: there is no `{program}` on your PATH\nhint: {hint}", self.name))
    }
}

/// Puts the lists together.
pub(crate) fn gather(own: &OwnAgents, registries: &[PathBuf], look: Look<'_>) -> AgentRegistry {
    let (mut agents, mut told): (BTreeMap<String, Agent>, Vec<String>) = (BTreeMap::new(), own.told.clone());
    for dialect in dialects::DRIVEN {
        let known = dialect.description().habits.agents.iter();
        agents.extend(known.map(|known| {
            let command: Vec<String> = known.command.iter().map(|&word| word.to_owned()).collect();
            let agent = Agent {
                name: known.name.to_owned(),
                title: known.title.to_owned(),
                dialect: *dialect,
                state: installed(known.command[0], look),
                command,
                install: Some(known.install.to_owned()),
                source: Source::Parlor,
            };
            (agent.name.clone(), agent)
        }));
    }
    for path in own.registries.iter().chain(registries) {
        for (dialect, read) in readers() {
            for (file, text) in files(path, &mut told) {
                match read(&text) {
                    Ok(entries) => {
                        for entry in entries {
                            match entry.and_then(|entry| published(dialect, entry, &file, look)) {
                                Ok(agent) => drop(agents.insert(agent.name.clone(), agent)),
                                Err(why) => told.push(format!("{}: {why}", file.display())),
                            }
                        }
                    }
                    Err(why) => told.push(format!("{} {why}", file.display())),
                }
            }
        }
    }
    for own in &own.agents {
        let agent = Agent {
            name: own.name.clone(),
            title: own.name.clone(),
            dialect: own.dialect,
            state: installed(&own.command[0], look),
            command: own.command.clone(),
            install: own.install.clone(),
            source: Source::Settings,
        };
        agents.insert(agent.name.clone(), agent);
    }
    AgentRegistry { agents: agents.into_values().collect(), told }
}

fn readers() -> impl Iterator<Item = (Dialect, ReadRegistry)> {
    dialects::DRIVEN.iter().filter_map(|dialect| Some((*dialect, dialect.description().habits.registry?)))
}

fn installed(program: &str, look: Look<'_>) -> State {
    match look(program) {
        Some(at) => State::Installed(at),
        None => State::Missing { program: program.to_owned() },
    }
}

/// A published agent as it can be had here: installed, else by a runner that is there, else how to get it.
fn published(dialect: Dialect, entry: PublishedAgent, file: &Path, look: Look<'_>) -> Result<Agent, String> {
    let PublishedAgent { name, title, version, binaries, packages, .. } = entry;
    let title = if version.is_empty() { title } else { format!("{title} {version}") };
    let binary = binaries.get(&platform());
    let (state, command, install) = if let Some(binary) = binary {
        let state = installed(&binary.program, look);
        let sha256 = binary.sha256.as_ref().map(|digest| format!(" (sha256 {digest})")).unwrap_or_default();
        let how = format!("unpack {}{sha256} and put `{}` on your PATH", binary.archive, binary.program);
        (state, command(vec![binary.program.clone()], &binary.arguments), Some(how))
    } else {
        let there = packages.iter().find_map(|package| Some((package, look(package.runner)?)));
        match (there, packages.first()) {
            (Some((package, runner)), _) => {
                let words = [vec![package.runner.to_owned()], package.lead.clone()].concat();
                let state = State::Fetched { runner, package: package.package.clone() };
                (state, command(words, &package.arguments), None)
            }
            (None, Some(package)) => {
                let words = [vec![package.runner.to_owned()], package.lead.clone()].concat();
                let state = State::Missing { program: package.runner.to_owned() };
                let how = format!("install `{}`, which fetches {}", package.runner, package.package);
                (state, command(words, &package.arguments), Some(how))
            }
            (None, None) => return Err(format!("{name}: there is none for {}", platform())),
        }
    };
    let source = Source::Registry(file.to_owned());
    Ok(Agent { name, title, dialect, command, state, install, source })
}

/// A command with its arguments; variables are set by the program that does nothing else.
fn command(words: Vec<String>, arguments: &Arguments) -> Vec<String> {
    let mut command = Vec::new();
    if !arguments.env.is_empty() {
        command.push("env".to_owned());
        command.extend(arguments.env.iter().map(|(name, value)| format!("{name}={value}")));
    }
    command.extend(words);
    command.extend(arguments.words.iter().cloned());
    command
}

/// This machine in the words of the registry.
fn platform() -> String {
    let system = match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    };
    format!("{system}-{}", std::env::consts::ARCH)
}

/// The files that a path stands for: itself, or the entries of a folder.
fn files(path: &Path, told: &mut Vec<String>) -> Vec<(PathBuf, String)> {
    let mut read = |file: PathBuf| match load_up_to(&file, MAX_REGISTRY) {
        Ok(Some(text)) => Some((file, text)),
        Ok(None) => {
            told.push(format!("{} is not there", file.display()));
            None
        }
        Err(why) => {
            told.push(format!("{} {why}", file.display()));
            None
        }
    };
    if !path.is_dir() {
        return read(path.to_owned()).into_iter().collect();
    }
    let whole = [path.join("registry.json"), path.join(ENTRY)].into_iter().find(|file| file.exists());
    if let Some(file) = whole {
        return read(file).into_iter().collect();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten().take(MAX_LOOKED);
    let mut entries: Vec<PathBuf> =
        entries.map(|entry| entry.path().join(ENTRY)).filter(|file| file.exists()).collect();
    entries.sort();
    let found: Vec<_> = entries.into_iter().filter_map(read).collect();
    if found.is_empty() {
        told.push(format!("{} holds no registry.json and no folder with an {ENTRY}", path.display()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::settings::OwnAgent;
    use serde_json::json;

    fn nothing(_: &str) -> Option<PathBuf> {
        None
    }

    fn everything(program: &str) -> Option<PathBuf> {
        Some(Path::new("/bin").join(program))
    }

    fn named<'a>(book: &'a AgentRegistry, name: &str) -> &'a Agent {
        book.agents.iter().find(|agent| agent.name == name).unwrap()
    }

    #[test]
    fn well_known_agents_are_named_with_how_to_get_them() {
        let book = gather(&OwnAgents::default(), &[], &nothing);
        let goose = named(&book, "goose");
        assert_eq!(goose.command, ["goose", "acp"]);
        let missing = goose.missing().unwrap();
        assert!(missing.contains("no `goose` on your PATH") && missing.contains("hint: "), "{missing}");
        for agent in &book.agents {
            assert!(!agent.command[0].contains('/') && agent.install.is_some(), "{agent:?}");
        }
        let there = gather(&OwnAgents::default(), &[], &everything);
        assert_eq!(named(&there, "goose").state, State::Installed("/bin/goose".into()));
        assert_eq!(named(&there, "goose").missing(), None);
    }

    #[test]
    fn the_persons_own_go_before_published_ones_and_those_before_known_ones() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("registry.json");
        let entry = |id: &str| {
            json!({"id": id, "name": "Published", "version": "9.9.9",
            "distribution": {"npx": {"package": "@x/agent@9.9.9", "args": ["--acp"], "env": {"A": "b c"}}}})
        };
        std::fs::write(&file, json!({"agents": [entry("goose"), entry("mine")]}).to_string()).unwrap();
        let dialect = dialects::ALL[0];
        let mine =
            OwnAgent { name: "mine".into(), dialect, command: vec!["/opt/mine".into()], install: None };
        let own = OwnAgents { agents: vec![mine], ..OwnAgents::default() };
        for path in [file.clone(), place.path().to_owned()] {
            let book = gather(&own, std::slice::from_ref(&path), &everything);
            assert_eq!(book.told, Vec::<String>::new());
            let goose = named(&book, "goose");
            assert_eq!(goose.command, ["env", "A=b c", "npx", "@x/agent@9.9.9", "--acp"]);
            assert_eq!(goose.typed(), "env 'A=b c' npx @x/agent@9.9.9 --acp");
            assert_eq!(goose.source, Source::Registry(file.clone()));
            assert!(goose.state.words().contains("fetches @x/agent@9.9.9"), "{:?}", goose.state);
            assert_eq!(
                (named(&book, "mine").command[0].as_str(), &named(&book, "mine").source),
                ("/opt/mine", &Source::Settings)
            );
        }
        let without = gather(&own, &[file], &nothing);
        assert!(named(&without, "goose").missing().unwrap().contains("install `npx`"));
        assert!(named(&without, "mine").missing().is_some());
    }

    #[test]
    fn a_program_of_this_platform_is_taken_when_it_is_on_the_path() {
        let place = tempfile::tempdir().unwrap();
        let mut targets = json!({"plan9-mips": {"archive": "https://x/no", "cmd": "./no"}});
        std::fs::create_dir_all(place.path().join("an-agent")).unwrap();
        let file = place.path().join("an-agent/agent.json");
        let write = |targets: &serde_json::Value| {
            let text = json!({"id": "an-agent", "distribution": {"binary": targets}}).to_string();
            std::fs::write(&file, text).unwrap();
        };
        write(&targets);
        let book = gather(&OwnAgents::default(), &[place.path().to_owned()], &everything);
        assert!(book.told[0].contains("an-agent: there is none for "), "{:?}", book.told);
        targets[platform()] = json!({"archive": "https://x/y.tgz", "cmd": "./dist/an-agent", "args": ["acp"], "sha256": "a".repeat(64)});
        write(&targets);
        let book = gather(&OwnAgents::default(), &[place.path().to_owned()], &everything);
        assert_eq!(named(&book, "an-agent").command, ["an-agent", "acp"]);
        let book = gather(&OwnAgents::default(), &[place.path().to_owned()], &nothing);
        let how = named(&book, "an-agent").how_to_get().unwrap();
        assert!(how.contains("unpack https://x/y.tgz (sha256 aaaa"), "{how}");
    }

    #[test]
    fn a_registry_that_cannot_be_read_is_told_and_the_rest_is_there() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("rubbish"), "\u{1b}[2J{").unwrap();
        std::fs::create_dir(place.path().join("empty")).unwrap();
        for name in ["rubbish", "empty", "none"] {
            let book = gather(&OwnAgents::default(), &[place.path().join(name)], &nothing);
            assert_eq!(book.told.len(), 1, "{name}: {:?}", book.told);
            assert!(book.told[0].contains(name) && !book.agents.is_empty());
        }
    }
}
