//! Pages and lists that cover the screen: their rows, and where these stand.

use super::{appearance, areas, facts, keys, over_area, question, shortcuts};
use crate::ask::{self, Full, Offer, Reach, Sees, Sight};
use crate::cell::level_role;
use crate::figures::{ago, counted};
use crate::look::Appearance;
use crate::model::Model;
use crate::overlay::Content;
use crate::picker::{CLOSES, Hint, Item, Picker};
use crate::row::{Piece, Row, fit, fit_words, width, wrap, wrap_text};
use crate::theme::Role;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use std::ops::Range;

/// A page with its foot.
pub(crate) struct Sheet {
    pub(crate) rows: Vec<Row>,
    /// Which rows spell out the rule of a question.
    rule: Range<usize>,
    /// Rows of the foot besides the first.
    pub(crate) foot: usize,
}

/// What a page shows now.
pub(crate) fn sheet(content: &Content, model: &Model) -> Sheet {
    let look = appearance(model);
    let plain = |rows| Sheet { rows, rule: 0..0, foot: 0 };
    match content {
        Content::Shortcuts => {
            let (keymap, abilities) = (model.screen.preferences.keymap(), &model.world.seen().abilities);
            plain(shortcuts::rows(keymap, look, abilities, usize::from(over_area(model).height)))
        }
        Content::Keys => {
            plain(keys::rows(model.screen.preferences.keymap(), look, &model.world.seen().abilities))
        }
        Content::Commands => {
            plain(keys::commands(look, &model.world.seen().abilities, model.screen.start.here()))
        }
        Content::Status => plain(facts::rows(model)),
        Content::Notices => plain(notices(model)),
        Content::Own => plain(own(model)),
        Content::Diff(text) => plain(crate::diff::rows(text, None, look.columns, look.theme)),
        Content::Ask => {
            let Some((_, asked)) = model.screen.asks.shown(model.world.state()) else {
                return plain(Vec::new());
            };
            let Full { rows, rule } = ask::full(asked, look, reach(model));
            // As many rows as all the keys take, so that nothing moves when some of them go.
            let all =
                Sees { subject: true, rule: true, reach: reach(model), cut: false, short: true, wide: false };
            Sheet { rows, rule, foot: ask::row(&ask::of_page(asked, all), look, true).len() }
        }
    }
}

/// Rows of a page, and how many of them fit on the screen.
pub(crate) fn page_size(content: &Content, model: &Model) -> (usize, usize) {
    let page = sheet(content, model);
    let high = over_area(model).height;
    let air = usize::from(page_air(&page, high) + page_low(&page, high));
    (page.rows.len(), usize::from(high).saturating_sub(2 + air + page.foot))
}

/// A blank row above the keys of a page that goes on below, where there is room for it.
pub(crate) fn page_low(page: &Sheet, high: u16) -> u16 {
    let (rows, room) = (page.rows.len() + page.foot + 2, usize::from(high));
    u16::from(rows > room && page.foot == 0 && high >= ROOMY)
}

/// A blank row below the title of a page, where there is room for it.
pub(crate) fn page_air(page: &Sheet, high: u16) -> u16 {
    let (rows, room) = (page.rows.len() + page.foot + 2, usize::from(high));
    // A page that fits without it keeps all of its rows in sight; one that is longer anyway loses nothing.
    u16::from(rows < room || rows > room && high >= ROOMY)
}

/// The rows of a page as words, to look through.
pub(crate) fn page_texts(content: &Content, model: &Model) -> Vec<String> {
    sheet(content, model).rows.iter().map(Row::text).collect()
}

/// The keys on the page that shows all of the question.
pub(crate) fn page_offers(model: &Model) -> Vec<Offer> {
    let Some(pager) = model.screen.over.page() else { return Vec::new() };
    let Some((panel, asked)) = model.screen.asks.shown(model.world.state()) else { return Vec::new() };
    let page = sheet(pager.content(), model);
    let (rows, fits) = page_size(pager.content(), model);
    let top = pager.clamp(rows, fits);
    let rule = page.rule.start >= top && page.rule.end <= top + fits && !page.rule.is_empty();
    // What stands whole below the conversation was seen there.
    let whole = question(model, areas(model).ask.height).is_some_and(|drawn| drawn.whole);
    let subject = fits > 0 && (whole || panel.is_viewed());
    ask::of_page(asked, Sees { subject, rule, reach: reach(model), cut: false, short: true, wide: false })
}

/// The part of the page about the question that is on the screen, while that page is open.
pub(crate) fn page_sight(model: &Model) -> Option<Sight> {
    let pager = model.screen.over.page().filter(|pager| *pager.content() == Content::Ask)?;
    let (rows, fits) = page_size(pager.content(), model);
    let columns = appearance(model).columns;
    Some(Sight { columns, rows, top: pager.clamp(rows, fits), fits })
}

