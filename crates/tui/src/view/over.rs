//! Draws the pager, the picker and the fleet over the screen.

use super::paste_rows;
use crate::ask;
use crate::clean::clean_line;
use crate::fleet::Board;
use crate::layout::{
    appearance, fleet_foot, fleet_keys, fleet_list, fleet_more, fleet_rows, fleet_title, kept_in_head,
    list_area, list_foot, list_lines, more, over_area, over_rows, page_air, page_low, page_offers, sheet,
    waiting_area, waiting_question,
};
use crate::model::Model;
use crate::overlay::{Content, Finding, Overlay, Pager};
use crate::picker::{CLOSES, HERE, Hint, ListKind, Picker};
use crate::row::{Links, Piece, Row, between, draw, fit, fit_pieces, fit_words, fitting, width};
use crate::search;
use crate::theme::Role;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::Modifier;

/// Between two parts of the last line.
const BETWEEN: &str = " · ";
const SCROLLS: Hint = ("↑↓ PgUp PgDn scroll", "↑↓ scroll");
const FINDS: Hint = ("/ finds", "/ finds");
/// Keys of a page that are told before how far one has read.
const FIRST_KEYS: usize = 2;

/// Draws the overlay over everything, and says where the caret is.
pub(super) fn view(
    overlay: &Overlay,
    model: &Model,
    area: Rect,
    buf: &mut Buffer,
    links: &mut Links,
) -> Option<Position> {
    links.clear();
    for y in area.y..area.bottom() {
        for x in area.x..area.right() {
            buf[(x, y)].reset();
        }
    }
    let words = over_rows(model);
    let free = Rect { height: over_area(model).height.min(area.height), ..area };
    paste_rows(&words, Rect { y: free.bottom(), height: area.bottom() - free.bottom(), ..area }, buf, links);
    let area = free;
    match overlay {
        Overlay::Pager(pager) => page(pager, model, area, buf, links),
        Overlay::Picker(picker) => pick(picker, model, area, buf, links),
        Overlay::Fleet(board) => fleet(board, model, area, buf, links),
        Overlay::Login(form) => super::login::view(form, model, area, buf, links),
    }
}

/// The fleet; tells where the caret stands when a line is being written.
fn fleet(board: &Board, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) -> Option<Position> {
    head(&fleet_title(model), model, area, buf, links);
    let list = fleet_list(model);
    paste_rows(&fleet_rows(board, model, usize::from(list.height)), list, buf, links);
    let more = fleet_more(board, model);
    let below = Rect { y: list.bottom(), height: u16::try_from(more.len()).unwrap_or(0), ..list };
    paste_rows(&more, below, buf, links);
    if let Some((area, asked)) =
        waiting_area(model, list).and_then(|area| Some((area, waiting_question(board, model, area)?)))
    {
        paste_rows(&asked.rows, area, buf, links);
        for y in area.y..area.bottom() {
            buf[(area.x, y)].set_symbol("▌").set_style(asked.bar);
        }
    }
    let Some((row, editor)) = board.line() else {
        let hints = fleet_keys(board, model);
        let high = fleet_foot(model);
        foot(&Foot { place: None, first: hints.len(), hints }, high, model, area, buf, links);
        return None;
    };
    let look = appearance(model);
    let lead = format!("to {}: ", fit(&clean_line(&row.title), look.columns / 3));
    let room = look.columns.saturating_sub(width(&lead) + 1);
    let before = width(&editor.text()[..editor.caret()]);
    // The end of a long line is what is being written.
    let from = before.saturating_sub(room);
    let written = Row::from(vec![
        look.piece(lead.clone(), Role::Accent),
        look.piece(between(editor.text(), from, from + room), Role::Text),
    ]);
    let y = area.bottom().saturating_sub(1);
    draw(&written, Position::new(area.x + 1, y), area.width.saturating_sub(2), buf, links);
    let x = area.x + 1 + u16::try_from(width(&lead) + before - from).unwrap_or(0);
    Some(Position::new(x.min(area.right().saturating_sub(1)), y))
}

