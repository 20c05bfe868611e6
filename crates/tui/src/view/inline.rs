//! The UI inside the terminal's own scrollback: finished rows go there once and for good, the others stay in a live part below them. Pure: a frame is a plan, the painter writes it.
//!
//! Invariant: every cell of a session is handed out exactly once and in order, and never taken back: a new width, other colours, other
//! folds and other branches show in what comes after. What stood in the terminal before is never touched.

mod growing;
mod printed;
#[cfg(test)]
mod tests;

use super::{Cache, appearance, areas, bottom, chrome, welcome};
use crate::model::Model;
use crate::overlay::Overlay;
use crate::row::{Links, Row, draw, fit};
use crate::theme::Role;
use crate::transcript::Scroll;
use domain::ids::SessionId;
use printed::Printed;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
use std::collections::HashMap;

/// Rows of an earlier conversation that are written when it is opened.
const MAX_FIRST: usize = 1_000;
/// Rows of what cannot be handed out yet and may change altogether, such as a tool at work.
const MAX_VOLATILE: usize = 6;
/// Rows of the first screen: it goes when the conversation begins, and must be small enough to find its way out of any window.
const MAX_WELCOME: usize = 10;
/// Sessions of which it is known what was written; beyond, the ones not looked at are forgotten.
const MAX_SESSIONS: usize = 64;

/// What was handed out.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    /// The session whose rows stand at the end.
    session: Option<SessionId>,
    printed: HashMap<Option<SessionId>, Printed>,
    /// The rows at the top of the live part that stay as they are when they are pushed out of the screen.
    shown: Vec<Row>,
    /// Whether the conversation is to be written once more.
    again: bool,
}

/// What is to be written.
#[derive(Debug)]
pub(crate) struct InlineFrame {
    /// Rows that leave the live part for good.
    pub(crate) commit: Vec<Row>,
    /// The live part.
    pub(crate) live: Buffer,
    pub(crate) links: Links,
    pub(crate) caret: Option<Position>,
}

impl Inline {
    /// Whether the whole screen is needed: lists, long texts, reading back.
    pub(crate) fn wants_screen(model: &Model) -> bool {
        let over = matches!(model.screen.overlay, Some(Overlay::Pager(_) | Overlay::Picker(_)));
        let reading = model.screen.scroll != Scroll::Tail || model.screen.selected.is_some();
        over || reading || model.screen.search.is_some()
    }

    /// The end of the conversation is written once more, as it looks now.
    pub(crate) fn print_again(&mut self) {
        self.again = true;
    }

    /// How many rows at the top of the live part may stay where they are when the screen becomes too small for them.
    pub(crate) fn adoptable(&self) -> usize {
        self.shown.len()
    }

    /// The first rows of the live part left the screen: they are handed out.
    pub(crate) fn adopt(&mut self, rows: usize) {
        let rows: Vec<Row> = self.shown.drain(..rows.min(self.shown.len())).collect();
        if let Some(printed) = self.printed.get_mut(&self.session) {
            printed.freeze(&rows);
        }
    }

