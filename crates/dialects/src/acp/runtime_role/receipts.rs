//! What becomes of commands: receipts and refusals as answers to the client's requests.

use super::super::wire::{
    ListSessionsResult, NewSessionResult, Nothing, PromptResult, SessionInfo, SessionSetup,
    SetConfigOptionResult, SteeringOutcome, SteeringResult, code,
};
use super::known;
use super::requests::prompt_command;
use super::{AcpRuntime, options};
use domain::command::{
    Command, ListCommand, QueueCommand, Receipt, Refusal, RefusalKind, SessionCommand, Target,
};
use domain::content::{Input, Json};
use domain::ids::SessionId;
use domain::port::Abilities;
use domain::queue::QueueKind;
use domain::session::{ModelRef, SessionSummary};
use domain::signal::Level;
use roles::{RuntimeCx, RuntimeEffect, View};
use serde_json::json;
use std::path::Path;
use wire::jsonrpc::{self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError};
use wire::{WireId, time};

/// Sessions in one answer of a list.
const PAGE: usize = 100;
/// How often a prompt goes from the queue to a run of its own and back, where runs begin and end meanwhile.
const MAX_STEPS: u8 = 4;
/// What a client is told that passes servers.
const NO_SERVERS: &str = "The agent behind this one does not get the MCP servers of the editor.";

/// How a session is given to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    New,
    /// With its past.
    Load,
    Resume,
}

/// Which request changed how a session is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changed {
    /// Answered with nothing.
    Mode,
    /// Answered with all options.
    Option,
}

/// How often a prompt was tried.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Steps(u8);

/// A command that waits for the hub, and what its answer is for.
#[derive(Debug)]
pub(super) enum HubCommand {
    /// Nobody waits.
    Silent,
    Open {
        id: WireId,
        session: Option<SessionId>,
        /// Where the client believes that the session works.
        cwd: Option<String>,
        opening: Opening,
        servers: bool,
    },
    /// The models that go into the answer.
    Models {
        id: WireId,
        session: SessionId,
        opening: Opening,
        servers: bool,
    },
    Logout {
        id: WireId,
    },
    /// What can be typed in a session.
    Skills {
        session: SessionId,
    },
    List {
        id: WireId,
        cwd: Option<String>,
        from: usize,
    },
    Done {
        id: WireId,
    },
    Delete {
        id: WireId,
    },
    Prompt {
        id: WireId,
        session: SessionId,
        input: Input,
        steps: Steps,
    },
    Compact {
        id: WireId,
        session: SessionId,
    },
    Steer {
        id: WireId,
        session: SessionId,
        /// What begins a turn where nothing runs.
        input: Option<Input>,
    },
    /// A turn that begins with what was meant as a steer.
    SteeredAnew {
        id: WireId,
    },
    Set {
        id: WireId,
        session: SessionId,
        command: SessionCommand,
        changed: Changed,
    },
}

impl HubCommand {
    /// Whether it takes this link to the session.
    pub(super) fn goes_to(&self, session: &SessionId) -> bool {
        matches!(self, HubCommand::Open { session: to, .. } if to.as_ref().is_none_or(|to| to == session))
    }

    /// Whether it gives a session to the client that is there already.
    pub(super) fn gives(&self, session: &SessionId) -> bool {
        matches!(self, HubCommand::Open { session: Some(to), .. } if to == session)
    }

    /// Whether the past of the session is to be told.
    pub(super) fn loads(&self, session: &SessionId) -> bool {
        matches!(self, HubCommand::Open { session: Some(to), opening: Opening::Load, .. } if to == session)
    }

    /// Whether it is a prompt on its way to this session.
    pub(super) fn prompts(&self, session: &SessionId) -> bool {
        matches!(self, HubCommand::Prompt { session: to, .. } if to == session)
    }

    /// Whether the client wants this session summarised.
    pub(super) fn compacts(&self, session: &SessionId) -> bool {
        matches!(self, HubCommand::Compact { session: of, .. } if of == session)
    }

    /// Whether it makes a session.
    pub(super) fn makes(&self) -> bool {
        matches!(self, HubCommand::Open { opening: Opening::New, .. })
    }

    /// Where the client believes that this session works, if it is about to get it.
    pub(super) fn believes(&self, session: &SessionId) -> Option<&str> {
        match self {
            HubCommand::Open { session: Some(to), cwd, .. } if to == session => cwd.as_deref(),
            _ => None,
        }
    }

