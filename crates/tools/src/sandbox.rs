//! The guard that runs commands on our behalf.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

/// How a command is run: through a guard program that is our own binary with another first argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// Our own binary.
    pub program: PathBuf,
    /// The arguments that make it a guard, such as `__guard`.
    pub lead: Vec<OsString>,
    /// What else may be written, beside the workspace and temp.
    pub writable: Vec<PathBuf>,
}

impl Guard {
    /// A command that runs `program` with no orphan left behind, but free to write and to use the network.
    pub fn bare(&self, program: &OsStr) -> Command {
        self.command(program, &[PathBuf::from("/")], true)
    }

    /// A command that runs `program` under this guard; the caller adds its arguments.
    pub fn command(&self, program: &OsStr, writable: &[PathBuf], network: bool) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.lead);
        command.arg("--parent").arg(std::process::id().to_string());
        for path in writable.iter().chain(&self.writable) {
            command.arg("--rw").arg(path);
        }
        if network {
            command.arg("--net");
        }
        command.arg("--").arg(program);
        command
    }
}
