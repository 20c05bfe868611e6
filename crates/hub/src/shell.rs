//! The hub's shell: one task that owns the core, the store, the roles and what each link still has to be told.
//!
//! Each round: take what came in, let the core decide, keep what happened, tell the engine, then tell the UIs. What roles answer to
//! that is taken in the same round. Invariants: nothing is told before it is kept; a UI that reads slowly delays nobody; every
//! queue is bounded.

mod clock;
mod farewell;
mod files;
mod keeper;
mod remote;
mod seat;

use crate::core::{Core, Engine, In, LiveSession, Out, Setup, Standing};
use clock::Clock;
use domain::command::{Command, Target};
use domain::ids::{SessionId, UiId};
use domain::port::{Kept, News, Order, Report, Ticket};
use files::Cabinet;
use keeper::Keeper;
use link::{Incoming, LinkIo, Outgoing};
use remote::Remote;
use roles::{Answers, Greeting, Lane, Line, RuntimeRole, UiRole};
use seat::{Seat, Tell};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use store::Store;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::Instant;
use wire::lines::Frame;

pub use files::Files;
pub use keeper::UNSAVED;

/// Messages that may wait for the hub; past it whoever sends has to wait.
pub const INBOX: usize = 1024;
/// Bytes of lines from all peers that may wait for the hub, in [`ROOM_UNIT`]s; past it whoever sends has to wait.
const LINE_ROOM: usize = 16 * 1024;
/// The unit in which room for lines is given; a line takes at least one.
const ROOM_UNIT: usize = 1024;
/// Most messages taken in one round, so that one commit carries many.
const ROUND: usize = 256;
/// News that may wait for a UI of ours in this process.
pub const LOCAL_NEWS: usize = 1024;
/// Ticket of the command that a link starts with; no role uses it.
const START: Ticket = Ticket(u64::MAX);

/// A report of an engine, and where to say what became of it.
pub type Reported = (Report, Option<oneshot::Sender<Kept>>);

/// A line for the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Who does the runs, as the shell reaches it.
pub enum EngineSeat {
    /// Our agent: orders go there, reports come to [`Hub::reports`].
    Driven(mpsc::Sender<Order>),
    /// A foreign runtime behind a role.
    Remote(Box<RemoteSeat>),
}

/// A foreign runtime behind a role.
pub struct RemoteSeat {
    /// The role.
    pub role: Box<dyn UiRole>,
    /// The way there.
    pub link: LinkIo,
    /// Who we are.
    pub hello: roles::Hello,
    /// Whether its wire is lossless ([`Engine::Mirrored`]).
    pub lossless: bool,
}

/// A UI on a link, to be served in a dialect.
pub struct Guest {
    /// The dialect's role.
    pub role: Box<dyn RuntimeRole>,
    /// For the record: the dialect's name.
    pub name: String,
    /// What it may do.
    pub standing: Standing,
    /// What it is greeted with.
    pub greeting: Greeting,
    /// What is done for it first, such as opening a session.
    pub start: Option<Command>,
    /// Whether it outlives its connections: wires on which every command may come over a connection of its own.
    pub stays: bool,
}

enum Inbox {
    Guest(Guest, oneshot::Sender<UiId>),
    Connected(UiId, Lane, Outgoing),
    Incoming(UiId, Incoming, Held),
    Local(LocalGuest),
    LocalCommand(UiId, Ticket, Target, Command),
    LocalLeft(UiId),
    FromRemote(Incoming, Held),
    Reported(Reported),
    Drained(UiId),
    Idle(oneshot::Sender<()>),
    Farewell(UiId, oneshot::Sender<()>),
    Present(oneshot::Sender<Vec<LiveSession>>),
    End(oneshot::Sender<()>),
    Stop(oneshot::Sender<()>),
}

/// The room that a line takes while it waits for the hub.
type Held = Option<OwnedSemaphorePermit>;

