//! What our side wants, as requests of this wire.

use super::super::note::{self, Note};
use super::super::wire::{
    ApproveOptions, ApproveParams, CancelParams, Context, DeleteParams, ExportParams, ListParams, LoadParams,
    QueryOptions, QueryParams, RecentCommand, SaveParams, TerminalSize,
};
use super::responses::SentRequest;
use super::{Asking, OpenagentUi};
use domain::ask::{Answer, Scope};
use domain::command::{
    Command, ExportFormat, LibraryCommand, ListCommand, PromptOptions, Receipt, Refusal, RefusalKind,
    RunCommand,
};
use domain::content::{Input, Part};
use domain::ids::{AskId, RunId};
use domain::port::Ticket;
use domain::prompt_text::{self, OwnEnd};
use domain::session::{ModelEntry, ModelRef, RunSummary};
use domain::signal::UiContext;
use rolekit::rpc;
use roles::{Item, Seen, UiCx};

/// Most commands of the person's own that are told: the newest.
const MAX_COMMANDS: usize = 20;
/// Most files that are told as open.
const MAX_FILES: usize = 50;

impl OpenagentUi {
    /// Takes a command; `Err` when it cannot be done, else it is or will be settled.
    pub(super) fn order(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        command: Command,
    ) -> Result<(), Refusal> {
        match command {
            Command::Run(RunCommand::Prompt { input, options }) => self.prompt(cx, ticket, input, &options),
            Command::Run(RunCommand::Cancel { run, .. }) => self.cancel(cx, seen, ticket, run),
            Command::Answer { ask, answer } => self.answer(cx, seen, ticket, ask, answer),
            Command::UpdateContext(context) => {
                let resized = context.is_size_only();
                let newer = lower_context(context);
                cx.send(rpc::notification(&newer));
                if resized {
                    cx.settle(ticket, Ok(Receipt::Done));
                    return Ok(());
                }
                self.context = Context {
                    cwd: newer.cwd.or_else(|| self.context.cwd.take()),
                    shell: newer.shell.or_else(|| self.context.shell.take()),
                    recent_commands: newer.recent_commands.or_else(|| self.context.recent_commands.take()),
                    // The document has it in updates alone.
                    terminal_size: None,
                    ..newer
                };
                cx.settle(ticket, Ok(Receipt::Done));
                Ok(())
            }
            Command::Library(LibraryCommand::Open { session }) => {
                self.idle("go to another session")?;
                let params = LoadParams { path: None, session_id: Some(self.name_of(&session)) };
                self.ask_backend(cx, &params, SentRequest::Load { ticket: Some(ticket) })
            }
            Command::Library(LibraryCommand::Load { path }) => {
                self.idle("go to another session")?;
                let params = LoadParams { path: Some(path), session_id: None };
                self.ask_backend(cx, &params, SentRequest::Load { ticket: Some(ticket) })
            }
            Command::Library(LibraryCommand::Save { path, history }) => {
                let params = SaveParams { path, include_history: Some(history), include_blocks: Some(true) };
                self.ask_backend(cx, &params, SentRequest::Save { ticket })
            }
            Command::Library(LibraryCommand::List { limit, search, .. }) => {
                self.ask_backend(cx, &ListParams { limit }, SentRequest::List { ticket, search })
            }
            Command::Library(LibraryCommand::Export { session, format }) => {
                let name = match format {
                    ExportFormat::Markdown => "markdown",
                    ExportFormat::Html => "html",
                    ExportFormat::Jsonl => "jsonl",
                };
                let session_id = session.map(|session| self.name_of(&session));
                let params = ExportParams { format: Some(name.to_owned()), session_id };
                self.ask_backend(cx, &params, SentRequest::Export { ticket, format })
            }
            Command::Library(LibraryCommand::Delete { session }) => {
                let params = DeleteParams { session_id: Some(self.name_of(&session)) };
                self.ask_backend(cx, &params, SentRequest::Delete { ticket })
            }
            Command::List(ListCommand::Models { .. }) => {
                let (models, current) = self.models();
                cx.settle(ticket, Ok(Receipt::Models { models, current }));
                Ok(())
            }
            Command::Library(LibraryCommand::New { .. }) => {
                let what = "an openagent backend begins a conversation only when it is started";
                Err(Refusal::new(RefusalKind::Unsupported, what).hint("quit and start it again"))
            }
            Command::Queue(_)
            | Command::Library(LibraryCommand::Branch { .. } | LibraryCommand::History { .. })
            | Command::Session(_)
            | Command::Run(RunCommand::Compact { .. })
            | Command::List(ListCommand::Servers | ListCommand::Skills { .. } | ListCommand::Tools)
            | Command::Shell(_)
            | Command::Files(_)
            | Command::Performed { .. }
            | Command::Extension { .. } => {
                Err(Refusal::new(RefusalKind::Unsupported, "an openagent backend cannot do this"))
            }
        }
    }

