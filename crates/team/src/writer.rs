//! One session that is being written here, and what an append of it brings to the database.

use crate::lease::STOP_AFTER;
use crate::reading::int;
use domain::event::{Body, Event, MessageEvent, ToolEvent};
use domain::ids::{Millis, Seq, SessionId};
use domain::tool::Progress;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use store::parts::{Chain, Change, Projection, pack};
use store::{Fence, StoreError};

/// Most events that wait in memory.
const WAITING_EVENTS: usize = 256;
/// Most text that waits in memory, in bytes.
const WAITING_BYTES: usize = 64 * 1024;
/// A snapshot is due after this many events…
const SNAPSHOT_EVERY: u64 = 1024;
/// …and not before the log has grown by this part of itself.
const SNAPSHOT_PART: u64 = 64;
/// Longest word that can be found, in characters: the index takes no longer ones.
const MAX_WORD: usize = 200;
/// The entry number that stands for a session's title.
const TITLE: u64 = 0;

/// A session that this store writes.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) id: i64,
    pub(crate) fence: Fence,
    /// The last event in the database.
    pub(crate) last: Seq,
    pub(crate) chain: Chain,
    pub(crate) waiting: Vec<Event>,
    waiting_bytes: usize,
    pub(crate) projection: Projection,
    pub(crate) snapshot_at: Seq,
    /// When the lease was asked for that we have, by our own clock.
    pub(crate) asked: Duration,
}

impl Writer {
    pub(crate) fn new(
        (id, fence): (i64, Fence),
        (last, chain): (Seq, Chain),
        projection: Projection,
        asked: Duration,
    ) -> Writer {
        Writer {
            id,
            fence,
            last,
            chain,
            waiting: Vec::new(),
            waiting_bytes: 0,
            projection,
            snapshot_at: Seq(0),
            asked,
        }
    }

    /// The last event that was appended, in the database or waiting.
    pub(crate) fn end(&self) -> Seq {
        self.waiting.last().map_or(self.last, |event| event.seq)
    }

    /// When its owner stops, by our own clock.
    pub(crate) fn stops(&self) -> Duration {
        self.asked + STOP_AFTER
    }

    /// Whether opening would be slow without another snapshot.
    pub(crate) fn snapshot_due(&self) -> bool {
        let grown = self.end().0.saturating_sub(self.snapshot_at.0);
        grown >= SNAPSHOT_EVERY.max(self.snapshot_at.0 / SNAPSHOT_PART)
    }

    /// Refuses events that do not follow the last one without a gap.
    pub(crate) fn check_numbers(&self, session: &SessionId, events: &[Event]) -> Result<(), StoreError> {
        let mut due = self.end().next();
        for event in events {
            if event.seq != due || i64::try_from(due.0).is_err() {
                let (session, got) = (session.clone(), event.seq);
                return Err(StoreError::OutOfOrder { session, expected: due, got });
            }
            due = due.next();
        }
        Ok(())
    }

    /// Lets events wait; whether so much waits that it is to be written.
    pub(crate) fn wait(&mut self, events: &[Event]) -> bool {
        self.waiting.extend_from_slice(events);
        self.waiting_bytes += events.iter().map(weight).sum::<usize>();
        self.waiting.len() >= WAITING_EVENTS || self.waiting_bytes >= WAITING_BYTES
    }

    /// Takes back what was let wait behind event `end`.
    pub(crate) fn take_back(&mut self, end: Seq) {
        self.waiting.retain(|event| event.seq <= end);
        self.waiting_bytes = self.waiting.iter().map(weight).sum();
    }

    /// All that waits as it goes to the database; `None` when nothing does.
    pub(crate) fn prepare(&self, session: &SessionId) -> Option<Prepared> {
        let end = self.waiting.last()?.seq;
        let mut projection = self.projection.clone();
        let title = projection.summary().title.clone();
        let (mut runs, mut entries) = (Vec::new(), BTreeMap::new());
        for event in &self.waiting {
            match projection.take(event) {
                Some(Change::Entry(entry)) => {
                    entries.insert(
                        entry.id.0,
                        FoundWords { at: entry.at, events: entry.events, words: words(&entry.text) },
                    );
                }
                Some(Change::RunBegan) => runs.push(event.seq),
                None => {}
            }
        }
        let summary = projection.summary();
        if summary.title != title {
            let found =
                FoundWords { at: summary.updated_at, events: (Seq(0), Seq(0)), words: words(&summary.title) };
            entries.insert(TITLE, found);
        }
        let chain = self.chain.then(&self.waiting);
        let rows = pack(session, &self.waiting);
        Some(Prepared { before: self.last, end, chain, rows, runs, entries, projection })
    }

    /// What was prepared is in the database.
    pub(crate) fn written(&mut self, prepared: Prepared) {
        (self.last, self.chain, self.projection) = (prepared.end, prepared.chain, prepared.projection);
        self.waiting.retain(|event| event.seq > prepared.end);
        self.waiting_bytes = self.waiting.iter().map(weight).sum();
    }
}