struct LocalGuest {
    name: String,
    standing: Standing,
    answers: Answers,
    start: Option<Command>,
    news: mpsc::Sender<News>,
    number: oneshot::Sender<UiId>,
}

/// The way into a running hub. Clones lead to the same one.
#[derive(Clone)]
pub struct Hub {
    inbox: mpsc::Sender<Inbox>,
    room: Arc<Semaphore>,
}

/// The hub is no longer there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the hub has stopped")]
pub struct Stopped;

/// A UI of ours in this process.
pub struct LocalUi {
    /// What it hears.
    pub news: mpsc::Receiver<News>,
    /// The way to command.
    pub port: LocalPort,
}

/// The way to command for a UI in this process. Dropping the last one lets the UI leave.
#[derive(Clone)]
pub struct LocalPort {
    ui: UiId,
    inbox: mpsc::Sender<Inbox>,
    _left: Arc<LeftOnDrop>,
}

struct LeftOnDrop {
    ui: UiId,
    inbox: mpsc::Sender<Inbox>,
}

impl Drop for LeftOnDrop {
    fn drop(&mut self) {
        // A full inbox is no reason to stay: the hub also notices that nobody listens any more.
        let _ = self.inbox.try_send(Inbox::LocalLeft(self.ui));
    }
}

impl LocalPort {
    /// Gives a command; the answer comes as [`News::Settled`] with this ticket.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn command(&self, ticket: Ticket, target: Target, command: Command) -> Result<(), Stopped> {
        let message = Inbox::LocalCommand(self.ui, ticket, target, command);
        self.inbox.send(message).await.map_err(|_| Stopped)
    }
}

impl Hub {
    /// Starts a hub as a task of the current runtime.
    pub fn start(setup: Setup, store: Box<dyn Store>, engine: EngineSeat, log: Log) -> Hub {
        Hub::start_with(setup, store, engine, Files::default(), log)
    }

    /// The same, with further places for sessions as files.
    pub fn start_with(
        setup: Setup,
        store: Box<dyn Store>,
        engine: EngineSeat,
        files: Files,
        log: Log,
    ) -> Hub {
        let (inbox, messages) = mpsc::channel(INBOX);
        let hub = Hub { inbox, room: Arc::new(Semaphore::new(LINE_ROOM)) };
        let place = export::Place { cwd: setup.cwd.clone(), project: setup.project.clone() };
        let keeper = Keeper::new(store, Cabinet::new(files, place), setup.engine == Engine::Driven);
        let shell = Shell::new(setup, keeper, engine, log, hub.clone());
        tokio::spawn(shell.run(messages));
        hub
    }

