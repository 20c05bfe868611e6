//! Tools at work, on real files and real processes.

#[cfg(test)]
#[path = "it/asked.rs"]
mod asked;
#[cfg(test)]
#[path = "it/bash.rs"]
mod bash;
#[cfg(test)]
#[path = "it/calls.rs"]
mod calls;
#[cfg(test)]
#[path = "it/consent.rs"]
mod consent;
#[cfg(test)]
#[path = "it/escapes.rs"]
mod escapes;
#[cfg(test)]
#[path = "it/everyday.rs"]
mod everyday;
#[cfg(test)]
#[path = "it/fetch.rs"]
mod fetch;
#[cfg(test)]
#[path = "it/files.rs"]
mod files;
#[cfg(test)]
#[path = "it/gits.rs"]
mod gits;
#[cfg(test)]
#[path = "it/leash.rs"]
mod leash;
#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "it/net.rs"]
mod net;
#[cfg(test)]
#[path = "it/offers.rs"]
mod offers;
#[cfg(test)]
#[path = "it/own.rs"]
mod own;
#[cfg(test)]
#[path = "it/patch.rs"]
mod patch;
#[cfg(test)]
#[path = "it/removed.rs"]
mod removed;
#[cfg(test)]
#[path = "it/room.rs"]
mod room;
#[cfg(test)]
#[path = "it/sandbox.rs"]
mod sandbox;
#[cfg(test)]
#[path = "it/slip.rs"]
mod slip;
#[cfg(test)]
#[path = "it/steered.rs"]
mod steered;
#[cfg(test)]
#[path = "it/table.rs"]
mod table;
#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "it/temp.rs"]
mod temp;
#[cfg(test)]
#[path = "it/tricks.rs"]
mod tricks;
#[cfg(test)]
#[cfg(target_os = "linux")]
#[path = "it/way_out.rs"]
mod way_out;