    fn idle(&self, what: &str) -> Result<(), Refusal> {
        if self.query.is_none() && self.asking.is_none() {
            return Ok(());
        }
        let refusal = Refusal::new(RefusalKind::Busy, format!("a query is under way, so one cannot {what}"));
        Err(refusal.hint("wait for its end or cancel it"))
    }

    fn prompt(
        &mut self,
        cx: &mut UiCx<'_>,
        ticket: Ticket,
        input: Input,
        options: &PromptOptions,
    ) -> Result<(), Refusal> {
        self.idle("ask another one")?;
        let context = self.context_of(&input);
        let params = QueryParams {
            message: message(cx, &input),
            context: Some(context).filter(|context| *context != Context::default()),
            options: Some(QueryOptions {
                stream: Some(true),
                max_tokens: options.max_tokens,
                temperature: options.temperature.map(|thousandths| f64::from(thousandths) / 1000.0),
                tools_enabled: options.tools,
                require_approval: Some(true),
                // Ours has a mode of its own, and is told when the person wants more.
                ask_first: options.ask_first && self.is_ours(),
            }),
        };
        let sent = self.ask_backend(cx, &params, SentRequest::Query);
        if sent.is_err() {
            // The context is the part that can be left out.
            self.ask_backend(cx, &QueryParams { context: None, ..params }, SentRequest::Query)?;
        }
        self.asking = Some(Asking { ticket: Some(ticket), input, stop: false });
        Ok(())
    }

    /// Where the person works, with what this prompt tells of it: a command of their own, files that they mention. What is not known
    /// is left out.
    fn context_of(&mut self, input: &Input) -> Context {
        if let Some((line, end)) = prompt_text::own_command(&input.text) {
            let exit_code = match end {
                OwnEnd::Code(code) => Some(code.into()),
                OwnEnd::Stopped => None,
            };
            let commands = self.context.recent_commands.get_or_insert_default();
            commands.push(RecentCommand { command: line.to_owned(), exit_code, timestamp: None });
            commands.drain(..commands.len().saturating_sub(MAX_COMMANDS));
        }
        let attached = input.attachments.iter().filter_map(|part| match part {
            Part::Code { path, .. } => path.clone(),
            _ => None,
        });
        let mut context = self.context.clone();
        for file in prompt_text::mentioned_files(&input.text).into_iter().chain(attached) {
            let files = context.open_files.get_or_insert_default();
            if files.len() < MAX_FILES && !files.contains(&file) {
                files.push(file);
            }
        }
        context
    }

    fn cancel(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        run: Option<RunId>,
    ) -> Result<(), Refusal> {
        let open = seen.state.open_run().map(|run| run.id);
        if let Some(over) = run.filter(|run| Some(*run) != open) {
            let Some(over) = seen.state.run(over) else {
                return Err(Refusal::new(RefusalKind::RunUnknown, format!("there is no {over}")));
            };
            let outcome = over.ended.as_ref().map(|(_, outcome)| outcome.clone());
            cx.settle(ticket, Ok(Receipt::Cancelling { run: RunSummary { run: over.id, outcome } }));
            return Ok(());
        }
        let run = open.unwrap_or(RunId(0));
        if let Some(query) = &self.query {
            let params = CancelParams { query_id: query.key().to_string() };
            let query_id = params.query_id.clone();
            return self.ask_backend(
                cx,
                &params,
                SentRequest::Cancel { ticket: Some((ticket, run)), query_id },
            );
        }
        let Some(asking) = &mut self.asking else {
            return Err(Refusal::new(RefusalKind::NoRun, "no query is under way"));
        };
        asking.stop = true;
        cx.settle(ticket, Ok(Receipt::Cancelling { run: RunSummary { run, outcome: None } }));
        Ok(())
    }

    fn answer(
        &mut self,
        cx: &mut UiCx<'_>,
        seen: Seen<'_>,
        ticket: Ticket,
        ask: AskId,
        answer: Answer,
    ) -> Result<(), Refusal> {
        let Some(execution_id) = seen.names.ask(ask).map(|key| key.to_string()) else {
            return Err(Refusal::new(RefusalKind::AskUnknown, "the backend does not ask this"));
        };
        let open = self.query.as_mut().and_then(|query| query.answered(&execution_id));
        let Some(takes_reason) = open else {
            return Err(Refusal::new(RefusalKind::AskOver, "the question is over"));
        };
        let (allowed, scope, reason) = match answer {
            Answer::Allow { scope, .. } => (true, scope, None),
            Answer::Deny { reason } => (false, Scope::Once, reason.filter(|_| takes_reason)),
            Answer::Confirmed(_) | Answer::Chosen(_) | Answer::Entered(_) | Answer::Dismissed => {
                (false, Scope::Once, None)
            }
        };
        // What is shown and kept is a rule, so it is for what is like this too; only for good is it remembered.
        let options = ApproveOptions {
            remember_choice: scope == Scope::Always,
            apply_to_similar: scope != Scope::Once,
        };
        self.approve(cx, execution_id, allowed, options, reason)?;
        // The existing backend runs the tool before it answers: the person is not made to wait for that.
        cx.settle(ticket, Ok(Receipt::Done));
        Ok(())
    }

