//! A foreign runtime behind a UI role: lines in, facts or news out; orders in, lines out.

use super::clock::{Timers, due};
use super::seat::Tell;
use super::{ErrandPort, Hub, Inbox, LastLines, RemoteSeat, Shell, Stranger, line};
use crate::core::CoreInput;
use domain::ask::{Answer, Closing};
use domain::canon::Names;
use domain::command::{Command, Receipt, Refusal, RefusalKind};
use domain::errand::{ErrandCause, ErrandId, ErrandNews, ErrandOrder, ErrandStep};
use domain::fact::{Fact, Said};
use domain::ids::{AskId, Millis, SessionId, UiId};
use domain::port::{Abilities, LinkState, News, Order, Report, Ticket};
use domain::signal::{Level, Signal};
use domain::state::State;
use link::{Incoming, Outgoing};
use roles::{
    Cx, Hello, Line, LinkEffect, Past, Reason, RuntimeCx, RuntimeRole, Seen, UiCx, UiEffect, UiRole,
};
use std::collections::VecDeque;
use std::sync::Arc;
use store::Opened;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use wire::rate::Rate;

/// Notices of a foreign runtime that are shown; nobody reads more.
const NOTICES_PER_SECOND: u32 = 10;
/// Lines of its stderr that a word about a silent runtime is said with.
const SHOWN_LINES: usize = 8;
/// Characters that are shown of what came in the place of a greeting.
const SHOWN_ODD: usize = 200;
/// Lines before a greeting that may be another wire's, and how long such a one may be: what is longer shows a session.
const LOOKED_AT: u8 = 20;
const MAX_GREETING: usize = 16 * 1024;
/// Facts about the past of one session that are taken; more than a runtime's bounds for a session let through.
const MAX_PAST: usize = 400_000;
/// How it is said that a runtime is gone.
pub(super) const GONE: &str = "The runtime is gone";
/// Tickets of answers, which nobody waits for.
const ANSWER: Ticket = Ticket(u64::MAX - 1);

/// Whether a role tells the past of a session: before it was called, and after.
#[derive(Clone, Copy)]
struct Telling {
    before: Past,
    now: Past,
}

impl Telling {
    /// Whether the facts of the call between are the past.
    fn is_past(self) -> bool {
        match (self.before, self.now) {
            (Past::Comes, _) | (_, Past::Comes) | (Past::Awaited, Past::None | Past::Unplaced) => true,
            (Past::None | Past::Unplaced, _) | (Past::Awaited, Past::Awaited) => false,
        }
    }
}

/// A foreign runtime: its role, its link, and where its conversation stands.
pub(super) struct Remote {
    role: Box<dyn UiRole>,
    outgoing: Outgoing,
    hello: Hello,
    timers: Timers,
    session: Option<SessionId>,
    abilities: Option<Abilities>,
    lossless: bool,
    /// Why it is gone, once it is.
    lost: Option<String>,
    /// What came first that was no greeting, before there was one.
    odd: Option<String>,
    empty: State,
    no_names: Names,
    notices: Rate,
    /// Notices that were left out since one passed.
    unsaid: u64,
    /// Moves what the runtime says; ends with the link.
    moving: JoinSet<()>,
    /// Where its errands go.
    errands: Option<mpsc::Sender<ErrandOrder>>,
    /// Moves what became of errands; ends with the hub.
    _fetching: JoinSet<()>,
    last_lines: Option<LastLines>,
    /// The end of its stderr when it was last looked at, before it has greeted.
    seen_lines: Vec<String>,
    /// Knows the greetings of other wires, and for how many more lines it is asked.
    stranger: Option<(Stranger, u8)>,
    /// What was told of a session that is being opened.
    past: Vec<UiEffect>,
    /// What happened before it was known in which session.
    early: Vec<UiEffect>,
    /// The session where it is, and what the runtime calls it.
    named: Option<(SessionId, Arc<str>)>,
}

