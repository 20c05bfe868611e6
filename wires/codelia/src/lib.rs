//! codelia: JSON-RPC 2.0 in lines of UTF-8, over the stdio of a child process.
//!
//! The document is version "0" of codelia's UI protocol; the existing programs are later than it and differ here and there
//! ([`quirks`]). What this wire can carry is in `words.txt`. Wire types are in [`wire`]; the roles are [`CodeliaRuntime`] (a codelia UI
//! talks to us) and [`CodeliaUi`] (we talk to a codelia runtime).

mod effort_name;
pub mod quirks;
#[cfg(feature = "schema")]
pub mod schema;
pub mod wire;

mod path_alias;
mod retry_kind;
mod run_name;
mod runtime_role;
mod ui_role;

#[cfg(test)]
mod tests;

use rolekit::first_line;
use roles::dialect::{Approval, Description, Dialect, Habits, Lanes, Meaning};
use roles::fidelity::Sources;

pub use runtime_role::{
    ANSWERS_WITHIN, BEGINS_AFTER, COMMAND_LINE, CodeliaRuntime, READ_WITHIN_MS, RESULT_PAUSE, TERMINAL_UI,
};
pub use ui_role::CodeliaUi;

/// The dialect's name, as on the command line.
pub const NAME: &str = "codelia";

/// The option with which numbers about each call of a model are told.
pub const DIAGNOSTICS: &str = "diagnostics";

/// codelia's words for how much runs without asking.
const APPROVAL_MODES: &[(&str, Approval)] =
    &[("minimal", Approval::Ask), ("trusted", Approval::Edits), ("full-access", Approval::Everything)];

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: NAME,
    lanes: Lanes::One,
    lossless: false,
    drains: false,
    restart_code: None,
    // Others begin with `initialize` as well and name the client or the version differently.
    recognises: |line| {
        first_line::has(line, &["jsonrpc", "method"])
            && !first_line::has_any(line, "params", &["client_info", "terminal_size", "protocolVersion"])
            && !first_line::has_number(line, "id")
    },
    greets: |line| first_line::greets_by_rpc(line, &["server", "server_capabilities"]),
    sockets: None,
    habits: Habits {
        flags: &[("--approval-mode", Meaning::Approval(APPROVAL_MODES))],
        variables: &[("CODELIA_DIAGNOSTICS", DIAGNOSTICS)],
        interpreter: None,
        saves: None,
        ..Habits::NONE
    },
    runtime_role: Some(|| Box::new(CodeliaRuntime::default())),
    ui_role: || Box::new(CodeliaUi::default()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: quirks::QUIRKS,
});
