//! One connection to a server: opened with a deadline, listed, called, closed with everything it started.

mod offers;

use super::authorized::{self, Authorized};
use super::calls::McpCalls;
use super::elicit::{self, FormOutcome};
use super::entry::{Entry, Way};
use super::heard::Heard;
use super::log::ServerLog;
use super::login::{Challenge, Login};
use super::process::{Process, ServerScope};
use super::reach::Reach;
use super::tool::Offered;
use crate::config::CONNECT;
use models::redact;
pub(crate) use offers::Values;
use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    PaginatedRequestParams, ProgressNotificationParam, ProtocolVersion, ResourceUpdatedNotificationParam,
    UrlElicitationCapability,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RequestContext,
    RoleClient, RunningService, ServiceError,
};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransport, StreamableHttpClientTransportConfig,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tools::steering::SteeringWatch;
use tools::{Outcome, Port};

/// How long one start may take in which it downloads itself.
const DOWNLOAD: Duration = Duration::from_secs(300);
/// How long one call may take.
pub(crate) const CALL: Duration = Duration::from_secs(300);
/// Longest line of a server.
const MAX_LINE: usize = 10 * 1024 * 1024;
/// Most tools of one server.
const MAX_TOOLS: usize = 128;
/// Most pages of a list of tools.
const MAX_PAGES: usize = 32;
/// Characters of what a server says of all its tools that the model reads.
const MAX_INSTRUCTIONS: usize = 2_000;
/// The error of a server that wants the person to open an address first.
const WANTS_VISIT: i32 = -32042;
/// Characters of a server's error that a person sees.
const MAX_WORDS: usize = 500;

/// Why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It wants a login; what it said of that.
    Login(Challenge),
    /// Anything else, in words.
    Broken(String),
}

impl Trouble {
    /// What is wrong, as a log has it.
    pub(super) fn word(&self) -> &str {
        match self {
            Trouble::Login(_) => "it wants a login",
            Trouble::Broken(why) => why,
        }
    }

    /// The server's name, what is wrong, and what to do. One that a UI brought stands in no file of ours.
    pub(crate) fn words(&self, name: &str, from_ui: bool) -> String {
        match self {
            Trouble::Login(_) if from_ui => format!(
                "{name} wants a login. It came with this session: where it is set up, give it a header \
                 \"Authorization\" with a token from whoever runs it"
            ),
            Trouble::Broken(why) if from_ui => format!(
                "{name} cannot be used: {why}. It came with this session: look at how it is set up in the program that you prompt from"
            ),
            Trouble::Login(_) => format!(
                "{name} wants a login: `parlor mcp login {name}`. Where it has none, put a token from whoever runs it into its entry: \
                 \"headers\": {{\"Authorization\": \"Bearer ${{A_VARIABLE_OF_YOURS}}\"}}"
            ),
            Trouble::Broken(why) => {
                format!("{name} cannot be used: {why}. `parlor mcp test {name}` tries it again")
            }
        }
    }
}

/// Hears what a server says on its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct ServerListener {
    pub(crate) server: String,
    /// Its tools, prompts or resources have changed.
    pub(crate) changed: Arc<Notify>,
    pub(crate) calls: McpCalls,
    pub(crate) heard: Heard,
    pub(crate) log: ServerLog,
}

