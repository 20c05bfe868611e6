//! `parlor web`: the page in a browser, from the server in the background where one runs, else from one of this process. Sessions are
//! where they are: this only leads to them.
//!
//! Invariants: the port is the same one every time as long as it is free, because a browser keeps its key by host and port; nothing is
//! opened beyond loopback that is not encrypted; no token is written anywhere but to the person's own screen and browser.

use crate::devices::{self, File};
use crate::exit::{self, Exit};
use crate::fleet::{Gathering, act};
use crate::home::control::Control;
use crate::ps::announcement::{self, Notice};
use crate::rooms;
use crate::stop::Stops;
use crate::{cli, entrance, places, private};
use anyhow::Context;
use clap::Args;
use domain::fleet::Status;
use domain::ids::SessionId;
use link::{Lane, Limits, LinkError, LinkIo, unix};
use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tui::FleetAct;
use web::{Act, NoRoom, Options, Role, Rows, Server, Tls, Wanted};

/// Where the page is served unless somewhere else is named.
const USUAL_BIND: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// How long a process that has a session open may take to be connected to.
const REACHED_WITHIN: Duration = Duration::from_secs(5);
/// How long a browser may take to be started.
const OPENED_WITHIN: Duration = Duration::from_secs(10);

/// The page in a browser.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  parlor web\n  parlor web --role observer --no-open\n  parlor web --tls cert.pem key.pem --bind 0.0.0.0 --host desk.lan\n  parlor web --behind-proxy --host parlor.example.org --port 8322"
)]
pub(crate) struct Web {
    /// Only print the address.
    #[arg(long)]
    no_open: bool,
    /// The port. Without it: the one of last time, else a free one.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// The address to listen on. Others than loopback need --tls or --behind-proxy.
    #[arg(long, value_name = "ADDRESS", default_value_t = USUAL_BIND)]
    bind: IpAddr,
    /// A name that browsers reach this server by, with its port where that is another one. May be said again for more.
    #[arg(long, value_name = "NAME", value_parser = host_name)]
    host: Vec<String>,
    /// Encrypt with this certificate and its key, both as PEM files.
    #[arg(long, num_args = 2, value_names = ["CERT", "KEY"], conflicts_with = "behind_proxy")]
    tls: Vec<PathBuf>,
    /// A proxy of yours stands before this server and encrypts; name it with --host.
    #[arg(long, requires = "host")]
    behind_proxy: bool,
    /// What the browser that opens the address may do.
    #[arg(long, value_enum, default_value_t, value_name = "ROLE")]
    role: cli::UiRole,
}

impl Web {
    /// Whether nothing is wanted that the page of the server in the background does not have.
    fn is_usual(&self) -> bool {
        let Web { no_open: _, port, bind, host, tls, behind_proxy, role: _ } = self;
        port.is_none() && *bind == USUAL_BIND && host.is_empty() && tls.is_empty() && !behind_proxy
    }

    /// The page of the server in the background.
    pub(crate) fn usual() -> Web {
        Web {
            no_open: true,
            port: None,
            bind: USUAL_BIND,
            host: Vec::new(),
            tls: Vec::new(),
            behind_proxy: false,
            role: cli::UiRole::default(),
        }
    }
}

/// A name as browsers say it, with or without a port.
fn host_name(word: &str) -> Result<String, &'static str> {
    let (name, port) = match word.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port)),
        _ => (word, None),
    };
    let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    let is_name = match in_brackets {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => {
            let part =
                |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
            name.split('.').all(part)
        }
    };
    let is_port = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port != 0));
    if is_name && is_port {
        Ok(word.to_owned())
    } else {
        Err("a name such as desk.lan or desk.lan:8443, without http://")
    }
}

