//! openagent: JSON-RPC 2.0 in lines of UTF-8 over a Unix socket of mode 0600.
//!
//! The document is version 1.0.0 of the OpenAgent-Terminal protocol. The existing programs differ from it ([`quirks`]), so what we send
//! holds both spellings. What this wire can carry is in `words.txt`. Wire types are in [`wire`]; the roles are [`OpenagentRuntime`] (an
//! openagent UI talks to us) and [`OpenagentUi`] (we talk to an openagent backend); where they meet is [`SocketEnv`].

pub mod quirks;
#[cfg(feature = "schema")]
pub mod schema;
pub mod wire;

mod fences;
mod note;
mod plain;
mod runtime_role;
mod socket;
mod suggest;
mod ui_role;
mod version;

#[cfg(test)]
mod tests;

use rolekit::first_line;
use roles::dialect::{Description, Dialect, Habits, Lanes, UsualSockets};
use roles::fidelity::Sources;

pub use runtime_role::{MAX_QUERIES, MAX_UNSAID, OpenagentRuntime};
pub use socket::SocketEnv;
pub use ui_role::{BACKEND_LINE, OpenagentUi};

/// The dialect's name, as on the command line.
pub const NAME: &str = "openagent";

/// Our own name in `server_info`.
const OUR_NAME: &str = "parlor";

/// How long a request for approval waits, as the document has it.
pub const APPROVAL_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(30);

/// The wire, for everybody else.
pub const DIALECT: Dialect = Dialect::new(&Description {
    name: NAME,
    lanes: Lanes::One,
    lossless: false,
    drains: false,
    restart_code: None,
    // codelia begins with `initialize` as well and names the client differently.
    recognises: |line| {
        first_line::has(line, &["jsonrpc", "method"])
            && !first_line::has_any(line, "params", &["protocolVersion"])
            && (first_line::has_any(line, "params", &["client_info", "terminal_size"])
                || first_line::has_number(line, "id"))
    },
    greets: |line| first_line::greets_by_rpc(line, &["server_info", "status"]),
    sockets: Some(UsualSockets {
        listen: |variable, pid| SocketEnv::read(variable).listen(pid),
        connect: |variable| SocketEnv::read(variable).connect(None),
    }),
    habits: Habits { saves: Some(".openagent/sessions"), ..Habits::NONE },
    runtime_role: Some(|| Box::new(OpenagentRuntime::new())),
    ui_role: || Box::new(OpenagentUi::new()),
    fidelity: Sources::new(include_str!("words.txt"), include_str!("verdicts.txt")),
    quirks: quirks::QUIRKS,
});
