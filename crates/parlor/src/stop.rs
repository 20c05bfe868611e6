//! Being told to stop: by SIGTERM, by Ctrl-C, or because the terminal is gone.
//!
//! Invariant: signals are taken over before the first run begins, so that none ends the program while a run is under way and leaves it
//! open in the record.

use crate::exit;
use hub::Hub;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long a runtime that finishes first may take for it.
const DRAIN: Duration = Duration::from_secs(10);

/// The signals that tell a program to stop. One that cannot be listened for never comes.
pub(crate) struct Stops {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
    hang_up: Option<Signal>,
}

impl Stops {
    /// Takes the signals over: from here on they end nothing by themselves.
    pub(crate) fn listen() -> Stops {
        let listen = |kind| signal(kind).ok();
        Stops {
            terminate: listen(SignalKind::terminate()),
            interrupt: listen(SignalKind::interrupt()),
            // Who starts a program with `nohup` wants it to outlive the terminal.
            hang_up: if ignores_hangup() { None } else { listen(SignalKind::hangup()) },
        }
    }

    /// Waits for the next.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            () = told(&mut self.terminate) => {}
            () = told(&mut self.interrupt) => {}
            () = told(&mut self.hang_up) => {}
        }
    }
}

async fn told(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// How a program that serves UIs ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// What is under way is finished first, within [`DRAIN`], unless told once more.
    pub(crate) finishes: bool,
    /// How long the last lines may take to be written.
    pub(crate) last_lines: Duration,
}

/// Serves until that is over or the program is told to stop. Then every run ends in the record and for every UI, and the last lines go
/// out.
pub(crate) async fn until_told(
    hub: &Hub,
    serving: impl Future<Output = anyhow::Result<()>>,
    manner: Manner,
) -> anyhow::Result<()> {
    let mut stops = Stops::listen();
    tokio::pin!(serving);
    tokio::select! {
        served = &mut serving => return served,
        () = stops.next() => {}
    }
    let quiet = async {
        if manner.finishes {
            exit::complain("told to stop: what is under way is finished first; told again, it is ended");
            tokio::select! {
                _ = tokio::time::timeout(DRAIN, hub.idle()) => {}
                () = stops.next() => {}
            }
        }
        hub.end().await;
        tokio::time::sleep(manner.last_lines).await;
    };
    tokio::select! {
        _ = &mut serving => {}
        () = quiet => {}
    }
    Ok(())
}

/// Whether this program was started with SIGHUP switched off.
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
