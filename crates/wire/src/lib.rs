//! From bytes to messages, without any dialect: capped lines, JSON depth, JSON-RPC classification, correlation,
//! lenient serde helpers, lines to write, secrets in text, and a rate bound.
//!
//! Pure: no I/O, no clock, no randomness. Nothing here panics on input; what is wrong with the input comes back as a
//! value. Every buffer and table has a named bound.

pub mod correlation;
pub mod depth;
mod encode;
pub mod jsonrpc;
pub mod lenient;
pub mod lines;
pub mod rate;
pub mod secret;
pub mod time;
mod wire_id;

pub use correlation::Correlation;
pub use encode::{Unwritable, encode};
pub use jsonrpc::{Message, RpcError};
pub use lines::{Frame, Framer};
pub use rate::Rate;
pub use wire_id::{BadId, MAX_ID_BYTES, WireId};
