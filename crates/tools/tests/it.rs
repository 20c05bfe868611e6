//! Tools at work, on real files and real processes.

#[path = "it/bash.rs"]
mod bash;
#[path = "it/files.rs"]
mod files;
#[path = "it/room.rs"]
mod room;
