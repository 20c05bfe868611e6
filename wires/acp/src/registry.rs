//! The registry's form: a list of agents (`{version, agents: […]}`), or one entry (`agent.json`). Pure; reads, fetches nothing.
//!
//! Unknown members are passed over. An entry that cannot be used costs only itself, and says why. What is started later is made of words
//! from here, so: no control characters, a name of plain letters, bounded lengths, and a program's bare name (never a path, which would
//! mean another file in each folder).

use roles::agents::{Arguments, Binary, Package, PublishedAgent};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Entries that are read of one list; what comes after is told.
pub(super) const MAX_ENTRIES: usize = 2_000;
/// Bytes of all words of one command.
const MAX_COMMAND: usize = 4_096;
/// Characters of a name.
const MAX_NAME: usize = 64;
/// Characters of a title, a version or a description that are shown.
const MAX_TEXT: usize = 200;

/// The entries of a text.
///
/// # Errors
/// When it is no JSON, or neither a list of agents nor an entry.
pub(super) fn read(text: &str) -> Result<Vec<Result<PublishedAgent, String>>, String> {
    let value: Value = serde_json::from_str(text).map_err(|why| format!("is not JSON: {why}"))?;
    if value.get("distribution").is_some() {
        return Ok(vec![entry(&value)]);
    }
    let list = value.get("agents").and_then(Value::as_array);
    let list =
        list.ok_or("holds no agents: neither a list under \"agents\" nor an entry with a \"distribution\"")?;
    let mut read: Vec<_> = list.iter().take(MAX_ENTRIES).map(entry).collect();
    if list.len() > MAX_ENTRIES {
        read.push(Err(format!("only the first {MAX_ENTRIES} of {} entries are read", list.len())));
    }
    Ok(read)
}

fn entry(value: &Value) -> Result<PublishedAgent, String> {
    let name = text(value, "id").ok_or("an entry without an id")?;
    if !is_name(name) {
        return Err(format!(
            "{:?} is no id: small letters, digits and hyphens, a letter first",
            shortened(name)
        ));
    }
    let wrong = |why: String| format!("{name}: {why}");
    let distribution = value.get("distribution").and_then(Value::as_object);
    let distribution =
        distribution.ok_or_else(|| wrong("it does not say how it is distributed".to_owned()))?;
    let shown = |member: &str| text(value, member).map(shortened).unwrap_or_default();
    let mut agent = PublishedAgent {
        name: name.to_owned(),
        title: Some(shown("name")).filter(|title| !title.is_empty()).unwrap_or_else(|| name.to_owned()),
        version: shown("version"),
        description: shown("description"),
        ..PublishedAgent::default()
    };
    if let Some(targets) = distribution.get("binary").and_then(Value::as_object) {
        for (platform, target) in targets {
            agent
                .binaries
                .insert(platform.clone(), binary(target).map_err(|why| wrong(format!("{platform}: {why}")))?);
        }
    }
    for (runner, before_package) in [("npx", "--package"), ("uvx", "--from")] {
        if let Some(target) = distribution.get(runner) {
            agent.packages.push(
                package(runner, before_package, target).map_err(|why| wrong(format!("{runner}: {why}")))?,
            );
        }
    }
    if agent.binaries.is_empty() && agent.packages.is_empty() {
        return Err(wrong("it is distributed in a way that is not known here".to_owned()));
    }
    Ok(agent)
}

fn binary(target: &Value) -> Result<Binary, String> {
    let command = text(target, "cmd").ok_or("no cmd")?;
    // It is unpacked into a folder that only its installer knows; on the path it has its own name.
    let program = command.rsplit(['/', '\\']).next().unwrap_or_default();
    Ok(Binary {
        archive: text(target, "archive").map(str::to_owned).ok_or("no archive")?,
        sha256: text(target, "sha256").filter(|digest| digest.len() == 64).map(str::to_owned),
        program: word(program)?,
        arguments: arguments(target)?,
    })
}

fn package(runner: &'static str, before_package: &str, target: &Value) -> Result<Package, String> {
    let package = word(text(target, "package").ok_or("no package")?)?;
    let lead = match text(target, "cmd") {
        Some(command) => vec![before_package.to_owned(), package.clone(), word(command)?],
        None => vec![package.clone()],
    };
    Ok(Package { runner, lead, package, arguments: arguments(target)? })
}

fn arguments(target: &Value) -> Result<Arguments, String> {
    let list = match target.get("args") {
        None | Some(Value::Null) => &[][..],
        Some(list) => list.as_array().ok_or("args is no list")?,
    };
    let words: Option<Vec<String>> = list.iter().map(|word| word.as_str().map(str::to_owned)).collect();
    let words = words.ok_or("args holds something else than texts")?;
    let empty = Map::new();
    let env = match target.get("env") {
        None | Some(Value::Null) => &empty,
        Some(env) => env.as_object().ok_or("env is no object")?,
    };
    let mut variables = BTreeMap::new();
    for (name, value) in env {
        let value = value.as_str().ok_or("env holds something else than texts")?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("{:?} is no name of a variable", shortened(name)));
        }
        variables.insert(name.clone(), value.to_owned());
    }
    let all = || words.iter().chain(variables.values());
    if all().any(|word| word.chars().any(char::is_control)) {
        return Err("a control character in its command".to_owned());
    }
    if all().map(String::len).sum::<usize>() > MAX_COMMAND {
        return Err(format!("its command is longer than {MAX_COMMAND} bytes"));
    }
    Ok(Arguments { words, env: variables })
}

