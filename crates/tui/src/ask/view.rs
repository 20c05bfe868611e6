//! The question as rows: what is asked, what would happen, how dangerous it is, and the keys that answer.

use super::{AskPanel, Stage};
use crate::cell::{Look, summary};
use crate::clean::{clean, clean_line};
use crate::diff;
use crate::row::{Piece, Row, fit, width, wrap, wrap_text};
use crate::theme::Role;
use domain::ask::{Ask, AskKind, Consent, Preview, Risk};
use domain::ids::Millis;

/// Rows of a title at most.
const MAX_TITLE: usize = 3;

/// Where the caret stands in the rows: row and column.
type CaretAt = Option<(usize, usize)>;

/// How much room there is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Rows for the panel at most.
    pub rows: usize,
    /// Whether the screen is so small that the keys are told in short words: what is asked must stay in sight.
    pub scarce: bool,
}

/// The rows of the panel and the caret. The last rows always tell the keys.
pub fn rows(panel: &AskPanel, ask: &Ask, now: Millis, look: Look, on: Room) -> (Vec<Row>, CaretAt) {
    let high = on.rows;
    let mut drawing = Drawing { look, title: ask.title.trim(), rows: Vec::new(), caret: None };
    drawing.title(ask, now);
    let foot = keys(panel, ask, look, on.scarce);
    let room = high.saturating_sub(drawing.rows.len() + foot.len());
    match (&ask.kind, panel.stage) {
        (AskKind::Consent(consent), Stage::Menu) => drawing.consent(consent, room),
        (AskKind::Consent(consent), Stage::Reason) => {
            if room > 2 {
                drawing.consent(consent, room - 1);
            }
            drawing.field("why not: ", &panel.editor, Shown::Plain);
        }
        (AskKind::Confirm { message, danger, .. }, _) => {
            let role = if *danger { Role::Warn } else { Role::Text };
            drawing.message(message, role, room);
        }
        (AskKind::Choose { message, choices, many }, _) => {
            drawing.message(message, Role::Text, room / 3);
            if !panel.editor.is_empty() || choices.len() > 7 {
                drawing.field("filter: ", &panel.editor, Shown::Plain);
            }
            let room = high.saturating_sub(drawing.rows.len() + foot.len());
            drawing.choices(panel, ask, *many, room);
        }
        (AskKind::Text { message, placeholder, secret, .. }, _) => {
            drawing.message(message, Role::Text, room.saturating_sub(1));
            let shown = if *secret { Shown::Secret } else { Shown::Plain };
            drawing.field("> ", &panel.editor, shown);
            if let (true, Some(hint)) = (panel.editor.is_empty(), placeholder) {
                let hint = look.piece(clean_line(hint), Role::Dim);
                drawing.rows.last_mut().into_iter().for_each(|row| row.pieces.push(hint.clone()));
            }
        }
        (AskKind::Edit { message, .. }, _) => {
            drawing.message(message, Role::Text, 2);
            let room = high.saturating_sub(drawing.rows.len() + foot.len());
            drawing.edit(&panel.editor, room);
        }
    }
    drawing.rows.truncate(high.saturating_sub(foot.len()));
    drawing.rows.extend(foot);
    drawing.caret = drawing.caret.filter(|(row, _)| *row < drawing.rows.len());
    (drawing.rows, drawing.caret)
}

/// Everything about the question, for the full view.
pub fn full(ask: &Ask, look: Look) -> Vec<Row> {
    let mut drawing = Drawing { look, title: ask.title.trim(), rows: Vec::new(), caret: None };
    if let AskKind::Consent(consent) = &ask.kind {
        let (word, role) = risk_word(consent.assessment.risk);
        drawing.rows.push(Row::of(word, look.theme.style(role)));
        drawing.consent(consent, usize::MAX);
        if let Some(rule) = &consent.rule {
            let text = format!("“always” would allow: {}", clean_line(rule));
            drawing.rows.extend(wrap_text(&text, look.columns, look.theme.style(Role::Text)));
        }
        drawing.rows.push(Row::empty());
        drawing.rows.push(Row::of("arguments", look.theme.style(Role::Accent)));
        let pretty = serde_json::from_str::<serde_json::Value>(consent.args.as_str())
            .and_then(|value| serde_json::to_string_pretty(&value))
            .unwrap_or_else(|_| consent.args.as_str().to_owned());
        drawing.rows.extend(wrap_text(&clean(&pretty), look.columns, look.theme.style(Role::Dim)));
    }
    drawing.rows
}

/// Risk as a word and a role.
pub(crate) fn risk_word(risk: Risk) -> (&'static str, Role) {
    match risk {
        Risk::Low => ("low risk", Role::Ok),
        Risk::Medium => ("medium risk", Role::Accent),
        Risk::High => ("HIGH RISK", Role::Warn),
        Risk::Critical => ("CRITICAL RISK", Role::Bad),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Plain,
    Secret,
}

struct Drawing<'a> {
    look: Look,
    /// What stands on top; a message that only repeats it is not shown.
    title: &'a str,
    rows: Vec<Row>,
    caret: CaretAt,
}

