//! One entry of a list of servers, in the form that many programs share. Pure.

use super::oauth::OAuth;
use super::variables;
use domain::harmless::{as_word, in_ticks};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsStr;

/// Most servers of one file.
const MAX_SERVERS: usize = 32;
/// Longest name of a server: it becomes part of its tools' names.
const MAX_NAME: usize = 32;

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// A child process that speaks on stdin and stdout.
    Child {
        /// The program.
        command: String,
        args: Vec<String>,
        /// Variables that it gets beside the harmless ones of ours.
        env: BTreeMap<String, String>,
    },
    /// A server behind a URL.
    Http {
        url: String,
        /// Headers that go with every request.
        headers: BTreeMap<String, String>,
        oauth: OAuth,
    },
}

/// A server as a file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    /// How it is reached; variables are not filled in yet.
    pub way: Way,
    /// Switched off in the file.
    pub disabled: bool,
    /// The digest of the entry as it stands in the file.
    pub digest: String,
}

/// What cannot be used of a file: the whole of it, or one entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{why}", name.as_ref().map(|name| format!("server {name}: ")).unwrap_or_default())]
pub struct EntryError {
    /// The entry; `None` when it is the file.
    pub name: Option<String>,
    /// What is wrong and what would be right.
    pub why: String,
}

impl EntryError {
    fn file(why: impl Into<String>) -> EntryError {
        EntryError { name: None, why: why.into() }
    }
}

/// Where a file keeps its servers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// The way to the object of servers.
    pointer: &'static str,
    /// How a person calls that place.
    name: &'static str,
    /// Whether the file is about servers alone: then one without any is a mistake.
    only: bool,
}

impl Form {
    /// A file of servers, as many programs share it.
    pub(super) const COMMON: Form = Form { pointer: "/mcpServers", name: "mcpServers", only: true };
    /// Settings that may also name servers.
    pub(super) const OF_SETTINGS: Form = Form { pointer: "/mcp/servers", name: "mcp.servers", only: false };
}

/// The servers of a file in the common form, and what is wrong with the others.
pub fn parse(text: &str) -> (Vec<Entry>, Vec<EntryError>) {
    parse_as(text, Form::COMMON)
}

/// The servers of a file in this form, and what is wrong with the others.
pub(super) fn parse_as(text: &str, form: Form) -> (Vec<Entry>, Vec<EntryError>) {
    let file: Value = match serde_json::from_str(text) {
        Ok(file) => file,
        Err(why) => return (Vec::new(), vec![EntryError::file(format!("it is not JSON: {why}"))]),
    };
    let place = file.pointer(form.pointer);
    if place.is_none() && !form.only {
        return (Vec::new(), Vec::new());
    }
    let Some(servers) = place.and_then(Value::as_object) else {
        return (Vec::new(), vec![EntryError::file(format!("it has no object `{}`", form.name))]);
    };
    let (mut entries, mut errors) = (Vec::new(), Vec::new());
    for (name, value) in servers {
        if entries.len() == MAX_SERVERS {
            errors.push(EntryError::file(format!(
                "it has more than {MAX_SERVERS} servers; the rest is left out"
            )));
            break;
        }
        match read(name, value) {
            Ok(entry) => entries.push(entry),
            Err(why) => errors.push(EntryError { name: Some(name.clone()), why }),
        }
    }
    (entries, errors)
}

/// Reads one entry.
///
/// # Errors
/// What is wrong with it, in words.
pub(super) fn read(name: &str, value: &Value) -> Result<Entry, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > MAX_NAME || !name.chars().all(plain) {
        return Err(format!("a name must be 1 to {MAX_NAME} letters, digits, `-` or `_`"));
    }
    let Some(map) = value.as_object() else { return Err("it must be an object".to_owned()) };
    let kind = map.get("type").or_else(|| map.get("transport")).and_then(Value::as_str);
    let way = match (kind, map.contains_key("command"), map.contains_key("url")) {
        (Some("sse"), _, _) => {
            return Err(
                "the old `sse` transport is not supported: use the server's `http` address".to_owned()
            );
        }
        (Some("stdio") | None, true, _) => {
            Way::Child { command: text(map, "command")?, args: texts(map, "args")?, env: pairs(map, "env")? }
        }
        (Some("http" | "streamable-http" | "streamableHttp" | "streamable_http") | None, _, true) => {
            Way::Http { url: text(map, "url")?, headers: pairs(map, "headers")?, oauth: OAuth::read(map)? }
        }
        _ => return Err("it needs `command` (a program) or `url` (an http address)".to_owned()),
    };
    let disabled = map.get("disabled").and_then(Value::as_bool).unwrap_or(false)
        || map.get("enabled").and_then(Value::as_bool) == Some(false);
    let digest = tools::digest::hex(format!("{name}\n{}", tools::digest::canonical(value)).as_bytes());
    Ok(Entry { name: name.to_owned(), way, disabled, digest })
}

