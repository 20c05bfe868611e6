//! `parlor new`: a working agent or UI of one's own, with its check, opened at once.
//!
//! The programs are files in `examples/new`; what is written is those, word for word. On purpose the simplest wires: asst for an agent,
//! which can be talked to in thirty lines, and codelia for a UI, since one that cannot be asked is of little use to an agent.

use crate::attach::{self, Attach, KeptSession};
use crate::exit::{self, Exit};
use crate::output::{self, Stream};
use anyhow::Context;
use clap::{Args, ValueEnum};
use domain::harmless::quoted;
use host::launch::Launch;
use remote::origin::RuntimeAddress;
use std::io::{ErrorKind, IsTerminal};
use std::path::Path;

/// Longest name; some file systems take little more.
const MAX_NAME: usize = 64;

/// Write a working agent or UI of your own, with its check.
///
/// It is a folder with one short program, a README and a CI file that runs `parlor check`. What it writes keeps all of its protocol.
/// An agent is opened at once, where there is a terminal.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor new agent mine\n  parlor new agent mine-rs --lang rs --no-open\n  parlor new ui my-ui --lang ts"
)]
pub(crate) struct New {
    /// An agent, which Parlor is the UI of, or a UI, which it is the agent of.
    #[arg(value_enum)]
    what: Made,
    /// The folder to make, and its name.
    #[arg(value_name = "NAME")]
    name: String,
    /// The language: py (Python 3.8), ts (Node 20.16) or rs (needs serde_json).
    #[arg(long, value_enum, default_value_t)]
    lang: Lang,
    /// Only write it.
    #[arg(long)]
    no_open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Made {
    /// Answers prompts; Parlor is its UI.
    Agent,
    /// Says prompts; Parlor is its agent.
    Ui,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Lang {
    #[default]
    Py,
    Ts,
    Rs,
}

impl Lang {
    /// What has to be installed for it.
    fn needs(self) -> &'static str {
        match self {
            Lang::Py => "Python 3.8",
            Lang::Ts => "Node 20.16; Node 22.18 once you annotate types",
            Lang::Rs => "Rust 1.85 and the crate `serde_json`",
        }
    }
}

/// What is made, in one language.
struct Template {
    made: Made,
    lang: Lang,
    /// Where the program stands in the folder.
    file: &'static str,
    text: &'static str,
}

impl Template {
    fn of(made: Made, lang: Lang) -> Template {
        let (file, text) = match (made, lang) {
            (Made::Agent, Lang::Py) => ("agent.py", include_str!("../../../examples/new/agent.py")),
            (Made::Agent, Lang::Ts) => ("agent.ts", include_str!("../../../examples/new/agent.ts")),
            (Made::Agent, Lang::Rs) => ("src/main.rs", include_str!("../../../examples/new/agent.rs")),
            (Made::Ui, Lang::Py) => ("ui.py", include_str!("../../../examples/new/ui.py")),
            (Made::Ui, Lang::Ts) => ("ui.ts", include_str!("../../../examples/new/ui.ts")),
            (Made::Ui, Lang::Rs) => ("src/main.rs", include_str!("../../../examples/new/ui.rs")),
        };
        Template { made, lang, file, text }
    }

    /// The command that starts it in its folder.
    fn command(&self) -> Vec<&'static str> {
        match self.lang {
            Lang::Py => vec!["python3", self.file],
            Lang::Ts => vec!["node", self.file],
            Lang::Rs => vec!["cargo", "run", "--quiet"],
        }
    }

    /// How a person uses it, as they type it in its folder.
    fn run(&self) -> String {
        let command = self.command().join(" ");
        match (self.made, self.lang) {
            (Made::Agent, _) => format!("parlor attach --dialect asst -- {command}"),
            (Made::Ui, Lang::Rs) => format!("{command} -- \"list files\""),
            (Made::Ui, _) => format!("{command} \"list files\""),
        }
    }

    /// The line that plays its protocol to it, for a person or for a build server.
    fn check(&self, junit: bool) -> String {
        let junit = if junit { " --junit result.xml" } else { "" };
        let (dialect, role, end) = match self.made {
            Made::Agent => (dialects::FIRST_OF_AGENTS, "runtime", ""),
            Made::Ui => (dialects::FIRST_OF_UIS, "ui", " hello {runtime}"),
        };
        let (build, command) = match (self.lang, self.made) {
            (Lang::Py, _) => ("", format!("python3 {}", self.file)),
            (Lang::Ts, _) => ("", format!("node {}", self.file)),
            (Lang::Rs, Made::Agent) => ("cargo build && ", "target/debug/agent".to_owned()),
            (Lang::Rs, Made::Ui) => ("cargo build && ", "target/debug/ui".to_owned()),
        };
        format!("{build}parlor check --dialect {dialect} --role {role}{junit} -- {command}{end}")
    }

