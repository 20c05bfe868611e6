//! The store: the contract on a PostgreSQL. How appends are committed is in `commit`, leases in `leases`.

mod commit;
mod leases;

use crate::address::Address;
use crate::boot_time::Clock;
use crate::database::{CALL_WITHIN, Database};
use crate::lease::LEASE_FOR;
use crate::reading::{self, int, nat};
use crate::schema;
use crate::statements;
use crate::writer::{Writer, query};
use domain::command::History;
use domain::event::{Event, Outcome};
use domain::ids::{EntryId, Millis, Seq, SessionId};
use domain::session::{FoundWords, SessionSummary};
use domain::state::{EntryKind, State};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use store::parts::{Chain, Change, Losses, Projection, Words, newer, pack_state, snippet};
use store::{Appended, Batch, Durability, Fence, Listing, MAX_FOUND, Opened, SearchHit, Store, StoreError};

/// Most sessions that were cut off in a run which a search looks through itself.
const CUT_OFF: i64 = 64;

/// Sessions in a PostgreSQL.
#[derive(Debug)]
pub struct PostgresStore {
    database: Database,
    /// What the lease names: this store of this process, and no other ever.
    node: String,
    /// Where that is, for people.
    address: String,
    clock: Clock,
    writers: BTreeMap<SessionId, Writer>,
    /// Sessions whose lease is gone, and why; told once.
    lost: BTreeMap<SessionId, String>,
}

/// What can be said of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresHealth {
    /// The version of the server.
    pub server: String,
    pub sessions: u64,
    /// How many of them somebody has open now.
    pub open: u64,
    pub bytes: u64,
    /// The format of its tables.
    pub format: i32,
}

impl PostgresStore {
    /// Opens the store in a database, whose tables are made if they are not there.
    ///
    /// # Errors
    /// When it cannot be reached, lets us not in, or has tables of a version that does not go with ours.
    pub fn at(address: Address) -> Result<PostgresStore, StoreError> {
        PostgresStore::with_clock(address, Clock::system())
    }

    /// The same with a clock of the caller's.
    ///
    /// # Errors
    /// As for [`PostgresStore::at`].
    pub fn with_clock(address: Address, clock: Clock) -> Result<PostgresStore, StoreError> {
        let database = Database::at(address)?;
        schema::migrate(&database)?;
        Ok(PostgresStore::on(database, clock))
    }

    fn on(database: Database, clock: Clock) -> PostgresStore {
        static STORES: AtomicU64 = AtomicU64::new(0);
        let (pid, number) = (std::process::id(), STORES.fetch_add(1, Ordering::Relaxed));
        let host = host();
        let nanos = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        PostgresStore {
            database,
            node: format!("{host}/{pid}/{number}/{nanos}"),
            address: format!("{host}, process {pid}"),
            clock,
            writers: BTreeMap::new(),
            lost: BTreeMap::new(),
        }
    }

    /// How it stands with a database. Nothing is made or changed.
    ///
    /// # Errors
    /// When it cannot be reached, lets us not in, or has tables that do not go with ours.
    pub fn examine(address: Address) -> Result<Option<PostgresHealth>, StoreError> {
        let database = Database::at(address)?;
        let Some((format, works_with)) = schema::format(&database)? else { return Ok(None) };
        schema::judge(database.place(), format, works_with)?;
        let rows = database.read(|link| async move { link.rows(statements::HEALTH, &[]).await })?;
        Ok(rows.first().map(|row| PostgresHealth {
            server: row.get(2),
            sessions: nat(row.get(0)),
            open: nat(row.get(3)),
            bytes: nat(row.get(1)),
            format,
        }))
    }

    /// The sessions that somebody has open, each with where that is.
    ///
    /// # Errors
    /// When the database fails.
    pub fn holders(&self) -> Result<BTreeMap<SessionId, String>, StoreError> {
        let rows = self.database.read(|link| async move { link.rows(statements::HOLDERS, &[]).await })?;
        let named =
            rows.iter().filter_map(|row| Some((SessionId::parse(row.get::<_, &str>(0))?, row.get(2))));
        Ok(named.collect())
    }

