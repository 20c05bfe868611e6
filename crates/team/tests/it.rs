//! The store on PostgreSQL from outside: the contract of every store, and what becomes of it when the database, the network or another
//! node gets in the way.

#![expect(clippy::unwrap_used, reason = "a test may fall over; its helping functions too")]

mod connections;
#[path = "../../store/tests/contract.rs"]
mod contract;
mod leases;
mod places;
#[path = "../../store/tests/script.rs"]
mod script;
mod setup;
mod wires;