impl Remote {
    pub(super) fn new(seat: RemoteSeat, hub: Hub) -> Remote {
        let RemoteSeat { role, mut link, hello, lossless, errands, last_lines, mut ended, stranger } = seat;
        let mut fetching = JoinSet::new();
        let errands = errands.map(|ErrandPort { orders, mut news }| {
            let inbox = hub.inbox.clone();
            fetching.spawn(async move {
                while let Some((id, news)) = news.recv().await {
                    if inbox.send(Inbox::Errand(id, news)).await.is_err() {
                        break;
                    }
                }
            });
            orders
        });
        let outgoing = link.outgoing.clone();
        let ours = outgoing.clone();
        let mut moving = JoinSet::new();
        moving.spawn(async move {
            loop {
                // A runtime that was let go may talk on for as long as it likes.
                let incoming = tokio::select! {
                    incoming = link.incoming.recv() => incoming,
                    () = ours.closing() => None,
                };
                let Some(mut incoming) = incoming else { break };
                if let Incoming::Closed { reason, .. } = &mut incoming
                    && let Some(ended) = ended.take()
                    && let Some(words) = ended.await
                {
                    *reason = link::Ending::Ended(words);
                }
                if hub.hand_over(incoming, Inbox::FromRemote).await.is_err() {
                    break;
                }
            }
            link.shutdown(super::LAST_WORDS).await;
        });
        Remote {
            role,
            outgoing,
            hello,
            timers: Timers::new(),
            session: None,
            abilities: None,
            lossless,
            lost: None,
            odd: None,
            empty: State::new(),
            no_names: Names::default(),
            notices: Rate::new(NOTICES_PER_SECOND),
            unsaid: 0,
            moving,
            errands,
            _fetching: fetching,
            last_lines,
            seen_lines: Vec::new(),
            stranger: stranger.map(|stranger| (stranger, LOOKED_AT)),
            past: Vec::new(),
            early: Vec::new(),
            named: None,
        }
    }

    /// Lets the runtime hear what was said to it and a last word, and closes the link.
    pub(super) async fn end(&mut self, now: Millis) {
        let mut effects = Vec::new();
        if self.lost.is_none() {
            self.role.leave(&mut Cx { now, effects: &mut effects });
        }
        for effect in effects {
            if let UiEffect::Link(LinkEffect::Send { lane, line }) = effect {
                // One that does not listen any more does not need it.
                let _ = self.outgoing.try_send(lane, line);
            }
        }
        self.outgoing.close_after_flush();
        // The link itself ends within a bound; what it still says may wait for a hub that takes nothing in any more.
        let _ = timeout(2 * super::LAST_WORDS, self.moving.join_next()).await;
    }

    /// A signal, unless it is one notice too many: those are counted, and said with the next that passes.
    fn passes(&mut self, signal: Signal, now: Millis) -> Option<Signal> {
        let Signal::Notify { level, mut text } = signal else { return Some(signal) };
        if !self.notices.allow(now.0) {
            self.unsaid += 1;
            return None;
        }
        if self.unsaid > 0 {
            text = format!("{text}\n({} more notices of the runtime were left out)", self.unsaid);
            self.unsaid = 0;
        }
        Some(Signal::Notify { level, text })
    }

    /// A warning about a runtime that has not said yet what it can do, with what it wrote on stderr: that tells why.
    fn explained(&self, signal: Signal) -> Signal {
        match signal {
            Signal::Notify { level: level @ (Level::Warning | Level::Error), text }
                if self.abilities.is_none() =>
            {
                Signal::Notify { level, text: self.with_stderr(text) }
            }
            signal => signal,
        }
    }

    /// A text with the end of what the runtime wrote on stderr, where that is known.
    fn with_stderr(&self, text: String) -> String {
        let Some(lines) = &self.last_lines else { return text };
        let lines = lines();
        let shown: Vec<&str> =
            lines.iter().skip(lines.len().saturating_sub(SHOWN_LINES)).map(String::as_str).collect();
        match shown.is_empty() {
            true => format!("{text}\nIt wrote nothing on stderr."),
            false => format!("{text}\nThe end of its stderr:\n{}", shown.join("\n")),
        }
    }

    /// Whether it wrote on stderr since this was asked last; only of one that has not greeted yet.
    fn has_stirred(&mut self) -> bool {
        let Some(lines) = self.last_lines.as_ref().filter(|_| self.abilities.is_none()) else { return false };
        let lines = lines();
        let stirred = lines != self.seen_lines;
        self.seen_lines = lines;
        stirred
    }

