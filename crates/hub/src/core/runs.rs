//! Runs of our own engine: started by a prompt, turn after turn while inputs wait, closed on every path.

use super::{Core, CoreEffect, Live};
use domain::command::{Command, PromptOptions, Receipt, Refusal, RefusalKind, RunCommand, WhenBusy};
use domain::content::{Input, Role};
use domain::event::{
    AskEvent, Body, Cause, ContextEvent, Finish, Leaving, MessageEvent, Outcome, QueueEvent, RunEvent,
    SessionEvent, ToolEvent,
};
use domain::ids::{MessageId, QueuedId, RunId, SessionId, ToolRunId, TurnId, UiId};
use domain::port::{Order, Resume, Ticket, TurnBrief, TurnEnd};
use domain::queue::{MAX_QUEUED, MAX_QUEUED_BYTES, QueueKind};
use domain::session::RunSummary;
use domain::signal::Level;
use domain::state::{Entry, EntryKind};
use domain::tool::{Decision, LONG_RESULT, Progress, ToolRun};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Long results from before the last summary that a turn can read again; a session of a month has thousands.
pub(super) const MAX_RECALLED: usize = 64;

impl Core {
    /// Starts a run, or lets the prompt wait where the UI allows that.
    pub(super) fn prompt(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: SessionId,
        input: Input,
        mut options: PromptOptions,
    ) -> Result<(), Refusal> {
        let live = self.live(&session)?;
        if let Some(run) = live.state.open_run() {
            let run = run.id;
            return match options.when_busy {
                WhenBusy::Refuse => self.idle(&session),
                WhenBusy::Queue => self.add_waiting(ui, ticket, &session, QueueKind::FollowUp, input, run),
            };
        }
        if input.text.trim().is_empty() && input.attachments.is_empty() {
            return Err(Refusal::new(RefusalKind::Invalid, "the prompt is empty"));
        }
        domain::offer::check(&options.offers)?;
        if let Some(from) = options.from {
            self.check_entry(&session, from)?;
            self.emit(&session, Body::Session(SessionEvent::LeafMoved { leaf: Some(from) }));
        }
        let run = RunId::mint(&self.live(&session)?.ids);
        self.live_mut(&session)?.prompter = Some(ui);
        self.keep_offers(ui, &session, run, std::mem::take(&mut options.offers));
        self.settle(ui, ticket, Ok(Receipt::Started { session: session.clone(), run }));
        self.emit(&session, Body::Run(RunEvent::Started { run }));
        self.begin_turn(&session, run, Cause::Prompt, input, options);
        Ok(())
    }

