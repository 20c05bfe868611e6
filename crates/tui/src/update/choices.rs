//! Lists that need nothing from the runtime: policies, colours, settings.

use crate::clean::clean_line;
use crate::model::Model;
use crate::picker::{CURRENT, Choice, IN_USE, Item};
use crate::policy::{DENIES_ALL, asks_when, policy_shown};
use crate::settings::{SETTINGS, Setting};
use crate::theme::THEMES;
use crate::world::SessionView;
use domain::session::Policy;

/// The sign of the one in use.
fn sign(current: bool) -> &'static str {
    if current { CURRENT } else { "  " }
}

/// What is told of it, and first that it is the one in use.
fn told(about: &str, current: bool) -> String {
    format!("{}{about}", if current { IN_USE } else { "" })
}

/// The list to choose from, the current one marked.
pub(super) fn policies(seen: &SessionView) -> Vec<Item> {
    let current = seen.state.settings.policy;
    let item = |(policy, about): (Policy, &str)| Item {
        cells: Vec::new(),
        label: policy.name().to_owned(),
        detail: about.to_owned(),
        choice: Choice::Policy(policy),
        sign: sign(policy == current),
        more: String::new(),
    };
    if !seen.abilities.policy && seen.abilities.errands {
        // What it does by itself goes by its rules; what it has done by our hands, by these.
        return [
            (Policy::ReadOnly, DENIES_ALL),
            (Policy::Ask, "what it has done here is asked; by itself it acts by its own rules"),
            (Policy::AutoEdit, "edits in this folder that it has done here run too"),
            (Policy::Sandboxed, "commands that it has done here run too, inside the sandbox"),
            (Policy::Full, "all that it has done here and stays inside the sandbox runs"),
        ]
        .map(item)
        .to_vec();
    }
    if !seen.abilities.policy {
        // Its rules are its own; what can be done here is to deny what it asks for, and to stop doing that.
        let back = (Policy::Ask, "its questions come to you again");
        let held = current == Policy::ReadOnly;
        return [(Policy::ReadOnly, DENIES_ALL)].into_iter().chain(held.then_some(back)).map(item).collect();
    }
    Policy::ALL.map(|policy| item((policy, asks_when(policy)))).to_vec()
}

/// The list to choose from, the current one marked.
pub(super) fn themes(model: &Model) -> Vec<Item> {
    let current = model.screen.preferences.settings().value(Setting::Theme);
    let about = |name: &str| match THEMES.iter().find(|(known, _, _)| *known == name) {
        Some((_, _, about)) => (*about).to_owned(),
        None => "fits the terminal".to_owned(),
    };
    let item = |value: &'static str| Item {
        cells: Vec::new(),
        label: value.to_owned(),
        detail: told(&about(value), value == current),
        choice: Choice::Value(Setting::Theme, value),
        sign: sign(value == current),
        more: String::new(),
    };
    Setting::Theme.values().into_iter().map(item).collect()
}

/// Everything that can be set: the screen, then the session, then what is wrong in the settings file.
pub(super) fn settings(model: &Model) -> Vec<Item> {
    let columns = SETTINGS.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0);
    let line = |name: &str, value: &str| format!("{name:<columns$}  {value:<10}").trim_end().to_owned();
    let screen = &model.screen;
    let mut items: Vec<Item> = SETTINGS
        .iter()
        .map(|(setting, name, about)| Item {
            cells: Vec::new(),
            label: line(name, screen.preferences.settings().value(*setting)),
            detail: (*about).to_owned(),
            choice: Choice::Setting(*setting),
            sign: "  ",
            more: format!("can be {}", setting.values().join(", ")),
        })
        .collect();
    let seen = model.world.seen();
    let in_use = seen
        .model()
        .map_or(String::new(), |model| clean_line(&seen.named(model).unwrap_or_else(|| model.name.clone())));
    let tools = match &seen.state.settings.tools {
        Some(tools) => format!("{} on", tools.len()),
        None => "all".to_owned(),
    };
    let policy = policy_shown(seen).map_or("", |(word, _)| word);
    let can = &seen.abilities;
    for (name, value, about, command, can) in [
        ("keys", "see /keys", "opens the keys, and how to change them", "/keys", true),
        ("model", in_use.as_str(), "the model of this session", "/model", can.models || can.set_model),
        ("mode", policy, "what runs unasked, in this session only", "/policy", can.policy || can.consent),
        (
            "tools",
            tools.as_str(),
            "the tools that this session may use",
            "/tools",
            can.list_tools || can.set_tools,
        ),
    ] {
        if !can {
            continue;
        }
        let choice = Choice::Command(command);
        items.push(Item {
            cells: Vec::new(),
            label: line(name, value),
            detail: about.to_owned(),
            choice,
            sign: "  ",
            more: format!("Enter opens {command}"),
        });
    }
    let note = |label: String| {
        let (detail, more) = (String::new(), String::new());
        Item { cells: Vec::new(), label, detail, choice: Choice::Nothing, sign: "! ", more }
    };
    items.extend(screen.start.about().told.iter().map(|told| note(clean_line(told))));
    items
}
