//! Tests of this dialect: a stage that plays the hub, then requests, quirks and the way there and back.

mod quirks;
mod requests;
mod round_trip;
mod schema;
mod stage;
mod ui;
