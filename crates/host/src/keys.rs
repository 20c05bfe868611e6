//! The keys that the person has given: one file in the data folder, for its owner alone, which is closed to every command in a leash and
//! to the tools that read files.
//!
//! A key stands there with the address that it was tried at, and is sent nowhere else: whoever sets a provider's address for a project
//! does not get the key with it. What cannot be understood is told, is as if it were not there, and is never written over. Members that
//! are not known here stay.

use crate::text_file::load;
use crate::{paths, private};
use anyhow::Context;
use models::Secret;
use models::catalog::KeptKey;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The file, in the data folder.
const FILE: &str = "keys.json";
/// The form of the file. Another one is somebody else's to read.
const VERSION: u64 = 1;

/// In the data folder, whether it is there or not.
pub fn file() -> anyhow::Result<PathBuf> {
    Ok(paths::data()?.join(FILE))
}

/// The keys that can be used; [`trouble`] tells of the others.
pub fn read() -> BTreeMap<String, KeptKey> {
    let found = file().ok().and_then(|file| whole(&file).ok());
    found.map(|whole| usable(&whole)).unwrap_or_default()
}

/// Which file of keys it is: another one when a key was kept or forgotten since, also by another process.
pub fn stamp() -> Option<(u64, u64, Option<SystemTime>)> {
    let meta = std::fs::metadata(file().ok()?).ok()?;
    Some((meta.ino(), meta.len(), meta.modified().ok()))
}

/// What is wrong with the file, and what to do.
pub fn trouble() -> Option<String> {
    let file = file().ok()?;
    if let Err(why) = whole(&file) {
        return Some(format!("{why}; no kept key is used. `parlor logout --all` removes the file"));
    }
    let mode = std::fs::metadata(&file).ok()?.permissions().mode();
    let named = file.display();
    (mode & 0o077 != 0).then(|| format!("{named} can be read by others: chmod 600 {named}"))
}

/// Keeps a key in the place of another for the same provider; whether there was one.
///
/// # Errors
/// When the file cannot be understood or written. What was kept stays.
pub fn keep(account: &str, kept: &KeptKey) -> anyhow::Result<bool> {
    change(|keys| {
        let entry = json!({ "key": kept.key.expose(), "address": kept.address });
        keys.insert(account.to_owned(), entry).is_some()
    })
}

/// Forgets the key of a provider; whether there was one.
///
/// # Errors
/// As for [`keep`].
pub fn forget(account: &str) -> anyhow::Result<bool> {
    if !file()?.exists() {
        return Ok(false);
    }
    change(|keys| keys.remove(account).is_some())
}

/// Forgets all of them, also those that cannot be understood; whether there was a file.
///
/// # Errors
/// When it cannot be removed.
pub fn forget_all() -> anyhow::Result<bool> {
    let file = file()?;
    match std::fs::remove_file(&file) {
        Ok(()) => Ok(true),
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(why) => Err(why).with_context(|| format!("{} cannot be removed", file.display())),
    }
}

fn change<T>(with: impl FnOnce(&mut Map<String, Value>) -> T) -> anyhow::Result<T> {
    let file = file()?;
    // Two logins at once must not cost a key.
    let _held = private::hold(&file)?;
    let mut whole = whole(&file).map_err(|why| {
        anyhow::anyhow!("{why}, and is not written over\nhint: `parlor logout --all` removes it")
    })?;
    let members = whole.as_object_mut().context("no object")?;
    members.insert("version".to_owned(), json!(VERSION));
    let keys = members.entry("keys").or_insert_with(|| json!({}));
    let changed = with(keys.as_object_mut().context("no object")?);
    private::replace(&file, &format!("{whole:#}\n"))?;
    Ok(changed)
}

/// The file as it is, or why it cannot be understood.
fn whole(file: &Path) -> Result<Value, String> {
    let named = file.display();
    let Some(text) = load(file).map_err(|why| format!("{named} {why}"))? else { return Ok(json!({})) };
    // What is wrong is not quoted: it may be a key.
    let wrong = || format!("{named} is no file of keys");
    let value: Value = serde_json::from_str(&text).map_err(|_| wrong())?;
    let well = value.get("keys").is_some_and(Value::is_object);
    match value.get("version").and_then(Value::as_u64) {
        Some(VERSION) if well => Ok(value),
        Some(newer) if newer > VERSION => Err(format!("{named} was written by a newer Parlor")),
        Some(_) | None => Err(wrong()),
    }
}

fn usable(whole: &Value) -> BTreeMap<String, KeptKey> {
    let keys = whole.get("keys").and_then(Value::as_object).into_iter().flatten();
    let kept = keys.filter_map(|(account, entry)| {
        let text = |member: &str| entry.get(member).and_then(Value::as_str);
        let kept = KeptKey { key: Secret::new(text("key")?), address: text("address")?.to_owned() };
        Some((account.clone(), kept)).filter(|(_, kept)| !kept.key.is_empty())
    });
    kept.collect()
}
