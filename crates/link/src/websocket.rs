//! WebSockets: one text message is one line, both ways. Either end, over any stream of bytes that has been upgraded (or is to be).
//!
//! Invariants: what was upgraded is held to the same bounds as a socket; a peer that is heard nothing of is asked (ping) and, if it stays
//! silent, given up, so that a half-open connection ends by itself; a peer that takes what we write is not silent, however slow it is.
//! Where a line that is too long costs a socket only itself, here it costs the connection, with code 1009, as it does for binary messages
//! (1003), bytes that are no text (1007) and frames against the protocol (1002): the peer is told, and nothing is held for it.

mod listener;
mod pulse;
#[cfg(test)]
mod tests;

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Mutex;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

use crate::Lane;
use crate::lane_io::{LinkIo, Wiring};
use crate::limits::Limits;
use crate::stream::{Sink, Source};
pub use listener::{Knock, MAX_HEAD_BYTES, NotADoor, OPENED_WITHIN, WebSocketListener};
use pulse::Pulse;

/// After so long without a word the peer is asked whether it is there.
pub const PING_EVERY: Duration = Duration::from_secs(15);
/// After so long without a word it is given up.
pub const SILENT_AFTER: Duration = Duration::from_secs(45);
/// How long a ping or a last word may take to be written.
const WORD_WITHIN: Duration = Duration::from_secs(1);
/// What is read at once, and what is gathered before it is written: there may be a thousand of these.
const BUFFER_BYTES: usize = 8 * 1024;
/// A longer message goes in pieces of this size, so that no more than a piece is held for a peer between two of its reads, nor kept
/// afterwards.
const PIECE_BYTES: usize = 16 * 1024;
/// The longest reason that a closing frame has room for, in bytes.
const MAX_REASON: usize = 123;

/// What remains to be said and known of a WebSocket beside its lines. Clones mean the same one.
#[derive(Debug, Clone)]
pub struct Socket(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    pulse: pulse::Shared,
    ours: OnceLock<CloseFrame>,
    theirs: OnceLock<(u16, String)>,
}

impl Socket {
    fn new(allowance: u64) -> Self {
        Self(Arc::new(Inner {
            pulse: pulse::Shared::new(allowance),
            ours: OnceLock::new(),
            theirs: OnceLock::new(),
        }))
    }

    /// The code and the reason that the peer is told when our side closes. The first ones count.
    pub fn close_with(&self, code: u16, reason: &str) {
        let mut end = reason.len().min(MAX_REASON);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let reason: Utf8Bytes = reason[..end].into();
        let _ = self.0.ours.set(CloseFrame { code: CloseCode::from(code), reason });
    }

    /// The code and the reason that the peer closed with, once it has.
    pub fn closed_with(&self) -> Option<(u16, String)> {
        self.0.theirs.get().cloned()
    }

    /// The peer is known: from here on it may say as much as it likes.
    pub fn trust(&self) {
        self.0.pulse.allowance.store(u64::MAX, Ordering::Release);
    }
}

/// The answer to a key of the peer's that shows it that we speak this protocol.
pub fn accept_key(key: &[u8]) -> String {
    derive_accept_key(key)
}

/// A connection that has been upgraded, as a link with this one lane. The peer may say at most `allowance` bytes until it is known
/// ([`Socket::trust`]).
pub async fn accepted<S>(stream: S, lane: Lane, limits: Limits, allowance: u64) -> (LinkIo, Socket)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let socket = Socket::new(allowance);
    let stream = Pulse::new(stream, socket.clone());
    let upgraded = WebSocketStream::from_raw_socket(stream, Role::Server, Some(config(limits))).await;
    (wire(upgraded, lane, limits, &socket), socket)
}

/// Why nobody answered a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// The server answered, and not with an upgrade.
    #[error("the server answered with status {0}")]
    Refused(u16),
    #[error("the server could not be spoken with: {0}")]
    Broken(String),
}

/// Asks the server at the other end of a stream for an upgrade to `url`, as a page of `origin` would.
///
/// # Errors
/// When it does not want to.
pub async fn call<S>(
    stream: S,
    url: &str,
    origin: Option<&str>,
    lane: Lane,
    limits: Limits,
) -> Result<(LinkIo, Socket), Unanswered>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let broken = |why: Error| match why {
        Error::Http(answer) => Unanswered::Refused(answer.status().as_u16()),
        why => Unanswered::Broken(why.to_string()),
    };
    let mut request = url.into_client_request().map_err(broken)?;
    if let Some(origin) = origin {
        let origin = origin.parse().map_err(|_| Unanswered::Broken("no such origin".to_owned()))?;
        request.headers_mut().insert("origin", origin);
    }
    let socket = Socket::new(u64::MAX);
    let stream = Pulse::new(stream, socket.clone());
    let called = tokio_tungstenite::client_async_with_config(request, stream, Some(config(limits))).await;
    let (upgraded, _) = called.map_err(broken)?;
    Ok((wire(upgraded, lane, limits, &socket), socket))
}

fn config(limits: Limits) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
        .max_message_size(Some(limits.line))
        .max_frame_size(Some(limits.line))
}

type Upgraded<S> = WebSocketStream<Pulse<S>>;
type Speaking<S> = Arc<Mutex<SplitSink<Upgraded<S>, Message>>>;

