//! The stack that every command shares: store, engine, hub.

mod typed;

use crate::error::usage;
use crate::guard;
use crate::kept;
use crate::launch::Launch;
use crate::mode::{Folder, Ground};
use crate::model_source::Source;
use crate::{paths, settings, store_place};
use domain::command::{Command, LibraryCommand};
use domain::path_text;
use domain::session::{Effort, ModelRef, Policy};
use engine::{Agent, Budget, Delegation, ModelSource, ORDERS, REPORTS, WorkDir};
use hub::core::{Engine, GivenBudget, Setup};
use hub::{EngineSeat, Files, Hub, Log, Visits};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use store::{MemoryStore, SqliteStore, Store};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tools::Toolbox;
use tools::checkpoint::Vault;
use tools::policy::Allowance;
use tools::sandbox::{Guard, status};
pub(crate) use typed::TypedOptions;

/// A running stack with our own agent.
pub struct OwnStack {
    /// The way in.
    pub hub: Hub,
    /// To be stopped with the hub.
    pub engine: EngineTask,
    /// The model that a new session uses.
    pub model: ModelRef,
    /// Further models, as far as they are known without asking their providers.
    pub models: Vec<ModelRef>,
    /// Where the agent works.
    pub cwd: PathBuf,
    /// Why nothing will be kept, and what to do; also `None` when nothing is to be kept.
    pub unkept: Option<String>,
    /// Why there is no workspace, and what to do.
    pub no_workspace: Option<String>,
    /// The workspace, and what runs commands: together they tell where commands may write.
    workspace: Option<PathBuf>,
    guard: Option<Guard>,
    /// What a UI starts with.
    pub start: Option<Command>,
    /// What the mode of its sessions depends on.
    pub ground: Ground,
    /// What was typed for a session that is gone on with.
    pub(crate) typed: TypedOptions,
}

impl OwnStack {
    /// What to say when commands of the agent may write where a socket is to be: one could take its place.
    pub fn exposes(&self, socket: &Path) -> Option<String> {
        let socket = std::path::absolute(socket).ok()?;
        // Folders that are not there yet are made for it.
        let folder = socket.ancestors().skip(1).find_map(|folder| folder.canonicalize().ok())?;
        let which = match &self.workspace {
            Some(workspace) if folder.starts_with(workspace) => "the workspace",
            _ if self.guard.as_ref().is_some_and(|guard| guard.lets_write(&folder)) => {
                "temp or also_writable"
            }
            _ => return None,
        };
        Some(format!(
            "warning: {} lies where commands of the agent may write ({which}): one could move the socket away and listen in its \
             place, which UIs of Parlor's notice and others do not. Name a place in a folder of your own outside, of mode 0700",
            path_text::write(&socket)
        ))
    }
}

/// Who and what helps with tasks: this module knows neither other programs' agents nor worktrees.
static DELEGATION: OnceLock<Delegation> = OnceLock::new();

/// Says who and what helps with tasks in this process. Whoever says it first leads.
pub fn with_delegation(delegation: Delegation) {
    let _ = DELEGATION.set(delegation);
}

/// Writes log lines nowhere: the screen belongs to the UI.
pub fn no_log() -> Log {
    Arc::new(|_| {})
}

/// Starts the stack with our own agent.
pub async fn own(launch: &Launch, log: Log) -> anyhow::Result<OwnStack> {
    own_visiting(launch, None, log).await
}

