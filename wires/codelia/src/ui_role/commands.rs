//! From commands to requests. What this wire cannot say is refused, so that the hub can do it itself or tell the person.

use super::super::effort_name;
use super::super::wire::{
    ActiveFile, ImageUrl, InputPart, McpListParams, ModelSetParams, Range, RunCancelParams, RunInput,
    RunStartParams, Selection, SessionListParams, SkillsListParams, UiContextParams,
};
use super::responses::SentRequest;
use super::{CodeliaUi, OPEN_WITHIN, OPENING, Starting};
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, PromptOptions, Receipt, Refusal, RefusalKind,
    RunCommand, SessionCommand,
};
use domain::content::{Input, Part};
use domain::ids::{RunId, SessionId};
use domain::port::Ticket;
use domain::session::{Effort, RunSummary, SessionSummary};
use domain::signal::UiContext;
use rolekit::rpc;
use roles::{Item, Seen, UiCx};
use serde_json::json;

/// Asked for when no limit is wanted; the document knows no word for that.
const NO_LIMIT: i64 = 100_000;

/// The scope of what is set here: what the person has configured there stays as it is.
const FOR_THE_SESSION: &str = "session";

/// Whether a command has to wait until a replay is over.
pub(super) fn starts_something(command: &Command) -> bool {
    matches!(
        command,
        Command::Run(RunCommand::Prompt { .. } | RunCommand::Compact { .. })
            | Command::Library(LibraryCommand::History { .. } | LibraryCommand::Open { .. })
    )
}

impl CodeliaUi {
    /// Sends a command, or refuses what the wire has no word for.
    pub(super) fn lower(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        match command {
            Command::Run(RunCommand::Prompt { input, options }) => {
                self.lower_prompt(cx, ticket, input, &options);
            }
            Command::Run(RunCommand::Compact { .. }) => {
                self.begin_start(cx, ticket, None);
            }
            Command::Run(RunCommand::Cancel { run, reason }) => {
                self.lower_cancel(cx, seen, ticket, run, reason);
            }
            Command::Answer { ask, answer } => self.lower_answer(cx, seen, ticket, ask, answer),
            Command::Library(LibraryCommand::Open { session }) => self.lower_open(cx, ticket, session),
            Command::Library(LibraryCommand::History { session, max_runs, max_events }) => {
                match self.idle() {
                    Ok(()) => self.replay(cx, &session, Some((ticket, max_runs, max_events))),
                    Err(refusal) => cx.settle(ticket, Err(refusal)),
                }
            }
            Command::Library(LibraryCommand::List { scope, limit, search }) => {
                self.lower_list(cx, ticket, scope, limit, search);
            }
            Command::List(ListCommand::Models { provider }) => self.lower_models(cx, ticket, provider),
            Command::Session(SessionCommand::SetModel { provider, name }) => {
                let params = ModelSetParams {
                    name,
                    provider,
                    scope: Some(FOR_THE_SESSION.to_owned()),
                    ..ModelSetParams::default()
                };
                self.ask_runtime(cx, &params, SentRequest::SetModel { ticket });
            }
            Command::Session(SessionCommand::SetEffort { effort }) => self.lower_effort(cx, ticket, effort),
            Command::List(ListCommand::Servers) if !self.capabilities().supports_mcp_list => {
                cx.settle(
                    ticket,
                    Err(unsupported("MCP status is unavailable: this runtime does not list servers")),
                );
            }
            Command::List(ListCommand::Servers) => {
                let params = McpListParams { scope: Some("loaded".to_owned()) };
                self.ask_runtime(cx, &params, SentRequest::Servers { ticket });
            }
            Command::List(ListCommand::Skills { .. }) if !self.capabilities().supports_skills_list => {
                cx.settle(
                    ticket,
                    Err(unsupported("the skills list is unavailable: this runtime does not list skills")),
                );
            }
            Command::List(ListCommand::Skills { cwd, reload }) => {
                let params = SkillsListParams { cwd, force_reload: reload };
                self.ask_runtime(cx, &params, SentRequest::Skills { ticket });
            }
            // The wire has no word for the size of a terminal.
            Command::UpdateContext(context) if context.is_size_only() => cx.settle(ticket, Ok(Receipt::Done)),
            Command::UpdateContext(context) => {
                let params = lower_context(context);
                cx.send(rpc::notification(&params));
                self.context = Some(params);
                cx.settle(ticket, Ok(Receipt::Done));
            }
            Command::Queue(_) => {
                cx.settle(ticket, Err(unsupported("this runtime has no queue")));
            }
            Command::Library(LibraryCommand::New { .. }) => {
                let refusal = unsupported("this runtime makes a new session only when it is started");
                cx.settle(ticket, Err(refusal.hint("quit and start it again")));
            }
            Command::Library(
                LibraryCommand::Branch { .. }
                | LibraryCommand::Delete { .. }
                | LibraryCommand::Save { .. }
                | LibraryCommand::Load { .. }
                | LibraryCommand::Export { .. },
            )
            | Command::Session(
                SessionCommand::Close
                | SessionCommand::Rename { .. }
                | SessionCommand::Clear
                | SessionCommand::SetLeaf { .. }
                | SessionCommand::Stats
                | SessionCommand::SetBudget { .. }
                | SessionCommand::SetPolicy { .. }
                | SessionCommand::SetTools { .. },
            )
            | Command::List(ListCommand::Tools)
            | Command::Shell(_)
            | Command::Files(_)
            | Command::Performed { .. }
            | Command::Extension { .. } => {
                cx.settle(ticket, Err(unsupported("this runtime cannot do that")));
            }
        }
    }

