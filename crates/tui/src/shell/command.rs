//! A command of the person's own (`!`): runs beside the loop in a group of its own, tells what it writes as it comes, and can be stopped
//! with all it started. Only the end of a long output is kept.

use crate::msg::{CommandOutput, Msg};
use rustix::process::{Pid, Signal, kill_process_group};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Bytes of output that are kept.
const MAX_OUTPUT: usize = 64 * 1024;
/// How often the screen hears what was written, at most.
const TELL: Duration = Duration::from_millis(100);
/// How long a command may take to end once it was asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How long output is waited for after the command itself is over; what it left running may hold on to it.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// A command under way. Dropped, it is killed with all it started.
#[derive(Debug)]
pub(super) struct Running {
    stop: Option<oneshot::Sender<()>>,
    task: JoinSet<()>,
}

impl Running {
    /// Runs a line with `sh`; what it writes and how it ends comes to the inbox.
    pub(super) fn start(line: String, cwd: &Path, inbox: mpsc::Sender<Msg>) -> Running {
        let (stop, stopped) = oneshot::channel();
        let mut command = Command::new("sh");
        command.arg("-c").arg(&line).current_dir(cwd).process_group(0).kill_on_drop(true);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut task = JoinSet::new();
        task.spawn(async move {
            let msg = run(line, command, stopped, &inbox).await;
            let _ = inbox.send(msg).await;
        });
        Running { stop: Some(stop), task }
    }

    /// Asks it to end, and waits until it has: it is killed when it takes too long.
    pub(super) async fn end(mut self) {
        self.stop();
        self.task.join_next().await;
    }

    /// Asks it to end.
    pub(super) fn stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }
}

/// The processes of a command; they are killed when nobody waits for them any more.
struct Group(Option<Pid>);

impl Group {
    fn signal(&self, signal: Signal) {
        if let Some(group) = self.0 {
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

async fn run(
    line: String,
    mut command: Command,
    mut stopped: oneshot::Receiver<()>,
    inbox: &mpsc::Sender<Msg>,
) -> Msg {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let said = CommandOutput { text: error.to_string(), lost: 0 };
            return Msg::Shell { line, said, code: None };
        }
    };
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    let mut group = Group(id);
    let (send, mut chunks) = mpsc::channel::<Vec<u8>>(16);
    let mut passing = JoinSet::new();
    passing.spawn(pass_on(child.stdout.take(), send.clone()));
    passing.spawn(pass_on(child.stderr.take(), send));
    let mut output = Tail::default();
    let mut tell_at: Option<Instant> = None;
    let mut kill_at: Option<Instant> = None;
    let mut asked = false;
    let ended: Option<ExitStatus> = loop {
        tokio::select! {
            // A sender that is gone means that the screen is: the command goes too.
            _ = &mut stopped, if !asked => {
                asked = true;
                group.signal(Signal::TERM);
                kill_at = Some(Instant::now() + GRACE);
            }
            Some(chunk) = chunks.recv() => {
                output.add(&chunk);
                tell_at = tell_at.or(Some(Instant::now() + TELL));
            }
            () = until(tell_at) => {
                tell_at = None;
                // A screen that is too busy hears the next one.
                let _ = inbox.try_send(Msg::ShellSaid(output.said()));
            }
            () = until(kill_at) => {
                kill_at = None;
                group.signal(Signal::KILL);
            }
            status = child.wait() => break status.ok(),
        }
    };
    let drained = async {
        while let Some(chunk) = chunks.recv().await {
            output.add(&chunk);
        }
    };
    let _ = timeout(LAST_WORDS, drained).await;
    if !asked {
        // What it left running on purpose goes on.
        group.0 = None;
    }
    Msg::Shell { line, said: output.said(), code: ended.and_then(|status| status.code()) }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}

async fn pass_on(from: Option<impl AsyncRead + Unpin>, to: mpsc::Sender<Vec<u8>>) {
    let Some(mut from) = from else { return };
    let mut bytes = vec![0; 16 * 1024];
    while let Ok(read) = from.read(&mut bytes).await {
        if read == 0 || to.send(bytes[..read].to_vec()).await.is_err() {
            return;
        }
        if read == bytes.len() {
            // A command that writes without end leaves time for everything else.
            sleep(Duration::from_millis(1)).await;
        }
    }
}

/// The end of what was written.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    /// Lines that were let go of.
    lost: usize,
}

