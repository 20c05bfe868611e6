//! The servers of each project and how they are. Started in the background, looked at by turns and lists.

mod wanted;

pub(crate) use wanted::{NamedPrompt, Offers, ServerNotes, offered_before};

use super::approvals::Approvals;
use super::beside::BesideTools;
use super::book::{self, Listed};
use super::caches;
use super::card::{Card, CardFile};
use super::client::{Client, ServerListener, Trouble};
use super::heard::Heard;
use super::link::Link;
use super::log::ServerLog;
use super::login::{LoginStamp, Logins};
use super::process::ServerScope;
use super::question::ServerConsent;
use super::reach::Reach;
use super::tool::RemoteTool;
use crate::config::{CONNECT, Config};
use domain::given_server::GivenServer;
use domain::ids::Millis;
use domain::session::{ServerEntry, ServerState};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tools::Tool;
use tools::sandbox::Guard;

/// Most servers that the model is told to be missing by name.
const MAX_NAMED: usize = 16;
/// A server that broke is not started again before this.
const AGAIN_AFTER: Duration = Duration::from_secs(30);
/// A server that says that its tools changed is asked for them again no sooner than this.
const LIST_AGAIN: Duration = Duration::from_secs(1);
/// How often a connection is looked at that may have ended silently.
const LOOK: Duration = Duration::from_secs(2);
/// How long the end of the agent waits for connections to end; then they are dropped.
const END_WITHIN: Duration = Duration::from_secs(2);

/// All servers, by project. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Servers(Arc<SharedServers>);

struct SharedServers {
    config: Config,
    data: PathBuf,
    guard: Option<Guard>,
    projects: Mutex<BTreeMap<Site, Arc<Project>>>,
    stop: CancellationToken,
    tasks: Mutex<JoinSet<()>>,
}

/// The place in which a project's servers are started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Site {
    /// Their working directory: the workspace, or where there is none the session's folder.
    dir: PathBuf,
    /// Whether it is a workspace: they may write in it, and its own servers count.
    workspace: bool,
    /// Folders on the way to where the session works that have servers of their own, the nearest first.
    folders: Vec<PathBuf>,
    /// What a UI brought along: sessions with others have servers of their own.
    given: Vec<GivenServer>,
}

impl Site {
    pub(crate) fn new(workspace: Option<&Path>, cwd: &Path) -> Site {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let dir = real(workspace.unwrap_or(cwd));
        let folders = if workspace.is_some() { book::nested(&dir, &real(cwd)) } else { Vec::new() };
        Site { dir, workspace: workspace.is_some(), folders, given: Vec::new() }
    }

    /// The same place with servers that a UI brought along.
    #[must_use]
    pub(crate) fn with(self, given: &[GivenServer]) -> Site {
        Site { given: given.to_vec(), ..self }
    }

    fn workspace(&self) -> Option<&Path> {
        self.workspace.then_some(&self.dir)
    }
}

/// The servers of one project.
pub(crate) struct Project {
    site: Site,
    servers: Mutex<Vec<Arc<Server>>>,
    /// What the person is to hear of servers that ended.
    news: Mutex<Vec<String>>,
    /// Rises whenever a server changes.
    changes: watch::Sender<u64>,
    /// Digests that the person was asked about already, and troubles that were told.
    asked: Mutex<Vec<String>>,
    all: Servers,
}

struct Server {
    listed: Listed,
    status: Mutex<Status>,
    /// Its connection, while there is one.
    link: watch::Sender<Link>,
    /// Where what it told of itself last is kept.
    card_file: Option<CardFile>,
    /// What stood there when this began.
    card: Option<Card>,
    /// Changes of its resources.
    heard: Heard,
    log: ServerLog,
    stop: CancellationToken,
}

#[derive(Default)]
struct Status {
    phase: Phase,
    /// Whether the person heard of the trouble it is in.
    told: bool,
    /// Whether the person heard that it takes its time.
    told_slow: bool,
    /// Whether a turn has waited for it in vain: none does so again.
    waited: bool,
    /// Whether nobody was there who could have said what it may reach.
    unattended: bool,
    tools: Vec<Arc<RemoteTool>>,
    beside: BesideTools,
    connected_at: Option<Millis>,
    /// Which logins were kept when it last ended: with others it may be let in.
    logins: LoginStamp,
    ended: Option<Instant>,
}

