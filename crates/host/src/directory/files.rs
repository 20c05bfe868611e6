//! The directory in a folder of the person's alone: for each process a small file and its sockets, named by its number.

use super::{Directory, FoundProcess, Notice, SocketPurpose};
use anyhow::Context;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

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
        for path in
            [self.file(pid), self.socket(pid, SocketPurpose::Ui), self.socket(pid, SocketPurpose::Who)]
        {
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
        let notices = paths.filter(|path| path.extension().is_some_and(|is| is == "json")).take(most);
        let seen = notices.filter_map(|path| read(&path)).map(|notice| {
            let is_alive = is_alive(notice.pid);
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
        };
        self.folder.join(format!("{pid}.{ends}"))
    }
}

/// Reads a notice; nothing if it is gone or half written.
fn read(path: &Path) -> Option<Notice> {
    Notice::from_json(&serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?)
}

/// Whether a process of this number exists, whoever owns it.
fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}
