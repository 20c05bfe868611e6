//! The wires ("dialects") that this build speaks, each a crate of its own under `wires`, none of which knows another.
//!
//! A dialect has two roles, both state machines without I/O: [`RuntimeRole`](roles::RuntimeRole) (we play the runtime, a foreign UI is
//! at the other end) and [`UiRole`](roles::UiRole) (we play the UI, a foreign runtime is at the other end). Its crate exports one
//! [`Dialect`], which says everything that others need to know of it; a new wire is its crate and its place in [`ALL`].

mod registry;

pub use registry::{ALL, NotADialect, named, of_first_line};
#[cfg(feature = "schema")]
pub use registry::{DERIVED, WriteSchema};
pub use roles::Dialect;
pub use {acp, asst, codelia, lemon, native, nous, openagent};
