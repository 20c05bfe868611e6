//! The pages that `?` and `/help` show.

use crate::commands::{COMMANDS, Here};
use crate::complete::{Candidate, agent_command};
use crate::key::Key;
use crate::keymap::{ACTIONS, Action, GROUPS, Keymap, can_press};
use crate::look::Appearance;
use crate::row::{Piece, Row, fit, width, wrap, wrap_text};
use crate::theme::Role;
use domain::port::Abilities;

/// Keys that always mean the same, by group; they stand before or after those that can be changed.
const FIXED: &[(&str, &[(&str, &str)])] = &[
    (
        "Writing",
        &[
            ("/ at the start", "commands; /help lists them"),
            ("@ in a word", "a file of the project; Tab inserts it"),
            ("$ in a word", "a skill"),
            ("! at the start", "runs a command yourself; its output is sent with the next prompt"),
            ("Tab", "inserts what is offered or suggested"),
            ("↑ ↓", "in the first and the last line: the prompt before, the prompt after"),
            (
                "Esc Esc",
                "when nothing runs and nothing is typed: back to your last prompt, to say it differently",
            ),
        ],
    ),
    (
        "Reading",
        &[("click, drag", "opens a tool or thought; copies text (/mouse gives it back to the terminal)")],
    ),
    (
        "The run",
        &[
            ("Esc", "stops it; what waited comes back to the composer, twice drops that too"),
            ("Ctrl-C", "stops it; twice quits"),
        ],
    ),
    (
        "When a tool wants to run",
        &[
            ("Tab", "goes to the question, and back to what you write"),
            ("y", "allow once"),
            ("s", "allow for this session: the rule that is shown"),
            ("a", "always allow, in this project or everywhere: the rule that is shown"),
            ("n", "deny and stop"),
            ("r", "deny with a reason; the model goes on"),
            ("v", "view all of it"),
            ("1–9, ↑↓ Enter", "where there are answers to choose from: answer with one"),
            ("Esc", "no answer; where the run waits for it, stops the run"),
        ],
    ),
];

/// Behind what the runtime cannot do.
const NOT_HERE: &str = " (not with this runtime)";

/// Columns from which keys and what they do stand side by side.
const SIDE_BY_SIDE: usize = 70;
/// Columns from which the names of actions are shown too.
const WIDE: usize = 100;
/// Columns of such a name.
const NAME: usize = 18;

/// All keys, as they are now.
pub(super) fn rows(keymap: &Keymap, look: Appearance, abilities: &Abilities) -> Vec<Row> {
    let mut page = KeysPage { look, rows: Vec::new() };
    let (fixed, own): (Vec<_>, Vec<_>) =
        FIXED.iter().partition(|(group, _)| GROUPS.iter().all(|(name, _)| name != group));
    for (at, (group, first)) in GROUPS.iter().enumerate() {
        if at == 1 {
            fixed.iter().for_each(|(group, keys)| {
                page.heading(group);
                keys.iter().for_each(|(key, what)| page.line(key, what, ""));
            });
        }
        page.heading(group);
        let next = GROUPS.get(at + 1).map(|(_, action)| *action);
        let actions = ACTIONS.iter().skip_while(|named| named.action != *first);
        for named in actions.take_while(|named| Some(named.action) != next) {
            let keys: Vec<String> = keymap.keys(named.action).iter().map(Key::to_string).collect();
            let keys = if keys.is_empty() { "no key".to_owned() } else { keys.join(", ") };
            let help = match named.action {
                Action::Sessions if !abilities.delete_session => "all sessions: go on with one",
                Action::SelectUp if !abilities.go_back => "selects: then Enter opens, c copies",
                _ => named.help,
            };
            let not = if can_press(named.action, abilities) { "" } else { NOT_HERE };
            page.line(&keys, &format!("{help}{not}"), named.name);
        }
        for (_, keys) in own.iter().filter(|(name, _)| name == group) {
            keys.iter().for_each(|(key, what)| page.line(key, what, ""));
        }
    }
    for (key, command) in keymap.commands() {
        page.line(&key.to_string(), &format!("/{command}"), &format!("/{command}"));
    }
    page.rows.push(Row::empty());
    let word = "To change keys, write [ui.keys] into config.toml, each name with its key: steer = \"ctrl-t\". \
                /settings tells where it lies.";
    page.rows.extend(wrap_text(word, look.columns, look.theme.style(Role::Dim)));
    page.rows
}

