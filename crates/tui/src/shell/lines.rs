//! Lines from stdin, read on a thread of its own, each with the mark that held when its first byte came.
//!
//! A terminal keeps the line that is being typed to itself until Enter. So that nothing that was begun before a question can answer it,
//! [`StdinLines::mark`] takes out what the terminal holds so far: the mark after it is only on what is typed from then on. The line itself is
//! not lost, it goes on where it was. Idle, the thread blocks.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::collections::VecDeque;
use std::io::{self, IsTerminal, PipeReader, PipeWriter, Write};
use std::os::fd::AsFd;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use tokio::sync::Notify;

/// Lines that wait at most; the thread then reads no more.
const MAX_LINES: usize = 1_024;
/// Longest line; what is longer is cut there, and the rest is a line of its own.
const MAX_LINE: usize = 1024 * 1024;
/// What is taken out of a stream at most before a mark.
const MAX_AHEAD: usize = 8 * 1024 * 1024;

const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Comes in order; the end comes once, and again for whoever asks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum InputLine {
    /// A line without its end, and the mark at its beginning.
    Line(String, u64),
    /// Nothing more will come.
    End,
}

/// What was read so far. Pure.
#[derive(Debug, Default)]
struct LineReader {
    lines: VecDeque<(String, u64)>,
    /// The line that is not over, and the mark at its beginning.
    begun: Vec<u8>,
    begun_at: u64,
    mark: u64,
    end: bool,
}

impl LineReader {
    fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.begun.is_empty() {
                self.begun_at = self.mark;
            }
            match byte {
                b'\n' => self.line(),
                b'\r' => {}
                byte => self.begun.push(*byte),
            }
            if self.begun.len() >= MAX_LINE {
                self.line();
            }
        }
    }

    fn line(&mut self) {
        let bytes = std::mem::take(&mut self.begun);
        self.lines.push_back((String::from_utf8_lossy(&bytes).into_owned(), self.begun_at));
    }

    fn finish(&mut self) {
        if !self.begun.is_empty() {
            self.line();
        }
        self.end = true;
    }
}

#[derive(Debug, Default)]
struct Shared {
    read: Mutex<LineReader>,
    /// Rung when there is room again.
    room: Condvar,
    /// Rung when something was read.
    came: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, LineReader> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was typed or piped in, read by a thread of its own.
#[derive(Debug)]
pub(super) struct StdinLines {
    shared: Arc<Shared>,
    /// Wakes the thread for its end.
    wake: PipeWriter,
    thread: Option<JoinHandle<()>>,
    /// How it was set before; none where lines come from a pipe.
    terminal: Option<Termios>,
}

impl StdinLines {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<StdinLines> {
        let shared = Arc::new(Shared::default());
        let (woken, wake) = io::pipe()?;
        let theirs = shared.clone();
        let thread = thread::Builder::new().name("lines".to_owned()).spawn(move || work(&theirs, &woken))?;
        let terminal = if io::stdin().is_terminal() { tcgetattr(io::stdin()).ok() } else { None };
        Ok(StdinLines { shared, wake, thread: Some(thread), terminal })
    }

    /// Whether a person sees what they type.
    pub(super) fn is_terminal(&self) -> bool {
        self.terminal.is_some()
    }

    /// The next line. May be dropped and called again: nothing is lost.
    pub(super) async fn next(&self) -> InputLine {
        loop {
            let came = self.shared.came.notified();
            {
                let mut read = self.shared.lock();
                if let Some((line, mark)) = read.lines.pop_front() {
                    self.shared.room.notify_all();
                    return InputLine::Line(line, mark);
                }
                if read.end {
                    return InputLine::End;
                }
            }
            came.await;
        }
    }

    /// From here on what is typed is begun with the mark that comes back; what was typed or begun until now is not.
    pub(super) fn mark(&self) -> u64 {
        let mut read = self.shared.lock();
        let mut taken = 0;
        let pieces = self.terminal.as_ref().map(Pieces::give);
        while taken < MAX_AHEAD && !read.end && is_there() {
            taken += take(&mut read);
        }
        drop(pieces);
        if taken >= MAX_AHEAD {
            // Whoever floods us answers nothing.
            return u64::MAX;
        }
        read.mark += 1;
        self.shared.came.notify_one();
        read.mark
    }

    /// Lets the terminal show what is typed, or not.
    pub(super) fn hide(&self, hidden: bool) {
        if let Some(terminal) = &self.terminal {
            let mut modes = terminal.clone();
            if hidden {
                modes.local_modes.remove(LocalModes::ECHO);
                modes.local_modes.insert(LocalModes::ECHONL);
            }
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
    }

    /// Ends the thread: something else may read stdin from here on.
    pub(super) async fn end(mut self) {
        let thread = self.stop();
        let _ = tokio::task::spawn_blocking(move || thread.map(JoinHandle::join)).await;
    }

    fn stop(&mut self) -> Option<JoinHandle<()>> {
        self.shared.lock().end = true;
        self.shared.room.notify_all();
        let _ = self.wake.write_all(&[0]);
        self.hide(false);
        self.thread.take()
    }
}

impl Drop for StdinLines {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The terminal gives out what was typed before Enter, for as long as this lives.
struct Pieces(Termios);

impl Pieces {
    fn give(terminal: &Termios) -> Pieces {
        let now = tcgetattr(io::stdin()).unwrap_or_else(|_| terminal.clone());
        let mut modes = now.clone();
        modes.local_modes.remove(LocalModes::ICANON);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        Pieces(now)
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Whether a read would give something at once.
fn is_there() -> bool {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&AT_ONCE)), Ok(1..))
}

/// Reads once; how many bytes came.
fn take(read: &mut LineReader) -> usize {
    let mut bytes = [0; 4_096];
    match rustix::io::read(io::stdin().as_fd(), &mut bytes) {
        Ok(0) => read.finish(),
        Ok(count) => {
            read.feed(&bytes[..count]);
            return count;
        }
        Err(Errno::INTR | Errno::AGAIN) => {}
        Err(_) => read.finish(),
    }
    0
}

fn work(shared: &Shared, woken: &PipeReader) {
    loop {
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => shared.lock().finish(),
        }
        let mut read = shared.lock();
        while read.lines.len() >= MAX_LINES && !read.end {
            read = shared.room.wait(read).unwrap_or_else(PoisonError::into_inner);
        }
        // A mark may have taken it meanwhile.
        if !read.end && is_there() {
            take(&mut read);
        }
        shared.came.notify_one();
        if read.end {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_mark_of_its_first_byte() {
        let mut read = LineReader::default();
        read.feed(b"one\r\ntw");
        read.mark = 1;
        read.feed(b"o\nyes\n\n");
        read.feed("h\u{e9}".as_bytes());
        read.finish();
        let line = |text: &str, mark| (text.to_owned(), mark);
        let expected = [line("one", 0), line("two", 0), line("yes", 1), line("", 1), line("h\u{e9}", 1)];
        assert_eq!(read.lines, expected);
    }

    #[test]
    fn a_line_without_an_end_is_bounded() {
        let mut read = LineReader::default();
        read.feed(&vec![b'x'; MAX_LINE + 5]);
        assert_eq!((read.lines.len(), read.begun.len()), (1, 5));
    }
}
