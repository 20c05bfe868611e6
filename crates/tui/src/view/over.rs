//! Draws the pager and the picker over the screen.

use super::{appearance, keys, paste_rows, shown_ask};
use crate::ask::{self, Full, Offer, Sees};
use crate::cell::{Appearance, ago, level_role};
use crate::model::Model;
use crate::overlay::{Content, Overlay, Pager};
use crate::picker::Picker;
use crate::row::{Links, Piece, Row, draw, fit, width, wrap, wrap_text};
use crate::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::ops::Range;

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
    match overlay {
        Overlay::Pager(pager) => {
            page(pager, model, area, buf, links);
            None
        }
        Overlay::Picker(picker) => pick(picker, model, area, buf, links),
    }
}

/// A page with its foot.
struct Page {
    rows: Vec<Row>,
    /// Which rows spell out the rule of a question.
    rule: Range<usize>,
    /// Rows of the foot besides the first.
    foot: usize,
}

fn page_of(content: &Content, model: &Model) -> Page {
    let look = appearance(model);
    let plain = |rows| Page { rows, rule: 0..0, foot: 0 };
    match content {
        Content::Keys => plain(keys::rows(&model.screen.keymap, look, &model.world.seen().abilities)),
        Content::Commands => plain(keys::commands(look, &model.world.seen().abilities, model.screen.here())),
        Content::Status => plain(super::facts::rows(model)),
        Content::Notices => plain(notices(model)),
        Content::Diff(text) => plain(crate::diff::rows(text, look.columns, look.theme)),
        Content::Ask => {
            let Some((_, asked)) = shown_ask(model) else { return plain(Vec::new()) };
            let Full { rows, rule } = ask::full(asked, look, same(model));
            // As many rows as all the keys take, so that nothing moves when some of them go.
            let all = Sees { subject: true, rule: true, same: same(model), cut: false, short: true };
            Page { rows, rule, foot: ask::row(&ask::of_page(asked, all), look, true).len() }
        }
    }
}

/// Rows of a page, and how many of them fit on the screen.
pub(crate) fn page_size(content: &Content, model: &Model) -> (usize, usize) {
    let page = page_of(content, model);
    (page.rows.len(), usize::from(model.screen.size.1).saturating_sub(2 + page.foot))
}

/// The keys on the page that shows all of the question.
pub(crate) fn page_offers(model: &Model) -> Vec<Offer> {
    let Some(Overlay::Pager(pager)) = &model.screen.overlay else { return Vec::new() };
    let Some((_, asked)) = shown_ask(model) else { return Vec::new() };
    let page = page_of(&pager.content, model);
    let (rows, fits) = page_size(&pager.content, model);
    let top = pager.clamp(rows, fits);
    let rule = page.rule.start >= top && page.rule.end <= top + fits && !page.rule.is_empty();
    ask::of_page(asked, Sees { subject: fits > 0, rule, same: same(model), cut: false, short: true })
}

fn page(pager: &Pager, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let page = page_of(&pager.content, model);
    let below = u16::try_from(page.foot).unwrap_or(u16::MAX);
    let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(2 + below), ..area };
    let rows = page.rows;
    let top = pager.clamp(rows.len(), usize::from(inner.height));
    head(&pager.title, model, area, buf, links);
    paste_rows(&rows[top.min(rows.len())..], inner, buf, links);
    let last = (top + usize::from(inner.height)).min(rows.len());
    let long = rows.len() > usize::from(inner.height);
    let place = match (long, &pager.content) {
        (true, Content::Ask) => format!("{last} of {} lines · ↑↓ PgUp PgDn scroll", rows.len()),
        (false, Content::Ask) => String::new(),
        (true, _) => format!("{last} of {} lines · Esc closes · ↑↓ PgUp PgDn scroll", rows.len()),
        (false, _) => "any key closes".to_owned(),
    };
    if pager.content == Content::Ask {
        let keys = ask::row(&page_offers(model), appearance(model), true);
        let under = Rect { y: inner.bottom(), height: below, ..area };
        paste_rows(&keys, under, buf, links);
    }
    foot(&place, model, area, buf, links);
}

