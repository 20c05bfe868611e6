//! What a client may ask, as a table: each request with what it becomes and what it is answered with. Everything is checked here, so that
//! the hub only sees what fits the vocabulary.

use super::super::wire::{
    AgentAuthCapabilities, AgentCapabilities, AuthMethod, AuthenticateParams, CancelParams,
    CancelRequestParams, Implementation, InitializeParams, InitializeResult, LogoutParams, McpCapabilities,
    Meta, Nothing, Offered, Own, PROTOCOL_VERSION, PromptCapabilities, SessionCapabilities, Steering, code,
};
use super::sessions::{Opening, OpeningKind};
use super::{AcpRuntime as Role, drafts, options, sessions, turns};
use domain::command::{
    Command, FORGET_KEYS, ListCommand, Receipt, Refusal, RefusalKind, SessionCommand, Target,
};
use domain::content::{Input, Json};
use domain::ids::SessionId;
use domain::port::menu::SetOption;
use domain::signal::Level;
use domain::ui_files::TOO_LONG;
use rolekit::endpoint::{self, Endpoint, Manners, RpcRole, Written, written};
use rolekit::exchange::{
    Answering, Asking, Exchange, Fault, Next, Request, Settlement, TableRole as _, no_answer,
};
use rolekit::rpc::Call as _;
use roles::{RuntimeCx, View};
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use wire::WireId;
use wire::jsonrpc::{self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError};

/// The way to log in, and the argument that does it behind whatever command starts us on stdio.
const LOGIN: &str = "login";

const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<InitializeParams>(Role::initialize, no_answer),
    Exchange::of::<AuthenticateParams>(Role::authenticate, logged_in),
    Exchange::of::<LogoutParams>(Role::logout, Role::logged_out),
];

/// What an answer needs of its request.
#[derive(Debug, Clone, PartialEq)]
pub enum AcpMemo {
    Nothing,
    /// A session that is being opened; `cwd` is where the client believes that it works.
    Open {
        session: Option<SessionId>,
        cwd: Option<String>,
        opening: Opening,
    },
    /// It is there; the models go into the answer.
    Models {
        session: SessionId,
        opening: Opening,
    },
    /// A session that another is to go on from; its folder must be the one that the client means.
    Fork {
        source: SessionId,
        cwd: String,
        opening: Opening,
    },
    Title {
        session: SessionId,
        title: String,
    },
    /// What can be typed in a session; nobody waits.
    Skills(SessionId),
    List {
        cwd: Option<String>,
        from: usize,
    },
    /// A prompt on its way, and how often it was tried.
    Prompt {
        session: SessionId,
        input: Input,
        steps: u8,
    },
    Compact(SessionId),
    /// With what begins a turn where nothing runs.
    Steer {
        session: SessionId,
        input: Option<Input>,
    },
    /// A turn that begins with what was meant as a steer.
    SteeredAnew,
    Set {
        session: SessionId,
        command: SessionCommand,
    },
    /// The same of the program behind us.
    SetTheirs {
        session: SessionId,
        set: SetOption,
    },
}

impl AcpMemo {
    /// Whether it takes this link to the session.
    pub(super) fn goes_to(&self, session: &SessionId) -> bool {
        matches!(self, AcpMemo::Open { session: to, .. } if to.as_ref().is_none_or(|to| to == session))
    }

    /// Whether it gives a session to the client that is there already.
    pub(super) fn gives(&self, session: &SessionId) -> bool {
        matches!(self, AcpMemo::Open { session: Some(to), .. } if to == session)
    }

    /// Whether the past of the session is to be told.
    pub(super) fn loads(&self, session: &SessionId) -> bool {
        self.gives(session)
            && matches!(self, AcpMemo::Open { opening, .. } if opening.kind == OpeningKind::Load)
    }

    /// Whether it is a prompt on its way to this session.
    pub(super) fn prompts(&self, session: &SessionId) -> bool {
        matches!(self, AcpMemo::Prompt { session: to, .. } if to == session)
    }

    /// Whether the client wants this session summarised.
    pub(super) fn compacts(&self, session: &SessionId) -> bool {
        matches!(self, AcpMemo::Compact(of) if of == session)
    }

    /// Whether it makes a session.
    pub(super) fn makes(&self) -> bool {
        matches!(self, AcpMemo::Open { opening, .. } if opening.kind == OpeningKind::New)
    }

