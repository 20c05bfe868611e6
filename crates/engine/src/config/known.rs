//! Every setting there is, in one table: by it a misspelt name is found, and the reference is written.
//!
//! Those of the screen (`[ui]`) stand beside their values in the crate that draws it. Invariant: each example is taken without a word, and
//! what a row says to count without it is what counts (both are tested below).

use super::ConfigError;
use std::collections::BTreeSet;
use toml::Table;

/// What can stand in the file under one name.
#[derive(Debug, Clone, Copy)]
pub struct KnownSetting {
    /// The table that it stands in, as it is written; empty for the top of the file.
    pub table: &'static str,
    pub name: &'static str,
    /// An example, as TOML.
    pub example: &'static str,
    /// What counts without it: as TOML where a value could say it, else in words.
    pub without: &'static str,
    /// What it says, and what it may be.
    pub about: &'static str,
}

const fn top(
    name: &'static str,
    example: &'static str,
    without: &'static str,
    about: &'static str,
) -> KnownSetting {
    KnownSetting { table: "", name, example, without, about }
}

const fn inside(
    table: &'static str,
    name: &'static str,
    example: &'static str,
    without: &'static str,
    about: &'static str,
) -> KnownSetting {
    KnownSetting { table, name, example, without, about }
}

const EXTENSION: &str = "extensions.NAME";
const AGENT: &str = "agents.NAME";
const MODEL: &str = "models.\"PROVIDER/NAME\"";

/// All of them, in the order in which they are told.
pub const SETTINGS: &[KnownSetting] = &[
    top(
        "model",
        "\"anthropic/claude-sonnet-4-5\"",
        "the first provider with a key",
        "the model, as `PROVIDER/NAME`",
    ),
    top(
        "fallback",
        "\"openai/gpt-5\"",
        "none",
        "the model that goes on with the turn where the other cannot answer",
    ),
    top(
        "store",
        "\"postgres://ada@db.example/team\"",
        "the file of this machine",
        "a database in which conversations are kept, as for `--store`; `parlor help operations` tells the rest",
    ),
    top(
        "effort",
        "\"high\"",
        "the provider decides",
        "how hard the model thinks: none, minimal, low, medium, high, xhigh or max",
    ),
    top(
        "policy",
        "\"ask\"",
        "`sandboxed` where it is safe, else `ask`",
        "the mode of new sessions: read-only, plan, ask, auto-edit, sandboxed or full",
    ),
    top(
        "compact_at",
        "70",
        "80",
        "percent of the model's window at which older messages are summarised, 10 to 100",
    ),
    top(
        "answer_within_s",
        "120",
        "30 on lemon, 50 on asst",
        "seconds that a question may wait on a protocol with a deadline, 0 to 86400; 0 waits for ever",
    ),
    top(
        "give_up_after_s",
        "60",
        "180",
        "seconds that a runtime on asst may be silent before a message to it is given up, 1 to 86400",
    ),
    top(
        "start_within_s",
        "120",
        "none",
        "seconds that another program's agent has for its start, 1 to 86400; without it a terminal waits while it lives, and who has none 30 s in which it writes nothing",
    ),
    top(
        "servers_within_s",
        "20",
        "10",
        "seconds that `parlor run` waits for MCP servers that are starting, 0 to 30",
    ),
    top(
        "commands_within_s",
        "1800",
        "600",
        "the most seconds that one command of the model may run, 1 to 86400",
    ),
    top(
        "workspaces",
        "[\"/srv/shared\"]",
        "[]",
        "folders that you vouch for as workspaces, whoever owns them, each from `/` or `~/` on",
    ),
    top(
        "registries",
        "[\"~/acp-registry\"]",
        "[]",
        "lists of agents on this machine, in the form of the ACP registry",
    ),
    inside(
        "fetch",
        "enabled",
        "true",
        "false",
        "whether the model may fetch pages of the web; each host is asked for",
    ),
    inside("fetch", "private", "true", "false", "whether this machine and its own network may be asked too"),
    inside(
        "sandbox",
        "also_readable",
        "[\"~/.aws\"]",
        "[]",
        "what commands may read although people keep secrets there",
    ),
    inside(
        "sandbox",
        "also_writable",
        "[\"~/.cache/sccache\"]",
        "[]",
        "what commands may write beside the project",
    ),
    inside("budget", "max_cost", "2.50", "no bound", "dollars in one session, as its record has them"),
    inside("budget", "max_steps", "40", "no bound", "requests to the model for one prompt, 1 to 1000000"),
    inside("budget", "max_time_s", "1800", "no bound", "seconds of one turn, 1 to 2592000"),
    inside(
        "network",
        "first_byte_s",
        "120",
        "300",
        "seconds from a request to the first byte of the answer, 1 to 3600",
    ),
    inside("network", "idle_s", "60", "180", "seconds from one piece of the answer to the next, 1 to 3600"),
    inside("network", "attempts", "3", "5", "attempts of one request, 1 to 20; 2 where nothing comes at all"),
    inside(MODEL, "window", "400_000", "what is known of it", "tokens that fit in a request with its answer"),
    inside(MODEL, "max_output", "128_000", "what is known of it", "tokens of the longest answer"),
    inside(
        MODEL,
        "price",
        "{ input = 1.25, output = 10.0, cache_read = 0.125, cache_write = 1.5 }",
        "what is known of it",
        "dollars for a million tokens; `input` and `output` are needed",
    ),
    inside(MODEL, "thinking", "true", "what is known of it", "whether an effort can be set"),
    inside(AGENT, "command", "[\"my-agent\", \"--stdio\"]", "needed", "the program and its arguments"),
    inside(AGENT, "dialect", "\"acp\"", "needed", "the protocol that it speaks"),
    inside(AGENT, "install", "\"make install\"", "none", "what to do when it is not there, shown to you"),
    inside(
        AGENT,
        "start_within_s",
        "300",
        "the one for all agents",
        "seconds that it has for its start, also of an agent that is listed elsewhere",
    ),
    inside(
        EXTENSION,
        "command",
        "[\"weather-json\", \"--short\"]",
        "needed",
        "the program and its arguments",
    ),
    inside(EXTENSION, "timeout_s", "10", "30", "how many seconds it has to answer, 1 to 600"),
];

