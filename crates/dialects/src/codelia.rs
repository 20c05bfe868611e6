//! codelia: JSON-RPC 2.0 in lines of UTF-8, over the stdio of a child process.
//!
//! The document is version "0" of codelia's UI protocol; the existing programs are later than it and differ here and there
//! ([`quirks`]). What this wire can carry is in [`fidelity`]. Wire types are in [`wire`]; the roles are [`CodeliaRuntime`] (a codelia UI
//! talks to us) and [`CodeliaUi`] (we talk to a codelia runtime).

pub mod fidelity;
pub mod quirks;
pub mod schema;
pub mod wire;

mod path_alias;
mod run_name;
mod runtime_role;
mod stamp;
mod ui_role;

#[cfg(test)]
mod tests;

pub use runtime_role::{BEGINS_AFTER, CodeliaRuntime, MAX_PENDING, RESULT_PAUSE};
pub use ui_role::CodeliaUi;

/// The dialect's name, as on the command line.
pub const NAME: &str = "codelia";
