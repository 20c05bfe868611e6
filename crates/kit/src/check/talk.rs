//! The conversation of one scenario: bytes out, lines in, with patience, and a memory of what was said.

use super::wires::{RuntimeWire, UiWire};
use super::{MARK, Stop, Wishes};
use crate::pattern::clip;
use crate::peer::Peer;
use link::child::Exit;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Lines that were read and not yet looked at.
const READ_AHEAD: usize = 64;
/// Lines that are remembered for the report.
const REMEMBERED: usize = 16;
/// How much of a line is remembered.
const MAX_SHOWN: usize = 300;
/// How long a write may take to a program that does not read.
const WRITE_WITHIN: Duration = Duration::from_secs(20);

/// Which side of which wire is played.
#[derive(Clone, Copy)]
pub(super) enum AnyWire {
    Runtime(&'static RuntimeWire),
    Ui(&'static UiWire),
}

/// One line of the program.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NextLine {
    /// JSON, on a lane.
    Json(u8, Value),
    /// Not JSON.
    Noise(String),
    /// The program has closed.
    Closed,
    /// Nothing came in time.
    Nothing,
}

/// The conversation of one scenario.
pub(super) struct Talk {
    peer: Peer,
    wire: AnyWire,
    pub(super) wishes: Wishes,
    cwd: PathBuf,
    writers: Vec<(u8, Box<dyn AsyncWrite + Send + Unpin>)>,
    heard: mpsc::Receiver<(u8, String)>,
    reading: watch::Sender<bool>,
    _readers: JoinSet<()>,
    said: VecDeque<String>,
    noise: Vec<String>,
    next_id: u64,
    /// What the program calls the session, once it told.
    session: Option<String>,
    /// What the program announced that it can do or cannot.
    announced: BTreeMap<&'static str, bool>,
}

impl Talk {
    pub(super) fn new(mut peer: Peer, wire: AnyWire, wishes: Wishes, cwd: PathBuf) -> Talk {
        let (sender, heard) = mpsc::channel(READ_AHEAD);
        let (reading, may_read) = watch::channel(true);
        let (mut readers, mut writers) = (JoinSet::new(), Vec::new());
        for lane in std::mem::take(&mut peer.lanes) {
            readers.spawn(read(lane.number, lane.read, sender.clone(), may_read.clone()));
            writers.push((lane.number, lane.write));
        }
        Talk {
            peer,
            wire,
            wishes,
            cwd,
            writers,
            heard,
            reading,
            _readers: readers,
            said: VecDeque::new(),
            noise: Vec::new(),
            next_id: 0,
            session: None,
            announced: BTreeMap::new(),
        }
    }

    /// Whether the program announced that it can do this; nothing where it did not say, or its wire has no word for it.
    pub(super) fn announced(&self, ability: &str) -> Option<bool> {
        self.announced.get(ability).copied()
    }

    /// The wire of a runtime under test.
    pub(super) fn wire(&self) -> Result<&'static RuntimeWire, Stop> {
        match self.wire {
            AnyWire::Runtime(wire) => Ok(wire),
            AnyWire::Ui(_) => Err(Stop::Skipped("a scenario for runtimes".to_owned())),
        }
    }