    /// How hard the model thinks is set together with the model.
    fn lower_effort(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, effort: Option<Effort>) {
        let (Some(model), Some(effort)) = (self.model.clone(), effort) else {
            let words = match effort {
                Some(_) => "this runtime did not say which model it uses",
                None => "this runtime has no word for leaving the thinking to the provider",
            };
            return cx.settle(ticket, Err(unsupported(words)));
        };
        let params = ModelSetParams {
            name: model.name,
            provider: Some(model.provider),
            reasoning: Some(effort_name::write(effort).to_owned()),
            scope: Some(FOR_THE_SESSION.to_owned()),
            ..ModelSetParams::default()
        };
        self.ask_runtime(cx, &params, SentRequest::SetEffort { ticket });
    }

    /// Whether nothing is under way.
    fn idle(&self) -> Result<(), Refusal> {
        if self.run.is_some() || self.starting.is_some() {
            let refusal = Refusal::new(RefusalKind::Busy, "a run is under way");
            return Err(refusal.hint("wait for it or stop it"));
        }
        Ok(())
    }

    fn lower_prompt(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: Input, options: &PromptOptions) {
        if options.from.is_some() {
            return cx.settle(
                ticket,
                Err(unsupported("this runtime goes on from the end of the conversation only")),
            );
        }
        if !options.offers.is_empty() {
            cx.loss(Item::Tools, "tools that a UI performs are not offered on this wire");
        }
        if options.max_tokens.is_some() || options.temperature.is_some() || options.tools.is_some() {
            cx.loss(Item::Prompt, "limits of one answer are not said on this wire");
        }
        self.begin_start(cx, ticket, Some(input));
    }

    fn begin_start(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: Option<Input>) {
        match self.idle() {
            Ok(()) => {
                self.starting = Some(Starting { ticket: Some(ticket), input, tries: 0, stop: None });
                self.start(cx);
            }
            Err(refusal) => cx.settle(ticket, Err(refusal)),
        }
    }

    /// Sends the `run.start` that is due.
    pub(super) fn start(&mut self, cx: &mut UiCx<'_>) {
        let Some(starting) = &self.starting else { return };
        let params = RunStartParams {
            input: starting
                .input
                .as_ref()
                .map_or_else(|| RunInput::Text { text: String::new() }, lower_input),
            session_id: self.session.as_ref().map(|session| self.name_of(session)),
            ui_context: self.context.clone(),
            force_compaction: starting.input.is_none(),
            tools: Vec::new(),
        };
        self.ask_runtime(cx, &params, SentRequest::RunStart);
    }

    fn lower_cancel(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        run: Option<RunId>,
        reason: Option<String>,
    ) {
        let named = run.and_then(|run| seen.state.run(run));
        if let Some((run, (_, outcome))) = named.and_then(|named| Some((named.id, named.ended.clone()?))) {
            let run = RunSummary { run, outcome: Some(outcome) };
            return cx.settle(ticket, Ok(Receipt::Cancelling { run }));
        }
        let run = run.or_else(|| seen.state.open_run().map(|run| run.id));
        let name = run.and_then(|run| seen.names.run(run)).or_else(|| self.run.as_ref().map(|run| run.key()));
        match (name.cloned(), &mut self.starting) {
            (Some(name), _) => self.stop(cx, ticket, run, &name, reason),
            (None, Some(Starting { stop: stop @ None, .. })) => *stop = Some(ticket),
            (None, Some(_)) => cx.settle(ticket, Ok(Receipt::Done)),
            (None, None) => cx.settle(ticket, Err(Refusal::new(RefusalKind::NoRun, "no run is under way"))),
        }
    }

    /// Stops a run, now or as soon as its name is known.
    pub(super) fn stop(
        &mut self,
        cx: &mut UiCx<'_>,
        ticket: Ticket,
        run: Option<RunId>,
        name: &str,
        reason: Option<String>,
    ) {
        let params = RunCancelParams { run_id: name.to_owned(), reason };
        self.ask_runtime(cx, &params, SentRequest::Cancel { ticket, run });
        // The existing runtime waits for open questions before it stops, and runs what is allowed even then.
        self.deny_all(cx);
    }

