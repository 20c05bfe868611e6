//! Snapshots as bytes: the records with their long texts set apart, so that opening a session copies text instead of parsing it.
//!
//! Layout: the length of the lines (four bytes, little end first), the lines, the texts. Each line is the length of its text, a space,
//! and a record in which that text is empty. Not packed: a snapshot is read when a person waits.

use super::{Unreadable, damaged};
use domain::content::Part;
use domain::event::{Body, ContextEvent, MessageEvent, ToolEvent};
use domain::ids::Millis;
use domain::state::State;
use domain::tool::Progress;
use std::sync::mpsc::sync_channel;

/// The bytes of a snapshot.
pub(crate) fn pack(state: &State) -> Vec<u8> {
    let (mut lines, mut texts) = (String::new(), String::new());
    for (at, mut body) in state.replay() {
        let text = slot(&mut body).map(std::mem::take).unwrap_or_default();
        lines.push_str(&text.len().to_string());
        lines.push(' ');
        lines.push_str(&record::encode(&(at, body)));
        lines.push('\n');
        texts.push_str(&text);
    }
    let length = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(4 + lines.len() + texts.len());
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(lines.as_bytes());
    bytes.extend_from_slice(texts.as_bytes());
    bytes
}

/// The state of a snapshot.
pub(crate) fn unpack(bytes: &[u8]) -> Result<State, Unreadable> {
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or_else(cut)?;
    let rest = std::str::from_utf8(rest).map_err(|_| damaged("it is not text"))?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| cut())?;
    let (lines, texts) = rest.split_at_checked(length).ok_or_else(cut)?;
    let records = Records { lines: lines.lines(), texts };
    if lines.len() < WORTH_A_THREAD {
        return fold(records);
    }
    // Half of the work is parsing: another thread does it while this one folds.
    std::thread::scope(|scope| {
        let (sender, batches) = sync_channel::<Vec<Result<TimedBody, Unreadable>>>(BATCHES);
        scope.spawn(move || {
            let mut records = records;
            loop {
                let batch: Vec<_> = records.by_ref().take(BATCH).collect();
                // A reader that has stopped has found something wrong and wants no more.
                if batch.is_empty() || sender.send(batch).is_err() {
                    return;
                }
            }
        });
        fold(batches.into_iter().flatten())
    })
}

/// Lines shorter than this, in bytes, are not worth a thread.
const WORTH_A_THREAD: usize = 64 * 1024;
/// Records that go to the other thread at once, and how often that many may wait.
const BATCH: usize = 128;
const BATCHES: usize = 8;

type TimedBody = (Millis, Body);

fn cut() -> Unreadable {
    damaged("it is cut")
}

fn fold(records: impl Iterator<Item = Result<TimedBody, Unreadable>>) -> Result<State, Unreadable> {
    let mut state = State::new();
    for record in records {
        let (at, body) = record?;
        state.apply(at, &body).map_err(|error| damaged(error.to_string()))?;
    }
    Ok(state)
}

/// Records with their texts put back.
struct Records<'a> {
    lines: std::str::Lines<'a>,
    texts: &'a str,
}

impl Iterator for Records<'_> {
    type Item = Result<TimedBody, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = self.lines.next()?;
        Some(self.read(line))
    }
}

impl Records<'_> {
    fn read(&mut self, line: &str) -> Result<TimedBody, Unreadable> {
        let (length, record) = line.split_once(' ').ok_or_else(cut)?;
        let length: usize = length.parse().map_err(|_| cut())?;
        let (text, after) = self.texts.split_at_checked(length).ok_or_else(cut)?;
        self.texts = after;
        let (at, mut body): TimedBody = record::decode(record).map_err(|error| damaged(error.to_string()))?;
        if let Some(slot) = slot(&mut body) {
            text.clone_into(slot);
        }
        Ok((at, body))
    }
}

/// Where a body keeps its long text.
fn slot(body: &mut Body) -> Option<&mut String> {
    match body {
        Body::Message(
            MessageEvent::Delta { text, .. }
            | MessageEvent::PartAdded {
                part:
                    Part::Text(text)
                    | Part::Thought { text, .. }
                    | Part::Code { text, .. }
                    | Part::Diff { text, .. },
                ..
            },
        )
        | Body::Tool(ToolEvent::Progress {
            progress: Progress::Output(text) | Progress::Replace(text),
            ..
        }) => Some(text),
        Body::Tool(ToolEvent::Ended { result, .. }) => Some(&mut result.text),
        Body::Context(ContextEvent::Compacted { compaction, .. }) => Some(&mut compaction.summary),
        _ => None,
    }
}
