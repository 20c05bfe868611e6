//! One turn: ask the model, run the tools it wants, ask again, until it has nothing more to do.

mod apart;
mod consent;
mod denials;
mod execute;
mod hooks;
mod other_agent;
mod planning;
mod repeats;
mod server_words;
mod servers;
mod step;
mod sub_agent;
mod together;
mod watch;

use crate::briefing::{self, Fact, Instructions, Scene, Section, Surroundings, Told};
use crate::budget::{self, Tally};
use crate::cache_meter::CacheMeter;
use crate::compact::{self, NotCompacted, Summarizer};
use crate::context::Context;
use crate::custom_commands::{CustomCommands, with_servers};
use crate::delegation::Delegation;
use crate::grants::Grants;
use crate::hooks::ListedHook;
use crate::mcp::{Project, ServerNotes, Servers};
use crate::offered::{OfferedTool, OpenCalls};
use crate::port::Port;
use crate::recall::{OldResults, Recall};
use crate::seat::{ModelSource, OpenAsks, Steered};
use crate::secrets::SessionSecrets;
use crate::skills::{SkillTool, Skills};
use crate::sub_agents::{SubAgent, SubAgents, TaskTool};
use crate::text_sources::TextSources;
use crate::tool_search;
pub(crate) use denials::Denials;
use domain::ask::Closing;
use domain::content::Role;
use domain::event::{Body, ContextEvent, Failure, NoteEvent, RunEvent, Trigger};
use domain::ids::{AskId, EntryId, StepId};
use domain::port::menu::AgentMenu;
use domain::port::{Report, TurnBrief, TurnEnd};
use domain::session::{Budget, Effort, ModelRef};
use domain::signal::Level;
use domain::state::EntryKind;
pub(crate) use hooks::ToldHooks;
use models::{Model, ModelError, Request, ToolSpec};
pub(crate) use repeats::Repeats;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use step::StepEnd;
pub(crate) use sub_agent::{MAX_AT_ONCE, StepBill};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tools::checkpoint::Ledger;
use tools::policy::Allowance;
use tools::{ToolContext, Toolbox};

/// The tool that asks the person.
const ASK: &str = "ask";

/// A turn under way.
pub(crate) struct Turn {
    pub(crate) models: Arc<dyn ModelSource>,
    pub(crate) toolbox: Toolbox,
    pub(crate) place: ToolContext,
    pub(crate) grants: Grants,
    pub(crate) asked: OpenAsks,
    /// Calls that a UI performs.
    pub(crate) calls: OpenCalls,
    /// What the session's turns do to files, where that is kept.
    pub(crate) ledger: Option<Ledger>,
    /// Why this turn's commands cannot be taken back, once that is known.
    pub(crate) unkept: Arc<OnceLock<String>>,
    /// Whether the session was told that commands cannot be taken back.
    pub(crate) unkept_told: Arc<AtomicBool>,
    pub(crate) steered: Steered,
    pub(crate) secrets: SessionSecrets,
    /// Whether the provider still has what was sent before.
    pub(crate) cache: CacheMeter,
    /// The model that is asked, once it is known.
    pub(crate) asking: Option<ModelRef>,
    pub(crate) cancel: CancellationToken,
    pub(crate) port: Port,
    /// Percent of the window at which the conversation is compacted.
    pub(crate) compact_at: u8,
    /// The model that goes on where the chosen one could not answer.
    pub(crate) fallback: Option<String>,
    /// What may be spent.
    pub(crate) budget: Budget,
    /// What was spent, with what sub-agents of this turn spend.
    pub(crate) tally: Arc<Tally>,
    /// What the step under way cost, with what sub-agents in it cost.
    pub(crate) step_bill: StepBill,
    /// Held by whoever of the turn and its sub-agents changes something: each look at the files is around one of them.
    pub(crate) changing: Arc<tokio::sync::Mutex<()>>,
    /// Room for sub-agents at the same time.
    pub(crate) sub_agents_room: Arc<tokio::sync::Semaphore>,
    /// Who can be given a task here, once it is known.
    pub(crate) sub_agents: Arc<SubAgents>,
    /// Set in a turn that works on a task of another turn.
    pub(crate) sub_agent: Option<SubAgent>,
    /// Who and what helps with tasks.
    pub(crate) delegation: Delegation,
    /// What was allowed when the program was started.
    pub(crate) allow: Vec<Allowance>,
    /// The MCP servers that the turn has.
    pub(crate) project: Option<Arc<Project>>,
    /// Calls that were denied in this turn.
    pub(crate) denials: Denials,
    /// Whether the model goes round in a circle.
    pub(crate) repeats: Repeats,
    /// MCP servers.
    pub(crate) servers: Servers,
    /// What the session knows of them.
    pub(crate) server_notes: ServerNotes,
    /// Nobody is there, see [`crate::Config::is_headless`].
    pub(crate) is_headless: bool,
    /// The bound of that wait: who takes longer joins in a later step.
    pub(crate) servers_within: Duration,
    /// The form of the answer, see [`crate::Config::answer_schema`].
    pub(crate) answer_schema: Option<serde_json::Value>,
    /// Where instructions, skills, commands and hooks are looked for.
    pub(crate) look: TextSources,
    /// The user's data directory.
    pub(crate) data: PathBuf,
    /// The hooks that run in this turn, once they are found.
    pub(crate) hooks: Vec<ListedHook>,
    pub(crate) told_hooks: ToldHooks,
    /// What UIs were told last of the commands here.
    pub(crate) told_menu: Arc<Mutex<AgentMenu>>,
    /// Whether it is kept what sub-agents say and read.
    pub(crate) keeps_transcripts: bool,
    pub(crate) brief: TurnBrief,
}

