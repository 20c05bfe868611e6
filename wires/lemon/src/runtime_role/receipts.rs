//! What the hub answered, lowered: each command has its own reply on this wire, or none.

use super::super::lower;
use super::super::wire::frame::{
    ActiveSession, ClosedBecause, ModelName, ModelsList, Provider, SaveResult, Saved, SessionClosed,
    SessionsList, Stats, StatsLine,
};
use super::super::wire::{ALREADY_STREAMING, Frame};
use super::LemonRuntime;
use domain::command::{Command, Receipt, Refusal, RefusalKind, SessionCommand, Target};
use domain::ids::{MessageId, SessionId};
use domain::session::{Effort, ModelEntry, ModelRef, SessionSummary};
use domain::state::State;
use rolekit::session_name;
use roles::{RuntimeCx, View};
use std::collections::{BTreeMap, BTreeSet};

/// A command that waits for the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HubCommand {
    /// The session that is there from the start.
    Boot,
    Prompt(SessionId),
    Abort,
    /// The conversation is being emptied.
    Reset(SessionId),
    Save(SessionId),
    /// Numbers.
    Stats(SessionId),
    /// An answer to a question.
    Answer,
    /// Saved sessions.
    Sessions,
    Models,
    /// Which model answers at the runtime behind us.
    ModelBehind,
    /// A session is being made or opened, to be used with this model.
    Start(Option<ModelRef>),
    /// It is there and gets its model.
    StartModel {
        session: SessionId,
        model: ModelRef,
    },
    /// A session is being put in front.
    Activate {
        session: SessionId,
        /// As the client named it.
        said: String,
    },
    /// A session is being left.
    Close {
        session: SessionId,
        was_front: bool,
    },
    /// A session that could not be set up is being left; nobody needs to know.
    Undo(SessionId),
}

impl HubCommand {
    /// Whether the hub's idea of where we are changes with it.
    pub(super) fn moves(&self) -> bool {
        matches!(self, HubCommand::Start(_) | HubCommand::StartModel { .. } | HubCommand::Activate { .. })
    }

    /// Whether it takes this session away.
    pub(super) fn closes(&self, of: &SessionId) -> bool {
        matches!(self, HubCommand::Close { session, .. } | HubCommand::Undo(session) if session == of)
    }
}