    /// Where the client believes that this session works, if it is about to get it.
    pub(super) fn believes(&self, session: &SessionId) -> Option<&str> {
        match self {
            AcpMemo::Open { session: Some(to), cwd, .. } if to == session => cwd.as_deref(),
            _ => None,
        }
    }
}

impl RpcRole for Role {
    type Memo = AcpMemo;

    const MANNERS: Manners = Manners {
        null_id: true,
        strict: false,
        garbled: "the line is not UTF-8 text",
        words: |_, why| why.to_owned(),
        unknown: not_here,
        too_many: || RpcError::new(INVALID_REQUEST, "too many requests; wait a moment and send it again"),
        odd: || RpcError::new(INTERNAL_ERROR, "the runtime gave an answer to another question"),
    };

    fn endpoint(&self) -> &Endpoint<AcpMemo> {
        &self.endpoint
    }

    fn endpoint_mut(&mut self) -> &mut Endpoint<AcpMemo> {
        &mut self.endpoint
    }

    fn tables(&self) -> &'static [&'static [Exchange<Role>]] {
        &[REQUESTS, sessions::REQUESTS, turns::REQUESTS, options::REQUESTS, drafts::REQUESTS]
    }

    /// Our refusals in the protocol's codes; the words are ours.
    fn refused(_: &'static str, refusal: &Refusal) -> RpcError {
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
                return RpcError::new(INTERNAL_ERROR, refusal.to_string())
                    .with_data(&json!({ "code": code }));
            }
        };
        RpcError::new(number, refusal.to_string())
    }

    fn unasked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        _: Option<View<'_>>,
        memo: AcpMemo,
        with: Result<Receipt, Refusal>,
    ) {
        if let AcpMemo::Skills(session) = memo {
            self.skills_listed(cx, &session, with);
        }
    }

    fn initialized(&self, _: &AcpMemo) -> Written {
        let (can, greeting) = (self.endpoint.can(), &self.endpoint.greeting);
        let offered = |can: bool| can.then(Offered::default);
        let name =
            if can.name.is_empty() || !greeting.follows { "Parlor".to_owned() } else { can.name.clone() };
        let agent_info = Implementation {
            name: "parlor".to_owned(),
            title: Some(name),
            version: greeting.version.clone(),
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
                fork: offered(can.branch),
                title: offered(can.rename_session),
                additional_directories: offered(true),
                ..SessionCapabilities::default()
            },
            auth: AgentAuthCapabilities {
                logout: offered(!greeting.follows),
                ..AgentAuthCapabilities::default()
            },
            mcp_capabilities: McpCapabilities { http: !greeting.follows, ..McpCapabilities::default() },
            ..AgentCapabilities::default()
        };
        let session = self.put.as_ref().filter(|_| !greeting.follows).map(ToString::to_string);
        let parlor = session.map(|session| Own { session: Some(session), ..Own::default() });
        let steering = can.steer.then(|| Steering { supported: true, ..Steering::default() });
        let meta = Some(Meta { parlor, steering, ..Meta::default() }).filter(|meta| *meta != Meta::default());
        written(&InitializeResult {
            protocol_version: PROTOCOL_VERSION,
            agent_capabilities,
            auth_methods: self.ways_in(),
            agent_info: Some(agent_info),
            meta,
            ..InitializeResult::default()
        })
    }

    fn notification(&mut self, cx: &mut RuntimeCx<'_>, method: &str, params: Option<&RawValue>) {
        let raw = params.map_or("{}", RawValue::get);
        let known = match method {
            CancelParams::METHOD => serde_json::from_str(raw)
                .map(|CancelParams { session_id, .. }| self.cancel(cx, SessionId::parse(&session_id))),
            CancelRequestParams::METHOD => serde_json::from_str(raw)
                .map(|CancelRequestParams { request_id, .. }| self.take_back(cx, &request_id)),
            _ => {
                return cx.log(format!("ignored: a notification that we do not know ({} bytes)", raw.len()));
            }
        };
        if known.is_err() {
            // The error would quote what was said.
            cx.log(format!("ignored: {method} of another form ({} bytes)", raw.len()));
        }
    }

    fn response(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, outcome: Result<&RawValue, RpcError>) {
        self.answered(cx, id, outcome);
    }

    /// Its head may say what it answers: a file that is too long, or a form.
    fn overlong(&mut self, cx: &mut RuntimeCx<'_>, head: &str) -> bool {
        let Some(id) = jsonrpc::response_id_in_head(head) else { return false };
        let why = format!("{TOO_LONG}: more than {} bytes", wire::lines::MAX_LINE);
        self.answered(cx, &id, Err(RpcError::new(INVALID_REQUEST, why)));
        true
    }
}