/// Whether a question waits to be drawn, or more of it: it can be seen from the next frame on.
pub(crate) fn has_unseen_question(model: &Model) -> bool {
    let asks = &model.screen.asks;
    (asks.is_unseen() || asks.is_unsaid(model.world.state())) && !model.screen.over.covers_question()
        || page_sight(model).is_some_and(|sight| asks.is_new(sight))
}

/// All that is kept of what the person's own command wrote.
fn own(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let Some(ran) = model.screen.own.shown() else { return Vec::new() };
    let mut rows = Vec::new();
    if ran.lost > 0 {
        let word = format!("… {} before this one are not kept", counted(ran.lost as u64, "line"));
        rows.push(Row::of(word, look.theme.style(Role::Dim)));
    }
    rows.extend(wrap_text(&ran.output, look.columns, look.theme.style(Role::Text)));
    rows
}

/// The words that came and went, the newest first.
fn notices(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let rows = model.screen.toasts.notices().flat_map(|notice| {
        let lead = look.piece(format!("{:<12}", ago(model.screen.window.now(), notice.at)), Role::Dim);
        let rest = look.piece(" ".repeat(12), Role::Dim);
        wrap(&[look.piece(notice.text.clone(), level_role(notice.level))], look.columns, &lead, &rest)
    });
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() { vec![Row::of("nothing was said yet", look.theme.style(Role::Dim))] } else { rows }
}

/// Columns below which a list tells beside its lines only what fits whole.
const NARROW: usize = 60;
/// Rows from which a list leaves room for all of the line under the cursor.
pub(super) const ROOMY: u16 = 18;
/// Rows from which there is room for a second row of keys.
const FOOT_ROOM: u16 = 10;
/// Rows of keys at most.
const MOST_FOOT: u16 = 3;
/// Lines of a list up to which all of them are looked at to know how many rows the longest takes below it.
const MOST_MEASURED: usize = 64;
/// Fewer columns tell nothing beside a line.
const LEAST_DETAIL: usize = 8;
/// Fewer columns tell nothing of what was said.
const LEAST_CELL: usize = 16;
/// Columns between two cells.
const GAP: usize = 2;
/// Between two parts of what is told beside a line.
const PARTS: &str = " · ";

/// How the lines of a list stand.
pub(crate) struct ListLayout {
    /// Columns of what they are called.
    pub(crate) column: usize,
    columns: usize,
    /// Whether all of the one under the cursor is told below them, and words need not be cut.
    told_below: bool,
    /// Whether something is told beside them.
    beside: bool,
    /// Columns of each of the cells beside them, none where there is no room for it.
    cells: Vec<usize>,
}

impl ListLayout {
    /// What is told beside the lines begins in one column: never past the middle, unless all of it stands below the list as well.
    fn of(picker: &Picker, columns: usize, high: u16) -> ListLayout {
        let labels = picker.all().filter(|item| !item.detail.is_empty());
        let longest = labels.map(|item| width(&item.label)).max().unwrap_or(0);
        let told_below = columns < NARROW && high >= ROOMY;
        if picker.is_in_columns() {
            let cells = ListLayout::cells(picker, columns);
            let taken: usize = cells.iter().filter(|wide| **wide > 0).map(|wide| wide + GAP).sum();
            let column = longest.min(columns.saturating_sub(taken + 2));
            return ListLayout {
                column,
                columns,
                told_below,
                beside: true,
                cells: ListLayout::widened(cells, columns, column),
            };
        }
        let most = if told_below { columns.saturating_sub(2) } else { columns / 2 };
        let column = longest.min(most);
        let beside = !told_below || ListLayout::tells_beside(picker, column, columns);
        ListLayout { column, columns, told_below, beside, cells: Vec::new() }
    }

    /// Columns of each cell as far as the names of the lines leave room for them; the last one gets what is left, later.
    fn cells(picker: &Picker, columns: usize) -> Vec<usize> {
        let count = picker.all().map(|item| item.cells.len()).max().unwrap_or(0);
        if columns < NARROW {
            // Of each line the first that there is to tell.
            return vec![picker.all().map(|item| width(first_cell(item))).max().unwrap_or(0)];
        }
        let longest = |at: usize| {
            picker.all().filter_map(|item| item.cells.get(at)).map(|cell| width(cell)).max().unwrap_or(0)
        };
        let mut left = columns.saturating_sub(columns / 3 + 2);
        let mut wide: Vec<usize> = (0..count.saturating_sub(1)).map(longest).collect();
        for wide in &mut wide {
            *wide = if *wide + GAP <= left { *wide } else { 0 };
            left -= if *wide > 0 { *wide + GAP } else { 0 };
        }
        wide.push(0);
        wide
    }