impl LemonRuntime {
    /// Tells the client what became of its command.
    pub(super) fn answered(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        pending: HubCommand,
        with: Result<Receipt, Refusal>,
    ) {
        match (pending, with) {
            (HubCommand::Boot, with) => self.booted(cx, with),
            (HubCommand::Stats(session), Ok(Receipt::Stats(stats))) => {
                self.say_stats(cx, view, &session, &stats);
            }
            (HubCommand::Save(session), with) => self.saved(cx, &session, with),
            (HubCommand::Sessions, Ok(Receipt::Sessions(sessions))) => {
                self.listed = sessions.iter().map(|session| session.id.clone()).collect();
                self.elsewhere = sessions.iter().filter(|session| session.elsewhere).cloned().collect();
                let sessions = listed(sessions.into_iter().map(saved));
                cx.send(Frame::SessionsList(SessionsList { sessions, error: None }).line());
            }
            (HubCommand::Sessions, Err(refusal)) => {
                let error = Some(refusal.to_string().into());
                cx.send(Frame::SessionsList(SessionsList { sessions: Vec::new(), error }).line());
            }
            (HubCommand::ModelBehind, Ok(Receipt::Models { current, .. })) => self.model_behind(cx, current),
            (HubCommand::ModelBehind, _) => self.model_behind(cx, None),
            (HubCommand::Models, Ok(Receipt::Models { models, .. })) => {
                let providers = providers(models);
                cx.send(Frame::ModelsList(ModelsList { providers, error: None }).line());
            }
            (HubCommand::Models, Err(refusal)) => {
                let error = Some(refusal.to_string().into());
                cx.send(Frame::ModelsList(ModelsList { providers: Vec::new(), error }).line());
            }
            (HubCommand::Start(model), Ok(Receipt::Session { session, .. })) => {
                self.start(cx, view, session.id, model);
            }
            (HubCommand::Start(_), Err(refusal)) => {
                self.error(cx, &format!("failed to start session: {refusal}"), None);
            }
            (HubCommand::StartModel { session, model }, Ok(_)) => {
                if let Some(open) = self.open.get_mut(&session) {
                    open.model = Some(model);
                }
                self.started(cx, view, &session);
            }
            (HubCommand::StartModel { session, model }, Err(refusal)) => {
                let ModelRef { provider, name } = model;
                self.error(cx, &format!("invalid model: {provider}:{name}: {refusal}"), None);
                let target = Target::Session(session.clone());
                self.ask_hub(cx, target, Command::Session(SessionCommand::Close), HubCommand::Undo(session));
            }
            (HubCommand::Activate { session, .. }, Ok(_)) => {
                self.put_front(cx, &session);
            }
            (HubCommand::Activate { said, .. }, Err(_)) => self.unknown_session(cx, &said),
            (HubCommand::Close { session, was_front }, Ok(_)) => self.say_closed(cx, &session, was_front),
            (HubCommand::Close { session, .. }, Err(_)) => {
                cx.send(closed(&session_name::write(&session), ClosedBecause::Error));
            }
            (HubCommand::Prompt(session), Err(refusal)) if refusal.kind == RefusalKind::Busy => {
                self.error(cx, ALREADY_STREAMING, Some(&session));
            }
            (
                HubCommand::Prompt(session) | HubCommand::Reset(session) | HubCommand::Stats(session),
                Err(refusal),
            ) => {
                self.error(cx, &refusal.to_string(), Some(&session));
            }
            // Stopping what does not run is no error here, and an answer that comes too late is only logged.
            (HubCommand::Abort, Err(refusal)) if refusal.kind != RefusalKind::NoRun => {
                self.error(cx, &refusal.to_string(), None);
            }
            (HubCommand::Answer, Err(refusal)) => cx.log(format!("an answer was not taken: {refusal}")),
            (_, Ok(_) | Err(_)) => {}
        }
    }

    fn booted(&mut self, cx: &mut RuntimeCx<'_>, with: Result<Receipt, Refusal>) {
        if let Err(refusal) = with {
            cx.log(format!("no session at the start: {refusal}"));
        }
        if self.front.is_none() {
            self.front = self.open.keys().next().cloned();
        }
        self.say_ready(cx);
    }

    fn start(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        session: SessionId,
        model: Option<ModelRef>,
    ) {
        let Some(model) = model else { return self.started(cx, view, &session) };
        let command = Command::Session(SessionCommand::SetModel {
            provider: Some(model.provider.clone()),
            name: model.name.clone(),
        });
        let target = Target::Session(session.clone());
        self.ask_hub(cx, target, command, HubCommand::StartModel { session, model });
    }

    /// The session is there. Without another it becomes the active one.
    fn started(&mut self, cx: &mut RuntimeCx<'_>, view: Option<View<'_>>, session: &SessionId) {
        // Clients begin a session anew at this word, also one that they have open.
        let known = self.open.get(session).is_some_and(|open| open.announced);
        if let Some(view) = view.filter(|view| known && view.session == session) {
            self.tell_again(cx, view);
        }
        if self.front.is_none() {
            return self.put_front(cx, session);
        }
        self.announce(cx, session);
        self.reveal(cx, session);
    }

    /// Tells that a session is closed, and which one is in front now.
    pub(super) fn say_closed(&mut self, cx: &mut RuntimeCx<'_>, session: &SessionId, was_front: bool) {
        cx.send(closed(&session_name::write(session), ClosedBecause::Normal));
        if was_front {
            cx.send(Frame::ActiveSession(ActiveSession { session_id: None }).line());
        }
    }