fn text(map: &Map<String, Value>, key: &str) -> Result<String, String> {
    match map.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("`{key}` must be a text")),
    }
}

fn texts(map: &Map<String, Value>, key: &str) -> Result<Vec<String>, String> {
    let Some(value) = map.get(key) else { return Ok(Vec::new()) };
    let list =
        value.as_array().map(|list| list.iter().map(|item| item.as_str().map(str::to_owned)).collect());
    list.flatten().ok_or_else(|| format!("`{key}` must be a list of texts"))
}

fn pairs(map: &Map<String, Value>, key: &str) -> Result<BTreeMap<String, String>, String> {
    let Some(value) = map.get(key) else { return Ok(BTreeMap::new()) };
    let wrong = || format!("`{key}` must be an object of texts");
    let object = value.as_object().ok_or_else(wrong)?;
    object
        .iter()
        .map(|(name, value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
            _ => Err(wrong()),
        })
        .collect()
}

impl Entry {
    /// What it would do, in one line for the person, with the variables that it gets: one may change what runs (`PATH`).
    pub fn words(&self) -> String {
        match &self.way {
            Way::Child { command, args, env } => {
                let words: Vec<&str> = std::iter::once(command).chain(args).map(String::as_str).collect();
                format!("runs {}{}", in_ticks(&words.join(" ")), variables::words(env))
            }
            Way::Http { url, .. } => format!("talks to {}", as_word(&without_login(url))),
        }
    }

    /// The way with the variables of this process filled in; a project's server gets none that might be a secret.
    ///
    /// # Errors
    /// As for [`Entry::filled`].
    pub(super) fn in_environment(&self, from_project: bool) -> Result<Way, String> {
        self.filled(&|name| variable(name, from_project))
    }

    /// Its address with the variables of this process filled in, whatever else of the entry cannot be; `None` for a program.
    pub(super) fn address(&self, from_project: bool) -> Option<Result<String, String>> {
        let Way::Http { url, .. } = &self.way else { return None };
        Some(fill(url, &|name| variable(name, from_project)))
    }

