//! The directory and the file: made for their owner alone.

use super::trouble;
use crate::StoreError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file's name in the data directory.
const FILE: &str = "sessions.db";

/// Where the file is.
pub(super) fn file(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

/// Makes the directory (0700) and the file (0600) if they are not there, and says where the file is.
pub(super) fn prepare(directory: &Path) -> Result<PathBuf, StoreError> {
    make_directory(directory).map_err(|error| trouble::io(directory, &error))?;
    let path = file(directory);
    make_file(&path).map_err(|error| trouble::io(&path, &error))?;
    Ok(path)
}

#[cfg(unix)]
fn make_directory(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn make_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)
}

#[cfg(unix)]
fn make_file(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let made = fs::OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(file)?;
    let mode = made.metadata()?.permissions().mode() & 0o777;
    // The files that SQLite puts beside it take its mode.
    if mode != 0o600 { made.set_permissions(fs::Permissions::from_mode(0o600)) } else { Ok(()) }
}

#[cfg(not(unix))]
fn make_file(file: &Path) -> io::Result<()> {
    fs::OpenOptions::new().read(true).append(true).create(true).open(file).map(drop)
}
