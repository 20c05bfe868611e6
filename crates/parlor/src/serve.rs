//! `parlor serve`: be the runtime of other programs' UIs.

pub(crate) mod argv_compat;

use crate::aloud;
use crate::exit::{self, Exit};
use crate::output;
use crate::tape::{self, Tape};
use anyhow::Context;
use clap::Args;
use dialects::Dialect;
use domain::command::{Command, LibraryCommand};
use domain::ids::SessionId;
use domain::rights::Standing;
use host::announcement::Announcement;
use host::doors::{self, Wire, wire};
use host::guests::{Host, answer_within};
use host::launch::Launch;
use host::model_source::Source;
use host::stack;
use host::stop::{self, Manner, Runs};
use host::visits;
use hub::Hub;
use link::Limits;
use roles::Lane;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run Parlor's agent behind another program's UI.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor serve --dialect codelia --stdio\n  parlor serve --dialect native --socket $XDG_RUNTIME_DIR/parlor.sock"
)]
pub(crate) struct Serve {
    /// The protocol that the UI speaks; several for several sockets, or `auto` to let a client's first line decide, which those
    /// of asst and lemon do not write.
    #[arg(long, required = true, value_parser = wire, value_name = "DIALECT")]
    pub(crate) dialect: Vec<Wire>,
    /// Speak on stdin and stdout.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) stdio: bool,
    /// Listen on this Unix socket; only you can connect.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Listen for WebSockets at ws://127.0.0.1:PORT. Loopback only, and no page of the web can connect; but
    /// these protocols have no authentication: whoever knows the address can do everything. Without a path a secret one is made up and told.
    #[arg(long, value_name = "URL", conflicts_with_all = ["stdio", "socket"])]
    pub(crate) listen: Option<String>,
    /// Every UI that connects goes to this session.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// What UIs that connect may do.
    #[arg(long = "role", default_value_t, value_name = "ROLE", value_parser = crate::flags::role())]
    pub(crate) standing: Standing,
    /// An option of the dialect, such as `no-ui=true`.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = crate::flags::option)]
    pub(crate) options: Vec<(String, String)>,
    /// Write the conversation down in this file (a further UI: beside it, with a number). Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Show every line both ways on stderr.
    #[arg(long, conflicts_with = "record")]
    pub(crate) log_wire: bool,
    /// What a UI that starts us puts behind: lemon's `run SCRIPT -- --cwd DIR …`, codelia's `--approval-mode MODE`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    pub(crate) rest: Vec<OsString>,
}

/// Serves until the UI leaves (stdio) or the program is told to stop (sockets). `own` lists the flags that could be meant by what is not
/// known.
pub(crate) async fn serve(
    mut launch: Launch,
    mut serve: Serve,
    own: argv_compat::OwnFlags,
) -> anyhow::Result<Exit> {
    let spoken: Vec<Dialect> = serve.dialect.iter().filter_map(|wire| wire.known()).collect();
    let mut habits = argv_compat::read(&serve.rest, &spoken, own).map_err(exit::usage)?;
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
    let carried = serve.listen.as_deref().map(|url| carried(&serve.dialect, url)).transpose()?;
    let is_named = serve.stdio || serve.socket.is_some() || carried.is_some();
    let usual = if is_named { Vec::new() } else { usual_sockets(&serve) };
    if !is_named && usual.is_empty() {
        return Err(exit::usage(
            "say where to speak\n\nhint: --stdio, --socket PATH, or --listen ws://127.0.0.1:PORT",
        ));
    }
    let own = stack::own_visiting(&launch, Some(visits::port()), aloud::log()).await?;
    warnings.extend(own.no_workspace.clone());
    for words in &warnings {
        output::print_error(words);
    }
    let start = match &serve.session {
        Some(id) => {
            let session = SessionId::parse(id).with_context(|| format!("{id} is not the id of a session"))?;
            Some(Command::Library(LibraryCommand::Open { session }))
        }
        None => own.start.clone(),
    };
    let host = Host::new(&own, serve.options.clone(), serve.standing, warnings, output::stderr_log());
    let tape = serve.record.as_deref().map(Tape::new);
    let listening = tape.as_ref().map(Tape::of_uis).or_else(|| serve.log_wire.then(tape::on_stderr));
    let host = Host { start, listening, ..host };
    let names: Vec<&str> = serve.dialect.iter().map(|wire| wire.name()).collect();
    // Held until the end.
    let _announcement = Announcement::open(&own.hub, &host, &own.cwd, names.join(", ")).await;
    for path in serve.socket.iter().chain(&usual) {
        if let Some(words) = own.exposes(path) {
            output::print_error(&words);
        }
    }
    let serving = async {
        if let Some((dialect, url)) = carried {
            return doors::websocket::attend(&own.hub, &host, dialect, url).await;
        }
        match &serve.socket {
            None if !serve.stdio => {
                let paths: Vec<(Wire, PathBuf)> =
                    usual.iter().map(|path| (serve.dialect[0], path.clone())).collect();
                doors::attend(&own.hub, &host, &paths).await
            }
            None => {
                let [Wire::Known(dialect)] = serve.dialect.as_slice() else {
                    anyhow::bail!(
                        "on stdin and stdout exactly one dialect can be spoken, and it must be named\n\nhint: --dialect codelia, say; `auto` and several are for --socket PATH"
                    );
                };
                on_stdio(&own.hub, &host, *dialect).await
            }
            Some(path) => doors::on_sockets(&own.hub, &host, &serve.dialect, path).await,
        }
    };
    let manner = Manner {
        // The UI is told what is under way to its end where its document wants that.
        runs: if serve.dialect.iter().any(|wire| wire.drains()) { Runs::Finish } else { Runs::BreakOff },
        last_lines: doors::last_lines(serve.stdio),
        keeps_questions: !launch.ephemeral,
    };
    let exit = stop::until_told(&own.hub, serving, manner, output::print_error).await.map(|_| Exit::Done);
    aloud::stop(own.engine, &own.hub).await;
    if let Some(tape) = &tape {
        tape.finish();
    }
    exit
}

/// Speaks with one UI on stdin and stdout until it leaves.
pub(crate) async fn on_stdio(hub: &Hub, host: &Host, dialect: Dialect) -> anyhow::Result<()> {
    let link = link::stdio::join(Lane::MAIN, Limits::default(), std::io::stdin(), output::carrier())?;
    let gone = output::reader_gone()?;
    let gone = async {
        if gone.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    doors::on_link(hub, host, dialect, link, gone).await
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
        _ => Err(exit::usage(
            "over WebSockets exactly one dialect can be spoken, and it must be named\n\nhint: --dialect codelia, say; `auto` and several are for --socket PATH",
        )),
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
