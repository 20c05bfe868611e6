//! A scene: a runtime whose engine does what the probe says, one wire or two, and a UI of ours at the other end.
//!
//! Time stands still while anybody has something to do ([`Scene::rest`] lets everybody come to rest), so a scene plays the same way each
//! time. The probe is the engine: nothing happens in a run that it did not report.

use super::onlooker::Onlooker;
use crate::bench;
use dialects::Dialect;
use domain::command::{Command, LibraryCommand, ListCommand, PromptOptions, Receipt, Refusal, RunCommand};
use domain::command::{RefusalKind, SessionCommand};
use domain::content::{Input, Json};
use domain::event::{Body, Compaction, ContextEvent, Trigger};
use domain::ids::{EntryId, Millis, SessionId};
use domain::port::{Grounds, Order, Report, Ticket, TurnBrief};
use domain::session::{ModelEntry, ModelRef, ServerEntry, ServerState, SkillEntry, SkillList, ToolEntry};
use hub::core::{Engine, Setup};
use hub::{EngineSeat, Files, Hub, RemoteSeat, Reported};
use roles::Hello;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use store::MemoryStore;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How long everybody gets to come to rest, on the clock that stands still: longer than any wire waits for silence.
const REST: Duration = Duration::from_secs(4);
/// Orders and reports that may wait.
const QUEUE: usize = 1024;

pub(crate) struct Scene {
    place: TempDir,
    behind: Hub,
    /// The hub that the last wire leads to: the runtime's, or a bridge's.
    near: Hub,
    hubs: Vec<Hub>,
    wire: Dialect,
    /// Whether the UI's hub is in front of a bridge.
    follows: bool,
    reports: mpsc::Sender<Reported>,
    heard: Arc<Mutex<Vec<Order>>>,
    pub(crate) ui: Onlooker,
    wall: u64,
    start: Instant,
}

impl Scene {
    /// A runtime behind these wires, and a UI in front: the UI's wire first.
    pub(crate) async fn set(wires: &[Dialect]) -> Scene {
        let place = bench::workplace();
        let (orders, ordered) = mpsc::channel(QUEUE);
        let (reports, reported) = mpsc::channel(QUEUE);
        let cwd = place.path().canonicalize().expect("a place").display().to_string();
        let setup = Setup::new(Engine::Driven, &cwd, 7);
        let files = Files {
            data: Some(place.path().join(".data")),
            workspace: Some(place.path().canonicalize().expect("a place")),
            allowed: Vec::new(),
        };
        let store = Box::new(MemoryStore::default());
        let behind = Hub::start_with(setup, store, EngineSeat::Driven(orders), files, quiet());
        let feeding = behind.clone();
        tokio::spawn(async move { feeding.reports(reported).await });
        let heard = Arc::new(Mutex::new(Vec::new()));
        tokio::spawn(listen(ordered, reports.clone(), heard.clone()));
        let (mut near, mut hubs, mut wire) = (behind.clone(), Vec::new(), wires[0]);
        for dialect in wires.iter().rev() {
            // A hub in front of another follows it, as a bridge does.
            let front = connect(&near, !hubs.is_empty(), *dialect, place.path(), None).await;
            hubs.push(front);
            wire = *dialect;
            if hubs.len() < wires.len() {
                near = hubs[hubs.len() - 1].clone();
            }
        }
        let ui = Onlooker::at(&hubs[hubs.len() - 1]).await;
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = u64::try_from(wall.as_millis()).unwrap_or(u64::MAX);
        let mut scene = Scene {
            place,
            behind,
            near,
            hubs,
            wire,
            follows: wires.len() > 1,
            reports,
            heard,
            ui,
            wall,
            start: Instant::now(),
        };
        scene.rest().await;
        // How often it was shown the session until the handshakes were over depends on who is quicker.
        scene.ui.shown.clear();
        scene
    }

    /// Lets everybody do what there is to do.
    pub(crate) async fn rest(&mut self) {
        tokio::time::sleep(REST).await;
        self.ui.take();
    }

    pub(crate) fn now(&self) -> Millis {
        Millis(self.wall + u64::try_from(self.start.elapsed().as_millis()).unwrap_or(0))
    }

    /// Where the runtime works.
    pub(crate) fn place(&self) -> &Path {
        self.place.path()
    }

    /// What the engine was told so far.
    pub(crate) fn orders(&self) -> Vec<Order> {
        self.heard.lock().expect("a lock").clone()
    }

