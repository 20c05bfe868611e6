//! The keeper of a network: our binary once more, in a network namespace of its own that has nothing but loopback. It makes sockets
//! there for whoever started it, because a socket stays in the namespace where it was made, and does nothing else.
//!
//! Both sides of that talk are here. It ends when the other side is gone, however that ended; it starts no program, limits nothing, and
//! never waits for anything that a command could hold up: connecting and accepting is done by whoever has the socket.

use super::guard::{GuardError, system};
use super::handing;
use super::{limiter, mark, private};
use nix::sched::{CloneFlags, setns};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with};
use std::convert::Infallible;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a keeper may take to answer; making a socket takes no time.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// What a keeper can be asked for.
const NAMESPACES: u8 = b'n';
/// The same, and what is to be the stdin of who joins.
const NAMESPACES_AND_STDIN: u8 = b'i';
const SOCKET: u8 = b'4';
const SOCKET_V6: u8 = b'6';
const LIST: u8 = b'l';
const LIST_V6: u8 = b'L';
/// What it answers when there is no such thing; else it says the question again.
const NO: u8 = b'-';

/// The two kinds of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressKind {
    V4,
    V6,
}

/// A keeper that runs, and the namespaces that it gave away. Dropped, it ends.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
    socket: OwnedFd,
    /// The network, then the user namespace that it belongs to where that is not ours.
    namespaces: Vec<OwnedFd>,
    /// The kernel's lists of TCP sockets there.
    lists: Vec<File>,
}

impl Keeper {
    /// Starts one; `command` is our own binary with the words that make it [`keep`].
    pub(crate) fn start(mut command: Command) -> Result<Keeper> {
        let (socket, theirs) = handing::pair()?;
        set_socket_timeout(&socket, Timeout::Recv, Some(ANSWER_WITHIN))?;
        set_socket_timeout(&socket, Timeout::Send, Some(ANSWER_WITHIN))?;
        // Away from the terminal's group: what ends a program there must not end this one.
        command.env_clear().current_dir("/").process_group(0);
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn()?;
        // It holds the other end of the socket: with that open here, a keeper that ended would not be noticed.
        drop(command);
        let mut keeper = Keeper { child, socket, namespaces: Vec::new(), lists: Vec::new() };
        keeper.namespaces = keeper.ask(NAMESPACES)?;
        if keeper.namespaces.is_empty() {
            return Err(Error::other("it gave no namespace away"));
        }
        // A kernel without IPv6 has no such list.
        let lists = [LIST, LIST_V6].into_iter().filter_map(|list| keeper.ask(list).ok());
        keeper.lists = lists.flatten().map(File::from).collect();
        Ok(keeper)
    }

    /// A socket for TCP in the network, neither bound nor connected.
    pub(crate) fn socket(&self, family: AddressKind) -> Result<OwnedFd> {
        let word = match family {
            AddressKind::V4 => SOCKET,
            AddressKind::V6 => SOCKET_V6,
        };
        self.ask(word)?.pop().ok_or_else(|| ErrorKind::Unsupported.into())
    }

    /// What a guard reads to join the network: to be its stdin.
    pub(crate) fn pass(&self) -> Result<OwnedFd> {
        self.passed(NAMESPACES, None)
    }

    /// The same with what is to be the stdin of the command; otherwise it has none.
    pub(crate) fn pass_with(&self, stdin: BorrowedFd<'_>) -> Result<OwnedFd> {
        self.passed(NAMESPACES_AND_STDIN, Some(stdin))
    }

    fn passed(&self, word: u8, stdin: Option<BorrowedFd<'_>>) -> Result<OwnedFd> {
        let (here, theirs) = handing::pair()?;
        let files: Vec<BorrowedFd<'_>> =
            self.namespaces.iter().map(|file| file.as_fd()).chain(stdin).collect();
        handing::send(&here, word, &files)?;
        Ok(theirs)
    }

    /// The kernel's lists of TCP sockets there, to be read from their beginning.
    pub(crate) fn lists(&self) -> &[File] {
        &self.lists
    }

