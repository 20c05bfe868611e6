//! Sessions as the client asks for them: made, loaded, resumed, listed, closed, deleted. The answer that gives one to the client comes
//! before anything that is said of it.

use super::super::wire::{
    CloseSessionParams, DeleteSessionParams, ListSessionsParams, ListSessionsResult, LoadSessionParams,
    McpServer, Meta, NewSessionParams, NewSessionResult, Own, ResumeSessionParams, SessionInfo, SessionSetup,
    code,
};
use super::requests::{AcpMemo, done, invalid, not_here, nothing, read};
use super::{AcpRuntime as Role, brought, known, options, past};
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, Receipt, Refusal, RefusalKind, SessionCommand, Target,
};
use domain::given_server::GivenServer;
use domain::ids::SessionId;
use domain::port::Abilities;
use domain::session::{ModelRef, SessionSummary};
use domain::signal::{Level, UiContext};
use rolekit::endpoint::reply;
use rolekit::exchange::{Answering, Asking, Exchange, Fault, Next, Request, Settlement, TableRole as _};
use roles::{Item, RuntimeCx, RuntimeEffect, View};
use std::path::Path;
use wire::jsonrpc::{self, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError};
use wire::{WireId, time};

pub(super) const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<NewSessionParams>(Role::new_session, Role::opened),
    Exchange::of::<LoadSessionParams>(Role::load_session, Role::opened),
    Exchange::of::<ResumeSessionParams>(Role::resume_session, Role::opened),
    Exchange::of::<ListSessionsParams>(Role::list_sessions, Role::sessions_listed),
    Exchange::of::<CloseSessionParams>(Role::close_session, done),
    Exchange::of::<DeleteSessionParams>(Role::delete_session, deleted),
];

/// Sessions in one answer of a list.
const PAGE: usize = 100;
/// What a client is told that passes servers.
const NO_SERVERS: &str = "The agent behind this one does not get the MCP servers of the editor.";
/// Folders beside the one that a session works in.
const MAX_MORE: usize = 64;

/// A session that is about to be given to the client.
#[derive(Debug, Clone, PartialEq)]
pub struct Opening {
    pub(super) kind: OpeningKind,
    /// MCP servers that the client passes along.
    servers: Vec<GivenServer>,
    /// It passed some that the program behind us will not have.
    dropped: bool,
    /// Folders that belong to the session beside the one that it works in.
    more: Vec<String>,
    /// A session that was only looked at, and is left when this one is given.
    pub(super) leaves: Option<SessionId>,
}

/// How a session is given to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpeningKind {
    New,
    /// With its past.
    Load,
    Resume,
}

impl Role {
    /// The model of a session that has chosen none.
    pub(super) fn usual_model(&self) -> Option<ModelRef> {
        let (provider, name) = self.endpoint.greeting.model.clone()?;
        Some(ModelRef { provider, name })
    }

    /// A session that the client has.
    pub(super) fn known(&self, name: &str) -> Result<SessionId, RpcError> {
        let session = SessionId::parse(name).filter(|session| self.sessions.contains_key(session));
        session.ok_or_else(|| not_found(name))
    }

    /// Checks where a session is to work, and takes the servers that the client passes.
    pub(super) fn opening(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        kind: OpeningKind,
        cwd: &str,
        more: &[String],
        servers: Vec<McpServer>,
    ) -> Result<Opening, RpcError> {
        if !Path::new(cwd).is_absolute() {
            return Err(invalid(format!("cwd must be an absolute path, and {cwd:?} is none")));
        }
        if let Some(relative) = more.iter().find(|folder| !Path::new(folder).is_absolute()) {
            return Err(invalid(format!(
                "additionalDirectories must be absolute paths, and {relative:?} is none"
            )));
        }
        if more.len() > MAX_MORE {
            return Err(invalid(format!("at most {MAX_MORE} additionalDirectories are taken")));
        }
        let mut servers = brought::lift_servers(servers)?;
        let dropped = self.endpoint.greeting.follows && !servers.is_empty();
        if dropped {
            let names: Vec<&str> = servers.iter().map(|server| server.name.as_str()).collect();
            cx.loss(Item::Tools, format!("MCP servers of the client: {}", names.join(", ")));
            servers.clear();
        }
        Ok(Opening { kind, servers, dropped, more: more.to_vec(), leaves: None })
    }

