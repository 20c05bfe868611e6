//! Digests of files and of actions. Two actions have the same digest only when they would do the same to the same files.

use crate::plain_file;
use domain::ask::ActionDigest;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

/// Files past this size are known by length and time of change: hashing them would take seconds.
pub const MAX_HASHED: u64 = 64 * 1024 * 1024;
const CHUNK: usize = 64 * 1024;
/// Stands for what is there and is no plain file.
const NO_FILE: &str = "not-a-file";

/// SHA-256 in hex.
pub fn hex(bytes: &[u8]) -> String {
    spell(&Sha256::digest(bytes))
}

/// The digest of a file's content; `None` when there is no such file.
pub fn of_file(path: &Path) -> io::Result<Option<String>> {
    match std::fs::metadata(path) {
        Ok(meta) if meta.is_file() => Ok(Some(of_open(&mut plain_file::open(path)?)?)),
        Ok(_) => Ok(Some(NO_FILE.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The digest of what an open file holds, from its beginning.
pub fn of_open(file: &mut File) -> io::Result<String> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Ok(NO_FILE.to_owned());
    }
    if meta.len() > MAX_HASHED {
        let changed = meta.modified()?.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        return Ok(format!("stamp-{}-{}", meta.len(), changed.as_nanos()));
    }
    file.rewind()?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        let count = file.read(&mut chunk)?;
        if count == 0 {
            return Ok(spell(&hasher.finalize()));
        }
        hasher.update(chunk.get(..count).unwrap_or_default());
    }
}

/// The digest of an action: tool, canonical arguments, working directory and the files it would touch as they are.
pub fn action(tool: &str, args: &Value, cwd: &Path, touched: &[(PathBuf, Option<String>)]) -> ActionDigest {
    let mut hasher = Sha256::new();
    let mut field = |bytes: &[u8]| {
        // The length before each field keeps two different lists of fields from reading the same.
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    field(tool.as_bytes());
    field(canonical(args).as_bytes());
    field(cwd.as_os_str().as_encoded_bytes());
    for (path, digest) in touched {
        field(path.as_os_str().as_encoded_bytes());
        field(digest.as_deref().unwrap_or("absent").as_bytes());
    }
    ActionDigest(spell(&hasher.finalize()))
}

/// JSON with sorted keys and no spaces: the same value always gives the same text.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    put(value, &mut text);
    text
}

fn put(value: &Value, out: &mut String) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                put(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            out.push('{');
            for (index, (key, item)) in entries.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                let _ = write!(out, "{}:", Value::from(key.as_str()));
                put(item, out);
            }
            out.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn spell(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn order_of_keys_does_not_matter_and_everything_else_does() {
        let one: Value = serde_json::from_str(r#"{"b":[1,{"d":2,"c":3}],"a":"x"}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"a":"x","b":[1,{"c":3,"d":2}]}"#).unwrap();
        assert_eq!(canonical(&one), canonical(&two));
        assert_eq!(canonical(&one), r#"{"a":"x","b":[1,{"c":3,"d":2}]}"#);
        let cwd = Path::new("/w");
        let base = action("bash", &one, cwd, &[]);
        assert_eq!(base, action("bash", &two, cwd, &[]));
        assert_ne!(base, action("write", &one, cwd, &[]));
        assert_ne!(base, action("bash", &json!({}), cwd, &[]));
        assert_ne!(base, action("bash", &one, Path::new("/x"), &[]));
        let touched = [(PathBuf::from("/w/f"), None)];
        assert_ne!(base, action("bash", &one, cwd, &touched));
        assert_ne!(
            action("bash", &one, cwd, &touched),
            action("bash", &one, cwd, &[(PathBuf::from("/w/f"), Some(hex(b"")))])
        );
    }
}
