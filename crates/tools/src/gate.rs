//! Who says whether commands may reach a host: the mode, the rules and the person of a session, which the agent knows.

use crate::address::Host;
use domain::ask::Scope;
use std::fmt::Debug;

/// What is said of a host without asking anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostSay {
    /// A rule covers it.
    Allowed,
    /// The mode does not let it happen; the words are for the model.
    Denied(String),
    /// A person must say. A rule can be had as long as `rule` has words for one.
    Asked { rule: Option<String> },
}

/// Decides on hosts that commands of a session want to reach.
pub trait Gate: Debug + Send + Sync {
    /// What mode and rules say now. Looks whether a small file is another one.
    fn says(&self, host: &Host) -> HostSay;
    /// The ports of this machine that rules allow now, each by its number.
    fn machine_ports(&self) -> Vec<u16>;
    /// Keeps what a yes with this scope covers. May write a file.
    fn remember(&self, scope: Scope, host: &Host);
}
