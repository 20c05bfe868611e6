//! The fuzzer's program: one for all targets, so that there is one build. `PARLOR_FUZZ` names the target.
//!
//! What a target does is in [`targets`]; how it is built and fed is `cargo xtask fuzz`. A law that is broken is a panic, and a panic is
//! what the fuzzer looks for: the laws are those of `testkit::bench`, which holds roles to them in every step.

#![no_main]

mod readers;
mod role;
mod steps;
mod targets;

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use targets::{Target, asked};

static TARGET: OnceLock<Target> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| TARGET.get_or_init(asked)(bytes));
