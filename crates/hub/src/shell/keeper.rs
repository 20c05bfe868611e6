//! Keeps account of what is kept: which events of a session the store does not hold yet, who waits for it, and what goes wrong there.
//!
//! Events of a session come together here until the store takes them ([`Keeper::take`]), all at once, and says that it keeps them
//! ([`Keeper::appended`]). From the event on that must be on disk the session is [unsettled](Keeper::is_settled): what depends on it is
//! not told. From the end of that round on it [is busy](Keeper::is_busy_with): what comes in about it waits, so that it is settled as
//! soon as the store has answered, however much comes in. Streaming text is waited for only when much of it has come together
//! ([`MAX_STREAMED_EVENTS`], [`MAX_STREAMED_BYTES`]); else it goes to the store with the next thing that is, or with the next
//! [`Keeper::flush`]. A store that fails, or does not answer in time
//! ([`WRITE_PATIENCE`]), does not stop the conversation: it goes on in memory, says so, and what could not be written is tried again.
//! When too much waits for it ([`MAX_UNSAVED`], [`MAX_UNSAVED_BYTES`]), the rest of that session is let go: it is told, and never told to
//! be saved after that, since nothing can be written behind a gap.
//!
//! Invariants: the events of a session reach the store in order, each once; [`Keeper::trouble`] names every session of which something
//! that happened is not on disk for want of a working store, from the moment in which that is found; the engine is told before anything
//! that waited for it.

use super::{Log, Shell};
use crate::core::CoreInput;
use domain::event::{Body, ContextEvent, Event, MessageEvent, RunEvent, SessionEvent};
use domain::ids::{Seq, SessionId};
use domain::port::{Order, Report};
use domain::signal::{Level, Signal, UNSAVED};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use store::{Appended, Durability, StoreError};
use tokio::time::Instant;

/// Events of one session that may wait for a store that fails; past it the session stays in memory only, for good.
const MAX_UNSAVED: usize = 100_000;

/// The same in bytes.
const MAX_UNSAVED_BYTES: usize = 128 * 1024 * 1024;

/// How long a session waits for the store before it goes on in memory. For another program's lock it is [`store::LOCK_PATIENCE`].
pub(super) const WRITE_PATIENCE: Duration = Duration::from_secs(8);

/// Streaming events of a session that may be told before they are written: what a killed program can lose of a text, at most.
const MAX_STREAMED_EVENTS: usize = 64;

/// The same in bytes: past it the session stands still until they are written, so that a tool which prints without end slows down
/// nobody but itself.
const MAX_STREAMED_BYTES: usize = 64 * 1024;

/// Bytes of events, of all sessions together, that may wait for a store that works: past it whatever comes in has to wait.
const MAX_UNKEPT: usize = 64 * 1024 * 1024;

/// What an event takes beside its text.
const EVENT_BYTES: usize = 64;

/// What is kept, and who waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keeping {
    Nothing,
    /// Before it is told: whoever does the runs waits for it.
    First,
    /// While it is told: a foreign runtime does what it does, whether we have written it down or not.
    Beside,
}

/// What of each session the store does not hold yet, and how it fares with it.
pub(super) struct Keeper {
    keeping: Keeping,
    /// Why the store keeps nothing, if so.
    forgets: Option<String>,
    accounts: BTreeMap<SessionId, Account>,
    bytes: usize,
    /// Sessions whose batch is to be asked for.
    ready: VecDeque<SessionId>,
    troubles: Vec<Trouble>,
    log: Log,
}