    /// Serves a UI on a link until the link ends.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn serve(&self, guest: Guest, link: LinkIo) -> Result<(), Stopped> {
        let ui = self.seat(guest).await?;
        self.connect(ui, Lane::MAIN, link).await
    }

    /// Makes room for a UI whose connections come one by one ([`Hub::connect`]).
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn seat(&self, guest: Guest) -> Result<UiId, Stopped> {
        let (number, seated) = oneshot::channel();
        self.inbox.send(Inbox::Guest(guest, number)).await.map_err(|_| Stopped)?;
        seated.await.map_err(|_| Stopped)
    }

    /// Moves what comes over one connection of a UI until it ends.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn connect(&self, ui: UiId, lane: Lane, link: LinkIo) -> Result<(), Stopped> {
        self.connect_after(ui, lane, link, Vec::new()).await
    }

    /// The same, when something was heard on the link before it was known whose it is.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn connect_after(
        &self,
        ui: UiId,
        lane: Lane,
        mut link: LinkIo,
        heard: Vec<Incoming>,
    ) -> Result<(), Stopped> {
        self.inbox.send(Inbox::Connected(ui, lane, link.outgoing.clone())).await.map_err(|_| Stopped)?;
        for incoming in heard {
            self.hand_over(incoming, |incoming, held| Inbox::Incoming(ui, incoming, held)).await?;
        }
        let ours = link.outgoing.clone();
        loop {
            // A peer that said goodbye may keep its end open for as long as it likes: it waits for us to go.
            let incoming = tokio::select! {
                incoming = link.incoming.recv() => incoming,
                () = ours.closing() => None,
            };
            let Some(incoming) = incoming else { break };
            if let Incoming::Closed { reason: link::Ending::Eof, .. } = &incoming {
                self.farewell(ui, lane, &ours).await;
            }
            self.hand_over(incoming, |incoming, held| Inbox::Incoming(ui, incoming, held)).await?;
        }
        link.shutdown(LAST_WORDS).await;
        Ok(())
    }

    /// Gives what a peer said to the hub, once there is room for it.
    async fn hand_over(
        &self,
        incoming: Incoming,
        message: impl FnOnce(Incoming, Held) -> Inbox,
    ) -> Result<(), Stopped> {
        let units = match &incoming {
            Incoming::Frame { frame, .. } => (frame.len() / ROOM_UNIT).clamp(1, LINE_ROOM),
            Incoming::Closed { .. } => 1,
        };
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        let held = self.room.clone().acquire_many_owned(units).await.ok();
        self.inbox.send(message(incoming, held)).await.map_err(|_| Stopped)
    }

    /// Attaches a UI of this process.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn attach(
        &self,
        name: &str,
        standing: Standing,
        answers: Answers,
        start: Option<Command>,
    ) -> Result<LocalUi, Stopped> {
        let (sender, news) = mpsc::channel(LOCAL_NEWS);
        let (number, seated) = oneshot::channel();
        let guest = LocalGuest { name: name.to_owned(), standing, answers, start, news: sender, number };
        self.inbox.send(Inbox::Local(guest)).await.map_err(|_| Stopped)?;
        let ui = seated.await.map_err(|_| Stopped)?;
        let left = Arc::new(LeftOnDrop { ui, inbox: self.inbox.clone() });
        Ok(LocalUi { news, port: LocalPort { ui, inbox: self.inbox.clone(), _left: left } })
    }

    /// Takes the reports of an engine in, until it ends.
    pub async fn reports(&self, mut reports: mpsc::Receiver<Reported>) {
        while let Some(reported) = reports.recv().await {
            if self.inbox.send(Inbox::Reported(reported)).await.is_err() {
                return;
            }
        }
    }

    /// Waits until no run is under way.
    pub async fn idle(&self) {
        let (done, idle) = oneshot::channel();
        if self.inbox.send(Inbox::Idle(done)).await.is_ok() {
            let _ = idle.await;
        }
    }

    /// The sessions that are open, each with who sees it.
    ///
    /// # Errors
    /// When the hub has stopped.
    pub async fn present(&self) -> Result<Vec<LiveSession>, Stopped> {
        let (asking, present) = oneshot::channel();
        self.inbox.send(Inbox::Present(asking)).await.map_err(|_| Stopped)?;
        present.await.map_err(|_| Stopped)
    }

    /// Ends every run in the record, tells the UIs, and closes their links once that is written. For a program that is told to stop.
    pub async fn end(&self) {
        let (done, ended) = oneshot::channel();
        if self.inbox.send(Inbox::End(done)).await.is_ok() {
            let _ = ended.await;
        }
    }

    /// Keeps what is not kept yet and stops.
    pub async fn stop(&self) {
        let (done, stopped) = oneshot::channel();
        if self.inbox.send(Inbox::Stop(done)).await.is_ok() {
            let _ = stopped.await;
        }
    }
}

/// How long a link that ends may take to write what waits.
const LAST_WORDS: std::time::Duration = std::time::Duration::from_secs(2);

