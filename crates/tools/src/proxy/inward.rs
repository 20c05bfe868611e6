//! The way to single ports of this machine, a database or a server of models: each is listened at in the session's network, and what
//! connects there is carried to the same port of the machine's own loopback, if a rule or the person allows it.
//!
//! Which command connects cannot be told, so the question is about the session's commands. A port that a Parlor has (its page, its doors
//! for UIs) is never carried to, whatever is allowed. Not here: who is asked, and what is kept of the answer ([`Doorkeeper`]).

use super::doorkeeper::Doorkeeper;
use crate::address::Host;
use crate::gate::Gate;
use crate::net::{Holder, Net, PLACES, connect, holder};
use std::collections::BTreeMap;
use std::io::Result;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::copy_bidirectional;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

/// Connections to a port at once; who comes then waits to be accepted.
const MAX_CONNECTIONS: usize = 64;
/// Ports that are led in at once.
const MAX_LED_IN: usize = 32;
/// How long nobody is accepted after that failed: there may be no descriptors left.
const AGAIN: Duration = Duration::from_millis(100);
/// Ports of one output that are looked up: it must not become a way to learn all of them.
const MAX_NAMED: usize = 4;
/// Bytes of an output's end in which ports are looked for.
const MAX_READ: usize = 16 * 1024;
/// Characters between a name of loopback and its port.
const BETWEEN: usize = 16;

/// The ports that rules allow, led in for as long as they do.
#[derive(Debug, Default)]
pub(crate) struct Inward(Mutex<BTreeMap<u16, LedIn>>);

/// A port of the machine in a session's network. Dropped, it ends with its connections.
#[derive(Debug)]
pub(crate) struct LedIn {
    net: Net,
    port: u16,
    /// Who kept the network then.
    keeper: Option<u32>,
    ears: Vec<Ear>,
}

impl Drop for LedIn {
    fn drop(&mut self) {
        self.ears.clear();
        self.net.let_go(self.port);
    }
}

/// Listens at a port until it is dropped, and not a moment longer: the next command may need the same one at once, and a task that is
/// called off is let go of only when the runtime comes to it.
#[derive(Debug)]
pub(super) struct Ear {
    listener: TcpListener,
    _task: JoinSet<()>,
}

impl Ear {
    pub(super) fn new(listener: TcpListener, port: u16, keeper: Arc<Doorkeeper>) -> Result<Ear> {
        listener.set_nonblocking(true)?;
        let shared = tokio::net::TcpListener::from_std(listener.try_clone()?)?;
        let mut task = JoinSet::new();
        task.spawn(accept(shared, port, keeper));
        Ok(Ear { listener, _task: task })
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
    }
}

impl LedIn {
    /// Its number, the same on both sides.
    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// Listens for whoever connects; `None` where a server of the session's own has the port.
    pub(super) async fn open(net: &Net, port: u16, keeper: &Arc<Doorkeeper>) -> Option<LedIn> {
        let inside = net.clone();
        let listeners = tokio::task::spawn_blocking(move || inside.listen_at_both(port)).await.ok()?.ok()?;
        let ears = listeners.into_iter().map(|listener| Ear::new(listener, port, keeper.clone()));
        let ears = ears.collect::<Result<Vec<Ear>>>().ok()?;
        Some(LedIn { net: net.clone(), port, keeper: net.keeper(), ears })
    }
}

impl Inward {
    /// Leads in what rules allow now, and ends what they no longer do.
    pub(crate) async fn refresh(&self, net: &Net, gate: &Arc<dyn Gate>) {
        let allowed = gate.machine_ports();
        self.lock().retain(|port, led| allowed.contains(port) && led.keeper == net.keeper());
        for port in allowed.into_iter().take(MAX_LED_IN) {
            if self.has(port) {
                continue;
            }
            if let Some(led) = LedIn::open(net, port, &Doorkeeper::silent(gate.clone())).await {
                self.lock().insert(port, led);
            }
        }
    }

    /// The ports that are led in.
    pub(crate) fn ports(&self) -> Vec<u16> {
        self.lock().keys().copied().collect()
    }

