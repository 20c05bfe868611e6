//! What only the agent can answer outside of a turn: models, tools, skills, servers, a compaction by hand.

mod undo;
pub use undo::{FilesTold, files_of};
mod user_shell;

use crate::briefing::{self, Instructions, Scene, Surroundings};
use crate::cache_meter::CacheMeter;
use crate::compact::{NotCompacted, Summarizer, compact, window};
use crate::config::{Config, WorkDir};
use crate::context::Context;
use crate::grants::Grants;
use crate::host_gate::HostGate;
use crate::mcp::{self, Project, Servers, Site};
use crate::port::Reported;
use crate::setup::Setup;
use crate::skills::{SkillTool, Skills};
use crate::sub_agents::{SubAgents, TaskTool};
use crate::usage::counted;
use crate::{extension, family, ports, rules};
use domain::command::{
    Command, FILES, FORGET_KEYS, ListCommand, PORTS, RULES, Receipt, Refusal, RefusalKind, RunCommand,
    SERVER_REACH, SessionCommand,
};
use domain::content::Json;
use domain::event::{Body, Compaction, ContextEvent, SessionEvent, Trigger};
use domain::ids::SessionId;
use domain::path_text;
use domain::port::{Grounds, Kept, Report};
use domain::session::{ModelRef, SkillList, ToolEntry};
use domain::signal::UiContext;
use models::Request;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tools::Tool as _;

pub(crate) use user_shell::{MAX_TYPED, ShellContext};

/// The skills that can be seen from there. Reads files.
pub fn list_skills(config: &Config, work_dir: &WorkDir) -> SkillList {
    Skills::find(&config.look(work_dir)).list()
}

/// What the model is told before a conversation that begins there, and the tools that it is offered.
#[derive(Debug, Clone)]
pub struct StandingText {
    pub system: String,
    /// Without those of MCP servers, which tell theirs when they run.
    pub tools: Vec<tools::Spec>,
    /// Instructions that could not be read, in words.
    pub trouble: Vec<String>,
}

/// What a new conversation there would begin with, for a model of this name. Reads files.
pub fn standing_text(
    config: &Config,
    work_dir: &WorkDir,
    model: &str,
    mut toolbox: tools::Toolbox,
) -> StandingText {
    family::suit(&mut toolbox, model);
    let look = config.look(work_dir);
    let (instructions, skills) = (Instructions::read(&look, &BTreeSet::new()), Skills::find(&look));
    config.fit(&mut toolbox);
    let scene = Scene::look(&look, &work_dir.cwd).at_the_beginning(None);
    let ui = &UiContext::default();
    let here = Surroundings {
        scene: &scene,
        ui,
        instructions: &instructions,
        skills: &skills,
        sub_agents: &SubAgents::find(&look),
        tools: true,
        attended: true,
        policy: config.policy.unwrap_or_default(),
        model,
    };
    let system = briefing::system(&briefing::facts(&here));
    if !skills.all.is_empty() {
        toolbox.add(Arc::new(SkillTool(Arc::new(skills))));
    }
    toolbox.add(Arc::new(TaskTool::of(&Arc::default())));
    StandingText { system, tools: toolbox.specs(), trouble: instructions.trouble }
}

/// A question and what it takes to answer it.
pub(crate) struct Consultation {
    pub(crate) setup: Setup,
    pub(crate) servers: Servers,
    pub(crate) reports: mpsc::Sender<Reported>,
    pub(crate) session: SessionId,
    pub(crate) grounds: Box<Grounds>,
    /// Says when the answer is no longer wanted.
    pub(crate) stop: CancellationToken,
    /// What may happen without asking, where a turn was begun.
    pub(crate) grants: Option<Grants>,
    /// What was asked last, where a turn was begun.
    pub(crate) cache: Option<CacheMeter>,
    /// Where the session's commands run, where a turn was begun.
    pub(crate) place: Option<tools::ToolContext>,
    /// What command lines of the person's own are run with, for those.
    pub(crate) shell_context: Option<Result<ShellContext, String>>,
}

