//! A runtime that says what it is told to, as quickly as it can, and a UI of ours in front of it; and what a bridge between the two
//! hears and says, written down.

use crate::Broken;
use crate::script::Script;
use dialects::Dialect;
use domain::command::{Command, PromptOptions, RunCommand, Target};
use domain::content::{Input, Role, TextKind, Usage};
use domain::event::{Body, Finish, MessageEvent, RunEvent};
use domain::ids::{MessageId, StepId};
use domain::port::{News, Order, Report, Ticket, TurnBrief, TurnEnd};
use hub::core::{Engine, Setup, Standing};
use hub::{EngineSeat, Guest, Hub, LocalUi, Log, RemoteSeat, Reported};
use link::{AsyncSink, AsyncSource, Limits, LinkIo, Watcher, Wiring};
use roles::{Answers, Greeting, Hello, Lane};
use std::sync::{Arc, Mutex, PoisonError};
use store::MemoryStore;
use tokio::net::UnixStream;
use tokio::sync::mpsc;

/// What is said in one conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Talk {
    /// Prompts, each after the answer to the one before.
    pub(crate) turns: usize,
    /// Tokens of each answer.
    pub(crate) tokens: usize,
}

/// A conversation between two wires, as the bridge saw it.
#[derive(Debug, Clone)]
pub(crate) struct Bridged {
    pub(crate) ui: Script,
    pub(crate) runtime: Script,
}

/// The lanes of a wire.
pub(crate) fn lanes(dialect: Dialect) -> &'static [Lane] {
    if dialect.has_event_lane() { &[Lane::MAIN, Lane::EVENTS] } else { &[Lane::MAIN] }
}

fn setup(engine: Engine) -> Setup {
    Setup::new(engine, "/w", 1)
}

/// Nothing is logged: what a peer says here is known.
pub(crate) fn quiet() -> Log {
    Arc::new(|line| {
        if std::env::var_os("PARLOR_BENCH_LOG").is_some() {
            eprintln!("  {line}");
        }
    })
}

/// A hub whose engine streams so many tokens for each prompt.
pub(crate) fn runtime(tokens: usize) -> Hub {
    let (orders, mut ordered) = mpsc::channel::<Order>(64);
    let (reports, reported) = mpsc::channel::<Reported>(1024);
    let store = Box::new(MemoryStore::default());
    let hub = Hub::start(setup(Engine::Driven), store, EngineSeat::Driven(orders), quiet());
    let feeding = hub.clone();
    tokio::spawn(async move { feeding.reports(reported).await });
    tokio::spawn(async move {
        while let Some(order) = ordered.recv().await {
            if let Order::Turn(brief) = order {
                for report in turn(&brief, tokens) {
                    if reports.send((report, None)).await.is_err() {
                        return;
                    }
                }
            }
        }
    });
    hub
}

fn turn(brief: &TurnBrief, tokens: usize) -> Vec<Report> {
    let (step, message) = (StepId(brief.ids.next()), MessageId(brief.ids.next()));
    let (parent, turn) = (brief.leaf, brief.turn);
    let mut bodies = vec![
        Body::Run(RunEvent::StepStarted { turn, step, model: None }),
        Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::Assistant,
            turn: Some(turn),
            step: Some(step),
        }),
    ];
    let word = |number| {
        Body::Message(MessageEvent::Delta { message, kind: TextKind::Text, text: format!("word{number} ") })
    };
    bodies.extend((0..tokens).map(word));
    bodies.push(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    bodies.push(Body::Run(RunEvent::StepEnded { step, usage: Usage::default() }));
    let (session, run) = (brief.session.clone(), brief.run);
    let happened = |body| Report::Happened { session: session.clone(), run: Some(run), body };
    let mut reports: Vec<Report> = bodies.into_iter().map(happened).collect();
    reports.push(Report::TurnDone { session, run, turn, end: TurnEnd::Done });
    reports
}

/// A UI on a link, to be served in a dialect.
pub(crate) fn guest(dialect: Dialect) -> Guest {
    Guest {
        role: dialect.runtime_role(),
        name: dialect.name().to_owned(),
        standing: Standing::Controller,
        greeting: Greeting { version: "0.0.0".to_owned(), cwd: "/w".to_owned(), ..Greeting::default() },
        start: None,
        stays: false,
    }
}

