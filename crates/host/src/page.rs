//! The server of the page, in this process. Sessions are where they are: it only leads to them.
//!
//! Invariants: the port is the same one every time as long as it is free, so that a page that stayed open finds it again; nothing is
//! opened beyond loopback that is not encrypted; both addresses of loopback are ours or none is; no secret stands in an address.

mod look_up;

pub use look_up::StartFolder;

use crate::devices::File;
use crate::directory::{self, Directory, SocketPurpose};
use crate::error::{in_words, usage};
use crate::fleet::{Gathering, act};
use crate::rooms;
use crate::{paths, peer_trust, private};
use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use domain::fleet::Status;
use domain::ids::SessionId;
use hub::Log;
use link::{Lane, Limits, LinkError, LinkIo, unix};
use look_up::KnownModels;
use serde_json::Value;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use web::{Act, Identity, NoRoom, Offered, Options, PageQuery, PageTarget, Parts, Role, Rows, Server, Tls};

/// Where the page is served unless somewhere else is named.
pub const USUAL_BIND: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// How long a process that has a session open may take to be connected to.
const REACHED_WITHIN: Duration = Duration::from_secs(5);

/// How the page is served.
#[derive(Debug, Clone)]
pub struct Serving {
    /// Without it: the port of last time, else a free one.
    pub port: Option<u16>,
    pub bind: IpAddr,
    /// Names that browsers reach it by, each as [`host_name`] takes it.
    pub hosts: Vec<String>,
    /// The files of the certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// A proxy of the person's stands before it and encrypts.
    pub behind_proxy: bool,
}

impl Serving {
    /// As the server in the background does.
    pub(crate) fn usual() -> Serving {
        Serving { port: None, bind: USUAL_BIND, hosts: Vec::new(), tls: None, behind_proxy: false }
    }
}

/// A name as browsers say it, with or without a port.
///
/// # Errors
/// When it is none: what would be one.
pub fn host_name(word: &str) -> Result<String, &'static str> {
    let (name, port) = match word.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (word, None),
    };
    let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_name = match in_brackets {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => {
            let part =
                |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            name.split('.').all(part)
        }
    };
    // What is listened on, which no browser asks for.
    if matches!(name, "0.0.0.0" | "[::]") {
        return Err(
            "this is an address to listen on: write --bind 0.0.0.0, and --host with the name that browsers use",
        );
    }
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port != 0));
    if is_name && is_port {
        Ok(word.to_owned())
    } else {
        Err("a name such as desk.lan or desk.lan:8443, without http://")
    }
}

/// Offers to pair one browser.
///
/// # Errors
/// When the system has no random numbers.
pub fn offer(server: &Server<Ways>, role: Role) -> anyhow::Result<Offered> {
    server.offer(role).context("the system has no random numbers")
}

/// A server that runs, and what whoever uses it should know.
pub struct Served {
    pub server: Server<Ways>,
    pub warning: Option<String>,
}

/// A server of this data folder; sessions begin in the folder that `begins` says.
///
/// # Errors
/// When its port is taken, its certificate cannot be read, or others could listen in.
pub async fn start(asked: &Serving, ways: Arc<Ways>, log: Log) -> anyhow::Result<Served> {
    let data = paths::data()?;
    let tls = match &asked.tls {
        Some((certificate, key)) => {
            Some(Tls::read(certificate, key).map_err(|why| usage(format!("--tls: {why}")))?)
        }
        None => None,
    };
    let encrypted = tls.is_some() || asked.behind_proxy;
    if !asked.bind.is_loopback() && !encrypted {
        let hint = "encrypt with --tls CERT KEY, say --behind-proxy where a proxy of yours does, or reach it by an SSH tunnel";
        return Err(usage(format!("{} can be reached from other machines\n\nhint: {hint}", asked.bind)));
    }
    more_descriptors();
    let (listeners, of_port) = listen(&data, asked.bind, asked.port).await?;
    remember(&data, &listeners)?;
    let (identity, of_key) = identity(&data)?;
    let warning = of_port.into_iter().chain(of_key).reduce(|port, key| format!("{port}; {key}"));
    let options = Options {
        hosts: asked.hosts.clone(),
        tls,
        behind_proxy: asked.behind_proxy,
        version: crate::version::version().to_owned(),
        log: Some(log.clone()),
    };
    let behind_proxy = asked.behind_proxy;
    let parts = Parts {
        listeners,
        rooms: ways,
        shelf: Arc::new(File::new(&data, log)),
        look: Arc::new(move |ends| peer_trust::look(ends, behind_proxy)),
        identity,
    };
    Ok(Served { server: Server::start(options, parts)?, warning })
}

