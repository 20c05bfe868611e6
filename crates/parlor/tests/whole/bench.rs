//! What the tests of the whole share: a runtime with a scripted model, a UI in front of it, and links that can be cut.

use dialects::Dialect;
use domain::ask::{Answer, AskKind, Scope};
use domain::command::{Command, PromptOptions, Refusal, RefusalKind, RunCommand, Target};
use domain::content::Input;
use domain::event::{AskEvent, Body, Event, RunEvent, SessionEvent};
use domain::ids::{Millis, Seq, SessionId, UiId};
use domain::port::{LinkState, News, Ticket};
use domain::session::{ModelEntry, ModelRef, Policy};
use engine::ModelSource;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub, Log, RemoteSeat};
use link::{AsyncSink, AsyncSource, Limits, LinkIo, Wiring};
use models::Model;
use models::scripted::Scripted;
use roles::{Answers, Greeting, Hello, Lane};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use store::MemoryStore;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Bytes that may wait between the two ends of a link in memory.
const PIPE: usize = 1 << 20;

/// The scripted model under any name but a missing one.
pub(crate) struct Script(pub(crate) Arc<Scripted>);

impl ModelSource for Script {
    fn find(&self, provider: Option<&str>, name: &str) -> Result<ModelRef, Refusal> {
        if name.starts_with("no-such") {
            return Err(Refusal::new(RefusalKind::ModelUnknown, format!("unknown model: {name}")));
        }
        Ok(ModelRef { provider: provider.unwrap_or("scripted").to_owned(), name: name.to_owned() })
    }
    fn open(&self, _: Option<&ModelRef>) -> Result<Arc<dyn Model>, Refusal> {
        Ok(self.0.clone())
    }
    fn list(&self) -> tools::BoxFuture<'_, Vec<ModelEntry>> {
        let model = ModelRef { provider: "scripted".to_owned(), name: "script".to_owned() };
        let (context_window, max_output) = (Some(200_000), None);
        let entry = ModelEntry {
            model,
            context_window,
            max_output,
            price_input: None,
            price_output: None,
            thinks: Some(true),
        };
        Box::pin(async { vec![entry] })
    }
}

/// A place to work, with a file to read.
pub(crate) fn workplace() -> TempDir {
    let place = tempfile::tempdir().expect("a place to work");
    std::fs::write(place.path().join("a.txt"), "alpha\nbeta\n").expect("a file to read");
    place
}

/// Our runtime with a scripted model.
pub(crate) fn runtime(script: &str, place: &Path) -> Hub {
    runtime_of(Arc::new(Scripted::parse(script).expect("the model's script")), place)
}

/// Our runtime with a scripted model that the test keeps an eye on.
pub(crate) fn runtime_of(script: Arc<Scripted>, place: &Path) -> Hub {
    runtime_in(script, place, Policy::default(), Arc::new(|line| eprintln!("runtime: {line}")))
}

/// The same in a mode, with a log that the test keeps.
pub(crate) fn runtime_in(script: Arc<Scripted>, place: &Path, policy: Policy, log: Log) -> Hub {
    parlor::stack::assemble_in(
        Arc::new(Script(script)),
        Box::new(MemoryStore::default()),
        place,
        &place.join(".data"),
        policy,
        log,
    )
}

/// A UI on a link, as the runtime greets it.
pub(crate) fn guest(dialect: Dialect, place: &Path, options: Vec<(String, String)>) -> Guest {
    Guest {
        role: dialect.runtime_role(),
        name: dialect.name().to_owned(),
        standing: Standing::Controller,
        greeting: Greeting {
            version: "0.0.0".to_owned(),
            cwd: place.display().to_string(),
            model: Some(("scripted".to_owned(), "script".to_owned())),
            models: Vec::new(),
            options,
            ..Greeting::default()
        },
        start: None,
        stays: false,
    }
}

/// How many lanes a wire has.
pub(crate) fn lanes(dialect: Dialect) -> Vec<Lane> {
    if dialect.has_event_lane() { vec![Lane::MAIN, Lane::EVENTS] } else { vec![Lane::MAIN] }
}

