//! From what the client asks to commands. Everything is checked here, so that the hub only sees what fits the vocabulary.

use super::super::wire::{
    ApproveParams, ApproveResult, CancelParams, CancelResult, Context, ContextResult, DeleteParams,
    ExportParams, ExportResult, InitializeParams, InitializeResult, ListParams, LoadParams, Model, Program,
    QueryParams, SaveParams, capability, code,
};
use super::super::{OUR_NAME, version};
use super::client::Client;
use super::receipts::HubCommand;
use super::{GREET, MAX_PENDING, OpenagentRuntime, approval, context, words};
use crate::rpc::Call as _;
use crate::session_name;
use domain::ask::Closing;
use domain::command::{
    Command, ExportFormat, LibraryCommand, ListScope, Refusal, RefusalKind, SessionCommand, Target,
};
use domain::ids::SessionId;
use domain::port::Abilities;
use roles::{GREET_WITHIN, RuntimeCx};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use wire::WireId;
use wire::jsonrpc::{self, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError};

/// Sessions in a list unless the client says otherwise.
const DEFAULT_SESSIONS: u64 = 10;
/// Most sessions in a list.
const MAX_SESSIONS: u64 = 1000;

impl OpenagentRuntime {
    /// Takes a request of the client: it becomes a command, or is answered at once.
    pub(super) fn request(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: WireId,
        method: &str,
        params: Option<&RawValue>,
    ) {
        let done = match method {
            InitializeParams::METHOD => self.initialize(cx, &id, params),
            QueryParams::METHOD => {
                self.query(cx, id.clone(), params);
                Ok(())
            }
            CancelParams::METHOD => {
                read(params).and_then(|p: CancelParams| self.cancel_query(cx, &id, &p.query_id))
            }
            ApproveParams::METHOD => self.approve(cx, &id, params),
            Context::METHOD => read(params).map(|newer: Context| {
                let before = Box::new(self.context.clone());
                if !self.update_context(cx, newer, HubCommand::Context { id: id.clone(), before }) {
                    cx.send(jsonrpc::result(&id, &ContextResult::success()));
                }
            }),
            SaveParams::METHOD => self.save(cx, &id, params),
            LoadParams::METHOD => self.load(cx, &id, params),
            ListParams::METHOD => self.list(cx, &id, params),
            ExportParams::METHOD => self.export(cx, &id, params),
            DeleteParams::METHOD => self.delete(cx, &id, params),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, words(METHOD_NOT_FOUND, method))),
        };
        if let Err(error) = done {
            cx.send(jsonrpc::error(Some(&id), &error));
        }
    }

    /// Takes a message of the client that wants no answer.
    pub(super) fn notification(&mut self, cx: &mut RuntimeCx<'_>, method: &str, params: Option<&RawValue>) {
        match (method, read::<Context>(params)) {
            (Context::METHOD, Ok(newer)) => {
                self.update_context(cx, newer, HubCommand::Silent);
            }
            // The error would quote what was said.
            (Context::METHOD, Err(_)) => cx.log(format!("ignored: {method} of another form")),
            _ => cx.log(format!("ignored: notification {method:?}; a request needs an id")),
        }
    }

    /// Whether the hub was told. Without a session there is nobody to tell; it is told with the first query.
    fn update_context(&mut self, cx: &mut RuntimeCx<'_>, newer: Context, waits: HubCommand) -> bool {
        let tells = context::tells(&newer) || newer.env.is_some();
        context::merge(&mut self.context, newer);
        let told = tells && self.home.is_some();
        if told {
            let command = Command::UpdateContext(context::lift(&self.context));
            self.ask_hub(cx, self.at_home(), command, waits);
        }
        told
    }

    /// A second handshake replaces what the first said.
    fn initialize(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        objects(params, &["client_info", "terminal_size", "config"])?;
        let params: InitializeParams = read(params)?;
        let agreed = version::agree(params.protocol_version.as_deref()).map_err(|data| {
            let why = format!(
                "protocol version {} is not supported; use {}",
                data.requested,
                data.supported.join(", ")
            );
            RpcError::new(INVALID_REQUEST, words(INVALID_REQUEST, &why)).with_data(&data)
        })?;
        self.client = Client::new(&params);
        if !self.greeting.follows || self.behind.is_some() {
            cx.send(self.initialized(id, agreed));
            self.show_what_goes_on(cx);
            return Ok(());
        }
        if let Some(why) = &self.gone {
            return Err(RpcError::new(INTERNAL_ERROR, words(INTERNAL_ERROR, why)));
        }
        if self.ungreeted.len() >= MAX_PENDING {
            return Err(super::too_many());
        }
        // In front of another program the answer waits until that has told what it can do.
        cx.timer(GREET, GREET_WITHIN);
        self.ungreeted.push((id.clone(), agreed));
        Ok(())
    }

    fn initialized(&self, id: &WireId, agreed: String) -> String {
        let can = match &self.behind {
            Some(behind) => behind.clone(),
            None if self.greeting.follows => Abilities::default(),
            None => Abilities::all("parlor"),
        };
        let used = self.greeting.model.as_ref();
        let others = self.greeting.models.iter().filter(|model| Some(*model) != used);
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
        let result = InitializeResult {
            status: "ready".to_owned(),
            protocol_version: Some(agreed),
            server_info: Program { name: OUR_NAME.to_owned(), version: self.greeting.version.clone() },
            capabilities: capabilities.collect(),
            models: models.collect(),
        };
        jsonrpc::result(id, &result)
    }

    /// Refuses the handshakes that waited, and those that come.
    pub(super) fn refuse_greeting(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        for (id, _) in std::mem::take(&mut self.ungreeted) {
            cx.cancel_timer(GREET);
            let error = RpcError::new(INTERNAL_ERROR, words(INTERNAL_ERROR, why));
            cx.send(jsonrpc::error(Some(&id), &error));
        }
        self.gone = Some(why.to_owned());
    }

    /// Answers the handshakes that waited, with what is known by now.
    pub(super) fn greet(&mut self, cx: &mut RuntimeCx<'_>) {
        if !self.ungreeted.is_empty() {
            cx.cancel_timer(GREET);
        }
        let waited = std::mem::take(&mut self.ungreeted);
        for (id, agreed) in &waited {
            cx.send(self.initialized(id, agreed.clone()));
        }
        if !waited.is_empty() {
            self.show_what_goes_on(cx);
        }
    }

    /// What goes on at home was not told to a client that nobody knew: a question may wait since before a restart.
    fn show_what_goes_on(&mut self, cx: &mut RuntimeCx<'_>) {
        if self.home.is_some() {
            self.ask_hub(cx, self.at_home(), Command::Session(SessionCommand::Stats), HubCommand::Joined);
        }
    }

    /// The existing client reads what is wrong from the result, the document has errors for it.
    fn no_approval(
        &self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        error: RpcError,
        short: &str,
    ) -> Result<(), RpcError> {
        if !self.client.terminal {
            return Err(error);
        }
        let (status, error) = ("error".to_owned(), Some(short.to_owned()));
        cx.send(jsonrpc::result(id, &ApproveResult { status, error, ..ApproveResult::default() }));
        Ok(())
    }

    fn approve(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        objects(params, &["options"])?;
        let params: ApproveParams = read(params)?;
        let Some(execution_id) = params.execution_id else {
            return self.no_approval(cx, id, invalid("execution_id is required"), "execution_id required");
        };
        let found = self.queries.values().find_map(|query| {
            let asked = query.telling.execution(&execution_id)?.ask.as_ref()?;
            Some((query.session.clone()?, asked))
        });
        let Some((session, asked)) = found else {
            let error = invalid(format!("{execution_id:?} does not wait for approval"));
            return self.no_approval(cx, id, error, "Execution not found");
        };
        if let Some(closing) = &asked.closing {
            let (number, why) = match closing {
                Closing::Expired => (code::TIMEOUT, "the request for approval ran out of time; ask again"),
                Closing::Withdrawn => (code::CANCELLED, "the query was cancelled"),
                Closing::Answered { .. } | Closing::Unattended => (INVALID_PARAMS, "it was answered already"),
            };
            return self.no_approval(
                cx,
                id,
                RpcError::new(number, words(number, why)),
                "Execution not found",
            );
        }
        let Some(approved) = params.approved else {
            return self.no_approval(
                cx,
                id,
                invalid("approved is required: true or false"),
                "approved required",
            );
        };
        let options = params.options.unwrap_or_default();
        let answer = approval::lift(&asked.consent, asked.lasts, approved, &options, params.reason);
        let alone = approved && asked.lasts && options.remember_choice && !options.apply_to_similar;
        let remember = alone.then(|| (session.clone(), asked.consent.digest.clone()));
        let command = Command::Answer { ask: asked.ask, answer };
        let pending = HubCommand::Approve { id: id.clone(), execution_id, approved, remember };
        self.ask_hub(cx, Target::Session(session), command, pending);
        Ok(())
    }

    fn save(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        let params: SaveParams = read(params)?;
        let history = params.include_history.unwrap_or(true);
        if history && params.include_blocks == Some(false) {
            let why = "blocks are part of the messages here, so include_blocks cannot be false while include_history is true; \
                       leave it out, or save without the history";
            return Err(invalid(why));
        }
        if !history && params.include_blocks == Some(true) {
            let why = "blocks are part of the messages here, so they cannot be saved without the history; leave one of \
                       the two out";
            return Err(invalid(why));
        }
        if self.home.is_none() {
            let why = "there is no session to save yet; send a query first";
            return Err(RpcError::new(code::AGENT, words(code::AGENT, why)));
        }
        let command = Command::Library(LibraryCommand::Save { path: params.path, history });
        self.ask_hub(cx, self.at_home(), command, HubCommand::Save { id: id.clone() });
        Ok(())
    }

    fn load(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        let params: LoadParams = read(params)?;
        let command = match (params.session_id, params.path) {
            (Some(session), _) => {
                Command::Library(LibraryCommand::Open { session: self.session_id(&session)? })
            }
            (None, Some(path)) if !path.is_empty() => Command::Library(LibraryCommand::Load { path }),
            (None, _) => return Err(invalid("session_id or path is required")),
        };
        self.ask_hub(cx, self.at_home(), command, HubCommand::Load { id: id.clone() });
        Ok(())
    }

    fn list(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        let params: ListParams = read(params)?;
        let limit = Some(params.limit.unwrap_or(DEFAULT_SESSIONS).min(MAX_SESSIONS));
        let command = Command::Library(LibraryCommand::List { scope: ListScope::All, limit, search: None });
        self.ask_hub(cx, self.at_home(), command, HubCommand::List { id: id.clone() });
        Ok(())
    }

    fn export(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        let params: ExportParams = read(params)?;
        let name = params.format.unwrap_or_else(|| "markdown".to_owned());
        let format = match name.as_str() {
            "markdown" | "md" => ExportFormat::Markdown,
            "html" => ExportFormat::Html,
            "jsonl" | "json" => ExportFormat::Jsonl,
            other => {
                return Err(invalid(format!(
                    "format {other:?} is not supported; use markdown, html or jsonl"
                )));
            }
        };
        let session = params.session_id.as_deref().map(|name| self.session_id(name)).transpose()?;
        if session.is_none() && self.home.is_none() {
            let status = "success".to_owned();
            cx.send(jsonrpc::result(id, &ExportResult { status, format: name, ..ExportResult::default() }));
            return Ok(());
        }
        let session = session.or_else(|| self.home.clone());
        let pending = HubCommand::Export { id: id.clone(), format: name };
        self.ask_hub(
            cx,
            self.at_home(),
            Command::Library(LibraryCommand::Export { session, format }),
            pending,
        );
        Ok(())
    }

    fn delete(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<(), RpcError> {
        let params: DeleteParams = read(params)?;
        let name = params.session_id.ok_or_else(|| invalid("session_id is required"))?;
        let session = self.session_id(&name)?;
        let pending = HubCommand::Delete { id: id.clone(), session: session.clone() };
        self.ask_hub(cx, self.at_home(), Command::Library(LibraryCommand::Delete { session }), pending);
        Ok(())
    }

    /// The session that the client names: by its name or its id, or by a beginning that no other of the last list has. A name that
    /// cannot be one is unknown.
    fn session_id(&self, name: &str) -> Result<SessionId, RpcError> {
        let found = session_name::find(name, self.listed.iter().chain(&self.home));
        found.or_else(|| session_name::read(name)).ok_or_else(|| {
            let short: String = name.chars().take(64).collect();
            invalid(format!("there is no session {short:?}; list the sessions to see which there are"))
        })
    }
}