/// What an append of one session brings.
pub(crate) struct Prepared {
    before: Seq,
    pub(crate) end: Seq,
    pub(crate) chain: Chain,
    rows: Vec<store::parts::Row>,
    runs: Vec<Seq>,
    entries: BTreeMap<u64, FoundWords>,
    projection: Projection,
}

struct FoundWords {
    at: Millis,
    events: (Seq, Seq),
    words: String,
}

/// The appends of many sessions as the statement takes them, column by column.
#[derive(Default, Clone)]
pub(crate) struct Columns {
    pub(crate) sessions: Vec<i64>,
    pub(crate) epochs: Vec<i64>,
    pub(crate) befores: Vec<i64>,
    pub(crate) ends: Vec<i64>,
    pub(crate) hashes: Vec<Vec<u8>>,
    pub(crate) projects: Vec<String>,
    pub(crate) updated: Vec<i64>,
    pub(crate) running: Vec<bool>,
    pub(crate) summaries: Vec<String>,
    pub(crate) row_sessions: Vec<i64>,
    pub(crate) row_firsts: Vec<i64>,
    pub(crate) row_lasts: Vec<i64>,
    pub(crate) row_versions: Vec<i64>,
    pub(crate) row_forms: Vec<i16>,
    pub(crate) row_crcs: Vec<i64>,
    pub(crate) row_records: Vec<Vec<u8>>,
    pub(crate) run_sessions: Vec<i64>,
    pub(crate) run_seqs: Vec<i64>,
    pub(crate) entry_sessions: Vec<i64>,
    pub(crate) entries: Vec<i64>,
    pub(crate) entry_ats: Vec<i64>,
    pub(crate) entry_firsts: Vec<i64>,
    pub(crate) entry_lasts: Vec<i64>,
    pub(crate) entry_words: Vec<String>,
}

impl Columns {
    /// Takes in the append of one session.
    pub(crate) fn add(&mut self, id: i64, fence: Fence, prepared: &Prepared) {
        let summary = prepared.projection.summary();
        self.sessions.push(id);
        self.epochs.push(int(fence.0));
        self.befores.push(int(prepared.before.0));
        self.ends.push(int(prepared.end.0));
        self.hashes.push(prepared.chain.bytes().to_vec());
        // The database's texts cannot hold this letter; the record does.
        self.projects.push(summary.project.replace('\0', "\u{fffd}"));
        self.updated.push(int(summary.updated_at.0));
        self.running.push(summary.running);
        self.summaries.push(record::encode(summary));
        for row in &prepared.rows {
            self.row_sessions.push(id);
            self.row_firsts.push(int(row.first.0));
            self.row_lasts.push(int(row.last.0));
            self.row_versions.push(i64::from(row.version));
            self.row_forms.push(i16::from(row.form));
            self.row_crcs.push(i64::from(row.crc));
            self.row_records.push(row.bytes.clone());
        }
        for run in &prepared.runs {
            self.run_sessions.push(id);
            self.run_seqs.push(int(run.0));
        }
        for (entry, found) in &prepared.entries {
            self.entry_sessions.push(id);
            self.entries.push(int(*entry));
            self.entry_ats.push(int(found.at.0));
            self.entry_firsts.push(int(found.events.0.0));
            self.entry_lasts.push(int(found.events.1.0));
            self.entry_words.push(found.words.clone());
        }
    }
}

/// The words of a text as the index takes them: each once, in lower case, one space between two.
fn words(text: &str) -> String {
    let all = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    let all: BTreeSet<String> =
        all.map(|word| word.to_lowercase().chars().take(MAX_WORD).collect()).collect();
    all.into_iter().collect::<Vec<_>>().join(" ")
}

/// A search as the index takes it: each word begins one.
pub(crate) fn query(words: &store::parts::Words) -> String {
    let begins = words.iter().map(|word| format!("'{}':*", word.chars().take(MAX_WORD).collect::<String>()));
    begins.collect::<Vec<_>>().join(" & ")
}

/// About how much text an event brings.
fn weight(event: &Event) -> usize {
    match &event.body {
        Body::Message(MessageEvent::Delta { text, .. }) => text.len(),
        Body::Tool(ToolEvent::Progress {
            progress: Progress::Output(text) | Progress::Replace(text),
            ..
        }) => text.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::parts::Words;

    #[test]
    fn nothing_that_is_typed_has_a_meaning_of_its_own_in_the_index() {
        assert_eq!(words("The Moon; the MOON's \u{0} 'far'"), "far moon s the");
        assert_eq!(query(&Words::of("Moon 'land\\ing' | !x:*")), "'moon':* & 'land':* & 'ing':* & 'x':*");
        assert_eq!(words(&"x".repeat(1_000)).len(), MAX_WORD);
    }
}