    /// The way with `${NAME}` and `${NAME:-else}` filled in.
    ///
    /// # Errors
    /// The name of a variable that is not there, or that may not be used.
    fn filled(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Way, String> {
        let all = |texts: &[String]| texts.iter().map(|text| fill(text, variable)).collect::<Result<_, _>>();
        let map = |pairs: &BTreeMap<String, String>| {
            pairs
                .iter()
                .map(|(name, text)| Ok((name.clone(), fill(text, variable)?)))
                .collect::<Result<_, String>>()
        };
        Ok(match &self.way {
            Way::Child { command, args, env } => {
                Way::Child { command: fill(command, variable)?, args: all(args)?, env: map(env)? }
            }
            Way::Http { url, headers, oauth } => {
                let oauth = oauth.filled(&|text| fill(text, variable))?;
                Way::Http { url: fill(url, variable)?, headers: map(headers)?, oauth }
            }
        })
    }
}

/// A variable of this process that an entry may name.
fn variable(name: &str, from_project: bool) -> Option<String> {
    let value = std::env::var(name).ok()?;
    let safe = tools::env::kept(OsStr::new(name), OsStr::new(&value));
    (safe || !from_project).then_some(value)
}

/// The mark in the place of a login that is not shown.
const LOGIN: &str = "[login]";

/// A text with a mark in the place of the name and password that it carries as an address. What is not one address from its first
/// character to its last is told whole: what is left out of anything else could be what runs.
pub(super) fn without_login(text: &str) -> String {
    let hidden = || {
        let (scheme, rest) = text.split_once("://")?;
        let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (login, host) = host.rsplit_once('@')?;
        let is_of = |text: &str, more: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        let is_address = is_of(scheme, "+-.")
            && is_of(login, "-._~%!*+,=:@")
            && is_of(host, "-._:[]")
            && path.chars().all(|c| c.is_ascii_graphic());
        is_address.then(|| format!("{scheme}://{LOGIN}@{host}{path}"))
    };
    hidden().unwrap_or_else(|| text.to_owned())
}

fn fill(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inner, tail)) = after.split_once('}') else { break };
        filled.push_str(before);
        let (name, other) = match inner.split_once(":-") {
            Some((name, other)) => (name, Some(other)),
            None => (inner, None),
        };
        match variable(name).or_else(|| other.map(str::to_owned)) {
            Some(value) => filled.push_str(&value),
            None => {
                return Err(format!(
                    "the variable {name} is not set, or may not be handed to a project's server"
                ));
            }
        }
        rest = tail;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_form_is_read() {
        let (entries, errors) = parse(
            r#"{"other": 1, "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "server"], "env": {"ROOT": "/w", "N": 3}},
                "docs": {"type": "http", "url": "https://x/mcp", "headers": {"A": "b"}, "disabled": true},
                "old": {"type": "sse", "url": "https://x"},
                "bad name": {"command": "x"},
                "empty": {},
                "args": {"command": "x", "args": "y"}
            }}"#,
        );
        let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["docs", "files"]);
        assert!(entries[0].disabled && !entries[1].disabled);
        assert_eq!(entries[1].words(), "runs `npx -y server`, sets `N=3`, `ROOT=/w`");
        let wrong: Vec<&str> = errors.iter().filter_map(|error| error.name.as_deref()).collect();
        assert_eq!(wrong, ["args", "bad name", "empty", "old"]);
        for text in ["", "[]", "{}", r#"{"mcpServers": []}"#] {
            let (entries, errors) = parse(text);
            assert_eq!((entries.len(), errors.len()), (0, 1), "{text}");
        }
    }

    #[test]
    fn the_words_hide_nothing_that_runs_and_tell_no_secret() {
        let words = |text: &str| read("a", &serde_json::from_str(text).unwrap()).unwrap().words();
        let odd = words(r#"{"command": "x", "args": ["y`\nother: runs `z"], "env": {"PATH": "./evil"}}"#);
        assert_eq!(odd, r"runs `x y\u{60}\nother: runs \u{60}z`, sets `PATH=./evil`");
        let odd = words(r#"{"command": "x", "env": {"A`.\n KEY": "b", "C": "d`, and nothing else"}}"#);
        assert_eq!(
            odd,
            r"runs `x`, sets `A\u{60}.\n KEY` (not shown: it may be a secret), `C=d\u{60}, and nothing else`"
        );
        assert_eq!(words(r#"{"url": "https://a. It is yours"}"#), "talks to `https://a. It is yours`");
        assert_eq!(words(r#"{"url": "https://me:secret@host/a@b"}"#), "talks to https://[login]@host/a@b");
    }

    #[test]
    fn a_login_has_a_mark_in_its_place_and_only_where_the_whole_is_one_address() {
        for (text, shown) in [
            ("postgres://me:p@ss@host:5432/db?x=1", "postgres://[login]@host:5432/db?x=1"),
            ("https://token@[::1]/", "https://[login]@[::1]/"),
        ] {
            assert_eq!(without_login(text), shown);
        }
        for whole in [
            "--title=http:// --require evil --title=@localhost",
            "http://:tools:@/usr/bin:/bin",
            "/usr/bin://:tools:@/bin",
            "env x://;touch evil;@",
            "x://;id;@host",
            "x://$(id)@host",
            "https://good\\@evil",
            "https://a\tb@c",
            "https://a@b/c d",
            "https://a@",
            "https://host/a@b",
            "plain",
        ] {
            assert_eq!(without_login(whole), whole);
        }
    }

    #[test]
    fn the_digest_is_of_what_is_said() {
        let digest = |text: &str| read("a", &serde_json::from_str(text).unwrap()).unwrap().digest;
        let base = digest(r#"{"command": "x", "args": ["y"]}"#);
        assert_eq!(base, digest(r#"{"args": ["y"], "command": "x"}"#));
        assert_ne!(base, digest(r#"{"command": "x", "args": ["y", "z"]}"#));
        assert_ne!(base, digest(r#"{"command": "x", "args": ["y"], "env": {"A": "b"}}"#));
    }

    #[test]
    fn variables_are_filled_in() {
        let known = |name: &str| (name == "HOME").then(|| "/h".to_owned());
        for (text, filled) in [
            ("${HOME}/x", Ok("/h/x")),
            ("${NOT:-else} ${HOME:-x}", Ok("else /h")),
            ("$HOME ${open", Ok("$HOME ${open")),
            ("${NOT}", Err(())),
        ] {
            assert_eq!(fill(text, &known).map_err(|_| ()), filled.map(str::to_owned), "{text}");
        }
    }
}
