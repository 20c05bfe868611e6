//! Follows the fleet for the tray, on a connection of its own, for as long as the shell runs.
//!
//! Invariants: it never begins a server that the person has ended; while none runs it looks seldom, and at once when the person has begun one;
//! one that was lost is looked for soon, since whoever needs it has it begun anew.

use crate::channel::Channel;
use crate::tray::Fleet;
use serde_json::json;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// How long it waits before it looks again whether a server runs.
pub const LOOK_EVERY: Duration = Duration::from_secs(15);
/// The same where one ran until now.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Follows the fleet until nobody is left who could begin a server; `told` hears of every change, and of `None` when none runs. `begun`
/// changes when the person has begun one.
pub async fn follow(
    channel: &Channel,
    mut begun: watch::Receiver<u64>,
    mut told: impl FnMut(Option<&Fleet>),
) {
    // Before the first one is begun there is none to follow.
    if begun.changed().await.is_err() {
        return;
    }
    loop {
        let mut ran = false;
        if let Ok(number) = channel.open(&json!("fleet")).await {
            let mut fleet = Fleet::default();
            loop {
                let heard = channel.read(number).await;
                let mut changed = false;
                for line in &heard.lines {
                    changed |= fleet.hear(line) || line.starts_with("{\"welcome\"");
                }
                if changed {
                    ran = true;
                    told(Some(&fleet));
                }
                if heard.end.is_some() {
                    break;
                }
            }
        }
        told(None);
        let wait = if ran { LOOK_AGAIN } else { LOOK_EVERY };
        if timeout(wait, begun.changed()).await.is_ok_and(|changed| changed.is_err()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finder::tests::World;
    use std::sync::Arc;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    #[tokio::test]
    async fn the_tray_follows_the_fleet_and_says_when_no_server_runs() {
        let world = World::new();
        let server = world.listens();
        let finder = Arc::new(world.finder());
        finder.begin().await.unwrap();
        let channel = Channel::new(finder);
        let (begin, begun) = watch::channel(0);
        begin.send_replace(1);
        let (seen, mut saw) = tokio::sync::mpsc::channel(8);
        let following = follow(&channel, begun, |fleet| {
            seen.try_send(fleet.map(|fleet| fleet.waiting().len())).unwrap();
        });
        let playing = async {
            let mut peer = BufReader::new(server.accept().await.unwrap().0);
            peer.read_line(&mut String::new()).await.unwrap();
            peer.write_all(b"{\"welcome\":{}}\n").await.unwrap();
            assert_eq!(saw.recv().await, Some(Some(0)));
            let row =
                json!({"rows": {"all": true, "rows": [{"key": "s", "session": "s", "status": "waiting"}]}});
            peer.write_all(format!("{row}\n").as_bytes()).await.unwrap();
            assert_eq!(saw.recv().await, Some(Some(1)));
            // The connection is lost, and a server runs: nobody waits for long until the tray knows it.
            drop(peer);
            assert_eq!(saw.recv().await, Some(None));
            let again = timeout(LOOK_EVERY / 2, server.accept()).await.unwrap().unwrap().0;
            let mut peer = BufReader::new(again);
            peer.read_line(&mut String::new()).await.unwrap();
            peer.write_all(b"{\"welcome\":{}}\n").await.unwrap();
            assert_eq!(saw.recv().await, Some(Some(0)));
            drop((peer, server));
            std::fs::remove_file(world.dir.path().join("server.json")).unwrap();
            assert_eq!(saw.recv().await, Some(None));
            assert_eq!(world.calls(), 1);
            drop(begin);
        };
        tokio::join!(following, playing);
    }
}
