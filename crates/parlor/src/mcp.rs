//! `parlor mcp`: the MCP servers of the person and of the project, and what each may reach. A project's servers start only after the
//! person agreed once.

mod login;
mod serve;

use crate::aloud;
use crate::exit::{self, Exit};
use crate::output;
use anyhow::Context;
use clap::{Args, Subcommand};
use domain::path_text;
use engine::WorkDir;
use engine::mcp::{self, Approvals, Entry, Listed, Logins, Reach, Way};
use host::guard;
use host::launch::Launch;
use host::paths;
use std::path::{Path, PathBuf};

/// The MCP servers there are.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor mcp add weather -- uvx weather-server\n  parlor mcp add docs --url https://docs.example.org/mcp\n  parlor mcp import\n  parlor mcp list\n  parlor mcp approve weather --network\n  parlor mcp login docs\n  parlor mcp logout docs\n  parlor mcp test weather\n  parlor mcp log weather\n  parlor mcp serve\n  parlor mcp forget weather\n  parlor mcp remove weather\n\nSee parlor help extend."
)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    what: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Which there are and whether each may start.
    List,
    /// Add one of your own: `parlor mcp add NAME -- COMMAND…`, or `parlor mcp add NAME --url URL`.
    Add {
        /// The server's name in the settings.
        name: String,
        /// Where it is reached over HTTP.
        #[arg(long, conflicts_with = "command")]
        url: Option<String>,
        #[command(flatten)]
        reach: Allowed,
        /// How it is started.
        #[arg(last = true)]
        command: Vec<String>,
    },
    /// Show the servers of Claude, Codex, Cursor and VS Code, or take some over.
    Import {
        /// Servers to take over; none shows which there are.
        names: Vec<String>,
        /// Take over all that can be used.
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
    /// Log in at one behind a URL, in your browser. The token is kept for you alone, and is sent to that server only.
    Login {
        /// The server's name in the settings.
        name: String,
    },
    /// Forget the login at one.
    Logout {
        /// The server's name in the settings.
        name: String,
    },
    /// Remove one of your own, and forget the login at it.
    Remove {
        /// The server's name in the settings.
        name: String,
    },
    /// Agree that a server may start, as it is written now, and say what it may reach beside reading: what is not named it may not.
    Approve {
        /// The server's name in the settings.
        name: String,
        #[command(flatten)]
        reach: Allowed,
    },
    /// Revoke what you allowed a server, and remove what it downloaded.
    Forget {
        /// The server's name in the settings.
        name: String,
    },
    /// Start one, ask what it offers, and let it go.
    Test {
        /// The server's name in the settings.
        name: String,
    },
    /// Show what one said lately: its stderr, its notices, when it began and how it ended.
    Log {
        /// The server's name in the settings.
        name: String,
    },
    /// Be an MCP server: other agents begin sessions here, speak in them, wait and read. Answers to questions stay yours.
    Serve,
}

/// What a server may do beside reading the project and writing in its own cache.
#[derive(Debug, Args)]
struct Allowed {
    /// It may use the network.
    #[arg(long, conflicts_with = "download")]
    network: bool,
    /// It may use the network in its next start, to download itself (npx, uvx and the like), and then no more.
    #[arg(long)]
    download: bool,
    /// It may write in the project.
    #[arg(long)]
    write: bool,
    /// It may talk to other programs on this machine by their sockets: Docker, D-Bus.
    #[arg(long)]
    programs: bool,
    /// It may write in this folder too; may be given several times.
    #[arg(long = "folder", value_name = "DIR")]
    folders: Vec<PathBuf>,
}

impl Allowed {
    fn reach(&self, bounds: &tools::Bounds) -> anyhow::Result<Reach> {
        let Allowed { network, write, programs, ref folders, .. } = *self;
        let here = |folder: &PathBuf| std::path::absolute(folder).map(|path| path_text::write(&path));
        let folders = folders.iter().map(here).collect::<Result<Vec<_>, _>>()?;
        let folders = mcp::checked(&folders, bounds).map_err(|why| anyhow::anyhow!("{why}"))?;
        Ok(Reach { network, project: write, programs, folders })
    }

    /// Keeps that the person agreed to a server and what it may reach; what that means, in words.
    fn keep(
        &self,
        data: &Path,
        project: Option<&Path>,
        entry: &Entry,
        reach: &Reach,
    ) -> anyhow::Result<String> {
        let approvals = Approvals::in_data(data);
        approvals.agree(project, &entry.digest, &entry.words(), Some(reach))?;
        if self.download {
            approvals.allow_download(project, &entry.digest)?;
        }
        let once = if self.download { "; its next start may use the network, to download it" } else { "" };
        Ok(match &entry.way {
            Way::Http { .. } => String::new(),
            Way::Child { .. } => format!("\nbeside reading it may {}{once}", may(reach)),
        })
    }
}

/// What a server may, in words that follow `may`.
fn may(reach: &Reach) -> String {
    reach.words().unwrap_or_else(|| "only write into a private cache".to_owned())
}

