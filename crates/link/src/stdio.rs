//! This process's own stdin and stdout as a link. Stdout then carries protocol only: nothing else may print.
//!
//! Reading and writing happen on two threads of their own. A read of stdin cannot be called off, and the runtime would
//! wait for it at its end; these threads just end with the process.

use std::io::{self, Read, Write};
use std::thread;

use tokio::sync::{mpsc, oneshot};

use crate::Lane;
use crate::lane_io::{LinkIo, Wiring};
use crate::limits::Limits;
use crate::stream::{READ_BYTES, Sink, Source};

/// Chunks read ahead.
const CHUNKS: usize = 2;

/// A link over any blocking reader and writer, such as stdin and stdout. Call it once for those: two readers of stdin would share its
/// bytes between them.
pub fn join(
    lane: Lane,
    limits: Limits,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<LinkIo> {
    let source = ThreadSource::start(input)?;
    let sink = ThreadSink::start(output)?;
    Ok(Wiring::new(limits).lane(lane, source, sink).start())
}

struct ThreadSource {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    current: Vec<u8>,
}

impl ThreadSource {
    fn start(mut input: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(CHUNKS);
        thread::Builder::new().name("link-stdin".into()).spawn(move || {
            let mut buffer = vec![0; READ_BYTES];
            loop {
                let chunk = match input.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => Ok(buffer[..count].to_vec()),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                if sender.blocking_send(chunk).is_err() || failed {
                    return;
                }
            }
        })?;
        Ok(Self { chunks, current: Vec::new() })
    }
}

impl Source for ThreadSource {
    async fn read(&mut self) -> io::Result<&[u8]> {
        self.current = self.chunks.recv().await.transpose()?.unwrap_or_default();
        Ok(&self.current)
    }
}

struct ThreadSink {
    /// `None` once closed.
    jobs: Option<mpsc::Sender<Job>>,
}

struct Job {
    bytes: Vec<u8>,
    done: oneshot::Sender<io::Result<()>>,
}

impl ThreadSink {
    fn start(mut output: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, mut jobs) = mpsc::channel::<Job>(1);
        thread::Builder::new().name("link-stdout".into()).spawn(move || {
            while let Some(job) = jobs.blocking_recv() {
                let outcome = output.write_all(&job.bytes).and_then(|()| output.flush());
                let failed = outcome.is_err();
                let _ = job.done.send(outcome);
                if failed {
                    return;
                }
            }
        })?;
        Ok(Self { jobs: Some(sender) })
    }
}

impl Sink for ThreadSink {
    async fn write(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        let (done, outcome) = oneshot::channel();
        let job = Job { bytes: std::mem::take(bytes), done };
        self.jobs.as_ref().ok_or_else(gone)?.send(job).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?
    }

    /// Ends the thread, which drops the writer. Stdout itself stays open until the process ends.
    async fn close(&mut self) -> io::Result<()> {
        self.jobs = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane_io::{Ending, Incoming};
    use std::io::{BufRead, BufReader};
    use std::time::Duration;
    use wire::Frame;

    const LANE: Lane = Lane::MAIN;

    #[tokio::test]
    async fn large_lines_go_both_ways_over_real_pipes() {
        let (input, mut to_us) = io::pipe().unwrap();
        let (from_us, output) = io::pipe().unwrap();
        let mut io = join(LANE, Limits::default(), input, output).unwrap();
        let big = "x".repeat(3 * 1024 * 1024);
        let sent = big.clone();
        let peer = thread::spawn(move || {
            to_us.write_all(format!("{sent}\nlast").as_bytes()).unwrap();
            drop(to_us);
            let mut lines = BufReader::new(from_us).lines();
            (lines.next().unwrap().unwrap().len(), lines.next().is_none())
        });
        assert_eq!(
            io.incoming.recv().await,
            Some(Incoming::Frame { lane: LANE, frame: Frame::Line(big.clone()) })
        );
        io.outgoing.try_send(LANE, big).unwrap();
        assert_eq!(
            io.incoming.recv().await,
            Some(Incoming::Frame { lane: LANE, frame: Frame::Unfinished("last".into()) })
        );
        assert_eq!(io.incoming.recv().await, Some(Incoming::Closed { lane: LANE, reason: Ending::Eof }));
        assert_eq!(io.shutdown(Duration::from_secs(10)).await.aborted, 0);
        assert_eq!(peer.join().unwrap(), (3 * 1024 * 1024, true));
    }

    #[tokio::test]
    async fn shutdown_does_not_wait_for_a_silent_stdin() {
        let (input, _to_us) = io::pipe().unwrap();
        let io = join(LANE, Limits::default(), input, io::sink()).unwrap();
        let report = io.shutdown(Duration::from_millis(20)).await;
        assert_eq!((report.panicked, report.aborted), (0, 0));
    }
}
