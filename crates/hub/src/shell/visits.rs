//! The way to sessions that other processes have open: for each a hub in front of its process, of which we are a UI.
//!
//! Who has a session, and whether that process may be trusted, is told by whoever gives [`Visits`]. Invariants: one task per visit, ended
//! when nobody here sees the session; what a visit says after it was left is dropped; looking for a process is bounded.

use super::remote::GONE;
use super::{EngineSeat, Hub, Inbox, Log, RemoteSeat, Shell};
use crate::core::{Answer, CoreInput, Engine, RequestId, Setup, Standing};
use domain::command::{Command, Refusal, RefusalKind, Target};
use domain::event::Body;
use domain::ids::{Millis, SessionId};
use domain::port::{LinkState, News, Order, Report, Ticket};
use domain::signal::{Board, Signal};
use domain::state::State;
use roles::Answers;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use store::MemoryStore;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// How long it may take until a session is shown by its process: both look who the other is, and it may be a long one.
const SHOWN_WITHIN: Duration = Duration::from_secs(15);
/// Commands that may wait for one process.
const MAX_ORDERS: usize = 256;
/// What we are called there.
const VISITOR: &str = "visitor";

/// Gives the way to the process that has a session open, with its native role; `false` where no question can be answered here.
pub type Visits = Arc<dyn Fn(SessionId, bool) -> Visit + Send + Sync>;
/// The way there, or why there is none.
pub type Visit = Pin<Box<dyn Future<Output = Result<RemoteSeat, String>> + Send>>;

/// The visits under way.
#[derive(Default)]
pub(super) struct Visiting {
    port: Option<Visits>,
    visits: BTreeMap<SessionId, Seen>,
    /// Tells a visit from an earlier one to the same session.
    next: u64,
    tasks: JoinSet<()>,
}

/// A visit as the shell sees it; dropped, it ends.
struct Seen {
    number: u64,
    commands: mpsc::Sender<(Ticket, Command)>,
}

/// What a visit says.
pub(super) enum FromVisit {
    /// How the session stands, for who asked, or why it is not shown.
    Shown(RequestId, Result<(Box<State>, Board), String>),
    News(News),
}

impl Visiting {
    /// Visits by this port.
    pub(super) fn by(port: Visits) -> Visiting {
        Visiting { port: Some(port), ..Visiting::default() }
    }

    /// Lets all processes go, and waits until they have heard it.
    pub(super) async fn end(&mut self) {
        self.visits.clear();
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        let _ = timeout(2 * super::LAST_WORDS, ended).await;
    }

    /// Lets the process of a session go.
    pub(super) fn leave(&mut self, session: &SessionId) {
        self.visits.remove(session);
        while self.tasks.try_join_next().is_some() {}
    }

    /// Whether a session is visited.
    pub(super) fn has(&self, session: &SessionId) -> bool {
        self.visits.contains_key(session)
    }
}

impl Shell {
    /// Looks for the process that has a session.
    pub(super) fn begin_visit(&mut self, id: RequestId, session: SessionId, answers: bool) {
        let Visiting { port, visits, next, tasks } = &mut self.visiting;
        let Some(port) = port else {
            let nobody = Refusal::new(RefusalKind::Unsupported, "other processes are not looked for here");
            return self.work.push_back(CoreInput::Answered { id, with: Err(nobody) });
        };
        *next += 1;
        let (number, (commands, ordered)) = (*next, mpsc::channel(MAX_ORDERS));
        visits.insert(session.clone(), Seen { number, commands });
        let (way, hub, log) = (port(session.clone(), answers), self.hub.clone(), self.log.clone());
        tasks.spawn(Visitor { session, number, hub }.visit(id, way, ordered, log));
    }

    /// Passes what is wanted in a visited session on.
    pub(super) fn order_visit(&mut self, session: &SessionId, order: Order) {
        let Order::Consult { ticket, command, .. } = order else { return };
        let Some(seen) = self.visiting.visits.get(session) else { return };
        if seen.commands.try_send((ticket, command)).is_err() {
            let refusal =
                Refusal::new(RefusalKind::TooMany, "too many commands wait for the process of this session");
            let with = Err(refusal.hint("wait for the answers to those before"));
            self.work.push_back(CoreInput::Report(Report::Settled { ticket, with }));
        }
    }

