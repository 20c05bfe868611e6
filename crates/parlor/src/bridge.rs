//! `parlor bridge`: a UI of one wire on a runtime of another. What one side lacks (queues, deadlines, who answered) the hub supplies.

use crate::cli::Bridge;
use crate::exit::{self, Exit};
use crate::launch::Launch;
use crate::ps::announcement::Announcement;
use crate::record::Tape;
use crate::remote::{Begin, Front, Person, RuntimeAddress};
use crate::serve::{self, Host, Wire};
use crate::stop::{self, Manner, Over, Runs};
use crate::{places, stack, their_flags};
use dialects::Dialect;
use roles::Item;
use roles::fidelity::{Carried, Verdict};

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