    /// Plans the next frame: which finished rows go to the scrollback, and what stays below them.
    pub(crate) fn frame(&mut self, model: &Model, cache: &mut Cache) -> InlineFrame {
        prepare(model, cache);
        let (width, high) = model.screen.size;
        let columns = appearance(model).columns;
        let mut commit = Vec::new();
        self.enter(model, cache, &mut commit);
        let areas = areas(model);
        let (area, words) = (areas.transcript, toast_rows(model, areas.transcript));
        let most = usize::from(area.height - words);
        let printed = self.printed.entry(self.session.clone()).or_default();
        printed.advance(model, &mut cache.cells, columns, &mut commit);
        let (rows, grown) = if model.world.seen().thread.cells().is_empty() {
            (welcome::rows(model, most.min(MAX_WELCOME)), 0)
        } else {
            printed.rest(model, &mut cache.cells, columns, most, &mut commit)
        };
        self.shown = rows[..grown].to_vec();
        let shown = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.height - words);
        let mut whole = Buffer::empty(Rect::new(0, 0, width, high));
        let bottom = area.bottom() - words;
        let cut = bottom - shown;
        for (row, y) in rows.iter().zip(cut..bottom) {
            draw(row, Position::new(1, y), width.saturating_sub(2), &mut whole, &mut cache.links);
        }
        bottom::toasts(model, Rect { y: bottom, height: words, ..area }, &mut whole, &mut cache.links);
        let caret = chrome(model, cache, areas, &mut whole);
        let mut live = Buffer::empty(Rect::new(0, 0, width, high - cut));
        for y in cut..high {
            for x in 0..width {
                live[(x, y - cut)] = whole[(x, y)].clone();
            }
        }
        let links = cache.links.iter().filter(|(y, ..)| *y >= cut);
        let links = links.map(|(y, from, to, link)| (y - cut, *from, *to, link.clone())).collect();
        let caret = caret.and_then(|at| Some(Position::new(at.x, at.y.checked_sub(cut)?)));
        InlineFrame { commit, live, links, caret }
    }

    /// What was not handed out yet, finished or not: the program ends, and what the person saw stays.
    pub(crate) fn last(&mut self, model: &Model, cache: &mut Cache) -> Vec<Row> {
        prepare(model, cache);
        let columns = appearance(model).columns;
        let mut commit = Vec::new();
        self.enter(model, cache, &mut commit);
        let printed = self.printed.entry(self.session.clone()).or_default();
        printed.advance(model, &mut cache.cells, columns, &mut commit);
        commit.extend(printed.all_the_rest(model, &mut cache.cells, columns));
        self.shown.clear();
        commit
    }

    /// Says when the session is another one than before, and where its conversation begins here.
    fn enter(&mut self, model: &Model, cache: &mut Cache, commit: &mut Vec<Row>) {
        let columns = appearance(model).columns;
        let session = model.world.current.clone();
        let again = std::mem::take(&mut self.again);
        let other = session != self.session;
        let wrote = self.printed.get(&self.session).is_some_and(|printed| !printed.is_empty());
        if other && wrote {
            let title = crate::clean::clean_line(&model.world.state().title());
            commit.extend([Row::empty(), marker(model, &format!("session: {title}"))]);
        } else if again && wrote {
            commit.extend([Row::empty(), marker(model, "the conversation once more")]);
        }
        if again {
            self.printed.remove(&session);
        }
        if other && self.printed.len() >= MAX_SESSIONS {
            self.printed.retain(|known, _| *known == session);
        }
        self.session.clone_from(&session);
        let printed = self.printed.entry(session).or_insert_with(|| {
            let (printed, skipped) = Printed::near_the_end(model, &mut cache.cells, columns, MAX_FIRST);
            if skipped > 0 {
                commit.push(marker(model, &format!("{skipped} earlier entries: PageUp reads them")));
            }
            printed
        });
        if let Some(word) = printed.follow(model) {
            commit.extend([Row::empty(), marker(model, &word)]);
        }
    }
}

fn prepare(model: &Model, cache: &mut Cache) {
    if cache.session != model.world.current {
        cache.cells.clear();
        cache.session.clone_from(&model.world.current);
    }
    cache.cells.begin();
    cache.links.clear();
}

/// A row that says what follows.
fn marker(model: &Model, word: &str) -> Row {
    let look = appearance(model);
    Row::of(fit(&format!("── {word} ──"), look.columns), look.theme.style(Role::Dim))
}

/// Rows that the words for a while take.
fn toast_rows(model: &Model, area: Rect) -> u16 {
    if model.screen.toasts.is_empty() || area.is_empty() {
        return 0;
    }
    let mut scratch = Buffer::empty(area);
    bottom::toasts(model, area, &mut scratch, &mut Links::new());
    let blank = ratatui::buffer::Cell::default();
    let drawn = |y: &u16| (area.x..area.right()).any(|x| scratch[(x, *y)] != blank);
    let first = (area.y..area.bottom()).find(drawn);
    first.map_or(0, |first| area.bottom() - first)
}
