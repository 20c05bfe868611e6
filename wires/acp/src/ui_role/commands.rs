//! What our side wants, as requests; what the protocol or this agent has no word for is refused.

use super::super::blocks;
use super::super::wire::{
    CancelParams, ConfigValue, ContentBlock, DeleteSessionParams, EmbeddedResource, ListSessionsParams,
    PromptParams, ResourceContents, ResourceLink, SetConfigOptionParams, SetModeParams, SteeringParams,
};
use super::hearing::Hearing;
use super::options::{COMPACT, SetBy, lift_model};
use super::responses::{Listing, SentRequest};
use super::{AcpUi, Arriving, Prompting, STOPPED, STOPS_WITHIN, TAKEN, TAKEN_AFTER};
use domain::command::{
    Command, LibraryCommand, ListCommand, ListScope, QueueCommand, Receipt, Refusal, RefusalKind, RunCommand,
    SessionCommand,
};
use domain::content::{Input, Json};
use domain::event::{Finish, Outcome};
use domain::fact::{Fact, Key, Said};
use domain::ids::SessionId;
use domain::port::Ticket;
use domain::port::menu::{SET_OPTION, SetOption};
use domain::queue::QueueKind;
use domain::session::{Effort, RunSummary};
use domain::signal::{Level, Signal, UiContext};
use rolekit::rpc;
use roles::{Seen, UiCx};
use serde_json::value::RawValue;
use wire::jsonrpc;

/// Our word for setting the agent's mode: its modes are its own, and no policy of ours.
const MODE: &str = "mode";
/// Begins the methods that programs add to the protocol.
const ADDED: char = '_';

impl AcpUi {
    /// Sends a command, or refuses what there is no word for.
    pub(super) fn want(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket, command: Command) {
        match command {
            Command::Run(RunCommand::Prompt { input, .. }) => self.lower_prompt(cx, ticket, input),
            Command::Run(RunCommand::Cancel { .. }) => self.lower_cancel(cx, seen, ticket),
            Command::Run(RunCommand::Compact { instruction }) if self.options.compacts() => {
                let text = match instruction {
                    Some(instruction) => format!("/{COMPACT} {instruction}"),
                    None => format!("/{COMPACT}"),
                };
                self.lower_prompt(cx, ticket, Input::text(text));
            }
            Command::Queue(QueueCommand::Add { kind: QueueKind::Steer, input }) if self.steers() => {
                self.lower_steer(cx, ticket, &input);
            }
            Command::Answer { ask, answer } => self.lower_answer(cx, seen, ticket, ask, answer),
            Command::Library(LibraryCommand::New { cwd, .. }) => {
                if self.refuse_busy(cx, ticket) {
                    return;
                }
                if let Some(name) = self.unused(cwd.as_deref()) {
                    let session = self.learn(&name, None);
                    return cx.settle(ticket, Ok(Receipt::Session { session, parent: None }));
                }
                let params = self.new_params(cwd);
                self.ask_agent(cx, &params, SentRequest::New { ticket });
            }
            Command::Library(LibraryCommand::Open { session }) => self.lower_open(cx, ticket, &session),
            Command::Library(LibraryCommand::List { scope, limit, search }) => {
                self.lower_list(cx, ticket, scope, limit, search);
            }
            Command::Library(LibraryCommand::Delete { session }) if self.deletes() => {
                let params = DeleteSessionParams { session_id: self.name_of(&session), ..Default::default() };
                self.ask_agent(cx, &params, SentRequest::Delete { ticket, session });
            }
            Command::List(ListCommand::Models { provider }) if self.options.has_models() => {
                let (mut models, current) = self.options.listed();
                models.retain(|entry| provider.as_ref().is_none_or(|wanted| *wanted == entry.model.provider));
                cx.settle(ticket, Ok(Receipt::Models { models, current }));
            }
            Command::Session(SessionCommand::SetModel { provider, name }) => {
                self.set_model(cx, ticket, provider.as_deref(), &name);
            }
            Command::Session(SessionCommand::SetEffort { effort }) => self.set_effort(cx, ticket, effort),
            Command::UpdateContext(context) => {
                if !context.is_size_only() {
                    self.context = Some(context);
                }
                cx.settle(ticket, Ok(Receipt::Done));
            }
            Command::Files(command) if self.judging.is_on => self.move_files(cx, ticket, command),
            Command::Extension { name, payload } => self.lower_extension(cx, ticket, &name, &payload),
            Command::Queue(_)
            | Command::Run(RunCommand::Compact { .. })
            | Command::Library(_)
            | Command::Session(_)
            | Command::Shell(_)
            | Command::Files(_)
            | Command::Performed { .. }
            | Command::List(_) => {
                let refusal =
                    Refusal::new(RefusalKind::Unsupported, "this agent's protocol has no word for that");
                cx.settle(ticket, Err(refusal));
            }
        }
    }