/// Listens on the port that was named, else on that of last time, else on any; what the person should know of that is told with it.
async fn listen(
    data: &Path,
    ip: IpAddr,
    port: Option<u16>,
) -> anyhow::Result<(Vec<TcpListener>, Option<String>)> {
    if let Some(port) = port {
        let cannot = || format!("port {port} cannot be had; name another one with --port, or none");
        return Ok((bind(ip, port).await.with_context(cannot)?, None));
    }
    let file = data.join("web.port");
    let kept: Option<u16> = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
    let mut warning = None;
    if let Some(port) = kept.filter(|port| *port != 0) {
        match bind(ip, port).await {
            Ok(listeners) => return Ok((listeners, None)),
            Err(why) => {
                warning = Some(format!(
                    "the page's port of last time ({port}) cannot be had ({why}): pages that are still open do not find it at another \
                     one; end the program that has it, and start the page again"
                ));
            }
        }
    }
    let listeners = bind(ip, 0).await.context("no port can be had")?;
    let port = listeners.first().map(TcpListener::local_addr).transpose()?.map(|address| address.port());
    if kept.is_none()
        && let Err(why) = private::replace(&file, &format!("{}\n", port.unwrap_or_default()))
    {
        warning = Some(format!("{}; next time the port is another one", in_words(&why)));
    }
    Ok((listeners, warning))
}

/// Ports of the page that are remembered, the newest.
const PORTS_KEPT: usize = 64;

/// Writes down at which port the page is served: what a browser keeps for the page it keeps by that address, so nothing that a command
/// serves is ever led out there.
fn remember(data: &Path, listeners: &[TcpListener]) -> anyhow::Result<()> {
    let file = data.join(engine::PAGE_PORTS);
    let mut ports: Vec<String> =
        std::fs::read_to_string(&file).unwrap_or_default().lines().map(str::to_owned).collect();
    for listener in listeners {
        let port = listener.local_addr()?.port().to_string();
        ports.retain(|known| *known != port);
        ports.push(port);
    }
    let newest = ports.get(ports.len().saturating_sub(PORTS_KEPT)..).unwrap_or_default();
    private::replace(&file, &format!("{}\n", newest.join("\n")))?;
    Ok(())
}

/// Ports that are tried until one is free on both addresses of this machine.
const PORTS_TRIED: usize = 16;

/// Listens on an address; on loopback on both of its addresses, because browsers may try either, and whoever has the other one could
/// speak in our place.
async fn bind(ip: IpAddr, port: u16) -> std::io::Result<Vec<TcpListener>> {
    let other = match ip {
        IpAddr::V4(Ipv4Addr::LOCALHOST) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => IpAddr::V4(Ipv4Addr::LOCALHOST),
        _ => return Ok(vec![TcpListener::bind(SocketAddr::new(ip, port)).await?]),
    };
    let mut tries = if port == 0 { PORTS_TRIED } else { 1 };
    loop {
        let first = TcpListener::bind(SocketAddr::new(ip, port)).await?;
        tries -= 1;
        match TcpListener::bind(SocketAddr::new(other, first.local_addr()?.port())).await {
            Ok(second) => return Ok(vec![first, second]),
            // This machine has no such address, so nobody else can listen there either.
            Err(why) if why.kind() == std::io::ErrorKind::AddrNotAvailable || is_unknown_family(&why) => {
                return Ok(vec![first]);
            }
            Err(why) if tries == 0 => return Err(why),
            Err(_) => {}
        }
    }
}

fn is_unknown_family(why: &std::io::Error) -> bool {
    why.raw_os_error() == Some(rustix::io::Errno::AFNOSUPPORT.raw_os_error())
}

/// What the server is known by to pages that stay open while it is started again: kept in the data folder, where no command may read.
/// What the person should know of it is told with it.
fn identity(data: &Path) -> anyhow::Result<(Identity, Option<String>)> {
    let file = data.join("web.key");
    let text = std::fs::read_to_string(&file);
    let kept = text.as_ref().ok().and_then(|text| BASE64.decode(text.trim()).ok());
    if let Some(identity) = kept.and_then(|kept| Identity::read(&kept)) {
        return Ok((identity, closed_to_others(&file)?));
    }
    let made = Identity::make().context("the system has no random numbers")?;
    private::replace(&file, &format!("{}\n", BASE64.encode(&made)))?;
    let is_first = matches!(&text, Err(why) if why.kind() == std::io::ErrorKind::NotFound);
    let warning = (!is_first).then(|| {
        format!(
            "the page's key ({}) could not be read and is a new one: pages that are still open say that this is not your Parlor; \
             close them and pair the browsers again",
            file.display()
        )
    });
    Ok((Identity::read(&made).context("a new key cannot be read")?, warning))
}

/// Makes a file one for the person alone; says so where it was not.
fn closed_to_others(file: &Path) -> anyhow::Result<Option<String>> {
    let mode = std::fs::metadata(file)?.mode() & 0o7777;
    if mode & 0o077 == 0 {
        return Ok(None);
    }
    let closed = std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600));
    closed.with_context(|| format!("{} cannot be closed to other users", file.display()))?;
    Ok(Some(format!(
        "other users could read or change the page's key ({}, mode {mode:04o}): it is for you alone now; delete it if it may be known, \
         and start the page again",
        file.display()
    )))
}

