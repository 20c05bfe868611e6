//! The hub: sessions, runs, queues, asks and the UIs attached to them. It knows no dialect by name.
//!
//! [`core`] decides, without I/O; the shell performs: it owns the store, the roles and the links, and runs as one task.

pub mod core;
mod shell;

pub use shell::{
    EngineSeat, Files, Guest, Hub, INBOX, LOCAL_NEWS, LocalPort, LocalUi, Log, RemoteSeat, Reported, Stopped,
    UNSAVED,
};