impl ClientHandler for ServerListener {
    fn get_info(&self) -> ClientConfig {
        let mut info = ClientConfig::default();
        info.client_info = Implementation::new("parlor", env!("CARGO_PKG_VERSION"));
        // What this handshake is for: later versions have none, and servers that know only those refuse it.
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
        info.capabilities.elicitation = Some(forms.with_url(UrlElicitationCapability::default()));
        info
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asking = async {
            match request {
                ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                    elicit::fill(&self.calls, &self.server, &message, requested_schema).await
                }
                ElicitRequestParams::UrlElicitationParams { message, url, .. } => {
                    elicit::visit(&self.calls, &self.server, &message, &url).await
                }
                _ => FormOutcome::Declined,
            }
        };
        let filled = tokio::select! {
            biased;
            () = context.ct.cancelled() => FormOutcome::Not,
            filled = asking => filled,
        };
        Ok(match filled {
            FormOutcome::In(content) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content.into())
            }
            FormOutcome::Visited => ElicitResult::new(ElicitationAction::Accept),
            FormOutcome::Declined => ElicitResult::new(ElicitationAction::Decline),
            FormOutcome::Not => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.calls.progress(progress.progress, progress.total, progress.message);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.log.say("notice", "its tools have changed");
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.log.say("notice", "its prompts have changed");
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.log.say("notice", "its resources have changed");
        self.changed.notify_one();
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.log.say("notice", &format!("the resource {} has changed", updated.uri));
        self.heard.updated(&updated.uri);
    }

    #[expect(deprecated, reason = "servers of older versions say it, and it goes into their log alone")]
    async fn on_logging_message(
        &self,
        said: rmcp::model::LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let who = said.logger.map(|logger| format!(" {logger}:")).unwrap_or_default();
        let what = said.data.as_str().map_or_else(|| said.data.to_string(), str::to_owned);
        let level = serde_json::to_value(said.level).unwrap_or_default();
        self.log.say("notice", &format!("{}{who} {what}", level.as_str().unwrap_or("log")));
    }
}

/// An open connection. Dropping it ends the server's process group.
pub(crate) struct Client {
    service: RunningService<RoleClient, ServerListener>,
    /// `None` for one behind a URL, and once it was ended.
    process: Mutex<Option<Process>>,
    /// Looks after the files that steer programs, where it may write beside some.
    watch: Option<SteeringWatch>,
    /// What it may not reach, in words that follow `may not`.
    missing: Option<String>,
}

impl Client {
    /// Starts or reaches the server and shakes hands, within [`CONNECT`] and until it is to stop.
    pub(crate) async fn open(
        entry: &Entry,
        scope: &ServerScope,
        ear: ServerListener,
        stop: &CancellationToken,
    ) -> Result<Client, Trouble> {
        Client::open_within(CONNECT, entry, scope, ear, stop).await
    }

    /// Lets it download itself: starts it once with the network, and ends it. What came of it is seen when it is started without.
    pub(crate) async fn download(
        entry: &Entry,
        scope: &ServerScope,
        stop: &CancellationToken,
    ) -> Result<(), Trouble> {
        let reach = Reach { network: true, ..scope.reach.clone() };
        let scope = ServerScope { reach, ..scope.clone() };
        let client = Client::open_within(DOWNLOAD, entry, &scope, ServerListener::default(), stop).await?;
        client.end().await;
        Ok(())
    }

