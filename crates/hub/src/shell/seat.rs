//! One UI's seat: its role, its connections, and what it still has to be told.
//!
//! Telling happens only while the link has room, in order, and stops at what is not kept yet ([`must_wait`]). What waits is merged
//! where it is streaming text or output, and past the bound the UI is disconnected: it can come back and goes on from where it was.

mod merged;
mod told;

use super::clock::{Timers, due};
use super::keeper::Keeper;
use super::{Guest, Hub, Inbox, Log, START};
use crate::core::{Core, CoreInput};
use domain::command::{Receipt, Refusal};
use domain::event::{AskEvent, Body, Event};
use domain::fleet::{FleetChange, Member};
use domain::ids::{Millis, SessionId, UiId};
use domain::port::{LinkState, News, Ticket};
use domain::rights::Standing;
use domain::signal::Signal;
use domain::ui_files::{FileRequest, FileRequestId, UiFiles};
use link::Outgoing;
use merged::merge;
use roles::{Answers, Cx, Greeting, Lane, Line, LinkEffect, RuntimeCx, RuntimeEffect, RuntimeRole, View};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;
use told::Told;

/// Most tells that may wait for one UI.
const MAX_WAITING: usize = 20_000;
/// Most bytes that may wait for one UI.
const MAX_WAITING_BYTES: usize = 8 * 1024 * 1024;
/// What anything that waits takes beside its text.
const TELL_BYTES: usize = 64;
/// How far back a signal is looked for that a newer one makes needless; more kinds than a board has keys do not exist.
const SIGNALS_AT_ONCE: usize = 256;

/// Something to be told to one UI.
#[derive(Debug)]
pub(super) enum Tell {
    Attach(SessionId),
    /// Whatever it was told of that is open, has ended: the session is no longer ours.
    CutShort(SessionId),
    Detach(SessionId),
    Event(SessionId, Arc<Event>),
    Signal(SessionId, Signal),
    /// It is to do something with a file.
    File {
        session: SessionId,
        id: FileRequestId,
        request: FileRequest,
    },
    Settle {
        ticket: Ticket,
        with: Box<Result<Receipt, Refusal>>,
        /// Sessions of which something must be kept first.
        after: Vec<SessionId>,
    },
    /// What the UI started with is done, once this is kept, or was refused. A UI of ours is told of that (`LocalUi::begun`); wires
    /// have no word for it, so the link is closed.
    Started {
        after: Vec<SessionId>,
        refused: Option<Refusal>,
    },
    Link(LinkState),
    /// What the runtime behind us can do.
    Abilities,
}

/// What a seat may look at and add to while it is served.
pub(super) struct Round<'a> {
    pub(super) ui: UiId,
    pub(super) now: Millis,
    pub(super) core: &'a Core,
    pub(super) keeper: &'a Keeper,
    pub(super) work: &'a mut VecDeque<CoreInput>,
    pub(super) log: &'a Log,
    pub(super) hub: &'a Hub,
}

/// One UI as the hub sees it.
pub(super) struct Seat {
    kind: Kind,
    pub(super) waiting: VecDeque<Tell>,
    pub(super) waiting_bytes: usize,
    /// Up to where each session was told; an attach tells the state, so older events that still wait are skipped.
    told: BTreeMap<SessionId, Told>,
    /// Watches for room, while there is none.
    watcher: Option<JoinSet<()>>,
    /// It was not yet told where it begins.
    starting: bool,
}

enum Kind {
    Role(Box<RoleSeat>),
    Local(mpsc::Sender<News>),
}

struct RoleSeat {
    role: Box<dyn RuntimeRole>,
    greeting: Greeting,
    links: BTreeMap<Lane, Outgoing>,
    opened: bool,
    stays: bool,
    closing: bool,
    timers: Timers,
    answers: Answers,
    /// What it wants to be held to.
    rights: Option<Standing>,
    /// It has closed its end: it listens, and can answer nothing any more.
    only_listens: bool,
    files: UiFiles,
    name: String,
    /// What it was told of the sessions that are open here, if it watches them.
    fleet: Option<Option<BTreeMap<SessionId, Member>>>,
}

