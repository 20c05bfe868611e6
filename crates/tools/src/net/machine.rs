//! The ports of this machine itself, outside of every session's network: whether somebody listens at one, and whether that is a Parlor.
//!
//! Read from the kernel's lists, without connecting: who is asked about must not notice it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{Read as _, Result};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::net::TcpStream;

/// How much of a list is read: those who listen stand first in it.
const MAX_LIST: u64 = 1024 * 1024;
/// How the kernel writes that a socket listens.
const LISTENS: &str = "0A";
/// How it writes the addresses that 127.0.0.1 and ::1 lead to: any, and themselves.
const LOOPBACK: [&str; 5] = [
    "00000000",
    "0100007F",
    "00000000000000000000000000000000",
    "00000000000000000000000001000000",
    "0000000000000000FFFF00000100007F",
];
/// How long somebody who listens may take to be connected with.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Who listens at a port of this machine's loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holder {
    Nobody,
    /// A Parlor of this person: its page, a door for UIs, a port that it leads out.
    Parlor,
    Somebody,
    /// A program of this person's that does not let itself be looked at: it may be a Parlor.
    Unknown,
}

/// Who listens at a port now. Reads files below `/proc`.
pub(crate) fn holder(port: u16) -> Holder {
    let lists = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(read);
    let sockets: Vec<ListeningSocket> = lists.iter().flat_map(|list| sockets(list, port)).collect();
    if sockets.is_empty() {
        return Holder::Nobody;
    }
    let user = rustix::process::geteuid().as_raw().to_string();
    let mut unseen: Vec<&ListeningSocket> = sockets.iter().filter(|socket| socket.user == user).collect();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let held = held(&process.path());
        if sockets.iter().any(|socket| held.contains(&socket.link())) && is_parlor(&process.path()) {
            return Holder::Parlor;
        }
        unseen.retain(|socket| !held.contains(&socket.link()));
    }
    // Another user's, such as a database's, is not ours to look at, and nobody's of this person.
    if unseen.is_empty() { Holder::Somebody } else { Holder::Unknown }
}

/// Connects to what listens there.
pub(crate) async fn connect(port: u16) -> Result<TcpStream> {
    let connect = async {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
            Ok(stream) => Ok(stream),
            Err(_) => TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await,
        }
    };
    tokio::time::timeout(CONNECT_WITHIN, connect).await?
}

fn read(list: &str) -> String {
    let mut bytes = Vec::new();
    let _ = File::open(list).and_then(|file| file.take(MAX_LIST).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One line of such a list.
#[derive(Debug, PartialEq, Eq)]
struct ListeningSocket<'a> {
    /// Whose it is, by number.
    user: &'a str,
    /// The number that the kernel gives its file.
    inode: &'a str,
}

impl ListeningSocket<'_> {
    /// What a process that has it open has in its list of files.
    fn link(&self) -> PathBuf {
        format!("socket:[{}]", self.inode).into()
    }
}

/// The sockets that listen at this port of loopback.
fn sockets(list: &str, port: u16) -> impl Iterator<Item = ListeningSocket<'_>> {
    list.lines().filter_map(move |line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (address, at) = fields.get(1)?.rsplit_once(':')?;
        let is_it = u16::from_str_radix(at, 16) == Ok(port) && LOOPBACK.contains(&address);
        let socket = || Some(ListeningSocket { user: fields.get(7)?, inode: fields.get(9)? });
        (is_it && *fields.get(3)? == LISTENS).then(socket)?
    })
}

/// What a process has open, as far as we may look at it.
fn held(process: &Path) -> HashSet<PathBuf> {
    let files = std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| std::fs::read_link(file.path()).ok()).collect()
}

/// Whether a process is one of ours: it says so itself, whatever its file is called ([`crate::sandbox::be_known`]), or it is this program.
fn is_parlor(process: &Path) -> bool {
    let file = |process: &Path| process.join("exe").metadata().ok().map(|file| (file.dev(), file.ino()));
    let own = file(Path::new("/proc/self"));
    crate::sandbox::is_known(process) || own.is_some() && file(process) == own
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn who_listens_at_a_port_of_loopback_is_found_without_a_connection() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // This program stands for Parlor here: it is the one that asks.
        assert_eq!(holder(port), Holder::Parlor);
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err());
        drop(listener);
        assert_eq!(holder(port), Holder::Nobody);
    }

    #[test]
    fn only_what_listens_where_loopback_leads_counts() {
        let line = |address: &str, state: &str| {
            format!("  0: {address}:1538 00000000:0000 {state} 0:0 00:0 0 1000 0 4711 1 0 100 0 0 10 0\n")
        };
        for address in LOOPBACK {
            let socket = ListeningSocket { user: "1000", inode: "4711" };
            assert_eq!(sockets(&line(address, "0A"), 0x1538).collect::<Vec<_>>(), [socket], "{address}");
        }
        for (address, state, port) in
            [("0100007F", "01", 0x1538), ("0100007F", "0A", 80), ("0101A8C0", "0A", 0x1538)]
        {
            assert_eq!(sockets(&line(address, state), port).count(), 0, "{address} {state} {port}");
        }
        assert_eq!(sockets("  sl  local_address\n cut", 80).count(), 0);
    }
}
