//! The test kit: transcripts, how they are written, judged and accepted.
//!
//! [`pattern`] says what a JSON value may look like; [`notation`] is the transcript, a conversation as text. Both are
//! pure: nothing here opens a file, a socket or a clock.

pub mod notation;
pub mod pattern;
