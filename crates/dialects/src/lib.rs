//! The wires ("dialects"): one folder each, all of the same shape, none knows another.
//!
//! A dialect has two roles, both state machines without I/O: [`RuntimeRole`](roles::RuntimeRole) (we play the runtime, a foreign UI is at the other
//! end) and [`UiRole`](roles::UiRole) (we play the UI, a foreign runtime is at the other end).

#[cfg(feature = "asst")]
pub mod asst;
#[cfg(feature = "codelia")]
pub mod codelia;
#[cfg(feature = "lemon")]
pub mod lemon;
#[cfg(feature = "native")]
pub mod native;
#[cfg(feature = "nous")]
pub mod nous;
#[cfg(feature = "openagent")]
pub mod openagent;
pub mod registry;

pub use registry::Dialect;
