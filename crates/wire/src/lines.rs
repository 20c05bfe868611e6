//! Bytes to capped lines. Knows newlines and UTF-8, not JSON; does no reading itself.
//!
//! Invariants: the frames do not depend on how the bytes were cut; each byte is looked at once for its newline
//! (linear time); what is held is at most about twice the cap plus what was pushed and not yet taken; a bad line
//! costs only itself, the stream goes on at the next newline.

#[cfg(test)]
mod tests;

/// The longest line accepted, in bytes before the newline.
pub const MAX_LINE: usize = 10 * 1024 * 1024;

/// How many characters of a refused line are kept to show.
pub const HEAD_CHARS: usize = 200;

/// Four bytes per character suffice, so the cut never shows in the first `HEAD_CHARS` characters.
const HEAD_BYTES: usize = HEAD_CHARS * 4;

/// An emptied buffer larger than this is given back.
const KEEP_CAPACITY: usize = 64 * 1024;

/// One line of the stream, or what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A whole line without its `\n` and without one `\r` before it. May be empty.
    Line(String),
    /// A line longer than the cap; it was skipped up to its newline.
    Overlong {
        /// Length of the line in bytes, without the newline.
        bytes_seen: u64,
        /// How the line began, damaged characters replaced.
        head: String,
    },
    /// A line that is not UTF-8.
    NotUtf8 {
        /// Byte offset of the first bad byte.
        at: usize,
        /// How the line began, damaged characters replaced.
        head: String,
    },
    /// A line that contains a NUL byte.
    Nul {
        /// Byte offset of the first NUL.
        at: usize,
        /// How the line began.
        head: String,
    },
    /// The stream ended inside this line. Not trustworthy: the peer may have died while writing it.
    Unfinished(String),
}

impl Frame {
    /// How many bytes it holds.
    #[expect(clippy::len_without_is_empty, reason = "an empty line is a line; nobody asks")]
    pub fn len(&self) -> usize {
        match self {
            Frame::Line(text) | Frame::Unfinished(text) => text.len(),
            Frame::Overlong { head, .. } | Frame::NotUtf8 { head, .. } | Frame::Nul { head, .. } => {
                head.len()
            }
        }
    }
}

/// Cuts a byte stream into [`Frame`]s.
///
/// Push bytes, then take frames until `None` (which means: needs more bytes), and push again. At the end of the
/// stream call [`Framer::finish`] until `None`.
///
/// ```
/// use wire::lines::{Frame, Framer};
/// let mut framer = Framer::new();
/// framer.push(b"one\r\ntw");
/// assert_eq!(framer.next(), Some(Frame::Line("one".into())));
/// assert_eq!(framer.next(), None);
/// assert_eq!(framer.finish(), Some(Frame::Unfinished("tw".into())));
/// assert_eq!(framer.finish(), None);
/// ```
#[derive(Debug)]
pub struct Framer {
    cap: usize,
    buffer: Vec<u8>,
    /// Where the current line begins in `buffer`.
    start: usize,
    /// Up to here `buffer` is known to hold no newline of the current line.
    scanned: usize,
    /// The line being skipped, if it already went over the cap.
    skipping: Option<Skipped>,
}

#[derive(Debug, Default)]
struct Skipped {
    bytes_seen: u64,
    /// The first `HEAD_BYTES` of the line, so that the shown head does not depend on where the cap was crossed.
    head: Vec<u8>,
}

impl Framer {
    /// A framer with the cap [`MAX_LINE`].
    pub fn new() -> Self {
        Self::with_cap(MAX_LINE)
    }

    /// A framer that accepts lines of up to `cap` bytes.
    pub fn with_cap(cap: usize) -> Self {
        Self { cap, buffer: Vec::new(), start: 0, scanned: 0, skipping: None }
    }

    /// Adds bytes. Take all frames before pushing again, else the untaken bytes pile up.
    pub fn push(&mut self, bytes: &[u8]) {
        self.compact();
        self.buffer.extend_from_slice(bytes);
    }

    /// How many bytes are held and not yet given out.
    pub fn held(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// Gives the frames that remain when the stream has ended; call until `None`.
    pub fn finish(&mut self) -> Option<Frame> {
        if let Some(frame) = self.next() {
            return Some(frame);
        }
        let rest = self.buffer.split_off(self.start);
        self.buffer = Vec::new();
        (self.start, self.scanned) = (0, 0);
        if let Some(skipped) = self.skipping.take() {
            return Some(skipped.frame());
        }
        if rest.is_empty() {
            return None;
        }
        Some(match read(&rest) {
            Frame::Line(text) => Frame::Unfinished(text),
            bad => bad,
        })
    }

    /// Moves the rest to the front once at least as much has been consumed: each byte moves at most once on average.
    fn compact(&mut self) {
        if self.start == self.buffer.len() {
            if self.buffer.capacity() > KEEP_CAPACITY {
                self.buffer = Vec::new();
            } else {
                self.buffer.clear();
            }
        } else if self.start >= self.buffer.len() - self.start {
            self.buffer.drain(..self.start);
        } else {
            return;
        }
        self.scanned -= self.start;
        self.start = 0;
    }

    /// Everything from `start` belongs to one line that is too long: remember its head, drop the bytes.
    fn skip_rest(&mut self) {
        self.skipping.get_or_insert_default().add(&self.buffer[self.start..]);
        self.buffer = Vec::new();
        (self.start, self.scanned) = (0, 0);
    }
}

impl Default for Framer {
    fn default() -> Self {
        Self::new()
    }
}

/// `None` means that more bytes are needed, not that the stream is over.
impl Iterator for Framer {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let Some(found) = memchr::memchr(b'\n', &self.buffer[self.scanned..]) else {
            self.scanned = self.buffer.len();
            if self.skipping.is_some() || self.held() > self.cap {
                self.skip_rest();
            } else if self.held() == 0 {
                // It may be long until the next push.
                self.compact();
            }
            return None;
        };
        let end = self.scanned + found;
        let line = &self.buffer[self.start..end];
        let frame = if let Some(mut skipped) = self.skipping.take() {
            skipped.add(line);
            skipped.frame()
        } else if line.len() > self.cap {
            Frame::Overlong { bytes_seen: line.len() as u64, head: head(line) }
        } else {
            read(line)
        };
        self.start = end + 1;
        self.scanned = self.start;
        Some(frame)
    }
}

impl Skipped {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes_seen += bytes.len() as u64;
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn frame(self) -> Frame {
        Frame::Overlong { bytes_seen: self.bytes_seen, head: head(&self.head) }
    }
}

fn read(line: &[u8]) -> Frame {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match std::str::from_utf8(line) {
        Err(error) => Frame::NotUtf8 { at: error.valid_up_to(), head: head(line) },
        Ok(text) => match memchr::memchr(0, line) {
            Some(at) => Frame::Nul { at, head: head(line) },
            None => Frame::Line(text.to_owned()),
        },
    }
}

fn head(line: &[u8]) -> String {
    let bytes = &line[..line.len().min(HEAD_BYTES)];
    String::from_utf8_lossy(bytes).chars().take(HEAD_CHARS).collect()
}