/// Lists, adds, removes, approves or tries servers.
pub(crate) async fn mcp(launch: &Launch, asked: Mcp) -> anyhow::Result<Exit> {
    if matches!(asked.what, Some(McpCommand::Serve)) {
        return serve::serve(launch.clone()).await;
    }
    let mut config = aloud::settings();
    let (data, work_dir) = (paths::data()?, aloud::work_dir(launch, &mut config)?);
    let (servers, troubles) = mcp::servers(&config, &data, &work_dir);
    let own = config.settings.clone().context("there is no place for settings: set PARLOR_CONFIG_DIR");
    match asked.what.unwrap_or(McpCommand::List) {
        McpCommand::List => {
            for listed in &servers {
                output::print_line(&line(listed, &data));
            }
            for (file, trouble) in &troubles {
                let name = trouble.name.as_deref().unwrap_or("the file");
                output::print_error(&format!("{}: {name}: {}", file.display(), trouble.why));
            }
            if servers.is_empty() && troubles.is_empty() {
                output::print_line(
                    "no MCP servers\n\nhint: parlor mcp add NAME -- COMMAND, or a .mcp.json in the project",
                );
            }
        }
        McpCommand::Add { name, url, reach, command } => {
            let value = match (url, command.split_first()) {
                (Some(url), _) => serde_json::json!({ "url": url }),
                (None, Some((program, args))) => serde_json::json!({ "command": program, "args": args }),
                (None, None) => {
                    return Err(exit::usage(format!(
                        "say how {name} is reached\n\nhint: --url URL, or -- COMMAND, as in parlor mcp add {} -- COMMAND",
                        domain::origin::shell_word(&name)
                    )));
                }
            };
            let is_address = |url: &str| url.starts_with("http://") || url.starts_with("https://");
            if let Some(url) = value["url"].as_str().filter(|url| !is_address(url)) {
                let shown = domain::harmless::quoted(url);
                return Err(exit::usage(format!(
                    "{shown} is not a URL\n\nhint: write it with https:// in front, as in https://example.org/mcp"
                )));
            }
            let allowed = reach.reach(&config.bounds())?;
            let entry = mcp::add(&own?, &name, &value)?;
            let means = reach.keep(&data, None, &entry, &allowed)?;
            output::print_line(&format!("added {name}, which {}{means}", entry.words()));
        }
        McpCommand::Import { names, all } => {
            import(&config, work_dir.workspace.as_deref().ok(), &servers, &names, all, own)?;
        }
        McpCommand::Remove { name } => {
            let listed = servers.iter().find(|one| one.entry.name == name && !one.from_project);
            let forgotten = listed.map(|listed| mcp::forget(&data, None, &listed.entry)).transpose();
            // Neither a folder that cannot be removed keeps a server, nor a login that cannot be found.
            let logged_out = listed.map(|listed| login::forget(&data, &listed.entry)).transpose();
            anyhow::ensure!(
                mcp::remove(&own?, &name)?,
                "there is no server {name} of yours\n\nhint: `parlor mcp list` shows which there are"
            );
            if let Err(why) = logged_out {
                output::print_error(&format!(
                    "{name} is removed; a login at its address, if there was one, is still kept: {why:#}"
                ));
            }
            forgotten?;
        }
        McpCommand::Approve { name, reach } => {
            let listed = find(&servers, &name)?;
            let project = root(&work_dir, listed)?;
            let allowed = reach.reach(&config.bounds())?;
            let means = reach.keep(&data, project, &listed.entry, &allowed)?;
            let place = if listed.from_project { " in this project" } else { "" };
            let compared = listed.compared.as_ref().map(|words| format!("\n{words}")).unwrap_or_default();
            output::print_line(&format!(
                "{name} may start{place}: {}{means}{}{compared}",
                listed.entry.words(),
                sent(listed, &data)
            ));
        }
        McpCommand::Forget { name } => {
            let listed = find(&servers, &name)?;
            let had = mcp::forget(&data, root(&work_dir, listed)?, &listed.entry)?;
            let said = if had { "your answer is forgotten" } else { "there was no answer to forget" };
            output::print_line(&format!("{name}: {said}; what it downloaded is removed"));
        }
        McpCommand::Login { name } => {
            let listed = approved(&servers, &name)?;
            return login::login(launch, listed, &data, &work_dir).await;
        }
        McpCommand::Logout { name } => {
            let had = login::forget(&data, &find(&servers, &name)?.entry)?;
            let said = if had { "the login is forgotten" } else { "no login is kept" };
            output::print_line(&format!("{name}: {said}"));
        }
        McpCommand::Test { name } => {
            let listed = approved(&servers, &name)?;
            let guard = guard::of(&config);
            let tested = mcp::test(listed, &data, &work_dir, guard).await;
            let tested = tested.map_err(|why| anyhow::anyhow!("{name}: {why}"))?;
            output::print_line(&format!("{}: {} tools", tested.name, tested.tools.len()));
            for tool in tested.tools {
                output::print_line(&format!("  {tool}"));
            }
            for prompt in &tested.prompts {
                let takes = prompt.hint.as_deref().unwrap_or_default();
                output::print_line(format!("  /{} {takes}", prompt.name).trim_end());
            }
            for resource in &tested.resources {
                output::print_line(&format!("  @{}", resource.name));
            }
            if let Some(words) = tested.instructions {
                output::print_line(&format!(
                    "It says of them, and the model reads it as its words:\n{words}"
                ));
            }
        }
        McpCommand::Log { name } => {
            let listed = find(&servers, &name)?;
            match mcp::log(&data, root(&work_dir, listed)?, &name) {
                Some(text) => output::print_line(text.trim_end()),
                None => output::print_line(&format!(
                    "{name} has said nothing that is kept\n\nhint: `parlor mcp test {name}` starts it once"
                )),
            }
        }
        // Begun before anything is read here.
        McpCommand::Serve => {}
    }
    Ok(Exit::Done)
}