/// Asks that are open already, and where their end is told.
pub(crate) type Waits = BTreeMap<AskId, oneshot::Receiver<Closing>>;

/// How far a turn has come.
struct Progress {
    context: Context,
    /// The newest entry of the conversation.
    leaf: Option<EntryId>,
    /// What is so here, as far as the model is told of it.
    facts: Vec<Fact>,
    /// Where the model has worked: the instructions of those folders are among the facts.
    paths: BTreeSet<String>,
    /// What happened and the model is not told of yet.
    once: Vec<String>,
    /// What is told of servers whose tools are not there; it changes between steps.
    missing: Option<String>,
    /// What is told of servers whose tools are found by a search.
    found: Option<String>,
    servers: Option<Arc<Project>>,
    toolbox: Toolbox,
    /// What summaries cost, until a step takes it into its account.
    spent: models::Usage,
    /// Some of that was counted by size.
    estimated: bool,
    /// Whose turn it is, where it is a sub-agent's.
    sub_agent: Option<SubAgent>,
    /// Whether the conversation may still be made shorter in this turn when the provider finds it too long.
    may_shorten: bool,
}

/// What is so around a turn.
#[derive(Default)]
struct Around {
    facts: Vec<Fact>,
    skills: Arc<Skills>,
    sub_agents: Arc<SubAgents>,
}

impl Progress {
    /// What the next request tells beside the conversation.
    fn told(&self) -> Told {
        let missing =
            self.missing.iter().map(|text| Fact::new(Section::Now, "MCP servers that are missing", text));
        let found =
            self.found.iter().map(|text| Fact::new(Section::Now, "MCP servers whose tools are found", text));
        let facts: Vec<Fact> = self.facts.iter().cloned().chain(missing).chain(found).collect();
        Told::since(self.context.known().as_ref(), &facts, &self.once)
    }

    /// What stands before the conversation.
    fn system(&self, told: &Told) -> String {
        let known = self.context.known();
        let first = told.first().or(known.as_ref().map(|known| known.first));
        let first = first.unwrap_or_default();
        match &self.sub_agent {
            Some(agent) => briefing::system_of(agent, first),
            None => briefing::system(first),
        }
    }
}

