//! The devices of the page: who was paired, who asks to be, and the list that allows, denies and revokes. Whoever runs the screen keeps them
//! and asks the server; here they are lines.

use super::lists;
use crate::clean::clean_line;
use crate::figures::ago;
use crate::model::Model;
use crate::msg::{Asking, DeviceLine, FleetWish, Fx};
use crate::picker::{Choice, Item, ListKind};
use crate::toasts::Topic;
use domain::harmless::quoted;
use domain::signal::Level;

/// Devices listed at most.
const MAX_LINES: usize = 2_000;
/// Said in the place of an empty list.
const NOBODY: &str = "no device is paired; `parlor web` in a shell opens the page";
/// How the command is written.
const USAGE: &str = "write it like: /devices, /devices allow 482 913, /devices deny, or /devices revoke ID";

/// `/devices`, and what stands behind it.
pub(super) fn command(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let (what, word) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let word = word.trim();
    match what {
        "" => {
            model.screen.devices.open();
            // The list says it.
            model.screen.toasts.over(Topic::Device);
            lists::open(model, ListKind::Devices, fx);
        }
        "revoke" if !word.is_empty() => revoke(word, fx),
        "allow" | "deny" => {
            let Some(asking) = model.screen.devices.asking().cloned() else {
                return model.toast(Level::Info, "no browser asks to be paired just now");
            };
            let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
            // Whoever types the code has compared it.
            if what == "allow" && digits(word) != digits(&asking.code) {
                return model
                    .toast(Level::Warning, "write the code that the browser shows: /devices allow CODE");
            }
            answer(model, asking.server, asking.id, what == "allow", fx);
        }
        _ => model.toast(Level::Info, USAGE),
    }
}

/// Somebody wants to become a device, or nobody does any more.
pub(super) fn asks(model: &mut Model, asking: Option<Asking>, fx: &mut Vec<Fx>) {
    model.screen.toasts.over(Topic::Device);
    if let Some(Asking { name, role, code, .. }) = &asking {
        let who = format!("{} asks to be paired as {}", quoted(name), clean_line(role));
        model.ring(&who, fx);
        let words = format!("{who} with the code {}; /devices allows or denies it", clean_line(code));
        model.toast_about(Topic::Device, Level::Warning, words);
    }
    model.screen.devices.ask(asking);
    show(model);
}

/// Somebody has become a device.
pub(super) fn joined(model: &mut Model, device: &DeviceLine) {
    let (name, role) = (quoted(&device.name), clean_line(&device.role));
    model.toast(Level::Warning, format!("{name} was paired as {role}; /devices revokes it"));
}

/// All devices were told.
pub(super) fn list(model: &mut Model, devices: Vec<DeviceLine>) {
    model.screen.devices.list(devices);
    show(model);
}

/// Brings the list up to date, if it is open.
fn show(model: &mut Model) {
    let now = model.screen.window.now();
    let Some(devices) = model.screen.devices.devices() else { return };
    let asking = model.screen.devices.asking().map(asking_item);
    let items = asking.into_iter().chain(devices.iter().map(|device| item(device, now)));
    let items: Vec<Item> = items.take(MAX_LINES).collect();
    let list = model.screen.over.list_mut().filter(|picker| picker.kind() == ListKind::Devices);
    let Some(picker) = list else { return };
    picker.renew(items, NOBODY);
    model.screen.devices.show(now);
}

/// A name as a browser gave it, fit to be shown.
fn called(name: &str) -> String {
    clean_line(name).trim().to_owned()
}

fn asking_item(asking: &Asking) -> Item {
    let Asking { server, id, name, role, code } = asking;
    let (name, role, code) = (quoted(name), clean_line(role), clean_line(code));
    Item {
        cells: Vec::new(),
        label: format!("{code}  {name}"),
        detail: format!("asks to be paired as {role}"),
        choice: Choice::Asking(*server, *id),
        sign: "? ",
        more: format!("Does the browser show the code {code}? Enter allows it, Del twice denies it."),
    }
}

fn item(device: &DeviceLine, now: domain::ids::Millis) -> Item {
    let DeviceLine { id, name, role, since } = device;
    Item {
        cells: Vec::new(),
        label: called(name),
        detail: format!("{}, paired {} · {}", clean_line(role), ago(now, *since), clean_line(id)),
        choice: Choice::Device(id.clone()),
        sign: "  ",
        more: String::new(),
    }
}

/// Allows who asks, from its line in the list.
pub(super) fn allow(model: &mut Model, server: u32, id: u64, fx: &mut Vec<Fx>) {
    let now = model.screen.window.now();
    if !model.screen.devices.is_read(now) {
        return model.toast(Level::Info, "compare the code first, then press Enter");
    }
    answer(model, server, id, true, fx);
}

/// Says a word about who asks.
pub(super) fn answer(model: &mut Model, server: u32, id: u64, allow: bool, fx: &mut Vec<Fx>) {
    if model.screen.devices.answer(server, id) {
        fx.push(Fx::Fleet(FleetWish::Pair { server, id, allow }));
    }
}

/// Takes a device's right away; those that are left are told.
pub(super) fn revoke(id: &str, fx: &mut Vec<Fx>) {
    fx.push(Fx::Fleet(FleetWish::Revoke(id.to_owned())));
}
