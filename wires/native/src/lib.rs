//! The native dialect: what our own remote UIs and runtimes speak. Lossless, one lane, JSON lines, one tag per line.
//!
//! The UI says hello first; the runtime answers with its own and both use the lower protocol number. Then commands go one way and
//! what happens goes the other way, in order. Every value of the vocabulary is written as `record` writes it, so nothing here
//! lifts or lowers; the roles keep the handshake, the tickets and the proof that both sides see the same session.

mod runtime_role;
#[cfg(feature = "schema")]
pub mod schema;
pub mod typescript;
mod ui_role;
pub mod wire;

#[cfg(test)]
mod tests;

use rolekit::first_line;
use roles::dialect::{Description, Dialect, Habits, Lanes};
use roles::fidelity::Sources;

pub use runtime_role::NativeRuntime;
pub use ui_role::NativeUi;

/// Where an author reads on.
const HINT: &str = "`parlor help native-protocol` has an example of each line";
/// The protocol we speak. It rises when an older peer could not understand a line that it must understand.
pub const PROTOCOL: u32 = 1;
/// The oldest protocol we still speak.
pub const MIN_PROTOCOL: u32 = 1;
/// Rises with every addition that an older peer may ignore.
pub const REVISION: u32 = 2;
/// Who says this revision or a later one hashes the written form; who says an earlier one hashes as the first releases did.
pub const WRITTEN_HASHES: u32 = 2;
/// A runtime that says this revision or a later one holds a UI to the rights in its hello; who says it as a UI speaks for itself, and not
/// through somebody who holds it to less without a word.
pub const TOLD_RIGHTS: u32 = 2;

/// Names of what a side can do beyond the protocol; unknown names do no harm.
pub mod capability {
    /// Takes `hash` lines and compares.
    pub const HASH: &str = "hash";
    /// Has a person who can answer asks.
    pub const ANSWERS: &str = "answers";
    /// Says `parlor/shown` when a question is on the screen.
    pub const SHOWN: &str = "shown";
    /// Knows `cursor` in a hello.
    pub const CURSOR: &str = "cursor";
    /// Tells which sessions are open to whoever says `watch_fleet`.
    pub const FLEET: &str = "fleet";
    /// Shows no session by itself: a UI that names none may begin one at once.
    pub const BEGINS: &str = "begins";
}

/// A replay whose line would be longer goes over several lines of about this size.
pub const ATTACH_BYTES: usize = 1_000_000;
/// A hash is sent at each number that this divides, and at each run's end.
pub const HASH_EVERY: u64 = 256;
/// Most commands of one link that may wait for their settlement.
pub const MAX_PENDING: usize = 1024;
/// Most items of one replay.
pub const MAX_REPLAY: usize = 4_000_000;
/// Most bytes of one replay.
pub const MAX_REPLAY_BYTES: usize = 128 * 1024 * 1024;
/// Most lines of one runtime that are answered with what is wrong with them; more are only logged.
pub const MAX_COMPLAINTS: u32 = 16;
/// How often one link asks for a session again because the two sides did not agree.
pub const MAX_RESYNCS: u32 = 3;

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: "native",
    lanes: Lanes::One,
    lossless: true,
    drains: false,
    restart_code: None,
    recognises: |line| first_line::has(line, &["hello"]),
    greets: |line| first_line::has(line, &["hello"]) || first_line::has_any(line, "error", &["about"]),
    sockets: None,
    habits: Habits::NONE,
    runtime_role: Some(|| Box::new(NativeRuntime::default())),
    ui_role: || Box::new(NativeUi::default()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: &[],
});