/// A word that is a program or a package: nothing that a program could take for an option or a path elsewhere.
fn word(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@/._-+=~^[]<>!,".contains(c);
    let well = !text.is_empty() && text.len() <= MAX_TEXT && text.chars().all(plain);
    if !well || text.starts_with(['-', '/', '.', '~']) {
        return Err(format!("{:?} is no name of a program or a package", shortened(text)));
    }
    Ok(text.to_owned())
}

fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
}

fn text<'a>(value: &'a Value, member: &str) -> Option<&'a str> {
    value.get(member).and_then(Value::as_str)
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn one(distribution: &Value) -> Result<PublishedAgent, String> {
        let text = json!({"id": "an-agent", "name": "An Agent", "version": "1.2.3", "description": "d",
            "distribution": distribution, "preview": {"unknown": [1]}})
        .to_string();
        let mut read = read(&text)?;
        assert_eq!(read.len(), 1);
        read.remove(0)
    }

    #[test]
    fn programs_and_packages_of_the_registry_are_read() {
        let agent = one(&json!({
            "binary": {
                "linux-x86_64": {"archive": "https://x/y.tgz", "cmd": "./dist/agent", "args": ["acp"], "env": {"A": "1"},
                    "sha256": "0".repeat(64)},
                "windows-x86_64": {"archive": "https://x/y.zip", "cmd": "./pack\\agent.exe"},
            },
            "npx": {"package": "@scope/agent@1.2.3", "args": ["--acp"]},
            "uvx": {"package": "agent==1.2.3", "cmd": "agent-acp"},
        }))
        .unwrap();
        assert_eq!(
            (agent.name.as_str(), agent.title.as_str(), agent.version.as_str()),
            ("an-agent", "An Agent", "1.2.3")
        );
        let linux = &agent.binaries["linux-x86_64"];
        assert_eq!(
            (linux.program.as_str(), linux.arguments.words.as_slice()),
            ("agent", &["acp".to_owned()][..])
        );
        assert_eq!(linux.arguments.env["A"], "1");
        assert_eq!(agent.binaries["windows-x86_64"].program, "agent.exe");
        assert_eq!(agent.packages[0].lead, ["@scope/agent@1.2.3"]);
        assert_eq!(agent.packages[1].lead, ["--from", "agent==1.2.3", "agent-acp"]);
    }

    #[test]
    fn an_entry_that_cannot_be_used_costs_only_itself() {
        let text = json!({"version": "1.0.0", "agents": [
            {"id": "good", "distribution": {"npx": {"package": "good"}}},
            {"id": "Bad"}, {}, 7,
            {"id": "elsewhere", "distribution": {"docker": {}}},
        ]})
        .to_string();
        let read = read(&text).unwrap();
        assert_eq!(read.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, false, false, false]);
        assert!(read[4].as_ref().unwrap_err().starts_with("elsewhere: it is distributed in a way"));
    }

    #[test]
    fn words_that_would_be_options_paths_or_commands_to_a_terminal_are_refused() {
        for package in
            ["", "-c", "--call=sh", "../x", "/bin/sh", "a b", "a\u{1b}[2J", "a;b", "a$(b)", "http://x/y"]
        {
            assert!(one(&json!({"npx": {"package": package}})).is_err(), "{package:?}");
        }
        for (member, value) in [
            ("args", json!(["a\nb"])),
            ("args", json!(["x".repeat(MAX_COMMAND + 1)])),
            ("args", json!("text")),
            ("args", json!([1])),
            ("env", json!({"A B": "1"})),
            ("env", json!({"A": 1})),
            ("env", json!({"A": "\u{7}"})),
            ("cmd", json!("--help")),
        ] {
            let mut target = json!({"package": "fine"});
            target[member] = value.clone();
            assert!(one(&json!({"npx": target})).is_err(), "{member}: {value}");
        }
        assert!(one(&json!({"binary": {"linux-x86_64": {"archive": "https://x", "cmd": "./"}}})).is_err());
    }

    #[test]
    fn what_is_no_list_of_agents_says_so() {
        for text in ["", "[]", "{}", "{\"agents\": 3}", "\u{0}", "[[[["] {
            assert!(read(text).is_err(), "{text}");
        }
        let many: Vec<Value> = (0..=MAX_ENTRIES)
            .map(|n| json!({"id": format!("a{n}"), "distribution": {"npx": {"package": "p"}}}))
            .collect();
        let read = read(&json!({ "agents": many }).to_string()).unwrap();
        assert_eq!(read.iter().filter(|entry| entry.is_ok()).count(), MAX_ENTRIES);
        assert!(read.last().unwrap().is_err());
    }
}
