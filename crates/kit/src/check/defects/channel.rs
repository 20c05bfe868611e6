//! Leads the lanes of a program through a filter. Every lane has its own pipes, one per direction, so that each can end by itself; the
//! filter is one for all lanes.

use super::{AtEnd, Fate, Filter, locked, written};
use crate::peer::Peer;
use crate::player::Lane;
use link::child::Exit;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;

/// Bytes that may wait in a pipe.
const PIPE: usize = 64 * 1024;
/// Bytes that may wait for a kit that does not read, before an impatient program is in trouble.
const NARROW: usize = 512;
/// How long an impatient program waits for its reader.
const PATIENCE: Duration = Duration::from_millis(500);
/// How a crash looks.
const CRASHED: Exit = Exit::Code(101);

struct Shared {
    filter: Mutex<Filter>,
    died: watch::Sender<Option<Exit>>,
}

impl Shared {
    fn die(&self) {
        let _ = self.died.send(Some(CRASHED));
    }

    /// What goes on instead of a line; `None` when the program dies of it.
    fn pass(&self, line: &[u8], of_program: bool) -> Option<Vec<Vec<u8>>> {
        let mut filter = locked(&self.filter);
        let on_line = if of_program { &mut filter.said } else { &mut filter.heard };
        match on_line.as_mut().map(|on_line| on_line(line)) {
            None => Some(vec![line.to_vec()]),
            Some(Fate::Pass(lines)) => Some(lines),
            Some(Fate::Dies) => None,
        }
    }
}

/// Leads the streams of a program through a filter.
pub(super) fn lead(peer: Peer, filter: Filter) -> Peer {
    let (died, end) = watch::channel(None);
    let impatient = filter.impatient;
    let shared = Arc::new(Shared { filter: Mutex::new(filter), died });
    let lead = |lane: Lane| {
        let Lane { number, read: from_program, write: to_program } = lane;
        let (write, from_kit) = tokio::io::duplex(PIPE);
        let (to_kit, read) = tokio::io::duplex(if impatient { NARROW } else { PIPE });
        tokio::spawn(says(shared.clone(), end.clone(), from_program, to_kit, impatient));
        tokio::spawn(hears(shared.clone(), end.clone(), from_kit, to_program));
        Lane { number, read: Box::new(read), write: Box::new(write) }
    };
    peer.with_lanes(|lanes| lanes.into_iter().map(lead).collect()).with_end(end)
}

/// Cuts what is read into lines; ends with the reader, or when the program died.
struct Cutter<R> {
    from: R,
    end: watch::Receiver<Option<Exit>>,
    buffer: Vec<u8>,
    /// How much of the buffer has no end of a line in it.
    looked: usize,
}

impl<R: AsyncRead + Unpin> Cutter<R> {
    async fn piece(&mut self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; PIPE];
        tokio::select! {
            count = self.from.read(&mut bytes) => match count {
                Ok(count @ 1..) => {
                    bytes.truncate(count);
                    Some(bytes)
                }
                _ => None,
            },
            _ = self.end.wait_for(Option::is_some) => None,
        }
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let fresh = self.buffer.get(self.looked..).unwrap_or_default();
        let Some(end) = fresh.iter().position(|byte| *byte == b'\n') else {
            self.looked = self.buffer.len();
            return None;
        };
        let end = std::mem::take(&mut self.looked) + end;
        Some(self.buffer.drain(..=end).collect())
    }
}

async fn says(
    shared: Arc<Shared>,
    end: watch::Receiver<Option<Exit>>,
    from: impl AsyncRead + Unpin,
    mut to_kit: impl AsyncWrite + Unpin,
    impatient: bool,
) {
    let mut cutter = Cutter { from, end, buffer: Vec::new(), looked: 0 };
    while let Some(piece) = cutter.piece().await {
        cutter.buffer.extend_from_slice(&piece);
        while let Some(line) = cutter.line() {
            let Some(lines) = shared.pass(&line, true) else { return shared.die() };
            for line in lines {
                let writing = to_kit.write_all(&line);
                let patience = if impatient { PATIENCE } else { Duration::MAX };
                match tokio::time::timeout(patience, writing).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => return,
                    Err(_) => return shared.die(),
                }
            }
        }
    }
    let _ = to_kit.shutdown().await;
}

async fn hears(
    shared: Arc<Shared>,
    end: watch::Receiver<Option<Exit>>,
    from: impl AsyncRead + Unpin,
    mut to_program: impl AsyncWrite + Unpin,
) {
    let mut cutter = Cutter { from, end, buffer: Vec::new(), looked: 0 };
    while let Some(piece) = cutter.piece().await {
        let piece = match &mut locked(&shared.filter).chunk {
            Some(chunk) => chunk(&piece),
            None => piece,
        };
        cutter.buffer.extend_from_slice(&piece);
        while let Some(line) = cutter.line() {
            let Some(lines) = shared.pass(&line, false) else { return shared.die() };
            for line in lines {
                if to_program.write_all(&line).await.is_err() || to_program.flush().await.is_err() {
                    return;
                }
            }
        }
    }
    let at_end = std::mem::take(&mut locked(&shared.filter).at_end);
    match at_end {
        AtEnd::Ends => {}
        AtEnd::Dies => shared.die(),
        // Held open for as long as anybody listens.
        AtEnd::Stays => std::future::pending().await,
        AtEnd::Says(lines) => {
            let lines: Vec<Vec<u8>> = locked(&lines).iter().map(written).collect();
            for line in lines {
                let _ = to_program.write_all(&line).await;
            }
            let _ = to_program.flush().await;
            std::future::pending::<()>().await;
        }
    }
}
