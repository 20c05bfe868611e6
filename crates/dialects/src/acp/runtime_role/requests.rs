//! From what the client asks to commands. Everything is checked here, so that the hub only sees what fits the vocabulary.

use super::super::blocks;
use super::super::wire::{
    AgentAuthCapabilities, AgentCapabilities, AuthMethod, AuthenticateParams, CloseSessionParams,
    ConfigValue, DeleteSessionParams, Implementation, InitializeParams, InitializeResult, ListSessionsParams,
    LoadSessionParams, LogoutParams, McpCapabilities, McpServer, Meta, NewSessionParams, Offered, Own,
    PROTOCOL_VERSION, PromptCapabilities, PromptParams, ResumeSessionParams, SET_MODEL, SessionCapabilities,
    SetConfigOptionParams, SetModeParams, SetModelParams, Steering, SteeringParams, code,
};
use super::commands::Slash;
use super::receipts::{self, Changed, HubCommand, Opening, Steps};
use super::{AcpRuntime, MAX_PENDING, brought, options};
use crate::rpc::Call as _;
use domain::command::{
    Command, FORGET_KEYS, LibraryCommand, ListScope, PromptOptions, QueueCommand, RunCommand, SessionCommand,
    Target, WhenBusy,
};
use domain::content::{Input, Json};
use domain::ids::SessionId;
use domain::queue::QueueKind;
use roles::{Item, RuntimeCx};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::path::Path;
use wire::WireId;
use wire::jsonrpc::{self, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError};

/// The way to log in, and the argument that does it behind whatever command starts us on stdio.
const LOGIN: &str = "login";
/// The word of a client that wants to start a turn itself where nothing runs.
const PROMPT_REQUIRED: &str = "promptRequired";

/// What to do with a request.
#[expect(clippy::large_enum_variant, reason = "made and taken apart at once, never kept")]
enum Wish {
    /// Hand it to the hub.
    Hub(Target, Command, HubCommand),
    /// Answer at once.
    Line(String),
    /// It is answered later, or was handed over already.
    Later,
}

impl AcpRuntime {
    /// Takes a request of the client: it becomes a command, or is answered at once.
    pub(super) fn request(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: WireId,
        method: &str,
        params: Option<&RawValue>,
    ) {
        if self.pending.len() >= MAX_PENDING {
            return cx.send(jsonrpc::error(Some(&id), &receipts::too_many()));
        }
        let wish = match method {
            InitializeParams::METHOD => self.initialize(cx, &id, params),
            AuthenticateParams::METHOD => read::<AuthenticateParams>(params).and_then(|params| {
                Err(match params.method_id.as_str() {
                    LOGIN => invalid("this way to log in is a command: run `parlor login` in a terminal"),
                    other => invalid(format!("there is no way to log in by the name {other:?}")),
                })
            }),
            LogoutParams::METHOD => self.logout(&id),
            NewSessionParams::METHOD => self.new_session(cx, &id, params),
            LoadSessionParams::METHOD => self.load_session(cx, &id, params),
            ResumeSessionParams::METHOD => self.resume_session(cx, &id, params),
            ListSessionsParams::METHOD => self.list_sessions(&id, params),
            CloseSessionParams::METHOD => self.close_session(cx, &id, params),
            DeleteSessionParams::METHOD => self.delete_session(&id, params),
            PromptParams::METHOD => self.prompt(&id, params),
            SteeringParams::METHOD => self.steer(&id, params),
            SetModeParams::METHOD => self.set_mode(&id, params),
            SetConfigOptionParams::METHOD => self.set_option(&id, params),
            SET_MODEL => self.set_model(&id, params),
            _ => Err(not_here(method)),
        };
        match wish {
            Ok(Wish::Hub(target, command, pending)) => self.ask_hub(cx, target, command, pending),
            Ok(Wish::Line(line)) => cx.send(line),
            Ok(Wish::Later) => {}
            Err(error) => cx.send(jsonrpc::error(Some(&id), &error)),
        }
    }

