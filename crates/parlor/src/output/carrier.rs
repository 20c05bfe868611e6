//! Bytes of a wire on their way to stdout. Programs get them as they are; a person who looks on gets what a terminal may show.

use super::screen::Screen;
use super::stream::{self, Stream};
use std::io::{self, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// Stdout for the bytes of a wire.
pub(crate) struct Carrier<W> {
    to: W,
    /// `None` where a program reads.
    screen: Option<Screen>,
    /// What is ready for the terminal and not written yet.
    waiting: Vec<u8>,
}

impl<W> Carrier<W> {
    fn new(to: W) -> Carrier<W> {
        Carrier { to, screen: Stream::Out.is_terminal().then(Screen::new), waiting: Vec::new() }
    }
}

/// For code that may block while it writes.
pub(crate) fn carrier() -> Carrier<io::Stdout> {
    Carrier::new(stream::stdout())
}

impl Carrier<tokio::io::Stdout> {
    /// For code that must not block.
    pub(crate) fn of_tasks() -> Carrier<tokio::io::Stdout> {
        Carrier::new(tokio::io::stdout())
    }
}

impl<W: Write> Write for Carrier<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.screen {
            None => self.to.write(bytes),
            Some(screen) => {
                self.to.write_all(screen.harmless_bytes(bytes).as_bytes())?;
                Ok(bytes.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: AsyncWrite + Unpin> Carrier<W> {
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            let count = ready!(Pin::new(&mut self.to).poll_write(cx, &self.waiting))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.waiting.drain(..count);
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for Carrier<W> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        if this.screen.is_none() {
            return Pin::new(&mut this.to).poll_write(cx, bytes);
        }
        // What was taken before goes first, so that never more than one piece waits.
        ready!(this.poll_drain(cx))?;
        if let Some(screen) = &mut this.screen {
            this.waiting = screen.harmless_bytes(bytes).into_bytes();
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_drain(cx))?;
        Pin::new(&mut this.to).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_drain(cx))?;
        Pin::new(&mut this.to).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    const DIRTY: &[u8] = b"{\"a\":\"\xc2\x9b2J\"}\n\xff";

    fn on(screen: bool) -> Carrier<Vec<u8>> {
        Carrier { to: Vec::new(), screen: screen.then(Screen::new), waiting: Vec::new() }
    }

    #[tokio::test]
    async fn programs_get_every_byte_and_people_what_a_terminal_may_show() {
        for (screen, seen) in [(false, DIRTY), (true, "{\"a\":\"\"}\n\u{fffd}".as_bytes())] {
            let mut carrier = on(screen);
            Write::write_all(&mut carrier, DIRTY).unwrap();
            assert_eq!(carrier.to, seen);
            let mut carrier = on(screen);
            for byte in DIRTY {
                AsyncWriteExt::write_all(&mut carrier, &[*byte]).await.unwrap();
            }
            AsyncWriteExt::flush(&mut carrier).await.unwrap();
            assert_eq!(carrier.to, seen);
        }
    }
}
