//! The question as rows: what is asked, what would happen, how dangerous it is, and the keys that answer.

use super::offers::{self, Offer, Sees};
use super::{AskPanel, Keyboard, PanelMode, keyboard};
use crate::cell::{Appearance, summary};
use crate::clean::{clean, clean_line};
use crate::diff;
use crate::model::Model;
use crate::row::{Piece, Row, fit, width, wrap, wrap_text};
use crate::theme::Role;
use domain::ask::{Ask, AskKind, Assessment, Consent, Preview, Risk};
use domain::ids::Millis;
use std::ops::Range;

/// Rows of a title at most.
const MAX_TITLE: usize = 3;

/// Rows of what would happen, and rows of grounds, that stay in sight beside the rule.
const MIN_TOLD: usize = 2;

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

/// The panel of a question as rows, and what the rest of the screen must know about it.
#[derive(Debug)]
pub struct Drawn {
    /// Its rows; the last ones tell the keys.
    pub rows: Vec<Row>,
    /// The caret, while the question has the keyboard.
    pub caret: CaretAt,
    /// The keys that it tells.
    pub offers: Vec<Offer>,
}

/// All of a question, for the page that shows it.
#[derive(Debug)]
pub struct Full {
    pub rows: Vec<Row>,
    /// Which of them spell out the rule that `s` and `a` would make.
    pub rule: Range<usize>,
}

/// Lays the panel out in the room there is; what is asked comes before everything else.
pub fn draw(model: &Model, panel: &AskPanel, ask: &Ask, look: Appearance, on: Room) -> Drawn {
    let high = on.rows;
    let keyboard = keyboard(model);
    let same = !model.world.seen().abilities.session_scope;
    let mut drawing = Drawing { look, title: ask.title.trim(), same, rows: Vec::new(), caret: None };
    let told = drawing.rows_of(ask);
    drawing.title(ask, model.screen.now);
    let draft = !model.screen.composer.is_empty();
    let list = |sees: Sees| offers::of_question(panel, ask, sees, draft);
    let keys = |sees: Sees| offers::row(&list(sees), look, on.scarce);
    let all = Sees { subject: true, rule: true, same, cut: false, short: on.scarce };
    let needed = |title: usize, sees: Sees| title + told.body.len().min(1) + keys(sees).len();
    if needed(drawing.rows.len(), Sees { rule: false, ..all }) > high {
        drawing.short_title(ask);
    }
    let title = drawing.rows.len();
    let rule = drawing.rule(ask).filter(|rule| {
        panel.mode == PanelMode::Menu && title + told.least() + rule.len() + keys(all).len() <= high
    });
    let mut sees = Sees { rule: rule.is_some(), ..all };
    sees.cut = title + told.body.len() + keys(sees).len() > high;
    sees.subject = needed(title, sees) <= high;
    let rule = rule.filter(|_| sees.subject).unwrap_or_default();
    let offers = match keyboard {
        Keyboard::Question => list(sees),
        Keyboard::Composer => Vec::new(),
        Keyboard::Soon(_) | Keyboard::Waits(_) => offers::of_waiting(ask, keyboard),
    };
    let mut foot = match panel.answered {
        true => vec![Row::of("answered; waiting for the runtime…", look.theme.style(Role::Dim))],
        false => offers::row(&offers, look, on.scarce),
    };
    // Nothing moves when the keyboard does.
    foot.resize(foot.len().max(keys(sees).len()), Row::empty());
    drawing.body(panel, ask, told, high.saturating_sub(title + rule.len() + foot.len()));
    drawing.rows.truncate(high.saturating_sub(foot.len() + rule.len()));
    drawing.rows.extend(rule);
    drawing.rows.extend(foot);
    let caret = drawing.caret.filter(|(row, _)| *row < drawing.rows.len());
    Drawn { rows: drawing.rows, caret: caret.filter(|_| keyboard == Keyboard::Question), offers }
}