/// A page needs two descriptors, and there may be many: as many as this system lets us have.
fn more_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum });
}

/// The ways to sessions: processes that have them open, and rooms for the others.
pub struct Ways {
    fleet: Gathering,
    /// Where processes announce themselves.
    directory: Arc<dyn Directory>,
    rooms: rooms::Rooms,
    /// Where new sessions begin.
    begins: StartFolder,
    models: KnownModels,
}

impl Ways {
    /// Those that lead to processes that are announced, and by these rooms to the others; new sessions begin in that folder.
    ///
    /// # Errors
    /// When there is no place where processes announce themselves.
    pub fn to(rooms: rooms::Rooms, begins: StartFolder) -> anyhow::Result<Ways> {
        let (fleet, directory) = (Gathering::begin()?, directory::from_anywhere()?);
        Ok(Ways { fleet, directory, rooms, begins, models: KnownModels::default() })
    }

    /// The process that has the session open as far as the fleet knows. Pages may return by the hundred: for those every process would
    /// have to be asked again and again.
    async fn known(&self, session: &SessionId) -> Option<LinkIo> {
        let rows = self.fleet.rows().borrow().clone()?;
        let row = rows.iter().find(|row| row.session.as_ref() == Some(session))?;
        let answers = match row.status {
            Status::Waiting { .. } | Status::Running | Status::Fresh | Status::Ended(_) => true,
            Status::Kept | Status::Silent | Status::OtherVersion(_) | Status::Dead => false,
        };
        let socket = self.directory.socket(row.pid.filter(|_| answers)?, SocketPurpose::Ui);
        reached(&socket).await.ok()
    }
}

async fn reached(socket: &Path) -> Result<LinkIo, LinkError> {
    unix::connect(socket, Lane::MAIN, Limits::default(), REACHED_WITHIN, peer_trust::trust).await
}

impl web::Rooms for Ways {
    fn fleet(&self) -> watch::Receiver<Option<Rows>> {
        self.fleet.rows()
    }

    async fn reach(&self, wanted: PageTarget) -> Result<LinkIo, NoRoom> {
        let wanted = match wanted {
            PageTarget::Session(session) => match self.known(&session).await {
                Some(link) => return Ok(link),
                None => rooms::RoomRequest::session(session),
            },
            PageTarget::Watched(session) => match self.known(&session).await {
                Some(link) => return Ok(link),
                None => rooms::RoomRequest { starts_none: true, ..rooms::RoomRequest::session(session) },
            },
            PageTarget::New { cwd, model, agent } => {
                let typed = cwd.map(|cwd| look_up::whole(&cwd, tools::home().as_deref()));
                let cwd = typed.map(PathBuf::from).or_else(|| self.begins.get());
                if cwd.as_deref().is_some_and(|cwd| !cwd.is_absolute()) {
                    return Err(cannot("the folder is to be named with its whole path".to_owned()));
                }
                // The model of another program's agent is its own matter.
                let model = model.filter(|_| agent.is_none());
                let flags = model.map(|model| OsString::from(format!("--model={model}")));
                let flags = flags.into_iter().collect();
                rooms::RoomRequest { agent, flags, ..rooms::RoomRequest::new_in(cwd) }
            }
        };
        let wanted = rooms::RoomRequest { own_ui: wanted.agent.is_none(), ..wanted };
        let opened = self.rooms.open(wanted).await.map_err(|why| match why {
            rooms::NoRoom::NoSuchSession(_) => NoRoom::NoSuchSession,
            rooms::NoRoom::TooMany(words) | rooms::NoRoom::CannotOpen(words) => cannot(words),
        })?;
        reached(&opened.socket).await.map_err(|why| cannot(why.to_string()))
    }

    async fn look_up(&self, query: PageQuery) -> Result<Value, String> {
        match query {
            PageQuery::Start => Ok(look_up::start(&self.begins, &self.models, self.rooms.agents()).await),
            PageQuery::Folders(beginning) => look_up::folders(beginning).await,
            PageQuery::Search(words) => look_up::search(words).await,
            PageQuery::Log(session) => look_up::log(self.rooms.log_of(&session).await).await,
        }
    }

    async fn act(&self, act: Act) -> String {
        act::act(act).await
    }
}

fn cannot(message: String) -> NoRoom {
    NoRoom::CannotOpen { message, hint: "`parlor doctor` checks the setup and suggests fixes".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_a_name_and_nothing_around_it() {
        for good in ["desk.lan", "desk.lan:8443", "127.0.0.2", "[::1]:80", "[fe80::1]", "a-b"] {
            assert_eq!(host_name(good).as_deref(), Ok(good));
        }
        for bad in ["", "http://x/", "x/", "x:0", "x:99999", ":80", "a b", "[x]:1", "a..b", "fe80::1", "x@y"]
        {
            assert!(host_name(bad).is_err(), "{bad}");
        }
    }
}