impl Seat {
    /// A UI on a link. If it `starts` somewhere, it is to be told so before it is heard.
    pub(super) fn role(guest: Guest, starts: bool) -> Seat {
        let answers = guest.role.can_answer();
        let seat = RoleSeat {
            role: guest.role,
            greeting: Greeting { standing: guest.standing, ..guest.greeting },
            rights: Some(Standing::Controller),
            links: BTreeMap::new(),
            opened: false,
            stays: guest.stays,
            closing: false,
            timers: Timers::new(),
            answers,
            only_listens: false,
            files: UiFiles::default(),
            name: guest.name,
            fleet: None,
        };
        Seat { starting: starts, ..Seat::new(Kind::Role(Box::new(seat))) }
    }

    /// A UI of this process.
    pub(super) fn local(news: mpsc::Sender<News>) -> Seat {
        Seat::new(Kind::Local(news))
    }

    fn new(kind: Kind) -> Seat {
        Seat {
            kind,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            told: BTreeMap::new(),
            watcher: None,
            starting: false,
        }
    }

    /// Adds something to tell; `false` when too much waits already.
    pub(super) fn push(&mut self, tell: Tell) -> bool {
        // Who connects while it happens would hear it twice.
        let is_same =
            |before: &Tell| matches!((before, &tell), (Tell::Link(one), Tell::Link(other)) if one == other);
        if matches!(tell, Tell::Link(_)) && self.waiting.iter().any(is_same) {
            return true;
        }
        // Merged only while the link is slow: a UI that keeps up sees the stream as it was.
        let tell = if self.watcher.is_some() { self.join(tell) } else { Some(tell) };
        if let Some(tell) = tell {
            self.waiting_bytes += size(&tell);
            self.waiting.push_back(tell);
        }
        self.waiting.len() <= MAX_WAITING && self.waiting_bytes <= MAX_WAITING_BYTES
    }

    /// Puts what is told into the place of something that waits and that it goes on with or makes needless.
    fn join(&mut self, tell: Tell) -> Option<Tell> {
        let joined = match (&tell, self.waiting.back()) {
            (Tell::Event(session, event), Some(Tell::Event(last, before))) if last == session => {
                merge(before, event).map(|merged| Tell::Event(session.clone(), Arc::new(merged)))
            }
            _ => None,
        };
        if let Some(joined) = joined {
            self.waiting_bytes -= self.waiting.pop_back().as_ref().map_or(0, size);
            return Some(joined);
        }
        let Tell::Signal(session, signal) = &tell else { return Some(tell) };
        let stale = self.waiting.iter().rev().take(SIGNALS_AT_ONCE).position(
            |waiting| matches!(waiting, Tell::Signal(of, earlier) if of == session && signal.replaces(earlier)),
        );
        if let Some(stale) = stale {
            let removed = self.waiting.remove(self.waiting.len() - 1 - stale);
            self.waiting_bytes -= removed.as_ref().map_or(0, size);
        }
        Some(tell)
    }

    /// Whether something still has to be told.
    pub(super) fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether its role still owes it an answer.
    pub(super) fn is_owed(&self) -> bool {
        matches!(&self.kind, Kind::Role(seat) if seat.role.owes())
    }

    /// Whether it was not yet told where it begins: what it says meanwhile is meant there.
    pub(super) fn is_starting(&self) -> bool {
        self.starting
    }

    /// Whether it outlives its connections: one that ends is then no farewell.
    pub(super) fn stays(&self) -> bool {
        matches!(&self.kind, Kind::Role(seat) if seat.stays)
    }

    /// There is room again.
    pub(super) fn drained(&mut self) {
        self.watcher = None;
    }

