//! The built program over pipes and sockets, as other programs use it.

#![allow(clippy::duplicate_mod, reason = "the same tests are held against the fixtures of each release")]

mod agents;
mod called;
mod clients;
mod completions;
mod conformance;
mod faults;
mod flooded;
mod found;
mod helps;
mod hints;
mod last_words;
mod mcp_serve;
mod new;
mod pages;
mod release;
mod screens;
mod team;
mod usages;
