//! Every process that came from a guard: asked to end, ended, reaped.
//!
//! Where the kernel can (Landlock 6), the guard is in a domain of its own that reaches no further than its family, and one signal to
//! "everybody" is a signal to all of it at once: nothing can fork or change its group fast enough to get away. Elsewhere, and for
//! commands without a leash, the family is looked up among all processes.

use super::Leash;
use rustix::process::{Pid, Signal, WaitOptions, wait};
use std::process::Child;

/// The version of Landlock that knows signals.
const SIGNALS: u32 = 6;

/// The family of a guard, which is this process.
#[derive(Debug)]
pub(super) struct Family {
    /// Whether everybody that this process can signal is of the family.
    enclosed: bool,
    /// The first of it.
    head: Option<Pid>,
}

/// What was found when the dead were reaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reaped {
    /// The exit code of the first of the family, as a shell would tell it, when it was among them.
    pub(super) head: Option<i32>,
    /// Whether nobody is left. Those whose parents died are our children, so then the whole family is gone.
    pub(super) alone: bool,
}

impl Family {
    /// A family that is still empty. `outsider` is a process that is none of it. To be called before any thread is started.
    pub(super) fn found(outsider: i32, leash: &Leash) -> Family {
        // A command without a leash may become another user, which a domain would forbid.
        let can = !leash.free && leash.lacks.landlock.is_none_or(|version| version >= SIGNALS);
        Family { enclosed: can && enclose(outsider), head: None }
    }

    /// The same with its first member.
    pub(super) fn with_head(self, child: &Child) -> Family {
        Family { head: Some(Pid::from_child(child)), ..self }
    }

    /// Signals every member, also those that left the process group.
    pub(super) fn signal(&self, signal: Signal) {
        #[cfg(target_os = "linux")]
        if self.enclosed {
            everybody(signal);
            return;
        }
        #[cfg(target_os = "linux")]
        listed::signal(signal);
        #[cfg(not(target_os = "linux"))]
        if let Some(head) = self.head {
            // Without a list of processes only the first one's group can be reached.
            let _ = rustix::process::kill_process_group(head, signal);
        }
    }

    /// Takes leave of those that ended.
    pub(super) fn reap(&self) -> Reaped {
        let mut head = None;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid) == self.head => {
                    let signal = status.terminating_signal().map(|signal| 128 + signal);
                    head = status.exit_status().or(signal).or(Some(1));
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return Reaped { head, alone: false },
                Err(_) => return Reaped { head, alone: true },
            }
        }
    }
}

/// Puts this process into a domain from which only its own family can be signalled; tells whether that holds.
#[cfg(target_os = "linux")]
fn enclose(outsider: i32) -> bool {
    use landlock::{
        AccessFs, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
        RulesetStatus, Scope, path_beneath_rules,
    };
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    // Moving files to other folders is refused in every domain that does not grant it.
    let moving = AccessFs::Refer;
    let enclosed = ruleset
        .scope(Scope::Signal)
        .and_then(|ruleset| ruleset.handle_access(moving))
        .and_then(Ruleset::create)
        .and_then(|made| made.add_rules(path_beneath_rules(["/"], moving)))
        .and_then(|made| made.restrict_self());
    // Tried and not only believed: outside of such a domain a signal to everybody would reach the person's other programs.
    enclosed.is_ok_and(|status| status.ruleset == RulesetStatus::FullyEnforced)
        && Pid::from_raw(outsider).map(rustix::process::test_kill_process)
            == Some(Err(rustix::io::Errno::PERM))
}

#[cfg(not(target_os = "linux"))]
fn enclose(_: i32) -> bool {
    false
}

/// Signals every process that this one may signal, but itself.
#[cfg(target_os = "linux")]
fn everybody(signal: Signal) {
    if let Ok(signal) = nix::sys::signal::Signal::try_from(signal.as_raw()) {
        // Nobody may be left, which is what we want.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(-1), signal);
    }
}

#[cfg(target_os = "linux")]
mod listed {
    use super::super::processes::{self, ProcessEntry};
    use rustix::process::{Pid, Signal, getpid, kill_process, kill_process_group};
    use std::collections::{BTreeSet, HashMap, HashSet};

    /// Signals whoever came from this process.
    pub(super) fn signal(signal: Signal) {
        let kin = kin();
        if signal == Signal::KILL {
            // A group dies all at once, even while it forks; in a session that is not ours every group is of the family.
            let ours = processes::own().map(|own| own.session).ok();
            let others = kin.iter().filter(|one| Some(one.session) != ours);
            let groups: BTreeSet<i32> = others.map(|one| one.group).collect();
            for group in groups.into_iter().filter_map(Pid::from_raw) {
                let _ = kill_process_group(group, signal);
            }
        }
        // They may have ended since we looked.
        for pid in kin.iter().filter(|one| !one.dead).filter_map(|one| Pid::from_raw(one.pid)) {
            let _ = kill_process(pid, signal);
        }
    }

    fn kin() -> Vec<ProcessEntry> {
        let mut children: HashMap<i32, Vec<ProcessEntry>> = HashMap::new();
        for one in processes::everybody() {
            children.entry(one.parent).or_default().push(one);
        }
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        let mut next = vec![getpid().as_raw_nonzero().get()];
        while let Some(pid) = next.pop() {
            for child in children.get(&pid).into_iter().flatten() {
                if seen.insert(child.pid) {
                    next.push(child.pid);
                    found.push(*child);
                }
            }
        }
        found
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::sandbox::{Lacks, status};

    /// Whether a family is enclosed, found in a thread that then ends: such a domain holds for a thread.
    fn enclosed(leash: Leash) -> bool {
        let mut outsider = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = outsider.id().cast_signed();
        let enclosed = std::thread::spawn(move || Family::found(pid, &leash).enclosed).join().unwrap();
        outsider.kill().unwrap();
        outsider.wait().unwrap();
        enclosed
    }

    #[test]
    fn a_family_is_enclosed_where_the_kernel_can_so_that_all_of_it_ends_at_once() {
        let can = status().landlock.is_some_and(|version| version >= SIGNALS);
        assert_eq!(enclosed(Leash::default()), can);
        assert!(!enclosed(Leash { free: true, ..Leash::default() }));
        let lacks = Lacks { landlock: Some(SIGNALS - 1), ..Lacks::default() };
        assert!(!enclosed(Leash { lacks, ..Leash::default() }));
    }
}