/// Opens the page of the server in the background, or serves it until told to stop.
pub(crate) async fn web(asked: Web) -> anyhow::Result<Exit> {
    let role = devices::role_of(asked.role);
    if let Some(mut server) = Control::here().await? {
        if asked.is_usual() {
            let (invitation, warning) = server.web(role).await?;
            exit::say(&invitation.address);
            warning.into_iter().for_each(|warning| warn(&warning));
            exit::complain(&enrols(role, invitation.wait));
            if !asked.no_open && can_open() {
                invitation.open().await;
            }
            return Ok(Exit::Done);
        }
        exit::complain("the page of `parlor up` has none of these options: this is one of its own");
    }
    let mut stops = Stops::listen();
    let Served { server, warning } = start(&asked, rooms::Rooms::new(rooms::IDLE)?).await?;
    warning.into_iter().for_each(|warning| warn(&warning));
    let invite = || {
        let invitation = invite(&server, role)?;
        exit::say(&invitation.address);
        Ok::<_, anyhow::Error>(invitation)
    };
    exit::complain(&format!("the page is served at {}; Ctrl-C ends it, sessions go on", server.page()));
    let invitation = invite()?;
    exit::complain(&enrols(role, invitation.wait));
    let opening = async {
        if !asked.no_open && can_open() {
            invitation.open().await;
        }
        std::future::pending::<()>().await;
    };
    let asking = async {
        if std::io::stdin().is_terminal() {
            exit::complain("press Enter for a fresh address, for another browser");
            let mut lines = BufReader::new(tokio::io::stdin()).lines();
            while let Ok(Some(_)) = lines.next_line().await {
                let invitation = invite()?;
                if invitation.wait.is_some() {
                    exit::complain(&enrols(role, invitation.wait));
                }
            }
        }
        std::future::pending::<anyhow::Result<()>>().await
    };
    let exit = tokio::select! {
        _ = stops.next() => Ok(Exit::Done),
        () = opening => Ok(Exit::Done),
        failed = asking => failed.map(|()| Exit::Done),
    };
    server.say_goodbye().await;
    exit
}

/// An address of the page that enrols one browser.
pub(crate) struct Invitation {
    pub(crate) address: String,
    /// For how many seconds nobody is enrolled yet, if so.
    pub(crate) wait: Option<u64>,
}

impl Invitation {
    /// Opens it in a browser, once that is of use.
    async fn open(&self) {
        tokio::time::sleep(Duration::from_secs(self.wait.unwrap_or_default())).await;
        open(&self.address).await;
    }
}

/// An address for one more browser.
///
/// # Errors
/// When the system has no random numbers.
pub(crate) fn invite(server: &Server<Ways>, role: Role) -> anyhow::Result<Invitation> {
    let address = server.invite(role).context("the system has no random numbers")?;
    Ok(Invitation { address, wait: server.pause() })
}

/// What the address is good for.
fn enrols(role: Role, wait: Option<u64>) -> String {
    let seconds = web::TOKEN_GOOD_FOR.as_secs();
    let enrols = format!("the address above enrols one browser as {role}, within {seconds} seconds");
    match wait {
        None => enrols,
        Some(wait) => {
            format!("too many wrong addresses were tried: wait {wait} seconds; from then on {enrols}")
        }
    }
}

/// Says what is to be known of the page that is served.
pub(crate) fn warn(warning: &str) {
    exit::complain(&format!("warning: {warning}"));
}

/// A server that runs, and what whoever uses it should know.
pub(crate) struct Served {
    pub(crate) server: Server<Ways>,
    pub(crate) warning: Option<String>,
}

/// A server of this data folder.
///
/// # Errors
/// When its port is taken, its certificate cannot be read, or others could listen in.
pub(crate) async fn start(asked: &Web, rooms: rooms::Rooms) -> anyhow::Result<Served> {
    let data = places::data()?;
    let tls = match asked.tls.as_slice() {
        [certificate, key] => {
            Some(Tls::read(certificate, key).map_err(|why| exit::usage(format!("--tls: {why}")))?)
        }
        _ => None,
    };
    let encrypted = tls.is_some() || asked.behind_proxy;
    if !asked.bind.is_loopback() && !encrypted {
        let hint = "encrypt with --tls CERT KEY, say --behind-proxy where a proxy of yours does, or reach it by an SSH tunnel";
        return Err(exit::usage(format!(
            "{} can be reached from other machines\n\nhint: {hint}",
            asked.bind
        )));
    }
    more_descriptors();
    let (listener, warning) = listen(&data, asked.bind, asked.port).await?;
    let options = Options {
        hosts: asked.host.clone(),
        tls,
        behind_proxy: asked.behind_proxy,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        log: Some(Arc::new(|words: &str| exit::complain(words))),
    };
    let directory = std::path::absolute(announcement::directory()?)?;
    let ways = Ways { fleet: Gathering::begin()?, directory, rooms };
    let server = Server::start(listener, options, Arc::new(ways), Arc::new(File::new(&data)))?;
    Ok(Served { server, warning })
}

