//! Two links in one process, joined by bounded pipes. For the embedded UI and for tests: same framing, same bounds as
//! on any other transport.

use crate::Lane;
use crate::lane_io::{LinkIo, Wiring};
use crate::limits::Limits;
use crate::stream::{AsyncSink, AsyncSource};

/// Bytes in flight per direction and lane.
pub const PIPE_BYTES: usize = 64 * 1024;

/// The two ends of a link with these lanes.
pub fn pair(lanes: &[Lane], limits: Limits) -> (LinkIo, LinkIo) {
    let (mut left, mut right) = (Wiring::new(limits), Wiring::new(limits));
    for lane in lanes {
        let (one, other) = tokio::io::duplex(PIPE_BYTES);
        let (read, write) = tokio::io::split(one);
        left = left.lane(*lane, AsyncSource::new(read), AsyncSink(write));
        let (read, write) = tokio::io::split(other);
        right = right.lane(*lane, AsyncSource::new(read), AsyncSink(write));
    }
    (left.start(), right.start())
}
