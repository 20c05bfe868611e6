//! The sandbox: commands run by a guard, which is our own binary under another first argument.
//!
//! The guard starts a limiter, our binary once more, and stays as its parent. The limiter takes a session of its own, limits itself
//! (Landlock: write only where allowed, signal nobody else; no sockets that lead off this machine unless allowed) and becomes the
//! command. The guard is outside of those limits, so the command can neither end nor trace it. When the command ends, when the guard is
//! asked to stop, or when our own process dies in whatever way, it ends every process that came from the command, also those that left
//! the process group. It is no container: reading is not limited.

mod family;
mod guard;
mod kinship;
mod limiter;
mod limits;
#[cfg(target_os = "linux")]
mod sockets;

pub use guard::{GuardError, run_guard};
pub use kinship::came_from_command;
pub use limits::{Status, status};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a guarded command may do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leash {
    /// Directories it may write in, beside temp.
    pub writable: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether it may do what the user may: only the watch over its processes stays.
    pub free: bool,
}

/// How commands are run: the guard program and what is always writable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    program: PathBuf,
    lead: Vec<OsString>,
    writable: Vec<PathBuf>,
}

impl Guard {
    /// A guard: `program` is our own binary, `lead` the arguments that make it call [`run_guard`] with the rest.
    pub fn new(program: &Path, lead: &[&str]) -> Guard {
        Guard {
            program: program.to_owned(),
            lead: lead.iter().map(OsString::from).collect(),
            writable: Vec::new(),
        }
    }

    /// The same guard with more directories that every command may write in, such as a build cache.
    #[must_use]
    pub fn also_writable(mut self, dirs: &[PathBuf]) -> Guard {
        self.writable.extend_from_slice(dirs);
        self
    }

    /// The directories that every command may write in.
    pub fn writable(&self) -> &[PathBuf] {
        &self.writable
    }

    /// A command that runs `program` on `leash`; the caller adds arguments and pipes, and puts it in its own process group.
    /// The process that spawns it must be this one: its death is what the guard waits for.
    pub fn command(&self, program: &OsStr, leash: &Leash) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.lead).arg("--parent").arg(std::process::id().to_string());
        for path in leash.writable.iter().chain(&self.writable) {
            command.arg("--rw").arg(path);
        }
        if leash.network {
            command.arg("--net");
        }
        if leash.free {
            command.arg("--free");
        }
        command.arg("--").arg(program);
        command
    }
}
