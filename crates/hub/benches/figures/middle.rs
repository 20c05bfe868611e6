//! What stands between two players on a thread of its own: a bridge, or something that only copies lines over the same links. What
//! is measured is the CPU that this thread uses, so that neither the players nor other work on the machine count.

use crate::Broken;
use crate::script::{Pace, Script};
use crate::stage::{Bridged, front, lanes, link, serve};
use dialects::Dialect;
use link::{Incoming, LinkIo, Way};
use roles::Lane;
use std::future::Future;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;
use wire::lines::Frame;

/// CPU that the middle used, and the lines that went through it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Used {
    pub(crate) micros: f64,
    pub(crate) lines: usize,
}

impl Used {
    /// More than anything takes.
    pub(crate) const NEVER: Used = Used { micros: f64::INFINITY, lines: 0 };

    /// The lesser of two.
    pub(crate) fn least(self, other: Used) -> Used {
        if other.micros < self.micros { other } else { self }
    }
}

/// A script, the side of it that is played, and on which lanes.
struct Part<'s> {
    script: &'s Script,
    way: Way,
    lanes: &'static [Lane],
}

impl Part<'_> {
    /// Lines that this player says; that it hears, when `turned`.
    fn lines(&self, turned: bool) -> usize {
        let way = match (self.way, turned) {
            (Way::In, false) | (Way::Out, true) => Way::In,
            (Way::In, true) | (Way::Out, false) => Way::Out,
        };
        self.script.count(way)
    }
}

/// A conversation through a bridge.
pub(crate) fn bridge(talk: &Bridged, ui: Dialect, runtime: Dialect, pace: Pace) -> Result<Used, Broken> {
    let left = Part { script: &talk.ui, way: Way::In, lanes: lanes(ui) };
    let right = Part { script: &talk.runtime, way: Way::In, lanes: lanes(runtime) };
    between(&left, &right, pace, move |left, right| async move {
        let hub = front(runtime, link(lanes(runtime), right));
        serve(&hub, ui, left, None).await
    })
}

/// The conversation on one wire when its lines are only copied.
pub(crate) fn copy(script: &Script, dialect: Dialect, pace: Pace) -> Result<Used, Broken> {
    let lanes = lanes(dialect);
    let left = Part { script, way: Way::In, lanes };
    let right = Part { script, way: Way::Out, lanes };
    between(&left, &right, pace, move |left, right| async move {
        let (left, right) = (link(lanes, left), link(lanes, right));
        let (to_left, to_right) = (left.outgoing.clone(), right.outgoing.clone());
        tokio::spawn(carry(left, to_right));
        tokio::spawn(carry(right, to_left));
        Ok(())
    })
}

async fn carry(mut from: LinkIo, to: link::Outgoing) {
    while let Some(Incoming::Frame { lane, frame }) = from.incoming.recv().await {
        let Frame::Line(line) = frame else { continue };
        if to.backlog().lines > link::MAX_BACKLOG_LINES / 2 {
            to.drained().await;
        }
        if to.try_send(lane, line).is_err() {
            return;
        }
    }
}

fn between<Placed>(
    left: &Part<'_>,
    right: &Part<'_>,
    pace: Pace,
    place: impl FnOnce(Vec<tokio::net::UnixStream>, Vec<tokio::net::UnixStream>) -> Placed + Send,
) -> Result<Used, Broken>
where
    Placed: Future<Output = Result<(), Broken>>,
{
    let (left_end, left_middle) = sockets(left.lanes)?;
    let (right_end, right_middle) = sockets(right.lanes)?;
    let (over, ended) = oneshot::channel::<()>();
    thread::scope(|threads| {
        let middle = threads.spawn(move || -> Result<Duration, Broken> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                place(tokio_sockets(left_middle)?, tokio_sockets(right_middle)?).await?;
                let _ = ended.await;
                Ok(cpu())
            })
        });
        let runtime = threads.spawn(|| right.script.play(right.way, right.lanes, right_end, pace));
        let played = left.script.play(left.way, left.lanes, left_end, pace);
        let other = runtime.join().map_err(|_| "a player panicked")?;
        let _ = over.send(());
        let used = middle.join().map_err(|_| "the middle panicked")??;
        played.map_err(|why| format!("left: {why}"))?;
        other.map_err(|why| format!("right: {why}"))?;
        // Where one wire says in a line what another says in several, a message is a line of the more talkative one.
        let lines = [false, true].map(|turned| left.lines(turned) + right.lines(turned));
        let lines = lines[0].max(lines[1]);
        Ok(Used { micros: used.as_secs_f64() * 1e6, lines })
    })
}

fn sockets(lanes: &[Lane]) -> Result<(Vec<UnixStream>, Vec<UnixStream>), Broken> {
    let pairs: Result<Vec<_>, _> = lanes.iter().map(|_| UnixStream::pair()).collect();
    Ok(pairs?.into_iter().unzip())
}

fn tokio_sockets(sockets: Vec<UnixStream>) -> Result<Vec<tokio::net::UnixStream>, Broken> {
    let mut taken = Vec::new();
    for socket in sockets {
        socket.set_nonblocking(true)?;
        taken.push(tokio::net::UnixStream::from_std(socket)?);
    }
    Ok(taken)
}

/// CPU that this thread has used.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|nanos| nanos.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}
