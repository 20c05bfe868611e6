//! Foreign runtimes: commands are passed on, facts go through the canon, events of lossless wires are mirrored.

use super::attached_uis::done;
use super::engine::Settled;
use super::secrets::mask_state;
use super::{
    Core, CoreEffect, CoreInput, GoingOn, Live, MAX_CONSULTED, MAX_MIRRORED, MAX_STREAMED, OpenConsultation,
};
use domain::ask::Closing;
use domain::command::{Command, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand, Target};
use domain::event::{
    AskEvent, Body, Event, Failure, Leaving, MessageEvent, Outcome, QueueEvent, RunEvent, SessionEvent,
};
use domain::fact::{Fact, Said};
use domain::ids::{QueuedId, SessionId, UiId};
use domain::port::{Grounds, Order, Ticket};
use domain::session::RunSummary;
use domain::signal::{Board, Level};
use domain::state::State;
use domain::weight::THING_BYTES;
use std::sync::Arc;

/// Why a runtime is let go that does not stop talking though nothing of it is kept any more.
const FLOODED: &str = "it floods us: a million words and more in a row that belong to no run, or to one that is full. Start it again";

/// Why a lossless runtime is let go that streams one message without end.
const ENDLESS: &str = "it streams one message of more than 8 MiB, which nobody can read. Start it again";

impl Core {
    /// Passes a command on to the engine; its answer comes as a report.
    pub(super) fn consult(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        command: Command,
    ) -> Result<(), Refusal> {
        self.consult_then(ui, ticket, session, command, None)
    }

    /// The same for a command that only leads to another one.
    pub(super) fn consult_then(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        command: Command,
        then: Option<Box<CoreInput>>,
    ) -> Result<(), Refusal> {
        self.check_stays(&command)?;
        self.set_to_work(&session, &command);
        if matches!(command, Command::Run(RunCommand::Prompt { .. }))
            && let Some(live) = self.sessions.get_mut(&session)
        {
            live.prompter = Some(ui);
        }
        if matches!(command, Command::Run(RunCommand::Cancel { .. }))
            && self.setup.engine.is_stopped_here()
            && let Some(run) = self.live(&session)?.state.open_run().map(|run| run.id)
        {
            self.stop(&session, run);
        }
        if self.consulted.len() >= MAX_CONSULTED {
            let refusal =
                Refusal::new(RefusalKind::TooMany, format!("{MAX_CONSULTED} commands wait for an answer"));
            return Err(refusal.hint("wait for the runtime, or start it again"));
        }
        let command = match command {
            Command::Answer { ask, answer } => {
                self.learn(&session, ask, &answer)?;
                Command::Answer { ask, answer: self.unmask_answer(&session, answer) }
            }
            command => command,
        };
        let needs_context = matches!(command, Command::Run(RunCommand::Compact { .. }));
        let grounds = Box::new(self.grounds(&session, needs_context));
        self.next_ticket += 1;
        let consult = Ticket(self.next_ticket);
        let consulted =
            OpenConsultation { ui, ticket, session: session.clone(), command: command.clone(), then };
        self.consulted.insert(consult, consulted);
        self.out.push(CoreEffect::Order(Order::Consult { ticket: consult, session, command, grounds }));
        Ok(())
    }

    /// How a session stands, for an engine that is asked about it.
    fn grounds(&self, session: &SessionId, with_context: bool) -> Grounds {
        let Ok(live) = self.live(session) else { return Grounds::default() };
        let (settings, leaf) = (&live.state.settings, live.state.leaf);
        let (context, tools) = if with_context { live.context() } else { (Vec::new(), Vec::new()) };
        Grounds {
            ids: live.ids.clone(),
            cwd: settings.cwd.clone(),
            project: settings.project.clone(),
            model: settings.model.clone(),
            effort: settings.effort,
            policy: settings.policy,
            active_tools: settings.tools.clone(),
            leaf,
            context,
            tools,
            counted_tokens: live.state.counted_tokens(),
            given_servers: self
                .sessions
                .get(session)
                .map(|live| live.given_servers.clone())
                .unwrap_or_default(),
        }
    }