    fn begin_turn(
        &mut self,
        session: &SessionId,
        run: RunId,
        cause: Cause,
        input: Input,
        options: PromptOptions,
    ) {
        let Some(live) = self.sessions.get(session) else { return };
        let (turn, message) = (TurnId::mint(&live.ids), MessageId::mint(&live.ids));
        let parent = live.state.leaf;
        self.emit(session, Body::Run(RunEvent::TurnStarted { run, turn, cause }));
        self.emit(
            session,
            Body::Message(MessageEvent::Started {
                message,
                parent,
                role: Role::User,
                turn: Some(turn),
                step: None,
            }),
        );
        for part in input.parts() {
            self.emit(session, Body::Message(MessageEvent::PartAdded { message, part }));
        }
        self.emit(session, Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        let Some(brief) = self.brief(session, run, turn, input, options, None) else { return };
        let waits = self.sessions.get(session).is_some_and(|live| !live.state.queues.steer.is_empty());
        self.out.push(CoreEffect::Order(Order::Turn(Box::new(brief))));
        self.out.push(CoreEffect::Order(Order::SteerWaits { session: session.clone(), waits }));
    }

    /// Everything that the engine needs for a turn.
    pub(super) fn brief(
        &self,
        session: &SessionId,
        run: RunId,
        turn: TurnId,
        input: Input,
        mut options: PromptOptions,
        resume: Option<Resume>,
    ) -> Option<TurnBrief> {
        options.offers = self.offers(session, run);
        let attended = !self.is_overseen(session, true) || self.attended(session, true);
        let live = self.sessions.get(session)?;
        let state = &live.state;
        let (context, tools) = live.context();
        let brief = TurnBrief {
            session: session.clone(),
            run,
            turn,
            ids: live.ids.clone(),
            tools,
            input,
            options,
            cwd: state.settings.cwd.clone(),
            project: state.settings.project.clone(),
            model: state.settings.model.clone(),
            effort: state.settings.effort,
            budget: state.settings.budget,
            policy: state.settings.policy,
            before_plan: state.settings.before_plan,
            active_tools: state.settings.tools.clone(),
            attended,
            ui_context: live.ui_context.clone(),
            ui_files: self.ui_files(session),
            given_servers: live.given_servers.clone(),
            leaf: state.leaf,
            counted_tokens: state.counted_tokens(),
            used: state.spent(),
            steps: state.run(run).map_or(0, |run| run.turns.iter().map(|turn| turn.steps.len()).sum()),
            context,
            resume,
        };
        Some(brief)
    }

    /// Something that our engine did.
    pub(super) fn happened(&mut self, session: &SessionId, run: Option<RunId>, body: Body) {
        let Some(live) = self.sessions.get(session) else { return };
        if run.is_some_and(|run| !live.open_run(run)) {
            self.accepted = false;
            return;
        }
        match body {
            Body::Ask(AskEvent::Opened(ask)) if live.cancel_by.is_some() => {
                // The run is being stopped: nothing may be asked, and so allowed, any more.
                self.accepted = false;
                let closing = domain::ask::Closing::Withdrawn;
                self.out.push(CoreEffect::Order(Order::AskClosed {
                    session: session.clone(),
                    ask: ask.id,
                    closing,
                }));
            }
            Body::Tool(
                ToolEvent::Started { .. }
                | ToolEvent::Decided { decision: Decision { allowed: true, .. }, .. },
            ) if live.cancel_by.is_some() => {
                self.accepted = false;
            }
            // How a sub-agent's call is told that is about to run.
            Body::Tool(ToolEvent::Progress { progress: Progress::Status { .. }, .. })
                if live.cancel_by.is_some() =>
            {
                self.accepted = false;
            }
            // Made beside the conversation: it must not take the place of what was said since.
            Body::Context(ContextEvent::Compacted { parent, .. })
                if run.is_none() && (live.state.leaf != parent || live.state.open_run().is_some()) =>
            {
                self.accepted = false;
            }
            Body::Ask(AskEvent::Opened(ask)) => self.open_ask(session, ask),
            // A rule or another mode answers in the person's place; whoever was first wins.
            Body::Ask(AskEvent::Closed { ask, closing }) => self.close_ask(session, ask, closing, None),
            body => self.emit(session, body),
        }
    }

    /// Our engine has finished a turn: the next input that waits, or the end of the run.
    pub(super) fn turn_done(&mut self, session: &SessionId, run: RunId, turn: TurnId, end: TurnEnd) {
        let Some(live) = self.sessions.get(session) else { return };
        if !live.open_run(run)
            || live.state.open_run().and_then(|r| r.open_turn()).map(|t| t.id) != Some(turn)
        {
            return;
        }
        let outcome = match end {
            _ if live.cancel_by.is_some() => Outcome::Cancelled,
            TurnEnd::Done => Outcome::Done,
            TurnEnd::Cancelled => Outcome::Cancelled,
            TurnEnd::Failed(failure) => {
                self.notice(session, Level::Error, &failure);
                Outcome::Failed(failure)
            }
        };
        if outcome != Outcome::Done {
            return self.end_run(session, outcome);
        }
        let Some(live) = self.sessions.get(session) else { return };
        let Some(taken) = live.state.queues.next_turn() else { return self.end_run(session, Outcome::Done) };
        let closing = live.state.close_turn(&Outcome::Done);
        self.emit_all(session, closing);
        for item in taken.items {
            self.emit(session, Body::Queue(QueueEvent::Left { item, leaving: Leaving::Taken }));
        }
        self.begin_turn(session, run, taken.cause, taken.input, PromptOptions::default());
    }

    /// Ends the run under way and all in it, whoever did it.
    pub(super) fn end_run(&mut self, session: &SessionId, outcome: Outcome) {
        let Some(live) = self.sessions.get_mut(session) else { return };
        live.cancel_by = None;
        live.offered = None;
        let bodies = match &mut live.canon {
            Some(canon) => canon.close(&live.state, outcome),
            None => live.state.close_run(outcome),
        };
        self.emit_all(session, bodies);
        self.let_go(session);
    }

    /// Stops the run under way, here and at a foreign runtime, in nobody's name.
    pub(super) fn abandon(&mut self, session: &SessionId) {
        let Some(live) = self.sessions.get(session).filter(|live| live.cancel_by.is_none()) else { return };
        let Some(run) = live.state.open_run().map(|run| run.id) else { return };
        let cancel = Command::Run(RunCommand::Cancel { run: None, reason: None });
        let theirs = self.setup.engine.decides(&cancel, &self.abilities);
        if !theirs || self.setup.engine.is_stopped_here() {
            self.stop(session, run);
        }
        if theirs {
            self.next_ticket += 1;
            let (ticket, session) = (Ticket(self.next_ticket), session.clone());
            let order = Order::Consult { ticket, session, command: cancel, grounds: Box::default() };
            self.out.push(CoreEffect::Order(order));
        }
    }

    /// Stops the run under way; a late cancel of another run only says how that one ended.
    pub(super) fn cancel(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        wanted: Option<RunId>,
    ) -> Result<(), Refusal> {
        let live = self.live(session)?;
        let open = live.state.open_run().map(|run| run.id);
        if let Some(wanted) = wanted.filter(|wanted| Some(*wanted) != open) {
            // A late cancel of a run that is over must not touch the one under way.
            let Some(run) = live.state.run(wanted) else {
                return Err(Refusal::new(RefusalKind::RunUnknown, format!("there is no {wanted}")));
            };
            let outcome = run.ended.as_ref().map(|(_, outcome)| outcome.clone());
            self.settle(ui, ticket, Ok(Receipt::Cancelling { run: RunSummary { run: wanted, outcome } }));
            return Ok(());
        }
        let Some(run) = open else {
            return Err(Refusal::new(RefusalKind::NoRun, "no run is under way"));
        };
        self.settle(ui, ticket, Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
        if self.live(session)?.cancel_by.is_none() {
            self.stop(session, run);
        }
        Ok(())
    }

    /// Stops a run: asks first, so that nothing that was asked can still be allowed.
    pub(super) fn stop(&mut self, session: &SessionId, run: RunId) {
        let by = domain::ids::Millis(self.now.0 + super::CANCEL_GRACE_MS);
        let Some(live) = self.sessions.get_mut(session) else { return };
        live.cancel_by = Some(by);
        // A foreign runtime may ask before it says that its run has begun.
        let early = live.canon.is_some();
        let of_run = |ask: &&domain::ask::Ask| ask.run == Some(run) || early && ask.run.is_none();
        let asks: Vec<_> = live.state.asks.iter().filter(of_run).map(|ask| ask.id).collect();
        for ask in asks {
            self.close_ask(session, ask, domain::ask::Closing::Withdrawn, None);
        }
        self.out.push(CoreEffect::Order(Order::Cancel { session: session.clone(), run }));
        self.wake();
    }

    /// Closes every run, since the program ends: in the record, and so for every UI, before anybody's link is closed.
    pub(super) fn end_all(&mut self) {
        let open = self.own().filter_map(|(id, live)| Some((id.clone(), live.state.open_run()?.id)));
        for (session, run) in open.collect::<Vec<_>>() {
            self.out.push(CoreEffect::Order(Order::Cancel { session: session.clone(), run }));
            self.end_run(&session, Outcome::Interrupted);
        }
    }

    /// Time has passed: deadlines are looked at.
    pub(super) fn tick(&mut self, except: &BTreeSet<SessionId>) {
        let sessions: Vec<SessionId> = self.own().map(|(session, _)| session.clone()).collect();
        for session in sessions.iter().filter(|session| !except.contains(*session)) {
            self.expire_asks(session);
            self.force_cancel(session);
        }
        let sessions: Vec<SessionId> = self.sessions.keys().cloned().collect();
        for session in sessions.iter().filter(|session| !except.contains(*session)) {
            self.end_limited(session);
        }
        self.wake_but(except);
    }

    /// Asks for the next call at the earliest deadline.
    pub(super) fn wake(&mut self) {
        self.wake_but(&BTreeSet::new());
    }

    fn wake_but(&mut self, except: &BTreeSet<SessionId>) {
        let lives = self.own().filter(|(session, _)| !except.contains(*session));
        let deadlines = lives.flat_map(|(_, live)| [live.state.next_deadline(), live.cancel_by]);
        let limited = self.sessions.iter().filter(|(session, _)| !except.contains(*session));
        let limits = limited.map(|(_, live)| live.next_limit());
        if let Some(at) = deadlines.chain(limits).flatten().min() {
            self.out.push(CoreEffect::Wake(at));
        }
    }

    /// Closes a cancelled run whose engine does not end it.
    pub(super) fn force_cancel(&mut self, session: &SessionId) {
        let due = self.sessions.get(session).and_then(|live| live.cancel_by).is_some_and(|by| by <= self.now);
        if due {
            self.end_run(session, Outcome::Cancelled);
        }
    }

    /// Lets an input wait for a run that is under way.
    pub(super) fn enqueue(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        kind: QueueKind,
        input: Input,
    ) -> Result<(), Refusal> {
        match self.live(session)?.state.open_run().map(|run| run.id) {
            Some(run) if self.live(session)?.cancel_by.is_none() => {
                self.add_waiting(ui, ticket, session, kind, input, run)
            }
            _ => Err(Refusal::new(RefusalKind::NoRun, "no run is under way").hint("send a prompt instead")),
        }
    }

    fn add_waiting(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        kind: QueueKind,
        input: Input,
        run: RunId,
    ) -> Result<(), Refusal> {
        let live = self.live(session)?;
        if live.state.queues.of(kind).len() >= MAX_QUEUED {
            return Err(Refusal::new(RefusalKind::TooMany, format!("{MAX_QUEUED} inputs wait already")));
        }
        let waiting: usize = live.state.queues.all().map(|(_, waiting)| waiting.input.weight()).sum();
        if waiting + input.weight() > MAX_QUEUED_BYTES {
            let most = MAX_QUEUED_BYTES / (1024 * 1024);
            return Err(Refusal::new(RefusalKind::TooMany, format!("{most} MiB of inputs wait already")));
        }
        let (item, by) = (QueuedId::mint(&live.ids), self.name_of(ui));
        self.emit(session, Body::Queue(QueueEvent::Added { item, kind, input, by }));
        self.settle(ui, ticket, Ok(Receipt::Queued { item, run }));
        self.queue_changed(session);
        Ok(())
    }

    /// Tells our own engine that the queues look different now.
    fn queue_changed(&mut self, session: &SessionId) {
        let Some(live) = self.sessions.get(session) else { return };
        let waits = !live.state.queues.steer.is_empty();
        if live.canon.is_none() {
            self.out.push(CoreEffect::Order(Order::SteerWaits { session: session.clone(), waits }));
        }
    }

    /// Changes an input that still waits.
    pub(super) fn edit_queued(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        item: QueuedId,
        input: Input,
    ) -> Result<(), Refusal> {
        self.check_waiting(session, item)?;
        self.emit(session, Body::Queue(QueueEvent::Edited { item, input }));
        self.done(ui, ticket)
    }

    /// Takes back an input that still waits.
    pub(super) fn drop_queued(
        &mut self,
        ui: UiId,
        ticket: Ticket,
        session: &SessionId,
        item: QueuedId,
    ) -> Result<(), Refusal> {
        self.check_waiting(session, item)?;
        self.emit(session, Body::Queue(QueueEvent::Left { item, leaving: Leaving::Dropped }));
        self.queue_changed(session);
        self.done(ui, ticket)
    }

    fn check_waiting(&self, session: &SessionId, item: QueuedId) -> Result<(), Refusal> {
        let given = self.going_on.values().any(|next| next.items.contains(&item));
        let waits = !given && self.live(session)?.state.queues.all().any(|(_, waiting)| waiting.id == item);
        let gone = || {
            Refusal::new(RefusalKind::QueuedUnknown, "this input no longer waits")
                .hint("it may have been taken already")
        };
        waits.then_some(()).ok_or_else(gone)
    }
}

impl Live {
    /// What goes to the model, the tool runs named in it, and the newest long ones of the part that a summary stands for: the model may
    /// want to read what those gave again.
    pub(super) fn context(&self) -> (Vec<Arc<Entry>>, Vec<Arc<ToolRun>>) {
        let path = self.state.context_path().into_iter();
        let context: Vec<Arc<Entry>> =
            path.filter_map(|entry| self.state.entries.get(&entry.id)).cloned().collect();
        let named: BTreeSet<ToolRunId> = context.iter().flat_map(|entry| tools_of(entry)).collect();
        let is_long =
            |run: &&Arc<ToolRun>| run.result.as_ref().is_some_and(|result| result.text.len() > LONG_RESULT);
        let before = self.state.path().into_iter().rev().flat_map(tools_of).filter(|id| !named.contains(id));
        let before = before.filter_map(|id| self.state.tools.get(&id)).filter(is_long).take(MAX_RECALLED);
        let tools = before.chain(named.iter().filter_map(|id| self.state.tools.get(id))).cloned().collect();
        (context, tools)
    }
}

/// The tool runs that an entry names.
fn tools_of(entry: &Entry) -> impl Iterator<Item = ToolRunId> {
    let message = match &entry.kind {
        EntryKind::Message(message) => Some(message),
        EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
    };
    message.into_iter().flat_map(|message| message.tools())
}
