//! The ports at which commands of a session listen, in the network of its own: told, led out to this machine's loopback, taken back.
//!
//! One extension command, as for rules: `{}` lists, `{"open": 5173}` leads one out to the same number of 127.0.0.1, `{"close": 5173}` takes
//! it back, and `{"allow": 5432}` is the other way round: commands of the project may reach that port of this machine. Each answer is the list as it is then. A port at which the page was served is never led out: what a browser keeps for the page
//! (its keys) it keeps by that address, and would give to whatever a command serves there.

use crate::port::Reported;
use domain::ask::Scope;
use domain::command::{Refusal, RefusalKind};
use domain::content::Json;
use domain::ids::SessionId;
use domain::listening::{self, ListeningPort};
use domain::port::Report;
use domain::signal::{Level, Signal};
use serde::Deserialize;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tools::{Gate, Host, HostSay, Net};

/// The file of the data folder with the ports at which the page was served, one in a line.
pub const PAGE_PORTS: &str = "web.ports";
/// How often it is looked who listens.
const LOOK: Duration = Duration::from_secs(1);
/// What is gone again sooner is nobody's server.
const LASTS: Duration = Duration::from_secs(1);
/// The same for ports of the kernel's own choice: tests listen there for a while, and nobody is told of each.
const CHOSEN_LASTS: Duration = Duration::from_secs(10);
/// Where the kernel's own choice of ports begins.
const CHOSEN_BY_KERNEL: u16 = 32_768;

#[derive(Debug, Default, Deserialize)]
struct PortsRequest {
    open: Option<u16>,
    close: Option<u16>,
    allow: Option<u16>,
}

/// Does what is asked, and tells the ports as they are then. Reads a file; to be called within a tokio runtime.
pub(crate) fn answer(
    data: &Path,
    net: Option<&Net>,
    gate: Option<&dyn Gate>,
    payload: &Json,
) -> Result<Json, Refusal> {
    let asked: PortsRequest = match payload.as_str().trim() {
        "" | "null" => PortsRequest::default(),
        text => serde_json::from_str(text).map_err(|why| {
            Refusal::new(RefusalKind::Invalid, format!("that names no port: {why}"))
                .hint("name one as it is listed")
        })?,
    };
    if let Some(port) = asked.open {
        open(data, net, port)?;
    }
    if let Some(port) = asked.allow {
        allow(gate, port)?;
    }
    if let (Some(port), Some(net)) = (asked.close, net) {
        net.take_back(port);
    }
    let (listening, led_out) = net.map(|net| (net.ports(), net.led_out())).unwrap_or_default();
    let all: BTreeSet<u16> = listening.iter().chain(&led_out).copied().collect();
    let line = |port: u16| json!({ "port": port, "open": led_out.contains(&port), "listens": listening.contains(&port) });
    let ports: Vec<_> = all.into_iter().map(line).collect();
    Ok(Json::verbatim(json!({ "ports": ports }).to_string()))
}

fn open(data: &Path, net: Option<&Net>, port: u16) -> Result<(), Refusal> {
    let invalid = |what: String| Refusal::new(RefusalKind::Invalid, what);
    let Some(net) = net.filter(|net| net.ports().contains(&port)) else {
        return Err(invalid(format!("nothing of this session listens at port {port}"))
            .hint("commands with `network` or free of the sandbox listen on this machine itself"));
    };
    if page_ports(data).contains(&port) {
        return Err(invalid(format!(
            "port {port} is or was the page's: a browser would give it the page's keys"
        ))
        .hint("have the server listen at another port"));
    }
    net.lead_out(port).map_err(|why| match why.kind() {
        std::io::ErrorKind::AddrInUse => invalid(format!("port {port} of this machine is taken"))
            .hint("end the program that has it, or have the server listen at another port"),
        _ => invalid(format!("port {port} of this machine cannot be had: {why}"))
            .hint("have the server listen at another port"),
    })
}

/// Makes the rule that lets commands of the project reach a port of this machine.
fn allow(gate: Option<&dyn Gate>, port: u16) -> Result<(), Refusal> {
    let invalid = |what: &str| Refusal::new(RefusalKind::Invalid, what);
    let gate =
        gate.ok_or_else(|| invalid("this session has done nothing yet").hint("say something to it first"))?;
    if port == 0 {
        return Err(invalid("no port has the number 0"));
    }
    let host = Host::of_machine(port);
    match gate.says(&host) {
        HostSay::Denied(why) => Err(invalid(&why)),
        HostSay::Asked { rule: None } => {
            Err(invalid("rules are for a project, and this session is in none").hint("start it in a project"))
        }
        // What was allowed until the session closes, or by its mode, is allowed for the project from now on.
        HostSay::Allowed | HostSay::Asked { rule: Some(_) } => {
            gate.remember(Scope::Always, &host);
            Ok(())
        }
    }
}

/// The ports at which the page is or was served.
pub(crate) fn page_ports(data: &Path) -> BTreeSet<u16> {
    let text = std::fs::read_to_string(data.join(PAGE_PORTS)).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// Tells whoever watches the session at which ports commands listen, whenever that changes. Ends with the receiver.
pub(crate) async fn watch(net: tools::net::Watch, session: SessionId, reports: mpsc::Sender<Reported>) {
    let mut since: BTreeMap<u16, Instant> = BTreeMap::new();
    // In the order in which they were told.
    let mut told: Vec<u16> = Vec::new();
    let mut said = listening::told(&[]);
    let mut asked = 0;
    while !reports.is_closed() {
        net.switched(LOOK).await;
        let Some([now, open, wanted]) = net.look() else { return };
        since =
            now.iter().map(|port| (*port, since.get(port).copied().unwrap_or_else(Instant::now))).collect();
        let lasts = |port: &u16| since.get(port).is_some_and(|since| since.elapsed() >= lasting(*port));
        told.retain(|port| lasts(port) || open.contains(port));
        let fresh = now.iter().chain(&open).filter(|port| lasts(port) || open.contains(port));
        for port in fresh {
            if !told.contains(port) {
                told.push(*port);
            }
        }
        let ports: Vec<ListeningPort> =
            told.iter().map(|port| ListeningPort { port: *port, open: open.contains(port) }).collect();
        let signal = listening::told(&ports);
        let mut signals: Vec<Signal> = wanted.iter().skip(asked).map(|port| looked_for(*port)).collect();
        asked = wanted.len();
        if signal != said {
            said = signal.clone();
            signals.push(signal);
        }
        for signal in signals {
            let report = Report::Signal { session: session.clone(), signal };
            if reports.send((report, None)).await.is_err() {
                return;
            }
        }
    }
}

/// A command looked in vain for something that this machine has.
fn looked_for(port: u16) -> Signal {
    let text = format!(
        "a command looked for port {port}, where this machine listens · you are asked when it tries again, or /ports allow {port}"
    );
    Signal::Notify { level: Level::Info, text }
}

/// How long somebody must have listened at a port before it is told.
fn lasting(port: u16) -> Duration {
    if port < CHOSEN_BY_KERNEL { LASTS } else { CHOSEN_LASTS }
}
