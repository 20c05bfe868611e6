//! What an open screen is told of the devices of the page: who joined, by the file that all servers of this person write, and who wants
//! to, by the server in the background. And what the person does about them there.
//!
//! Invariants: nothing before [`FIRST_AFTER`] has passed, so that the first frame waits for nothing; nothing is printed; while no file
//! changes nothing is done; a server that is silent or of another version is asked again later and is no news. What it is not: the
//! question itself, which the server asks of whoever answers first.

use super::changes::Changes;
use crate::control::{Asking, Control, NOTICE, Paired, said};
use crate::devices::{self, File};
use crate::error::in_words;
use crate::{clock, paths, stack};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use web::{Device, Shelf as _};

/// How long is waited before anything is done: the first frame comes first.
const FIRST_AFTER: Duration = Duration::from_secs(1);
/// How often the server is asked that is silent, or that has nothing to tell.
const ASK_EVERY: Duration = Duration::from_secs(2);

/// What a screen is told of devices.
#[derive(Debug)]
pub enum DeviceNews {
    /// All that may connect, where that changed.
    Known(Vec<Device>),
    Joined(Device),
    /// One wants to: the server of this process number asks about it.
    Asking {
        server: u32,
        id: u64,
        asking: Asking,
    },
    /// That one is no longer asked about.
    Over,
}

/// Tells a screen of devices until nobody hears it any more.
pub async fn watch(told: mpsc::Sender<DeviceNews>) {
    tokio::join!(follow_file(&told), follow_server(&told));
}

async fn follow_file(told: &mpsc::Sender<DeviceNews>) {
    let (Ok(data), begun) = (paths::data(), clock::now().0) else { return };
    tokio::time::sleep(FIRST_AFTER).await;
    let mut changes = Changes::of(&data, &[devices::FILE]);
    let file = File::new(&data, stack::no_log());
    let (mut stamp, mut known) = (None, None::<BTreeSet<String>>);
    loop {
        // One call of the system, too short for a thread of its own.
        let now = Some(file.stamp());
        if std::mem::replace(&mut stamp, now) == now {
            changes.next().await;
            continue;
        }
        // Half written by a hand, it is looked at again when it changes.
        let Ok(devices) = file.known() else { continue };
        let ids = devices.active().map(|device| device.id.clone()).collect();
        let is_new = |device: &&Device| match &known {
            Some(known) => !known.contains(&device.id),
            // In the moment before the first look.
            None => device.added >= begun,
        };
        let joined: Vec<Device> = devices.active().filter(is_new).cloned().collect();
        let is_first = known.replace(ids).is_none();
        if is_first && joined.is_empty() {
            continue;
        }
        let news = std::iter::once(DeviceNews::Known(devices.active().cloned().collect()));
        for news in news.chain(joined.into_iter().map(DeviceNews::Joined)) {
            if told.send(news).await.is_err() {
                return;
            }
        }
    }
}

async fn follow_server(told: &mpsc::Sender<DeviceNews>) {
    let Ok(data) = paths::data() else { return };
    tokio::time::sleep(FIRST_AFTER).await;
    let mut changes = Changes::of(&data, &[NOTICE]);
    loop {
        let mut server = match Control::here().await {
            Ok(Some(server)) => server,
            Ok(None) => {
                changes.next().await;
                continue;
            }
            Err(_) => {
                tokio::time::sleep(ASK_EVERY).await;
                continue;
            }
        };
        while let Ok(paired) = server.pairing().await {
            let Paired::Asked { id, asking } = paired else {
                tokio::time::sleep(ASK_EVERY).await;
                continue;
            };
            if told.send(DeviceNews::Asking { server: server.server.pid, id, asking }).await.is_err() {
                return;
            }
            let over = server.over(id).await;
            if told.send(DeviceNews::Over).await.is_err() {
                return;
            }
            if over.is_err() {
                break;
            }
        }
        // Whatever a server says, it is not asked without pause.
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// The devices there are.
///
/// # Errors
/// Why they cannot be told.
pub async fn list() -> Result<Vec<Device>, String> {
    on_file(|file| file.known().map(|devices| devices.active().cloned().collect())).await
}

/// Takes a device's right away.
///
/// # Errors
/// Why it has it still.
pub async fn revoke(device: String) -> Result<Device, String> {
    on_file(move |file| file.revoke(&device).map_err(|why| in_words(&why))).await
}

/// Says the person's word about the browser of this number to the server that asked; gives words for the person.
pub async fn pair(server: u32, id: u64, allow: bool) -> String {
    let done = async {
        let control = Control::here().await?;
        // Another server counts anew: its number would be somebody else's.
        match control.filter(|control| control.server.pid == server) {
            Some(mut control) => control.pair(id, allow).await,
            None => Ok(false),
        }
    };
    match done.await {
        Ok(done) => said(allow, done).to_owned(),
        Err(why) => in_words(&why),
    }
}

/// Does something with the file, which may have to wait for others.
async fn on_file<T: Send + 'static>(
    does: impl FnOnce(&File) -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let mut task = JoinSet::new();
    task.spawn_blocking(move || {
        let data = paths::data().map_err(|why| in_words(&why))?;
        does(&File::new(&data, stack::no_log()))
    });
    match task.join_next().await {
        Some(Ok(done)) => done,
        Some(Err(_)) | None => Err("the list of devices cannot be used: try again".to_owned()),
    }
}