    fn id(self) -> Option<WireId> {
        match self {
            HubCommand::Silent | HubCommand::Skills { .. } => None,
            HubCommand::Open { id, .. }
            | HubCommand::Models { id, .. }
            | HubCommand::List { id, .. }
            | HubCommand::Done { id }
            | HubCommand::Logout { id }
            | HubCommand::Delete { id }
            | HubCommand::Prompt { id, .. }
            | HubCommand::Compact { id, .. }
            | HubCommand::Steer { id, .. }
            | HubCommand::SteeredAnew { id }
            | HubCommand::Set { id, .. } => Some(id),
        }
    }
}

impl AcpRuntime {
    /// The model of a session that has chosen none.
    pub(super) fn usual_model(&self) -> Option<ModelRef> {
        let (provider, name) = self.greeting.model.clone()?;
        Some(ModelRef { provider, name })
    }

    /// The hub has answered: whoever waits for it hears so.
    pub(super) fn settle(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        pending: HubCommand,
        with: Result<Receipt, Refusal>,
    ) {
        match (pending, with) {
            (HubCommand::Silent, _) => {}
            (HubCommand::Open { id, cwd, opening, servers, .. }, Ok(Receipt::Session { session, .. })) => {
                if let Some(error) = cwd.and_then(|cwd| elsewhere(&cwd, &session.cwd)) {
                    return self.not_here(cx, &id, session.id, &error);
                }
                self.opened(cx, view, id, session.id, opening, servers);
            }
            // A runtime that makes no sessions is where it is, and so is a link that was put into one.
            (HubCommand::Open { id, cwd, opening, servers, .. }, Ok(Receipt::Stats(_))) => match view {
                Some(here) => match cwd.and_then(|cwd| elsewhere(&cwd, &here.state.settings.cwd)) {
                    Some(error) => cx.send(jsonrpc::error(Some(&id), &error)),
                    None => self.opened(cx, view, id, here.session.clone(), opening, servers),
                },
                None => {
                    cx.send(jsonrpc::error(Some(&id), &RpcError::new(INTERNAL_ERROR, "there is no session")));
                }
            },
            (HubCommand::Models { id, session, opening, servers }, with) => {
                if let Ok(Receipt::Models { models, current }) = with {
                    self.models = Some(models);
                    let current = current.map(|model| (model.provider, model.name));
                    self.greeting.model = self.greeting.model.take().or(current);
                }
                self.give(cx, view, &id, &session, opening, servers);
            }
            (HubCommand::Skills { session }, with) => {
                if let Ok(Receipt::Skills(list)) = with {
                    self.commands.learn(&list);
                }
                let update = self.commands.update(self.can().compact);
                self.say(cx, &session, update);
            }
            (HubCommand::List { id, cwd, from }, Ok(Receipt::Sessions(sessions))) => {
                cx.send(jsonrpc::result(&id, &lower_list(sessions, cwd.as_deref(), from, self.is_ours())));
            }
            (HubCommand::Done { id } | HubCommand::Delete { id }, Ok(_)) => cx.send(done(&id)),
            (HubCommand::Delete { id }, Err(refusal)) if refusal.kind == RefusalKind::SessionUnknown => {
                cx.send(done(&id));
            }
            (HubCommand::Logout { id }, Ok(Receipt::Extension(whose))) => {
                cx.send(done(&id));
                self.logged_out(cx, &whose);
            }
            (HubCommand::Prompt { id, session, input, steps }, with) => {
                self.prompted(cx, id, session, input, steps, with);
            }
            (HubCommand::Compact { id, .. }, Ok(_)) => {
                cx.send(jsonrpc::result(&id, &PromptResult::default()));
            }
            (HubCommand::Steer { id, session, input: Some(input) }, Err(refusal))
                if refusal.kind == RefusalKind::NoRun =>
            {
                let (target, command) = (Target::Session(session), prompt_command(input));
                self.ask_hub(cx, target, command, HubCommand::SteeredAnew { id });
            }
            (HubCommand::Steer { id, .. }, with) => {
                cx.send(steered(&id, with, SteeringOutcome::Injected));
            }
            (HubCommand::SteeredAnew { id }, with) => {
                cx.send(steered(&id, with, SteeringOutcome::StartedNewTurn));
            }
            (HubCommand::Set { id, session, command, changed }, Ok(_)) => {
                self.set(cx, &id, &session, &command, changed);
            }
            (HubCommand::Set { id, .. }, Err(refusal)) => {
                // A client may take an unknown method for the end: what cannot be set is a wrong value.
                let error = RpcError::new(INVALID_PARAMS, refusal.to_string());
                cx.send(jsonrpc::error(Some(&id), &error));
            }
            (pending, Err(refusal)) => {
                if let Some(id) = pending.id() {
                    self.bringing.retain(|(of, _)| *of != id);
                    cx.send(jsonrpc::error(Some(&id), &lower_refusal(&refusal)));
                }
            }
            (pending, Ok(_)) => {
                if let Some(id) = pending.id() {
                    let error =
                        RpcError::new(INTERNAL_ERROR, "the runtime gave an answer to another question");
                    cx.send(jsonrpc::error(Some(&id), &error));
                }
            }
        }
    }

