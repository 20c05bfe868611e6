//! A port of a session's network that is led out to the same number of this machine's loopback, because the person said so.
//!
//! We listen there and copy bytes both ways, a bounded number of connections at once. It ends when it is dropped, with all of them.

use super::{Holder, Net, PLACES, Shared, holder};
use std::io::{ErrorKind, Result};
use std::net::Ipv4Addr;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Connections of a port that are carried at once; who comes then waits to be accepted.
const MAX_CONNECTIONS: usize = 128;
/// How long nobody is accepted after that failed: there may be no descriptors left.
const AGAIN: Duration = Duration::from_millis(100);

/// How long is waited until the port is free again: no longer than it takes to drop what listened.
const FREE_WITHIN: Duration = Duration::from_secs(2);

/// Leads out as long as it is kept.
#[derive(Debug)]
pub(super) struct LedOut {
    task: JoinSet<()>,
    /// Hears when nobody listens any more.
    freed: Mutex<Receiver<()>>,
}

impl LedOut {
    /// Listens on this machine. To be called within a tokio runtime.
    pub(super) fn begin(port: u16, shared: Weak<Shared>) -> Result<LedOut> {
        // Who connects by another address of loopback, such as a browser by ::1, would come to whoever has that.
        if holder(port) != Holder::Nobody {
            return Err(ErrorKind::AddrInUse.into());
        }
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let (frees, freed) = sync_channel(0);
        let mut task = JoinSet::new();
        task.spawn(accept(frees, listener, port, shared));
        Ok(LedOut { task, freed: Mutex::new(freed) })
    }

    /// Ends it, and waits until the port can be had again. Blocks for that moment.
    pub(super) fn end(self) {
        let LedOut { task, freed } = self;
        drop(task);
        let freed = freed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let _ = freed.recv_timeout(FREE_WITHIN);
    }
}

/// Of what it holds `_frees` is let go of last.
async fn accept(_frees: SyncSender<()>, listener: TcpListener, port: u16, shared: Weak<Shared>) {
    let mut carried = JoinSet::new();
    loop {
        let has_room = carried.len() < MAX_CONNECTIONS;
        tokio::select! {
            Some(_) = carried.join_next(), if !carried.is_empty() => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok((outside, _)) => {
                    let Some(shared) = shared.upgrade() else { return };
                    // Where Parlor carries as many as it can in all, this one is closed.
                    if let Ok(place) = PLACES.try_acquire() {
                        carried.spawn(async move {
                            carry(outside, Net { shared }, port).await;
                            drop(place);
                        });
                    }
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            },
        }
    }
}

/// Copies both ways until both sides are done; where nobody listens inside, the connection ends as it would there.
async fn carry(mut outside: TcpStream, net: Net, port: u16) {
    // A handle that is kept would keep the network after the session's end.
    let connected = tokio::task::spawn_blocking(move || net.connect(port)).await;
    let Ok(Ok(inside)) = connected else { return };
    if inside.set_nonblocking(true).is_ok()
        && let Ok(mut inside) = TcpStream::from_std(inside)
    {
        let _ = copy_bidirectional(&mut outside, &mut inside).await;
    }
}