    /// When its role wants to be woken next.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        match &self.kind {
            Kind::Role(seat) => seat.timers.values().min().copied(),
            Kind::Local(_) => None,
        }
    }

    /// Tells what waits while there is room and it is kept; `false` when the UI is gone.
    pub(super) fn pump(&mut self, round: &mut Round<'_>) -> bool {
        while let Some(first) = self.waiting.front() {
            match self.room() {
                LinkRoom::Gone => return false,
                LinkRoom::None => {
                    self.watch(round);
                    return true;
                }
                LinkRoom::Some => {}
            }
            if must_wait(first, round) {
                return true;
            }
            let Some(tell) = self.waiting.pop_front() else { break };
            self.waiting_bytes -= size(&tell);
            if !self.tell(round, tell) {
                return false;
            }
        }
        true
    }

    fn room(&self) -> LinkRoom {
        match &self.kind {
            Kind::Role(seat) if seat.closing => LinkRoom::Gone,
            Kind::Role(seat) if !seat.opened => LinkRoom::None,
            // Its connections are apart: one that does not keep up is closed alone, when it is full.
            Kind::Role(seat) if seat.stays => LinkRoom::Some,
            Kind::Role(seat) => {
                let full = seat.links.values().any(|link| {
                    let backlog = link.backlog();
                    backlog.lines > link::MAX_BACKLOG_LINES / 2 || backlog.bytes > link::MAX_BACKLOG_BYTES / 2
                });
                if full { LinkRoom::None } else { LinkRoom::Some }
            }
            Kind::Local(news) if news.is_closed() => LinkRoom::Gone,
            Kind::Local(news) => {
                if news.capacity() == 0 {
                    LinkRoom::None
                } else {
                    LinkRoom::Some
                }
            }
        }
    }

    /// Whether it watches which sessions are open.
    pub(super) fn watches_fleet(&self) -> bool {
        matches!(&self.kind, Kind::Role(seat) if seat.fleet.is_some())
    }

    /// Tells it what is new of the sessions that are open; `false` when the UI is gone. Without room it is told when there is some: as
    /// things stand then.
    pub(super) fn tell_fleet(&mut self, round: &mut Round<'_>, members: &[Member]) -> bool {
        match self.room() {
            LinkRoom::Gone => return false,
            LinkRoom::None => {
                self.watch(round);
                return true;
            }
            LinkRoom::Some => {}
        }
        let Kind::Role(seat) = &mut self.kind else { return true };
        let Some(told) = &mut seat.fleet else { return true };
        match FleetChange::since(told, members.to_vec()) {
            Some(change) => seat.call(round, |role, cx| role.fleet(cx, change)),
            None => true,
        }
    }

    /// Wakes the hub when there is room again.
    fn watch(&mut self, round: &Round<'_>) {
        if self.watcher.is_some() {
            return;
        }
        let mut watcher = JoinSet::new();
        let (ui, inbox) = (round.ui, round.hub.inbox.clone());
        match &self.kind {
            Kind::Role(seat) => {
                let links: Vec<Outgoing> = seat.links.values().cloned().collect();
                if links.is_empty() {
                    return;
                }
                watcher.spawn(async move {
                    for link in links {
                        link.drained().await;
                    }
                    let _ = inbox.send(Inbox::Drained(ui)).await;
                });
            }
            Kind::Local(news) => {
                let news = news.clone();
                watcher.spawn(async move {
                    drop(news.reserve().await);
                    let _ = inbox.send(Inbox::Drained(ui)).await;
                });
            }
        }
        self.watcher = Some(watcher);
    }

    fn tell(&mut self, round: &mut Round<'_>, tell: Tell) -> bool {
        let (ui, core) = (round.ui, round.core);
        match &tell {
            Tell::Attach(session) => {
                let Some(state) = core.state(session) else { return true };
                self.told.insert(session.clone(), Told::of(state));
            }
            Tell::CutShort(session) => return self.cut_short(round, session),
            Tell::Detach(session) => {
                self.told.remove(session);
            }
            Tell::Event(session, event) => {
                let told = self.told.entry(session.clone()).or_default();
                if !told.is_new(event) {
                    return true;
                }
            }
            Tell::Started { refused, .. } => {
                self.starting = false;
                let Some(refusal) = refused else { return true };
                return match &self.kind {
                    Kind::Local(news) => {
                        let told = News::Settled { ticket: START, with: Err(refusal.clone()) };
                        !matches!(news.try_send(told), Err(mpsc::error::TrySendError::Closed(_)))
                    }
                    Kind::Role(seat) => {
                        (round.log)(&format!("error: {refusal}"));
                        // What it says next would go to another session. One that serves many connections is not theirs to end.
                        seat.stays
                    }
                };
            }
            Tell::Signal(..) | Tell::File { .. } | Tell::Settle { .. } | Tell::Link(_) => {}
            // A UI of ours that was shown nothing yet learns it with the session; a wire may have to greet with it.
            Tell::Abilities if self.told.is_empty() && matches!(self.kind, Kind::Local(_)) => return true,
            Tell::Abilities => {}
        }
        let mut shown = matches!((&self.kind, &tell), (Kind::Local(_), Tell::Abilities));
        let alive = match &mut self.kind {
            Kind::Local(news) => tell_local(news, core, ui, tell),
            // Its peer could not answer.
            Kind::Role(seat) if seat.only_listens && is_question(&tell) => true,
            Kind::Role(seat) => {
                let view = |session| view(core, ui, session);
                seat.call(round, |role, cx| match &tell {
                    Tell::Attach(session) => {
                        if let Some(view) = view(session) {
                            if core.knows_runtime() {
                                role.abilities(cx, None, &core.abilities());
                            }
                            role.attached(cx, view);
                        }
                    }
                    Tell::Detach(session) => role.detached(cx, session),
                    Tell::Event(session, event) => {
                        if let Some(view) = view(session) {
                            role.event(cx, view, event);
                        }
                    }
                    Tell::Signal(session, signal) => {
                        if let Some(view) = view(session) {
                            role.signal(cx, view, signal);
                        }
                    }
                    Tell::File { session, id, request } => role.file(cx, session, *id, request),
                    Tell::Settle { ticket, with, .. } => {
                        let view = core.current(ui).and_then(view);
                        role.settled(cx, view, *ticket, (**with).clone());
                    }
                    Tell::Abilities => {
                        shown = role.abilities(cx, core.current(ui).and_then(view), &core.abilities());
                    }
                    // Later a notice says it: foreign wires have no word for the way behind us.
                    Tell::Link(state) if !core.knows_runtime() => super::remote::tell_way(role, cx, state),
                    Tell::Link(_) | Tell::Started { .. } | Tell::CutShort(_) => {}
                })
            }
        };
        if shown && let Some((session, state)) = core.current(ui).and_then(|at| Some((at, core.state(at)?))) {
            // Everything so far is in what was shown, also what still waits to be told.
            self.told.insert(session.clone(), Told::of(state));
        }
        alive
    }

    /// Ends whatever it was told of that is open, from there on: what else happened was never told.
    fn cut_short(&mut self, round: &mut Round<'_>, session: &SessionId) -> bool {
        let Some(told) = self.told.get(session) else { return true };
        let mut endings = told.endings(round.now).into_iter();
        endings.all(|event| self.tell(round, Tell::Event(session.clone(), Arc::new(event))))
    }

    /// A connection of this UI is there; with the first one its role is opened.
    pub(super) fn connected(&mut self, round: &mut Round<'_>, lane: Lane, outgoing: Outgoing) {
        let Kind::Role(seat) = &mut self.kind else { return };
        seat.links.insert(lane, outgoing);
        let first = !std::mem::replace(&mut seat.opened, true);
        let greeting = seat.greeting.clone();
        seat.call(round, |role, cx| {
            if first {
                role.open(cx, &greeting);
            }
            role.lane(cx, lane, true);
        });
    }

    /// A line of the UI goes to its role; `false` when the UI is gone.
    pub(super) fn line(&mut self, round: &mut Round<'_>, lane: Lane, line: Line) -> bool {
        let Kind::Role(seat) = &mut self.kind else { return true };
        seat.call(round, |role, cx| role.line(cx, lane, line))
    }

    /// The UI has closed its end of the link.
    pub(super) fn last_word(&mut self, round: &mut Round<'_>) -> bool {
        let Kind::Role(seat) = &mut self.kind else { return true };
        seat.only_listens = !seat.stays;
        seat.stays || seat.call(round, |role, cx| role.last_word(cx))
    }

    /// A connection ended; `false` when it was the one that the UI lives on.
    pub(super) fn disconnected(&mut self, round: &mut Round<'_>, lane: Lane) -> bool {
        let Kind::Role(seat) = &mut self.kind else { return true };
        seat.links.remove(&lane);
        seat.call(round, |role, cx| role.lane(cx, lane, false));
        seat.stays || lane != Lane::MAIN
    }

    /// Wakes the role for the timers that are due; `false` when the UI is gone.
    pub(super) fn fire(&mut self, round: &mut Round<'_>, instant: Instant) -> bool {
        let Kind::Role(seat) = &mut self.kind else { return true };
        due(&mut seat.timers, instant).into_iter().all(|key| seat.call(round, |role, cx| role.timer(cx, key)))
    }

    /// The UI is gone: its role hears of it, and its links end. Tells whether it comes back by itself.
    pub(super) fn close(&mut self, now: Millis) -> bool {
        let Kind::Role(seat) = &mut self.kind else { return true };
        let mut effects = Vec::new();
        seat.role.closed(&mut Cx { now, effects: &mut effects });
        for link in seat.links.values() {
            link.close_after_flush();
        }
        seat.role.comes_back()
    }
}

