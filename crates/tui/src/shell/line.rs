//! One line from the person on the bare terminal: a choice, a yes, or a secret that is not shown while it is typed.
//!
//! Not the screen: nothing is drawn but the line itself. Nothing reads the terminal any more when it is over, so that a screen may
//! follow, and whatever ends it (a signal, Ctrl-C, a terminal that is gone) gives the terminal back as it was.

use super::raw;
use super::terminal::{self, Signals, StopSignal};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest line that is taken, in bytes; what is longer is told, and no part of it counts.
pub const MAX_LINE: usize = 16 * 1024;
/// How long a reader that is no longer wanted goes on at most.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Whether what is typed is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    Shown,
    /// Nothing is seen of it, neither its length.
    Hidden,
}

/// What came of a question.
#[derive(Clone, PartialEq, Eq)]
pub enum TypedLine {
    /// The line, without its end.
    Line(String),
    /// The line cannot be used, and why.
    Unusable(&'static str),
    /// The person wants nothing of it, or nobody is there any more.
    Cancelled,
    /// The program was told to stop.
    Told(StopSignal),
}

/// Asks on stderr, in one line of our own words, and reads a line from the terminal on stdin. Dropping the future takes the question back:
/// the terminal is as it was, and its reader ends soon.
///
/// # Errors
/// When stdin is no terminal, or cannot be used as one.
pub async fn ask_line(question: &str, echo: Echo) -> io::Result<TypedLine> {
    if !io::stdin().is_terminal() {
        return Err(io::Error::other("nobody can be asked: stdin is no terminal"));
    }
    let mut signals = Signals::new()?;
    let raw = Raw::enter()?;
    // Not before: whoever answers at once must not see the terminal repeat it.
    write(question);
    let over = ReadingOver::default();
    let seen = over.0.clone();
    let again = question.to_owned();
    let mut reading = tokio::task::spawn_blocking(move || read(echo, &again, &seen));
    let typed = tokio::select! {
        read = &mut reading => read.map_err(io::Error::other)?,
        signal = signals.next() => {
            over.0.store(true, Ordering::SeqCst);
            // What it has read meanwhile is nobody's.
            let _ = reading.await;
            Ok(TypedLine::Told(signal))
        }
    };
    drop(raw);
    write("\n");
    typed
}

/// Ends the reader when nobody wants its line any more.
#[derive(Default)]
struct ReadingOver(Arc<AtomicBool>);

impl Drop for ReadingOver {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The terminal in raw mode, for as long as this lives.
struct Raw;

impl Raw {
    fn enter() -> io::Result<Raw> {
        raw::enter()?;
        Ok(Raw)
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = raw::leave();
    }
}

fn write(text: &str) {
    // A raw terminal goes down a row and stays in its column. One that is gone shows nothing.
    let _ = terminal::stderr().lock().write_all(text.replace('\n', "\r\n").as_bytes());
}

fn read(echo: Echo, question: &str, over: &AtomicBool) -> io::Result<TypedLine> {
    let stdin = io::stdin();
    let mut line = LineBuffer::default();
    while !over.load(Ordering::SeqCst) {
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut fds, Some(&LOOK_EVERY)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => continue,
            Ok(_) => {}
            Err(why) => return Err(why.into()),
        }
        // Byte by byte: what follows the line is not ours.
        let mut byte = [0];
        match rustix::io::read(stdin.as_fd(), &mut byte) {
            Ok(0) | Err(rustix::io::Errno::IO) => return Ok(TypedLine::Cancelled),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(why) => return Err(why.into()),
        }
        let shown = match line.take(byte[0]) {
            LineEvent::Done(typed) => return Ok(typed),
            LineEvent::More(shown) => shown,
            LineEvent::Stop => {
                let _ = raw::leave();
                write("\n");
                // The default of SIGTSTP stops the whole job; this returns when it is continued.
                let _ = rustix::process::kill_current_process_group(rustix::process::Signal::TSTP);
                raw::enter()?;
                write(question);
                String::from_utf8_lossy(&line.bytes).into_owned()
            }
        };
        if echo == Echo::Shown {
            write(&shown);
        }
    }
    Ok(TypedLine::Cancelled)
}

/// Where a line stands. Takes bytes as a terminal in raw mode gives them. Pure.
#[derive(Default)]
struct LineBuffer {
    bytes: Vec<u8>,
    escape: Escape,
    too_long: bool,
}

/// Whether the bytes belong to a key that is no letter, or to the frame of a paste.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// `ESC [ …` up to its last byte.
    Sequence,
    /// `ESC O` and one byte.
    Single,
}

/// What a byte does.
enum LineEvent {
    /// The line goes on; this is to be seen of it.
    More(String),
    Done(TypedLine),
    /// The person wants to be back in the shell for a while.
    Stop,
}

