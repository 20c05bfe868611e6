//! Reading the terminal on a thread of its own, so that a key is never kept waiting by a frame.
//!
//! While an editor has the terminal the thread must not read: [`InputThread::pause`] wakes it and waits until it stands still. Idle,
//! it blocks and costs nothing.
//!
//! A terminal that is gone is watched for on a second thread: a read from it never ends and never gives anything, it only burns time.

use super::decode::{Answer, Decoder, InputEvent};
use super::terminal;
use crate::msg::Msg;
use domain::ids::Millis;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;

/// Events that wait at most; the thread then waits too.
const MAX_EVENTS: usize = 1_024;
/// Bytes read at once.
const MAX_READ: usize = 4_096;

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Gate {
    #[default]
    Open,
    /// The thread is to stop reading.
    Closing,
    Closed,
    /// The thread is to end.
    Ended,
}

/// The thread that reads.
#[derive(Debug)]
pub(super) struct InputThread {
    events: mpsc::Receiver<Input>,
    gate: Arc<(Mutex<Gate>, Condvar)>,
    /// A byte here ends a wait for input.
    bell: UnixStream,
}

/// What the thread read.
#[derive(Debug)]
pub(super) enum Input {
    /// Something the person did, and when: a frame may take long, and a key typed meanwhile is not meant for it.
    Msg(Box<Msg>, Millis),
    /// The terminal answers something that it was asked.
    Answer(Answer),
    /// There is no terminal any more, or it cannot be read, whether or not a signal said so.
    Gone,
}

impl InputThread {
    /// Starts the threads that read the terminal.
    pub(super) fn start() -> io::Result<InputThread> {
        let (send, events) = mpsc::channel(MAX_EVENTS);
        let gate = Arc::new((Mutex::new(Gate::Open), Condvar::new()));
        let (bell, rung) = UnixStream::pair()?;
        let theirs = gate.clone();
        let watching = send.clone();
        thread::Builder::new().name("terminal".to_owned()).spawn(move || {
            terminal::wait_until_gone();
            let _ = watching.blocking_send(Input::Gone);
        })?;
        thread::Builder::new().name("input".to_owned()).spawn(move || read(&send, &theirs, &rung))?;
        Ok(InputThread { events, gate, bell })
    }

    pub(super) async fn next(&mut self) -> Option<Input> {
        self.events.recv().await
    }

    /// Stops reading; returns when nothing reads any more.
    pub(super) async fn pause(&mut self) {
        self.set(Gate::Closing);
        let _ = self.bell.write_all(b"!");
        let gate = self.gate.clone();
        let wait = tokio::task::spawn_blocking(move || {
            let mut state = gate.0.lock().unwrap_or_else(PoisonError::into_inner);
            while *state == Gate::Closing {
                state = gate.1.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        });
        let _ = wait.await;
    }

    /// Ends the thread that reads: something else will read the terminal from here on.
    pub(super) async fn end(mut self) {
        self.pause().await;
        self.set(Gate::Ended);
    }

    /// Lets the thread read again after a pause.
    pub(super) fn resume(&self) {
        self.set(Gate::Open);
    }

    fn set(&self, to: Gate) {
        *self.gate.0.lock().unwrap_or_else(PoisonError::into_inner) = to;
        self.gate.1.notify_all();
    }
}

fn read(send: &mpsc::Sender<Input>, gate: &(Mutex<Gate>, Condvar), rung: &UnixStream) {
    let mut decoder = Decoder::default();
    loop {
        {
            let mut state = gate.0.lock().unwrap_or_else(PoisonError::into_inner);
            while *state != Gate::Open {
                if *state == Gate::Ended {
                    return;
                }
                *state = Gate::Closed;
                gate.1.notify_all();
                state = gate.1.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        let Ok(said) = next(&mut decoder, rung) else {
            let _ = send.blocking_send(Input::Gone);
            return;
        };
        for said in said {
            let msg = |msg| Input::Msg(Box::new(msg), super::now());
            let input = match said {
                InputEvent::Key(key) => msg(Msg::Key(key)),
                InputEvent::Paste(text) => msg(Msg::Paste(text)),
                InputEvent::Mouse(mouse) => msg(Msg::Mouse(mouse)),
                InputEvent::Answer(answer) => Input::Answer(answer),
            };
            if send.blocking_send(input).is_err() {
                return;
            }
        }
    }
}

/// Waits for bytes, or for the bell; what the bytes say.
fn next(decoder: &mut Decoder, mut rung: &UnixStream) -> io::Result<Vec<InputEvent>> {
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(rung, PollFlags::IN)];
    let wait = decoder.waits().map(timespec);
    match poll(&mut fds, wait.as_ref()) {
        Ok(0) => return Ok(decoder.give_up()),
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(Vec::new()),
        Err(why) => return Err(why.into()),
    }
    let (typed, bell) = (fds[0].revents(), fds[1].revents());
    if !bell.is_empty() {
        let _ = rung.read(&mut [0; 16])?;
    } else if typed.contains(PollFlags::IN) {
        let mut bytes = [0; MAX_READ];
        let count = rustix::io::read(stdin.as_fd(), &mut bytes)?;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        return Ok(decoder.feed(&bytes[..count]));
    } else if !typed.is_empty() {
        return Err(io::ErrorKind::BrokenPipe.into());
    }
    Ok(Vec::new())
}

fn timespec(wait: Duration) -> Timespec {
    Timespec { tv_sec: i64::try_from(wait.as_secs()).unwrap_or(0), tv_nsec: i64::from(wait.subsec_nanos()) }
}
