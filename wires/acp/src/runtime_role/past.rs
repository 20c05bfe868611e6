//! Sessions as the client comes to know of them, and what happens in them: events to updates.

use super::super::wire::{
    CompactionStatus, CompactionUpdate, ContentBlock, ContentChunk, Cost, Meta, Own, Plan, PlanEntry,
    PlanStatus, RunNote, SessionInfoUpdate, SessionUpdate, UsageNote, UsageUpdate,
};
use super::known::{self, Known};
use super::requests::AcpMemo;
use super::telling::{Shows, Telling};
use super::{AcpRuntime, options, sessions};
use domain::content::{Role, Usage};
use domain::event::{
    Body, Compaction, ContextEvent, Leaving, MessageEvent, NoteEvent, Outcome, PlanItem, PlanState,
    QueueEvent, RunEvent, SessionEvent,
};
use domain::ids::{MessageId, Millis, RunId, SessionId};
use domain::signal::Level;
use domain::state::{EntryKind, State};
use roles::{RuntimeCx, View};
use wire::time;

impl AcpRuntime {
    fn shows(&self) -> Shows {
        Shows { ours: self.is_ours(), output: self.shows_output() }
    }

    /// The hub shows a session: one that the client asked for, one that it was put into, or again after a gap.
    pub(super) fn shown(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        let own = &view.state.settings.cwd;
        let believed = |memo: &AcpMemo| {
            memo.believes(view.session).is_some_and(|cwd| sessions::elsewhere(cwd, own).is_some())
        };
        if self.endpoint.memos().any(believed) {
            return;
        }
        let (new, loads) = (
            self.endpoint.memos().any(|memo| memo.gives(view.session)),
            self.endpoint.memos().any(|memo| memo.loads(view.session)),
        );
        if let Some(known) = self.sessions.get_mut(view.session) {
            if known.heard < view.state.seq {
                known.heard = view.state.seq;
                let missed = known.telling.as_mut().map(|telling| telling.catch_up(view.state));
                for update in missed.into_iter().flatten() {
                    known.say(cx, view.session, update);
                }
                self.run_over_meanwhile(cx, view);
            }
        } else if new || loads || view.current && self.endpoint.memos().any(AcpMemo::makes) {
            self.know(cx, view, loads);
        }
    }

    /// The client is about to have a session; what it holds is told again where that was asked for.
    pub(super) fn know(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, again: bool) {
        let mut known = Known::new(view.state);
        let shows = self.shows();
        if again {
            for update in past(view.state, &known.cwd, shows) {
                cx.send(known::update_line(view.session, update));
            }
            known.replayed = true;
        }
        if let Some(run) = view.state.open_run() {
            let (telling, begun) = if again {
                Telling::again(run.id, shows, &known.cwd, view.state)
            } else {
                Telling::amid(run.id, shows, &known.cwd, view.state)
            };
            // What it said so far belongs to what is loaded; without that it goes on from here, once the client has the session. Our own
            // UIs tell a run from a past by where it stands.
            let before = again && !self.is_ours();
            for update in std::iter::once(run_note(run.id, "started", None)).chain(begun) {
                if before {
                    cx.send(known::update_line(view.session, update));
                } else {
                    known.say(cx, view.session, update);
                }
            }
            known.telling = Some(telling);
        }
        self.sessions.insert(view.session.clone(), known);
        for ask in &view.state.asks {
            self.ask_opened(cx, view, ask);
        }
    }

    /// Events of a gap may hold the end of the run that was told.
    fn run_over_meanwhile(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>) {
        let Some(known) = self.sessions.get_mut(view.session) else { return };
        let told = known.telling.as_ref().map(Telling::run);
        let ended = told.and_then(|run| view.state.run(run)).and_then(|run| run.ended.clone());
        if let (Some(run), Some((_, outcome))) = (told, ended) {
            self.run_ended(cx, view, run, &outcome);
        }
    }

