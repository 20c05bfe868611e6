//! The store as a file: saved from damage, copied, made shorter.

use super::args::{Backup, Recover};
use crate::exit::{self, Exit};
use crate::output;
use crate::paint;
use domain::ids::Seq;
use host::kept::{elsewhere, told};
use std::path::Path;
use store::{CheckDepth, Fate, Health, Rescued, RescuedSession, SqliteStore, StoreError};

/// How many gaps of a conversation are named.
const GAPS: usize = 5;
/// Free space in the file that is worth a word.
const WORTH_A_WORD: u64 = 1024 * 1024;

/// Does what `sessions recover` promises, and tells what is lost.
pub(super) fn recover(data: &Path, recover: &Recover) -> anyhow::Result<Exit> {
    let json = recover.report.json;
    let Some(file) = &recover.file else { return of_store(data, json) };
    if SqliteStore::is_kept_in(data, file) {
        return Err(exit::usage(format!(
            "{} is the store itself\n\nhint: `parlor sessions recover` without a file looks after it",
            file.display()
        )));
    }
    let mut store = SqliteStore::at(data).map_err(|why| told(&why))?;
    let rescued = store.take_in(file).map_err(|why| match why {
        // Where our own store lies has nothing to do with it.
        StoreError::Unreadable { .. } => {
            anyhow::anyhow!("{why}\nhint: whoever owns it can let you read it, or give you a copy")
        }
        StoreError::NotAFile { .. } | StoreError::NotAFolder { .. } => {
            anyhow::anyhow!("{why}\nhint: name a file that is, or was, a session store")
        }
        why => no_store(&why),
    })?;
    if json {
        output::print_line(&in_json(&rescued, store.path()));
        return Ok(Exit::Done);
    }
    let (came, all) = (count(&rescued, is_saved), rescued.sessions.len());
    output::print_line(&format!(
        "{came} of {all} conversations came from {} into {}",
        file.display(),
        store.path().display()
    ));
    let there = count(&rescued, |fate| fate == Fate::There);
    if there > 0 {
        output::print_line(&format!("{there} are there already and were left as they are"));
    }
    losses(&rescued);
    Ok(Exit::Done)
}

fn of_store(data: &Path, json: bool) -> anyhow::Result<Exit> {
    match SqliteStore::examine(data, CheckDepth::Thorough) {
        Health::Missing => anyhow::bail!("no conversation is kept yet; start one with `parlor`"),
        Health::Whole { sessions, .. } => {
            let store = data.join("sessions.db");
            if json {
                output::print_line(&in_json(&Rescued::default(), &store));
            } else {
                output::print_line(&format!(
                    "Nothing to recover: {} is whole ({sessions} conversations)",
                    store.display()
                ));
            }
            return Ok(Exit::Done);
        }
        Health::Refused(why) => return Err(no_store(&why)),
        Health::Damaged { .. } => {}
    }
    let rescued = SqliteStore::rescue(data).map_err(|why| match why {
        StoreError::ReadOnly { .. } => {
            anyhow::anyhow!("{why}: nothing can be put in its place\nhint: {}", elsewhere(data))
        }
        why => no_store(&why),
    })?;
    let store = data.join("sessions.db");
    if json {
        output::print_line(&in_json(&rescued, &store));
        return Ok(Exit::Done);
    }
    let (saved, all) = (count(&rescued, is_saved), rescued.sessions.len());
    output::print_line(&format!("{saved} of {all} conversations are in a new store: {}", store.display()));
    losses(&rescued);
    output::print_line("Lists and the search index were rebuilt.");
    if let Some(aside) = &rescued.aside {
        output::print_line(&format!(
            "The damaged store is kept: {}\nRemove it when you miss nothing.",
            aside.display()
        ));
    }
    Ok(Exit::Done)
}

/// Why nothing is saved. What is not a store at all cannot be sent here once more.
fn no_store(why: &StoreError) -> anyhow::Error {
    match why {
        StoreError::Foreign { .. } => anyhow::anyhow!(
            "{why}, and nothing of one can be found in it\nhint: it was left as it is; move it away to start over; a backup, or a store that was kept aside, can be named"
        ),
        other => told(other),
    }
}

fn is_saved(fate: Fate) -> bool {
    matches!(fate, Fate::Whole | Fate::Partly)
}

fn count(rescued: &Rescued, fits: impl Fn(Fate) -> bool) -> usize {
    rescued.sessions.iter().filter(|session| fits(session.fate)).count()
}

