//! Lists and pages as lines: each item one, with what the screen shows by a sign or a colour said in words.

use super::words::{aloud, diff, many};
use crate::layout::sheet;
use crate::model::Model;
use crate::overlay::Content;
use crate::picker::{CURRENT, Choice, HERE, IN_USE, Item, Picker};

/// Lines of a list that are told.
pub(super) const MAX_LIST: usize = 40;

/// Whether the lines of a list are not there yet.
pub(super) fn is_coming(picker: &Picker) -> bool {
    picker.count() == 0 && matches!(picker.nothing_word(), "one moment…" | "looking…")
}

/// All of a list with its numbers, as far as a list is told.
pub(super) fn list_told(picker: &Picker) -> Vec<String> {
    let count = picker.count();
    if count == 0 {
        return vec![format!("{}: {}.", aloud(picker.title()), aloud(picker.nothing_word()))];
    }
    let mut lines = vec![format!("{}, {}:", aloud(picker.title()), many(count as u64, "line"))];
    let items = picker.lines().take(MAX_LIST).enumerate();
    lines.extend(items.map(|(at, (item, _))| format!("{}. {}", at + 1, item_told(item))));
    if count > MAX_LIST {
        lines.push(format!("{} more are left out.", count - MAX_LIST));
    }
    if !picker.kept().is_empty() {
        lines.push(aloud(picker.kept()));
    }
    lines
}

/// One choice, without its number.
pub(super) fn item_told(item: &Item) -> String {
    let sign = match (item.sign.trim(), &item.choice) {
        (_, Choice::Reach(line)) => {
            if line.on {
                ", on"
            } else {
                ", off"
            }
        }
        (_, Choice::Tool(_, true) | Choice::Port(_, true)) => ", on",
        (_, Choice::Tool(_, false) | Choice::Port(_, false)) => ", off",
        (sign, _) if sign == CURRENT.trim() || item.label.ends_with(HERE) => ", the current one",
        ("✗", _) => ", failed",
        _ => "",
    };
    let label = aloud(&item.label);
    let detail = aloud(item.detail.strip_prefix(IN_USE).unwrap_or(&item.detail));
    if detail.is_empty() { format!("{label}{sign}") } else { format!("{label}{sign}, {detail}") }
}

/// What a page holds, after its title.
pub(super) fn page_told(title: &str, content: &Content, model: &Model) -> Vec<String> {
    let mut lines = vec![format!("{}:", aloud(title))];
    match content {
        Content::Diff(text) => lines.extend(diff(text)),
        Content::Keys
        | Content::Shortcuts
        | Content::Commands
        | Content::Status
        | Content::Notices
        | Content::Own
        | Content::Ask => {
            let rows = sheet(content, model).rows;
            let told = rows.iter().map(|row| {
                let text = row.text();
                match text.trim_end().split_once("  ") {
                    Some((name, value)) if !name.is_empty() => format!("{}: {}", name, aloud(value)),
                    _ => aloud(&text),
                }
            });
            lines.extend(told.filter(|line| !line.is_empty()));
        }
    }
    lines
}
