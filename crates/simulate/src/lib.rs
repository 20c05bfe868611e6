//! Simulation: the hub, as it is, with its agent, its UIs and its store played from a seed, so that what goes wrong once in a million
//! runs goes wrong here every day, and the same way each time.
//!
//! One schedule is one seed ([`Plan::of`]). Everything that happens in it runs on one thread under a clock that nobody waits for: the
//! shipped hub (core, keeper, held inputs, archive, seats) and the native wire; a database with leases and epochs behind the store's
//! contract; an agent that counts what its tools do; people at UIs. What is not simulated: processes, files, SQLite, the agent's own
//! logic, foreign runtimes (`docs/adr/0018-simulation-first.md`).
//!
//! Invariants: a schedule follows from its plan alone; each kind of fault has dice of its own.

mod agent;
mod checks;
mod client;
mod database;
mod dice;
mod line;
mod person;
mod plan;
mod process;
mod schedule;
mod world;

pub use plan::{Fault, Mutant, Plan};
pub use schedule::{Found, Tally, run, shortest, traced};
pub use world::Step;
