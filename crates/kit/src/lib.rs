//! The test kit: transcripts, how they are written, judged and accepted.
//!
//! [`pattern`] says what a JSON value may look like; [`notation`] is the transcript, a conversation as text. Both are
//! pure. [`player`] plays one side of a transcript against a program over byte streams; [`ui_player`] plays it against a
//! UI role, without any I/O. [`recorder`] writes conversations down, [`trace`] shows what they tell, [`check`] finds out whether a
//! program keeps to its wire.

pub mod check;
pub mod generalize;
pub mod notation;
pub mod pattern;
pub mod peer;
pub mod player;
pub mod recorder;
pub mod redact;
pub mod trace;
pub mod ui_player;
