//! The hub's shell: one task that owns the core, the roles and what each link still has to be told.
//!
//! Each round: take what came in, let the core decide, hand what happened to the store, tell the engine and the UIs what nothing has to
//! be kept for any more. What roles answer to that is taken in the same round. The store works on a thread of its own (`archive.rs`);
//! its answers are one more thing that comes in. While it keeps something of a session, that session stands still: inputs about it wait
//! (`held.rs`), and nobody is told what waits for it. Everybody else goes on.
//!
//! Invariants: nothing is told before it is kept; inputs about one session, or from one UI, are taken in order; a UI that reads slowly
//! delays nobody, and neither does a disk, but those who wait for it; every queue is bounded.

mod archive;
mod clock;
mod farewell;
mod files;
mod fleet;
mod held;
mod hub;
mod keeper;
mod machine;
mod past;
mod remote;
mod round;
mod seat;
mod step_down;
mod visits;

use crate::core::{Core, CoreInput, LiveSession, Standing};
use archive::{Archive, Finished};
use clock::Clock;
use domain::command::{Command, Target};
use domain::errand::{ErrandId, ErrandNews, ErrandOrder};
use domain::ids::{AskId, SessionId, UiId};
use domain::port::{Kept, News, Order, Report, Ticket};
use domain::session::Origin;
use held::{Arrival, HeldInputs};
use keeper::Keeper;
use link::{Incoming, LinkIo, Outgoing};
use remote::Remote;
use roles::{Answers, Lane, Line, UiRole};
use seat::{Round, Seat, Tell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use store::Opened;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::Instant;
use visits::{FromVisit, Visiting};
use wire::lines::Frame;

pub use files::Files;
pub use hub::{Guest, Hub, LOCAL_NEWS, LocalPort, LocalUi, Stopped};
pub use machine::{Machine, Pace, Wait};
pub use visits::{Visit, Visits};

/// Messages that may wait for the hub; past it whoever sends has to wait.
pub const INBOX: usize = 1024;
/// Most messages taken in one round, so that one commit carries many.
const ROUND: usize = 256;
/// Ticket of the command that a UI starts with; no role uses it. A UI of ours hears of it only when it was refused.
const START: Ticket = Ticket(u64::MAX);
/// How long a link that ends may take to write what waits.
const LAST_WORDS: Duration = Duration::from_secs(2);
/// How long the end of the program waits for the store: long enough to find out that it does not answer.
const REST: Duration = keeper::WRITE_PATIENCE.saturating_add(Duration::from_secs(1));

/// A report of an engine, and where to say what became of it.
pub type Reported = (Report, Option<oneshot::Sender<Kept>>);

/// A line for the log.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// That the sessions of a foreign runtime are kept, and as whose.
pub struct ForeignKeeping {
    /// The runtime, without the name of a session.
    pub origin: Origin,
    /// The kept session to go on with, which the store has open for writing.
    pub kept: Option<(SessionId, Opened)>,
}

/// Who does the runs, as the shell reaches it.
pub enum EngineSeat {
    /// Our agent: orders go there, reports come to [`Hub::reports`].
    Driven(mpsc::Sender<Order>),
    /// A foreign runtime behind a role.
    Remote(Box<RemoteSeat>),
}

/// A foreign runtime behind a role.
pub struct RemoteSeat {
    pub role: Box<dyn UiRole>,
    /// The way there.
    pub link: LinkIo,
    pub hello: roles::Hello,
    /// Whether its wire is lossless ([`Engine::Mirrored`]).
    pub lossless: bool,
    /// Who does its errands, where somebody does.
    pub errands: Option<ErrandPort>,
    /// The end of what it wrote beside its wire, where that is known: it explains why nothing comes.
    pub last_lines: Option<LastLines>,
    /// Tells why its link is over, where more can be known than that.
    pub ended: Option<Ended>,
    /// Knows the greetings of other wires.
    pub stranger: Option<Stranger>,
}

/// Tells of a line that came before a greeting as what its runtime speaks, where that is surely not what was meant.
pub type Stranger = Box<dyn Fn(&str) -> Option<String> + Send>;

/// How a program ended, in words; takes a moment, once its link is over.
pub type Ended = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// Tells the last lines that a program wrote beside its wire.
pub type LastLines = Arc<dyn Fn() -> Vec<String> + Send + Sync>;

/// The way to whoever does the errands of a foreign runtime.
pub struct ErrandPort {
    pub orders: mpsc::Sender<ErrandOrder>,
    pub news: mpsc::Receiver<(ErrandId, ErrandNews)>,
}

enum Inbox {
    Guest(Guest, oneshot::Sender<UiId>),
    Connected(UiId, Lane, Outgoing),
    Incoming(UiId, Incoming, Room),
    Local(LocalGuest),
    LocalCommand(UiId, Ticket, Target, Command),
    LocalCannotAnswer(UiId, SessionId, AskId),
    LocalLeft(UiId),
    FromRemote(Incoming, Room),
    Errand(ErrandId, ErrandNews),
    Visit(SessionId, u64, FromVisit),
    Reported(Reported, Room),
    Drained(UiId),
    Idle(oneshot::Sender<()>),
    Farewell(UiId, oneshot::Sender<()>),
    Present(oneshot::Sender<Vec<LiveSession>>),
    Visiting(oneshot::Sender<bool>),
    TheirSession(oneshot::Sender<Option<Arc<str>>>),
    LostEarly(oneshot::Sender<String>),
    Lost(oneshot::Sender<String>),
    End(oneshot::Sender<()>),
    Stop(oneshot::Sender<()>),
}

/// The room that something takes until the hub has dealt with it.
type Room = Option<OwnedSemaphorePermit>;

struct LocalGuest {
    name: String,
    standing: Standing,
    answers: Answers,
    start: Option<Command>,
    news: mpsc::Sender<News>,
    number: oneshot::Sender<UiId>,
}

struct Shell {
    core: Core,
    keeper: Keeper,
    archive: Archive,
    engine: Option<mpsc::Sender<Order>>,
    /// The engine takes no order just now: nothing more is taken in that could lead to one.
    engine_full: bool,
    remote: Option<Remote>,
    visiting: Visiting,
    seats: BTreeMap<UiId, Seat>,
    /// What UIs say before they are told where they begin, with the room that it takes.
    unheard: BTreeMap<UiId, VecDeque<(Incoming, Room)>>,
    /// The same of a runtime, until it is known what is kept of its session.
    unheard_runtime: VecDeque<(Incoming, Room)>,
    next_ui: u64,
    clock: Clock,
    wake: Option<Instant>,
    /// When the store was tended last.
    tended: Instant,
    orders: VecDeque<Order>,
    work: VecDeque<CoreInput>,
    later: VecDeque<CoreInput>,
    held: HeldInputs,
    /// Deadlines were not looked at because something came before them that is held.
    tick_owed: bool,
    acks: Vec<AwaitedReport>,
    /// What those are told who watch which sessions are open.
    fleet: fleet::Pace,
    /// Why the foreign runtime is to be let go.
    let_go: Option<String>,
    /// Sessions that are no longer open here; the store lets go of each when it has all of it.
    leaving: BTreeSet<SessionId>,
    /// Who waits for all runs to end.
    idle: Vec<oneshot::Sender<()>>,
    /// Who waits for the loss of a runtime that has not told what it can do.
    losses: Vec<oneshot::Sender<String>>,
    /// Who waits for the end of the runtime, whenever it comes.
    ends: Vec<oneshot::Sender<String>>,
    /// UIs that have said their last word and still listen.
    farewells: Vec<(UiId, oneshot::Sender<()>)>,
    log: Log,
    hub: Hub,
}

/// An engine that waits to hear whether its report is kept.
struct AwaitedReport {
    ack: oneshot::Sender<Kept>,
    session: SessionId,
    accepted: bool,
}

/// Why the hub goes on.
enum WakeReason {
    Message(Option<Inbox>),
    Store(Option<Finished>),
    Engine,
    Time,
}

impl Shell {
    fn new(
        core: Core,
        (keeper, archive): (Keeper, Archive),
        engine: EngineSeat,
        log: Log,
        hub: Hub,
    ) -> Shell {
        let (engine, remote) = match engine {
            EngineSeat::Driven(orders) => (Some(orders), None),
            EngineSeat::Remote(seat) => (None, Some(Remote::new(*seat, hub.clone()))),
        };
        Shell {
            core,
            keeper,
            archive,
            engine,
            engine_full: false,
            remote,
            visiting: Visiting::default(),
            seats: BTreeMap::new(),
            unheard: BTreeMap::new(),
            unheard_runtime: VecDeque::new(),
            next_ui: 0,
            clock: Clock::start(),
            wake: None,
            tended: Instant::now(),
            orders: VecDeque::new(),
            work: VecDeque::new(),
            later: VecDeque::new(),
            held: HeldInputs::default(),
            tick_owed: false,
            acks: Vec::new(),
            fleet: fleet::Pace::default(),
            let_go: None,
            leaving: BTreeSet::new(),
            idle: Vec::new(),
            losses: Vec::new(),
            ends: Vec::new(),
            farewells: Vec::new(),
            log,
            hub,
        }
    }

    /// Lets it run on a machine that is simulated.
    fn on(&mut self, machine: Machine) {
        self.clock = Clock::at(machine.wall);
        self.archive.calls = machine::Calls::Paced(machine.pace);
    }

    async fn run(mut self, mut messages: mpsc::Receiver<Inbox>, kept: Option<(SessionId, Opened)>) {
        self.open_remote(kept);
        self.settle_round();
        loop {
            let woken = self.woken(Some(&mut messages), None).await;
            let mut next = match woken {
                WakeReason::Message(None) => break,
                WakeReason::Message(Some(message)) => Some(message),
                WakeReason::Store(finished) => {
                    self.take_back(finished);
                    None
                }
                WakeReason::Engine | WakeReason::Time => None,
            };
            let (mut stopped, mut ended) = (None, None);
            for _ in 0..ROUND {
                if self.engine_full && next.is_none() {
                    break;
                }
                let Some(message) = next.take().or_else(|| messages.try_recv().ok()) else { break };
                if let Inbox::Stop(done) = message {
                    stopped = Some(done);
                    break;
                }
                if let Inbox::End(done) = message {
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
            self.settle_round();
            if let Some(done) = ended {
                self.end().await;
                let _ = done.send(());
            }
            if let Some(done) = stopped {
                self.close().await;
                let _ = done.send(());
                break;
            }
        }
    }

    /// Waits for whatever comes first; `messages` are left alone while the engine takes nothing more.
    async fn woken(
        &mut self,
        messages: Option<&mut mpsc::Receiver<Inbox>>,
        latest: Option<Instant>,
    ) -> WakeReason {
        let timers = self
            .seats
            .values()
            .filter_map(Seat::next_timer)
            .chain(self.remote.iter().filter_map(Remote::next_timer));
        let tend = self.keeper.is_tended().then(|| self.tended + store::TEND_EVERY);
        // Who rests waits for the store and for nothing else.
        let timers = timers.chain(self.wake).chain(self.fleet.due()).chain(tend).filter(|_| latest.is_none());
        let patience = self.keeper.deadline().into_iter().chain(self.archive.deadline());
        let until = timers.chain(patience).chain(latest).min();
        let (working, engine) = (self.archive.is_working(), self.engine.clone().filter(|_| self.engine_full));
        let engine_full = self.engine_full;
        tokio::select! {
            biased;
            finished = self.archive.finished(), if working => WakeReason::Store(finished),
            () = room_for_orders(engine.as_ref()), if engine_full => {
                self.engine_full = false;
                WakeReason::Engine
            }
            message = receive(messages), if !engine_full => WakeReason::Message(message),
            () = wait_until(until) => WakeReason::Time,
        }
    }

    /// Waits until the store has nothing more to do and nothing is held, or for as long as a program that ends can wait.
    async fn rest(&mut self) {
        let latest = Instant::now() + REST;
        loop {
            self.settle_round();
            let busy = self.archive.has_work() || !self.held.is_empty() || self.engine_full;
            if !busy || Instant::now() >= latest {
                return;
            }
            if let WakeReason::Store(finished) = self.woken(None, Some(latest)).await {
                self.take_back(finished);
            }
            self.give_up(Instant::now());
        }
    }

    /// Closes every run in the record; links are closed once that is kept and told.
    async fn end(&mut self) {
        self.rest().await;
        self.perform(CoreInput::Ending.into());
        self.rest().await;
        for ui in self.seats.keys().copied().collect::<Vec<_>>() {
            self.leave(ui);
        }
        self.settle_round();
    }

    /// Keeps what is not kept yet and lets go of the store and of a foreign runtime.
    async fn close(&mut self) {
        self.keeper.flush();
        self.rest().await;
        let open: Vec<SessionId> = self.keeper.open_sessions().collect();
        self.archive.close_all(open.into_iter(), &self.core);
        self.rest().await;
        self.archive.shut();
        if let Some(remote) = &mut self.remote {
            remote.end(self.clock.now()).await;
        }
        self.visiting.end().await;
    }

    fn message(&mut self, message: Inbox) {
        match message {
            Inbox::Guest(guest, number) => {
                let ui = self.mint_ui();
                let answers = guest.role.can_answer();
                self.work.push_back(CoreInput::Arrived {
                    ui,
                    name: format!("{}#{}", guest.name, ui.0),
                    answers,
                    standing: guest.standing,
                });
                self.start_with(ui, guest.start.clone());
                // A foreign runtime may take its time to answer; it hears what its UIs say meanwhile.
                let starts = guest.start.is_some() && self.remote.is_none();
                self.seats.insert(ui, Seat::role(guest, starts));
                let _ = number.send(ui);
            }
            Inbox::Connected(ui, lane, outgoing) => self.connected(ui, lane, outgoing),
            Inbox::Incoming(ui, incoming, room) => {
                if self.unheard.contains_key(&ui) || self.seats.get(&ui).is_some_and(Seat::is_starting) {
                    self.unheard.entry(ui).or_default().push_back((incoming, room));
                } else {
                    self.incoming(ui, incoming);
                }
            }
            Inbox::Local(guest) => {
                let ui = self.mint_ui();
                let LocalGuest { name, standing, answers, start, news, number } = guest;
                self.work.push_back(CoreInput::Arrived { ui, name, answers, standing });
                self.start_with(ui, start);
                self.seats.insert(ui, Seat::local(news));
                let _ = number.send(ui);
                self.tell_lost(ui);
            }
            Inbox::LocalCommand(ui, ticket, target, command) => {
                self.work.push_back(CoreInput::Command { ui, ticket, target, command });
            }
            Inbox::LocalCannotAnswer(ui, session, ask) => {
                self.work.push_back(CoreInput::CannotAnswer { ui, session, ask });
            }
            Inbox::LocalLeft(ui) => self.leave(ui),
            Inbox::FromRemote(incoming, room) => {
                if self.core.is_finding() || !self.unheard_runtime.is_empty() {
                    self.unheard_runtime.push_back((incoming, room));
                } else {
                    self.heard_from_runtime(incoming);
                }
            }
            Inbox::Errand(id, news) => self.heard_of_errand(id, news),
            Inbox::Visit(session, number, said) => self.heard_of_visit(session, number, said),
            Inbox::Reported((report, ack), room) => {
                self.take(Arrival::report(CoreInput::Report(report), ack, room));
            }
            Inbox::Drained(ui) => {
                if let Some(seat) = self.seats.get_mut(&ui) {
                    seat.drained();
                }
                self.fleet_changed();
            }
            Inbox::Idle(waiting) => self.idle.push(waiting),
            Inbox::Farewell(ui, waiting) => {
                self.with_seat(ui, Seat::last_word);
                self.farewells.push((ui, waiting));
            }
            Inbox::Present(asking) => {
                let _ = asking.send(self.core.present());
            }
            Inbox::Visiting(asking) => {
                let _ = asking.send(self.core.is_visiting());
            }
            Inbox::TheirSession(asking) => {
                let _ = asking.send(self.remote.as_ref().and_then(Remote::their_session));
            }
            Inbox::LostEarly(waiting) => {
                self.losses.push(waiting);
                self.tell_loss();
            }
            Inbox::Lost(waiting) => {
                self.ends.push(waiting);
                self.tell_end();
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
            self.work.push_back(CoreInput::Command { ui, ticket: START, target: Target::Current, command });
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

    /// Lets a UI go that may come back.
    fn leave(&mut self, ui: UiId) {
        if let Some(mut seat) = self.seats.remove(&ui) {
            seat.close(self.clock.now());
            self.work.push_back(CoreInput::Left { ui });
        }
    }

    /// A UI went by itself.
    fn went(&mut self, ui: UiId) {
        if let Some(mut seat) = self.seats.remove(&ui) {
            let comes_back = seat.close(self.clock.now());
            self.work.push_back(if comes_back { CoreInput::Left { ui } } else { CoreInput::Gone { ui } });
        }
    }

    /// Lets a seat do something; `false` when the UI is gone.
    fn with_seat(&mut self, ui: UiId, serve: impl FnOnce(&mut Seat, &mut Round<'_>) -> bool) -> bool {
        let now = self.clock.now();
        let Shell { seats, core, keeper, work, log, hub, .. } = self;
        let Some(seat) = seats.get_mut(&ui) else { return true };
        serve(seat, &mut Round { ui, now, core, keeper, work, log, hub })
    }

    fn connected(&mut self, ui: UiId, lane: Lane, outgoing: Outgoing) {
        self.with_seat(ui, |seat, round| {
            seat.connected(round, lane, outgoing);
            true
        });
        self.tell_lost(ui);
    }

    fn incoming(&mut self, ui: UiId, incoming: Incoming) {
        let stays = self.with_seat(ui, |seat, round| match incoming {
            Incoming::Frame { lane, frame } => match line(frame) {
                Some(line) => seat.line(round, lane, line),
                None => true,
            },
            Incoming::Closed { lane, .. } => seat.disconnected(round, lane),
        });
        if !stays {
            self.went(ui);
        }
    }

    fn time_passed(&mut self) {
        let instant = Instant::now();
        if self.wake.is_some_and(|wake| wake <= instant) {
            self.wake = None;
            self.tick();
        }
        for ui in self.seats.keys().copied().collect::<Vec<_>>() {
            if !self.with_seat(ui, |seat, round| seat.fire(round, instant)) {
                self.went(ui);
            }
        }
        self.tell_fleet(instant);
        self.fire_remote(instant);
        self.give_up(instant);
        if self.keeper.is_tended() && self.tended + store::TEND_EVERY <= instant {
            self.tended = instant;
            self.keeper.flush();
            self.ask_to_append();
            if self.keeper.open_sessions().next().is_some() {
                self.archive.tend();
            }
        }
    }
}

async fn receive(messages: Option<&mut mpsc::Receiver<Inbox>>) -> Option<Inbox> {
    match messages {
        Some(messages) => messages.recv().await,
        None => std::future::pending().await,
    }
}

async fn room_for_orders(engine: Option<&mpsc::Sender<Order>>) {
    if let Some(engine) = engine {
        // An engine that has stopped has room: what it is told is dropped.
        drop(engine.reserve().await);
    }
}

async fn wait_until(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
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
