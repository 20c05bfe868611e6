//! The way out: a bounded backlog per link and one writer task per lane. Sending never waits; whoever sends decides what
//! to do when the backlog is full (coalesce, then disconnect).
//!
//! Invariants: lines of a lane leave in the order they were sent; the backlog counts what is not yet written, over all
//! lanes; only the writer task ever waits, for the peer or for a pause that was asked for.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::{Notify, mpsc};

use crate::Lane;
use crate::limits::Limits;
use crate::stream::Sink;
use crate::watch::{Watcher, Way};

/// Short lines that wait together are written together, up to this size.
const BATCH_BYTES: usize = 64 * 1024;

/// What is kept of the space for them in between: there may be a thousand links.
const KEPT_BYTES: usize = 8 * 1024;

/// Sends lines to the peer. Clones send into the same backlog.
#[derive(Debug, Clone)]
pub struct Outgoing {
    lanes: Arc<[(Lane, mpsc::Sender<Item>)]>,
    gauge: Arc<Gauge>,
    watcher: Option<Watcher>,
}

/// What waits to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Backlog {
    /// Bytes, newlines included.
    pub bytes: usize,
    pub lines: usize,
}

/// Why a line was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsent {
    /// The peer reads too slowly.
    #[error("the peer does not keep up: {} lines, {} bytes wait to be written", .0.lines, .0.bytes)]
    Full(Backlog),
    /// The lane is closed or closing.
    #[error("the link is closed")]
    Closed,
    /// The link has no such lane.
    #[error("the link has no lane {0:?}")]
    NoLane(Lane),
}

#[derive(Debug)]
enum Item {
    Line(String),
    Alone(String, Duration),
    Close,
}

#[derive(Debug)]
struct Gauge {
    bytes: AtomicUsize,
    lines: AtomicUsize,
    limits: Limits,
    closing: AtomicBool,
    /// Nobody reads what is written.
    unread: AtomicBool,
    low: Notify,
    closes: Notify,
}

/// The receiving end of one lane's backlog.
#[derive(Debug)]
pub(crate) struct Queue {
    items: mpsc::Receiver<Item>,
    gauge: Arc<Gauge>,
    /// Why writing failed, for the reader to tell at its end.
    broken: Arc<OnceLock<String>>,
}

impl Outgoing {
    /// The sender, and the queue of each lane for its writer.
    pub(crate) fn new(lanes: &[(Lane, Arc<OnceLock<String>>)], limits: Limits) -> (Self, Vec<Queue>) {
        let gauge = Arc::new(Gauge {
            bytes: AtomicUsize::new(0),
            lines: AtomicUsize::new(0),
            limits,
            closing: AtomicBool::new(false),
            unread: AtomicBool::new(false),
            low: Notify::new(),
            closes: Notify::new(),
        });
        let (senders, queues) = lanes
            .iter()
            .map(|(lane, broken)| {
                // One more place than lines allowed: closing always fits.
                let (sender, items) = mpsc::channel(limits.backlog_lines + 1);
                let queue = Queue { items, gauge: gauge.clone(), broken: broken.clone() };
                ((*lane, sender), queue)
            })
            .collect::<(Vec<_>, Vec<_>)>();
        (Self { lanes: senders.into(), gauge, watcher: None }, queues)
    }

    /// The same way out, its lanes all called `lane`.
    pub(crate) fn renamed(mut self, lane: Lane) -> Self {
        self.lanes = self.lanes.iter().map(|(_, sender)| (lane, sender.clone())).collect();
        self
    }

    /// The same way out, with somebody who sees what is taken.
    pub(crate) fn watched(mut self, watcher: Watcher) -> Self {
        self.watcher = Some(watcher);
        self
    }

    /// Takes a line (without newline) to be written.
    pub fn try_send(&self, lane: Lane, line: String) -> Result<(), Unsent> {
        self.put(lane, line, Item::Line)
    }

