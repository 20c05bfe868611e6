//! What a desktop shell decides and does that needs no window: the way to the server ([`finder`]), the page's connections ([`Channel`]),
//! who waits and what the tray says of it ([`follow`], [`tray`]), addresses that are opened or asked about ([`address`]), the words of
//! a start ([`words`]), what the desktop tells ([`notes`]), whether it is started at login ([`autostart`]), and what is kept of windows
//! ([`kept`]). The shell itself (`desktop/`) draws and hands on.
//!
//! Invariants: it hosts no session and answers no question; lines go on as they come; the server is begun when the person wants it and
//! never against their word; everything is bounded.

pub mod address;
pub mod autostart;
mod channel;
pub mod finder;
pub mod follow;
pub mod kept;
pub mod notes;
pub mod tray;
pub mod words;

pub use channel::{Channel, Heard, MAX_CONNECTIONS, MAX_TOLD, TheEnd};
pub use finder::{Finder, Refused};
