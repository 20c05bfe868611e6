//! A network that is there: what is done with the sockets that its keeper makes, and what its lists tell.

use crate::sandbox::Guard;
use crate::sandbox::keeper::{AddressKind, Keeper};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_reuseaddr, socket_error};
use rustix::net::{bind, connect, listen};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{ErrorKind, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt as _;
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 128;
/// How long somebody who listens may take to be connected with: on loopback it takes no time, unless too many wait already.
const CONNECT_WITHIN: Duration = Duration::from_secs(2);
/// How much of a list is read: those who listen stand first in it.
const MAX_LIST: usize = 256 * 1024;
/// Most ports that are told.
const MAX_PORTS: usize = 1024;
/// How the kernel writes that a socket listens.
const LISTENS: &str = "0A";

/// Its keeper, and what was learned of it.
#[derive(Debug)]
pub(super) struct Made {
    /// One question at a time.
    keeper: Mutex<Keeper>,
    pid: u32,
}

impl Made {
    /// Makes one, by the program that guards commands.
    pub(super) fn by(guard: &Guard) -> Result<Made> {
        let keeper = Keeper::start(guard.keeper())?;
        Ok(Made { pid: keeper.pid(), keeper: Mutex::new(keeper) })
    }

    /// Listens at an address; port 0 is any that is free.
    pub(super) fn listen(&self, ip: IpAddr, port: u16) -> Result<TcpListener> {
        let family = if ip.is_ipv4() { AddressKind::V4 } else { AddressKind::V6 };
        let socket = self.keeper().socket(family)?;
        set_socket_reuseaddr(&socket, true)?;
        bind(&socket, &SocketAddr::from((ip, port)))?;
        listen(&socket, BACKLOG)?;
        Ok(socket.into())
    }

    /// What listens at `localhost` does so at either address, or at both.
    pub(super) fn connect(&self, port: u16) -> Result<TcpStream> {
        let first = self.connect_by(AddressKind::V4, SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
        first.or_else(|_| self.connect_by(AddressKind::V6, SocketAddr::from((Ipv6Addr::LOCALHOST, port))))
    }

    fn connect_by(&self, family: AddressKind, to: SocketAddr) -> Result<TcpStream> {
        let socket = self.keeper().socket(family)?;
        let stream = TcpStream::from(socket);
        stream.set_nonblocking(true)?;
        match connect(&stream, &to) {
            Err(Errno::INPROGRESS) => {
                let within = Timespec::try_from(CONNECT_WITHIN).map_err(|_| ErrorKind::TimedOut)?;
                if poll(&mut [PollFd::new(&stream, PollFlags::OUT)], Some(&within))? == 0 {
                    return Err(ErrorKind::TimedOut.into());
                }
                socket_error(&stream)??;
            }
            done => done?,
        }
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    /// Where somebody listens, in order.
    pub(super) fn ports(&self) -> Vec<u16> {
        let keeper = self.keeper();
        let lists = keeper.lists().iter().map(read);
        let ports: BTreeSet<u16> = lists.flat_map(|list| listening(&list).collect::<Vec<_>>()).collect();
        ports.into_iter().take(MAX_PORTS).collect()
    }

    fn keeper(&self) -> MutexGuard<'_, Keeper> {
        self.keeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether its keeper runs: without it no socket can be made there.
    pub(super) fn is_kept(&self) -> bool {
        self.keeper().runs()
    }

    /// The keeper's number.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// What a guard joins it by.
    pub(super) fn pass(&self) -> Result<Stdio> {
        self.keeper().pass().map(Stdio::from)
    }

    /// The same, with a stdin for the program.
    pub(super) fn pass_with(&self, stdin: BorrowedFd<'_>) -> Result<Stdio> {
        self.keeper().pass_with(stdin).map(Stdio::from)
    }
}

/// A list as it is now; of one that cannot be read, what could be.
fn read(list: &File) -> String {
    let mut bytes = vec![0; MAX_LIST];
    let mut filled = 0;
    while let Some(free @ [_, ..]) = bytes.get_mut(filled..)
        && let Ok(count @ 1..) = list.read_at(free, u64::try_from(filled).unwrap_or(u64::MAX))
    {
        filled += count;
    }
    bytes.truncate(filled);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The ports of those who listen: number, local address and port, remote ones, state.
fn listening(list: &str) -> impl Iterator<Item = u16> {
    list.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (_, port) = fields.next()?.rsplit_once(':')?;
        (fields.nth(1)? == LISTENS).then(|| u16::from_str_radix(port, 16).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_is_read_from_the_kernels_lists() {
        let list = "  sl  local_address rem_address   st tx_queue\n\
                     0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000\n\
                     1: 0100007F:1F91 0100007F:1F90 01 00000000:00000000 00:00000000\n\
                     2: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 0\n\
                     cut";
        assert_eq!(listening(list).collect::<Vec<_>>(), [8080, 80]);
    }
}
