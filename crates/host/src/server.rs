//! The server of this person in the background (`parlor up`, `parlor down`). It hosts no session: it starts rooms (`rooms.rs`) for
//! terminals that ask, and knows where they are. So nothing that runs in a room ends with a terminal, nor with the server's death.
//!
//! Invariants: one server per data folder, by a lock that the kernel lets go of with the process; what a dead server left is taken over;
//! its control socket is for its owner alone and refuses what came from a command of an agent; an orderly end ends the rooms first.

mod clients;
mod desk;
mod unit;

use crate::control::{Control, NOTICE, Server, Status};
use crate::rooms::{self, AgentNames, EndedRooms, Rooms, detach};
use crate::stop::Stops;
use crate::{paths, private};
use anyhow::Context;
use hub::Log;
use link::unix::Listener;
use rustix::fs::{FlockOperation, flock};
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a server may take until it answers.
const READY_WITHIN: Duration = Duration::from_secs(30);
/// How long a server that was told to stop may take: its rooms end first.
const STOP_WITHIN: Duration = Duration::from_secs(40);
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Variables that name a folder of ours.
const FOLDERS: [&str; 2] = ["PARLOR_DATA_DIR", "PARLOR_CONFIG_DIR"];
/// How the name of a control socket ends, behind the number of its process.
const CONTROL: &str = ".control";
/// In the data folder: held by the server that runs.
const LOCK: &str = "server.lock";
/// In the data folder: what a server in the background says.
const LOG: &str = "server.log";

/// What starts a server that is not there yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// This program, in the background.
    Us,
    /// A user unit of systemd, which is written and enabled.
    Systemd,
}

/// Sees to it that a server runs; gives how it stands, and whether it was started now. Its rooms stay for so many seconds when nobody uses
/// them.
///
/// # Errors
/// When it cannot be started, or does not answer in time.
pub async fn up(room_idle: u64, by: By, clients: bool) -> anyhow::Result<(Status, bool)> {
    let data = data()?;
    if let Some(status) = running(&data).await {
        begin_here(&data).await;
        return Ok((status, false));
    }
    match by {
        By::Systemd => unit::install(room_idle, clients)?,
        By::Us => {
            let log = data.join(LOG);
            // What the last one said is over.
            detach::fresh(&log)?;
            let idle = room_idle.to_string();
            let words = ["up", "--detached", "--room-idle", &idle].map(OsString::from);
            let home = tools::home().filter(|home| home.is_dir()).unwrap_or_else(|| "/".into());
            let pid = detach::start(&words, &home, Some(environment()?), &log).await?;
            if let Err(why) = until_up(&data, pid).await {
                anyhow::bail!("{}", detach::with_last_words(&why, &log));
            }
        }
    }
    let status = until_running(&data).await?;
    begin_here(&data).await;
    Ok((status, true))
}

/// Our environment for a server that works in another folder: names of folders are whole there.
fn environment() -> anyhow::Result<Vec<(OsString, OsString)>> {
    let mut all = Vec::new();
    for (name, value) in std::env::vars_os() {
        let is_folder = FOLDERS.iter().any(|folder| name == *folder) && !value.is_empty();
        let value = if is_folder { std::path::absolute(&value)?.into_os_string() } else { value };
        all.push((name, value));
    }
    Ok(all)
}

/// The data folder, which a server begun elsewhere finds too.
fn data() -> anyhow::Result<PathBuf> {
    let data = std::path::absolute(paths::data()?)?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&data);
    made.with_context(|| format!("{} cannot be made", data.display()))?;
    Ok(data)
}

/// How the server of a data folder stands, if one runs.
async fn running(data: &Path) -> Option<Status> {
    let mut control = Control::reach(&data.join(NOTICE)).await.ok()??;
    control.status().await.ok()
}

/// Tells the server that runs where the person works. Without it sessions of the page begin where it was told last.
async fn begin_here(data: &Path) {
    if let Ok(Some(mut control)) = Control::reach(&data.join(NOTICE)).await {
        let _ = control.begin_here().await;
    }
}

