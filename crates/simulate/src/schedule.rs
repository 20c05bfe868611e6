//! One schedule from its first step to the judgement, and the search for the shortest that still breaks the law.

use crate::dice::Dice;
use crate::person::Person;
use crate::plan::{Fault, Plan};
use crate::process::Process;
use crate::world::{Step, World};
use domain::ids::SessionId;
use std::fmt;
use std::ops::Add;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinSet;

/// How long things go wrong, in milliseconds.
const STORM_MILLIS: (u64, u64) = (1_000, 7_000);
/// How long it may take after that until everything is well.
const CALM_MILLIS: u64 = 180_000;
/// How often it is looked whether it is.
const LOOK_MILLIS: u64 = 500;
/// Most UIs.
const PEOPLE: u64 = 3;

/// A broken law, and how it came to that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub plan: Plan,
    /// When, in milliseconds, and which.
    pub broken: Step,
    /// Empty unless it was traced.
    pub steps: Vec<Step>,
}

/// What happened in a schedule that broke no law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Events that are kept.
    pub kept: u64,
    /// Events that UIs were told.
    pub told: u64,
    /// Commands that were settled with a yes.
    pub settled: u64,
    /// Tools that acted.
    pub tools: u64,
    /// Processes that were killed.
    pub killed: u64,
    /// Milliseconds of simulated time.
    pub millis: u64,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in &self.steps {
            writeln!(f, "{at:>8} ms  {step}")?;
        }
        write!(f, "{}: at {} ms: {}", self.plan, self.broken.0, self.broken.1)
    }
}

impl Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally {
            kept: self.kept + other.kept,
            told: self.told + other.told,
            settled: self.settled + other.settled,
            tools: self.tools + other.tools,
            killed: self.killed + other.killed,
            millis: self.millis + other.millis,
        }
    }
}

/// Runs a schedule.
///
/// # Errors
/// When a law is broken in it.
pub fn run(plan: &Plan) -> Result<Tally, Box<Found>> {
    play(plan, false).0
}

/// The same, and its steps, whatever came of it.
///
/// # Errors
/// When a law is broken in it.
pub fn traced(plan: &Plan) -> (Result<Tally, Box<Found>>, Vec<Step>) {
    play(plan, true)
}

/// The schedule with the fewest kinds of fault that still breaks a law, with its steps; `None` if `plan` breaks none.
pub fn shortest(plan: &Plan) -> Option<Found> {
    let mut found = traced(plan).0.err()?;
    loop {
        let less = found.plan.faults.iter().find_map(|fault| {
            let mut less = found.plan.clone();
            less.faults.remove(fault);
            traced(&less).0.err()
        });
        match less {
            Some(less) => found = less,
            None => return Some(*found),
        }
    }
}

fn runtime() -> Option<Runtime> {
    Builder::new_current_thread().enable_time().start_paused(true).build().ok()
}

fn play(plan: &Plan, trace: bool) -> (Result<Tally, Box<Found>>, Vec<Step>) {
    let failed =
        |what: &str| Box::new(Found { plan: plan.clone(), broken: (0, what.to_owned()), steps: Vec::new() });
    let Some(runtime) = runtime() else { return (Err(failed("no runtime could be made")), Vec::new()) };
    let (world, tally) = runtime.block_on(async {
        let world = World::new(plan.clone(), trace);
        let tally = Director::new(world.clone()).directs().await;
        (world, tally)
    });
    drop(runtime);
    let (broken, steps) = world.told();
    match broken {
        Some(broken) => {
            let found = Found { plan: plan.clone(), broken, steps: steps.clone() };
            (Err(Box::new(found)), steps)
        }
        None => (Ok(tally), steps),
    }
}

/// Lets things go wrong.
struct Director {
    world: Arc<World>,
    dice: Dice,
    processes: Arc<Vec<Process>>,
    started: u32,
}

impl Director {
    fn new(world: Arc<World>) -> Director {
        let nodes = if world.plan.has(Fault::Rival) { 2 } else { 1 };
        let processes =
            Arc::new((0..nodes).map(|node| Process::new(node, world.clone())).collect::<Vec<_>>());
        Director { dice: Dice::new(world.plan.seed, 1), world, processes, started: 0 }
    }

    fn start(&mut self, node: usize) {
        self.started += 1;
        let dice = Dice::new(self.world.plan.seed, 1_000 + u64::from(self.started));
        self.processes[node].start(self.started, dice);
    }