impl LineBuffer {
    fn take(&mut self, byte: u8) -> LineEvent {
        const NOTHING: LineEvent = LineEvent::More(String::new());
        match (self.escape, byte) {
            // Whoever presses Esc and then wants to leave can.
            (_, 0x03) => return LineEvent::Done(TypedLine::Cancelled),
            (_, 0x1a) => return LineEvent::Stop,
            (Escape::Begun, b'[') => self.escape = Escape::Sequence,
            (Escape::Begun, b'O') => self.escape = Escape::Single,
            (Escape::Sequence, 0x20..=0x3f) => {}
            (Escape::Begun | Escape::Sequence | Escape::Single, b'\r' | b'\n') => {
                self.escape = Escape::None;
                return LineEvent::Done(self.end());
            }
            (Escape::Begun | Escape::Sequence | Escape::Single, _) => self.escape = Escape::None,
            (Escape::None, 0x1b) => self.escape = Escape::Begun,
            (Escape::None, b'\r' | b'\n') => return LineEvent::Done(self.end()),
            (Escape::None, 0x04) if self.bytes.is_empty() => return LineEvent::Done(TypedLine::Cancelled),
            (Escape::None, 0x7f | 0x08) => return LineEvent::More(self.erase()),
            (Escape::None, 0x15) => {
                let gone = self.bytes.len();
                (self.bytes, self.too_long) = (Vec::new(), false);
                return LineEvent::More("\x08 \x08".repeat(gone));
            }
            (Escape::None, 0x20..=0x7e | 0x80..) => return LineEvent::More(self.push(byte)),
            (Escape::None, _) => {}
        }
        NOTHING
    }

    fn push(&mut self, byte: u8) -> String {
        self.too_long |= self.bytes.len() >= MAX_LINE;
        if !self.too_long {
            self.bytes.push(byte);
        }
        // Half a letter must not reach the screen.
        if byte.is_ascii() && !self.too_long { char::from(byte).to_string() } else { String::new() }
    }

    /// Takes the last letter away, however many bytes it has.
    fn erase(&mut self) -> String {
        let Some(mut last) = self.bytes.pop() else { return String::new() };
        let shown = last.is_ascii();
        while last & 0xc0 == 0x80 {
            let Some(before) = self.bytes.pop() else { break };
            last = before;
        }
        if shown { "\x08 \x08".to_owned() } else { String::new() }
    }

    fn end(&mut self) -> TypedLine {
        if self.too_long {
            return TypedLine::Unusable("it is longer than any line that is accepted here");
        }
        match String::from_utf8(std::mem::take(&mut self.bytes)) {
            Ok(line) => TypedLine::Line(line),
            Err(_) => TypedLine::Unusable("it is not UTF-8 text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of these bytes, and what was to be seen meanwhile; `None` when the line goes on.
    fn typed(bytes: &[u8]) -> (Option<TypedLine>, String) {
        let (mut line, mut shown) = (LineBuffer::default(), String::new());
        for byte in bytes {
            match line.take(*byte) {
                LineEvent::More(more) => shown.push_str(&more),
                LineEvent::Done(typed) => return (Some(typed), shown),
                // What was typed stays for when it is continued.
                LineEvent::Stop => shown.push_str("(stopped)"),
            }
        }
        (None, shown)
    }

    fn line(text: &str) -> Option<TypedLine> {
        Some(TypedLine::Line(text.to_owned()))
    }

    #[test]
    fn a_line_is_what_was_typed_or_pasted_and_mended() {
        for (bytes, want) in [
            (&b"sk-1\r"[..], line("sk-1")),
            (b"sk-1\nrest", line("sk-1")),
            (b"sk-2\x7f1\r", line("sk-1")),
            (b"\x7f\x7fa\r", line("a")),
            (b"wrong\x15sk-1\r", line("sk-1")),
            (b"\x1b[200~sk-1\x1b[201~\r", line("sk-1")),
            (b"a\x1b[Db\x1bOAc\x1bx\r", line("abc")),
            ("ä\u{7f}b\r".as_bytes(), line("b")),
            (b"a\tb\x00\r", line("ab")),
            (b"sk\x1a-1\r", line("sk-1")),
            (b"\r", line("")),
            (b"abc", None),
            (b"abc\x04\r", line("abc")),
            (b"\x04", Some(TypedLine::Cancelled)),
            (b"abc\x03", Some(TypedLine::Cancelled)),
            (b"abc\x1b\x03", Some(TypedLine::Cancelled)),
            (b"abc\x1b\r", line("abc")),
            (b"\xff\xfe\r", Some(TypedLine::Unusable("it is not UTF-8 text"))),
        ] {
            assert!(typed(bytes).0 == want, "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(typed(b"ab\x7fc\r").1, "ab\x08 \x08c");
    }

    #[test]
    fn a_line_without_an_end_is_held_to_its_bound_and_refused_whole() {
        let mut bytes = vec![b'x'; MAX_LINE + 1];
        bytes.push(b'\r');
        assert!(matches!(typed(&bytes).0, Some(TypedLine::Unusable(_))));
        bytes.truncate(MAX_LINE);
        bytes.push(b'\r');
        assert!(typed(&bytes).0 == line(&"x".repeat(MAX_LINE)));
        // Taken back, it begins anew.
        let anew = [&[b'x'; MAX_LINE + 1][..], b"\x15ok\r"].concat();
        assert!(typed(&anew).0 == line("ok"));
    }
}
