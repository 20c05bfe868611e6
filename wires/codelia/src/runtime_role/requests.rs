//! What a UI may ask, as a table: each request with what it becomes and what it is answered with. Everything is checked here, so that the
//! hub only sees what fits the vocabulary.

use super::super::wire::{
    InitializeParams, InitializeResult, Nothing, PROTOCOL_VERSION, Program, Range, RunCancelParams,
    ServerCapabilities, SessionHistoryResult, SessionListParams, UiContextParams, code,
};
use super::{CodeliaRuntime as Role, catalog, history, own_shell, runs, shell};
use domain::command::{Command, Receipt, Refusal, RefusalKind, Target};
use domain::ids::SessionId;
use domain::session::{Effort, ModelRef};
use domain::signal::UiContext;
use rolekit::endpoint::{self, Endpoint, Manners, RpcRole, Written, reply, written};
use rolekit::exchange::{Answering, Asking, Exchange, Next, Request, Settlement, TableRole as _, no_answer};
use rolekit::rpc::Call as _;
use roles::{RuntimeCx, View};
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use wire::WireId;
use wire::jsonrpc::{INVALID_PARAMS, METHOD_NOT_FOUND, RpcError};

const REQUESTS: &[Exchange<Role>] = &[
    Exchange::of::<InitializeParams>(Role::initialize, no_answer),
    Exchange::of::<UiContextParams>(Role::context_update, context_updated),
];

/// What an answer needs of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeliaMemo {
    Nothing,
    /// Nobody waits: the answer to a question was handed over.
    Answer,
    /// The names of the tools that the UI performs in the run.
    RunStart(BTreeSet<String>),
    /// Where a compaction was asked for.
    Compact(Target),
    /// Whether sessions of all folders are listed.
    SessionList {
        all: bool,
    },
    History {
        session: SessionId,
        max_events: u64,
    },
    /// The past was told, with this answer; the UI is led to the session.
    Joined(SessionHistoryResult),
    ModelList {
        provider: Option<String>,
        details: bool,
    },
    /// How hard the model shall think, if that was said.
    ModelSet(Option<Effort>),
    /// The model is set, how hard it thinks is not yet.
    EffortSet(ModelRef, Effort),
    /// Whether skills are wanted among what is known of the place.
    Inspect {
        skills: bool,
    },
    /// What is wanted of command lines.
    Shell(shell::TaskAnswer),
}

impl RpcRole for Role {
    type Memo = CodeliaMemo;

    const MANNERS: Manners = Manners {
        // The existing UI reads no answer without an id; it shows what comes on stderr.
        null_id: false,
        strict: false,
        garbled: "a line that is not UTF-8 text or holds a NUL byte",
        words: |_, why| why.to_owned(),
        unknown: |method| RpcError::new(METHOD_NOT_FOUND, "method not found").with_data(&method),
        too_many: || RpcError::new(code::BUSY, "too many requests; wait a moment and send it again"),
        odd: || RpcError::new(code::INTERNAL, "the runtime gave an answer to another question"),
    };

    fn endpoint(&self) -> &Endpoint<CodeliaMemo> {
        &self.endpoint
    }

    fn endpoint_mut(&mut self) -> &mut Endpoint<CodeliaMemo> {
        &mut self.endpoint
    }

