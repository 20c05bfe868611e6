//! lemon: JSON objects in lines, over the stdio of a child process. Commands one way, events the other, no ids but those of questions.
//!
//! The document is a plan for a terminal client and the questions an agent can put to it; the existing programs came after it and
//! added several sessions ([`quirks`] has where they differ). What this wire can carry is in `words.txt`, its lines are in [`wire`].
//! The roles are [`LemonRuntime`] (a lemon client talks to us) and [`LemonUi`] (we talk to a lemon server).

pub mod quirks;
#[cfg(feature = "schema")]
pub mod schema;
pub mod wire;

mod lift;
mod lower;
mod runtime_role;
mod ui_role;

#[cfg(test)]
mod tests;

use rolekit::first_line;
use roles::dialect::{Description, Dialect, Habits, Interpreter, Lanes, Meaning};
use roles::fidelity::Sources;

pub use runtime_role::{ANSWER_DEADLINE, LemonRuntime, MAX_PENDING};
pub use ui_role::{EXIT_RESTART, LemonUi};

/// The dialect's name, as on the command line.
pub const NAME: &str = "lemon";
/// Sent in `ready`, as the document proposes.
pub const PROTOCOL_VERSION: u32 = 1;

/// Whose word is used where a field cannot be both (`--compat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compat {
    /// The existing clients'.
    #[default]
    Peer,
    /// The document's.
    Seed,
}

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: NAME,
    lanes: Lanes::One,
    lossless: false,
    drains: false,
    restart_code: Some(EXIT_RESTART),
    // The runtime speaks first.
    recognises: |_| false,
    // Others say it as well, and not where they work and which model answers.
    greets: |line| {
        first_line::is(line, "type", "ready")
            && ["cwd", "model"].iter().any(|own| first_line::has(line, &[own]))
    },
    sockets: None,
    habits: Habits {
        variables: &[],
        flags: &[
            ("--cwd", Meaning::Cwd),
            ("--model", Meaning::Model),
            ("--no-ui", Meaning::Option("no-ui")),
            ("--debug", Meaning::Option("debug")),
            ("--system-prompt", Meaning::Idle),
            ("--base-url", Meaning::Idle),
            ("--session-file", Meaning::Idle),
        ],
        interpreter: Some(Interpreter { word: "run", script_ends: ".exs", in_our_place: true }),
        saves: None,
        ..Habits::NONE
    },
    runtime_role: Some(|| Box::new(LemonRuntime::new())),
    ui_role: || Box::new(LemonUi::new()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: quirks::QUIRKS,
});
