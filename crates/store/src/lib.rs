//! Sessions that stay: an append-only log of events per session, and what can be rebuilt from it (lists, search, snapshots).
//!
//! [`Store`] is the whole contract; it is synchronous and knows no runtime. [`SqliteStore`] keeps
//! sessions in one file; [`MemoryStore`] keeps nothing after the program.
//! What is *not* here: sessions as they run (the hub), the written form of an event (`record`), export formats.
//!
//! Invariants: events of a session are appended in order, without a gap, by one writer at a time; what was appended with
//! [`Durability::Now`] is on disk when the call returns; damage costs the damaged records and never the whole session.

mod chain;
mod contract;
mod error;
mod losses;
mod memory;
mod projection;
mod recovery;
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
mod words;

pub use contract::{
    Appended, Batch, Damage, Durability, Fence, LEASE_GOOD_FOR, LOCK_PATIENCE, Listing, MAX_FOUND, MAX_GROUP,
    Opened, SNIPPET_CHARS, SearchHit, Store, TEND_EVERY,
};
pub use error::StoreError;
pub use memory::MemoryStore;
pub use recovery::{Recovery, Resumable, Standing, recover};
#[cfg(feature = "sqlite")]
pub use sqlite::{
    CheckDepth, Contents, Copied, Fate, Health, MAX_KEPT, Rescued, RescuedSession, SqliteStore, StoredPrint,
};

/// What a store is made of that is not in this crate: the records as bytes, and what lists and searches read. Every store has the same.
pub mod parts {
    pub use crate::chain::Chain;
    pub use crate::losses::{Losses, follow, newer};
    pub use crate::projection::{Change, FoundEntry, Projection};
    pub use crate::rows::{Row, Unreadable, pack, pack_state, unpack, unpack_state};
    pub use crate::words::{Words, snippet};
}