    fn say_stats(
        &self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        session: &SessionId,
        stats: &domain::session::Stats,
    ) {
        let model = self.model_of(Some(session));
        let open = self.open.get(session);
        let view = view.filter(|view| view.session == session);
        let (messages, turns) = view.map_or((stats.messages, stats.turns), |view| counted(view.state));
        let effort = view.and_then(|view| view.state.settings.effort).map(level);
        // What another program does without being told is not known.
        let thinking_level = effort.or((!self.greeting.follows).then_some("off"));
        let stats = Stats {
            session_id: session_name::write(session).into(),
            message_count: messages,
            turn_count: turns,
            is_streaming: open.is_some_and(|open| open.telling.is_running()),
            cwd: open.map_or(self.greeting.cwd.as_str(), |open| open.cwd.as_str()).into(),
            model: lower::model_id(model.as_ref()),
            thinking_level,
        };
        cx.send(Frame::Stats(StatsLine { session_id: session_name::write(session).into(), stats }).line());
    }

    fn saved(&self, cx: &mut RuntimeCx<'_>, session: &SessionId, with: Result<Receipt, Refusal>) {
        let (path, error) = match with {
            Ok(Receipt::Saved { path, .. }) => (Some(path.into()), None),
            Ok(_) => (None, None),
            Err(refusal) => (None, Some(refusal.to_string().into())),
        };
        let (ok, session_id) = (error.is_none(), session_name::write(session).into());
        cx.send(Frame::SaveResult(SaveResult { ok, path, error, session_id }).line());
    }
}

/// The path is what `start_session` takes; the session's own name, since a session here is no file.
fn saved(session: SessionSummary) -> Saved<'static> {
    let name = session_name::write(&session.id);
    Saved {
        path: name.clone().into(),
        id: name.into(),
        timestamp: session.updated_at.0,
        cwd: session.cwd.into(),
        // Some wires name a session without a title by its id.
        title: Some(session.title).filter(|title| *title != session.id.as_str()).map(Into::into),
    }
}

/// The line that says that a session is closed, or why it is not.
pub(super) fn closed(session: &str, reason: ClosedBecause) -> String {
    Frame::SessionClosed(SessionClosed { session_id: session.into(), reason }).line()
}

/// How hard the model thinks, in the words of this wire, which ends at xhigh.
fn level(effort: Effort) -> &'static str {
    match effort {
        Effort::None => "off",
        Effort::Max => Effort::Xhigh.name(),
        other => other.name(),
    }
}

/// Messages and turns of the conversation as it stands: what was reset is not counted.
fn counted(state: &State) -> (u64, u64) {
    let path = state.path_to(state.leaf);
    let messages: Vec<_> = path.iter().filter_map(|entry| state.message(MessageId(entry.id.0))).collect();
    let turns: BTreeSet<_> = messages.iter().filter_map(|message| message.turn).collect();
    (messages.len() as u64, turns.len() as u64)
}

/// The first of a list that fit into one line for every client.
fn listed(sessions: impl Iterator<Item = Saved<'static>>) -> Vec<Saved<'static>> {
    let mut room = lower::MAX_LINE;
    let fits = sessions.take_while(|session| {
        let size = serde_json::to_string(session).map_or(usize::MAX, |text| text.len() + 1);
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    });
    fits.collect()
}

fn providers(models: Vec<ModelEntry>) -> Vec<Provider> {
    let mut sorted: BTreeMap<String, Vec<ModelName>> = BTreeMap::new();
    for ModelEntry { model: ModelRef { provider, name }, .. } in models {
        sorted.entry(provider).or_default().push(ModelName { id: name.clone(), name });
    }
    let providers = sorted.into_iter().map(|(id, mut models)| {
        models.sort_by(|a, b| a.id.cmp(&b.id));
        Provider { id, models }
    });
    providers.collect()
}
