//! `parlor bridge`: a UI of one wire on a runtime of another. What one side lacks (queues, deadlines, who answered) the hub supplies.

use crate::cli::{Bridge, Common};
use crate::exit::{self, Exit};
use crate::record::Tape;
use crate::remote::{Front, Place};
use crate::serve::{self, Host, Wire};
use crate::stack;
use dialects::Dialect;
use dialects::fidelity::{Carried, pair};

/// Bridges until the UI leaves (stdio) or the program is told to stop (socket).
pub(crate) async fn bridge(common: Common, bridge: Bridge) -> anyhow::Result<Exit> {
    let report = report(bridge.from, bridge.to);
    if bridge.report {
        exit::say(&report);
        return Ok(Exit::Done);
    }
    let Some(place) = Place::of(bridge.to_socket.as_ref(), &bridge.command) else {
        exit::complain("error: say where the runtime is\n\nhint: --to-socket PATH, or -- COMMAND");
        std::process::exit(2);
    };
    if bridge.stdio == bridge.socket.is_some() {
        exit::complain("error: say where the UI speaks\n\nhint: --stdio, or --socket PATH");
        std::process::exit(2);
    }
    exit::complain(&report);
    let tape = bridge.record.as_deref().map(Tape::new);
    let runtime_tape = tape.as_ref().map(|tape| tape.beside("runtime"));
    let front =
        Front::open(&common, bridge.to, place, None, runtime_tape.as_ref(), stack::log_to_stderr()).await?;
    let host = Host::in_front(&stack::working_directory(&common)?, bridge.options.clone(), tape.clone());
    let serving = async {
        match &bridge.socket {
            None => serve::on_stdio(&front.hub, &host, bridge.from).await,
            Some(path) => serve::on_sockets(&front.hub, &host, &[Wire::Known(bridge.from)], path).await,
        }
    };
    let exit = tokio::select! {
        served = serving => served.map(|()| Exit::Done),
        () = serve::told_to_stop() => Ok(Exit::Done),
    };
    front.close(exit.is_ok()).await;
    for tape in [tape, runtime_tape].into_iter().flatten() {
        tape.finish();
    }
    exit
}

/// What becomes of each item of the vocabulary between these two wires.
fn report(from: Dialect, to: Dialect) -> String {
    let mut text = format!("a UI that speaks {from} on a runtime that speaks {to}:\n");
    let carried = pair(from.fidelity(), to.fidelity());
    let exact: Vec<&str> =
        carried.iter().filter(|(_, how)| *how == Carried::Exact).map(|(item, _)| *item).collect();
    text.push_str(&format!("  exact     {}\n", exact.join(", ")));
    for (item, how) in carried {
        match how {
            Carried::Exact => {}
            Carried::Emulated(how) => text.push_str(&format!("  emulated  {item}: {how}\n")),
            Carried::Dropped(why) => text.push_str(&format!("  dropped   {item}: {why}\n")),
            Carried::Refused(why) => text.push_str(&format!("  refused   {item}: {why}\n")),
        }
    }
    text.trim_end().to_owned()
}