/// What is known of one session.
#[derive(Default)]
struct Account {
    /// Not with the store, oldest first.
    events: Vec<Event>,
    bytes: usize,
    /// Whether one of them must be on disk before it is told.
    durable: bool,
    /// Whether somebody said something: else it is not worth keeping.
    said: bool,
    /// Whether the store has it open for writing.
    open: bool,
    /// The last event that something waits for.
    due: Option<Seq>,
    /// Whether what comes in waits until `due` is settled.
    busy: bool,
    /// Since when its batch is asked for or with the store.
    since: Option<Instant>,
    with_store: bool,
    events_with_store: usize,
    bytes_with_store: usize,
    /// Whether the store took something of it that it may not have written.
    held_back: bool,
    /// The store has not answered in time, and not yet since.
    overdue: bool,
    snapshot_due: bool,
    /// Why it cannot be written now.
    failing: Option<String>,
    /// From where on it is not written, also by a store that works again.
    gap: Option<Gap>,
    /// Whether its UIs know that nothing is kept.
    warned: bool,
}

/// What of a session is not written, ever.
struct Gap {
    from: Seq,
    why: String,
}

/// Events on their way to the store.
pub(super) struct Batch {
    pub(super) events: Vec<Event>,
    pub(super) durability: Durability,
    /// Whether the session has to be made first.
    pub(super) create: bool,
    /// Whether streaming text is waited for too: it is to be written, not only taken.
    pub(super) waited_for: bool,
    bytes: usize,
}

impl Keeper {
    pub(super) fn new(keeping: Keeping, forgets: Option<String>, log: Log) -> Keeper {
        let (accounts, ready, troubles) = (BTreeMap::new(), VecDeque::new(), Vec::new());
        Keeper { keeping, forgets, accounts, bytes: 0, ready, troubles, log }
    }

    /// Something happened that is to be kept.
    pub(super) fn add(&mut self, session: SessionId, event: Arc<Event>) {
        if self.keeping == Keeping::Nothing {
            return;
        }
        let account = self.accounts.entry(session.clone()).or_default();
        if event.seq == Seq(1) && account.gap.as_ref().is_some_and(|gap| gap.from == Seq(0)) {
            // One of this name was let go before anything of it was kept, and another begins.
            *account = Account::default();
        }
        if let (Some(why), false) = (&self.forgets, account.warned) {
            account.warned = true;
            let what = TroubleKind::Forgets(why.clone());
            self.troubles.push(Trouble { session: session.clone(), what });
        }
        if account.gap.is_some() {
            return;
        }
        if account.is_overfull(self.keeping) {
            let why =
                format!("too much waited for the disk; from event {} on it is never written", event.seq.0);
            (self.log)(&format!("store: {session}: {why}"));
            account.gap = Some(Gap { from: event.seq, why });
            return self.troubles.push(Trouble { session, what: TroubleKind::Lost(event.seq) });
        }
        account.said |= is_said(&event.body);
        account.durable |= event.body.is_durable();
        let bytes = EVENT_BYTES + event.body.weight();
        account.bytes += bytes;
        self.bytes += bytes;
        account.events.push(Arc::unwrap_or_clone(event));
        let waits = account.durable || account.is_much() && account.failing.is_none();
        if account.is_worth() && waits && !account.overdue && self.keeping == Keeping::First {
            account.due = account.events.last().map(|event| event.seq);
        }
    }

    /// Somebody may come back to a session by its id: it is kept as if something was said in it.
    pub(super) fn keep(&mut self, session: &SessionId) {
        let Some(account) = self.accounts.get_mut(session) else { return };
        account.said = true;
        if self.keeping == Keeping::First && !account.overdue && account.gap.is_none() {
            account.due = account.due.max(account.events.last().map(|event| event.seq));
        }
    }

    /// The sessions whose batches are to be asked for now, at the end of a round.
    pub(super) fn asks(&mut self) -> Vec<SessionId> {
        for (session, account) in &mut self.accounts {
            account.busy = account.due.is_some();
            let goes = account.due.is_some() || self.keeping == Keeping::Beside && account.goes_to_store();
            if goes && account.since.is_none() {
                account.since = Some(Instant::now());
                self.ready.push_back(session.clone());
            }
        }
        self.ready.drain(..).collect()
    }

    /// Wants everything written that can be: streaming text, and what a store that failed did not take.
    pub(super) fn flush(&mut self) {
        for (session, account) in &mut self.accounts {
            if account.since.is_none() && account.is_worth() && !account.events.is_empty() {
                account.since = Some(Instant::now());
                self.ready.push_back(session.clone());
            }
        }
    }

