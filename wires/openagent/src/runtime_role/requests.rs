//! What a client may ask, as a table: each request with what it becomes and what it is answered with. Everything is checked here, so that
//! the hub only sees what fits the vocabulary.

use super::super::wire::{
    Context, ContextResult, InitializeParams, InitializeResult, Model, Program, capability, code,
};
use super::super::{OUR_NAME, version};
use super::client::Client;
use super::{OpenagentRuntime, approval, context, library, queries, words};
use domain::ask::ActionDigest;
use domain::command::{Command, ExportFormat, Receipt, Refusal, RefusalKind, SessionCommand};
use domain::ids::SessionId;
use rolekit::endpoint::{self, Endpoint, Manners, RpcRole, Written, reply, written};
use rolekit::exchange::{
    Answering, Asking, Exchange, Next, Pending, Request, Settlement, TableRole as _, no_answer,
};
use rolekit::rpc::Call as _;
use rolekit::session_name;
use roles::{RuntimeCx, View};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use wire::WireId;
use wire::jsonrpc::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError};

const REQUESTS: &[Exchange<OpenagentRuntime>] = &[
    Exchange::of::<InitializeParams>(OpenagentRuntime::initialize, no_answer),
    Exchange::of::<Context>(OpenagentRuntime::context_update, OpenagentRuntime::context_updated),
];

/// What an answer needs of its request.
#[derive(Debug, Clone, PartialEq)]
pub enum OpenagentMemo {
    Nothing,
    /// The version agreed on.
    Greeting(String),
    /// Nobody waits: a client has said who it is and is shown what goes on.
    Joined,
    /// A side session for the query of this number.
    Branch(u64),
    /// The context of a query, which goes before its prompt.
    Prepared(u64),
    /// The run of a query.
    Query(u64),
    /// What holds if the client's word of its surroundings is refused.
    Context(Box<Context>),
    /// The query that is stopped.
    Cancel(String),
    /// With what is not asked about again once the hub took the answer.
    Approve {
        execution_id: String,
        approved: bool,
        remember: Option<(SessionId, ActionDigest)>,
    },
    /// Most sessions that the client wants listed.
    List(usize),
    /// The format, as the client named it.
    Export(String),
    Delete(SessionId),
    /// A session is looked for by what the client calls it.
    Named(String, NamedDeed),
}

/// What is done with a session that the client named.
#[derive(Debug, Clone, PartialEq)]
pub enum NamedDeed {
    Load,
    Export(String, ExportFormat),
    Delete,
}

impl RpcRole for OpenagentRuntime {
    type Memo = OpenagentMemo;

    const MANNERS: Manners = Manners {
        null_id: true,
        strict: true,
        garbled: "the line is not UTF-8 text or holds a NUL byte",
        words,
        unknown: |method| RpcError::new(METHOD_NOT_FOUND, words(METHOD_NOT_FOUND, method)),
        too_many: || {
            let why =
                format!("more than {} requests in a second; wait a little", wire::rate::REQUESTS_PER_SECOND);
            RpcError::new(code::AGENT, words(code::AGENT, &why))
        },
        odd: || RpcError::new(INTERNAL_ERROR, "Internal error: the runtime answered something else"),
    };

    fn endpoint(&self) -> &Endpoint<OpenagentMemo> {
        &self.endpoint
    }

    fn endpoint_mut(&mut self) -> &mut Endpoint<OpenagentMemo> {
        &mut self.endpoint
    }