    /// Says what happened, as far as this wire has words for it.
    pub(super) fn tell(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, at: Millis, body: &Body) {
        let (session, shows) = (view.session, self.shows());
        match body {
            Body::Run(RunEvent::Started { run }) => self.run_started(cx, session, *run),
            Body::Queue(QueueEvent::Left { item, leaving }) => {
                let Some(known) = self.sessions.get_mut(session) else { return };
                match leaving {
                    Leaving::Taken => known.prompts.taken(*item),
                    Leaving::Dropped | Leaving::Cleared => known.prompts.dropped(cx, *item),
                }
            }
            Body::Run(RunEvent::TurnStarted { cause, .. }) => {
                if let Some(known) = self.sessions.get_mut(session)
                    && known.prompts.turn_begins(cx, *cause)
                    && let Some(telling) = &mut known.telling
                {
                    telling.own_turn();
                }
            }
            Body::Session(event) => self.session_event(cx, view, event),
            Body::Context(ContextEvent::Measured { used, window, .. }) => {
                let update = usage(*used, *window, view.state.usage);
                self.say(cx, session, update);
            }
            Body::Context(ContextEvent::Compacted { entry, compaction, .. }) => {
                self.compacted(cx, session, &entry.to_string(), compaction);
            }
            Body::Note(NoteEvent::PlanChanged { items }) => self.say(cx, session, plan(items)),
            Body::Note(NoteEvent::Noticed { level, text, run, .. }) => {
                // The end of the run says the same to whoever prompted it.
                let prompted = self.sessions.get(session).is_some_and(|known| known.prompts.len() > 0);
                if *level != Level::Error || run.is_none() || !prompted {
                    self.notice(cx, session, *level, text);
                }
            }
            Body::Run(RunEvent::Retrying { attempt, max, reason, .. }) => {
                let text = format!("The model will be asked again ({attempt} of {max}).\n{reason}");
                self.notice(cx, session, Level::Warning, &text);
            }
            _ => {}
        }
        let Some(known) = self.sessions.get_mut(session) else { return };
        if known.telling.is_none()
            && let (Body::Message(MessageEvent::Started { .. }), Some(run)) = (body, view.state.open_run())
        {
            known.telling = Some(Telling::new(run.id, shows, &known.cwd, false));
        }
        let updates = known.telling.as_mut().map(|telling| telling.hear(at, body)).unwrap_or_default();
        for update in updates {
            known.say(cx, session, update);
        }
        if let Body::Run(RunEvent::Ended { run, outcome }) = body {
            self.run_ended(cx, view, *run, outcome);
        }
    }

    fn run_started(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, run: RunId) {
        let shows = self.shows();
        let Some(known) = self.sessions.get_mut(session) else { return };
        let own = known.prompts.began(run);
        known.telling = Some(Telling::new(run, shows, &known.cwd, own));
        if !own {
            known.say(cx, session, run_note(run, "started", None));
        } else {
            known.say_unsaid(cx, session);
        }
    }

    /// All of a run was told; whoever prompted it hears how it ended, and last.
    fn run_ended(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, run: RunId, outcome: &Outcome) {
        let ours = self.is_ours();
        let Some(known) = self.sessions.get_mut(view.session) else { return };
        let telling = known.telling.take_if(|telling| telling.run() == run);
        let cut = telling.is_some_and(|telling| telling.cut);
        let title = view.state.title();
        if title != known.told.title {
            known.told.title.clone_from(&title);
            known.say(cx, view.session, titled(title, view.state.updated_at));
        }
        if known.prompts.len() == 0 {
            let (state, message) = outcome_words(outcome);
            return known.say(cx, view.session, run_note(run, state, message));
        }
        let used = view.state.run(run).map(domain::state::Run::usage).filter(|_| ours);
        let mut meta = known::cursor(view.state);
        if let (Some(used), Some(own)) = (used, meta.as_mut().and_then(|meta| meta.parlor.as_mut())) {
            own.usage = Some(usage_note(used));
        }
        known.prompts.ended(cx, outcome, cut, meta);
    }

    fn session_event(&mut self, cx: &mut RuntimeCx<'_>, view: View<'_>, event: &SessionEvent) {
        let models = self.models.clone().unwrap_or_default();
        let (can, usual, follows) = (self.endpoint.can(), self.usual_model(), self.endpoint.greeting.follows);
        let Some(known) = self.sessions.get_mut(view.session) else { return };
        match event {
            SessionEvent::Renamed { title } => {
                if known.told.title != *title {
                    known.told.title.clone_from(title);
                    known.say(cx, view.session, titled(title.clone(), view.state.updated_at));
                }
                return;
            }
            SessionEvent::ModelChosen { model } => known.told.model = Some(model.clone()),
            SessionEvent::EffortChosen { effort } => known.told.effort = *effort,
            // No word of this wire is about it.
            SessionEvent::BudgetChosen { .. } => return,
            SessionEvent::PolicyChosen { policy } => {
                known.told.policy = *policy;
                if can.policy {
                    known.say(cx, view.session, options::mode_update(*policy));
                }
            }
            SessionEvent::Opened { .. }
            | SessionEvent::CameFrom { .. }
            | SessionEvent::ToolsChosen { .. }
            | SessionEvent::LeafMoved { .. } => return,
        }
        let all = options::all(&known.told, &models, usual.as_ref(), &can, follows);
        known.say(cx, view.session, options::update(all));
    }

    fn compacted(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, id: &str, compaction: &Compaction) {
        if self.shows_compaction() {
            return self.say(cx, session, compaction_update(id, compaction));
        }
        let asked = self.endpoint.memos().any(|memo| memo.compacts(session));
        let Some(known) = self.sessions.get_mut(session) else { return };
        if asked {
            let words =
                format!("A summary stands in the place of older messages now:\n\n{}", compaction.summary);
            known.say(cx, session, known::aside(&words));
        } else {
            known.warn(cx, session, "A summary stands in the place of older messages now.");
        }
    }
}

