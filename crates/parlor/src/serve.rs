//! `parlor serve`: be the runtime of other programs' UIs.

mod carry;
mod door;
pub(crate) mod habits;

use crate::announcement::Announcement;
use crate::exit::{self, Exit};
use crate::host::Host;
use crate::host::answer_within;
use crate::launch::Launch;
use crate::model_source::Source;
use crate::stack::{self};
use crate::stop::{self, Manner, Runs};
use crate::tape::Tape;
use anyhow::Context;
use clap::Args;
use dialects::Dialect;
use domain::command::{Command, LibraryCommand};
use domain::ids::SessionId;
use domain::rights::Standing;
use door::Door;
use hub::{Guest, Hub};
use link::Limits;
use roles::Lane;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::Duration;

/// Be a runtime: let another program's UI in.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  parlor serve --dialect codelia --stdio\n  parlor serve --dialect native --socket /tmp/parlor.sock"
)]
pub(crate) struct Serve {
    /// The wire that the UI speaks; several for several sockets, or `auto` to let a client's first line decide.
    #[arg(long, required = true, value_parser = wire, value_name = "DIALECT")]
    pub(crate) dialect: Vec<Wire>,
    /// What UIs that connect may do.
    #[arg(long = "role", default_value_t, value_name = "ROLE", value_parser = crate::flags::role())]
    pub(crate) standing: Standing,
    /// Speak on stdin and stdout.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) stdio: bool,
    /// Listen on this Unix socket; only you can connect.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Listen for WebSockets at ws://127.0.0.1:PORT. Loopback only, and no page of the web can connect; but
    /// these wires have no authentication: whoever knows the address can do everything. Without a path a secret one is made up and told.
    #[arg(long, value_name = "URL", conflicts_with_all = ["stdio", "socket"])]
    pub(crate) listen: Option<String>,
    /// Write the conversation down in this file (a further UI: beside it, with a number). Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Every UI that connects goes to this session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// An option of the dialect, such as `no-ui=true`.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = crate::flags::option)]
    pub(crate) options: Vec<(String, String)>,
    /// Show every line both ways on stderr.
    #[arg(long, conflicts_with = "record")]
    pub(crate) log_wire: bool,
    /// What a UI that starts us puts behind: lemon's `run SCRIPT -- --cwd DIR …`, codelia's `--approval-mode MODE`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) rest: Vec<OsString>,
}

/// The word that lets the first line of a client decide.
pub(crate) const AUTO: &str = "auto";

/// Which wire a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    /// The wire that was named.
    Known(Dialect),
    /// Its first line tells.
    Auto,
}

/// Reads a name as typed.
pub(crate) fn wire(text: &str) -> Result<Wire, String> {
    if text == AUTO {
        return Ok(Wire::Auto);
    }
    dialects::named(text).map(Wire::Known).map_err(|why| format!("{why}, {AUTO}"))
}

/// How long the last lines of a program that is told to stop may take to be written.
const LAST_LINE: Duration = Duration::from_millis(300);
/// The same on stdout, where it is known when they are written.
const LAST_LINES: Duration = Duration::from_secs(2);

impl Wire {
    /// Whether its document wants what is under way finished before the program ends.
    fn drains(self) -> bool {
        self.known().is_some_and(|dialect| dialect.description().drains)
    }

    fn known(self) -> Option<Dialect> {
        match self {
            Wire::Known(dialect) => Some(dialect),
            Wire::Auto => None,
        }
    }

    /// The word for it on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Wire::Known(dialect) => dialect.name(),
            Wire::Auto => AUTO,
        }
    }
}

/// How long the last lines may take, on stdout or on sockets.
pub(crate) fn last_lines(stdio: bool) -> Duration {
    if stdio { LAST_LINES } else { LAST_LINE }
}

