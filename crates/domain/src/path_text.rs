//! A path as text and back. Sessions, events and wires carry text; the names of files and folders are bytes.
//!
//! Invariant: `read(&write(path))` is that path, byte by byte. A path that is UTF-8 is written as it is. One that is not is written as
//! an address, `file:///tmp/caf%E9`: it can be told from a plain path, is shown harmlessly, and can be passed on and given back.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Begins a path that is not written as it is.
const ADDRESS: &str = "file://";

/// The path as text.
pub fn write(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.starts_with(ADDRESS) => text.to_owned(),
        // Not UTF-8, or a folder that is really called `file:`.
        _ => escaped(path),
    }
}

fn escaped(path: &Path) -> String {
    let mut text = ADDRESS.to_owned();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '%' || c.is_control() {
                let mut bytes = [0; 4];
                percent(&mut text, c.encode_utf8(&mut bytes).as_bytes());
            } else {
                text.push(c);
            }
        }
        percent(&mut text, chunk.invalid());
    }
    text
}

fn percent(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(text, "%{byte:02X}");
    }
}

/// The path that a text stands for.
pub fn read(text: &str) -> PathBuf {
    let Some(address) = text.strip_prefix(ADDRESS) else { return PathBuf::from(text) };
    let mut bytes = Vec::with_capacity(address.len());
    let mut rest = address.as_bytes();
    while let [first, after @ ..] = rest {
        let byte = match after {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)).map(|(h, l)| h << 4 | l),
            _ => None,
        };
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    of_bytes(bytes)
}

fn digit(c: u8) -> Option<u8> {
    char::from(c).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(unix)]
fn of_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn of_bytes(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    #[test]
    fn plain_paths_stay_and_odd_bytes_become_an_address() {
        for (bytes, text) in [
            (&b"/home/me/work"[..], "/home/me/work"),
            (b"/a%20b", "/a%20b"),
            ("/tmp/日本".as_bytes(), "/tmp/日本"),
            (b"/tmp/caf\xe9", "file:///tmp/caf%E9"),
            (b"/100%/caf\xe9/\x1b[2J", "file:///100%25/caf%E9/%1B[2J"),
            (b"caf\xe9", "file://caf%E9"),
            (b"file:///x", "file://file:///x"),
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(write(path), text);
            assert_eq!(read(text), path);
        }
        assert_eq!(read("file:///a%2"), Path::new("/a%2"), "half an escape is no escape");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(bytes in prop::collection::vec(1u8..=255, 1..40)) {
            let path = Path::new(OsStr::from_bytes(&bytes));
            prop_assert_eq!(read(&write(path)), path);
        }
    }
}