impl Turn {
    /// Does the turn; `waits` are the asks that a crash left open.
    pub(crate) async fn run(mut self, waits: Waits) -> TurnEnd {
        // A sub-agent's changes are its parent's.
        let moved = if self.sub_agent.is_none() { self.begin_watching().await } else { None };
        if let Err(failure) = crate::attachments::expand(&mut self.brief.context, &self.place) {
            return TurnEnd::Failed(failure);
        }
        let mut model = match self.models.open(self.brief.model.as_ref()) {
            Ok(model) => model,
            Err(refusal) => {
                let failure =
                    Failure { code: "model".to_owned(), message: refusal.message, hint: refusal.hint };
                return TurnEnd::Failed(failure);
            }
        };
        self.asking = Some(named(model.as_ref()));
        let mut spare = self.spare(model.as_ref()).await;
        let context = Context::read(&self.brief.context, &self.brief.tools, self.brief.counted_tokens);
        let mut paths = briefing::paths(context.calls());
        // Also where the calls that led into a folder are summarized already.
        let known = context.known();
        paths.extend(known.iter().flat_map(|known| known.topics(Section::Instructions)).map(str::to_owned));
        let chosen = named(model.as_ref());
        let looks = self.look_around(&paths, known.is_none());
        let (Around { facts, skills, sub_agents }, servers, ()) =
            tokio::join!(looks, self.servers_of_turn(), self.models.learn(&chosen));
        (self.project, self.sub_agents) = (servers.clone(), sub_agents);
        let once = match self.said_at_beginning(&skills).await {
            Ok(said) => moved.into_iter().chain(said).collect(),
            Err(failure) => return TurnEnd::Failed(failure),
        };
        let mut own = self.toolbox.clone();
        crate::family::suit(&mut own, &model.name().name);
        if self.nobody_there() {
            own.remove(ASK);
        }
        match &self.sub_agent {
            Some(agent) => self.narrow(&mut own, agent),
            None => own.add(Arc::new(TaskTool::of(&self.sub_agents))),
        }
        if !skills.all.is_empty() {
            own.add(Arc::new(SkillTool(skills)));
        }
        // From the first request on: tools stand before everything, so one that comes later costs all that the provider has in its cache.
        let old_results = OldResults::of(&self.brief.tools);
        own.add(Arc::new(Recall(old_results.clone())));
        // What is ours stays ours, whatever the names are.
        self.brief.options.offers.retain(|offer| own.get(&offer.name).is_none() && !own.hides(&offer.name));
        let mut progress = Progress {
            context,
            leaf: self.brief.leaf,
            facts,
            paths,
            once,
            missing: None,
            found: None,
            toolbox: own.clone(),
            servers: servers.clone(),
            spent: models::Usage::default(),
            estimated: false,
            sub_agent: self.sub_agent.clone(),
            may_shorten: true,
        };
        if let Some(resume) = &self.brief.resume {
            // What was agreed to runs at once.
            servers.iter().for_each(Project::start_known);
            (progress.toolbox, progress.found) = self.offered(&own, servers.as_deref());
            match self.resume(resume, waits, &mut progress).await {
                StepEnd::Again => {}
                StepEnd::TooLong(error) | StepEnd::Failed(error) => {
                    return TurnEnd::Failed(step::failure(&error));
                }
                StepEnd::Said(_) => return TurnEnd::Done,
                StepEnd::End(end) => return end,
            }
        }
        let (mut gone_on, mut rounds, mut may_compact) = (0, 0, true);
        let mut offers = servers.as_deref().map(Project::offers).unwrap_or_default();
        self.tally.begins();
        if budget::bound(self.budget.max_cost_micros).is_some() && model.info().price.is_none() {
            let text =
                format!("The price of {} is not known: the budget in money cannot be kept.", model.name());
            self.notice(progress.leaf, "budget", text).await;
        }
        loop {
            if let Some(failure) = budget::ends(&self.budget, &self.tally.spent()) {
                return TurnEnd::Failed(failure);
            }
            if let Some(failure) = self.too_many_rounds(rounds) {
                return TurnEnd::Failed(failure);
            }
            rounds += 1;
            // A server may have become ready, or gone.
            (progress.toolbox, progress.found) = self.offered(&own, servers.as_deref());
            progress.missing = servers.as_deref().and_then(Project::missing).filter(|_| self.offers_tools());
            if let Some(project) = servers.as_deref().filter(|_| self.is_headless && self.sub_agent.is_none())
            {
                self.tell_troubles(project).await;
            }
            self.tell_offers(&mut offers, servers.as_deref()).await;
            self.follow(&mut progress).await;
            let room = u64::from(compact::window(model.as_ref())) * u64::from(self.compact_at) / 100;
            for (id, text) in progress.context.prune(room * 7 / 8) {
                old_results.keep(id, text);
            }
            progress.context.set_overhead(overhead(&progress));
            if may_compact && self.is_full(model.as_ref(), &progress.context) {
                // One that did not help would not help the next time either.
                may_compact =
                    self.compact(model.as_ref(), spare.as_deref(), &mut progress, Trigger::Threshold).await
                        && !self.is_full(model.as_ref(), &progress.context);
            }
            if self.cancel.is_cancelled() {
                return TurnEnd::Cancelled;
            }
            match self.step(model.as_ref(), spare.is_some(), &mut progress).await {
                StepEnd::Again => {}
                StepEnd::TooLong(error) => {
                    if let Some(end) =
                        self.shorten(model.as_ref(), spare.as_deref(), &mut progress, &error).await
                    {
                        return end;
                    }
                }
                StepEnd::Failed(error) => match spare.take().filter(|_| error.another_may_answer()) {
                    Some(other) => {
                        let text = format!("{error}\nGoing on with {}, as the settings say.", other.name());
                        self.notice(progress.leaf, "fallback", text).await;
                        self.asking = Some(named(other.as_ref()));
                        model = other;
                    }
                    None => return TurnEnd::Failed(step::failure(&error)),
                },
                StepEnd::Said(_) if self.sub_agent.is_some() => return TurnEnd::Done,
                StepEnd::Said(said) => match self.hooks_at_end(gone_on).await {
                    Some(why) => {
                        gone_on += 1;
                        progress.once.push(why);
                    }
                    None => {
                        self.tell_offers(&mut offers, servers.as_deref()).await;
                        self.offer_plan(&said).await;
                        return TurnEnd::Done;
                    }
                },
                StepEnd::End(end) => return end,
            }
        }
    }