    /// The engine settled a command that was passed on to it.
    pub(super) fn consult_settled(&mut self, ticket: Ticket, with: Result<Receipt, Refusal>) {
        if let Some(next) = self.going_on.remove(&ticket) {
            return self.went_on(next, with);
        }
        let Some(consulted) = self.consulted.remove(&ticket) else { return };
        let OpenConsultation { ui, ticket, session, command, then } = consulted;
        let with = self.mask_settled(&session, with);
        if let Some(then) = then {
            return self.arrived_there(ui, ticket, &command, with, *then);
        }
        if self.has_forgotten(&command, &with) {
            let (target, command) = (Target::Current, self.inward(command));
            return self.take_command(ui, ticket, target, command);
        }
        if let Some(session) = with.as_ref().err().and_then(|refusal| self.take_as(&command, refusal)) {
            let entered = self.enter(ui, ticket, &session);
            debug_assert!(entered.is_ok(), "the session is here");
            return;
        }
        if let (Ok(_), Some(done)) = (&with, done(&command)) {
            self.tell_others(ui, &session, done);
        }
        let engine = self.sessions.get(&session).map_or(self.setup.engine, |live| live.engine);
        if let (Ok(Receipt::Started { run, .. }), Some(live)) = (&with, self.sessions.get_mut(&session)) {
            live.own_run = Some(*run);
        }
        let settled = with.as_ref().ok().map(|receipt| engine.settled(&command, receipt));
        let with = match (settled, with) {
            (Some(Settled::Foreign), Ok(receipt)) => {
                return self.followed(ui, ticket, session, &command, receipt);
            }
            (Some(Settled::Changes(body)), with) => {
                self.emit(&session, body);
                with
            }
            (_, with) => with,
        };
        let with =
            match (with, self.sessions.get(&session).and_then(|live| live.state.settings.model.clone())) {
                (Ok(Receipt::Models { models, .. }), Some(current)) => {
                    Ok(Receipt::Models { models, current: Some(current) })
                }
                (with, _) => with,
            };
        if let (Err(_), Command::Run(RunCommand::Cancel { .. })) = (&with, &command)
            && let Some(live) = self.sessions.get_mut(&session)
        {
            live.cancel_by = None;
        }
        self.settle(ui, ticket, with);
    }

    /// A foreign runtime took a command: what it means here, with our ids in the receipt. The receipt goes first.
    fn followed(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        command: &Command,
        receipt: Receipt,
    ) {
        match (receipt, command) {
            (_, Command::Run(RunCommand::Prompt { .. })) => {
                let Some(live) = self.sessions.get_mut(&session) else { return };
                let Some(canon) = &mut live.canon else { return };
                let (run, bodies) = canon.begin(&live.state);
                self.settle(ui, ticket, Ok(Receipt::Started { session: session.clone(), run }));
                self.emit_all(&session, bodies);
            }
            (Receipt::Done, Command::Queue(QueueCommand::Add { .. })) => {
                let Some(live) = self.sessions.get(&session) else { return };
                let run = live.state.open_run().map(|run| run.id);
                let receipt = match run {
                    Some(run) => Receipt::Queued { item: QueuedId::mint(&live.ids), run },
                    None => Receipt::Done,
                };
                self.settle(ui, ticket, Ok(receipt));
            }
            (_, Command::Run(RunCommand::Cancel { .. })) => {
                let open =
                    self.sessions.get(&session).and_then(|live| live.state.open_run()).map(|run| run.id);
                let receipt = match open {
                    Some(run) => Receipt::Cancelling { run: RunSummary { run, outcome: None } },
                    None => Receipt::Done,
                };
                self.settle(ui, ticket, Ok(receipt));
            }
            (Receipt::Session { session: mut summary, parent }, command) => {
                summary.id = self.stand(command, &summary);
                if let Some(live) = self.sessions.get_mut(&summary.id) {
                    live.is_known = true;
                }
                self.attach(ui, &summary.id);
                self.settle(ui, ticket, Ok(Receipt::Session { session: summary, parent }));
            }
            (Receipt::Sessions(mut listed), _) => {
                for summary in &mut listed {
                    summary.id = self.here(&summary.id);
                }
                match command {
                    Command::Library(list) if self.keeps_theirs() => {
                        if let Err(refusal) = self.list_kept(ui, ticket, list, Some(listed)) {
                            self.settle(ui, ticket, Err(refusal));
                        }
                    }
                    _ => self.settle(ui, ticket, Ok(Receipt::Sessions(listed))),
                }
            }
            (Receipt::Leaf(leaf), _) => {
                self.settle(ui, ticket, Ok(Receipt::Leaf(leaf)));
                self.emit(&session, Body::Session(SessionEvent::LeafMoved { leaf }));
            }
            (receipt, _) => self.settle(ui, ticket, Ok(receipt)),
        }
    }

