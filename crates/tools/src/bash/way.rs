//! The way out that a command gets: a proxy in the session's own network, where there is one.

use super::child::Leave;
use crate::context::ToolContext;
use crate::net::Net;
use crate::proxy::{Asking, NAMES, Thinking, WayOut};
use crate::tool::Port;

/// A command's proxy and the network where it listens. Dropped, it is closed.
#[derive(Debug)]
pub(super) struct Way {
    net: Net,
    out: WayOut,
}

impl Way {
    /// Opens one for a command that is in the session's network. None where there is no such network, where nobody decides on hosts, and
    /// where the person's own environment names a proxy: it would look names up by itself, so nothing could be judged here.
    pub(super) async fn open(
        place: &ToolContext,
        line: &str,
        leave: Leave,
        background: bool,
        port: &Port,
    ) -> Option<Way> {
        let gate = port.gate.clone()?;
        let net = place.net().filter(|_| !leave.looking && !leave.network && !leave.unsandboxed)?.clone();
        if NAMES.iter().any(|name| place.variable(name).is_some_and(|value| !value.is_empty())) {
            return None;
        }
        let inside = net.clone();
        // Makes the network where this is the first command.
        let listener = tokio::task::spawn_blocking(move || inside.listen(None)).await.ok()?.ok()?;
        let asking = if background { Asking::Nobody } else { Asking::Person(port.clone()) };
        let out = WayOut::open(listener, gate, asking, line).ok()?;
        Some(Way { net, out })
    }

    /// What tells programs of it.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        self.out.variables()
    }

    /// How long the person was asked meanwhile.
    pub(super) fn thinking(&self) -> Thinking {
        self.out.thinking().clone()
    }

    /// What the model reads of hosts that were refused.
    pub(super) fn told(&self) -> Option<String> {
        let told: Vec<String> = self.out.told().into_iter().map(|why| format!("(refused: {why})")).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.net.let_go(self.out.port());
    }
}
