//! A program that is started again when it asks for that by its exit code. Its link goes on over the change: the new one is heard after
//! the old one, and greets once more.
//!
//! Invariants: a line that the old one did not finish is cut where it ended; lines that are sent while no program runs are dropped.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::{Bytes, Child, Exit, Launch};
use crate::lane_io::{LinkIo, Wiring};
use crate::limits::Limits;
use crate::outgoing::Outgoing;
use crate::stream::{READ_BYTES, Sink, Source};
use crate::{Lane, LinkError};

/// Most starts after the first: a program that asks for ever is let go.
pub const MAX_RESTARTS: u32 = 20;

/// How long a program that closed its stdout may take to end.
const END_WITHIN: Duration = Duration::from_secs(2);

/// Starts a program; when it ends with `code`, starts it again. Must be called within a tokio runtime.
///
/// # Errors
/// When it cannot be started the first time.
pub fn start_again_on(
    code: i32,
    launch: impl Fn() -> Launch + Send + Sync + 'static,
    lane: Lane,
    limits: Limits,
) -> Result<(LinkIo, Restarted), LinkError> {
    let Bytes { stdin, stdout, child } = launch().start_bytes()?;
    let current = Arc::new(Current { stdin: Mutex::new(Some(stdin)), child: Mutex::new(Some(child)) });
    let source = Voice {
        stdout,
        buffer: vec![0; READ_BYTES].into(),
        current: current.clone(),
        launch: Box::new(launch),
        code,
        restarts: 0,
    };
    let io = Wiring::new(limits).lane(lane, source, Ear(current.clone())).start();
    let outgoing = io.outgoing.clone();
    Ok((io, Restarted { current, outgoing }))
}

/// The program that runs now, whichever start it is of.
#[derive(Debug)]
pub struct Restarted {
    current: Arc<Current>,
    outgoing: Outgoing,
}

impl Restarted {
    /// How it ended, if it does within this time.
    pub async fn ended_within(&self, within: Duration) -> Option<Exit> {
        timeout(within, async { Some(self.current.child.lock().await.as_mut()?.wait().await) }).await.ok()?
    }

    /// Somebody who can wait for the end of the last start beside whoever holds this.
    pub fn witness(&self) -> LastWitness {
        LastWitness(self.current.clone())
    }

    /// Ends it as [`Child::shutdown`] does.
    pub async fn shutdown(self) -> (Exit, Vec<String>) {
        self.outgoing.close_after_flush();
        let child = self.current.child.lock().await.take();
        self.current.stdin.lock().await.take();
        match child {
            Some(child) => child.shutdown().await,
            None => (Exit::Unknown, Vec::new()),
        }
    }
}

/// Sees how a program ends that is not started again any more, and what it says last.
#[derive(Debug)]
pub struct LastWitness(Arc<Current>);

impl LastWitness {
    /// How it ended, if it does within this time, and the last lines of its stderr; to be asked when its link is over.
    pub async fn end_within(self, within: Duration) -> (Option<Exit>, Vec<String>) {
        let witness = self.0.child.lock().await.as_ref().map(Child::witness);
        match witness {
            Some(witness) => witness.end_within(within).await,
            None => (None, Vec::new()),
        }
    }
}

#[derive(Debug)]
struct Current {
    stdin: Mutex<Option<ChildStdin>>,
    child: Mutex<Option<Child>>,
}

/// What the program says, over its restarts.
struct Voice {
    stdout: ChildStdout,
    buffer: Box<[u8]>,
    current: Arc<Current>,
    launch: Box<dyn Fn() -> Launch + Send + Sync>,
    code: i32,
    restarts: u32,
}

impl Voice {
    /// Whether the program asked to be started again, and was.
    async fn again(&mut self) -> io::Result<bool> {
        let mut child = self.current.child.lock().await;
        let Some(old) = child.as_mut().filter(|_| self.restarts < MAX_RESTARTS) else { return Ok(false) };
        if timeout(END_WITHIN, old.wait()).await != Ok(Exit::Code(self.code)) {
            return Ok(false);
        }
        let Bytes { stdin, stdout, child: new } = (self.launch)().start_bytes().map_err(io::Error::other)?;
        *self.current.stdin.lock().await = Some(stdin);
        (self.stdout, *child) = (stdout, Some(new));
        self.restarts += 1;
        Ok(true)
    }
}

impl Source for Voice {
    async fn read(&mut self) -> io::Result<&[u8]> {
        let count = self.stdout.read(&mut self.buffer).await?;
        if count == 0 && self.again().await? {
            return Ok(b"\n");
        }
        Ok(&self.buffer[..count])
    }
}

/// What the program hears, whichever start it is of.
struct Ear(Arc<Current>);

impl Sink for Ear {
    async fn write(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let mut stdin = self.0.stdin.lock().await;
        let Some(stdin) = stdin.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        let written = async {
            stdin.write_all(bytes).await?;
            stdin.flush().await
        };
        match written.await {
            // Between two starts nobody hears; if there is no second one, the end of its voice tells.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            outcome => outcome,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.0.stdin.lock().await.take();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane_io::Incoming;
    use wire::Frame;

    /// Says which start it is, hears a line, ends with 75 the first time and 3 the second.
    const SCRIPT: &str = r#"n=$(cat "$0.n" 2>/dev/null || echo 1); echo "start $n"; read line; printf "heard $line"
        [ "$n" = 1 ] && { echo 2 > "$0.n"; exit 75; }; echo; exit 3"#;

    #[tokio::test]
    async fn a_program_that_asks_for_it_is_started_again_on_the_same_link() {
        let place = tempfile::tempdir().unwrap();
        let script = place.path().join("program");
        std::fs::write(&script, SCRIPT).unwrap();
        let launch = move || Launch::new(["sh".into(), script.clone().into_os_string()]);
        let (mut io, running) = start_again_on(75, launch, Lane::MAIN, Limits::default()).unwrap();
        let mut heard = Vec::new();
        while let Some(incoming) = timeout(Duration::from_secs(20), io.incoming.recv()).await.unwrap() {
            match incoming {
                Incoming::Frame { frame: Frame::Line(line), .. } => {
                    if line.starts_with("start") {
                        io.outgoing.try_send(Lane::MAIN, line.replace("start", "word")).unwrap();
                    }
                    heard.push(line);
                }
                Incoming::Frame { frame, .. } => panic!("{frame:?}"),
                Incoming::Closed { .. } => {}
            }
        }
        assert_eq!(heard, ["start 1", "heard word 1", "start 2", "heard word 2"]);
        assert_eq!(running.shutdown().await.0, Exit::Code(3));
    }
}
