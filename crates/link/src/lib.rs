//! Transports: bytes to and from a peer over stdio, a child process, a Unix socket (or two), a WebSocket, or memory.
//!
//! Every transport gives the same thing, a [`LinkIo`]: frames come in through a bounded channel, lines go out through a
//! bounded backlog that never blocks the sender. Nothing here reads a message; roles do that.
//!
//! Invariants: bad input never ends a link (but for WebSockets, which are closed with its code); nothing is unbounded; no task outlives its [`Tasks`]; no child process
//! outlives its handle.

pub mod child;
pub mod entry;
mod failure;
mod judged;
mod lane_io;
mod limits;
pub mod memory;
mod outgoing;
pub mod peer;
mod rename;
pub mod stdio;
mod stream;
mod tasks;
pub mod unix;
mod watch;
pub mod websocket;

pub use failure::LinkError;
pub use lane_io::{Ending, INCOMING_FRAMES, Incoming, LinkIo, Wiring};
pub use limits::{Limits, MAX_BACKLOG_BYTES, MAX_BACKLOG_LINES};
pub use outgoing::{Backlog, Outgoing, Unsent};
pub use roles::Lane;
pub use stream::{AsyncSink, AsyncSource, Sink, Source};
pub use tasks::{Shutdown, Tasks};
pub use watch::{Watcher, Way};
