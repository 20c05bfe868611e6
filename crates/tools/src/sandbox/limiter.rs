//! The limiter: our binary once more, between a guard and its command. It takes a session of its own, applies the leash and
//! becomes the command, so that the leash holds the command and all it starts, and nobody else.
//!
//! It is single-threaded to its end: limits and namespaces hold for the thread that takes them.

use super::guard::{GuardError, Order, system};
use super::{env_passing, limits};
use std::convert::Infallible;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// What the command is to hear and say; all other files were left open by whoever started Parlor.
#[cfg(target_os = "linux")]
const PIPES: std::ops::RangeInclusive<i32> = 0..=2;

/// Becomes the command; comes back only when it cannot.
pub(super) fn become_command(order: Order) -> Result<Infallible, GuardError> {
    // Without a controlling terminal nobody can type or paint for the person.
    rustix::process::setsid().map_err(system("leave the terminal"))?;
    #[cfg(target_os = "linux")]
    {
        close_the_rest();
        super::mark::put();
    }
    limits::apply(&order.leash).map_err(system("limit the command"))?;
    #[cfg(target_os = "linux")]
    if !order.leash.free {
        // Also where the kernel has no limits that ask for it.
        rustix::thread::set_no_new_privs(true).map_err(system("give up privileges"))?;
    }
    let mut command = Command::new(&order.program);
    env_passing::hand_over(&mut command);
    let source = command.args(&order.args).exec();
    Err(GuardError::Spawn { program: order.program.into(), source })
}

/// Closes every file but the pipes: an open terminal or socket would be a way past all limits.
#[cfg(target_os = "linux")]
pub(super) fn close_the_rest() {
    let open = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open: Vec<i32> = open.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in open.into_iter().filter(|number| !PIPES.contains(number)) {
        // The one we listed them by is closed already.
        let _ = nix::unistd::close(number);
    }
}
