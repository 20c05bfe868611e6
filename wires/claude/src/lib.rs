//! claude: what Claude Code says to a program that drives it, lines of JSON over the stdio of a child process (`--input-format stream-json
//! --output-format stream-json`). We play the UI alone: there is no runtime role, since UIs of this wire start Claude Code itself.
//!
//! The wire has no document but the types of the Agent SDK; what is here was read there and seen on the program of npm. Where the two or
//! the program's versions differ is in [`quirks`]. What the wire can carry is in `words.txt`.

pub mod quirks;
pub mod wire;

mod agents;
mod ui_role;

#[cfg(test)]
mod tests;

use rolekit::first_line;
use roles::dialect::{Description, Dialect, Habits, Lanes};
use roles::fidelity::Sources;

pub use ui_role::ClaudeUi;

/// The dialect's name, as on the command line.
pub const NAME: &str = "claude";

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: NAME,
    lanes: Lanes::One,
    lossless: false,
    drains: false,
    restart_code: None,
    recognises: |_| false,
    greets: |line| {
        first_line::is(line, "type", "control_response")
            || first_line::is(line, "type", "system") && first_line::is(line, "subtype", "init")
    },
    sockets: None,
    habits: Habits { agents: agents::KNOWN, resumes: Some("--resume"), ..Habits::NONE },
    runtime_role: None,
    ui_role: || Box::new(ClaudeUi::default()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: quirks::QUIRKS,
});
