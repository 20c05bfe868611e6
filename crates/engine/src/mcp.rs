//! MCP servers: programs whose tools the model may use beside our own.
//!
//! The person's servers stand in `mcp.json` of their settings, a project's in its `.mcp.json`; the latter start only after the
//! person agreed to exactly that entry. Servers start with the first turn in a project, in the background; those whose tools are known from
//! their last run (`card`) once the first answer is there. Invariants: a server
//! that is slow, dead or wrong holds up a run at most once and not for long; no key of ours reaches a server unless the person's own
//! entry says so; one on its leash writes nothing of the person's but what they let it (`reach`); no child outlives us.

mod approvals;
mod authorized;
mod beside;
mod book;
mod caches;
mod calls;
mod card;
mod change;
mod client;
mod elicit;
mod elsewhere;
mod entry;
mod heard;
mod link;
mod log;
mod login;
mod oauth;
mod process;
mod program;
mod question;
mod reach;
mod server;
mod tool;
mod trial;
mod variables;

pub use approvals::{Agreed, Approvals};
pub(crate) use book::digest_with_files;
pub use book::{Listed, add, forget, remove, servers};
pub(crate) use change::change_reach;
pub use change::checked;
pub(crate) use client::Values;
pub use elsewhere::{Foreign, elsewhere};
pub use entry::{Entry, EntryError, Way, parse};
pub use log::log;
pub use login::{BegunLogin, BrowserLogin, Logins, begin as begin_login};
pub use oauth::OAuth;
pub(crate) use question::{question, said};
pub use reach::Reach;
pub(crate) use server::{NamedPrompt, Offers, Project, ServerNotes, Servers, Site, Starting, offered_before};
pub use trial::{Tested, lets_in, test};

/// What a person is told who agrees to a server that their login would go to.
pub const SENT: &str = "; your login at this address is sent to it";