/// Shows the servers of other programs, or takes some over.
fn import(
    config: &engine::Config,
    project: Option<&Path>,
    servers: &[Listed],
    names: &[String],
    all: bool,
    own: anyhow::Result<PathBuf>,
) -> anyhow::Result<()> {
    let home = config.home.as_deref().context("there is no home folder to look in: set HOME")?;
    let (found, errors) = mcp::elsewhere(home, project);
    for (file, why) in &errors {
        output::print_error(&format!("{}: {why}", path_text::write(file)));
    }
    let is_here = |name: &str| servers.iter().any(|one| !one.from_project && one.entry.name == name);
    if names.is_empty() && !all {
        for one in &found {
            let what = match &one.entry {
                Ok(_) if is_here(&one.name) => "you have one of this name already".to_owned(),
                Ok(entry) => entry.words(),
                Err(why) => format!("cannot be used here: {why}"),
            };
            output::print_line(&domain::harmless::in_line(&format!(
                "{:<20} {:<15} {what}",
                one.name, one.program
            )));
        }
        output::print_line(match found.is_empty() {
            true => "Claude, Codex, Cursor and VS Code have no servers here",
            false => "\n`parlor mcp import NAME` adds one to yours, --all all that can be used",
        });
        return Ok(());
    }
    for name in names {
        let known = found.iter().any(|one| one.name == *name);
        anyhow::ensure!(
            known,
            "no other program has a server {name}\n\nhint: `parlor mcp import` shows which there are"
        );
    }
    let own = own?;
    let mut taken: Vec<&str> = Vec::new();
    for one in &found {
        let is_wanted = all || names.contains(&one.name);
        if !is_wanted || taken.contains(&one.name.as_str()) {
            continue;
        }
        match &one.entry {
            Ok(_) if is_here(&one.name) => {
                output::print_line(&format!("{}: you have one of this name already", one.name));
            }
            Ok(_) => {
                let entry = mcp::add(&own, &one.name, &one.value)?;
                output::print_line(&format!(
                    "added {} from {}: it {}; what it may reach is asked at its first start",
                    one.name,
                    one.program,
                    entry.words()
                ));
                taken.push(&one.name);
            }
            Err(why) => output::print_error(&format!("{}: cannot be used here: {why}", one.name)),
        }
    }
    Ok(())
}

/// The project, for a server that it brought.
fn root<'a>(work_dir: &'a WorkDir, listed: &Listed) -> anyhow::Result<Option<&'a Path>> {
    match listed.from_project {
        true => work_dir.workspace.as_deref().map(Some).map_err(|why| anyhow::anyhow!("{}", why.words())),
        false => Ok(None),
    }
}

fn find<'a>(servers: &'a [Listed], name: &str) -> anyhow::Result<&'a Listed> {
    let found = servers.iter().find(|listed| listed.entry.name == name);
    found.with_context(|| format!("there is no server {name}; `parlor mcp list` shows which there are"))
}

/// One that may start.
fn approved<'a>(servers: &'a [Listed], name: &str) -> anyhow::Result<&'a Listed> {
    let listed = find(servers, name)?;
    anyhow::ensure!(
        listed.approved,
        "{name} comes from the project: agree first with `parlor mcp approve {name}`"
    );
    Ok(listed)
}

/// What of the person's is sent to a server that a project names.
fn sent(listed: &Listed, data: &Path) -> &'static str {
    let has = listed.from_project && Logins::in_data(data).has(&listed.entry, true);
    if has { mcp::SENT } else { "" }
}

fn line(listed: &Listed, data: &Path) -> String {
    let state = match (listed.entry.disabled, listed.approved) {
        (true, _) => "off",
        (false, true) => "ready to start",
        (false, false) => "waits for your consent (parlor mcp approve)",
    };
    let from = if listed.from_project { "project" } else { "yours" };
    let reach = match &listed.reach {
        _ if listed.is_behind_a_url() || !listed.approved => String::new(),
        Some(reach) => format!("; beside reading it may {}", may(reach)),
        None => "; what it may reach is asked at its next start".to_owned(),
    };
    let sent = sent(listed, data);
    format!("{:<20} {from:<8} {state:<16} {}{reach}{sent}", listed.entry.name, listed.entry.words())
}