fn compaction_update(id: &str, compaction: &Compaction) -> SessionUpdate {
    SessionUpdate::Compaction(CompactionUpdate {
        compaction_id: id.to_owned(),
        status: CompactionStatus::Completed,
        summary: Some(vec![ContentBlock::text(compaction.summary.clone())]),
        ..CompactionUpdate::default()
    })
}

/// What a session holds, as `session/load` tells it again: the path to its tip, with every call in its final state.
fn past(state: &State, cwd: &str, shows: Shows) -> Vec<SessionUpdate> {
    let path: Vec<MessageId> = state
        .path()
        .iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) => Some(message.id),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        })
        .collect();
    let mut updates = outside(state, &path);
    for run in state.runs.iter().filter(|run| run.ended.is_some()) {
        let mut telling = Telling::new(run.id, Shows { output: false, ..shows }, cwd, false);
        for (at, body) in state.replay_run(run.id) {
            if on_path(&body, &path) {
                updates.extend(telling.hear(at, &body));
            }
        }
    }
    updates
}

/// Whether something that happened belongs to the conversation as it stands: other branches are not told.
fn on_path(body: &Body, path: &[MessageId]) -> bool {
    match body {
        Body::Message(
            MessageEvent::Started { message, .. }
            | MessageEvent::Delta { message, .. }
            | MessageEvent::PartAdded { message, .. }
            | MessageEvent::Ended { message, .. },
        ) => path.contains(message),
        Body::Tool(domain::event::ToolEvent::Proposed { message, .. }) => path.contains(message),
        _ => true,
    }
}

/// Messages that no run holds, such as those of a session that was read from a file.
fn outside(state: &State, path: &[MessageId]) -> Vec<SessionUpdate> {
    let messages = path.iter().filter_map(|id| state.message(*id)).filter(|message| message.run.is_none());
    let mut updates = Vec::new();
    for message in messages {
        let blocks = message.parts.iter().filter_map(|part| super::super::blocks::lower_part(part, true));
        for content in blocks {
            let message_id = Some(message.id.to_string());
            let chunk = ContentChunk { content, message_id, ..ContentChunk::default() };
            updates.push(match message.role {
                Role::User => SessionUpdate::UserMessage(chunk),
                Role::Assistant | Role::System => SessionUpdate::AgentMessage(chunk),
            });
        }
    }
    updates
}

/// The whole list of what the agent means to do.
pub(super) fn plan(items: &[PlanItem]) -> SessionUpdate {
    let entry = |item: &PlanItem| PlanEntry {
        content: item.text.clone(),
        status: match item.state {
            PlanState::Pending => PlanStatus::Pending,
            PlanState::Active => PlanStatus::InProgress,
            PlanState::Done => PlanStatus::Completed,
        },
        ..PlanEntry::default()
    };
    SessionUpdate::Plan(Plan { entries: items.iter().map(entry).collect(), ..Plan::default() })
}

/// How full the context is, and what the session has cost.
pub(super) fn usage(used: u64, size: u64, spent: Usage) -> SessionUpdate {
    let cost = (spent.cost_micros > 0).then(|| Cost {
        amount: spent.cost_micros as f64 / 1e6,
        currency: "USD".to_owned(),
        ..Cost::default()
    });
    SessionUpdate::Usage(UsageUpdate { used, size, cost, ..UsageUpdate::default() })
}

fn usage_note(used: Usage) -> UsageNote {
    UsageNote {
        input: used.input,
        output: used.output,
        cache_read: used.cache_read,
        cache_write: used.cache_write,
        cost_micros: used.cost_micros,
        ..UsageNote::default()
    }
}

fn titled(title: String, at: Millis) -> SessionUpdate {
    let updated_at = Some(Some(time::write(at.0)));
    SessionUpdate::SessionInfo(SessionInfoUpdate {
        title: Some(Some(title)),
        updated_at,
        ..Default::default()
    })
}

/// A run that no prompt of this client began has no request: this is how it begins and ends.
fn run_note(run: RunId, state: &str, message: Option<String>) -> SessionUpdate {
    let note = RunNote { id: run.to_string(), state: state.to_owned(), message, ..RunNote::default() };
    let parlor = Some(Own { run: Some(note), ..Own::default() });
    let meta = Some(Meta { parlor, ..Meta::default() });
    SessionUpdate::SessionInfo(SessionInfoUpdate { meta, ..SessionInfoUpdate::default() })
}

fn outcome_words(outcome: &Outcome) -> (&'static str, Option<String>) {
    match outcome {
        Outcome::Done => ("done", None),
        Outcome::Failed(failure) => ("failed", Some(failure.message.clone())),
        Outcome::Cancelled => ("cancelled", None),
        Outcome::Interrupted => ("interrupted", None),
        Outcome::Lost => ("lost", None),
    }
}