async fn until_running(data: &Path) -> anyhow::Result<Status> {
    let end = Instant::now() + READY_WITHIN;
    loop {
        if let Some(status) = running(data).await {
            return Ok(status);
        }
        anyhow::ensure!(
            Instant::now() < end,
            "the server does not answer; {} may say why",
            data.join(LOG).display()
        );
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Waits until some server has said where it is; two that are begun at once are one.
async fn until_up(data: &Path, pid: u32) -> Result<(), String> {
    let end = Instant::now() + READY_WITHIN;
    while running(data).await.is_none() {
        if !detach::is_there(pid) {
            // Another one may have been quicker.
            return match running(data).await {
                Some(_) => Ok(()),
                None => Err("the server ended at once".to_owned()),
            };
        }
        if Instant::now() >= end {
            return Err("the server does not answer".to_owned());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    Ok(())
}

/// Ends the server, if one runs, and all rooms; gives its number and what was ended.
///
/// # Errors
/// When it does not end in time.
pub async fn down() -> anyhow::Result<(Option<u32>, EndedRooms)> {
    let data = std::path::absolute(paths::data()?)?;
    let mut server = None;
    let mut ended = EndedRooms::default();
    if let Some(mut control) = Control::reach(&data.join(NOTICE)).await? {
        server = Some(control.server.pid);
        ended = control.stop(STOP_WITHIN).await?;
        let (pid, end) = (control.server.pid, Instant::now() + READY_WITHIN);
        while detach::is_there(pid) && Instant::now() < end {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
    // Rooms outlive a server that was killed.
    let orphans = rooms::end_all(&data).await;
    let (rooms, killed) = (ended.rooms + orphans.rooms, ended.killed + orphans.killed);
    Ok((server, EndedRooms { rooms, killed, left: orphans.left }))
}

/// The server itself, until it is told to stop. `detached`: it leaves the session of whoever started it; `clients`: they are let in over
/// WebSockets from the start.
///
/// # Errors
/// When another one runs, or it has no place.
pub async fn serve(
    room_idle: u64,
    (detached, clients): (bool, bool),
    agents: AgentNames,
    log: Log,
) -> anyhow::Result<()> {
    let mut stops = Stops::listen();
    if detached {
        detach::leave();
    }
    let data = data()?;
    let Some(_lock) = lock_in_time(&data).await? else {
        anyhow::bail!("a server runs already for {}; `parlor down` ends it", data.display());
    };
    let directory = std::path::absolute(paths::runtime()?)?;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory);
    made.with_context(|| format!("{} cannot be made", directory.display()))?;
    sweep(&directory);
    let socket = directory.join(format!("{}{CONTROL}", std::process::id()));
    let door = Listener::bind(&socket).await?;
    let server = Server::here(&socket);
    let notice = data.join(NOTICE);
    // Whatever stands there is of a dead one: the lock is ours.
    private::replace(&notice, &server.to_json().to_string())?;
    let rooms = Rooms::new(Duration::from_secs(room_idle))?.offering(agents);
    log(&format!("serving {} by {}", data.display(), socket.display()));
    let desk = desk::Desk::new(server, data.clone(), rooms, log);
    desk.serve_known(&data).await;
    if clients {
        desk.serve_clients().await;
    }
    let stopped = tokio::select! {
        asked = desk::attend(&door, &desk) => Some(asked),
        _ = stops.next() => None,
    };
    // From here on nobody finds us, so no room is begun that would be missed.
    let _ = std::fs::remove_file(&notice);
    desk.close().await;
    let ended = rooms::end_all(&data).await;
    if let Some(asked) = stopped {
        asked.answer(ended).await;
    }
    Ok(())
}

/// Takes away the control sockets of servers that were killed.
fn sweep(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_suffix(CONTROL)).and_then(|pid| pid.parse().ok());
        if pid.is_some_and(|pid: u32| !detach::is_there(pid)) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// The lock of the server that runs; `None` when another one does. One that has not said yet where it is, or that is about to end, is
/// waited for: whoever began this one finds either of them.
async fn lock_in_time(data: &Path) -> anyhow::Result<Option<File>> {
    let end = Instant::now() + READY_WITHIN;
    loop {
        let lock = lock(data)?;
        if lock.is_some() || running(data).await.is_some() || Instant::now() >= end {
            return Ok(lock);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// The lock of the server that runs; `None` when another one holds it.
fn lock(data: &Path) -> anyhow::Result<Option<File>> {
    let path = data.join(LOCK);
    let cannot = || format!("{} cannot be written", path.display());
    let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.with_context(cannot)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(file)),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(why) => Err(std::io::Error::from(why)).with_context(cannot),
    }
}
