//! The network beyond this machine: names looked up once, and connections to exactly the addresses that were judged.

use super::doorkeeper::own_network;
use crate::address::{Host, NoWay, judged};
use crate::port::BoxFuture;
use std::fmt::Debug;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;

/// How long a name may take to be looked up, and how long a connection to one of its addresses.
const LOOK_UP_WITHIN: Duration = Duration::from_secs(10);
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Addresses of one name that are tried.
const MAX_TRIES: usize = 4;

/// What asks the network; tests have one of their own.
pub(super) trait Outside: Debug + Send + Sync {
    /// All addresses of a name.
    fn look_up<'a>(&'a self, name: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>>;
    /// To this address and no other.
    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>>;
}

/// The real one.
#[derive(Debug)]
pub(super) struct Internet;

impl Outside for Internet {
    fn look_up<'a>(&'a self, name: &'a str, port: u16) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
    }

    fn connect(&self, to: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(to))
    }
}

/// Why a host that may be reached was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreached {
    /// It leads to one's own network.
    Own(String),
    /// It does not answer; the words say why.
    Gone(String),
}

/// Connects to a host that may be reached.
pub(super) async fn reach(outside: &dyn Outside, host: &Host) -> Result<TcpStream, Unreached> {
    let gone = |why: &str| Unreached::Gone(format!("{host} cannot be reached: {why}"));
    let found = match tokio::time::timeout(LOOK_UP_WITHIN, outside.look_up(host.name(), host.port())).await {
        Ok(Ok(found)) => found,
        Ok(Err(why)) => return Err(gone(&why.to_string())),
        Err(_) => return Err(gone("its name was not found in time")),
    };
    let addresses = judged(found, false).map_err(|why| match why {
        NoWay::Own => Unreached::Own(own_network(host)),
        NoWay::Nowhere => gone("it has no address"),
    })?;
    let mut last = gone("it did not answer in time");
    for address in addresses.into_iter().take(MAX_TRIES) {
        match tokio::time::timeout(CONNECT_WITHIN, outside.connect(address)).await {
            // A public address can be this machine's own too: then both ends have it.
            Ok(Ok(stream)) if stream.local_addr().is_ok_and(|own| own.ip() == address.ip()) => {
                return Err(Unreached::Own(own_network(host)));
            }
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(why)) => last = gone(&why.to_string()),
            Err(_) => {}
        }
    }
    Err(last)
}
