//! The screen without a screen of its own: what is finished goes to the terminal's scrollback once and for good, what is not stays in
//! a live part below it. Pure: a frame is a plan, the painter writes it.
//!
//! Invariant: every row of the transcript is handed out exactly once and in order, until something makes all of it look different (the
//! width, the theme, what is unfolded, another branch); then the plan says to begin anew.

use super::{Cache, areas, chrome, welcome};
use crate::model::Model;
use crate::overlay::Overlay;
use crate::row::{Links, Row, draw};
use crate::theme::Theme;
use crate::thread::CellKey;
use crate::transcript::{Handed, Scroll};
use domain::ids::SessionId;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::collections::HashSet;

/// Rows written again at most when everything looks different.
const MAX_AGAIN: usize = 5_000;

/// What was handed out, and under which look.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    handed: Handed,
    look: Option<Epoch>,
    /// Whether something was written before that is to go.
    written: bool,
}

/// What all rows depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Epoch {
    session: Option<SessionId>,
    size: (u16, u16),
    theme: Theme,
    details: bool,
    flipped: HashSet<CellKey>,
}

/// What is to be written.
#[derive(Debug)]
pub(crate) struct InlineFrame {
    /// All that was written is to go: it is written again.
    pub(crate) anew: bool,
    /// Rows that leave the live part for good.
    pub(crate) commit: Vec<Row>,
    /// The live part.
    pub(crate) live: Buffer,
    /// Links in it.
    pub(crate) links: Links,
    /// The caret in it.
    pub(crate) caret: Option<Position>,
}

impl Inline {
    /// Nothing that was written counts: the next frame begins anew.
    pub(crate) fn again() -> Inline {
        Inline { written: true, ..Inline::default() }
    }

    /// Whether the whole screen is needed: lists, long texts, reading back.
    pub(crate) fn wants_screen(model: &Model) -> bool {
        let over = matches!(model.screen.overlay, Some(Overlay::Pager(_) | Overlay::Picker(_)));
        let reading = model.screen.scroll != Scroll::Tail || model.screen.selected.is_some();
        over || reading || model.screen.search.is_some()
    }

    /// The next frame.
    pub(crate) fn frame(&mut self, model: &Model, cache: &mut Cache) -> InlineFrame {
        if cache.session != model.world.current {
            cache.cells.clear();
            cache.session.clone_from(&model.world.current);
        }
        cache.cells.begin();
        cache.links.clear();
        let (width, high) = model.screen.size;
        let columns = usize::from(width.saturating_sub(2)).max(1);
        let epoch = Epoch {
            session: model.world.current.clone(),
            size: model.screen.size,
            theme: model.screen.theme,
            details: model.screen.details,
            flipped: model.screen.flipped.clone(),
        };
        let first = !self.written;
        self.written = true;
        let anew = self.look.as_ref() != Some(&epoch) || !self.handed.holds(model);
        if anew {
            self.handed = Handed::near_the_end(model, &mut cache.cells, columns, MAX_AGAIN);
            self.look = Some(epoch);
        }
        let commit = self.handed.advance(model, &mut cache.cells, columns);
        let areas = areas(model);
        let most = usize::from(areas.transcript.height);
        let rows = if model.world.seen().thread.cells().is_empty() {
            welcome::rows(model, most)
        } else {
            self.handed.rest(model, &mut cache.cells, columns, most)
        };
        let toasts = model.screen.toasts.len().min(most);
        let shown = u16::try_from(rows.len().max(toasts)).unwrap_or(0).min(areas.transcript.height);
        let mut whole = Buffer::empty(Rect::new(0, 0, width, high));
        let bottom = areas.transcript.bottom();
        let top = bottom - u16::try_from(rows.len()).unwrap_or(0).min(shown);
        for (row, y) in rows.iter().zip(top..bottom) {
            draw(row, Position::new(1, y), width.saturating_sub(2), &mut whole, &mut cache.links);
        }
        let caret = chrome(model, cache, areas, &mut whole);
        let cut = bottom - shown;
        let mut live = Buffer::empty(Rect::new(0, 0, width, high - cut));
        for y in cut..high {
            for x in 0..width {
                live[(x, y - cut)] = whole[(x, y)].clone();
            }
        }
        let links = cache.links.iter().filter(|(y, ..)| *y >= cut);
        let links = links.map(|(y, from, to, link)| (y - cut, *from, *to, link.clone())).collect();
        let caret = caret.and_then(|at| Some(Position::new(at.x, at.y.checked_sub(cut)?)));
        InlineFrame { anew: anew && !first, commit, live, links, caret }
    }
}