    /// All files, by where they stand in the folder.
    fn files(&self, name: &str) -> Vec<(&'static str, String)> {
        let (about, binary) = match self.made {
            Made::Agent => ("An agent with Parlor's UI, on the protocol `asst`.", "agent"),
            Made::Ui => ("A UI with Parlor's agent, on the protocol `codelia`.", "ui"),
        };
        let readme = include_str!("../../../examples/new/README.md");
        let readme = [
            ("ABOUT", about),
            ("FILE", self.file),
            ("RUN", &self.run()),
            ("CHECK", &self.check(false)),
            ("NEEDS", self.lang.needs()),
            // Last: a name may hold one of the other words.
            ("NAME", name),
        ]
        .iter()
        .fold(readme.to_owned(), |text, (from, to)| text.replace(from, to));
        let ci = include_str!("../../../examples/new/check.yml").replace("CHECK", &self.check(true));
        let mut files = vec![
            (self.file, self.text.to_owned()),
            ("README.md", readme),
            (".github/workflows/check.yml", ci),
        ];
        if self.lang == Lang::Rs {
            let manifest = format!(
                "[package]\nname = \"{binary}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\nserde_json = \"1\"\n\n[workspace]\n"
            );
            files.extend([("Cargo.toml", manifest), (".gitignore", "target\n".to_owned())]);
        }
        files
    }
}

/// Why a name cannot be the name of a folder here.
fn refuse_name(name: &str) -> Option<&'static str> {
    if name.contains('/') {
        return Some("go to the folder where you want it, and give its name alone");
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let fits = name.len() <= MAX_NAME && name.starts_with(|c: char| c.is_ascii_alphabetic());
    (!fits || !name.chars().all(plain))
        .then_some("begin with a letter, and use letters, digits, - and _, at most 64")
}

/// Writes the folder and opens what is in it.
pub(crate) async fn new(launch: Launch, asked: New) -> anyhow::Result<Exit> {
    let name = asked.name.as_str();
    if let Some(hint) = refuse_name(name) {
        return Err(exit::usage(format!("{} cannot be the name\n\nhint: {hint}", quoted(name))));
    }
    let template = Template::of(asked.what, asked.lang);
    let folder = host::paths::working_directory(&launch)?.join(name);
    write(&folder, &template.files(name)).map_err(|why| match why.downcast_ref::<std::io::Error>() {
        Some(io) if io.kind() == ErrorKind::AlreadyExists => {
            exit::usage(format!("{name} is there already, and stays as it is\n\nhint: choose another name"))
        }
        _ => why,
    })?;
    output::print_line(&format!(
        "wrote {name}/{}, its README and its check for CI\n\n  cd {name}\n  {}\n  {}",
        template.file,
        template.run(),
        template.check(false)
    ));
    if asked.no_open
        || template.made == Made::Ui
        || !std::io::stdin().is_terminal()
        || !Stream::Out.is_terminal()
    {
        return Ok(Exit::Done);
    }
    let place = RuntimeAddress::Command(template.command().into_iter().map(Into::into).collect());
    let kept = KeptSession { session: None, folder: Some(folder.clone()) };
    let launch = Launch { cwd: Some(folder), ..launch };
    attach::go(&launch, &Attach::on(dialects::FIRST_OF_AGENTS), None, place, kept).await
}

fn write(folder: &Path, files: &[(&str, String)]) -> anyhow::Result<()> {
    std::fs::create_dir(folder)?;
    for (file, text) in files {
        let path = folder.join(file);
        let made = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        made.and_then(|()| std::fs::write(&path, text))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_folder_of_ones_own_are_refused() {
        for name in ["mine", "a", "my-agent_2", &"x".repeat(MAX_NAME)] {
            assert_eq!(refuse_name(name), None, "{name}");
        }
        for name in
            ["", ".", "..", "a/b", "/tmp/x", "-a", "2x", "a b", "a\nb", "ü", &"x".repeat(MAX_NAME + 1)]
        {
            assert!(refuse_name(name).is_some(), "{name}");
        }
    }
}