/// Draws a page; tells where the caret of its search is.
fn page(pager: &Pager, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) -> Option<Position> {
    let page = sheet(pager.content(), model);
    let below = u16::try_from(page.foot).unwrap_or(u16::MAX);
    let air = page_air(&page, area.height);
    let used = 2 + air + page_low(&page, area.height) + below;
    let inner = Rect { y: area.y + 1 + air, height: area.height.saturating_sub(used), ..area };
    let rows = page.rows;
    let top = pager.clamp(rows.len(), usize::from(inner.height));
    head(pager.title(), model, area, buf, links);
    let shown = &rows[top.min(rows.len())..];
    paste_rows(shown, inner, buf, links);
    if let Some(find) = pager.finding() {
        mark_found(shown, find.words().text(), model, inner, buf);
        return Some(finding(find, model, area, buf, links));
    }
    let last = (top + usize::from(inner.height)).min(rows.len());
    let long = rows.len() > usize::from(inner.height);
    let seen = format!("{}–{last}", top + 1);
    let place =
        long.then(|| (format!("lines {seen} of {}", rows.len()), format!("{seen} of {}", rows.len())));
    let hints: Vec<Hint> = match (long, pager.content()) {
        (true, Content::Ask) => vec![SCROLLS, FINDS],
        (false, Content::Ask) => Vec::new(),
        (true, _) => vec![CLOSES, SCROLLS, FINDS],
        (false, _) => vec![CLOSES, FINDS],
    };
    if *pager.content() == Content::Ask {
        let keys = ask::row(&page_offers(model), appearance(model), true);
        let under = Rect { y: inner.bottom(), height: below, ..area };
        paste_rows(&keys, under, buf, links);
    }
    foot(&Foot { place, first: FIRST_KEYS, hints }, 1, model, area, buf, links);
    None
}

/// Marks the words that are looked for.
fn mark_found(rows: &[Row], words: &str, model: &Model, area: Rect, buf: &mut Buffer) {
    mark(rows, words, search::columns, model, area, buf);
}

/// Where words stand in a row: from which column to which.
type Columns = fn(&str, &str) -> Vec<(usize, usize)>;

fn mark(rows: &[Row], words: &str, columns: Columns, model: &Model, area: Rect, buf: &mut Buffer) {
    // What lies under it may be faint; what was found is not.
    let style = model.screen.preferences.theme().style(Role::Found).remove_modifier(Modifier::DIM);
    for (row, y) in rows.iter().zip(area.y..area.bottom()) {
        for column in columns(&row.text(), words).into_iter().flat_map(|(from, to)| from..to) {
            let x = area.x.saturating_add(1).saturating_add(u16::try_from(column).unwrap_or(u16::MAX));
            if let Some(cell) = buf.cell_mut((x, y)) {
                cell.set_style(style);
            }
        }
    }
}

/// The last line of a page while words are looked for; where its caret is.
fn finding(find: &Finding, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) -> Position {
    const LEAD: &str = "find: ";
    let look = appearance(model);
    let tries = match find.place() {
        _ if find.words().is_empty() => vec!["type words; Esc ends it".to_owned()],
        (_, 0) => vec!["no match · Esc ends it".to_owned(), "no match · Esc".to_owned()],
        (at, count) => vec![
            format!("{at} of {count} · Enter next · ↑ back · Esc ends it"),
            format!("{at}/{count} · Enter next · Esc"),
            format!("{at}/{count} · Esc"),
        ],
    };
    let room = look.columns.saturating_sub(width(LEAD) + width(find.words().text()) + 3);
    let place = fitting(&tries, room);
    let row = Row::from(vec![
        look.piece(LEAD, Role::Accent),
        look.piece(find.words().text(), Role::Text),
        look.piece(format!("   {place}"), Role::Dim),
    ]);
    let y = area.bottom().saturating_sub(1);
    draw(&row, Position::new(area.x + 1, y), area.width.saturating_sub(2), buf, links);
    let before = width(LEAD) + width(&find.words().text()[..find.words().caret()]);
    let x = area.x + 1 + u16::try_from(before).unwrap_or(0);
    Position::new(x.min(area.right().saturating_sub(1)), y)
}