    /// A foreign runtime said something.
    pub(super) fn said(&mut self, session: &SessionId, fact: Fact) {
        let now = self.now;
        let Some(live) = self.sessions.get_mut(session) else { return };
        let Some(canon) = &mut live.canon else { return };
        let waits = live.cancel_by.is_none() && live.state.queues.all().next().is_some();
        if waits && canon.is_end_of_open(&live.state, &fact) {
            return self.go_on(session);
        }
        if let Said::NeedsNoConsent { tool } = &fact.said {
            let tool = tool.clone();
            return live.clear(tool);
        }
        let bodies = canon.take(&live.state, now, fact);
        if canon.is_flooded() {
            self.out.push(CoreEffect::LetGo(FLOODED.to_owned()));
        }
        let mut unasked = None;
        for body in bodies {
            unasked = unasked.or_else(|| self.unasked(session, &body));
            match body {
                Body::Ask(AskEvent::Opened(ask)) => {
                    let (id, stopping) = (ask.id, self.sessions.get(session).is_some_and(Live::is_stopping));
                    self.open_ask(session, ask);
                    if stopping {
                        // Nothing may be allowed any more, and the runtime must not wait for an answer.
                        self.close_ask(session, id, Closing::Withdrawn, None);
                    }
                }
                Body::Run(RunEvent::Ended { run, outcome }) => {
                    let cancelled = self.sessions.get(session).is_some_and(|live| live.cancel_by.is_some());
                    let outcome = match outcome {
                        // Some runtimes end a cancelled run as if nothing had happened.
                        Outcome::Done if cancelled => Outcome::Cancelled,
                        outcome => outcome,
                    };
                    if let Some(live) = self.sessions.get_mut(session) {
                        live.cancel_by = None;
                    }
                    if outcome == Outcome::Cancelled {
                        let left: Vec<_> = match self.sessions.get(session) {
                            Some(live) => live.state.queues.all().map(|(_, w)| w.id).collect(),
                            None => Vec::new(),
                        };
                        for item in left {
                            self.emit(
                                session,
                                Body::Queue(QueueEvent::Left { item, leaving: Leaving::Cleared }),
                            );
                        }
                    }
                    self.emit(session, Body::Run(RunEvent::Ended { run, outcome }));
                }
                body => self.emit(session, body),
            }
        }
        if let Some(tool) = unasked {
            self.stop_unasked(session, &tool);
        }
    }

