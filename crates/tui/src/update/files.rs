//! What turns did to files: taken back, done again, shown; and whether files go along when the words go back.

use super::lists;
use crate::clean::clean;
use crate::figures::counted;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::overlay::Content;
use crate::picker::{Choice, Item, ListKind};
use domain::command::{Command, DiffSince, FilesCommand, SessionCommand};
use domain::ids::{EntryId, MessageId};
use domain::signal::Level;

/// Lines of a diff that a page holds; the rest is counted.
const MAX_LINES: usize = 5_000;
/// What is said behind /undo to leave out files that cannot be merged.
const REST: &str = "rest";

/// Takes back what the last prompt did to files.
pub(super) fn undo(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    if let Some(leave) = leave(model, argument) {
        model.send(Want::Files, Command::Files(FilesCommand::Undo { leave }), fx);
    }
}

/// Does again what was taken back last.
pub(super) fn redo(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    if let Some(leave) = leave(model, argument) {
        model.send(Want::Files, Command::Files(FilesCommand::Redo { leave }), fx);
    }
}

/// Whether files that cannot be merged are left out; `None` when it cannot be now, which is said.
fn leave(model: &mut Model, argument: &str) -> Option<bool> {
    if model.world.is_running() {
        model.toast(Level::Info, "stop the run first (Esc)");
        return None;
    }
    match argument {
        "" => Some(false),
        REST => Some(true),
        _ => {
            model.toast(
                Level::Info,
                "write nothing behind it, or rest: then files that cannot be merged are left out",
            );
            None
        }
    }
}

/// Shows what changed.
pub(super) fn diff(model: &mut Model, argument: &str, fx: &mut Vec<Fx>) {
    let (title, since) = match argument {
        "" => ("Changes since the last prompt that changed files", DiffSince::Prompt),
        "all" | "start" => ("Changes since the start of this session", DiffSince::Start),
        "git" => ("Changes since the last commit", DiffSince::Commit),
        _ => return model.toast(Level::Info, "write it like: /diff, /diff all or /diff git"),
    };
    model.send(Want::Page(title), Command::Files(FilesCommand::Diff { since }), fx);
}

/// The conversation says all of it; here it is said that it happened.
pub(super) fn told(model: &mut Model, text: &str) {
    model.toast(Level::Success, clean(text.lines().next().unwrap_or_default()));
}

/// A diff to read.
pub(super) fn page(model: &mut Model, title: &str, text: String) {
    if text.trim().is_empty() {
        return model.toast(Level::Info, "nothing changed");
    }
    let text = clean(&text);
    let lines = text.lines().count();
    let mut shown: String = text.lines().take(MAX_LINES).flat_map(|line| [line, "\n"]).collect();
    if lines > MAX_LINES {
        shown.push_str(&format!(
            "# and {}: `parlor sessions diff` prints them all\n",
            counted((lines - MAX_LINES) as u64, "more line")
        ));
    }
    model.screen.over.read(title, Content::Diff(shown));
}

/// The last prompt that the person said on this branch.
pub(super) fn last_prompt(model: &Model) -> Option<EntryId> {
    let path = model.world.state().path();
    path.iter().rev().map(|entry| entry.id).find(|entry| tip_of(model, *entry).1.is_some())
}

/// Goes back to an entry. Where tools ran on the way, the person says whether files go along.
pub(super) fn go_back(model: &mut Model, entry: EntryId, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    let asks = can.undo && can.go_back && !model.world.is_running() && tools_ran(model, entry);
    if !asks {
        return go_back_to(model, entry, fx);
    }
    lists::open(model, ListKind::GoBack, fx);
    let item = |label: &str, detail: &str, files| Item {
        cells: Vec::new(),
        label: label.to_owned(),
        detail: detail.to_owned(),
        choice: Choice::GoBack(entry, files),
        sign: "  ",
        more: String::new(),
    };
    let items = vec![
        item("words only", "files stay as they are", false),
        item("words and files", "what the prompts in between did to files is undone", true),
    ];
    if let Some(picker) = model.screen.over.list_mut() {
        picker.fill(items, 0, "");
    }
}

/// Goes back, with files or without.
pub(super) fn go_with(model: &mut Model, entry: EntryId, with_files: bool, fx: &mut Vec<Fx>) {
    if !with_files {
        return go_back_to(model, entry, fx);
    }
    let (leaf, _) = tip_of(model, entry);
    let (back, forth) = model.world.state().turns_to(leaf);
    model.send(Want::GoBack(entry), Command::Files(FilesCommand::Go { back, forth, leave: false }), fx);
}

/// Whether a tool ran in a turn on the way to an entry.
fn tools_ran(model: &Model, entry: EntryId) -> bool {
    let state = model.world.state();
    let (back, forth) = state.turns_to(tip_of(model, entry).0);
    let on_the_way = |tool: &domain::tool::ToolRun| {
        let turn = state.message(tool.message).and_then(|message| message.turn);
        turn.is_some_and(|turn| back.contains(&turn) || forth.contains(&turn))
    };
    state.tools.values().any(|tool| on_the_way(tool))
}

/// Makes an entry the tip; a prompt comes to the composer instead, and what stood before it becomes the tip.
pub(super) fn go_back_to(model: &mut Model, entry: EntryId, fx: &mut Vec<Fx>) {
    if !model.world.seen().abilities.go_back {
        return model.toast(Level::Warning, "this runtime cannot go back to an earlier message");
    }
    if model.world.is_running() {
        return model.toast(Level::Info, "stop the run first (Esc), then branch");
    }
    let (leaf, text) = tip_of(model, entry);
    if leaf.is_none() && !model.world.seen().abilities.clear {
        return model.toast(Level::Info, "there is nothing before this message: begin a new session (/new)");
    }
    model.send(Want::Nothing, Command::Session(SessionCommand::SetLeaf { leaf }), fx);
    let word = if text.is_some() {
        "change the prompt and send it: what came after stays on its own branch (/tree)"
    } else {
        "you go on from here; what came after stays on its own branch (/tree)"
    };
    if let Some(text) = text {
        model.screen.composer.set(text);
    }
    model.screen.transcript.leave();
    model.toast(Level::Info, word);
}

/// Where the tip stands after going back to an entry, and the prompt that comes to the composer.
fn tip_of(model: &Model, entry: EntryId) -> (Option<EntryId>, Option<String>) {
    let state = model.world.state();
    let message = state.message(MessageId(entry.0)).filter(|m| m.role == domain::content::Role::User);
    match message {
        Some(message) => (state.entries.get(&entry).and_then(|entry| entry.parent), Some(message.text())),
        None => (Some(entry), None),
    }
}

#[cfg(test)]
mod tests;