    /// Keys are forgotten for all sessions: each says so.
    fn logged_out(&mut self, cx: &mut RuntimeCx<'_>, whose: &Json) {
        let whose: Vec<String> = serde_json::from_str(whose.as_str()).unwrap_or_default();
        let words = if whose.is_empty() {
            "No key was kept. Keys that stand in the environment are used on.".to_owned()
        } else {
            let whose = whose.join(", ");
            format!("The kept keys of {whose} are forgotten. Keys that stand in the environment are used on.")
        };
        for session in self.sessions.keys().cloned().collect::<Vec<_>>() {
            self.notice(cx, &session, Level::Warning, &words);
        }
    }

    /// The client believes the session elsewhere: it does not get it, and the link does not stay there for its sake.
    fn not_here(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, session: SessionId, error: &RpcError) {
        self.bringing.retain(|(of, _)| of != id);
        cx.send(jsonrpc::error(Some(id), error));
        if !self.sessions.contains_key(&session) {
            let command = Command::Session(SessionCommand::Close);
            self.ask_hub(cx, Target::Session(session), command, HubCommand::Silent);
        }
    }

    /// The hub is at the session: what there is to choose from is asked for, unless that was done before.
    fn opened(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        id: WireId,
        session: SessionId,
        opening: Opening,
        servers: bool,
    ) {
        if self.put.as_ref() == Some(&session) {
            self.put = None;
        }
        if let Some(view) = view.filter(|view| *view.session == session) {
            let replayed = self.sessions.get(&session).is_some_and(|known| known.replayed);
            if !self.sessions.contains_key(&session) || opening == Opening::Load && !replayed {
                // Prompts that wait are answered by what they began, whoever loads the session meanwhile.
                let before = self.sessions.remove(&session).map(|known| known.prompts);
                self.know(cx, view, opening == Opening::Load);
                if let (Some(before), Some(known)) = (before, self.sessions.get_mut(&session)) {
                    known.prompts = before;
                }
            }
        }
        let lists = self.can().models;
        if self.models.is_none() && lists {
            let target = Target::Session(session.clone());
            let command = Command::List(ListCommand::Models { provider: None });
            return self.ask_hub(cx, target, command, HubCommand::Models { id, session, opening, servers });
        }
        self.give(cx, view, &id, &session, opening, servers);
    }

    /// The answer that gives a session to the client; what happens there is told from here on.
    fn give(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        id: &WireId,
        session: &SessionId,
        opening: Opening,
        servers: bool,
    ) {
        let (can, usual, shows_notices) = (self.can(), self.usual_model(), self.shows_notices());
        let follows = self.greeting.follows;
        let models = self.models.clone().unwrap_or_default();
        let Some(known) = self.sessions.get_mut(session) else {
            let error = RpcError::new(INTERNAL_ERROR, "the session was closed while it was opened");
            return cx.send(jsonrpc::error(Some(id), &error));
        };
        let all = options::all(&known.told, &models, usual.as_ref(), &can, follows);
        let (modes, config_options) =
            (options::modes(known.told.policy, &can), Some(all).filter(|all| !all.is_empty()));
        let meta = view.filter(|view| view.session == session).and_then(|view| known::cursor(view.state));
        cx.send(match opening {
            Opening::New => {
                let session_id = session.to_string();
                jsonrpc::result(
                    id,
                    &NewSessionResult {
                        session_id,
                        modes,
                        config_options,
                        meta,
                        ..NewSessionResult::default()
                    },
                )
            }
            Opening::Load | Opening::Resume => {
                jsonrpc::result(id, &SessionSetup { modes, config_options, meta, ..SessionSetup::default() })
            }
        });
        known.replayed = false;
        known.give(cx);
        if opening == Opening::New && !self.greeting.follows {
            // Clients come back to it by its id in another process, also before anything was said.
            cx.keep(session.clone());
        }
        if let Some(at) = self.bringing.iter().position(|(of, _)| of == id) {
            let (_, servers) = self.bringing.remove(at);
            cx.effects.push(RuntimeEffect::Servers { session: session.clone(), servers });
        }
        if let Some((used, size)) =
            view.filter(|view| view.session == session).and_then(|view| view.state.context)
        {
            let spent = view.map(|view| view.state.usage).unwrap_or_default();
            known.say(cx, session, super::past::usage(used, size, spent));
        }
        if let Some(view) = view.filter(|view| view.session == session && !view.state.plan.is_empty()) {
            known.say(cx, session, super::past::plan(&view.state.plan));
        }
        if servers && !shows_notices {
            known.unsaid.push(NO_SERVERS.to_owned());
        } else if servers {
            self.notice(cx, session, Level::Warning, NO_SERVERS);
        }
        if can.skills {
            let command = Command::List(ListCommand::Skills { cwd: None, reload: false });
            let pending = HubCommand::Skills { session: session.clone() };
            self.ask_hub(cx, Target::Session(session.clone()), command, pending);
        } else {
            let update = self.commands.update(can.compact);
            self.say(cx, session, update);
        }
    }

