//! The way to other programs: their runtimes, started or reached by a socket or by ssh, with a hub in front of them, and what they ask of
//! their client.
//!
//! It knows no flags, prints nothing and draws nothing: who attaches, asks and tells is the caller. What runs sessions of our own is in the
//! crate `host`.
//!
//! The modules stand in layers, lowest first. A module uses those of the layers above it in this list and those named before it in
//! its own; the two sides of a bar do not know each other (`cargo xtask layers` checks it).
//!
//! - who there is: agents | origin, elsewhere | ssh | errands
//! - who may be started: agreement
//! - in front of one: leash, hubs, front, task
//! - between two: bridge
//!
//! | module | holds |
//! |---|---|
//! | [`agents`] | agents of other programs: which are known, installed, and how to get them |
//! | [`origin`], [`elsewhere`] | where a runtime is, as it is kept with its sessions; which kept conversation with one is meant |
//! | [`ssh`] | a session of another machine, by the person's own ssh |
//! | `errands` | files and commands that an agent asks its client for |
//! | [`leash`] | an agent on the leash: its own folders, and the hosts that it reaches |
//! | `hubs`, [`front`] | a hub in front of a foreign runtime, and the runtime behind it until its end |
//! | [`agreement`] | which listed agents the person has let be started |
//! | [`task`] | an agent as a sub-agent of ours, on the leash |
//! | [`bridge`] | a UI of one wire on a runtime of another |

pub mod agents;
pub mod agreement;
pub mod bridge;
pub mod elsewhere;
mod errands;
pub mod front;
mod hubs;
pub mod leash;
pub mod origin;
pub mod ssh;
pub mod task;
