//! The directory in a folder of the person's alone: for each process a small file and its sockets, named by its number.

use super::{Directory, FoundProcess, Notice, SocketPurpose};
use anyhow::Context;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes of a notice; what is longer is none.
const MAX_NOTICE: u64 = 64 * 1024;
/// Files that are looked at for each notice that is wanted: what others left there hides nobody.
const FILES_PER_NOTICE: usize = 16;

/// A folder with notices.
#[derive(Debug, Clone)]
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// In this folder, which is made when it is needed.
    pub fn at(folder: PathBuf) -> Files {
        Files { folder }
    }

    fn file(&self, pid: u32) -> PathBuf {
        self.folder.join(format!("{pid}.json"))
    }
}

impl Directory for Files {
    fn prepare(&self, pid: u32) -> anyhow::Result<()> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        self.withdraw(pid);
        Ok(())
    }

    fn announce(&self, notice: &Notice) -> anyhow::Result<()> {
        let file = self.file(notice.pid);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
        file.write_all(notice.to_json().to_string().as_bytes())?;
        Ok(())
    }

    fn withdraw(&self, pid: u32) {
        let sockets = [SocketPurpose::Ui, SocketPurpose::Who, SocketPurpose::Wire];
        for path in [self.file(pid)].into_iter().chain(sockets.map(|door| self.socket(pid, door))) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn find(&self, pid: u32) -> Option<Notice> {
        read(&self.file(pid))
    }

    fn look(&self, most: usize) -> anyhow::Result<Vec<FoundProcess>> {
        let files = match std::fs::read_dir(&self.folder) {
            Ok(files) => files,
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(why) => return Err(why).with_context(|| format!("cannot read {}", self.folder.display())),
        };
        let paths = files.flatten().map(|file| file.path());
        let notices = paths.filter(|path| path.extension().is_some_and(|is| is == "json"));
        let notices = notices.take(most.saturating_mul(FILES_PER_NOTICE)).filter_map(|path| read(&path));
        let seen = notices.take(most).map(|notice| {
            let is_alive = is_alive(notice.pid) || listens(&self.socket(notice.pid, SocketPurpose::Who));
            if !is_alive {
                self.withdraw(notice.pid);
            }
            FoundProcess { notice, is_alive }
        });
        Ok(seen.collect())
    }

    fn socket(&self, pid: u32, door: SocketPurpose) -> PathBuf {
        let ends = match door {
            SocketPurpose::Ui => "sock",
            SocketPurpose::Who => "who",
            SocketPurpose::Wire => "wire",
        };
        self.folder.join(format!("{pid}.{ends}"))
    }
}

/// Reads a notice; nothing if it is gone, half written, or not what a process of that number wrote of itself.
fn read(path: &Path) -> Option<Notice> {
    // A pipe in its place would keep us waiting.
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MAX_NOTICE).read_to_string(&mut text).ok()?;
    let notice = Notice::from_json(&serde_json::from_str(&text).ok()?)?;
    (path.file_stem()?.to_str()? == notice.pid.to_string()).then_some(notice)
}

/// Whether a process of this number exists, whoever owns it.
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(Errno::SRCH))
}

/// Whether somebody listens at a socket. Then its process lives, also where we cannot see its number: in another namespace.
fn listens(socket: &Path) -> bool {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let reached = SocketAddrUnix::new(socket).and_then(|address| {
        let ours = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&ours, &address)
    });
    matches!(reached, Ok(()) | Err(Errno::AGAIN | Errno::INPROGRESS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    fn notice(pid: u32) -> Notice {
        Notice { pid, since: 1, cwd: "/w".to_owned(), serving: "test".to_owned() }
    }

    fn found(files: &Files) -> Vec<(u32, bool)> {
        files.look(8).unwrap().into_iter().map(|seen| (seen.notice.pid, seen.is_alive)).collect()
    }

    #[test]
    fn what_others_left_there_hides_nobody_and_keeps_nobody_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let (files, own) = (Files::at(dir.path().join("run")), std::process::id());
        files.prepare(own).unwrap();
        files.announce(&notice(own)).unwrap();
        // A notice of ours under another number, garbage, much of it, a pipe that nobody writes, a link.
        let folder = dir.path().join("run");
        std::fs::copy(folder.join(format!("{own}.json")), folder.join("4000009.json")).unwrap();
        (0..100).for_each(|at| std::fs::write(folder.join(format!("garbage-{at}.json")), "{").unwrap());
        let pipe = folder.join("77.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::fs::symlink(&pipe, folder.join("78.json")).unwrap();
        assert_eq!(found(&files), [(own, true)]);
    }

    #[test]
    fn who_listens_is_alive_also_where_its_number_is_nobodys() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::at(dir.path().join("run"));
        // Above the highest number that a system gives.
        let elsewhere = 4_194_304 + 7;
        files.prepare(elsewhere).unwrap();
        let listener = UnixListener::bind(files.socket(elsewhere, SocketPurpose::Who)).unwrap();
        files.announce(&notice(elsewhere)).unwrap();
        assert_eq!(found(&files), [(elsewhere, true)]);
        assert_eq!(found(&files), [(elsewhere, true)], "and stays");
        drop(listener);
        assert_eq!(found(&files), [(elsewhere, false)], "told as dead once");
        assert_eq!(found(&files), []);
    }
}