    /// The same with the last cell in what is left beside the names, where that is enough to tell something.
    fn widened(mut cells: Vec<usize>, columns: usize, column: usize) -> Vec<usize> {
        let taken: usize = cells.iter().filter(|wide| **wide > 0).map(|wide| wide + GAP).sum();
        let left = columns.saturating_sub(column + 2 + taken + GAP);
        match cells.last_mut() {
            Some(last) if *last == 0 && left >= LEAST_CELL => *last = left,
            Some(_) | None => {}
        }
        cells
    }

    /// Columns that a line may be called by.
    pub(crate) fn most(&self, detail: &str) -> usize {
        if detail.is_empty() { self.columns.saturating_sub(2) } else { self.column }
    }

    /// As much of what is told beside a line as there is room for: whole parts of it, and of the last one its beginning, unless all
    /// of it stands below.
    pub(crate) fn beside(&self, item: &Item) -> String {
        let detail = item.detail.as_str();
        match self.cells.as_slice() {
            _ if item.cells.is_empty() => {}
            [wide] => return fit(first_cell(item), *wide),
            cells => {
                let told = item.cells.iter().zip(cells).filter(|(_, wide)| **wide > 0);
                let told = told.map(|(cell, wide)| {
                    let cell = fit_words(cell, *wide);
                    format!("{cell}{}", " ".repeat(wide.saturating_sub(width(&cell)) + GAP))
                });
                return told.collect::<String>().trim_end().to_owned();
            }
        }
        let room = if self.beside { self.columns.saturating_sub(self.column + 4) } else { 0 };
        if width(detail) <= room {
            return detail.to_owned();
        }
        let parts: Vec<&str> = detail.split(PARTS).collect();
        let whole = (1..parts.len()).rev().map(|count| parts[..count].join(PARTS));
        let told = whole.into_iter().find(|told| width(told) <= room).unwrap_or_default();
        // What is left of the room, where only the last part is missing.
        let left = room.saturating_sub(width(&told));
        let last = parts.len() == 1 || told == parts[..parts.len() - 1].join(PARTS);
        match last && !self.told_below && left >= LEAST_DETAIL + width(PARTS) {
            true => fit(detail, room),
            false => told,
        }
    }

    /// Whether something is told beside the lines: on a narrow screen beside all of them or none.
    fn tells_beside(picker: &Picker, column: usize, columns: usize) -> bool {
        let room = columns.saturating_sub(column + 4);
        picker.all().all(|item| item.detail.split(PARTS).next().map_or(0, width) <= room)
    }

    fn is_cut(&self, item: &Item) -> bool {
        width(&item.label) > self.most(&item.detail) || !self.hidden(item).is_empty()
    }

    /// What of that which is told beside a line is not in sight, or not all of it.
    fn hidden(&self, item: &Item) -> String {
        let cells = item.cells.iter().map(String::as_str);
        let hidden: Vec<&str> = match self.cells.as_slice() {
            _ if item.cells.is_empty() && self.beside(item) == item.detail => Vec::new(),
            _ if item.cells.is_empty() => vec![item.detail.as_str()],
            [_] => cells.filter(|cell| !cell.is_empty()).skip(1).collect(),
            wide => {
                cells.zip(wide).filter(|(cell, wide)| width(cell) > **wide).map(|(cell, _)| cell).collect()
            }
        };
        hidden.join(PARTS)
    }
}

/// The first that there is to tell of a line.
fn first_cell(item: &Item) -> &str {
    item.cells.iter().find(|cell| !cell.is_empty()).map_or("", String::as_str)
}

/// How the lines of a list stand on a screen of this size.
pub(crate) fn list_lines(picker: &Picker, area: Rect) -> ListLayout {
    ListLayout::of(picker, usize::from(area.width.saturating_sub(2)), area.height)
}

/// Where the lines of a list stand.
pub(crate) fn list_area(picker: &Picker, area: Rect) -> Rect {
    let columns = usize::from(area.width.saturating_sub(2));
    let below = u16::try_from(more_rows(picker, columns, area.height)).unwrap_or(0);
    // The lines stand apart from what narrows them down, where there is room.
    let above = if area.height >= ROOMY { 3 } else { 2 };
    let foot = list_foot(picker, columns, area.height);
    Rect { y: area.y + above, height: area.height.saturating_sub(above + foot + below), ..area }
}

/// Rows of what the keys of a list do: a second and a third where they do not stand whole in one and there is room for it.
pub(crate) fn list_foot(picker: &Picker, columns: usize, high: u16) -> u16 {
    foot_rows([CLOSES].iter().chain(picker.hints()), columns, high)
}

