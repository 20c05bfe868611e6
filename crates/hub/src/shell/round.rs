//! One round of the shell: inputs are decided, or held; what happened goes to the store; what nothing has to be kept for any more is
//! told.

use super::archive::{Finished, News};
use super::held::{Arrival, overlap};
use super::{AwaitedReport, START, Shell, Tell};
use crate::core::{Answer, Concerns, CoreEffect, CoreInput};
use domain::command::{Refusal, RefusalKind};
use domain::ids::{SessionId, UiId};
use domain::port::{Kept, Order, Report};
use std::collections::{BTreeSet, VecDeque};
use store::StoreError;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::Instant;

impl Shell {
    /// Lets the core decide, unless the input has to wait.
    pub(super) fn decide(&mut self, input: CoreInput) {
        self.take(input.into());
    }

    /// Takes something in, or holds it back while what it concerns waits for the store.
    pub(super) fn take(&mut self, arrival: Arrival) {
        let concerns = self.core.concerns(&arrival.input);
        if self.is_blocked(&arrival.input, &concerns) || self.held.touches(&concerns) {
            return self.hold(arrival, concerns);
        }
        self.perform(arrival);
    }

    /// Whether an input has to wait for the store, for a UI to be where it is meant, or behind one that waits for that.
    fn is_blocked(&self, input: &CoreInput, concerns: &Concerns) -> bool {
        let waits = |session: &SessionId| self.keeper.is_busy_with(session) || self.core.is_away(session);
        let moving = match input {
            CoreInput::Command { ui, .. } => self.core.is_moving(*ui),
            _ => false,
        };
        // What is told of a session goes on: a command that waits to be shown it waits for just that.
        let command = matches!(input, CoreInput::Command { .. });
        let behind = |before: &CoreInput| command && overlap(&self.core.concerns(before), concerns);
        moving || concerns.sessions.iter().any(waits) || self.later.iter().any(behind)
    }

    fn hold(&mut self, arrival: Arrival, concerns: Concerns) {
        let Err(refused) = self.held.push(arrival, concerns) else { return };
        let CoreInput::Command { ui, ticket, .. } = *refused else { return };
        let refusal = Refusal::new(RefusalKind::TooMany, "too many commands wait for the disk");
        let with = Err(refusal.hint("wait for the answers to those before"));
        self.sort(vec![CoreEffect::Settle { ui, ticket, with, about: None }]);
    }

    /// Takes what was held and need not wait any more, in order; whether there was any.
    fn release(&mut self) -> bool {
        let mut any = false;
        loop {
            let mut held = std::mem::take(&mut self.held);
            let free = held.next(|input, concerns| self.is_blocked(input, concerns));
            self.held = held;
            let Some(arrival) = free else { break };
            self.perform(arrival);
            any = true;
        }
        if any && self.tick_owed {
            self.tick();
        }
        any
    }

    /// Time has passed for every session but those about which something is held: that came first.
    pub(super) fn tick(&mut self) {
        let except = self.held.sessions();
        self.tick_owed = !except.is_empty();
        self.work.push_back(CoreInput::Tick { except });
    }

    /// Lets the core decide now, and sorts what it says by whom it is for.
    pub(super) fn perform(&mut self, arrival: Arrival) {
        let Arrival { input, ack, .. } = arrival;
        let shown = matches!(input, CoreInput::Mirror { .. } | CoreInput::Abilities(_));
        let session = match &input {
            CoreInput::Report(report) => session_of(report).cloned(),
            _ => None,
        };
        let outs = self.core.step(self.clock.now(), input);
        self.fleet_changed();
        if let (Some(ack), Some(session)) = (ack, session) {
            self.acks.push(AwaitedReport { ack, session, accepted: self.core.accepted() });
        }
        self.sort(outs);
        if shown {
            // UIs must see a session as it was when it was shown (again), before the events that came right behind.
            self.pump();
        }
    }

