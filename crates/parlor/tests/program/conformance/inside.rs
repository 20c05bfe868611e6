//! Our own program within this process, on pipes in memory: under a clock that is stopped, nothing has to be waited for.

use dialects::Dialect;
use domain::ask::{Answer, AskKind};
use domain::command::{Command, PromptOptions, Refusal, RunCommand, Target};
use domain::content::Input;
use domain::event::{AskEvent, Body, RunEvent};
use domain::port::{LinkState, News, Ticket};
use domain::session::{ModelEntry, ModelRef, Policy};
use engine::ModelSource;
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub, LocalUi, RemoteSeat};
use kit::peer::Peer;
use link::child::Exit;
use link::{AsyncSink, AsyncSource, Limits, LinkIo, Wiring};
use models::Model;
use models::offline::Offline;
use roles::{Answers, Greeting, Hello, Lane};
use std::path::Path;
use std::sync::Arc;
use store::MemoryStore;
use tokio::io::DuplexStream;
use tokio::sync::watch;

/// Bytes that may wait between the two ends of a pipe.
const PIPE: usize = 64 * 1024;

/// The embedded model under any name.
struct Embedded;

impl ModelSource for Embedded {
    fn find(&self, _: Option<&str>, name: &str) -> Result<ModelRef, Refusal> {
        Ok(ModelRef { provider: "offline".to_owned(), name: name.to_owned() })
    }
    fn open(&self, _: Option<&ModelRef>) -> Result<Arc<dyn Model>, Refusal> {
        Ok(Arc::new(Offline::default()))
    }
    fn list(&self) -> tools::BoxFuture<'_, Vec<ModelEntry>> {
        Box::pin(async { Vec::new() })
    }
}

fn lanes(dialect: Dialect) -> &'static [Lane] {
    if dialect.has_event_lane() { &[Lane::MAIN, Lane::EVENTS] } else { &[Lane::MAIN] }
}

/// The program's ends of a lane: to read from, and to write to.
type Ends = (DuplexStream, DuplexStream);

/// The program's ends of the pipes, and the kit's. One pipe per direction, so that each can end by itself.
fn pipes(dialect: Dialect) -> (Vec<Ends>, Vec<kit::player::Lane>) {
    let both = lanes(dialect).iter().enumerate().map(|(number, _)| {
        let ((write, stdin), (stdout, read)) = (tokio::io::duplex(PIPE), tokio::io::duplex(PIPE));
        let number = u8::try_from(number).unwrap();
        ((stdin, stdout), kit::player::Lane { number, read: Box::new(read), write: Box::new(write) })
    });
    both.unzip()
}

fn link(lanes: &[Lane], pipes: Vec<Ends>) -> LinkIo {
    let wiring = lanes.iter().zip(pipes).fold(Wiring::new(Limits::default()), |wiring, (lane, pipe)| {
        wiring.lane(*lane, AsyncSource::new(pipe.0), AsyncSink(pipe.1))
    });
    wiring.start()
}

/// Our runtime on a wire, working in `cwd`.
pub(crate) async fn runtime(dialect: Dialect, cwd: &Path) -> Peer {
    let store = Box::new(MemoryStore::default());
    let (data, policy) = (cwd.join(".data"), Policy::default());
    let hub = parlor::stack::assemble_in(Arc::new(Embedded), store, cwd, &data, policy, Arc::new(|_| {}));
    let guest = Guest {
        role: dialect.runtime_role(),
        name: dialect.name().to_owned(),
        standing: Standing::Controller,
        greeting: Greeting {
            version: "0.0.0".to_owned(),
            cwd: cwd.display().to_string(),
            model: Some(("offline".to_owned(), "offline".to_owned())),
            ..Greeting::default()
        },
        start: None,
        stays: false,
    };
    let ui = hub.seat(guest).await.unwrap();
    let (ours, theirs) = pipes(dialect);
    let (ended, end) = watch::channel(None);
    for (lane, pipe) in lanes(dialect).iter().zip(ours) {
        let (link, lane, hub, ended) = (link(&[*lane], vec![pipe]), *lane, hub.clone(), ended.clone());
        tokio::spawn(async move {
            let _ = hub.connect(ui, lane, link).await;
            if lane == Lane::MAIN {
                hub.stop().await;
                let _ = ended.send(Some(Exit::Code(0)));
            }
        });
    }
    Peer::inside(theirs, end)
}

/// Our UI on a wire, with one prompt to say and a no to every question.
pub(crate) async fn ui(dialect: Dialect) -> Peer {
    let lossless = dialect.is_lossless();
    let engine = if lossless { Engine::Mirrored } else { Engine::Followed };
    let setup = Setup::new(engine, "/", 1);
    let hello = Hello { version: "0.0.0".to_owned(), cwd: "/".to_owned(), ..Hello::default() };
    let (ours, theirs) = pipes(dialect);
    let seat = RemoteSeat {
        role: dialect.ui_role(),
        link: link(lanes(dialect), ours),
        hello,
        lossless,
        errands: None,
        last_lines: None,
        ended: None,
        stranger: None,
    };
    let store = Box::new(MemoryStore::default());
    let hub = Hub::start(setup, store, EngineSeat::Remote(Box::new(seat)), Arc::new(|_| {}));
    let person = hub.attach("test", Standing::Controller, Answers::ALL, None).await.unwrap();
    let (ended, end) = watch::channel(None);
    tokio::spawn(async move {
        converse(person).await;
        hub.stop().await;
        let _ = ended.send(Some(Exit::Code(0)));
    });
    Peer::inside(theirs, end)
}

/// Says the prompt and answers until the run is over or the runtime is gone.
async fn converse(ui: LocalUi) {
    let LocalUi { mut news, port } = ui;
    let prompt =
        Command::Run(RunCommand::Prompt { input: Input::text("hello"), options: PromptOptions::default() });
    let _ = port.command(Ticket(1), Target::Current, prompt).await;
    while let Some(news) = news.recv().await {
        // A session that takes its runtime's name is shown again, with what has happened in it meanwhile.
        let bodies = match news {
            News::Attached { replay, .. } => replay.into_iter().map(|(_, body)| body).collect(),
            News::Happened { event, .. } => vec![event.body.clone()],
            News::Link(LinkState::Lost(_)) | News::Settled { ticket: Ticket(1), with: Err(_) } => return,
            News::Signal { .. } | News::Settled { .. } | News::Link(_) => Vec::new(),
        };
        for body in bodies {
            match body {
                Body::Ask(AskEvent::Opened(ask)) => {
                    let answer = match ask.kind {
                        AskKind::Consent(_) => Answer::Deny { reason: None },
                        AskKind::Confirm { .. } => Answer::Confirmed(false),
                        _ => Answer::Dismissed,
                    };
                    let answer = Command::Answer { ask: ask.id, answer };
                    let _ = port.command(Ticket(2), Target::Current, answer).await;
                }
                Body::Run(RunEvent::Ended { .. }) => return,
                _ => {}
            }
        }
    }
}
