//! The fleet: all sessions of a person, in whatever process, project or runtime, as rows in the order in which they want attention.
//!
//! A pure fold of facts ([`FleetFact`]): what each live process tells of its sessions, which processes could not be asked, what the
//! store keeps, what git has checked out. Whoever gathers them (a command, a terminal UI, a server for a page) shows the same rows.
//!
//! Invariants: a session stands in one row; who waits for the person comes first, the longest wait on top; what nobody told is not in a
//! row; facts about different processes may come in any order.

mod member;
#[cfg(test)]
mod tests;
mod words;

pub use member::{Doing, FleetChange, Member};

use crate::ask::Ask;
use crate::event::Outcome;
use crate::ids::{Millis, SessionId};
use crate::session::SessionSummary;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Sessions of one process that are shown; more are left out.
pub const MAX_MEMBERS: usize = 1024;
/// Processes that are shown.
pub const MAX_PROCESSES: usize = 1024;
/// Sessions of the store that are shown, the newest.
pub const MAX_KEPT: usize = 500;

/// A process that has sessions open, as it made itself known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// When it made itself known.
    pub since: Millis,
    /// Where it was started.
    pub cwd: String,
    /// What it serves, in words.
    pub serving: String,
    pub contact: Contact,
}

/// How a process can be spoken with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contact {
    /// It tells of its sessions, or is about to.
    Reached,
    /// It is there and does not answer.
    Silent,
    /// It speaks another version, which does not tell of its sessions.
    OtherVersion(String),
    /// It is gone and did not end in order.
    Dead,
}

/// Something that was learnt of the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FleetFact {
    /// A process is there, or stands otherwise now.
    Found { pid: u32, process: Process },
    /// All sessions of a process.
    Aboard { pid: u32, members: Vec<Member> },
    /// What changed there since.
    Changed { pid: u32, members: Vec<Member>, closed: Vec<SessionId> },
    /// A process ended in order.
    Left { pid: u32 },
    /// The newest sessions of the store, all of them anew.
    Kept(Vec<SessionSummary>),
    /// What git has checked out in a folder; `None` where nothing is known.
    Branch { cwd: String, branch: Option<String> },
}

impl FleetFact {
    /// What a process told of its sessions.
    pub fn of(pid: u32, change: FleetChange) -> FleetFact {
        let FleetChange { all, members, closed } = change;
        match all {
            true => FleetFact::Aboard { pid, members },
            false => FleetFact::Changed { pid, members, closed },
        }
    }

    /// Whether what a process told of its sessions counts no longer.
    pub fn is_loss(&self) -> bool {
        match self {
            FleetFact::Found { process, .. } => process.contact != Contact::Reached,
            FleetFact::Left { .. } => true,
            FleetFact::Aboard { .. }
            | FleetFact::Changed { .. }
            | FleetFact::Kept(_)
            | FleetFact::Branch { .. } => false,
        }
    }
}

/// How a row stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It waits for the person's answer to this many questions; the first one in a line, and all of it where that was told.
    Waiting {
        asks: u64,
        question: String,
        ask: Option<Box<Ask>>,
    },
    Running,
    /// It is open, and nothing was ever run in it.
    Fresh,
    /// How its last run ended.
    Ended(Outcome),
    /// It is kept, and nothing more is known.
    Kept,
    /// Its process does not answer.
    Silent,
    /// Its process is of another version.
    OtherVersion(String),
    /// Its process died.
    Dead,
}

/// One line of the fleet: a session, or a process of which only itself is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub status: Status,
    pub session: Option<SessionId>,
    /// The process that has it open.
    pub pid: Option<u32>,
    /// The session's title, or what the process serves.
    pub title: String,
    pub cwd: String,
    /// Since when it stands so.
    pub since: Millis,
    /// Millionths of a US dollar, where that is known.
    pub cost_micros: Option<u64>,
    /// The cost is an estimate.
    pub rough: bool,
    /// What git has checked out where it works.
    pub branch: Option<String>,
    /// The wire of the runtime, where that is another program.
    pub runtime: Option<String>,
    /// The sub-agents that work in it.
    pub tasks: Vec<String>,
}

