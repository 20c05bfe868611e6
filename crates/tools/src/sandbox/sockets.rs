//! Keeping a command off the network: sockets of every family that leads off this machine cannot be made.
//!
//! Landlock knows TCP only; names are looked up over UDP, which is as good a way out. So the call that makes sockets is
//! filtered. Sockets between processes of this machine stay: shells, build tools and language servers live on them. A program
//! for another processor mode (32 bits on 64) cannot be filtered this way and is ended by the kernel.

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;
use std::io::{Error, Result};

/// The families that stay on this machine: sockets between processes, and talk with the kernel.
const LOCAL: [libc::c_int; 2] = [libc::AF_UNIX, libc::AF_NETLINK];

fn filter() -> Result<BpfProgram> {
    let other_than = |family: &libc::c_int| {
        let family = u64::from(family.cast_unsigned());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    let conditions = LOCAL.iter().map(other_than).collect::<std::result::Result<Vec<_>, _>>();
    let leads_away = conditions.and_then(SeccompRule::new).map_err(Error::other)?;
    // A ring of io_uring makes sockets without the call; programs that use one do without it where there is none.
    let rules =
        BTreeMap::from([(libc::SYS_socket, vec![leads_away]), (libc::SYS_io_uring_setup, Vec::new())]);
    let refused = SeccompAction::Errno(libc::EACCES.cast_unsigned());
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(Error::other)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, arch).map_err(Error::other)?;
    filter.try_into().map_err(Error::other)
}

/// Forbids this thread and everything it starts to make sockets that lead off this machine.
pub(super) fn close() -> Result<()> {
    seccompiler::apply_filter(&filter()?).map_err(Error::other)
}

/// Whether this kernel can, found by limiting a thread that then ends.
pub(super) fn can_close() -> bool {
    std::thread::spawn(close).join().is_ok_and(|closed| closed.is_ok())
}