enum LinkRoom {
    Some,
    None,
    Gone,
}

impl RoleSeat {
    /// Calls the role and performs what it wants; `false` when the link is to be closed.
    fn call(
        &mut self,
        round: &mut Round<'_>,
        call: impl FnOnce(&mut dyn RuntimeRole, &mut RuntimeCx<'_>),
    ) -> bool {
        let Round { ui, now, log, .. } = *round;
        let mut effects = Vec::new();
        call(self.role.as_mut(), &mut Cx { now, effects: &mut effects });
        let answers = if self.only_listens { Answers::NONE } else { self.role.can_answer() };
        if answers != self.answers {
            self.answers = answers;
            round.work.push_back(CoreInput::Answers { ui, answers });
        }
        // Before its commands: what comes with a hello is held to it too.
        let asked = self.role.rights();
        if asked != self.rights {
            self.rights = asked;
            round.work.push_back(CoreInput::Rights { ui, asked });
        }
        let files = self.role.files();
        if files != self.files {
            self.files = files;
            round.work.push_back(CoreInput::Files { ui, files });
        }
        for effect in effects {
            match effect {
                RuntimeEffect::Link(LinkEffect::Send { lane, line }) => {
                    self.send(lane, |link| link.try_send(lane, line), log);
                }
                RuntimeEffect::Link(LinkEffect::SendAlone { lane, line, pause }) => {
                    self.send(lane, |link| link.try_send_alone(lane, line, pause), log);
                }
                RuntimeEffect::Command { ticket, target, command } => {
                    round.work.push_back(CoreInput::Command { ui, ticket, target, command });
                }
                RuntimeEffect::Servers { session, servers } => {
                    round.work.push_back(CoreInput::Servers { ui, session, servers });
                }
                RuntimeEffect::CannotAnswer { session, ask } => {
                    round.work.push_back(CoreInput::CannotAnswer { ui, session, ask });
                }
                RuntimeEffect::Keep { session } => round.work.push_back(CoreInput::Keep { session }),
                RuntimeEffect::WatchFleet { alone } => {
                    self.fleet = Some(None);
                    // Also wakes the hub, so that it is told what is there.
                    let answers = CoreInput::Answers { ui, answers };
                    round.work.push_back(if alone { CoreInput::Apart { ui } } else { answers });
                }
                RuntimeEffect::FileDone { id, with } => {
                    round.work.push_back(CoreInput::FileDone { ui, id, with });
                }
                RuntimeEffect::Link(LinkEffect::Timer { key, after }) => {
                    self.timers.insert(key, Instant::now() + after);
                }
                RuntimeEffect::Link(LinkEffect::CancelTimer(key)) => {
                    self.timers.remove(&key);
                }
                RuntimeEffect::Link(LinkEffect::Drift(drift)) => {
                    log(&format!("{}: {}", self.name, drift.logged()));
                }
                RuntimeEffect::Link(LinkEffect::Loss(loss)) => {
                    log(&format!("{}: not said: {}: {}", self.name, loss.item, loss.what));
                }
                RuntimeEffect::Link(LinkEffect::Log(line)) => log(&line),
                RuntimeEffect::Link(LinkEffect::Close(_)) => self.closing = true,
            }
        }
        !self.closing
    }

    fn send(&mut self, lane: Lane, send: impl FnOnce(&Outgoing) -> Result<(), link::Unsent>, log: &Log) {
        let Some(link) = self.links.get(&lane) else { return };
        match send(link) {
            Ok(()) | Err(link::Unsent::Closed) => {}
            Err(why) if self.stays => {
                log(&format!("{}: {why}; this connection is closed", self.name));
                link.close_after_flush();
                self.links.remove(&lane);
            }
            Err(why) => {
                log(&format!("{}: {why}; disconnected", self.name));
                self.closing = true;
            }
        }
    }
}

/// Whether something must be kept before this is told: what it is about, or the session that the UI is shown with it.
fn must_wait(tell: &Tell, round: &Round<'_>) -> bool {
    let unsettled = |session: &SessionId| !round.keeper.is_settled(session);
    match tell {
        Tell::Attach(session) | Tell::Event(session, _) | Tell::Signal(session, _) => unsettled(session),
        Tell::Settle { after, .. } | Tell::Started { after, .. } => {
            after.iter().any(unsettled) || round.core.current(round.ui).is_some_and(unsettled)
        }
        Tell::Abilities => round.core.current(round.ui).is_some_and(unsettled),
        Tell::CutShort(_) | Tell::Detach(_) | Tell::File { .. } | Tell::Link(_) => false,
    }
}

fn is_question(tell: &Tell) -> bool {
    matches!(tell, Tell::Event(_, event) if matches!(event.body, Body::Ask(AskEvent::Opened(_))))
}

fn view<'a>(core: &'a Core, ui: UiId, session: &'a SessionId) -> Option<View<'a>> {
    let (state, board) = (core.state(session)?, core.board(session)?);
    Some(View { session, state, board, current: core.current(ui) == Some(session) })
}

fn tell_local(news: &mpsc::Sender<News>, core: &Core, ui: UiId, tell: Tell) -> bool {
    let tell = match (tell, core.current(ui)) {
        (Tell::Abilities, Some(session)) => Tell::Attach(session.clone()),
        (tell, _) => tell,
    };
    let told = match tell {
        Tell::Attach(session) => {
            let (Some(state), Some(board)) = (core.state(&session), core.board(&session)) else {
                return true;
            };
            News::Attached {
                replay: state.replay(),
                board: board.clone(),
                abilities: core.abilities(),
                session,
            }
        }
        // A UI of ours holds no files, and is never asked.
        Tell::CutShort(_) | Tell::Detach(_) | Tell::Abilities | Tell::File { .. } | Tell::Started { .. } => {
            return true;
        }
        Tell::Event(session, event) => News::Happened { session, event },
        Tell::Signal(session, signal) => News::Signal { session, signal },
        Tell::Settle { ticket, with, .. } => News::Settled { ticket, with: *with },
        Tell::Link(state) => News::Link(state),
    };
    !matches!(news.try_send(told), Err(mpsc::error::TrySendError::Closed(_)))
}

/// About how much room it takes while it waits.
pub(super) fn size(tell: &Tell) -> usize {
    let text = match tell {
        Tell::Event(_, event) => event.body.weight(),
        Tell::Signal(_, signal) => signal.weight(),
        Tell::File { request, .. } => request.weight(),
        Tell::Attach(_)
        | Tell::CutShort(_)
        | Tell::Detach(_)
        | Tell::Settle { .. }
        | Tell::Started { .. }
        | Tell::Link(_)
        | Tell::Abilities => 0,
    };
    TELL_BYTES + text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_things_wait_up_to_so_many() {
        let (news, _heard) = mpsc::channel(1);
        let mut seat = Seat::local(news);
        let done =
            || Tell::Settle { ticket: Ticket(1), with: Box::new(Ok(Receipt::Done)), after: Vec::new() };
        let mut small = || seat.push(done());
        assert!((0..MAX_WAITING).all(|_| small()));
        assert!(!small(), "however small they are");
    }

    #[test]
    fn while_a_link_is_slow_only_the_newest_of_a_lasting_signal_waits() {
        let (news, _heard) = mpsc::channel(1);
        let mut seat = Seat::local(news);
        let session = SessionId::from_number(1);
        let status = |key: &str, text: &str| {
            let signal = Signal::Status { key: key.to_owned(), text: Some(text.to_owned()) };
            Tell::Signal(session.clone(), signal)
        };
        seat.push(status("a", "while it keeps up"));
        seat.push(status("a", "all is told"));
        assert_eq!(seat.waiting.len(), 2);
        seat.watcher = Some(JoinSet::new());
        for number in 0..5 {
            seat.push(status("a", &format!("step {number}")));
            seat.push(status("b", "another"));
            seat.push(Tell::Link(LinkState::Up));
        }
        let waits: Vec<String> = seat
            .waiting
            .iter()
            .filter_map(|tell| match tell {
                Tell::Signal(_, Signal::Status { key, text }) => Some(format!("{key} {}", text.as_deref()?)),
                _ => None,
            })
            .collect();
        assert_eq!(waits, ["a while it keeps up", "a step 4", "b another"]);
        let bytes: usize = seat.waiting.iter().map(size).sum();
        assert_eq!(seat.waiting_bytes, bytes);
    }
}
