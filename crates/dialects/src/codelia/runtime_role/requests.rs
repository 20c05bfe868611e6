//! From what the UI asks to commands. Everything is checked here, so that the hub only sees what fits the vocabulary.

use super::super::wire::{
    ContextInspectParams, InitializeParams, InitializeResult, InputPart, McpListParams, ModelListParams,
    ModelSetParams, PROTOCOL_VERSION, Program, RunCancelParams, RunInput, RunStartParams, ServerCapabilities,
    SessionHistoryParams, SessionListParams, SkillsListParams, TuiLook, UiContextParams, code,
};
use super::super::{effort_name, run_name};
use super::client_tools;
use super::receipts::{self, HubCommand};
use super::{CodeliaRuntime, GREET, MAX_PENDING};
use crate::rpc::Call as _;
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, PromptOptions, RunCommand, SessionCommand, Target,
};
use domain::content::{Input, Part};
use domain::ids::{RunId, SessionId};
use domain::port::Abilities;
use domain::signal::UiContext;
use roles::{GREET_WITHIN, Item, RuntimeCx};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use wire::WireId;
use wire::jsonrpc::{self, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError};

/// Sessions in a list unless the UI says otherwise.
const DEFAULT_SESSIONS: i64 = 50;
/// Runs in a replay unless the UI says otherwise.
const DEFAULT_RUNS: i64 = 20;
/// Events in a replay unless the UI says otherwise.
const DEFAULT_EVENTS: i64 = 1500;
/// Events that a replay is made from; one line of the wire may stand for many of them.
const MAX_HISTORY: u64 = 200_000;

/// What to do with a request.
#[expect(clippy::large_enum_variant, reason = "there is one at a time, and it is taken apart at once")]
pub(super) enum Wish {
    /// Hand it to the hub.
    Hub(Target, Command, HubCommand),
    /// Answer at once.
    Line(String),
    /// Answer once it is known what the runtime behind us can do.
    Later,
}

