//! One call of git, awaited: what it said, within a time and a size.

use rustix::process::{Pid, Signal, kill_process};
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest text that is read of git, on each way out; the rest is thrown away.
pub(super) const MAX_SAID: u64 = 16 * 1024 * 1024;
/// How often it is looked whether git has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// How a call ended.
pub(super) struct Ended {
    pub(super) success: bool,
    pub(super) out: Vec<u8>,
    /// Whether there was more.
    pub(super) cut: bool,
    pub(super) err: String,
}

/// Runs it to its end; of what it says, so many bytes are read. A guard is asked to end what it guards, in a group of its own; git alone
/// is killed, and hears a Ctrl-C as we do.
pub(super) fn ended(
    mut command: Command,
    within: Duration,
    guarded: bool,
    most: u64,
) -> Result<Ended, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if guarded {
        command.process_group(0);
    }
    let mut child =
        command.spawn().map_err(|why| format!("git could not be started ({why}); is it installed?"))?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let out = scope.spawn(|| drained(out, most));
        let err = scope.spawn(|| drained(err, MAX_SAID));
        let until = Instant::now() + within;
        let status = loop {
            match child.try_wait() {
                Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
                Ok(Some(status)) => break Some(status),
                Ok(None) | Err(_) => {
                    let _ = match guarded {
                        true => kill_process(Pid::from_child(&child), Signal::TERM).map_err(Into::into),
                        false => child.kill(),
                    };
                    let _ = child.wait();
                    break None;
                }
            }
        };
        let ((out, cut), (err, _)) = (out.join().unwrap_or_default(), err.join().unwrap_or_default());
        let status = status.ok_or_else(|| format!("git took more than {} seconds", within.as_secs()))?;
        let err = String::from_utf8_lossy(&err).into_owned();
        Ok(Ended { success: status.success(), out, cut, err })
    })
}

fn drained(stream: Option<impl Read>, most: u64) -> (Vec<u8>, bool) {
    let (mut bytes, mut cut) = (Vec::new(), false);
    if let Some(mut stream) = stream {
        let _ = (&mut stream).take(most).read_to_end(&mut bytes);
        // The rest is read, so that git never waits for us.
        cut = std::io::copy(&mut stream, &mut std::io::sink()).is_ok_and(|rest| rest > 0);
    }
    (bytes, cut)
}
