//! The page that `?` shows.

use crate::cell::Look;
use crate::row::{Piece, Row, wrap};
use crate::theme::Role;

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
            ("Tab", "takes the suggestion"),
        ],
    ),
    (
        "Reading",
        &[
            ("PgUp PgDn, Shift-↑ Shift-↓, wheel", "scroll"),
            ("Ctrl-End", "back to the end"),
            ("Ctrl-O", "opens or folds all tools and thoughts"),
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
            rows.extend(wrap(&[text], look.columns, &lead, &rest));
        }
    }
    rows
}