    /// Hands over what has come together of a session.
    pub(super) fn take(&mut self, session: &SessionId) -> Option<Batch> {
        let account = self.accounts.get_mut(session)?;
        if account.with_store {
            return None;
        }
        if account.events.is_empty() {
            account.since = None;
            return None;
        }
        account.with_store = true;
        (account.events_with_store, account.bytes_with_store) = (account.events.len(), account.bytes);
        let durable = std::mem::take(&mut account.durable);
        Some(Batch {
            events: std::mem::take(&mut account.events),
            durability: if durable { Durability::Now } else { Durability::Soon },
            create: !account.open,
            waited_for: account.due.is_some(),
            bytes: std::mem::take(&mut account.bytes),
        })
    }

    /// The store did nothing with a batch and is asked for it again: whoever waits for it waits on.
    pub(super) fn put_back(&mut self, session: &SessionId, batch: Batch) {
        match self.accounts.get_mut(session) {
            Some(account) => account.put_back(batch),
            None => self.bytes = self.bytes.saturating_sub(batch.bytes),
        }
    }

    /// The store has answered about a batch; whether it wants a snapshot of the session now.
    pub(super) fn appended(
        &mut self,
        session: &SessionId,
        batch: Batch,
        result: Result<Appended, StoreError>,
    ) -> bool {
        let last = batch.events.last().map(|event| event.seq);
        let Some(account) = self.accounts.get_mut(session) else {
            self.bytes = self.bytes.saturating_sub(batch.bytes);
            return false;
        };
        (account.with_store, account.overdue, account.since) = (false, false, None);
        (account.events_with_store, account.bytes_with_store) = (0, 0);
        if account.due <= last {
            account.due = None;
            account.busy = false;
        }
        match result {
            Ok(appended) => {
                self.bytes = self.bytes.saturating_sub(batch.bytes);
                account.open = true;
                account.held_back = batch.durability == Durability::Soon;
                account.snapshot_due |= appended.snapshot_due;
                if account.events.is_empty() {
                    if account.works() {
                        self.troubles.push(Trouble { session: session.clone(), what: TroubleKind::Works });
                    }
                    return std::mem::take(&mut account.snapshot_due);
                }
                // What came meanwhile would be in the state, and not yet in the log.
                false
            }
            Err(why @ (StoreError::Exists(_) | StoreError::Busy { .. } | StoreError::Elsewhere { .. }))
                if self.keeping == Keeping::Beside =>
            {
                self.bytes = self.bytes.saturating_sub(batch.bytes);
                self.leave_out(session, &why.to_string());
                false
            }
            Err(why) => {
                account.put_back(batch);
                self.failed(session, why.to_string(), why.hint());
                false
            }
        }
    }

    /// The store has written what it held back, or could not: then it fails for the sessions that it was to write.
    pub(super) fn tended(&mut self, result: Result<(), StoreError>) {
        match result {
            Ok(()) => {
                for (session, account) in &mut self.accounts {
                    account.held_back = false;
                    if account.events.is_empty() && !account.with_store && account.works() {
                        self.troubles.push(Trouble { session: session.clone(), what: TroubleKind::Works });
                    }
                }
            }
            Err(why) => {
                let hit: Vec<SessionId> = match &why {
                    StoreError::NotOpen(session) => vec![session.clone()],
                    // Who has nothing to write does not care.
                    StoreError::Locked { .. } => {
                        let held_back = self.accounts.iter().filter(|(_, account)| account.held_back);
                        held_back.map(|(session, _)| session.clone()).collect()
                    }
                    _ => self.open_sessions().collect(),
                };
                for session in hit {
                    if self.is_open(&session) {
                        self.failed(&session, why.to_string(), why.hint());
                    }
                }
            }
        }
    }

    /// When the next session has waited long enough.
    pub(super) fn deadline(&self) -> Option<Instant> {
        let waiting = self.accounts.values().filter(|account| !account.overdue);
        waiting.filter_map(|account| account.since).min().map(|since| since + WRITE_PATIENCE)
    }

