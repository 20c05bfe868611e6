//! A sub-agent at work: a turn with a conversation of its own inside one tool run of its parent's.
//!
//! It is no session of its own: what it does is told as that tool run's output, its questions are asked in the parent under its name and
//! task, what it costs is the parent's step's, what it changes is the parent's turn's, and it ends with it. Invariants: it gives no task to another
//! one; it has no tool and no right that its parent has not; nothing of it starts whose start is not written down, and nothing after a
//! cancel, which the hub says.

use super::apart::Apart;
use super::{ASK, Denials, Repeats, Turn, Waits};
use crate::cache_meter::CacheMeter;
use crate::delegation::Delegation;
use crate::mcp::Project;
use crate::offered::{OpenCalls, Performed, bounded};
use crate::port::{Port, REPORTS, Reported};
use crate::seat::OpenAsks;
use crate::sub_agents::{
    Story, SubAgent, Task, Transcript, asked_in_parent, named_by_task, shortened, write_transcript,
};
use domain::ask::{Answer, Ask, Closing};
use domain::command::PromptOptions;
use domain::content::{Input, Json, Role, TextKind, Usage};
use domain::event::{AskEvent, Body, Cause, Failure, Finish, MessageEvent, NoteEvent, RunEvent, ToolEvent};
use domain::harmless;
use domain::ids::{AskId, Ids, MessageId, Millis, RunId, StepId, ToolRunId, TurnId};
use domain::path_text;
use domain::port::{Kept, Report, TurnBrief, TurnEnd};
use domain::session::ModelRef;
use domain::signal::{Level, Signal, UiContext};
use domain::state::State;
use domain::tool::{Progress, ToolOutcome, ToolResult};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{MutexGuard, mpsc};
use tokio::task::JoinSet;
use tools::bash::{JobReport, JobState};
use tools::checkpoint::CallScope;
use tools::{BoxFuture, CallArgs, Outcome, Plan, Toolbox};

/// Sub-agents that work at the same time; others wait.
pub(crate) const MAX_AT_ONCE: usize = 8;
/// How often the model of one is asked.
const MAX_ROUNDS: usize = 100;
/// How long one may take to stop; then it is dropped, which ends what it holds.
const STOP_GRACE: Duration = Duration::from_millis(250);
/// The plan on the panel is the parent's.
const TODO: &str = "todo";
/// Before the place of what it said and read.
const ALL_OF_IT: &str = "all that it says and reads: ";
/// What the parent's model reads where the person ended it.
const REFUSED: &str = "The person denied a call of it, and so ended it.";
const BROKE: &str = "The sub-agent broke down; do it yourself, or give the task in smaller pieces.";

/// What the step under way cost, with what sub-agents in it cost.
#[derive(Debug, Default)]
pub(crate) struct StepBill(Mutex<Option<(StepId, Usage)>>);

impl StepBill {
    /// Another step of the parent is billed from here on.
    pub(super) fn begin(&self, step: StepId, usage: Usage) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((step, usage));
    }

    /// More was spent in it; what it costs by now.
    fn add(&self, more: Usage) -> Option<(StepId, Usage)> {
        let mut bill = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, usage)) = bill.as_mut() {
            *usage = usage.plus(more);
        }
        *bill
    }

    /// Closes the bill; what the step cost with what its sub-agents spent in it.
    pub(super) fn end(&self) -> Option<Usage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map(|(_, usage)| usage)
    }
}

/// A sub-agent's questions that stand in its parent.
#[derive(Default)]
struct Standing {
    /// By its own ids: the id that they have here, and whether a no without a reason ends it.
    open: BTreeMap<AskId, (AskId, bool)>,
    ends: JoinSet<(AskId, Closing)>,
}

/// One sub-agent as its parent sees it.
pub(super) struct SubRun<'a> {
    pub(super) id: ToolRunId,
    agent: &'a SubAgent,
    /// Who it is in its questions.
    who: String,
    /// Its questions, by its own ids.
    pub(super) asked: OpenAsks,
    standing: Standing,
    pub(super) story: Story,
    transcript: Option<Transcript>,
    /// The commands in the background that it began.
    jobs: BTreeSet<u64>,
    /// The person said no to a call of it, and no more than that.
    refused: bool,
}

