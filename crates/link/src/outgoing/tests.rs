//! The backlog and its writer, over memory and over a sink that can be stuck.

use super::*;
use crate::lane_io::{Ending, Incoming, LinkIo};
use crate::memory;
use std::io;
use tokio::time::{Instant, timeout};
use wire::Frame;

const LANE: Lane = Lane::MAIN;
const SECOND: Lane = Lane::EVENTS;

fn line(lane: Lane, text: &str) -> Option<Incoming> {
    Some(Incoming::Frame { lane, frame: Frame::Line(text.into()) })
}

fn small() -> Limits {
    Limits { line: 1 << 20, backlog_bytes: 1000, backlog_lines: 10 }
}

async fn next(io: &mut LinkIo) -> Option<Incoming> {
    timeout(Duration::from_secs(10), io.incoming.recv()).await.unwrap()
}

/// A sink that tells each write, with the (paused) time it happened, and can be stuck.
struct Probe {
    seen: mpsc::Sender<(Duration, String)>,
    since: Instant,
    open: Arc<Notify>,
    stuck: bool,
}

impl Sink for Probe {
    async fn write(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        if self.stuck {
            self.open.notified().await;
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        self.seen.send((self.since.elapsed(), text)).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    async fn close(&mut self) -> io::Result<()> {
        self.seen
            .send((self.since.elapsed(), "closed".into()))
            .await
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

struct Rig {
    out: Outgoing,
    seen: mpsc::Receiver<(Duration, String)>,
    open: Arc<Notify>,
    writer: tokio::task::JoinHandle<()>,
}

fn rig(limits: Limits, stuck: bool) -> Rig {
    let (out, mut queues) = Outgoing::new(&[(LANE, Arc::default())], limits);
    let (sender, seen) = mpsc::channel(100);
    let open = Arc::new(Notify::new());
    let probe = Probe { seen: sender, since: Instant::now(), open: open.clone(), stuck };
    let writer = tokio::spawn(write_lane(queues.remove(0), probe));
    Rig { out, seen, open, writer }
}

#[tokio::test]
async fn lines_arrive_in_order_per_lane() {
    let (left, mut right) = memory::pair(&[LANE, SECOND], Limits::default());
    left.outgoing.try_send(LANE, "a".into()).unwrap();
    left.outgoing.try_send(LANE, "b\nc".into()).unwrap();
    assert_eq!(next(&mut right).await, line(LANE, "a"));
    assert_eq!(next(&mut right).await, line(LANE, "b c"));
    left.outgoing.try_send(SECOND, "d".into()).unwrap();
    assert_eq!(next(&mut right).await, line(SECOND, "d"));
    assert_eq!(left.outgoing.try_send(Lane(7), String::new()), Err(Unsent::NoLane(Lane(7))));
}

#[tokio::test]
async fn a_link_closes_after_the_last_line() {
    let (mut left, mut right) = memory::pair(&[LANE], Limits::default());
    left.outgoing.try_send(LANE, "last".into()).unwrap();
    left.outgoing.close_after_flush();
    left.outgoing.close_after_flush();
    assert_eq!(left.outgoing.try_send(LANE, "late".into()), Err(Unsent::Closed));
    assert_eq!(next(&mut right).await, line(LANE, "last"));
    assert_eq!(next(&mut right).await, Some(Incoming::Closed { lane: LANE, reason: Ending::Eof }));
    assert_eq!(next(&mut right).await, None);
    // The other direction still works.
    right.outgoing.try_send(LANE, "bye".into()).unwrap();
    assert_eq!(next(&mut left).await, line(LANE, "bye"));
    drop(right);
    assert_eq!(next(&mut left).await, Some(Incoming::Closed { lane: LANE, reason: Ending::Eof }));
}

#[tokio::test]
async fn an_overlong_line_in_the_middle_costs_only_itself() {
    let limits = Limits { line: 100_000, ..Limits::default() };
    let (left, mut right) = memory::pair(&[LANE], limits);
    for text in ["before".to_owned(), "x".repeat(300_000), "after".to_owned()] {
        left.outgoing.try_send(LANE, text).unwrap();
    }
    assert_eq!(next(&mut right).await, line(LANE, "before"));
    match next(&mut right).await {
        Some(Incoming::Frame { frame: Frame::Overlong { bytes_seen: 300_000, .. }, .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(next(&mut right).await, line(LANE, "after"));
}

#[tokio::test]
async fn the_backlog_is_bounded_in_lines_and_in_bytes() {
    let rig = rig(small(), true);
    for _ in 0..10 {
        rig.out.try_send(LANE, "x".into()).unwrap();
    }
    let full = Backlog { bytes: 20, lines: 10 };
    assert_eq!(rig.out.try_send(LANE, "x".into()), Err(Unsent::Full(full)));
    assert_eq!(rig.out.backlog(), full);
}

#[tokio::test]
async fn a_line_larger_than_the_backlog_goes_alone() {
    let rig = rig(small(), true);
    rig.out.try_send(LANE, "x".repeat(5000)).unwrap();
    assert!(matches!(rig.out.try_send(LANE, "x".into()), Err(Unsent::Full(_))));
}

#[tokio::test]
async fn draining_is_told() {
    let mut rig = rig(small(), true);
    for _ in 0..10 {
        rig.out.try_send(LANE, "x".into()).unwrap();
    }
    let out = rig.out.clone();
    let waiter = tokio::spawn(async move { out.drained().await });
    tokio::task::yield_now().await;
    assert!(!waiter.is_finished());
    rig.open.notify_one();
    timeout(Duration::from_secs(10), waiter).await.unwrap().unwrap();
    assert_eq!(rig.seen.recv().await.unwrap().1, "x\n".repeat(10));
    assert_eq!(rig.out.backlog(), Backlog::default());
}

#[tokio::test]
async fn a_writer_that_is_gone_leaves_no_backlog_and_nobody_waiting() {
    let rig = rig(small(), true);
    for _ in 0..10 {
        rig.out.try_send(LANE, "x".into()).unwrap();
    }
    tokio::task::yield_now().await;
    rig.writer.abort();
    timeout(Duration::from_secs(10), rig.out.drained()).await.unwrap();
    assert!(rig.writer.await.unwrap_err().is_cancelled());
    assert_eq!(rig.out.backlog(), Backlog::default());
    assert_eq!(rig.out.try_send(LANE, "x".into()), Err(Unsent::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_line_alone_is_flushed_alone_and_followed_by_a_pause() {
    let mut rig = rig(small(), false);
    rig.out.try_send(LANE, "a".into()).unwrap();
    rig.out.try_send(LANE, "b".into()).unwrap();
    rig.out.try_send_alone(LANE, "alone".into(), Duration::from_millis(150)).unwrap();
    rig.out.try_send(LANE, "c".into()).unwrap();
    rig.out.try_send(LANE, "d".into()).unwrap();
    rig.out.close_after_flush();
    let mut seen = Vec::new();
    while let Some((at, text)) = rig.seen.recv().await {
        // Timers tick in whole milliseconds and may round up.
        seen.push((at.as_millis() >= 150, text));
    }
    let want = [(false, "a\nb\n"), (false, "alone\n"), (true, "c\nd\n"), (true, "closed")];
    assert_eq!(seen, want.map(|(after, text)| (after, text.to_owned())));
}

#[tokio::test]
async fn a_failed_write_is_told_at_the_end_of_the_lane() {
    let (mut left, right) = memory::pair(&[LANE], Limits::default());
    drop(right);
    let ending = next(&mut left).await;
    assert!(matches!(ending, Some(Incoming::Closed { lane: LANE, .. })), "{ending:?}");
    // The first lines may still be taken; then the lane says that it is closed.
    timeout(Duration::from_secs(10), async {
        while left.outgoing.try_send(LANE, "x".into()) != Err(Unsent::Closed) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}
