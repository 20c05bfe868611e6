//! The stores from outside: the contract for both, and for the one on disk what becomes of it when things go wrong.

#![expect(clippy::unwrap_used, reason = "a test may fall over; its helping functions too")]

mod contract;
mod crash;
mod damage;
mod disk;
mod locked;
mod places;
mod recovery;
mod remains;
mod script;
mod versions;
