//! Which processes have a socket among their open files.
//!
//! One look goes through all processes, so whoever asks while others look waits for a look that began after it asked, and shares it: a
//! thousand pages that return at once cost a few looks.

use super::diag::DiagSocket;
use super::{Holder, Holders};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// How often it is looked again where nobody holds a socket that is there: it may just have been handed from one to another.
const LOOKS: usize = 3;

/// How often the threads of a process are listed where one was gone before it was looked at.
const THREAD_LOOKS: usize = 8;

/// All sockets of the machine as one look saw them.
#[derive(Debug, Default)]
struct SocketTable {
    holders: BTreeMap<u64, Vec<i32>>,
    /// Processes whose files are not shown, with their users.
    hidden: Vec<(i32, u32)>,
    /// Why not everybody could be looked at, if so.
    failed: Option<std::io::ErrorKind>,
}

/// Who holds a socket now.
pub(super) fn of(found: DiagSocket) -> Holders {
    let DiagSocket { uid, inode } = found;
    let mut hidden = Vec::new();
    for _ in 0..LOOKS {
        let seen = look();
        if seen.failed.is_some() {
            return Holders::NotLookedAt;
        }
        let pids = seen.holders.get(&inode).map(Vec::as_slice).unwrap_or_default();
        let holders: Vec<Holder> = pids.iter().filter_map(|pid| held(*pid, inode)).collect();
        hidden = seen.hidden.iter().filter(|(_, of)| *of == uid).map(|(pid, _)| *pid).collect();
        if !holders.is_empty() {
            return Holders::Here { uid, holders, hidden };
        }
    }
    Holders::Here { uid, holders: Vec::new(), hidden }
}

/// The process with a handle on it, if it still holds the socket: its number may have been given to another one since.
fn held(pid: i32, inode: u64) -> Option<Holder> {
    let handle = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    sockets(pid).ok()?.contains(&inode).then_some(Holder { pid, handle })
}

/// A look that began after this was called.
fn look() -> Arc<SocketTable> {
    static LAST: Mutex<Option<(Instant, Arc<SocketTable>)>> = Mutex::new(None);
    let asked = Instant::now();
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((began, seen)) = &*last
        && *began > asked
    {
        return seen.clone();
    }
    let began = Instant::now();
    let seen = Arc::new(everybody());
    *last = Some((began, seen.clone()));
    seen
}

fn everybody() -> SocketTable {
    let mut seen = SocketTable::default();
    let all = match std::fs::read_dir("/proc") {
        Ok(all) => all,
        Err(why) => return SocketTable { failed: Some(why.kind()), ..seen },
    };
    for entry in all.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        match sockets(pid) {
            Ok(inodes) => inodes.into_iter().for_each(|inode| {
                let holders = seen.holders.entry(inode).or_default();
                // It may have it open twice.
                if holders.last() != Some(&pid) {
                    holders.push(pid);
                }
            }),
            Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => {
                seen.hidden.extend(uid(pid).map(|uid| (pid, uid)));
            }
            Err(why) if is_gone(&why) => {}
            // We have no descriptors left, or the like: nobody knows what was missed.
            Err(why) => seen.failed = Some(why.kind()),
        }
    }
    seen
}

fn is_gone(why: &std::io::Error) -> bool {
    why.kind() == std::io::ErrorKind::NotFound
        || why.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error())
}

/// The sockets among the open files of a process: of all its threads, since each may have open files of its own, also when the first
/// one has ended. A thread that is gone when we come to it may be the first one now, under another number: a program that another thread
/// than the first started takes over the number of the process. So it is looked again.
fn sockets(pid: i32) -> std::io::Result<Vec<u64>> {
    let folder = format!("/proc/{pid}/task");
    sockets_of(|| std::fs::read_dir(&folder)?.map(|thread| Ok(thread?.path())).collect())
}

fn sockets_of(mut threads: impl FnMut() -> std::io::Result<Vec<PathBuf>>) -> std::io::Result<Vec<u64>> {
    let mut inodes = Vec::new();
    let mut denied = None;
    for _ in 0..THREAD_LOOKS {
        let mut is_whole = true;
        denied = None;
        for thread in threads()? {
            match open_sockets(&thread.join("fd"), &mut inodes) {
                Ok(()) => {}
                Err(why) if is_gone(&why) => is_whole = false,
                // A thread that has ended shows nothing, and has nothing.
                Err(_) if has_ended(&thread) => {}
                // One that is just becoming another program shows nothing for a moment.
                Err(why) => (is_whole, denied) = (false, Some(why)),
            }
        }
        if is_whole {
            break;
        }
    }
    denied.map_or(Ok(inodes), Err)
}