/// What is lost, in numbers and for each conversation.
fn losses(rescued: &Rescued) {
    let taken = rescued.sessions.iter().filter(|session| session.fate != Fate::There);
    let (mut read, mut lost) = (0, rescued.strays);
    for session in taken {
        read += session.events;
        lost += session.lost_events();
        if let Some(line) = loss(session) {
            output::print_line(&line);
        }
    }
    if rescued.strays > 0 {
        output::print_line(&format!(
            "  {} records belong to conversations whose names are lost",
            rescued.strays
        ));
    }
    output::print_line(&match lost {
        0 if read == 0 => return,
        0 => format!("{read} records, none is lost"),
        lost => format!("{read} records were saved, {lost} are lost"),
    });
}

fn loss(session: &RescuedSession) -> Option<String> {
    let name = match paint::line(&session.title) {
        title if title.is_empty() => session.session.to_string(),
        title => format!("{} “{title}”", session.session),
    };
    let lost = session.lost_events();
    match session.fate {
        Fate::Gone => Some(format!("  {name}: nothing of it could be read")),
        Fate::Whole | Fate::There if lost == 0 => None,
        Fate::Whole | Fate::There => Some(format!(
            "  {name}: whole, but {lost} records of how it came about are lost ({})",
            gaps(&session.lost)
        )),
        Fate::Partly => {
            let all = lost + session.events;
            Some(format!("  {name}: {lost} of {all} records are lost ({})", gaps(&session.lost)))
        }
    }
}

fn gaps(lost: &[(Seq, Seq)]) -> String {
    let mut words: Vec<String> = lost
        .iter()
        .take(GAPS)
        .map(
            |(first, last)| {
                if first == last { first.0.to_string() } else { format!("{}–{}", first.0, last.0) }
            },
        )
        .collect();
    if lost.len() > GAPS {
        words.push("…".to_owned());
    }
    words.join(", ")
}

fn in_json(rescued: &Rescued, store: &Path) -> String {
    let sessions: Vec<serde_json::Value> = rescued
        .sessions
        .iter()
        .map(|session| {
            let fate = match session.fate {
                Fate::Whole => "whole",
                Fate::Partly => "partly",
                Fate::There => "there",
                Fate::Gone => "gone",
            };
            let lost: Vec<[u64; 2]> = session.lost.iter().map(|(first, last)| [first.0, last.0]).collect();
            serde_json::json!({
                "session": session.session.as_str(),
                "title": session.title,
                "fate": fate,
                "records": session.events,
                "lost": lost,
            })
        })
        .collect();
    let (store, aside) =
        (store.to_string_lossy(), rescued.aside.as_ref().map(|aside| aside.to_string_lossy()));
    serde_json::json!({ "store": store, "kept_aside": aside, "sessions": sessions, "strays": rescued.strays })
        .to_string()
}

/// Does what `sessions backup` promises.
pub(super) fn back_up(data: &Path, backup: &Backup) -> anyhow::Result<Exit> {
    let copied = SqliteStore::back_up(data, &backup.file).map_err(|why| told(&why))?;
    let size = copied.bytes;
    if backup.report.json {
        let path = backup.file.to_string_lossy();
        let damage = copied.damage.as_ref().map(|damage| {
            let (hit, lost) = extent(damage);
            serde_json::json!({ "conversations": hit, "records": lost })
        });
        output::print_line(&serde_json::json!({ "path": path, "size": size, "damage": damage }).to_string());
    } else {
        output::print_line(&format!("{} ({size} bytes)", backup.file.display()));
    }
    let Some(damage) = &copied.damage else { return Ok(Exit::Done) };
    let what = match extent(damage) {
        (_, 0) => "every record of it can be read".to_owned(),
        (hit, lost) => format!(
            "{lost} records cannot be read; {hit} of {} conversations have lost something",
            damage.sessions.len()
        ),
    };
    output::print_error(&format!(
        "warning: the store is damaged, and so is this copy: {what}\nhint: `parlor sessions recover` saves what can be read; keep older copies until you miss nothing"
    ));
    Ok(Exit::Damaged)
}

/// How many conversations have lost something, and how many records.
fn extent(damage: &Rescued) -> (usize, u64) {
    let lost = damage.sessions.iter().map(RescuedSession::lost_events);
    (lost.clone().filter(|lost| *lost > 0).count(), lost.sum::<u64>() + damage.strays)
}

/// Lets the file become shorter after something was removed. What cannot be given back costs nothing but space.
pub(super) fn give_back(store: &mut SqliteStore) {
    match store.give_back() {
        Ok(left) if left < WORTH_A_WORD => {}
        Ok(left) => output::print_error(&format!(
            "note: {} MB stay free in the file for what comes; it becomes smaller when something is removed while no other Parlor writes",
            left / 1024 / 1024
        )),
        Err(why) => output::print_error(&format!("note: the file did not become smaller: {why}")),
    }
}