impl CodeliaRuntime {
    /// Takes a request of the UI: it becomes a command, or is answered at once.
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
            RunStartParams::METHOD => self.run_start(cx, &id, params),
            RunCancelParams::METHOD => self.run_cancel(&id, params),
            SessionListParams::METHOD => session_list(&id, params),
            SessionHistoryParams::METHOD => session_history(&id, params),
            ModelListParams::METHOD => model_list(&id, params),
            ModelSetParams::METHOD => model_set(&id, params),
            McpListParams::METHOD => mcp_list(&id, params),
            SkillsListParams::METHOD => skills_list(&id, params),
            ContextInspectParams::METHOD => context_inspect(&id, params),
            UiContextParams::METHOD => self.changed_context(params).map(|context| {
                let command = Command::UpdateContext(context);
                Wish::Hub(Target::Current, command, HubCommand::Context { id: id.clone() })
            }),
            _ => self.shell_request(&id, method, params).unwrap_or_else(|| {
                Err(RpcError::new(METHOD_NOT_FOUND, "method not found").with_data(&method))
            }),
        };
        match wish {
            Ok(Wish::Hub(target, command, pending)) => {
                let compaction = matches!(pending, HubCommand::Compact { .. });
                let stop = match &command {
                    Command::Run(RunCommand::Cancel { run: Some(run), .. }) => self.told(&target, *run),
                    _ => None,
                };
                let ticket = self.ask_hub(cx, target, command, pending);
                if compaction {
                    Self::await_compaction(cx, ticket);
                }
                if let Some((session, run)) = stop {
                    self.stops.ask(session, run, ticket);
                    Self::await_stop(cx);
                }
            }
            Ok(Wish::Line(line)) => cx.send(line),
            Ok(Wish::Later) => {}
            Err(error) => cx.send(jsonrpc::error(Some(&id), &error)),
        }
    }

    /// Takes a message of the UI that wants no answer.
    pub(super) fn notification(&mut self, cx: &mut RuntimeCx<'_>, method: &str, params: Option<&RawValue>) {
        match method {
            UiContextParams::METHOD if self.pending.len() < MAX_PENDING => {
                match self.changed_context(params) {
                    Ok(context) => {
                        let command = Command::UpdateContext(context);
                        self.ask_hub(cx, Target::Current, command, HubCommand::Silent);
                    }
                    // The error would quote what was said.
                    Err(_) => cx.log(format!("ignored: {method} of another form")),
                }
            }
            UiContextParams::METHOD => cx.log(format!("ignored: {method}: too many requests wait")),
            _ => cx.log(format!("ignored: notification {method:?}; a request needs an id")),
        }
    }

    /// Versions are not negotiated: there is one. A second handshake replaces what the first said. In front of another program the answer
    /// waits until that has told what it can do.
    fn initialize(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<Wish, RpcError> {
        let params: InitializeParams = read(params)?;
        self.ui = params.ui_capabilities;
        self.client = params.client.name;
        if !self.greeting.follows || self.behind.is_some() {
            return Ok(Wish::Line(self.initialized(id)));
        }
        if let Some(why) = &self.gone {
            return Err(RpcError::new(jsonrpc::INTERNAL_ERROR, why));
        }
        if self.ungreeted.len() >= MAX_PENDING {
            return Err(receipts::too_many());
        }
        cx.timer(GREET, GREET_WITHIN);
        self.ungreeted.push(id.clone());
        Ok(Wish::Later)
    }

    fn initialized(&self, id: &WireId) -> String {
        let nothing_known = Abilities { cancel: true, ..Abilities::default() };
        let can = match &self.behind {
            Some(behind) => behind.clone(),
            None if self.greeting.follows => nothing_known,
            None => Abilities::all("parlor"),
        };
        let server = Program { name: "parlor".to_owned(), version: self.greeting.version.clone() };
        let server_capabilities = ServerCapabilities {
            supports_run_cancel: can.cancel,
            supports_ui_requests: Some(true),
            supports_mcp_list: can.servers,
            supports_skills_list: can.skills,
            supports_context_inspect: true,
            supports_shell_exec: !self.greeting.follows,
            supports_tasks: !self.greeting.follows,
            supports_theme_set: !self.greeting.follows,
            supports_run_diagnostics: self.diagnoses(),
            supports_permission_preflight_events: true,
            supports_text_deltas: true,
            ..ServerCapabilities::default()
        };
        let result = InitializeResult {
            protocol_version: PROTOCOL_VERSION.to_owned(),
            server,
            server_capabilities: Some(server_capabilities),
            tui: self.theme.clone().map(|theme| TuiLook { theme: Some(theme) }),
        };
        jsonrpc::result(id, &result)
    }

    /// Refuses the handshakes that waited, and those that come.
    pub(super) fn refuse_greeting(&mut self, cx: &mut RuntimeCx<'_>, why: &str) {
        for id in std::mem::take(&mut self.ungreeted) {
            cx.cancel_timer(GREET);
            cx.send(jsonrpc::error(Some(&id), &RpcError::new(jsonrpc::INTERNAL_ERROR, why)));
        }
        self.gone = Some(why.to_owned());
    }

    /// Answers the handshakes that waited, with what is known by now.
    pub(super) fn greet(&mut self, cx: &mut RuntimeCx<'_>) {
        if !self.ungreeted.is_empty() {
            cx.cancel_timer(GREET);
        }
        for id in std::mem::take(&mut self.ungreeted) {
            cx.send(self.initialized(&id));
        }
    }

    /// What the UI says about where the person works; it is also told when somebody inspects it.
    fn lift_context(&mut self, context: UiContextParams) -> UiContext {
        self.ui_context = Some(context.clone());
        lift_context(context)
    }

    /// A change: what it does not name stays as it was, and null takes away.
    fn changed_context(&mut self, params: Option<&RawValue>) -> Result<UiContext, RpcError> {
        let said: serde_json::Map<String, serde_json::Value> = read(params)?;
        let change: UiContextParams = read(params)?;
        let before = self.ui_context.take().unwrap_or_default();
        let names = |name: &str| said.contains_key(name);
        let context = UiContextParams {
            cwd: if names("cwd") { change.cwd } else { before.cwd },
            workspace_root: if names("workspace_root") {
                change.workspace_root
            } else {
                before.workspace_root
            },
            active_file: if names("active_file") { change.active_file } else { before.active_file },
            selection: if names("selection") { change.selection } else { before.selection },
            extensions: if names("extensions") { change.extensions } else { before.extensions },
        };
        Ok(self.lift_context(context))
    }

    fn run_start(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        id: &WireId,
        params: Option<&RawValue>,
    ) -> Result<Wish, RpcError> {
        let params: RunStartParams = read(params)?;
        let target = target(params.session_id.as_deref())?;
        let input = lift_input(params.input)?;
        let empty = input.text.trim().is_empty() && input.attachments.is_empty();
        if empty && !params.force_compaction {
            return Err(invalid("the input is empty"));
        }
        let mut offers = client_tools::lift_offers(params.tools)?;
        if self.greeting.follows && !offers.is_empty() {
            offers.clear();
            if !std::mem::replace(&mut self.offered_tools, true) {
                cx.loss(Item::Tools, "tools that the UI offers are not used by the runtime behind this one");
            }
        }
        if let Some(context) = params.ui_context {
            let command = Command::UpdateContext(self.lift_context(context));
            self.ask_hub(cx, target.clone(), command, HubCommand::Silent);
        }
        let id = id.clone();
        Ok(if params.force_compaction {
            Wish::Hub(
                target.clone(),
                Command::Run(RunCommand::Compact { instruction: None }),
                HubCommand::Compact { id, target, told: None },
            )
        } else {
            let tools = offers.iter().map(|offer| offer.name.clone()).collect();
            let options = PromptOptions { offers, ..PromptOptions::default() };
            Wish::Hub(
                target,
                Command::Run(RunCommand::Prompt { input, options }),
                HubCommand::RunStart { id, tools },
            )
        })
    }

    /// The run, if it is being told.
    fn told(&self, target: &Target, run: RunId) -> Option<(SessionId, RunId)> {
        let Target::Session(session) = target else { return None };
        self.tellings.get(session).filter(|telling| telling.run == run)?;
        Some((session.clone(), run))
    }

    fn run_cancel(&mut self, id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
        let params: RunCancelParams = read(params)?;
        if let Some(status) = self.compaction(&params.run_id) {
            return Ok(Wish::Line(receipts::not_cancelled(id, status)));
        }
        let not_found = || RpcError::new(code::RUN_NOT_FOUND, "run not found");
        let (session, run) = run_name::read(&params.run_id).ok_or_else(not_found)?;
        if let Some(telling) = self.tellings.get_mut(&session).filter(|telling| telling.run == run) {
            telling.stopping = true;
        }
        let command = Command::Run(RunCommand::Cancel { run: Some(run), reason: params.reason });
        Ok(Wish::Hub(Target::Session(session), command, HubCommand::Cancel { id: id.clone() }))
    }
}

