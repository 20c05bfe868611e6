//! The question as rows: what is asked, what would happen, how dangerous it is, and the keys that answer.

use super::offers::{self, Offer, Reach, Sees};
use super::words::{self, Title};
use super::{AskPanel, Keyboard, PanelMode};
use crate::cell::summary;
use crate::clean::{clean, clean_line};
use crate::diff;
use crate::figures::counted;
use crate::look::Appearance;
use crate::row::{KEEPS, Piece, Row, fit, width, wrap, wrap_text};
use crate::theme::Role;
use domain::ask::{Ask, AskKind, Consent, Preview};
use domain::ids::Millis;
use std::ops::Range;

/// Rows of a title at most.
const MAX_TITLE: usize = 3;

/// Rows of what would happen, and rows of grounds, that stay in sight beside the rule.
const MIN_TOLD: usize = 2;

/// Columns in which the composer says how to type there.
const PLACEHOLDER: usize = 36;

/// Columns from which it is said in whole words how long a yes counts.
const WIDE: usize = 70;

/// Fewer columns tell nothing beside a choice.
const LEAST_DETAIL: usize = 8;

/// Where the caret stands in the rows: row and column.
type CaretAt = Option<(usize, usize)>;

/// How much room there is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// Rows for the panel at most.
    pub(crate) rows: usize,
    /// Whether the screen is so small that the keys are told in short words: what is asked must stay in sight.
    pub(crate) scarce: bool,
}

/// The panel of a question as rows, and what the rest of the screen must know about it.
#[derive(Debug)]
pub(crate) struct Drawn {
    /// Its rows; the last ones tell the keys.
    pub(crate) rows: Vec<Row>,
    /// The caret, while the question has the keyboard.
    pub(crate) caret: CaretAt,
    /// The keys that it tells.
    pub(crate) offers: Vec<Offer>,
}

/// All of a question, for the page that shows it.
#[derive(Debug)]
pub(crate) struct Full {
    pub(crate) rows: Vec<Row>,
    /// Which of them spell out the rule that `s` and `a` would make.
    pub(crate) rule: Range<usize>,
}

/// What the question must know of the rest of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scene {
    pub(crate) now: Millis,
    pub(crate) keyboard: Keyboard,
    /// Whether a text stands in the composer.
    pub(crate) draft: bool,
    pub(crate) reach: Reach,
}

/// Lays the panel out in the room there is; what is asked comes before everything else.
pub(crate) fn draw(panel: &AskPanel, ask: &Ask, scene: Scene, look: Appearance, on: Room) -> Drawn {
    let high = on.rows;
    let Scene { now, keyboard, draft, reach } = scene;
    let mut drawing = Drawing { look, title: ask.title.trim(), reach, rows: Vec::new(), caret: None };
    let told = drawing.rows_of(ask);
    drawing.title(ask, now);
    let list = |sees: Sees| {
        let all = offers::of_question(panel, ask, sees, draft);
        // The composer says so while nothing is written there.
        if draft || on.scarce || look.columns < PLACEHOLDER { all } else { offers::without_tab(all) }
    };
    let keys = |sees: Sees| offers::row(&list(sees), look, on.scarce);
    // The most keys that there can be, until it is known what has to be left out.
    let (short, wide) = (on.scarce, look.columns >= WIDE);
    let all = Sees { subject: true, rule: true, reach, cut: true, short, wide };
    let needed = |title: usize, sees: Sees| title + told.body.len().min(1) + keys(sees).len();
    if needed(drawing.rows.len(), Sees { rule: false, ..all }) > high {
        drawing.short_title(ask);
    }
    let title = drawing.rows.len();
    let rule = drawing.rule(ask).filter(|rule| {
        panel.mode == PanelMode::Menu && title + told.least() + rule.len() + keys(all).len() <= high
    });
    let mut sees = Sees { rule: rule.is_some(), ..all };
    let wanted = title + told.body.len() + told.grounds.len() + rule.as_ref().map_or(0, Vec::len);
    sees.cut = wanted + keys(Sees { cut: false, ..sees }).len() > high;
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
    // Air around what is decided on, where nothing is hidden for it.
    let air = high.saturating_sub(drawing.rows.len() + rule.len() + foot.len());
    if air > 0 && !on.scarce && panel.mode == PanelMode::Menu {
        drawing.rows.push(Row::empty());
    }
    drawing.rows.extend(rule);
    drawing.rows.extend(foot);
    let caret = drawing.caret.filter(|(row, _)| *row < drawing.rows.len());
    Drawn { rows: drawing.rows, caret: caret.filter(|_| keyboard == Keyboard::Question), offers }
}

