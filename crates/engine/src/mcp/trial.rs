//! Trying a server once: it is started or reached, asked for its tools, and let go.

use super::approvals::Approvals;
use super::book::Listed;
use super::caches;
use super::client::{Client, ServerListener, Trouble};
use super::login::Logins;
use super::process::ServerScope;
use super::tool::Offered;
use std::path::Path;
use tokio_util::sync::CancellationToken;
use tools::sandbox::Guard;

/// What a server answered when it was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// Its own name and version; may be empty.
    pub name: String,
    pub tools: Vec<String>,
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
    let scope = ServerScope { dir, workspace, guard, logins, from_project: *from_project, reach, cache };
    if downloads {
        Client::download(entry, &scope, &stop).await?;
    }
    let ear = ServerListener { server: entry.name.clone(), ..ServerListener::default() };
    let client = Client::open(entry, &scope, ear, &stop).await.map_err(|trouble| scope.explained(trouble))?;
    let tools = client.tools().await?;
    let (name, instructions) = (client.name(), client.instructions());
    client.end().await;
    Ok(Tested { name, instructions, tools: tools.into_iter().map(Offered::into_name).collect() })
}
