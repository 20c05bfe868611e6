//! The way out that a command gets: a proxy in the session's own network, where there is one.

use super::child::Leave;
use crate::address::Host;
use crate::context::ToolContext;
use crate::gate::{Gate, HostSay};
use crate::net::Net;
use crate::proxy::{Asking, NAMES, Thinking, WayOut, missed};
use crate::tool::Port;
use std::sync::Arc;

/// How programs say that somebody else listens at a port.
const TAKEN: [&str; 2] = ["address already in use", "eaddrinuse"];

/// A command's proxy and the network where it listens. Dropped, it is closed.
#[derive(Debug)]
pub(super) struct Way {
    place: ToolContext,
    gate: Arc<dyn Gate>,
    net: Net,
    out: WayOut,
}

impl Way {
    /// Opens one for a command that is in the session's network. None where there is no such network, and where nobody decides on hosts.
    /// Ports of this machine that rules allow are led in, and those that commands looked for in vain are asked about.
    pub(super) async fn open(
        place: &ToolContext,
        line: &str,
        leave: Leave,
        background: bool,
        port: &Port,
    ) -> Option<Way> {
        let gate = port.gate.clone()?;
        let net = place.net().filter(|_| !leave.looking && !leave.network && !leave.unsandboxed)?.clone();
        let inside = net.clone();
        // Makes the network where this is the first command.
        let listener = tokio::task::spawn_blocking(move || inside.listen(None)).await.ok()?.ok()?;
        let asking =
            if background { Asking::Nobody } else { Asking::Person(port.clone(), place.jobs().clone()) };
        let mut out = WayOut::open(listener, gate.clone(), asking, line).ok()?;
        place.lead_in(&gate).await;
        if !background {
            let wanted = net.wanted().into_iter().filter(|port| !place.inward().has(*port));
            out.offer(&net, wanted.collect()).await;
        }
        Some(Way { place: place.clone(), gate, net, out })
    }

    /// What tells programs of it; nothing where the person's own environment names a proxy. That one would look names up by itself, so
    /// nothing could be judged here.
    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let is_named = |name: &&str| self.place.variable(name).is_some_and(|value| !value.is_empty());
        if NAMES.iter().any(is_named) { Vec::new() } else { self.out.variables() }
    }

    /// The secret of its login.
    pub(super) fn secret(&self) -> &str {
        self.out.secret()
    }

    /// What the model reads when a failed command named ports of loopback at which this machine listens: from now on they are asked for
    /// when a command connects there.
    pub(super) async fn missed(&self, output: String) -> Option<String> {
        let net = self.net.clone();
        let taken = self.taken(&output);
        if taken.is_some() {
            return taken;
        }
        let (ports, unknown) = tokio::task::spawn_blocking(move || missed(&output, &net)).await.ok()?;
        let told = ports.into_iter().filter_map(|port| match self.gate.says(&Host::of_machine(port)) {
            HostSay::Asked { .. } => self.net.want(port).then(|| {
                format!(
                    "(this machine listens at port {port}, but commands have a 127.0.0.1 of their own. Call the command again: \
                     whether it may reach port {port} of this machine is then asked, and denied where nobody is there to answer)"
                )
            }),
            HostSay::Denied(why) => Some(format!("({why})")),
            HostSay::Allowed => None,
        });
        let told: Vec<String> = told.chain(unknown).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    /// What the model reads when a server of the session could not listen, where we listen in its network ourselves.
    fn taken(&self, output: &str) -> Option<String> {
        let output = output.to_ascii_lowercase();
        if !TAKEN.iter().any(|words| output.contains(words)) {
            return None;
        }
        let (offered, ruled) = (self.out.offered(), self.place.inward().ports());
        offered.iter().for_each(|port| self.net.want_no_longer(*port));
        let offered = offered.iter().map(|port| {
            format!(
                "(Parlor listened at port {port} here, to ask the person about port {port} of this machine. It no longer does: call the \
                 command again)"
            )
        });
        let ruled = ruled.iter().map(|port| {
            format!("(port {port} leads to port {port} of this machine, as the person allowed: have a server listen at another one)")
        });
        let told: Vec<String> = offered.chain(ruled).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    /// Ends it; a port of this machine that the person has allowed for longer stays within reach of what goes on in the background.
    pub(super) async fn end(self) {
        let (place, gate) = (self.place.clone(), self.gate.clone());
        drop(self);
        place.lead_in(&gate).await;
    }

    /// How long the person was asked meanwhile.
    pub(super) fn thinking(&self) -> Thinking {
        self.out.thinking().clone()
    }

    /// Waits for the person where a question is still open: the program did not, and the answer is for the next try.
    pub(super) async fn settle(&self) -> Vec<String> {
        let late = self.out.settle().await.into_iter();
        late.map(|host| format!("(the person has allowed {host} by now: call the command again)")).collect()
    }

    /// What the model reads of hosts that were refused, beside what was said `late`.
    pub(super) fn told(&self, late: Vec<String>) -> Option<String> {
        let refused = self.out.told().into_iter().map(|why| format!("(refused: {why})"));
        let told: Vec<String> = late.into_iter().chain(refused).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        self.net.let_go(self.out.port());
    }
}