/// Everything about the question, for the full view.
pub fn full(ask: &Ask, look: Appearance, same: bool) -> Full {
    let mut drawing = Drawing { look, title: ask.title.trim(), same, rows: Vec::new(), caret: None };
    let mut rule = 0..0;
    match &ask.kind {
        AskKind::Consent(consent) => {
            let (words, role) = risk_words(consent);
            drawing.rows.extend(wrap_text(&words, look.columns, look.theme.style(role)));
            let words = drawing.rule(ask).unwrap_or_default();
            rule = drawing.rows.len()..drawing.rows.len() + words.len();
            drawing.rows.extend(words);
            let told = drawing.rows_of(ask);
            drawing.consent(told, usize::MAX);
            drawing.rows.push(Row::empty());
            drawing.rows.push(Row::of("arguments", look.theme.style(Role::Accent)));
            let pretty = serde_json::from_str::<serde_json::Value>(consent.args.as_str())
                .and_then(|value| serde_json::to_string_pretty(&value))
                .unwrap_or_else(|_| consent.args.as_str().to_owned());
            drawing.rows.extend(wrap_text(&clean(&pretty), look.columns, look.theme.style(Role::Dim)));
        }
        AskKind::Confirm { .. } => drawing.rows = drawing.rows_of(ask).body,
        AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {}
    }
    Full { rows: drawing.rows, rule }
}

/// Risk as a word and a role; no word where nobody told how dangerous it is.
fn risk_word(assessment: &Assessment) -> (&'static str, Role) {
    match assessment.risk {
        _ if assessment.unrated => ("", Role::Accent),
        Risk::Low => ("low risk", Role::Ok),
        Risk::Medium => ("medium risk", Role::Accent),
        Risk::High => ("HIGH RISK", Role::Warn),
        Risk::Critical => ("CRITICAL RISK", Role::Bad),
    }
}

/// The same, and whether it can be undone.
fn risk_words(consent: &Consent) -> (String, Role) {
    let (word, role) = risk_word(&consent.assessment);
    let lasts = !consent.assessment.reversible && consent.assessment.risk > Risk::Low;
    let words = [word, if lasts { "cannot be undone" } else { "" }];
    (words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" · "), role)
}

#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Plain,
    Secret,
}

/// What a question is about, as rows: what would happen, and why that is dangerous.
#[derive(Default)]
struct AskRows {
    body: Vec<Row>,
    grounds: Vec<Row>,
}

impl AskRows {
    /// Rows that must be in sight beside the rule.
    fn least(&self) -> usize {
        self.body.len().min(MIN_TOLD) + self.grounds.len().min(MIN_TOLD)
    }
}

struct Drawing<'a> {
    look: Appearance,
    /// What stands on top; a message that only repeats it is not shown.
    title: &'a str,
    /// Whether a yes for the session is only for the same action.
    same: bool,
    rows: Vec<Row>,
    caret: CaretAt,
}