impl Consultation {
    /// Carries out a command that needs the agent outside a run; one that is none of ours is refused.
    pub(crate) async fn answer(self, command: Command) -> Result<Receipt, Refusal> {
        match command {
            Command::List(ListCommand::Models { provider }) => self.models(provider).await,
            Command::Session(SessionCommand::SetModel { provider, name }) => {
                let model = self.find(provider.as_deref(), &name)?;
                let opened = self.setup.models.open(Some(&model))?;
                self.setup.models.check(&model).await?;
                if self.grounds.effort.is_some() && opened.info().thinking != Some(true) {
                    // It would be shown and mean nothing, or be refused with every prompt.
                    self.kept(Body::Session(SessionEvent::EffortChosen { effort: None })).await;
                }
                Ok(Receipt::Model(model))
            }
            Command::Session(SessionCommand::SetEffort { effort: Some(_) }) => {
                let model = self.setup.models.open(self.grounds.model.as_ref())?;
                if model.info().thinking == Some(false) {
                    let what = format!("{} has no thinking effort", model.name());
                    let refusal = Refusal::new(RefusalKind::Unsupported, what);
                    return Err(refusal.hint("use a model that thinks"));
                }
                Ok(Receipt::Done)
            }
            Command::Session(SessionCommand::SetEffort { effort: None }) => Ok(Receipt::Done),
            Command::Run(RunCommand::Compact { instruction }) => self.compact(instruction.as_deref()).await,
            Command::List(ListCommand::Servers) => Ok(Receipt::Servers(self.project().await?.list())),
            Command::List(ListCommand::Skills { cwd, .. }) => {
                let (config, grounds) = (self.setup.config, self.grounds);
                let find = move || {
                    let mut work_dir = config.work_dir(&grounds.project, &grounds.cwd);
                    if let Some(cwd) = cwd {
                        let there = path_text::read(&cwd);
                        if work_dir.workspace.as_ref().is_ok_and(|root| there.starts_with(root)) {
                            work_dir.cwd = there;
                        } else {
                            work_dir = config.work_dir(&cwd, &cwd);
                        }
                    }
                    list_skills(&config, &work_dir)
                };
                let list = tokio::task::spawn_blocking(find).await;
                list.map(Receipt::Skills)
                    .map_err(|_| Refusal::new(RefusalKind::Internal, "the skills could not be read"))
            }
            Command::List(ListCommand::Tools) => Ok(Receipt::Tools(self.tools().await?)),
            Command::Session(SessionCommand::SetTools { tools }) => self.check_tools(tools.as_deref()).await,
            Command::Extension { name, .. } if name == FORGET_KEYS => {
                let models = self.setup.models.clone();
                let forgotten = tokio::task::spawn_blocking(move || models.forget_keys()).await;
                let broken = |_| Refusal::new(RefusalKind::Internal, "the keys could not be forgotten");
                let whose = forgotten.map_err(broken)??;
                Ok(Receipt::Extension(Json::verbatim(serde_json::json!(whose).to_string())))
            }
            Command::Extension { name, .. } if name == FILES => {
                let cwd = path_text::read(&self.grounds.cwd);
                // What servers have beside files is named the same way.
                let (_, mentions) = self.project().await?.offers();
                let found = tokio::task::spawn_blocking(move || tools::names::names(&cwd)).await;
                let broken =
                    |_| Refusal::new(RefusalKind::Internal, "the folder could not be looked through");
                let tools::names::FileNames { files, more } = found.map_err(broken)?;
                let files: Vec<String> = mentions.into_iter().map(|one| one.name).chain(files).collect();
                let answer = serde_json::json!({ "files": files, "more": more });
                Ok(Receipt::Extension(Json::verbatim(answer.to_string())))
            }
            Command::Extension { name, payload } if name == RULES => {
                let here = self.work_dir().workspace.ok();
                let (data, grants) = (self.setup.data.clone(), self.grants);
                let answer = move || rules::answer(&data, here.as_deref(), grants.as_ref(), &payload);
                let answered = tokio::task::spawn_blocking(answer).await;
                let broken = |_| Refusal::new(RefusalKind::Internal, "the rules could not be read");
                answered.map_err(broken)?.map(Receipt::Extension)
            }
            Command::Extension { name, payload } if name == PORTS => {
                let (data, place) = (self.setup.data.clone(), self.place);
                let gate = place.as_ref().zip(self.grants.as_ref());
                let gate = gate.map(|(place, grants)| HostGate::of(grants, place));
                let (net, deciding) = (place.as_ref().and_then(|place| place.net().cloned()), gate.clone());
                let answer = move || ports::answer(&data, net.as_ref(), deciding.as_deref(), &payload);
                let answered = tokio::task::spawn_blocking(answer).await;
                let broken = |_| Refusal::new(RefusalKind::Internal, "the ports could not be looked up");
                let answer = answered.map_err(broken)??;
                if let (Some(place), Some(gate)) = (place, gate) {
                    place.lead_in(&gate).await;
                }
                Ok(Receipt::Extension(answer))
            }
            Command::Extension { name, payload } if name == SERVER_REACH => {
                let project = self.project().await?;
                let (servers, bounds) = (self.servers.clone(), self.setup.config.bounds());
                let change = move || mcp::change_reach(&servers, &project, &bounds, &payload);
                let changed = tokio::task::spawn_blocking(change).await;
                let broken = |_| Refusal::new(RefusalKind::Internal, "the servers could not be looked up");
                let (project, answer) = changed.map_err(broken)??;
                project.start(true);
                project.start_known();
                Ok(Receipt::Extension(answer))
            }
            Command::Extension { name, payload } => {
                let Some(known) = self.setup.config.extensions.get(&name) else {
                    let what = format!("there is no extension command {name}");
                    let hint = format!("register it in your settings: extensions.{name}.command = [\"…\"]");
                    return Err(Refusal::new(RefusalKind::ExtensionUnknown, what).hint(hint));
                };
                let (cwd, guard) = (path_text::read(&self.grounds.cwd), self.setup.guard.as_ref());
                extension::ask(&name, known, &payload, &cwd, guard).await.map(Receipt::Extension)
            }
            Command::Shell(command) => self.shell(command).await,
            Command::Files(command) => self.files(command).await,
            _ => Err(Refusal::new(RefusalKind::Unsupported, "the agent cannot do this")),
        }
    }

