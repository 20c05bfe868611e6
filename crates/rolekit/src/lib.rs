//! What the roles of several wires are made of. Nothing here knows a wire: what a wire does its own way it hands in, as data or by a trait.
//!
//! A runtime role tells a run with the [`narrator`], has its requests in a table of [`exchange`]s, on JSON-RPC wires behind an [`endpoint`],
//! and shows a question as [`shown`] says. A UI role hears a run through a [`listener`], and what an agent says of a call through [`said`].

mod calls;
pub mod endpoint;
pub mod exchange;
pub mod first_line;
pub mod lines;
pub mod listener;
pub mod narrator;
pub mod rpc;
pub mod said;
#[cfg(feature = "schema")]
pub mod schema;
pub mod session_name;
pub mod shown;
pub mod start;
mod tagged;