/// Serves until the UI leaves (stdio) or the program is told to stop (sockets). `own` are the flags that could be meant by what is not
/// known.
pub(crate) async fn serve(mut launch: Launch, mut serve: Serve, own: &[String]) -> anyhow::Result<Exit> {
    let spoken: Vec<Dialect> = serve.dialect.iter().filter_map(|wire| wire.known()).collect();
    let mut habits = habits::read(&serve.rest, &spoken, own).map_err(exit::usage)?;
    habits.settle(&mut launch);
    serve.options.append(&mut habits.options);
    let variables = spoken.iter().flat_map(|dialect| dialect.description().habits.variables);
    for (_, option) in variables.filter(|(name, _)| std::env::var_os(name).is_some_and(|value| value == "1"))
    {
        serve.options.push(((*option).to_owned(), "true".to_owned()));
    }
    let mut warnings: Vec<String> =
        habits.idle.iter().map(|word| format!("taken without effect: {word}")).collect();
    if let (None, Some(wanted)) = (&launch.model, habits.model) {
        // Existing UIs name a model of their own even when nobody asked for one; it is taken where it can be had.
        match Source::new(Some(&wanted)).await {
            Ok(_) => launch.model = Some(wanted),
            Err(why) => warnings.push(format!("the UI asked for {wanted}: {why}; using the default model")),
        }
    }
    serve.options.extend(answer_within(&serve.options));
    let usual = usual_sockets(&serve);
    let carried = serve.listen.as_deref().map(|url| carried(&serve.dialect, url)).transpose()?;
    if !serve.stdio && serve.socket.is_none() && carried.is_none() && usual.is_empty() {
        return Err(exit::usage(
            "say where to speak\n\nhint: --stdio, --socket PATH, or --listen ws://127.0.0.1:PORT",
        ));
    }
    let own = stack::own(&launch, stack::log_to_stderr()).await?;
    warnings.extend(own.no_workspace.clone());
    for words in &warnings {
        exit::complain(words);
    }
    let start = match &serve.session {
        Some(id) => {
            let session = SessionId::parse(id).with_context(|| format!("{id} is not the id of a session"))?;
            Some(Command::Library(LibraryCommand::Open { session }))
        }
        None => own.start.clone(),
    };
    let host = Host::new(&own, serve.options.clone(), serve.standing, warnings);
    let tape = serve.record.as_deref().map(Tape::new);
    let host = Host { start, tape, log_wire: serve.log_wire, ..host };
    let names: Vec<&str> = serve.dialect.iter().map(|wire| wire.name()).collect();
    // Held until the end.
    let _announcement = Announcement::open(&own.hub, &host, &own.cwd, names.join(", ")).await;
    for path in serve.socket.iter().chain(usual.iter().filter(|_| !serve.stdio && carried.is_none())) {
        if let Some(words) = own.exposes(path) {
            exit::complain(&words);
        }
    }
    let serving = async {
        if let Some((dialect, url)) = carried {
            return carry::attend(&own.hub, &host, dialect, url).await;
        }
        match &serve.socket {
            None if !serve.stdio => {
                let paths: Vec<(Wire, PathBuf)> =
                    usual.iter().map(|path| (serve.dialect[0], path.clone())).collect();
                attend(&own.hub, &host, &paths).await
            }
            None => {
                let [Wire::Known(dialect)] = serve.dialect.as_slice() else {
                    anyhow::bail!(
                        "on stdin and stdout exactly one dialect can be spoken, and it must be named"
                    );
                };
                on_stdio(&own.hub, &host, *dialect).await
            }
            Some(path) => on_sockets(&own.hub, &host, &serve.dialect, path).await,
        }
    };
    let manner = Manner {
        // The UI is told what is under way to its end where its document wants that.
        runs: if serve.dialect.iter().any(|wire| wire.drains()) { Runs::Finish } else { Runs::BreakOff },
        last_lines: last_lines(serve.stdio),
        keeps_questions: !launch.ephemeral,
    };
    let exit = stop::until_told(&own.hub, serving, manner).await.map(|_| Exit::Done);
    own.engine.stop(&own.hub).await;
    if let Some(tape) = &host.tape {
        tape.finish();
    }
    exit
}