    /// Goes there once its past was told. A session that was not listed is looked for first: the runtime shows an unknown one as empty.
    fn lower_open(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, session: SessionId) {
        if let Err(refusal) = self.idle() {
            return cx.settle(ticket, Err(refusal));
        }
        cx.timer(OPENING, OPEN_WITHIN);
        self.opening = Some((ticket, session.clone()));
        if self.known.contains_key(&session) || self.session.as_ref() == Some(&session) {
            return self.replay(cx, &session, None);
        }
        let params =
            SessionListParams { limit: Some(NO_LIMIT), scope: Some("all".to_owned()), workspace_root: None };
        self.ask_runtime(cx, &params, SentRequest::Find);
    }

    /// The session that is being opened was looked for.
    pub(super) fn found(&mut self, cx: &mut UiCx<'_>, listed: Result<Vec<SessionSummary>, Refusal>) {
        let Some((_, session)) = self.opening.clone() else { return };
        match listed {
            Ok(listed) if listed.iter().any(|summary| summary.id == session) => {
                self.replay(cx, &session, None);
            }
            Ok(_) => {
                let refusal =
                    Refusal::new(RefusalKind::SessionUnknown, format!("there is no session {session}"));
                self.not_opened(cx, refusal.hint("list the sessions to see which there are"));
            }
            // A runtime that lists nothing may still know the name.
            Err(refusal) if refusal.kind == RefusalKind::Unsupported => self.replay(cx, &session, None),
            Err(refusal) => self.not_opened(cx, refusal),
        }
    }

    /// What was being opened is not there, or is not shown.
    pub(super) fn not_opened(&mut self, cx: &mut UiCx<'_>, refusal: Refusal) {
        if let Some((ticket, _)) = self.opening.take() {
            cx.cancel_timer(OPENING);
            cx.settle(ticket, Err(refusal));
        }
    }

    /// The past of the session that is being opened was told: it is the one where we are.
    pub(super) fn arrived(&mut self, cx: &mut UiCx<'_>) {
        if let Some((ticket, session)) = self.opening.take() {
            cx.cancel_timer(OPENING);
            let summary = self.summary(&session);
            self.session = Some(session);
            cx.settle(ticket, Ok(Receipt::Session { session: summary, parent: None }));
        }
    }

    fn lower_list(
        &mut self,
        cx: &mut UiCx<'_>,
        ticket: Ticket,
        scope: ListScope,
        limit: Option<u64>,
        search: Option<String>,
    ) {
        let (scope, workspace_root) = match scope {
            ListScope::All => ("all", None),
            ListScope::Project(root) => ("current_workspace", root),
        };
        let limit = limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(NO_LIMIT);
        let params = SessionListParams { limit: Some(limit), scope: Some(scope.to_owned()), workspace_root };
        self.ask_runtime(cx, &params, SentRequest::Sessions { ticket, search });
    }
}

fn unsupported(what: &str) -> Refusal {
    Refusal::new(RefusalKind::Unsupported, what)
}

fn lower_input(input: &Input) -> RunInput {
    if input.attachments.is_empty() {
        return RunInput::Text { text: input.text.clone() };
    }
    let part = |part: Part| match part {
        Part::Text(text) | Part::Thought { text, .. } => InputPart::Text { text },
        Part::Image { mime, base64 } => {
            let url = format!("data:{mime};base64,{base64}");
            InputPart::ImageUrl { image_url: ImageUrl { url, media_type: Some(mime), detail: None } }
        }
        Part::Code { language, text, path } => {
            let head = path.map(|path| format!("{path}:\n")).unwrap_or_default();
            InputPart::Text { text: format!("{head}```{}\n{text}\n```", language.unwrap_or_default()) }
        }
        Part::Diff { text, .. } => InputPart::Text { text: format!("```diff\n{text}\n```") },
        Part::Tool(tool) => InputPart::Text { text: tool.to_string() },
        Part::Opaque { json, .. } => InputPart::Text { text: json.to_string() },
    };
    RunInput::Parts { parts: input.parts().into_iter().map(part).collect() }
}

fn lower_context(context: UiContext) -> UiContextParams {
    let selection = context.selection.map(|(text, path)| Selection {
        path,
        range: Range::default(),
        selected_text: Some(text).filter(|text| !text.is_empty()),
    });
    let notes = (!context.notes.is_empty()).then(|| json!(context.notes));
    UiContextParams {
        cwd: context.cwd,
        workspace_root: context.workspace_root,
        active_file: context.active_file.map(|path| ActiveFile { path, language_id: None }),
        selection,
        extensions: notes.map(|notes| serde_json::Map::from_iter([("notes".to_owned(), notes)])),
    }
}