    /// Whether a port is led in.
    pub(crate) fn has(&self, port: u16) -> bool {
        self.lock().contains_key(&port)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u16, LedIn>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: tokio::net::TcpListener, port: u16, keeper: Arc<Doorkeeper>) {
    let mut carried = JoinSet::new();
    loop {
        let has_room = carried.len() < MAX_CONNECTIONS;
        tokio::select! {
            Some(_) = carried.join_next(), if !carried.is_empty() => {}
            accepted = listener.accept(), if has_room => match accepted {
                Ok((inside, _)) => {
                    // Where Parlor carries as many as it can in all, this one is closed.
                    if let Ok(place) = PLACES.try_acquire() {
                        let keeper = keeper.clone();
                        carried.spawn(async move {
                            carry(inside, port, &keeper).await;
                            drop(place);
                        });
                    }
                }
                Err(_) => tokio::time::sleep(AGAIN).await,
            },
        }
    }
}

/// Copies both ways, where that is allowed; else the connection ends.
async fn carry(mut inside: TcpStream, port: u16, keeper: &Doorkeeper) {
    // Looked at before anybody is asked, and again when the answer has come.
    if !is_others(port, keeper).await
        || keeper.pass(&Host::of_machine(port)).await.is_err()
        || !is_others(port, keeper).await
    {
        return;
    }
    if let Ok(mut outside) = connect(port).await {
        let _ = copy_bidirectional(&mut inside, &mut outside).await;
    }
}

/// Whether somebody listens at the port, and no Parlor.
async fn is_others(port: u16, keeper: &Doorkeeper) -> bool {
    match tokio::task::spawn_blocking(move || holder(port)).await {
        Ok(Holder::Somebody) => true,
        Ok(Holder::Parlor) => {
            keeper.refuse(format!("port {port} of this machine is Parlor's own, which no command reaches"));
            false
        }
        Ok(Holder::Unknown) => {
            keeper.refuse(unknown(port));
            false
        }
        Ok(Holder::Nobody) | Err(_) => false,
    }
}

/// Why a port of a program that does not let itself be looked at is not reached.
fn unknown(port: u16) -> String {
    format!(
        "who listens at port {port} of this machine cannot be told, so no command reaches it: it may be a Parlor"
    )
}

/// The ports that this output of a command names and at which the machine listens, where the session has nothing there itself; and why
/// some of them are not to be had. Reads files below `/proc`.
pub(crate) fn missed(output: &str, net: &Net) -> (Vec<u16>, Vec<String>) {
    let own = net.ports();
    let (mut ports, mut refused) = (Vec::new(), Vec::new());
    for port in named(output).into_iter().filter(|port| !own.contains(port)) {
        match holder(port) {
            Holder::Somebody => ports.push(port),
            Holder::Unknown => refused.push(format!("({})", unknown(port))),
            Holder::Nobody | Holder::Parlor => {}
        }
    }
    (ports, refused)
}

/// The ports that stand behind a name of loopback, as programs write it.
fn named(output: &str) -> Vec<u16> {
    let from = output.len().saturating_sub(MAX_READ);
    let from = (from..=output.len()).find(|at| output.is_char_boundary(*at)).unwrap_or_default();
    let text = output.get(from..).unwrap_or_default().to_ascii_lowercase();
    let mut ports = Vec::new();
    for name in ["127.0.0.1", "localhost", "::1", "0.0.0.0"] {
        for (at, _) in text.match_indices(name) {
            let behind = text.get(at + name.len()..).unwrap_or_default();
            let port = port_of(behind).filter(|port| !ports.contains(port));
            if let Some(port) = port.filter(|_| ports.len() < MAX_NAMED) {
                ports.push(port);
            }
        }
    }
    ports
}

/// The number that follows, behind signs and the word `port` alone.
fn port_of(text: &str) -> Option<u16> {
    let begin = text.find(|c: char| c.is_ascii_digit()).filter(|begin| *begin <= BETWEEN)?;
    let between = text.get(..begin)?;
    let words = between.replace("port", "");
    if between.is_empty() || !words.chars().all(|c| c.is_ascii_punctuation() && c != '.' || c == ' ') {
        return None;
    }
    let digits = text.get(begin..)?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let goes_on = digits.get(end..)?.chars().next().is_some_and(char::is_alphanumeric);
    // The first part of another address is no port.
    let is_address = digits
        .get(end..)?
        .strip_prefix('.')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    digits.get(..end)?.parse().ok().filter(|port| *port > 0 && !goes_on && !is_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_found_where_programs_write_it() {
        for (output, ports) in [
            ("connection refused 127.0.0.1:5432", &[5432][..]),
            ("Error: connect ECONNREFUSED ::1:5432\n", &[5432]),
            ("curl: (7) Failed to connect to localhost port 11434 after 0 ms: Couldn't connect", &[11434]),
            (
                "connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused",
                &[5432],
            ),
            ("HTTPConnectionPool(host='localhost', port=11434): Max retries exceeded", &[11434]),
            ("Can't connect to MySQL server on '127.0.0.1:3306' (111)", &[3306]),
            ("http://[::1]:8080/ and http://localhost:3000. Again localhost:3000", &[3000, 8080]),
            ("redis://127.0.0.1:6379/0", &[6379]),
            ("localhost", &[]),
            ("localhost is 5432", &[]),
            ("localhost:99999 localhost:0 127.0.0.1:80a 127.0.0.1.5432", &[]),
            ("5432 of localhost\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n1234", &[]),
            ("example.com:5432", &[]),
        ] {
            assert_eq!(named(output), ports, "{output}");
        }
        let many: String = (1..100).map(|port| format!("127.0.0.1:{port} ")).collect();
        assert_eq!(named(&many).len(), MAX_NAMED);
        assert_eq!(named(&format!("127.0.0.1:5432{}", "\u{e4}".repeat(MAX_READ))), Vec::<u16>::new());
    }
}
