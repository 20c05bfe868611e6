//! What the killed program and the one after it share: tools that count how often they ran, a store that dies, a stack.

use crate::bench::Script;
use domain::ask::{ActionDigest, Assessment, Risk};
use domain::command::History;
use domain::event::Event;
use domain::ids::{Seq, SessionId};
use domain::session::SessionSummary;
use domain::state::State;
use domain::tool::{Progress, ToolResult};
use engine::{Agent, ORDERS, REPORTS};
use hub::core::{Engine, Setup};
use hub::{EngineSeat, Hub};
use models::scripted::Scripted;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{Appended, Durability, Listing, Opened, SearchHit, SqliteStore, Store, StoreError};
use tools::policy::Allowance;
use tools::{BoxFuture, Deed, Outcome, Plan, Port, Spec, Tool, ToolContext, ToolError, Toolbox};

/// The tool that runs without asking.
pub(crate) const TALLY: &str = "tally";
/// The tool that asks first.
pub(crate) const STRIKE: &str = "strike";

/// Counts each of its runs in a file of the working directory.
struct Counter {
    name: &'static str,
    risk: Risk,
}

impl Tool for Counter {
    fn spec(&self) -> Spec {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        Spec { name: self.name.into(), description: "counts".into(), schema, read_only: false }
    }

    fn plan(&self, args: &Value, place: &ToolContext) -> Result<Plan, ToolError> {
        let mut plan = Plan::reading(self.name, args, place, format!("{} {args}", self.name));
        plan.assessment =
            Assessment { risk: self.risk, reasons: Vec::new(), reversible: false, unrated: false };
        plan.digest = ActionDigest(format!("{} {args}", self.name));
        plan.read_only = false;
        plan.deed = Deed::Other;
        Ok(plan)
    }

    fn run(&self, plan: Plan, port: Port) -> BoxFuture<'static, Outcome> {
        let file = counter(plan.place.workdir(), self.name, &plan.args);
        Box::pin(async move {
            let counted = std::fs::OpenOptions::new().append(true).create(true).open(file);
            counted.and_then(|mut file| file.write_all(b"x")).expect("a place to count");
            let _ = port.progress.send(Progress::Output("counted\n".into())).await;
            Outcome::done(ToolResult::text("counted"))
        })
    }
}

fn counter(workdir: &Path, tool: &str, args: &Value) -> PathBuf {
    workdir.join(format!("ran-{tool}-{}", args["n"]))
}

/// How often each tool run of `state` really ran, by tool and number.
pub(crate) fn times_run(workdir: &Path, tool: &str, args: &str) -> u64 {
    let args: Value = serde_json::from_str(args).expect("arguments");
    std::fs::metadata(counter(workdir, tool, &args)).map_or(0, |file| file.len())
}

/// A run of this many steps, each with streamed text, a tool that runs and a tool that asks.
pub(crate) fn script(steps: u32, words: u32) -> String {
    let mut script = String::new();
    for n in 1..=steps {
        script.push_str("model thought \"hm\"");
        for word in 0..words {
            script.push_str(&format!(" | text \"word{word} \""));
        }
        script.push_str(&format!(" | tool {TALLY} {{\"n\":{n}}} | tool {STRIKE} {{\"n\":{n}}}\nmodel usage in=10 out=5\nmodel step\n"));
    }
    script.push_str("model text \"All done.\"\n");
    script
}

/// Hub, agent and the two tools.
pub(crate) fn stack(script: &str, store: Box<dyn Store>, place: &Path) -> Hub {
    let (orders, ordered) = tokio::sync::mpsc::channel(ORDERS);
    let (reports, reported) = tokio::sync::mpsc::channel(REPORTS);
    let mut toolbox = Toolbox::empty();
    toolbox.add(Arc::new(Counter { name: TALLY, risk: Risk::Low }));
    toolbox.add(Arc::new(Counter { name: STRIKE, risk: Risk::High }));
    let model = Arc::new(Scripted::parse(script).expect("the model's script"));
    let cwd = place.display().to_string();
    let config = engine::Config::default();
    let menu = engine::menu(&config, place, &config.work_dir(&cwd, &cwd));
    let setup = engine::Setup {
        models: Arc::new(Script(model)),
        toolbox,
        data: place.join("data"),
        guard: None,
        config,
        allow: vec![Allowance::Tool(TALLY.to_owned())],
        vault: None,
        menu: menu.clone(),
        delegation: engine::Delegation::default(),
    };
    tokio::spawn(Agent::new(setup, reports).run(ordered));
    let setup = Setup { menu, ..Setup::new(Engine::Driven, &cwd, 1) };
    let hub = Hub::start(setup, store, EngineSeat::Driven(orders), Arc::new(|line| eprintln!("hub: {line}")));
    let feeding = hub.clone();
    tokio::spawn(async move { feeding.reports(reported).await });
    hub
}

/// A store that writes one record at a time and kills its process after so many: as if a batch could be torn anywhere.
pub(crate) struct Mortal {
    pub(crate) store: SqliteStore,
    pub(crate) left: u64,
}

fn die() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort()
}

impl Store for Mortal {
    fn create(&mut self, session: &SessionId) -> Result<(), StoreError> {
        if self.left == 0 {
            die();
        }
        self.store.create(session)
    }
    fn append(
        &mut self,
        session: &SessionId,
        events: &[Event],
        _: Durability,
    ) -> Result<Appended, StoreError> {
        let mut appended = Appended::default();
        for event in events {
            if self.left == 0 {
                die();
            }
            let durability = if event.body.is_durable() { Durability::Now } else { Durability::Soon };
            appended = self.store.append(session, std::slice::from_ref(event), durability)?;
            self.left -= 1;
        }
        Ok(appended)
    }
    fn open(&mut self, session: &SessionId) -> Result<Opened, StoreError> {
        self.store.open(session)
    }
    fn snapshot(&mut self, session: &SessionId, state: &State) -> Result<(), StoreError> {
        self.store.snapshot(session, state)
    }
    fn tend(&mut self) -> Result<(), StoreError> {
        self.store.tend()
    }
    fn close(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.store.close(session)
    }
    fn load(&self, session: &SessionId) -> Result<Opened, StoreError> {
        self.store.load(session)
    }
    fn events(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        self.store.events(session, after, limit)
    }
    fn history(&self, session: &SessionId, runs: usize, events: usize) -> Result<History, StoreError> {
        self.store.history(session, runs, events)
    }
    fn list(&self, listing: &Listing) -> Result<Vec<SessionSummary>, StoreError> {
        self.store.list(listing)
    }
    fn summary(&self, session: &SessionId) -> Result<SessionSummary, StoreError> {
        self.store.summary(session)
    }
    fn search(&self, text: &str, limit: usize) -> Result<Vec<SearchHit>, StoreError> {
        self.store.search(text, limit)
    }
    fn delete(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.store.delete(session)
    }
}

/// What a program said before it died: per session the durable events that its UI was told, by number.
pub(crate) type KeptEvents = BTreeMap<SessionId, BTreeMap<u64, String>>;

/// A small generator of numbers, so that each case can be tried again by its number.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}
