//! The way to a foreign runtime: a socket (or two), or a program that is started and spoken with on its stdin and stdout.

use crate::cli::Common;
use crate::exit;
use crate::record::Tape;
use crate::{entrance, places, stack};
use dialects::Dialect;
use domain::path_text;
use hub::{Hub, Log, RemoteSeat};
use kit::notation::Side;
use link::child::{Child, Launch, Restarted, start_again_on};
use link::{Limits, LinkIo, unix};
use roles::{Hello, Lane};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a socket may take to answer.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Lines of a runtime's stderr that are shown after a failure.
const LAST_LINES: usize = 20;

/// Where a foreign runtime is.
pub(crate) enum RuntimeAddress {
    /// Listening there.
    Socket(PathBuf),
    /// To be started.
    Command(Vec<OsString>),
}

impl RuntimeAddress {
    /// Where runtimes of this wire usually listen, if one does.
    pub(crate) fn usual(dialect: Dialect) -> Option<RuntimeAddress> {
        let sockets = dialect.description().sockets?;
        let paths = (sockets.connect)(&|name| std::env::var_os(name));
        paths.into_iter().find(|path| path.exists()).map(RuntimeAddress::Socket)
    }

    /// What was typed; `None` when neither was.
    pub(crate) fn of(socket: Option<&PathBuf>, command: &[OsString]) -> Option<RuntimeAddress> {
        match (socket, command) {
            (Some(path), _) => Some(RuntimeAddress::Socket(path.clone())),
            (None, []) => None,
            (None, command) => Some(RuntimeAddress::Command(command.to_vec())),
        }
    }
}

/// A foreign runtime with a hub in front of it.
pub(crate) struct Front {
    pub(crate) hub: Hub,
    program: Option<Program>,
}

/// A runtime that we started.
enum Program {
    Once(Child),
    /// Of a wire where it may ask to be started again.
    Restarted(Restarted),
}

/// A program that a person named: what it does is its own matter, but it gets no terminal and leaves nothing behind.
fn watched(command: Vec<OsString>) -> Launch {
    Launch { guard: stack::watching(), ..Launch::new(command) }
}

impl Front {
    /// Reaches the runtime and puts a hub in front of it.
    pub(crate) async fn open(
        common: &Common,
        dialect: Dialect,
        place: RuntimeAddress,
        session: Option<&str>,
        tape: Option<&Tape>,
        log: Log,
    ) -> anyhow::Result<Front> {
        let (link, program) = match place {
            RuntimeAddress::Socket(path) => (connect(dialect, &path).await?, None),
            // What happens there is told on a second socket, which a program's pipes have not.
            RuntimeAddress::Command(_) if dialect.has_event_lane() => anyhow::bail!(
                "{dialect} speaks over two sockets, not over a program's stdin and stdout; \
                 start the program, then name its socket instead of the command"
            ),
            RuntimeAddress::Command(command) => match dialect.description().restart_code {
                Some(code) => {
                    let launch = move || watched(command.clone());
                    let (link, program) = start_again_on(code, launch, Lane::MAIN, Limits::default())?;
                    (link, Some(Program::Restarted(program)))
                }
                None => {
                    let (link, child) = watched(command).start(Lane::MAIN, Limits::default())?;
                    (link, Some(Program::Once(child)))
                }
            },
        };
        let link = match tape {
            Some(tape) => link.watched(&tape.watcher(dialect.name(), Side::Runtime)?),
            None => link,
        };
        let hello = Hello {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            cwd: path_text::write(&places::working_directory(common)?),
            size: None,
            session: session.map(Into::into),
        };
        let (role, lossless) = (dialect.ui_role(), dialect.is_lossless());
        let hub = stack::remote(common, RemoteSeat { role, link, hello, lossless }, log)?;
        Ok(Front { hub, program })
    }

    /// Lets the runtime go; after a failure shows what it said last.
    pub(crate) async fn close(self, well: bool) {
        self.hub.stop().await;
        let (status, stderr) = match self.program {
            Some(Program::Once(child)) => child.shutdown().await,
            Some(Program::Restarted(program)) => program.shutdown().await,
            None => return,
        };
        if !well {
            for line in stderr.iter().rev().take(LAST_LINES).rev() {
                exit::complain(&format!("runtime: {line}"));
            }
            exit::complain(&format!("runtime ended: {status}"));
        }
    }
}

async fn connect(dialect: Dialect, path: &Path) -> anyhow::Result<LinkIo> {
    let limits = Limits::default();
    if dialect.has_event_lane() {
        let lanes = (Lane::MAIN, Lane::EVENTS);
        return Ok(unix::connect_two(path, lanes, limits, CONNECT_WITHIN, entrance::trust).await?);
    }
    Ok(unix::connect(path, Lane::MAIN, limits, CONNECT_WITHIN, entrance::trust).await?)
}