    /// A runtime behind us learned what it can do: what can be typed and chosen is told anew.
    pub(super) fn tell_again(&mut self, cx: &mut RuntimeCx<'_>, before: &Abilities) {
        let (can, usual, follows) = (self.can(), self.usual_model(), self.greeting.follows);
        let sets = |can: &Abilities| (can.policy, can.set_model, can.effort);
        let models = self.models.clone().unwrap_or_default();
        for (session, known) in &mut self.sessions {
            if before.compact != can.compact {
                known.say(cx, session, self.commands.update(can.compact));
            }
            if sets(before) != sets(&can) {
                let all = options::all(&known.told, &models, usual.as_ref(), &can, follows);
                known.say(cx, session, options::update(all));
            }
        }
    }

    /// A prompt was taken, or waits, or has to be put otherwise: a run may begin or end while it is on its way.
    fn prompted(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: WireId,
        session: SessionId,
        input: Input,
        Steps(steps): Steps,
        with: Result<Receipt, Refusal>,
    ) {
        let again = match with {
            Ok(receipt @ (Receipt::Started { .. } | Receipt::Queued { .. })) => {
                let Some(known) = self.sessions.get_mut(&session) else {
                    let error = RpcError::new(code::NOT_FOUND, "the session was closed meanwhile");
                    return cx.send(jsonrpc::error(Some(&id), &error));
                };
                return match receipt {
                    Receipt::Queued { item, .. } => known.prompts.queued(id, item),
                    Receipt::Started { run, .. } => known.prompts.started(id, run),
                    _ => {}
                };
            }
            Ok(_) => {
                let error = RpcError::new(INTERNAL_ERROR, "the runtime gave an answer to another question");
                return cx.send(jsonrpc::error(Some(&id), &error));
            }
            Err(refusal) if refusal.kind == RefusalKind::Busy && steps < MAX_STEPS => {
                Command::Queue(QueueCommand::Add { kind: QueueKind::FollowUp, input: input.clone() })
            }
            Err(refusal) if refusal.kind == RefusalKind::NoRun && steps < MAX_STEPS => {
                prompt_command(input.clone())
            }
            Err(refusal) => return cx.send(jsonrpc::error(Some(&id), &lower_refusal(&refusal))),
        };
        let pending = HubCommand::Prompt { id, session: session.clone(), input, steps: Steps(steps + 1) };
        self.ask_hub(cx, Target::Session(session), again, pending);
    }

    /// Something was set: the answer holds what was set, also where the event of it is told after.
    fn set(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        session: &SessionId,
        command: &SessionCommand,
        changed: Changed,
    ) {
        let (can, usual, follows) = (self.can(), self.usual_model(), self.greeting.follows);
        let models = self.models.clone().unwrap_or_default();
        let Some(known) = self.sessions.get_mut(session) else { return cx.send(done(id)) };
        match command {
            SessionCommand::SetPolicy { policy } => known.told.policy = *policy,
            SessionCommand::SetEffort { effort } => known.told.effort = *effort,
            SessionCommand::SetModel { provider: Some(provider), name } => {
                known.told.model = Some(ModelRef { provider: provider.clone(), name: name.clone() });
            }
            _ => {}
        }
        match changed {
            Changed::Mode => cx.send(done(id)),
            Changed::Option => {
                let config_options = options::all(&known.told, &models, usual.as_ref(), &can, follows);
                let result = SetConfigOptionResult { config_options, ..SetConfigOptionResult::default() };
                cx.send(jsonrpc::result(id, &result));
            }
        }
    }
}

