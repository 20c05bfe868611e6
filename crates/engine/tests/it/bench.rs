//! A hub in miniature: takes reports, keeps them in a state, checks the grammar on every event, and answers asks as told.
//!
//! It is strict where the real hub is lenient: what the agent leaves open at the end of a turn is a failure.

mod seen;

use domain::ask::{Answer, AskKind, Closing, Scope};
use domain::command::{Command, PromptOptions, Receipt, Refusal};
use domain::content::{Input, Role, Usage};
use domain::event::{
    AskEvent, Body, Cause, Event, Finish, MessageEvent, Outcome, RunEvent, SessionEvent, ToolEvent,
};
use domain::given_server::GivenServer;
use domain::grammar::Grammar;
use domain::ids::{AskId, Ids, MessageId, Millis, RunId, Seq, SessionId, ToolRunId, TurnId};
use domain::offer::Offer;
use domain::port::menu::AgentMenu;
use domain::port::{Grounds, Kept, OpenConsent, Order, Report, Resume, Ticket, TurnBrief, TurnEnd};
use domain::secret::{Secrets, Veil};
use domain::session::{ModelEntry, ModelRef, Policy};
use domain::signal::{Signal, UiContext};
use domain::state::{EntryKind, State};
use domain::tool::{Progress, ToolResult, ToolRun};
use domain::ui_files::{FileAnswer, FileRequest, UiFiles};
use engine::{Agent, Config, Delegation, ModelSource, ORDERS, REPORTS, Reported, Setup};
use models::scripted::Scripted;
use models::{Model, ModelInfo, Price};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tools::checkpoint::{MemoryVault, Vault};
use tools::policy::Allowance;
use tools::sandbox::Guard;
use tools::{Tool, Toolbox};

/// Longer than anything here takes; a test that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(60);

/// One model under every name.
struct Only(Arc<dyn Model>);

impl ModelSource for Only {
    fn find(&self, _: Option<&str>, name: &str) -> Result<ModelRef, Refusal> {
        Ok(ModelRef { provider: "scripted".to_owned(), name: name.to_owned() })
    }

    fn open(&self, _: Option<&ModelRef>) -> Result<Arc<dyn Model>, Refusal> {
        Ok(self.0.clone())
    }

    fn list(&self) -> tools::BoxFuture<'_, Vec<ModelEntry>> {
        Box::pin(async { Vec::new() })
    }
}

/// How the bench is set up.
pub(crate) struct Plan {
    pub(crate) script: String,
    /// The model, where it is not the one that plays the script.
    pub(crate) model: Option<Arc<dyn Model>>,
    pub(crate) window: u32,
    pub(crate) thinking: bool,
    /// Dollars for a million tokens, read or written.
    pub(crate) price: Option<f64>,
    pub(crate) tools: Vec<Arc<dyn Tool>>,
    pub(crate) policy: Policy,
    pub(crate) config: Config,
    pub(crate) guard: Option<Guard>,
    pub(crate) allow: Vec<Allowance>,
    pub(crate) vault: Option<Arc<dyn Vault>>,
    pub(crate) delegation: Delegation,
}

impl Plan {
    pub(crate) fn script(script: impl Into<String>) -> Plan {
        Plan {
            script: script.into(),
            model: None,
            window: 200_000,
            thinking: true,
            price: None,
            tools: Vec::new(),
            policy: Policy::default(),
            config: Config::default(),
            guard: None,
            allow: Vec::new(),
            vault: Some(Arc::new(MemoryVault::default())),
            delegation: Delegation::default(),
        }
    }

    pub(crate) fn guard(self, guard: Guard) -> Plan {
        Plan { guard: Some(guard), ..self }
    }

    pub(crate) fn allow(self, allow: Vec<Allowance>) -> Plan {
        Plan { allow, ..self }
    }

    pub(crate) fn tool(mut self, tool: impl Tool + 'static) -> Plan {
        self.tools.push(Arc::new(tool));
        self
    }

