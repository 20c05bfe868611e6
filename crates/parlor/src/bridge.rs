//! `parlor bridge`: a UI of one wire on a runtime of another. What one side lacks (queues, deadlines, who answered) the hub supplies.

use crate::announcement::Announcement;
use crate::exit::{self, Exit};
use crate::host::Host;
use crate::launch::Launch;
use crate::origin::RuntimeAddress;
use crate::remote::{Begin, Front, Person};
use crate::serve::{self, Wire};
use crate::stop::{self, Manner, Over, Runs};
use crate::tape::Tape;
use crate::{places, stack, their_flags};
use clap::Args;
use dialects::Dialect;
use roles::Item;
use roles::fidelity::{Carried, Verdict};
use std::ffi::OsString;
use std::path::PathBuf;

/// A UI of one wire on a runtime of another.
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
    let report = report(bridge.from, bridge.to);
    if bridge.report {
        exit::say(&report);
        return Ok(Exit::Done);
    }
    launch.require_consent = bridge.require_consent;
    their_flags::refuse(&launch, bridge.to)?;
    let Some(place) = RuntimeAddress::of(bridge.to_socket.as_ref(), &bridge.command) else {
        return Err(exit::usage("say where the runtime is\n\nhint: --to-socket PATH, or -- COMMAND"));
    };
    if bridge.stdio == bridge.socket.is_some() {
        return Err(exit::usage("say where the UI speaks\n\nhint: --stdio, or --socket PATH"));
    }
    exit::complain(&report);
    let tape = bridge.record.as_deref().map(Tape::new);
    let runtime_tape = tape.as_ref().map(|tape| tape.beside("runtime"));
    let front = Front::open(
        &launch,
        bridge.to,
        place,
        Begin::default(),
        Person::Beyond,
        runtime_tape.as_ref(),
        None,
        stack::log_to_stderr(),
    )
    .await?;
    let cwd = places::working_directory(&launch)?;
    let warnings = decided_elsewhere(bridge.from, bridge.to).into_iter().collect();
    let host = Host::in_front(&cwd, bridge.options.clone(), warnings, tape.clone());
    let serving = format!("bridge: {} on {}", bridge.from, bridge.to);
    // Held until the end.
    let _announcement = Announcement::open(&front.hub, &host, &cwd, serving).await;
    let serving = async {
        match &bridge.socket {
            None => serve::on_stdio(&front.hub, &host, bridge.from).await,
            Some(path) => serve::on_sockets(&front.hub, &host, &[Wire::Known(bridge.from)], path).await,
        }
    };
    let last_lines = serve::last_lines(bridge.stdio);
    // The runtime waits for an answer, and ends with us.
    let manner = Manner { runs: Runs::BreakOff, last_lines, keeps_questions: false };
    let ended = stop::until_told(&front.hub, serving, manner).await;
    let exit = ended.map(|over| match over {
        Over::UiGone | Over::Told => Exit::Done,
        Over::RuntimeLost => Exit::Failed,
    });
    front.close(matches!(exit, Ok(Exit::Done))).await;
    for tape in [tape, runtime_tape].into_iter().flatten() {
        tape.finish();
    }
    exit
}

/// What a person decides with: that one of these is lost must be known before anything else.
const AUTHORITY: [Item; 7] = [
    Item::Cancel,
    Item::Answer,
    Item::Consent,
    Item::ConsentScope,
    Item::DenialReason,
    Item::Decision,
    Item::Policy,
];

/// What a person who decides here cannot decide on that runtime, in a sentence: stderr is thrown away by most UIs.
fn decided_elsewhere(from: Dialect, to: Dialect) -> Option<String> {
    let items = from.carried_on(to).into_iter();
    let lost = |carried: &Carried| {
        AUTHORITY.contains(&carried.item) && matches!(carried.verdict, Verdict::Dropped | Verdict::Refused)
    };
    let lost: Vec<Carried> = items.filter(lost).collect();
    let words = grouped(&lost).into_iter().map(|(verdict, items, why)| {
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        format!("{} {verdict}{why}", items.join(", "))
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| format!("A runtime that speaks {to} is behind this: {}.", words.join("; ")))
}

/// What becomes of each item of the vocabulary between these two wires: what decides first, then the rest; items of one fate together.
fn report(from: Dialect, to: Dialect) -> String {
    let (decides, rest): (Vec<_>, Vec<_>) =
        from.carried_on(to).into_iter().partition(|carried| AUTHORITY.contains(&carried.item));
    let mut text = format!("a UI that speaks {from} on a runtime that speaks {to}\n");
    for (head, items) in [("what the person decides", decides), ("everything else", rest)] {
        text.push_str(&format!("\n{head}\n"));
        for (verdict, items, why) in grouped(&items) {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            text.push_str(&format!("  {verdict:<9} {}{why}\n", items.join(", ")));
        }
    }
    text.trim_end().to_owned()
}

/// Items with the same fate for the same reason, the best fate first.
fn grouped(items: &[Carried]) -> Vec<(Verdict, Vec<&'static str>, &str)> {
    let mut groups: Vec<(Verdict, Vec<&'static str>, &str)> = Vec::new();
    for verdict in Verdict::ALL {
        for Carried { item, why, .. } in items.iter().filter(|carried| carried.verdict == verdict) {
            match groups.iter_mut().find(|(of, _, reason)| *of == verdict && *reason == why) {
                Some((_, items, _)) => items.push(item.name()),
                None => groups.push((verdict, vec![item.name()], why)),
            }
        }
    }
    groups
}
