//! What `doctor` says of the conversations that are kept: whether the store is whole, and what to do when it is not. It only looks, for a
//! few seconds at most.

use super::say;
use crate::sessions;
use std::path::Path;
use std::time::Duration;
use store::{Health, Look, Rescued, SqliteStore};

/// How long it looks.
const LOOK: Duration = Duration::from_secs(3);

/// One store; `false` when something is to be done about it.
pub(super) fn store(data: &Path) -> bool {
    match SqliteStore::examine(data, Look::Quick(LOOK)) {
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
                say("", &sessions::elsewhere(data));
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
            say("", &sessions::next(&why));
            false
        }
    }
}

fn damage(losses: Option<&Rescued>) -> String {
    let Some(losses) = losses else {
        return "damaged; counting what is lost takes longer than this look".to_owned();
    };
    let all = losses.sessions.len();
    let hit = losses.sessions.iter().filter(|session| session.lost_events() > 0).count();
    let lost: u64 =
        losses.sessions.iter().map(store::RescuedSession::lost_events).sum::<u64>() + losses.strays;
    match lost {
        0 if all == 0 => "damaged: nothing of it can be read".to_owned(),
        0 => format!("damaged, but every record of its {all} conversations can be read"),
        lost => format!(
            "damaged: {lost} records cannot be read; {hit} of {all} conversations have lost something"
        ),
    }
}

/// Whether something new can be kept.
fn writable(data: &Path) -> bool {
    if sessions::is_writable(data) {
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
