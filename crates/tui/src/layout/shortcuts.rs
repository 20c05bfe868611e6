//! The keys at a glance: in columns, few words each, so that all of them fit on a screen that is wide enough. Where they do not, they
//! are read screen by screen, and no heading stands alone at the end of one.

use super::page::ROOMY;
use crate::key::Key;
use crate::keymap::{ACTIONS, Action, GROUPS, Keymap, can_press};
use crate::look::Appearance;
use crate::row::{Row, fit, width};
use crate::theme::Role;
use domain::port::Abilities;

/// Columns that a column of keys takes at least.
const COLUMN: usize = 38;
/// Columns of the keys in it.
const KEYS: usize = 13;
/// Columns between keys and what they do, so that the two are told apart.
const GAP: usize = 2;
/// Rows of a screen of keys at least.
const LEAST_PAGE: usize = 4;
/// Columns of keys at most: further apart they are hard to read.
const MOST: usize = 4;

/// Keys that always mean the same, in few words; those of the writing stand before the others.
const FIXED: &[(&str, &[(&str, &str)])] = &[
    (
        "Writing",
        &[
            ("/", "commands"),
            ("@, $", "a file, a skill"),
            ("!", "runs a command yourself"),
            ("Tab", "inserts what is offered"),
            ("↑ ↓", "your earlier prompts"),
            ("Esc Esc", "idle: edits last prompt"),
        ],
    ),
    ("While it runs", &[("Esc", "stops; twice: queue too"), ("Ctrl-C", "stops; twice: quits")]),
    (
        "A question",
        &[
            ("Tab", "to it and back"),
            ("y", "yes, once"),
            ("s, a", "yes: session, project"),
            ("n, r", "no: stop, or say why"),
            ("v, Esc", "view all, no answer"),
            ("↑↓ Enter", "choose, answer"),
        ],
    ),
];

/// Keys that do the same in two directions stand in one line, where there is room for both.
const PAIRS: &[(Action, Action, &str)] = &[
    (Action::PageUp, Action::PageDown, "a page up, a page down"),
    (Action::LineUp, Action::LineDown, "a line up, a line down"),
    (Action::SelectUp, Action::SelectDown, "selects to open or copy"),
    (Action::PromptUp, Action::PromptDown, "to your other prompts"),
    (Action::NextSession, Action::PreviousSession, "to other open sessions"),
];

