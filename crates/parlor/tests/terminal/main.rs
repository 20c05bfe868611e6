//! The built program as a person has it in a terminal, and beside it what the same worlds are needed for: whole tasks through every
//! provider's wire, unfriendly ground, hostile peers, the instruments, and the fleet.

mod fleet;
mod ground;
mod hostile;
mod instruments;
mod task;
mod tour;