/// Speaks with one UI on stdin and stdout until it leaves.
pub(crate) async fn on_stdio(hub: &Hub, host: &Host, dialect: Dialect) -> anyhow::Result<()> {
    let link = link::stdio::join(Lane::MAIN, Limits::default(), std::io::stdin(), exit::carrier())?;
    let link = match host.watcher(dialect)? {
        Some(watcher) => link.watched(&watcher),
        None => link,
    };
    let (unread, gone) = (link.outgoing.clone(), exit::reader_gone()?);
    let watched = async {
        if gone.await.is_ok() {
            unread.unread();
        }
        std::future::pending::<()>().await;
    };
    // One that is gone cannot come back over these pipes, whatever its wire is like on sockets.
    let guest = Guest { stays: false, ..host.guest(dialect) };
    tokio::select! {
        served = hub.serve(guest, link) => served?,
        () = watched => {}
    }
    Ok(())
}

/// Lets UIs in by sockets.
pub(crate) async fn on_sockets(hub: &Hub, host: &Host, wires: &[Wire], path: &Path) -> anyhow::Result<()> {
    let alone = wires.len() == 1;
    let path = |wire: &Wire| if alone { path.to_owned() } else { beside(path, wire.name()) };
    let paths: Vec<(Wire, PathBuf)> = wires.iter().map(|wire| (*wire, path(wire))).collect();
    attend(hub, host, &paths).await
}

async fn attend(hub: &Hub, host: &Host, paths: &[(Wire, PathBuf)]) -> anyhow::Result<()> {
    let mut doors = Vec::with_capacity(paths.len());
    for (wire, path) in paths {
        let door = Door::open(*wire, path, hub.clone(), host.clone()).await?;
        exit::complain(&format!("serving {} on {}", wire.name(), path.display()));
        doors.push(Box::pin(door.attend()));
    }
    // Looked after here and not in tasks of their own: whoever lets go of this future takes the sockets away at once.
    let never = std::future::poll_fn(|cx| {
        let opened = doors.iter_mut().find_map(|door| match door.as_mut().poll(cx) {
            Poll::Ready(never) => Some(never),
            Poll::Pending => None,
        });
        opened.map_or(Poll::Pending, Poll::Ready)
    });
    match never.await {}
}

/// The wire that goes over WebSockets: one that was named, and none that has its own way there.
fn carried<'a>(wires: &[Wire], url: &'a str) -> anyhow::Result<(Dialect, &'a str)> {
    match wires {
        [Wire::Known(dialect)] if *dialect == dialects::native::DIALECT => Err(exit::usage(
            "native goes over WebSockets only for devices that show who they are\n\nhint: `parlor web` serves it, and the page",
        )),
        [Wire::Known(dialect)] if dialect.has_event_lane() => Err(exit::usage(format!(
            "{dialect} needs two connections, which a WebSocket is not\n\nhint: use --socket PATH"
        ))),
        [Wire::Known(dialect)] => Ok((*dialect, url)),
        _ => Err(exit::usage("over WebSockets exactly one dialect can be spoken, and it must be named")),
    }
}

/// Where a wire's document says that its clients look, when nobody named a place.
fn usual_sockets(serve: &Serve) -> Vec<PathBuf> {
    match serve.dialect.as_slice() {
        [Wire::Known(dialect)] => dialect.description().sockets.map_or_else(Vec::new, |sockets| {
            (sockets.listen)(&|name| std::env::var_os(name), std::process::id())
        }),
        _ => Vec::new(),
    }
}

/// With several dialects each has a socket of its own beside the named path.
fn beside(path: &Path, dialect: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(dialect);
    name.into()
}