    /// The turns that the engine was told to do so far.
    pub(crate) fn turns(&self) -> Vec<TurnBrief> {
        let turns = self.orders().into_iter().filter_map(|order| match order {
            Order::Turn(brief) => Some(*brief),
            _ => None,
        });
        turns.collect()
    }

    pub(crate) async fn report(&self, report: Report) {
        self.reports.send((report, None)).await.expect("the hub runs");
    }

    /// The UI gives a command; the refusal, if it is refused.
    pub(crate) async fn give(&mut self, command: Command) -> Result<Receipt, Refusal> {
        let ticket = self.ui.give(command).await;
        self.rest().await;
        match self.ui.settled(ticket) {
            Some(with) => with,
            None => Err(Refusal::new(RefusalKind::TimedOut, "never settled")),
        }
    }

    pub(crate) async fn prompt(&mut self, text: &str) -> Result<Receipt, Refusal> {
        self.prompt_with(Input::text(text)).await
    }

    pub(crate) async fn prompt_with(&mut self, input: Input) -> Result<Receipt, Refusal> {
        let options = PromptOptions::default();
        self.give(Command::Run(RunCommand::Prompt { input, options })).await
    }

    /// Someone at the runtime itself: a UI in its own process, which is never asked.
    pub(crate) async fn insider(&self) -> Onlooker {
        Onlooker::unasked(&self.behind).await
    }

    /// The one of them in which this was said first: a UI may have begun another, and left the first untouched.
    pub(crate) async fn titled(&self, title: &str) -> Option<SessionId> {
        let live = self.near.present().await.expect("the hub runs");
        let said = live.iter().find(|live| live.title == title).or(live.last());
        said.map(|live| live.id.clone())
    }

    /// Another UI on the same wire that comes for this session.
    pub(crate) async fn another(&mut self, session: &SessionId) -> Onlooker {
        let front = connect(&self.near, self.follows, self.wire, self.place.path(), Some(session)).await;
        let mut ui = Onlooker::at(&front).await;
        self.hubs.push(front);
        self.rest().await;
        ui.take();
        ui
    }
}

fn quiet() -> hub::Log {
    let loud = std::env::var_os("PARLOR_PROBE").is_some();
    Arc::new(move |line: &str| {
        if loud {
            eprintln!("log: {line}");
        }
    })
}

/// A hub in front of `behind`, over this wire.
async fn connect(
    behind: &Hub,
    follows: bool,
    dialect: Dialect,
    place: &Path,
    session: Option<&SessionId>,
) -> Hub {
    let lanes = bench::lanes(dialect);
    let mut guest = bench::guest(dialect, place, Vec::new());
    guest.greeting.follows = follows;
    let ends = bench::serve(behind, guest, &lanes).await;
    let lossless = dialect.is_lossless();
    let engine = if lossless { Engine::Mirrored } else { Engine::Followed };
    let cwd = "/".to_owned();
    let setup = Setup::new(engine, &cwd, 1);
    let session = session.map(|session| session.as_str().into());
    let hello = Hello { version: "0.0.0".to_owned(), cwd, session, ..Hello::default() };
    let seat = RemoteSeat {
        role: dialect.ui_role(),
        link: bench::wire(&lanes, ends),
        hello,
        lossless,
        errands: None,
        last_lines: None,
        ended: None,
        stranger: None,
    };
    Hub::start(setup, Box::new(MemoryStore::default()), EngineSeat::Remote(Box::new(seat)), quiet())
}

/// Hears what the engine is told, and answers what it is asked outside of turns.
async fn listen(
    mut orders: mpsc::Receiver<Order>,
    reports: mpsc::Sender<Reported>,
    heard: Arc<Mutex<Vec<Order>>>,
) {
    while let Some(order) = orders.recv().await {
        heard.lock().expect("a lock").push(order.clone());
        if let Order::Consult { ticket, session, command, grounds } = order {
            for report in answer(ticket, session, command, &grounds) {
                if reports.send((report, None)).await.is_err() {
                    return;
                }
            }
        }
    }
}

