//! Native lines between a page and the process that has its session open. That process holds the page to the role of its device, which stands
//! in the hello that goes on from here; one of before this was told there is, and until it has answered, every line is judged here.
//!
//! Invariants: neither side's lines pile up here; of a device that may not do everything, only lines that we have understood go on, and
//! those as we have understood them, so that nothing can be read in two ways, until the process behind has said that it holds the page to
//! its role; before each command it is looked again who holds the connection; a device that is revoked ends at once.

use crate::code;
use crate::devices::{Device, Devices, Role};
use crate::holder::Holder;
use link::{Incoming, Lane, LinkIo, Outgoing};
use native::wire::{About, Complaint, FromRuntime, FromUi, Settled, TicketOnly};
use native::{TOLD_RIGHTS, capability};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{mpsc, watch};
use wire::lines::Frame;

/// Carries lines until either side is gone or it is over (the device may no longer); gives what the page is told with the end.
pub(crate) async fn carry(
    holder: &impl Holder,
    page: &mut LinkIo,
    mut room: LinkIo,
    role: Role,
    over: impl Future<Output = (u16, String)>,
) -> (u16, String) {
    let gone = || (code::GONE, "the process that had the session open went away".to_owned());
    let (to_page, to_room) = (page.outgoing.clone(), room.outgoing.clone());
    let held = PageRights { role, there: AtomicBool::new(false) };
    tokio::select! {
        biased;
        ended = over => ended,
        ended = inwards(holder, &mut page.incoming, (&to_room, &to_page), &held) => ended,
        () = outwards(&mut room.incoming, &to_page, &held) => gone(),
    }
}

/// What the page is held to, and by whom.
struct PageRights {
    role: Role,
    /// The process behind has said that it holds the page to that.
    there: AtomicBool,
}

impl PageRights {
    /// Looks whether this is the answer to the page's hello that says so.
    fn hear(&self, line: &str) {
        if self.there.load(Ordering::Relaxed) || !line.starts_with("{\"hello\"") {
            return;
        }
        let Ok(FromRuntime::Hello(hello)) = serde_json::from_str(line) else { return };
        let is_held = |rights: Role| self.role.lowered_to(rights) == rights;
        if hello.revision >= TOLD_RIGHTS && hello.rights.is_some_and(is_held) {
            self.there.store(true, Ordering::Relaxed);
        }
    }

    /// Where a line of the page goes.
    fn passed(&self, line: String) -> Passed {
        match self.there.load(Ordering::Relaxed) {
            true => Passed::On(line),
            false => passed(line, self.role),
        }
    }
}

/// Waits until the device is revoked or has another role.
pub(crate) async fn dismissed(device: &Device, mut devices: watch::Receiver<Arc<Devices>>) -> (u16, String) {
    loop {
        if devices.changed().await.is_err() {
            return std::future::pending().await;
        }
        let devices = devices.borrow_and_update().clone();
        match devices.find(&device.id) {
            Some(now) if now.revoked.is_none() && now.role == device.role => {}
            Some(now) if now.revoked.is_none() => {
                return (code::ROLE, format!("this device is {} now", now.role));
            }
            _ => return (code::REVOKED, "this device was revoked".to_owned()),
        }
    }
}

async fn outwards(room: &mut mpsc::Receiver<Incoming>, to_page: &Outgoing, held: &PageRights) {
    while let Some(line) = next(room).await {
        held.hear(&line);
        to_page.room_for(line.len()).await;
        if to_page.try_send(Lane::MAIN, line).is_err() {
            return;
        }
    }
    // What was said last is still read by the page: closing comes after it.
}

async fn inwards(
    holder: &impl Holder,
    page: &mut mpsc::Receiver<Incoming>,
    (to_room, to_page): (&Outgoing, &Outgoing),
    held: &PageRights,
) -> (u16, String) {
    while let Some(line) = next(page).await {
        if is_command(&line) && !holder.may_command().await {
            return (code::DEVICE, "this connection is held by a command of an agent".to_owned());
        }
        let (to, line) = match held.passed(line) {
            Passed::On(line) => (to_room, line),
            Passed::Back(line) => (to_page, line),
        };
        to.room_for(line.len()).await;
        if to.try_send(Lane::MAIN, line).is_err() {
            break;
        }
    }
    (1000, String::new())
}

/// Whether a line is more than a greeting: a prompt and a mode lead to deeds as an answer does. The process behind reads lines as this
/// does, so that nothing is a command there and none here.
fn is_command(line: &str) -> bool {
    matches!(serde_json::from_str(line), Ok(FromUi::Command(_)))
}

async fn next(link: &mut mpsc::Receiver<Incoming>) -> Option<String> {
    loop {
        match link.recv().await? {
            Incoming::Frame { frame: Frame::Line(line), .. } => return Some(line),
            Incoming::Frame { .. } => {}
            Incoming::Closed { .. } => return None,
        }
    }
}

/// Where a page's line goes.
#[derive(Debug, PartialEq, Eq)]
enum Passed {
    On(String),
    /// It is answered here.
    Back(String),
}

/// Judges a line by the role of whoever says it.
fn passed(line: String, role: Role) -> Passed {
    if role == Role::Controller {
        return Passed::On(line);
    }
    let said = match serde_json::from_str::<FromUi>(&line) {
        Ok(said) => said,
        Err(why) => {
            let ticket = serde_json::from_str::<TicketOnly>(&line).ok().map(|only| only.command.ticket);
            let hint = Some("a device that may do everything is not read here".to_owned());
            let about = About::Line;
            return back(&FromRuntime::Error(Complaint { about, ticket, message: why.to_string(), hint }));
        }
    };
    match said {
        FromUi::Hello(mut hello) => {
            if role == Role::Observer {
                hello.capabilities.retain(|can| can != capability::ANSWERS);
            }
            hello.rights = Some(role.lowered_to(hello.rights.unwrap_or_default()));
            on(&FromUi::Hello(hello))
        }
        FromUi::Command(wanted) => match role.may(&wanted.what) {
            Ok(()) => on(&FromUi::Command(wanted)),
            Err(refusal) => {
                back(&FromRuntime::Settled(Settled { ticket: wanted.ticket, with: Err(refusal) }))
            }
        },
        said @ (FromUi::WatchFleet(_) | FromUi::Error(_)) => on(&said),
    }
}

fn on(line: &FromUi) -> Passed {
    // What was read from JSON can be written as such.
    Passed::On(wire::encode(line).unwrap_or_default())
}

fn back(line: &FromRuntime) -> Passed {
    Passed::Back(wire::encode(line).unwrap_or_default())
}
