//! The sandbox: commands run by a guard, which is our own binary under another first argument.
//!
//! The guard starts a limiter, our binary once more, and stays as its parent. The limiter takes a session of its own, limits itself
//! (Landlock: it writes only where allowed and reads no secrets, signals nobody else; a filter on system calls: no way to type into a
//! terminal, no sockets that lead off this machine unless allowed) and becomes the command. The guard is outside of those limits, so the
//! command can neither end nor trace it. When the command ends, when the guard is asked to stop, or when our own process dies in
//! whatever way, it ends every process that came from the command, also those that left the process group. It is no container:
//! docs/security.md says what it does not stop.

mod ancestry;
#[cfg(target_os = "linux")]
mod calls;
mod closed;
mod env_passing;
mod family;
mod guard;
#[cfg(target_os = "linux")]
mod handing;
#[cfg(target_os = "linux")]
pub(crate) mod keeper;
#[cfg(target_os = "linux")]
mod landlocked;
mod leash;
mod limiter;
mod limits;
#[cfg(target_os = "linux")]
mod mark;
pub(crate) mod mounts;
mod named;
#[cfg(target_os = "linux")]
mod orphans;
#[cfg(target_os = "linux")]
mod own_temp;
#[cfg(target_os = "linux")]
mod private;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod reading;
mod secrets;
mod shared_place;
mod status;

pub(crate) use ancestry::is_known;
pub use ancestry::{NotAdmitted, be_known, is_started_by_an_agent, may_enter};
pub use closed::Closed;
pub use env_passing::handed_on;
pub use guard::{GuardError, own_program, run_guard};
pub(crate) use leash::TEMP_PLACES;
pub use leash::{Lacks, Leash};
#[cfg(target_os = "linux")]
pub use orphans::inherit;
pub use shared_place::refused_place;
pub use status::{Status, status};

use shared_place::{MissingPlace, leads};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Characters of what a guard says why something cannot be done.
const MAX_WORDS: usize = 200;

/// Limits this thread, for as long as it lives, to reading what is at or beneath a resolved path, where the kernel can.
pub(crate) fn read_only_beneath(top: &Path) -> std::io::Result<()> {
    let top = crate::exact::open_folder(top).or_else(|_| crate::exact::open(top).map(Into::into))?;
    #[cfg(target_os = "linux")]
    landlocked::only_beneath(top)?;
    #[cfg(not(target_os = "linux"))]
    drop(top);
    Ok(())
}

/// How commands are run: the guard program and what holds for every command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    program: PathBuf,
    lead: Vec<OsString>,
    always: Leash,
    temp: PathBuf,
    /// Where the temp folders of sessions are made.
    temps: Option<PathBuf>,
    /// What was found of namespaces; tried once.
    namespaces: Arc<OnceLock<NamespacesFound>>,
}

/// What commands can get of their own, or why not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamespacesFound {
    /// A view of the file system.
    view: Result<(), String>,
    network: Result<(), String>,
}

impl Guard {
    /// A guard: `program` is our own binary, `lead` the arguments that make it call [`run_guard`] with the rest.
    pub fn new(program: &Path, lead: &[&str]) -> Guard {
        Guard {
            program: program.to_owned(),
            lead: lead.iter().map(OsString::from).collect(),
            always: Leash::default(),
            temp: std::env::temp_dir().canonicalize().unwrap_or_else(|_| std::env::temp_dir()),
            temps: None,
            namespaces: Arc::default(),
        }
    }

    /// The same guard where the temp folders of sessions are made in this folder, not beside their outputs.
    #[must_use]
    pub fn temps_in(self, folder: PathBuf) -> Guard {
        Guard { temps: Some(folder), ..self }
    }

    /// Where those are made, unless beside their outputs.
    pub(crate) fn temps(&self) -> Option<&Path> {
        self.temps.as_deref()
    }

    /// The same guard with more directories that every command may write in, such as a build cache. Without those that [`refused_place`]
    /// tells of: they are looked at once, at the start, when no command runs that could put another one there.
    #[must_use]
    pub fn also_writable(mut self, dirs: &[PathBuf]) -> Guard {
        self.always.writable.extend(dirs.iter().filter_map(|dir| leads(dir, MissingPlace::IsMade).ok()));
        self
    }

    /// The same guard without those: a command writes in temp and in what its own leash says.
    #[must_use]
    pub fn only_temp(mut self) -> Guard {
        self.always.writable.clear();
        self
    }

    /// The directories that every command may write in.
    pub fn writable(&self) -> &[PathBuf] {
        &self.always.writable
    }

    /// Whether every command may write at a path, also one without a workspace.
    pub fn lets_write(&self, path: &Path) -> bool {
        let temp = leash::TEMP.iter().map(PathBuf::from).chain([std::env::temp_dir()]);
        let temp = temp.filter_map(|place| place.canonicalize().ok());
        temp.chain(self.always.writable.iter().cloned()).any(|place| path.starts_with(place))
    }

    /// Whether a person named this path, or a folder above it, to be shared with commands.
    pub(crate) fn shares(&self, path: &Path) -> bool {
        self.always.writable.iter().chain(&self.always.readable).any(|place| path.starts_with(place))
    }