    async fn open_within(
        most: Duration,
        entry: &Entry,
        scope: &ServerScope,
        ear: ServerListener,
        stop: &CancellationToken,
    ) -> Result<Client, Trouble> {
        let way = entry.in_environment(scope.from_project).map_err(Trouble::Broken)?;
        let watch = match &way {
            Way::Child { .. } => {
                SteeringWatch::begin(format!("the MCP server {}", entry.name), scope.writable()).await
            }
            Way::Http { .. } => None,
        };
        // Kept here, so that one whose start is given up is ended before what it did is looked at.
        let process = Mutex::default();
        let opening = async {
            match Client::connect(&way, scope, ear.clone(), ClientLifecycleMode::Initialize, &process).await {
                // A server that knows only the newer way to begin refuses the older one.
                Err((_, true)) => {
                    let newer =
                        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                    Client::connect(&way, scope, ear, newer, &process).await
                }
                connected => connected,
            }
        };
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => Err(Trouble::Broken("it was stopped".to_owned())),
            opened = tokio::time::timeout(most, opening) => match opened {
                Ok(connected) => connected.map_err(|(trouble, _)| trouble),
                Err(_) => Err(Trouble::Broken(format!("it did not answer within {} seconds", most.as_secs()))),
            },
        };
        let trouble = match opened {
            Ok(service) => return Ok(Client { service, process, watch, missing: scope.missing() }),
            Err(trouble) => trouble,
        };
        let started = process.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(process) = started {
            process.end().await;
        }
        let told = match watch {
            Some(watch) => watch.over().await,
            None => None,
        };
        match (trouble, told) {
            (Trouble::Broken(why), Some(told)) => Err(Trouble::Broken(format!("{why}. {told}"))),
            (trouble, _) => Err(trouble),
        }
    }

    /// The flag of an error says that the server refused this way to begin.
    async fn connect(
        way: &Way,
        scope: &ServerScope,
        ear: ServerListener,
        mode: ClientLifecycleMode,
        slot: &Mutex<Option<Process>>,
    ) -> Result<RunningService<RoleClient, ServerListener>, (Trouble, bool)> {
        match way {
            Way::Child { command, args, env } => {
                let (process, input, output) = Process::start(command, args, env, scope)
                    .map_err(|why| (Trouble::Broken(format!("{command} cannot be started: {why}")), false))?;
                slot.lock().unwrap_or_else(PoisonError::into_inner).replace(process);
                let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(MAX_LINE);
                match ear.serve_with_lifecycle(transport, mode).await {
                    Ok(service) => agreed(service),
                    Err(why) if refused(&why) => Err((failed(&why), true)),
                    Err(_) => {
                        let process = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                        let words = match process {
                            Some(mut process) => process.obituary().await,
                            None => String::new(),
                        };
                        Err((Trouble::Broken(words), false))
                    }
                }
            }
            Way::Http { url, headers, .. } => {
                let login = Login::of(way, &scope.logins);
                let transport = http(url, headers, login).map_err(|why| (Trouble::Broken(why), false))?;
                match ear.serve_with_lifecycle(transport, mode).await {
                    Ok(service) => agreed(service),
                    Err(why) => Err((failed(&why), refused(&why))),
                }
            }
        }
    }

    /// Its tools, within [`CONNECT`].
    pub(crate) async fn tools(&self) -> Result<Vec<Offered>, Trouble> {
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
            Ok(listed) => listed.map_err(|why| match challenge(&why) {
                Some(challenge) => Trouble::Login(challenge),
                None => Trouble::Broken(self.words(&why)),
            }),
            Err(_) => Err(Trouble::Broken("it did not tell its tools in time".to_owned())),
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
        let calling = async {
            let wanted = match self.service.call_tool(params.clone()).await {
                Err(ServiceError::McpError(why)) if why.code.0 == WANTS_VISIT => why,
                answer => return answer,
            };
            match elicit::visits(calls, &self.service.service().server, wanted.data.as_ref()).await {
                true => self.service.call_tool(params).await,
                false => Err(ServiceError::McpError(wanted)),
            }
        };
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

    /// Runs a call; what it does meanwhile to files that steer programs is put back, and the person is asked.
    pub(crate) async fn watched(&self, port: &Port, call: impl Future<Output = Outcome>) -> Outcome {
        match &self.watch {
            Some(watch) => watch.around(port, call).await,
            None => call.await,
        }
    }

    /// What stands beside a call that failed: its last lines on stderr, and what it may not reach.
    pub(crate) fn beside_a_failure(&self) -> String {
        // What it said before it ended stands in how that is told.
        let lines = self.process().as_ref().filter(|_| !self.is_over()).and_then(Process::last_lines);
        let lines = lines.map(|lines| format!("\n\nIts last lines on stderr:\n{lines}"));
        let missing = self.missing.as_ref().map(|missing| {
            format!("\n\n(In its sandbox it may not {missing}. If it needs that, the person can let it with /mcp.)")
        });
        lines.into_iter().chain(missing).collect()
    }

    /// Ends the server; tells the person what became of files that steer programs.
    pub(crate) async fn end(&self) -> Option<String> {
        let process = self.process().take();
        let process = process?;
        let watch = self.watch.as_ref();
        let before = match watch {
            Some(watch) => watch.told_at_the_end().await,
            None => None,
        };
        process.end().await;
        let after = match watch {
            Some(watch) => watch.over().await,
            None => None,
        };
        let told: Vec<String> = before.into_iter().chain(after).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    fn process(&self) -> MutexGuard<'_, Option<Process>> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the connection is over.
    pub(crate) fn is_over(&self) -> bool {
        self.service.peer().is_transport_closed()
    }

    /// What to tell of a server that went away.
    pub(crate) fn epitaph(&self) -> String {
        let words = self.process().as_ref().map(Process::last_words).unwrap_or_default();
        if words.is_empty() { "it ended".to_owned() } else { format!("it ended; it last said: {words}") }
    }

    /// What it says of all its tools, as much as a model reads.
    pub(crate) fn instructions(&self) -> Option<String> {
        let info = self.service.peer().peer_info()?;
        let text: String = info.instructions.as_deref()?.trim().chars().take(MAX_INSTRUCTIONS).collect();
        (!text.is_empty()).then_some(text)
    }

    /// What it calls itself, with its version; may be empty.
    pub(super) fn name(&self) -> String {
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
        let name = &self.service.service().server;
        match challenge(why) {
            Some(more) if more.wants_more() => {
                let rights = more.scope.map(|scope| format!(" ({})", short(&scope))).unwrap_or_default();
                return format!(
                    "it wants more rights{rights}. The person can give them: `parlor mcp login {name}`"
                );
            }
            Some(_) => {
                return format!("it wants a login. The person can do that: `parlor mcp login {name}`");
            }
            None => {}
        }
        match why {
            ServiceError::TransportClosed => self.epitaph(),
            // What the library calls its connections says nothing to anybody.
            ServiceError::TransportSend(why) => short(&format!("it could not be reached: {}", why.error)),
            why => short(&why.to_string()),
        }
    }
}

/// The connection, if the server speaks a version of the protocol that we know.
fn agreed(
    service: RunningService<RoleClient, ServerListener>,
) -> Result<RunningService<RoleClient, ServerListener>, (Trouble, bool)> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    let theirs = service.peer().peer_info().map(|info| info.protocol_version.clone());
    match theirs.filter(|version| !known.contains(version)) {
        None => Ok(service),
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

fn http(
    url: &str,
    headers: &std::collections::BTreeMap<String, String>,
    login: Option<Login>,
) -> Result<StreamableHttpClientTransport<Authorized>, String> {
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
    let client = Authorized { web: client, login, most: MAX_LINE };
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// What a server wants of a login, where that is why it did not take a request.
fn challenge(why: &ServiceError) -> Option<Challenge> {
    let ServiceError::TransportSend(why) = why else { return None };
    authorized::challenge(why.error.as_ref())
}

/// Whether a server that is alive refused the way we began.
fn refused(why: &ClientInitializeError) -> bool {
    matches!(why, ClientInitializeError::JsonRpcError(_))
}

fn failed(why: &ClientInitializeError) -> Trouble {
    // What is at the bottom says most; the layers above name our own parts.
    let mut cause: &dyn std::error::Error = why;
    if let ClientInitializeError::TransportError { error, .. } = why {
        if let Some(challenge) = authorized::challenge(error.error.as_ref()) {
            return Trouble::Login(challenge);
        }
        cause = error.error.as_ref();
    }
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Trouble::Broken(short(&cause.to_string()))
}

/// As much of a server's words as a person sees, without secrets.
pub(super) fn short(text: &str) -> String {
    redact(text, None).chars().take(MAX_WORDS).collect()
}
