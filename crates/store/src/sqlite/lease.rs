//! Lease and fence of the contract, in a table of the file: who may write a session, one program at a time.
//!
//! A lease names its owner. On the same machine it is good as long as the owner's process lives, whatever the clock says; from
//! elsewhere (another container or host on the same file) it is good until it expires. Every write checks owner and fence in its own
//! transaction.

use super::number::{int, nat};
use crate::contract::{Fence, LEASE_GOOD_FOR};
use domain::ids::Millis;
use rusqlite::{Connection, OptionalExtension, Result, Row, params};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// How long a lease is good without being renewed.
pub(super) const LEASE_MS: u64 = LEASE_GOOD_FOR.as_secs() * 1_000;

/// A writer: one store of one process.
#[derive(Debug, Clone)]
pub(super) struct Owner {
    name: String,
    host: String,
    pid: u32,
    started: u64,
}

/// What became of the wish to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Nobody else has it until it is let go.
    Granted(Fence),
    /// This process has it.
    HeldBy(u32),
}

impl Owner {
    /// This process, with a name of its own for each store.
    pub(super) fn new() -> Owner {
        static STORES: AtomicU64 = AtomicU64::new(0);
        let pid = std::process::id();
        let started = start_of(pid).unwrap_or(0);
        let host = host();
        let number = STORES.fetch_add(1, Ordering::Relaxed);
        Owner { name: format!("{host}/{pid}/{started}/{number}/{}", now().0), host, pid, started }
    }

    /// Names this owner in a file's name, so that others can tell whether it is gone.
    pub(super) fn tag(&self) -> String {
        let [host, name] = [&self.host, &self.name].map(|text| crc32fast::hash(text.as_bytes()));
        format!("{host:08x}-{}-{}-{name:08x}", self.pid, self.started)
    }

    /// Whether the owner with this tag is gone for sure.
    pub(super) fn is_gone(tag: &str) -> bool {
        let mut words = tag.split('-');
        let is_here = words.next() == Some(&format!("{:08x}", crc32fast::hash(host().as_bytes())));
        let pid = words.next().and_then(|pid| pid.parse().ok());
        let started = words.next().and_then(|started| started.parse().ok());
        is_here && pid.zip(started).is_some_and(|(pid, started)| !is_alive(pid, started))
    }

    /// Takes the lease of a session, inside the caller's transaction.
    pub(super) fn take(&self, connection: &Connection, session: i64) -> Result<Taken> {
        let now = now().0;
        let held = connection
            .prepare_cached(
                "SELECT owner, host, pid, started, expires, fence FROM leases WHERE session = ?1",
            )?
            .query_row([session], |row| Ok((LeaseRow::read(row, 0)?, Fence(nat(row.get(5)?)))))
            .optional()?;
        if let Some((held, _)) = &held
            && held.owner != self.name
            && held.is_good(&self.host, now)
        {
            return Ok(Taken::HeldBy(held.pid));
        }
        let fence = Fence(held.map_or(0, |(_, fence)| fence.0) + 1);
        connection
            .prepare_cached("INSERT OR REPLACE INTO leases VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
            .execute(params![
                session,
                self.name,
                self.host,
                self.pid,
                int(self.started),
                int(now + LEASE_MS),
                int(fence.0)
            ])?;
        Ok(Taken::Granted(fence))
    }

    /// Whether the lease is still ours; asked in every write.
    pub(super) fn holds(&self, connection: &Connection, session: i64, fence: Fence) -> Result<bool> {
        connection
            .prepare_cached("SELECT 1 FROM leases WHERE session = ?1 AND owner = ?2 AND fence = ?3")?
            .exists(params![session, self.name, int(fence.0)])
    }

    /// Makes the lease good for longer; `false` when it is no longer ours.
    pub(super) fn renew(&self, connection: &Connection, session: i64, fence: Fence) -> Result<bool> {
        let changed = connection
            .prepare_cached(
                "UPDATE leases SET expires = ?4 WHERE session = ?1 AND owner = ?2 AND fence = ?3",
            )?
            .execute(params![session, self.name, int(fence.0), int(now().0 + LEASE_MS)])?;
        Ok(changed == 1)
    }

    /// Whether anybody has the lease whose columns stand in `row` from `column` on.
    pub(super) fn is_held(&self, row: &Row<'_>, column: usize) -> Result<bool> {
        if row.get::<_, Option<String>>(column)?.is_none() {
            return Ok(false);
        }
        Ok(LeaseRow::read(row, column)?.is_good(&self.host, now().0))
    }

    /// The same, where another process has it. A store that only reads has a name of its own beside the one that writes.
    pub(super) fn is_held_elsewhere(&self, row: &Row<'_>, column: usize) -> Result<bool> {
        if !self.is_held(row, column)? {
            return Ok(false);
        }
        let lease = LeaseRow::read(row, column)?;
        Ok((lease.host.as_str(), lease.pid) != (self.host.as_str(), self.pid))
    }

    /// Lets go. The row stays, so that the fence never falls.
    pub(super) fn release(&self, connection: &Connection, session: i64, fence: Fence) -> Result<()> {
        connection
            .prepare_cached(
                "UPDATE leases SET owner = '', expires = 0, pid = 0 WHERE session = ?1 AND owner = ?2 AND fence = ?3",
            )?
            .execute(params![session, self.name, int(fence.0)])
            .map(drop)
    }
}

struct LeaseRow {
    owner: String,
    host: String,
    pid: u32,
    started: u64,
    expires: u64,
}

impl LeaseRow {
    fn read(row: &Row<'_>, column: usize) -> Result<LeaseRow> {
        Ok(LeaseRow {
            owner: row.get(column)?,
            host: row.get(column + 1)?,
            pid: row.get(column + 2)?,
            started: nat(row.get(column + 3)?),
            expires: nat(row.get(column + 4)?),
        })
    }