    /// Lets the sessions go on in memory that have waited long enough.
    pub(super) fn give_up(&mut self, now: Instant) {
        let late = |account: &Account| {
            !account.overdue && account.since.is_some_and(|since| since + WRITE_PATIENCE <= now)
        };
        let over: Vec<SessionId> =
            self.accounts.iter().filter(|(_, account)| late(account)).map(|(id, _)| id.clone()).collect();
        for session in over {
            if let Some(account) = self.accounts.get_mut(&session) {
                (account.overdue, account.due, account.busy) = (true, None, false);
            }
            let why = format!("the store has not answered for {} s", WRITE_PATIENCE.as_secs());
            self.failed(&session, why, "look at the disk, and for a program that holds the database");
        }
    }

    /// Notes that a session cannot be written; told only when it is news.
    fn failed(&mut self, session: &SessionId, reason: String, hint: &'static str) {
        let Some(account) = self.accounts.get_mut(session) else { return };
        let known = account.failing.replace(reason.clone());
        if known.as_ref() != Some(&reason) {
            (self.log)(&format!("store: {session}: {reason}"));
        }
        // Who knows that it is never written need not hear that it is not written now.
        if known.is_none() && account.gap.is_none() {
            self.troubles
                .push(Trouble { session: session.clone(), what: TroubleKind::Fails { reason, hint } });
        }
    }

    /// What the UIs and the engine have to be told of the store.
    pub(super) fn troubles(&mut self) -> Vec<Trouble> {
        std::mem::take(&mut self.troubles)
    }

    /// Why what happens in this session is in memory only, if it is.
    pub(super) fn trouble(&self, session: &SessionId) -> Option<&str> {
        let account = self.accounts.get(session)?;
        account.gap.as_ref().map(|gap| gap.why.as_str()).or(account.failing.as_deref())
    }

    /// Whether everything that must be on disk before it is told is there, or is known not to be.
    pub(super) fn is_settled(&self, session: &SessionId) -> bool {
        self.accounts.get(session).is_none_or(|account| account.due.is_none())
    }

    /// Whether nothing at all waits to be told until it is kept.
    pub(super) fn is_all_settled(&self) -> bool {
        self.accounts.values().all(|account| account.due.is_none())
    }

    /// Whether what comes in about this session has to wait.
    pub(super) fn is_busy_with(&self, session: &SessionId) -> bool {
        let stands = |account: &Account| account.busy || account.due.is_some() && account.is_much();
        self.is_full() || self.accounts.get(session).is_some_and(stands)
    }

    /// Whether more waits for a store that works than may. What a store does not take is bounded otherwise ([`MAX_UNSAVED`]).
    fn is_full(&self) -> bool {
        if self.bytes <= MAX_UNKEPT {
            return false;
        }
        let failing = self.accounts.values().filter(|account| account.failing.is_some());
        let unsaved: usize = failing.map(|account| account.bytes + account.bytes_with_store).sum();
        self.bytes.saturating_sub(unsaved) > MAX_UNKEPT && self.accounts.values().any(|account| account.busy)
    }

    /// Whether the store wants to be tended, or something waits for it to work again.
    pub(super) fn is_tended(&self) -> bool {
        let tended = |account: &Account| {
            account.open || account.failing.is_some() || account.is_worth() && !account.events.is_empty()
        };
        self.accounts.values().any(tended)
    }

    /// What the store does not hold yet. Exact while no batch is with it.
    pub(super) fn unkept(&self, session: &SessionId) -> Vec<Event> {
        self.accounts.get(session).map(|account| account.events.clone()).unwrap_or_default()
    }

    /// Whether the store holds everything that happened in a session.
    pub(super) fn is_kept(&self, session: &SessionId) -> bool {
        let kept =
            |account: &Account| account.events.is_empty() && !account.with_store && account.gap.is_none();
        self.accounts.get(session).is_some_and(kept)
    }

