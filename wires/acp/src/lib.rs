//! acp: the Agent Client Protocol, JSON-RPC 2.0 in lines of UTF-8, over the stdio of a child process. Editors speak it with agents.
//!
//! The document is the published JSON Schema of version 1; the existing programs differ here and there ([`quirks`]). What this wire can
//! carry is in `words.txt`. Wire types are in [`wire`]; the roles are [`AcpRuntime`] (a client talks to us) and [`AcpUi`] (we talk to
//! an agent).

pub mod quirks;
#[cfg(feature = "schema")]
pub mod schema;
pub mod wire;

mod agents;
mod blocks;
mod patch;
mod registry;
mod runtime_role;
mod tool_words;
mod ui_role;

#[cfg(test)]
mod tests;

use rolekit::first_line;
use roles::dialect::{Description, Dialect, Habits, Lanes};
use roles::fidelity::Sources;

pub use runtime_role::{ANSWERS_WITHIN, AcpRuntime};
pub use ui_role::AcpUi;

/// The dialect's name, as on the command line.
pub const NAME: &str = "acp";

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: NAME,
    lanes: Lanes::One,
    lossless: false,
    drains: false,
    restart_code: None,
    // Other wires begin with `initialize` as well and write their version otherwise.
    recognises: |line| {
        first_line::has(line, &["jsonrpc", "method"])
            && first_line::has_any(line, "params", &["protocolVersion"])
    },
    // Servers of MCP write their version so as well, and name themselves otherwise.
    greets: |line| {
        first_line::greets_by_rpc(line, &["protocolVersion"])
            && !first_line::has_any(line, "result", &["serverInfo"])
    },
    sockets: None,
    habits: Habits {
        command: Some(NAME),
        agents: agents::KNOWN,
        registry: Some(registry::read),
        ..Habits::NONE
    },
    runtime_role: Some(|| Box::new(AcpRuntime::new())),
    ui_role: || Box::new(AcpUi::new()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: quirks::QUIRKS,
});
