//! Tests of the whole: hub, agent, tools and dialects together, in this process, with a scripted model.

mod attach;
mod bench;
mod bridges;
mod crash;
mod killed;
mod many;
mod sessions;
mod talk;
mod transcripts;