impl Drawing<'_> {
    /// The title in one row, for the smallest screens: how dangerous it is goes before what it is called.
    fn short_title(&mut self, ask: &Ask) {
        let mut pieces = vec![self.look.piece("? ", Role::Warn)];
        if let AskKind::Consent(consent) = &ask.kind {
            let (word, role) = risk_word(&consent.assessment);
            if !word.is_empty() {
                pieces.push(self.look.piece(format!("{word}  "), role));
            }
        }
        let used: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
        let room = self.look.columns.saturating_sub(used);
        pieces.push(self.look.piece(fit(&clean_line(&ask.title), room), Role::Heading));
        self.rows = vec![Row::from(pieces)];
    }

    fn title(&mut self, ask: &Ask, now: Millis) {
        let mut pieces = vec![self.look.piece("? ", Role::Warn)];
        let mut tail = Vec::new();
        if let AskKind::Consent(consent) = &ask.kind {
            let (words, role) = risk_words(consent);
            if !words.is_empty() {
                tail.push(self.look.piece(format!("  {words}"), role));
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

    /// What stands between the title and the keys.
    fn body(&mut self, panel: &AskPanel, ask: &Ask, told: AskRows, room: usize) {
        let end = self.rows.len() + room;
        match (&ask.kind, panel.mode) {
            (AskKind::Consent(_), PanelMode::Menu) => self.consent(told, room),
            (AskKind::Consent(_), PanelMode::Reason) => {
                if room > 2 {
                    self.consent(told, room - 1);
                }
                self.field("why not: ", &panel.editor, Shown::Plain);
            }
            (AskKind::Confirm { .. }, _) => self.cut(told.body, room),
            (AskKind::Choose { message, choices, many }, _) => {
                self.message(message, Role::Text, room / 3);
                if panel.has_filter(choices.len()) {
                    self.field("filter: ", &panel.editor, Shown::Plain);
                }
                self.choices(panel, ask, *many, end.saturating_sub(self.rows.len()));
            }
            (AskKind::Text { message, placeholder, secret, .. }, _) => {
                self.message(message, Role::Text, room.saturating_sub(1));
                let shown = if *secret { Shown::Secret } else { Shown::Plain };
                self.field("> ", &panel.editor, shown);
                if let (true, Some(hint)) = (panel.editor.is_empty(), placeholder) {
                    let hint = self.look.piece(clean_line(hint), Role::Dim);
                    self.rows.last_mut().into_iter().for_each(|row| row.pieces.push(hint.clone()));
                }
            }
            (AskKind::Edit { message, .. }, _) => {
                self.message(message, Role::Text, 2);
                self.edit(&panel.editor, end.saturating_sub(self.rows.len()));
            }
        }
    }

    /// The rule that `s` and `a` (or `a` alone) would make, all of it.
    fn rule(&self, ask: &Ask) -> Option<Vec<Row>> {
        let AskKind::Consent(consent) = &ask.kind else { return None };
        let words = [
            self.look.piece(if self.same { "a allows: " } else { "s and a allow: " }, Role::Dim),
            self.look.piece(clean_line(consent.rule.as_deref()?), Role::Text),
        ];
        Some(wrap(&words, self.look.columns, &Piece::default(), &self.look.piece("  ", Role::Text)))
    }

    /// What a consent or a confirm is about.
    fn rows_of(&self, ask: &Ask) -> AskRows {
        match &ask.kind {
            AskKind::Consent(consent) => self.consent_rows(consent),
            AskKind::Confirm { message, .. } if message.trim().is_empty() || message.trim() == self.title => {
                AskRows::default()
            }
            AskKind::Confirm { message, danger, .. } => {
                let style = self.look.theme.style(if *danger { Role::Warn } else { Role::Text });
                let body = wrap_text(clean(message).trim_end(), self.look.columns, style);
                AskRows { body, grounds: Vec::new() }
            }
            AskKind::Choose { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => AskRows::default(),
        }
    }

    /// As many of the rows as there is room for, and how many there are besides.
    fn cut(&mut self, mut rows: Vec<Row>, room: usize) {
        let room = room.max(1);
        if rows.len() > room {
            let hidden = rows.len() - (room - 1);
            rows.truncate(room - 1);
            let word = format!("… {hidden} more lines: v shows all");
            rows.push(Row::of(word, self.look.theme.style(Role::Warn)));
        }
        self.rows.extend(rows);
    }

    fn message(&mut self, text: &str, role: Role, most: usize) {
        if !text.trim().is_empty() && text.trim() != self.title {
            let style = self.look.theme.style(role);
            let rows = wrap_text(clean(text).trim_end(), self.look.columns, style);
            self.rows.extend(rows.into_iter().take(most.max(1)));
        }
    }

    fn consent_rows(&self, consent: &Consent) -> AskRows {
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
        let (_, role) = risk_word(&consent.assessment);
        let (first, rest) = (self.look.piece("· ", role), self.look.piece("  ", role));
        for reason in &consent.assessment.reasons {
            grounds.extend(wrap(&[self.look.piece(clean_line(reason), Role::Dim)], columns, &first, &rest));
        }
        AskRows { body, grounds }
    }

    fn consent(&mut self, told: AskRows, room: usize) {
        let AskRows { body, mut grounds } = told;
        // The preview gives way before the grounds do: why it is dangerous must never be scrolled out of sight.
        grounds.truncate(room.saturating_sub(1).max(1));
        self.cut(body, room.saturating_sub(grounds.len()));
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