impl Turn {
    /// Waits until nobody else of the turn and its sub-agents changes something, where this call may.
    pub(super) async fn changes_alone(&self, scope: Option<&CallScope>) -> Option<MutexGuard<'_, ()>> {
        match scope {
            Some(_) => Some(self.changing.lock().await),
            None => None,
        }
    }

    /// The MCP servers of the turn; a sub-agent has its parent's.
    pub(super) async fn servers_of_turn(&self) -> Option<Arc<Project>> {
        match &self.sub_agent {
            Some(_) => self.project.clone(),
            None => self.start_servers().await,
        }
    }

    /// Takes away what a sub-agent has not.
    pub(super) fn narrow(&self, own: &mut Toolbox, agent: &SubAgent) {
        for name in [ASK, TODO] {
            own.remove(name);
        }
        for name in &agent.without {
            let name = self.meant(name);
            own.remove(&name);
        }
    }

    /// Why a sub-agent's model is not asked again, if so.
    pub(super) fn too_many_rounds(&self, rounds: usize) -> Option<Failure> {
        let is_over = self.sub_agent.is_some() && rounds >= MAX_ROUNDS;
        is_over.then(|| {
            Failure::new("rounds", format!("A sub-agent's model is asked {MAX_ROUNDS} times at most."))
        })
    }

    /// Our name for a tool that a file calls by another harness's.
    fn meant(&self, name: &str) -> String {
        let said = CallArgs::Value(serde_json::json!({}));
        self.toolbox.hear(name, said, self.place.workdir()).name
    }

    /// Gives a task to a sub-agent, and waits for its last words.
    pub(super) async fn run_task(&self, id: ToolRunId, plan: &Plan) -> Outcome {
        let task = match Task::read(&plan.args) {
            Ok(task) => task,
            Err(why) => return Outcome::failed(why.to_string()),
        };
        let Some(agent) = self.sub_agents.named(&task.agent) else {
            let names = self.sub_agents.names().collect::<Vec<_>>().join(", ");
            return Outcome::failed(format!("There is no sub-agent {}. There are: {names}.", task.agent));
        };
        if let Some(text) = agent.notice.clone().filter(|text| self.told_hooks.is_first(text.clone())) {
            self.note(Level::Info, self.brief.leaf, "sub_agent", text).await;
        }
        if let Some(other) = &agent.other {
            return self.run_other(id, plan, (agent, other), task).await;
        }
        let _room = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Outcome::cancelled(),
            room = self.sub_agents_room.acquire() => room,
        };
        let apart = match task.apart || agent.apart {
            true => match self.go_apart(id).await {
                Ok(apart) => Some(apart),
                Err(refused) => return refused,
            },
            false => None,
        };
        let model = self.model_of(agent).await;
        let (reports, mut told) = mpsc::channel(REPORTS);
        let mut sub = SubRun::of(id, agent, &task);
        let child = self.child(agent, &task, model, (reports, sub.asked.clone()), apart.as_ref());
        self.begin_transcript(&mut sub, &task.prompt).await;
        // On a task of its own, so that a defect ends the sub-agent and not the turn.
        let mut running = JoinSet::new();
        running.spawn(child.at_work());
        let stopped = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(STOP_GRACE).await;
        };
        tokio::pin!(stopped);
        let end = loop {
            tokio::select! {
                biased;
                Some(report) = told.recv() => self.retell(report, &mut sub).await,
                Some(over) = sub.next_answer() => sub.answered(over),
                ended = running.join_next() => break ended.and_then(Result::ok),
                () = &mut stopped => break Some(TurnEnd::Cancelled),
            }
        };
        while let Ok(report) = told.try_recv() {
            self.retell(report, &mut sub).await;
        }
        self.withdraw(&mut sub).await;
        self.tell(id, Some(sub.story.status())).await;
        let left = match apart {
            Some(apart) => {
                apart.place.jobs().end().await;
                self.come_back(apart.tree).await
            }
            None => self.left_running(&sub),
        };
        self.outcome_of(&mut sub, end, plan, left).await
    }

    /// Begins to keep what it says and reads, and tells where, unless nothing is to be kept.
    pub(super) async fn begin_transcript(&self, sub: &mut SubRun<'_>, task: &str) {
        if !self.keeps_transcripts {
            return;
        }
        sub.transcript = Some(Transcript::begin(self.place.outputs(), sub.id, &sub.agent.name, task));
        self.write_down(sub).await;
        if let Some(transcript) = &sub.transcript {
            let line = sub.story.line(&format!("{ALL_OF_IT}{}", path_text::write(transcript.file())));
            self.tell(sub.id, line).await;
        }
    }

    /// Writes down what was heard since; what cannot be written is not kept, and costs nothing else.
    async fn write_down(&self, sub: &mut SubRun<'_>) {
        let Some(transcript) = &mut sub.transcript else { return };
        let (file, text, begins) = transcript.take();
        let written = tokio::task::spawn_blocking(move || write_transcript(&file, &text, begins)).await;
        if !matches!(written, Ok(Ok(()))) {
            sub.transcript = None;
        }
    }

    /// Does a sub-agent's turn. Its type is said, for it may stand in a turn's own.
    fn at_work(self) -> BoxFuture<'static, TurnEnd> {
        Box::pin(self.run(Waits::new()))
    }

    /// What the parent's model reads.
    /// `left`: where its work is that is not in the workspace.
    pub(super) async fn outcome_of(
        &self,
        sub: &mut SubRun<'_>,
        end: Option<TurnEnd>,
        plan: &Plan,
        left: Option<String>,
    ) -> Outcome {
        self.write_down(sub).await;
        if let Some(left) = &left {
            let line = sub.story.line(left);
            self.tell(sub.id, line).await;
        }
        let words = sub.story.last_words();
        // Another program goes on after a no, as it likes.
        if sub.refused && sub.agent.other.is_none() && matches!(end, Some(TurnEnd::Done)) {
            let text = match words.is_empty() {
                true => REFUSED.to_owned(),
                false => format!("{REFUSED}\nIt said last:\n{words}"),
            };
            let text = left.map_or_else(|| text.clone(), |left| format!("{text}\n\n[{left}]"));
            return Outcome { outcome: ToolOutcome::Denied, result: ToolResult::text(text) };
        }
        let (failed, text) = match end {
            Some(TurnEnd::Cancelled) => return Outcome::cancelled(),
            Some(TurnEnd::Done) if words.is_empty() => (true, "It ended without a word.".to_owned()),
            Some(TurnEnd::Done) => (false, words.to_owned()),
            Some(TurnEnd::Failed(failure)) if words.is_empty() => (true, failure.message),
            Some(TurnEnd::Failed(failure)) => (true, format!("{}\nIt said last:\n{words}", failure.message)),
            None => (true, BROKE.to_owned()),
        };
        let text = match left {
            Some(left) => format!("{text}\n\n[{left}]"),
            None => text,
        };
        let json = Some(Json::verbatim(sub.story.figures(&sub.agent.name).to_string()));
        let result = ToolResult { json, ..ToolResult::text(text) };
        bounded(Performed { failed, result }, plan.place.outputs(), &plan.digest.0)
    }

    /// What goes on in the background that it began: the session's from here on, which the parent's model is told.
    fn left_running(&self, sub: &SubRun<'_>) -> Option<String> {
        let jobs = self.place.jobs().list();
        let goes_on = |job: &&JobReport| job.state == JobState::Running && sub.jobs.contains(&job.id);
        let told = |job: &JobReport| format!("job-{}: {}", job.id, shortened(&harmless::in_line(&job.line)));
        let left: Vec<String> = jobs.iter().filter(goes_on).map(told).collect();
        (!left.is_empty())
            .then(|| format!("left running in the background, see bash_jobs: {}", left.join("; ")))
    }

    /// The model of a sub-agent: its own, where it names one that is there, else that of its parent.
    async fn model_of(&self, agent: &SubAgent) -> Option<ModelRef> {
        let parents = self.asking.clone().or_else(|| self.brief.model.clone());
        let Some(wanted) = &agent.model else { return parents };
        let (provider, name) = match wanted.split_once('/') {
            Some((provider, name)) => (Some(provider), name),
            None => (None, wanted.as_str()),
        };
        let found = self.models.find(provider, name);
        match found.and_then(|found| self.models.open(Some(&found)).map(|_| found)) {
            Ok(found) => Some(found),
            Err(why) => {
                let text = format!(
                    "The sub-agent {} wants the model {wanted}, which cannot be used ({why}); yours is used.",
                    agent.name
                );
                if self.told_hooks.is_first(text.clone()) {
                    self.note(Level::Info, self.brief.leaf, "sub_agent", text).await;
                }
                parents
            }
        }
    }

    /// The turn of a sub-agent.
    fn child(
        &self,
        agent: &SubAgent,
        task: &Task,
        model: Option<ModelRef>,
        (reports, asked): (mpsc::Sender<Reported>, OpenAsks),
        apart: Option<&Apart>,
    ) -> Turn {
        let grants = if agent.only_looks { self.grants.only_looking() } else { self.grants.clone() };
        let (session, run) = (self.port.session.clone(), self.brief.run);
        let port = Port { session, run, reports, unwritten: self.port.unwritten.clone() };
        Turn {
            models: self.models.clone(),
            toolbox: self.toolbox.clone(),
            place: apart.map_or_else(|| self.place.clone(), |apart| apart.place.clone()),
            brief: self.brief_of(agent, &task.prompt, model, grants.policy(), apart),
            grants,
            asked,
            calls: OpenCalls::default(),
            // What is done apart is git's to keep.
            ledger: self.ledger.clone().filter(|_| apart.is_none()),
            unkept: self.unkept.clone(),
            unkept_told: self.unkept_told.clone(),
            steered: self.steered.clone(),
            secrets: self.secrets.clone(),
            cache: CacheMeter::default(),
            asking: None,
            cancel: self.cancel.child_token(),
            port,
            compact_at: self.compact_at,
            fallback: self.fallback.clone(),
            budget: self.budget,
            tally: self.tally.clone(),
            step_bill: StepBill::default(),
            changing: if apart.is_some() { Arc::default() } else { self.changing.clone() },
            sub_agents_room: self.sub_agents_room.clone(),
            sub_agents: Arc::default(),
            sub_agent: Some(agent.clone()),
            delegation: Delegation::default(),
            allow: Vec::new(),
            // Servers stand in the session's folder.
            project: self.project.clone().filter(|_| apart.is_none()),
            denials: Denials::default(),
            repeats: Repeats::default(),
            servers: self.servers.clone(),
            server_notes: self.server_notes.clone(),
            is_headless: self.is_headless,
            servers_within: self.servers_within,
            answer_schema: None,
            look: apart.map_or_else(|| self.look.clone(), |apart| apart.look.clone()),
            data: self.data.clone(),
            hooks: self.hooks.clone(),
            told_hooks: self.told_hooks.clone(),
            told_menu: self.told_menu.clone(),
            keeps_transcripts: false,
        }
    }

    /// What a sub-agent's turn is about: its task and nothing of its parent's conversation.
    fn brief_of(
        &self,
        agent: &SubAgent,
        prompt: &str,
        model: Option<ModelRef>,
        policy: domain::session::Policy,
        apart: Option<&Apart>,
    ) -> TurnBrief {
        let ids = Ids::default();
        let (turn, state) = conversation(&ids, prompt);
        let named =
            agent.tools.as_ref().map(|names| names.iter().map(|name| self.meant(name)).collect::<Vec<_>>());
        let active_tools = match (named, &self.brief.active_tools) {
            (Some(named), Some(active)) => {
                let active: BTreeSet<&String> = active.iter().collect();
                Some(named.into_iter().filter(|name| active.contains(name)).collect())
            }
            (Some(named), None) => Some(named),
            (None, active) => active.clone(),
        };
        let parent = &self.brief;
        TurnBrief {
            session: parent.session.clone(),
            run: parent.run,
            turn,
            ids,
            context: state.context_path().into_iter().cloned().map(Arc::new).collect(),
            tools: Vec::new(),
            input: Input::text(prompt),
            options: PromptOptions { offers: Vec::new(), ..parent.options.clone() },
            cwd: apart.map_or_else(|| parent.cwd.clone(), |apart| path_text::write(apart.place.workdir())),
            project: apart.map_or_else(|| parent.project.clone(), |apart| path_text::write(&apart.tree.path)),
            model,
            effort: parent.effort,
            budget: parent.budget,
            policy,
            before_plan: parent.before_plan,
            active_tools,
            attended: parent.attended,
            ui_context: UiContext::default(),
            ui_files: parent.ui_files,
            given_servers: Vec::new(),
            leaf: state.leaf,
            counted_tokens: None,
            used: Usage::default(),
            steps: 0,
            resume: None,
        }
    }

    /// Tells in the parent what a sub-agent reports, as far as it is told there.
    async fn retell(&self, (report, ack): Reported, sub: &mut SubRun<'_>) {
        let kept = match report {
            Report::Happened { body, .. } => self.retell_body(body, sub).await,
            Report::Signal { signal: signal @ Signal::Notify { .. }, session } => {
                let _ = self.port.reports.send((Report::Signal { session, signal }, None)).await;
                Kept::Safely
            }
            // Its status line, menus and the like are the parent's to say.
            _ => Kept::Safely,
        };
        if let Some(ack) = ack {
            let _ = ack.send(kept);
        }
    }

    /// The same of one thing that happened there; whether it may go on from it.
    pub(super) async fn retell_body(&self, body: Body, sub: &mut SubRun<'_>) -> Kept {
        let id = sub.id;
        if sub.transcript.as_mut().is_some_and(|transcript| transcript.hears(&body)) {
            self.write_down(sub).await;
        }
        match body {
            Body::Message(MessageEvent::Started { role: Role::Assistant, .. }) => sub.story.speaks(),
            Body::Message(MessageEvent::Delta { kind: TextKind::Text, text, .. }) => sub.story.says(&text),
            Body::Run(RunEvent::StepBilled { step, usage } | RunEvent::StepEnded { step, usage }) => {
                if let Some(more) = sub.story.billed(step, usage) {
                    if let Some((step, usage)) = self.step_bill.add(more) {
                        self.port.emit(Body::Run(RunEvent::StepBilled { step, usage })).await;
                    }
                    self.tell(id, Some(sub.story.status())).await;
                }
            }
            Body::Run(RunEvent::Retrying { reason, .. }) => {
                let message = format!("the model is asked again: {reason}");
                self.tell(id, Some(Progress::Status { percent: None, message })).await;
            }
            Body::Tool(ToolEvent::Proposed { tool, name, args, .. }) => {
                sub.story.proposed(tool, &name, args.as_str());
            }
            Body::Tool(ToolEvent::Started { tool }) => {
                let progress = sub.story.starts(tool);
                return self.start_of_sub(id, progress).await;
            }
            Body::Tool(ToolEvent::Ended { tool, outcome, result }) => {
                sub.jobs.extend(job_of(&result));
                let line = sub.story.ended(tool, &outcome);
                self.tell(id, line).await;
            }
            Body::Ask(AskEvent::Opened(ask)) => return self.put_in_parent(ask, sub).await,
            Body::Ask(AskEvent::Closed { ask, closing }) => {
                let Some((ask, _)) = sub.standing.open.get(&ask) else { return Kept::Late };
                return self.port.emit_written(Body::Ask(AskEvent::Closed { ask: *ask, closing })).await;
            }
            Body::Note(NoteEvent::Noticed { level: Level::Warning | Level::Error, text, .. }) => {
                let line = sub.story.line(&text);
                self.tell(id, line).await;
            }
            _ => {}
        }
        Kept::Safely
    }

    /// A call of a sub-agent is about to run: refused where the run is being stopped, and on disk when this returns.
    async fn start_of_sub(&self, tool: ToolRunId, progress: Progress) -> Kept {
        let told = self.port.emit_written(Body::Tool(ToolEvent::Progress { tool, progress })).await;
        // How far a tool run is may wait for the disk. The bill behind it may not, and takes all along that came before it.
        match self.step_bill.add(Usage::default()).filter(|_| told != Kept::Late) {
            Some((step, usage)) => {
                self.port.emit_written(Body::Run(RunEvent::StepBilled { step, usage })).await
            }
            None => told,
        }
    }

    /// Asks in the parent what a sub-agent asks.
    async fn put_in_parent(&self, ask: Ask, sub: &mut SubRun<'_>) -> Kept {
        let (theirs, is_consent) = (ask.id, ask.about().is_some());
        let here = (AskId::mint(&self.brief.ids), self.brief.run);
        let Some(ask) = asked_in_parent(ask, &sub.who, sub.id, here) else {
            sub.asked.close(theirs, Closing::Unattended);
            return Kept::Safely;
        };
        let closing = self.asked.wait_for(ask.id);
        let kept = self.port.emit_written(Body::Ask(AskEvent::Opened(ask))).await;
        if kept != Kept::Late {
            sub.standing.open.insert(theirs, (here.0, is_consent));
            sub.standing.ends.spawn(async move { (theirs, closing.await.unwrap_or(Closing::Withdrawn)) });
        }
        kept
    }

    /// Takes back what a sub-agent left open.
    pub(super) async fn withdraw(&self, sub: &mut SubRun<'_>) {
        for (ask, _) in std::mem::take(&mut sub.standing.open).into_values() {
            if !self.cancel.is_cancelled() {
                let closing = Closing::Withdrawn;
                self.port.emit_kept(Body::Ask(AskEvent::Closed { ask, closing })).await;
            }
        }
    }
}

