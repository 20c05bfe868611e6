//! Where a foreign runtime is, as it is kept with its sessions, and back; and which commands were ever typed here.
//!
//! A kept command is a thing that gets executed, so: nothing of the environment is kept; a word that looks like a key is not (the rest is,
//! for show, and cannot be started); and a command that came into the store by another way than being typed on this machine (another
//! store's backup) is started only after the person has said yes to it. Those that were typed stand in `attached`, in the data folder,
//! for its owner alone. What it is not: the store, or the start itself.

use dialects::Dialect;
use domain::ids::SessionId;
use domain::path_text;
use domain::session::origin::MAX_COMMAND;
use domain::session::{Origin, RuntimePlace};
use host::{paths, private};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The file of the commands that were typed here, in the data folder.
const TYPED: &str = "attached";
/// Commands that are remembered; past it the oldest is forgotten, and asked for again.
const MAX_TYPED: usize = 500;

/// Where a foreign runtime is.
#[derive(Debug, Clone)]
pub enum RuntimeAddress {
    /// Listening there.
    Socket(PathBuf),
    /// To be started.
    Command(Vec<OsString>),
}

impl RuntimeAddress {
    /// Where runtimes of this wire usually listen, if one does.
    pub fn usual(dialect: Dialect) -> Option<RuntimeAddress> {
        let sockets = dialect.description().sockets?;
        let paths = (sockets.connect)(&|name| std::env::var_os(name));
        paths.into_iter().find(|path| path.exists()).map(RuntimeAddress::Socket)
    }

    /// What was typed; `None` when neither was.
    pub fn of(socket: Option<&PathBuf>, command: &[OsString]) -> Option<RuntimeAddress> {
        match (socket, command) {
            (Some(path), _) => Some(RuntimeAddress::Socket(path.clone())),
            (None, []) => None,
            (None, command) => Some(RuntimeAddress::Command(command.to_vec())),
        }
    }
}

/// As whose the sessions of a runtime are kept.
#[derive(Debug, Clone)]
pub struct KeepAs {
    pub origin: Origin,
    /// Where a command is started.
    pub folder: PathBuf,
    /// The kept session to go on with.
    pub session: Option<SessionId>,
    /// Whether that one was asked for: nothing is started without it then.
    pub insists: bool,
}

/// A runtime as it is kept with its sessions. `folder` is where a command is started.
pub fn origin(dialect: Dialect, place: &RuntimeAddress, folder: &Path) -> Origin {
    let place = match place {
        RuntimeAddress::Socket(path) => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            RuntimePlace::Socket { path: path_text::write(&path) }
        }
        RuntimeAddress::Command(command) => {
            let typed: Vec<String> = command.iter().map(|word| path_text::write(Path::new(word))).collect();
            let mut words = wire::secret::words(&typed);
            let mut incomplete = words != typed;
            while words.len() > 1 && words.iter().map(String::len).sum::<usize>() > MAX_COMMAND {
                words.pop();
                incomplete = true;
            }
            RuntimePlace::Command { words, folder: path_text::write(folder), incomplete }
        }
    };
    Origin { dialect: dialect.name().to_owned(), place, session: None }
}

/// Where a kept session's runtime is reached, and in which folder it is started.
///
/// # Errors
/// When something of its command was not kept, or its folder is gone.
pub fn address(origin: &Origin) -> anyhow::Result<(RuntimeAddress, Option<PathBuf>)> {
    match &origin.place {
        RuntimePlace::Socket { path } => Ok((RuntimeAddress::Socket(path_text::read(path)), None)),
        RuntimePlace::Command { incomplete: true, .. } => anyhow::bail!(
            "its command was not kept whole, since something in it looks like a key (or it is very long): {}\nhint: start it by \
             hand, with what is missing: parlor attach --dialect {}{} -- COMMAND",
            origin.place.typed(),
            origin.dialect,
            origin.session.as_ref().map(|session| format!(" --session {session}")).unwrap_or_default(),
        ),
        RuntimePlace::Command { words, folder, .. } => {
            let folder = path_text::read(folder);
            anyhow::ensure!(
                folder.is_dir(),
                "{} is gone, the folder in which its program was started: {}\nhint: make it again, or start the program by hand \
                 with parlor attach",
                folder.display(),
                origin.place.typed(),
            );
            let command: Vec<OsString> =
                words.iter().map(|word| path_text::read(word).into_os_string()).collect();
            Ok((RuntimeAddress::Command(command), Some(folder)))
        }
    }
}