    /// Whether no question would be answered.
    fn nobody_there(&self) -> bool {
        self.is_headless || !self.brief.attended
    }

    /// The model to go on with where this one cannot answer, if the person has set one that can be had.
    async fn spare(&self, chosen: &dyn Model) -> Option<Arc<dyn Model>> {
        let name = self.fallback.as_deref()?;
        let found = self.models.find(None, name).and_then(|found| self.models.open(Some(&found)));
        match found {
            Ok(model) => Some(model).filter(|model| model.name() != chosen.name()),
            Err(refusal) => {
                let text = format!("The fallback model {name} cannot be used: {refusal}");
                self.port.notify(Level::Warning, text).await;
                None
            }
        }
    }

    /// The tools of the next step, and what is told of those that are found by a search.
    fn offered(&self, own: &Toolbox, servers: Option<&Project>) -> (Toolbox, Option<String>) {
        let mut toolbox = own.clone();
        let mut remote = Vec::new();
        for (server, tool) in servers.map(Project::tools).unwrap_or_default() {
            remote.push((server, tool.name()));
            toolbox.add_foreign(tool);
        }
        if let Some(names) = &self.brief.active_tools {
            toolbox.activate(names);
        }
        // Those that the person switched off are ours; these came with this very prompt.
        for offer in &self.brief.options.offers {
            toolbox.add_foreign(Arc::new(OfferedTool::new(offer)));
        }
        if tool_search::set_apart(&mut toolbox, &remote, self.server_notes.searches()) {
            self.server_notes.search();
        }
        let found = tool_search::told(&toolbox, &remote).filter(|_| self.offers_tools());
        (toolbox, found)
    }

    /// Makes the conversation shorter after the provider refused it, once in a turn; the end of the turn when that fails.
    async fn shorten(
        &self,
        model: &dyn Model,
        spare: Option<&dyn Model>,
        progress: &mut Progress,
        error: &ModelError,
    ) -> Option<TurnEnd> {
        let shortened = std::mem::replace(&mut progress.may_shorten, false)
            && self.compact(model, spare, progress, Trigger::Overflow).await;
        if self.cancel.is_cancelled() {
            return Some(TurnEnd::Cancelled);
        }
        (!shortened).then(|| TurnEnd::Failed(step::failure(error)))
    }

    fn is_full(&self, model: &dyn Model, context: &Context) -> bool {
        let Some(window) = model.info().context_window else { return false };
        context.tokens().saturating_mul(100) > u64::from(window) * u64::from(self.compact_at)
    }