impl Tail {
    fn add(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        // Twice the bound, so that not every chunk moves all of it.
        if self.bytes.len() > MAX_OUTPUT * 2 {
            let from = self.kept_from();
            self.lost += lines(&self.bytes[..from]);
            self.bytes.drain(..from);
        }
    }

    /// Where what is kept begins: with a whole line, where there is one.
    fn kept_from(&self) -> usize {
        let from = self.bytes.len().saturating_sub(MAX_OUTPUT);
        if from == 0 {
            return 0;
        }
        let end = self.bytes[from..].iter().position(|byte| *byte == b'\n');
        end.map_or(from, |end| from + end + 1)
    }

    fn said(&self) -> CommandOutput {
        let from = self.kept_from();
        let text = String::from_utf8_lossy(&self.bytes[from..]).into_owned();
        CommandOutput { text, lost: self.lost + lines(&self.bytes[..from]) }
    }
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn end_of(line: &str, stop: bool) -> (Vec<String>, String, Option<i32>) {
        let (inbox, mut said) = mpsc::channel(64);
        let mut running = Running::start(line.to_owned(), Path::new("/"), inbox);
        let mut before = Vec::new();
        loop {
            match said.recv().await.unwrap() {
                Msg::ShellSaid(said) => {
                    before.push(said.text);
                    if stop {
                        running.stop();
                    }
                }
                Msg::Shell { said, code, .. } => return (before, said.text, code),
                other => panic!("{other:?}"),
            }
        }
    }

    #[tokio::test]
    async fn what_a_command_writes_and_how_it_ends_is_told() {
        let (_, output, code) = end_of("echo out; echo err >&2; exit 3", false).await;
        let mut lines: Vec<&str> = output.lines().collect();
        lines.sort_unstable();
        assert_eq!((lines, code), (vec!["err", "out"], Some(3)));
        let (_, output, _) = end_of("no-such-program-here", false).await;
        assert!(output.contains("not found"), "{output}");
    }

    #[tokio::test]
    async fn a_command_is_stopped_with_all_it_started() {
        let (before, output, code) = end_of("echo begun; sleep 1000 & wait", true).await;
        assert!(before[0].contains("begun"));
        assert!(output.contains("begun"));
        assert_eq!(code, None, "a signal ended it");
    }

    #[tokio::test]
    async fn one_that_will_not_end_is_killed() {
        let (_, _, code) = end_of("trap '' TERM; echo begun; while :; do sleep 1; done", true).await;
        assert_eq!(code, None);
    }

    #[tokio::test]
    async fn who_leaves_waits_until_the_command_is_gone() {
        let (inbox, mut said) = mpsc::channel(64);
        let line = "trap '' TERM; echo $$; while :; do sleep 1; done".to_owned();
        let running = Running::start(line, Path::new("/"), inbox);
        let Some(Msg::ShellSaid(first)) = said.recv().await else { panic!("it says its number") };
        let shell = Pid::from_raw(first.text.trim().parse().unwrap()).unwrap();
        // The screen is gone: nobody hears how it ends.
        drop(said);
        running.end().await;
        assert_eq!(rustix::process::test_kill_process(shell), Err(rustix::io::Errno::SRCH));
    }

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let mut tail = Tail::default();
        for number in 0..100_000 {
            tail.add(format!("{number}\n").as_bytes());
        }
        let said = tail.said();
        assert!(said.text.len() <= MAX_OUTPUT && said.text.ends_with("99999\n"));
        assert_eq!(said.lost + said.text.lines().count(), 100_000, "no line is counted twice or forgotten");
        assert_eq!(
            said.text.lines().next(),
            Some(said.lost.to_string().as_str()),
            "it begins with a whole line"
        );
    }
}
