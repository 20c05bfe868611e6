//! What stands at a path: nothing, a file, a link, a folder, or something whose content is not kept. Written as one short word.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Image {
    Absent,
    File {
        digest: String,
        /// Its permissions.
        mode: u32,
    },
    Link {
        target: PathBuf,
    },
    Folder {
        /// Its permissions.
        mode: u32,
    },
    /// Something is there whose content is not kept: too large, unreadable, or no file at all.
    Unkept {
        /// Tells it from another.
        stamp: String,
    },
}

impl Image {
    /// The digest of its content, where it has one.
    pub fn digest(&self) -> Option<&str> {
        match self {
            Image::File { digest, .. } => Some(digest),
            Image::Absent | Image::Link { .. } | Image::Folder { .. } | Image::Unkept { .. } => None,
        }
    }

    /// Reads what was written.
    pub(crate) fn read(text: &str) -> Option<Image> {
        let octal = |digits: &str| u32::from_str_radix(digits, 8).ok();
        let (kind, rest) = text.split_at_checked(1)?;
        match kind {
            "-" => Some(Image::Absent),
            "f" => {
                let (mode, digest) = rest.split_once(':')?;
                Some(Image::File { digest: digest.to_owned(), mode: octal(mode)? })
            }
            "l" => Some(Image::Link { target: path_of(unspell(rest)?) }),
            "d" => Some(Image::Folder { mode: octal(rest)? }),
            "u" => Some(Image::Unkept { stamp: rest.to_owned() }),
            _ => None,
        }
    }

    /// Whether one can take the place of the other in a single step.
    pub(crate) fn is_alike(&self, other: &Image) -> bool {
        let is_leaf = |image: &Image| matches!(image, Image::File { .. } | Image::Link { .. });
        is_leaf(self) && is_leaf(other)
            || matches!((self, other), (Image::Folder { .. }, Image::Folder { .. }))
            || *self == Image::Absent
    }
}

impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Image::Absent => f.write_str("-"),
            Image::File { digest, mode } => write!(f, "f{mode:o}:{digest}"),
            Image::Link { target } => write!(f, "l{}", spell(target.as_os_str().as_bytes())),
            Image::Folder { mode } => write!(f, "d{mode:o}"),
            Image::Unkept { stamp } => write!(f, "u{stamp}"),
        }
    }
}

impl From<Image> for String {
    fn from(image: Image) -> String {
        image.to_string()
    }
}

impl TryFrom<String> for Image {
    type Error = String;

    fn try_from(text: String) -> Result<Image, String> {
        Image::read(&text).ok_or_else(|| format!("no image: {text}"))
    }
}

/// A path of these bytes.
pub(crate) fn path_of(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

fn spell(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes that are spelt in hex.
pub(super) fn unspell(text: &str) -> Option<Vec<u8>> {
    let digit = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    text.len().is_multiple_of(2).then(|| (0..text.len()).step_by(2).map(digit).collect())?
}

/// Begins a path that is not UTF-8, spelt in hex: no path holds this character.
const ODD: char = '\0';

/// Paths in a written step: as they are, or in hex where they are not UTF-8.
pub(crate) mod written_path {
    use super::{ODD, path_of, spell, unspell};
    use serde::{Deserialize as _, Deserializer, Serializer};
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::{Path, PathBuf};

    /// Writes it.
    pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        match path.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.serialize_str(&format!("{ODD}{}", spell(path.as_os_str().as_bytes()))),
        }
    }

    /// Reads what was written.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix(ODD) {
            None => Ok(PathBuf::from(text)),
            Some(hex) => unspell(hex).map(path_of).ok_or_else(|| serde::de::Error::custom("no path")),
        }
    }
}

/// A path as a person reads it.
pub(crate) fn shown(path: &Path) -> String {
    domain::harmless::in_line(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let odd = path_of(b"caf\xe9 \n".to_vec());
        for image in [
            Image::Absent,
            Image::File { digest: "ab".into(), mode: 0o4755 },
            Image::Link { target: odd },
            Image::Folder { mode: 0o700 },
            Image::Unkept { stamp: "1:2".into() },
        ] {
            assert_eq!(Image::try_from(image.to_string()), Ok(image));
        }
        for wrong in ["", "x", "f", "f9:ab", "l1", "lxx", "d", "é"] {
            assert!(Image::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }
}
