//! The ports at which commands of a session listen, in the network of its own: told, led out to this machine's loopback, taken back.
//!
//! One extension command, as for rules: `{}` lists, `{"open": 5173}` leads one out to the same number of 127.0.0.1, `{"close": 5173}` takes
//! it back. Each answer is the list as it is then. A port at which the page was served is never led out: what a browser keeps for the page
//! (its keys) it keeps by that address, and would give to whatever a command serves there.

use crate::port::Reported;
use domain::command::{Refusal, RefusalKind};
use domain::content::Json;
use domain::ids::SessionId;
use domain::port::Report;
use domain::signal::{Level, Signal};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use tokio::sync::mpsc;
use tools::Net;

/// The file of the data folder with the ports at which the page was served, one in a line.
pub const PAGE_PORTS: &str = "web.ports";
/// How often it is looked who listens.
const LOOK: Duration = Duration::from_secs(1);
/// Where the kernel's own choice of ports begins. Tests listen there for a moment, and nobody is told of each.
const CHOSEN_BY_KERNEL: u16 = 32_768;

#[derive(Debug, Default, Deserialize)]
struct PortsRequest {
    open: Option<u16>,
    close: Option<u16>,
}

/// Does what is asked, and tells the ports as they are then. Reads a file; to be called within a tokio runtime.
pub(crate) fn answer(data: &Path, net: Option<&Net>, payload: &Json) -> Result<Json, Refusal> {
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

/// The ports at which the page is or was served.
fn page_ports(data: &Path) -> BTreeSet<u16> {
    let text = std::fs::read_to_string(data.join(PAGE_PORTS)).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// Tells whoever watches the session when a command listens at a port that it chose. Ends with the receiver.
pub(crate) async fn watch(net: tools::net::Watch, session: SessionId, reports: mpsc::Sender<Reported>) {
    let (mut before, mut told) = (BTreeSet::new(), BTreeSet::new());
    while !reports.is_closed() {
        tokio::time::sleep(LOOK).await;
        let Some(ports) = net.ports() else { return };
        let now: BTreeSet<u16> = ports.into_iter().filter(|port| *port < CHOSEN_BY_KERNEL).collect();
        // Twice seen: what is gone again at once is nobody's server.
        let stay: BTreeSet<u16> = now.intersection(&before).copied().collect();
        for port in stay.difference(&told) {
            let text = format!("a command listens on {port} · /ports {port} opens it on this machine");
            let signal = Signal::Notify { level: Level::Info, text };
            let report = Report::Signal { session: session.clone(), signal };
            if reports.send((report, None)).await.is_err() {
                return;
            }
        }
        (told, before) = (stay, now);
    }
}
