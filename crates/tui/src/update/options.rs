//! What can be set of an agent, in its own words: the lists of its options and their values, and setting one.

use super::lists;
use crate::clean::clean_line;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::picker::{CURRENT, Choice, Item, ListKind};
use domain::command::Command;
use domain::content::Json;
use domain::port::menu::{AgentChoice, AgentOption, OptionKind, SET_OPTION, SetOption};
use domain::signal::Level;

/// `/options`, `/options ID` and `/options ID VALUE`.
pub(super) fn command(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let (id, value) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    if id.is_empty() {
        return lists::open(model, ListKind::Options, fx);
    }
    let options = &model.world.seen().abilities.menu.options;
    let known = options.iter().any(|option| option.id == id);
    match (known, value.trim()) {
        (true, "") => choose(model, id, fx),
        (true, value) => set(model, id.to_owned(), value.to_owned(), fx),
        (false, _) => {
            let ids: Vec<String> = options.iter().map(|option| clean_line(&option.id)).collect();
            model.toast(Level::Info, format!("options: {}", ids.join(", ")));
        }
    }
}

/// `/mode` of an agent that has modes of its own; `false` where it has none.
pub(super) fn mode(model: &mut Model, word: &str, fx: &mut Vec<Fx>) -> bool {
    let Some(option) = model.world.seen().abilities.menu.of_kind(OptionKind::Mode) else { return false };
    let id = option.id.clone();
    match word {
        "" => choose(model, &id, fx),
        word => set(model, id, word.to_owned(), fx),
    }
    true
}

/// Sets an option; a value that it has not is refused by who knows them.
pub(super) fn set(model: &mut Model, id: String, value: String, fx: &mut Vec<Fx>) {
    let Ok(payload) = serde_json::to_string(&SetOption { id, value }) else { return };
    let command = Command::Extension { name: SET_OPTION.to_owned(), payload: Json::verbatim(payload) };
    model.send(Want::Word("set"), command, fx);
}

/// Opens the values of an option.
pub(super) fn choose(model: &mut Model, id: &str, fx: &mut Vec<Fx>) {
    let found = model.world.seen().abilities.menu.options.iter().find(|option| option.id == id);
    let Some(option) = found.cloned() else { return };
    lists::open(model, ListKind::OptionValues, fx);
    let item = |choice: &AgentChoice| {
        let current = choice.value == option.value;
        let told = [current.then_some("in use"), choice.group.as_deref(), choice.about.as_deref()];
        let told: Vec<String> = told.into_iter().flatten().map(clean_line).collect();
        Item {
            cells: Vec::new(),
            label: clean_line(&choice.name),
            detail: told.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · "),
            choice: Choice::SetOption(option.id.clone(), choice.value.clone()),
            sign: if current { CURRENT } else { "  " },
            more: more(choice.about.as_deref()),
        }
    };
    let at = option.choices.iter().position(|choice| choice.value == option.value).unwrap_or(0);
    if let Some(picker) = model.screen.over.list_mut() {
        picker.call(&clean_line(&option.name));
        picker.fill(option.choices.iter().map(item).collect(), at, "it has no values");
    }
}

/// The options, each with the value it has.
pub(super) fn items(options: &[AgentOption]) -> Vec<Item> {
    let item = |option: &AgentOption| {
        let about = option.about.as_deref().map(clean_line).filter(|about| !about.is_empty());
        let now = clean_line(option.shown());
        Item {
            cells: Vec::new(),
            label: clean_line(&option.name),
            detail: about.map_or(now.clone(), |about| format!("{now} · {about}")),
            choice: Choice::Option(option.id.clone()),
            sign: "  ",
            more: more(option.about.as_deref()),
        }
    };
    options.iter().map(item).collect()
}

fn more(about: Option<&str>) -> String {
    about.map(lists::of_several).unwrap_or_default()
}
