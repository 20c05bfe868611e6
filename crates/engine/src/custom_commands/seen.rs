//! How the commands looked that the person has used: whoever uses one that is another now is told so.
//!
//! Digests by file and project, in the user's data directory and never in the project. It tells and decides nothing, so a file that
//! cannot be read or written costs only the word about a change.

use crate::private_file::{hold, write_private};
use std::collections::BTreeMap;
use std::path::Path;

/// Most commands that are kept; past it nothing is added.
const MAX_KEPT: usize = 1_000;
/// Characters of a digest that are shown.
const SHOWN: usize = 12;

/// What is known of a command that is used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// It was never used, as far as is known.
    New,
    Same,
    /// The beginnings of both digests.
    Changed {
        before: String,
        now: String,
    },
}

/// A command is used that reads so now.
pub(super) fn used(data: &Path, project: &Path, path: &Path, text: &str) -> Seen {
    let file = data.join("commands-used.json");
    let key = tools::digest::hex(format!("{}\n{}", project.display(), path.display()).as_bytes());
    let digest = tools::digest::hex(text.as_bytes());
    let read = || -> BTreeMap<String, String> {
        std::fs::read_to_string(&file)
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    };
    let shown = |digest: &str| digest.chars().take(SHOWN).collect();
    let seen = match read().get(&key) {
        Some(before) if *before == digest => return Seen::Same,
        Some(before) => Seen::Changed { before: shown(before), now: shown(&digest) },
        None => Seen::New,
    };
    if let Ok(_held) = hold(&file) {
        let mut kept = read();
        if kept.len() < MAX_KEPT || kept.contains_key(&key) {
            kept.insert(key, digest);
            if let Ok(text) = serde_json::to_string_pretty(&kept) {
                let _ = write_private(&file, &text);
            }
        }
    }
    seen
}
