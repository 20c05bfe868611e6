//! Lists that need nothing from the runtime: policies, colours, settings.

use crate::clean::clean_line;
use crate::model::Model;
use crate::picker::{Choice, Item};
use crate::settings::{SETTINGS, Setting};
use crate::theme::{THEMES, Theme};
use crate::view;
use crate::world::Seen;
use domain::session::Policy;

/// The sign of the one in use.
fn sign(current: bool) -> &'static str {
    if current { "› " } else { "  " }
}

/// The list to choose from, the current one marked.
pub(super) fn policies(seen: &Seen) -> Vec<Item> {
    let current = seen.state.settings.policy;
    let item = |(policy, about): (Policy, &str)| Item {
        label: policy.name().to_owned(),
        detail: about.to_owned(),
        choice: Choice::Policy(policy),
        sign: sign(policy == current),
        more: String::new(),
    };
    if !seen.abilities.policy && seen.abilities.errands {
        // What it does by itself goes by its rules; what it has done by our hands, by these.
        return [
            (Policy::ReadOnly, view::DENIES_ALL),
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
        return [(Policy::ReadOnly, view::DENIES_ALL)]
            .into_iter()
            .chain(held.then_some(back))
            .map(item)
            .collect();
    }
    [
        (Policy::ReadOnly, "nothing that changes anything"),
        (Policy::Ask, "reading runs; everything else is asked"),
        (Policy::AutoEdit, "edits in this folder run too; commands are asked"),
        (Policy::Sandboxed, "commands run too, inside the sandbox; leaving it is asked"),
        (Policy::Full, "all that stays inside the sandbox runs: only where nothing can be lost"),
    ]
    .map(item)
    .to_vec()
}

/// The list to choose from, the current one marked.
pub(super) fn themes(model: &Model) -> Vec<Item> {
    let current = model.screen.settings.value(Setting::Theme);
    let about = |name: &str| match THEMES.iter().find(|(known, _, _)| *known == name) {
        Some((_, _, about)) => (*about).to_owned(),
        None => format!("follows your terminal: {} here", Theme::name(model.screen.auto)),
    };
    let item = |value: &'static str| Item {
        label: value.to_owned(),
        detail: about(value),
        choice: Choice::Value(Setting::Theme, value),
        sign: sign(value == current),
        more: String::new(),
    };
    Setting::Theme.values().into_iter().map(item).collect()
}

/// Everything that can be set: the screen, then the session, then what is wrong in the settings file.
pub(super) fn settings(model: &Model) -> Vec<Item> {
    let columns = SETTINGS.iter().map(|(_, name, _)| name.len()).max().unwrap_or(0);
    let line = |name: &str, value: &str| format!("{name:<columns$}  {value:<8}");
    let screen = &model.screen;
    let mut items: Vec<Item> = SETTINGS
        .iter()
        .map(|(setting, name, about)| Item {
            label: line(name, screen.settings.value(*setting)),
            detail: (*about).to_owned(),
            choice: Choice::Setting(*setting),
            sign: "  ",
            more: format!("{about}\n{}", setting.values().join(", ")),
        })
        .collect();
    let state = &model.world.state().settings;
    let in_use = state.model.as_ref().map_or(String::new(), |model| clean_line(&model.to_string()));
    let policy = view::policy_shown(model.world.seen()).map_or("", |(word, _)| word);
    let can = &model.world.seen().abilities;
    for (name, value, about, command, can) in [
        ("keys", "", "which key does what", "/keys", true),
        ("model", in_use.as_str(), "of this session", "/model", can.models || can.set_model),
        (
            "policy",
            policy,
            "what may run without asking, in this session",
            "/policy",
            can.policy || can.consent,
        ),
        ("tools", "", "of this session", "/tools", can.list_tools || can.set_tools),
    ] {
        if !can {
            continue;
        }
        let choice = Choice::Command(command);
        items.push(Item {
            label: line(name, value),
            detail: about.to_owned(),
            choice,
            sign: "→ ",
            more: String::new(),
        });
    }
    let note = |label: String, sign| {
        let more = label.clone();
        Item { label, detail: String::new(), choice: Choice::Nothing, sign, more }
    };
    if !screen.about.settings.is_empty() {
        items.push(note(format!("kept in {}", clean_line(&screen.about.settings)), "  "));
    }
    items.extend(screen.about.told.iter().map(|told| note(clean_line(told), "! ")));
    items
}
