//! A view of the file system of a command's own, where the kernel lets us make one: terminals that nobody else sees, files that cannot be
//! written although they lie in a writable folder, secrets in the workspace and sockets of other programs that are not there.
//!
//! The guard enters it before it does anything else: no domain of Landlock may stand in the way, and mounting needs a process of one
//! thread.
//! The command cannot undo any of it: mounting is refused to it three times (it has no capability, a domain of Landlock, and a
//! filter), and a new user namespace of its own gets these mounts locked together.

use super::leash::TEMP;
use super::{Leash, own_temp};
use nix::sched::{CloneFlags, unshare};
use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, mount, mount_bind, mount_bind_recursive, mount_change, mount_remount,
};
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Folders with sockets of programs that do what they are told outside of every sandbox.
const DOORS: &[&str] = &[
    "/run/containerd",
    "/run/dbus",
    "/run/docker",
    "/run/libvirt",
    "/run/podman",
    "/run/screen",
    "/run/WSL",
    "/mnt/wslg/.X11-unix",
    "/tmp/.ICE-unix",
    "/tmp/.X11-unix",
];
/// Folders with sockets of programs that look names up for others: a way off this machine without a socket that leads off it.
const NAMES: &[&str] = &["/run/systemd/resolve", "/run/nscd", "/run/avahi-daemon"];
/// Single sockets of that kind.
const SOCKETS: &[&str] = &["/run/docker.sock", "/run/snapd.socket", "/run/snapd-snap.socket"];
/// Where agents of ssh put their folders, and how those begin.
const AGENTS: (&str, &str) = ("/tmp", "ssh-");
/// Most entries of temp that are looked at for them.
const MAX_LOOKED: usize = 4096;

/// Enters a view of its own. Fails as a whole: whoever asked for it was told that it works here.
pub(super) fn enter(leash: &Leash) -> Result<()> {
    match leash.own_network && super::keeper::join()? {
        // That one is shared with others of the same network, and they are none of the command's business.
        true => separate_user(CloneFlags::CLONE_NEWNS)?,
        false => drop(separate(CloneFlags::CLONE_NEWNS)?),
    }
    // What others mount goes on to appear here; what we mount appears nowhere else.
    mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
    terminals()?;
    if let Some(temp) = &leash.temp {
        own_temp::mount(leash, temp)?;
    }
    if !leash.sockets {
        doors(leash)?;
    }
    // The outer ones first: what is mounted on a folder hides what was mounted below it before.
    for place in above(leash) {
        pin(&place)?;
    }
    for place in &leash.pinned {
        pin(place)?;
    }
    for place in &leash.locked {
        lock(place)?;
    }
    let open = open(leash);
    for place in hidden(leash).filter(|place| open.iter().any(|open| place.starts_with(open))) {
        lock(place)?;
    }
    for place in &leash.covered {
        cover(place)?;
    }
    // What we stand in may be one of these places as it was before.
    let here = std::env::current_dir()?;
    std::env::set_current_dir(
        leash.temp.as_deref().and_then(|temp| own_temp::named(temp, &here)).unwrap_or(here),
    )
}

/// The places where everything may be written.
fn open(leash: &Leash) -> Vec<&Path> {
    leash.writable.iter().map(PathBuf::as_path).chain(TEMP.iter().map(Path::new)).collect()
}

/// The hidden places that are there: what a session's temp has at the name of one is a command's.
fn hidden(leash: &Leash) -> impl Iterator<Item = &PathBuf> {
    leash.hidden.iter().filter(|place| !own_temp::is_own(leash, place))
}

/// The folders on the way from a place where everything may be written down to one that must stay what it is: the workspace, or a folder of
/// ours. Whoever moved one of them away could put another workspace, or other settings, in its place.
fn above(leash: &Leash) -> std::collections::BTreeSet<PathBuf> {
    let open = open(leash);
    let kept = hidden(leash).chain(&leash.writable);
    let on_the_way = kept.flat_map(|place| {
        let inside = |part: &&Path| open.iter().any(|open| part.starts_with(open) && part != open);
        place.ancestors().filter(inside).map(Path::to_owned).collect::<Vec<_>>()
    });
    on_the_way.collect()
}

/// A namespace of this kind; without the right to make one, it is made inside a user namespace. Tells whether that was needed.
pub(super) fn separate(kind: CloneFlags) -> Result<bool> {
    match unshare(kind) {
        Ok(()) => Ok(false),
        Err(nix::errno::Errno::EPERM) => separate_user(kind).map(|()| true),
        Err(why) => Err(why.into()),
    }
}

/// A namespace of this kind inside a user namespace of its own, as the same user.
fn separate_user(kind: CloneFlags) -> Result<()> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(CloneFlags::CLONE_NEWUSER | kind)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