/// The same for any keys.
pub(super) fn foot_rows<'a>(hints: impl Iterator<Item = &'a Hint>, columns: usize, high: u16) -> u16 {
    let told = hints.map(|hint| hint.1).collect::<Vec<_>>().join(PARTS);
    let rows = in_parts(&told, columns).len();
    if high >= FOOT_ROOM { u16::try_from(rows).unwrap_or(MOST_FOOT).clamp(1, MOST_FOOT) } else { 1 }
}

fn shows_more(picker: &Picker, columns: usize, high: u16) -> bool {
    let lines = ListLayout::of(picker, columns, high);
    high >= ROOMY && (picker.tells_more() || picker.all().any(|item| lines.is_cut(item)))
}

/// A line of parts as lines of as many parts as fit, so that no dot stands at an end.
pub(super) fn in_parts(line: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in line.split(PARTS) {
        match lines.last_mut() {
            Some(last) if width(last) + width(PARTS) + width(part) <= columns => {
                last.push_str(PARTS);
                last.push_str(part);
            }
            _ => lines.push(part.to_owned()),
        }
    }
    lines
}

/// What the head of a list tells of where its lines are kept, where there is room; else that stands below them.
pub(crate) fn kept_in_head(picker: &Picker, columns: usize) -> bool {
    !picker.kept().is_empty() && width(picker.title()) + width(PARTS) + width(picker.kept()) <= columns
}

/// What the line under the cursor does not tell, below a rule: what is cut in it, and what is to be known besides.
pub(crate) fn more(picker: &Picker, look: Appearance, screen: u16) -> Vec<Row> {
    let high = more_rows(picker, look.columns, screen);
    if high == 0 {
        return Vec::new();
    }
    let mut rows = vec![Row::of("─".repeat(look.columns), look.theme.style(Role::Border))];
    let none = Piece::default();
    let pieces = |line: &str, role: Role| match picker.has_code() {
        true => look.words(line, role),
        false => vec![look.piece(line, role)],
    };
    let told = picker.under().map_or(Vec::new(), |item| told_below(picker, item, look.columns, screen));
    let drawn = told.iter().flat_map(|(line, role)| wrap(&pieces(line, *role), look.columns, &none, &none));
    rows.extend(drawn.take(high.saturating_sub(1)));
    rows.resize(high, Row::empty());
    rows
}

/// Rows of what is told below a list, with the rule above it: as many as the line takes that has most to tell, so that the list stands
/// still while the cursor moves.
fn more_rows(picker: &Picker, columns: usize, high: u16) -> usize {
    if !shows_more(picker, columns, high) {
        return 0;
    }
    let most = usize::from(high / 3);
    if picker.all().count() > MOST_MEASURED {
        return most + 1;
    }
    let rows = |item| {
        let told = told_below(picker, item, columns, high);
        told.iter().map(|(line, _)| wrap_text(line, columns, Style::default()).len()).sum::<usize>()
    };
    picker.all().map(rows).max().unwrap_or(0).clamp(1, most.max(1)) + 1
}

/// The lines that tell what one of the list does not: what is cut in it, and what is to be known besides.
fn told_below(picker: &Picker, item: &Item, columns: usize, high: u16) -> Vec<(String, Role)> {
    let lines = ListLayout::of(picker, columns, high);
    let mut told: Vec<(&str, Role)> = Vec::new();
    let label_cut = width(&item.label) > lines.most(&item.detail);
    told.extend(label_cut.then_some((item.label.trim_end(), Role::Text)));
    let hidden = lines.hidden(item);
    told.extend(Some((hidden.as_str(), Role::Text)).filter(|(hidden, _)| !hidden.is_empty()));
    // Where it lies and what it is called are no part of what it is about.
    let more = if picker.is_in_columns() { Role::Dim } else { Role::Text };
    told.extend(Some((item.more.as_str(), more)).filter(|(more, _)| !more.is_empty()));
    let kept = !picker.kept().is_empty() && !kept_in_head(picker, columns);
    told.extend(kept.then_some((picker.kept(), Role::Dim)));
    let lines = told.iter().flat_map(|(text, role)| text.split('\n').map(move |line| (line, *role)));
    lines.flat_map(|(line, role)| in_parts(line, columns).into_iter().map(move |l| (l, role))).collect()
}

/// How far a yes goes that is for more than once.
pub(super) fn reach(model: &Model) -> Reach {
    match &model.world.seen().abilities {
        can if !can.session_scope => Reach::Same,
        can if !can.policy => Reach::Theirs,
        _ => Reach::Project,
    }
}
