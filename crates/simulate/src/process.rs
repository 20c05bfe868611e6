//! One process of a simulation: a hub, its agent, and the UIs that are connected with it. It is killed between two of its steps and
//! started anew from what the store has.

use crate::agent;
use crate::client::Client;
use crate::database::Incarnation;
use crate::dice::Dice;
use crate::line::Connection;
use crate::world::{World, lock};
use domain::ids::Millis;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub, Machine};
use link::{Lane, Limits, memory};
use roles::{Answers, Greeting};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// The time of day at which a simulation begins.
const WALL: u64 = 1_700_000_000_000;
/// Orders and reports that may wait.
const WAITING: usize = 64;

/// See the module.
pub(crate) struct Process {
    node: usize,
    world: Arc<World>,
    running: Mutex<Option<Running>>,
}

struct Running {
    who: Incarnation,
    hub: Hub,
    tasks: JoinSet<()>,
}

impl Process {
    pub(crate) fn new(node: usize, world: Arc<World>) -> Process {
        Process { node, world, running: Mutex::new(None) }
    }

    /// Starts it, with a number that no process had before.
    pub(crate) fn start(&self, who: Incarnation, mut dice: Dice) {
        let (world, node) = (&self.world, self.node);
        world.say(|| format!("process {who}: starts on node {node}"));
        world.database().lives(who);
        let setup = Setup::new(Engine::Driven, "/w", u64::from(who));
        let store = Box::new(Client::new(world.clone(), node, who, dice.split()));
        let (orders, ordered) = mpsc::channel(WAITING);
        let (reports, reported) = mpsc::channel(WAITING);
        let wall = Millis(WALL + world.now());
        let machine = Machine { wall, pace: world.pace(node, dice.split()) };
        let said = world.clone();
        let log = Arc::new(move |line: &str| {
            said.say(|| format!("process {who}: log: {line}"));
            if line.contains("broke down") {
                said.broke(format!("process {who}: {line}"));
            }
        });
        let (hub, task) = Hub::simulated(setup, store, EngineSeat::Driven(orders), machine, log);
        let mut tasks = JoinSet::new();
        tasks.spawn(task);
        tasks.spawn(agent::serve(world.clone(), who, ordered, reports, dice.split()));
        let fed = hub.clone();
        tasks.spawn(async move { fed.reports(reported).await });
        *lock(&self.running) = Some(Running { who, hub, tasks });
    }

    /// Between two of its steps, as with SIGKILL: it says and writes nothing more.
    pub(crate) fn kill(&self) {
        if let Some(killed) = lock(&self.running).take() {
            self.world.say(|| format!("process {}: is killed", killed.who));
            self.world.database().died(killed.who);
        }
    }

    /// What of it has ended must not have fallen over.
    pub(crate) fn looks(&self) {
        let mut running = lock(&self.running);
        let Some(running) = running.as_mut() else { return };
        while let Some(ended) = running.tasks.try_join_next() {
            let who = running.who;
            self.world.judge(ended.map_err(|why| format!("process {who} fell over: {why}")));
        }
    }

    /// Whether it was started and not killed since.
    pub(crate) fn runs(&self) -> bool {
        lock(&self.running).is_some()
    }

    /// Lets a UI in; `None` where there is no process.
    pub(crate) async fn connects(&self, name: &str, on_wire: bool) -> Option<(Incarnation, Connection)> {
        let (who, hub) = lock(&self.running).as_ref().map(|running| (running.who, running.hub.clone()))?;
        if !on_wire {
            let ui = hub.attach(name, Standing::Controller, Answers::ALL, None).await;
            return ui.ok().map(|ui| (who, Connection::Local(ui)));
        }
        let (ours, theirs) = memory::pair(&[Lane::MAIN], Limits::default());
        let role = native::DIALECT.runtime_role();
        let (name, standing) = (name.to_owned(), Standing::Controller);
        let greeting = Greeting { standing, ..Greeting::default() };
        let guest = Guest { role, name, standing, greeting, start: None, stays: false };
        let serving = hub.clone();
        lock(&self.running).as_mut()?.tasks.spawn(async move {
            let _ = serving.serve(guest, ours).await;
        });
        Some((who, Connection::Wire(Box::new(theirs))))
    }
}
