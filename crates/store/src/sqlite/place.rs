//! The directory and the file: made for their owner alone.

use super::{access, trouble};
use crate::StoreError;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file's name in the data directory.
const FILE: &str = "sessions.db";

/// The database of a data directory.
pub(super) fn file(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

/// The file that a name leads to, also where there is none yet.
pub(super) fn real(path: &Path) -> PathBuf {
    let followed = path
        .canonicalize()
        .or_else(|_| fs::read_link(path).map(|to| path.parent().unwrap_or(Path::new("")).join(to)));
    followed.unwrap_or_else(|_| path.to_owned())
}

/// Whether two names lead to one file.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(real), Ok(other)) if real == other => true,
        (Ok(one), Ok(other)) => is_linked(&one, &other),
        _ => false,
    }
}

#[cfg(unix)]
fn is_linked(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    id(one).is_some_and(|one| Some(one) == id(other))
}

#[cfg(not(unix))]
fn is_linked(_one: &Path, _other: &Path) -> bool {
    false
}

/// Makes a file (0600) that must not be there yet.
pub(super) fn make_new(file: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

/// Sees to it that the names in the folder of `path` are on disk.
pub(super) fn sync_folder_of(path: &Path) -> io::Result<()> {
    fs::File::open(folder_of(path))?.sync_all()
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the directory (0700) and the file in it (0600) if they are not there.
pub(super) fn prepare(directory: &Path, file: &Path) -> Result<(), StoreError> {
    if !access::is_there(file)? {
        // What says no is the folder that it would be made in.
        make_directory(directory).map_err(|error| trouble::io(&access::nearest(file), &error))?;
    }
    make_file(file).map_err(|error| trouble::io(file, &error))
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

fn make_file(file: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// Sees to it that a file of ours is for its owner alone; the files that SQLite puts beside it take its mode.
#[cfg(unix)]
pub(super) fn keep_private(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(file)?.permissions().mode() & 0o777;
    if mode != 0o600 { fs::set_permissions(file, fs::Permissions::from_mode(0o600)) } else { Ok(()) }
}

/// Elsewhere than on Unix the folder's owner decides: there is no mode to set.
#[cfg(not(unix))]
pub(super) fn keep_private(_file: &Path) -> io::Result<()> {
    Ok(())
}