    fn not_open(&mut self, session: &SessionId) -> StoreError {
        match self.lost.remove(session) {
            Some(why) => StoreError::LeaseLost { sessions: vec![session.clone()], why },
            None => StoreError::NotOpen(session.clone()),
        }
    }

    fn waiting(&self, session: &SessionId) -> &[Event] {
        self.writers.get(session).map_or(&[], |writer| &writer.waiting)
    }

    /// The first sessions that hold the words, each with the text around them.
    fn first_found(
        &self,
        words: &Words,
        project: Option<String>,
        limit: usize,
    ) -> Result<Vec<SessionSummary>, StoreError> {
        let (looked_for, most) = (query(words), int(limit.min(MAX_FOUND) as u64));
        let rows = self.database.read(move |link| {
            let (looked_for, project) = (looked_for.clone(), project.clone());
            async move { link.rows(statements::FOUND, &[&looked_for, &project, &most]).await }
        })?;
        let mut sessions = Vec::new();
        for row in rows {
            let Some(mut summary) = summary_of(&row) else { continue };
            let (id, entry, at) = (row.get(2), EntryId(nat(row.get(3))), Millis(nat(row.get(4))));
            let place = (Seq(nat(row.get(5))), Seq(nat(row.get(6))));
            // Entry 0 is the title. Where the log is damaged, that it was said there is known all the same.
            let text = (entry.0 > 0).then(|| self.text_of((id, &summary.id), entry, place).ok()).flatten();
            summary.found = text.map(|text| Box::new(FoundWords { text: snippet(&text, words), at, entry }));
            sessions.push(summary);
        }
        sessions.sort_by_key(|session| Reverse(session.updated_at));
        Ok(sessions)
    }

    /// The text of an entry that was found.
    fn text_of(
        &self,
        (id, session): (i64, &SessionId),
        entry: EntryId,
        (first, last): (Seq, Seq),
    ) -> Result<String, StoreError> {
        if first == Seq(0) {
            return Ok(self
                .load(session)?
                .state
                .entries
                .get(&entry)
                .map_or_else(String::new, |entry| text_of(entry)));
        }
        let (mut projection, mut text) = (Projection::new(session), String::new());
        let from = (Seq(first.0 - 1), None);
        reading::events(&self.database, (id, session), from, &mut Losses::default(), |event| {
            if let Some(Change::Entry(found)) = projection.take(&event)
                && found.id == entry
            {
                text = found.text;
            }
            event.seq < last
        })?;
        Ok(text)
    }

    /// Sets aside what cannot be read, so that the damage is not met again.
    fn mend(&mut self, session: &SessionId, state: &State, losses: &Losses) -> Result<(), StoreError> {
        let Some(writer) = self.writers.get_mut(session) else { return Ok(()) };
        let (id, epoch, end) = (writer.id, int(writer.fence.0), int(state.seq.0));
        let firsts: Vec<i64> = losses.rows.iter().map(|(first, _)| int(first.0)).collect();
        let mut left = Chain::default();
        reading::events(&self.database, (id, session), (Seq(0), None), &mut Losses::default(), |event| {
            left = left.then(&[event]);
            true
        })?;
        let hash = left.bytes().to_vec();
        let mended = self.database.write(move |link| {
            let (firsts, hash) = (firsts.clone(), hash.clone());
            async move { link.rows(statements::MEND, &[&id, &epoch, &firsts, &end, &hash]).await }
        })?;
        if mended.is_empty() {
            return Err(StoreError::NotOpen(session.clone()));
        }
        (writer.last, writer.chain) = (state.seq, left);
        self.snapshot(session, state)
    }

    fn save_snapshot(&self, writer: &Writer, session: &SessionId, state: &State) -> Result<bool, StoreError> {
        let row = pack_state(session, state);
        let (id, epoch, seq) = (writer.id, int(writer.fence.0), int(row.first.0));
        let (version, form, crc) = (i64::from(row.version), i16::from(row.form), i64::from(row.crc));
        let kept = self.database.write(move |link| {
            let bytes = row.bytes.clone();
            async move {
                link.rows(statements::SNAPSHOT, &[&id, &epoch, &seq, &version, &form, &crc, &bytes]).await
            }
        })?;
        Ok(!kept.is_empty())
    }
}

