//! The fleet and the devices of the page for a terminal UI: tells what the host gathers in the screen's words, and does what is wished for
//! there.

use domain::ids::Millis;
use host::control::Asking;
use host::fleet::devices::{self, DeviceNews};
use host::fleet::{Gathering, act};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tui::{DeviceLine, FleetAct, FleetNews, FleetPort, FleetWish};
use web::{Act, Device};

/// Wishes that may wait, and things that are done to rows at once.
const WISHES: usize = 16;
/// News of devices that may wait for the screen.
const NEWS: usize = 16;

/// The fleet for a terminal UI, where it can be found. `visits`: whether whoever runs the UI takes the person to other processes.
pub(crate) fn port(visits: bool) -> FleetPort {
    FleetPort { begin: Arc::new(tend), pid: std::process::id(), visits }
}

/// Gathers while that is wished for, and does what is wished, until nobody wishes any more.
fn tend(told: mpsc::Sender<FleetNews>) -> mpsc::Sender<FleetWish> {
    let (wishes, mut wished) = mpsc::channel(WISHES);
    tokio::spawn(async move {
        let (mut gathering, mut acts) = (None::<Gathering>, JoinSet::new());
        let (mut watching, (tell, mut devices)) = (JoinSet::new(), mpsc::channel(NEWS));
        watching.spawn(devices::watch(tell));
        loop {
            let rows = async {
                match &mut gathering {
                    Some(gathering) => gathering.next().await,
                    None => std::future::pending().await,
                }
            };
            let heard = tokio::select! {
                wish = wished.recv() => {
                    match wish {
                        None => return,
                        Some(FleetWish::Watch(false)) => gathering = None,
                        Some(FleetWish::Watch(true)) if gathering.is_some() => {}
                        Some(FleetWish::Watch(true)) => match Gathering::begin() {
                            Ok(begun) => gathering = Some(begun),
                            Err(why) => {
                                let _ = told.send(FleetNews::Said(why.to_string())).await;
                            }
                        },
                        Some(_) if acts.len() >= WISHES => {}
                        Some(FleetWish::Act(act)) => {
                            acts.spawn(async { FleetNews::Said(act::act(asked(act)).await) });
                        }
                        Some(FleetWish::Devices) => {
                            acts.spawn(async { said(devices::list().await, |known| FleetNews::Devices(lines(&known))) });
                        }
                        Some(FleetWish::Revoke(device)) => {
                            acts.spawn(async move {
                                let revoked = |device: Device| format!("revoked: {} ({})", device.name, device.id);
                                said(devices::revoke(device).await, |device| FleetNews::Said(revoked(device)))
                            });
                        }
                        Some(FleetWish::Pair { server, id, allow }) => {
                            acts.spawn(async move { FleetNews::Said(devices::pair(server, id, allow).await) });
                        }
                    }
                    continue;
                }
                Some(Ok(told)) = acts.join_next() => told,
                Some(news) = devices.recv() => shown(news),
                rows = rows => match rows {
                    Some(rows) => FleetNews::Rows(rows),
                    None => {
                        gathering = None;
                        continue;
                    }
                },
            };
            if told.send(heard).await.is_err() {
                return;
            }
        }
    });
    wishes
}

fn asked(act: FleetAct) -> Act {
    match act {
        FleetAct::Say { pid, session, text, busy } => Act::Say { pid, session, text, busy },
        FleetAct::Stop { pid, session } => Act::Stop { pid, session },
    }
}

/// What came of it; what went wrong is said.
fn said<T>(done: Result<T, String>, news: impl FnOnce(T) -> FleetNews) -> FleetNews {
    done.map_or_else(FleetNews::Said, news)
}

fn shown(news: DeviceNews) -> FleetNews {
    match news {
        DeviceNews::Known(known) => FleetNews::Devices(lines(&known)),
        DeviceNews::Joined(device) => FleetNews::Joined(line(&device)),
        DeviceNews::Asking { server, id, asking } => {
            let Asking { name, role, code } = asking;
            FleetNews::Asking(Some(tui::Asking { server, id, name, role, code }))
        }
        DeviceNews::Over => FleetNews::Asking(None),
    }
}

fn lines(devices: &[Device]) -> Vec<DeviceLine> {
    devices.iter().map(line).collect()
}

fn line(device: &Device) -> DeviceLine {
    let Device { id, name, role, added, .. } = device;
    DeviceLine { id: id.clone(), name: name.clone(), role: role.to_string(), since: Millis(*added) }
}