/// A runtime in a line: what it is, and what it speaks.
pub fn words(origin: &Origin) -> String {
    let typed = harmless(&origin.place.typed());
    match &origin.place {
        RuntimePlace::Socket { .. } => format!("{typed} ({})", origin.dialect),
        RuntimePlace::Command { folder, .. } => {
            format!("{typed} ({}, in {})", origin.dialect, harmless(folder))
        }
    }
}

fn harmless(text: &str) -> String {
    text.chars().map(|c| if domain::harmless::is_harmful(c) { '\u{fffd}' } else { c }).collect()
}

/// Remembers that this was typed here.
///
/// # Errors
/// When it cannot be: then it is asked for when it is started again.
pub fn remember(origin: &Origin) -> anyhow::Result<()> {
    if is_typed(origin) {
        return Ok(());
    }
    paths::data().and_then(|data| add(&data.join(TYPED), origin))
}

/// Whether this needs no asking: it was typed here, or it is no program that would be started.
pub fn is_typed(origin: &Origin) -> bool {
    let RuntimePlace::Command { .. } = origin.place else { return true };
    let Ok(data) = paths::data() else { return false };
    let typed = std::fs::read_to_string(data.join(TYPED)).unwrap_or_default();
    let line = line(origin);
    typed.lines().any(|known| known == line)
}

/// One runtime, whatever its session is called.
fn line(origin: &Origin) -> String {
    record::encode(&Origin { session: None, ..origin.clone() })
}

/// Adds a line to the file, in one step: another Parlor may read it.
fn add(file: &Path, origin: &Origin) -> anyhow::Result<()> {
    let typed = std::fs::read_to_string(file).unwrap_or_default();
    let mut lines: Vec<&str> = typed.lines().collect();
    let over = (lines.len() + 1).saturating_sub(MAX_TYPED);
    lines.drain(..over.min(lines.len()));
    let line = line(origin);
    lines.push(&line);
    private::replace(file, &(lines.join("\n") + "\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Origin {
        let dialect = dialects::ALL[0];
        let command = words.iter().map(OsString::from).collect();
        origin(dialect, &RuntimeAddress::Command(command), Path::new("/"))
    }

    #[test]
    fn a_command_comes_back_byte_by_byte() {
        #[cfg(unix)]
        let odd: OsString = std::os::unix::ffi::OsStringExt::from_vec(vec![b'a', 0xff, b' ', b'\'']);
        let typed = vec![OsString::from("./agent"), odd, OsString::new()];
        let kept = origin(dialects::ALL[0], &RuntimeAddress::Command(typed.clone()), Path::new("/"));
        let (RuntimeAddress::Command(command), Some(folder)) = address(&kept).unwrap() else { panic!() };
        assert_eq!((command, folder), (typed, PathBuf::from("/")));
    }

    #[test]
    fn what_looks_like_a_key_is_not_kept_and_cannot_be_started() {
        for (words, secret) in [
            (["agent", "--api-key", "hunter22", "-x"], "hunter22"),
            (["agent", "--password=hunter22", "-x", "-y"], "hunter22"),
            (["env", "OPENAI_API_KEY=hunter22", "agent", "-x"], "hunter22"),
            (["agent", "sk-abcdefghijklmnopqrstuv", "-x", "-y"], "sk-abc"),
        ] {
            let kept = of(&words);
            assert!(!record::encode(&kept).contains(secret), "{kept:?}");
            assert!(kept.place.typed().contains("-x"), "{kept:?}");
            let why = address(&kept).unwrap_err().to_string();
            assert!(why.contains("parlor attach --dialect") && !why.contains(secret), "{why}");
        }
        assert!(address(&of(&["agent", "--max-tokens", "5000", "--keyboard", "us"])).is_ok());
    }

    #[test]
    fn a_long_command_is_kept_cut_and_cannot_be_started() {
        let long = "x".repeat(MAX_COMMAND);
        let kept = of(&["agent", &long]);
        assert!(kept.weight() < MAX_COMMAND && address(&kept).is_err());
    }

    #[test]
    fn so_many_typed_commands_are_remembered_and_the_newest_is_there() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join(TYPED);
        for number in 0..MAX_TYPED + 3 {
            add(&file, &of(&["agent", &number.to_string()])).unwrap();
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let is_in =
            |number: usize| text.lines().any(|known| known == line(&of(&["agent", &number.to_string()])));
        assert_eq!(text.lines().count(), MAX_TYPED);
        assert!(is_in(MAX_TYPED + 2) && !is_in(2));
    }
}
