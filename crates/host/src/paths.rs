//! Where things lie: the data directory, the environment, and the folder that the agent works in.

use crate::error::usage;
use crate::launch::Launch;
use anyhow::Context;
use domain::path_text;
use engine::{Config, WorkDir};
use std::path::{Path, PathBuf};
use tools::NoWorkspace;

/// `$XDG_DATA_HOME/parlor`, for the person alone.
pub fn data() -> anyhow::Result<PathBuf> {
    let base = match std::env::var_os("PARLOR_DATA_DIR").filter(|dir| !dir.is_empty()) {
        Some(own) => return Ok(PathBuf::from(own)),
        None => match std::env::var_os("XDG_DATA_HOME").filter(|dir| Path::new(dir).is_absolute()) {
            Some(dir) => PathBuf::from(dir),
            None => {
                let home = tools::home().context(
                    "no home folder is known; set HOME, or PARLOR_DATA_DIR to a directory of yours",
                )?;
                home.join(".local/share")
            }
        },
    };
    Ok(base.join("parlor"))
}

/// The variables of the environment that are text. Others are nothing that we read.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()))
}

/// Where UIs may save sessions to and load them from besides the project and the data directory: `PARLOR_SAVE_DIRS`, as in `PATH`, and
/// the folders that clients of a wire have for nothing else.
pub(crate) fn save_dirs() -> Vec<PathBuf> {
    let dirs = std::env::var_os("PARLOR_SAVE_DIRS").unwrap_or_default();
    let theirs = dialects::ALL.iter().filter_map(|dialect| dialect.description().habits.saves);
    let theirs =
        tools::home().into_iter().flat_map(|home| theirs.clone().map(move |folder| home.join(folder)));
    std::env::split_paths(&dirs).chain(theirs).filter(|dir| dir.is_absolute()).collect()
}

/// Where serving processes are found: `$XDG_RUNTIME_DIR/parlor`, else `run` in the data directory.
pub fn runtime() -> anyhow::Result<PathBuf> {
    // A data directory of one's own is a world of one's own.
    if std::env::var_os("PARLOR_DATA_DIR").is_none_or(|dir| dir.is_empty())
        && let Some(dir) = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| Path::new(dir).is_absolute())
    {
        return Ok(PathBuf::from(dir).join("parlor"));
    }
    Ok(data()?.join("run"))
}

/// The variable that names a workspace.
pub const WORKSPACE: &str = "PARLOR_WORKSPACE";

/// Where the agent works: the folder that was named or that we were started in, and its workspace. A folder named with `--workspace`
/// is vouched for in `config` from here on.
pub fn work_dir(launch: &Launch, config: &mut Config) -> anyhow::Result<WorkDir> {
    let named = named(launch, config).map_err(|(by, why)| {
        let hint = "name the folder of a project, below your home or elsewhere";
        usage(format!("{by} cannot be used: {why}\n\nhint: {hint}"))
    })?;
    work_dir_at(launch, config, named)
}

/// The same for those who only look: what the variable says and cannot be used is told, and costs only the workspace.
pub fn work_dir_to_look_at(
    launch: &Launch,
    config: &mut Config,
) -> anyhow::Result<(WorkDir, Option<String>)> {
    match named(launch, config) {
        Err((WORKSPACE, why)) => {
            let here = Launch { workspace: None, ..launch.clone() };
            let told = format!(
                "{WORKSPACE} cannot be used: {why}; it may be the folder of a project; nothing is taken for the workspace now"
            );
            let WorkDir { cwd, .. } = work_dir_at(&here, config, None)?;
            Ok((WorkDir { cwd, workspace: Err(why) }, Some(told)))
        }
        Ok(named) => Ok((work_dir_at(launch, config, named)?, None)),
        Err(_) => Ok((work_dir(launch, config)?, None)),
    }
}

/// The workspace that was named; else by what it was named, and why it cannot be one.
fn named(launch: &Launch, config: &mut Config) -> Result<Option<PathBuf>, (&'static str, NoWorkspace)> {
    let Some(dir) = &launch.workspace else { return Ok(None) };
    config.workspaces.push(dir.clone());
    let set = std::env::var_os(WORKSPACE).is_some_and(|set| set == *dir);
    let by = if set { WORKSPACE } else { "--workspace" };
    config.bounds().judge(dir).map(Some).map_err(|why| (by, why))
}

fn work_dir_at(launch: &Launch, config: &Config, named: Option<PathBuf>) -> anyhow::Result<WorkDir> {
    let here = std::env::current_dir();
    let cwd = match (&launch.cwd, &named) {
        (Some(dir), _) => {
            let why = |why| usage(format!("--cwd: {}: {why}\n\nhint: check the path", no_directory(dir)));
            let real = dir.canonicalize().map_err(why)?;
            if !real.is_dir() {
                return Err(usage(format!("--cwd: {}\n\nhint: name a folder", no_directory(dir))));
            }
            real
        }
        (None, Some(root)) => {
            let here = here.ok().and_then(|here| here.canonicalize().ok());
            here.filter(|here| here.starts_with(root)).unwrap_or_else(|| root.clone())
        }
        (None, None) => here.context("the working directory is gone")?,
    };
    let cwd = real(&cwd)?;
    let workspace = match named {
        Some(root) => Ok(root),
        None => config.bounds().find(&cwd),
    };
    Ok(WorkDir { cwd, workspace })
}

/// The folder that we were started in.
pub fn here() -> anyhow::Result<PathBuf> {
    real(&std::env::current_dir().context("the working directory is gone")?)
}

/// The folder that was named or that we were started in, for those who need nothing else.
pub fn working_directory(launch: &Launch) -> anyhow::Result<PathBuf> {
    match launch.cwd.as_ref().or(launch.workspace.as_ref()) {
        Some(dir) => real(dir),
        None => here(),
    }
}

fn no_directory(dir: &Path) -> String {
    format!("{} is not a folder to work in", dir.display())
}

fn real(cwd: &Path) -> anyhow::Result<PathBuf> {
    cwd.canonicalize().with_context(|| no_directory(cwd))
}

/// What sessions made there are listed under: the workspace, or where there is none the folder itself.
pub fn project(work_dir: &WorkDir) -> String {
    path_text::write(work_dir.workspace.as_deref().unwrap_or(&work_dir.cwd))
}
