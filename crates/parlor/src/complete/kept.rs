//! Values that are kept somewhere: sessions, models, agents and the like.

use super::Candidate;
use crate::paint;
use clap::Arg;
use host::launch::Launch;
use host::{clock, kept, model_source, paths, settings, worktrees};
use models::catalog::{account, provider_ids};
use std::sync::Arc;
use store::{Listing, SqliteStore, Store as _};

/// What the colours may be.
const THEMES: [&str; 6] = ["auto", "terminal", "dark", "light", "contrast", "plain"];
/// Sessions that are offered at most.
const SESSIONS: usize = 50;

/// The values of an argument of a command; none where it is another's to know.
pub(super) fn values(path: &[&str], arg: &Arg) -> Vec<Candidate> {
    match (path, arg.get_id().as_str()) {
        (_, "resume" | "session") | (["sessions", ..], "id" | "ids") => sessions().unwrap_or_default(),
        (_, "model") => models(),
        (["attach"], "name") => agents(),
        (["login" | "logout"], "provider") => providers(),
        (_, "worktree") | (["worktrees", ..], "name") => trees().unwrap_or_default(),
        (["mcp", ..], "name") => servers().unwrap_or_default(),
        (["serve"], "dialect") => wires(),
        (["run"], "allow") => tools(),
        (_, "theme") => bare(THEMES),
        _ => Vec::new(),
    }
}

/// Values that need no words.
fn bare<'a>(values: impl IntoIterator<Item = &'a str>) -> Vec<Candidate> {
    values.into_iter().map(|value| Candidate::new(value, "")).collect()
}

/// Those of this project, the newest first; of all where it has none.
fn sessions() -> anyhow::Result<Vec<Candidate>> {
    let data = paths::data()?;
    if !SqliteStore::is_at(&data)? {
        return Ok(Vec::new());
    }
    let store = SqliteStore::to_read(&data)?;
    let project = paths::project(&paths::work_dir(&Launch::default(), &mut settings::read().config)?);
    let of = |project: Option<String>, limit| store.list(&Listing { project, search: None, limit });
    let mut found = of(Some(project), Some(SESSIONS))?;
    if found.is_empty() {
        found = of(None, Some(SESSIONS))?;
    }
    let short = kept::shortened(&of(None, None)?);
    let now = clock::now();
    let candidate = |session: &domain::session::SessionSummary| {
        let id = short.get(&session.id).map_or(session.id.as_str(), String::as_str);
        let about = format!("{}, {}", paint::line(&session.title), paint::ago(session.updated_at, now));
        Candidate::new(id, &about)
    };
    Ok(found.iter().map(candidate).collect())
}

/// As far as they are known without asking anybody.
fn models() -> Vec<Candidate> {
    let mut names: Vec<String> = model_source::catalog().known().iter().map(ToString::to_string).collect();
    names.dedup();
    names.iter().map(|name| Candidate::new(name, "")).collect()
}

fn agents() -> Vec<Candidate> {
    let agents = remote::agents::known(&[]).agents;
    agents
        .iter()
        .map(|agent| Candidate::new(&agent.name, &format!("{}, {}", agent.title, agent.state.word())))
        .collect()
}

fn providers() -> Vec<Candidate> {
    bare(provider_ids().into_iter().filter(|id| account(id) == Some(*id)))
}

fn trees() -> anyhow::Result<Vec<Candidate>> {
    let here = paths::working_directory(&Launch::default())?;
    let git = worktrees::Git::of(&here, Arc::new(|_: &str| {}))?;
    Ok(worktrees::listed(&git).iter().map(|tree| Candidate::new(&tree.name, &tree.branch())).collect())
}

fn servers() -> anyhow::Result<Vec<Candidate>> {
    let mut config = settings::read().config;
    let place = paths::work_dir(&Launch::default(), &mut config)?;
    let (servers, _) = engine::mcp::servers(&config, &paths::data()?, &place);
    Ok(servers.iter().map(|listed| Candidate::new(&listed.entry.name, "")).collect())
}

fn wires() -> Vec<Candidate> {
    let names = dialects::ALL.iter().map(|dialect| dialect.name());
    bare(names.chain(["auto"]))
}

fn tools() -> Vec<Candidate> {
    let toolbox = ::tools::Toolbox::standard();
    bare(toolbox.names().chain(["bash:network", "bash:free", "all"]))
}