    fn tables(&self) -> &'static [&'static [Exchange<Role>]] {
        // A runtime behind us has no command lines of ours, and a look of its own.
        const ALWAYS: &[&[Exchange<Role>]] =
            &[REQUESTS, runs::REQUESTS, catalog::REQUESTS, history::REQUESTS];
        const ALONE: &[&[Exchange<Role>]] = &[
            REQUESTS,
            runs::REQUESTS,
            catalog::REQUESTS,
            history::REQUESTS,
            shell::REQUESTS,
            own_shell::REQUESTS,
        ];
        if self.endpoint.greeting.follows { ALWAYS } else { ALONE }
    }

    /// The words of existing programs where they have some; ours, with the hint, go along as data.
    fn refused(method: &'static str, refusal: &Refusal) -> RpcError {
        let (number, words) = match &refusal.kind {
            RefusalKind::Busy => (code::BUSY, Some("runtime busy")),
            RefusalKind::TooMany => (code::BUSY, None),
            RefusalKind::NoRun | RefusalKind::RunUnknown => (code::RUN_NOT_FOUND, Some("run not found")),
            // Runs are named together with their session: without it there is no such run.
            RefusalKind::SessionUnknown if method == RunCancelParams::METHOD => {
                (code::RUN_NOT_FOUND, Some("run not found"))
            }
            RefusalKind::SessionUnknown => (code::SESSION_NOT_FOUND, Some("session not found")),
            RefusalKind::Storage if method == SessionListParams::METHOD => (code::SESSION_LIST_FAILED, None),
            RefusalKind::Storage => (code::SESSION_LOAD_FAILED, None),
            RefusalKind::Invalid
            | RefusalKind::EntryUnknown
            | RefusalKind::QueuedUnknown
            | RefusalKind::ModelUnknown
            | RefusalKind::ToolUnknown
            | RefusalKind::ExtensionUnknown
            | RefusalKind::AskUnknown
            | RefusalKind::AskOver => (INVALID_PARAMS, None),
            RefusalKind::Unsupported => (METHOD_NOT_FOUND, None),
            RefusalKind::Remote { code: number } => (number.parse().unwrap_or(code::INTERNAL), None),
            RefusalKind::NothingToCompact
            | RefusalKind::NotAllowed
            | RefusalKind::TimedOut
            | RefusalKind::Lost
            | RefusalKind::Internal => (code::INTERNAL, None),
        };
        match words {
            Some(words) => RpcError::new(number, words).with_data(&json!({ "detail": refusal.to_string() })),
            None => RpcError::new(number, refusal.to_string()),
        }
    }

    fn unasked(
        &mut self,
        cx: &mut RuntimeCx<'_>,
        _: Option<View<'_>>,
        memo: CodeliaMemo,
        with: Result<Receipt, Refusal>,
    ) {
        let Err(refusal) = with else { return };
        match memo {
            CodeliaMemo::Answer => cx.log(format!("ignored: an answer came late: {refusal}")),
            _ => cx.log(format!("refused: {refusal}")),
        }
    }

    fn initialized(&self, _: &CodeliaMemo) -> Written {
        let (can, greeting) = (self.endpoint.can(), &self.endpoint.greeting);
        let server_capabilities = ServerCapabilities {
            supports_run_cancel: can.cancel,
            supports_ui_requests: Some(true),
            supports_mcp_list: can.servers,
            supports_skills_list: can.skills,
            supports_context_inspect: true,
            supports_shell_exec: !greeting.follows,
            supports_tasks: !greeting.follows,
            supports_shell_tasks: !greeting.follows,
            supports_shell_detach: !greeting.follows,
            supports_run_diagnostics: self.diagnoses(),
            supports_permission_preflight_events: true,
            supports_text_deltas: true,
            ..ServerCapabilities::default()
        };
        written(&InitializeResult {
            protocol_version: PROTOCOL_VERSION.to_owned(),
            server: Program { name: "parlor".to_owned(), version: greeting.version.clone() },
            server_capabilities: Some(server_capabilities),
            tui: None,
        })
    }

    fn notification(&mut self, cx: &mut RuntimeCx<'_>, method: &str, params: Option<&RawValue>) {
        match method {
            UiContextParams::METHOD if self.endpoint.is_full() => {
                cx.log(format!("ignored: {method}: too many requests wait"));
            }
            UiContextParams::METHOD => match self.changed_context(params) {
                Ok(context) => {
                    let command = Command::UpdateContext(context);
                    self.tell_hub(cx, Target::Current, command, CodeliaMemo::Nothing);
                }
                // The error would quote what was said.
                Err(_) => cx.log(format!("ignored: {method} of another form")),
            },
            _ => cx.log(format!("ignored: notification {method:?}; a request needs an id")),
        }
    }

    fn response(&mut self, cx: &mut RuntimeCx<'_>, id: &WireId, outcome: Result<&RawValue, RpcError>) {
        self.answered(cx, id, outcome);
    }
}

impl Role {
    /// Versions are not negotiated: there is one. A second handshake replaces what the first said.
    fn initialize(&mut self, cx: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let params: InitializeParams = read(request.params)?;
        self.ui = params.ui_capabilities;
        self.client = params.client.name;
        endpoint::initialize(self, cx, request, CodeliaMemo::Nothing)
    }

    fn context_update(&mut self, _: &mut RuntimeCx<'_>, request: Request<'_, Self>) -> Asking<Self> {
        let command = Command::UpdateContext(self.changed_context(request.params)?);
        Ok(Next::Hub(Target::Current, command, CodeliaMemo::Nothing))
    }

    /// What the UI says about where the person works; it is also told when somebody inspects it.
    pub(super) fn lift_context(&mut self, context: UiContextParams) -> UiContext {
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
}

/// What it tells is taken as it is; where the tools cannot follow, the person is told with the next run.
fn context_updated(_: &mut Role, _: &mut RuntimeCx<'_>, _: Settlement<'_, Role>) -> Answering<Role> {
    Ok(reply(&Nothing {}))
}

fn lift_context(context: UiContextParams) -> UiContext {
    let notes = context.extensions.unwrap_or_default().into_iter().flat_map(|(name, value)| match value {
        serde_json::Value::Array(lines) if name == "notes" => {
            lines.into_iter().filter_map(|line| line.as_str().map(str::to_owned)).collect()
        }
        value => vec![format!("{name}: {value}")],
    });
    let marked = context.selection.as_ref().and_then(|selection| marked(&selection.path, selection.range));
    UiContext {
        cwd: context.cwd,
        workspace_root: context.workspace_root,
        active_file: context.active_file.map(|file| file.path),
        selection: context
            .selection
            .map(|selection| (selection.selected_text.unwrap_or_default(), selection.path)),
        notes: notes.chain(marked).collect(),
        size: None,
    }
}

/// Where in its file a selection is, in lines as people count them. A range that is empty and at the start was not told.
fn marked(path: &str, range: Range) -> Option<String> {
    let Range { start, end } = range;
    // The end is the place after the last: at the start of a line, that line is not marked.
    let last = if end.column == 0 && end.line > start.line { end.line - 1 } else { end.line };
    (range != Range::default()).then(|| match last == start.line {
        true => format!("The selection in {path} is in line {}.", start.line.saturating_add(1)),
        false => {
            format!(
                "The selection in {path} is lines {} to {}.",
                start.line.saturating_add(1),
                last.saturating_add(1)
            )
        }
    })
}

/// Reads parameters; absent and null are the empty object.
pub(super) fn read<T: DeserializeOwned>(params: Option<&RawValue>) -> Result<T, RpcError> {
    endpoint::object(params).map_err(invalid)
}

/// The error for parameters that cannot be understood.
pub(super) fn invalid(why: impl std::fmt::Display) -> RpcError {
    RpcError::new(INVALID_PARAMS, format!("invalid params: {why}"))
}