impl Role {
    /// Whatever version the client names, we answer with the one that we speak: it closes the link if it cannot live with that.
    fn initialize(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: InitializeParams = read(request.params)?;
        self.client = params.client_capabilities;
        endpoint::initialize(self, cx, request, AcpMemo::Nothing)
    }

    /// The ways to log in: our own command, for a client that opens a terminal for it; for others the keys that are there, since some
    /// clients take the first way of every agent and give up where it fails. Another program behind us has its own.
    fn ways_in(&self) -> Vec<AuthMethod> {
        let login = AuthMethod { id: LOGIN.to_owned(), ..AuthMethod::default() };
        let login = if self.opens_terminals() {
            AuthMethod {
                kind: Some("terminal".to_owned()),
                name: "Log in with a key".to_owned(),
                description: Some(
                    "Choose a provider and enter a key, which is tried at once. In any terminal: parlor login"
                        .to_owned(),
                ),
                args: vec![LOGIN.to_owned()],
                ..login
            }
        } else {
            AuthMethod {
                name: "Use the keys of this machine".to_owned(),
                description: Some(
                    "Keys are added in a terminal: parlor login. Without one the offline model answers."
                        .to_owned(),
                ),
                ..login
            }
        };
        if self.endpoint.greeting.follows { Vec::new() } else { vec![login] }
    }

    /// Whether the client opens a terminal for a login.
    fn opens_terminals(&self) -> bool {
        let (auth, meta) = (self.client.auth.as_ref(), self.client.meta.as_ref());
        auth.is_some_and(|auth| auth.terminal) || meta.is_some_and(|meta| meta.terminal_auth == Some(true))
    }

    /// Logged in is who could begin a session with a model that answers.
    fn authenticate(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: AuthenticateParams = read(request.params)?;
        if params.method_id != LOGIN || self.endpoint.greeting.follows {
            return Err(invalid(format!("there is no way to log in by the name {:?}", params.method_id)));
        }
        let command = Command::List(ListCommand::Models { provider: None });
        Ok(Next::Hub(Target::Current, command, AcpMemo::Nothing))
    }

    /// Forgets the keys that a login kept. A program behind us keeps its own.
    fn logout(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        if self.endpoint.greeting.follows {
            return Err(not_here(request.method));
        }
        let payload = Json::verbatim("{}".to_owned());
        let command = Command::Extension { name: FORGET_KEYS.to_owned(), payload };
        Ok(Next::Hub(Target::Current, command, AcpMemo::Nothing))
    }

    /// Keys are forgotten for all sessions: each says so.
    fn logged_out(&mut self, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        let Receipt::Extension(whose) = settled.with? else { return Err(Fault::Odd) };
        self.reply(cx, settled.from, Ok(nothing()));
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
        Ok(Next::Nothing)
    }
}

fn logged_in(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    match settled.with? {
        Receipt::Models { current: Some(_), .. } => Ok(Next::Reply(nothing())),
        Receipt::Models { current: None, .. } => {
            let what = "no model can be used: run `parlor login` in a terminal, then try again";
            Err(Fault::Error(RpcError::new(code::AUTH_REQUIRED, what)))
        }
        _ => Err(Fault::Odd),
    }
}

/// Whatever the receipt says, it was done.
pub(super) fn done(_: &mut Role, _: &mut RuntimeCx<'_>, settled: Settlement<'_, Role>) -> Answering<Role> {
    settled.with?;
    Ok(Next::Reply(nothing()))
}

/// A result that says nothing but that it was done.
pub(super) fn nothing() -> Written {
    written(&Nothing::default())
}

/// Reads parameters; absent and null are the empty object.
pub(super) fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    let raw = params.map(RawValue::get).filter(|raw| *raw != "null").unwrap_or("{}");
    serde_json::from_str(raw).map_err(|why| invalid(format!("the parameters cannot be read: {why}")))
}

/// The error for parameters that do not fit.
pub(super) fn invalid(why: impl Into<String>) -> RpcError {
    RpcError::new(INVALID_PARAMS, why)
}

/// The error for a method that is not offered.
pub(super) fn not_here(method: &str) -> RpcError {
    RpcError::new(METHOD_NOT_FOUND, "method not found").with_data(&method)
}