impl Drawing<'_> {
    fn title(&mut self, ask: &Ask, now: Millis) {
        let mut pieces = vec![self.look.piece("? ", Role::Warn)];
        let mut tail = Vec::new();
        if let AskKind::Consent(consent) = &ask.kind {
            let (word, role) = risk_word(consent.assessment.risk);
            tail.push(self.look.piece(format!("  {word}"), role));
            if !consent.assessment.reversible && consent.assessment.risk > Risk::Low {
                tail.push(self.look.piece(" · cannot be undone", role));
            }
        }
        if let Some(deadline) = ask.deadline {
            let left = deadline.since(now) / 1_000;
            tail.push(self.look.piece(format!("  {left}s left"), Role::Warn));
        }
        pieces.push(self.look.piece(clean_line(&ask.title), Role::Heading));
        pieces.extend(tail);
        let (none, rest) = (Piece::default(), self.look.piece("  ", Role::Text));
        let rows = wrap(&pieces, self.look.columns, &none, &rest);
        self.rows.extend(rows.into_iter().take(MAX_TITLE));
    }

    fn message(&mut self, text: &str, role: Role, most: usize) {
        if !text.trim().is_empty() && text.trim() != self.title {
            let style = self.look.theme.style(role);
            let rows = wrap_text(clean(text).trim_end(), self.look.columns, style);
            self.rows.extend(rows.into_iter().take(most.max(1)));
        }
    }

    fn consent(&mut self, consent: &Consent, room: usize) {
        let mut body = Vec::new();
        let columns = self.look.columns;
        match &consent.preview {
            Some(Preview::Command { line, .. }) => {
                let (first, rest) = (self.look.piece("$ ", Role::Accent), self.look.piece("  ", Role::Text));
                for (at, line) in clean(line).split('\n').enumerate() {
                    let lead = if at == 0 { &first } else { &rest };
                    body.extend(wrap(&[self.look.piece(line, Role::Text)], columns, lead, &rest));
                }
            }
            Some(Preview::Diff { path, text }) => {
                let (added, removed) = diff::counts(text);
                let head = format!("{} (+{added} −{removed})", clean_line(path));
                body.push(Row::of(fit(&head, columns), self.look.theme.style(Role::Accent)));
                body.extend(diff::rows(text, columns, self.look.theme));
            }
            Some(Preview::Text(text)) => {
                body.extend(wrap_text(&clean(text), columns, self.look.theme.style(Role::Text)));
            }
            None => {
                let text = format!("{} {}", clean_line(&consent.name), summary(consent.args.as_str()));
                body.extend(wrap_text(&text, columns, self.look.theme.style(Role::Text)));
            }
        }
        let mut grounds = Vec::new();
        let (_, role) = risk_word(consent.assessment.risk);
        let (first, rest) = (self.look.piece("· ", role), self.look.piece("  ", role));
        for reason in &consent.assessment.reasons {
            grounds.extend(wrap(&[self.look.piece(clean_line(reason), Role::Dim)], columns, &first, &rest));
        }
        // The preview gives way before the grounds do: why it is dangerous must never be scrolled out of sight.
        grounds.truncate(room.saturating_sub(1).max(1));
        let room = room.saturating_sub(grounds.len()).max(1);
        if body.len() > room {
            let hidden = body.len() - (room - 1);
            body.truncate(room - 1);
            let word = format!("… {hidden} more lines: v shows all");
            body.push(Row::of(word, self.look.theme.style(Role::Warn)));
        }
        self.rows.extend(body);
        self.rows.extend(grounds);
    }

    fn field(&mut self, label: &str, editor: &crate::composer::Editor, shown: Shown) {
        let text = if shown == Shown::Secret {
            "•".repeat(editor.text().chars().count())
        } else {
            editor.text().replace('\n', "⏎")
        };
        let before = match shown {
            Shown::Secret => "•".repeat(editor.text()[..editor.caret()].chars().count()),
            Shown::Plain => editor.text()[..editor.caret()].replace('\n', "⏎"),
        };
        let room = self.look.columns.saturating_sub(width(label) + 1).max(1);
        let skip = width(&before).saturating_sub(room);
        let visible = from_column(&text, skip);
        self.caret = Some((self.rows.len(), width(label) + width(&before).saturating_sub(skip)));
        self.rows.push(Row::from(vec![
            self.look.piece(label, Role::Accent),
            self.look.piece(visible, Role::Text),
        ]));
    }

    fn edit(&mut self, editor: &crate::composer::Editor, room: usize) {
        let laid = crate::composer::lay_out(editor.text(), editor.caret(), self.look.columns);
        let room = room.max(1);
        let top = laid.caret.row.saturating_sub(room.saturating_sub(1));
        self.caret = Some((self.rows.len() + laid.caret.row - top, laid.caret.column));
        for (from, to) in laid.rows.iter().skip(top).take(room) {
            self.rows.push(Row::of(&editor.text()[*from..*to], self.look.theme.style(Role::Text)));
        }
    }

    fn choices(&mut self, panel: &AskPanel, ask: &Ask, many: bool, room: usize) {
        let AskKind::Choose { choices, .. } = &ask.kind else { return };
        let shown = panel.shown(ask);
        let cursor = panel.cursor.min(shown.len().saturating_sub(1));
        let room = room.max(1);
        let top = cursor.saturating_sub(room.saturating_sub(1));
        if shown.is_empty() {
            self.rows.push(Row::of("nothing fits", self.look.theme.style(Role::Dim)));
        }
        for (line, at) in shown.iter().enumerate().skip(top).take(room) {
            let Some(choice) = choices.get(*at) else { continue };
            let sign = match (many, panel.taken.contains(at), line == cursor) {
                (true, true, _) => "[x] ",
                (true, false, _) => "[ ] ",
                (false, _, true) => "› ",
                (false, _, false) => "  ",
            };
            let role = if line == cursor { Role::Selected } else { Role::Text };
            let label = format!("{sign}{}", clean_line(&choice.label));
            let room = self.look.columns.saturating_sub(width(&label) + 2);
            let mut row = Row::of(fit(&label, self.look.columns), self.look.theme.style(role));
            if let Some(detail) = &choice.detail {
                row.pieces.push(self.look.piece(format!("  {}", fit(&clean_line(detail), room)), Role::Dim));
            }
            self.rows.push(row);
        }
    }
}

