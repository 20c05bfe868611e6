//! Reading the settings file, whatever stands in its place.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Largest settings file that is read.
const MAX_FILE: u64 = 1024 * 1024;
/// Largest list of agents that is read.
pub(crate) const MAX_REGISTRY: u64 = 16 * 1024 * 1024;

/// The text of the file; `None` when there is no such file. Never waits, never reads more than [`MAX_FILE`].
///
/// # Errors
/// Why it cannot be read, in words that follow its name.
pub(crate) fn load(path: &Path) -> Result<Option<String>, String> {
    load_up_to(path, MAX_FILE)
}

/// The same for a file that may be of another size.
///
/// # Errors
/// As for [`load`].
pub(crate) fn load_up_to(path: &Path, most: u64) -> Result<Option<String>, String> {
    let cannot = |why: io::Error| format!("cannot be read: {why}");
    // Without waiting: a pipe would wait for whoever writes to it.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(cannot(why)),
    };
    read(&file, most).map_err(|why| match why.kind() {
        io::ErrorKind::InvalidData => "is not UTF-8 text".to_owned(),
        io::ErrorKind::FileTooLarge => format!("is larger than {} MB", most / 1024 / 1024),
        io::ErrorKind::InvalidInput => "is no file".to_owned(),
        _ => cannot(why),
    })
}

fn read(file: &File, most: u64) -> io::Result<Option<String>> {
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut text = String::new();
    let count = file.take(most + 1).read_to_string(&mut text)?;
    if count as u64 > most {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_stands_in_its_place_is_told_and_nothing_waits() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        assert_eq!(load(&at("none")), Ok(None));
        std::fs::write(at("fine"), "model = \"x\"").unwrap();
        assert_eq!(load(&at("fine")).unwrap().as_deref(), Some("model = \"x\""));
        std::fs::create_dir(at("folder")).unwrap();
        assert_eq!(load(&at("folder")).unwrap_err(), "is no file");
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), mode).unwrap();
        assert_eq!(load(&at("pipe")).unwrap_err(), "is no file");
        std::fs::write(at("bytes"), b"model = \"caf\xe9\"").unwrap();
        assert_eq!(load(&at("bytes")).unwrap_err(), "is not UTF-8 text");
        File::create(at("huge")).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(load(&at("huge")).unwrap_err(), "is larger than 1 MB");
        std::os::unix::fs::symlink("loop", at("loop")).unwrap();
        assert!(load(&at("loop")).unwrap_err().starts_with("cannot be read"));
    }
}