    pub(crate) fn policy(self, policy: Policy) -> Plan {
        Plan { policy, ..self }
    }

    pub(crate) fn window(self, window: u32) -> Plan {
        Plan { window, ..self }
    }

    pub(crate) fn price(self, dollars: f64) -> Plan {
        Plan { price: Some(dollars), ..self }
    }

    /// The model does not think.
    pub(crate) fn thoughtless(self) -> Plan {
        Plan { thinking: false, ..self }
    }

    pub(crate) fn config(self, config: Config) -> Plan {
        Plan { config, ..self }
    }
}

/// The agent with a hub around it.
pub(crate) struct Bench {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) model: Arc<Scripted>,
    pub(crate) state: State,
    pub(crate) events: Vec<Event>,
    pub(crate) ids: Ids,
    pub(crate) signals: Vec<Signal>,
    pub(crate) menu: AgentMenu,
    session: SessionId,
    grammar: Grammar,
    policy: Policy,
    orders: mpsc::Sender<Order>,
    reports: mpsc::Receiver<Reported>,
    agent: JoinHandle<()>,
    cancelling: bool,
    /// Why nothing can be written down, if nothing can.
    unwritten: Option<String>,
    /// Whether anybody could answer.
    pub(crate) attended: bool,
    /// How the next prompts want it.
    pub(crate) options: PromptOptions,
    /// What the next asks are closed with, without being told to.
    pub(crate) closings: Vec<Closing>,
    /// Tools that a UI performs.
    pub(crate) offers: Vec<Offer>,
    /// What the UI knows.
    pub(crate) ui: UiContext,
    pub(crate) ui_files: UiFiles,
    pub(crate) given_servers: Vec<GivenServer>,
    /// How long the turn that goes on had been at work.
    pub(crate) took: Duration,
    /// What the editor holds; `None` for one that has left.
    pub(crate) editor: Option<BTreeMap<String, String>>,
    /// What was typed into questions for secrets, masked as the hub does.
    secrets: Secrets,
    veil: Veil,
    /// Answers of the agent that came while a turn was under way.
    pub(crate) settled: Vec<Result<Receipt, Refusal>>,
}

/// What the person answers.
pub(crate) fn answered(answer: Answer) -> Closing {
    Closing::Answered { answer, by: Some("test".to_owned()) }
}

pub(crate) fn allow(scope: Scope) -> Closing {
    answered(Answer::Allow { scope, digest: None })
}

pub(crate) fn deny(reason: Option<&str>) -> Closing {
    answered(Answer::Deny { reason: reason.map(str::to_owned) })
}

impl Bench {
    pub(crate) fn new(script: impl Into<String>) -> Bench {
        Bench::with(Plan::script(script))
    }