/// The same, led to sessions that other processes have open where it is told the way.
pub async fn own_visiting(launch: &Launch, visits: Option<Visits>, log: Log) -> anyhow::Result<OwnStack> {
    let data = paths::data()?;
    let settings::AgentSettings { mut config, told } = settings::read();
    for what in told {
        log(&format!("warning: {what}"));
    }
    let work_dir = paths::work_dir(launch, &mut config)?;
    if let (None, Some(why)) = (&launch.model, &launch.unread.model) {
        // Another model than the one that was meant would hear all that is said.
        return Err(usage(format!("{why}\n\nhint: fix or unset it, or name a model with --model")));
    }
    if let Some(why) = unknown_server(&launch.allow, &config, &data, &work_dir) {
        return Err(usage(why));
    }
    config.fetch.enabled |= launch.fetch;
    config.is_headless = launch.is_headless;
    config.answer_schema.clone_from(&launch.answer_schema);
    let wanted = launch.model.as_deref().or(config.model.as_deref());
    let source = Source::new(wanted).await.map_err(|why| {
        let words = format!("{why}\nhint: {}", why.hint());
        // What was typed is wrong usage; what the environment lacks is not.
        let typed = launch.model.is_some() && why.is_wrong_name();
        if typed { usage(words) } else { anyhow::anyhow!("{words}") }
    })?;
    let (model, models) = (source.default_model(), source.known_models());
    let (store, unkept) = store(launch, &log)?;
    config.keeps_questions = !(launch.ephemeral || launch.is_headless || unkept.is_some());
    config.keeps_outputs = !(launch.ephemeral || unkept.is_some());
    let start = start_with(launch, store.as_ref(), &work_dir)?;
    let effort = effort(launch, &config, &source)?;
    let budget = GivenBudget { usual: config.budget, typed: budget(launch) };
    // For sessions that come from elsewhere and say nothing of it.
    config.budget = budget.typed.or(config.budget);
    let allow = launch.allow.clone();
    let guard = guard::of(&config);
    let vault = vault(&data, launch.ephemeral || unkept.is_some(), &log);
    let ground = Ground::of(launch, &config, Folder::of(&work_dir, vault.is_some()));
    let (policy, policy_elsewhere) = policies(&ground, &log);
    let defaults = Defaults { policy, typed_policy: ground.typed, policy_elsewhere, effort, budget };
    let given = Given { config, allow, vault, visits };
    let (hub, engine) = assemble_with(Arc::new(source), store, &work_dir, &data, defaults, given, log);
    let typed = TypedOptions::of(launch, &model, &ground);
    typed.begin(&hub, start.as_ref()).await?;
    let (workspace, no_workspace) = match work_dir.workspace {
        Ok(workspace) => (Some(workspace), None),
        Err(why) => (None, Some(why.words())),
    };
    Ok(OwnStack {
        hub,
        engine,
        model,
        models,
        cwd: work_dir.cwd,
        unkept,
        no_workspace,
        workspace,
        guard,
        start,
        ground,
        typed,
    })
}

/// What the command line says may be spent.
fn budget(launch: &Launch) -> Budget {
    Budget { max_cost_micros: launch.max_cost, max_steps: launch.max_steps, max_time_s: launch.max_time }
}

/// Why something that was allowed can never be used, if so: a tool of a server that nobody has configured.
fn unknown_server(
    allow: &[Allowance],
    config: &engine::Config,
    data: &Path,
    work_dir: &WorkDir,
) -> Option<String> {
    let tools: Vec<&str> = allow.iter().filter_map(Allowance::of_server).collect();
    if tools.is_empty() {
        return None;
    }
    let (servers, _) = engine::mcp::servers(config, data, work_dir);
    let names: Vec<&str> = servers.iter().map(|listed| listed.entry.name.as_str()).collect();
    let known = |tool: &&str| names.iter().any(|name| tool.starts_with(&format!("mcp__{name}__")));
    let unknown = tools.into_iter().find(|tool| !known(tool))?;
    let there = match names.as_slice() {
        [] => "no server is configured here (`parlor mcp add` adds one)".to_owned(),
        names => format!("the servers here are {} (`parlor mcp` lists them)", names.join(", ")),
    };
    Some(format!("--allow {unknown} names no MCP server that there is\n\nhint: {there}"))
}

/// How long the end of the program waits for the engine.
const ENGINE_GRACE: Duration = Duration::from_secs(6);

/// Puts engine, store and hub together. `data` is where rules and long outputs are kept. The engine ends when the hub is stopped, which
/// nobody waits for.
pub fn assemble_in(
    models: Arc<dyn ModelSource>,
    store: Box<dyn Store>,
    cwd: &Path,
    data: &Path,
    policy: Policy,
    log: Log,
) -> Hub {
    let config = engine::Config::default();
    let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
    let work_dir = WorkDir { workspace: config.bounds().find(&cwd), cwd };
    let given = Given { config, allow: Vec::new(), vault: vault(data, true, &log), visits: None };
    let defaults = Defaults { policy, ..Defaults::default() };
    let (hub, mut engine) = assemble_with(models, store, &work_dir, data, defaults, given, log);
    engine.0.detach_all();
    hub
}

