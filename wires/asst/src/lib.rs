//! asst: one JSON object per line on stdin and stdout, requests by `kind`, responses by `type`.
//!
//! A shell sends requests with ids of its own; every response carries the id of its request, and every request is ended by exactly
//! one `done` or `error` (`get_status` by its `status`). There are no asks, no cancel and no list of conversations on this wire.

mod conversation;
pub mod quirks;
mod runtime_role;
#[cfg(feature = "schema")]
pub mod schema;
#[cfg(test)]
mod tests;
mod ui_role;
mod wire;

use rolekit::first_line;
use roles::dialect::{Description, Dialect, Habits, Interpreter, Lanes};
use roles::fidelity::Sources;

pub use runtime_role::{
    AsstRuntime, HELD_UP_FOR, MAX_ATTACHMENTS, MAX_IMAGE_BYTES, MAX_READY_AGAIN, MAX_REQUESTS, READY_AGAIN,
};
pub use ui_role::AsstUi;

/// The version that `ready` tells.
pub const VERSION: &str = "1.0.0";
/// What `ready` says that we can do, in the words of the document.
pub const CAPABILITIES: [&str; 3] = ["streaming", "tools", "attachments"];
/// Kind of the opaque part that stands for an attached file: `{"path":…,"mime":…}`.
pub const ATTACHMENT: &str = "attachment";

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: "asst",
    lanes: Lanes::One,
    lossless: false,
    drains: true,
    restart_code: None,
    // The runtime speaks first.
    recognises: |_| false,
    // Others say it as well, and with it where they work and which model answers.
    greets: |line| {
        first_line::is(line, "type", "ready")
            && first_line::has(line, &["timestamp"])
            && !first_line::has(line, &["cwd", "model"])
    },
    sockets: None,
    habits: Habits {
        variables: &[],
        flags: &[],
        interpreter: Some(Interpreter { word: "tsx", script_ends: ".ts", in_our_place: false }),
        saves: None,
        ..Habits::NONE
    },
    runtime_role: Some(|| Box::new(AsstRuntime::default())),
    ui_role: || Box::new(AsstUi::default()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: quirks::QUIRKS,
});
