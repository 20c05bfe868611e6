//! The pages that `?` and `/help` show.

use crate::cell::Look;
use crate::commands::COMMANDS;
use crate::row::{Piece, Row, fit, wrap};
use crate::theme::Role;
use domain::port::Abilities;

const KEYS: &[(&str, &[(&str, &str)])] = &[
    (
        "Writing",
        &[
            ("Enter", "sends; while a run is under way: waits for its end"),
            ("Ctrl-S, Alt-Enter", "steers: heard as soon as the current step allows"),
            ("Ctrl-J, Shift-Enter, \\ Enter", "new line"),
            ("↑ ↓, Ctrl-P Ctrl-N", "earlier prompts"),
            ("Ctrl-A Ctrl-E, Alt-B Alt-F", "line start and end, word left and right"),
            ("Ctrl-W Ctrl-U Ctrl-K, Ctrl-Y", "cut a word, to the start, to the end; put it back"),
            ("Ctrl-_ or Alt-Z, Alt-Shift-Z", "undo, redo"),
            ("Ctrl-G", "write in your own editor ($EDITOR)"),
            ("/ at the start", "commands; /help lists them"),
            ("@ in a word", "a file of the project; Tab takes it"),
            ("$ in a word", "a skill"),
            ("! at the start", "runs a command yourself; its output goes along with the next prompt"),
            ("Alt-V, or drop a file here", "a picture goes along with the next prompt"),
            ("Ctrl-R", "looks through earlier prompts"),
            ("Tab", "takes the suggestion"),
        ],
    ),
    (
        "Reading",
        &[
            ("PgUp PgDn, Shift-↑ Shift-↓, wheel", "scroll"),
            ("Ctrl-End", "back to the end"),
            ("click, drag", "opens a tool or thought; copies text (/mouse gives it back to the terminal)"),
            ("Ctrl-O", "opens or folds all tools and thoughts"),
            ("Alt-↑ Alt-↓", "select a message or tool: Enter opens, c copies, b goes back there"),
            ("Ctrl-↑ Ctrl-↓", "from prompt to prompt"),
            ("Ctrl-F", "finds words; Enter goes on to the older one"),
        ],
    ),
    (
        "The run",
        &[("Esc", "stops it; what waited comes back to the composer"), ("Ctrl-C", "stops it; twice quits")],
    ),
    (
        "When a tool wants to run",
        &[
            ("y", "yes, once"),
            ("s", "yes, for this session"),
            ("a", "yes, always: the rule that is shown"),
            ("n", "no"),
            ("r", "no, and tell the model why"),
            ("v", "view all of it"),
        ],
    ),
    (
        "Else",
        &[
            ("Ctrl-X", "sessions"),
            ("Alt-] Alt-[", "the next open session, the one before"),
            ("Ctrl-D", "quits (when nothing is typed)"),
            ("Ctrl-Z", "suspends; `fg` brings it back"),
            ("Ctrl-L", "draws the screen anew"),
            ("?", "this page (when nothing is typed)"),
        ],
    ),
];

pub(super) fn rows(look: Look) -> Vec<Row> {
    let mut rows = Vec::new();
    let column = if look.columns >= 70 { 34 } else { look.columns / 2 };
    for (group, keys) in KEYS {
        if !rows.is_empty() {
            rows.push(Row::empty());
        }
        rows.push(Row::of(*group, look.theme.style(Role::Heading)));
        for (key, what) in *keys {
            let lead = Piece::new(format!("  {key:<column$}"), look.theme.style(Role::Accent));
            let rest = Piece::new(" ".repeat(column + 2), look.theme.style(Role::Text));
            let text = Piece::new(*what, look.theme.style(Role::Text));
            if crate::row::width(key) >= column {
                rows.push(Row::from(vec![lead]));
                rows.extend(wrap(&[text], look.columns, &rest, &rest));
            } else {
                rows.extend(wrap(&[text], look.columns, &lead, &rest));
            }
        }
    }
    rows
}

/// The commands; what the runtime cannot do is dim.
pub(super) fn commands(look: Look, abilities: &Abilities) -> Vec<Row> {
    let column = if look.columns >= 70 { 34 } else { look.columns / 2 };
    let mut rows = Vec::new();
    for command in COMMANDS {
        let able = (command.can)(abilities);
        let role = if able { Role::Accent } else { Role::Dim };
        let name = format!("/{} {}", command.name, command.takes);
        let lead = Piece::new(format!("{:<column$}", fit(&name, column)), look.theme.style(role));
        let rest = Piece::new(" ".repeat(column), look.theme.style(Role::Text));
        let help =
            if able { command.help.to_owned() } else { format!("{} (not with this runtime)", command.help) };
        let text = Piece::new(help, look.theme.style(if able { Role::Text } else { Role::Dim }));
        rows.extend(wrap(&[text], look.columns, &lead, &rest));
    }
    rows
}