    /// Puts what the core wants done where it waits for its turn: the store, the engine, the seats.
    pub(super) fn sort(&mut self, outs: Vec<CoreEffect>) {
        let appended: BTreeSet<SessionId> = outs
            .iter()
            .filter_map(|out| match out {
                CoreEffect::Append { session, .. } => Some(session.clone()),
                _ => None,
            })
            .collect();
        for out in outs {
            match out {
                CoreEffect::Append { session, event } => self.keeper.add(session, event),
                CoreEffect::Attach { ui, session } => self.tell(ui, Tell::Attach(session)),
                CoreEffect::CutShort { ui, session } => self.tell(ui, Tell::CutShort(session)),
                CoreEffect::Detach { ui, session } => self.tell(ui, Tell::Detach(session)),
                CoreEffect::Event { ui, session, event } => self.tell(ui, Tell::Event(session, event)),
                CoreEffect::Abilities { ui } => self.tell(ui, Tell::Abilities),
                CoreEffect::Signal { ui, session, signal } => self.tell(ui, Tell::Signal(session, signal)),
                CoreEffect::Keep { session } => self.keeper.keep(&session),
                CoreEffect::File { ui, session, id, request } => {
                    self.tell(ui, Tell::File { session, id, request });
                }
                CoreEffect::Settle { ui, ticket: START, with, .. } => {
                    let (after, refused) = (appended.iter().cloned().collect(), with.err());
                    self.tell(ui, Tell::Started { after, refused });
                }
                CoreEffect::Settle { ui, ticket, with, about } => {
                    let after = appended.iter().cloned().chain(about).collect();
                    self.tell(ui, Tell::Settle { ticket, with: Box::new(with), after });
                }
                CoreEffect::Fetch { id, request } => {
                    if let Err(refusal) = self.archive.ask(id, request) {
                        self.work.push_back(CoreInput::Answered { id, with: Err(refusal) });
                    }
                }
                CoreEffect::Visit { id, session, answers } => self.begin_visit(id, session, answers),
                CoreEffect::Leave { session } => self.visiting.leave(&session),
                CoreEffect::Release { session } => _ = self.leaving.insert(session),
                CoreEffect::Unwritten { session } => {
                    self.keeper.forget(&session);
                    // What waits about it is about the session that stands in its place: nothing may overtake it there.
                    self.held.reconsider(|input| self.core.concerns(input));
                }
                CoreEffect::LeaveOut { session, why } => self.keeper.leave_out(&session, &why),
                CoreEffect::Order(order) => self.orders.push_back(order),
                CoreEffect::Wake(at) => self.wake = Some(self.clock.instant(at)),
                CoreEffect::LetGo(why) => self.let_go = Some(why),
                CoreEffect::Again(input) => self.later.push_back(*input),
                CoreEffect::Log(line) => (self.log)(&line),
            }
        }
    }

    /// Hands over, orders, tells; and again while that brings up something new.
    pub(super) fn settle_round(&mut self) {
        loop {
            while let Some(input) = self.work.pop_front() {
                self.decide(input);
            }
            for trouble in self.keeper.troubles() {
                self.tell_trouble(trouble);
            }
            self.ask_to_append();
            self.leave_kept();
            self.archive.begin(&mut self.keeper, &self.core);
            self.acknowledge();
            let ordered = self.give_orders();
            self.pump();
            self.hear();
            // What waited for a UI to be shown its session came before everything that is held.
            let again = self.take_later();
            let released = self.release();
            let heard = !released && self.hear_runtime();
            if !ordered && !again && !released && !heard && self.work.is_empty() {
                break;
            }
        }
        let quiet = self.held.is_empty() && self.keeper.is_all_settled() && !self.archive.is_asked();
        if quiet && !self.core.is_busy() {
            for waiting in self.idle.drain(..) {
                let _ = waiting.send(());
            }
        }
        self.dismiss();
    }

    /// Hands what happened to the store, one batch per session.
    pub(super) fn ask_to_append(&mut self) {
        for session in self.keeper.asks() {
            self.archive.append(session);
        }
    }

    /// Lets the store go of sessions that are open here no more, so that another process can have them.
    fn leave_kept(&mut self) {
        let (core, keeper, archive) = (&self.core, &mut self.keeper, &mut self.archive);
        self.leaving.retain(|session| {
            // Who opens it meanwhile has it, and closing it now would be after that.
            let (is_back, is_away) = (core.state(session).is_some(), core.is_away(session));
            if !is_back && !is_away && keeper.is_kept(session) {
                keeper.forget(session);
                archive.close(session.clone());
            }
            // What nobody keeps has nothing to be let go of.
            !is_back && (is_away || keeper.knows(session))
        });
    }