/// Why a session is not given to a client that names another folder than it works in.
pub(super) fn elsewhere(cwd: &str, own: &str) -> Option<RpcError> {
    let same = Path::new(cwd).components().eq(Path::new(own).components());
    (!same && !own.is_empty()).then(|| {
        let why = format!(
            "the session works in {own}, not in {cwd}; load it with that folder, or make a new one here"
        );
        RpcError::new(INVALID_PARAMS, why)
    })
}

/// The error for a client that asks too much at once.
pub(super) fn too_many() -> RpcError {
    RpcError::new(INVALID_REQUEST, "too many requests; wait a moment and send it again")
}

/// An answer that says nothing but that it was done.
pub(super) fn done(id: &WireId) -> String {
    jsonrpc::result(id, &Nothing::default())
}

/// What went wrong, with what to do about it where that is known.
pub(super) fn with_hint(message: &str, hint: Option<&str>) -> String {
    match hint {
        Some(hint) => format!("{message} ({hint})"),
        None => message.to_owned(),
    }
}

fn steered(id: &WireId, with: Result<Receipt, Refusal>, done: SteeringOutcome) -> String {
    let outcome = match with {
        Ok(_) => done,
        Err(refusal) if refusal.kind == RefusalKind::NoRun => SteeringOutcome::PromptRequired,
        Err(refusal) => return jsonrpc::error(Some(id), &lower_refusal(&refusal)),
    };
    jsonrpc::result(id, &SteeringResult { outcome, ..SteeringResult::default() })
}

fn lower_list(
    sessions: Vec<SessionSummary>,
    cwd: Option<&str>,
    from: usize,
    ours: bool,
) -> ListSessionsResult {
    let here = sessions.into_iter().filter(|session| cwd.is_none_or(|cwd| session.cwd == cwd));
    let mut page: Vec<SessionInfo> =
        here.skip(from).take(PAGE + 1).map(|summary| lower_session(summary, ours)).collect();
    let more = page.len() > PAGE;
    page.truncate(PAGE);
    ListSessionsResult {
        sessions: page,
        next_cursor: more.then(|| (from + PAGE).to_string()),
        ..ListSessionsResult::default()
    }
}

fn lower_session(session: SessionSummary, ours: bool) -> SessionInfo {
    use super::super::wire::{Meta, Own};
    let own = Own {
        created: Some(time::write(session.created_at.0)),
        messages: Some(session.messages),
        ..Own::default()
    };
    SessionInfo {
        session_id: session.id.to_string(),
        cwd: session.cwd,
        title: Some(session.title).filter(|title| !title.is_empty()),
        updated_at: Some(time::write(session.updated_at.0)),
        meta: ours.then(|| Meta { parlor: Some(own), ..Meta::default() }),
        ..SessionInfo::default()
    }
}

/// Our refusals in the protocol's codes; the words are ours.
pub(super) fn lower_refusal(refusal: &Refusal) -> RpcError {
    let number = match &refusal.kind {
        RefusalKind::SessionUnknown => code::NOT_FOUND,
        RefusalKind::Unsupported => METHOD_NOT_FOUND,
        RefusalKind::Invalid
        | RefusalKind::EntryUnknown
        | RefusalKind::QueuedUnknown
        | RefusalKind::ModelUnknown
        | RefusalKind::ToolUnknown
        | RefusalKind::ExtensionUnknown
        | RefusalKind::AskUnknown
        | RefusalKind::AskOver
        | RefusalKind::RunUnknown => INVALID_PARAMS,
        RefusalKind::Busy | RefusalKind::NoRun | RefusalKind::TooMany | RefusalKind::NotAllowed => {
            INVALID_REQUEST
        }
        RefusalKind::NothingToCompact
        | RefusalKind::Storage
        | RefusalKind::TimedOut
        | RefusalKind::Lost
        | RefusalKind::Internal => INTERNAL_ERROR,
        RefusalKind::Remote { code } => {
            return RpcError::new(INTERNAL_ERROR, refusal.to_string()).with_data(&json!({ "code": code }));
        }
    };
    RpcError::new(number, refusal.to_string())
}
