//! Whoever reads what we say on stdout, and when they are gone.

use super::stream::stdout;
use rustix::event::{PollFd, PollFlags};
use std::io;
use std::thread;
use tokio::sync::oneshot;

/// Tells when nobody can read stdout any more: the other end of its pipe is closed, or its terminal is gone. Never, where that cannot be
/// known. The thread that waits for it ends with the process.
pub(crate) fn reader_gone() -> io::Result<oneshot::Receiver<()>> {
    let (tell, gone) = oneshot::channel();
    thread::Builder::new().name("stdout-reader".into()).spawn(move || {
        let out = stdout();
        loop {
            // Asked for nothing, it tells of an error or an end only.
            let mut polled = [PollFd::new(&out, PollFlags::empty())];
            match rustix::event::poll(&mut polled, None) {
                Ok(_) if polled[0].revents().intersects(PollFlags::ERR | PollFlags::HUP) => break,
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(_) => return,
            }
        }
        let _ = tell.send(());
    })?;
    Ok(gone)
}