fn answer(ticket: Ticket, session: SessionId, command: Command, grounds: &Grounds) -> Vec<Report> {
    let settled = |with: Result<Receipt, Refusal>| vec![Report::Settled { ticket, with }];
    match command {
        Command::List(ListCommand::Models { provider }) => {
            let mut models = models();
            models.retain(|entry| provider.as_ref().is_none_or(|wanted| *wanted == entry.model.provider));
            settled(Ok(Receipt::Models { models, current: Some(model("north", "large")) }))
        }
        Command::List(ListCommand::Servers) => settled(Ok(Receipt::Servers(servers()))),
        Command::List(ListCommand::Skills { .. }) => settled(Ok(Receipt::Skills(skills()))),
        Command::List(ListCommand::Tools) => settled(Ok(Receipt::Tools(tools()))),
        Command::Session(SessionCommand::SetModel { provider, name }) => {
            let provider = provider.unwrap_or_else(|| "north".to_owned());
            settled(Ok(Receipt::Model(ModelRef { provider, name })))
        }
        Command::Session(SessionCommand::SetTools { .. }) => settled(Ok(Receipt::Done)),
        Command::Extension { .. } => settled(Ok(Receipt::Extension(Json::verbatim(r#"{"answer":42}"#)))),
        Command::Run(RunCommand::Compact { .. }) => {
            let (entry, compaction) = (EntryId(grounds.ids.next()), compaction());
            let body = Body::Context(ContextEvent::Compacted {
                entry,
                parent: grounds.leaf,
                compaction: compaction.clone(),
            });
            let happened = Report::Happened { session, run: None, body };
            let settled = Report::Settled { ticket, with: Ok(Receipt::Compacted { entry, compaction }) };
            vec![happened, settled]
        }
        Command::Run(_)
        | Command::Session(_)
        | Command::Queue(_)
        | Command::Library(
            LibraryCommand::New { .. }
            | LibraryCommand::Open { .. }
            | LibraryCommand::Branch { .. }
            | LibraryCommand::Delete { .. }
            | LibraryCommand::List { .. }
            | LibraryCommand::History { .. }
            | LibraryCommand::Export { .. }
            | LibraryCommand::Save { .. }
            | LibraryCommand::Load { .. },
        )
        | Command::Shell(_)
        | Command::Files(_)
        | Command::Performed { .. }
        | Command::Answer { .. }
        | Command::UpdateContext(_) => {
            settled(Err(Refusal::new(RefusalKind::Internal, "not a question for an engine")))
        }
    }
}

pub(crate) fn compaction() -> Compaction {
    Compaction {
        summary: "They spoke of the weather.".to_owned(),
        first_kept: None,
        tokens_before: 4_321,
        trigger: Trigger::Manual,
        unexplained: false,
        usage: domain::content::Usage { input: 70, output: 8, ..domain::content::Usage::default() },
    }
}

pub(crate) fn model(provider: &str, name: &str) -> ModelRef {
    ModelRef { provider: provider.to_owned(), name: name.to_owned() }
}

pub(crate) fn models() -> Vec<ModelEntry> {
    let entry = |provider: &str, name: &str, window: u64| ModelEntry {
        model: model(provider, name),
        context_window: Some(window),
        max_output: Some(9_000),
        price_input: Some(3_000_000),
        price_output: Some(15_000_000),
        thinks: None,
    };
    vec![entry("north", "large", 200_000), entry("north", "small", 64_000), entry("south", "wide", 1_000_000)]
}

pub(crate) fn servers() -> Vec<ServerEntry> {
    let entry = |id: &str, http: bool, state: ServerState, tools: Option<u64>| ServerEntry {
        id: id.to_owned(),
        http,
        from_project: !http,
        state,
        tools,
        connected_at: tools.map(|_| Millis(1_700_000_000_000)),
        reach: None,
    };
    let failed = ServerState::Failed("it does not start".to_owned());
    vec![entry("maps", true, ServerState::Ready, Some(3)), entry("notes", false, failed, None)]
}

pub(crate) fn skills() -> SkillList {
    let skill = SkillEntry {
        id: "review".to_owned(),
        name: "Review".to_owned(),
        description: "Looks at a change".to_owned(),
        path: "/skills/review/SKILL.md".to_owned(),
        from_project: true,
        modified_at: Millis(1_700_000_000_000),
    };
    let errors = vec![("/skills/odd/SKILL.md".to_owned(), "no name".to_owned())];
    SkillList { skills: vec![skill], errors, truncated: false }
}

pub(crate) fn tools() -> Vec<ToolEntry> {
    let entry = |name: &str, active: bool| ToolEntry {
        name: name.to_owned(),
        description: format!("The tool {name}"),
        source: "built-in".to_owned(),
        active,
    };
    vec![entry("read", true), entry("write", false)]
}
