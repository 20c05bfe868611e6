//! Gathers the fleet: what every live process of this person tells of its sessions, and what the store keeps, folded into rows
//! ([`domain::fleet`]). `parlor ps --watch` and the terminal UI show the same ones. What a screen is told of devices is in `devices`.
//!
//! Invariants: at most [`MAX_FOLLOWED`] connections, every wait bounded; a process that is dead, silent or of another version is a row
//! and never an error; what a dead one left is removed; nothing is answered on behalf of the person (the links have nobody to ask).

pub(crate) mod act;
mod changes;
mod devices;
mod follow;
mod look;

use crate::announcement::Notice;
use crate::clock;
use crate::places;
use domain::fleet::{Fleet, FleetFact, Process, Standing};
use domain::ids::Millis;
use follow::Way;
use look::{Look, Looked};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::MissedTickBehavior;
use tui::{FleetNews, FleetPort, FleetWish, Rows};

/// How often it is looked for new processes, for what the store keeps and for what git has checked out.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Processes that are followed at once; more are rows that say that they were not asked.
const MAX_FOLLOWED: usize = 256;
/// Wishes that may wait, and things that are done to rows at once.
const WISHES: usize = 16;
/// Facts that may wait for the fold; whoever follows a process has to wait then.
const FACTS: usize = 256;

/// A fleet that is being gathered, until this is dropped.
pub(crate) struct Gathering {
    rows: watch::Receiver<Option<Rows>>,
    _tasks: JoinSet<()>,
}

impl Gathering {
    /// Begins to gather.
    ///
    /// # Errors
    /// When there is no place to look at.
    pub(crate) fn begin() -> anyhow::Result<Gathering> {
        let (directory, data) = (places::runtime()?, places::data()?);
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
    pub(crate) async fn next(&mut self) -> Option<Rows> {
        loop {
            self.rows.changed().await.ok()?;
            if let Some(rows) = self.rows.borrow_and_update().clone() {
                return Some(rows);
            }
        }
    }
}

/// The fleet for a terminal UI, where it can be found. `visits`: whether whoever runs the UI takes the person to other processes.
pub(crate) fn port(visits: bool) -> FleetPort {
    FleetPort { begin: Arc::new(tend), pid: std::process::id(), visits }
}

/// Gathers while that is wished for, and does what is wished, until nobody wishes any more.
fn tend(told: mpsc::Sender<FleetNews>) -> mpsc::Sender<FleetWish> {
    let (wishes, mut wished) = mpsc::channel(WISHES);
    tokio::spawn(async move {
        let (mut gathering, mut acts) = (None::<Gathering>, JoinSet::new());
        let mut watching = JoinSet::new();
        watching.spawn(devices::watch(told.clone()));
        loop {
            let rows = async {
                match &mut gathering {
                    Some(gathering) => gathering.next().await,
                    None => std::future::pending().await,
                }
            };
            let heard = tokio::select! {
                wish = wished.recv() => {
                    match wish {
                        None => return,
                        Some(FleetWish::Watch(false)) => gathering = None,
                        Some(FleetWish::Watch(true)) if gathering.is_some() => {}
                        Some(FleetWish::Watch(true)) => match Gathering::begin() {
                            Ok(begun) => gathering = Some(begun),
                            Err(why) => {
                                let _ = told.send(FleetNews::Said(why.to_string())).await;
                            }
                        },
                        Some(_) if acts.len() >= WISHES => {}
                        Some(FleetWish::Act(act)) => {
                            acts.spawn(async { FleetNews::Said(act::act(act).await) });
                        }
                        Some(FleetWish::Devices) => {
                            acts.spawn(devices::list());
                        }
                        Some(FleetWish::Revoke(device)) => {
                            acts.spawn(devices::revoke(device));
                        }
                        Some(FleetWish::Pair { server, id, allow }) => {
                            acts.spawn(devices::pair(server, id, allow));
                        }
                    }
                    continue;
                }
                Some(Ok(told)) = acts.join_next() => told,
                rows = rows => match rows {
                    Some(rows) => FleetNews::Rows(rows),
                    None => {
                        gathering = None;
                        continue;
                    }
                },
            };
            if told.send(heard).await.is_err() {
                return;
            }
        }
    });
    wishes
}

/// Who is followed, and what was found out so far.
struct Gatherer {
    directory: PathBuf,
    fleet: Fleet,
    following: BTreeMap<u32, AbortHandle>,
    tasks: JoinSet<()>,
    facts: mpsc::Sender<FleetFact>,
}

async fn gather(directory: PathBuf, data: PathBuf, told: watch::Sender<Option<Rows>>) {
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
    fn looked(&mut self, looked: Looked) -> bool {
        let mut changed = false;
        let there: BTreeMap<u32, Notice> =
            looked.notices.into_iter().map(|notice| (notice.pid, notice)).collect();
        let gone: Vec<u32> = self.following.keys().copied().filter(|pid| !there.contains_key(pid)).collect();
        for pid in gone {
            if let Some(following) = self.following.remove(&pid) {
                following.abort();
            }
            // What a dead one left is gone too; that it died stays told.
            let died = |(other, process): (u32, &Process)| other == pid && process.standing == Standing::Dead;
            if !self.fleet.processes().any(died) {
                changed |= self.fleet.take(FleetFact::Left { pid });
            }
        }
        for (pid, notice) in there {
            if !notice.is_alive() {
                notice.clear(&self.directory);
                if let Some(following) = self.following.remove(&pid) {
                    following.abort();
                }
                changed |= self.found(&notice, Standing::Dead);
            } else if !self.following.contains_key(&pid) {
                if self.following.len() >= MAX_FOLLOWED {
                    changed |= self.found(&notice, Standing::Silent);
                    continue;
                }
                changed |= self.found(&notice, Standing::Reached);
                let way = Way::new(notice, &self.directory, self.facts.clone());
                self.following.insert(pid, self.tasks.spawn(way.follow()));
            }
        }
        changed |= looked.kept.is_some_and(|kept| self.fleet.take(FleetFact::Kept(kept)));
        for (cwd, branch) in looked.branches {
            changed |= self.fleet.take(FleetFact::Branch { cwd, branch });
        }
        changed
    }

    fn found(&mut self, notice: &Notice, standing: Standing) -> bool {
        self.fleet.take(FleetFact::Found { pid: notice.pid, process: process(notice, standing) })
    }
}

fn process(notice: &Notice, standing: Standing) -> Process {
    let (cwd, serving) = (notice.cwd.clone(), notice.serving.clone());
    Process { since: Millis(notice.since), cwd, serving, standing }
}

/// The time of day.
pub(crate) fn now() -> Millis {
    clock::now()
}
