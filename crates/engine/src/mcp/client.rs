//! One connection to a server: opened with a deadline, listed, called, closed with everything it started.

use super::calls::McpCalls;
use super::elicit::{self, Filled};
use super::entry::{Entry, Way};
use super::tool::Offered;
use crate::config::Config;
use models::redact;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext,
    RoleClient, RunningService, ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tools::Port;
use tools::sandbox::{Guard, Leash, handed_on};
use tools::steering::Commits;

/// How long a server may take to start and to tell its tools. Programs that are fetched first take their time.
pub(crate) const CONNECT: Duration = Duration::from_secs(30);
/// How long one call may take.
pub(crate) const CALL: Duration = Duration::from_secs(300);
/// Longest line of a server.
const MAX_LINE: usize = 10 * 1024 * 1024;
/// Most tools of one server.
const MAX_TOOLS: usize = 128;
/// Most pages of a list of tools.
const MAX_PAGES: usize = 32;
/// What is kept of a server's last words on stderr, in bytes.
const LAST_WORDS: usize = 2_000;
/// How long a server that broke off may take to end and to say why.
const LAST_BREATH: Duration = Duration::from_secs(1);
/// Characters of a server's error that a person sees.
const MAX_WORDS: usize = 500;
/// Where package runners keep what they fetched, below the home.
const CACHES: &[&str] = &[".cache", ".npm", ".local/share/uv", ".bun", ".deno", "Library/Caches"];

/// Why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It wants a login.
    Login,
    /// Anything else, in words.
    Broken(String),
}

impl Trouble {
    /// The server's name, what is wrong, and what to do. One that a UI brought stands in no file of ours.
    pub(crate) fn words(&self, name: &str, from_ui: bool) -> String {
        match self {
            Trouble::Login if from_ui => format!(
                "{name} wants a login. It came with this session: where it is set up, give it a header \
                 \"Authorization\" with a token from whoever runs it"
            ),
            Trouble::Broken(why) if from_ui => format!(
                "{name} cannot be used: {why}. It came with this session: look at how it is set up in the program that you prompt from"
            ),
            Trouble::Login => format!(
                "{name} wants a login. Get a token from whoever runs it and put it into its entry: \
                 \"headers\": {{\"Authorization\": \"Bearer ${{A_VARIABLE_OF_YOURS}}\"}}"
            ),
            Trouble::Broken(why) => {
                format!("{name} cannot be used: {why}. `parlor mcp test {name}` tries it again")
            }
        }
    }
}

/// Where a server runs.
#[derive(Debug, Clone)]
pub(crate) struct ServerGround {
    pub(crate) dir: PathBuf,
    /// Whether that is a workspace, so that it may write there.
    pub(crate) workspace: bool,
    pub(crate) guard: Option<Guard>,
    pub(crate) home: Option<PathBuf>,
    /// A project's server gets no variable of ours that might be a secret.
    pub(crate) from_project: bool,
}

/// Hears what a server says on its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ear {
    pub(crate) server: String,
    /// Its tools have changed.
    pub(crate) changed: Arc<Notify>,
    pub(crate) calls: McpCalls,
}