struct Shell {
    core: Core,
    keeper: Keeper,
    engine: Option<mpsc::Sender<Order>>,
    remote: Option<Remote>,
    seats: BTreeMap<UiId, Seat>,
    next_ui: u64,
    clock: Clock,
    wake: Option<Instant>,
    orders: VecDeque<Order>,
    work: VecDeque<In>,
    later: VecDeque<In>,
    acks: Vec<Awaited>,
    /// Why the foreign runtime is to be let go.
    let_go: Option<String>,
    /// Who waits for all runs to end.
    idle: Vec<oneshot::Sender<()>>,
    /// UIs that have said their last word and still listen.
    farewells: Vec<(UiId, oneshot::Sender<()>)>,
    log: Log,
    hub: Hub,
}

impl Shell {
    fn new(setup: Setup, keeper: Keeper, engine: EngineSeat, log: Log, hub: Hub) -> Shell {
        let (engine, remote) = match engine {
            EngineSeat::Driven(orders) => (Some(orders), None),
            EngineSeat::Remote(seat) => (None, Some(Remote::new(*seat, hub.clone()))),
        };
        Shell {
            core: Core::new(setup),
            keeper,
            engine,
            remote,
            seats: BTreeMap::new(),
            next_ui: 0,
            clock: Clock::start(),
            wake: None,
            orders: VecDeque::new(),
            work: VecDeque::new(),
            later: VecDeque::new(),
            acks: Vec::new(),
            let_go: None,
            idle: Vec::new(),
            farewells: Vec::new(),
            log,
            hub,
        }
    }

    async fn run(mut self, mut messages: mpsc::Receiver<Inbox>) {
        self.open_remote();
        self.settle_round().await;
        loop {
            let tend = Instant::now() + store::TEND_EVERY;
            let timers = self
                .seats
                .values()
                .filter_map(Seat::next_timer)
                .chain(self.remote.iter().filter_map(Remote::next_timer));
            let due = timers.chain(self.wake).min();
            let until = due.map_or(tend, |due| due.min(tend));
            let idle = due.is_none() && !self.keeper.is_busy();
            let first = if idle {
                messages.recv().await
            } else {
                match tokio::time::timeout_at(until, messages.recv()).await {
                    Ok(first) => first,
                    Err(_) => {
                        self.time_passed();
                        self.settle_round().await;
                        continue;
                    }
                }
            };
            let Some(first) = first else { break };
            let mut next = Some(first);
            let (mut stopped, mut ended) = (None, None);
            for _ in 0..ROUND {
                let Some(message) = next.take().or_else(|| messages.try_recv().ok()) else { break };
                if let Inbox::Stop(done) = message {
                    stopped = Some(done);
                    break;
                }
                if let Inbox::End(done) = message {
                    self.work.push_back(In::Ending);
                    ended = Some(done);
                    break;
                }
                // Who comes in is told where it is before it is heard: a client may speak at once and mean the session it is given.
                let came_in = matches!(message, Inbox::Connected(..));
                self.message(message);
                if came_in {
                    break;
                }
            }
            self.time_passed();
            self.settle_round().await;
            if let Some(done) = ended {
                for ui in self.seats.keys().copied().collect::<Vec<_>>() {
                    self.leave(ui);
                }
                self.settle_round().await;
                let _ = done.send(());
            }
            if let Some(done) = stopped {
                self.keeper.close(&self.core, &self.log);
                let _ = done.send(());
                break;
            }
        }
    }

