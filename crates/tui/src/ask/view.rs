//! The question as rows: what is asked, what would happen, how dangerous it is, and the keys that answer.

use super::offers::{self, Offer, Reach, Sees};
use super::words::{self, Title};
use super::{AskPanel, Keyboard, MAX_NUMBERED, PanelMode};
use crate::cell::summary;
use crate::clean::{agreed, agreed_args, agreed_line};
use crate::diff;
use crate::figures::counted;
use crate::look::Appearance;
use crate::row::{KEEPS, Piece, Row, fit, width, wrap, wrap_text, wrap_told};
use crate::theme::Role;
use domain::ask::{Ask, AskKind, Consent, Preview};
use domain::harmless::visible;
use domain::ids::Millis;
use ratatui_core::style::Style;
use std::ops::Range;

/// Rows of a title at most.
const MAX_TITLE: usize = 3;

/// Rows of what would happen, and rows of grounds, that stay in sight beside the rule.
const MIN_TOLD: usize = 2;

/// Rows of what would happen that long grounds leave: both ends of it, and how much is left out between.
const ENDS: usize = 3;

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
pub(crate) struct DrawnPanel {
    /// Its rows; the last ones tell the keys.
    pub(crate) rows: Vec<Row>,
    /// The caret, while the question has the keyboard.
    pub(crate) caret: CaretAt,
    /// The keys that it tells.
    pub(crate) offers: Vec<Offer>,
    /// How the bar looks that holds it together: as dangerous as it is.
    pub(crate) bar: Style,
    /// Whether nothing of what is asked is left out.
    pub(crate) whole: bool,
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
    /// Which of several it is, and how many they are.
    pub(crate) place: Option<(usize, usize)>,
}

/// Lays the panel out in the room there is; what is asked comes before everything else. Where anything of it is left out, a yes counts
/// only once all of it was viewed.
pub(crate) fn draw(panel: &AskPanel, ask: &Ask, scene: Scene, look: Appearance, on: Room) -> DrawnPanel {
    let drawn = |extent| lay_out(panel, ask, scene, look, on, extent);
    let whole =
        [PanelExtent::Whole, PanelExtent::WithoutRule].into_iter().map(drawn).find(|drawn| drawn.whole);
    whole.unwrap_or_else(|| drawn(PanelExtent::Ends))
}

/// How much of a question is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PanelExtent {
    Whole,
    /// All that is asked; what a yes for longer would allow is on the page.
    WithoutRule,
    /// Both ends of what is asked, and what else has room.
    Ends,
}

/// The panel, with the keys for so much of the question; whether that much had room is told in it.
fn lay_out(
    panel: &AskPanel,
    ask: &Ask,
    scene: Scene,
    look: Appearance,
    on: Room,
    extent: PanelExtent,
) -> DrawnPanel {
    let high = on.rows;
    let Scene { now, keyboard, draft, reach, place } = scene;
    let mut drawing = PanelDrawing { place, ..PanelDrawing::new(ask, look, reach) };
    let told = AskRows { answer: drawing.answer_rows(panel, ask), ..drawing.rows_of(ask) };
    drawing.title(ask, now);
    let list = |sees: Sees| {
        let all = offers::of_question(panel, ask, sees, draft);
        // The composer says so while nothing is written there.
        if draft || on.scarce || look.columns < PLACEHOLDER { all } else { offers::without_tab(all) }
    };
    let keys = |sees: Sees| offers::row(&list(sees), look, on.scarce);
    let (short, wide) = (on.scarce, look.columns >= WIDE);
    let subject = extent != PanelExtent::Ends || panel.is_viewed();
    let all = Sees { subject, rule: true, reach, cut: extent != PanelExtent::Whole, short, wide };
    if drawing.rows.len() + told.needed() + keys(Sees { rule: false, ..all }).len() > high {
        drawing.short_title(ask);
    }
    let title = drawing.rows.len();
    let rule = drawing.rule(ask).filter(|rule| {
        let fits = title + told.least() + rule.len() + keys(all).len() <= high;
        panel.mode == PanelMode::Menu && extent != PanelExtent::WithoutRule && subject && fits
    });
    // What a yes for longer would allow is told, too, where nothing has to give way.
    let rule_missing = extent == PanelExtent::Whole && rule.is_none() && panel.mode == PanelMode::Menu;
    drawing.left_out |= rule_missing && drawing.rule(ask).is_some();
    let sees = Sees { rule: rule.is_some(), ..all };
    let rule = rule.unwrap_or_default();
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
    let room = high.saturating_sub(foot.len() + rule.len());
    drawing.left_out |= drawing.rows.len() > room;
    drawing.rows.truncate(room);
    // Air around what is decided on, where nothing is hidden for it.
    let air = high.saturating_sub(drawing.rows.len() + rule.len() + foot.len());
    if air > 0 && !on.scarce && panel.mode == PanelMode::Menu {
        drawing.rows.push(Row::empty());
    }
    drawing.rows.extend(rule);
    drawing.rows.extend(foot);
    let whole = !(drawing.left_out || drawing.title_cut || drawing.rows.len() > high);
    let caret = drawing.caret.filter(|(row, _)| *row < drawing.rows.len());
    let caret = caret.filter(|_| keyboard == Keyboard::Question);
    DrawnPanel { rows: drawing.rows, caret, offers, bar: words::bar_style(ask, look.theme), whole }
}