    /// Compacts and reports it; `false` when there was nothing to compact or it did not work.
    async fn compact(
        &self,
        model: &dyn Model,
        spare: Option<&dyn Model>,
        progress: &mut Progress,
        trigger: Trigger,
    ) -> bool {
        // What the provider just refused is not asked once more.
        let request = (trigger != Trigger::Overflow).then(|| self.request(progress, &progress.told()));
        let summarizer =
            Summarizer { model, spare, request, trigger, instruction: None, cancel: &self.cancel };
        match compact::compact(summarizer, &mut progress.context, &self.brief.ids).await {
            Ok(done) => {
                let (entry, parent) = (done.entry, progress.leaf);
                progress.leaf = Some(entry);
                progress.spent += done.usage;
                progress.estimated |= done.estimated;
                let compacted =
                    Body::Context(ContextEvent::Compacted { entry, parent, compaction: done.compaction });
                let kept = self.port.emit_kept(compacted).await;
                if let Some(window) = model.info().context_window {
                    let (used, window) = (progress.context.tokens(), window.into());
                    // What is left after a summary is counted by size until the model is asked again.
                    self.port.emit(Body::Context(ContextEvent::Measured { used, window, rough: true })).await;
                }
                if let Some(why) = done.by_rule {
                    let text = format!(
                        "No summary of the older part was written ({why}), so it was cut by rule: your own words, the plan and the names \
                         of files stay, what was found out does not. It is in this session's record."
                    );
                    self.notice(progress.leaf, "compaction_by_rule", text).await;
                }
                kept
            }
            Err(NotCompacted::Nothing | NotCompacted::Cancelled) => false,
            Err(NotCompacted::Failed(error)) => {
                let text = format!("The conversation could not be compacted: {error}");
                self.notice(progress.leaf, "compaction_failed", text).await;
                false
            }
        }
    }

    async fn notice(&self, parent: Option<EntryId>, code: &str, text: String) {
        self.note(Level::Warning, parent, code, text).await;
    }

    async fn note(&self, level: Level, parent: Option<EntryId>, code: &str, text: String) {
        let (entry, run) = (EntryId::mint(&self.brief.ids), Some(self.brief.run));
        let code = code.to_owned();
        self.port.emit(Body::Note(NoteEvent::Noticed { entry, parent, run, level, code, text })).await;
    }

    fn offers_tools(&self) -> bool {
        self.brief.options.tools != Some(false)
    }

    /// The next request: what stands before the conversation, the conversation, what is told at its end.
    fn request(&self, progress: &Progress, told: &Told) -> Request {
        let specs = if self.offers_tools() { progress.toolbox.specs() } else { Vec::new() };
        let tools: Vec<ToolSpec> = specs
            .into_iter()
            .map(|spec| ToolSpec { name: spec.name, description: spec.description, schema: spec.schema })
            .collect();
        let mut messages = progress.context.messages();
        messages.extend(told.message());
        let mut request = Request {
            system: Some(progress.system(told)),
            messages,
            tools,
            max_tokens: self.brief.options.max_tokens.map(|most| u32::try_from(most).unwrap_or(u32::MAX)),
            temperature: self.brief.options.temperature.map(|thousandths| f64::from(thousandths) / 1000.0),
            thinking: self.brief.effort.map_or(models::Effort::Off, thinking),
            schema: self.answer_schema.clone(),
            cache_key: Some(self.port.session.as_str().to_owned()),
        };
        self.secrets.open(&mut request, self.asking.as_ref());
        request
    }

    /// Looks around again, with the instructions of the folders that the model has entered with its last calls.
    async fn follow(&self, progress: &mut Progress) {
        let paths = briefing::paths(progress.context.calls());
        if !paths.is_subset(&progress.paths) {
            progress.paths.extend(paths);
            progress.facts = self.look_around(&progress.paths, false).await.facts;
        }
    }

    /// What a turn begins with beside the conversation: of hooks, and of what the prompt names. A sub-agent's prompt is a model's.
    ///
    /// # Errors
    /// When a hook refuses the prompt.
    async fn said_at_beginning(&mut self, skills: &Arc<Skills>) -> Result<Vec<String>, Failure> {
        if self.sub_agent.is_some() {
            return Ok(Vec::new());
        }
        self.hooks = self.find_hooks().await;
        let mut said = self.hooks_of_prompt().await?;
        said.extend(self.wanted(skills).await);
        said.extend(self.wanted_of_servers().await?);
        Ok(said)
    }

