//! Putting a leash on: everything that limits this process and what it starts, in the one order that works.
//!
//! What it is not: a judgement. What may be reached was decided before. It must run before any thread is started (limits hold per
//! thread), and whatever cannot be put on although the kernel has it is an error: a command never runs on less than was said.

use super::Leash;

/// Gives this process, and everything it starts, the view of the file system that the leash asks for. Before [`apply`], and before
/// any domain of Landlock: such a domain forbids it.
pub(super) fn separate(leash: &Leash) -> std::io::Result<()> {
    if leash.free || !leash.private {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    super::private::enter(leash)?;
    Ok(())
}

/// Limits this thread and everything it starts, as far as the kernel can.
pub(super) fn apply(leash: &Leash) -> std::io::Result<()> {
    if leash.free {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        use super::{calls, landlocked};
        give_up_capabilities()?;
        landlocked::apply(leash)?;
        if !leash.lacks.filter && calls::can_filter() {
            calls::refuse(calls::SocketReach::of(leash))?;
        }
    }
    Ok(())
}

/// Root in a leash is root as in a container: it may own and read files of every user, but neither mount, nor make devices, nor look
/// into other programs, nor change the kernel. Takes effect with the next program that is started.
#[cfg(target_os = "linux")]
fn give_up_capabilities() -> std::io::Result<()> {
    use rustix::thread::{
        CapabilitySet as Capability, capability_is_in_bounding_set, clear_ambient_capability_set,
        remove_capability_from_bounding_set,
    };
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let kept = Capability::CHOWN
        | Capability::DAC_OVERRIDE
        | Capability::FOWNER
        | Capability::FSETID
        | Capability::KILL
        | Capability::SETGID
        | Capability::SETUID
        | Capability::SETPCAP
        | Capability::NET_BIND_SERVICE
        | Capability::SYS_CHROOT;
    clear_ambient_capability_set()?;
    // What we do not know by name is given up too: the numbers end where the kernel says so.
    for number in 0..u64::BITS {
        let one = Capability::from_bits_retain(1 << number);
        match capability_is_in_bounding_set(one) {
            Ok(true) if !kept.contains(one) => remove_capability_from_bounding_set(one)?,
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Ok(())
}