    fn message(&mut self, message: Inbox) {
        match message {
            Inbox::Guest(guest, number) => {
                let ui = self.mint_ui();
                let answers = guest.role.can_answer();
                self.work.push_back(In::Arrived {
                    ui,
                    name: format!("{}#{}", guest.name, ui.0),
                    answers,
                    standing: guest.standing,
                });
                self.start_with(ui, guest.start.clone());
                self.seats.insert(ui, Seat::role(guest));
                let _ = number.send(ui);
            }
            Inbox::Connected(ui, lane, outgoing) => self.connected(ui, lane, outgoing),
            Inbox::Incoming(ui, incoming, _held) => self.incoming(ui, incoming),
            Inbox::Local(guest) => {
                let ui = self.mint_ui();
                let LocalGuest { name, standing, answers, start, news, number } = guest;
                self.work.push_back(In::Arrived { ui, name, answers, standing });
                self.start_with(ui, start);
                self.seats.insert(ui, Seat::local(news));
                let _ = number.send(ui);
                self.tell_lost(ui);
            }
            Inbox::LocalCommand(ui, ticket, target, command) => {
                self.work.push_back(In::Command { ui, ticket, target, command });
            }
            Inbox::LocalLeft(ui) => self.leave(ui),
            Inbox::FromRemote(incoming, _held) => self.heard_from_runtime(incoming),
            Inbox::Reported((report, ack)) => {
                let session = session_of(&report).cloned();
                self.decide(In::Report(report));
                if let (Some(ack), Some(session)) = (ack, session) {
                    self.acks.push(Awaited { ack, session, accepted: self.core.accepted() });
                }
            }
            Inbox::Drained(ui) => {
                if let Some(seat) = self.seats.get_mut(&ui) {
                    seat.drained();
                }
            }
            Inbox::Idle(waiting) => self.idle.push(waiting),
            Inbox::Farewell(ui, waiting) => self.farewells.push((ui, waiting)),
            Inbox::Present(asking) => {
                let _ = asking.send(self.core.present());
            }
            Inbox::End(_) | Inbox::Stop(_) => {}
        }
        while let Some(input) = self.work.pop_front() {
            self.decide(input);
        }
        if let Some(why) = self.let_go.take() {
            self.let_runtime_go(&why);
        }
    }

    fn mint_ui(&mut self) -> UiId {
        self.next_ui += 1;
        UiId(self.next_ui)
    }

    fn start_with(&mut self, ui: UiId, start: Option<Command>) {
        if let Some(command) = start {
            self.work.push_back(In::Command { ui, ticket: START, target: Target::Current, command });
        }
    }

    /// Lets the core decide and sorts what it says by whom it is for.
    fn decide(&mut self, input: In) {
        let shown = matches!(input, In::Mirror { .. } | In::Abilities(_));
        let outs = self.core.step(self.clock.now(), input, &mut self.keeper);
        self.sort(outs);
        if shown {
            // UIs must see a session as it was when it was shown (again), before the events that came right behind.
            self.pump();
        }
    }

    fn sort(&mut self, outs: Vec<Out>) {
        for out in outs {
            match out {
                Out::Append { session, event } => self.keeper.add(session, event),
                Out::Attach { ui, session } => self.tell(ui, Tell::Attach(session)),
                Out::Detach { ui, session } => self.tell(ui, Tell::Detach(session)),
                Out::Event { ui, session, event } => self.tell(ui, Tell::Event(session, event)),
                Out::Abilities { ui } => self.tell(ui, Tell::Abilities),
                Out::Signal { ui, session, signal } => self.tell(ui, Tell::Signal(session, signal)),
                Out::Settle { ui: _, ticket: START, with } => {
                    if let Err(refusal) = with {
                        (self.log)(&format!("error: {refusal}"));
                    }
                }
                Out::Settle { ui, ticket, with } => self.tell(ui, Tell::Settle(ticket, Box::new(with))),
                Out::Order(order) => self.orders.push_back(order),
                Out::Wake(at) => self.wake = Some(self.clock.instant(at)),
                Out::LetGo(why) => self.let_go = Some(why),
                Out::Again(input) => self.later.push_back(*input),
                Out::Log(line) => (self.log)(&line),
            }
        }
    }

    fn tell(&mut self, ui: UiId, tell: Tell) {
        let Some(seat) = self.seats.get_mut(&ui) else { return };
        if !seat.push(tell) {
            (self.log)(&format!(
                "{ui} reads too slowly and is disconnected; it may come back and goes on where it was"
            ));
            self.leave(ui);
        }
    }