    /// What is so here now; the skills and sub-agents that are there come back with it.
    async fn look_around(&self, paths: &BTreeSet<String>, begins: bool) -> Around {
        let (look, place, paths) = (self.look.clone(), self.place.clone(), paths.clone());
        let (ui, tools, attended) =
            (self.brief.ui_context.clone(), self.offers_tools(), !self.nobody_there());
        let (policy, sub_agent) = (self.grants.policy(), self.sub_agent.clone());
        let model = self.asking.as_ref().map(|model| model.name.clone()).unwrap_or_default();
        let others = self.delegation.others.clone().filter(|_| place.root().is_some());
        let read = move || {
            let instructions = Instructions::for_work_at(&paths, &place, &look);
            let mut scene = Scene::look(&look, place.workdir());
            // Who may use certain tools only is not told of more.
            let is_narrow = sub_agent.as_ref().is_some_and(|agent| agent.tools.is_some());
            let skills = if is_narrow { Skills::default() } else { Skills::find(&look) };
            let sub_agents = match sub_agent {
                Some(_) => SubAgents::default(),
                None => SubAgents::find(&look).with_others(others.map(|others| others.there())),
            };
            if begins {
                scene = scene.at_the_beginning(place.guard());
            }
            let here = Surroundings {
                scene: &scene,
                ui: &ui,
                instructions: &instructions,
                skills: &skills,
                sub_agents: &sub_agents,
                tools,
                attended,
                policy,
                model: &model,
            };
            let facts = briefing::facts(&here);
            let around = Around { facts, skills: Arc::new(skills), sub_agents: Arc::new(sub_agents) };
            (around, instructions.trouble)
        };
        let (around, trouble) = tokio::task::spawn_blocking(read).await.unwrap_or_default();
        // Told once: with the first prompt of the session.
        if self.brief.context.len() <= 1 && self.sub_agent.is_none() && !trouble.is_empty() {
            let text = format!("Some instructions could not be read: {}", trouble.join("; "));
            self.notice(self.brief.leaf, "instructions", text).await;
        }
        around
    }

    /// What a prompt of the person's says that no answer was given to yet; nothing where one was, before a crash.
    fn newest_prompt(&self) -> Option<String> {
        let newest = self.brief.context.iter().rev().find_map(|entry| match &entry.kind {
            EntryKind::Message(message) => Some(message),
            EntryKind::Compaction(_) | EntryKind::Notice { .. } => None,
        });
        newest.filter(|message| message.role == Role::User).map(|prompt| prompt.text())
    }

    /// The command that the prompt begins with and the skills that it names, in words.
    async fn wanted(&self, skills: &Arc<Skills>) -> Vec<String> {
        let (skills, look, data) = (skills.clone(), self.look.clone(), self.data.clone());
        let (prompt, told) = (self.newest_prompt(), self.told_menu.clone());
        let offered = self.project.as_deref().map(Project::offers).unwrap_or_default();
        let look = move || {
            let commands = CustomCommands::find(&look);
            let menu = with_servers(commands.menu(), offered);
            let mut known = told.lock().unwrap_or_else(PoisonError::into_inner);
            let news = (*known != menu).then(|| menu.clone());
            *known = menu;
            let Some(prompt) = prompt else { return (news, Vec::new(), None) };
            let Some((command, behind)) = commands.named_in(&prompt) else {
                return (news, briefing::wanted(&skills, &prompt), None);
            };
            match command.used(behind, &data) {
                Ok(used) => {
                    let skills = briefing::wanted(&skills, behind);
                    (news, std::iter::once(used.told).chain(skills).collect(), used.notice)
                }
                Err(why) => {
                    (news, vec![format!("The command /{} cannot be read: {why}", command.name)], None)
                }
            }
        };
        let (news, wanted, notice) = tokio::task::spawn_blocking(look).await.unwrap_or_default();
        if let Some(menu) = news {
            let _ = self.port.reports.send((Report::Menu(menu), None)).await;
        }
        if let Some(text) = notice {
            self.note(Level::Info, self.brief.leaf, "command", text).await;
        }
        wanted
    }

    async fn start_step(&self, model: &dyn Model) -> StepId {
        let step = StepId::mint(&self.brief.ids);
        let model = Some(named(model));
        self.port.emit(Body::Run(RunEvent::StepStarted { turn: self.brief.turn, step, model })).await;
        step
    }
}

fn named(model: &dyn Model) -> ModelRef {
    let name = model.name();
    ModelRef { provider: name.provider.clone(), name: name.name.clone() }
}

fn thinking(effort: Effort) -> models::Effort {
    match effort {
        Effort::None => models::Effort::None,
        Effort::Minimal => models::Effort::Minimal,
        Effort::Low => models::Effort::Low,
        Effort::Medium => models::Effort::Medium,
        Effort::High => models::Effort::High,
        Effort::Xhigh => models::Effort::Xhigh,
        Effort::Max => models::Effort::Max,
    }
}

/// Bytes of what goes along with the conversation.
fn overhead(progress: &Progress) -> usize {
    let size = |spec: &tools::Spec| spec.name.len() + spec.description.len() + spec.schema.to_string().len();
    let told = progress.told();
    let note = told.note().map_or(0, |note| note.len());
    progress.system(&told).len() + note + progress.toolbox.specs().iter().map(size).sum::<usize>()
}
