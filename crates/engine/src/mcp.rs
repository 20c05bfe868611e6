//! MCP servers: programs whose tools the model may use beside our own.
//!
//! The person's servers stand in `mcp.json` of their settings, a project's in its `.mcp.json`; the latter start only after the
//! person agreed to exactly that entry. Servers start with the first turn in a project, in the background. Invariants: a server
//! that is slow, dead or wrong holds up a run at most once and not for long; no key of ours reaches a server unless the person's own
//! entry says so; no child outlives us.

mod approvals;
mod book;
mod calls;
mod client;
mod elicit;
mod entry;
mod server;
mod tool;

pub use approvals::Approvals;
pub use book::{Listed, add, remove, servers};
pub(crate) use client::CONNECT;
pub use client::{Tested, test};
pub use entry::{Entry, EntryError, Way, parse};
pub(crate) use server::{Project, Servers, Site, Starting};
