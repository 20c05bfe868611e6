//! Files that are the person's alone: changed by one program at a time, written whole or not at all.

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

/// How often the lock of a file is tried while another program changes it, and how long in between.
const PATIENCE: u32 = 500;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Keeps others from changing a file for as long as the value lives.
pub(crate) fn hold(file: &Path) -> io::Result<File> {
    make_folder_of(file)?;
    let lock = file.with_extension("lock");
    let lock = std::fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)?;
    for _ in 0..PATIENCE {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(Errno::WOULDBLOCK | Errno::INTR) => std::thread::sleep(LOOK_EVERY),
            Err(why) => return Err(why.into()),
        }
    }
    let why = format!("another Parlor is changing {}; try again in a moment", file.display());
    Err(io::Error::new(io::ErrorKind::WouldBlock, why))
}

fn make_folder_of(file: &Path) -> io::Result<&Path> {
    let dir = file.parent().unwrap_or(Path::new("."));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    Ok(dir)
}

/// Writes a file for the person alone, whole or not at all.
pub(crate) fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let dir = make_folder_of(file)?;
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("file");
    let fresh = dir.join(format!(".{name}.{}", std::process::id()));
    let mut open =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    open.write_all(text.as_bytes())?;
    open.sync_all()?;
    std::fs::rename(&fresh, file)
}