/// What an agent and its hub work with.
struct Given {
    config: engine::Config,
    /// What is allowed from the start.
    allow: Vec<Allowance>,
    vault: Option<Arc<dyn Vault>>,
    /// The way to sessions that other processes have open.
    visits: Option<Visits>,
}

/// The same, with the person's settings and what is allowed from the start.
fn assemble_with(
    models: Arc<dyn ModelSource>,
    store: Box<dyn Store>,
    work_dir: &WorkDir,
    data: &Path,
    defaults: Defaults,
    given: Given,
    log: Log,
) -> (Hub, EngineTask) {
    let Given { config, allow, vault, visits } = given;
    let (orders, ordered) = mpsc::channel(ORDERS);
    let (reports, reported) = mpsc::channel(REPORTS);
    let (toolbox, data, guard) = (Toolbox::standard(), data.to_owned(), guard::of(&config));
    let menu = engine::menu(&config, &data, work_dir);
    let setup = engine::Setup {
        models,
        toolbox,
        data: data.clone(),
        guard,
        config,
        allow,
        vault,
        menu: menu.clone(),
        delegation: DELEGATION.get().cloned().unwrap_or_default(),
    };
    let mut engine = EngineTask(JoinSet::new());
    engine.0.spawn(Agent::new(setup, reports).run(ordered));
    let workspace = work_dir.workspace.as_ref().ok().cloned();
    let files = Files { data: Some(data), workspace, allowed: paths::save_dirs() };
    let setup = Setup { menu, ..hub_setup(Engine::Driven, work_dir, defaults) };
    let hub = match visits {
        Some(visits) => Hub::start_visiting(setup, store, orders, files, visits, log),
        None => Hub::start_with(setup, store, EngineSeat::Driven(orders), files, log),
    };
    let feeding = hub.clone();
    engine.0.spawn(async move { feeding.reports(reported).await });
    (hub, engine)
}

/// Our own engine while it runs, and what brings its reports to the hub. Dropped, it is broken off.
pub struct EngineTask(JoinSet<()>);

impl EngineTask {
    /// Stops the hub, and waits until the engine has put everything in order: commands in the background end, and what they did to files
    /// that steer programs is put back.
    ///
    /// # Errors
    /// When it takes too long: then commands may still run.
    pub async fn stop(mut self, hub: &Hub) -> Result<(), StillRuns> {
        hub.stop().await;
        let ended = async { while self.0.join_next().await.is_some() {} };
        tokio::time::timeout(ENGINE_GRACE, ended).await.map_err(|_| StillRuns)
    }
}

/// The agent did not stop in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StillRuns;

impl std::fmt::Display for StillRuns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = ENGINE_GRACE.as_secs();
        write!(f, "the agent did not stop within {seconds} seconds; look for commands that still run")
    }
}

impl std::error::Error for StillRuns {}

/// How new sessions are set.
#[derive(Debug, Clone, Copy, Default)]
struct Defaults {
    policy: Policy,
    typed_policy: Option<Policy>,
    policy_elsewhere: Option<Policy>,
    effort: Option<Effort>,
    budget: GivenBudget,
}

/// How a hub is set up on this ground, in front of whichever engine.
pub fn setup(engine: Engine, work_dir: &WorkDir, policy: Policy) -> Setup {
    hub_setup(engine, work_dir, Defaults { policy, ..Defaults::default() })
}

fn hub_setup(engine: Engine, work_dir: &WorkDir, defaults: Defaults) -> Setup {
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let salt = u64::from(std::process::id()) << 16 ^ u64::from(nanos.subsec_nanos());
    Setup {
        project: paths::project(work_dir),
        policy: defaults.policy,
        typed_policy: defaults.typed_policy,
        policy_elsewhere: defaults.policy_elsewhere,
        effort: defaults.effort,
        budget: defaults.budget,
        no_sandbox: status().can_hold().err(),
        ..Setup::new(engine, &path_text::write(&work_dir.cwd), salt)
    }
}

