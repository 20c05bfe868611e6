//! The bounds of one link: how long a line may be, and how much may wait to be written.

use wire::lines::MAX_LINE;

/// Bytes that may wait to be written on one link. A single larger line may go when nothing else waits.
pub const MAX_BACKLOG_BYTES: usize = 8 * 1024 * 1024;

/// Lines that may wait to be written on one link.
pub const MAX_BACKLOG_LINES: usize = 10_000;

/// The bounds of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest line accepted, in bytes.
    pub line: usize,
    /// Bytes that may wait to be written.
    pub backlog_bytes: usize,
    /// Lines that may wait to be written.
    pub backlog_lines: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: MAX_LINE, backlog_bytes: MAX_BACKLOG_BYTES, backlog_lines: MAX_BACKLOG_LINES }
    }
}