    pub(crate) fn with(plan: Plan) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("work")).unwrap();
        Bench::at(dir, plan)
    }

    /// A bench in a directory that holds `work` already.
    pub(crate) fn at(dir: tempfile::TempDir, plan: Plan) -> Bench {
        let (context_window, thinking) = (Some(plan.window), Some(plan.thinking));
        let price = plan.price.map(|price| Price {
            input: price,
            output: price,
            cache_read: None,
            cache_write: None,
        });
        let info = ModelInfo { context_window, images: true, thinking, price, ..ModelInfo::default() };
        let model = Arc::new(Scripted::parse(&plan.script).unwrap().with_info(info));
        let (orders, ordered) = mpsc::channel(ORDERS);
        let (reports, reported) = mpsc::channel(REPORTS);
        let mut toolbox = Toolbox::standard();
        for tool in plan.tools {
            toolbox.add(tool);
        }
        let data = dir.path().join("data");
        let models = Arc::new(Only(plan.model.unwrap_or(model.clone())));
        let setup = Setup {
            models,
            toolbox,
            data,
            guard: plan.guard,
            config: plan.config,
            allow: plan.allow,
            vault: plan.vault,
            delegation: plan.delegation,
            menu: AgentMenu::default(),
        };
        let agent = tokio::spawn(Agent::new(setup, reports).run(ordered));
        let mut bench = Bench {
            model,
            state: State::new(),
            events: Vec::new(),
            ids: Ids::default(),
            signals: Vec::new(),
            menu: AgentMenu::default(),
            session: SessionId::from_number(1),
            grammar: Grammar::new(),
            policy: plan.policy,
            orders,
            reports: reported,
            agent,
            cancelling: false,
            unwritten: None,
            attended: true,
            options: PromptOptions::default(),
            closings: Vec::new(),
            offers: Vec::new(),
            ui: UiContext::default(),
            ui_files: UiFiles::default(),
            given_servers: Vec::new(),
            took: Duration::ZERO,
            editor: None,
            settled: Vec::new(),
            secrets: Secrets::default(),
            veil: Veil::default(),
            dir,
        };
        let cwd = bench.work().display().to_string();
        bench.emit(Body::Session(SessionEvent::Opened { project: cwd.clone(), cwd, parent: None }));
        bench
    }

    pub(crate) fn work(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn put(&self, name: &str, text: &str) -> PathBuf {
        put(&self.work(), name, text)
    }

    /// Removes a file where there is one.
    pub(crate) fn take_away(&self, name: &str) {
        let gone = std::fs::remove_file(self.work().join(name));
        assert!(gone.is_ok() || self.get(name).is_none(), "{gone:?}");
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.work().join(name)).ok()
    }

    /// The same session in a process that begins anew: a crash happened.
    pub(crate) fn reborn(self, plan: Plan) -> Bench {
        let Bench { dir, state, events, ids, grammar, policy, .. } = self;
        let mut bench = Bench::at(dir, plan);
        (bench.state, bench.events, bench.ids, bench.grammar, bench.policy) =
            (state, events, ids, grammar, policy);
        bench
    }

    /// Keeps an event; the laws are checked here.
    pub(crate) fn emit(&mut self, body: Body) {
        for body in self.veil.pass(&self.secrets, body) {
            self.keep(body);
        }
    }

    fn keep(&mut self, body: Body) {
        let event = Event { seq: Seq(self.state.seq.0 + 1), at: Millis(self.state.seq.0 + 1), body };
        self.grammar.check(&event).unwrap_or_else(|broken| panic!("{broken:?} by {event:?}"));
        self.state.fold(&event).unwrap_or_else(|why| panic!("{why}: {event:?}"));
        self.events.push(event);
    }

    /// Starts a run with a prompt.
    pub(crate) async fn prompt(&mut self, text: &str) -> RunId {
        let run = RunId::mint(&self.ids);
        self.cancelling = false;
        self.emit(Body::Run(RunEvent::Started { run }));
        self.turn(run, Cause::Prompt, text).await;
        run
    }

    pub(crate) async fn turn(&mut self, run: RunId, cause: Cause, text: &str) {
        let (turn, message) = (TurnId::mint(&self.ids), MessageId::mint(&self.ids));
        let (parent, input) = (self.state.leaf, Input { text: text.to_owned(), ..Input::default() });
        self.emit(Body::Run(RunEvent::TurnStarted { run, turn, cause }));
        let start = Body::Message(MessageEvent::Started {
            message,
            parent,
            role: Role::User,
            turn: Some(turn),
            step: None,
        });
        self.emit(start);
        for part in input.parts() {
            self.emit(Body::Message(MessageEvent::PartAdded { message, part }));
        }
        self.emit(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
        let brief = self.brief(run, turn, input, None);
        self.order(Order::Turn(Box::new(brief))).await;
    }

    /// Goes on with the open run after a crash.
    pub(crate) async fn resume(&mut self) {
        let run = self.state.open_run().unwrap();
        let (run, turn, step) = (run.id, run.open_turn().unwrap().id, run.open_step().unwrap().id);
        let consents = self.state.asks.iter().filter_map(|ask| match &ask.kind {
            AskKind::Consent(consent) => {
                let digest = consent.digest.clone();
                Some(OpenConsent { ask: ask.id, tool: consent.tool, digest })
            }
            _ => None,
        });
        let took = self.took;
        let resume = Resume { step, billed: Usage::default(), took, consents: consents.collect() };
        let brief = self.brief(run, turn, Input::default(), Some(resume));
        self.order(Order::Turn(Box::new(brief))).await;
    }

    fn brief(&self, run: RunId, turn: TurnId, input: Input, resume: Option<Resume>) -> TurnBrief {
        let context: Vec<_> = self.state.context_path().into_iter().cloned().map(Arc::new).collect();
        TurnBrief {
            session: self.session.clone(),
            run,
            turn,
            ids: self.ids.clone(),
            tools: self.tools_of(&context),
            context,
            input,
            options: PromptOptions { offers: self.offers.clone(), ..self.options.clone() },
            cwd: self.state.settings.cwd.clone(),
            project: self.state.settings.project.clone(),
            model: None,
            effort: self.state.settings.effort,
            budget: self.state.settings.budget,
            policy: self.policy,
            before_plan: self.state.settings.before_plan,
            active_tools: None,
            attended: self.attended,
            ui_context: self.ui.clone(),
            ui_files: self.ui_files,
            given_servers: self.given_servers.clone(),
            leaf: self.state.leaf,
            counted_tokens: self.state.counted_tokens(),
            used: self.state.usage,
            steps: self.state.run(run).map_or(0, |run| run.turns.iter().map(|turn| turn.steps.len()).sum()),
            resume,
        }
    }

    /// The editor does what is wanted with a file.
    fn edited(&mut self, request: FileRequest) -> FileAnswer {
        let open = self.editor.as_mut().ok_or("the editor has left")?;
        match request {
            FileRequest::Read { path } => {
                let name = path.rsplit('/').next().unwrap_or_default();
                open.get(name).cloned().ok_or_else(|| "it is not open".to_owned())
            }
            FileRequest::Write { path, text } => {
                open.insert(path.rsplit('/').next().unwrap_or_default().to_owned(), text);
                Ok(String::new())
            }
        }
    }

    fn tools_of(&self, context: &[Arc<domain::state::Entry>]) -> Vec<Arc<ToolRun>> {
        let messages = context.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Message(message) => Some(message),
            _ => None,
        });
        messages.flat_map(|m| m.tools()).filter_map(|id| self.state.tools.get(&id).cloned()).collect()
    }

    pub(crate) async fn order(&mut self, order: Order) {
        self.orders.send(order).await.unwrap();
    }

    pub(crate) async fn choose_policy(&mut self, policy: Policy) {
        self.policy = policy;
        self.emit(Body::Session(SessionEvent::PolicyChosen { policy }));
        let session = self.session.clone();
        self.order(Order::PolicyChanged { session, policy }).await;
    }

    /// The UI says what came of a call of its tool.
    pub(crate) async fn perform(&mut self, tool: ToolRunId, failed: bool, result: ToolResult) {
        let session = self.session.clone();
        self.order(Order::Performed { session, tool, failed, result }).await;
    }

    /// The UI that performs tools leaves.
    pub(crate) async fn offers_gone(&mut self) {
        let session = self.session.clone();
        self.order(Order::OffersGone { session }).await;
    }

    pub(crate) async fn steer_waits(&mut self, waits: bool) {
        let session = self.session.clone();
        self.order(Order::SteerWaits { session, waits }).await;
    }

    /// The person stops the run: asks first, as the hub does.
    pub(crate) async fn cancel(&mut self) {
        self.cancelling = true;
        let (session, run) = (self.session.clone(), self.state.open_run().unwrap().id);
        let asks: Vec<AskId> = self.state.asks.iter().map(|ask| ask.id).collect();
        for ask in asks {
            self.close(ask, Closing::Withdrawn).await;
        }
        self.order(Order::Cancel { session, run }).await;
    }

    /// A cancel that names a run, whatever is under way.
    pub(crate) async fn cancel_run(&mut self, run: RunId) {
        let session = self.session.clone();
        self.order(Order::Cancel { session, run }).await;
    }

    /// From here on nothing can be written down, or it can again.
    pub(crate) async fn store_fails(&mut self, why: Option<&str>) {
        self.unwritten = why.map(str::to_owned);
        let (session, why) = (self.session.clone(), self.unwritten.clone());
        self.order(Order::StoreFails { session, why }).await;
    }

    /// The same, in the moment of the next report: nobody has told the agent yet.
    pub(crate) fn store_fails_now(&mut self, why: &str) {
        self.unwritten = Some(why.to_owned());
    }

    pub(crate) async fn close(&mut self, ask: AskId, closing: Closing) {
        let open = self.state.ask(ask).map(|open| open.kind.clone());
        let kept = match (&closing, open) {
            (Closing::Answered { answer, by }, Some(kind)) => {
                if let Some(value) = kind.secret_in(answer) {
                    self.secrets.keep(ask, value).unwrap();
                }
                Closing::Answered { answer: kind.keepable(ask, answer.clone()), by: by.clone() }
            }
            (closing, _) => closing.clone(),
        };
        self.emit(Body::Ask(AskEvent::Closed { ask, closing: kept }));
        let session = self.session.clone();
        self.order(Order::AskClosed { session, ask, closing }).await;
    }

    async fn next(&mut self) -> Reported {
        tokio::time::timeout(PATIENCE, self.reports.recv())
            .await
            .expect("the agent said nothing for too long")
            .expect("the agent is gone")
    }

    /// Takes one report; gives the end of the turn when that is what it was.
    async fn take(&mut self) -> Option<TurnEnd> {
        let (report, ack) = self.next().await;
        let mut kept = true;
        let mut asked = None;
        let end = match report {
            Report::Happened { run, body, .. } => {
                let open = self.state.open_run().map(|run| run.id);
                assert!(run.is_none() || run == open, "{body:?} outside its run");
                match &body {
                    Body::Ask(AskEvent::Opened(_))
                    | Body::Tool(
                        ToolEvent::Started { .. }
                        | ToolEvent::Progress { progress: Progress::Status { .. }, .. },
                    ) if self.cancelling => {
                        kept = false;
                    }
                    Body::Ask(AskEvent::Opened(ask)) => asked = Some(ask.id),
                    _ => {}
                }
                match body {
                    Body::Ask(AskEvent::Closed { ask, closing }) => {
                        kept = self.state.ask(ask).is_some();
                        if kept {
                            self.close(ask, closing).await;
                        }
                    }
                    body if kept => self.emit(body),
                    _ => {}
                }
                None
            }
            Report::TurnDone { end, .. } => Some(end),
            Report::Signal { signal, .. } => {
                self.signals.push(signal);
                None
            }
            Report::Settled { with, .. } => {
                self.settled.push(with);
                None
            }
            Report::FileWanted { session, id, request } => {
                let with = self.edited(request);
                self.order(Order::FileDone { session, id, with }).await;
                None
            }
            Report::Menu(menu) => {
                self.menu = menu;
                None
            }
            other => panic!("unexpected {other:?}"),
        };
        if let Some(ack) = ack {
            let _ = ack.send(match (kept, &self.unwritten) {
                (false, _) => Kept::Late,
                (true, Some(why)) => Kept::InMemory(why.clone()),
                (true, None) => Kept::Safely,
            });
        }
        if let Some(ask) = asked.filter(|_| !self.closings.is_empty()) {
            let closing = self.closings.remove(0);
            self.close(ask, closing).await;
        }
        end
    }

    /// Takes at most this many reports; gives the end of the turn if it came.
    pub(crate) async fn take_some(&mut self, most: usize) -> Option<TurnEnd> {
        for _ in 0..most {
            let end = self.take().await;
            if end.is_some() {
                return end;
            }
        }
        None
    }

    /// Takes reports until an event fits.
    pub(crate) async fn until(&mut self, fits: impl Fn(&Body) -> bool) {
        while !self.events.last().is_some_and(|event| fits(&event.body)) {
            if let Some(end) = self.take().await {
                panic!("the turn ended with {end:?} before it");
            }
        }
    }

    /// Takes reports until a signal fits that came at any time; outside of turns.
    pub(crate) async fn until_signal(&mut self, fits: impl Fn(&Signal) -> bool) {
        while !self.signals.iter().any(&fits) {
            assert!(self.take().await.is_none(), "a turn ended");
        }
    }

    /// Takes reports until the turn is over. The agent must have closed whatever it opened.
    pub(crate) async fn turn_end(&mut self) -> TurnEnd {
        let end = self.take_some(usize::MAX).await.unwrap();
        self.check_closed();
        end
    }

    pub(crate) fn check_closed(&self) {
        let run = self.state.open_run().unwrap();
        assert!(run.open_step().is_none(), "a step was left open");
        assert_eq!((self.state.open_messages(), self.state.open_tools()), (Vec::new(), Vec::new()));
        assert!(self.state.asks.iter().all(|ask| ask.run.is_none()), "an ask was left open");
    }

    /// Takes reports until the turn is over and ends the run.
    pub(crate) async fn finish(&mut self) -> TurnEnd {
        let end = self.turn_end().await;
        let outcome = match &end {
            TurnEnd::Done => Outcome::Done,
            TurnEnd::Cancelled => Outcome::Cancelled,
            TurnEnd::Failed(failure) => Outcome::Failed(failure.clone()),
        };
        for body in self.state.close_run(outcome) {
            self.emit(body);
        }
        assert!(self.grammar.is_closed() || self.state.asks.iter().any(|ask| ask.run.is_none()));
        end
    }

    /// The program ends in good order: the agent gets no more orders.
    pub(crate) fn leave(self) -> tempfile::TempDir {
        self.dir
    }

    /// The same, and waits until the agent is over.
    pub(crate) async fn end(self) -> tempfile::TempDir {
        let Bench { orders, reports, agent, dir, .. } = self;
        drop((orders, reports));
        agent.await.unwrap();
        dir
    }

    /// A whole run.
    pub(crate) async fn run(&mut self, text: &str) -> TurnEnd {
        self.prompt(text).await;
        self.finish().await
    }

    /// Asks the agent what only it can answer.
    pub(crate) async fn consult(&mut self, command: Command) -> Result<Receipt, Refusal> {
        self.begin_consult(command).await;
        loop {
            let (report, ack) = self.next().await;
            match report {
                Report::Settled { ticket: Ticket(7), with } => return with,
                Report::Happened { run: None, body, .. } => self.emit(body),
                Report::Signal { signal, .. } => self.signals.push(signal),
                Report::Menu(menu) => self.menu = menu,
                other => panic!("unexpected {other:?}"),
            }
            if let Some(ack) = ack {
                let _ = ack.send(Kept::Safely);
            }
        }
    }

    /// Asks and does not wait for the answer.
    pub(crate) async fn begin_consult(&mut self, command: Command) {
        let context: Vec<_> = self.state.context_path().into_iter().cloned().map(Arc::new).collect();
        let grounds = Grounds {
            ids: self.ids.clone(),
            cwd: self.state.settings.cwd.clone(),
            project: self.state.settings.project.clone(),
            model: None,
            effort: self.state.settings.effort,
            policy: self.policy,
            given_servers: self.given_servers.clone(),
            active_tools: None,
            leaf: self.state.leaf,
            tools: self.tools_of(&context),
            context,
            counted_tokens: self.state.counted_tokens(),
        };
        let session = self.session.clone();
        let order = Order::Consult { ticket: Ticket(7), session, command, grounds: Box::new(grounds) };
        self.order(order).await;
    }
}

/// Writes a file and the directories above it.
pub(crate) fn put(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}