/// A hub in front of a runtime that speaks a dialect.
pub(crate) fn front(dialect: Dialect, link: LinkIo) -> Hub {
    let lossless = dialect.is_lossless();
    let engine = if lossless { Engine::Mirrored } else { Engine::Followed };
    let hello = Hello { version: "0.0.0".to_owned(), cwd: "/w".to_owned(), ..Hello::default() };
    let seat = RemoteSeat {
        role: dialect.ui_role(),
        link,
        hello,
        lossless,
        errands: None,
        last_lines: None,
        ended: None,
        stranger: None,
    };
    Hub::start(setup(engine), Box::new(MemoryStore::default()), EngineSeat::Remote(Box::new(seat)), quiet())
}

/// A link over sockets, its lanes in this order.
pub(crate) fn link(lanes: &[Lane], sockets: Vec<UnixStream>) -> LinkIo {
    let wiring = lanes.iter().zip(sockets).fold(Wiring::new(Limits::default()), |wiring, (lane, socket)| {
        let (read, write) = socket.into_split();
        wiring.lane(*lane, AsyncSource::new(read), AsyncSink(write))
    });
    wiring.start()
}

/// Serves a UI over one socket per lane.
pub(crate) async fn serve(
    hub: &Hub,
    dialect: Dialect,
    sockets: Vec<UnixStream>,
    watcher: Option<&Watcher>,
) -> Result<(), Broken> {
    let ui = hub.seat(guest(dialect)).await?;
    for (lane, socket) in lanes(dialect).iter().zip(sockets) {
        let link = link(&[*lane], vec![socket]);
        let link = match watcher {
            Some(watcher) => link.watched(watcher),
            None => link,
        };
        let (hub, lane) = (hub.clone(), *lane);
        tokio::spawn(async move { hub.connect(ui, lane, link).await });
    }
    Ok(())
}

/// Two ends of the sockets of a wire.
fn sockets(dialect: Dialect) -> Result<(Vec<UnixStream>, Vec<UnixStream>), Broken> {
    let pairs: Result<Vec<_>, _> = lanes(dialect).iter().map(|_| UnixStream::pair()).collect();
    Ok(pairs?.into_iter().unzip())
}

/// Holds the conversation over `ui` and `runtime` with a bridge between, and gives what the bridge heard and said.
pub(crate) async fn bridged(ui: Dialect, runtime: Dialect, talk: Talk) -> Result<Bridged, Broken> {
    let (ui_notes, runtime_notes) = (Notes::default(), Notes::default());
    let behind = self::runtime(talk.tokens);
    let (theirs, ours) = sockets(runtime)?;
    serve(&behind, runtime, theirs, None).await?;
    let bridge = front(runtime, link(lanes(runtime), ours).watched(&runtime_notes.watcher()));
    let (theirs, ours) = sockets(ui)?;
    serve(&bridge, ui, theirs, Some(&ui_notes.watcher())).await?;
    let front = front(ui, link(lanes(ui), ours));
    let person = front.attach("bench", Standing::Controller, Answers::ALL, None).await?;
    converse(person, talk.turns).await?;
    // Without the farewells: who plays this again does not leave.
    let bridged = Bridged { ui: ui_notes.take(), runtime: runtime_notes.take() };
    for hub in [&front, &bridge, &behind] {
        hub.stop().await;
    }
    Ok(bridged)
}

async fn converse(mut person: LocalUi, turns: usize) -> Result<(), Broken> {
    for number in 0..turns {
        let ticket = Ticket(number as u64 + 1);
        let input = Input::text(format!("prompt {number}"));
        let prompt = Command::Run(RunCommand::Prompt { input, options: PromptOptions::default() });
        person.port.command(ticket, Target::Current, prompt).await?;
        loop {
            match person.news.recv().await.ok_or("the hub stopped")? {
                News::Happened { event, .. } if matches!(event.body, Body::Run(RunEvent::Ended { .. })) => {
                    break;
                }
                News::Settled { with: Err(refusal), .. } => return Err(refusal.to_string().into()),
                _ => {}
            }
        }
    }
    Ok(())
}

#[derive(Default, Clone)]
struct Notes(Arc<Mutex<Script>>);

impl Notes {
    fn watcher(&self) -> Watcher {
        let notes = self.0.clone();
        Watcher::new(move |way, lane, line| {
            notes.lock().unwrap_or_else(PoisonError::into_inner).note(way, lane, line);
        })
    }

    fn take(&self) -> Script {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