/// Draws the first line.
pub(super) fn head(title: &str, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let row = Row::of(
        format!(" {} ", fit(title, appearance(model).columns)),
        model.screen.preferences.theme().style(Role::Heading),
    );
    draw(&row, Position::new(area.x, area.y), area.width, buf, links);
}

/// What the last line tells.
pub(super) struct Foot {
    /// Where one is, and the same in short.
    pub(super) place: Option<(String, String)>,
    /// What the keys do: what matters most stands first.
    pub(super) hints: Vec<Hint>,
    /// How many of them are told before where one is.
    pub(super) first: usize,
}

impl Foot {
    /// The parts of the line. Words get fewer before any key goes, and where one is goes before the first of them do; the last goes first.
    fn parts(&self, columns: usize) -> Vec<&str> {
        let place = self.place.as_ref();
        let (long, short) = (place.map(|(long, _)| long.as_str()), place.map(|(_, short)| short.as_str()));
        let brief = |hint: &Hint| hint.1;
        let all = self.hints.len();
        let tries = [self.line(all, long, |hint| hint.0), self.line(all, long, brief)];
        let fewer = (self.first.min(all)..=all).rev().map(|count| self.line(count, short, brief));
        let keys = (1..=all).rev().map(|count| self.line(count, None, brief));
        let fits = |parts: &Vec<&str>| width(&parts.join(BETWEEN)) <= columns;
        tries.into_iter().chain(fewer).chain(keys).find(fits).unwrap_or_else(|| self.line(1, None, brief))
    }

    /// So many of the keys, and where one is.
    fn line<'a>(
        &'a self,
        keys: usize,
        place: Option<&'a str>,
        words: fn(&Hint) -> &'static str,
    ) -> Vec<&'a str> {
        self.hints.iter().take(keys).map(words).chain(place).collect()
    }

    /// The rows of the line: as many as there is room for.
    fn rows(&self, columns: usize, high: u16) -> Vec<Vec<&str>> {
        if high < 2 {
            return vec![self.parts(columns)];
        }
        let place = self.place.as_ref().map(|(_, short)| short.as_str());
        let packed = |words: fn(&Hint) -> &'static str| {
            let mut rows: Vec<Vec<&str>> = Vec::new();
            for part in self.line(self.hints.len(), place, words) {
                match rows.last_mut() {
                    Some(row) if width(&row.join(BETWEEN)) + width(BETWEEN) + width(part) <= columns => {
                        row.push(part);
                    }
                    _ => rows.push(vec![part]),
                }
            }
            rows
        };
        // All the words where they take no further row.
        let most = usize::from(high);
        let long = Some(packed(|hint| hint.0)).filter(|rows| rows.len() <= most);
        let mut rows = long.unwrap_or_else(|| packed(|hint| hint.1));
        rows.truncate(most);
        rows
    }
}

/// Draws the last line, or the last ones where it takes so many.
pub(super) fn foot(foot: &Foot, high: u16, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let look = appearance(model);
    let first = area.bottom().saturating_sub(high);
    for (parts, y) in foot.rows(look.columns, high).into_iter().zip(first..area.bottom()) {
        let mut row = Row::empty();
        for (at, part) in parts.into_iter().enumerate() {
            let part = if at == 0 { fit(part, look.columns) } else { format!("{BETWEEN}{part}") };
            row.pieces.extend(look.keyed(&part));
        }
        draw(&row, Position::new(area.x + 1, y), area.width, buf, links);
    }
}

/// What a line is called, in so many columns; that it is the one on the screen stands whole.
fn named(label: &str, columns: usize) -> String {
    match label.strip_suffix(HERE) {
        Some(title) => format!("{}{HERE}", fit_words(title, columns.saturating_sub(width(HERE)))),
        None => fit_words(label, columns),
    }
}

/// The colour of a sign, the same as in the fleet.
fn sign_role(sign: &str) -> Role {
    match sign {
        "? " | "! " => Role::Warn,
        "✗ " => Role::Bad,
        "✓ " => Role::Ok,
        "· " => Role::Dim,
        _ => Role::Accent,
    }
}

