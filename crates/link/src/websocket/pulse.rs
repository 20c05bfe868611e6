//! A stream of bytes that knows when its peer last gave a sign of life, and how much an unknown peer has said.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::Socket;

/// What both halves of a connection know of its peer.
#[derive(Debug)]
pub(super) struct Shared {
    born: Instant,
    /// The last sign of life, in milliseconds since `born`.
    alive: AtomicU64,
    /// Bytes that the peer may still say.
    pub(super) allowance: AtomicU64,
}

impl Shared {
    pub(super) fn new(allowance: u64) -> Self {
        Self { born: Instant::now(), alive: AtomicU64::new(0), allowance: AtomicU64::new(allowance) }
    }

    /// For how long nothing was heard.
    pub(super) fn quiet(&self) -> Duration {
        self.born.elapsed().saturating_sub(Duration::from_millis(self.alive.load(Ordering::Acquire)))
    }

    fn lives(&self) {
        let since = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.alive.store(since, Ordering::Release);
    }

    /// Whether the peer may have said so much.
    fn spend(&self, bytes: u64) -> bool {
        let left = |left: u64| if left == u64::MAX { Some(left) } else { left.checked_sub(bytes) };
        self.allowance.fetch_update(Ordering::AcqRel, Ordering::Acquire, left).is_ok()
    }
}

/// The stream.
#[derive(Debug)]
pub(super) struct Pulse<S> {
    stream: S,
    socket: Socket,
    /// Writing had to wait: that it goes on shows that the peer takes what is written, and not only our own system.
    waited: bool,
}

impl<S> Pulse<S> {
    pub(super) fn new(stream: S, socket: Socket) -> Self {
        Self { stream, socket, waited: false }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Pulse<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let count = buffer.filled().len() - before;
        if count > 0 {
            let pulse = &self.socket.0.pulse;
            pulse.lives();
            if !pulse.spend(count as u64) {
                let words = "the peer said too much before it was known";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::PermissionDenied, words)));
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Pulse<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        match &written {
            Poll::Pending => self.waited = true,
            Poll::Ready(Ok(_)) if self.waited => {
                self.waited = false;
                self.socket.0.pulse.lives();
            }
            Poll::Ready(_) => {}
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
