//! The contract of a store: what the hub may ask of it, and in which words it answers.
//!
//! A store is not asked by two at once and knows no tasks: its calls block for as long as the disk takes. The hub makes them one after the
//! other, off its own task (`hub/src/shell/archive.rs`), and tells nobody of an event before the append that carries it has returned.
//!
//! **Lease and fence.** To write a session one needs its lease. [`Store::create`], [`Store::open`] and [`Store::delete`] take it, and are
//! refused ([`StoreError::Busy`]) while another program has a good one; [`Store::tend`] renews it, [`Store::close`] gives it back. It is good
//! while its holder is known to live, and where that cannot be known for [`LEASE_GOOD_FOR`] after it was taken or renewed. Each time it is
//! taken its [`Fence`] rises, and what is written carries the fence in the same step: whoever slept through the end of its lease writes
//! nothing more ([`StoreError::NotOpen`]), also when it wakes in the middle of a write.

use crate::StoreError;
use crate::chain::Chain;
use domain::command::History;
use domain::event::Event;
use domain::ids::{EntryId, Millis, Seq, SessionId};
use domain::session::{Origin, SessionSummary};
use domain::state::State;
use std::time::Duration;

/// How often [`Store::tend`] wants to be called while a session is open.
pub const TEND_EVERY: Duration = Duration::from_millis(500);
/// How long another program's lock is waited for. Where several programs share a file this is ordinary; past it, it counts as a failure.
pub const LOCK_PATIENCE: Duration = Duration::from_secs(2);
/// How long a lease is good without being renewed, where it cannot be known whether its holder lives.
pub const LEASE_GOOD_FOR: Duration = Duration::from_secs(30);
/// Events that are read at once for a digest.
const CHAIN_EVENTS: usize = 2_000;
/// Most hits of one search.
pub const MAX_FOUND: usize = 200;
/// Most sessions whose events are appended in one call.
pub const MAX_GROUP: usize = 64;
/// Longest piece of text shown around a hit, in characters.
pub const SNIPPET_CHARS: usize = 160;

/// When an append must be on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// When the call returns: for everything that is acknowledged ([`domain::event::Body::is_durable`]).
    Now,
    /// Soon, together with others: for streaming text and progress. A killed program loses at most what came since the last
    /// [`Store::tend`], a power cut at most what came since the last [`Durability::Now`].
    Soon,
}

/// Which taking of a session's lease this is: higher than all before it, for as long as the session is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fence(pub u64);

/// What an append leaves to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Appended {
    /// The log has grown enough since the last snapshot: call [`Store::snapshot`] when it suits.
    pub snapshot_due: bool,
}

/// Events of one session that are to be appended together with those of others.
#[derive(Debug, Clone, Copy)]
pub struct Batch<'a> {
    pub session: &'a SessionId,
    pub events: &'a [Event],
    pub durability: Durability,
}

/// A session that was opened for writing.
#[derive(Debug, Clone, Default)]
pub struct Opened {
    /// As the log has it. An interrupted run is still open in it: see [`crate::recover`].
    pub state: State,
    /// What could not be read, if anything; the rest is whole.
    pub damage: Option<Damage>,
}

/// What was damaged in a session and how it was dealt with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Numbers of the events that could not be read, as first and last.
    pub lost: Vec<(Seq, Seq)>,
    /// Readable events that no longer fit because something before them is missing.
    pub unfit: u64,
    /// For the person.
    pub message: String,
}

/// Which sessions to list, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Of this project only.
    pub project: Option<String>,
    /// Words that must occur in its title or in one of its entries. With a `limit` each session tells where ([`SessionSummary::found`]), and
    /// those come in which the words were said last, at most [`MAX_FOUND`].
    pub search: Option<String>,
    /// How many at most.
    pub limit: Option<usize>,
}

/// An entry that holds every word that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    pub session: SessionId,
    pub title: String,
    pub entry: EntryId,
    /// When the entry was made.
    pub at: Millis,
    /// The text around the hit.
    pub snippet: String,
}

/// Where sessions are kept. Calls may block on a disk: whoever uses it makes them where nobody else has to wait.
///
/// Writing needs the session to be open here ([`Store::create`] or [`Store::open`]); reading does not.
pub trait Store: Send {
    /// Why it keeps nothing although the person expects it to; `None` for a store that keeps, or is known not to.
    fn forgets(&self) -> Option<&str> {
        None
    }

    /// Which store this is, for people, where it is not the one of this machine.
    fn place(&self) -> Option<&str> {
        None
    }

