//! What stands where: how the screen is divided, and the rows of its panels and pages.
//!
//! `view` draws them; `update` asks what a key or a click meets, for a key means what the screen shows.

mod facts;
mod fleet;
mod hints;
mod keys;
mod middle;
mod page;
mod passing;
mod shortcuts;
mod waiting;

pub(crate) use facts::{budget_told, queue_modes};
pub(crate) use fleet::{fleet_foot, fleet_keys, fleet_list, fleet_more, fleet_rows, fleet_sign, fleet_title};
pub(crate) use hints::{own_rows, search_caret};
pub(crate) use middle::{below, loss, rows as middle};
pub(crate) use page::{
    has_unseen_question, kept_in_head, list_area, list_foot, list_lines, more, page_air, page_low,
    page_offers, page_sight, page_size, page_texts, sheet,
};
pub(crate) use passing::{line as composer_line, over_area, over_rows};
pub(crate) use waiting::{waiting_area, waiting_question};

use crate::ask::{self, DrawnPanel, Offer, Room, Scene};
use crate::look::Appearance;
use crate::model::Model;
use ratatui_core::layout::Rect;

/// How the screen is divided, from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Areas {
    pub(crate) transcript: Rect,
    /// The question: right below what was said, so that it stands beside what it is about.
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
/// The same above a question: what it is about, and a blank row.
const LEAST_ABOVE: u16 = 2;

/// Columns of the composer's text.
pub(crate) fn composer_columns(model: &Model) -> usize {
    usize::from(model.screen.window.size().0.saturating_sub(4)).max(2)
}

/// How things outside the transcript are drawn now.
pub(crate) fn appearance(model: &Model) -> Appearance {
    let columns = usize::from(model.screen.window.size().0.saturating_sub(2)).max(1);
    model.screen.preferences.panel_look(columns)
}

/// Where everything stands on a screen of the model's size.
pub(crate) fn areas(model: &Model) -> Areas {
    let areas = packed(model);
    if areas.ask.height == 0 || model.world.seen().thread.cells().is_empty() {
        return areas;
    }
    // A short conversation stands at the top: its question follows it there, and the free rows come below.
    let shown = usize::from(areas.transcript.height);
    let used = model.screen.transcript.height(model.page(areas.transcript), shown);
    let used = u16::try_from(used).unwrap_or(u16::MAX).min(areas.transcript.height);
    if used >= areas.transcript.height {
        // A blank row between them is worth a row of what was said, where that is not the last but one.
        let blank = u16::from(areas.transcript.height >= LEAST_ABOVE);
        let transcript = Rect { height: areas.transcript.height - blank, ..areas.transcript };
        return Areas { transcript, ..areas };
    }
    let transcript = Rect { height: used + 1, ..areas.transcript };
    let ask = Rect { y: transcript.bottom(), ..areas.ask };
    // What goes on is told in the free rows, also where it had to make room for a longer conversation.
    let wanted = u16::try_from(middle::rows(model).len()).unwrap_or(u16::MAX);
    let high = wanted.min(areas.composer.y.saturating_sub(ask.bottom()));
    let middle = Rect { y: areas.composer.y - high, height: high, ..areas.middle };
    Areas { transcript, ask, middle, ..areas }
}

/// The same without free rows between the parts, for the live part of a terminal's own scrollback.
pub(crate) fn packed(model: &Model) -> Areas {
    let (columns, rows) = model.screen.window.size();
    let laid = model.screen.composer.laid_out(composer_columns(model));
    let text = u16::try_from(laid.rows.len()).unwrap_or(u16::MAX).clamp(1, (rows / COMPOSER_SHARE).max(1));
    let status = 1.min(rows);
    // The rule above the text belongs to the composer.
    let composer = (text + 1).min(rows.saturating_sub(status));
    let mut left = rows - status - composer;
    let below = u16::try_from(below(model).len()).unwrap_or(0).min(left / 3);
    left -= below;
    let ask = ask_height(model, left);
    left -= ask;
    let wanted = u16::try_from(middle::rows(model).len()).unwrap_or(u16::MAX);
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
        ask: take(ask),
        middle: take(middle),
        composer: take(composer),
        below: take(below),
        status: take(status),
    }
}

fn ask_height(model: &Model, left: u16) -> u16 {
    // On a small screen the question may take all of it: nobody should answer what they cannot see.
    let most = if left <= SMALL { left } else { left.saturating_sub(LEAST_ABOVE) };
    let Some(drawn) = question(model, most) else { return 0 };
    u16::try_from(drawn.rows.len()).unwrap_or(u16::MAX).min(left)
}

/// The keys that the question tells, as it stands on the screen.
pub(crate) fn offered(model: &Model) -> Vec<Offer> {
    question(model, areas(model).ask.height).map_or(Vec::new(), |drawn| drawn.offers)
}

/// The question in so many rows, when there is one.
pub(crate) fn question(model: &Model, high: u16) -> Option<DrawnPanel> {
    let screen = &model.screen;
    let (panel, ask) = screen.asks.shown(model.world.state())?;
    let scene = Scene {
        now: screen.window.now(),
        keyboard: model.keyboard(),
        draft: !screen.composer.is_empty(),
        reach: page::reach(model),
        place: screen.asks.place(model.world.state()),
    };
    let room = Room { rows: usize::from(high), scarce: screen.window.size().1 <= SMALL };
    Some(ask::draw(panel, ask, scene, appearance(model), room))
}