    /// Takes a line that must reach the peer alone: what is before it is flushed, it is written and flushed, then the
    /// writer waits `pause` before it goes on. Some peers lose what arrives in the same read.
    pub fn try_send_alone(&self, lane: Lane, line: String, pause: Duration) -> Result<(), Unsent> {
        self.put(lane, line, |line| Item::Alone(line, pause))
    }

    /// What waits to be written, over all lanes.
    pub fn backlog(&self) -> Backlog {
        self.gauge.reading()
    }

    /// Waits until at most half of the allowed backlog is left. Also returns when the link is gone.
    pub async fn drained(&self) {
        loop {
            let notified = self.gauge.low.notified();
            tokio::pin!(notified);
            // Registered before looking, so that a change in between is not missed.
            notified.as_mut().enable();
            if self.gauge.is_low() {
                return;
            }
            notified.await;
        }
    }

    /// Waits until a line of so many bytes would be taken. Also returns when the link is gone. For whoever is the only one to send.
    pub async fn room_for(&self, bytes: usize) {
        loop {
            let notified = self.gauge.low.notified();
            tokio::pin!(notified);
            // Registered before looking, so that a change in between is not missed.
            notified.as_mut().enable();
            if self.gauge.has_room(bytes + 1) || self.lanes.iter().all(|(_, sender)| sender.is_closed()) {
                return;
            }
            notified.await;
        }
    }

    /// Takes no more lines; when all are written, the writing side of every lane is closed.
    pub fn close_after_flush(&self) {
        if !self.gauge.closing.swap(true, Ordering::AcqRel) {
            for (_, sender) in self.lanes.iter() {
                // Fails only if the writer has ended, which is what is wanted.
                let _ = sender.try_send(Item::Close);
            }
            self.gauge.closes.notify_waiters();
        }
    }

    /// Waits until our side has said its last line ([`Outgoing::close_after_flush`]).
    pub async fn closing(&self) {
        let notified = self.gauge.closes.notified();
        tokio::pin!(notified);
        // Registered before looking, so that a change in between is not missed.
        notified.as_mut().enable();
        if !self.gauge.closing.load(Ordering::Acquire) {
            notified.await;
        }
    }

    /// Notes that nobody reads any more, for whoever learns it before a write fails: nothing further is written.
    pub fn unread(&self) {
        self.gauge.unread.store(true, Ordering::Release);
    }

    /// Whether lines on this lane can no longer reach the peer.
    pub fn is_closed(&self, lane: Lane) -> bool {
        self.gauge.closing.load(Ordering::Acquire)
            || self.gauge.unread.load(Ordering::Acquire)
            || self.sender(lane).is_none_or(mpsc::Sender::is_closed)
    }

    fn sender(&self, lane: Lane) -> Option<&mpsc::Sender<Item>> {
        self.lanes.iter().find(|(name, _)| *name == lane).map(|(_, sender)| sender)
    }

    fn put(&self, lane: Lane, line: String, item: impl FnOnce(String) -> Item) -> Result<(), Unsent> {
        let sender = self.sender(lane).ok_or(Unsent::NoLane(lane))?;
        if self.is_closed(lane) {
            return Err(Unsent::Closed);
        }
        // A newline inside would cut the message in two for the peer.
        let mut line = wire::jsonrpc::one_line(line);
        line.push('\n');
        let size = line.len();
        if !self.gauge.reserve(size) {
            return Err(Unsent::Full(self.backlog()));
        }
        let place = sender.try_reserve().map_err(|error| {
            self.gauge.release(size, 1);
            match error {
                mpsc::error::TrySendError::Full(()) => Unsent::Full(self.backlog()),
                mpsc::error::TrySendError::Closed(()) => Unsent::Closed,
            }
        })?;
        // Seen before it can be written, so that an answer is never seen first.
        if let Some(watcher) = &self.watcher {
            watcher.show(Way::Out, lane, line.trim_end_matches('\n'));
        }
        place.send(item(line));
        Ok(())
    }
}