/// Tables that others read, who tell their mistakes themselves.
const OTHERS: &[&str] = &["ui"];

/// Names in the file that mean nothing: one that was misspelt may have been meant to narrow what is allowed.
pub(super) fn unknown(table: &Table) -> Vec<ConfigError> {
    let mut wrong = Vec::new();
    let mut judge = |at: &str, name: &str, known: &BTreeSet<&str>| {
        if !known.contains(name) {
            let known = known.iter().copied().collect::<Vec<_>>().join(", ");
            wrong.push(ConfigError::value(format!("{at}{name}"), format!("is not known; there are {known}")));
        }
    };
    let tables =
        SETTINGS.iter().filter_map(|one| one.table.split('.').next()).filter(|table| !table.is_empty());
    let tops = SETTINGS.iter().filter(|one| one.table.is_empty()).map(|one| one.name);
    let tops: BTreeSet<&str> = tops.chain(tables).chain(OTHERS.iter().copied()).collect();
    for (name, value) in table {
        judge("", name, &tops);
        // What has a name of its own in the middle is judged where it is read.
        let inner: BTreeSet<&str> =
            SETTINGS.iter().filter(|one| one.table == name).map(|one| one.name).collect();
        if let (false, Some(part)) = (inner.is_empty(), value.as_table()) {
            for key in part.keys() {
                judge(&format!("{name}."), key, &inner);
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    /// The setting with a value, as it stands in a file.
    fn file(one: &KnownSetting, value: &str) -> String {
        let needs = match (one.table, one.name) {
            (EXTENSION, "timeout_s") => "command = [\"x\"]\n",
            _ => "",
        };
        let head = match one.table {
            "" => String::new(),
            table => format!("[{}]\n", table.replace("PROVIDER/NAME", "openai/x")),
        };
        format!("{head}{needs}{} = {value}\n", one.name)
    }

    #[test]
    fn each_example_is_taken_and_changes_something() {
        for one in SETTINGS {
            let (config, wrong) = Config::from_toml(&file(one, one.example));
            assert_eq!(wrong, [], "{}.{}", one.table, one.name);
            // Agents and registries are read elsewhere.
            let elsewhere = one.table == AGENT || one.name == "registries";
            assert!(elsewhere || config != Config::default(), "{}.{} does nothing", one.table, one.name);
        }
    }

    #[test]
    fn what_counts_without_a_setting_is_what_its_row_says() {
        let is_toml = |value: &str| toml::from_str::<Table>(&format!("x = {value}")).is_ok();
        let mut held = 0;
        for one in SETTINGS.iter().filter(|one| is_toml(one.without)) {
            // What only another wire knows is told by it.
            if one.name == "give_up_after_s" || one.table == EXTENSION {
                continue;
            }
            let (config, wrong) = Config::from_toml(&file(one, one.without));
            assert_eq!(
                (wrong.as_slice(), &config),
                (&[][..], &Config::default()),
                "{}.{}",
                one.table,
                one.name
            );
            held += 1;
        }
        assert!(held >= 10, "{held}");
        let timeout = SETTINGS.iter().find(|one| one.name == "timeout_s").map(|one| one.without);
        assert_eq!(timeout, Some(super::super::EXTENSION_DEADLINE.as_secs().to_string().as_str()));
    }
}