    /// Whether anything of a session is here that may not be on disk.
    pub(super) fn knows(&self, session: &SessionId) -> bool {
        self.accounts.contains_key(session)
    }

    /// Whether the store has the session open for writing.
    pub(super) fn is_open(&self, session: &SessionId) -> bool {
        self.accounts.get(session).is_some_and(|account| account.open)
    }

    /// The sessions that the store has open for writing.
    pub(super) fn open_sessions(&self) -> impl Iterator<Item = SessionId> {
        self.accounts.iter().filter(|(_, account)| account.open).map(|(session, _)| session.clone())
    }

    /// The store has opened a session for writing. One with a gap goes on from where it is written.
    pub(super) fn opened(&mut self, session: SessionId) {
        let account = self.accounts.entry(session.clone()).or_default();
        account.open = true;
        // Of one that was let go everything that was acknowledged is in the store.
        if let Some(gap) = account.gap.take().filter(|gap| gap.from > Seq(0)) {
            let what = TroubleKind::Cut { from: gap.from, failing: account.failing.clone() };
            self.troubles.push(Trouble { session, what });
        }
    }

    /// Lets go of a session that somebody else keeps; nothing of it is written here.
    pub(super) fn leave_out(&mut self, session: &SessionId, why: &str) {
        let account = self.accounts.entry(session.clone()).or_default();
        let from = account.events.first().map_or(Seq(1), |event| event.seq);
        account.events.clear();
        self.bytes = self.bytes.saturating_sub(std::mem::take(&mut account.bytes));
        (account.durable, account.failing) = (false, None);
        if account.gap.replace(Gap { from, why: why.to_owned() }).is_none() {
            (self.log)(&format!("store: {session}: not kept here: {why}"));
            self.troubles
                .push(Trouble { session: session.clone(), what: TroubleKind::Elsewhere(why.to_owned()) });
        }
    }

    /// A session is no longer ours: nothing more of it is written from here, and nobody waits for it.
    pub(super) fn let_go(&mut self, session: &SessionId, why: &str) {
        self.forget(session);
        let gap = Some(Gap { from: Seq(0), why: why.to_owned() });
        self.accounts.insert(session.clone(), Account { gap, ..Account::default() });
    }

    /// Whether a session is no longer ours.
    pub(super) fn is_let_go(&self, session: &SessionId) -> bool {
        let gap = self.accounts.get(session).and_then(|account| account.gap.as_ref());
        gap.is_some_and(|gap| gap.from == Seq(0))
    }

    /// A batch comes back of a session that was let go: nobody wants it.
    pub(super) fn drop_batch(&mut self, batch: &Batch) {
        self.bytes = self.bytes.saturating_sub(batch.bytes);
    }

    /// Whether a foreign runtime does the runs, which goes on whatever becomes of the store.
    pub(super) fn is_beside(&self) -> bool {
        self.keeping == Keeping::Beside
    }

    /// A session is no longer in the store, or no longer open there.
    pub(super) fn forget(&mut self, session: &SessionId) {
        if let Some(account) = self.accounts.remove(session) {
            self.bytes = self.bytes.saturating_sub(account.bytes);
        }
    }
}

impl Account {
    fn is_much(&self) -> bool {
        self.events.len() >= MAX_STREAMED_EVENTS || self.bytes >= MAX_STREAMED_BYTES
    }

    /// Takes back a batch that was not written, before what came meanwhile.
    fn put_back(&mut self, mut batch: Batch) {
        self.with_store = false;
        (self.events_with_store, self.bytes_with_store) = (0, 0);
        self.durable |= batch.durability == Durability::Now;
        batch.events.append(&mut self.events);
        self.events = batch.events;
        self.bytes += batch.bytes;
    }

    /// Whether something of it must be on disk soon, though nobody waits for it.
    fn goes_to_store(&self) -> bool {
        let wanted = self.durable || self.is_much();
        self.is_worth() && wanted && self.failing.is_none() && !self.overdue && self.gap.is_none()
    }