fn session_list(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: SessionListParams = read(params)?;
    let limit = u64::try_from(params.limit.unwrap_or(DEFAULT_SESSIONS)).ok().filter(|limit| *limit > 0);
    let (scope, all) = match params.scope.as_deref() {
        Some("all") => (ListScope::All, true),
        None | Some("current_workspace") => (ListScope::Project(params.workspace_root), false),
        Some(other) => {
            return Err(invalid(format!("unknown scope {other:?}; it is current_workspace or all")));
        }
    };
    let command = Command::Library(LibraryCommand::List { scope, limit, search: None });
    Ok(Wish::Hub(Target::Current, command, HubCommand::SessionList { id: id.clone(), all }))
}

fn session_history(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: SessionHistoryParams = read(params)?;
    if params.session_id.is_empty() {
        return Err(invalid("session_id is required"));
    }
    let count = |given: Option<i64>, usual: i64| u64::try_from(given.unwrap_or(usual)).unwrap_or(0);
    let (max_runs, max_events) =
        (count(params.max_runs, DEFAULT_RUNS), count(params.max_events, DEFAULT_EVENTS));
    let session = SessionId::parse(&params.session_id).filter(|_| max_runs > 0 && max_events > 0);
    let Some(session) = session else { return Ok(Wish::Line(receipts::no_history(id))) };
    let command = Command::Library(LibraryCommand::History {
        session: session.clone(),
        max_runs,
        max_events: MAX_HISTORY,
    });
    let pending = HubCommand::History { id: id.clone(), session: session.clone(), max_events };
    Ok(Wish::Hub(Target::Session(session), command, pending))
}

fn model_list(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: ModelListParams = read(params)?;
    let command = Command::List(ListCommand::Models { provider: params.provider.clone() });
    let pending =
        HubCommand::ModelList { id: id.clone(), provider: params.provider, details: params.include_details };
    Ok(Wish::Hub(Target::Current, command, pending))
}