impl Row {
    /// Whether a person is waited for.
    pub fn is_waiting(&self) -> bool {
        matches!(self.status, Status::Waiting { .. })
    }

    /// Whether a process has the session open, so that something can be said to it.
    pub fn is_live(&self) -> bool {
        self.session.is_some() && self.pid.is_some()
    }

    /// Whether a run is under way, waiting or not.
    pub fn is_busy(&self) -> bool {
        match self.status {
            Status::Waiting { .. } | Status::Running => true,
            Status::Fresh
            | Status::Ended(_)
            | Status::Kept
            | Status::Silent
            | Status::OtherVersion(_)
            | Status::Dead => false,
        }
    }

    /// Its place: who waits, the longest first; who runs, the longest first; processes that cannot be asked; the rest, newest first.
    fn order(&self) -> (u8, Millis, Reverse<Millis>) {
        const NO_TIME: Millis = Millis(0);
        match self.status {
            Status::Waiting { .. } => (0, self.since, Reverse(NO_TIME)),
            Status::Running => (1, self.since, Reverse(NO_TIME)),
            Status::Silent | Status::OtherVersion(_) | Status::Dead => (2, self.since, Reverse(NO_TIME)),
            Status::Fresh | Status::Ended(_) | Status::Kept => (3, NO_TIME, Reverse(self.since)),
        }
    }
}

/// All that is known, folded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fleet {
    processes: BTreeMap<u32, Process>,
    aboard: BTreeMap<u32, BTreeMap<SessionId, Member>>,
    kept: Vec<SessionSummary>,
    branches: BTreeMap<String, String>,
}

impl Fleet {
    /// Takes a fact in; whether that changed anything.
    pub fn take(&mut self, fact: FleetFact) -> bool {
        match fact {
            FleetFact::Found { pid, process } => self.found(pid, process),
            FleetFact::Aboard { pid, members } => {
                let all = members.into_iter().take(MAX_MEMBERS).map(|one| (one.session.clone(), one));
                let all: BTreeMap<SessionId, Member> = all.collect();
                let known = self.aboard.entry(pid).or_default();
                let changed = *known != all;
                *known = all;
                changed
            }
            FleetFact::Changed { pid, members, closed } => {
                let known = self.aboard.entry(pid).or_default();
                let mut changed = false;
                for session in closed {
                    changed |= known.remove(&session).is_some();
                }
                for member in members {
                    if known.len() >= MAX_MEMBERS && !known.contains_key(&member.session) {
                        continue;
                    }
                    let other = known.get(&member.session) != Some(&member);
                    known.insert(member.session.clone(), member);
                    changed |= other;
                }
                changed
            }
            FleetFact::Left { pid } => {
                let aboard = self.aboard.remove(&pid).is_some();
                self.processes.remove(&pid).is_some() || aboard
            }
            FleetFact::Kept(mut kept) => {
                kept.truncate(MAX_KEPT);
                let changed = self.kept != kept;
                self.kept = kept;
                changed
            }
            FleetFact::Branch { cwd, branch: Some(branch) } => {
                self.branches.insert(cwd, branch.clone()).as_ref() != Some(&branch)
            }
            FleetFact::Branch { cwd, branch: None } => self.branches.remove(&cwd).is_some(),
        }
    }

    fn found(&mut self, pid: u32, process: Process) -> bool {
        if self.processes.len() >= MAX_PROCESSES && !self.processes.contains_key(&pid) {
            return false;
        }
        let forgotten = match process.contact {
            Contact::Reached => false,
            // What it told before is no longer true.
            Contact::Silent | Contact::OtherVersion(_) | Contact::Dead => self.aboard.remove(&pid).is_some(),
        };
        let other = self.processes.get(&pid) != Some(&process);
        self.processes.insert(pid, process);
        other || forgotten
    }

    /// The folders in which live sessions work: what git has checked out there is worth knowing.
    pub fn folders(&self) -> BTreeSet<String> {
        let members = self.aboard.values().flat_map(BTreeMap::values);
        members.map(|member| member.cwd.clone()).filter(|cwd| !cwd.is_empty()).collect()
    }

