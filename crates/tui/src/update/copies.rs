//! What can be copied: the last answer, a block of code, what a command printed, everything. From a list or by name.

use super::lists;
use crate::cell::summary;
use crate::clean::{clean, clean_line};
use crate::markdown;
use crate::model::Model;
use crate::msg::Fx;
use crate::picker::{Choice, Copied, Item, ListKind};
use domain::content::{Part, Role};
use domain::signal::Level;
use domain::state::{EntryKind, Message, State};

/// Blocks of code that are offered at most, the newest.
const MAX_CODES: usize = 200;

/// `/copy`, and what stands behind it.
pub(super) fn command(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let what = match argument {
        "" => return lists::open(model, ListKind::Copies, fx),
        "answer" => Copied::Answer,
        "code" => Copied::Code(0),
        "output" => Copied::Output,
        "all" => Copied::All,
        _ => {
            let word = "write it like: /copy, /copy answer, /copy code, /copy output or /copy all";
            return model.toast(Level::Info, word);
        }
    };
    copy(model, what, fx);
}

/// Copies it, or says that there is none.
pub(super) fn copy(model: &mut Model, what: Copied, fx: &mut Vec<Fx>) {
    let state = model.world.state();
    let text = match what {
        Copied::Answer => answer(state),
        Copied::Code(at) => codes(state, at + 1).into_iter().nth(at).map(|(_, code)| code),
        Copied::Output => output(model).map(|(_, text)| text),
        Copied::All => Some(export::markdown(state)).filter(|_| state.leaf.is_some()),
    };
    match (text, what) {
        (Some(text), _) => model.copy(&text, fx),
        (None, Copied::Code(_)) => model.toast(Level::Info, "no answer holds code yet"),
        (None, Copied::Output) => model.toast(Level::Info, "no command has printed anything yet"),
        (None, Copied::Answer | Copied::All) => model.toast(Level::Info, "there is no answer yet"),
    }
}

/// All that can be copied now, the nearest first.
pub(super) fn items(model: &Model) -> Vec<Item> {
    let state = model.world.state();
    let item = |label: String, detail: String, text: &str, what| Item {
        cells: Vec::new(),
        label,
        detail,
        choice: Choice::Copy(what),
        sign: "  ",
        more: lists::beginning(&clean(text)),
    };
    let mut items = Vec::new();
    if let Some(text) = answer(state) {
        items.push(item("the last answer".to_owned(), first_line(&text), &text, Copied::Answer));
    }
    if let Some((line, text)) = output(model) {
        items.push(item(format!("what `{line}` printed"), first_line(&text), &text, Copied::Output));
    }
    for (at, (language, code)) in codes(state, MAX_CODES).into_iter().enumerate() {
        let name = if language.trim().is_empty() { "code".to_owned() } else { clean_line(language.trim()) };
        let lines = match code.lines().count() {
            1 => "1 line".to_owned(),
            many => format!("{many} lines"),
        };
        items.push(item(format!("{name}: {}", first_line(&code)), lines, &code, Copied::Code(at)));
    }
    if state.leaf.is_some() {
        let about = "as Markdown; /export writes it to a file";
        items.push(item("the whole conversation".to_owned(), about.to_owned(), "", Copied::All));
    }
    items
}

fn first_line(text: &str) -> String {
    clean_line(text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim())
}

/// The answers on this branch, the newest first.
fn answers(state: &State) -> impl Iterator<Item = &Message> {
    state.path().into_iter().rev().filter_map(|entry| match &entry.kind {
        EntryKind::Message(message) if message.role == Role::Assistant => Some(message),
        _ => None,
    })
}

fn answer(state: &State) -> Option<String> {
    answers(state).map(Message::text).find(|text| !text.trim().is_empty())
}

/// The newest blocks of code, each with its language; at most so many.
fn codes(state: &State, most: usize) -> Vec<(String, String)> {
    let of_message = |message: &Message| {
        let mut codes: Vec<(String, String)> = message.parts.iter().flat_map(of_part).collect();
        codes.reverse();
        codes
    };
    answers(state).flat_map(of_message).take(most).collect()
}

fn of_part(part: &Part) -> Vec<(String, String)> {
    match part {
        Part::Text(text) => markdown::codes(text),
        Part::Code { text, language, .. } => vec![(language.clone().unwrap_or_default(), text.clone())],
        _ => Vec::new(),
    }
}

/// The last command and what it printed: the person's own, or one that the model ran.
fn output(model: &Model) -> Option<(String, String)> {
    let own = model.screen.own.shown().filter(|ran| !ran.output.trim().is_empty());
    if let Some(ran) = own {
        return Some((clean_line(&ran.line), ran.output.clone()));
    }
    let state = model.world.state();
    let tools = answers(state).flat_map(|message| {
        let ids: Vec<_> = message.tools().collect();
        ids.into_iter().rev()
    });
    tools.filter_map(|id| state.tool(id)).find_map(|tool| {
        let result = tool.result.as_ref().map(|result| result.text.as_str()).filter(|text| !text.is_empty());
        let text = result.unwrap_or(&tool.output);
        (!text.trim().is_empty()).then(|| (summary(tool.args.as_str()), text.to_owned()))
    })
}
