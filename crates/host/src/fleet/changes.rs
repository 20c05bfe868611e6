//! Waits until one of a few files in a folder is written, made or taken away, without looking again and again: a screen on which
//! nothing happens costs nothing.
//!
//! Where the kernel does not tell (another system, a folder that is not there yet, too many watches), it is as if something changed
//! every [`LOOK_EVERY`]: whoever waits looks anyway, and sees whether it did. A folder that is taken away or replaced counts as a change,
//! and the one that comes in its place is watched.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often is looked where nobody tells of changes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is waited for.
pub(super) struct Changes {
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody is told of it there"))]
    folder: PathBuf,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody is told of it there"))]
    names: &'static [&'static str],
    #[cfg(target_os = "linux")]
    told: Option<linux::FolderWatch>,
}

impl Changes {
    /// Changes of the files with these names from now on.
    pub(super) fn of(folder: &Path, names: &'static [&'static str]) -> Changes {
        Changes {
            folder: folder.to_owned(),
            names,
            #[cfg(target_os = "linux")]
            told: linux::FolderWatch::of(folder, names),
        }
    }

    /// Waits for the next.
    pub(super) async fn next(&mut self) {
        #[cfg(target_os = "linux")]
        match &self.told {
            Some(told) => match told.next().await {
                Ok(linux::FolderEvent::Folder) => {
                    self.told = None;
                    return;
                }
                Ok(_) => return,
                Err(_) => self.told = None,
            },
            None => {
                self.told = linux::FolderWatch::of(&self.folder, self.names);
                // What happened before it was watched is a change.
                if self.told.is_some() {
                    return;
                }
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use std::ffi::{OsStr, OsString};
    use std::io;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;
    use tokio::net::unix::pipe::Receiver;

    /// Bytes of events that are read at once: one with the longest name, and more.
    const ROOM: usize = 4096;
    /// Bytes of an event before its name; the last four are the length of the name with the zeros behind it.
    const HEAD: usize = 16;

    /// What the kernel tells.
    pub(super) struct FolderWatch {
        kernel: Receiver,
        names: &'static [&'static str],
        /// How the folder is called by the one that it lies in.
        own: OsString,
    }

    /// What events are about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum FolderEvent {
        Nothing,
        File,
        /// The folder itself, which may be another one now; or events were lost.
        Folder,
    }

    impl FolderWatch {
        /// `None` where the kernel watches nothing for us.
        pub(super) fn of(folder: &Path, names: &'static [&'static str]) -> Option<FolderWatch> {
            let kernel = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            let there = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::ONLYDIR;
            // What is watched is a folder and not its name. One that is removed while a file in it is open is told of by its parent alone.
            if let Some(parent) = folder.parent() {
                let _ = add_watch(&kernel, parent, there | WatchFlags::MOVED_FROM);
            }
            // Not each write: the store beside these files writes all the time.
            let gone = WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF;
            add_watch(&kernel, folder, there | gone | WatchFlags::CLOSE_WRITE).ok()?;
            let own = folder.file_name().unwrap_or_default().to_owned();
            // It is no pipe, but is read as one.
            Some(FolderWatch { kernel: Receiver::from_owned_fd_unchecked(kernel).ok()?, names, own })
        }

        /// # Errors
        /// When the kernel tells nothing any more.
        pub(super) async fn next(&self) -> io::Result<FolderEvent> {
            loop {
                self.kernel.readable().await?;
                let mut room = [0; ROOM];
                match self.kernel.try_read(&mut room) {
                    Ok(count) => match heard(room.get(..count).unwrap_or_default(), self.names, &self.own) {
                        FolderEvent::Nothing => {}
                        heard => return Ok(heard),
                    },
                    Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                    Err(why) => return Err(why),
                }
            }
        }
    }

    /// What the most important of these events is about.
    pub(super) fn heard(events: &[u8], names: &[&str], own: &OsStr) -> FolderEvent {
        let (mut rest, mut heard) = (events, FolderEvent::Nothing);
        while let Some((head, behind)) = rest.split_at_checked(HEAD) {
            let length = head.last_chunk().map_or(0, |length| u32::from_ne_bytes(*length) as usize);
            let Some((name, next)) = behind.split_at_checked(length) else { return FolderEvent::Folder };
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            if name.is_empty() || name == own.as_bytes() {
                return FolderEvent::Folder;
            }
            if names.iter().any(|known| known.as_bytes() == name) {
                heard = FolderEvent::File;
            }
            rest = next;
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_change_is_missed() {
        let dir = tempfile::tempdir().unwrap();
        let mut changes = Changes::of(dir.path(), &["wanted"]);
        // Before anybody waits.
        std::fs::write(dir.path().join("wanted"), "one").unwrap();
        changes.next().await;
        for change in ["write", "rename", "remove"] {
            std::fs::write(dir.path().join("other"), "").unwrap();
            let (path, new) = (dir.path().join("wanted"), dir.path().join("new"));
            match change {
                "write" => std::fs::write(path, "two").unwrap(),
                "rename" => {
                    std::fs::write(&new, "three").unwrap();
                    std::fs::rename(new, path).unwrap();
                }
                _ => std::fs::remove_file(path).unwrap(),
            }
            changes.next().await;
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_folder_that_is_replaced_is_watched_again() {
        let dir = tempfile::tempdir().unwrap();
        let (folder, away) = (dir.path().join("data"), dir.path().join("away"));
        std::fs::create_dir(&folder).unwrap();
        let mut changes = Changes::of(&folder, &["wanted"]);
        for how in ["moved", "removed", "removed while a file in it is open"] {
            let open = std::fs::File::create(folder.join("other")).unwrap();
            match how {
                "moved" => std::fs::rename(&folder, &away).unwrap(),
                "removed" => {
                    drop(open);
                    std::fs::remove_dir_all(&folder).unwrap();
                }
                _ => std::fs::remove_dir_all(&folder).unwrap(),
            }
            changes.next().await;
            assert!(changes.told.is_none(), "{how}: what is gone is not waited for");
            std::fs::create_dir(&folder).unwrap();
            // At once, or when it was looked again.
            while changes.told.is_none() {
                changes.next().await;
            }
            std::fs::write(folder.join("wanted"), how).unwrap();
            changes.next().await;
            assert!(changes.told.is_some(), "{how}: the kernel told it");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_is_woken_for_other_files() {
        use linux::{FolderEvent, heard};
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let dir = tempfile::tempdir().unwrap();
        let kernel = init(CreateFlags::NONBLOCK).unwrap();
        let own = std::ffi::OsStr::new("data");
        add_watch(&kernel, dir.path(), WatchFlags::CREATE).unwrap();
        for (names, expected) in [
            (["other", "a"].as_slice(), FolderEvent::Nothing),
            (&["wanted"], FolderEvent::File),
            (&["wanted.new"], FolderEvent::Nothing),
            (&["b", "wanted2", "c"], FolderEvent::File),
            (&["wanted", "data"], FolderEvent::Folder),
        ] {
            for name in names {
                std::fs::write(dir.path().join(name), "").unwrap();
            }
            let mut room = [0; 4096];
            let count = rustix::io::read(&kernel, &mut room).unwrap();
            assert_eq!(heard(&room[..count], &["wanted", "wanted2"], own), expected, "{names:?}");
        }
        assert_eq!(heard(&[], &["wanted"], own), FolderEvent::Nothing);
        assert_eq!(heard(&[0; 16], &["wanted"], own), FolderEvent::Folder);
    }
}
