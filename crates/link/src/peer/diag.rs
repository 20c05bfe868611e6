//! A connection's other end as the kernel knows it: asked by `sock_diag`, which looks up just that one; where a kernel has no such
//! thing, found in the tables of `/proc/net`.

use super::Ends;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};
use std::io::Read;
use std::net::{IpAddr, SocketAddr};

/// A socket of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DiagSocket {
    pub(super) uid: u32,
    pub(super) inode: u64,
}

/// The most that is read of a table of connections.
const MAX_TABLE: u64 = 64 * 1024 * 1024;

/// The socket at the other end, if it is one of this machine.
///
/// # Errors
/// When it could not be looked for.
pub(super) fn find(ends: Ends) -> std::io::Result<Option<DiagSocket>> {
    // A socket that takes both kinds of addresses shows the older kind in a disguise.
    let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let ends = Ends { peer: plain(ends.peer), ours: plain(ends.ours) };
    // A kernel that cannot be asked has tables; where those cannot be read either, nobody knows.
    asked(ends).or_else(|_| tabled(ends))
}

/// `SOCK_DIAG_BY_FAMILY` of `linux/sock_diag.h`.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST` of `linux/netlink.h`.
const REQUEST: u16 = 1;
/// Bytes of a head of netlink, of a request, and of what is read of an answer.
const HEAD: usize = 16;
const ASKED: usize = 56;
const TOLD: usize = 72;
const TCP: u8 = 6;
/// `ENOENT` as netlink says it.
const NO_SUCH: i32 = -2;

/// Asks the kernel; an error where it cannot be asked.
fn asked(ends: Ends) -> std::io::Result<Option<DiagSocket>> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    rustix::net::send(&socket, &request(ends), SendFlags::empty())?;
    let mut answer = [0; 4096];
    // The kernel answers in the call that asks, so that this waits for nobody.
    let (length, _) = rustix::net::recv(&socket, &mut answer[..], RecvFlags::DONTWAIT)?;
    read(answer.get(..length).unwrap_or_default(), ends)
}

fn family(address: SocketAddr) -> u8 {
    match address {
        SocketAddr::V4(_) => 2,
        SocketAddr::V6(_) => 10,
    }
}

/// An address and its port as they stand in messages: sixteen bytes, the unused ones empty.
fn octets(address: SocketAddr) -> [u8; 16] {
    match address.ip() {
        IpAddr::V4(ip) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            bytes
        }
        IpAddr::V6(ip) => ip.octets(),
    }
}

