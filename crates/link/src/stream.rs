//! Bytes to and from a peer, whatever carries them; what they say is read elsewhere.

use std::future::Future;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// How much is read at once.
pub(crate) const READ_BYTES: usize = 64 * 1024;

/// Bytes from a peer.
pub trait Source: Send + 'static {
    /// The next bytes; empty at the end.
    fn read(&mut self) -> impl Future<Output = io::Result<&[u8]>> + Send;
}

/// Bytes to a peer.
pub trait Sink: Send + 'static {
    /// Writes and flushes all of `bytes`, and may take the buffer.
    fn write(&mut self, bytes: &mut Vec<u8>) -> impl Future<Output = io::Result<()>> + Send;

    /// Closes the writing side, so that the peer sees the end.
    fn close(&mut self) -> impl Future<Output = io::Result<()>> + Send;
}

/// A source from any asynchronous reader.
#[derive(Debug)]
pub struct AsyncSource<R> {
    reader: R,
    buffer: Box<[u8]>,
}

impl<R> AsyncSource<R> {
    /// Reads from `reader`.
    pub fn new(reader: R) -> Self {
        Self { reader, buffer: vec![0; READ_BYTES].into() }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Source for AsyncSource<R> {
    async fn read(&mut self) -> io::Result<&[u8]> {
        let count = self.reader.read(&mut self.buffer).await?;
        Ok(&self.buffer[..count])
    }
}

/// A sink from any asynchronous writer.
#[derive(Debug)]
pub struct AsyncSink<W>(pub W);

impl<W: AsyncWrite + Send + Unpin + 'static> Sink for AsyncSink<W> {
    async fn write(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.0.write_all(bytes).await?;
        self.0.flush().await
    }

    async fn close(&mut self) -> io::Result<()> {
        match self.0.shutdown().await {
            // The peer was faster; closed is what was wanted.
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            outcome => outcome,
        }
    }
}
