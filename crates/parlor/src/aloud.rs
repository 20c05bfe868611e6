//! What the settings, the folder and the agent's end leave to be told, told on stderr: the commands that have no screen begin so.

use crate::output;
use domain::session::Origin;
use engine::{Config, WorkDir};
use host::launch::Launch;
use host::stack::EngineTask;
use host::{log_limit, paths, settings};
use hub::{Hub, Log};
use remote::front::LastWords;
use remote::origin;

/// The log on stderr.
pub(crate) fn log() -> Log {
    log_limit::log(output::print_error)
}

/// The settings; what is wrong with them is told.
pub(crate) fn settings() -> Config {
    let settings::AgentSettings { config, told } = settings::read();
    for what in told {
        output::print_error(&format!("warning: {what}"));
    }
    config
}

/// Where the agent works, for those who only look.
pub(crate) fn work_dir(launch: &Launch, config: &mut Config) -> anyhow::Result<WorkDir> {
    let (work_dir, told) = paths::work_dir_to_look_at(launch, config)?;
    if let Some(told) = told {
        output::print_error(&format!("warning: {told}"));
    }
    Ok(work_dir)
}

/// Remembers that a runtime was typed here. What cannot be remembered is asked for when it is started again.
pub(crate) fn remember(origin: &Origin) {
    if let Err(why) = origin::remember(origin) {
        output::print_error(&format!("note: {why:#}: you will be asked before this is started again"));
    }
}

/// What a runtime that is gone said last.
pub(crate) fn last_words(last: &LastWords) {
    last.lines().iter().for_each(|line| output::print_error(line));
}

/// Stops the hub and our agent.
pub(crate) async fn stop(engine: EngineTask, hub: &Hub) {
    if let Err(late) = engine.stop(hub).await {
        output::print_error(&format!("warning: {late}"));
    }
}