/// `inet_diag_req_v2` of `linux/inet_diag.h`, for the socket whose own end is the peer.
fn request(ends: Ends) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + ASKED);
    let length = u32::try_from(HEAD + ASKED).unwrap_or_default();
    bytes.extend(length.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([family(ends.peer), TCP, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(ends.peer.port().to_be_bytes());
    bytes.extend(ends.ours.port().to_be_bytes());
    bytes.extend(octets(ends.peer));
    bytes.extend(octets(ends.ours));
    bytes.extend(0_u32.to_ne_bytes());
    // Whatever its cookie is.
    bytes.extend([0xff; 8]);
    bytes
}

/// Reads `inet_diag_msg`. A listener that would take such a connection is not the connection.
fn read(answer: &[u8], ends: Ends) -> std::io::Result<Option<DiagSocket>> {
    let odd = || std::io::Error::other("an answer of sock_diag that cannot be read");
    let half = |at: usize| answer.get(at..at + 2).and_then(|bytes| <[u8; 2]>::try_from(bytes).ok());
    let word = |at: usize| answer.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
    let kind = half(4).map(u16::from_ne_bytes).ok_or_else(odd)?;
    if kind != BY_FAMILY {
        let code = word(HEAD).map(i32::from_ne_bytes).ok_or_else(odd)?;
        return if code == NO_SUCH { Ok(None) } else { Err(odd()) };
    }
    if answer.len() < HEAD + TOLD {
        return Err(odd());
    }
    let ports = (half(HEAD + 4).map(u16::from_be_bytes), half(HEAD + 6).map(u16::from_be_bytes));
    if ports != (Some(ends.peer.port()), Some(ends.ours.port())) {
        return Ok(None);
    }
    let (uid, inode) = (word(HEAD + 64), word(HEAD + 68));
    let (uid, inode) = (uid.ok_or_else(odd)?, inode.ok_or_else(odd)?);
    Ok(Some(DiagSocket { uid: u32::from_ne_bytes(uid), inode: u32::from_ne_bytes(inode).into() }))
}

/// Looks for the socket in the tables of both kinds of addresses: one of the newer kind can speak the older one.
fn tabled(ends: Ends) -> std::io::Result<Option<DiagSocket>> {
    let disguised = |address: SocketAddr| match address.ip() {
        IpAddr::V4(ip) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
        IpAddr::V6(_) => address,
    };
    let mapped = Ends { peer: disguised(ends.peer), ours: disguised(ends.ours) };
    if ends.peer.is_ipv4()
        && let Some(found) = listed("/proc/net/tcp", ends)?
    {
        return Ok(Some(found));
    }
    listed("/proc/net/tcp6", mapped)
}

fn listed(path: &str, ends: Ends) -> std::io::Result<Option<DiagSocket>> {
    let mut table = String::new();
    match std::fs::File::open(path) {
        Ok(file) => file.take(MAX_TABLE).read_to_string(&mut table)?,
        // A machine without addresses of that kind.
        Err(why) if why.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(why) => return Err(why),
    };
    let (from, to) = (written(ends.peer), written(ends.ours));
    Ok(table.lines().skip(1).find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_it = words.get(1) == Some(&from.as_str()) && words.get(2) == Some(&to.as_str());
        is_it.then(|| {
            Some(DiagSocket { uid: words.get(7)?.parse().ok()?, inode: words.get(9)?.parse().ok()? })
        })?
    }))
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
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::fs::MetadataExt;

    fn ends(
        listening: &str,
        connecting: impl Fn(SocketAddr) -> SocketAddr,
    ) -> Option<(TcpStream, TcpStream, Ends)> {
        let listener = TcpListener::bind(listening).ok()?;
        let client = TcpStream::connect(connecting(listener.local_addr().unwrap())).ok()?;
        let (server, peer) = listener.accept().unwrap();
        let ours = server.local_addr().unwrap();
        Some((client, server, Ends { peer, ours }))
    }

    fn inode(stream: &TcpStream) -> u64 {
        use std::os::fd::AsRawFd;
        std::fs::metadata(format!("/proc/self/fd/{}", stream.as_raw_fd())).unwrap().ino()
    }

    #[test]
    fn a_connection_is_found_by_both_ways_whatever_its_addresses_look_like() {
        let same = |address: SocketAddr| address;
        let mapped =
            |address: SocketAddr| SocketAddr::new("::ffff:127.0.0.1".parse().unwrap(), address.port());
        let older = |address: SocketAddr| SocketAddr::new("127.0.0.1".parse().unwrap(), address.port());
        let mut tried = 0;
        for (listening, connecting) in [
            ("127.0.0.1:0", &same as &dyn Fn(SocketAddr) -> SocketAddr),
            // A socket of the newer kind that speaks the older one.
            ("127.0.0.1:0", &mapped),
            ("[::1]:0", &same),
            // A listener that takes both.
            ("[::]:0", &older),
        ] {
            let Some((client, _server, ends)) = ends(listening, connecting) else { continue };
            let uid = rustix::process::getuid().as_raw();
            let expected = Some(DiagSocket { uid, inode: inode(&client) });
            assert_eq!(find(ends).unwrap(), expected, "{listening}");
            let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
            assert_eq!(
                tabled(Ends { peer: plain(ends.peer), ours: plain(ends.ours) }).unwrap(),
                expected,
                "{listening}"
            );
            tried += 1;
        }
        assert!(tried >= 2, "loopback is there");
    }

    #[test]
    fn what_is_no_connection_of_ours_is_not_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = listener.local_addr().unwrap();
        // A listener would take it, but nobody has connected.
        for peer in ["127.0.0.1:1", "192.0.2.1:9"] {
            let ends = Ends { peer: peer.parse().unwrap(), ours };
            assert_eq!((find(ends).unwrap(), tabled(ends).unwrap()), (None, None), "{peer}");
        }
        let reversed = Ends { peer: ours, ours: "127.0.0.1:1".parse().unwrap() };
        assert_eq!(find(reversed).unwrap(), None);
        for short in [&[][..], &[0; 5], &[0; 20]] {
            assert!(read(short, reversed).is_err());
        }
    }
}
