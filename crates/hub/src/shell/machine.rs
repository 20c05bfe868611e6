//! What a hub takes from the machine it runs on: the time of day, and threads for calls that block. A simulation gives both instead.
//!
//! Invariant: everything else about a hub is the same in both, so that what a simulation finds is true of the program.

use super::archive::Finished;
use super::files::Files;
use super::keeper::Keeping;
use super::{EngineSeat, Hub, Log};
use crate::core::{Core, Setup};
use domain::ids::Millis;
use std::pin::Pin;
use std::sync::Arc;
use store::Store;
use tokio::task::JoinSet;

/// Something to wait for.
pub type Wait = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How long the next call of the store or of a file is on its way there, and its answer on the way back.
pub type Pace = Arc<dyn Fn() -> [Wait; 2] + Send + Sync>;

/// A machine that is simulated.
pub struct Machine {
    /// The time of day when the hub starts.
    pub wall: Millis,
    pub pace: Pace,
}

/// Where calls are made that may block.
pub(super) enum Calls {
    /// Each on a thread for such work.
    OnThreads,
    /// Where the hub is, each when its time has come.
    Paced(Pace),
}

impl Calls {
    /// The hub goes on; what comes of the call is one of its jobs.
    pub(super) fn begin(
        &self,
        jobs: &mut JoinSet<Finished>,
        call: impl FnOnce() -> Finished + Send + 'static,
    ) {
        match self {
            Calls::OnThreads => jobs.spawn_blocking(call),
            Calls::Paced(pace) => {
                let [there, back] = pace();
                jobs.spawn(async move {
                    there.await;
                    let finished = call();
                    back.await;
                    finished
                })
            }
        };
    }
}

impl Hub {
    /// A hub of our own agent on a machine that is simulated, and its task, for whoever simulates to run. Once that is dropped the hub is
    /// gone between two of its steps, as after a kill.
    pub fn simulated(
        setup: Setup,
        store: Box<dyn Store>,
        engine: EngineSeat,
        machine: Machine,
        log: Log,
    ) -> (Hub, impl Future<Output = ()> + Send) {
        let (keeping, files) = ((store, Keeping::First), Files::default());
        let (mut shell, messages) = Hub::shell(Core::new(setup.clone()), setup, keeping, engine, files, log);
        shell.on(machine);
        (shell.hub.clone(), shell.run(messages, None))
    }
}