    /// The wire of a UI under test.
    pub(super) fn ui_wire(&self) -> Result<&'static UiWire, Stop> {
        match self.wire {
            AnyWire::Ui(wire) => Ok(wire),
            AnyWire::Runtime(_) => Err(Stop::Skipped("a scenario for UIs".to_owned())),
        }
    }

    /// A number that no request of this conversation has had.
    pub(super) fn id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// Says a line on the main lane.
    pub(super) async fn say(&mut self, line: &Value) -> Result<(), Stop> {
        self.say_on(0, line).await
    }

    /// Says a line on a lane.
    pub(super) async fn say_on(&mut self, lane: u8, line: &Value) -> Result<(), Stop> {
        let line = self.filled(line.clone());
        self.bytes_on(lane, format!("{line}\n").as_bytes()).await
    }

    /// The line with what only this conversation knows.
    fn filled(&self, line: Value) -> Value {
        match line {
            Value::String(hole) if hole == "{session}" => Value::from(self.session.clone().unwrap_or(hole)),
            Value::String(hole) if hole == "{cwd}" => Value::from(self.cwd.display().to_string()),
            Value::Array(items) => items.into_iter().map(|item| self.filled(item)).collect(),
            Value::Object(members) => {
                Value::Object(members.into_iter().map(|(key, value)| (key, self.filled(value))).collect())
            }
            other => other,
        }
    }

    /// Writes bytes on the main lane, flushed.
    pub(super) async fn bytes(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        self.bytes_on(0, bytes).await
    }

    async fn bytes_on(&mut self, lane: u8, bytes: &[u8]) -> Result<(), Stop> {
        let shown = String::from_utf8_lossy(bytes.get(..MAX_SHOWN * 4).unwrap_or(bytes)).into_owned();
        let sign = match self.wire {
            AnyWire::Runtime(_) => '>',
            AnyWire::Ui(_) => '<',
        };
        self.remember(format!("{sign} {}", shown.trim_end()));
        let Some((_, writer)) = self.writers.iter_mut().find(|(number, _)| *number == lane) else {
            return Err(Stop::wrong(format!("there is no lane {lane}")));
        };
        let writing = async {
            writer.write_all(bytes).await?;
            writer.flush().await
        };
        match tokio::time::timeout(WRITE_WITHIN, writing).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(why)) => Err(Stop::wrong(format!("the program does not read any more: {why}"))),
            Err(_) => Err(Stop::wrong(format!(
                "the program does not read: a write took more than {WRITE_WITHIN:?}"
            ))),
        }
    }

    /// What comes next, within a time.
    pub(super) async fn next_within(&mut self, within: Duration) -> NextLine {
        match tokio::time::timeout(within, self.heard.recv()).await {
            Err(_) => NextLine::Nothing,
            Ok(None) => NextLine::Closed,
            Ok(Some((lane, line))) => {
                let sign = match self.wire {
                    AnyWire::Runtime(_) => '<',
                    AnyWire::Ui(_) => '>',
                };
                self.remember(format!("{sign} {line}"));
                match serde_json::from_str(&line) {
                    Ok(value) => {
                        self.do_its_part(&value).await;
                        NextLine::Json(lane, value)
                    }
                    Err(_) => {
                        if !line.trim().is_empty() {
                            self.noise.push(clip(&line, MAX_SHOWN));
                        }
                        NextLine::Noise(line)
                    }
                }
            }
        }
    }

    /// Says what any UI of this wire says by itself: a session where none is open, an answer to a question that no scenario is about.
    async fn do_its_part(&mut self, line: &Value) {
        let AnyWire::Runtime(wire) = self.wire else { return };
        if let Some(session) = (wire.session)(line) {
            self.session = Some(session);
        }
        self.announced.extend((wire.announces)(line));
        for reply in (wire.reply)(line) {
            // A program that has gone away is seen by what does not come.
            if self.say(&reply).await.is_err() {
                return;
            }
        }
    }

    /// Waits for a line that something is found in; lines before it are passed over.
    pub(super) async fn until<T>(
        &mut self,
        what: &str,
        mut find: impl FnMut(&Value) -> Option<T>,
    ) -> Result<T, Stop> {
        let deadline = Instant::now() + self.wishes.patience;
        let mut passed = 0;
        loop {
            match self.next_within(deadline.saturating_duration_since(Instant::now())).await {
                NextLine::Json(_, value) => match find(&value) {
                    Some(found) => return Ok(found),
                    None => passed += 1,
                },
                NextLine::Noise(_) => {}
                NextLine::Closed => return Err(Stop::wrong(format!("{what}: the program closed instead"))),
                NextLine::Nothing => {
                    return Err(Stop::wrong(format!(
                        "{what}: did not come within {:?} ({passed} other lines did)",
                        self.wishes.patience
                    )));
                }
            }
        }
    }

    /// Everything that comes until the program has been silent for a while, or closes.
    pub(super) async fn lull(&mut self) -> Vec<Value> {
        self.gather(self.wishes.lull, |_| false).await
    }

    /// Everything that comes up to a line that ends it. A model may think for long between two lines, so silence is no end.
    pub(super) async fn until_over(&mut self, over: impl FnMut(&Value) -> bool) -> Vec<Value> {
        self.gather(self.wishes.patience, over).await
    }

    /// Everything that comes up to a line that ends it, or until the program has been silent for a while.
    pub(super) async fn until_over_or_silent(&mut self, over: impl FnMut(&Value) -> bool) -> Vec<Value> {
        self.gather(self.wishes.lull, over).await
    }

    async fn gather(&mut self, silence: Duration, mut over: impl FnMut(&Value) -> bool) -> Vec<Value> {
        let mut all = Vec::new();
        let deadline = Instant::now() + self.wishes.patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.next_within(silence.min(left)).await {
                NextLine::Json(_, value) => {
                    let last = over(&value);
                    all.push(value);
                    if last {
                        break;
                    }
                }
                NextLine::Noise(_) => {}
                NextLine::Closed | NextLine::Nothing => break,
            }
        }
        all
    }

    /// Stops or resumes reading what the program says.
    pub(super) fn read(&self, on: bool) {
        let _ = self.reading.send(on);
    }

    /// Lines that were no JSON.
    pub(super) fn noise(&self) -> &[String] {
        &self.noise
    }

    /// Closes our side, so that the program sees the end.
    pub(super) fn leave(&mut self) {
        self.writers.clear();
    }

    /// How the program ended, if it does in time and is ours to watch.
    pub(super) async fn ended(&mut self, within: Duration) -> Option<Exit> {
        self.peer.ended(within).await
    }

    /// Whether the program was started by the kit, in a directory of its own.
    pub(super) fn is_ours(&self) -> bool {
        self.peer.is_ours()
    }

    /// Whether it sees the end of its stdin when we leave.
    pub(super) fn is_on_stdio(&self) -> bool {
        self.peer.is_on_stdio()
    }

    /// What the consent prompt has written so far.
    pub(super) fn mark(&self) -> Option<String> {
        std::fs::read_to_string(self.cwd.join(MARK)).ok()
    }

    fn remember(&mut self, line: String) {
        if self.said.len() == REMEMBERED {
            self.said.pop_front();
        }
        self.said.push_back(clip(&line, MAX_SHOWN));
    }

    /// Ends the conversation; gives what is worth showing.
    pub(super) async fn close(mut self) -> Vec<String> {
        self.writers.clear();
        let stderr = self.peer.stderr();
        self.peer.close().await;
        let last =
            stderr.iter().rev().take(REMEMBERED / 2).rev().map(|line| format!("# {}", clip(line, MAX_SHOWN)));
        self.said.into_iter().chain(last).collect()
    }
}

async fn read(
    lane: u8,
    read: Box<dyn AsyncRead + Send + Unpin>,
    sender: mpsc::Sender<(u8, String)>,
    mut may_read: watch::Receiver<bool>,
) {
    let mut lines = BufReader::new(read).split(b'\n');
    loop {
        if may_read.wait_for(|on| *on).await.is_err() {
            return;
        }
        let Ok(Some(line)) = lines.next_segment().await else { return };
        let line = String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned();
        if sender.send((lane, line)).await.is_err() {
            return;
        }
    }
}