    fn new_session(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let NewSessionParams { cwd, additional_directories: more, mcp_servers, .. } = read(request.params)?;
        let opening = self.opening(cx, OpeningKind::New, &cwd, &more, mcp_servers)?;
        let command = if self.endpoint.can().new_session {
            Command::Library(LibraryCommand::New { cwd: Some(cwd), title: None, id: None })
        } else {
            // Whatever it answers, it names the session where the runtime is.
            Command::Session(SessionCommand::Stats)
        };
        Ok(Next::Hub(Target::Current, command, AcpMemo::Open { session: None, cwd: None, opening }))
    }

    fn load_session(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: LoadSessionParams = read(request.params)?;
        let (more, servers) = (params.additional_directories, params.mcp_servers);
        let opening = self.opening(cx, OpeningKind::Load, &params.cwd, &more, servers)?;
        self.open_session(&params.session_id, &params.cwd, opening)
    }

    fn resume_session(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: ResumeSessionParams = read(request.params)?;
        let (more, servers) = (params.additional_directories, params.mcp_servers);
        let opening = self.opening(cx, OpeningKind::Resume, &params.cwd, &more, servers)?;
        self.open_session(&params.session_id, &params.cwd, opening)
    }

    fn open_session(&self, name: &str, cwd: &str, opening: Opening) -> Asking<Self> {
        if !self.endpoint.can().open_session {
            return Err(RpcError::new(METHOD_NOT_FOUND, "the runtime behind this one opens no sessions"));
        }
        let session = SessionId::parse(name).ok_or_else(|| not_found(name))?;
        let (target, command) = if self.put.as_ref() == Some(&session) {
            // The link was put there already, and the runtime behind us may know no name for it yet.
            (Target::Session(session.clone()), Command::Session(SessionCommand::Stats))
        } else {
            (Target::Current, Command::Library(LibraryCommand::Open { session: session.clone() }))
        };
        // A program behind us tells no folder that could be compared, and a UI of ours goes where the session is.
        let compared = !self.endpoint.greeting.follows && !self.is_ours();
        let cwd = compared.then(|| self.endpoint.greeting.folders.real(cwd));
        Ok(Next::Hub(target, command, AcpMemo::Open { session: Some(session), cwd, opening }))
    }

    /// The hub is at the session, or has told what there is to choose from there.
    pub(super) fn opened(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        settled: Settlement<'_, Self>,
    ) -> Answering<Self> {
        let (from, view) = (settled.from, settled.view);
        let (cwd, opening) = match settled.memo {
            AcpMemo::Open { cwd, opening, .. } => (cwd, opening),
            AcpMemo::Models { session, opening } => {
                if let Ok(Receipt::Models { models, current }) = settled.with {
                    self.models = Some(models);
                    let current = current.map(|model| (model.provider, model.name));
                    let usual = &mut self.endpoint.greeting.model;
                    *usual = usual.take().or(current);
                }
                return self.give(cx, view, from, &session, opening);
            }
            _ => return Err(Fault::Odd),
        };
        match (settled.with?, view) {
            (Receipt::Session { session, .. }, _) => {
                match cwd.and_then(|cwd| elsewhere(&cwd, &session.cwd)) {
                    Some(error) => Ok(self.not_there(cx, from, session.id, error)),
                    None => self.arrived(cx, view, from, session.id, opening),
                }
            }
            // A runtime that makes no sessions is where it is, and so is a link that was put into one.
            (Receipt::Stats(_), Some(here)) => {
                match cwd.and_then(|cwd| elsewhere(&cwd, &here.state.settings.cwd)) {
                    Some(error) => Err(Fault::Error(error)),
                    None => self.arrived(cx, view, from, here.session.clone(), opening),
                }
            }
            (Receipt::Stats(_), None) => {
                Err(Fault::Error(RpcError::new(INTERNAL_ERROR, "there is no session")))
            }
            _ => Err(Fault::Odd),
        }
    }

    /// The client believes the session elsewhere: it does not get it, and the link does not stay there for its sake.
    fn not_there(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        from: &WireId,
        session: SessionId,
        error: RpcError,
    ) -> Next<Role> {
        self.reply(cx, from, Err(error));
        self.leave_unheld(cx, session);
        Next::Nothing
    }