    fn approve(
        &mut self,
        cx: &mut UiCx<'_>,
        execution_id: String,
        allowed: bool,
        options: ApproveOptions,
        reason: Option<String>,
    ) -> Result<(), Refusal> {
        let params = ApproveParams {
            execution_id: Some(execution_id.clone()),
            approved: Some(allowed),
            options: Some(options),
            reason,
        };
        self.ask_backend(cx, &params, SentRequest::Approve { execution_id, allowed })
    }

    /// Says no without a person.
    pub(super) fn deny(&mut self, cx: &mut UiCx<'_>, execution_id: String) {
        if let Err(refusal) = self.approve(cx, execution_id, false, ApproveOptions::default(), None) {
            cx.log(format!("a request for approval could not be denied: {refusal}"));
        }
    }

    /// Ends the query here, whatever the backend does; what it still says is not heard.
    pub(super) fn stop_here(&mut self, cx: &mut UiCx<'_>, query_id: &str) {
        let Some(query) = self.query.as_mut().filter(|query| **query.key() == *query_id) else { return };
        for execution_id in query.stop() {
            self.deny(cx, execution_id.to_string());
        }
        self.end_if_over(cx);
    }

    /// The models of the hello; this wire cannot choose one.
    pub(super) fn models(&self) -> (Vec<ModelEntry>, Option<ModelRef>) {
        let models = self.server.as_ref().map(|server| server.models.as_slice()).unwrap_or_default();
        let current = models.iter().find(|model| model.loaded).map(|model| lift_model(&model.name));
        let entry = |model| ModelEntry {
            model,
            context_window: None,
            max_output: None,
            price_input: None,
            price_output: None,
            thinks: None,
        };
        (models.iter().map(|model| entry(lift_model(&model.name))).collect(), current)
    }
}

/// A model by its name on this wire; ours have their provider before it.
pub(super) fn lift_model(name: &str) -> ModelRef {
    match name.split_once('/') {
        Some((provider, name)) => ModelRef { provider: provider.to_owned(), name: name.to_owned() },
        None => ModelRef { provider: "openagent".to_owned(), name: name.to_owned() },
    }
}

/// This wire carries text only.
fn message(cx: &mut UiCx<'_>, input: &Input) -> String {
    let mut text = input.text.clone();
    for part in &input.attachments {
        match part {
            Part::Text(more) => text.push_str(&format!("\n\n{more}")),
            Part::Code { language, text: code, .. } => {
                text.push_str(&format!("\n\n```{}\n{code}\n```", language.as_deref().unwrap_or_default()));
            }
            Part::Diff { text: diff, .. } => text.push_str(&format!("\n\n```diff\n{diff}\n```")),
            Part::Image { mime, .. } => {
                cx.loss(Item::Attachments, format!("a picture ({mime}): this wire carries text only"));
            }
            Part::Thought { .. } | Part::Tool(_) | Part::Opaque { .. } => {}
        }
    }
    text
}

/// Lines that say what this wire has members for go there; the rest is what was seen last.
fn lower_context(context: UiContext) -> Context {
    let mut lowered = Context { cwd: context.cwd.or(context.workspace_root), ..Context::default() };
    let mut files: Vec<String> = context.active_file.into_iter().collect();
    let (mut commands, mut output) = (Vec::new(), Vec::new());
    for line in context.notes {
        match note::read(&line) {
            Some(Note::Shell(shell)) => lowered.shell = Some(shell),
            Some(Note::Ran(command)) => commands.push(command),
            Some(Note::Output(text)) => output.push(text),
            Some(Note::OpenFile(file)) if !files.contains(&file) => files.push(file),
            Some(Note::OpenFile(_)) => {}
            None => output.push(line),
        }
    }
    let size = |(cols, rows): (u16, u16)| TerminalSize {
        cols: cols.into(),
        rows: rows.into(),
        ..TerminalSize::default()
    };
    Context {
        recent_commands: Some(commands).filter(|commands| !commands.is_empty()),
        recent_output: Some(output.join("\n")).filter(|output| !output.is_empty()),
        open_files: Some(files).filter(|files| !files.is_empty()),
        terminal_size: context.size.map(size),
        ..lowered
    }
}