    /// The same guard with more places that every command may read although people keep secrets there, looked at in the same way.
    #[must_use]
    pub fn also_readable(mut self, places: &[PathBuf]) -> Guard {
        self.always.readable.extend(places.iter().filter_map(|place| leads(place, MissingPlace::Stays).ok()));
        self
    }

    /// The same guard with more places that no command may read, such as our own folders.
    #[must_use]
    pub fn hiding(mut self, places: &[PathBuf]) -> Guard {
        self.always.hidden.extend_from_slice(places);
        self
    }

    /// The same guard on a kernel that can do less.
    #[must_use]
    pub fn without(mut self, lacks: Lacks) -> Guard {
        self.always.lacks = lacks;
        self
    }

    /// What the sandbox gives on this machine.
    pub fn status(&self) -> Status {
        status::without(self.always.lacks, self.namespaces(), self.networks())
    }

    /// Whether commands can be held well enough to run them unasked.
    pub fn holds(&self) -> bool {
        status::without(self.always.lacks, Ok(()), Ok(())).can_hold().is_ok()
    }

    /// Whether commands get a view of the file system of their own, or why not. Tried by a guard that enters one and ends.
    pub fn namespaces(&self) -> Result<(), String> {
        if self.always.lacks.namespaces {
            return Err("not used".to_owned());
        }
        self.found().view.clone()
    }

    /// Whether the commands of a session get a network of their own, or why not. NamespacesFound in the same way.
    pub fn networks(&self) -> Result<(), String> {
        self.namespaces()?;
        if self.always.lacks.networks {
            return Err("not used".to_owned());
        }
        self.found().network.clone()
    }

    fn found(&self) -> &NamespacesFound {
        self.namespaces.get_or_init(|| self.try_namespaces())
    }

    fn try_namespaces(&self) -> NamespacesFound {
        let neither = |why: String| NamespacesFound { view: Err(why.clone()), network: Err(why) };
        if !cfg!(target_os = "linux") {
            return neither("only Linux has them".to_owned());
        }
        let tried = match Command::new(&self.program).args(&self.lead).arg(guard::PROBE).output() {
            Err(why) => return neither(format!("{}: {why}", self.program.display())),
            Ok(tried) => tried,
        };
        if tried.status.success() {
            return NamespacesFound { view: Ok(()), network: Ok(()) };
        }
        let words = String::from_utf8_lossy(&tried.stderr);
        let why: String =
            words.lines().next().unwrap_or("the guard did not start").chars().take(MAX_WORDS).collect();
        match tried.status.code() == Some(i32::from(guard::NO_NETWORK)) {
            true => NamespacesFound { view: Ok(()), network: Err(why) },
            false => neither(why),
        }
    }

    /// Our own binary as the keeper of a network.
    #[cfg(target_os = "linux")]
    pub(crate) fn keeper(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.lead).arg(guard::KEEP);
        command
    }

    /// A command that runs `program` on `leash`; the caller adds arguments, pipes and the environment (see [`handed_on`]), and puts it in
    /// its own process group. The process that spawns it must be this one: its death is what the guard waits for.
    pub fn command(&self, program: &OsStr, leash: &Leash) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.words(None, leash)).arg(program);
        command
    }

    /// The words in front of a command that is watched and not limited, with the time that it may take to end once it is asked to.
    pub fn watching(&self, grace: Duration) -> Vec<OsString> {
        let leash = Leash { free: true, network: true, ..Leash::default() };
        std::iter::once(self.program.clone().into()).chain(self.words(Some(grace), &leash)).collect()
    }

    /// The words in front of a program that goes on this leash whole, with the time that it may take to end once it is asked to.
    pub(crate) fn leashed(&self, grace: Duration, leash: &Leash) -> Vec<OsString> {
        std::iter::once(self.program.clone().into()).chain(self.words(Some(grace), leash)).collect()
    }

    /// All that stands between our program and the command.
    fn words(&self, grace: Option<Duration>, leash: &Leash) -> Vec<OsString> {
        let mut words = self.lead.clone();
        words.extend([guard::PARENT.into(), std::process::id().to_string().into()]);
        words.extend(grace.iter().flat_map(|grace| ["--grace".into(), grace.as_millis().to_string().into()]));
        words.extend(self.complete(leash).arguments());
        words.push("--".into());
        words
    }

    /// The leash with what holds for every command, and with the places that only we know for sure.
    fn complete(&self, leash: &Leash) -> Leash {
        let mut whole = leash.clone();
        whole.private = !whole.free && self.namespaces().is_ok();
        whole.temp = whole.temp.filter(|_| whole.private);
        whole.readable.extend_from_slice(&self.always.readable);
        whole.hidden.extend_from_slice(&self.always.hidden);
        if !whole.looking {
            whole.writable.extend_from_slice(&self.always.writable);
            whole.writable.extend(whole.temp.is_none().then(|| self.temp.clone()));
        }
        whole.home = whole.home.or_else(crate::home);
        if !whole.free {
            let given = [leash.writable.as_slice(), &leash.readable].concat();
            let closed = Closed::hiding(whole.home.as_deref(), Some(self), &whole.hidden);
            whole.covered = closed.inside(&given, &whole.hidden);
            whole.hidden.extend(closed.beyond());
        }
        whole.lacks = self.always.lacks;
        whole
    }
}
