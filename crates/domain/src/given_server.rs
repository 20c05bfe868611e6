//! MCP servers that a UI brings along for a session: the person chose them in that program, so nobody is asked again; they are started like
//! the person's own and are written down nowhere.

use crate::content::Json;

/// Most servers that a UI may bring for a session.
pub const MAX_GIVEN: usize = 32;
/// Most bytes of all of them together.
pub const MAX_GIVEN_BYTES: usize = 256 * 1024;

/// A server as a UI describes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GivenServer {
    pub name: String,
    /// How it is reached, as an entry of a file of servers: `command`, `args` and `env`, or `url` and `headers`. May hold secrets.
    pub entry: Json,
}

impl GivenServer {
    /// About how many bytes it holds.
    pub fn weight(&self) -> usize {
        self.name.len() + self.entry.as_str().len()
    }
}

/// Whether so many and so large ones can be brought.
pub fn fits(servers: &[GivenServer]) -> bool {
    servers.len() <= MAX_GIVEN && servers.iter().map(GivenServer::weight).sum::<usize>() <= MAX_GIVEN_BYTES
}