    /// The processes there are, by their numbers.
    pub fn processes(&self) -> impl Iterator<Item = (u32, &Process)> {
        self.processes.iter().map(|(pid, process)| (*pid, process))
    }

    /// All rows, those that want attention first.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows: BTreeMap<SessionId, Row> = BTreeMap::new();
        for (pid, members) in &self.aboard {
            for member in members.values() {
                let row = self.live(*pid, member);
                let before = rows.get(&member.session);
                // Seen through several processes, it is told as whoever is closest to it tells it.
                if before.is_none_or(|before| row.order() < before.order()) {
                    rows.insert(member.session.clone(), row);
                }
            }
        }
        for summary in &self.kept {
            rows.entry(summary.id.clone()).or_insert_with(|| kept(summary));
        }
        let apart = self.processes.iter().filter_map(|(pid, process)| trouble(*pid, process));
        let mut rows: Vec<Row> = rows.into_values().chain(apart).collect();
        rows.sort_by(|one, other| {
            let key = |row: &Row| (row.order(), row.pid);
            key(one).cmp(&key(other)).then_with(|| one.session.cmp(&other.session))
        });
        rows
    }

    fn live(&self, pid: u32, member: &Member) -> Row {
        let status = match &member.doing {
            Doing::Nothing => Status::Fresh,
            Doing::Running => Status::Running,
            Doing::Waiting { asks, question, ask } => {
                Status::Waiting { asks: *asks, question: question.clone(), ask: ask.clone() }
            }
            Doing::Ended(outcome) => Status::Ended(outcome.clone()),
        };
        Row {
            status,
            session: Some(member.session.clone()),
            pid: Some(pid),
            title: member.title.clone(),
            cwd: member.cwd.clone(),
            since: member.since,
            cost_micros: known_cost(member.usage.cost_micros),
            rough: member.usage.rough,
            branch: self.branches.get(&member.cwd).cloned(),
            runtime: member.runtime.clone(),
            tasks: member.tasks.clone(),
        }
    }
}

/// Zero stands for a price that nobody knows.
fn known_cost(micros: u64) -> Option<u64> {
    (micros > 0).then_some(micros)
}

/// A session that no process has open. What is checked out in its folder now says nothing of it.
fn kept(summary: &SessionSummary) -> Row {
    let status = match &summary.outcome {
        _ if summary.running => Status::Running,
        Some(outcome) => Status::Ended((**outcome).clone()),
        None => Status::Kept,
    };
    Row {
        status,
        session: Some(summary.id.clone()),
        pid: None,
        title: summary.title.clone(),
        cwd: summary.cwd.clone(),
        since: summary.updated_at,
        cost_micros: known_cost(summary.usage.cost_micros),
        rough: summary.usage.rough,
        branch: None,
        runtime: summary.origin.as_ref().map(|origin| origin.dialect.clone()),
        tasks: Vec::new(),
    }
}

/// A process that cannot be asked is a row of its own.
fn trouble(pid: u32, process: &Process) -> Option<Row> {
    let status = match &process.contact {
        Contact::Reached => return None,
        Contact::Silent => Status::Silent,
        Contact::OtherVersion(version) => Status::OtherVersion(version.clone()),
        Contact::Dead => Status::Dead,
    };
    Some(Row {
        status,
        session: None,
        pid: Some(pid),
        title: process.serving.clone(),
        cwd: process.cwd.clone(),
        since: process.since,
        cost_micros: None,
        rough: false,
        branch: None,
        runtime: None,
        tasks: Vec::new(),
    })
}

/// The sessions that wait for the person now and did not before.
pub fn newly_waiting<'a>(before: &[Row], after: &'a [Row]) -> Vec<&'a Row> {
    let waited: BTreeSet<(&SessionId, Millis)> = waits(before).collect();
    let is_new = |row: &&Row| row.session.as_ref().is_some_and(|id| !waited.contains(&(id, row.since)));
    after.iter().filter(|row| row.is_waiting()).filter(is_new).collect()
}

fn waits(rows: &[Row]) -> impl Iterator<Item = (&SessionId, Millis)> {
    rows.iter().filter(|row| row.is_waiting()).filter_map(|row| Some((row.session.as_ref()?, row.since)))
}