#[derive(Default, Clone, PartialEq, Eq)]
enum Phase {
    /// Nobody has needed it yet.
    #[default]
    Idle,
    /// Its tools are known and offered; it starts when the first answer is there.
    Known,
    Connecting,
    Ready,
    Broken(Trouble),
}

impl Server {
    fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tools of a card, in an order that stays; what the server says of all of them stands with the first.
    fn tools_of(&self, card: &Card) -> Vec<Arc<RemoteTool>> {
        let (name, believed) = (&self.listed.entry.name, !self.listed.from_project);
        let mut tools = card.tools.clone();
        tools.sort_by(|one, other| one.name().cmp(other.name()));
        if let (Some(words), Some(first)) = (&card.instructions, tools.first_mut()) {
            *first = first.clone().said_by(name, words);
        }
        let remote = |tool| Arc::new(RemoteTool::new(name, tool, self.link.subscribe(), believed));
        tools.into_iter().map(remote).collect()
    }

    fn may_start(&self) -> bool {
        self.listed.approved && !self.listed.entry.disabled
    }

    /// `held`: whether there is a sandbox that keeps it to what it may reach.
    fn entry(&self, held: bool) -> ServerEntry {
        let status = self.status();
        let is_held = held && !self.listed.is_behind_a_url();
        let waits =
            is_held && self.listed.reach.is_none() && !status.unattended && status.phase == Phase::Idle;
        let state = match &status.phase {
            _ if !self.may_start() || waits => ServerState::Disabled,
            Phase::Idle | Phase::Known | Phase::Connecting => ServerState::Connecting,
            Phase::Ready => ServerState::Ready,
            Phase::Broken(Trouble::Login(_)) => ServerState::AuthRequired,
            Phase::Broken(Trouble::Broken(why)) => ServerState::Failed(why.clone()),
        };
        ServerEntry {
            id: self.listed.entry.name.clone(),
            http: self.listed.is_behind_a_url(),
            from_project: self.listed.from_project,
            state,
            tools: (status.phase == Phase::Ready).then_some(status.tools.len() as u64),
            connected_at: status.connected_at,
            reach: (is_held && self.may_start())
                .then(|| self.listed.reach.clone().unwrap_or_default().into()),
        }
    }
}

impl Servers {
    pub(crate) fn new(config: Config, data: PathBuf, guard: Option<Guard>) -> Servers {
        let (projects, stop, tasks) = (Mutex::default(), CancellationToken::new(), Mutex::default());
        Servers(Arc::new(SharedServers { config, data, guard, projects, stop, tasks }))
    }

    /// The project's servers, as its files say now. Starts nothing. Reads files: call where blocking is allowed.
    pub(crate) fn project(&self, site: &Site) -> Arc<Project> {
        let mut projects = self.0.projects.lock().unwrap_or_else(PoisonError::into_inner);
        // Read with the lock held: what was read before an approval must not be taken after it, which would end what has just started.
        let (written, _) = book::servers_in(&self.0.config, &self.0.data, site.workspace(), &site.folders);
        let mut listed = book::given(&site.given).0;
        // What was chosen for this session leads.
        let is_free = |one: &Listed| !listed.iter().any(|given| given.entry.name == one.entry.name);
        let rest: Vec<Listed> = written.into_iter().filter(is_free).collect();
        listed.extend(rest);
        let project = projects.entry(site.clone()).or_insert_with(|| {
            Arc::new(Project {
                site: site.clone(),
                servers: Mutex::default(),
                news: Mutex::default(),
                changes: watch::Sender::new(0),
                asked: Mutex::default(),
                all: self.clone(),
            })
        });
        project.take(listed);
        project.clone()
    }

    /// The session for which a UI brought servers is over: they end.
    pub(crate) fn let_go(&self, site: &Site) {
        let mut projects = self.0.projects.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(project) = projects.remove(site) {
            project.take(Vec::new());
        }
    }

    /// Starts something that is to be over when the servers are.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }

    /// Ends the servers of all projects, and waits for them.
    pub(crate) async fn stop(&self) {
        self.0.stop.cancel();
        self.0.projects.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let mut tasks = std::mem::take(&mut *self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        let over = async { while tasks.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(END_WITHIN, over).await;
    }
}

impl Project {
    /// Where its servers are started.
    pub(crate) fn site(&self) -> &Site {
        &self.site
    }

    fn servers(&self) -> Vec<Arc<Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the files say now: what is unchanged goes on, what is gone or different ends.
    fn take(&self, listed: Vec<Listed>) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::take(&mut *servers);
        for listed in listed {
            let same = old.iter().find(|server| server.listed == listed);
            servers.push(same.cloned().unwrap_or_else(|| {
                let (stop, link) = (self.all.0.stop.child_token(), watch::Sender::default());
                // Of what a UI brought for one session nothing is written down.
                let card_file = (!listed.from_ui)
                    .then(|| CardFile::of(&self.all.0.data, self.root(&listed), &listed.entry.digest));
                let may_start = listed.approved && !listed.entry.disabled;
                let card = card_file.as_ref().filter(|_| may_start).and_then(CardFile::read);
                let log = match listed.from_ui {
                    true => ServerLog::default(),
                    false => ServerLog::of(&self.all.0.data, self.root(&listed), &listed.entry.name),
                };
                let status = Status {
                    // Known from before, so that menus are whole before it has answered.
                    beside: card.as_ref().map(|card| card.beside.clone()).unwrap_or_default(),
                    ..Status::default()
                };
                let (status, heard) = (Mutex::new(status), Heard::default());
                Arc::new(Server { listed, status, link, card_file, card, heard, log, stop })
            }));
        }
        for gone in old.iter().filter(|server| !servers.iter().any(|kept| Arc::ptr_eq(kept, server))) {
            gone.stop.cancel();
        }
    }

    /// Whether the person is still to say what a server may reach; until then it is not started where somebody can be asked.
    pub(crate) fn is_open(&self, listed: &Listed) -> bool {
        listed.reach.is_none() && self.all.0.guard.is_some() && !listed.is_behind_a_url()
    }

    /// Starts what may start and does not run, in the background; those of which nobody has said what they may reach only where
    /// nobody is there to say it, and then they reach nothing. Those whose tools are known are offered, and wait for
    /// [`Project::start_known`]. Must be called inside a runtime.
    pub(crate) fn start(self: &Arc<Project>, attended: bool) {
        for server in self.servers().into_iter().filter(|server| server.may_start()) {
            let mut status = server.status();
            status.unattended |= !attended;
            if self.is_open(&server.listed) && !status.unattended {
                continue;
            }
            let due = match status.phase {
                Phase::Idle => true,
                Phase::Known | Phase::Connecting | Phase::Ready => false,
                Phase::Broken(Trouble::Login(_)) if status.logins != self.logins().stamp() => true,
                Phase::Broken(_) => status.ended.is_none_or(|ended| ended.elapsed() >= AGAIN_AFTER),
            };
            match &server.card {
                Some(card) if due && status.phase == Phase::Idle => {
                    status.tools = server.tools_of(card);
                    status.phase = Phase::Known;
                }
                _ if due => self.connect(&server, status),
                _ => {}
            }
        }
    }

    /// Starts those whose tools are known: what they take of the machine no longer keeps the first answer waiting. Must be called inside
    /// a runtime.
    pub(crate) fn start_known(self: &Arc<Project>) {
        for server in self.servers() {
            let status = server.status();
            if status.phase == Phase::Known {
                self.connect(&server, status);
            }
        }
    }

    fn connect(self: &Arc<Project>, server: &Arc<Server>, mut status: MutexGuard<'_, Status>) {
        status.phase = Phase::Connecting;
        server.link.send_replace(Link::Coming);
        drop(status);
        self.all.spawn(keep(server.clone(), self.clone()));
    }

    /// The servers that are just starting, without those that a turn has waited for in vain.
    pub(crate) fn starting(&self) -> Starting {
        let changes = self.changes.subscribe();
        let due = |server: &Arc<Server>| {
            let status = server.status();
            status.phase == Phase::Connecting && status.tools.is_empty() && !status.waited
        };
        let all: Vec<Arc<Server>> = self.servers().into_iter().filter(due).collect();
        Starting { open: all.clone(), all, changes }
    }

    /// What the model is told of servers whose tools it does not have. Only names of ours and no word of a server: this stands where
    /// instructions stand.
    pub(crate) fn missing(&self) -> Option<String> {
        let of = |server: Arc<Server>| {
            let status = server.status();
            let why = match &status.phase {
                Phase::Connecting if !status.tools.is_empty() => return None,
                Phase::Connecting => "still starting, its tools join when it has answered",
                Phase::Broken(Trouble::Login(_)) => "it wants a login",
                Phase::Broken(Trouble::Broken(_)) => "it could not be started or has ended",
                Phase::Idle | Phase::Known | Phase::Ready => return None,
            };
            Some(format!("{} ({why})", server.listed.entry.name))
        };
        let mut all: Vec<String> =
            self.servers().into_iter().filter(|server| server.may_start()).filter_map(of).collect();
        let more = all.len().saturating_sub(MAX_NAMED);
        all.truncate(MAX_NAMED);
        if more > 0 {
            all.push(format!("{more} more"));
        }
        (!all.is_empty()).then(|| format!("MCP servers whose tools are not there now: {}.", all.join(", ")))
    }

    /// The tools that can be used now, with the name of their server.
    pub(crate) fn tools(&self) -> Vec<(String, Arc<dyn Tool>)> {
        let mut tools: Vec<(String, Arc<dyn Tool>)> = Vec::new();
        for server in self.servers() {
            for tool in &server.status().tools {
                tools.push((server.listed.entry.name.clone(), tool.clone()));
            }
        }
        tools
    }

    /// What the person has not heard yet of servers that cannot be used, with what to do about it.
    pub(crate) fn troubles(&self) -> Vec<String> {
        let trouble = |server: &Arc<Server>| {
            let mut status = server.status();
            let Listed { entry, from_ui, .. } = &server.listed;
            let (words, told) = match &status.phase {
                Phase::Broken(trouble) => (trouble.words(&entry.name, *from_ui), &mut status.told),
                // Who chose it for this session misses its tools in the first answer.
                Phase::Connecting if *from_ui && status.tools.is_empty() => {
                    let most = CONNECT.as_secs();
                    let words = format!(
                        "{} is still starting: its tools are missing until it has answered, for which it has {most} s",
                        entry.name
                    );
                    (words, &mut status.told_slow)
                }
                Phase::Idle | Phase::Known | Phase::Connecting | Phase::Ready => return None,
            };
            (!std::mem::replace(told, true)).then(|| format!("The MCP server {words}"))
        };
        let news = std::mem::take(&mut *self.news.lock().unwrap_or_else(PoisonError::into_inner));
        self.servers().iter().filter_map(trouble).chain(news).collect()
    }

    /// What the person has not heard yet of servers that a UI brought and that cannot be read.
    pub(crate) fn unusable(&self) -> Vec<String> {
        let mut told = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let wrong = book::given(&self.site.given).1.into_iter();
        let words = wrong.map(|error| format!("An MCP server of this session is left out: {error}"));
        let news: Vec<String> = words.filter(|words| !told.contains(words)).collect();
        told.extend(news.iter().cloned());
        news
    }

    /// How the servers are.
    pub(crate) fn list(&self) -> Vec<ServerEntry> {
        self.servers().iter().map(|server| server.entry(self.all.0.guard.is_some())).collect()
    }

    /// The servers that wait for a word of the person, each time only those that nobody was asked about yet.
    pub(crate) fn unasked(&self) -> Vec<Listed> {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let servers = self.servers().into_iter().map(|server| server.listed.clone());
        let waiting: Vec<Listed> = servers
            .filter(|listed| {
                let waits = !listed.approved || self.is_open(listed);
                waits && !listed.entry.disabled && !asked.contains(&listed.entry.digest)
            })
            .collect();
        asked.extend(waiting.iter().map(|listed| listed.entry.digest.clone()));
        waiting
    }

    /// The person agreed to these, without a word on what they may reach. Writes a file: call where blocking is allowed.
    pub(crate) fn approve(&self, agreed: &[Listed]) -> std::io::Result<()> {
        agreed.iter().try_for_each(|listed| self.agree(listed, None))
    }

    /// The person said what this one may reach. Writes a file: call where blocking is allowed.
    pub(crate) fn let_reach(&self, listed: &Listed, said: &ServerConsent) -> std::io::Result<()> {
        self.agree(listed, Some(&said.reach))?;
        match said.download {
            true => self.approvals().allow_download(self.root(listed), &listed.entry.digest),
            false => Ok(()),
        }
    }

    fn agree(&self, listed: &Listed, reach: Option<&Reach>) -> std::io::Result<()> {
        let Listed { entry, .. } = listed;
        self.approvals().agree(self.root(listed), &entry.digest, &entry.words(), reach)
    }

    /// A server by its name, as it is listed.
    pub(crate) fn named(&self, name: &str) -> Option<Listed> {
        self.servers().iter().map(|server| &server.listed).find(|listed| listed.entry.name == name).cloned()
    }

    fn logins(&self) -> Logins {
        Logins::in_data(&self.all.0.data)
    }

    fn approvals(&self) -> Approvals {
        Approvals::in_data(&self.all.0.data)
    }

    /// The project, for a server that it brought.
    fn root(&self, listed: &Listed) -> Option<&Path> {
        listed.from_project.then_some(&self.site.dir)
    }

    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn scope(&self, listed: &Listed, log: ServerLog) -> ServerScope {
        let SharedServers { guard, data, .. } = &*self.all.0;
        let Site { dir, workspace, .. } = self.site.clone();
        ServerScope {
            cache: caches::folder(data, self.root(listed), &listed.entry),
            cwd: listed.folder.clone().unwrap_or_else(|| dir.clone()),
            log,
            dir,
            workspace,
            guard: guard.clone(),
            logins: self.logins(),
            from_project: listed.from_project,
            reach: listed.reach.clone().unwrap_or_default(),
        }
    }

    /// Whether this start of a server is the one in which it downloads itself.
    async fn takes_download(&self, listed: &Listed) -> bool {
        let (approvals, root) = (self.approvals(), self.root(listed).map(Path::to_owned));
        let digest = listed.entry.digest.clone();
        let take = move || approvals.take_download(root.as_deref(), &digest);
        tokio::task::spawn_blocking(take).await.unwrap_or(false)
    }
}

/// Servers that are just starting.
pub(crate) struct Starting {
    all: Vec<Arc<Server>>,
    /// Those that neither answered nor failed, as far as was looked.
    open: Vec<Arc<Server>>,
    changes: watch::Receiver<u64>,
}

/// A server that is no longer starting.
pub(crate) struct Started {
    pub(crate) name: String,
    /// How many tools it has; `None` when it failed.
    pub(crate) tools: Option<usize>,
}

impl Starting {
    /// The names of those that are still starting.
    pub(crate) fn names(&self) -> Vec<&str> {
        self.open.iter().map(|server| server.listed.entry.name.as_str()).collect()
    }