    /// The chained digest of a session's records ([`crate::parts::Chain`]), and the last event that it covers.
    ///
    /// # Errors
    /// When there is no such session, or the disk fails.
    fn chain(&self, session: &SessionId) -> Result<(Seq, Chain), StoreError> {
        let (mut chain, mut last) = (Chain::default(), Seq(0));
        loop {
            let events = self.events(session, last, CHAIN_EVENTS)?;
            let Some(end) = events.last() else { return Ok((last, chain)) };
            last = end.seq;
            chain = chain.then(&events);
        }
    }

    /// From now on no call waits for another program's lock: it answers [`StoreError::Locked`] at once, and may be made again. For whoever
    /// has others to serve meanwhile; else a call waits up to [`LOCK_PATIENCE`] itself.
    fn never_wait(&mut self) {}

    /// Another way to what is on disk, for reading only, beside whatever this store does; `None` where there is none. It does not know what
    /// this one holds back ([`Durability::Soon`]).
    fn reader(&self) -> Option<Box<dyn Store>> {
        None
    }

    /// Makes a session and opens it for writing. It stands in lists once its first event is appended.
    ///
    /// # Errors
    /// When there is one of this id, or the disk fails.
    fn create(&mut self, session: &SessionId) -> Result<(), StoreError>;

    /// Opens a session for writing, alone: its lease is here until [`Store::close`]. Repairs what is damaged.
    ///
    /// # Errors
    /// When there is no such session, another program writes it, or the disk fails.
    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError>;

    /// The fence of the lease by which a session is open here; `None` where it is not, and for a store that nobody else can write.
    fn fence(&self, session: &SessionId) -> Option<Fence> {
        let _ = session;
        None
    }

    /// Appends events, all or none. The first must follow the last one that was appended.
    ///
    /// # Errors
    /// When the session is not open here (any more), the numbers do not follow, or the disk fails. Nothing was appended then,
    /// and the same events may be tried again.
    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        durability: Durability,
    ) -> Result<Appended, StoreError>;

    /// Appends events of many sessions, each at most once, in one commit where that is cheaper: each is answered for itself, in the same
    /// order, and what is refused of one changes nothing for another.
    fn append_many(&mut self, batches: &[Batch<'_>]) -> Vec<Result<Appended, StoreError>> {
        batches.iter().map(|batch| self.append(batch.session, batch.events, batch.durability)).collect()
    }

    /// Whether a commit takes so long that what comes in meanwhile is better appended together ([`Store::append_many`]).
    fn is_grouping(&self) -> bool {
        false
    }

    /// Keeps `state`, which stands for all events up to its number, so that opening need not read them.
    ///
    /// # Errors
    /// When the session is not open here, `state` is not at its last event, or the disk fails. The log is untouched.
    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError>;

    /// Writes what was appended [`Durability::Soon`] and renews the leases that are here. Call it every [`TEND_EVERY`].
    ///
    /// # Errors
    /// When the disk fails; what waits is kept for the next call.
    fn tend(&mut self) -> Result<(), StoreError>;

    /// Writes what waits and gives the lease back.
    ///
    /// # Errors
    /// When the disk fails. The session is no longer open here either way, unless another program has the file locked: then it may be
    /// closed again.
    fn close(&mut self, session: &SessionId) -> Result<(), StoreError>;

    /// The session as it stands, for reading; it may be open elsewhere.
    ///
    /// # Errors
    /// When there is no such session, or the disk fails.
    fn load(&self, session: &SessionId) -> Result<Opened, StoreError>;

    /// Up to `limit` events after `after`, in order. Damaged ones are left out.
    ///
    /// # Errors
    /// When there is no such session, or the disk fails.
    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError>;

    /// The events of the last `max_runs` runs, at most the newest `max_events`.
    ///
    /// # Errors
    /// When there is no such session, or the disk fails.
    fn history(&self, session: &SessionId, max_runs: usize, max_events: usize)
    -> Result<History, StoreError>;

    /// Sessions, newest first. Never reads a log.
    ///
    /// # Errors
    /// When the disk fails.
    fn list(&self, listing: &Listing) -> Result<Vec<SessionSummary>, StoreError>;

    /// The newest kept session of this origin.
    ///
    /// # Errors
    /// When the disk fails.
    fn find_origin(&self, origin: &Origin) -> Result<Option<SessionId>, StoreError> {
        let sessions = self.list(&Listing::default())?;
        let of_it = |session: &SessionSummary| session.origin.as_deref() == Some(origin);
        Ok(sessions.into_iter().find(of_it).map(|session| session.id))
    }

    /// One session in short.
    ///
    /// # Errors
    /// When there is no such session, or the disk fails.
    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError>;

    /// The entries in which every word of `text` begins a word, newest first, at most [`MAX_FOUND`].
    ///
    /// # Errors
    /// When the disk fails.
    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError>;

    /// Takes a session away for good.
    ///
    /// # Errors
    /// When there is no such session, another program writes it, or the disk fails.
    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError>;
}
