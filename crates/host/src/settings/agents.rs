//! The person's own agents in the settings (`[agents.NAME]`), and the registries that they named (`registries`). A mistake is told and
//! costs only itself.

use crate::text_file::load;
use dialects::Dialect;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml_edit::{DocumentMut, Item, TableLike};

/// How long an agent may take to start, in seconds.
const START_WITHIN: &str = "start_within_s";
/// The most of it.
const MAX_START_S: u64 = 86_400;

/// An agent of the person's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnAgent {
    pub name: String,
    pub dialect: Dialect,
    /// The program, by its name or whole path, and its arguments; never empty.
    pub command: Vec<String>,
    /// What to type or read to have it.
    pub install: Option<String>,
}

/// What the settings say of agents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnAgents {
    pub agents: Vec<OwnAgent>,
    /// How long agents may take to start, by name; also of those that are listed elsewhere.
    pub start_within: BTreeMap<String, Duration>,
    /// Lists of agents on this machine.
    pub registries: Vec<PathBuf>,
    /// What is wrong, and what would be right.
    pub told: Vec<String>,
}

impl OwnAgents {
    /// As they stand in the file; nothing where it cannot be read, which whoever reads the agent's part tells.
    pub(super) fn read(file: Option<&Path>, home: Option<&Path>) -> OwnAgents {
        match file.map(load) {
            Some(Ok(Some(text))) => OwnAgents::parse(&text, home),
            Some(Ok(None) | Err(_)) | None => OwnAgents::default(),
        }
    }

    fn parse(text: &str, home: Option<&Path>) -> OwnAgents {
        let mut own = OwnAgents::default();
        let Ok(document) = text.parse::<DocumentMut>() else { return own };
        match document.get("agents").map(Item::as_table_like) {
            Some(Some(agents)) => {
                for (name, entry) in agents.iter() {
                    let read = start_within(entry).and_then(|within| {
                        let agent = (!only_says_how_long(entry)).then(|| agent(name, entry)).transpose()?;
                        Ok((within, agent))
                    });
                    match read {
                        Ok((within, agent)) => {
                            own.agents.extend(agent);
                            own.start_within.extend(within.map(|within| (name.to_owned(), within)));
                        }
                        Err(why) => {
                            own.told.push(format!("agents.{name} in your settings {why}; it is left out"));
                        }
                    }
                }
            }
            Some(None) => own.told.push("agents in your settings must be tables: [agents.NAME]".to_owned()),
            None => {}
        }
        let wrong = "registries in your settings must be a list of files or folders in quotes, each from `/` or `~/` on";
        match document.get("registries").map(Item::as_array) {
            Some(Some(list)) => {
                for place in list {
                    match place.as_str().and_then(|place| whole(place, home)) {
                        Some(place) => own.registries.push(place),
                        None => own.told.push(wrong.to_owned()),
                    }
                }
            }
            Some(None) => own.told.push(wrong.to_owned()),
            None => {}
        }
        own
    }
}

fn whole(place: &str, home: Option<&Path>) -> Option<PathBuf> {
    match place.strip_prefix("~/") {
        Some(rest) => home.map(|home| home.join(rest)),
        None => Some(PathBuf::from(place)).filter(|place| place.is_absolute()),
    }
}

/// Whether an entry is about an agent that is listed elsewhere.
fn only_says_how_long(entry: &Item) -> bool {
    let members = entry.as_table_like().into_iter().flat_map(TableLike::iter);
    let mut members = members.map(|(member, _)| member).peekable();
    members.peek().is_some() && members.all(|member| member == START_WITHIN)
}

fn start_within(entry: &Item) -> Result<Option<Duration>, String> {
    let Some(value) = entry.as_table_like().and_then(|entry| entry.get(START_WITHIN)) else {
        return Ok(None);
    };
    let seconds = value.as_integer().and_then(|seconds| u64::try_from(seconds).ok());
    let seconds = seconds.filter(|seconds| (1..=MAX_START_S).contains(seconds));
    let wrong = || format!("must say {START_WITHIN} as a number of seconds from 1 to {MAX_START_S}");
    seconds.map(|seconds| Some(Duration::from_secs(seconds))).ok_or_else(wrong)
}