    /// The hub is at the session: what there is to choose from is asked for, unless that was done before.
    fn arrived(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        from: &WireId,
        session: SessionId,
        opening: Opening,
    ) -> Answering<Self> {
        if self.put.as_ref() == Some(&session) {
            self.put = None;
        }
        if let Some(view) = view.filter(|view| *view.session == session) {
            let (loads, before) = (opening.kind == OpeningKind::Load, self.sessions.get(&session));
            if before.is_none_or(|known| loads && !known.replayed) {
                // Prompts that wait are answered by what they began, whoever loads the session meanwhile.
                let before = self.sessions.remove(&session).map(|known| known.prompts);
                self.know(cx, view, loads);
                if let (Some(before), Some(known)) = (before, self.sessions.get_mut(&session)) {
                    known.prompts = before;
                }
            }
        }
        if self.models.is_none() && self.endpoint.can().models {
            let command = Command::List(ListCommand::Models { provider: None });
            let memo = AcpMemo::Models { session: session.clone(), opening };
            return Ok(Next::Hub(Target::Session(session), command, memo));
        }
        self.give(cx, view, from, &session, opening)
    }

    /// The answer that gives a session to the client; what happens there is told from here on.
    fn give(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        id: &WireId,
        session: &SessionId,
        opening: Opening,
    ) -> Answering<Self> {
        let (can, usual, shows_notices) = (self.endpoint.can(), self.usual_model(), self.shows_notices());
        let follows = self.endpoint.greeting.follows;
        let models = self.models.clone().unwrap_or_default();
        let Some(known) = self.sessions.get_mut(session) else {
            let error = RpcError::new(INTERNAL_ERROR, "the session was closed while it was opened");
            return Err(Fault::Error(error));
        };
        let all = options::all(&known.told, &models, usual.as_ref(), &can, follows);
        let (modes, config_options) =
            (options::modes(known.told.policy, &can), Some(all).filter(|all| !all.is_empty()));
        let meta = view.filter(|view| view.session == session).and_then(|view| known::cursor(view.state));
        cx.send(match opening.kind {
            OpeningKind::New => {
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
            OpeningKind::Load | OpeningKind::Resume => {
                jsonrpc::result(id, &SessionSetup { modes, config_options, meta, ..SessionSetup::default() })
            }
        });
        known.replayed = false;
        known.give(cx);
        if opening.kind == OpeningKind::New && !self.endpoint.greeting.follows {
            // Clients come back to it by its id in another process, also before anything was said.
            cx.keep(session.clone());
        }
        if !opening.servers.is_empty() {
            let (session, servers) = (session.clone(), opening.servers);
            cx.effects.push(RuntimeEffect::Servers { session, servers });
        }
        if !opening.more.is_empty() {
            let context = UiContext { notes: vec![more_folders(&opening.more)], ..UiContext::default() };
            let target = Target::Session(session.clone());
            self.tell_hub(cx, target, Command::UpdateContext(context), AcpMemo::Nothing);
        }
        let Some(known) = self.sessions.get_mut(session) else { return Err(Fault::Odd) };
        if let Some((used, size)) =
            view.filter(|view| view.session == session).and_then(|view| view.state.context)
        {
            let spent = view.map(|view| view.state.usage).unwrap_or_default();
            known.say(cx, session, past::usage(used, size, spent));
        }
        if let Some(view) = view.filter(|view| view.session == session && !view.state.plan.is_empty()) {
            known.say(cx, session, past::plan(&view.state.plan));
        }
        if opening.dropped && !shows_notices {
            known.unsaid.push(NO_SERVERS.to_owned());
        } else if opening.dropped {
            self.notice(cx, session, Level::Warning, NO_SERVERS);
        }
        if let Some(session) = opening.leaves {
            self.leave_unheld(cx, session);
        }
        if can.skills {
            let command = Command::List(ListCommand::Skills { cwd: None, reload: false });
            let target = Target::Session(session.clone());
            self.tell_hub(cx, target, command, AcpMemo::Skills(session.clone()));
        } else {
            let update = self.commands.update(&can);
            self.say(cx, session, update);
        }
        Ok(Next::Nothing)
    }

    /// What can be typed in a session is known.
    pub(super) fn skills_listed(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        session: &SessionId,
        with: Result<Receipt, Refusal>,
    ) {
        if let Ok(Receipt::Skills(list)) = with {
            self.commands.learn(&list);
        }
        let update = self.commands.update(&self.endpoint.can());
        self.say(cx, session, update);
    }

    /// A runtime behind us learned what it can do: what can be typed and chosen is told anew.
    pub(super) fn tell_again(&mut self, cx: &mut RuntimeCx<'_>, before: &Abilities) {
        let (can, usual, follows) = (self.endpoint.can(), self.usual_model(), self.endpoint.greeting.follows);
        let sets = |can: &Abilities| (can.policy, can.set_model, can.effort);
        let models = self.models.clone().unwrap_or_default();
        for (session, known) in &mut self.sessions {
            if (before.compact, &before.menu.commands) != (can.compact, &can.menu.commands) {
                known.say(cx, session, self.commands.update(&can));
            }
            if let Some(mode) = options::their_mode_update(&can)
                && options::their_mode_update(before).as_ref() != Some(&mode)
            {
                known.say(cx, session, mode);
            }
            if sets(before) != sets(&can) || before.menu.options != can.menu.options {
                let all = options::all(&known.told, &models, usual.as_ref(), &can, follows);
                known.say(cx, session, options::update(all));
            }
        }
    }

    fn list_sessions(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        if !self.endpoint.can().sessions {
            return Err(not_here(request.method));
        }
        let ListSessionsParams { cwd, cursor, .. } = read(request.params)?;
        if let Some(cwd) = cwd.as_deref().filter(|cwd| !Path::new(cwd).is_absolute()) {
            return Err(invalid(format!("cwd must be an absolute path, and {cwd:?} is none")));
        }
        let from = match cursor.as_deref() {
            None => 0,
            Some(cursor) => {
                cursor.parse().map_err(|_| invalid(format!("{cursor:?} is no cursor of ours")))?
            }
        };
        // Links are followed: a session is told under the one name of its folder, whatever the client calls it.
        let cwd = cwd.map(|cwd| self.endpoint.greeting.folders.real(&cwd));
        let command = LibraryCommand::List { scope: ListScope::All, limit: None, search: None };
        Ok(Next::Hub(Target::Current, Command::Library(command), AcpMemo::List { cwd, from }))
    }

    fn sessions_listed(&mut self, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let (AcpMemo::List { cwd, from }, Receipt::Sessions(sessions)) = (settled.memo, settled.with?) else {
            return Err(Fault::Odd);
        };
        Ok(reply(&lower_list(sessions, cwd.as_deref(), from, self.is_ours())))
    }

    /// Stops what runs there, as a cancel would, and lets the session go.
    fn close_session(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: CloseSessionParams = read(request.params)?;
        let session = self.known(&params.session_id)?;
        self.cancel(cx, Some(session.clone()));
        let command = Command::Session(SessionCommand::Close);
        Ok(Next::Hub(Target::Session(session), command, AcpMemo::Nothing))
    }

    fn delete_session(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        if !self.endpoint.can().delete_session {
            return Err(not_here(request.method));
        }
        let params: DeleteSessionParams = read(request.params)?;
        // One that is not there is gone: twice is as good as once.
        let Some(session) = SessionId::parse(&params.session_id) else {
            return Ok(Next::Reply(nothing()));
        };
        let command = Command::Library(LibraryCommand::Delete { session });
        Ok(Next::Hub(Target::Current, command, AcpMemo::Nothing))
    }
}

fn deleted(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    match settled.with {
        Err(refusal) if refusal.kind != RefusalKind::SessionUnknown => Err(refusal.into()),
        _ => Ok(Next::Reply(nothing())),
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

/// Folders of a session beside the one that it works in, for the model.
fn more_folders(more: &[String]) -> String {
    let folders: Vec<&str> = more.iter().map(|folder| folder.as_str()).collect();
    format!(
        "The project has these folders too, which the person has open beside the working folder: {}. Name what lies there by its whole path.",
        folders.join(", ")
    )
}

/// The error for a session that nobody here has, with what to do instead.
pub(super) fn not_found(session: &str) -> RpcError {
    RpcError::new(code::NOT_FOUND, format!("there is no session {session:?} here; list, load or make one"))
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
    // Any client may know where it would be led; the rest is read by ours alone.
    let elsewhere = session.elsewhere.then_some(true);
    let told = Own {
        created: Some(time::write(session.created_at.0)),
        messages: Some(session.messages),
        ..Own::default()
    };
    let own = Own { elsewhere, ..if ours { told } else { Own::default() } };
    SessionInfo {
        session_id: session.id.to_string(),
        cwd: session.cwd,
        title: Some(session.title).filter(|title| !title.is_empty()),
        updated_at: Some(time::write(session.updated_at.0)),
        meta: (ours || session.elsewhere).then(|| Meta { parlor: Some(own), ..Meta::default() }),
        ..SessionInfo::default()
    }
}
