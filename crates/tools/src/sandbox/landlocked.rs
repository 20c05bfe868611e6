//! Landlock: which files may be reached at all. What no rule names is refused.
//!
//! Rules belong to the files themselves, not to their names: a link, `..`, `/proc/self/root` or another mount of the same place leads to
//! the same answer. A rule holds for everything below it, so nothing can be taken away again underneath: what must stay closed is
//! closed by not naming anything above it.

use super::leash::TEMP;
use super::{Leash, own_temp, reading};
use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, RestrictionStatus, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{Mode, OFlags};
use std::io::{Error, Result, Write as _};
use std::path::Path;

/// Devices that hold nothing and lead nowhere. `/dev/fd`, `/dev/stdin` and the like are links to what a process has open already.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Terminals, where the command has some of its own.
const TERMINALS: &[&str] = &["/dev/pts", "/dev/ptmx"];
/// Sockets that answer questions about users, and do nothing else.
const DIRECTORIES: &[&str] = &["/run/systemd/userdb"];
/// Sockets that look up names of machines, which leads out of this one.
const RESOLVERS: &[&str] = &["/run/nscd", "/run/systemd/resolve"];
/// The newest version that we know how to use.
const NEWEST: u32 = 9;
/// Versions that brought what we need.
const TCP: u32 = 4;
const SCOPES: u32 = 6;
const SOCKETS: u32 = 9;

/// How far a rule goes.
#[derive(Clone, Copy)]
struct Rights {
    read: BitFlags<AccessFs>,
    write: BitFlags<AccessFs>,
    device: BitFlags<AccessFs>,
}

impl Rights {
    fn of(version: u32) -> Rights {
        let abi = ABI::from(i32::try_from(version).unwrap_or(i32::MAX));
        // The devices in a folder stay closed, and nobody makes new ones. Moving a file from one writable folder to another
        // takes the same rights on both, so there is only one set.
        let never = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev | AccessFs::ResolveUnix;
        let all = AccessFs::from_all(abi);
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        Rights { read: AccessFs::from_read(abi), write: all & !never, device: all & device }
    }
}

/// Limits this thread and everything it starts.
pub(super) fn apply(leash: &Leash) -> Result<()> {
    let version = leash.lacks.landlock.unwrap_or(NEWEST).min(NEWEST);
    if version == 0 {
        return Ok(());
    }
    let rights = Rights::of(version);
    let mut rules = LandlockRules(ruleset(leash, version).map_err(Error::other)?);
    for place in &leash.writable {
        rules.add(place, rights.write, Links::Refused)?;
    }
    if !leash.looking {
        for place in TEMP {
            rules.add(Path::new(place), rights.write, Links::Followed)?;
        }
    }
    if leash.looking && leash.temp.is_some() {
        for part in own_temp::granted(leash) {
            rules.add(&part, rights.read, Links::Refused)?;
        }
    }
    for device in DEVICES {
        rules.add(Path::new(device), rights.device, Links::Followed)?;
    }
    if leash.private && !leash.looking {
        // These are the command's own.
        for place in TERMINALS {
            rules.add(Path::new(place), rights.device | rights.read, Links::Followed)?;
        }
    }
    for place in &leash.readable {
        // In a view of its own something empty lies over what is covered, so the folder around it can be granted.
        if leash.private || leash.covered.is_empty() {
            rules.add(place, rights.read, Links::Refused)?;
            continue;
        }
        for part in reading::around(place, &leash.covered) {
            rules.add(&part, rights.read, Links::Refused)?;
        }
    }
    if version >= SOCKETS && !leash.sockets {
        for place in DIRECTORIES.iter().chain(RESOLVERS.iter().filter(|_| leash.network)) {
            rules.add(Path::new(place), AccessFs::ResolveUnix.into(), Links::Followed)?;
        }
    }
    let granted = reading::granted(leash);
    for place in &granted.places {
        rules.add(place, rights.read, Links::Passed)?;
    }
    if granted.cut {
        let words = "sandbox: there are too many files beside secrets to grant each of them: some cannot be read here\n";
        let _ = std::io::stderr().write_all(words.as_bytes());
    }
    rules.0.restrict_self().map_err(Error::other)?;
    Ok(())
}

fn ruleset(leash: &Leash, version: u32) -> std::result::Result<RulesetCreated, RulesetError> {
    let mut handled = AccessFs::from_all(ABI::from(version.cast_signed()));
    if leash.sockets {
        handled.remove(AccessFs::ResolveUnix);
    }
    let mut ruleset = Ruleset::default().handle_access(handled)?;
    if version >= SCOPES {
        // Nor may it end or stop a program that is none of its own: ours, say.
        ruleset = ruleset.scope(Scope::Signal)?.scope(Scope::AbstractUnixSocket)?;
    }
    // In a network of its own a command may talk to whatever is there.
    if version >= TCP && !leash.network && !leash.own_network {
        ruleset = ruleset.handle_access(AccessNet::BindTcp)?.handle_access(AccessNet::ConnectTcp)?;
    }
    ruleset.create()
}

/// Whether a rule for a link is one for what it leads to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    /// It is: a place of the system.
    Followed,
    /// What we found by walking is not followed: it may lead to a secret, and what it leads to has an answer of its own.
    Passed,
    /// Nor is any folder on the way: the place was resolved before, and a command that runs meanwhile may have put a link there.
    Refused,
}

struct LandlockRules(RulesetCreated);

impl LandlockRules {
    /// Adds a rule; a place that is not there, or that the user may not reach, needs none.
    fn add(&mut self, place: &Path, access: BitFlags<AccessFs>, links: Links) -> Result<()> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = match links {
            Links::Followed => rustix::fs::open(place, flags, Mode::empty()).map_err(Error::from),
            Links::Passed => {
                rustix::fs::open(place, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(Error::from)
            }
            Links::Refused => crate::exact::handle(place),
        };
        let Ok(file) = opened else { return Ok(()) };
        (&mut self.0).add_rule(PathBeneath::new(file, access)).map_err(Error::other)?;
        Ok(())
    }
}

/// Limits this thread to reading what lies beneath a folder, or one file, that no link leads to.
pub(super) fn only_beneath(top: std::os::fd::OwnedFd) -> Result<()> {
    let rights = Rights::of(NEWEST);
    let rules = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::from(NEWEST.cast_signed())))
        .and_then(Ruleset::create)
        .and_then(|made| made.add_rule(PathBeneath::new(top, rights.read)))
        .map_err(Error::other)?;
    rules.restrict_self().map_err(Error::other)?;
    Ok(())
}

/// The version of Landlock, found by limiting a thread that then ends.
pub(super) fn version() -> Option<u32> {
    let probe = || -> std::result::Result<RestrictionStatus, RulesetError> {
        Ruleset::default().handle_access(AccessFs::MakeBlock)?.create()?.restrict_self()
    };
    match std::thread::spawn(probe).join().ok()?.ok()?.landlock {
        LandlockStatus::Available { effective_abi, .. } => Some(effective_abi as u32),
        LandlockStatus::NotEnabled | LandlockStatus::NotImplemented => None,
    }
}
