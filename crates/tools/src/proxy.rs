//! The way out of one command: a small proxy for HTTP in the session's own network, by which programs that honour the usual variables
//! reach hosts that a rule or the person allows.
//!
//! What a request itself names is what is judged, looked up and connected to, once each: no header, no second look-up and nothing that a
//! tunnel carries changes it. One's own networks are not reached. It is no cache and looks into nothing that is encrypted. All of it ends
//! when it is dropped, with the command.

mod doorkeeper;
mod hello;
mod inward;
mod login;
mod outside;
mod thinking;
mod visit;

pub(crate) use inward::{Inward, missed};
pub(crate) use thinking::Thinking;

use crate::gate::Gate;
use crate::jobs::Jobs;
use crate::net::{Net, PLACES};
use crate::port::Port;
use doorkeeper::Doorkeeper;
use inward::LedIn;
use login::Login;
use outside::{Internet, Outside};
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use visit::Door;

/// Connections of a command at once; past it new ones wait until another ends.
const MAX_CONNECTIONS: usize = 128;
/// How long to wait after a connection could not be taken, such as for want of descriptors.
const BREATH: Duration = Duration::from_millis(100);
/// What is said to a connection for which there is no place, before it is closed.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
/// What programs reach without the proxy: the session's own network, in all the forms that one program or another knows.
const NOT_BY_PROXY: &str = "localhost,.localhost,127.0.0.1,127.0.0.0/8,0.0.0.0,::1,[::1]";
/// Variables by which a person's own environment names a proxy.
pub const NAMES: [&str; 6] =
    ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

/// A command's proxy. Dropped, it ends with every connection.
#[derive(Debug)]
pub(crate) struct WayOut {
    port: u16,
    door: Arc<Door>,
    thinking: Thinking,
    /// Ports of this machine that are asked for while the command runs.
    led_in: Vec<LedIn>,
    _tasks: JoinSet<()>,
}

/// Whom a way out may ask.
#[derive(Debug)]
pub(crate) enum Asking {
    /// The person, in the middle of the command and of what runs in the background.
    Person(Port, Arc<Jobs>),
    /// Nobody: it goes on in the background.
    Nobody,
}

impl WayOut {
    /// Takes connections of the command `line` from `listener` on.
    pub(crate) fn open(
        listener: TcpListener,
        gate: Arc<dyn Gate>,
        asking: Asking,
        line: &str,
    ) -> io::Result<WayOut> {
        WayOut::over(listener, gate, asking, line, Arc::new(Internet), &PLACES)
    }

    fn over(
        listener: TcpListener,
        gate: Arc<dyn Gate>,
        asking: Asking,
        line: &str,
        outside: Arc<dyn Outside>,
        places: &'static Semaphore,
    ) -> io::Result<WayOut> {
        let port = listener.local_addr()?.port();
        listener.set_nonblocking(true)?;
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (mut tasks, thinking) = (JoinSet::new(), Thinking::default());
        let keeper = match asking {
            Asking::Nobody => Doorkeeper::silent(gate),
            Asking::Person(person, jobs) => {
                let (keeper, asker) = Doorkeeper::asking(gate, person, line, jobs, thinking.clone());
                tasks.spawn(asker.run());
                keeper
            }
        };
        let door = Arc::new(Door { keeper, outside, login: Login::new()? });
        tasks.spawn(take(listener, door.clone(), places));
        Ok(WayOut { port, door, thinking, led_in: Vec::new(), _tasks: tasks })
    }

    /// Asks, while the command runs, whether what connects to these ports may reach those of this machine.
    pub(crate) async fn offer(&mut self, net: &Net, ports: Vec<u16>) {
        for port in ports {
            self.led_in.extend(LedIn::open(net, port, &self.door.keeper).await);
        }
    }

    /// The ports that are asked for so.
    pub(crate) fn offered(&self) -> Vec<u16> {
        self.led_in.iter().map(LedIn::port).collect()
    }

    /// Of 127.0.0.1 in the network that the command is in.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// What tells programs of it, with the secret by which they are known to be the command's own.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        let address = format!("http://{}@127.0.0.1:{}", self.door.login.words(), self.port);
        let by =
            ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"].map(|name| (name, address.clone()));
        let not = ["no_proxy", "NO_PROXY"].map(|name| (name, NOT_BY_PROXY.to_owned()));
        by.into_iter().chain(not).chain([("NODE_USE_ENV_PROXY", "1".to_owned())]).collect()
    }

    /// What nobody but the command needs to read of them.
    pub(crate) fn secret(&self) -> &str {
        self.door.login.secret()
    }

    /// How long the person was asked meanwhile.
    pub(crate) fn thinking(&self) -> &Thinking {
        &self.thinking
    }

    /// The command has ended; a question that stands there meanwhile still counts, for what comes after it. Gives the hosts that were
    /// allowed too late.
    pub(crate) async fn settle(&self) -> Vec<String> {
        let keeper = &self.door.keeper;
        let open = keeper.end();
        self.thinking.answered().await;
        open.into_iter().filter(|host| keeper.has_allowed(host)).collect()
    }

    /// What was refused, in words for the model.
    pub(crate) fn told(&self) -> Vec<String> {
        self.door.keeper.told()
    }
}

async fn take(listener: tokio::net::TcpListener, door: Arc<Door>, places: &'static Semaphore) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut visits = JoinSet::new();
    loop {
        let Ok(place) = room.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => match places.try_acquire() {
                Ok(of_all) => {
                    let door = door.clone();
                    visits.spawn(async move {
                        visit::serve(stream, door).await;
                        drop((place, of_all));
                    });
                }
                Err(_) => {
                    let _ = stream.into_std().and_then(|mut stream| stream.write(FULL));
                }
            },
            Err(_) => tokio::time::sleep(BREATH).await,
        }
        while visits.try_join_next().is_some() {}
    }
}

#[cfg(test)]
mod tests;
