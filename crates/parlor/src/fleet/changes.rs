//! Waits until one of a few files in a folder is written, made or taken away, without looking again and again: a screen on which
//! nothing happens costs nothing.
//!
//! Where the kernel does not tell (another system, a folder that is not there yet, too many watches), it is as if something changed
//! every [`LOOK_EVERY`]: whoever waits looks anyway, and sees whether it did.

use std::path::Path;
use std::time::Duration;

/// How often is looked where nobody tells of changes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What is waited for.
pub(super) struct Changes {
    #[cfg(target_os = "linux")]
    told: Option<linux::Told>,
}

impl Changes {
    /// Changes of the files with these names from now on.
    pub(super) fn of(folder: &Path, names: &'static [&'static str]) -> Changes {
        #[cfg(target_os = "linux")]
        return Changes { told: linux::Told::of(folder, names) };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (folder, names);
            Changes {}
        }
    }

    /// Waits for the next.
    pub(super) async fn next(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(told) = &self.told {
            if told.next().await.is_ok() {
                return;
            }
            self.told = None;
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
    use std::io;
    use std::path::Path;
    use tokio::net::unix::pipe::Receiver;

    /// Bytes of events that are read at once: one with the longest name, and more.
    const ROOM: usize = 4096;
    /// Bytes of an event before its name; the last four are the length of the name with the zeros behind it.
    const HEAD: usize = 16;

    /// What the kernel tells.
    pub(super) struct Told {
        kernel: Receiver,
        names: &'static [&'static str],
    }

    impl Told {
        /// `None` where the kernel watches nothing for us.
        pub(super) fn of(folder: &Path, names: &'static [&'static str]) -> Option<Told> {
            let kernel = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
            // Not each write: the store beside these files writes all the time.
            let what =
                WatchFlags::CLOSE_WRITE | WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::DELETE;
            add_watch(&kernel, folder, what | WatchFlags::ONLYDIR).ok()?;
            // It is no pipe, but is read as one.
            Some(Told { kernel: Receiver::from_owned_fd_unchecked(kernel).ok()?, names })
        }

        /// # Errors
        /// When the kernel tells nothing any more.
        pub(super) async fn next(&self) -> io::Result<()> {
            loop {
                self.kernel.readable().await?;
                let mut room = [0; ROOM];
                match self.kernel.try_read(&mut room) {
                    Ok(count) if concerns(room.get(..count).unwrap_or_default(), self.names) => return Ok(()),
                    Ok(_) => {}
                    Err(why) if why.kind() == io::ErrorKind::WouldBlock => {}
                    Err(why) => return Err(why),
                }
            }
        }
    }

    /// Whether one of these events is about one of the files, or about the folder itself, or about events that were lost.
    pub(super) fn concerns(events: &[u8], names: &[&str]) -> bool {
        let mut rest = events;
        while let Some((head, behind)) = rest.split_at_checked(HEAD) {
            let length = head.last_chunk().map_or(0, |length| u32::from_ne_bytes(*length) as usize);
            let Some((name, next)) = behind.split_at_checked(length) else { return true };
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            if name.is_empty() || names.iter().any(|known| known.as_bytes() == name) {
                return true;
            }
            rest = next;
        }
        false
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
    #[test]
    fn nobody_is_woken_for_other_files() {
        use rustix::fs::inotify::{CreateFlags, WatchFlags, add_watch, init};
        let dir = tempfile::tempdir().unwrap();
        let kernel = init(CreateFlags::NONBLOCK).unwrap();
        add_watch(&kernel, dir.path(), WatchFlags::CREATE).unwrap();
        for (names, expected) in [
            (["other", "a"].as_slice(), false),
            (&["wanted"], true),
            (&["wanted.new"], false),
            (&["b", "wanted2", "c"], true),
        ] {
            for name in names {
                std::fs::write(dir.path().join(name), "").unwrap();
            }
            let mut room = [0; 4096];
            let count = rustix::io::read(&kernel, &mut room).unwrap();
            assert_eq!(linux::concerns(&room[..count], &["wanted", "wanted2"]), expected, "{names:?}");
        }
        assert!(!linux::concerns(&[], &["wanted"]) && linux::concerns(&[0; 16], &["wanted"]));
    }
}