    /// Tells engines that wait what became of their reports, once that is known.
    fn acknowledge(&mut self) {
        for awaited in std::mem::take(&mut self.acks) {
            if !self.keeper.is_settled(&awaited.session) {
                self.acks.push(awaited);
                continue;
            }
            let AwaitedReport { ack, session, accepted } = awaited;
            let _ = ack.send(match self.keeper.trouble(&session) {
                _ if !accepted || self.keeper.is_let_go(&session) => Kept::Late,
                Some(why) => Kept::InMemory(why.to_owned()),
                None => Kept::Safely,
            });
        }
    }

    /// Gives the orders that nothing has to be kept for any more; whether there was any.
    pub(super) fn give_orders(&mut self) -> bool {
        let mut any = false;
        let mut waiting = VecDeque::new();
        for order in std::mem::take(&mut self.orders) {
            let settled =
                matches!(order, Order::StoreFails { .. }) || self.keeper.is_settled(session_ordered(&order));
            if !settled || self.engine_full {
                waiting.push_back(order);
            } else if let Some(order) = self.order(order) {
                self.engine_full = true;
                waiting.push_back(order);
            } else {
                any = true;
            }
        }
        waiting.append(&mut self.orders);
        self.orders = waiting;
        any
    }

    /// Gives an order; it comes back when the engine has no room for it.
    fn order(&mut self, order: Order) -> Option<Order> {
        let session = session_ordered(&order);
        if self.visiting.has(session) {
            let session = session.clone();
            self.order_visit(&session, order);
            return None;
        }
        let Some(engine) = &self.engine else {
            self.order_remote(order);
            return None;
        };
        match engine.try_send(order) {
            Ok(()) => None,
            Err(TrySendError::Full(order)) => Some(order),
            Err(TrySendError::Closed(_)) => {
                (self.log)("the engine has stopped");
                None
            }
        }
    }

    /// Tells each UI what waits for it, as far as its link has room and what it says is kept.
    pub(super) fn pump(&mut self) {
        let uis: Vec<UiId> = self.seats.keys().copied().collect();
        for ui in uis {
            if !self.with_seat(ui, |seat, round| seat.pump(round)) {
                self.went(ui);
            }
        }
    }

    /// Hears UIs that were told by now where they begin.
    fn hear(&mut self) {
        let starting = |ui: &UiId| self.seats.get(ui).is_some_and(super::Seat::is_starting);
        let told: Vec<UiId> = self.unheard.keys().copied().filter(|ui| !starting(ui)).collect();
        for ui in told {
            for (incoming, _room) in self.unheard.remove(&ui).into_iter().flatten() {
                self.incoming(ui, incoming);
            }
        }
    }

    /// Hears what a runtime said while it was looked for what is kept of its session; whether there was any. One line at a time: it may
    /// name another session.
    fn hear_runtime(&mut self) -> bool {
        if self.core.is_finding() {
            return false;
        }
        let Some((incoming, _room)) = self.unheard_runtime.pop_front() else { return false };
        self.heard_from_runtime(incoming);
        true
    }

    /// Takes what waited for a UI to be shown its session; whether there was any.
    fn take_later(&mut self) -> bool {
        let later = std::mem::take(&mut self.later);
        let any = !later.is_empty();
        let mut first = Vec::new();
        for input in later {
            let concerns = self.core.concerns(&input);
            if self.is_blocked(&input, &concerns) {
                first.push((input, concerns));
            } else {
                self.perform(input.into());
            }
        }
        for (input, concerns) in first.into_iter().rev() {
            self.held.push_first(input.into(), concerns);
        }
        any
    }

