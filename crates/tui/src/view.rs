//! The frame: how the screen is divided, and the parts that are too small for a file of their own. Pure; the cache only speeds it up.

mod bottom;
mod facts;
mod hints;
mod inline;
mod keys;
mod over;
mod policy;
#[cfg(test)]
mod tests;
mod welcome;

pub(crate) use facts::queue_modes;
pub(crate) use inline::{Inline, InlineFrame};
pub(crate) use over::{list_area, page_offers, page_size};
pub(crate) use policy::{DENIES_ALL, policy_shown};

use crate::ask::{Keyboard, Offer, Room, keyboard};
use crate::cell::Appearance;
use crate::composer::lay_out;
use crate::keymap::Action;
use crate::model::Model;
use crate::picture::{self, Framed, Graphics};
use crate::row::{Links, Row, draw};
use crate::transcript::{self, CellCache};
use domain::ids::SessionId;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// What is kept between frames. Dropping it changes nothing but time.
#[derive(Debug, Default)]
pub struct Cache {
    cells: CellCache,
    session: Option<SessionId>,
    /// Pictures of the last frame.
    pub(crate) pictures: Vec<Framed>,
    /// Links of the last frame.
    pub links: Links,
}

impl Cache {
    /// How many cells are kept laid out.
    #[cfg(test)]
    pub(crate) fn laid_out(&self) -> usize {
        self.cells.len()
    }
}

/// How the screen is divided, from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Areas {
    pub(crate) transcript: Rect,
    pub(crate) ask: Rect,
    /// What goes on: the working line, the queue, widgets, toasts.
    pub(crate) middle: Rect,
    /// Where the person writes.
    pub(crate) composer: Rect,
    /// Widgets below it.
    pub(crate) below: Rect,
    pub(crate) status: Rect,
}

/// Rows of the composer at most, as a share of the screen.
const COMPOSER_SHARE: u16 = 3;
/// Rows that count as few.
const SMALL: u16 = 12;
/// Rows that the transcript keeps if it can.
const LEAST_TRANSCRIPT: u16 = 3;

/// Columns of the composer's text.
pub(crate) fn composer_columns(model: &Model) -> usize {
    usize::from(model.screen.size.0.saturating_sub(4)).max(2)
}

/// How things outside the transcript are drawn now.
pub(crate) fn appearance(model: &Model) -> Appearance {
    let columns = usize::from(model.screen.size.0.saturating_sub(2)).max(1);
    Appearance {
        columns,
        theme: model.screen.theme,
        open: true,
        opens: model.screen.keymap.first(Action::Fold),
        pictures: false,
    }
}

/// Where everything stands on a screen of the model's size.
pub(crate) fn areas(model: &Model) -> Areas {
    let (columns, rows) = model.screen.size;
    let composer = &model.screen.composer;
    let laid = lay_out(composer.text(), composer.caret(), composer_columns(model));
    let text = u16::try_from(laid.rows.len()).unwrap_or(u16::MAX).clamp(1, (rows / COMPOSER_SHARE).max(1));
    let status = 1.min(rows);
    // The rule above the text belongs to the composer.
    let composer = (text + 1).min(rows.saturating_sub(status));
    let mut left = rows - status - composer;
    let below = u16::try_from(bottom::below(model).len()).unwrap_or(0).min(left / 3);
    left -= below;
    let ask = ask_height(model, left);
    left -= ask;
    let wanted = u16::try_from(bottom::middle(model).len()).unwrap_or(u16::MAX);
    let middle = wanted.min(left.saturating_sub(LEAST_TRANSCRIPT));
    let transcript = left - middle;
    let mut y = 0;
    let mut take = |high: u16| {
        let area = Rect::new(0, y, columns, high);
        y += high;
        area
    };
    Areas {
        transcript: take(transcript),
        middle: take(middle),
        ask: take(ask),
        composer: take(composer),
        below: take(below),
        status: take(status),
    }
}

