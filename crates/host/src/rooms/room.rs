//! The process of a room (`parlor __room`). It has our own agent and no wire but the announced native socket; nobody sits in front of it.

use super::detach;
use super::registry::Entry;
use crate::announcement::Announcement;
use crate::guests::Host;
use crate::launch::Launch;
use crate::stack;
use crate::stop::{self, Manner, Over, Runs};
use crate::{doors, paths, visits};
use anyhow::Context;
use dialects::Dialect;
use domain::ids::SessionId;
use hub::core::LiveSession;
use hub::{Hub, Log};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The hidden sub-command.
pub const ROOM: &str = "__room";
/// How `parlor ps` and the fleet call it.
const SERVING: &str = "room";
/// How often it is looked whether anybody needs the room, and how long its log has become.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// The size of the log past which it begins anew.
const MAX_LOG: u64 = 1024 * 1024;

/// What a room is told when it is started.
#[derive(Debug)]
pub struct Room {
    /// The session that is opened before anybody comes.
    pub session: Option<String>,
    /// How long it stays without UI, run and question.
    pub idle: Duration,
    /// The log that it writes.
    pub log: PathBuf,
    /// A wire that it speaks beside the native one.
    pub wire: Option<Dialect>,
}

/// Is a room until nobody needs it, or it is told to end. `log` is bounded; `said` takes every line as it comes.
///
/// # Errors
/// When nothing can be kept, or the room cannot be found by anybody.
pub async fn run(launch: Launch, room: Room, log: Log, said: Log) -> anyhow::Result<()> {
    let standing = Standing::take()?;
    let own = stack::own_visiting(&launch, Some(visits::port()), log).await?;
    if let Some(why) = &own.unkept {
        // A session that nobody could find again is none that outlives a terminal.
        anyhow::bail!("nothing can be kept: {why}");
    }
    if let Some(id) = &room.session {
        let session = SessionId::parse(id).with_context(|| format!("{id} is not the id of a session"))?;
        // It stays open when its only UI leaves.
        own.typed.open(&own.hub, SERVING, &session).await?;
        let has_it = |sessions: Vec<LiveSession>| sessions.iter().any(|live| live.id == session);
        if !own.hub.present().await.is_ok_and(has_it) {
            anyhow::bail!("session {id} is open in another process by now");
        }
    }
    let host = Host::of_room(&own, said.clone());
    let announcement =
        Announcement::try_open(&own.hub, &host, &own.cwd, SERVING.to_owned(), room.wire).await?;
    let told = standing.until_told(&own.hub, &announcement, &room, &said).await;
    drop(announcement);
    if let Err(late) = own.engine.stop(&own.hub).await {
        said(&format!("warning: {late}"));
    }
    standing.leave(&room);
    told.map(drop)
}

/// What any room is until it ends: one of those that live, found by others, and asked to let go.
pub struct Standing {
    entry: Entry,
    let_go: Mutex<Option<Signal>>,
}

impl Standing {
    /// Takes the place of a room, away from whoever started it. To be called before anybody finds it: the signal to let go would end it
    /// otherwise.
    ///
    /// # Errors
    /// When it cannot be noted as one that lives.
    pub fn take() -> anyhow::Result<Standing> {
        detach::leave();
        let entry = Entry::new(&paths::data()?)?;
        Ok(Standing { entry, let_go: Mutex::new(Some(signal(SignalKind::user_defined1())?)) })
    }

    /// Waits until nobody has needed the room for long enough, it is told to end, or the agent behind it is gone; its runs have ended then.
    ///
    /// # Errors
    /// When the hub is gone.
    pub async fn until_told(
        &self,
        hub: &Hub,
        announcement: &Announcement,
        room: &Room,
        said: &Log,
    ) -> anyhow::Result<Over> {
        let let_go = self.let_go.lock().unwrap_or_else(PoisonError::into_inner).take();
        let needed = async {
            let spoken_with = || announcement.is_spoken_with();
            tokio::select! {
                () = until_idle(hub, room.idle, let_go, (&room.log, said), spoken_with) => {}
                why = hub.lost() => said(&format!("the agent is gone: {why}")),
            }
            Ok(())
        };
        let manner = Manner { runs: Runs::Stop, last_lines: doors::last_lines(false), keeps_questions: true };
        stop::until_told(hub, needed, manner, &**said).await
    }

    /// The end of a room that ended well: its log goes along.
    pub fn leave(self, room: &Room) {
        let _ = std::fs::remove_file(&room.log);
        drop(self.entry);
    }
}

/// Waits until nobody has needed the room for so long, or nobody does and somebody wants what it has open (`release.rs`).
async fn until_idle(
    hub: &Hub,
    limit: Duration,
    mut let_go: Option<Signal>,
    (log, said): (&Path, &Log),
    spoken_with: impl Fn() -> bool,
) {
    let mut since = Instant::now();
    loop {
        let is_wanted = tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY.min(limit)) => false,
            () = asked(&mut let_go) => true,
        };
        shorten(log, said);
        let Ok(sessions) = hub.present().await else { return };
        if sessions.iter().any(is_needed) || spoken_with() || hub.is_visiting().await {
            since = Instant::now();
        } else if is_wanted || since.elapsed() >= limit {
            return;
        }
    }
}

async fn asked(let_go: &mut Option<Signal>) {
    match let_go {
        Some(let_go) => drop(let_go.recv().await),
        None => std::future::pending().await,
    }
}

fn is_needed(session: &LiveSession) -> bool {
    session.running || session.asks > 0 || !session.uis.is_empty()
}

/// Begins the log anew once it is too long: whoever writes it appends.
fn shorten(log: &Path, said: &Log) {
    if std::fs::metadata(log).is_ok_and(|log| log.len() > MAX_LOG)
        && std::fs::File::options().write(true).open(log).is_ok_and(|file| file.set_len(0).is_ok())
    {
        said("(what stood here before was too long)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_begins_anew_once_it_is_too_long() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let file = std::fs::File::create(&log).unwrap();
        file.set_len(MAX_LOG).unwrap();
        shorten(&log, &stack::no_log());
        assert_eq!(file.metadata().unwrap().len(), MAX_LOG);
        file.set_len(MAX_LOG + 1).unwrap();
        shorten(&log, &stack::no_log());
        assert_eq!(file.metadata().unwrap().len(), 0);
    }
}
