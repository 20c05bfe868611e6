//! What turns did to files: taken back, done again, shown; and whether files go along when the words go back.

use super::{lists, reading};
use crate::clean::clean;
use crate::model::{Model, Want};
use crate::msg::Fx;
use crate::overlay::{Content, Overlay, Pager};
use crate::picker::{Choice, Item, ListKind};
use domain::command::{Command, DiffSince, FilesCommand};
use domain::ids::EntryId;
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
            "# and {} more lines: `parlor sessions diff` prints them all\n",
            lines - MAX_LINES
        ));
    }
    model.screen.overlay = Some(Overlay::Pager(Pager::new(title, Content::Diff(shown))));
}

/// Goes back to an entry. Where tools ran on the way, the person says whether files go along.
pub(super) fn go_back(model: &mut Model, entry: EntryId, fx: &mut Vec<Fx>) {
    let can = &model.world.seen().abilities;
    let asks = can.policy && can.go_back && !model.world.is_running() && tools_ran(model, entry);
    if !asks {
        return reading::go_back_to(model, entry, fx);
    }
    lists::open(model, ListKind::GoBack, fx);
    let item = |label: &str, detail: &str, files| Item {
        label: label.to_owned(),
        detail: detail.to_owned(),
        choice: Choice::GoBack(entry, files),
        sign: "  ",
        more: String::new(),
    };
    let items = vec![
        item("words only", "files stay as they are", false),
        item("words and files", "what the prompts in between did to files is taken back", true),
    ];
    if let Some(Overlay::Picker(picker)) = &mut model.screen.overlay {
        picker.fill(items, 0, "");
    }
}

/// Goes back, with files or without.
pub(super) fn go_with(model: &mut Model, entry: EntryId, with_files: bool, fx: &mut Vec<Fx>) {
    if !with_files {
        return reading::go_back_to(model, entry, fx);
    }
    let (leaf, _) = reading::tip_of(model, entry);
    let (back, forth) = model.world.state().turns_to(leaf);
    model.send(Want::GoBack(entry), Command::Files(FilesCommand::Go { back, forth, leave: false }), fx);
}

/// Whether a tool ran in a turn on the way to an entry.
fn tools_ran(model: &Model, entry: EntryId) -> bool {
    let state = model.world.state();
    let (back, forth) = state.turns_to(reading::tip_of(model, entry).0);
    let on_the_way = |tool: &domain::tool::ToolRun| {
        let turn = state.message(tool.message).and_then(|message| message.turn);
        turn.is_some_and(|turn| back.contains(&turn) || forth.contains(&turn))
    };
    state.tools.values().any(on_the_way)
}

#[cfg(test)]
mod tests;
