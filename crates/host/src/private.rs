//! Files of ours that are for the person alone: written whole or not at all, so that another Parlor reads the old one or the new one.

use anyhow::Context;
use rustix::fs::{FlockOperation, flock};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

/// How long another Parlor may hold a file that both want to change, and how often it is looked at.
const PATIENCE: u32 = 100;
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Puts a text in the place of a file. Its folder is made where it is missing.
///
/// # Errors
/// When the disk does not want it; the file is then as it was.
pub fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    folder(file)?;
    // Where the file is a link, what it leads to is written.
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = real.with_file_name(format!("{name}.{}.part", std::process::id()));
    let written = write(&beside, text).and_then(|()| std::fs::rename(&beside, &real));
    if written.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    // The new name is on the disk too. A folder that cannot be synced is as it always was.
    if let Some(Ok(folder)) = real.parent().map(File::open) {
        let _ = folder.sync_all();
    }
    written.with_context(|| format!("{} cannot be written", file.display()))
}

/// A fresh file, whatever was left there by a program that was killed.
fn write(file: &Path, text: &str) -> io::Result<()> {
    match std::fs::remove_file(file) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(why),
        Ok(()) | Err(_) => {}
    }
    let mut fresh = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    fresh.write_all(text.as_bytes())?;
    fresh.sync_all()
}

/// Keeps others from changing a file for as long as the value lives.
///
/// # Errors
/// When somebody else does not let go of it, or nothing can be written there.
pub(crate) fn hold(file: &Path) -> anyhow::Result<File> {
    folder(file)?;
    let beside = file.with_extension("lock");
    let cannot = || format!("{} cannot be written", beside.display());
    let lock = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&beside);
    let lock = lock.with_context(cannot)?;
    for _ in 0..PATIENCE {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(lock),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => std::thread::sleep(LOOK_EVERY),
            Err(why) => return Err(io::Error::from(why)).with_context(cannot),
        }
    }
    anyhow::bail!("another Parlor is changing {}; try again in a moment", file.display())
}

fn folder(file: &Path) -> anyhow::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("{} cannot be made", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_for_the_person_alone_and_comes_whole() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("new/keys");
        replace(&file, "one").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        // Neither a wide file before it nor the rests of one that was killed widen it.
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        let rests = file.with_file_name(format!("keys.{}.part", std::process::id()));
        symlink("/nowhere/else", &rests).unwrap();
        replace(&file, "two").unwrap();
        assert_eq!((mode(&file), std::fs::read_to_string(&file).unwrap().as_str()), (0o600, "two"));
        assert!(!rests.exists() && !rests.is_symlink());
    }

    #[test]
    fn a_link_stays_one() {
        let place = tempfile::tempdir().unwrap();
        let (link, real) = (place.path().join("link"), place.path().join("real"));
        std::fs::write(&real, "old").unwrap();
        symlink("real", &link).unwrap();
        replace(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
    }

    #[test]
    fn who_changes_a_file_holds_it_alone() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("new/keys.json");
        let held = hold(&file).unwrap();
        let other = File::open(file.with_extension("lock")).unwrap();
        for take in [FlockOperation::NonBlockingLockExclusive, FlockOperation::NonBlockingLockShared] {
            assert!(flock(&other, take).is_err(), "{take:?}");
        }
        drop(held);
        flock(&other, FlockOperation::NonBlockingLockExclusive).unwrap();
    }

    #[test]
    fn what_cannot_be_written_leaves_all_as_it_was() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("folder");
        std::fs::create_dir_all(file.join("inner")).unwrap();
        let why = replace(&file, "text").unwrap_err().to_string();
        assert!(why.contains("cannot be written"), "{why}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nothing is left beside it");
    }
}
