//! The stack that every command shares: store, engine, hub.

use crate::cli::{Common, PolicyMode};
use crate::model_source::Source;
use crate::{exit, places, ps, sessions, settings};
use anyhow::Context;
use domain::command::Command;
use domain::session::{ModelRef, Policy};
use engine::{Agent, ModelSource, ORDERS, REPORTS};
use hub::core::{Engine, Setup};
use hub::{EngineSeat, Files, Hub, Log, RemoteSeat};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use store::{MemoryStore, SqliteStore, Store};
use tokio::sync::mpsc;
use tools::Toolbox;
use tools::sandbox::{Guard, came_from_command};

/// The hidden first argument that makes this program the guard of a child.
pub const GUARD: &str = "__guard";

/// A running stack with our own agent.
pub struct Own {
    /// The way in.
    pub hub: Hub,
    /// The model that a new session uses.
    pub model: ModelRef,
    /// Where the agent works.
    pub cwd: PathBuf,
    /// What a UI starts with.
    pub start: Option<Command>,
}

/// Writes log lines to stderr.
pub(crate) fn log_to_stderr() -> Log {
    Arc::new(exit::complain)
}

/// Writes log lines nowhere: the screen belongs to the UI.
pub(crate) fn no_log() -> Log {
    Arc::new(|_| {})
}

/// Starts the stack with our own agent.
pub(crate) async fn own(common: &Common, log: Log) -> anyhow::Result<Own> {
    let (data, mut config) = (places::data()?, settings::read()?);
    config.fetch.enabled |= common.fetch;
    let wanted = common.model.as_deref().or(config.model.as_deref());
    let source = Source::new(wanted).await.map_err(|why| {
        let hint = why.hint();
        anyhow::anyhow!("{why}\nhint: {hint}")
    })?;
    let model = source.default_model();
    let cwd = working_directory(common)?;
    let store = store(common, &log)?;
    let start = start_with(common, store.as_ref(), &cwd)?;
    let hub = assemble_with(Arc::new(source), store, &cwd, &data, policy(common), config, log);
    Ok(Own { hub, model, cwd, start })
}

/// Puts engine, store and hub together. `data` is where rules and long outputs are kept.
pub fn assemble_in(
    models: Arc<dyn ModelSource>,
    store: Box<dyn Store>,
    cwd: &Path,
    data: &Path,
    policy: Policy,
    log: Log,
) -> Hub {
    assemble_with(models, store, cwd, data, policy, engine::Config::default(), log)
}

/// The same, with the person's settings.
fn assemble_with(
    models: Arc<dyn ModelSource>,
    store: Box<dyn Store>,
    cwd: &Path,
    data: &Path,
    policy: Policy,
    config: engine::Config,
    log: Log,
) -> Hub {
    let (orders, ordered) = mpsc::channel(ORDERS);
    let (reports, reported) = mpsc::channel(REPORTS);
    let (toolbox, guard) = (Toolbox::standard(), guard(&config));
    let setup = engine::Setup { models, toolbox, data: data.to_owned(), guard, config };
    tokio::spawn(Agent::new(setup, reports).run(ordered));
    let files = Files { data: Some(data.to_owned()), allowed: places::save_dirs() };
    let seat = EngineSeat::Driven(orders);
    let hub = Hub::start_with(hub_setup(Engine::Driven, cwd, policy), store, seat, files, log);
    let feeding = hub.clone();
    tokio::spawn(async move { feeding.reports(reported).await });
    hub
}

/// This program as the guard of children; `None` in tests, where this program is another. Our own folders are closed to them.
pub(crate) fn guard(config: &engine::Config) -> Option<Guard> {
    let exe = std::env::current_exe().ok()?;
    if exe.file_stem()? != "parlor" {
        return None;
    }
    let ours = [settings::folder(), places::data().ok(), ps::desk::directory().ok()];
    let ours: Vec<PathBuf> = ours.into_iter().flatten().collect();
    let guard = Guard::new(&exe, &[GUARD]).hiding(&ours);
    Some(guard.also_readable(&config.sandbox.also_readable).also_writable(&config.sandbox.also_writable))
}

/// Whether whoever connects may be a UI: not what came from a command that an agent runs, which would answer for the person.
pub(crate) fn may_enter(peer: link::unix::Peer) -> bool {
    peer.pid.is_none_or(|pid| !came_from_command(GUARD, pid))
}

/// Puts a hub in front of a foreign runtime.
pub(crate) fn remote(common: &Common, seat: RemoteSeat, log: Log) -> anyhow::Result<Hub> {
    let cwd = working_directory(common)?;
    let engine = if seat.lossless { Engine::Mirrored } else { Engine::Followed };
    let setup = hub_setup(engine, &cwd, Policy::default());
    Ok(Hub::start(setup, Box::new(MemoryStore::default()), EngineSeat::Remote(Box::new(seat)), log))
}

fn hub_setup(engine: Engine, cwd: &Path, policy: Policy) -> Setup {
    let project = places::project(cwd);
    let nanos = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Setup {
        engine,
        cwd: cwd.display().to_string(),
        project: project.display().to_string(),
        policy,
        salt: u64::from(std::process::id()) << 16 ^ u64::from(nanos.subsec_nanos()),
    }
}

pub(crate) fn working_directory(common: &Common) -> anyhow::Result<PathBuf> {
    let cwd = match &common.cwd {
        Some(dir) => dir.clone(),
        None => std::env::current_dir().context("the working directory is gone")?,
    };
    cwd.canonicalize().with_context(|| format!("{} is no directory to work in", cwd.display()))
}

/// The store on disk. One that cannot be used costs the memory of this conversation, not the conversation.
fn store(common: &Common, log: &Log) -> anyhow::Result<Box<dyn Store>> {
    if common.ephemeral {
        return Ok(Box::new(MemoryStore::default()));
    }
    match SqliteStore::at(&places::data()?) {
        Ok(store) => Ok(Box::new(store)),
        Err(why) => {
            let text = format!("{why}; {}", why.hint());
            if common.continue_last || common.resume.is_some() {
                anyhow::bail!(text);
            }
            log(&format!("warning: nothing will be kept: {text}"));
            Ok(Box::new(MemoryStore::because(text)))
        }
    }
}

fn start_with(common: &Common, store: &dyn Store, cwd: &Path) -> anyhow::Result<Option<Command>> {
    let project = places::project(cwd).display().to_string();
    let session = match &common.resume {
        Some(Some(id)) => sessions::find(store, id)?,
        Some(None) => sessions::choose(store, &project)?,
        None if common.continue_last => sessions::newest(store, &project)?,
        None => return Ok(None),
    };
    Ok(Some(Command::OpenSession { session }))
}

fn policy(common: &Common) -> Policy {
    match common.policy {
        None | Some(PolicyMode::Ask) => Policy::Ask,
        Some(PolicyMode::ReadOnly) => Policy::ReadOnly,
        Some(PolicyMode::AutoEdit) => Policy::AutoEdit,
        Some(PolicyMode::Full) => Policy::Full,
    }
}