/// Everything about the question, for the full view.
pub(crate) fn full(ask: &Ask, look: Appearance, reach: Reach) -> Full {
    let mut drawing = PanelDrawing::new(ask, look, reach);
    let mut rule = 0..0;
    let title = Title::of(ask).text;
    if width(&title) > look.columns {
        drawing.rows.extend(wrap_text(&title, look.columns, look.theme.style(Role::Heading)));
        drawing.rows.push(Row::empty());
    }
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
            drawing.rows.extend(wrap_text(&agreed(&pretty), look.columns, look.theme.style(Role::Dim)));
        }
        AskKind::Confirm { .. } | AskKind::Text { .. } | AskKind::Edit { .. } => {
            drawing.rows.extend(drawing.rows_of(ask).body);
        }
        AskKind::Choose { choices, .. } => {
            drawing.rows.extend(drawing.rows_of(ask).body);
            let rest = look.piece("  ", Role::Dim);
            for (at, choice) in choices.iter().enumerate() {
                let number =
                    if choices.len() > MAX_NUMBERED { "› ".to_owned() } else { format!("{} ", at + 1) };
                let first = look.piece(number, Role::Accent);
                drawing.rows.push(Row::empty());
                let label = [look.piece(agreed_line(&choice.label), Role::Text)];
                drawing.rows.extend(wrap(&label, look.columns, &first, &rest));
                let detail = choice.detail.iter().map(|detail| look.piece(agreed_line(detail), Role::Dim));
                drawing.rows.extend(detail.flat_map(|detail| wrap(&[detail], look.columns, &rest, &rest)));
            }
        }
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
    /// The first row of a change that is no context.
    first_change: Option<usize>,
    /// Rows of the list or the field in which it is answered.
    answer: usize,
}

impl AskRows {
    /// Rows that must be in sight beside the rule.
    fn least(&self) -> usize {
        self.body.len().min(MIN_TOLD) + self.grounds.len().min(MIN_TOLD)
    }

    /// Rows for which the title gives way.
    fn needed(&self) -> usize {
        self.body.len().min(1) + self.answer.min(1)
    }

    /// Rows for what is asked: what its answer leaves, and no less than a third.
    fn asked_room(&self, room: usize) -> usize {
        match self.answer {
            0 => room,
            answer => room.saturating_sub(answer).max(room / 3).clamp(1, room.saturating_sub(1).max(1)),
        }
    }
}

struct PanelDrawing<'a> {
    look: Appearance,
    /// What stands on top; a message that only repeats it is not shown.
    title: &'a str,
    reach: Reach,
    place: Option<(usize, usize)>,
    rows: Vec<Row>,
    caret: CaretAt,
    /// Whether not all of the title is in its rows.
    title_cut: bool,
    /// Whether rows of what is asked are left out, or something in them.
    left_out: bool,
}

