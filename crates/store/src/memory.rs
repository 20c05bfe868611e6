//! A store that forgets everything with the program: for tests, for private sessions, and for when the disk fails.

use crate::contract::{Appended, Durability, Listing, MAX_FOUND, Opened, SearchHit, Store};
use crate::error::StoreError;
use crate::projection::{Change, FoundEntry, Projection};
use crate::words::{Words, snippet};
use domain::command::History;
use domain::event::{Body, Event, RunEvent};
use domain::ids::{Seq, SessionId};
use domain::session::summary::UNTITLED;
use domain::session::{FoundWords, SessionSummary};
use domain::state::State;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Keeps sessions in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: BTreeMap<SessionId, MemorySession>,
    why: Option<String>,
}

#[derive(Debug)]
struct MemorySession {
    events: Vec<Event>,
    projection: Projection,
    entries: Vec<FoundEntry>,
    open: bool,
}

impl MemoryStore {
    pub fn new() -> MemoryStore {
        MemoryStore::default()
    }

    /// An empty store in the place of one on disk that cannot be used.
    pub fn because(why: impl Into<String>) -> MemoryStore {
        MemoryStore { why: Some(why.into()), ..MemoryStore::default() }
    }

    fn kept(&self, session: &SessionId) -> Result<&MemorySession, StoreError> {
        self.sessions.get(session).ok_or_else(|| StoreError::Unknown(session.clone()))
    }

    fn listed(&self) -> impl Iterator<Item = &MemorySession> {
        self.sessions.values().filter(|kept| !kept.events.is_empty())
    }
}

impl MemorySession {
    fn state(&self) -> State {
        let mut state = State::new();
        for event in &self.events {
            // What was appended was folded by its writer before; an event that does not fit only takes its number.
            let _ = state.apply(event.at, &event.body);
            state.seq = event.seq;
        }
        state
    }

    /// Something was said, done or told in it, or it was named: a session that was only opened is in no list.
    fn is_touched(&self) -> bool {
        let summary = self.projection.summary();
        !self.entries.is_empty() || summary.last_run.is_some() || summary.title != UNTITLED
    }

    fn mentions(&self, words: &Words) -> bool {
        words.all_in(&self.projection.summary().title) || self.entries.iter().any(|e| words.all_in(&e.text))
    }
}

impl Store for MemoryStore {
    fn forgets(&self) -> Option<&str> {
        self.why.as_deref()
    }

    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        if self.sessions.contains_key(session) {
            return Err(StoreError::Exists(session.clone()));
        }
        let projection = Projection::new(session);
        let kept = MemorySession { events: Vec::new(), projection, entries: Vec::new(), open: true };
        self.sessions.insert(session.clone(), kept);
        Ok(())
    }

    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        let kept = self.sessions.get_mut(session).ok_or_else(|| StoreError::Unknown(session.clone()))?;
        kept.open = true;
        Ok(Opened { state: kept.state(), damage: None })
    }

    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        _durability: Durability,
    ) -> Result<Appended, StoreError> {
        let kept = self.sessions.get_mut(session).filter(|kept| kept.open);
        let kept = kept.ok_or_else(|| StoreError::NotOpen(session.clone()))?;
        let mut due = kept.events.last().map_or(Seq(1), |last| last.seq.next());
        for event in events {
            if event.seq != due {
                let (session, got) = (session.clone(), event.seq);
                return Err(StoreError::OutOfOrder { session, expected: due, got });
            }
            due = due.next();
        }
        for event in events {
            if let Some(Change::Entry(entry)) = kept.projection.take(event) {
                kept.entries.push(entry);
            }
            kept.events.push(event.clone());
        }
        Ok(Appended::default())
    }

    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError> {
        let kept = self.sessions.get(session).filter(|kept| kept.open);
        let kept = kept.ok_or_else(|| StoreError::NotOpen(session.clone()))?;
        let expected = kept.events.last().map_or(Seq(0), |last| last.seq);
        if state.seq != expected {
            let (session, got) = (session.clone(), state.seq);
            return Err(StoreError::OutOfOrder { session, expected, got });
        }
        Ok(())
    }

    fn tend(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn close(&mut self, session: &SessionId) -> Result<(), StoreError> {
        if let Some(kept) = self.sessions.get_mut(session) {
            kept.open = false;
        }
        Ok(())
    }

    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        Ok(Opened { state: self.kept(session)?.state(), damage: None })
    }

    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        let events = &self.kept(session)?.events;
        let from = events.partition_point(|event| event.seq <= after);
        Ok(events[from..].iter().take(limit).cloned().collect())
    }

    fn history(
        &self,
        session: &SessionId,
        max_runs: usize,
        max_events: usize,
    ) -> Result<History, StoreError> {
        let events = &self.kept(session)?.events;
        let begins = |event: &Event| matches!(event.body, Body::Run(RunEvent::Started { .. }));
        let starts: Vec<usize> =
            events.iter().enumerate().filter(|(_, event)| begins(event)).map(|(at, _)| at).collect();
        let runs = starts.len().min(max_runs);
        let from = if runs == 0 { events.len() } else { starts[starts.len() - runs] };
        let kept = events.len().saturating_sub(max_events).max(from);
        let truncated = kept > from || starts.len() > runs;
        Ok(History { runs: runs as u64, events: events[kept..].to_vec(), truncated })
    }

    fn list(&self, listing: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        let words = listing.search.as_deref().map(Words::of);
        let mut sessions: Vec<SessionSummary> = self
            .listed()
            .filter(|kept| {
                listing.project.as_ref().is_none_or(|project| kept.projection.summary().project == *project)
            })
            .filter(|kept| words.as_ref().is_none_or(|words| kept.mentions(words)))
            .filter(|kept| kept.is_touched())
            .map(|kept| {
                let words = words.as_ref().filter(|_| listing.limit.is_some());
                let newest = words.and_then(|words| {
                    kept.entries.iter().rev().find(|entry| words.all_in(&entry.text)).zip(Some(words))
                });
                let found = newest.map(|(entry, words)| FoundWords {
                    text: snippet(&entry.text, words),
                    at: entry.at,
                    entry: entry.id,
                });
                SessionSummary { found: found.map(Box::new), ..kept.projection.summary().clone() }
            })
            .collect();
        sessions.sort_by_key(|session| Reverse(session.updated_at));
        sessions.truncate(listing.limit.unwrap_or(usize::MAX));
        Ok(sessions)
    }

    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        Ok(self.kept(session)?.projection.summary().clone())
    }

    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        let words = Words::of(text);
        let mut found: Vec<SearchHit> = Vec::new();
        for kept in self.listed() {
            let summary = kept.projection.summary();
            found.extend(kept.entries.iter().filter(|entry| words.all_in(&entry.text)).map(|entry| {
                SearchHit {
                    session: summary.id.clone(),
                    title: summary.title.clone(),
                    entry: entry.id,
                    at: entry.at,
                    snippet: snippet(&entry.text, &words),
                }
            }));
        }
        found.sort_by_key(|hit| Reverse((hit.at, hit.entry)));
        found.truncate(limit.min(MAX_FOUND));
        Ok(found)
    }

    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let gone = self.sessions.remove(session);
        gone.map(drop).ok_or_else(|| StoreError::Unknown(session.clone()))
    }
}
