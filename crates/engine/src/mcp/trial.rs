//! Trying a server once: it is started or reached, asked for its tools, and let go.

use super::approvals::Approvals;
use super::book::Listed;
use super::caches;
use super::client::{Client, ServerListener, Trouble};
use super::entry::Entry;
use super::log::ServerLog;
use super::login::Logins;
use super::process::ServerScope;
use super::tool::Offered;
use domain::port::menu::AgentCommand;
use std::path::Path;
use tokio_util::sync::CancellationToken;
use tools::sandbox::Guard;

/// What a server answered when it was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// Its own name and version; may be empty.
    pub name: String,
    pub tools: Vec<String>,
    /// As they are used: `server:prompt`, `server:uri`.
    pub prompts: Vec<AgentCommand>,
    pub resources: Vec<AgentCommand>,
    /// What it says of all its tools.
    pub instructions: Option<String>,
}

/// Starts a server there, asks for its tools and stops it again.
///
/// # Errors
/// What is wrong, in words.
pub async fn test(
    listed: &Listed,
    data: &Path,
    work_dir: &crate::WorkDir,
    guard: Option<Guard>,
) -> Result<Tested, String> {
    of(listed, data, work_dir, guard).await.map_err(|trouble| match trouble {
        Trouble::Login(_) => trouble.words(&listed.entry.name, false),
        Trouble::Broken(why) => why,
    })
}

/// As [`test`], right after a login: another one would not help.
///
/// # Errors
/// What is wrong, in words.
pub async fn lets_in(listed: &Listed, data: &Path, work_dir: &crate::WorkDir) -> Result<Tested, String> {
    of(listed, data, work_dir, None).await.map_err(|trouble| match trouble {
        Trouble::Login(_) => format!(
            "it does not accept the token that it sent us for. Whoever runs it has to look at that, or gives you a token for its entry \
             (\"headers\": {{\"Authorization\": …}}); `parlor mcp logout {}` forgets this login",
            listed.entry.name
        ),
        Trouble::Broken(why) => why,
    })
}

/// As [`test`], with what is wrong as we know it.
pub(super) async fn of(
    listed: &Listed,
    data: &Path,
    work_dir: &crate::WorkDir,
    guard: Option<Guard>,
) -> Result<Tested, Trouble> {
    let (dir, workspace) = match &work_dir.workspace {
        Ok(root) => (root.clone(), true),
        Err(_) => (work_dir.cwd.clone(), false),
    };
    let Listed { entry, from_project, .. } = listed;
    let project = from_project.then_some(dir.as_path());
    let cache = caches::folder(data, project, entry);
    let reach = listed.reach.clone().unwrap_or_default();
    let downloads = Approvals::in_data(data).take_download(project, &entry.digest);
    let stop = CancellationToken::new();
    let logins = Logins::in_data(data);
    let log = match listed.from_ui {
        true => ServerLog::default(),
        false => ServerLog::of(data, project, &entry.name),
    };
    let cwd = listed.folder.clone().unwrap_or_else(|| dir.clone());
    let from_project = *from_project;
    let scope =
        ServerScope { dir, cwd, workspace, guard, logins, from_project, reach, cache, log: log.clone() };
    log.say("begin", &entry.words());
    let tested = opened(entry, &scope, downloads, &stop).await;
    log.say("end", tested.as_ref().err().map_or("it was only tried", Trouble::word));
    log.written().await;
    tested
}

async fn opened(
    entry: &Entry,
    scope: &ServerScope,
    downloads: bool,
    stop: &CancellationToken,
) -> Result<Tested, Trouble> {
    if downloads {
        Client::download(entry, scope, stop).await?;
    }
    let log = scope.log.clone();
    let ear = ServerListener { server: entry.name.clone(), log, ..ServerListener::default() };
    let client = Client::open(entry, scope, ear, stop).await;
    let client = client.map_err(|trouble| scope.explained(entry, trouble))?;
    let (tools, beside) = (client.tools().await?, client.beside().await?);
    let (name, instructions) = (client.name(), client.instructions());
    client.end().await;
    let prompts = beside.prompts.iter().map(|prompt| prompt.command(&entry.name)).collect();
    let resources = beside.resources.iter().map(|resource| resource.mention(&entry.name)).collect();
    let tools = tools.into_iter().map(Offered::into_name).collect();
    Ok(Tested { name, instructions, tools, prompts, resources })
}