/// The name of this machine, as far as it says one.
fn host() -> String {
    let said = rustix::system::uname().nodename().to_string_lossy().into_owned();
    if said.is_empty() { "a machine without a name".to_owned() } else { said }
}

/// What lists show of a session, from its summary and whether its lease is good; `None` when what is kept cannot be read.
fn summary_of(row: &tokio_postgres::Row) -> Option<SessionSummary> {
    let mut summary: SessionSummary = record::decode(row.get::<_, &str>(0)).ok()?;
    // A run whose program is gone is not under way, whatever its log says.
    if summary.running && !row.get::<_, bool>(1) {
        (summary.running, summary.outcome) = (false, Some(Box::new(Outcome::Interrupted)));
    }
    Some(summary)
}

fn text_of(entry: &domain::state::Entry) -> String {
    match &entry.kind {
        EntryKind::Message(message) => message.text(),
        EntryKind::Compaction(compaction) => compaction.summary.clone(),
        EntryKind::Notice { text, .. } => text.clone(),
    }
}

impl Store for PostgresStore {
    fn place(&self) -> Option<&str> {
        Some(self.database.place())
    }

    fn is_grouping(&self) -> bool {
        true
    }

    fn reader(&self) -> Option<Box<dyn Store>> {
        let beside = self.database.beside().ok()?;
        Some(Box::new(PostgresStore::on(beside, self.clock.clone())))
    }

    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let (name, summary) =
            (session.as_str().to_owned(), record::encode(Projection::new(session).summary()));
        // Made a second time it is there, and then it counts that nothing stands in it.
        self.database.write(move |link| {
            let (name, summary) = (name.clone(), summary.clone());
            async move { link.rows(statements::CREATE, &[&name, &summary]).await }
        })?;
        if reading::known(&self.database, session)?.last > Seq(0) {
            return Err(StoreError::Exists(session.clone()));
        }
        let (taken, asked) = self.take(session)?;
        if taken.last > Seq(0) {
            let _ = self.release(taken.id, taken.fence);
            return Err(StoreError::Exists(session.clone()));
        }
        let writer =
            Writer::new((taken.id, taken.fence), (Seq(0), taken.chain), Projection::new(session), asked);
        self.lost.remove(session);
        self.writers.insert(session.clone(), writer);
        Ok(())
    }

    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        if self.writers.contains_key(session) {
            return self.load(session);
        }
        let (taken, asked) = self.take(session)?;
        let mut losses = Losses::default();
        let read = reading::state(&self.database, (taken.id, session), Some(taken.last), &mut losses);
        let refused = match &read {
            Err(_) => None,
            Ok((state, _)) if taken.last == Seq(0) && state.seq == Seq(0) => {
                // Its program died between making it and the first event: there is nothing to go on with.
                Some(StoreError::Unknown(session.clone()))
            }
            Ok(_) => losses
                .newer
                .as_ref()
                .map(|what| StoreError::NewerSession { session: session.clone(), what: newer(what) }),
        };
        let (state, snapshot_at) = match (read, refused) {
            (Ok(read), None) => read,
            (read, refused) => {
                let _ = self.release(taken.id, taken.fence);
                return Err(refused.or(read.err()).unwrap_or_else(|| StoreError::Unknown(session.clone())));
            }
        };
        let projection = Projection::of(session, &state);
        let mut writer = Writer::new((taken.id, taken.fence), (taken.last, taken.chain), projection, asked);
        writer.snapshot_at = snapshot_at;
        self.lost.remove(session);
        self.writers.insert(session.clone(), writer);
        if losses.can_be_mended()
            && let Err(why) = self.mend(session, &state, &losses)
        {
            self.writers.remove(session);
            let _ = self.release(taken.id, taken.fence);
            return Err(why);
        }
        Ok(Opened { state, damage: losses.report() })
    }

    fn fence(&self, session: &SessionId) -> Option<Fence> {
        self.writers.get(session).map(|writer| writer.fence)
    }

    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        durability: Durability,
    ) -> Result<Appended, StoreError> {
        let batch = Batch { session, events, durability };
        self.append_many(&[batch]).pop().unwrap_or_else(|| Err(self.not_open(session)))
    }

    fn append_many(&mut self, batches: &[Batch<'_>]) -> Vec<Result<Appended, StoreError>> {
        self.commit_all(batches)
    }

    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError> {
        let Some(writer) = self.writers.get(session) else { return Err(self.not_open(session)) };
        if state.seq != writer.end() {
            let (session, expected, got) = (session.clone(), writer.end(), state.seq);
            return Err(StoreError::OutOfOrder { session, expected, got });
        }
        self.flush(vec![session.clone()]).into_iter().try_for_each(|(_, done)| done)?;
        let Some(writer) = self.writers.get(session) else { return Err(self.not_open(session)) };
        if !self.save_snapshot(writer, session, state)? {
            return Err(self.not_open(session));
        }
        if let Some(writer) = self.writers.get_mut(session) {
            writer.snapshot_at = state.seq;
        }
        Ok(())
    }

    fn tend(&mut self) -> Result<(), StoreError> {
        self.tend_leases();
        let waits =
            |(session, writer): (&SessionId, &Writer)| (!writer.waiting.is_empty()).then(|| session.clone());
        let waiting: Vec<SessionId> = self.writers.iter().filter_map(waits).collect();
        let failed = self.flush(waiting).into_iter().filter_map(|(_, done)| done.err());
        let first = failed.into_iter().find(|why| !matches!(why, StoreError::LeaseLost { .. }));
        if self.lost.is_empty() {
            return first.map_or(Ok(()), Err);
        }
        // All of them at once: whoever has to stop, stops now.
        let lost = std::mem::take(&mut self.lost);
        let why = lost.values().next().cloned().unwrap_or_default();
        Err(StoreError::LeaseLost { sessions: lost.into_keys().collect(), why })
    }

    fn close(&mut self, session: &SessionId) -> Result<(), StoreError> {
        if !self.writers.contains_key(session) {
            self.lost.remove(session);
            return Ok(());
        }
        let flushed = self.flush(vec![session.clone()]).into_iter().try_for_each(|(_, done)| done);
        let Some(writer) = self.writers.remove(session) else { return flushed };
        let left = match writer.last {
            // It leaves nothing behind.
            Seq(0) => self.remove(writer.id, writer.fence).map(drop),
            _ => self.release(writer.id, writer.fence),
        };
        flushed.and(left)
    }

    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        let known = reading::known(&self.database, session)?;
        let mut losses = Losses::default();
        let (mut state, _) =
            reading::state(&self.database, (known.id, session), Some(known.last), &mut losses)?;
        for event in self.waiting(session) {
            store::parts::follow(&mut state, event);
        }
        Ok(Opened { state, damage: losses.report() })
    }

    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        let known = reading::known(&self.database, session)?;
        let mut events = Vec::new();
        if limit == 0 {
            return Ok(events);
        }
        reading::events(
            &self.database,
            (known.id, session),
            (after, None),
            &mut Losses::default(),
            |event| {
                events.push(event);
                events.len() < limit
            },
        )?;
        let room = limit - events.len();
        let waiting = self.waiting(session).iter().filter(|event| event.seq > after);
        events.extend(waiting.take(room).cloned());
        Ok(events)
    }

    fn chain(&self, session: &SessionId) -> Result<(Seq, Chain), StoreError> {
        let known = reading::known(&self.database, session)?;
        Ok((known.last, known.chain))
    }

    fn history(
        &self,
        session: &SessionId,
        max_runs: usize,
        max_events: usize,
    ) -> Result<History, StoreError> {
        let known = reading::known(&self.database, session)?;
        let last = self.waiting(session).last().map_or(known.last, |event| event.seq);
        let (id, wanted) = (known.id, int(max_runs as u64).saturating_add(1));
        let rows = self
            .database
            .read(move |link| async move { link.rows(statements::RUNS, &[&id, &wanted]).await })?;
        let starts: Vec<Seq> = rows.iter().map(|row| Seq(nat(row.get(0)))).collect();
        let runs = starts.len().min(max_runs);
        let Some(first) = runs.checked_sub(1).map(|oldest| starts[oldest]) else {
            return Ok(History { runs: 0, events: Vec::new(), truncated: !starts.is_empty() });
        };
        let newest = Seq(last.0.saturating_sub(max_events as u64));
        let after = Seq(first.0 - 1).max(newest);
        let events = self.events(session, after, max_events)?;
        Ok(History { runs: runs as u64, events, truncated: after >= first || starts.len() > runs })
    }

    fn list(&self, listing: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        let words = listing.search.as_deref().map(Words::of);
        if words.as_ref().is_some_and(Words::is_empty) {
            return Ok(Vec::new());
        }
        let project = listing.project.as_ref().map(|project| project.replace('\0', "\u{fffd}"));
        if let Some((words, limit)) = words.as_ref().zip(listing.limit) {
            return self.first_found(words, project, limit);
        }
        let (words, limit) = (words.as_ref().map(query), listing.limit.map(|limit| int(limit as u64)));
        let rows = self.database.read(move |link| {
            let (project, words) = (project.clone(), words.clone());
            async move { link.rows(statements::LIST, &[&project, &words, &limit]).await }
        })?;
        Ok(rows.iter().filter_map(summary_of).collect())
    }

    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        let name = session.as_str().to_owned();
        let rows = self.database.read(move |link| {
            let name = name.clone();
            async move { link.rows(statements::SUMMARY, &[&name]).await }
        })?;
        rows.first().and_then(summary_of).ok_or_else(|| StoreError::Unknown(session.clone()))
    }

    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        let words = Words::of(text);
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let limit = limit.min(MAX_FOUND);
        let (looked_for, most) = (query(&words), int(limit as u64));
        let rows = self.database.read(move |link| {
            let looked_for = looked_for.clone();
            async move { link.rows(statements::HITS, &[&looked_for, &most]).await }
        })?;
        let mut found = Vec::new();
        for row in rows {
            let Some(session) = SessionId::parse(row.get::<_, &str>(0)) else { continue };
            let title = record::decode::<SessionSummary>(row.get::<_, &str>(2))
                .map_or_else(|_| String::new(), |s| s.title);
            let (entry, at) = (EntryId(nat(row.get(3))), Millis(nat(row.get(4))));
            let place = (Seq(nat(row.get(5))), Seq(nat(row.get(6))));
            let text = self.text_of((row.get(1), &session), entry, place)?;
            found.push(SearchHit { session, title, entry, at, snippet: snippet(&text, &words) });
        }
        let cut =
            self.database.read(|link| async move { link.rows(statements::CUT_OFF, &[&CUT_OFF]).await })?;
        for row in cut {
            let Ok(summary) = record::decode::<SessionSummary>(row.get::<_, &str>(0)) else { continue };
            let state = self.load(&summary.id)?.state;
            let open = state.open_messages().into_iter().filter_map(|open| state.entries.get(&open.into()));
            let said = open.map(|entry| (entry, text_of(entry))).filter(|(_, text)| words.all_in(text));
            found.extend(said.map(|(entry, text)| SearchHit {
                session: summary.id.clone(),
                title: summary.title.clone(),
                entry: entry.id,
                at: entry.at,
                snippet: snippet(&text, &words),
            }));
        }
        found.sort_by_key(|hit| Reverse((hit.at, hit.entry)));
        found.truncate(limit);
        Ok(found)
    }

    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        let (taken, asked) = self.take(session)?;
        if let Some(writer) = self.writers.get_mut(session) {
            (writer.fence, writer.asked) = (taken.fence, asked);
        }
        // One that was taken away, and whose answer was lost, is not there the second time.
        let is_gone = || matches!(reading::known(&self.database, session), Err(StoreError::Unknown(_)));
        if !self.remove(taken.id, taken.fence)? && !is_gone() {
            return Err(StoreError::NotOpen(session.clone()));
        }
        self.writers.remove(session);
        Ok(())
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        // Nobody is left to tell; what was acknowledged is kept, and a lease that cannot be given back ends by itself.
        let open: Vec<SessionId> = self.writers.keys().cloned().collect();
        if open.is_empty()
            || self.database.call(CALL_WITHIN, |link| async move { link.batch("").await }).is_err()
        {
            return;
        }
        for session in open {
            let _ = self.close(&session);
        }
    }
}

/// Seconds of a lease, as the database takes them.
fn lease_seconds() -> f64 {
    LEASE_FOR.as_secs_f64()
}