    fn tables(&self) -> &'static [&'static [Exchange<OpenagentRuntime>]] {
        &[REQUESTS, queries::REQUESTS, approval::REQUESTS, library::REQUESTS]
    }

    /// The document's error for a refusal.
    fn refused(_: &'static str, refusal: &Refusal) -> RpcError {
        let number = match &refusal.kind {
            RefusalKind::SessionUnknown
            | RefusalKind::EntryUnknown
            | RefusalKind::AskUnknown
            | RefusalKind::AskOver
            | RefusalKind::QueuedUnknown
            | RefusalKind::RunUnknown
            | RefusalKind::Invalid => INVALID_PARAMS,
            RefusalKind::Unsupported | RefusalKind::ExtensionUnknown => METHOD_NOT_FOUND,
            RefusalKind::ModelUnknown => code::MODEL,
            RefusalKind::ToolUnknown => code::TOOL,
            RefusalKind::TimedOut => code::TIMEOUT,
            RefusalKind::NotAllowed => code::DENIED,
            RefusalKind::Internal => INTERNAL_ERROR,
            RefusalKind::Storage
            | RefusalKind::Busy
            | RefusalKind::NoRun
            | RefusalKind::NothingToCompact
            | RefusalKind::TooMany
            | RefusalKind::Lost => code::AGENT,
            RefusalKind::Remote { code } => code.parse().unwrap_or(code::AGENT),
        };
        let error = RpcError::new(number, words(number, &session_name::in_words(&refusal.message)));
        match &refusal.hint {
            Some(hint) => error.with_data(&serde_json::json!({ "hint": hint })),
            None => error,
        }
    }

    fn unasked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        view: Option<View<'_>>,
        memo: OpenagentMemo,
        with: Result<Receipt, Refusal>,
    ) {
        match (memo, with) {
            (OpenagentMemo::Joined, _) => {
                if let Some(view) = view {
                    self.catch_up(cx, view);
                }
            }
            (OpenagentMemo::Branch(query), with) => self.branched(cx, query, with),
            (OpenagentMemo::Prepared(query), with) => {
                if let Err(refusal) = with {
                    cx.log(format!("the context of a query was refused: {refusal}"));
                }
                self.send_prompt(cx, query);
            }
            (OpenagentMemo::Query(query), with) => self.prompted(cx, view, query, with),
            (_, Err(refusal)) => cx.log(format!("refused: {refusal}")),
            (_, Ok(_)) => {}
        }
    }

    fn initialized(&self, memo: &OpenagentMemo) -> Written {
        let (can, greeting) = (self.endpoint.can(), &self.endpoint.greeting);
        let used = greeting.model.as_ref();
        let others = greeting.models.iter().filter(|model| Some(*model) != used);
        let models = used.into_iter().chain(others).map(|model| Model {
            name: format!("{}/{}", model.0, model.1),
            kind: "chat".to_owned(),
            loaded: Some(model) == used,
        });
        let capabilities = [
            (capability::STREAMING, true),
            (capability::BLOCKS, true),
            (capability::TOOL_EXECUTION, true),
            (capability::CONTEXT_AWARE, true),
            (capability::TOOL_APPROVAL, can.consent),
            (capability::SESSION_PERSISTENCE, can.sessions),
        ];
        let capabilities = capabilities.into_iter().filter(|(_, can)| *can).map(|(name, _)| name.to_owned());
        let OpenagentMemo::Greeting(agreed) = memo else { return Err((Self::MANNERS.odd)()) };
        written(&InitializeResult {
            status: "ready".to_owned(),
            protocol_version: Some(agreed.clone()),
            server_info: Program { name: OUR_NAME.to_owned(), version: greeting.version.clone() },
            capabilities: capabilities.collect(),
            models: models.collect(),
        })
    }

    /// What goes on at home was not told to a client that nobody knew: a question may wait since before a restart.
    fn greeted(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.home.is_some() {
            let command = Command::Session(SessionCommand::Stats);
            self.tell_hub(cx, self.at_home(), command, OpenagentMemo::Joined);
        }
    }

    fn notification(&mut self, cx: &mut RuntimeCx<'_>, method: &str, params: Option<&RawValue>) {
        match (method, read::<Context>(params)) {
            (Context::METHOD, Ok(newer)) => {
                self.update_context(cx, newer, Pending { from: None, memo: OpenagentMemo::Nothing });
            }
            // The error would quote what was said.
            (Context::METHOD, Err(_)) => cx.log(format!("ignored: {method} of another form")),
            _ => cx.log(format!("ignored: notification {method:?}; a request needs an id")),
        }
    }

    fn response(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, _: Result<&RawValue, RpcError>) {
        cx.log(format!("ignored: an answer with id {id}; nothing was asked"));
    }
}

impl OpenagentRuntime {
    /// A second handshake replaces what the first said.
    fn initialize(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        objects(request.params, &["client_info", "terminal_size", "config"])?;
        let params: InitializeParams = read(request.params)?;
        let agreed = version::agree(params.protocol_version.as_deref()).map_err(|data| {
            let why = format!(
                "protocol version {} is not supported; use {}",
                data.requested,
                data.supported.join(", ")
            );
            RpcError::new(INVALID_REQUEST, words(INVALID_REQUEST, &why)).with_data(&data)
        })?;
        self.client = Client::new(&params);
        endpoint::initialize(self, cx, request, OpenagentMemo::Greeting(agreed))
    }

    fn context_update(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let newer: Context = read(request.params)?;
        let before = Box::new(self.context.clone());
        let told = self.update_context(cx, newer, request.pending(OpenagentMemo::Context(before)));
        Ok(if told { Next::Nothing } else { reply(&ContextResult::success()) })
    }

    fn context_updated(&mut self, cx: &mut RuntimeCx<'_>, settled: Settlement<'_, Self>) -> Answering<Self> {
        if let (OpenagentMemo::Context(before), Err(_)) = (settled.memo, &settled.with) {
            self.context = *before;
            self.tell_context(cx);
        }
        settled.with?;
        Ok(reply(&ContextResult::success()))
    }

    /// Whether the hub was told. Without a session there is nobody to tell; it is told with the first query.
    fn update_context(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        newer: Context,
        pending: Pending<WireId, OpenagentMemo>,
    ) -> bool {
        let tells = context::tells(&newer) || newer.env.is_some();
        context::merge(&mut self.context, newer);
        let told = tells && self.home.is_some();
        if told {
            let command = Command::UpdateContext(context::lift(&self.context));
            let home = self.at_home();
            self.endpoint.pending.command(cx, home, command, pending);
        }
        told
    }
}

/// Reads parameters; absent and null are the empty object.
pub(super) fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    endpoint::object(params).map_err(invalid)
}

/// Refuses a list where the document has an object: it would be read as one without members.
pub(super) fn objects(params: Option<&RawValue>, names: &[&str]) -> Result<(), RpcError> {
    let Some(params) = params.filter(|params| params.get().starts_with('{')) else { return Ok(()) };
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(params.get()).unwrap_or_default();
    let list = |name: &&&str| members.get(**name).is_some_and(|value| value.get().starts_with('['));
    match names.iter().find(list) {
        Some(name) => Err(invalid(format!("{name} must be an object"))),
        None => Ok(()),
    }
}

/// The error for parameters that cannot be understood.
pub(super) fn invalid(why: impl std::fmt::Display) -> RpcError {
    RpcError::new(INVALID_PARAMS, words(INVALID_PARAMS, &why.to_string()))
}