fn pick(picker: &Picker, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) -> Option<Position> {
    let look = appearance(model);
    match kept_in_head(picker, look.columns) {
        true => head(&format!("{}{BETWEEN}{}", picker.title(), picker.kept()), model, area, buf, links),
        false => head(picker.title(), model, area, buf, links),
    }
    let mut filter = Row::of("> ", look.theme.style(Role::Accent));
    filter.pieces.push(look.piece(picker.filter().text(), Role::Text));
    if picker.filter().is_empty() {
        // The caret stands before it, and covers none of it.
        filter.pieces.push(look.piece(" type to filter", Role::Dim));
    }
    draw(&filter, Position::new(area.x + 1, area.y + 1), area.width.saturating_sub(2), buf, links);
    let more = more(picker, look, area.height);
    let below = u16::try_from(more.len()).unwrap_or(0);
    let list = list_area(picker, area);
    let under = Rect { y: list.bottom(), height: below, ..area };
    paste_rows(&more, under, buf, links);
    let high = usize::from(list.height).max(1);
    let top = picker.top(high);
    let mut rows = Vec::new();
    let lines = list_lines(picker, area);
    for (line, (item, doomed)) in picker.lines().enumerate().skip(top).take(high) {
        let told = if doomed { Picker::doom(item) } else { item.detail.as_str() };
        // What a second press does stands whole.
        let (column, most, detail) = match doomed {
            true => {
                let column = lines.column.min(look.columns.saturating_sub(width(told) + 4));
                (column, column, told.to_owned())
            }
            false => (lines.column, lines.most(told), lines.beside(item)),
        };
        let told_role = if doomed { Role::Bad } else { Role::Dim };
        let style = |role: Role| match line == picker.cursor() {
            true => look.theme.over(Role::Selected, role),
            false => look.theme.style(role),
        };
        let label = match picker.has_code() {
            true => look.words_on(&item.label, Role::Text, style),
            false => vec![Piece::new(named(&item.label, most), style(Role::Text))],
        };
        let mut row = Row::of(item.sign, style(sign_role(item.sign)));
        row.pieces.extend(fit_pieces(label, most));
        let space = " ".repeat((width(item.sign) + column).saturating_sub(row.width()) + 2);
        row.pieces.push(Piece::new(space, style(Role::Text)));
        // How it stands has the colour of its sign, as in the fleet.
        let state = item.cells.first().filter(|state| !doomed && !state.is_empty());
        match state.and_then(|state| Some((state, detail.strip_prefix(state.as_str())?))) {
            Some((state, rest)) => row
                .pieces
                .extend([Piece::new(state, style(sign_role(item.sign))), Piece::new(rest, style(told_role))]),
            None => row.pieces.push(Piece::new(detail, style(told_role))),
        }
        row.fill = (line == picker.cursor()).then(|| look.theme.style(Role::Selected));
        rows.push(row);
    }
    if rows.is_empty() {
        rows.push(Row::of(picker.nothing_word(), look.theme.style(Role::Dim)));
    }
    paste_rows(&rows, list, buf, links);
    if picker.kind() == ListKind::Search {
        let words = picker.looked_for().unwrap_or_default();
        mark(&rows, words, search::beginnings, model, list, buf);
        mark(&more, words, search::beginnings, model, under, buf);
    }
    let place = picker.place().map(|(at, all)| format!("{at} of {all}")).map(|place| (place.clone(), place));
    let hints: Vec<Hint> = [CLOSES].iter().chain(picker.hints()).copied().collect();
    let high = list_foot(picker, look.columns, area.height);
    foot(&Foot { place, first: hints.len(), hints }, high, model, area, buf, links);
    let before = width(&picker.filter().text()[..picker.filter().caret()]);
    let x = area.x + 3 + u16::try_from(before).unwrap_or(0);
    Some(Position::new(
        x.min(area.right().saturating_sub(1)),
        (area.y + 1).min(area.bottom().saturating_sub(1)),
    ))
}
