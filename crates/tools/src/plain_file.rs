//! Opens files that somebody else put there: a project's, or what a person named in one.
//!
//! Invariant: whatever stands at the path, nobody waits. A pipe without a writer would keep who opens it waiting for ever, and between a look
//! at what it is and the opening it can become one; so it is opened without waiting, and looked at then.

use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a file to read it.
///
/// # Errors
/// When it cannot be opened, or is no file.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file")),
    }
}

/// The text of a file of at most so many bytes.
///
/// # Errors
/// Why it cannot be read, in words.
pub fn read(path: &Path, most: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    let file = open(path).map_err(|why| why.to_string())?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(|why| why.to_string())?;
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {} KB", most / 1024));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_pipe_and_nothing_but_a_file_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        std::fs::write(at("file"), "text").unwrap();
        std::os::unix::fs::symlink("pipe", at("link")).unwrap();
        for odd in ["pipe", "link", "."] {
            assert_eq!(read(&at(odd), 10).unwrap_err(), "it is no file", "{odd}");
        }
        assert_eq!(read(Path::new("/dev/null"), 10).unwrap_err(), "it is no file");
        assert_eq!(read(&at("file"), 4).unwrap(), "text");
        assert!(read(&at("file"), 3).unwrap_err().contains("larger"));
    }
}