    /// A name that says no provider may also be one of the provider whose model is in use.
    fn find(&self, provider: Option<&str>, name: &str) -> Result<ModelRef, Refusal> {
        let models = &self.setup.models;
        models.find(provider, name).or_else(|why| {
            let current = models.open(self.grounds.model.as_ref()).ok().filter(|_| provider.is_none());
            let current = current.ok_or_else(|| why.clone())?;
            models.find(Some(&current.name().provider), name).map_err(|_| why)
        })
    }

    fn work_dir(&self) -> WorkDir {
        self.setup.config.work_dir(&self.grounds.project, &self.grounds.cwd)
    }

    async fn models(&self, provider: Option<String>) -> Result<Receipt, Refusal> {
        let mut models = self.setup.models.list().await;
        if let Some(provider) = provider {
            models.retain(|entry| entry.model.provider == provider);
            if models.is_empty() {
                // Whoever has no key is told which; a server that lists nothing is no unknown one.
                let any = ModelRef { provider: provider.clone(), name: "any".to_owned() };
                self.setup.models.open(Some(&any))?;
                let what = format!("{provider} lists no models");
                return Err(Refusal::new(RefusalKind::ModelUnknown, what).hint("name one in full"));
            }
        }
        let current = self.setup.models.open(self.grounds.model.as_ref()).ok().map(|model| {
            let name = model.name();
            ModelRef { provider: name.provider.clone(), name: name.name.clone() }
        });
        Ok(Receipt::Models { models, current })
    }

    /// The servers of the session's project; nothing is started for a mere question.
    async fn project(&self) -> Result<Arc<Project>, Refusal> {
        let (servers, work_dir) = (self.servers.clone(), self.work_dir());
        let given = self.grounds.given_servers.clone();
        let find = move || {
            let site = Site::new(work_dir.workspace.as_deref().ok(), &work_dir.cwd);
            servers.project(&site.with(&given))
        };
        let project = tokio::task::spawn_blocking(find).await;
        project.map_err(|_| Refusal::new(RefusalKind::Internal, "the servers could not be looked up"))
    }