/// Serves a UI of the hub over pipes in memory; gives the UI's ends, one per lane.
pub(crate) async fn serve(hub: &Hub, guest: Guest, lanes: &[Lane]) -> Vec<DuplexStream> {
    let ui: UiId = hub.seat(guest).await.expect("the hub runs");
    let mut ends = Vec::new();
    for lane in lanes {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let (link, lane, hub) = (wire(&[*lane], vec![ours]), *lane, hub.clone());
        tokio::spawn(async move { hub.connect(ui, lane, link).await });
        ends.push(theirs);
    }
    ends
}

/// A link over pipes.
pub(crate) fn wire(lanes: &[Lane], pipes: Vec<DuplexStream>) -> LinkIo {
    let mut wiring = Wiring::new(Limits::default());
    for (lane, pipe) in lanes.iter().zip(pipes) {
        let (read, write) = tokio::io::split(pipe);
        wiring = wiring.lane(*lane, AsyncSource::new(read), AsyncSink(write));
    }
    wiring.start()
}

/// A hub in front of a foreign runtime.
pub(crate) fn front(dialect: Dialect, link: LinkIo) -> Hub {
    front_in(dialect, link, Path::new("/"))
}

/// The same for a UI that works in a folder: on some wires it is the UI that names it.
pub(crate) fn front_in(dialect: Dialect, link: LinkIo, place: &Path) -> Hub {
    front_named(dialect, link, place, None)
}

/// The same for a UI that wants to be in a session.
pub(crate) fn front_named(dialect: Dialect, link: LinkIo, place: &Path, session: Option<&SessionId>) -> Hub {
    front_with(dialect, link, place, session, Arc::new(|line: &str| eprintln!("front: {line}")))
}

/// The same for whoever wants to see what it writes down.
pub(crate) fn front_logged(dialect: Dialect, link: LinkIo, place: &Path, log: Log) -> Hub {
    front_with(dialect, link, place, None, log)
}

fn front_with(dialect: Dialect, link: LinkIo, place: &Path, session: Option<&SessionId>, log: Log) -> Hub {
    let cwd = place.canonicalize().expect("a place").display().to_string();
    let lossless = dialect.is_lossless();
    let engine = if lossless { Engine::Mirrored } else { Engine::Followed };
    let setup = Setup::new(engine, &cwd, 1);
    let session = session.map(|session| session.as_str().into());
    let hello = Hello { version: "0.0.0".to_owned(), cwd, session, ..Hello::default() };
    let seat = RemoteSeat {
        role: dialect.ui_role(),
        link,
        hello,
        lossless,
        errands: None,
        last_lines: None,
        ended: None,
        stranger: Some(Box::new(move |line| dialects::stranger(dialect, line))),
    };
    Hub::start(setup, Box::new(MemoryStore::default()), EngineSeat::Remote(Box::new(seat)), log)
}

/// When a link is cut.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    Never,
    /// After this many bytes of what the runtime says.
    After(usize),
}

/// What our UI saw.
pub(crate) struct Seen {
    pub(crate) events: Vec<Event>,
    pub(crate) bytes: usize,
}

/// One conversation with text, a tool that reads and one that needs a yes, over a foreign wire.
pub(crate) struct Conversation {
    dialect: Dialect,
}

const SCRIPT: &str = r#"
model text "I will look" | text " first." | tool read {"path":"a.txt"}
model step
model thought "now write" | text "Writing." | tool write {"path":"b.txt","content":"new"}
model step
model text "All" | text " done."
"#;

impl Conversation {
    pub(crate) fn new(dialect: Dialect) -> Conversation {
        Conversation { dialect }
    }

    /// Plays it to the end of the run, or of the link.
    pub(crate) fn play(&self, cut: Cut) -> Seen {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let seen = runtime.block_on(self.converse(cut));
        runtime.shutdown_background();
        seen
    }