    /// Keeps, orders, tells; and again while telling brings up something new.
    async fn settle_round(&mut self) {
        loop {
            while let Some(input) = self.work.pop_front() {
                self.decide(input);
            }
            for trouble in self.keeper.commit(&self.core, &self.log) {
                self.tell_trouble(trouble);
            }
            for Awaited { ack, session, accepted } in self.acks.drain(..) {
                let _ = ack.send(match self.keeper.trouble(&session) {
                    _ if !accepted => Kept::Late,
                    Some(why) => Kept::InMemory(why.to_owned()),
                    None => Kept::Safely,
                });
            }
            while let Some(order) = self.orders.pop_front() {
                self.order(order).await;
            }
            self.pump();
            self.work.append(&mut self.later);
            if self.work.is_empty() && self.orders.is_empty() {
                if !self.idle.is_empty() && !self.core.is_busy() {
                    for waiting in self.idle.drain(..) {
                        let _ = waiting.send(());
                    }
                }
                self.dismiss();
                return;
            }
        }
    }

    async fn order(&mut self, order: Order) {
        if let Some(engine) = &self.engine {
            if engine.send(order).await.is_err() {
                (self.log)("the engine has stopped");
            }
        } else {
            self.order_remote(order);
        }
    }

    /// Tells each UI what waits for it, as far as its link has room.
    fn pump(&mut self) {
        let now = self.clock.now();
        let mut gone = Vec::new();
        for (ui, seat) in &mut self.seats {
            let alive = seat.pump(*ui, now, &self.core, &mut self.work, &self.log, &self.hub);
            if !alive {
                gone.push(*ui);
            }
        }
        for ui in gone {
            self.leave(ui);
        }
    }

    fn leave(&mut self, ui: UiId) {
        if let Some(mut seat) = self.seats.remove(&ui) {
            seat.close(self.clock.now());
            self.work.push_back(In::Left { ui });
        }
    }

    fn connected(&mut self, ui: UiId, lane: Lane, outgoing: Outgoing) {
        let now = self.clock.now();
        if let Some(seat) = self.seats.get_mut(&ui) {
            seat.connected(ui, now, lane, outgoing, &mut self.work, &self.log);
        }
    }

    fn incoming(&mut self, ui: UiId, incoming: Incoming) {
        let now = self.clock.now();
        let Some(seat) = self.seats.get_mut(&ui) else { return };
        let stays = match incoming {
            Incoming::Frame { lane, frame } => match line(frame) {
                Some(line) => seat.line(ui, now, lane, line, &mut self.work, &self.log),
                None => true,
            },
            Incoming::Closed { lane, .. } => seat.disconnected(ui, now, lane, &mut self.work, &self.log),
        };
        if !stays {
            self.leave(ui);
        }
    }

    fn time_passed(&mut self) {
        let (instant, now) = (Instant::now(), self.clock.now());
        if self.wake.is_some_and(|wake| wake <= instant) {
            self.wake = None;
            self.work.push_back(In::Tick);
        }
        for (ui, seat) in &mut self.seats {
            seat.fire(*ui, instant, now, &mut self.work, &self.log);
        }
        self.fire_remote(instant);
        for trouble in self.keeper.tend(&self.log) {
            self.tell_trouble(trouble);
        }
    }
}

/// An engine that waits to hear whether its report is kept.
struct Awaited {
    ack: oneshot::Sender<Kept>,
    session: SessionId,
    accepted: bool,
}

/// The session that a report is about; a settlement is about a command.
fn session_of(report: &Report) -> Option<&SessionId> {
    match report {
        Report::Happened { session, .. }
        | Report::TurnDone { session, .. }
        | Report::Said { session, .. }
        | Report::Signal { session, .. } => Some(session),
        Report::Settled { .. } => None,
    }
}

/// A frame as roles see it; `None` for a piece of a line that the peer never finished.
fn line(frame: Frame) -> Option<Line> {
    match frame {
        Frame::Line(text) => Some(Line::Text(text)),
        Frame::Overlong { head, .. } => Some(Line::Overlong(head)),
        Frame::NotUtf8 { head, .. } | Frame::Nul { head, .. } => Some(Line::Garbled(head)),
        Frame::Unfinished(_) => None,
    }
}