    /// Where we are, if nobody has said anything there: one more new session would leave it behind unused.
    fn unused(&mut self, cwd: Option<&str>) -> Option<String> {
        let here = cwd.is_none_or(|cwd| cwd == self.cwd);
        self.untouched.take().filter(|name| here && self.session.as_ref() == Some(name))
    }

    fn steers(&self) -> bool {
        let meta = self.agent.as_ref().and_then(|agent| agent.meta.as_ref());
        meta.and_then(|meta| meta.steering.as_ref()).is_some_and(|steering| steering.supported)
    }

    fn deletes(&self) -> bool {
        self.agent
            .as_ref()
            .is_some_and(|agent| agent.agent_capabilities.session_capabilities.delete.is_some())
    }

    fn embeds(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| agent.agent_capabilities.prompt_capabilities.embedded_context)
    }

    /// The agent's name of a session.
    pub(super) fn name_of(&self, session: &SessionId) -> String {
        self.known.get(session).map_or_else(|| session.to_string(), |(name, _)| name.clone())
    }

    /// Refuses what must not happen in the middle of a prompt.
    fn refuse_busy(&self, cx: &mut UiCx<'_>, ticket: Ticket) -> bool {
        // What another client began ends when the agent says so.
        let others = self.run.as_ref().is_some_and(|run| run.told_end && !run.past);
        let busy = self.prompt.is_some() || self.arriving.is_some() || others;
        if busy {
            let refusal = Refusal::new(RefusalKind::Busy, "the agent is at work");
            cx.settle(ticket, Err(refusal.hint("wait for its end or cancel it")));
        }
        busy
    }

    fn lower_prompt(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: Input) {
        if self.refuse_busy(cx, ticket) {
            return;
        }
        let images =
            self.agent.as_ref().is_some_and(|agent| agent.agent_capabilities.prompt_capabilities.image);
        let mut prompt = blocks::lower_input(&input, self.embeds());
        if !images && prompt.iter().any(|block| matches!(block, ContentBlock::Image(_))) {
            let refusal = Refusal::new(RefusalKind::Unsupported, "this agent takes no pictures");
            return cx.settle(ticket, Err(refusal.hint("send the text alone")));
        }
        if let Some(context) = self.context.take() {
            prompt.extend(lower_context(&context, self.embeds()));
        }
        self.untouched = None;
        let session_id = self.session.clone().unwrap_or_default();
        self.end_run(cx, Outcome::Done);
        self.runs += 1;
        let key = Key::from(format!("prompt-{}", self.runs));
        let params = PromptParams { session_id, prompt, ..PromptParams::default() };
        let id = self.pending.next_number_id();
        let line = rpc::request(&id, &params);
        if self.judging.is_on {
            let text = input.text.clone();
            self.prompt = Some(Prompting { id: id.clone(), ticket: Some(ticket), input, key });
            // It is ours to keep: it is taken.
            self.prompt_taken(cx);
            return self.hold_prompt(cx, text, id, line);
        }
        if self.send(cx, id.clone(), line, SentRequest::Prompt) {
            self.prompt = Some(Prompting { id, ticket: Some(ticket), input, key });
            cx.timer(TAKEN, TAKEN_AFTER);
        } else {
            cx.settle(ticket, Err(too_many()));
        }
    }

    /// The agent began with the prompt, or did not refuse it in time: it is taken.
    pub(super) fn prompt_taken(&mut self, cx: &mut UiCx<'_>) {
        let Some(prompt) = &mut self.prompt else { return };
        let Some(ticket) = prompt.ticket.take() else { return };
        cx.cancel_timer(TAKEN);
        cx.settle(ticket, Ok(Receipt::Done));
        cx.fact(Fact::of(prompt.key.clone(), Said::RunStarted));
        let mut run = Hearing::new(prompt.key.clone(), false);
        run.told_end = true;
        run.prompt(cx, &prompt.input);
        self.run = Some(run);
    }

    fn lower_cancel(&mut self, cx: &mut UiCx<'_>, seen: Seen<'_>, ticket: Ticket) {
        if self.prompt.is_none() && self.run.is_none() {
            return cx.settle(ticket, Err(Refusal::new(RefusalKind::NoRun, "no run is under way")));
        }
        self.stop_prompt(cx);
        let receipt = match seen.state.open_run() {
            Some(run) => Receipt::Cancelling { run: RunSummary { run: run.id, outcome: None } },
            None => Receipt::Done,
        };
        cx.settle(ticket, Ok(receipt));
    }

    /// Tells the agent to stop. Every open question is answered first, so that none can be allowed any more.
    pub(super) fn stop_prompt(&mut self, cx: &mut UiCx<'_>) {
        self.prompt_taken(cx);
        self.cancel_asks(cx);
        if let Some(run) = self.run.as_mut().filter(|run| !run.stopped) {
            run.stopped = true;
            cx.timer(STOPPED, STOPS_WITHIN);
        }
        if self.stop_held(cx) {
            return;
        }
        let session_id = self.session.clone().unwrap_or_default();
        cx.send(rpc::notification(&CancelParams { session_id, ..CancelParams::default() }));
    }

    /// A prompt that was stopped got no answer: it is over here, and the agent may be asked again.
    pub(super) fn never_stopped(&mut self, cx: &mut UiCx<'_>) {
        if self.run.as_ref().is_none_or(|run| !run.stopped) {
            return;
        }
        if let Some(prompt) = self.prompt.take() {
            self.pending.take(&prompt.id);
        }
        let text = format!(
            "The agent did not say within {} s that it stopped, and may still be at work; start it again if it does not answer.",
            STOPS_WITHIN.as_secs()
        );
        cx.signal(Signal::Notify { level: Level::Warning, text });
        self.end_run_with(cx, Outcome::Cancelled, Finish::Interrupted);
    }

    fn lower_steer(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, input: &Input) {
        if self.prompt.is_none() {
            let refusal = Refusal::new(RefusalKind::NoRun, "no run is under way");
            return cx.settle(ticket, Err(refusal.hint("send a prompt instead")));
        }
        let session_id = self.session.clone().unwrap_or_default();
        let prompt = blocks::lower_input(input, self.embeds());
        let params = SteeringParams { session_id, prompt, ..SteeringParams::default() };
        self.ask_agent(cx, &params, SentRequest::Steer { ticket, input: input.clone() });
    }

    fn lower_open(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, session: &SessionId) {
        if self.refuse_busy(cx, ticket) {
            return;
        }
        if !self.opens() {
            let refusal = Refusal::new(RefusalKind::Unsupported, "this agent does not go back to sessions");
            return cx.settle(ticket, Err(refusal));
        }
        self.end_run(cx, Outcome::Done);
        let name = self.name_of(session);
        if self.load(cx, &name, SentRequest::Open { name: name.clone() }) {
            self.loading = Some(name.clone());
            self.arriving = Some(Arriving { ticket, name });
        } else {
            cx.settle(ticket, Err(too_many()));
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
        if self
            .agent
            .as_ref()
            .is_none_or(|agent| agent.agent_capabilities.session_capabilities.list.is_none())
        {
            let refusal = Refusal::new(RefusalKind::Unsupported, "this agent lists no sessions");
            return cx.settle(ticket, Err(refusal));
        }
        let cwd = match scope {
            ListScope::All => None,
            ListScope::Project(Some(project)) => Some(project),
            ListScope::Project(None) => Some(self.cwd.clone()),
        };
        let listing = Listing { cwd: cwd.clone(), limit, search, sessions: Vec::new(), pages: 0 };
        let params = ListSessionsParams { cwd, ..ListSessionsParams::default() };
        self.ask_agent(cx, &params, SentRequest::List { ticket, listing: Box::new(listing) });
    }

    fn set_model(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, provider: Option<&str>, name: &str) {
        let Some(option) = self.options.model_option() else {
            let refusal = Refusal::new(RefusalKind::Unsupported, "this agent lets nobody choose its model");
            return cx.settle(ticket, Err(refusal));
        };
        let meant = option.choices().find(|choice| {
            let model = lift_model(&choice.value);
            choice.value == name
                || model.name == name && provider.is_none_or(|wanted| wanted == model.provider)
        });
        let value = match meant {
            Some(choice) => choice.value.clone(),
            None => match provider {
                Some(provider) if !provider.is_empty() => format!("{provider}/{name}"),
                Some(_) | None => name.to_owned(),
            },
        };
        let id = option.id.clone();
        self.set_option(cx, id, value.clone(), SentRequest::SetModel { ticket, value });
    }

    fn set_effort(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, effort: Option<Effort>) {
        let Some(option) = self.options.effort_option() else {
            let refusal =
                Refusal::new(RefusalKind::Unsupported, "this agent lets nobody say how hard it thinks");
            return cx.settle(ticket, Err(refusal));
        };
        let wanted = effort.map_or("default", Effort::name);
        let Some(choice) = option.choices().find(|choice| choice.value.eq_ignore_ascii_case(wanted)) else {
            let offered: Vec<&str> = option.choices().map(|choice| choice.value.as_str()).collect();
            let why = format!("this agent knows no effort {wanted:?}; it has {}", offered.join(", "));
            return cx.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, why)));
        };
        let (id, value) = (option.id.clone(), choice.value.clone());
        self.set_option(cx, id, value, SentRequest::Set { ticket });
    }

    fn set_option(&mut self, cx: &mut UiCx<'_>, config_id: String, value: String, pending: SentRequest) {
        self.untouched = None;
        let session_id = self.session.clone().unwrap_or_default();
        let value = ConfigValue::Id(value);
        let params =
            SetConfigOptionParams { session_id, config_id, value, ..SetConfigOptionParams::default() };
        self.ask_agent(cx, &params, pending);
    }

    fn set_switch(&mut self, cx: &mut UiCx<'_>, config_id: String, on: bool, ticket: Ticket) {
        self.untouched = None;
        let params = SetConfigOptionParams {
            session_id: self.session.clone().unwrap_or_default(),
            config_id,
            kind: Some("boolean".to_owned()),
            value: ConfigValue::Switch(on),
            ..SetConfigOptionParams::default()
        };
        self.ask_agent(cx, &params, SentRequest::Set { ticket });
    }

    fn set_mode(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, mode_id: String) {
        self.untouched = None;
        let session_id = self.session.clone().unwrap_or_default();
        let params = SetModeParams { session_id, mode_id: mode_id.clone(), ..SetModeParams::default() };
        self.ask_agent(cx, &params, SentRequest::SetMode { ticket, mode: mode_id });
    }

    /// An option of the agent's own, by the id and the value that its menu shows.
    fn set_shown(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, payload: &Json) {
        let read = serde_json::from_str::<SetOption>(payload.as_str());
        let by = read.map_err(|why| format!("an option is set by its id and a value: {why}"));
        match by.and_then(|SetOption { id, value }| Ok((self.options.set_by(&id, &value)?, id))) {
            Ok((SetBy::Choice(value), id)) => self.set_option(cx, id, value, SentRequest::Set { ticket }),
            Ok((SetBy::Switch(on), id)) => self.set_switch(cx, id, on, ticket),
            Ok((SetBy::Mode(mode), _)) => self.set_mode(cx, ticket, mode),
            Err(why) => cx.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, why))),
        }
    }

    /// The agent's own mode, and methods that it adds to the protocol.
    fn lower_extension(&mut self, cx: &mut UiCx<'_>, ticket: Ticket, name: &str, payload: &Json) {
        if name == SET_OPTION {
            return self.set_shown(cx, ticket, payload);
        }
        if name == MODE {
            let mode = serde_json::from_str::<String>(payload.as_str());
            let known = self.options.modes().is_some();
            return match mode {
                Ok(mode_id) if known => self.set_mode(cx, ticket, mode_id),
                _ => {
                    let why = "this agent has no modes, or the mode is no text";
                    cx.settle(ticket, Err(Refusal::new(RefusalKind::Invalid, why)));
                }
            };
        }
        let params = RawValue::from_string(payload.as_str().to_owned());
        match params {
            Ok(params) if name.starts_with(ADDED) => {
                let id = self.pending.next_number_id();
                let line = jsonrpc::request(&id, name, &params);
                self.send(cx, id, line, SentRequest::Extension { ticket });
            }
            _ => {
                let refusal =
                    Refusal::new(RefusalKind::ExtensionUnknown, format!("there is no {name:?} here"));
                cx.settle(ticket, Err(refusal.hint("methods that an agent adds begin with an underscore")));
            }
        }
    }
}

fn too_many() -> Refusal {
    Refusal::new(RefusalKind::TooMany, "too many requests wait for the agent").hint("wait until it answers")
}

/// Where the person works goes along with the next prompt.
fn lower_context(context: &UiContext, embeds: bool) -> Vec<ContentBlock> {
    let address = |path: &str| format!("file://{path}");
    let file = context.active_file.as_ref().map(|path| {
        let name = path.rsplit('/').next().unwrap_or(path).to_owned();
        ContentBlock::ResourceLink(ResourceLink { name, uri: address(path), ..ResourceLink::default() })
    });
    let selection = context.selection.as_ref().filter(|_| embeds).map(|(text, path)| {
        let resource =
            ResourceContents { uri: address(path), text: Some(text.clone()), ..ResourceContents::default() };
        ContentBlock::Resource(EmbeddedResource { resource, ..EmbeddedResource::default() })
    });
    file.into_iter().chain(selection).collect()
}
