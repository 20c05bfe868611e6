//! What all parts of one schedule share: the clock, the database, who is cut off from whom, the steps, and the first law that broke.

use crate::checks::Checks;
use crate::database::Database;
use crate::dice::Dice;
use crate::plan::{Fault, Plan};
use hub::{Pace, Wait};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// A step of a schedule: when, in milliseconds, and what.
pub type Step = (u64, String);

/// See the module.
pub(crate) struct World {
    pub(crate) plan: Plan,
    start: Instant,
    traced: Option<Mutex<Vec<Step>>>,
    broken: Mutex<Option<Step>>,
    database: Mutex<Database>,
    checks: Mutex<Checks>,
    cuts: Mutex<Cuts>,
    calm: AtomicBool,
    /// One list, first come first served: a `watch` wakes who waits in an order of chance.
    calmed: Notify,
}

/// Until when what is cut off; in milliseconds.
#[derive(Default)]
struct Cuts {
    /// Each process from the database.
    database: [u64; 2],
    /// Each process from its UIs.
    uis: [u64; 2],
    /// Each process from the time that passes.
    asleep: [u64; 2],
}

/// Locks, whatever became of who had it before.
pub(crate) fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl World {
    pub(crate) fn new(plan: Plan, traced: bool) -> Arc<World> {
        let database = Mutex::new(Database::new(&plan));
        Arc::new(World {
            plan,
            start: Instant::now(),
            traced: traced.then(Mutex::default),
            broken: Mutex::default(),
            database,
            checks: Mutex::default(),
            cuts: Mutex::default(),
            calm: AtomicBool::new(false),
            calmed: Notify::new(),
        })
    }

    /// Milliseconds since the beginning.
    pub(crate) fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The instant that many milliseconds after the beginning.
    pub(crate) fn at(&self, millis: u64) -> Instant {
        self.start + Duration::from_millis(millis)
    }

    /// Notes a step, if anybody wants to read it.
    pub(crate) fn say(&self, what: impl FnOnce() -> String) {
        if let Some(steps) = &self.traced {
            lock(steps).push((self.now(), what()));
        }
    }

    /// A law is broken; the first one counts.
    pub(crate) fn broke(&self, what: String) {
        self.say(|| format!("BROKEN: {what}"));
        lock(&self.broken).get_or_insert((self.now(), what));
    }

    /// Notes what was found to break a law, if anything.
    pub(crate) fn judge(&self, found: Result<(), String>) {
        if let Err(what) = found {
            self.broke(what);
        }
    }

    /// Whether any law is, so that the schedule can end.
    pub(crate) fn is_broken(&self) -> bool {
        lock(&self.broken).is_some()
    }

    /// Locked before the checks by whoever wants both.
    pub(crate) fn database(&self) -> MutexGuard<'_, Database> {
        lock(&self.database)
    }

    /// Locked after the database by whoever wants both.
    pub(crate) fn checks(&self) -> MutexGuard<'_, Checks> {
        lock(&self.checks)
    }

    /// From now on nothing goes wrong any more.
    pub(crate) fn calm_down(&self) {
        self.say(|| "calm: nothing goes wrong from here on".to_owned());
        *lock(&self.cuts) = Cuts::default();
        self.calm.store(true, Ordering::SeqCst);
        self.calmed.notify_waiters();
    }

    /// Whether nothing goes wrong any more.
    pub(crate) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::SeqCst)
    }

    /// Whether this kind of fault may strike now.
    pub(crate) fn may(&self, fault: Fault) -> bool {
        self.plan.has(fault) && !self.is_calm()
    }

    /// Nothing gets through between a node and the database until then.
    pub(crate) fn cut_database(&self, node: usize, until: u64) {
        lock(&self.cuts).database[node] = until;
    }

    /// Nothing gets through between a node and its UIs until then.
    pub(crate) fn cut_uis(&self, node: usize, until: u64) {
        lock(&self.cuts).uis[node] = until;
    }

    /// A node says nothing to anybody until then.
    pub(crate) fn put_to_sleep(&self, node: usize, until: u64) {
        lock(&self.cuts).asleep[node] = until;
    }

    /// Whether requests of a node get through now.
    pub(crate) fn reaches_database(&self, node: usize) -> bool {
        lock(&self.cuts).database[node] <= self.now()
    }

    /// From when on lines get through between a process and its UIs.
    pub(crate) fn through_from(&self, node: usize) -> u64 {
        let cuts = lock(&self.cuts);
        cuts.uis[node].max(cuts.asleep[node])
    }

    /// Waits until then, or until nothing goes wrong any more.
    pub(crate) fn wait(self: &Arc<Self>, until: u64) -> Wait {
        let world = self.clone();
        Box::pin(async move {
            let calmed = world.calmed.notified();
            if until <= world.now() || world.is_calm() {
                return;
            }
            tokio::select! {
                biased;
                () = calmed => {}
                () = tokio::time::sleep_until(world.at(until)) => {}
            }
        })
    }

    /// How long calls of a process take to the database and back.
    pub(crate) fn pace(self: &Arc<Self>, node: usize, dice: Dice) -> Pace {
        let (world, dice) = (self.clone(), Mutex::new(dice));
        Arc::new(move || {
            let mut dice = lock(&dice);
            [(); 2].map(|()| {
                let now = world.now();
                let takes = world.takes(&mut dice);
                let woken = lock(&world.cuts).asleep[node];
                world.wait((now + takes).max(woken))
            })
        })
    }

    fn takes(&self, dice: &mut Dice) -> u64 {
        let (usual, kind) = (dice.below(4), dice.below(1_000));
        let (long, longer) = (dice.between(20, 1_500), dice.between(1_500, 12_000));
        match kind {
            _ if !self.may(Fault::Late) => usual,
            0..2 => u64::from(u32::MAX),
            2..8 => longer,
            8..60 => long,
            _ => usual,
        }
    }

    /// The first broken law, and the steps up to it.
    pub(crate) fn told(&self) -> (Option<Step>, Vec<Step>) {
        let steps = self.traced.as_ref().map(|steps| std::mem::take(&mut *lock(steps)));
        (lock(&self.broken).clone(), steps.unwrap_or_default())
    }
}
