//! Somebody who sees every line of a link, whichever way it goes.
//!
//! It is called on the tasks that move the lines, so it must be quick and never wait.

use std::fmt;
use std::sync::Arc;

use crate::Lane;

/// Which way a line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the peer to us.
    In,
    /// From us to the peer.
    Out,
}

type See = dyn Fn(Way, Lane, &str) + Send + Sync;

/// Sees every line of a link, without its newline.
#[derive(Clone)]
pub struct Watcher(Arc<See>);

impl Watcher {
    /// Calls `see` with every line.
    pub fn new(see: impl Fn(Way, Lane, &str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    /// Shows it a line.
    pub fn show(&self, way: Way, lane: Lane, line: &str) {
        (self.0)(way, lane, line);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher")
    }
}
