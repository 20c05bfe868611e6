//! `parlor replay`: play one side of a recording against a program and tell where it answers differently.

use crate::check::{TestedRole, relay};
use crate::exit::{self, Exit};
use crate::output;
use anyhow::Context;
use dialects::Dialect;
use host::guard;
use host::peer_trust;
use kit::generalize::generalize;
use kit::notation::{Report, Side, Transcript, Verdict};
use kit::peer::{Carrier, Peer, PeerAddress, PeerCommand};
use kit::player::{self, Manner};
use remote::origin::RuntimeAddress;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Play one side of a recording against a program and tell where it answers differently.
///
/// Ids and times are made anew in every conversation: they only have to agree with each other. A path in a home may lie in another home,
/// and a list of sessions may have others in it, unless the recording goes on with one of them. Exit code 1 when something differs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  parlor replay talk.txt --at-once -- python3 agent.py\n  parlor replay talk.txt --role ui -- \\\n    parlor attach --dialect asst --prompt \"list files\" -- {runtime}"
)]
pub(crate) struct Replay {
    /// The recording, as `parlor record` wrote it.
    file: PathBuf,
    /// What the program is; the other side is played.
    #[arg(long, value_enum, default_value_t = TestedRole::Runtime)]
    role: TestedRole,
    /// How many times faster than it was recorded.
    #[arg(long, default_value_t = 1.0, value_name = "N", conflicts_with = "at_once")]
    speed: f64,
    /// Wait for nothing but the program's answers.
    #[arg(long)]
    at_once: bool,
    /// Tell all differences, not only the first.
    #[arg(long)]
    all: bool,
    /// Ids, times, paths and lists must be the recorded ones, too.
    #[arg(long)]
    exact: bool,
    /// How long to wait for a line that is due, such as 20s.
    #[arg(long, default_value_t = 20, value_name = "TIME", value_parser = crate::flags::seconds)]
    patience: u64,
    /// The program listens on this Unix socket.
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    socket: Option<PathBuf>,
    /// The program and its arguments. `{socket}` becomes the path of a socket; for a UI, `{runtime}` a program to start.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Plays the recording; `Exit::Failed` when something differed.
pub(crate) async fn replay(replay: Replay) -> anyhow::Result<Exit> {
    let transcript = read(&replay.file)?;
    let Some(typed) = RuntimeAddress::of(replay.socket.as_ref(), &replay.command) else {
        return Err(exit::usage("say what to play it against\n\nhint: --socket PATH, or -- COMMAND"));
    };
    let address = match typed {
        RuntimeAddress::Socket(path) => PeerAddress::Socket(path, peer_trust::trust),
        RuntimeAddress::Command(command) => {
            PeerAddress::Command(PeerCommand { command, guard: guard::watching(), ..PeerCommand::default() })
        }
    };
    let carrier = carrier(&transcript);
    let (tested, mut peer) = match replay.role {
        TestedRole::Runtime => (Side::Runtime, Peer::runtime(&address, carrier).await?),
        TestedRole::Ui => (Side::Ui, Peer::ui(&address, carrier, &relay::command()?).await?),
    };
    let home = tools::home().map(|home| domain::path_text::write(&home));
    let transcript = if replay.exact { transcript } else { generalize(&transcript, tested, home.as_deref()) };
    let manner = Manner {
        speed: if replay.at_once { None } else { Some(replay.speed) },
        patience: Duration::from_secs(replay.patience),
        first_only: !replay.all,
    };
    let lanes = std::mem::take(&mut peer.lanes);
    let played = player::play_in(&transcript, tested, lanes, manner).await;
    let name = replay.file.display().to_string();
    let report = Report { name: &name, transcript: &transcript, outcomes: &played.outcomes };
    let passed = report.passed();
    output::print(&report.to_string());
    if !passed && played.outcomes.iter().any(|outcome| matches!(outcome.verdict, Verdict::Missing { .. })) {
        for line in peer.stderr() {
            output::print_error(&format!("program: {line}"));
        }
    }
    peer.close().await;
    Ok(if passed { Exit::Done } else { Exit::Failed })
}

/// Reads a transcript from a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Transcript> {
    let text = std::fs::read_to_string(path).with_context(|| {
        format!("cannot read {}; check the path, or write a recording with `parlor record`", path.display())
    })?;
    Transcript::parse(&text).map_err(|why| {
        // What may stand there is for whoever writes one by hand, and in the guide for those.
        let why = why.to_string();
        let why = why.split(';').next().unwrap_or_default();
        let hint = "`parlor record --dialect DIALECT -- COMMAND` writes one";
        anyhow::anyhow!("{} is no recording: {why}\n\nhint: {hint}", path.display())
    })
}

/// The wire that a transcript is in.
pub(crate) fn dialect(transcript: &Transcript) -> anyhow::Result<Dialect> {
    let name = transcript
        .heads
        .dialect
        .as_deref()
        .context("the transcript does not say its dialect; add a line `dialect NAME`")?;
    dialects::named(name).map_err(|why| anyhow::anyhow!("`{name}` is not a dialect of this program; {why}\n\nhint: the first line of the recording names it; a newer Parlor may know it"))
}

fn carrier(transcript: &Transcript) -> Carrier {
    match dialect(transcript) {
        Ok(dialect) if dialect.has_event_lane() => Carrier::Two,
        _ => Carrier::One,
    }
}
