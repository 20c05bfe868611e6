//! What every transport gives: a [`LinkIo`], wired from one source and one sink per lane.
//!
//! Invariants: per lane, frames come in order, and exactly one `Closed` comes last (none if the link is shut down from
//! our side); the reader never waits for the writer; a bad line is a frame like any other.

mod watched;

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;
use wire::lines::{Frame, Framer};

use crate::Lane;
use crate::limits::Limits;
use crate::outgoing::{self, Outgoing};
use crate::stream::{Sink, Source};
use crate::tasks::{Shutdown, Tasks};

/// Frames read and not yet taken; past it the peer has to wait.
pub const INCOMING_FRAMES: usize = 16;

/// Frames that wait between two tasks which only hand them on.
pub(crate) const FORWARDED_FRAMES: usize = 1;

/// A frame of more bytes waits until everything before it was taken, so that at most one such is held.
pub(crate) const LARGE_FRAME: usize = 64 * 1024;

/// How long tasks that were told to end may take; they do nothing that lasts.
const END_WITHIN: Duration = Duration::from_millis(100);

/// What a link hears, lane by lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Incoming {
    /// A line, or what was wrong with it.
    Frame {
        /// Where it came in.
        lane: Lane,
        frame: Frame,
    },
    /// The lane's last word.
    Closed { lane: Lane, reason: Ending },
}

/// How a lane ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ending {
    /// The peer closed it.
    #[error("the peer closed the link")]
    Eof,
    #[error("reading from the peer failed: {0}")]
    ReadFailed(String),
    /// The program at the other end is over; how, in words.
    #[error("{0}")]
    Ended(String),
    /// Writing had failed before the peer closed it.
    #[error("writing to the peer failed: {0}")]
    WriteFailed(String),
}

/// One link's input and output. Dropping it ends its tasks at once; [`LinkIo::shutdown`] ends them in order.
#[derive(Debug)]
pub struct LinkIo {
    /// What the peer says. Ends (`None`) when every lane is closed.
    pub incoming: mpsc::Receiver<Incoming>,
    pub outgoing: Outgoing,
    pub(crate) readers: Tasks,
    writers: Tasks,
}

impl LinkIo {
    /// Writes what waits and closes the writing side, at most `within`; then ends all tasks. What the peer still says
    /// is not heard.
    pub async fn shutdown(mut self, within: Duration) -> Shutdown {
        let deadline = Instant::now() + within;
        self.outgoing.close_after_flush();
        self.writers.settle(within).await;
        let left = deadline.saturating_duration_since(Instant::now()).max(END_WITHIN);
        self.writers.shutdown(left).await + self.readers.shutdown(left).await
    }
}

/// Builds a [`LinkIo`]: add the lanes, then start. For transports, also those outside this crate.
pub struct Wiring {
    limits: Limits,
    lanes: Vec<(Lane, Arc<OnceLock<String>>)>,
    readers: Vec<Start<mpsc::Sender<Incoming>>>,
    writers: Vec<Start<outgoing::Queue>>,
}

/// Starts one half of a lane in the tasks, once its channel exists.
type Start<T> = Box<dyn FnOnce(&mut Tasks, T) + Send>;

impl Wiring {
    /// Begins a link that has no lanes yet.
    pub fn new(limits: Limits) -> Self {
        Self { limits, lanes: Vec::new(), readers: Vec::new(), writers: Vec::new() }
    }

    /// Gives the link another stream, with both of its directions.
    #[must_use]
    pub fn lane(mut self, lane: Lane, source: impl Source, sink: impl Sink) -> Self {
        let broken = Arc::new(OnceLock::new());
        let framer = Framer::with_cap(self.limits.line);
        self.lanes.push((lane, broken.clone()));
        self.readers.push(Box::new(move |tasks, incoming| {
            tasks.spawn(read_lane(lane, source, framer, incoming, broken));
        }));
        self.writers.push(Box::new(move |tasks, queue| tasks.spawn(outgoing::write_lane(queue, sink))));
        self
    }

    /// Starts the readers and writers. Must be called within a tokio runtime.
    pub fn start(self) -> LinkIo {
        let (outgoing, queues) = Outgoing::new(&self.lanes, self.limits);
        let (sender, incoming) = mpsc::channel(INCOMING_FRAMES);
        let (mut readers, mut writers) = (Tasks::new(), Tasks::new());
        for (start, queue) in self.writers.into_iter().zip(queues) {
            start(&mut writers, queue);
        }
        for start in self.readers {
            start(&mut readers, sender.clone());
        }
        LinkIo { incoming, outgoing, readers, writers }
    }
}

async fn read_lane(
    lane: Lane,
    mut source: impl Source,
    mut framer: Framer,
    incoming: mpsc::Sender<Incoming>,
    broken: Arc<OnceLock<String>>,
) {
    // A failed send means that nobody listens any more: then there is nothing left to do.
    let reason = loop {
        match source.read().await {
            Ok([]) => break Ending::Eof,
            Ok(bytes) => framer.push(bytes),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => break Ending::ReadFailed(error.to_string()),
        }
        for frame in framer.by_ref() {
            if hand_over(&incoming, lane, frame).await.is_err() {
                return;
            }
        }
    };
    while let Some(frame) = framer.finish() {
        if hand_over(&incoming, lane, frame).await.is_err() {
            return;
        }
    }
    let reason = broken.get().cloned().map_or(reason, Ending::WriteFailed);
    let _ = incoming.send(Incoming::Closed { lane, reason }).await;
}

/// Nobody listens any more.
struct Unheard;

async fn hand_over(incoming: &mpsc::Sender<Incoming>, lane: Lane, frame: Frame) -> Result<(), Unheard> {
    let places = if frame.len() > LARGE_FRAME { INCOMING_FRAMES } else { 1 };
    let mut room = incoming.reserve_many(places).await.map_err(|_| Unheard)?;
    if let Some(place) = room.next() {
        place.send(Incoming::Frame { lane, frame });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory;

    #[tokio::test]
    async fn large_lines_wait_one_at_a_time_and_none_is_lost() {
        let (ours, mut theirs) = memory::pair(&[Lane::MAIN], Limits::default());
        for number in 0..8 {
            let line = format!("{number}{}", "x".repeat(2 * LARGE_FRAME));
            ours.outgoing.try_send(Lane::MAIN, line).unwrap();
        }
        for number in 0..8 {
            while theirs.incoming.is_empty() {
                tokio::task::yield_now().await;
            }
            for _ in 0..1_000 {
                tokio::task::yield_now().await;
            }
            assert_eq!(theirs.incoming.len(), 1);
            let Some(Incoming::Frame { frame: Frame::Line(line), .. }) = theirs.incoming.recv().await else {
                panic!()
            };
            assert!(line.starts_with(&number.to_string()));
        }
    }
}