impl<'a> SubRun<'a> {
    /// One of which nothing was heard yet.
    pub(super) fn of(id: ToolRunId, agent: &'a SubAgent, task: &Task) -> SubRun<'a> {
        let (asked, standing, story) = (OpenAsks::default(), Standing::default(), Story::default());
        let who = named_by_task(&agent.name, &task.title);
        SubRun {
            id,
            agent,
            who,
            asked,
            standing,
            story,
            transcript: None,
            jobs: BTreeSet::new(),
            refused: false,
        }
    }

    /// A question of it that is over here; nothing where none is open.
    pub(super) async fn next_answer(&mut self) -> Option<Option<(AskId, Closing)>> {
        self.standing.ends.join_next().await.map(Result::ok)
    }

    /// A question of it is over here.
    pub(super) fn answered(&mut self, ended: Option<(AskId, Closing)>) {
        if let Some((theirs, closing)) = ended
            && let Some((_, is_consent)) = self.standing.open.remove(&theirs)
        {
            let goes_on =
                |answer: &Answer| matches!(answer, Answer::Allow { .. } | Answer::Deny { reason: Some(_) });
            self.refused |=
                is_consent && matches!(&closing, Closing::Answered { answer, .. } if !goes_on(answer));
            self.asked.close(theirs, closing);
        }
    }
}

/// The command in the background that a call began.
fn job_of(result: &ToolResult) -> Option<u64> {
    let json: serde_json::Value = serde_json::from_str(result.json.as_ref()?.as_str()).ok()?;
    json["job"].as_str()?.strip_prefix("job-")?.parse().ok()
}

/// A conversation that begins with these words.
fn conversation(ids: &Ids, prompt: &str) -> (TurnId, State) {
    let (run, turn, message) = (RunId::mint(ids), TurnId::mint(ids), MessageId::mint(ids));
    let mut state = State::new();
    let begun =
        MessageEvent::Started { message, parent: None, role: Role::User, turn: Some(turn), step: None };
    let parts = Input::text(prompt).parts();
    let mut bodies = vec![
        Body::Run(RunEvent::Started { run }),
        Body::Run(RunEvent::TurnStarted { run, turn, cause: Cause::Prompt }),
        Body::Message(begun),
    ];
    bodies.extend(parts.into_iter().map(|part| Body::Message(MessageEvent::PartAdded { message, part })));
    bodies.push(Body::Message(MessageEvent::Ended { message, finish: Finish::Complete }));
    for body in bodies {
        // Each names what the one before it made.
        let _ = state.apply(Millis(0), &body);
    }
    (turn, state)
}
