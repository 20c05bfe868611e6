//! What a server may reach beside reading the project and writing in its own cache, as the person said. Pure.

use super::entry::{Entry, Way};
use domain::session::ServerReach;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Most further folders that one server may write in.
pub(super) const MAX_FOLDERS: usize = 16;

/// Programs that download what they run, with the word that makes them do so where they do other things too.
const RUNNERS: &[(&str, &[&str])] = &[
    ("npx", &[]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("pipx", &[]),
    ("pnpx", &[]),
    ("deno", &[]),
    ("npm", &["exec", "x"]),
    ("pnpm", &["dlx", "exec"]),
    ("yarn", &["dlx"]),
    ("bun", &["x"]),
    ("uv", &["tool", "run", "x"]),
    ("go", &["run"]),
    ("dotnet", &["tool", "dnx"]),
];

/// Programs that have another program do their work.
const THROUGH_OTHERS: &[&str] = &["docker", "podman", "nerdctl"];

/// What a server may reach.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Reach {
    #[serde(default)]
    pub network: bool,
    /// The project, to write in it.
    #[serde(default)]
    pub project: bool,
    /// Other programs of this machine, by their sockets.
    #[serde(default)]
    pub programs: bool,
    /// Further folders that it may write in, as [`domain::path_text`] writes them.
    #[serde(default)]
    pub folders: Vec<String>,
}

impl Reach {
    /// What every server could reach before this was a choice, and what those have that a UI brought.
    pub fn all() -> Reach {
        Reach { network: true, project: true, programs: true, folders: Vec::new() }
    }

    /// What it may, in words that follow `may`; `None` when it may nothing beside.
    pub fn words(&self) -> Option<String> {
        self.parts(true)
    }

    /// What it may not, in words that follow `may not`; `None` when nothing is closed that could be opened by a word.
    pub fn missing(&self) -> Option<String> {
        self.parts(false)
    }

    fn parts(&self, open: bool) -> Option<String> {
        let parts = [
            (self.network, "use the network".to_owned()),
            (self.project, "write in the project".to_owned()),
            (self.programs, "talk to other programs (Docker, D-Bus)".to_owned()),
            (open && !self.folders.is_empty(), format!("write in {}", self.folders.join(", "))),
        ];
        let shown = if open { parts.len() } else { parts.len() - 1 };
        let words: Vec<String> =
            parts.into_iter().take(shown).filter(|(has, _)| *has == open).map(|(_, words)| words).collect();
        let (last, first) = words.split_last()?;
        let joint = if open { " and " } else { " or " };
        Some(if first.is_empty() { last.clone() } else { format!("{}{joint}{last}", first.join(", ")) })
    }
}

impl From<Reach> for ServerReach {
    fn from(reach: Reach) -> ServerReach {
        let Reach { network, project, programs, folders } = reach;
        ServerReach { network, project, programs, folders }
    }
}

impl Entry {
    /// The program that would download it first, if there is one.
    pub fn downloads_with(&self) -> Option<&str> {
        let (name, args) = self.program()?;
        let runner = RUNNERS.iter().find(|(runner, _)| *runner == name)?;
        let word = |arg: &String| runner.1.contains(&arg.as_str());
        (runner.1.is_empty() || args.iter().any(word)).then_some(name)
    }

    /// The program that has another one do its work, if it is one: it needs that one's socket.
    pub fn works_through(&self) -> Option<&str> {
        self.program().map(|(name, _)| name).filter(|name| THROUGH_OTHERS.contains(name))
    }

    fn program(&self) -> Option<(&str, &[String])> {
        let Way::Child { command, args, .. } = &self.way else { return None };
        Some((Path::new(command).file_name()?.to_str()?, args))
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::read;
    use super::*;

    #[test]
    fn what_is_open_and_what_is_closed_is_said_in_words() {
        assert_eq!(Reach::default().words(), None);
        let closed = "use the network, write in the project or talk to other programs (Docker, D-Bus)";
        assert_eq!(Reach::default().missing().as_deref(), Some(closed));
        assert_eq!(Reach::all().missing(), None);
        let some = Reach { network: true, folders: vec!["/a".into()], ..Reach::default() };
        assert_eq!(some.words().as_deref(), Some("use the network and write in /a"));
        let closed = "write in the project or talk to other programs (Docker, D-Bus)";
        assert_eq!(some.missing().as_deref(), Some(closed));
    }

    #[test]
    fn who_must_download_first_is_known_by_the_command() {
        let entry = |text: &str| read("a", &serde_json::from_str(text).unwrap()).unwrap();
        for (text, with) in [
            (r#"{"command": "npx", "args": ["-y", "x"]}"#, Some("npx")),
            (r#"{"command": "/usr/bin/uvx", "args": ["x"]}"#, Some("uvx")),
            (r#"{"command": "bun", "args": ["x", "y"]}"#, Some("bun")),
            (r#"{"command": "bun", "args": ["server.ts"]}"#, None),
            (r#"{"command": "./npx-like"}"#, None),
            (r#"{"url": "https://x/npx"}"#, None),
        ] {
            assert_eq!(entry(text).downloads_with(), with, "{text}");
        }
        assert_eq!(entry(r#"{"command": "docker", "args": ["run"]}"#).works_through(), Some("docker"));
    }
}
