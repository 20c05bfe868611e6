//! The limiter: our binary once more, between a guard and its command. It takes a session of its own, applies the leash and
//! becomes the command, so that the leash holds the command and all it starts, and nobody else.
//!
//! It is single-threaded to its end: limits and namespaces hold for the thread that takes them.

use super::guard::{GuardError, Order, system};
use super::limits;
use std::convert::Infallible;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Becomes the command; comes back only when it cannot.
pub(super) fn become_command(order: Order) -> Result<Infallible, GuardError> {
    // Without a controlling terminal nobody can type or paint for the person.
    rustix::process::setsid().map_err(system("leave the terminal"))?;
    limits::apply(&order.leash).map_err(system("limit the command"))?;
    let source = Command::new(&order.program).args(&order.args).exec();
    Err(GuardError::Spawn { program: order.program.into(), source })
}
