//! The built program as browsers meet it: `parlor web`, the server in the background, and devices that are let in.

#![cfg(target_os = "linux")]

#[path = "../../../web/tests/page/client.rs"]
#[allow(
    dead_code,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared with the tests of the server, which use more of it"
)]
mod client;
mod home;
mod web;
mod window;