/// The words that came and went, the newest first.
fn notices(model: &Model) -> Vec<Row> {
    let look = appearance(model);
    let rows = model.screen.notices.iter().rev().flat_map(|(at, level, text)| {
        let lead = look.piece(format!("{:<12}", ago(model.screen.now, *at)), Role::Dim);
        let rest = look.piece(" ".repeat(12), Role::Dim);
        wrap(&[look.piece(text.clone(), level_role(*level))], look.columns, &lead, &rest)
    });
    let rows: Vec<Row> = rows.collect();
    if rows.is_empty() { vec![Row::of("nothing was said yet", look.theme.style(Role::Dim))] } else { rows }
}

fn head(title: &str, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let row = Row::of(
        format!(" {} ", fit(title, appearance(model).columns)),
        model.screen.theme.style(Role::Heading),
    );
    draw(&row, Position::new(area.x, area.y), area.width, buf, links);
}

fn foot(text: &str, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let row =
        Row::of(format!(" {}", fit(text, appearance(model).columns)), model.screen.theme.style(Role::Dim));
    draw(&row, Position::new(area.x, area.bottom().saturating_sub(1)), area.width, buf, links);
}

/// Rows from which a list leaves room for all of the line under the cursor.
const ROOMY: u16 = 18;

/// Where the lines of a list stand.
pub(crate) fn list_area(picker: &Picker, area: Rect) -> Rect {
    let below = if shows_more(picker, area.height) { area.height / 3 + 1 } else { 0 };
    Rect { y: area.y + 2, height: area.height.saturating_sub(3 + below), ..area }
}

fn shows_more(picker: &Picker, high: u16) -> bool {
    high >= ROOMY && picker.items.iter().any(|item| !item.more.is_empty())
}

/// All of the line under the cursor, below a rule.
fn more(picker: &Picker, look: Appearance, high: u16) -> Vec<Row> {
    if !shows_more(picker, high) {
        return Vec::new();
    }
    // Always as many rows, so that the list stands still.
    let most = usize::from(high / 3);
    let text = picker.under().map_or("", |item| item.more.as_str());
    let mut rows = vec![Row::of("─".repeat(look.columns), look.theme.style(Role::Border))];
    rows.extend(wrap_text(text, look.columns, look.theme.style(Role::Text)).into_iter().take(most));
    rows.resize(most + 1, Row::empty());
    rows
}

fn pick(picker: &Picker, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) -> Option<Position> {
    let look = appearance(model);
    head(&picker.title, model, area, buf, links);
    let mut filter = Row::of("> ", look.theme.style(Role::Accent));
    filter.pieces.push(look.piece(picker.filter.text(), Role::Text));
    if picker.filter.is_empty() {
        filter.pieces.push(look.piece("type to filter", Role::Dim));
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
    for (line, at) in picker.shown().iter().enumerate().skip(top).take(high) {
        let Some(item) = picker.items.get(*at) else { continue };
        let under = line == picker.cursor;
        let role = if under { Role::Selected } else { Role::Text };
        let label = fit(&item.label, look.columns.saturating_sub(2));
        let room = look.columns.saturating_sub(width(&label) + 4);
        let doomed = picker.doomed == Some(*at);
        let detail = if doomed { "Ctrl-X again deletes".to_owned() } else { fit(&item.detail, room) };
        rows.push(Row::from(vec![
            Piece::new(item.sign, look.theme.style(Role::Accent)),
            Piece::new(label, look.theme.style(role)),
            Piece::new(format!("  {detail}"), look.theme.style(if doomed { Role::Bad } else { Role::Dim })),
        ]));
    }
    if rows.is_empty() {
        let word = match () {
            () if picker.searches() => "no title fits; Enter looks through what was said".to_owned(),
            () if picker.items.is_empty() && picker.found.is_some() && picker.empty != "looking…" => {
                "nobody said that; Esc closes".to_owned()
            }
            () if picker.items.is_empty() => picker.empty.clone(),
            () => "nothing fits".to_owned(),
        };
        rows.push(Row::of(word, look.theme.style(Role::Dim)));
    }
    paste_rows(&rows, list, buf, links);
    let place = format!("{} of {}", (picker.cursor + 1).min(picker.shown().len()), picker.shown().len());
    foot(&format!("{place} · Esc closes · {}", picker.hint), model, area, buf, links);
    let before = width(&picker.filter.text()[..picker.filter.caret()]);
    let x = area.x + 3 + u16::try_from(before).unwrap_or(0);
    Some(Position::new(
        x.min(area.right().saturating_sub(1)),
        (area.y + 1).min(area.bottom().saturating_sub(1)),
    ))
}

/// Whether a yes for the session is only for the same action.
fn same(model: &Model) -> bool {
    !model.world.seen().abilities.session_scope
}