impl<'a> PanelDrawing<'a> {
    fn new(ask: &'a Ask, look: Appearance, reach: Reach) -> PanelDrawing<'a> {
        let (rows, caret, title_cut, left_out) = (Vec::new(), None, false, false);
        let title = ask.title.trim();
        PanelDrawing { look, title, reach, place: None, rows, caret, title_cut, left_out }
    }

    /// The title in one row, for the smallest screens: how dangerous it is goes before what it is called.
    fn short_title(&mut self, ask: &Ask) {
        let mut pieces = Vec::new();
        if let AskKind::Consent(consent) = &ask.kind {
            let word = words::risk(&consent.assessment);
            if !word.is_empty() {
                pieces.push(Piece::new(word, words::risk_style(&consent.assessment, self.look.theme)));
                pieces.push(self.look.piece("  ", Role::Text));
            }
        }
        pieces.extend(self.place.map(|(at, all)| self.look.piece(format!("{at} of {all}  "), Role::Dim)));
        let used: usize = pieces.iter().map(|piece| width(&piece.text)).sum();
        let room = self.look.columns.saturating_sub(used);
        let text = Title::of(ask).text;
        self.title_cut = width(&text) > room;
        pieces.push(self.look.piece(fit(&text, room), Role::Heading));
        self.rows = vec![Row::from(pieces)];
    }

    fn title(&mut self, ask: &Ask, now: Millis) {
        let title = Title::of(ask);
        let rows = self.title_rows(ask, &title, now);
        self.title_cut = rows.len() > MAX_TITLE;
        self.rows = match self.title_cut {
            // What stands behind it is not pushed out: how dangerous it is, and how long there is to answer.
            true => {
                let beside = Title { text: String::new(), ..title };
                let taken: usize = self.title_rows(ask, &beside, now).iter().map(Row::width).sum();
                let room = (self.look.columns * (MAX_TITLE - 1)).saturating_sub(taken);
                self.title_rows(ask, &Title { text: fit(&title.text, room), ..beside }, now)
            }
            false => rows,
        };
        self.rows.truncate(MAX_TITLE);
    }

    fn title_rows(&self, ask: &Ask, title: &Title, now: Millis) -> Vec<Row> {
        let Title { text, counts } = title;
        let mut pieces = self.look.words(text, Role::Heading);
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
        if let Some((at, all)) = self.place {
            pieces.push(self.look.piece(format!("  {at}{KEEPS}of{KEEPS}{all}"), Role::Dim));
        }
        let (none, rest) = (Piece::default(), self.look.piece("  ", Role::Text));
        wrap(&pieces, self.look.columns, &none, &rest)
    }

    /// What stands between the title and the keys.
    fn body(&mut self, panel: &AskPanel, ask: &Ask, told: AskRows, room: usize) {
        let end = self.rows.len() + room;
        let asked_room = told.asked_room(room);
        match (&ask.kind, panel.mode) {
            (AskKind::Consent(_), PanelMode::Menu) => self.consent(told, room),
            (AskKind::Consent(_), PanelMode::Reason) => {
                match room {
                    0..=2 => self.left_out = true,
                    _ => self.consent(told, room - 1),
                }
                self.field("why not: ", &panel.editor, Shown::Plain);
            }
            (AskKind::Confirm { .. }, _) => self.cut(told.body, room, None),
            (AskKind::Choose { choices, many, .. }, _) => {
                self.cut(told.body, asked_room, None);
                if panel.has_filter(choices.len()) {
                    self.field("filter: ", &panel.editor, Shown::Plain);
                }
                // What is asked stands apart from what it can be answered with, where that hides nothing.
                let left = end.saturating_sub(self.rows.len());
                let (drawn, is_cut) = self.choices(panel, ask, *many, left);
                self.left_out |= is_cut || left == 0;
                self.rows.extend((drawn.len() + 2 <= left).then(Row::empty));
                self.rows.extend(drawn);
            }
            (AskKind::Text { placeholder, secret, .. }, _) => {
                self.cut(told.body, asked_room, None);
                let shown = if *secret { Shown::Secret } else { Shown::Plain };
                self.field("> ", &panel.editor, shown);
                if let (true, Some(hint)) = (panel.editor.is_empty(), placeholder) {
                    // The caret stands before it, and covers none of it.
                    let hint = self.look.piece(format!(" {}", agreed_line(hint)), Role::Dim);
                    self.rows.last_mut().into_iter().for_each(|row| row.pieces.push(hint.clone()));
                }
            }
            (AskKind::Edit { .. }, _) => {
                self.cut(told.body, asked_room, None);
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
        let key = |key| self.look.piece(key, Role::Key);
        let says = |words| self.look.piece(words, Role::Dim);
        // For how long stands beside each of the keys.
        let mut words = match self.reach {
            Reach::Same => vec![key("a"), says(" would also allow: ")],
            Reach::Theirs | Reach::Project => {
                vec![key("s"), says(" and "), key("a"), says(" would also allow: ")]
            }
        };
        words.extend(self.look.words(&rule, Role::Text));
        let rest = self.look.piece("  ", Role::Text);
        Some(wrap(&words, self.look.columns, &Piece::default(), &rest))
    }

    /// What is asked; a message that only repeats the title says nothing.
    fn rows_of(&self, ask: &Ask) -> AskRows {
        let (message, role) = match &ask.kind {
            AskKind::Consent(consent) => {
                return self.consent_rows(consent, Title::of(ask).counts.is_none());
            }
            AskKind::Confirm { message, danger: true, .. } => (message, Role::Warn),
            AskKind::Confirm { message, .. }
            | AskKind::Choose { message, .. }
            | AskKind::Text { message, .. }
            | AskKind::Edit { message, .. } => (message, Role::Text),
        };
        if message.trim().is_empty() || message.trim() == self.title {
            return AskRows::default();
        }
        let style = self.look.theme.style(role);
        let body = wrap_told(agreed(message).trim_end(), self.look.columns, style);
        AskRows { body, ..AskRows::default() }
    }

    /// Rows of the list, one for each choice, or of the field in which it is answered.
    fn answer_rows(&self, panel: &AskPanel, ask: &Ask) -> usize {
        match &ask.kind {
            AskKind::Consent(_) | AskKind::Confirm { .. } => 0,
            AskKind::Choose { choices, .. } => {
                panel.shown(ask).len().max(1) + usize::from(panel.has_filter(choices.len()))
            }
            AskKind::Text { .. } => 1,
            AskKind::Edit { .. } => {
                let (text, caret) = (panel.editor.text(), panel.editor.caret());
                crate::composer::lay_out(text, caret, self.look.columns).rows.len().max(1)
            }
        }
    }

    /// The rows, or both ends of them with the number of rows that are left out between.
    fn cut(&mut self, mut rows: Vec<Row>, room: usize, first_change: Option<usize>) {
        let (room, all, look) = (room.max(1), rows.len(), self.look);
        if all > room {
            self.left_out = true;
            let head = (room - 1).div_ceil(2);
            let word = |hidden: usize| {
                Row::of(format!("… {}", counted(hidden as u64, "more line")), look.theme.style(Role::Warn))
            };
            // What stands before the first change leaves before it does.
            match first_change.filter(|first| *first >= head) {
                Some(first) if room == 1 => {
                    rows.drain(..first);
                    rows.truncate(1);
                }
                Some(first) if all - first < room => {
                    let hidden = all + 1 - room;
                    rows.splice(..hidden, [word(hidden)]);
                }
                skipped => {
                    rows.drain(..skipped.unwrap_or(0));
                    let tail = room - 1 - head;
                    let last = rows.len() - tail;
                    rows.splice(head..last, [word(all - head - tail)]);
                }
            }
        }
        self.rows.extend(rows);
    }

    /// What would happen; the head of a change is there only where the title does not say it (`headed`).
    fn consent_rows(&self, consent: &Consent, headed: bool) -> AskRows {
        let mut body = Vec::new();
        let mut first_change = None;
        let columns = self.look.columns;
        match &consent.preview {
            Some(Preview::Command { line, .. }) => {
                let (first, rest) = (self.look.piece("$ ", Role::Accent), self.look.piece("  ", Role::Text));
                for (at, line) in agreed(line).split('\n').enumerate() {
                    let lead = if at == 0 { &first } else { &rest };
                    body.extend(wrap(&[self.look.piece(line, Role::Text)], columns, lead, &rest));
                }
            }
            Some(Preview::Diff { path, text }) => {
                if headed {
                    let (added, removed) = diff::counts(text);
                    let head = format!("{} (+{added} −{removed})", agreed_line(path));
                    body.push(Row::of(fit(&head, columns), self.look.theme.style(Role::Accent)));
                }
                let rows = diff::rows(&visible(text), Some(path), columns, self.look.theme);
                // The ground of a change goes to the end of its row.
                first_change = rows.iter().position(|row| row.fill.is_some()).map(|at| body.len() + at);
                body.extend(rows);
            }
            Some(Preview::Text(text)) => {
                body.extend(agreed(text).split('\n').flat_map(|line| self.further_in(line)));
            }
            None => {
                let text = format!(
                    "{} {}",
                    agreed_line(&consent.name),
                    summary(&agreed_args(consent.args.as_str()))
                );
                body.extend(self.further_in(&text));
            }
        }
        let mut grounds = Vec::new();
        let (first, rest) = (self.look.piece("· ", Role::Dim), self.look.piece("  ", Role::Dim));
        // What the lines of a change say themselves is not said again.
        let is_told = |reason: &str| first_change.is_some() && reason == words::CHANGES;
        for reason in consent.assessment.reasons.iter().filter(|reason| !is_told(reason)) {
            grounds.extend(wrap(&self.look.words(&agreed_line(reason), Role::Dim), columns, &first, &rest));
        }
        AskRows { body, grounds, first_change, answer: 0 }
    }

    /// A line of what would happen; what does not fit goes on further in, so that it does not look like a line of ours.
    fn further_in(&self, line: &str) -> Vec<Row> {
        let rest = self.look.piece("  ", Role::Text);
        wrap(&[self.look.piece(line, Role::Text)], self.look.columns, &Piece::default(), &rest)
    }

    fn consent(&mut self, told: AskRows, room: usize) {
        let AskRows { body, grounds, first_change, .. } = told;
        // The preview gives way before the grounds do, but for its ends: why it is dangerous must never be scrolled out of sight.
        let least = body.len().min(ENDS);
        let most = grounds.len().min(room.saturating_sub(least).max(1));
        self.cut(body, room.saturating_sub(most), first_change);
        if !grounds.is_empty() {
            self.cut(grounds, most, None);
        }
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

    /// The rows of the list, and whether something of a choice is not in its row.
    fn choices(&self, panel: &AskPanel, ask: &Ask, many: bool, room: usize) -> (Vec<Row>, bool) {
        let AskKind::Choose { choices, .. } = &ask.kind else { return (Vec::new(), false) };
        let shown = panel.shown(ask);
        let cursor = panel.cursor.min(shown.len().saturating_sub(1));
        let room = room.max(1);
        let top = cursor.saturating_sub(room.saturating_sub(1));
        if shown.is_empty() {
            return (vec![Row::of("no match", self.look.theme.style(Role::Dim))], false);
        }
        let labels = shown.iter().filter_map(|at| choices.get(*at)).map(|choice| width(&choice.label));
        let numbered = choices.len() <= MAX_NUMBERED;
        let signs = if many { 4 } else { 2 } + if numbered { 2 } else { 0 };
        let column = labels.max().unwrap_or(0).min(self.look.columns / 3) + signs;
        let drawn = |line: usize, at: usize, whole: bool| {
            let Some(choice) = choices.get(at) else { return (Vec::new(), false) };
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
            let number = if numbered { format!("{} ", at + 1) } else { String::new() };
            let all = format!("{sign}{number}{}", agreed_line(&choice.label));
            let label = fit(&all, self.look.columns);
            let space = column.saturating_sub(width(&label)) + 2;
            let mut row = Row::of(&label, style(Role::Text));
            let Some(detail) = &choice.detail else { return (vec![chosen(row)], label != all) };
            let detail = agreed_line(detail);
            let room = self.look.columns.saturating_sub(width(&label) + space);
            if !whole || room < LEAST_DETAIL {
                let told = fit(&detail, room);
                let is_cut = label != all || told != detail;
                row.pieces.push(Piece::new(format!("{}{told}", " ".repeat(space)), style(Role::Dim)));
                return (vec![chosen(row)], is_cut);
            }
            let rest = Piece::new(" ".repeat(width(&label) + space), style(Role::Dim));
            row.pieces.push(Piece::new(format!("{}{detail}", " ".repeat(space)), style(Role::Dim)));
            let rows = wrap(&row.pieces, self.look.columns, &Piece::default(), &rest);
            (rows.into_iter().map(chosen).collect(), false)
        };
        let lines = |from: usize, most: usize, whole: bool| {
            let (mut rows, mut is_cut) = (Vec::new(), false);
            for (line, at) in shown.iter().enumerate().skip(from).take(most) {
                let (drawn, cut) = drawn(line, *at, whole);
                rows.extend(drawn);
                is_cut |= cut;
            }
            (rows, is_cut)
        };
        // All that is told of each, where all of it has room; else a row each.
        let whole = lines(0, usize::MAX, true);
        if whole.0.len() <= room { whole } else { lines(top, room, false) }
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