fn wire<S>(upgraded: Upgraded<S>, lane: Lane, limits: Limits, socket: &Socket) -> LinkIo
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (sink, stream) = upgraded.split();
    let speaking = Arc::new(Mutex::new(sink));
    let mut ticks = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let hearing =
        Hearing { stream, speaking: speaking.clone(), socket: socket.clone(), ticks, line: Vec::new() };
    let words = Words { speaking, socket: socket.clone() };
    Wiring::new(limits).lane(lane, hearing, words).start()
}

/// The way in.
struct Hearing<S> {
    stream: SplitStream<Upgraded<S>>,
    speaking: Speaking<S>,
    socket: Socket,
    ticks: Interval,
    /// The last message, as a line.
    line: Vec<u8>,
}

impl<S> Source for Hearing<S>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    async fn read(&mut self) -> io::Result<&[u8]> {
        // A large line is not kept for longer than it takes to hand it on.
        self.line = Vec::new();
        loop {
            let heard = tokio::select! {
                biased;
                heard = self.stream.next() => heard,
                _ = self.ticks.tick() => {
                    self.beat().await?;
                    continue;
                }
            };
            match heard {
                None | Some(Err(Error::ConnectionClosed | Error::AlreadyClosed)) => return Ok(&[]),
                Some(Ok(Message::Text(text))) => {
                    // A newline inside is white space in JSON, and would be two lines for whoever reads on.
                    self.line = ::wire::jsonrpc::one_line(text.as_str().to_owned()).into_bytes();
                    self.line.push(b'\n');
                    return Ok(&self.line);
                }
                Some(Ok(Message::Binary(_))) => {
                    return Err(self.end(CloseCode::Unsupported, "only text messages are read here").await);
                }
                Some(Ok(Message::Close(frame))) => {
                    let said = frame.map(|frame| (u16::from(frame.code), frame.reason.to_string()));
                    let _ = self.socket.0.theirs.set(said.unwrap_or((1005, String::new())));
                }
                // Pings are answered by the next read.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Err(Error::Capacity(_))) => {
                    return Err(self.end(CloseCode::Size, "the message is too long").await);
                }
                Some(Err(Error::Utf8(_))) => {
                    return Err(self.end(CloseCode::Invalid, "the message is not UTF-8").await);
                }
                // Nobody is there to be told.
                Some(Err(why @ Error::Protocol(ProtocolError::ResetWithoutClosingHandshake))) => {
                    return Err(io::Error::new(io::ErrorKind::ConnectionReset, why));
                }
                Some(Err(Error::Protocol(why))) => {
                    let _ =
                        self.end(CloseCode::Protocol, "this is no WebSocket frame that may come here").await;
                    return Err(io::Error::new(io::ErrorKind::InvalidData, why));
                }
                Some(Err(Error::Io(why))) => return Err(why),
                Some(Err(why)) => return Err(io::Error::other(why)),
            }
        }
    }
}

impl<S> Hearing<S>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    /// Asks a quiet peer whether it is there, and gives up one that did not say.
    async fn beat(&self) -> io::Result<()> {
        let quiet = self.socket.0.pulse.quiet();
        if quiet >= SILENT_AFTER {
            let words = format!("nothing was heard of the peer for {} s", quiet.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, words));
        }
        // Whoever holds the way out is writing: that it gets on is proof enough.
        if quiet + PING_EVERY / 2 >= PING_EVERY
            && let Ok(mut speaking) = self.speaking.try_lock()
        {
            let _ = timeout(WORD_WITHIN, speaking.send(Message::Ping(Default::default()))).await;
        }
        Ok(())
    }

    /// Tells the peer why it is left, if it still listens.
    async fn end(&self, code: CloseCode, why: &'static str) -> io::Error {
        let saying = async {
            let frame = CloseFrame { code, reason: why.into() };
            self.speaking.lock().await.send(Message::Close(Some(frame))).await
        };
        let _ = timeout(WORD_WITHIN, saying).await;
        io::Error::new(io::ErrorKind::InvalidData, why)
    }
}

/// A message, or a piece of one.
fn frame(bytes: &[u8], kind: Data, last: bool) -> Message {
    Message::Frame(Frame::message(bytes.to_vec(), OpCode::Data(kind), last))
}

/// The way out.
struct Words<S> {
    speaking: Speaking<S>,
    socket: Socket,
}

impl<S> Sink for Words<S>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    async fn write(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        let mut speaking = self.speaking.lock().await;
        for line in text.split_terminator('\n') {
            let (mut kind, mut rest) = (Data::Text, line.as_bytes());
            while rest.len() > PIECE_BYTES {
                let (piece, after) = rest.split_at(PIECE_BYTES);
                speaking.feed(frame(piece, kind, false)).await.map_err(io::Error::other)?;
                (kind, rest) = (Data::Continue, after);
            }
            speaking.feed(frame(rest, kind, true)).await.map_err(io::Error::other)?;
        }
        speaking.flush().await.map_err(io::Error::other)
    }

    async fn close(&mut self) -> io::Result<()> {
        let frame = self.socket.0.ours.get().cloned();
        let frame = frame.unwrap_or(CloseFrame { code: CloseCode::Normal, reason: Utf8Bytes::default() });
        match self.speaking.lock().await.send(Message::Close(Some(frame))).await {
            // The peer was faster; closed is what was wanted.
            Ok(()) | Err(Error::ConnectionClosed | Error::AlreadyClosed | Error::Protocol(_)) => Ok(()),
            Err(why) => Err(io::Error::other(why)),
        }
    }
}