    /// Whether no more of it may wait for a store that fails.
    fn is_overfull(&self, keeping: Keeping) -> bool {
        let (events, bytes) =
            (self.events.len() + self.events_with_store, self.bytes + self.bytes_with_store);
        // Who waits for a store that works cannot bring more than it takes.
        let is_unbounded = self.failing.is_some() || keeping == Keeping::Beside;
        is_unbounded && (events >= MAX_UNSAVED || bytes >= MAX_UNSAVED_BYTES)
    }

    /// The store works and holds all that it was given; whether that is news, and good.
    fn works(&mut self) -> bool {
        self.failing.take().is_some() && self.gap.is_none()
    }

    /// A session in which nothing was said yet is not worth keeping.
    fn is_worth(&self) -> bool {
        self.open || self.said
    }
}

/// Whether somebody said or did something that a person would miss.
fn is_said(body: &Body) -> bool {
    matches!(
        body,
        Body::Message(MessageEvent::Started { .. })
            | Body::Run(RunEvent::Started { .. })
            | Body::Session(SessionEvent::Renamed { .. })
            | Body::Context(ContextEvent::Compacted { .. })
    )
}

/// What the UIs of a session and the engine must know of the store.
pub(super) struct Trouble {
    session: SessionId,
    what: TroubleKind,
}

enum TroubleKind {
    /// The session cannot be written.
    Fails { reason: String, hint: &'static str },
    /// It can again.
    Works,
    /// So much waited that the rest is let go, from here on.
    Lost(Seq),
    /// It was opened again as far as it was written; why it cannot be written now, if so.
    Cut { from: Seq, failing: Option<String> },
    /// There is no store on disk: nothing will be there the next time.
    Forgets(String),
    /// Somebody else keeps it.
    Elsewhere(String),
}

impl TroubleKind {
    /// What the person is told, and why nothing is saved now (`None` if that is as it was).
    fn said(self) -> (Level, String, Option<Option<String>>) {
        match self {
            TroubleKind::Fails { reason, hint } => {
                let text = format!(
                    "Not saved: {reason} ({hint}). The conversation goes on in memory and will be written when that works again."
                );
                (Level::Error, text, Some(Some(reason)))
            }
            TroubleKind::Works => {
                (Level::Success, "Saved again: everything is written.".to_owned(), Some(None))
            }
            TroubleKind::Lost(from) => {
                let from = from.0;
                let text = format!(
                    "Not saved from event {from} on: too much waited for the disk. The conversation goes on in memory and will not be written, also when the disk works again. Export it to keep it."
                );
                let status = format!("from event {from} on, permanently; export the session to keep it");
                (Level::Error, text, Some(Some(status)))
            }
            TroubleKind::Cut { from, failing } => {
                let text = format!(
                    "What happened here from event {} on could not be written and is gone. The session goes on from there.",
                    from.0
                );
                (Level::Warning, text, Some(failing))
            }
            TroubleKind::Elsewhere(why) => {
                let text = format!("This conversation is not kept from here: {why}.");
                (Level::Warning, text, None)
            }
            TroubleKind::Forgets(why) => {
                (Level::Warning, format!("Nothing of this conversation will be kept: {why}"), None)
            }
        }
    }
}

impl Shell {
    /// The engine first: what it is told next must not be done as if it were written down.
    pub(super) fn tell_trouble(&mut self, trouble: Trouble) {
        let Trouble { session, what } = trouble;
        let (level, text, failing) = what.said();
        if let Some(why) = failing {
            self.orders.push_front(Order::StoreFails { session: session.clone(), why: why.clone() });
            let text = why.map(|why| format!("not saved: {why}"));
            let signal = Signal::Status { key: UNSAVED.to_owned(), text };
            self.perform(CoreInput::Report(Report::Signal { session: session.clone(), signal }).into());
        }
        let signal = Signal::Notify { level, text };
        self.perform(CoreInput::Report(Report::Signal { session, signal }).into());
    }
}

#[cfg(test)]
mod tests;
