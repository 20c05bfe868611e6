//! What this kernel can forbid, and forbidding it.

use super::Leash;
#[cfg(target_os = "linux")]
use super::sockets;

/// What the sandbox really gives on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The version of Landlock, when there is one.
    pub landlock: Option<u32>,
    /// Whether writing outside of the workspace is stopped.
    pub files: bool,
    /// Whether the network is closed.
    pub network: bool,
    /// All that in words for a person.
    pub words: String,
}

impl Status {
    fn of(landlock: Option<u32>, sockets: bool) -> Status {
        let files = landlock.map_or_else(
            || {
                "no Landlock in this kernel: commands write wherever you may, only consent protects you"
                    .to_owned()
            },
            |version| format!("Landlock {version}: commands write only in the workspace and temp"),
        );
        let tcp = landlock.is_some_and(|version| version >= 4);
        let network = match (sockets, tcp) {
            (true, _) => "they have no network unless allowed",
            (false, true) => "they have no TCP unless allowed, but everything else of the network",
            (false, false) => "this kernel cannot keep them off the network",
        };
        let words = format!("{files}; {network}");
        Status { landlock, files: landlock.is_some(), network: sockets || tcp, words }
    }
}

#[cfg(target_os = "linux")]
mod landlocked {
    use super::Leash;
    use landlock::{
        ABI, AccessFs, AccessNet, LandlockStatus, RestrictionStatus, Ruleset, RulesetAttr,
        RulesetCreatedAttr, RulesetError, Scope, path_beneath_rules,
    };
    use std::path::{Path, PathBuf};

    /// Places that programs write to and nobody keeps.
    const TEMP: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];
    /// Devices that programs open for writing and that harm nobody.
    const DEVICES: &[&str] = &[
        "/dev/null",
        "/dev/zero",
        "/dev/full",
        "/dev/random",
        "/dev/urandom",
        "/dev/tty",
        "/dev/ptmx",
        "/dev/pts",
    ];

    /// Limits this thread and everything it starts.
    pub(crate) fn apply(leash: &Leash) -> Result<(), RulesetError> {
        let writing = AccessFs::from_write(ABI::V3);
        // Nor may it end or stop a program that is none of its own: ours, say.
        let mut ruleset = Ruleset::default()
            .handle_access(writing)?
            .scope(Scope::Signal)?
            .scope(Scope::AbstractUnixSocket)?;
        if !leash.network {
            ruleset = ruleset.handle_access(AccessNet::BindTcp)?.handle_access(AccessNet::ConnectTcp)?;
        }
        let temp = TEMP.iter().chain(DEVICES).map(PathBuf::from).chain([std::env::temp_dir()]);
        let writable: Vec<PathBuf> =
            leash.writable.iter().cloned().chain(temp).filter(|path| path.exists()).collect();
        let rules = path_beneath_rules(writable.iter().map(PathBuf::as_path).map(Path::as_os_str), writing);
        ruleset.create()?.add_rules(rules)?.restrict_self()?;
        Ok(())
    }

    /// The version of Landlock, found by limiting a thread that then ends.
    pub(crate) fn version() -> Option<u32> {
        let probe = || -> Result<RestrictionStatus, RulesetError> {
            Ruleset::default().handle_access(AccessFs::MakeBlock)?.create()?.restrict_self()
        };
        match std::thread::spawn(probe).join().ok()?.ok()?.landlock {
            LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
            LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
        }
    }
}

/// What this kernel gives, honestly.
pub fn status() -> Status {
    #[cfg(target_os = "linux")]
    return Status::of(landlocked::version(), sockets::can_close());
    #[cfg(not(target_os = "linux"))]
    return Status::of(None, false);
}

/// Limits this thread and everything it starts, as far as the kernel can.
pub(super) fn apply(leash: &Leash) -> std::io::Result<()> {
    if leash.free {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        landlocked::apply(leash).map_err(std::io::Error::other)?;
        if !leash.network && sockets::can_close() {
            sockets::close()?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_is_given() {
        assert!(Status::of(None, false).words.contains("only consent protects you"));
        assert!(Status::of(Some(3), false).words.contains("cannot keep them off the network"));
        assert!(Status::of(Some(6), false).words.contains("no TCP"));
        assert!(Status::of(Some(6), true).words.contains("no network unless allowed"));
        assert!(Status::of(None, true).network);
        assert_eq!(status().files, status().landlock.is_some());
    }
}
