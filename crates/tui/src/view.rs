//! The frame: draws what the model holds where the layout puts it. Pure; the cache only speeds it up.

mod bottom;
mod inline;
mod login;
mod over;
mod status;
#[cfg(test)]
mod tests;
mod welcome;

pub(crate) use inline::{Inline, InlineFrame};

use crate::ask::Keyboard;
use crate::layout::{self, Areas, areas};
use crate::model::Model;
use crate::picture::{self, Framed, Graphics};
use crate::row::{Links, Row, draw};
use crate::theme::Role;
use crate::transcript::{self, CellCache};
use domain::ids::SessionId;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

/// What is kept between frames. Dropping it changes nothing but time.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    cells: CellCache,
    session: Option<SessionId>,
    /// Pictures of the last frame.
    pub(crate) pictures: Vec<Framed>,
    /// Links of the last frame.
    pub(crate) links: Links,
}

impl Cache {
    /// How many cells are kept laid out.
    #[cfg(test)]
    pub(crate) fn laid_out(&self) -> usize {
        self.cells.len()
    }
}

/// Draws the frame; tells where the caret stands. The model's size leads; `area` is where on the buffer it goes.
pub(crate) fn view(model: &Model, cache: &mut Cache, area: Rect, buf: &mut Buffer) -> Option<Position> {
    if cache.session != model.world.current {
        cache.cells.clear();
        cache.session.clone_from(&model.world.current);
    }
    cache.links.clear();
    cache.pictures.clear();
    buf.set_style(area, model.screen.preferences.theme().style(Role::Text));
    let areas = areas(model);
    if model.world.seen().thread.cells().is_empty() {
        welcome::view(model, areas.transcript, buf, &mut cache.links);
    } else {
        let (shown, page) = (&model.screen.transcript, model.page(areas.transcript));
        transcript::view(shown, page, &mut cache.cells, buf, &mut cache.links);
        cache.pictures = transcript::pictures(shown, page, &mut cache.cells);
        if model.screen.preferences.graphics() == Graphics::Blocks {
            picture::paint(&model.screen.pictures, &cache.pictures, areas.transcript, buf);
        }
    }
    let caret = chrome(model, cache, areas, buf);
    match model.screen.over.top() {
        Some(overlay) => over::view(overlay, model, area, buf, &mut cache.links),
        None if model.keyboard() == Keyboard::Question => caret,
        None => layout::search_caret(model, areas.middle).or(caret),
    }
}

/// Everything below the transcript; tells where the caret stands.
fn chrome(model: &Model, cache: &mut Cache, areas: Areas, buf: &mut Buffer) -> Option<Position> {
    let middle = layout::middle(model);
    // What is nearest to the composer matters most.
    let skip = middle.len().saturating_sub(usize::from(areas.middle.height));
    paste_rows(&middle[skip..], areas.middle, buf, &mut cache.links);
    paste_rows(&layout::below(model), areas.below, buf, &mut cache.links);
    let mut caret = bottom::composer(model, areas.composer, buf, &mut cache.links);
    status::view(model, areas.status, buf, &mut cache.links);
    let inner = areas.ask;
    if let Some(drawn) = layout::question(model, inner.height) {
        paste_rows(&drawn.rows, inner, buf, &mut cache.links);
        for y in inner.y..inner.bottom() {
            buf[(inner.x, y)].set_symbol("▌").set_style(drawn.bar);
        }
        if model.keyboard() == Keyboard::Question {
            caret = drawn.caret.map(|(row, column)| {
                let x = inner.x + 1 + u16::try_from(column).unwrap_or(0);
                let y = inner.y + u16::try_from(row).unwrap_or(0);
                Position::new(x.min(inner.right().saturating_sub(1)), y)
            });
        }
    }
    caret
}

/// Puts rows below each other, one column in.
fn paste_rows(rows: &[Row], area: Rect, buf: &mut Buffer, links: &mut Links) {
    for (row, y) in rows.iter().zip(area.y..area.bottom()) {
        draw(row, Position::new(area.x + 1, y), area.width.saturating_sub(2), buf, links);
    }
}