    /// Why it is another program than was meant: only as long as it has not greeted, and not for ever.
    fn is_strange(&mut self, line: &Line) -> Option<String> {
        if self.abilities.is_some() {
            self.stranger = None;
        }
        let (stranger, left) = self.stranger.as_mut()?;
        *left = left.checked_sub(1)?;
        match line {
            Line::Text(text) if text.len() <= MAX_GREETING => stranger(text),
            Line::Text(_) | Line::Overlong(_) | Line::Garbled(_) => None,
        }
    }

    /// What the runtime called the session where it was last.
    pub(super) fn their_session(&self) -> Option<Arc<str>> {
        self.named.as_ref().map(|(_, name)| name.clone())
    }

    /// When its role wants to be woken next.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.timers.values().min().copied()
    }
}

impl Shell {
    /// Lets the role of a foreign runtime say hello.
    pub(super) fn open_remote(&mut self, kept: Option<(SessionId, Opened)>) {
        let Some(lossless) = self.remote.as_ref().map(|remote| remote.lossless) else { return };
        if !lossless {
            if let Some((session, opened)) = kept {
                self.keeper.opened(session.clone());
                let outs = self.core.runtime_session_in(self.clock.now(), session, opened);
                self.sort(outs);
            }
            let (session, outs) = self.core.runtime_session(self.clock.now());
            self.sort(outs);
            if let Some(remote) = &mut self.remote {
                remote.session = session;
            }
        }
        self.call_remote(|role, cx, _, hello| role.open(cx, hello));
    }

    /// Wakes the role for the timers that are due.
    pub(super) fn fire_remote(&mut self, instant: Instant) {
        let due = match &mut self.remote {
            Some(remote) => due(&mut remote.timers, instant),
            None => Vec::new(),
        };
        if !due.is_empty() && self.remote.as_mut().is_some_and(Remote::has_stirred) {
            self.call_remote(|role, _, _, _| role.stirred());
        }
        for key in due {
            self.call_remote(|role, cx, seen, _| role.timer(cx, seen, key));
        }
    }

    /// A foreign runtime said something, or its link ended.
    pub(super) fn heard_from_runtime(&mut self, incoming: Incoming) {
        if self.remote.as_ref().is_some_and(|remote| remote.lost.is_some()) {
            return;
        }
        match incoming {
            Incoming::Frame { lane, frame } => {
                if let Some(line) = line(frame) {
                    if let Some(why) = self.remote.as_mut().and_then(|remote| remote.is_strange(&line)) {
                        return self.let_runtime_go(&why);
                    }
                    self.call_remote(|role, cx, seen, _| role.line(cx, seen, lane, line));
                }
            }
            // Any lane: a runtime that can no longer be heard is as gone as one that no longer listens.
            Incoming::Closed { reason, .. } => {
                self.call_remote(|role, cx, seen, _| role.closed(cx, seen));
                self.remote_lost(&reason.to_string());
            }
        }
    }

    /// Something became of an errand.
    pub(super) fn heard_of_errand(&mut self, id: ErrandId, news: ErrandNews) {
        if self.remote.as_ref().is_some_and(|remote| remote.lost.is_none()) {
            self.call_remote(|role, cx, seen, _| role.errand(cx, seen, id, news));
        }
    }

    /// Hands an errand on; one that nobody can take now is refused.
    fn send_errand(&mut self, id: ErrandId, step: ErrandStep) {
        let policy = self.core.policy();
        let Some(remote) = &self.remote else { return };
        let session = remote.session.clone();
        let order = ErrandOrder { id, session, step, policy };
        let taken = remote.errands.as_ref().is_some_and(|orders| orders.try_send(order).is_ok());
        if !taken {
            let (cause, why) = (ErrandCause::Failed, "too much is under way here; try again".to_owned());
            let refused = ErrandNews::Refused { cause, why };
            self.call_remote(|role, cx, seen, _| role.errand(cx, seen, id, refused));
        }
    }