impl ClientHandler for Ear {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("parlor", env!("CARGO_PKG_VERSION"));
        // What this handshake is for: later versions have none, and servers that know only those refuse it.
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        info.capabilities.elicitation = Some(forms);
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let filled = tokio::select! {
            biased;
            () = context.ct.cancelled() => Filled::Not,
            filled = elicit::fill(&self.calls, &self.server, &message, requested_schema) => filled,
        };
        Ok(match filled {
            Filled::In(content) => ElicitResult::new(ElicitationAction::Accept).with_content(content.into()),
            Filled::Declined => ElicitResult::new(ElicitationAction::Decline),
            Filled::Not => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.calls.progress(progress.progress, progress.total, progress.message);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// An open connection. Dropping it ends the server's process group.
pub(crate) struct Client {
    service: RunningService<RoleClient, Ear>,
    process: Option<Process>,
}

/// The process group of a server, which does not outlive this value.
struct Process {
    group: Option<Pid>,
    /// Its guard ends everything that came from it when it is asked to stop, also what left the group.
    guarded: bool,
    words: Arc<Mutex<Vec<u8>>>,
    child: Child,
    /// Reads stderr to its end.
    listening: JoinSet<()>,
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(group) = self.group {
            // It may be gone already, which is what we want.
            let _ = kill_process_group(group, if self.guarded { Signal::TERM } else { Signal::KILL });
        }
    }
}

impl Process {
    /// What to tell of a server that never answered: how it ended and what it said.
    async fn obituary(&mut self) -> String {
        let ended = match tokio::time::timeout(LAST_BREATH, self.child.wait()).await {
            Ok(Ok(status)) => format!("it ended with {status} before it answered"),
            Ok(Err(_)) | Err(_) => "it closed its pipes before it answered".to_owned(),
        };
        let _ = tokio::time::timeout(LAST_BREATH, self.listening.join_next()).await;
        let words = self.last_words();
        if words.is_empty() { ended } else { format!("{ended}; it last said: {words}") }
    }

    fn last_words(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        short(String::from_utf8_lossy(&words).trim())
    }
}

impl Client {
    /// Starts or reaches the server and shakes hands, within [`CONNECT`].
    pub(crate) async fn open(entry: &Entry, ground: &ServerGround, ear: Ear) -> Result<Client, Trouble> {
        let variable = |name: &str| {
            let value = std::env::var(name).ok()?;
            let safe = tools::env::kept(OsStr::new(name), OsStr::new(&value));
            (safe || !ground.from_project).then_some(value)
        };
        let way = entry.filled(&variable).map_err(Trouble::Broken)?;
        let opening = async {
            match Client::connect(&way, ground, ear.clone(), ClientLifecycleMode::Initialize).await {
                // A server that knows only the newer way to begin refuses the older one.
                Err((_, true)) => {
                    let newer =
                        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                    Client::connect(&way, ground, ear, newer).await
                }
                connected => connected,
            }
        };
        match tokio::time::timeout(CONNECT, opening).await {
            Ok(connected) => connected.map_err(|(trouble, _)| trouble),
            Err(_) => Err(Trouble::Broken(format!("it did not answer within {} seconds", CONNECT.as_secs()))),
        }
    }

    /// The flag of an error says that the server refused this way to begin.
    async fn connect(
        way: &Way,
        ground: &ServerGround,
        ear: Ear,
        mode: ClientLifecycleMode,
    ) -> Result<Client, (Trouble, bool)> {
        match way {
            Way::Child { command, args, env } => {
                let mut child = start(command, args, env, ground)
                    .map_err(|why| (Trouble::Broken(format!("{command} cannot be started: {why}")), false))?;
                let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                    return Err((Trouble::Broken("it has no pipes".to_owned()), false));
                };
                let words = Arc::new(Mutex::new(Vec::new()));
                let mut listening = JoinSet::new();
                if let Some(stderr) = child.stderr.take() {
                    listening.spawn(listen(stderr, words.clone()));
                }
                let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
                let guarded = ground.guard.is_some();
                let mut process = Process { group, guarded, words, child, listening };
                let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(MAX_LINE);
                match ear.serve_with_lifecycle(transport, mode).await {
                    Ok(service) => Client { service, process: Some(process) }.agreed(),
                    Err(why) if refused(&why) => Err((failed(&why), true)),
                    Err(_) => Err((Trouble::Broken(process.obituary().await), false)),
                }
            }
            Way::Http { url, headers } => {
                let transport = http(url, headers).map_err(|why| (Trouble::Broken(why), false))?;
                match ear.serve_with_lifecycle(transport, mode).await {
                    Ok(service) => Client { service, process: None }.agreed(),
                    Err(why) => Err((failed(&why), refused(&why))),
                }
            }
        }
    }

    /// The connection, if the server speaks a version of the protocol that we know.
    fn agreed(self) -> Result<Client, (Trouble, bool)> {
        let known = ProtocolVersion::KNOWN_VERSIONS;
        let theirs = self.service.peer().peer_info().map(|info| info.protocol_version.clone());
        match theirs.filter(|version| !known.contains(version)) {
            None => Ok(self),
            Some(version) => {
                let ours: Vec<&str> = known.iter().map(ProtocolVersion::as_str).collect();
                let why = format!(
                    "it speaks the version {} of MCP, and Parlor {}; look for another version of the server or of Parlor",
                    short(version.as_str()),
                    ours.join(", ")
                );
                Err((Trouble::Broken(why), false))
            }
        }
    }

    /// Its tools, within [`CONNECT`].
    pub(crate) async fn tools(&self) -> Result<Vec<Offered>, String> {
        let listing = async {
            let (mut tools, mut cursor) = (Vec::new(), None);
            for _ in 0..MAX_PAGES {
                let mut page = PaginatedRequestParams::default();
                page.cursor = cursor;
                let listed = self.service.list_tools(Some(page)).await?;
                tools.extend(listed.tools.iter().take(MAX_TOOLS).filter_map(Offered::of));
                cursor = listed.next_cursor;
                if cursor.is_none() || tools.len() >= MAX_TOOLS {
                    break;
                }
            }
            tools.truncate(MAX_TOOLS);
            Ok::<_, ServiceError>(tools)
        };
        match tokio::time::timeout(CONNECT, listing).await {
            Ok(listed) => listed.map_err(|why| self.words(&why)),
            Err(_) => Err("it did not tell its tools in time".to_owned()),
        }
    }

    /// Calls a tool; its progress and its questions go to the port. Dropping the future tells the server that nobody waits any more.
    pub(crate) async fn call(
        &self,
        params: CallToolRequestParams,
        port: Port,
    ) -> Result<CallToolResult, String> {
        let calls = &self.service.service().calls;
        let _call = calls.begin(port);
        let calling = self.service.call_tool(params);
        tokio::pin!(calling);
        loop {
            match tokio::time::timeout(CALL, &mut calling).await {
                Ok(answer) => return answer.map_err(|why| self.words(&why)),
                // A person may take their time.
                Err(_) if calls.asks() => {}
                Err(_) => return Err(format!("it did not answer within {} seconds", CALL.as_secs())),
            }
        }
    }

    /// Whether the connection is over.
    pub(crate) fn is_over(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// What to tell of a server that went away.
    pub(crate) fn epitaph(&self) -> String {
        let words = self.process.as_ref().map(Process::last_words).unwrap_or_default();
        if words.is_empty() { "it ended".to_owned() } else { format!("it ended; it last said: {words}") }
    }

    fn name(&self) -> String {
        let info = self.service.peer().peer_info();
        let name = info.and_then(|info| serde_json::to_value(info.as_ref()).ok());
        let text = |key: &str| {
            name.as_ref().and_then(|info| info.get("serverInfo")?.get(key)?.as_str().map(str::to_owned))
        };
        match (text("name"), text("version")) {
            (Some(name), Some(version)) => format!("{name} {version}"),
            (Some(name), None) => name,
            _ => String::new(),
        }
    }

    fn words(&self, why: &ServiceError) -> String {
        match why {
            ServiceError::TransportClosed => self.epitaph(),
            why => short(&why.to_string()),
        }
    }
}

fn start(
    command: &str,
    args: &[String],
    env: &std::collections::BTreeMap<String, String>,
    ground: &ServerGround,
) -> std::io::Result<Child> {
    let mut child: Command = match &ground.guard {
        Some(guard) => {
            let caches = ground.home.iter().flat_map(|home| CACHES.iter().map(move |cache| home.join(cache)));
            let workspace = ground.workspace.then(|| ground.dir.clone());
            let writable = workspace.iter().cloned().chain(caches).collect();
            let (locked, pinned) =
                workspace.map_or_else(Default::default, |root| tools::steering::locks(&root, Commits::Not));
            // Talking to the world, and to Docker and the like, is what many servers are for, and the person agreed to this one.
            let leash = Leash { writable, locked, pinned, network: true, sockets: true, ..Leash::default() };
            guard.command(OsStr::new(command), &leash).into()
        }
        None => Command::new(command),
    };
    child
        .args(args)
        .current_dir(&ground.dir)
        .env_clear()
        .envs(variables(env, ground.guard.is_some()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    child.spawn()
}

/// What a server knows: of our environment what is no secret, and what its entry says.
fn variables(entry: &std::collections::BTreeMap<String, String>, guarded: bool) -> Vec<(OsString, OsString)> {
    let mut all = tools::env::cleaned(std::env::vars_os());
    all.extend(entry.iter().map(|(name, value)| (name.into(), value.into())));
    if guarded { handed_on(all).collect() } else { all }
}

/// Drains stderr, so that a talkative server never waits, and keeps its last words.
async fn listen(mut stderr: ChildStderr, words: Arc<Mutex<Vec<u8>>>) {
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend_from_slice(chunk.get(..count).unwrap_or_default());
        let excess = words.len().saturating_sub(LAST_WORDS);
        words.drain(..excess);
    }
}

fn http(
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    // Another part of the program may have installed a provider before; any will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(0)
        .build()
        .map_err(|why| format!("no HTTP client: {why}"))?;
    let mut custom = HashMap::new();
    for (name, value) in headers {
        let wrong = |_| format!("the header {name} cannot be sent");
        let value = reqwest::header::HeaderValue::from_str(value).map_err(|_| wrong(()))?;
        let name = reqwest::header::HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong(()))?;
        custom.insert(name, value);
    }
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(custom)
        .max_sse_event_size(MAX_LINE);
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Whether a server that is alive refused the way we began.
fn refused(why: &ClientInitializeError) -> bool {
    matches!(why, ClientInitializeError::JsonRpcError(_))
}

fn failed(why: &ClientInitializeError) -> Trouble {
    if why.is_authorization_required() || why.auth_challenge().is_some() {
        return Trouble::Login;
    }
    // What is at the bottom says most; the layers above name our own parts.
    let mut cause: &dyn std::error::Error = why;
    if let ClientInitializeError::TransportError { error, .. } = why {
        cause = error.error.as_ref();
    }
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Trouble::Broken(short(&cause.to_string()))
}

fn short(text: &str) -> String {
    redact(text, None).chars().take(MAX_WORDS).collect()
}

/// What a server answered when it was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tested {
    /// Its own name and version; may be empty.
    pub name: String,
    pub tools: Vec<String>,
}

/// Starts a server there, asks for its tools and stops it again.
///
/// # Errors
/// What is wrong, in words.
pub async fn test(
    entry: &Entry,
    from_project: bool,
    config: &Config,
    ground: &crate::Ground,
    guard: Option<Guard>,
) -> Result<Tested, String> {
    let (dir, workspace) = match &ground.workspace {
        Ok(root) => (root.clone(), true),
        Err(_) => (ground.cwd.clone(), false),
    };
    let ground = ServerGround { dir, workspace, guard, home: config.home.clone(), from_project };
    let client = Client::open(entry, &ground, Ear::default()).await.map_err(|trouble| match trouble {
        Trouble::Login => trouble.words(&entry.name, false),
        Trouble::Broken(why) => why,
    })?;
    let tools = client.tools().await?;
    Ok(Tested { name: client.name(), tools: tools.into_iter().map(Offered::into_name).collect() })
}