    /// The next that has answered or failed; `None` once all have.
    pub(crate) async fn next(&mut self) -> Option<Started> {
        loop {
            let over = |server: &Arc<Server>| server.status().phase != Phase::Connecting;
            if let Some(at) = self.open.iter().position(over) {
                let server = self.open.remove(at);
                let status = server.status();
                let tools = (status.phase == Phase::Ready).then_some(status.tools.len());
                return Some(Started { name: server.listed.entry.name.clone(), tools });
            }
            if self.open.is_empty() || self.changes.changed().await.is_err() {
                return None;
            }
        }
    }

    /// They were waited for: no turn does so again for those that are not there.
    pub(crate) fn were_waited_for(self) {
        for server in self.all {
            let mut status = server.status();
            status.waited = status.phase != Phase::Ready;
        }
    }
}

/// The life of one connection, from its start to its end.
async fn keep(server: Arc<Server>, project: Arc<Project>) {
    // Looked at before it is tried: a login meanwhile is another one.
    let logins = project.logins().stamp();
    let trouble = live(&server, &project).await;
    let why = trouble.word().to_owned();
    server.log.say("end", &why);
    let never_was = {
        let mut status = server.status();
        let was = std::mem::replace(&mut status.phase, Phase::Broken(trouble));
        status.tools.clear();
        status.beside = BesideTools::default();
        (status.ended, status.logins) = (Some(Instant::now()), logins);
        was == Phase::Connecting && !server.stop.is_cancelled()
    };
    if let Some(file) = server.card_file.clone().filter(|_| never_was && server.card.is_some()) {
        let _ = tokio::task::spawn_blocking(move || file.remove()).await;
    }
    if let Link::Open { client, .. } = server.link.send_replace(Link::Over(why))
        && let Some(told) = client.end().await
    {
        project.news.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }
    server.log.written().await;
    project.changed();
}

async fn live(server: &Server, project: &Project) -> Trouble {
    let (listed, stop) = (&server.listed, &server.stop);
    let (entry, scope) = (&listed.entry, project.scope(listed, server.log.clone()));
    let mut downloaded = Ok(());
    if project.takes_download(listed).await {
        downloaded = Client::download(entry, &scope, stop).await;
    }
    let (heard, log) = (server.heard.clone(), server.log.clone());
    let ear = ServerListener { server: entry.name.clone(), heard, log, ..ServerListener::default() };
    server.log.say("begin", &entry.words());
    let client = match Client::open(entry, &scope, ear.clone(), stop).await {
        Ok(client) => Arc::new(client),
        // Where it could not download itself, that is why.
        Err(trouble) => return scope.explained(entry, downloaded.err().unwrap_or(trouble)),
    };
    server.link.send_replace(Link::Open { client: client.clone(), tools: None });
    tokio::select! {
        biased;
        () = stop.cancelled() => Trouble::Broken("it was stopped".to_owned()),
        trouble = serve(server, project, &client, &ear) => trouble,
    }
}

/// Keeps the list of its tools, until it goes away.
async fn serve(server: &Server, project: &Project, client: &Arc<Client>, ear: &ServerListener) -> Trouble {
    let mut known = server.card.clone();
    let mut listening = Listening::default();
    for uri in server.heard.uris() {
        client.subscribe(&uri).await;
    }
    loop {
        let tools = match client.tools().await {
            Ok(tools) => tools,
            Err(trouble) => return trouble,
        };
        let beside = match client.beside().await {
            Ok(beside) => beside,
            Err(trouble) => return trouble,
        };
        let card = Card { tools, instructions: client.instructions(), beside };
        if let Some(file) = server.card_file.clone().filter(|_| known.as_ref() != Some(&card)) {
            let card = card.clone();
            let _ = tokio::task::spawn_blocking(move || file.write(&card)).await;
        }
        {
            let mut status = server.status();
            status.tools = server.tools_of(&card);
            status.beside = card.beside.clone();
            status.phase = Phase::Ready;
            (status.told, status.told_slow, status.waited) = (false, false, false);
            status.connected_at = Some(now());
        }
        // Calls that wait for it are decided on by this.
        let tools = Some(card.tools.clone().into());
        server.link.send_replace(Link::Open { client: client.clone(), tools });
        known = Some(card);
        project.changed();
        server.log.written().await;
        tokio::time::sleep(LIST_AGAIN).await;
        // Until what it offers changes; a server that went away is noticed soon.
        while tokio::time::timeout(LOOK, changed(server, client, ear, &mut listening)).await.is_err() {
            if client.is_over() {
                return Trouble::Broken(client.epitaph());
            }
            server.log.written().await;
        }
    }
}

/// The stream of changes of a server that tells them only when it is asked, and for which resources.
#[derive(Default)]
struct Listening {
    stream: Option<rmcp::service::Subscription>,
    uris: Vec<String>,
    /// Whether it was asked already: one that ended is not asked again.
    asked: bool,
}

/// Waits until what a server offers has changed.
async fn changed(server: &Server, client: &Client, ear: &ServerListener, listening: &mut Listening) {
    let uris = server.heard.uris();
    if !listening.asked || listening.uris != uris {
        (listening.asked, listening.uris) = (true, uris.clone());
        listening.stream = client.listen(&uris).await;
    }
    let Some(stream) = &mut listening.stream else { return ear.changed.notified().await };
    loop {
        tokio::select! {
            biased;
            () = ear.changed.notified() => return,
            goes_on = client.hear(stream) => if !goes_on {
                listening.stream = None;
                return ear.changed.notified().await;
            },
        }
    }
}

fn now() -> Millis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
