//! Whether a process came from a guarded command: such a one must not become the UI that answers for a person.

use std::collections::BTreeSet;

/// Most ancestors that are looked at; deeper families are not believed.
const MAX_ANCESTORS: usize = 256;

/// Whether `pid` came from a command under a guard that is none of our own ancestors. `lead` is the argument that makes our binary
/// a guard. A guard adopts whatever its command leaves behind, so nothing gets out of the family.
pub fn came_from_command(lead: &str, pid: i32) -> bool {
    let ours = i32::try_from(std::process::id()).ok().and_then(|ours| guards_above(lead, ours));
    let ours = ours.unwrap_or_default();
    guards_above(lead, pid).is_none_or(|guards| !guards.is_subset(&ours))
}

/// The guards among a process and its ancestors; `None` when there are more ancestors than we look at.
fn guards_above(lead: &str, pid: i32) -> Option<BTreeSet<i32>> {
    let mut guards = BTreeSet::new();
    let mut next = pid;
    for _ in 0..MAX_ANCESTORS {
        if next <= 1 {
            return Some(guards);
        }
        if is_guard(lead, next) {
            guards.insert(next);
        }
        // One that is gone meanwhile has nobody above it any more.
        let Some(parent) = parent(next) else { return Some(guards) };
        next = parent;
    }
    None
}

fn is_guard(lead: &str, pid: i32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0).skip(1);
    words.next() == Some(lead.as_bytes()) && words.next() == Some(b"--parent")
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}
