//! Gathers the fleet: what every live process of this person tells of its sessions, and what the store keeps, folded into rows
//! ([`domain::fleet`]). Whoever shows them shows the same ones. What a screen is told of devices is in `devices`.
//!
//! Invariants: at most [`MAX_FOLLOWED`] connections, every wait bounded; a process that is dead, silent or of another version is a row
//! and never an error; what a dead one left is removed; nothing is answered on behalf of the person (the links have nobody to ask).

pub mod act;
mod changes;
pub mod devices;
mod follow;
mod look;

use crate::directory::{self, Directory, FoundProcess, Notice};
use crate::paths;
use domain::fleet::{Contact, Fleet, FleetFact, Process};
use domain::ids::Millis;
use follow::Way;
use look::{Look, Sighting};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::MissedTickBehavior;
use web::Rows;

/// How often it is looked for new processes, for what the store keeps and for what git has checked out.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Processes that are followed at once; more are rows that say that they were not asked.
const MAX_FOLLOWED: usize = 256;
/// Facts that may wait for the fold; whoever follows a process has to wait then.
const FACTS: usize = 256;

/// A fleet that is being gathered, until this is dropped.
pub struct Gathering {
    rows: watch::Receiver<Option<Rows>>,
    _tasks: JoinSet<()>,
}

impl Gathering {
    /// Begins to gather.
    ///
    /// # Errors
    /// When there is no place to look at.
    pub fn begin() -> anyhow::Result<Gathering> {
        let (directory, data) = (directory::here()?, paths::data()?);
        let (told, rows) = watch::channel(None);
        let mut tasks = JoinSet::new();
        tasks.spawn(gather(directory, data, told));
        Ok(Gathering { rows, _tasks: tasks })
    }

    /// The rows as they stand and change; `None` until it was looked for the first time.
    pub(crate) fn rows(&self) -> watch::Receiver<Option<Rows>> {
        self.rows.clone()
    }

    /// The rows, once they are others than before; `None` when there will be no more.
    pub async fn next(&mut self) -> Option<Rows> {
        loop {
            self.rows.changed().await.ok()?;
            if let Some(rows) = self.rows.borrow_and_update().clone() {
                return Some(rows);
            }
        }
    }
}

/// Who is followed, and what was found out so far.
struct Gatherer {
    directory: Arc<dyn Directory>,
    fleet: Fleet,
    following: BTreeMap<u32, AbortHandle>,
    tasks: JoinSet<()>,
    facts: mpsc::Sender<FleetFact>,
}

async fn gather(directory: Arc<dyn Directory>, data: PathBuf, told: watch::Sender<Option<Rows>>) {
    let (facts, mut heard) = mpsc::channel(FACTS);
    let following = BTreeMap::new();
    let mut gatherer =
        Gatherer { directory, fleet: Fleet::default(), following, tasks: JoinSet::new(), facts };
    let mut look = Some(Look::new(gatherer.directory.clone(), data));
    let mut every = tokio::time::interval(LOOK_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut changed, mut outdated) = (false, false);
    loop {
        tokio::select! {
            _ = every.tick() => {
                let (Some(mut looking), folders) = (look.take(), gatherer.fleet.folders()) else { return };
                let looked = tokio::task::spawn_blocking(move || {
                    let looked = looking.look(folders);
                    (looking, looked)
                });
                let Ok((again, looked)) = looked.await else { return };
                look = Some(again);
                outdated = false;
                // The first rows are shown although nothing may be there.
                changed |= gatherer.looked(looked) || told.borrow().is_none();
            }
            Some(fact) = heard.recv() => {
                outdated |= fact.is_loss();
                changed |= gatherer.fleet.take(fact);
            }
            () = told.closed() => return,
        };
        while let Ok(fact) = heard.try_recv() {
            outdated |= fact.is_loss();
            changed |= gatherer.fleet.take(fact);
        }
        if outdated {
            // Sessions of which nobody tells any more are told from the store, which was perhaps looked at before their last word.
            every.reset_immediately();
        } else if std::mem::take(&mut changed) {
            told.send_replace(Some(Arc::new(gatherer.fleet.rows())));
        }
        while gatherer.tasks.try_join_next().is_some() {}
    }
}

impl Gatherer {
    /// Takes in what was seen; whether that changed anything.
    fn looked(&mut self, looked: Sighting) -> bool {
        let mut changed = false;
        let there: BTreeMap<u32, FoundProcess> =
            looked.processes.into_iter().map(|seen| (seen.notice.pid, seen)).collect();
        let gone: Vec<u32> = self.following.keys().copied().filter(|pid| !there.contains_key(pid)).collect();
        for pid in gone {
            if let Some(following) = self.following.remove(&pid) {
                following.abort();
            }
            // What a dead one left is gone too; that it died stays told.
            let died = |(other, process): (u32, &Process)| other == pid && process.contact == Contact::Dead;
            if !self.fleet.processes().any(died) {
                changed |= self.fleet.take(FleetFact::Left { pid });
            }
        }
        for (pid, FoundProcess { notice, is_alive }) in there {
            if !is_alive {
                if let Some(following) = self.following.remove(&pid) {
                    following.abort();
                }
                changed |= self.found(&notice, Contact::Dead);
            } else if !self.following.contains_key(&pid) {
                if self.following.len() >= MAX_FOLLOWED {
                    changed |= self.found(&notice, Contact::Silent);
                    continue;
                }
                changed |= self.found(&notice, Contact::Reached);
                let way = Way::new(notice, self.directory.clone(), self.facts.clone());
                self.following.insert(pid, self.tasks.spawn(way.follow()));
            }
        }
        changed |= looked.kept.is_some_and(|kept| self.fleet.take(FleetFact::Kept(kept)));
        for (cwd, branch) in looked.branches {
            changed |= self.fleet.take(FleetFact::Branch { cwd, branch });
        }
        changed
    }

    fn found(&mut self, notice: &Notice, contact: Contact) -> bool {
        self.fleet.take(FleetFact::Found { pid: notice.pid, process: process(notice, contact) })
    }
}

fn process(notice: &Notice, contact: Contact) -> Process {
    let (cwd, serving) = (notice.cwd.clone(), notice.serving.clone());
    Process { since: Millis(notice.since), cwd, serving, contact }
}