/// Terminals of its own: programs that need one find it, and the person's are not there.
fn terminals() -> Result<()> {
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    mount("devpts", "/dev/pts", "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options)?;
    if !Path::new("/dev/ptmx").is_symlink() {
        mount_bind("/dev/pts/ptmx", "/dev/ptmx")?;
    }
    Ok(())
}

/// Puts something empty over the sockets of programs that would act for whoever talks to them.
fn doors(leash: &Leash) -> Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let own = [format!("/run/user/{user}"), format!("/tmp/tmux-{user}")];
    if !own_temp::is_own(leash, Path::new(&own[1])) {
        // Made where it is missing: a server that is started later would be reached, and a command could be the first to make it.
        let _ = std::fs::DirBuilder::new().mode(0o700).create(&own[1]);
    }
    for door in closed(leash).chain(own.map(PathBuf::from)).chain(agents()) {
        let Some(door) = real(&door) else { continue };
        let needed = leash.writable.iter().chain(&leash.readable).any(|place| place.starts_with(&door));
        if needed || own_temp::is_own(leash, &door) {
            continue;
        }
        if let Ok(handle) = crate::exact::folder_handle(&door) {
            let flags = MountFlags::NOSUID | MountFlags::NODEV;
            mount("tmpfs", own_temp::by_handle(&handle), "tmpfs", flags, c"mode=0700,size=16m")?;
        }
    }
    for socket in SOCKETS.iter().filter_map(|socket| Path::new(socket).canonicalize().ok()) {
        mount_bind("/dev/null", &socket)?;
    }
    Ok(())
}

/// Where such a folder is. In temp its name may be a command's, and a link would lead anywhere; elsewhere links are the system's.
fn real(door: &Path) -> Option<PathBuf> {
    match TEMP.iter().any(|temp| door.starts_with(temp)) {
        true => Some(door.parent()?.canonicalize().ok()?.join(door.file_name()?)),
        false => door.canonicalize().ok(),
    }
}

/// The folders of such sockets that every machine has in the same place.
fn closed(leash: &Leash) -> impl Iterator<Item = PathBuf> {
    let names = if leash.network { &[] } else { NAMES };
    DOORS.iter().chain(names).map(PathBuf::from)
}

fn agents() -> Vec<PathBuf> {
    let (folder, start) = AGENTS;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_LOOKED);
    let agent =
        |entry: &std::fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(start.as_bytes());
    entries.filter(agent).map(|entry| entry.path()).collect()
}

/// Puts something over a place that holds nothing and takes nothing.
fn cover(place: &Path) -> Result<()> {
    if place.is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
        return Ok(mount("tmpfs", place, "tmpfs", flags, c"mode=0000,size=4k")?);
    }
    match mount_bind("/dev/null", place) {
        Err(why) if Error::from(why).kind() == ErrorKind::NotFound => Ok(()),
        done => Ok(done?),
    }
}

/// Makes a place one that cannot be moved away: nothing can take its name.
fn pin(place: &Path) -> Result<()> {
    // A link cannot be mounted on; what it leads to is not the file that steers.
    if place.is_symlink() {
        return Ok(());
    }
    match mount_bind_recursive(place, place) {
        Err(why) if Error::from(why).kind() == ErrorKind::NotFound => Ok(()),
        done => Ok(done?),
    }
}

/// Makes a place one that can be neither written nor moved away.
pub(super) fn lock(place: &Path) -> Result<()> {
    pin(place)?;
    if place.is_symlink() || !place.exists() {
        return Ok(());
    }
    // Flags of the mount below must be said again, or the kernel takes it for an attempt to drop them.
    let held = statvfs(place)?.f_flag;
    let flags = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
    ];
    let flags = flags.into_iter().filter(|(have, _)| held.contains(*have)).map(|(_, flag)| flag);
    let flags = flags.fold(MountFlags::BIND | MountFlags::RDONLY, |all, flag| all | flag);
    Ok(mount_remount(place, flags, c"")?)
}

/// Why namespaces may not work here, as far as the system tells.
pub(super) fn obstacle() -> Option<&'static str> {
    let set = |name: &str, value: &str| {
        std::fs::read_to_string(format!("/proc/sys/{name}")).is_ok_and(|text| text.trim() == value)
    };
    if set("kernel/apparmor_restrict_unprivileged_userns", "1") {
        return Some("AppArmor forbids them (kernel.apparmor_restrict_unprivileged_userns = 1)");
    }
    if set("kernel/unprivileged_userns_clone", "0") {
        return Some("kernel.unprivileged_userns_clone = 0 forbids them");
    }
    set("user/max_user_namespaces", "0").then_some("user.max_user_namespaces = 0 forbids them")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_no_network_finds_nobody_who_looks_names_up() {
        let leash = |network| Leash { network, ..Leash::default() };
        for socket in
            ["/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket", "/run/avahi-daemon/socket"]
        {
            let is_closed = |leash: &Leash| closed(leash).any(|folder| Path::new(socket).starts_with(folder));
            assert!(is_closed(&leash(false)) && !is_closed(&leash(true)), "{socket}");
        }
        assert!(closed(&leash(true)).any(|folder| folder == Path::new("/run/dbus")));
    }
}