/// Reads parameters; absent and null are the empty object.
pub(super) fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    let raw = params.map(RawValue::get).filter(|raw| *raw != "null").unwrap_or("{}");
    if !raw.trim_start().starts_with('{') {
        return Err(invalid("params must be an object"));
    }
    serde_json::from_str(raw).map_err(|error| invalid(error.to_string()))
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

/// The answer to `agent.cancel`.
pub(super) fn cancel_line(id: &WireId, query_id: &str, cancelled: bool) -> String {
    let status = (!cancelled).then(|| "finished".to_owned());
    jsonrpc::result(id, &CancelResult { cancelled, query_id: query_id.to_owned(), status })
}

/// The document's error for a refusal.
pub(super) fn refusal_error(refusal: &Refusal) -> RpcError {
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
        RefusalKind::Storage | RefusalKind::Internal => INTERNAL_ERROR,
        RefusalKind::Busy
        | RefusalKind::NoRun
        | RefusalKind::NothingToCompact
        | RefusalKind::TooMany
        | RefusalKind::Lost => code::AGENT,
        RefusalKind::Remote { code } => code.parse().unwrap_or(code::AGENT),
    };
    let error = RpcError::new(number, words(number, &refusal.message));
    match &refusal.hint {
        Some(hint) => error.with_data(&serde_json::json!({ "hint": hint })),
        None => error,
    }
}