    fn remote_lost(&mut self, why: &str) {
        let Some(remote) = &mut self.remote else { return };
        if remote.lost.is_some() {
            return;
        }
        remote.lost = Some(why.to_owned());
        let session = remote.session.clone();
        // Its last words are of the run that ends with it.
        let is_said = |input: &CoreInput| matches!(input, CoreInput::Report(Report::Said { .. }));
        let (said, rest): (VecDeque<CoreInput>, VecDeque<CoreInput>) =
            std::mem::take(&mut self.work).into_iter().partition(is_said);
        said.into_iter().for_each(|input| self.decide(input));
        self.work.extend(rest);
        // Before any UI: one that leaves because of it must not look like the cause.
        self.tell_loss();
        self.decide(CoreInput::Lost);
        if let Some(session) = session {
            self.decide(CoreInput::Report(Report::Said {
                session: session.clone(),
                fact: Fact::new(Said::Lost),
            }));
            let text = format!("{GONE}: {why}");
            let signal = Signal::Notify { level: Level::Error, text };
            self.decide(CoreInput::Report(Report::Signal { session, signal }));
        }
        while let Some(input) = self.work.pop_front() {
            self.decide(input);
        }
        self.tell_link(&LinkState::Lost(why.to_owned()));
        self.tell_end();
    }

    /// Tells those who wait for the end of the runtime that it came.
    pub(super) fn tell_end(&mut self) {
        if let Some(why) = self.remote.as_ref().and_then(|remote| remote.lost.clone()) {
            for waiting in self.ends.drain(..) {
                let _ = waiting.send(why.clone());
            }
        }
    }

    /// Tells those who wait for it that the runtime went before it told what it can do.
    pub(super) fn tell_loss(&mut self) {
        let lost = self.remote.as_ref().and_then(|remote| remote.lost.clone());
        if let Some(why) = lost.filter(|_| !self.core.knows_runtime()) {
            for waiting in self.losses.drain(..) {
                let _ = waiting.send(why.clone());
            }
        }
    }

    /// A UI that comes after the runtime went is told so, or after it said something that is no greeting: nothing else may come to it.
    pub(super) fn tell_lost(&mut self, ui: UiId) {
        let Some(remote) = &self.remote else { return };
        let odd = remote.odd.clone().filter(|_| remote.abilities.is_none()).map(LinkState::Odd);
        if let Some(state) = remote.lost.clone().map(LinkState::Lost).or(odd) {
            self.tell(ui, Tell::Link(state));
        }
    }

    /// Tells, once, what a runtime says that has not greeted. It is still waited for: some programs have a word for people first.
    fn tell_odd(&mut self, raw: &str) {
        let Some(remote) = self.remote.as_mut().filter(|remote| remote.abilities.is_none()) else { return };
        if remote.odd.is_some() || remote.lost.is_some() {
            return;
        }
        let said: String = raw.trim().chars().take(SHOWN_ODD).collect();
        let more = if said.len() < raw.trim().len() { "…" } else { "" };
        let text = format!(
            "The runtime has not greeted, and says something else: {said}{more}\nIf it is another program than you meant, stop this and \
             name the right one or its protocol; it is waited for."
        );
        let text = remote.with_stderr(text);
        remote.odd = Some(text.clone());
        self.tell_link(&LinkState::Odd(text));
    }

    /// Ends a runtime that cannot be borne any longer.
    pub(super) fn let_runtime_go(&mut self, why: &str) {
        // It may have to hear first that it is to stop.
        self.give_orders();
        if let Some(remote) = &mut self.remote {
            remote.outgoing.close_after_flush();
        }
        self.call_remote(|role, cx, seen, _| role.closed(cx, seen));
        self.remote_lost(why);
    }

    fn tell_link(&mut self, state: &LinkState) {
        let uis: Vec<UiId> = self.seats.keys().copied().collect();
        for ui in uis {
            self.tell(ui, Tell::Link(state.clone()));
        }
    }

