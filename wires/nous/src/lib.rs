//! nous: NDJSON over two Unix sockets, commands at `P`, events at `P.events`.
//!
//! One server has one stream of events, one active session and one set of queue modes, whoever is connected; so one
//! [`NousRuntime`] serves all connections. Connecting to the event socket subscribes; there is no handshake and no ask on
//! this wire.

mod entry_name;
pub mod quirks;
mod runtime_role;
#[cfg(feature = "schema")]
pub mod schema;
pub mod tables;
#[cfg(test)]
mod tests;
mod ui_role;
mod wire;

use rolekit::first_line;
use roles::dialect::{Description, Dialect, Habits, Lanes, UsualSockets};
use roles::fidelity::Sources;
use std::path::PathBuf;

pub use runtime_role::{HOLD, MAX_ANSWER_BYTES, MAX_HELD, MAX_WAITING_LINES, NousRuntime};
pub use ui_role::NousUi;

/// The only version there is. A string on the wire.
pub const VERSION: &str = "1";

/// Where the core listens and its clients look when nobody names a place.
pub const USUAL_SOCKET: &str = "/tmp/nous-core.sock";

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: "nous",
    lanes: Lanes::CommandsAndEvents,
    lossless: false,
    drains: false,
    restart_code: None,
    recognises: |line| {
        !first_line::has(line, &["jsonrpc", "method"])
            && first_line::has(line, &["type"])
            && ["v", "payload", "id"].iter().any(|member| first_line::has(line, &[member]))
    },
    greets: |line| first_line::has(line, &["v", "type", "payload"]),
    sockets: Some(UsualSockets {
        listen: |_, _| vec![PathBuf::from(USUAL_SOCKET)],
        connect: |_| vec![PathBuf::from(USUAL_SOCKET)],
    }),
    habits: Habits::NONE,
    runtime_role: Some(|| Box::new(NousRuntime::default())),
    ui_role: || Box::new(NousUi::default()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: quirks::QUIRKS,
});