/// Listens on the port that was named, else on that of last time, else on any; what the person should know of that is told with it.
async fn listen(data: &Path, ip: IpAddr, port: Option<u16>) -> anyhow::Result<(TcpListener, Option<String>)> {
    if let Some(port) = port {
        let cannot = || format!("port {port} cannot be had; name another one with --port, or none");
        let listener = TcpListener::bind(SocketAddr::new(ip, port)).await.with_context(cannot)?;
        return Ok((listener, None));
    }
    let file = data.join("web.port");
    let kept: Option<u16> = std::fs::read_to_string(&file).ok().and_then(|text| text.trim().parse().ok());
    let mut warning = None;
    if let Some(port) = kept.filter(|port| *port != 0) {
        match TcpListener::bind(SocketAddr::new(ip, port)).await {
            Ok(listener) => return Ok((listener, None)),
            Err(why) => {
                warning = Some(format!(
                    "the page's port of last time ({port}) cannot be had ({why}): browsers that were enrolled do not find it at another \
                     one; end the program that has it, and start the page anew"
                ));
            }
        }
    }
    let listener = TcpListener::bind(SocketAddr::new(ip, 0)).await.context("no port can be had")?;
    if kept.is_none()
        && let Err(why) = private::replace(&file, &format!("{}\n", listener.local_addr()?.port()))
    {
        warning = Some(format!("{}; next time the port is another one", exit::in_words(&why)));
    }
    Ok((listener, warning))
}

/// A page needs two descriptors, and there may be many: as many as this system lets us have.
fn more_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum });
}

/// Whether there is a browser to be opened here.
fn can_open() -> bool {
    let screen = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    exit::Stream::Out.is_terminal()
        && (cfg!(target_os = "macos") || screen("DISPLAY") || screen("WAYLAND_DISPLAY"))
}

/// Opens the address. It stands in the list of processes for a moment; other users of this machine cannot be enrolled with it.
async fn open(address: &str) {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut opening = tokio::process::Command::new(program);
    opening.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let opened = tokio::time::timeout(OPENED_WITHIN, opening.status()).await;
    if !matches!(opened, Ok(Ok(status)) if status.success()) && opened.is_ok() {
        exit::complain("no browser could be opened here: open the address above in one");
    }
}

/// The ways to sessions: processes that have them open, and rooms for the others.
pub(crate) struct Ways {
    fleet: Gathering,
    /// Where processes announce themselves.
    directory: PathBuf,
    rooms: rooms::Rooms,
}

impl Ways {
    /// The process that has the session open as far as the fleet knows. Pages may return by the hundred: for those every process would
    /// have to be asked again and again.
    async fn known(&self, session: &SessionId) -> Option<LinkIo> {
        let rows = self.fleet.rows().borrow().clone()?;
        let row = rows.iter().find(|row| row.session.as_ref() == Some(session))?;
        let answers = match row.status {
            Status::Waiting { .. } | Status::Running | Status::Fresh | Status::Ended(_) => true,
            Status::Kept | Status::Silent | Status::OtherVersion(_) | Status::Dead => false,
        };
        let socket = Notice::socket_of(row.pid.filter(|_| answers)?, &self.directory);
        reached(&socket).await.ok()
    }
}

async fn reached(socket: &Path) -> Result<LinkIo, LinkError> {
    unix::connect(socket, Lane::MAIN, Limits::default(), REACHED_WITHIN, entrance::trust).await
}

impl web::Rooms for Ways {
    fn fleet(&self) -> watch::Receiver<Option<Rows>> {
        self.fleet.rows()
    }

    async fn reach(&self, wanted: Wanted) -> Result<LinkIo, NoRoom> {
        let wanted = match wanted {
            Wanted::Session(session) => match self.known(&session).await {
                Some(link) => return Ok(link),
                None => rooms::Wanted::session(session),
            },
            Wanted::New { cwd } => {
                let cwd = cwd.map(PathBuf::from);
                if cwd.as_deref().is_some_and(|cwd| !cwd.is_absolute()) {
                    return Err(cannot("the folder is to be named with its whole path".to_owned()));
                }
                rooms::Wanted::new_in(cwd)
            }
        };
        let opened = self.rooms.open(wanted).await.map_err(|why| match why {
            rooms::NoRoom::NoSuchSession(_) => NoRoom::NoSuchSession,
            rooms::NoRoom::TooMany(words) | rooms::NoRoom::CannotOpen(words) => cannot(words),
        })?;
        reached(&opened.socket).await.map_err(|why| cannot(why.to_string()))
    }

    async fn act(&self, act: Act) -> String {
        act::act(match act {
            Act::Say { pid, session, text, busy } => FleetAct::Say { pid, session, text, busy },
            Act::Stop { pid, session } => FleetAct::Stop { pid, session },
        })
        .await
    }
}

fn cannot(message: String) -> NoRoom {
    NoRoom::CannotOpen {
        message,
        hint: "`parlor doctor` tells what is configured and what is missing".to_owned(),
    }
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