fn has_ended(task: &Path) -> bool {
    let stat = std::fs::read_to_string(task.join("stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    matches!(state, None | Some('Z' | 'X'))
}

fn open_sockets(folder: &Path, inodes: &mut Vec<u64>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let Ok(target) = std::fs::read_link(entry?.path()) else { continue };
        let inode = target.to_str().and_then(|text| text.strip_prefix("socket:[")?.strip_suffix(']'));
        inodes.extend(inode.and_then(|inode| inode.parse::<u64>().ok()));
    }
    Ok(())
}

/// The user of a process. The owner of its folder would not tell: that of a process which hides its files is root.
fn uid(pid: i32) -> Option<u32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    use std::process::{Command, Stdio};

    fn connected() -> (TcpListener, TcpStream, DiagSocket) {
        use std::os::fd::AsRawFd;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let inode = std::fs::metadata(format!("/proc/thread-self/fd/{}", client.as_raw_fd())).unwrap().ino();
        (listener, client, DiagSocket { uid: rustix::process::getuid().as_raw(), inode })
    }

    fn pids(found: DiagSocket) -> Vec<i32> {
        let Holders::Here { holders, .. } = of(found) else { return Vec::new() };
        holders.into_iter().map(|holder| holder.pid).collect()
    }

    #[test]
    fn everybody_who_holds_a_socket_is_named_and_nobody_when_it_is_gone() {
        let (_listener, client, found) = connected();
        let own = std::process::id().cast_signed();
        assert_eq!(pids(found), [own]);
        // Handed on to a child, as a command would that wants to hide behind another program.
        let child = Command::new("cat")
            .stdin(client.as_fd().try_clone_to_owned().unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut both = vec![own, child.id().cast_signed()];
        both.sort_unstable();
        let mut seen = pids(found);
        seen.sort_unstable();
        assert_eq!(seen, both);
        let mut child = child;
        child.kill().unwrap();
        child.wait().unwrap();
        drop(client);
        assert!(pids(found).is_empty());
    }

    #[test]
    fn a_thread_with_open_files_of_its_own_is_seen() {
        let (told, tells) = std::sync::mpsc::sync_channel(1);
        let (end, ends) = std::sync::mpsc::sync_channel::<()>(1);
        let hiding = std::thread::spawn(move || {
            use std::os::fd::AsRawFd;
            nix::sched::unshare(nix::sched::CloneFlags::CLONE_FILES).unwrap();
            // From here on nobody finds it among the files of the process.
            let (listener, client, _) = connected();
            let file = format!("/proc/thread-self/fd/{}", client.as_raw_fd());
            told.send(std::fs::metadata(file).unwrap().ino()).unwrap();
            let _ = ends.recv();
            drop((listener, client));
        });
        let inode = tells.recv().unwrap();
        let found = DiagSocket { uid: rustix::process::getuid().as_raw(), inode };
        assert_eq!(pids(found), [std::process::id().cast_signed()]);
        end.send(()).unwrap();
        hiding.join().unwrap();
    }

    #[test]
    fn a_thread_that_takes_over_the_number_of_its_process_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("8"), dir.path().join("7"));
        std::fs::create_dir_all(new.join("fd")).unwrap();
        std::os::unix::fs::symlink("socket:[42]", new.join("fd/3")).unwrap();
        // It was listed under its own number, and is gone from there when it is looked at.
        let mut listed = [vec![old.clone()], vec![new]].into_iter();
        assert_eq!(sockets_of(|| Ok(listed.next().unwrap())).unwrap(), [42]);
        let mut looks = 0;
        let always_gone = || {
            looks += 1;
            Ok(vec![old.clone()])
        };
        assert_eq!(sockets_of(always_gone).unwrap(), [0; 0]);
        assert_eq!(looks, THREAD_LOOKS, "and not for ever");
    }

    #[test]
    fn a_process_that_cannot_be_looked_at_for_a_moment_is_looked_at_again() {
        let dir = tempfile::tempdir().unwrap();
        let (shut, open) = (dir.path().join("7"), dir.path().join("8"));
        std::fs::create_dir_all(open.join("fd")).unwrap();
        std::os::unix::fs::symlink("socket:[42]", open.join("fd/3")).unwrap();
        std::fs::create_dir_all(&shut).unwrap();
        // No folder, and the process goes on: it is neither gone nor over.
        std::fs::write(shut.join("fd"), "").unwrap();
        std::fs::write(shut.join("stat"), "7 (x) R 1").unwrap();
        let mut listed = [vec![shut.clone()], vec![open]].into_iter();
        assert_eq!(sockets_of(|| Ok(listed.next().unwrap())).unwrap(), [42]);
        assert!(sockets_of(|| Ok(vec![shut.clone()])).is_err(), "and what stays shut is told");
    }

    #[test]
    fn a_look_that_began_before_is_not_believed() {
        let before = look();
        let (_listener, _client, found) = connected();
        assert!(!before.holders.contains_key(&found.inode));
        assert!(look().holders.contains_key(&found.inode));
    }
}