fn ask_height(model: &Model, left: u16) -> u16 {
    let Some((panel, ask)) = shown_ask(model) else { return 0 };
    // On a small screen the question may take all of it: nobody should answer what they cannot see.
    let most = if left <= SMALL { left } else { left.saturating_sub(LEAST_TRANSCRIPT) };
    let most = usize::from(most).saturating_sub(1);
    let drawn = crate::ask::draw(model, panel, ask, appearance(model), room(model, most));
    u16::try_from(drawn.rows.len() + 1).unwrap_or(u16::MAX).min(left)
}

/// The keys that the question tells, as it stands on the screen.
pub(crate) fn offered(model: &Model) -> Vec<Offer> {
    let Some((panel, ask)) = shown_ask(model) else { return Vec::new() };
    let high = usize::from(areas(model).ask.height.saturating_sub(1));
    crate::ask::draw(model, panel, ask, appearance(model), room(model, high)).offers
}

fn room(model: &Model, rows: usize) -> Room {
    Room { rows, scarce: model.screen.size.1 <= SMALL }
}

fn shown_ask(model: &Model) -> Option<(&crate::ask::AskPanel, &domain::ask::Ask)> {
    let panel = model.screen.ask.as_ref()?;
    Some((panel, model.world.state().ask(panel.id)?))
}

/// Draws the frame; tells where the caret stands. The model's size leads; `area` is where on the buffer it goes.
pub fn view(model: &Model, cache: &mut Cache, area: Rect, buf: &mut Buffer) -> Option<Position> {
    if cache.session != model.world.current {
        cache.cells.clear();
        cache.session.clone_from(&model.world.current);
    }
    cache.links.clear();
    cache.pictures.clear();
    buf.set_style(area, model.screen.theme.style(crate::theme::Role::Text));
    let areas = areas(model);
    if model.world.seen().thread.cells().is_empty() {
        welcome::view(model, areas.transcript, buf, &mut cache.links);
    } else {
        transcript::view(model, &mut cache.cells, areas.transcript, buf, &mut cache.links);
        cache.pictures = transcript::pictures(model, &mut cache.cells, areas.transcript);
        if model.screen.graphics == Graphics::Blocks {
            picture::paint(&model.screen.pictures, &cache.pictures, areas.transcript, buf);
        }
    }
    bottom::toasts(model, areas.transcript, buf, &mut cache.links);
    let caret = chrome(model, cache, areas, buf);
    match &model.screen.overlay {
        Some(overlay) => over::view(overlay, model, area, buf, &mut cache.links),
        None if keyboard(model) == Keyboard::Question => caret,
        None => hints::search_caret(model, areas.middle).or(caret),
    }
}

/// Everything below the transcript; tells where the caret stands.
fn chrome(model: &Model, cache: &mut Cache, areas: Areas, buf: &mut Buffer) -> Option<Position> {
    let middle = bottom::middle(model);
    // What is nearest to the composer matters most.
    let skip = middle.len().saturating_sub(usize::from(areas.middle.height));
    paste_rows(&middle[skip..], areas.middle, buf, &mut cache.links);
    paste_rows(&bottom::below(model), areas.below, buf, &mut cache.links);
    let mut caret = bottom::composer(model, areas.composer, buf, &mut cache.links);
    bottom::status(model, areas.status, buf, &mut cache.links);
    if let Some((panel, ask)) = shown_ask(model) {
        let inner = Rect { y: areas.ask.y + 1, height: areas.ask.height.saturating_sub(1), ..areas.ask };
        bottom::rule("question", model, areas.ask, buf, &mut cache.links);
        let high = usize::from(inner.height);
        let drawn = crate::ask::draw(model, panel, ask, appearance(model), room(model, high));
        paste_rows(&drawn.rows, inner, buf, &mut cache.links);
        if keyboard(model) == Keyboard::Question {
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