fn agent(name: &str, entry: &Item) -> Result<OwnAgent, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(plain) {
        return Err("must have a name of letters, digits, dots and hyphens".to_owned());
    }
    let entry = entry.as_table_like().ok_or("must be a table with a command and a dialect")?;
    for (member, _) in entry.iter() {
        if !["command", "dialect", "install", START_WITHIN].contains(&member) {
            return Err(format!(
                "says {member}, which is not known; there are command, dialect, install and {START_WITHIN}"
            ));
        }
    }
    let command =
        words(entry).ok_or("must say its command as a list: command = [\"my-agent\", \"--stdio\"]")?;
    if command[0].contains('/') && !Path::new(&command[0]).is_absolute() {
        return Err("must name its program alone, or by its whole path".to_owned());
    }
    let names = dialects::DRIVEN.iter().map(|dialect| dialect.name()).collect::<Vec<_>>().join(", ");
    let dialect = entry.get("dialect").and_then(Item::as_str).and_then(|name| dialects::driven(name).ok());
    let dialect = dialect.ok_or_else(|| format!("must say the dialect that it speaks: one of {names}"))?;
    let install = entry.get("install").and_then(Item::as_str).map(str::to_owned);
    Ok(OwnAgent { name: name.to_owned(), dialect, command, install })
}

fn words(entry: &dyn TableLike) -> Option<Vec<String>> {
    let list = entry.get("command")?.as_array()?;
    let words: Option<Vec<String>> = list.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    words.filter(|words| words.first().is_some_and(|program| !program.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_and_registries_are_read() {
        let text = "registries = [\"~/acp\", \"/srv/registry.json\"]\n[agents.mine]\ncommand = [\"mine\", \"--stdio\"]\n\
                    dialect = \"asst\"\ninstall = \"make install\"\n";
        let own = OwnAgents::parse(text, Some(Path::new("/home/me")));
        assert_eq!(own.told, Vec::<String>::new());
        assert_eq!(own.registries, [Path::new("/home/me/acp"), Path::new("/srv/registry.json")]);
        assert_eq!((own.agents[0].name.as_str(), own.agents[0].dialect.name()), ("mine", "asst"));
        assert_eq!(
            (own.agents[0].command.len(), own.agents[0].install.as_deref()),
            (2, Some("make install"))
        );
    }

    #[test]
    fn how_long_an_agent_may_take_is_read_also_of_one_that_is_listed_elsewhere() {
        let text = "[agents.goose]\nstart_within_s = 300\n[agents.mine]\ncommand = [\"m\"]\ndialect = \"asst\"\nstart_within_s = 5\n";
        let own = OwnAgents::parse(text, None);
        assert_eq!((own.told.len(), own.agents.len()), (0, 1), "{:?}", own.told);
        let within = |name: &str| own.start_within.get(name).map(Duration::as_secs);
        assert_eq!((within("goose"), within("mine")), (Some(300), Some(5)));
        for wrong in ["0", "86401", "\"5\"", "-1"] {
            let own = OwnAgents::parse(&format!("[agents.goose]\nstart_within_s = {wrong}\n"), None);
            assert!(own.start_within.is_empty() && own.told[0].contains("from 1 to 86400"), "{:?}", own.told);
        }
        assert!(OwnAgents::parse("[agents.goose]\n", None).told[0].contains("must say its command"));
    }

    #[test]
    fn a_mistake_costs_only_itself() {
        let good = "[agents.good]\ncommand = [\"g\"]\ndialect = \"asst\"\n";
        for (wrong, what) in [
            ("[agents.a]\n", "agents.a in your settings must say its command"),
            ("[agents.a]\ncommand = []\ndialect = \"asst\"\n", "must say its command"),
            ("[agents.a]\ncommand = [\"a\"]\n", "must say the dialect"),
            ("[agents.a]\ncommand = [\"a\"]\ndialect = \"morse\"\n", "must say the dialect"),
            ("[agents.a]\ncommand = [\"./a\"]\ndialect = \"asst\"\n", "alone, or by its whole path"),
            (
                "[agents.a]\ncommand = [\"a\"]\ndialect = \"asst\"\nargs = []\n",
                "says args, which is not known",
            ),
            ("[agents.\"-a\"]\ncommand = [\"a\"]\ndialect = \"asst\"\n", "must have a name"),
            ("registries = \"/x\"\n", "must be a list of files or folders"),
            ("registries = [\"x\"]\n", "must be a list of files or folders"),
        ] {
            let text =
                if wrong.starts_with('[') { format!("{good}{wrong}") } else { format!("{wrong}{good}") };
            let own = OwnAgents::parse(&text, None);
            assert_eq!((own.agents.len(), own.told.len()), (1, 1), "{wrong}: {:?}", own.told);
            assert!(own.told[0].contains(what), "{wrong}: {:?}", own.told);
        }
        assert_eq!(OwnAgents::parse("agents = 3", None).told.len(), 1);
        assert_eq!(OwnAgents::parse("[agents", None), OwnAgents::default());
    }
}