    /// Passes an order of the core on to the role; some are only for an engine of ours.
    pub(super) fn order_remote(&mut self, order: Order) {
        let lost = self.remote.as_ref().and_then(|remote| remote.lost.as_deref());
        if let (Some(why), Order::Consult { ticket, .. }) = (lost, &order) {
            let refusal = Refusal::new(RefusalKind::Lost, format!("the runtime is gone: {why}"));
            let (ticket, with) = (*ticket, Err(refusal.hint("start it again")));
            return self.work.push_back(CoreInput::Report(Report::Settled { ticket, with }));
        }
        match order {
            Order::Consult { ticket, session, command, .. } => {
                let shown = self.core.state(&session).is_some();
                self.call_remote(|role, cx, seen, _| match shown {
                    true => role.command_in(cx, seen, &session, ticket, command),
                    false => role.command(cx, seen, ticket, command),
                });
            }
            Order::AskClosed { ask, closing, .. } => self.answer_remote(ask, closing),
            // The cancel itself went as a command; turns and steers are for our own engine.
            Order::Cancel { .. }
            | Order::Turn(_)
            | Order::SteerWaits { .. }
            | Order::StoreFails { .. }
            | Order::PolicyChanged { .. }
            | Order::Performed { .. }
            | Order::OffersGone { .. }
            | Order::FileDone { .. }
            | Order::Forget { .. } => {}
        }
    }

    /// The runtime waits for an answer whatever became of the question here.
    fn answer_remote(&mut self, ask: AskId, closing: Closing) {
        let answer = match closing {
            Closing::Answered { answer, .. } => answer,
            Closing::Withdrawn | Closing::Unattended => Answer::Dismissed,
            Closing::Expired => Answer::Dismissed,
        };
        let command = Command::Answer { ask, answer };
        self.call_remote(|role, cx, seen, _| role.command(cx, seen, ANSWER, command));
    }

    fn call_remote(&mut self, call: impl FnOnce(&mut dyn UiRole, &mut UiCx<'_>, Seen<'_>, &Hello)) {
        let Some(remote) = &mut self.remote else { return };
        let mut effects = Vec::new();
        let Remote { role, session, empty, no_names, hello, .. } = remote;
        let core = &self.core;
        let session = session.as_ref().map(|session| core.here(session));
        let session = session.as_ref();
        let state = session.and_then(|session| core.state(session)).unwrap_or(empty);
        let names = session.and_then(|session| core.names(session)).unwrap_or(no_names);
        let mut cx = Cx { now: self.clock.now(), effects: &mut effects };
        let (past_before, arrived_before) = (role.past(), role.is_arriving());
        call(role.as_mut(), &mut cx, Seen { state, names }, hello);
        let (abilities, name, arriving) = (role.abilities(), role.session_name(), role.is_arriving());
        let tells = Telling { before: past_before, now: role.past() };
        let changed = abilities != remote.abilities;
        remote.abilities.clone_from(&abilities);
        // A receipt goes before the facts that came with it, so that UIs learn of a run before its events.
        let (settled, rest): (Vec<UiEffect>, Vec<UiEffect>) =
            effects.into_iter().partition(|effect| matches!(effect, UiEffect::Settle { .. }));
        let comes_there =
            |effect: &UiEffect| matches!(effect, UiEffect::Settle { with: Ok(Receipt::Session { .. }), .. });
        let is_refused = arrived_before && !arriving && !settled.iter().any(comes_there);
        let rest = match self.core.keeps_theirs() {
            true => self.without_past(rest, tells, is_refused),
            false => self.with_past(&settled, rest, arriving),
        };
        for effect in settled {
            self.perform_remote(effect);
        }
        // On the way to another session its name is that of the next one. What is kept under a name is looked for before anything
        // more is taken of that session.
        self.learn_name(name.filter(|_| !arriving));
        self.tell_past(tells);
        let placed = tells.now != Past::Unplaced;
        let early = self.remote.as_mut().filter(|_| placed).map(|remote| std::mem::take(&mut remote.early));
        for effect in early.into_iter().flatten().chain(rest) {
            self.perform_remote(effect);
        }
        // Last, so that a UI which is greeted with it is shown what came along, such as the model.
        self.work.extend(abilities.filter(|_| changed).map(CoreInput::Abilities));
    }

