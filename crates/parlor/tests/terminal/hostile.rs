//! A hostile suite: a model, a command, a UI or a repository that means harm, against the built program. Each test names what was
//! tried; it ends in "stopped", or in a sentence of docs/security.md.
//!
//! Every test runs as whoever runs the tests and, when that is root, as an ordinary user too (`bench::as_each_user`).

#![cfg(target_os = "linux")]

#[cfg(test)]
pub(crate) mod bench;
#[cfg(test)]
mod children;
#[cfg(test)]
mod doors;
#[cfg(test)]
mod guards;
#[cfg(test)]
mod machine_ports;
#[cfg(test)]
mod networks;
#[cfg(test)]
mod own_git;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod servers;
#[cfg(test)]
mod shut;
#[cfg(test)]
mod temp;
#[cfg(test)]
mod terminals;
#[cfg(test)]
mod ways_out;
