//! `parlor bridge`: a UI of one wire on a runtime of another. What one side lacks (queues, deadlines, who answered) the hub supplies.

use crate::attach::{self, KeptSession};
use crate::exit::{self, Exit};
use crate::output;
use crate::serve;
use crate::tape::Tape;
use crate::{agent_list, aloud, unsupported_flags};
use clap::Args;
use dialects::Dialect;
use host::doors::{self, Wire};
use host::guests::Host;
use host::launch::Launch;
use host::stop::Over;
use hub::Hub;
use remote::agents::{self, Agent};
use remote::bridge::{Bridging, report};
use remote::front::{Approach, Begin, Person};
use remote::leash::LeashWish;
use remote::origin::RuntimeAddress;
use std::ffi::OsString;
use std::path::PathBuf;
use tools::policy::Allowance;

/// What is said at the start where the conversation is kept.
const KEPT: &str = "\nkept: this conversation is in `parlor sessions`, and UIs find it again over this bridge; --ephemeral keeps nothing";

/// A UI of one wire on a runtime of another.
///
/// The conversation is kept as with `attach`, so that a UI lists its sessions and goes on with one also where the runtime has no words for
/// that. `--ephemeral` keeps nothing; over the native wire the Parlor at the other end keeps it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  parlor bridge --from codelia --stdio --to asst -- python3 agent.py\n  parlor bridge --from acp --to codelia --report\n  parlor bridge --from codelia --stdio --agent goose --judge"
)]
pub(crate) struct Bridge {
    /// The protocol that the UI speaks.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::dialect())]
    pub(crate) from: Dialect,
    /// The UI is on stdin and stdout.
    #[arg(long, conflicts_with = "socket")]
    pub(crate) stdio: bool,
    /// UIs connect to this Unix socket.
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// The protocol that the runtime speaks.
    #[arg(long, value_name = "DIALECT", value_parser = crate::flags::dialect(), required_unless_present = "agent")]
    pub(crate) to: Option<Dialect>,
    /// In the place of `--to` and a command: an agent of `parlor agents`, by its name. Before its first start you see its command and are
    /// asked.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["to", "to_socket", "command"])]
    pub(crate) agent: Option<String>,
    /// With --agent: say yes to its first start, where nobody can be asked.
    #[arg(long, requires = "agent")]
    pub(crate) yes: bool,
    /// With --agent: a list of agents as the ACP registry publishes it, a file or a folder of this machine.
    #[arg(long, value_name = "PATH", requires = "agent")]
    pub(crate) registry: Vec<PathBuf>,
    /// Judge what the agent asks for by your mode and your rules before anybody is asked; `parlor acp --to` does.
    #[arg(long)]
    pub(crate) judge: bool,
    /// The runtime listens on this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    pub(crate) to_socket: Option<PathBuf>,
    /// Write the conversation down in this file (the runtime's protocol: beside it, with `runtime` in its name). Secrets are taken out.
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Say nothing to a runtime that acts without asking, and stop one that does.
    #[arg(long)]
    pub(crate) require_consent: bool,
    /// Start the program inside the sandbox: it writes in the project and in its own folders, which are found and told, reads no secrets
    /// but its own, and reaches hosts that rules or `--allow host:NAME` allow.
    #[arg(long)]
    pub(crate) leash: bool,
    /// With --leash: one more folder that it may write in. Repeatable.
    #[arg(long, value_name = "DIR", requires = "leash")]
    pub(crate) share: Vec<PathBuf>,
    /// What is allowed beforehand, as with `parlor run`: `bash`, `write`, and with --leash `host:NAME` and `port:NUMBER`.
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…", value_parser = crate::flags::allowance)]
    pub(crate) allow: Vec<Allowance>,
    /// Only print what becomes of each item of the vocabulary between these two protocols.
    #[arg(long)]
    pub(crate) report: bool,
    /// An option of the UI's dialect, such as `no-ui=true`.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = crate::flags::option)]
    pub(crate) options: Vec<(String, String)>,
    /// Start this program as the runtime and speak on its stdin and stdout.
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// Where the runtime is.
struct Reached {
    dialect: Dialect,
    place: Option<RuntimeAddress>,
    /// One that is listed, whose start a person has to agree to.
    agent: Option<Agent>,
}

fn reach(bridge: &Bridge) -> anyhow::Result<Reached> {
    if let Some(name) = &bridge.agent {
        let agent = agents::find(name, &bridge.registry, output::print_error)?;
        let place = RuntimeAddress::Command(agent.command.iter().map(Into::into).collect());
        return Ok(Reached { dialect: agent.dialect, place: Some(place), agent: Some(agent) });
    }
    let Some(dialect) = bridge.to else {
        return Err(exit::usage("say what the runtime speaks\n\nhint: --to DIALECT, or --agent NAME"));
    };
    let place = RuntimeAddress::of(bridge.to_socket.as_ref(), &bridge.command);
    Ok(Reached { dialect, place, agent: None })
}

/// Bridges until the UI leaves (stdio) or the program is told to stop (socket).
pub(crate) async fn bridge(mut launch: Launch, bridge: Bridge) -> anyhow::Result<Exit> {
    let reached = reach(&bridge)?;
    let to = reached.dialect;
    let is_kept = !(launch.ephemeral || to.is_lossless());
    let report = report(bridge.from, to, is_kept);
    if bridge.report {
        output::print_line(&report);
        return Ok(Exit::Done);
    }
    launch.require_consent = bridge.require_consent;
    unsupported_flags::refuse(&launch, to)?;
    if bridge.judge && !(to.ui_role().has_errands() && unsupported_flags::asks(to)) {
        return Err(exit::usage(format!(
            "--judge: a runtime that speaks {to} asks for nothing that could be judged here\n\nhint: leave it out"
        )));
    }
    let Some(place) = reached.place else {
        return Err(exit::usage("say where the runtime is\n\nhint: --to-socket PATH, or -- COMMAND"));
    };
    if bridge.stdio == bridge.socket.is_some() {
        return Err(exit::usage("say where the UI speaks\n\nhint: --stdio, or --socket PATH"));
    }
    if let Some(agent) = &reached.agent
        && let Some(exit) = agent_list::started(agent, bridge.yes).await?
    {
        return Ok(exit);
    }
    output::print_error(&report);
    let keep = match is_kept {
        true => Some(attach::keep_as(to, &place, KeptSession::default())?),
        false => None,
    };
    if is_kept {
        output::print_error(KEPT);
    }
    launch.allow.extend(bridge.allow);
    let leash = bridge.leash.then_some(LeashWish { shared: bridge.share, ..LeashWish::default() });
    let tape = bridge.record.as_deref().map(Tape::new);
    let runtime_tape = tape.as_ref().map(|tape| tape.beside("runtime"));
    let approach = Approach {
        dialect: to,
        begin: Begin::default(),
        person: Person::Beyond,
        size: output::terminal_size(),
        judged: bridge.judge,
        leash,
        listening: runtime_tape.as_ref().map(Tape::of_runtimes),
        in_room: false,
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