    /// The runtime has no queue of its own: what waits here is its next prompt, and for everybody here the next turn of the same run.
    fn go_on(&mut self, session: &SessionId) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        let (Some(taken), Some(canon)) = (live.state.queues.next_turn(), &mut live.canon) else { return };
        let bodies = canon.go_on(&live.state, taken.cause);
        self.emit_all(session, bodies);
        self.next_ticket += 1;
        let ticket = Ticket(self.next_ticket);
        self.going_on.insert(ticket, GoingOn { session: session.clone(), items: taken.items });
        let order = Order::Consult {
            ticket,
            session: session.clone(),
            command: Command::Run(RunCommand::Prompt {
                input: self.unmask_input(session, taken.input),
                options: domain::command::PromptOptions::default(),
            }),
            grounds: Box::default(),
        };
        self.out.push(CoreEffect::Order(order));
    }

    /// The runtime took what waited, or did not: then the run is over, and the input goes back to who gave it.
    fn went_on(&mut self, next: GoingOn, with: Result<Receipt, Refusal>) {
        let GoingOn { session, items } = next;
        let Some(live) = self.sessions.get(&session) else { return };
        let Err(refusal) = with else {
            let waits = |item: &QueuedId| live.state.queues.all().any(|(_, waiting)| waiting.id == *item);
            let taken: Vec<QueuedId> = items.into_iter().filter(waits).collect();
            for item in taken {
                self.emit(&session, Body::Queue(QueueEvent::Left { item, leaving: Leaving::Taken }));
            }
            return;
        };
        let outcome = match refusal.kind {
            _ if live.cancel_by.is_some() => Outcome::Cancelled,
            RefusalKind::Lost => Outcome::Lost,
            _ => Outcome::Failed(Failure::new(
                "not_taken",
                format!("the runtime refused what was queued: {refusal}"),
            )),
        };
        if live.state.open_run().is_some() {
            if let Outcome::Failed(failure) = &outcome {
                self.notice(&session, Level::Error, failure);
            }
            self.end_run(&session, outcome);
        }
    }

    /// A lossless runtime showed a session: every UI here goes where it is.
    pub(super) fn mirror(&mut self, session: SessionId, state: State, board: Board) {
        if self.setup.engine.is_ours() {
            return self.shown_again(&session, state, board);
        }
        let secrets = self.sessions.remove(&session).map(|live| live.secrets).unwrap_or_default();
        let mut live = Live::new(mask_state(&secrets, state), self.setup.engine);
        (live.secrets, live.sharing) = (secrets, self.setup.sharing);
        live.mirrored = live.state.weight();
        if live.mirrored > MAX_MIRRORED {
            return self.out.push(CoreEffect::LetGo(too_large()));
        }
        live.board = board;
        live.grammar = None;
        self.sessions.insert(session.clone(), live);
        self.runtime_session = Some(session.clone());
        let uis: Vec<UiId> = self.uis.keys().copied().collect();
        for ui in uis {
            if let Some(seat) = self.uis.get_mut(&ui) {
                seat.seen.remove(&session);
            }
            self.attach(ui, &session);
        }
    }

    /// Takes an event of a lossless runtime as it is, within bounds.
    pub(super) fn mirror_event(&mut self, session: &SessionId, event: Arc<Event>) {
        for event in self.masked_events(session, event) {
            let Some(live) = self.sessions.get_mut(session) else { return };
            match live.state.follow(&event) {
                Ok(()) => {
                    let overfull = live.overfull(&event);
                    if self.is_visited(session) {
                        self.publish(session, event.clone());
                        if let Body::Ask(AskEvent::Opened(ask)) = &event.body {
                            self.decline_mirrored(session, ask);
                        }
                        overfull.into_iter().for_each(|why| self.visit_over(session, &why));
                        continue;
                    }
                    if let Some(why) = overfull {
                        return self.out.push(CoreEffect::LetGo(why));
                    }
                    self.publish(session, event.clone());
                    if let Body::Ask(AskEvent::Opened(ask)) = &event.body {
                        self.decline_mirrored(session, ask);
                    }
                    if let Some(tool) = self.unasked(session, &event.body) {
                        return self.stop_unasked(session, &tool);
                    }
                }
                Err(why) => self.log(session, format!("mirror of {session}: {why}")),
            }
        }
    }
}

/// Why a session is not shown here.
pub(super) fn too_large() -> String {
    let most = MAX_MIRRORED / (1024 * 1024);
    format!(
        "its session holds more than {most} MiB, which is more than can be shown here. Open it where it runs"
    )
}

impl Live {
    /// Whether its run is asked to stop.
    fn is_stopping(&self) -> bool {
        self.cancel_by.is_some()
    }

    /// Counts an event of a mirrored session; why the runtime cannot be borne any longer, when that is so.
    fn overfull(&mut self, event: &Event) -> Option<String> {
        self.mirrored += event.body.weight() + if event.body.adds() { THING_BYTES } else { 0 };
        if let Body::Message(MessageEvent::Delta { message, text, .. }) = &event.body {
            let before = self.streamed.filter(|(of, _)| of == message).map_or(0, |(_, bytes)| bytes);
            self.streamed = Some((*message, before + text.len()));
            if before + text.len() > MAX_STREAMED {
                return Some(ENDLESS.to_owned());
            }
        }
        if self.mirrored > MAX_MIRRORED {
            // Counted from below: some of what was said took the place of something else.
            self.mirrored = self.state.weight();
        }
        (self.mirrored > MAX_MIRRORED).then(too_large)
    }
}