    /// A visit said something.
    pub(super) fn heard_of_visit(&mut self, session: SessionId, number: u64, said: FromVisit) {
        let is_there = self.visiting.visits.get(&session).is_some_and(|seen| seen.number == number);
        let input = match said {
            FromVisit::Shown(id, Ok((state, board))) if is_there => {
                CoreInput::Answered { id, with: Ok(Answer::Visited(Box::new((*state, board)))) }
            }
            FromVisit::Shown(id, shown) => {
                self.visiting.leave(&session);
                let why = shown.err().unwrap_or_default();
                CoreInput::Answered { id, with: Err(Refusal::new(RefusalKind::Lost, why)) }
            }
            FromVisit::News(_) if !is_there => return,
            // Said with what to do in [`CoreInput::VisitOver`].
            FromVisit::News(News::Signal { signal: Signal::Notify { text, .. }, .. })
                if text.starts_with(GONE) =>
            {
                return;
            }
            FromVisit::News(News::Attached { session: at, replay, board, .. }) if at == session => {
                CoreInput::Mirror { session, state: Box::new(built(replay)), board }
            }
            FromVisit::News(News::Happened { session: at, event }) if at == session => {
                CoreInput::MirrorEvent { session, event }
            }
            FromVisit::News(News::Signal { session: at, signal }) if at == session => {
                CoreInput::Report(Report::Signal { session, signal })
            }
            FromVisit::News(News::Settled { ticket, with }) => {
                CoreInput::Report(Report::Settled { ticket, with })
            }
            FromVisit::News(News::Link(LinkState::Lost(why))) => CoreInput::VisitOver { session, why },
            FromVisit::News(_) => return,
        };
        self.work.push_back(input);
    }
}

/// A state from nothing.
fn built(replay: Vec<(Millis, Body)>) -> State {
    let mut state = State::new();
    for (at, body) in replay {
        // What does not follow is not of this session; the hash on the wire tells.
        let _ = state.apply(at, &body);
    }
    state
}

/// One visit, on a task of its own.
struct Visitor {
    session: SessionId,
    number: u64,
    hub: Hub,
}

impl Visitor {
    async fn visit(
        self,
        id: RequestId,
        way: Visit,
        mut ordered: mpsc::Receiver<(Ticket, Command)>,
        log: Log,
    ) {
        let seat = match timeout(SHOWN_WITHIN, way).await {
            Ok(Ok(seat)) => seat,
            Ok(Err(why)) => return self.tell(FromVisit::Shown(id, Err(why))).await,
            Err(_) => return self.tell(FromVisit::Shown(id, Err(silent()))).await,
        };
        let setup = Setup::new(Engine::Mirrored, "/", self.number);
        let there =
            Hub::start(setup, Box::new(MemoryStore::default()), EngineSeat::Remote(Box::new(seat)), log);
        self.stay(id, &there, &mut ordered).await;
        there.stop().await;
    }

    /// Carries what is wanted there and what happens back, until one side has enough.
    async fn stay(&self, id: RequestId, there: &Hub, ordered: &mut mpsc::Receiver<(Ticket, Command)>) {
        let Ok(mut ui) = there.attach(VISITOR, Standing::Controller, Answers::ON_SCREEN, None).await else {
            return;
        };
        let shown = async {
            loop {
                match ui.news.recv().await {
                    Some(News::Attached { session, replay, board, .. }) if session == self.session => {
                        return Ok((Box::new(built(replay)), board));
                    }
                    Some(News::Link(LinkState::Lost(why))) => return Err(why),
                    Some(_) => {}
                    None => return Err(silent()),
                }
            }
        };
        let shown = timeout(SHOWN_WITHIN, shown).await.unwrap_or_else(|_| Err(silent()));
        let is_shown = shown.is_ok();
        self.tell(FromVisit::Shown(id, shown)).await;
        if !is_shown {
            return;
        }
        loop {
            tokio::select! {
                command = ordered.recv() => {
                    let Some((ticket, command)) = command else { return };
                    let target = Target::Session(self.session.clone());
                    let _ = ui.port.command(ticket, target, command).await;
                }
                news = ui.news.recv() => {
                    let ended = || News::Link(LinkState::Lost("it reads too slowly here".to_owned()));
                    let is_over = news.is_none();
                    self.tell(FromVisit::News(news.unwrap_or_else(ended))).await;
                    if is_over {
                        return;
                    }
                }
            }
        }
    }

    async fn tell(&self, said: FromVisit) {
        let _ = self.hub.inbox.send(Inbox::Visit(self.session.clone(), self.number, said)).await;
    }
}

fn silent() -> String {
    "its process does not answer".to_owned()
}
