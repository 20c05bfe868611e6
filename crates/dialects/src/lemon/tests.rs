//! Tests of both roles by pure calls. Whole conversations are in the transcripts.

mod stage;

mod quirks;
mod roundtrip;
mod runtime;
mod schema;
mod streams;
mod ui;
