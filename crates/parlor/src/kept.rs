//! The conversations that are kept: which one is meant by what was typed, and what to do where the store says no.

use crate::launch::Launch;
use crate::{exit, paint};
use anyhow::Context;
use domain::ids::SessionId;
use domain::session::SessionSummary;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use store::{Listing, Store, StoreError};

/// What the store is called in its folder.
const FILE: &str = "sessions.db";

/// What all our ids begin with; it may be left out.
const PREFIX: &str = "sess-";
/// The shortest that an id is shortened to.
const LEAST: usize = 4;
/// How many are named when a short id fits several.
const NAMED: usize = 5;

/// The session to go on with, as the command line says it; none where it is still to be picked from a list.
pub(crate) fn wanted(launch: &Launch, store: &dyn Store, project: &str) -> anyhow::Result<Option<SessionId>> {
    Ok(match &launch.resume {
        Some(Some(id)) => Some(find(store, id)?),
        None if launch.continue_last => Some(newest(store, project)?),
        Some(None) | None => None,
    })
}

/// The one session whose id is or begins with `text`.
pub(crate) fn find(store: &dyn Store, text: &str) -> anyhow::Result<SessionId> {
    let text = text.trim();
    if let Some(id) = SessionId::parse(text)
        && store.summary(&id).is_ok()
    {
        return Ok(id);
    }
    let sessions = store.list(&Listing::default()).map_err(|why| told(&why))?;
    let bare = bare(text).to_ascii_lowercase();
    let fits = |session: &&SessionSummary| {
        let id = session.id.as_str();
        self::bare(id).starts_with(&bare) || id.starts_with(text)
    };
    let fitting: Vec<&SessionSummary> = sessions.iter().filter(fits).filter(|_| !bare.is_empty()).collect();
    match fitting.as_slice() {
        [one] => Ok(one.id.clone()),
        [] => Err(exit::usage(format!(
            "there is no conversation {text}\nhint: `parlor sessions list --all` shows those there are"
        ))),
        several => {
            let named: Vec<String> = several
                .iter()
                .take(NAMED)
                .map(|session| format!("  {}  {}", session.id, paint::line(&session.title)))
                .collect();
            let more = if several.len() > NAMED { "\n  …" } else { "" };
            let (count, named) = (several.len(), named.join("\n"));
            Err(exit::usage(format!("{text} fits {count} conversations:\n{named}{more}")))
        }
    }
}

fn bare(id: &str) -> &str {
    id.strip_prefix(PREFIX).unwrap_or(id)
}

/// The shortest form of each id that names one session only.
pub(crate) fn shortened(sessions: &[SessionSummary]) -> BTreeMap<SessionId, String> {
    let mut ids: Vec<(&str, &SessionId)> = sessions.iter().map(|s| (bare(s.id.as_str()), &s.id)).collect();
    ids.sort();
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let short = ids.iter().enumerate().map(|(at, (bare, id))| {
        let before = at.checked_sub(1).map_or(0, |before| shared(bare, ids[before].0));
        let after = ids.get(at + 1).map_or(0, |after| shared(bare, after.0));
        let length = (before.max(after) + 1).max(LEAST);
        // Ids are ASCII; one that is not stays whole.
        ((*id).clone(), bare.get(..length).unwrap_or(bare).to_owned())
    });
    short.collect()
}

/// The newest session of a project.
pub(crate) fn newest(store: &dyn Store, project: &str) -> anyhow::Result<SessionId> {
    let listing = Listing { project: Some(project.to_owned()), search: None, limit: Some(1) };
    let newest = store.list(&listing).map_err(|why| told(&why))?.into_iter().next();
    Ok(newest.context("there is no conversation in this project yet; start one with `parlor`")?.id)
}

/// Says where records are that waited beside the store and could not all be read.
pub(crate) fn not_used(away: &[PathBuf]) -> Option<String> {
    let files: Vec<String> = away.iter().map(|file| file.display().to_string()).collect();
    (!files.is_empty()).then(|| {
        let files = files.join(", ");
        format!("records that waited beside the store could not all be read; what was found is kept, remove it when you miss nothing: {files}")
    })
}

/// An error of the store with what to do next.
pub(crate) fn told(why: &StoreError) -> anyhow::Error {
    anyhow::anyhow!("{why}\nhint: {}", next(why))
}

/// What to do next. Nothing can be put in the place of a damaged store that cannot be written: what can be read of it goes elsewhere.
pub(crate) fn next(why: &StoreError) -> String {
    let damaged = match why {
        StoreError::Corrupt { path, .. } | StoreError::Foreign { path } => Some(path),
        _ => None,
    };
    // Some are told of the folder, some of the file in it.
    let folder = damaged.and_then(|path| if path.is_dir() { Some(path.as_path()) } else { path.parent() });
    match folder {
        Some(folder) if !is_writable(folder) => elsewhere(folder),
        _ => why.hint().to_owned(),
    }
}

/// Whether something new can be kept in the store of this folder.
pub(crate) fn is_writable(data: &Path) -> bool {
    let may_write = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    let file = data.join(FILE);
    // Where only the log of a store is left, a new file can be made.
    may_write(data) && (may_write(&file) || std::fs::symlink_metadata(&file).is_err())
}

/// How what can be read of a store that cannot be written is saved.
pub(crate) fn elsewhere(data: &Path) -> String {
    format!(
        "PARLOR_DATA_DIR=FOLDER parlor sessions recover {} saves what can be read in FOLDER, a folder of your own; this store cannot be written",
        data.join(FILE).display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::event::{Body, Event, SessionEvent};
    use domain::ids::{Millis, Seq};
    use store::{Durability, MemoryStore};

    fn store(numbers: &[u64]) -> MemoryStore {
        let mut store = MemoryStore::new();
        for number in numbers {
            let id = SessionId::from_number(*number);
            store.create(&id).unwrap();
            let body =
                Body::Session(SessionEvent::Opened { cwd: "/p".into(), project: "/p".into(), parent: None });
            let opened = Event { seq: Seq(1), at: Millis(*number), body };
            // One in which nothing was said and that has no title stands in no list.
            let body = Body::Session(SessionEvent::Renamed { title: "kept".into() });
            let named = Event { seq: Seq(2), at: Millis(*number), body };
            store.append(&id, &[opened, named], Durability::Now).unwrap();
        }
        store
    }

    #[test]
    fn a_short_id_names_one_session_or_says_which_it_could_be() {
        let store = store(&[0x1234_5678_9abc, 0x1234_5abc_0000, 0x2000_0000_0000]);
        let all = store.list(&Listing::default()).unwrap();
        let short: Vec<String> = shortened(&all).into_values().collect();
        assert_eq!(short, ["123456", "12345a", "2000"]);
        for text in ["sess-123456789abc", "123456", "sess-123456", " 123456 "] {
            assert_eq!(find(&store, text).unwrap(), SessionId::from_number(0x1234_5678_9abc), "{text}");
        }
        assert_eq!(find(&store, "2").unwrap(), SessionId::from_number(0x2000_0000_0000));
        let several = find(&store, "1234").unwrap_err().to_string();
        assert!(
            several.contains("fits 2 conversations") && several.contains("sess-12345abc0000"),
            "{several}"
        );
        for text in ["9", "", "../x", "sess-"] {
            assert!(find(&store, text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_newest_is_that_of_the_project() {
        let store = store(&[1, 2, 3]);
        assert_eq!(newest(&store, "/p").unwrap(), SessionId::from_number(3));
        assert!(newest(&store, "/q").is_err());
    }
}
