//! The wires ("dialects"): one folder each, all of the same shape, none knows another.
//!
//! A dialect has two roles, both state machines without I/O: [`RuntimeRole`](roles::RuntimeRole) (we play the runtime, a foreign UI is
//! at the other end) and [`UiRole`](roles::UiRole) (we play the UI, a foreign runtime is at the other end). Its folder exports one
//! [`Dialect`], which says everything that others need to know of it; a new wire is its folder, its `mod` and its place in [`ALL`].

pub mod acp;
pub mod asst;
#[cfg(test)]
mod bench;
mod calls;
pub mod codelia;
mod endpoint;
mod exchange;
mod first_line;
pub mod lemon;
pub mod listener;
pub mod narrator;
pub mod native;
pub mod nous;
pub mod openagent;
mod registry;
pub mod rpc;
mod said;
#[cfg(feature = "schema")]
pub mod schema;
mod session_name;
mod shown;
mod tagged;
pub mod typescript;

pub use registry::{ALL, NotADialect, named, of_first_line};
#[cfg(feature = "schema")]
pub use registry::{DERIVED, WriteSchema};
pub use roles::Dialect;
