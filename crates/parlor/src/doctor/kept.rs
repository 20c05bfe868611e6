//! What `doctor` says of the conversations that are kept: whether the store is whole, and what to do when it is not. It only looks, for a
//! few seconds at most.

use super::say;
use host::launch::Launch;
use host::{kept, store_place};
use std::path::Path;
use std::time::Duration;
use store::{CheckDepth, Fate, Health, Rescued, SqliteStore};
use team::{Address, PostgresHealth, PostgresStore};

/// How long it looks.
const LOOK: Duration = Duration::from_secs(3);

/// The store of new conversations, wherever it is; `false` when something is to be done about it.
pub(super) fn place(launch: &Launch, data: &Path) -> bool {
    match store_place::database(launch) {
        Ok(None) => store(data),
        Ok(Some(address)) => team(address),
        Err(why) => {
            say("store", &why.to_string().replace("\n\n", "; "));
            false
        }
    }
}

/// A database: what it is, and how it stands.
fn team(address: Address) -> bool {
    let place = address.shown().to_owned();
    match PostgresStore::examine(address) {
        Ok(Some(PostgresHealth { server, sessions, open, bytes, format })) => {
            let size = size(bytes);
            say("store", &format!("{place}: {sessions} conversations, {open} of them open, {size}"));
            say("", &format!("PostgreSQL {server}, tables of format {format}"));
            true
        }
        Ok(None) => {
            say("store", &format!("{place}: reached, and empty; the first conversation makes its tables"));
            true
        }
        Err(why) => {
            say("store", &why.to_string());
            say("", why.hint());
            false
        }
    }
}

/// One store of this machine; `false` when something is to be done about it.
pub(super) fn store(data: &Path) -> bool {
    let is_well = database(data);
    let away = SqliteStore::damaged_aside(data);
    if let Some(words) = kept::not_used(&away) {
        say("", &words);
    }
    is_well && away.is_empty()
}

fn database(data: &Path) -> bool {
    match SqliteStore::examine(data, CheckDepth::Quick(LOOK)) {
        Health::Missing => {
            say("store", "none yet; the first conversation makes it");
            true
        }
        Health::Whole { sessions, bytes, all } => {
            let size = size(bytes);
            say(
                "store",
                &match all {
                    true => format!("whole: {sessions} conversations, {size}"),
                    false => {
                        let seconds = LOOK.as_secs();
                        format!(
                            "no damage found in the {seconds} seconds that were looked at: {sessions} conversations, {size}"
                        )
                    }
                },
            );
            writable(data)
        }
        Health::Damaged { first, losses } => {
            say("store", &damage(losses.as_ref()));
            say("", &format!("found first: {first}"));
            if !writable(data) {
                say("", &kept::elsewhere(data));
                return false;
            }
            say(
                "",
                "`parlor sessions recover` saves what can be read into a new store, and keeps the damaged one",
            );
            false
        }
        Health::Refused(why) => {
            say("store", &why.to_string());
            say("", &kept::next(&why));
            false
        }
    }
}

fn damage(losses: Option<&Rescued>) -> String {
    let Some(losses) = losses else {
        return "damaged; counting what is lost would be slower than this check".to_owned();
    };
    let all = losses.sessions.len();
    let gone = losses.sessions.iter().filter(|session| session.fate == Fate::Gone).count();
    let hit = losses.sessions.iter().filter(|session| session.lost_events() > 0).count();
    let lost: u64 =
        losses.sessions.iter().map(store::RescuedSession::lost_events).sum::<u64>() + losses.strays;
    match (lost, gone) {
        _ if gone == all => "damaged: nothing of it can be read".to_owned(),
        (0, 0) => format!("damaged, but every record of its {all} conversations can be read"),
        (0, gone) => format!("damaged: nothing can be read of {gone} of {all} conversations"),
        (lost, 0) => format!(
            "damaged: {lost} records cannot be read; {hit} of {all} conversations have lost something"
        ),
        (lost, gone) => format!(
            "damaged: {lost} records cannot be read; {hit} of {all} conversations have lost something, and nothing can be read of {gone}"
        ),
    }
}

/// Whether something new can be kept.
fn writable(data: &Path) -> bool {
    if kept::is_writable(data) {
        if SqliteStore::is_out_of_room(data) {
            say(
                "",
                "no space is left on its disk: it can be read, and nothing new can be kept; free some space",
            );
            return false;
        }
        return true;
    }
    say(
        "",
        "it can be read, but not written: nothing new can be kept; make the folder and its files writable",
    );
    false
}

fn size(bytes: u64) -> String {
    match bytes {
        small if small < 1024 * 1024 => format!("{} KB", small.div_ceil(1024)),
        large => format!("{} MB", large / 1024 / 1024),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::ids::{Seq, SessionId};
    use store::RescuedSession;

    fn session(fate: Fate, lost: Vec<(Seq, Seq)>) -> RescuedSession {
        let events = if fate == Fate::Gone { 0 } else { 5 };
        RescuedSession { session: SessionId::from_number(1), title: String::new(), fate, events, lost }
    }

    #[test]
    fn what_stood_aside_and_could_not_be_used_is_something_to_be_done() {
        let data = tempfile::tempdir().unwrap();
        drop(SqliteStore::at(data.path()).unwrap());
        assert!(store(data.path()));
        let file = data.path().join("aside-0-1-2-3.db.damaged-1");
        std::fs::write(&file, "").unwrap();
        assert!(!store(data.path()));
        let said = kept::not_used(&SqliteStore::damaged_aside(data.path())).unwrap();
        assert!(said.ends_with(&file.display().to_string()), "{said}");
    }

    #[test]
    fn a_conversation_of_which_nothing_is_left_counts() {
        let whole = || session(Fate::Whole, Vec::new());
        let gone = || session(Fate::Gone, Vec::new());
        let cut = || session(Fate::Whole, vec![(Seq(3), Seq(4))]);
        for (sessions, words) in [
            (vec![], "nothing of it can be read"),
            (vec![gone(), gone()], "nothing of it can be read"),
            (vec![whole(), whole()], "every record of its 2 conversations can be read"),
            (vec![whole(), gone()], "nothing can be read of 1 of 2 conversations"),
            (vec![whole(), cut()], "2 records cannot be read; 1 of 2 conversations have lost something"),
            (vec![cut(), gone()], "1 of 2 conversations have lost something, and nothing can be read of 1"),
        ] {
            let said = damage(Some(&Rescued { sessions, ..Rescued::default() }));
            assert!(said.ends_with(words), "{said}");
        }
    }
}
