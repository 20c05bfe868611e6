//! The hub in front of a foreign runtime: which store keeps its sessions, and who does what it asks of its client.

use crate::errands::{self, Doing};
use crate::origin::KeepAs;
use host::launch::Launch;
use host::{guard, kept, paths, settings, stack, vault};
use hub::core::{Engine, Setup, Sharing};
use hub::{EngineSeat, ForeignKeeping, Hub, Log, RemoteSeat};
use store::{MemoryStore, Store};

/// The store for the sessions of a foreign runtime, and the one of them to go on with, opened for writing.
pub(crate) fn keeping(
    launch: &Launch,
    keep: KeepAs,
    log: &Log,
) -> anyhow::Result<(Box<dyn Store>, ForeignKeeping)> {
    let (mut store, _) = stack::store(launch, log)?;
    let kept = match keep.session {
        Some(session) => match store.open(&session) {
            Ok(opened) => Some((session, opened)),
            Err(why) if keep.insists => return Err(kept::told(&why)),
            // Not kept, or by somebody else: it is looked for by its name, and who keeps it is told then.
            Err(_) => None,
        },
        None => None,
    };
    Ok((store, ForeignKeeping { origin: keep.origin, kept }))
}

/// Puts a hub in front of a foreign runtime, and somebody beside it who does its errands, where its wire has such.
pub(crate) fn start(
    launch: &Launch,
    mut seat: RemoteSeat,
    keeping: Option<(Box<dyn Store>, ForeignKeeping)>,
    sharing: Sharing,
    log: Log,
) -> anyhow::Result<(Hub, Option<Doing>)> {
    let mut config = settings::read().config;
    let work_dir = paths::work_dir(launch, &mut config)?;
    let doing = if seat.role.has_errands() {
        // What cannot be kept costs undo and nothing else.
        let vault = match seat.hello.judges {
            true => vault::open((!launch.ephemeral).then_some(paths::data()?.as_path()))
                .map_err(|why| log(&format!("warning: file changes cannot be undone: {why}")))
                .ok(),
            false => None,
        };
        let (port, doing) =
            errands::begin(&work_dir, &paths::data()?, guard::of(&config), &launch.allow, vault)?;
        seat.errands = Some(port);
        seat.hello.does_errands = true;
        Some(doing)
    } else {
        None
    };
    // What else than read-only was asked for was refused where a runtime does everything by its own hands and rules.
    let policy = if seat.lossless { None } else { launch.policy };
    let setup = stack::setup(Engine::behind_wire(seat.lossless), &work_dir, policy.unwrap_or_default());
    let (require_consent, is_headless) = (launch.require_consent, seat.hello.is_away);
    let setup = Setup { require_consent, is_headless, sharing, ..setup };
    if let Some((store, keeping)) = keeping {
        return Ok((Hub::start_keeping(setup, store, seat, keeping, log), doing));
    }
    let engine = EngineSeat::Remote(Box::new(seat));
    Ok((Hub::start(setup, Box::new(MemoryStore::default()), engine, log), doing))
}