    async fn converse(&self, cut: Cut) -> Seen {
        let place = workplace();
        let behind = runtime(SCRIPT, place.path());
        let lanes = lanes(self.dialect);
        let ends = serve(&behind, guest(self.dialect, place.path(), Vec::new()), &lanes).await;
        let (near, far): (Vec<_>, Vec<_>) = ends.iter().map(|_| tokio::io::duplex(PIPE)).unzip();
        let said = Arc::new(AtomicUsize::new(0));
        let relaying = tokio::spawn(relay(ends, far, cut, said.clone()));
        let hub = front(self.dialect, wire(&lanes, near));
        let mut ui =
            hub.attach("test", Standing::Controller, Answers::ALL, None).await.expect("the hub runs");
        let prompt =
            Command::Run(RunCommand::Prompt { input: Input::text("go"), options: PromptOptions::default() });
        ui.port.command(Ticket(1), Target::Current, prompt).await.expect("the hub runs");
        let mut events = Vec::new();
        while let Some(news) = ui.news.recv().await {
            match news {
                // Shown once more when it is known what the runtime can do: what was heard is what is shown.
                News::Attached { replay, .. } if events.is_empty() => events.extend(replayed(replay)),
                News::Attached { .. } => {}
                News::Happened { event, .. } => {
                    events.push((*event).clone());
                    match &event.body {
                        Body::Ask(AskEvent::Opened(ask)) => {
                            let answer = match &ask.kind {
                                AskKind::Consent(_) => Answer::Allow { scope: Scope::Once, digest: None },
                                _ => Answer::Dismissed,
                            };
                            let answer = Command::Answer { ask: ask.id, answer };
                            ui.port.command(Ticket(2), Target::Current, answer).await.expect("the hub runs");
                        }
                        Body::Run(RunEvent::Ended { .. }) => break,
                        _ => {}
                    }
                }
                News::Link(LinkState::Lost(_)) => break,
                News::Signal { .. } | News::Settled { .. } | News::Link(_) => {}
            }
        }
        hub.stop().await;
        behind.stop().await;
        relaying.abort();
        Seen { events, bytes: said.load(Ordering::Relaxed) }
    }
}

/// What a replay stands for, as numbered events (a session that was just opened has nothing else).
fn replayed(replay: Vec<(Millis, Body)>) -> Vec<Event> {
    let bodies =
        replay.into_iter().filter(|(_, body)| matches!(body, Body::Session(SessionEvent::Opened { .. })));
    bodies.enumerate().map(|(at, (when, body))| Event { seq: Seq(at as u64 + 1), at: when, body }).collect()
}

/// Moves bytes both ways until the cut, and counts what the runtime said.
async fn relay(from: Vec<DuplexStream>, to: Vec<DuplexStream>, cut: Cut, total: Arc<AtomicUsize>) {
    let limit = match cut {
        Cut::Never => usize::MAX,
        Cut::After(bytes) => bytes,
    };
    let mut moving = tokio::task::JoinSet::new();
    for (runtime, ui) in from.into_iter().zip(to) {
        let total = total.clone();
        moving.spawn(async move {
            let (mut from_runtime, mut to_runtime) = tokio::io::split(runtime);
            let (mut from_ui, mut to_ui) = tokio::io::split(ui);
            let back = tokio::spawn(async move { tokio::io::copy(&mut from_ui, &mut to_runtime).await });
            let mut buffer = [0; 512];
            loop {
                let most = buffer.len().min(limit.saturating_sub(total.load(Ordering::Relaxed)));
                if most == 0 {
                    break;
                }
                match from_runtime.read(&mut buffer[..most]).await {
                    Ok(0) | Err(_) => break,
                    Ok(count) => {
                        total.fetch_add(count, Ordering::Relaxed);
                        if to_ui.write_all(&buffer[..count]).await.is_err() {
                            break;
                        }
                    }
                }
            }
            back.abort();
            let _ = to_ui.shutdown().await;
        });
    }
    while moving.join_next().await.is_some() {}
}
