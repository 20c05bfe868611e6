//! openagent: JSON-RPC 2.0 in lines of UTF-8 over a Unix socket of mode 0600.
//!
//! The document is version 1.0.0 of the OpenAgent-Terminal protocol. The existing programs differ from it ([`quirks`]), so what we send
//! holds both spellings. What this wire can carry is in [`fidelity`]. Wire types are in [`wire`]; the roles are [`OpenagentRuntime`] (an
//! openagent UI talks to us) and [`OpenagentUi`] (we talk to an openagent backend); where they meet is [`SocketEnv`].

pub mod fidelity;
pub mod quirks;
pub mod schema;
pub mod wire;

mod fences;
mod plain;
mod runtime_role;
mod socket;
mod suggest;
mod ui_role;
mod version;

#[cfg(test)]
mod tests;

pub use runtime_role::{MAX_PENDING, MAX_QUERIES, OpenagentRuntime};
pub use socket::SocketEnv;
pub use ui_role::{BACKEND_LINE, OpenagentUi};

/// The dialect's name, as on the command line.
pub const NAME: &str = "openagent";

/// How long a request for approval waits, as the document has it.
pub const APPROVAL_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);