    /// Puts aside what is told of the past, until all of it is there; that of a session which could not be opened is nobody's.
    fn without_past(&mut self, rest: Vec<UiEffect>, tells: Telling, is_refused: bool) -> Vec<UiEffect> {
        let Some(remote) = self.remote.as_mut() else { return rest };
        if !tells.is_past() && tells.now == Past::Unplaced && remote.early.len() < MAX_PAST {
            let (early, rest): (Vec<UiEffect>, Vec<UiEffect>) =
                rest.into_iter().partition(|effect| matches!(effect, UiEffect::Fact(_)));
            remote.early.extend(early);
            return rest;
        }
        if !tells.is_past() {
            return rest;
        }
        let (told, rest): (Vec<UiEffect>, Vec<UiEffect>) =
            rest.into_iter().partition(|effect| matches!(effect, UiEffect::Fact(_)));
        let room = MAX_PAST.saturating_sub(remote.past.len());
        if told.len() > room {
            (self.log)("runtime: a session holds more than can be shown; the rest of it is left out");
        }
        remote.past.extend(told.into_iter().take(room));
        if is_refused {
            remote.past.clear();
        }
        rest
    }

    /// Gives the past of a session to the core in one piece, once it is whole.
    fn tell_past(&mut self, tells: Telling) {
        let is_whole = self.core.keeps_theirs() && tells.now != Past::Comes;
        let Some(remote) = self.remote.as_mut().filter(|_| is_whole) else { return };
        let told = std::mem::take(&mut remote.past).into_iter().filter_map(|effect| match effect {
            UiEffect::Fact(fact) => Some(fact),
            _ => None,
        });
        let facts: Vec<Fact> = told.collect();
        if let Some(session) = remote.session.clone().filter(|_| !facts.is_empty()) {
            self.work.push_back(CoreInput::Told { session, facts });
        }
    }

    /// Holds back what is told of a session that is being opened until it is there. The past of one that is shown here already is not
    /// told twice.
    fn with_past(&mut self, settled: &[UiEffect], rest: Vec<UiEffect>, arriving: bool) -> Vec<UiEffect> {
        let Some(remote) = &mut self.remote else { return rest };
        let opened = settled.iter().find_map(|effect| match effect {
            UiEffect::Settle { with: Ok(Receipt::Session { session, .. }), .. } => Some(&session.id),
            _ => None,
        });
        if !arriving && opened.is_none() && remote.past.is_empty() {
            return rest;
        }
        let (told, rest): (Vec<UiEffect>, Vec<UiEffect>) =
            rest.into_iter().partition(|effect| matches!(effect, UiEffect::Fact(_)));
        if arriving {
            let room = MAX_PAST.saturating_sub(remote.past.len());
            if told.len() > room {
                (self.log)("runtime: a session holds more than can be shown; the rest of it is left out");
            }
            remote.past.extend(told.into_iter().take(room));
            return rest;
        }
        let mut past = std::mem::take(&mut remote.past);
        past.extend(told);
        let is_new = opened.is_some_and(|id| !self.core.is_shown(&self.core.here(id)));
        if !is_new {
            past.retain(
                |effect| matches!(effect, UiEffect::Fact(Fact { said: Said::Model(_), .. }) if opened.is_some()),
            );
        }
        past.into_iter().chain(rest).collect()
    }

    /// Lets the core know what the runtime calls its session, when that has changed.
    fn learn_name(&mut self, name: Option<Arc<str>>) {
        let Some(remote) = self.remote.as_mut().filter(|remote| !remote.lossless) else { return };
        let named = remote.session.clone().zip(name);
        if let Some((session, name)) = named.clone()
            && remote.named != named
        {
            self.work.push_back(CoreInput::Named { session, name });
            remote.named = named;
        }
    }