    /// Whatever version the client names, we answer with the one that we speak: it closes the link if it cannot live with that.
    fn initialize(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<Wish, RpcError> {
        let params: InitializeParams = read(params)?;
        self.client = params.client_capabilities;
        if !self.greeting.follows || self.behind.is_some() {
            return Ok(Wish::Line(self.initialized(id)));
        }
        if let Some(why) = &self.gone {
            return Err(RpcError::new(jsonrpc::INTERNAL_ERROR, why));
        }
        if self.ungreeted.len() >= MAX_PENDING {
            return Err(receipts::too_many());
        }
        self.greet_later(cx, id.clone());
        Ok(Wish::Later)
    }

    fn initialized(&self, id: &WireId) -> String {
        let can = self.can();
        let offered = |can: bool| can.then(Offered::default);
        let name = if can.name.is_empty() || !self.greeting.follows {
            "Parlor".to_owned()
        } else {
            can.name.clone()
        };
        let agent_info = Implementation {
            name: "parlor".to_owned(),
            title: Some(name),
            version: self.greeting.version.clone(),
            ..Implementation::default()
        };
        let agent_capabilities = AgentCapabilities {
            load_session: can.open_session,
            prompt_capabilities: PromptCapabilities {
                image: true,
                audio: false,
                embedded_context: true,
                ..PromptCapabilities::default()
            },
            session_capabilities: SessionCapabilities {
                list: offered(can.sessions),
                delete: offered(can.delete_session),
                resume: offered(can.open_session),
                close: offered(true),
                ..SessionCapabilities::default()
            },
            auth: AgentAuthCapabilities {
                logout: offered(!self.greeting.follows),
                ..AgentAuthCapabilities::default()
            },
            mcp_capabilities: McpCapabilities { http: !self.greeting.follows, ..McpCapabilities::default() },
            ..AgentCapabilities::default()
        };
        let session = self.put.as_ref().filter(|_| !self.greeting.follows).map(ToString::to_string);
        let parlor = session.map(|session| Own { session: Some(session), ..Own::default() });
        let steering = can.steer.then(|| Steering { supported: true, ..Steering::default() });
        let meta = Some(Meta { parlor, steering, ..Meta::default() }).filter(|meta| *meta != Meta::default());
        let result = InitializeResult {
            protocol_version: PROTOCOL_VERSION,
            agent_capabilities,
            auth_methods: self.ways_in(),
            agent_info: Some(agent_info),
            meta,
            ..InitializeResult::default()
        };
        jsonrpc::result(id, &result)
    }

    /// The ways to log in: our own command, in a terminal. Another program behind us has its own.
    fn ways_in(&self) -> Vec<AuthMethod> {
        let login = AuthMethod {
            kind: Some("terminal".to_owned()),
            id: LOGIN.to_owned(),
            name: "Log in with a key".to_owned(),
            description: Some(
                "Choose a provider and enter a key, which is tried at once. In any terminal: parlor login"
                    .to_owned(),
            ),
            args: vec![LOGIN.to_owned()],
            ..AuthMethod::default()
        };
        if self.greeting.follows { Vec::new() } else { vec![login] }
    }

    /// Forgets the keys that a login kept. A program behind us keeps its own.
    fn logout(&self, id: &WireId) -> Result<Wish, RpcError> {
        if self.greeting.follows {
            return Err(not_here(LogoutParams::METHOD));
        }
        let command =
            Command::Extension { name: FORGET_KEYS.to_owned(), payload: Json::verbatim("{}".to_owned()) };
        Ok(Wish::Hub(Target::Current, command, HubCommand::Logout { id: id.clone() }))
    }

    /// Refuses the handshakes that waited, and those that come.
    pub(super) fn refuse_greeting(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        for id in std::mem::take(&mut self.ungreeted) {
            cx.cancel_timer(super::GREET);
            cx.send(jsonrpc::error(Some(&id), &RpcError::new(jsonrpc::INTERNAL_ERROR, why)));
        }
        self.gone = Some(why.to_owned());
    }

    /// Answers the handshakes that waited, with what is known by now.
    pub(super) fn greet(&mut self, cx: &mut RuntimeCx<'_>) {
        if !self.ungreeted.is_empty() {
            cx.cancel_timer(super::GREET);
        }
        for id in std::mem::take(&mut self.ungreeted) {
            cx.send(self.initialized(&id));
        }
    }

    /// Whether the client passes servers that the program behind us will not have.
    fn check_place(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        cwd: &str,
        more: &[String],
        servers: Vec<McpServer>,
    ) -> Result<bool, RpcError> {
        if !Path::new(cwd).is_absolute() {
            return Err(invalid(format!("cwd must be an absolute path, and {cwd:?} is none")));
        }
        if !more.is_empty() {
            return Err(invalid("additionalDirectories are not offered here; leave them out"));
        }
        let given = brought::lift_servers(servers)?;
        if given.is_empty() {
            return Ok(false);
        }
        if self.greeting.follows {
            let names: Vec<&str> = given.iter().map(|server| server.name.as_str()).collect();
            cx.loss(Item::Tools, format!("MCP servers of the client: {}", names.join(", ")));
            return Ok(true);
        }
        self.bringing.push((id.clone(), given));
        Ok(false)
    }

    fn new_session(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<Wish, RpcError> {
        let params: NewSessionParams = read(params)?;
        let servers =
            self.check_place(cx, id, &params.cwd, &params.additional_directories, params.mcp_servers)?;
        let pending =
            HubCommand::Open { id: id.clone(), session: None, cwd: None, opening: Opening::New, servers };
        let command = if self.can().new_session {
            Command::Library(LibraryCommand::New { cwd: Some(params.cwd), title: None, id: None })
        } else {
            // Whatever it answers, it names the session where the runtime is.
            Command::Session(SessionCommand::Stats)
        };
        Ok(Wish::Hub(Target::Current, command, pending))
    }

    fn load_session(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<Wish, RpcError> {
        let params: LoadSessionParams = read(params)?;
        let servers =
            self.check_place(cx, id, &params.cwd, &params.additional_directories, params.mcp_servers)?;
        self.open_session(id, &params.session_id, params.cwd, Opening::Load, servers)
    }

    fn resume_session(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<Wish, RpcError> {
        let params: ResumeSessionParams = read(params)?;
        let servers =
            self.check_place(cx, id, &params.cwd, &params.additional_directories, params.mcp_servers)?;
        self.open_session(id, &params.session_id, params.cwd, Opening::Resume, servers)
    }

    fn open_session(
        &self,
        id: &WireId,
        name: &str,
        cwd: String,
        opening: Opening,
        servers: bool,
    ) -> Result<Wish, RpcError> {
        if !self.can().open_session {
            return Err(RpcError::new(METHOD_NOT_FOUND, "the runtime behind this one opens no sessions"));
        }
        let session = SessionId::parse(name).ok_or_else(|| not_found(name))?;
        let command = if self.put.as_ref() == Some(&session) {
            // The link is there already, and the runtime behind us may know no name for it yet.
            Command::Session(SessionCommand::Stats)
        } else {
            Command::Library(LibraryCommand::Open { session: session.clone() })
        };
        // A program behind us tells no folder that could be compared, and a UI of ours goes where the session is.
        let cwd = Some(cwd).filter(|_| !self.greeting.follows && !self.is_ours());
        let pending = HubCommand::Open { id: id.clone(), session: Some(session), cwd, opening, servers };
        Ok(Wish::Hub(Target::Current, command, pending))
    }

    fn list_sessions(&self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        if !self.can().sessions {
            return Err(not_here(ListSessionsParams::METHOD));
        }
        let params: ListSessionsParams = read(params)?;
        if let Some(cwd) = params.cwd.as_deref().filter(|cwd| !Path::new(cwd).is_absolute()) {
            return Err(invalid(format!("cwd must be an absolute path, and {cwd:?} is none")));
        }
        let from = match params.cursor.as_deref() {
            None => 0,
            Some(cursor) => {
                cursor.parse().map_err(|_| invalid(format!("{cursor:?} is no cursor of ours")))?
            }
        };
        let command = LibraryCommand::List { scope: ListScope::All, limit: None, search: None };
        let pending = HubCommand::List { id: id.clone(), cwd: params.cwd, from };
        Ok(Wish::Hub(Target::Current, Command::Library(command), pending))
    }

    /// A session that the client has.
    fn known(&self, name: &str) -> Result<SessionId, RpcError> {
        let session = SessionId::parse(name).filter(|session| self.sessions.contains_key(session));
        session.ok_or_else(|| not_found(name))
    }

    /// Stops what runs there, as a cancel would, and lets the session go.
    fn close_session(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<Wish, RpcError> {
        let params: CloseSessionParams = read(params)?;
        let session = self.known(&params.session_id)?;
        self.cancel(cx, Some(session.clone()));
        let command = Command::Session(SessionCommand::Close);
        Ok(Wish::Hub(Target::Session(session), command, HubCommand::Done { id: id.clone() }))
    }

    fn delete_session(&self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        if !self.can().delete_session {
            return Err(not_here(DeleteSessionParams::METHOD));
        }
        let params: DeleteSessionParams = read(params)?;
        // One that is not there is gone: twice is as good as once.
        let Some(session) = SessionId::parse(&params.session_id) else {
            return Ok(Wish::Line(receipts::done(id)));
        };
        let command = Command::Library(LibraryCommand::Delete { session });
        Ok(Wish::Hub(Target::Current, command, HubCommand::Delete { id: id.clone() }))
    }

    fn prompt(&mut self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        let params: PromptParams = read(params)?;
        let session = self.known(&params.session_id)?;
        let mut input = lift_prompt(params.prompt)?;
        let compacts = self.can().compact;
        match self.commands.read(&input.text, compacts) {
            Some(Slash::Compact { instruction }) => {
                let command = Command::Run(RunCommand::Compact { instruction });
                let pending = HubCommand::Compact { id: id.clone(), session: session.clone() };
                return Ok(Wish::Hub(Target::Session(session), command, pending));
            }
            Some(Slash::Skill(text)) => input.text = text,
            None => {}
        }
        let pending = HubCommand::Prompt {
            id: id.clone(),
            session: session.clone(),
            input: input.clone(),
            steps: Steps::default(),
        };
        Ok(Wish::Hub(Target::Session(session), prompt_command(input), pending))
    }

    /// Something that is said into the run under way.
    fn steer(&self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        if !self.can().steer {
            return Err(not_here(SteeringParams::METHOD));
        }
        let params: SteeringParams = read(params)?;
        let session = self.known(&params.session_id)?;
        let input = lift_prompt(params.prompt)?;
        let idle = params.meta.and_then(|meta| meta.steering).and_then(|steering| steering.idle_behavior);
        // Without a word about it the text is said all the same: it begins a turn.
        let begins = idle.as_deref() != Some(PROMPT_REQUIRED);
        let command = Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input: input.clone() });
        let pending = HubCommand::Steer {
            id: id.clone(),
            session: session.clone(),
            input: Some(input).filter(|_| begins),
        };
        Ok(Wish::Hub(Target::Session(session), command, pending))
    }

    fn set_mode(&self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        let params: SetModeParams = read(params)?;
        let session = self.known(&params.session_id)?;
        let command = options::mode_command(&params.mode_id).map_err(invalid)?;
        Ok(self.change(id, session, command, Changed::Mode))
    }

    fn set_model(&self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        let params: SetModelParams = read(params)?;
        let session = self.known(&params.session_id)?;
        Ok(self.change(id, session, options::model_command(&params.model_id), Changed::Mode))
    }

    fn set_option(&self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        let params: SetConfigOptionParams = read(params)?;
        let session = self.known(&params.session_id)?;
        let value = match &params.value {
            ConfigValue::Id(value) => value,
            ConfigValue::Switch(_) => {
                return Err(invalid("there is no option here that is switched on and off"));
            }
        };
        let command = options::command(&params.config_id, value).map_err(invalid)?;
        Ok(self.change(id, session, command, Changed::Option))
    }

    fn change(&self, id: &WireId, session: SessionId, command: SessionCommand, changed: Changed) -> Wish {
        let pending =
            HubCommand::Set { id: id.clone(), session: session.clone(), command: command.clone(), changed };
        Wish::Hub(Target::Session(session), Command::Session(command), pending)
    }
}

/// A prompt waits where a run is under way.
pub(super) fn prompt_command(input: Input) -> Command {
    let options = PromptOptions { when_busy: WhenBusy::Queue, ..PromptOptions::default() };
    Command::Run(RunCommand::Prompt { input, options })
}

fn lift_prompt(prompt: Vec<super::super::wire::ContentBlock>) -> Result<Input, RpcError> {
    let input = blocks::lift_prompt(prompt).map_err(|blocks::NotTaken(why)| invalid(why))?;
    if input.text.trim().is_empty() && input.attachments.is_empty() {
        return Err(invalid("the prompt is empty"));
    }
    Ok(input)
}

fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    let raw = params.map(RawValue::get).filter(|raw| *raw != "null").unwrap_or("{}");
    serde_json::from_str(raw).map_err(|why| invalid(format!("the parameters cannot be read: {why}")))
}

/// The error for parameters that do not fit.
pub(super) fn invalid(why: impl Into<String>) -> RpcError {
    RpcError::new(INVALID_PARAMS, why)
}

fn not_found(session: &str) -> RpcError {
    RpcError::new(code::NOT_FOUND, format!("there is no session {session:?} here; list, load or make one"))
}

fn not_here(method: &str) -> RpcError {
    RpcError::new(METHOD_NOT_FOUND, "method not found").with_data(&method)
}
