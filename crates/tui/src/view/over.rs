//! What stands over everything, drawn.

use super::{keys, look, paste_rows, shown_ask};
use crate::model::Model;
use crate::overlay::{Content, Overlay, Pager};
use crate::row::{Links, Row, draw, fit, wrap_text};
use crate::theme::Role;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

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
    }
}

fn page(pager: &Pager, model: &Model, area: Rect, buf: &mut Buffer, links: &mut Links) {
    let look = look(model);
    let theme = model.screen.theme;
    let rows = match &pager.content {
        Content::Keys => keys::rows(look),
        Content::Ask => shown_ask(model).map(|(_, ask)| crate::ask::full(ask, look)).unwrap_or_default(),
        Content::Text(text) => wrap_text(text, look.columns, theme.style(Role::Text)),
    };
    let inner = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
    let top = pager.clamp(&rows, usize::from(inner.height));
    let title = Row::of(format!(" {} ", fit(&pager.title, look.columns)), theme.style(Role::Heading));
    draw(&title, Position::new(area.x, area.y), area.width, buf, links);
    paste_rows(&rows[top.min(rows.len())..], inner, buf, links);
    let last = (top + usize::from(inner.height)).min(rows.len());
    let foot = format!(" {last} of {} lines · ↑↓ PgUp PgDn scroll · any other key closes", rows.len());
    let foot = Row::of(fit(&foot, look.columns), theme.style(Role::Dim));
    draw(&foot, Position::new(area.x, area.bottom().saturating_sub(1)), area.width, buf, links);
}
