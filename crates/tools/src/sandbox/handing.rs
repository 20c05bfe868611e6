//! Open files that go from one process of ours to another, over a socket between the two that keeps messages apart.
//!
//! What is said is one byte, and a few files go with it. Nothing here waits for longer than the socket was told to.

use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, SocketFlags, SocketType, recvmsg, sendmsg, socketpair,
};
use std::io::{Error, ErrorKind, IoSlice, IoSliceMut, Result};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Most files in one message.
pub(super) const MAX_FILES: usize = 3;
const SPACE: usize = rustix::cmsg_space!(ScmRights(MAX_FILES));

/// Two ends of a socket; neither is handed on to programs that are started, unless it is given to one by name.
pub(super) fn pair() -> Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?)
}

/// Says a byte, and hands files over with it.
pub(super) fn send(to: impl AsFd, word: u8, files: &[BorrowedFd<'_>]) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(Error::other("too many files for one message"));
    }
    // Who is gone is an error and no signal.
    sendmsg(to, &[IoSlice::new(&[word])], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Hears a byte, and takes the files that come with it; `None` when the other side is gone.
pub(super) fn receive(from: impl AsFd) -> Result<Option<(u8, Vec<OwnedFd>)>> {
    let from = from.as_fd();
    let mut space = [MaybeUninit::uninit(); SPACE];
    let mut word = [0];
    loop {
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let heard = recvmsg(from, &mut [IoSliceMut::new(&mut word)], &mut control, RecvFlags::CMSG_CLOEXEC);
        let heard = match heard {
            Err(rustix::io::Errno::INTR) => continue,
            Err(rustix::io::Errno::AGAIN) => return Err(ErrorKind::TimedOut.into()),
            heard => heard?,
        };
        if heard.bytes == 0 {
            return Ok(None);
        }
        let files = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(files) => Some(files),
            _ => None,
        });
        return Ok(Some((word[0], files.flatten().collect())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};

    #[test]
    fn files_arrive_with_their_word_and_an_end_is_heard() {
        let (here, there) = pair().unwrap();
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        send(&here, 7, &[writer.as_fd()]).unwrap();
        send(&here, 8, &[]).unwrap();
        let (word, files) = receive(&there).unwrap().unwrap();
        assert_eq!((word, files.len()), (7, 1));
        let mut handed = std::fs::File::from(files.into_iter().next().unwrap());
        handed.write_all(b"by hand").unwrap();
        writer.write_all(b", and here").unwrap();
        drop((handed, writer));
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        assert_eq!(text, "by hand, and here");
        assert_eq!(receive(&there).unwrap().map(|(word, files)| (word, files.len())), Some((8, 0)));
        drop(here);
        assert!(receive(&there).unwrap().is_none());
    }
}
