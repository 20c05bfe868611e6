//! The wires ("dialects") that this build speaks, each a crate of its own under `wires`, none of which knows another.
//!
//! A dialect has two roles, both state machines without I/O: [`RuntimeRole`](roles::RuntimeRole) (we play the runtime, a foreign UI is
//! at the other end) and [`UiRole`](roles::UiRole) (we play the UI, a foreign runtime is at the other end). Its crate exports one
//! [`Dialect`], which says everything that others need to know of it; a new wire is its crate and its place in [`ALL`], or in [`DRIVEN`]
//! alone where it has no runtime role.

mod registry;
mod schemas;

pub use registry::{ALL, DRIVEN, NotADialect, driven, named, of_first_line, stranger};
#[cfg(feature = "schema")]
pub use registry::{DERIVED, WriteSchema};
pub use roles::Dialect;
pub use schemas::schema;
pub use {acp, asst, claude, codelia, lemon, native, nous, openagent};

/// The wire that a new agent is written for: there is none that takes fewer lines.
pub const FIRST_OF_AGENTS: Dialect = asst::DIALECT;
/// The wire that a new UI is written for: the shortest on which the agent can ask.
pub const FIRST_OF_UIS: Dialect = codelia::DIALECT;
/// The wire whose clients find the server of a person over WebSockets: the one for which clients are written that start no agent.
pub const OF_CLIENTS: Dialect = acp::DIALECT;
/// The wire by which agents of other programs are given tasks: they ask there before they act.
pub const OF_HELPERS: Dialect = acp::DIALECT;
/// Two wires that are as unlike as any, to show a bridge with: the UI's, and the agent's.
pub const SHOWN_BRIDGED: (Dialect, Dialect) = (codelia::DIALECT, lemon::DIALECT);