    async fn tools(&self) -> Result<Vec<ToolEntry>, Refusal> {
        let active = |name: &str| {
            self.grounds.active_tools.as_ref().is_none_or(|names| names.iter().any(|known| known == name))
        };
        let entry = |spec: tools::Spec, source: String| ToolEntry {
            active: active(&spec.name),
            name: spec.name,
            description: spec.description,
            source,
        };
        let mut toolbox = self.setup.toolbox.clone();
        if let Ok(model) = self.setup.models.open(self.grounds.model.as_ref()) {
            family::suit(&mut toolbox, &model.name().name);
        }
        let own = toolbox.specs().into_iter().map(|spec| entry(spec, "built-in".to_owned()));
        let mut entries: Vec<ToolEntry> = own.collect();
        let look = self.setup.config.look(&self.work_dir());
        let skills =
            tokio::task::spawn_blocking(move || Arc::new(Skills::find(&look))).await.unwrap_or_default();
        if !skills.all.is_empty() {
            entries.push(entry(SkillTool(skills).spec(), "built-in".to_owned()));
        }
        let remote = self.project().await?.tools();
        entries.extend(remote.into_iter().map(|(server, tool)| entry(tool.spec(), format!("mcp:{server}"))));
        Ok(entries)
    }

    async fn check_tools(&self, wanted: Option<&[String]>) -> Result<Receipt, Refusal> {
        let known = self.tools().await?;
        let missing =
            wanted.unwrap_or_default().iter().find(|tool| !known.iter().any(|entry| entry.name == **tool));
        match missing {
            Some(tool) => Err(Refusal::new(RefusalKind::ToolUnknown, format!("there is no tool {tool}"))
                .hint("list the tools to see which there are")),
            None => Ok(Receipt::Done),
        }
    }

    async fn compact(self, instruction: Option<&str>) -> Result<Receipt, Refusal> {
        let grounds = self.grounds.as_ref();
        let model = self.setup.models.open(grounds.model.as_ref())?;
        let mut context = Context::read(&grounds.context, &grounds.tools, grounds.counted_tokens);
        let fallback = self.setup.config.fallback.as_deref();
        let spare = fallback.and_then(|name| {
            let found = self.setup.models.find(None, name).ok()?;
            self.setup.models.open(Some(&found)).ok()
        });
        // As a turn does it: what the provider has in its cache is the conversation as it was sent.
        let room = u64::from(window(model.as_ref())) * u64::from(self.setup.config.compact_at) / 100;
        context.prune(room * 7 / 8);
        let named = ModelRef { provider: model.name().provider.clone(), name: model.name().name.clone() };
        let frame = self.cache.as_ref().and_then(|cache| cache.frame(&named));
        let summarizer = Summarizer {
            model: model.as_ref(),
            spare: spare.as_deref(),
            request: frame.map(|frame| Request { messages: context.messages(), ..frame }),
            trigger: Trigger::Manual,
            instruction,
            cancel: &self.stop,
        };
        let compacted = compact(summarizer, &mut context, &grounds.ids).await;
        let done = compacted.map_err(|why| match why {
            NotCompacted::Failed(error) => {
                Refusal::new(RefusalKind::Internal, format!("no summary was written: {error}"))
                    .hint(error.hint())
            }
            NotCompacted::Cancelled => gone_on(),
            NotCompacted::Nothing => {
                Refusal::new(RefusalKind::NothingToCompact, "the conversation is too short to be compacted")
            }
        })?;
        let info = model.info();
        // No step counts it: it was written outside of runs.
        let (entry, usage) = (done.entry, counted(&done.usage, done.estimated, &info));
        let compaction = Compaction { usage, ..done.compaction };
        let body = Body::Context(ContextEvent::Compacted {
            entry,
            parent: grounds.leaf,
            compaction: compaction.clone(),
        });
        if self.kept(body).await {
            if let Some(window) = info.context_window {
                self.kept(Body::Context(ContextEvent::Measured {
                    used: context.tokens(),
                    window: window.into(),
                    rough: true,
                }))
                .await;
            }
            Ok(Receipt::Compacted { entry, compaction })
        } else {
            Err(gone_on())
        }
    }

    /// Reports something that happened outside of runs; `false` when it came too late.
    pub(crate) async fn kept(&self, body: Body) -> bool {
        let (ack, kept) = oneshot::channel();
        let report = Report::Happened { session: self.session.clone(), run: None, body };
        if self.reports.send((report, Some(ack))).await.is_err() {
            return false;
        }
        kept.await.is_ok_and(|kept| kept != Kept::Late)
    }
}

fn gone_on() -> Refusal {
    Refusal::new(RefusalKind::Busy, "the conversation went on while its summary was written")
        .hint("compact again once the run is over")
}