struct KeysPage {
    look: Appearance,
    rows: Vec<Row>,
}

impl KeysPage {
    fn heading(&mut self, text: &str) {
        if !self.rows.is_empty() {
            self.rows.push(Row::empty());
        }
        self.rows.push(Row::of(text, self.look.theme.style(Role::Group)));
    }

    fn line(&mut self, keys: &str, what: &str, name: &str) {
        let look = self.look;
        let (names, columns) =
            if look.columns >= WIDE { (true, look.columns - NAME) } else { (false, look.columns) };
        let wide = columns >= SIDE_BY_SIDE;
        let column = if wide { 34 } else { 4 };
        let rest = look.piece(" ".repeat(column + 2), Role::Text);
        let text = look.piece(what, Role::Text);
        let first = self.rows.len();
        if wide && width(keys) < column {
            let lead = look.piece(format!("  {keys:<column$}"), Role::Accent);
            self.rows.extend(wrap(&[text], columns - 2, &lead, &rest));
        } else {
            let lead = look.piece("  ", Role::Accent);
            self.rows.extend(wrap(&[look.piece(keys, Role::Accent)], columns, &lead, &rest));
            self.rows.extend(wrap(&[text], columns, &rest, &rest));
        }
        if let Some(row) = self.rows.get_mut(first).filter(|_| names) {
            let space = " ".repeat(columns.saturating_sub(row.width()));
            row.pieces.push(look.piece(format!("{space}{name}"), Role::Dim));
        }
    }
}

/// The commands; what the runtime cannot do is dim.
pub(super) fn commands(look: Appearance, abilities: &Abilities, here: Here) -> Vec<Row> {
    let wide = look.columns >= SIDE_BY_SIDE;
    let column = if wide { 34 } else { 4 };
    let mut rows = Vec::new();
    for command in COMMANDS {
        if !command.is_here(here) {
            // There is no runtime besides this program, or nobody who would see to it.
            continue;
        }
        let able = command.is_offered(abilities, here);
        let role = if able { Role::Accent } else { Role::Dim };
        let name = format!("/{} {}", command.name, command.takes);
        let name = name.trim_end();
        let lead = Piece::new(format!("{:<column$}", fit(name, column)), look.theme.style(role));
        let rest = Piece::new(" ".repeat(column), look.theme.style(Role::Text));
        let help = if able { command.help.to_owned() } else { format!("{}{NOT_HERE}", command.help) };
        let text = Piece::new(help, look.theme.style(if able { Role::Text } else { Role::Dim }));
        if wide {
            rows.extend(wrap(&[text], look.columns, &lead, &rest));
        } else {
            rows.push(Row::of(fit(name, look.columns), look.theme.style(role)));
            rows.extend(wrap(&[text], look.columns, &rest, &rest));
        }
    }
    for command in &abilities.menu.commands {
        let Candidate { label, detail, .. } = agent_command(command, abilities, here);
        let lead = Piece::new(format!("{:<column$}", fit(&label, column)), look.theme.style(Role::Accent));
        let rest = Piece::new(" ".repeat(column), look.theme.style(Role::Text));
        let text = Piece::new(detail, look.theme.style(Role::Text));
        if wide {
            rows.extend(wrap(&[text], look.columns, &lead, &rest));
        } else {
            rows.push(Row::of(fit(&label, look.columns), look.theme.style(Role::Accent)));
            rows.extend(wrap(&[text], look.columns, &rest, &rest));
        }
    }
    rows
}