    /// Takes in what the store or a file has come to.
    pub(super) fn take_back(&mut self, finished: Option<Finished>) {
        let Some(finished) = finished else {
            return (self.log)("the store broke down: what happens from now on is not saved");
        };
        match self.archive.take_back(finished, &mut self.keeper) {
            News::Appended { session, batch, result } => self.appended(session, batch, result),
            News::AppendedMany { batches, tended } => {
                for (session, batch, result) in batches {
                    self.appended(session, batch, result);
                }
                if let Err(StoreError::LeaseLost { sessions, why }) = tended {
                    sessions.iter().for_each(|session| self.step_down(session, &why));
                }
            }
            News::Answered { id, about, mut with } => {
                match (&mut with, about) {
                    (Ok(Answer::Opened(Some(opened))), Some(session)) => {
                        for event in self.keeper.unkept(&session) {
                            // It was closed and is opened again before all of it was written; what does not follow is not of this log.
                            let _ = opened.state.fold(&event);
                        }
                        self.keeper.opened(session);
                    }
                    (Ok(Answer::Found { kept: Some(_), .. }), Some(session)) => self.keeper.opened(session),
                    (Ok(Answer::Deleted(true)), Some(session)) => self.keeper.forget(&session),
                    _ => {}
                }
                self.perform(CoreInput::Answered { id, with }.into());
            }
            News::DeletedLate(session) => {
                self.keeper.forget(&session);
                self.perform(CoreInput::Deleted { session }.into());
            }
            News::Tended(Err(StoreError::LeaseLost { sessions, why })) => {
                sessions.iter().for_each(|session| self.step_down(session, &why));
            }
            News::Tended(result) => self.keeper.tended(result),
            News::Log(line) => (self.log)(&line),
            News::Nothing => {}
        }
    }

    /// Stops waiting for what the store has not answered in time.
    pub(super) fn give_up(&mut self, now: Instant) {
        self.keeper.give_up(now);
        for (id, refusal) in self.archive.give_up(now) {
            self.work.push_back(CoreInput::Answered { id, with: Err(refusal) });
        }
    }
}

/// The session that a report is about; a settlement is about a command.
fn session_of(report: &Report) -> Option<&SessionId> {
    match report {
        Report::Happened { session, .. }
        | Report::TurnDone { session, .. }
        | Report::Said { session, .. }
        | Report::FileWanted { session, .. }
        | Report::Signal { session, .. } => Some(session),
        Report::Menu(_) | Report::Settled { .. } => None,
    }
}

/// The session that an order is about.
pub(super) fn session_ordered(order: &Order) -> &SessionId {
    match order {
        Order::Turn(brief) => &brief.session,
        Order::Cancel { session, .. }
        | Order::AskClosed { session, .. }
        | Order::SteerWaits { session, .. }
        | Order::StoreFails { session, .. }
        | Order::PolicyChanged { session, .. }
        | Order::Consult { session, .. }
        | Order::Performed { session, .. }
        | Order::OffersGone { session }
        | Order::FileDone { session, .. }
        | Order::Forget { session } => session,
    }
}

#[cfg(test)]
mod tests {
    use crate::core::{Answer, Core, CoreInput, Engine, RequestId, Setup};
    use crate::shell::keeper::Keeping;
    use crate::shell::{EngineSeat, Files, Hub};
    use domain::ids::Millis;
    use domain::session::{Origin, RuntimePlace};
    use std::sync::Arc;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn what_comes_right_after_a_move_does_not_overtake_the_past_that_waits() {
        let place = RuntimePlace::Socket { path: "/run/far".into() };
        let origin = Origin { dialect: "far".into(), place, session: None };
        let setup = Setup::new(Engine::Followed, "/w", 1);
        let mut core = Core::new(setup.clone());
        core.keep(origin.clone());
        let (orders, _ordered) = mpsc::channel(1);
        let store = (Box::new(store::MemoryStore::new()) as Box<dyn store::Store>, Keeping::Beside);
        let (engine, log) = (EngineSeat::Driven(orders), Arc::new(|_: &str| {}));
        let (mut shell, _messages) = Hub::shell(core, setup, store, engine, Files::default(), log);
        let (session, outs) = shell.core.runtime_session(Millis(1));
        shell.sort(outs);
        let before = session.unwrap();
        shell.decide(CoreInput::Named { session: before.clone(), name: "theirs".into() });
        shell.decide(CoreInput::Told { session: before, facts: Vec::new() });
        assert!(!shell.held.is_empty(), "it waits until it is known what is kept");
        let after = origin.named("theirs").kept_as().unwrap();
        let found = Answer::Found { kept: None, free: Some(after.clone()) };
        shell.perform(CoreInput::Answered { id: RequestId(1), with: Ok(found) }.into());
        let next = CoreInput::Told { session: after, facts: Vec::new() };
        assert!(shell.held.touches(&shell.core.concerns(&next)), "the past was overtaken");
    }
}
