//! What the person allowed for good: seen, narrowed, taken back. The runtime keeps it and tells it; here it is only a list.

use super::lists;
use crate::clean::clean_line;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::picker::{AllowedRule, Choice, Item, ListKind};
use domain::command::{Command, RULES};
use domain::content::Json;
use domain::signal::Level;
use serde_json::{Value, json};

/// Rules listed at most.
const MAX_RULES: usize = 2_000;

/// `/rules`, and what stands behind it.
pub(super) fn command(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    if !can.policy {
        let who = if can.name.is_empty() { "this runtime".to_owned() } else { clean_line(&can.name) };
        let word =
            format!("{who} acts by its own rules and keeps them itself; `parlor rules` lists Parlor's");
        return model.toast(Level::Info, word);
    }
    let (what, words) = argument.split_once(char::is_whitespace).unwrap_or((argument, ""));
    let asked = match (what, words.trim()) {
        ("", _) => json!({}),
        ("narrow", to) if !to.is_empty() => json!({ "narrow": { "to": to } }),
        _ => {
            return model.toast(Level::Info, "write it like: /rules, or /rules narrow cargo test --lib");
        }
    };
    lists::open(model, ListKind::Rules, fx);
    model.send(Want::List(ListKind::Rules), ask(&asked), fx);
}

fn ask(what: &Value) -> Command {
    Command::Extension { name: RULES.to_owned(), payload: Json::verbatim(what.to_string()) }
}

/// Takes a rule back; those that are left come as the answer.
pub(super) fn revoke(model: &mut Model, rule: &AllowedRule, fx: &mut Vec<Fx>) {
    let Ok(named) = serde_json::from_str::<Value>(&rule.rule) else { return };
    let asked = json!({ "revoke": { "project": rule.project, "rule": named } });
    model.send(Want::Revoked, ask(&asked), fx);
}

/// Puts the words of a rule into the composer, to be made more.
pub(super) fn narrow(model: &mut Model, rule: &AllowedRule) {
    match &rule.narrow {
        Some(words) => {
            model.screen.composer.set(format!("/rules narrow {words}"));
            model.toast(Level::Info, "add to it and send it; unchanged it means exactly this command");
        }
        None => model.toast(Level::Info, "this one cannot be narrowed here; Del in the list revokes it"),
    }
}

/// The lines of the list: those of the session, of this project, of the others.
pub(super) fn items(told: &Json) -> Vec<Item> {
    let Ok(told) = serde_json::from_str::<Value>(told.as_str()) else { return Vec::new() };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().map(clean_line).unwrap_or_default();
    let mut items = Vec::new();
    let mut add = |rules: &Value, project: Option<&str>, is_here: bool, detail: &str| {
        for rule in list(rules) {
            let words = text(&rule["words"]);
            let narrow = rule["narrow"].as_str().filter(|_| is_here).map(str::to_owned);
            let allowed =
                AllowedRule { project: project.map(str::to_owned), rule: rule["rule"].to_string(), narrow };
            items.push(Item {
                cells: Vec::new(),
                more: String::new(),
                label: words,
                detail: detail.to_owned(),
                choice: Choice::Rule(Box::new(allowed)),
                sign: "  ",
            });
        }
    };
    add(&told["session"], None, false, "for this session");
    let mut projects = list(&told["projects"]);
    projects.sort_by_key(|project| project["here"] != true);
    for project in &projects {
        let path = project["project"].as_str().unwrap_or_default();
        let is_here = project["here"] == true;
        let detail = if is_here { "in this project".to_owned() } else { format!("in {}", clean_line(path)) };
        add(&project["rules"], Some(path), is_here, &detail);
    }
    items.extend(list(&told["unread"]).iter().map(|why| Item {
        cells: Vec::new(),
        label: text(why),
        detail: String::new(),
        choice: Choice::Nothing,
        sign: "✗ ",
        more: String::new(),
    }));
    items.truncate(MAX_RULES);
    items
}
