//! The person's browser, opened at an address.

use crate::output;
use std::process::Stdio;
use std::time::Duration;

/// How long a browser may take to be started.
const OPENED_WITHIN: Duration = Duration::from_secs(10);

/// Whether there is a browser to be opened here.
pub(crate) fn is_here() -> bool {
    let screen = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    output::Stream::Out.is_terminal()
        && (cfg!(target_os = "macos") || screen("DISPLAY") || screen("WAYLAND_DISPLAY"))
}

/// Opens the address. It stands in the list of processes for a moment, and is no secret.
pub(crate) async fn open(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut opening = tokio::process::Command::new(program);
    opening.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let opened = tokio::time::timeout(OPENED_WITHIN, opening.status()).await;
    if !matches!(opened, Ok(Ok(status)) if status.success()) && opened.is_ok() {
        output::print_error("no browser could be opened here: open the address above in one");
    }
}
