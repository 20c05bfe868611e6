//! `parlor record`: sit between a UI and a program, copy every byte as it is, and write the conversation down.
//!
//! Invariants: bytes pass unchanged and are never delayed by the recording; nothing but the program's own words goes to stdout.

use crate::exit::{self, Exit};
use crate::output::{self, Carrier};
use crate::tape::{finish, open};
use host::guard;
use host::stop::Stops;
use kit::notation::Side;
use kit::recorder::{MAX_KEPT, Recorder};
use link::child::{self, Bytes, Launch};
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::JoinSet;

/// How much is copied at once.
const CHUNK: usize = 64 * 1024;
/// How long the program may take to end after we were told to stop.
const GRACE: Duration = Duration::from_secs(2);

/// Sit between a UI and a program and write their conversation down.
///
/// Give this to a UI in the place of its runtime. Every byte passes as it is; what looks like a secret does not get into the file.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  parlor record --dialect asst --out talk.txt -- python3 agent.py\nThen:\n  parlor trace talk.txt --html talk.html"
)]
pub(crate) struct Record {
    /// The protocol that is spoken.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::driven())]
    dialect: dialects::Dialect,
    /// Where to write; an existing file is never overwritten. Without it: parlor-DIALECT-TIME.txt, here.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The program and its arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Records until the program ends.
pub(crate) async fn record(record: Record) -> anyhow::Result<Exit> {
    let path = match record.out {
        Some(path) => path,
        None => default_path(record.dialect.name()),
    };
    let [program, arguments @ ..] = record.command.as_slice() else {
        return Err(exit::usage("say what to record\n\nhint: parlor record --dialect codelia -- COMMAND"));
    };
    let recorder = open(&path, record.dialect.name())?;
    output::print_error(&format!("recording to {}", path.display()));
    let launch = Launch {
        guard: guard::watching(),
        on_stderr: Some(Box::new(output::print_error)),
        ..Launch::new([program].into_iter().chain(arguments))
    };
    let Bytes { stdin, stdout, mut child } = launch.start_bytes()?;
    let mut said = JoinSet::new();
    said.spawn(copy(tokio::io::stdin(), stdin, Ear::new(recorder.clone(), Side::Ui)));
    let heard = copy(stdout, Carrier::of_tasks(), Ear::new(recorder.clone(), Side::Runtime));
    let mut stops = Stops::listen();
    let mut told = None;
    let ended = {
        let over = async {
            heard.await;
            child.wait().await
        };
        tokio::pin!(over);
        tokio::select! {
            ended = &mut over => Some(ended),
            signal = stops.next() => {
                told = Some(exit::by(signal));
                // Dropping the copier closes the program's stdin, which every wire over stdio takes as the end.
                said.abort_all();
                tokio::time::timeout(GRACE, &mut over).await.ok()
            }
        }
    };
    finish(&recorder);
    match ended {
        Some(child::Exit::Code(0)) => Ok(Exit::Done),
        Some(child::Exit::Code(code)) => std::process::exit(code),
        Some(child::Exit::Signal(_) | child::Exit::Unknown) => Ok(told.map_or(Exit::LEFT, Exit::Cancelled)),
        None => {
            child.shutdown_within(Duration::ZERO, GRACE).await;
            Ok(told.map_or(Exit::LEFT, Exit::Cancelled))
        }
    }
}

/// Copies until one end is gone, and lets the ear hear.
async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, mut ear: Ear) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        let bytes = chunk.get(..count).unwrap_or_default();
        ear.hear(bytes);
        if to.write_all(bytes).await.is_err() || to.flush().await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
    ear.end();
}

/// Cuts what passes into lines and notes them as they are, whatever is in them. Of a line that is longer than what is kept, the rest is
/// only counted.
struct Ear {
    recorder: Recorder,
    side: Side,
    line: Vec<u8>,
    /// Bytes of the line that were not kept.
    over: usize,
}

impl Ear {
    fn new(recorder: Recorder, side: Side) -> Ear {
        Ear { recorder, side, line: Vec::new(), over: 0 }
    }

    fn hear(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let (text, whole) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            let room = MAX_KEPT.saturating_sub(self.line.len()).min(text.len());
            self.line.extend_from_slice(text.get(..room).unwrap_or_default());
            self.over += text.len() - room;
            if whole {
                self.note(None);
            }
        }
    }

    fn end(&mut self) {
        if !self.line.is_empty() {
            self.note(Some("the line above was not finished".to_owned()));
        }
    }

    fn note(&mut self, remark: Option<String>) {
        let over = std::mem::take(&mut self.over);
        let longer = (over > 0).then(|| format!("the line above went on for {over} bytes"));
        let line = std::mem::take(&mut self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        self.recorder.note_with(self.side, 0, line, longer.or(remark));
    }
}

fn default_path(dialect: &str) -> PathBuf {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    PathBuf::from(format!("parlor-{dialect}-{}.txt", now.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bytes_pass_unchanged_and_are_noted_as_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.txt");
        let recorder = open(&path, "codelia").unwrap();
        let said = b"{\"a\":1}\r\nnot json\n\xff\n{\"cut\":".to_vec();
        let mut out = Vec::new();
        copy(&said[..], &mut out, Ear::new(recorder.clone(), Side::Ui)).await;
        recorder.finish().unwrap();
        assert_eq!(out, said);
        let text = std::fs::read_to_string(&path).unwrap();
        for line in ["> {\"a\":1}", "! not json", "! {\"cut\":"] {
            assert!(text.contains(line), "{text}");
        }
    }
}