impl Gauge {
    fn reading(&self) -> Backlog {
        Backlog { bytes: self.bytes.load(Ordering::Acquire), lines: self.lines.load(Ordering::Acquire) }
    }

    fn reserve(&self, size: usize) -> bool {
        let line = |lines| (lines < self.limits.backlog_lines).then_some(lines + 1);
        if self.lines.fetch_update(Ordering::AcqRel, Ordering::Acquire, line).is_err() {
            return false;
        }
        let more = |bytes| (bytes == 0 || bytes + size <= self.limits.backlog_bytes).then_some(bytes + size);
        if self.bytes.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_err() {
            self.lines.fetch_sub(1, Ordering::AcqRel);
            return false;
        }
        true
    }

    fn release(&self, bytes: usize, lines: usize) {
        self.bytes.fetch_sub(bytes, Ordering::AcqRel);
        self.lines.fetch_sub(lines, Ordering::AcqRel);
        if self.is_low() {
            self.low.notify_waiters();
        }
    }

    fn has_room(&self, size: usize) -> bool {
        let now = self.reading();
        now.lines < self.limits.backlog_lines
            && (now.bytes == 0 || now.bytes + size <= self.limits.backlog_bytes)
    }

    fn is_low(&self) -> bool {
        let now = self.reading();
        now.bytes <= self.limits.backlog_bytes / 2 && now.lines <= self.limits.backlog_lines / 2
    }
}

/// However the writer ends, what it leaves behind no longer counts, and nobody waits for it.
impl Drop for Queue {
    fn drop(&mut self) {
        self.items.close();
        while let Ok(item) = self.items.try_recv() {
            match item {
                Item::Line(line) | Item::Alone(line, _) => self.gauge.release(line.len(), 1),
                Item::Close => {}
            }
        }
    }
}

/// Lines on their way into the sink. Counted as backlog until written, also if the writer is dropped in between.
struct Batch<'a> {
    text: Vec<u8>,
    bytes: usize,
    lines: usize,
    gauge: &'a Gauge,
}

impl Batch<'_> {
    fn add(&mut self, line: &str) {
        self.text.extend_from_slice(line.as_bytes());
        self.bytes += line.len();
        self.lines += 1;
    }

    async fn flush(&mut self, sink: &mut impl Sink) -> std::io::Result<()> {
        if self.lines > 0 {
            sink.write(&mut self.text).await?;
            self.release();
        }
        Ok(())
    }

    fn release(&mut self) {
        self.gauge.release(self.bytes, self.lines);
        (self.bytes, self.lines) = (0, 0);
        self.text.clear();
        self.text.shrink_to(KEPT_BYTES);
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// Writes one lane until it is closed or the peer is gone.
pub(crate) async fn write_lane(mut queue: Queue, mut sink: impl Sink) {
    let outcome = async {
        pump(&mut queue, &mut sink).await?;
        sink.close().await
    };
    if let Err(error) = outcome.await {
        // Set once: this is the lane's only writer.
        let _ = queue.broken.set(error.to_string());
    }
}

async fn pump(queue: &mut Queue, sink: &mut impl Sink) -> std::io::Result<()> {
    let Queue { items, gauge, .. } = queue;
    let mut batch = Batch { text: Vec::new(), bytes: 0, lines: 0, gauge };
    while let Some(first) = items.recv().await {
        let mut next = Some(first);
        while let Some(item) = next {
            match item {
                Item::Line(line) => batch.add(&line),
                Item::Alone(line, pause) => {
                    batch.flush(sink).await?;
                    batch.add(&line);
                    batch.flush(sink).await?;
                    tokio::time::sleep(pause).await;
                }
                Item::Close => return batch.flush(sink).await,
            }
            next = if batch.bytes < BATCH_BYTES { items.try_recv().ok() } else { None };
        }
        batch.flush(sink).await?;
    }
    Ok(())
}
