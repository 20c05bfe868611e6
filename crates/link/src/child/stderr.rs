//! The last words of a program: a bounded ring of its stderr lines.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::sync::watch;
use wire::lines::{Frame, Framer};

/// Lines kept.
pub const STDERR_LINES: usize = 200;

/// Bytes kept. Also the longest line; of a longer one only the head is kept.
pub const STDERR_BYTES: usize = 64 * 1024;

/// Read at once.
const READ_BYTES: usize = 8 * 1024;

/// Told each line of stderr.
pub type OnStderr = Box<dyn FnMut(&str) + Send>;

/// The last lines a program wrote to stderr.
#[derive(Debug, Default)]
pub struct StderrTail {
    ring: Mutex<Ring>,
    /// Whether all of it is read.
    whole: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Ring {
    lines: VecDeque<String>,
    bytes: usize,
}

impl StderrTail {
    /// The lines, oldest first.
    pub fn lines(&self) -> Vec<String> {
        self.lock().lines.iter().cloned().collect()
    }

    /// Adds a line, forgetting the oldest past the bounds.
    pub fn push(&self, line: String) {
        let mut ring = self.lock();
        ring.bytes += line.len();
        ring.lines.push_back(line);
        while ring.lines.len() > STDERR_LINES || ring.bytes > STDERR_BYTES {
            let Some(oldest) = ring.lines.pop_front() else { return };
            ring.bytes -= oldest.len();
        }
    }

    /// Waits until there is no more of it.
    pub async fn read_whole(&self) {
        // The sender is ours: it cannot be gone.
        let _ = self.whole.subscribe().wait_for(|whole| *whole).await;
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads until the end, keeping the tail. Damaged characters are replaced: this is for people.
pub(super) async fn drain(
    mut stderr: impl AsyncRead + Unpin,
    tail: std::sync::Arc<StderrTail>,
    mut each: Option<OnStderr>,
) {
    let mut keep = |frame: Frame| {
        let line = match frame {
            Frame::Line(line) | Frame::Unfinished(line) => line,
            Frame::Overlong { bytes_seen, head } => format!("{head}… ({bytes_seen} bytes)"),
            Frame::NotUtf8 { head, .. } | Frame::Nul { head, .. } => head,
        };
        if let Some(each) = &mut each {
            each(&line);
        }
        tail.push(line);
    };
    let mut framer = Framer::with_cap(STDERR_BYTES);
    let mut buffer = vec![0; READ_BYTES];
    while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
        framer.push(&buffer[..count]);
        framer.by_ref().for_each(&mut keep);
    }
    while let Some(frame) = framer.finish() {
        keep(frame);
    }
    tail.whole.send_replace(true);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_is_bounded_in_lines_and_bytes() {
        let tail = StderrTail::default();
        (0..1000).for_each(|number| tail.push(number.to_string()));
        let lines = tail.lines();
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[STDERR_LINES - 1].as_str()),
            (STDERR_LINES, "800", "999")
        );
        (0..3).for_each(|_| tail.push("x".repeat(STDERR_BYTES / 2)));
        assert_eq!(tail.lines().len(), 2);
        tail.push("y".repeat(STDERR_BYTES + 1));
        assert_eq!(tail.lines().len(), 0);
        tail.push("after".into());
        assert_eq!(tail.lines(), ["after"]);
    }

    #[tokio::test]
    async fn odd_bytes_are_shown_as_well_as_possible() {
        let long = "z".repeat(STDERR_BYTES + 1);
        let text = [b"plain\n\xff!\n".as_slice(), long.as_bytes(), b"\nend"].concat();
        let tail = std::sync::Arc::new(StderrTail::default());
        drain(text.as_slice(), tail.clone(), None).await;
        let lines = tail.lines();
        assert_eq!((lines[0].as_str(), lines[1].as_str(), lines[3].as_str()), ("plain", "\u{fffd}!", "end"));
        assert!(lines[2].ends_with("… (65537 bytes)"));
    }
}
