//! Whose process is at the other end of a TCP connection within this machine: loopback is no boundary between its users.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};

/// The most that is read of the system's table of connections.
const MAX_TABLE: u64 = 16 * 1024 * 1024;

/// Whether a connection within this machine was made by another user than us or the administrator. What is not known is not foreign:
/// other systems do not tell.
pub async fn is_foreign(peer: SocketAddr, ours: SocketAddr) -> bool {
    let uid = tokio::task::spawn_blocking(move || uid_of(peer, ours)).await.ok().flatten();
    uid.is_some_and(|uid| uid != 0 && uid != rustix::process::getuid().as_raw())
}

/// The user of the process that connected from `peer` to `ours`, as the system's table says.
fn uid_of(peer: SocketAddr, ours: SocketAddr) -> Option<u32> {
    if !peer.ip().is_loopback() {
        return None;
    }
    let path = if peer.is_ipv4() { "/proc/net/tcp" } else { "/proc/net/tcp6" };
    let mut table = String::new();
    std::fs::File::open(path).ok()?.take(MAX_TABLE).read_to_string(&mut table).ok()?;
    // Our own address may be the one for all: the port is what we know of it.
    let (from, to) = (written(peer), format!(":{:04X}", ours.port()));
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let (local, remote) = (words.next()?, words.next()?);
        (local == from && remote.ends_with(&to)).then(|| words.nth(4)?.parse().ok())?
    })
}

/// An address as it stands in the table: words of four bytes in the machine's own order.
fn written(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |bytes: &[u8]| format!("{:08X}", <[u8; 4]>::try_from(bytes).map_or(0, u32::from_ne_bytes));
    let words: String = octets.chunks(4).map(word).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn our_own_connections_are_known_as_ours() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = tokio::net::TcpListener::bind(address).await else { continue };
            let ours = listener.local_addr().unwrap();
            let client = tokio::net::TcpStream::connect(ours).await.unwrap();
            let peer = client.local_addr().unwrap();
            assert!(!is_foreign(peer, ours).await);
            #[cfg(target_os = "linux")]
            assert_eq!(uid_of(peer, ours), Some(rustix::process::getuid().as_raw()));
        }
        assert_eq!(uid_of("192.0.2.1:1".parse().unwrap(), "192.0.2.2:2".parse().unwrap()), None);
    }
}
