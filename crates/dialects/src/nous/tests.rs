//! Tests of this dialect: a stage that plays the hub, then tables, quirks and the way there and back.

mod commands;
mod quirks;
mod round_trip;
mod runs;
mod schema;
mod stage;
mod ui;