/// One line of the page: a heading, or keys and what they do.
enum ShortcutLine {
    Heading(&'static str),
    Key(String, &'static str),
    Blank,
}

/// The rows of the page.
pub(super) fn rows(keymap: &Keymap, look: Appearance, abilities: &Abilities, screen: usize) -> Vec<Row> {
    let columns = (look.columns / COLUMN).clamp(1, MOST);
    let lines = lines(keymap, abilities);
    // As low as it can be: what does not fit into the columns before goes into the last.
    let least = lines.len().div_ceil(columns).max(1);
    let lowest = |whole: bool| {
        let fits =
            |high: &usize| split(&lines, columns, *high, whole).iter().all(|column| column.len() <= *high);
        (least..lines.len()).find(fits).unwrap_or(lines.len())
    };
    let (torn, whole) = (lowest(false), lowest(true));
    let wide = look.columns / columns;
    if torn.min(whole) + 2 > screen {
        // Below the title and above the keys, each with a blank row where there is room.
        let around = if screen >= usize::from(ROOMY) { 4 } else { 2 };
        let page = screen.saturating_sub(around).max(LEAST_PAGE);
        if columns == 1 {
            return one_column(&lines, page, wide, look);
        }
        return pages(&lines, columns, page, wide, look);
    }
    // Groups are torn only where all keys fit on the screen that way and no other.
    let tear = (torn + 2..whole + 2).contains(&screen);
    let split = if tear { split(&lines, columns, torn, false) } else { split(&lines, columns, whole, true) };
    let most = split.iter().map(Vec::len).max().unwrap_or(0);
    (0..most).map(|at| row(&split, at, wide, look)).collect()
}

/// The keys below each other. What is read line by line has no screens to fill; only a heading goes to the screen of its keys.
fn one_column(lines: &[ShortcutLine], high: usize, wide: usize, look: Appearance) -> Vec<Row> {
    let mut rows = Vec::new();
    for line in lines {
        if matches!(line, ShortcutLine::Heading(_)) && (rows.len() + 1).is_multiple_of(high) {
            rows.push(Row::empty());
        }
        rows.push(row(&[vec![line]], 0, wide, look));
    }
    rows
}

/// The keys screen by screen: each holds as many columns as stand beside each other, all of them as high as the screen.
fn pages(lines: &[ShortcutLine], columns: usize, high: usize, wide: usize, look: Appearance) -> Vec<Row> {
    let [whole, torn] = [true, false].map(|whole| split(lines, usize::MAX, high, whole));
    // Groups stay whole where that takes no further screen.
    let split = if whole.len().div_ceil(columns) <= torn.len().div_ceil(columns) { whole } else { torn };
    let mut rows = Vec::new();
    for page in split.chunks(columns) {
        let most = page.iter().map(Vec::len).max().unwrap_or(0);
        rows.extend((0..most).map(|at| row(page, at, wide, look)));
        // Each fills its screen, so that a page further on begins with its own first row.
        rows.resize(rows.len().next_multiple_of(high), Row::empty());
    }
    rows
}

/// The lines in columns of about this height, so that no heading stands alone below, or no group is torn.
fn split(lines: &[ShortcutLine], columns: usize, high: usize, whole: bool) -> Vec<Vec<&ShortcutLine>> {
    let mut split: Vec<Vec<&ShortcutLine>> = vec![Vec::new()];
    for (at, line) in lines.iter().enumerate() {
        let group = lines[at..].iter().take_while(|line| !matches!(line, ShortcutLine::Blank)).count();
        // Among any number of columns none is higher than the others.
        let endless = columns == usize::MAX;
        let needs = if whole && (!endless || group <= high) { group } else { group.min(2) };
        let used = split.last().map_or(0, Vec::len);
        let full = used >= high && (!whole || endless);
        let lonely = matches!(line, ShortcutLine::Heading(_)) && used > 0 && used + needs > high;
        if (full || lonely) && split.len() < columns {
            split.push(Vec::new());
        }
        let Some(column) = split.last_mut() else { continue };
        if !(column.is_empty() && matches!(line, ShortcutLine::Blank)) {
            column.push(line);
        }
    }
    split
}

fn row(split: &[Vec<&ShortcutLine>], at: usize, wide: usize, look: Appearance) -> Row {
    let mut row = Row::empty();
    for column in split {
        let (keys, what) = match column.get(at) {
            Some(ShortcutLine::Heading(text)) => {
                row.pieces.push(look.piece(*text, Role::Group));
                row.pieces.push(look.piece(" ".repeat(wide.saturating_sub(width(text))), Role::Text));
                continue;
            }
            Some(ShortcutLine::Key(keys, what)) => (keys.as_str(), *what),
            Some(ShortcutLine::Blank) | None => ("", ""),
        };
        let keys = fit(keys, KEYS - GAP);
        let room = wide.saturating_sub(KEYS + 2);
        let what = fit(what, room);
        let (after_keys, after) = (KEYS - width(&keys), room - width(&what) + 2);
        row.pieces.push(look.piece(keys, Role::Accent));
        row.pieces
            .push(look.piece(format!("{}{what}{}", " ".repeat(after_keys), " ".repeat(after)), Role::Text));
    }
    row
}

fn lines(keymap: &Keymap, abilities: &Abilities) -> Vec<ShortcutLine> {
    let mut lines = Vec::new();
    let key = |(keys, what): &(&str, &'static str)| ShortcutLine::Key((*keys).to_owned(), what);
    for (at, (group, first)) in GROUPS.iter().enumerate() {
        if at == 1 {
            for (group, keys) in
                FIXED.iter().filter(|(group, _)| GROUPS.iter().all(|(name, _)| name != group))
            {
                lines.extend([ShortcutLine::Blank, ShortcutLine::Heading(group)]);
                lines.extend(keys.iter().map(key));
            }
        }
        if at > 0 {
            lines.push(ShortcutLine::Blank);
        }
        lines.push(ShortcutLine::Heading(group));
        let next = GROUPS.get(at + 1).map(|(_, action)| *action);
        let actions = ACTIONS.iter().skip_while(|named| named.action != *first);
        for named in actions.take_while(|named| Some(named.action) != next) {
            if PAIRS.iter().any(|(_, second, _)| *second == named.action && pair(keymap, *second).is_some()) {
                continue;
            }
            let keys = keymap.first(named.action).map(|key: Key| key.to_string());
            let both = pair(keymap, named.action);
            // What has no key, or cannot be done here, is on the page that tells everything.
            if let Some(keys) = keys.filter(|_| can_press(named.action, abilities)) {
                let (keys, what) = both.unwrap_or((keys, short(named.action)));
                lines.push(ShortcutLine::Key(keys, what));
            }
        }
        for (_, keys) in FIXED.iter().filter(|(name, _)| name == group) {
            lines.extend(keys.iter().map(key));
        }
    }
    let own: Vec<ShortcutLine> =
        keymap.commands().map(|(key, name)| ShortcutLine::Key(key.to_string(), name)).collect();
    if !own.is_empty() {
        lines.extend([ShortcutLine::Blank, ShortcutLine::Heading("Commands")]);
        lines.extend(own);
    }
    lines
}

/// The keys of a pair that this action belongs to, and what they do.
fn pair(keymap: &Keymap, action: Action) -> Option<(String, &'static str)> {
    let (first, second, what) =
        PAIRS.iter().find(|(first, second, _)| [*first, *second].contains(&action))?;
    let (first, second) = (keymap.first(*first)?.to_string(), keymap.first(*second)?.to_string());
    let with = first.rsplit_once('-').zip(second.rsplit_once('-'));
    let keys = match with.filter(|((one, _), (other, _))| one == other) {
        Some(((with, "↑"), (_, "↓"))) => format!("{with}-↑↓"),
        Some(_) | None => format!("{first} {second}"),
    };
    (width(&keys) + GAP <= KEYS).then_some((keys, what))
}

/// What an action does, in few words.
fn short(action: Action) -> &'static str {
    match action {
        Action::Send => "sends, or queues",
        Action::Steer => "steers the run",
        Action::NewLine => "a new line",
        Action::Earlier => "the prompt before",
        Action::Later => "the prompt after",
        Action::History => "earlier prompts",
        Action::Editor => "your own editor",
        Action::Picture => "attach a picture",
        Action::LineStart => "start of the line",
        Action::LineEnd => "end of the line",
        Action::WordLeft => "a word left",
        Action::WordRight => "a word right",
        Action::CutWord => "cuts the word before",
        Action::CutToStart => "cuts to the start",
        Action::CutToEnd => "cuts to the end",
        Action::PutBack => "puts it back",
        Action::Undo => "undo",
        Action::Redo => "makes it again",
        Action::PageUp => "a page up",
        Action::PageDown => "a page down",
        Action::LineUp => "a line up",
        Action::LineDown => "a line down",
        Action::ToStart => "to the first message",
        Action::ToEnd => "to the end",
        Action::Fold => "opens or folds all",
        Action::SelectUp => "selects to open or copy",
        Action::SelectDown => "selects the next",
        Action::PromptUp => "your prompt above",
        Action::PromptDown => "your prompt below",
        Action::Search => "finds words",
        Action::Queue => "what is queued",
        Action::Sessions => "all sessions",
        Action::NextSession => "the next open session",
        Action::PreviousSession => "the one before",
        Action::NextPolicy => "the next mode",
        Action::LessEffort => "less effort",
        Action::MoreEffort => "more effort",
        Action::Fleet => "the fleet",
        Action::NextWaiting => "who waits next",
        Action::OpenPort => "opens or closes a port",
        Action::Keys => "this page",
        Action::Restart => "the runtime again",
        Action::Redraw => "redraw",
        Action::Suspend => "suspends",
        Action::Quit => "quits",
    }
}