/// The store: the database that was named, else the one on disk. A database that cannot be used is an error. A file that cannot be used costs the memory of this conversation, not the conversation: why is told with it.
///
/// # Errors
/// When a conversation of it is to be gone on with.
pub fn store(launch: &Launch, log: &Log) -> anyhow::Result<(Box<dyn Store>, Option<String>)> {
    if launch.ephemeral {
        return Ok((Box::new(MemoryStore::default()), None));
    }
    if let Some(address) = store_place::database(launch)? {
        let place = address.shown().to_owned();
        let store = store_place::open(address)?;
        log(&format!("conversations are kept in {place}"));
        return Ok((Box::new(store), None));
    }
    match SqliteStore::at(&paths::data()?) {
        Ok(store) => {
            if let Some(words) = kept::not_used(store.put_away()) {
                log(&format!("warning: {words}"));
            }
            Ok((Box::new(store), None))
        }
        Err(why) => {
            let text = format!("{why}; {}", kept::next(&why));
            if launch.continue_last || launch.resume.is_some() {
                anyhow::bail!(text);
            }
            log(&format!("warning: nothing will be kept: {text}"));
            Ok((Box::new(MemoryStore::because(text.clone())), Some(text)))
        }
    }
}

/// Where what stood in files is kept. One that cannot be used costs undo and nothing else.
fn vault(data: &Path, is_ephemeral: bool, log: &Log) -> Option<Arc<dyn Vault>> {
    match crate::vault::open((!is_ephemeral).then_some(data)) {
        Ok(vault) => Some(vault),
        Err(why) => {
            log(&format!("warning: file changes cannot be undone: {why}; {}", why.hint()));
            None
        }
    }
}

fn start_with(launch: &Launch, store: &dyn Store, work_dir: &WorkDir) -> anyhow::Result<Option<Command>> {
    let session = kept::wanted(launch, store, &paths::project(work_dir))?;
    Ok(session.map(|session| Command::Library(LibraryCommand::Open { session })))
}

/// How hard the model thinks in new sessions. A model that is known not to take it is no place for it: what the command line asks for is
/// refused. Settings are for models that are known to take it: another provider may refuse a request with it.
fn effort(launch: &Launch, config: &engine::Config, source: &Source) -> anyhow::Result<Option<Effort>> {
    let thinks = source.default_thinks();
    match launch.effort {
        Some(_) if thinks == Some(false) => {
            let model = source.default_model();
            Err(usage(format!(
                "{model} has no thinking effort

hint: use another --model, or leave --effort out; if it does, say so in your settings: thinking = true in [models.\"{model}\"]"
            )))
        }
        Some(effort) => Ok(Some(effort)),
        None => Ok(config.effort.filter(|_| thinks == Some(true))),
    }
}

/// The modes of new sessions, in our folder and in those that UIs name where it is another. What the command line asks for was
/// looked at by [`refuse_mode`]; settings that ask for what cannot be had cost nothing but that.
fn policies(ground: &Ground, log: &Log) -> (Policy, Option<Policy>) {
    if let (None, Some(Policy::Sandboxed), Err(why)) = (ground.typed, ground.set, status().can_hold()) {
        log(&format!("warning: {why}; commands are asked for"));
    }
    let (here, elsewhere) = (ground.mode(None), Ground { folder: Folder::None, ..*ground }.mode(None));
    (here, Some(elsewhere).filter(|mode| *mode != here))
}

/// Why the mode that was asked for cannot be had, if so.
pub fn refuse_mode(wanted: Option<Policy>, holds: impl FnOnce() -> Result<(), String>) -> Option<String> {
    wanted.filter(|wanted| *wanted == Policy::Sandboxed).and_then(|_| holds().err())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_that_the_kernel_cannot_keep_is_refused_with_the_reason() {
        let cannot = || Err("no Landlock".to_owned());
        assert_eq!(refuse_mode(Some(Policy::Sandboxed), cannot), Some("no Landlock".to_owned()));
        assert_eq!(refuse_mode(Some(Policy::Sandboxed), || Ok(())), None);
        for mode in [None, Some(Policy::Ask), Some(Policy::Full)] {
            assert_eq!(refuse_mode(mode, cannot), None);
        }
    }
}