/// Everything about the question, for the full view.
pub(crate) fn full(ask: &Ask, look: Appearance, reach: Reach) -> Full {
    let mut drawing = Drawing { look, title: ask.title.trim(), reach, rows: Vec::new(), caret: None };
    let mut rule = 0..0;
    match &ask.kind {
        AskKind::Consent(consent) => {
            let style = words::risk_style(&consent.assessment, look.theme);
            drawing.rows.extend(wrap_text(&words::risk_and_undo(&consent.assessment), look.columns, style));
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
    reach: Reach,
    rows: Vec<Row>,
    caret: CaretAt,
}

impl Drawing<'_> {
    /// The title in one row, for the smallest screens: how dangerous it is goes before what it is called.
    fn short_title(&mut self, ask: &Ask) {
        let mut pieces = vec![self.look.piece("? ", Role::Warn)];
        if let AskKind::Consent(consent) = &ask.kind {
            let word = words::risk(&consent.assessment);
            if !word.is_empty() {
                pieces.push(Piece::new(word, words::risk_style(&consent.assessment, self.look.theme)));
                pieces.push(self.look.piece("  ", Role::Text));
            }
        }
        let used: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
        let room = self.look.columns.saturating_sub(used);
        pieces.push(self.look.piece(fit(&Title::of(ask).text, room), Role::Heading));
        self.rows = vec![Row::from(pieces)];
    }

    fn title(&mut self, ask: &Ask, now: Millis) {
        let mut pieces = vec![self.look.piece("? ", Role::Warn)];
        let Title { text, counts } = Title::of(ask);
        pieces.extend(self.look.words(&text, Role::Heading));
        if let Some((added, removed)) = counts {
            pieces.push(self.look.piece(format!("  +{added}{KEEPS}−{removed}"), Role::Dim));
        }
        if let AskKind::Consent(consent) = &ask.kind {
            // Each of its words is told whole.
            let words = words::risk_and_undo(&consent.assessment).replace(' ', KEEPS);
            let words = words.replace(&format!(",{KEEPS}"), ", ");
            if !words.is_empty() {
                pieces.push(self.look.piece("  ", Role::Text));
                pieces.push(Piece::new(words, words::risk_style(&consent.assessment, self.look.theme)));
            }
        }
        if let Some(deadline) = ask.deadline {
            let left = deadline.since(now) / 1_000;
            pieces.push(self.look.piece(format!("  {left}s left"), Role::Warn));
        }
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
                // What is asked stands apart from what it can be answered with, where that hides nothing.
                let left = end.saturating_sub(self.rows.len());
                let drawn = self.choices(panel, ask, *many, left);
                self.rows.extend((drawn.len() + 2 <= left).then(Row::empty));
                self.rows.extend(drawn);
            }
            (AskKind::Text { message, placeholder, secret, .. }, _) => {
                self.message(message, Role::Text, room.saturating_sub(1));
                let shown = if *secret { Shown::Secret } else { Shown::Plain };
                self.field("> ", &panel.editor, shown);
                if let (true, Some(hint)) = (panel.editor.is_empty(), placeholder) {
                    // The caret stands before it, and covers none of it.
                    let hint = self.look.piece(format!(" {}", clean_line(hint)), Role::Dim);
                    self.rows.last_mut().into_iter().for_each(|row| row.pieces.push(hint.clone()));
                }
            }
            (AskKind::Edit { message, .. }, _) => {
                self.message(message, Role::Text, 2);
                self.edit(&panel.editor, end.saturating_sub(self.rows.len()));
            }
        }
    }

    /// The rule that `s` and `a` (or `a` alone) would make, all of it; or that there is none.
    fn rule(&self, ask: &Ask) -> Option<Vec<Row>> {
        let AskKind::Consent(consent) = &ask.kind else { return None };
        let Some(rule) = words::rule(consent) else {
            // Why the keys that are known from other questions are not here.
            let told = [self.look.piece(words::ONLY_ONCE, Role::Dim)];
            return Some(wrap(&told, self.look.columns, &Piece::default(), &Piece::default()));
        };
        let key = |key| self.look.piece(key, Role::Accent);
        let says = |words| self.look.piece(words, Role::Dim);
        // For how long stands beside each of the keys.
        let mut words = match self.reach {
            Reach::Same => vec![key("a"), says(" also allows: ")],
            Reach::Theirs | Reach::Project => vec![key("s"), says(" and "), key("a"), says(" also allow: ")],
        };
        words.extend(self.look.words(&rule, Role::Text));
        let rest = self.look.piece("  ", Role::Text);
        Some(wrap(&words, self.look.columns, &Piece::default(), &rest))
    }

    /// What a consent or a confirm is about.
    fn rows_of(&self, ask: &Ask) -> AskRows {
        match &ask.kind {
            AskKind::Consent(consent) => self.consent_rows(consent, Title::of(ask).counts.is_none()),
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
            // A line that goes on below is not torn, unless it is the only one.
            let torn = rows[..room - 1].iter().rev().take_while(|row| row.soft.is_some()).count();
            let kept = if torn < room - 1 { room - 1 - torn } else { room - 1 };
            let hidden = rows[kept..].iter().filter(|row| row.soft.is_none()).count();
            rows.truncate(kept);
            let word = format!("… {}", counted(hidden as u64, "more line"));
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

    /// What would happen; the head of a change is there only where the title does not say it (`headed`).
    fn consent_rows(&self, consent: &Consent, headed: bool) -> AskRows {
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
                if headed {
                    let (added, removed) = diff::counts(text);
                    let head = format!("{} (+{added} −{removed})", clean_line(path));
                    body.push(Row::of(fit(&head, columns), self.look.theme.style(Role::Accent)));
                }
                body.extend(diff::rows(text, Some(path), columns, self.look.theme));
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
        let (first, rest) = (self.look.piece("· ", Role::Dim), self.look.piece("  ", Role::Dim));
        for reason in &consent.assessment.reasons {
            grounds.extend(wrap(&self.look.words(&clean_line(reason), Role::Dim), columns, &first, &rest));
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

    fn choices(&self, panel: &AskPanel, ask: &Ask, many: bool, room: usize) -> Vec<Row> {
        let AskKind::Choose { choices, .. } = &ask.kind else { return Vec::new() };
        let shown = panel.shown(ask);
        let cursor = panel.cursor.min(shown.len().saturating_sub(1));
        let room = room.max(1);
        let top = cursor.saturating_sub(room.saturating_sub(1));
        if shown.is_empty() {
            return vec![Row::of("nothing fits", self.look.theme.style(Role::Dim))];
        }
        let labels = shown.iter().filter_map(|at| choices.get(*at)).map(|choice| width(&choice.label));
        let signs = if many { 4 } else { 2 };
        let column = labels.max().unwrap_or(0).min(self.look.columns / 3) + signs;
        let drawn = |line: usize, at: usize, whole: bool| {
            let Some(choice) = choices.get(at) else { return Vec::new() };
            let sign = match (many, panel.taken.contains(&at), line == cursor) {
                (true, true, _) => "[x] ",
                (true, false, _) => "[ ] ",
                (false, _, true) => "› ",
                (false, _, false) => "  ",
            };
            let under = line == cursor;
            let style = |role: Role| match under {
                true => self.look.theme.over(Role::Selected, role),
                false => self.look.theme.style(role),
            };
            let chosen = |mut row: Row| {
                row.fill = under.then(|| self.look.theme.style(Role::Selected));
                row
            };
            let label = fit(&format!("{sign}{}", clean_line(&choice.label)), self.look.columns);
            let space = column.saturating_sub(width(&label)) + 2;
            let mut row = Row::of(&label, style(Role::Text));
            let Some(detail) = &choice.detail else { return vec![chosen(row)] };
            let detail = clean_line(detail);
            let room = self.look.columns.saturating_sub(width(&label) + space);
            if !whole || room < LEAST_DETAIL {
                let detail = format!("{}{}", " ".repeat(space), fit(&detail, room));
                row.pieces.push(Piece::new(detail, style(Role::Dim)));
                return vec![chosen(row)];
            }
            let rest = Piece::new(" ".repeat(width(&label) + space), style(Role::Dim));
            row.pieces.push(Piece::new(format!("{}{detail}", " ".repeat(space)), style(Role::Dim)));
            let rows = wrap(&row.pieces, self.look.columns, &Piece::default(), &rest);
            rows.into_iter().map(chosen).collect()
        };
        // All that is told of each, where all of it has room; else a row each.
        let whole: Vec<Row> =
            shown.iter().enumerate().flat_map(|(line, at)| drawn(line, *at, true)).collect();
        if whole.len() <= room {
            return whole;
        }
        let lines = shown.iter().enumerate().skip(top).take(room);
        lines.flat_map(|(line, at)| drawn(line, *at, false)).collect()
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