    fn perform_remote(&mut self, effect: UiEffect) {
        let Some(remote) = &mut self.remote else { return };
        match effect {
            UiEffect::Link(LinkEffect::Send { lane, line }) => {
                if let Err(why) = remote.outgoing.try_send(lane, line) {
                    (self.log)(&format!("runtime: {why}"));
                }
            }
            UiEffect::Link(LinkEffect::SendAlone { lane, line, pause }) => {
                if let Err(why) = remote.outgoing.try_send_alone(lane, line, pause) {
                    (self.log)(&format!("runtime: {why}"));
                }
            }
            UiEffect::Link(LinkEffect::Timer { key, after }) => {
                remote.timers.insert(key, Instant::now() + after);
            }
            UiEffect::Link(LinkEffect::CancelTimer(key)) => {
                remote.timers.remove(&key);
            }
            UiEffect::Fact(fact) => {
                if let Some(session) = remote.session.clone() {
                    self.work.push_back(CoreInput::Report(Report::Said { session, fact }));
                }
            }
            UiEffect::Signal(signal) => {
                let (session, signal) = (remote.session.clone(), remote.explained(signal));
                if let Some((session, signal)) = session.zip(remote.passes(signal, self.clock.now())) {
                    self.work.push_back(CoreInput::Report(Report::Signal { session, signal }));
                }
            }
            UiEffect::Settle { ticket: ANSWER, with } => {
                if let Err(refusal) = with {
                    (self.log)(&format!("answer: {refusal}"));
                }
            }
            UiEffect::Settle { ticket, with } => {
                if let Ok(Receipt::Session { session, .. }) = &with
                    && !remote.lossless
                {
                    remote.session = Some(self.core.here(&session.id));
                }
                self.work.push_back(CoreInput::Report(Report::Settled { ticket, with }));
            }
            UiEffect::News(news) => self.news(*news),
            UiEffect::Errand { id, step } => self.send_errand(id, step),
            UiEffect::Link(LinkEffect::Drift(drift)) => {
                (self.log)(&format!("runtime: {}", drift.logged()));
                // A program's words, which may say again what a person has typed; who looks for its mistake has to see the rest.
                let said = self.core.without_secrets(&drift.raw, drift.is_cut());
                (self.log)(&format!("runtime said: {}", domain::harmless::in_line(&said)));
                self.tell_odd(&said);
            }
            UiEffect::Link(LinkEffect::Loss(loss)) => {
                (self.log)(&format!("runtime: not said: {}: {}", loss.item, loss.what));
            }
            UiEffect::Link(LinkEffect::Log(line)) => (self.log)(&line),
            UiEffect::Link(LinkEffect::Close(reason)) => {
                remote.outgoing.close_after_flush();
                match reason {
                    Reason::Unusable(why) => self.remote_lost(&why),
                    Reason::Quit => self.remote_lost("it said goodbye"),
                }
                // Who waits for an answer does not get one any more, and has heard why.
                self.call_remote(|role, cx, seen, _| role.closed(cx, seen));
            }
        }
    }

    /// News of a lossless runtime.
    fn news(&mut self, news: News) {
        match news {
            News::Attached { session, replay, board, abilities } => {
                let mut state = State::new();
                for (at, body) in replay {
                    if let Err(why) = state.apply(at, &body) {
                        (self.log)(&format!("runtime: its snapshot of {session} does not hold: {why}"));
                    }
                }
                if let Some(remote) = &mut self.remote {
                    remote.session = Some(session.clone());
                }
                self.work.push_back(CoreInput::Abilities(abilities));
                self.work.push_back(CoreInput::Mirror { session, state: Box::new(state), board });
            }
            News::Happened { session, event } => {
                self.work.push_back(CoreInput::MirrorEvent { session, event });
            }
            News::Signal { session, signal } => {
                let now = self.clock.now();
                if let Some(signal) = self.remote.as_mut().and_then(|remote| remote.passes(signal, now)) {
                    self.work.push_back(CoreInput::Report(Report::Signal { session, signal }));
                }
            }
            News::Settled { ticket, with } => {
                self.work.push_back(CoreInput::Report(Report::Settled { ticket, with }));
            }
            News::Link(state) => self.tell_link(&state),
        }
    }
}

/// Lets a role tell how the way to a runtime is that has not told what it can do.
pub(super) fn tell_way(role: &mut dyn RuntimeRole, cx: &mut RuntimeCx<'_>, state: &LinkState) {
    match state {
        LinkState::Lost(why) => role.lost(cx, why),
        LinkState::Odd(what) => role.odd(cx, what),
        LinkState::Connecting | LinkState::Up => {}
    }
}