fn model_set(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: ModelSetParams = read(params)?;
    if params.reset {
        return Err(invalid("reset is not supported; set the model by its name"));
    }
    if params.name.is_empty() {
        return Err(invalid("name is required"));
    }
    if params.fast == Some(true) {
        return Err(invalid("fast means nothing here: no provider is asked for it"));
    }
    if let Some(scope) = params.scope.filter(|scope| !matches!(scope.as_str(), "config" | "session")) {
        return Err(invalid(format!("unknown scope {scope:?}; it is config or session")));
    }
    let effort = match params.reasoning.as_deref() {
        None => None,
        Some(word) => Some(effort_name::read(word).ok_or_else(|| {
            let names = effort_name::WORDS.join(", ");
            invalid(format!("unknown reasoning {word:?}; there are {names}"))
        })?),
    };
    let command = Command::Session(SessionCommand::SetModel { provider: params.provider, name: params.name });
    Ok(Wish::Hub(Target::Current, command, HubCommand::ModelSet { id: id.clone(), effort }))
}

fn mcp_list(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: McpListParams = read(params)?;
    match params.scope.as_deref() {
        None | Some("loaded" | "configured") => Ok(Wish::Hub(
            Target::Current,
            Command::List(ListCommand::Servers),
            HubCommand::McpList { id: id.clone() },
        )),
        Some(other) => Err(invalid(format!("unknown scope {other:?}; it is loaded or configured"))),
    }
}

/// The skills are asked for in any case: the answer also says where the session works.
fn context_inspect(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: ContextInspectParams = read(params)?;
    let command = Command::List(ListCommand::Skills { cwd: None, reload: false });
    let pending = HubCommand::Inspect { id: id.clone(), skills: params.include_skills };
    Ok(Wish::Hub(Target::Current, command, pending))
}

fn skills_list(id: &WireId, params: Option<&RawValue>) -> Result<Wish, RpcError> {
    let params: SkillsListParams = read(params)?;
    let command = Command::List(ListCommand::Skills { cwd: params.cwd, reload: params.force_reload });
    Ok(Wish::Hub(Target::Current, command, HubCommand::SkillsList { id: id.clone() }))
}

/// No session named means the current one; a name that cannot be one is unknown.
fn target(session_id: Option<&str>) -> Result<Target, RpcError> {
    match session_id {
        None => Ok(Target::Current),
        Some(id) => SessionId::parse(id)
            .map(Target::Session)
            .ok_or_else(|| RpcError::new(code::SESSION_NOT_FOUND, "session not found")),
    }
}

fn lift_input(input: RunInput) -> Result<Input, RpcError> {
    let parts = match input {
        RunInput::Text { text } => return Ok(Input::text(text)),
        RunInput::Parts { parts } => parts,
    };
    let mut lifted = Input::default();
    for part in parts {
        match part {
            InputPart::Text { text } => {
                if !lifted.text.is_empty() {
                    lifted.text.push_str("\n\n");
                }
                lifted.text.push_str(&text);
            }
            InputPart::ImageUrl { image_url } => {
                let (mime, base64) = data_url(&image_url.url)
                    .ok_or_else(|| invalid("an image must come along as a base64 data: address"))?;
                lifted.attachments.push(Part::Image { mime: mime.to_owned(), base64: base64.into() });
            }
        }
    }
    Ok(lifted)
}

/// Media type and base64 of a `data:` address.
pub(super) fn data_url(url: &str) -> Option<(&str, &str)> {
    let (head, base64) = url.strip_prefix("data:")?.split_once(',')?;
    let mime = head.strip_suffix(";base64")?;
    (mime.starts_with("image/") && !base64.is_empty()).then_some((mime, base64))
}

fn lift_context(context: UiContextParams) -> UiContext {
    let notes = context.extensions.unwrap_or_default().into_iter().flat_map(|(name, value)| match value {
        serde_json::Value::Array(lines) if name == "notes" => {
            lines.into_iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
        }
        value => vec![format!("{name}: {value}")],
    });
    UiContext {
        cwd: context.cwd,
        workspace_root: context.workspace_root,
        active_file: context.active_file.map(|file| file.path),
        selection: context
            .selection
            .map(|selection| (selection.selected_text.unwrap_or_default(), selection.path)),
        notes: notes.collect(),
        size: None,
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

/// The error for parameters that cannot be understood.
pub(super) fn invalid(why: impl std::fmt::Display) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("invalid params: {why}"))
}