    /// Whether it has not ended.
    pub(crate) fn runs(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Its number among the processes.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn ask(&self, word: u8) -> Result<Vec<OwnedFd>> {
        handing::send(&self.socket, word, &[])?;
        match handing::receive(&self.socket)? {
            Some((said, files)) if said == word => Ok(files),
            Some(_) => Err(ErrorKind::Unsupported.into()),
            None => Err(Error::other("the keeper of the network ended")),
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // Nobody else waits for it, so its number is its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Is the keeper, on the socket that is its stdin.
pub(super) fn keep() -> std::result::Result<Infallible, GuardError> {
    limiter::close_the_rest();
    mark::put();
    let separate_user = enter_new().map_err(system("make a network"))?;
    let stdin = rustix::stdio::stdin();
    while let Some((word, _)) = handing::receive(stdin).map_err(system("hear what is asked"))? {
        let files = answer(word, separate_user);
        let said = if files.is_ok() { word } else { NO };
        let files = files.unwrap_or_default();
        let files: Vec<BorrowedFd<'_>> = files.iter().map(|file| file.as_fd()).collect();
        handing::send(stdin, said, &files).map_err(system("answer"))?;
    }
    std::process::exit(0)
}

fn answer(word: u8, separate_user: bool) -> Result<Vec<OwnedFd>> {
    let open = |path: &str| File::open(path).map(OwnedFd::from);
    match word {
        NAMESPACES => {
            let user = separate_user.then_some("/proc/self/ns/user");
            std::iter::once("/proc/self/ns/net").chain(user).map(open).collect()
        }
        SOCKET => Ok(vec![stream(AddressFamily::INET)?]),
        SOCKET_V6 => Ok(vec![stream(AddressFamily::INET6)?]),
        LIST => Ok(vec![open("/proc/self/net/tcp")?]),
        LIST_V6 => Ok(vec![open("/proc/self/net/tcp6")?]),
        _ => Err(ErrorKind::Unsupported.into()),
    }
}

fn stream(family: AddressFamily) -> Result<OwnedFd> {
    Ok(socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?)
}

/// Enters a network of its own in which loopback is up; tells whether it took a user namespace to make it.
pub(super) fn enter_new() -> Result<bool> {
    let separate_user = private::separate(CloneFlags::CLONE_NEWNET)?;
    loopback_up()?;
    Ok(separate_user)
}

/// Joins the network whose namespaces are handed over on stdin, and lets go of that. Tells whether it is now in another user namespace.
pub(super) fn join() -> Result<bool> {
    let stdin = rustix::stdio::stdin();
    set_socket_timeout(stdin, Timeout::Recv, Some(ANSWER_WITHIN))?;
    let (word, mut handed) = handing::receive(stdin)?.unwrap_or_default();
    match handed.pop_if(|_| word == NAMESPACES_AND_STDIN) {
        Some(own) => rustix::stdio::dup2_stdin(&own)?,
        None => rustix::stdio::dup2_stdin(&File::open("/dev/null")?)?,
    }
    let (network, user) = handed.split_first().ok_or_else(|| Error::other("no network was handed over"))?;
    // The rights to enter the network are had in the user namespace that it belongs to.
    if let Some(user) = user.first() {
        setns(user, CloneFlags::CLONE_NEWUSER)?;
    }
    setns(network, CloneFlags::CLONE_NEWNET)?;
    Ok(!user.is_empty())
}

/// Length of the message below, as the kernel wants to have it said.
const MESSAGE: u32 = 32;
/// Most of an answer that is read: head, error, and the head of what it answers.
const ANSWER: usize = 64;
/// The answer to a message of netlink.
const NLMSG_ERROR: u16 = 2;

/// Switches loopback on, by a message to the kernel: there is no call for it that is safe in the language's sense.
fn loopback_up() -> Result<()> {
    const NEW_LINK: u16 = 16;
    const REQUEST_AND_ANSWER: u16 = 1 | 4;
    // Every network begins with it.
    const LOOPBACK: u32 = 1;
    const UP: u32 = 1;
    // Of what netlink tells, devices and their addresses are the first kind, which need not be named.
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&kernel, Timeout::Recv, Some(ANSWER_WITHIN))?;
    let mut message = Vec::new();
    // Head: length, kind, flags, number, sender.
    message.extend(MESSAGE.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ANSWER.to_ne_bytes());
    message.extend([0; 8]);
    // AddressKind and kind (any), which device, its flags, which of them to change.
    message.extend([0; 4]);
    for word in [LOOPBACK, UP, UP] {
        message.extend(word.to_ne_bytes());
    }
    send(&kernel, &message, SendFlags::empty())?;
    let mut answer = [0; ANSWER];
    let (length, _) = recv(&kernel, &mut answer, RecvFlags::empty())?;
    match answer.get(..length).and_then(said) {
        Some(0) => Ok(()),
        Some(error) => Err(Error::from_raw_os_error(-error)),
        None => Err(Error::other("the kernel did not say whether loopback is up")),
    }
}

/// What an answer of the kernel says: 0, or a negative error.
fn said(answer: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    let error = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    (kind == NLMSG_ERROR).then_some(error)
}