    async fn directs(mut self) -> Tally {
        (0..self.processes.len()).for_each(|node| self.start(node));
        let mut people = JoinSet::new();
        let rivals = self.world.plan.has(Fault::Rival);
        let count = self.dice.between(1, PEOPLE + 1).max(if rivals { 2 } else { 1 });
        // Rivals want the same one, or they are none.
        let sessions = self.dice.between(1, 3).min(if self.world.plan.has(Fault::Rival) { 1 } else { 2 });
        for number in 0..count {
            let session = SessionId::from_number(1 + self.dice.below(sessions));
            let dice = Dice::new(self.world.plan.seed, 100 + number);
            let number = usize::try_from(number).unwrap_or(0);
            let person = Person::new((number, session), self.world.clone(), self.processes.clone(), dice);
            people.spawn(person.live());
        }
        let until = self.dice.between(STORM_MILLIS.0, STORM_MILLIS.1);
        while self.world.now() < until && !self.world.is_broken() {
            self.looks(&mut people);
            self.strikes();
            let pause = self.dice.between(1, 500);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        self.world.calm_down();
        for node in 0..self.processes.len() {
            if !self.processes[node].runs() {
                self.start(node);
            }
        }
        let latest = self.world.now() + CALM_MILLIS;
        while !self.world.is_broken() && !self.is_well(count) {
            self.looks(&mut people);
            if self.world.now() > latest {
                let what = self.what_waits(count);
                self.world
                    .broke(format!("{} s after the last fault not all is well: {what}", CALM_MILLIS / 1_000));
            }
            tokio::time::sleep(Duration::from_millis(LOOK_MILLIS)).await;
        }
        drop(people);
        self.processes.iter().for_each(Process::kill);
        self.tally()
    }

    /// Nothing that runs may have fallen over.
    fn looks(&self, people: &mut JoinSet<()>) {
        while let Some(ended) = people.try_join_next() {
            self.world.judge(ended.map_err(|why| format!("a UI of the simulation fell over: {why}")));
        }
        self.processes.iter().for_each(Process::looks);
    }

    /// Perhaps something goes wrong now. Each kind rolls, whether it may strike or not, so that the others' luck is the same without it.
    fn strikes(&mut self) {
        let now = self.world.now();
        let node = usize::try_from(self.dice.below(2)).unwrap_or(0) % self.processes.len();
        let (kind, long) = (self.dice.below(100), self.dice.between(200, 4_000));
        let (world, process) = (self.world.clone(), &self.processes[node]);
        match kind {
            0..8 if world.may(Fault::Kills) && process.runs() => process.kill(),
            8..40 if !process.runs() => self.start(node),
            40..44 | 60..68 if world.may(Fault::Splits) => {
                world.say(|| format!("node {node} is cut off from the database for {long} ms"));
                world.cut_database(node, now + long);
            }
            44..48 if world.may(Fault::Splits) => {
                world.say(|| format!("node {node} is cut off from its UIs for {long} ms"));
                world.cut_uis(node, now + long);
            }
            48..57 if world.may(Fault::Sleeps) => {
                world.say(|| format!("node {node} sleeps for {} ms", long + 2_000));
                world.put_to_sleep(node, now + long + 2_000);
            }
            57..60 if world.may(Fault::Fails) => {
                world.say(|| format!("the database says no for {long} ms"));
                world.database().down_until = now + long;
            }
            _ => {}
        }
    }

    /// Whether each UI has had its last word and nothing is under way any more.
    fn is_well(&self, people: u64) -> bool {
        let said = self.world.checks().last_said();
        said == people && self.world.database().sessions().all(|(_, kept)| kept.state.open_run().is_none())
    }

    fn what_waits(&self, people: u64) -> String {
        let said = self.world.checks().last_said();
        let open: Vec<String> = self
            .world
            .database()
            .sessions()
            .filter_map(|(id, kept)| Some(format!("{} of {id} is open", kept.state.open_run()?.id)))
            .collect();
        format!("{said} of {people} UIs had their last word kept; {}", open.join(", "))
    }

    fn tally(&self) -> Tally {
        let kept = self.world.database().sessions().map(|(_, kept)| kept.head().0).sum();
        let checks = self.world.checks();
        Tally {
            kept,
            told: checks.told,
            settled: checks.settled,
            tools: checks.tools,
            killed: u64::from(self.started).saturating_sub(self.processes.len() as u64),
            millis: self.world.now(),
        }
    }
}