    fn is_good(&self, here: &str, now: u64) -> bool {
        if self.owner.is_empty() {
            return false;
        }
        if self.host == here {
            return is_alive(self.pid, self.started);
        }
        // An end far in the future means that a clock jumped; no lease is that long.
        (now..=now + 2 * LEASE_MS).contains(&self.expires)
    }
}

/// The time of day, which all processes of this machine agree on.
pub(super) fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(0))
}

/// Names the machine since its start, and the process numbers in use: only with the same name can a process be looked up.
fn host() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{}/{}", boot.trim(), space.display())
}

#[cfg(unix)]
fn is_alive(pid: u32, started: u64) -> bool {
    let pid_there = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
    // A number may be in use again: then its process began at another time. One that is dead keeps its number until somebody
    // asks how it ended, which in a container may be nobody.
    pid_there && !is_dead(pid) && start_of(pid).is_none_or(|start| started == 0 || start == started)
}

#[cfg(not(unix))]
fn is_alive(_pid: u32, _started: u64) -> bool {
    false
}

/// When a process began, in ticks since the machine did; `None` where that cannot be known.
fn start_of(pid: u32) -> Option<u64> {
    stat_of(pid, 19)?.parse().ok()
}

#[cfg(unix)]
fn is_dead(pid: u32) -> bool {
    stat_of(pid, 0).is_some_and(|state| state == "Z" || state == "X")
}

/// What Linux tells of a process: the field at this place behind its name.
fn stat_of(pid: u32, place: usize) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in parentheses, may hold anything: count the fields after it.
    let after = stat.rsplit_once(')')?.1;
    after.split_whitespace().nth(place).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(host: &str, expires: u64) -> LeaseRow {
        let (pid, started) = (std::process::id(), 1);
        LeaseRow { owner: "x".into(), host: host.into(), pid, started, expires }
    }

    #[test]
    fn a_lease_from_elsewhere_is_good_until_it_ends_or_is_absurd() {
        for (expires, good) in
            [(999, false), (1_000, true), (1_000 + LEASE_MS, true), (1_000 + 3 * LEASE_MS, false)]
        {
            assert_eq!(held("there", expires).is_good("here", 1_000), good, "{expires}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_is_dead_and_was_not_asked_how_it_ended_holds_nothing() {
        let mut child =
            std::process::Command::new("cat").stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (pid, started) = (child.id(), start_of(child.id()).unwrap());
        assert!(is_alive(pid, started));
        // Its input ends, and with it the program; it keeps its number as long as it is only seen to have ended.
        drop(child.stdin.take());
        let (ended, seen) = (rustix::process::WaitIdOptions::EXITED, rustix::process::WaitIdOptions::NOWAIT);
        let child_pid = rustix::process::Pid::from_child(&child);
        rustix::process::waitid(rustix::process::WaitId::Pid(child_pid), ended | seen).unwrap();
        assert!(!is_alive(pid, started));
        child.wait().unwrap();
    }

    #[test]
    fn every_take_over_raises_the_fence_and_an_old_one_writes_no_more() {
        let mut connection = Connection::open_in_memory().unwrap();
        super::super::schema::migrate(&mut connection).unwrap();
        connection.execute("INSERT INTO sessions (id, name, summary) VALUES (1, 'a', '{}')", []).unwrap();
        let owner = Owner::new();
        let mut fences = Vec::new();
        for _ in 0..3 {
            let Taken::Granted(fence) = owner.take(&connection, 1).unwrap() else { panic!("nobody has it") };
            fences.push(fence);
            let held: Vec<bool> =
                fences.iter().map(|fence| owner.holds(&connection, 1, *fence).unwrap()).collect();
            assert_eq!(held.iter().filter(|held| **held).count(), 1, "{fences:?}");
            assert_eq!(held.last(), Some(&true), "{fences:?}");
            assert!(!fences[..fences.len() - 1].iter().any(|old| owner.renew(&connection, 1, *old).unwrap()));
        }
        assert!(fences.is_sorted_by(|a, b| a < b), "{fences:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_number_in_use_again_is_another_process() {
        let me = std::process::id();
        assert!(is_alive(me, start_of(me).unwrap()));
        assert!(!is_alive(me, 1));
        assert!(!held("here", u64::MAX).is_good("here", 1_000));
    }
}