fn from_column(text: &str, column: usize) -> String {
    use unicode_segmentation::UnicodeSegmentation;
    let mut used = 0;
    let mut out = String::new();
    for grapheme in text.graphemes(true) {
        if used >= column {
            out.push_str(grapheme);
        }
        used += crate::row::grapheme_width(grapheme);
    }
    out
}

fn keys(panel: &AskPanel, ask: &Ask, look: Look, short: bool) -> Vec<Row> {
    if panel.answered {
        return vec![Row::of("answered; waiting for the runtime…", look.theme.style(Role::Dim))];
    }
    let mut keys: Vec<(&str, String)> = Vec::new();
    // Short words stay with their key when the line breaks.
    let joined = |what: &str| if what.len() <= 14 { what.replace(' ', "\u{a0}") } else { what.to_owned() };
    let mut say = |key: &'static str, what: &str| keys.push((key, joined(&clean_line(what))));
    match (&ask.kind, panel.stage) {
        (AskKind::Consent(consent), Stage::Menu) if short => {
            say("y", "once");
            say("s", "session");
            if consent.rule.is_some() {
                say("a", "always");
            }
            say("n", "no");
            if consent.takes_reason {
                say("r", "why");
            }
            say("v", "view all");
            say("Esc", "stop");
        }
        (AskKind::Consent(consent), Stage::Menu) => {
            say("y", "once");
            say("s", "this session");
            if let Some(rule) = &consent.rule {
                say("a", &format!("always: {rule}"));
            }
            say("n", "no");
            if consent.takes_reason {
                say("r", "no, because…");
            }
            say("v", "view all");
            say("Esc", if ask.run.is_some() { "stop the run" } else { "close" });
        }
        (AskKind::Consent(_), Stage::Reason) => {
            say("Enter", "deny; the model goes on with this reason");
            say("Esc", "back");
        }
        (AskKind::Confirm { yes, no, .. }, _) => {
            say("y", yes.as_deref().unwrap_or("yes"));
            say("n", no.as_deref().unwrap_or("no"));
            say("Esc", "no answer");
        }
        (AskKind::Choose { many, .. }, _) => {
            say("↑↓", "move");
            if *many {
                say("Space", "take");
            }
            say("type", "filter");
            say("Enter", "answer");
            say("Esc", "no answer");
        }
        (AskKind::Text { multiline, .. }, _) => {
            say("Enter", "answer");
            if *multiline {
                say("Alt-Enter", "new line");
                say("Ctrl-G", "your editor");
            }
            say("Esc", "no answer");
        }
        (AskKind::Edit { .. }, _) => {
            say("Enter", "answer");
            say("Alt-Enter", "new line");
            say("Ctrl-G", "your editor");
            say("Esc", "no answer");
        }
    }
    let mut pieces = Vec::new();
    for (key, what) in keys {
        pieces.push(look.piece(key, Role::Accent));
        pieces.push(look.piece(format!("\u{a0}{what}{}", if short { " " } else { "   " }), Role::Dim));
    }
    let none = Piece::default();
    wrap(&pieces, look.columns, &none, &none)
}
