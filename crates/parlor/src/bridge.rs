//! `parlor bridge`: a UI of one wire on a runtime of another. What one side lacks (queues, deadlines, who answered) the hub supplies.

use crate::attach::{self, KeptSession};
use crate::exit::{self, Exit};
use crate::output;
use crate::serve;
use crate::tape::Tape;
use crate::{aloud, unsupported_flags};
use clap::Args;
use dialects::Dialect;
use host::doors::{self, Wire};
use host::guests::Host;
use host::launch::Launch;
use host::stop::Over;
use hub::Hub;
use remote::bridge::{Bridging, report};
use remote::front::{Approach, Begin, Person};
use remote::origin::RuntimeAddress;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is said at the start where the conversation is kept.
const KEPT: &str = "\nkept: this conversation is in `parlor sessions`, and UIs find it again over this bridge; --ephemeral keeps nothing";

/// A UI of one wire on a runtime of another.
///
/// The conversation is kept as with `attach`, so that a UI lists its sessions and goes on with one also where the runtime has no words for
/// that. `--ephemeral` keeps nothing; over the native wire the Parlor at the other end keeps it.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  parlor bridge --from codelia --stdio --to native -- parlor serve --dialect native --stdio"
)]
pub(crate) struct Bridge {
    /// The wire that the UI speaks.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::dialect())]
    pub(crate) from: Dialect,
    /// The UI is on stdin and stdout.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) stdio: bool,
    /// UIs connect to this Unix socket.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// The wire that the runtime speaks.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::dialect())]
    pub(crate) to: Dialect,
    /// The runtime listens on this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub(crate) to_socket: Option<PathBuf>,
    /// Write the conversation down in this file (the runtime's wire: beside it, with `runtime` in its name). Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Say nothing to a runtime that acts without asking, and stop one that does.
    #[arg(long)]
    pub(crate) require_consent: bool,
    /// Only print what becomes of each item of the vocabulary between these two wires.
    #[arg(long)]
    pub(crate) report: bool,
    /// An option of the UI's dialect, such as `no-ui=true`.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = crate::flags::option)]
    pub(crate) options: Vec<(String, String)>,
    /// Start this program as the runtime and speak on its stdin and stdout.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Bridges until the UI leaves (stdio) or the program is told to stop (socket).
pub(crate) async fn bridge(mut launch: Launch, bridge: Bridge) -> anyhow::Result<Exit> {
    let is_kept = !(launch.ephemeral || bridge.to.is_lossless());
    let report = report(bridge.from, bridge.to, is_kept);
    if bridge.report {
        output::print_line(&report);
        return Ok(Exit::Done);
    }
    launch.require_consent = bridge.require_consent;
    unsupported_flags::refuse(&launch, bridge.to)?;
    let Some(place) = RuntimeAddress::of(bridge.to_socket.as_ref(), &bridge.command) else {
        return Err(exit::usage("say where the runtime is\n\nhint: --to-socket PATH, or -- COMMAND"));
    };
    if bridge.stdio == bridge.socket.is_some() {
        return Err(exit::usage("say where the UI speaks\n\nhint: --stdio, or --socket PATH"));
    }
    output::print_error(&report);
    let keep = match is_kept {
        true => Some(attach::keep_as(bridge.to, &place, KeptSession::default())?),
        false => None,
    };
    if is_kept {
        output::print_error(KEPT);
    }
    let tape = bridge.record.as_deref().map(Tape::new);
    let runtime_tape = tape.as_ref().map(|tape| tape.beside("runtime"));
    let approach = Approach {
        dialect: bridge.to,
        begin: Begin::default(),
        person: Person::Beyond,
        size: output::terminal_size(),
        listening: runtime_tape.as_ref().map(Tape::of_runtimes),
    };
    let between = Bridging {
        keep,
        from: bridge.from,
        options: bridge.options,
        listening: tape.as_ref().map(Tape::of_uis),
        last_lines: doors::last_lines(bridge.stdio),
    };
    let serving = async |hub: &Hub, host: &Host| match &bridge.socket {
        None => serve::on_stdio(hub, host, bridge.from).await,
        Some(path) => doors::on_sockets(hub, host, &[Wire::Known(bridge.from)], path).await,
    };
    let (over, last) = remote::bridge::bridge(
        &launch,
        place,
        approach,
        between,
        serving,
        aloud::log(),
        output::stderr_log(),
    )
    .await?;
    last.iter().for_each(aloud::last_words);
    for tape in [tape, runtime_tape].into_iter().flatten() {
        tape.finish();
    }
    over.map(|over| match over {
        Over::UiGone | Over::Told => Exit::Done,
        Over::RuntimeLost => Exit::Failed,
    })
}
