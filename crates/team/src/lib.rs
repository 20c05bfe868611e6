//! Sessions of several machines in one PostgreSQL: the second store behind the contract of `store`.
//!
//! The records are the same bytes as in SQLite, with the same laws and the same recovery. What is different is who may write: a process
//! takes a session's lease in the database, by the database's clock, with an epoch that rises each time, and every append advances the
//! session's head only where the epoch is still its own. Whoever is cut off stops by itself before anybody else can have the lease.
//!
//! Invariants: nothing of an old epoch is ever written after a newer one has begun; an append whose connection broke is looked up in the
//! head before it is made again, so that it happens once; a password is in no argument, no message and no log; nothing of correctness
//! depends on advisory locks, on LISTEN or NOTIFY, or on the clocks of the machines.
//!
//! What is not here: nodes that speak with each other, and the hub.

mod address;
mod boot_time;
mod database;
mod lease;
mod passwords;
mod postgres;
mod reading;
mod schema;
mod statements;
mod tls;
mod trouble;
mod writer;

pub use address::{Address, is_address};
pub use boot_time::Clock;
pub use lease::{LEASE_FOR, RENEW_AFTER, STOP_AFTER};
pub use postgres::{PostgresHealth, PostgresStore};
