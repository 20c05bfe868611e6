//! The UI inside the terminal's own scrollback: finished rows go there once and for good, the others stay in a live part below them. Pure: a frame is a plan, the painter writes it.
//!
//! Invariant: every cell of a session is handed out exactly once and in order, and never taken back: a new width, other colours, other
//! folds and other branches show in what comes after. What stood in the terminal before is never touched.

mod growing;
mod printed;
#[cfg(test)]
mod tests;

use super::{Cache, chrome, welcome};
use crate::layout::{appearance, packed};
use crate::model::Model;
use crate::row::{Links, Row, draw, fit};
use crate::theme::Role;
use crate::transcript::TranscriptPage;
use domain::ids::SessionId;
use printed::Printed;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use std::collections::HashMap;

/// Rows of an earlier conversation that are written when it is opened.
const MAX_FIRST: usize = 1_000;
/// Rows of what cannot be handed out yet and may change altogether, such as a tool at work.
const MAX_VOLATILE: usize = 6;
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
        let transcript = &model.screen.transcript;
        model.screen.over.is_open() || !transcript.is_at_end() || transcript.is_read()
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
        let (width, high) = model.screen.window.size();
        let (shown, page) = (&model.screen.transcript, whole_page(model));
        let mut commit = Vec::new();
        self.enter(model, cache, &mut commit);
        let areas = packed(model);
        let area = areas.transcript;
        let most = usize::from(area.height);
        let printed = self.printed.entry(self.session.clone()).or_default();
        printed.advance(shown, page, &mut cache.cells, &mut commit);
        let (rows, grown) = if model.world.seen().thread.cells().is_empty() {
            (welcome::rows(model, most), 0)
        } else {
            printed.rest(shown, page, &mut cache.cells, most, &mut commit)
        };
        self.shown = rows[..grown].to_vec();
        let (rows, commit) = (unfilled(rows, model), unfilled(commit, model));
        let shown = u16::try_from(rows.len()).unwrap_or(u16::MAX).min(area.height);
        let mut whole = Buffer::empty(Rect::new(0, 0, width, high));
        let bottom = area.bottom();
        let cut = bottom - shown;
        for (row, y) in rows.iter().zip(cut..bottom) {
            draw(row, Position::new(1, y), width.saturating_sub(2), &mut whole, &mut cache.links);
        }
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
        let (shown, page) = (&model.screen.transcript, whole_page(model));
        let mut commit = Vec::new();
        self.enter(model, cache, &mut commit);
        let printed = self.printed.entry(self.session.clone()).or_default();
        printed.advance(shown, page, &mut cache.cells, &mut commit);
        commit.extend(printed.all_the_rest(shown, page, &mut cache.cells));
        self.shown.clear();
        unfilled(commit, model)
    }

    /// Says when the session is another one than before, and where its conversation begins here.
    fn enter(&mut self, model: &Model, cache: &mut Cache, commit: &mut Vec<Row>) {
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
            let (shown, page) = (&model.screen.transcript, whole_page(model));
            let (printed, skipped) = Printed::near_the_end(shown, page, &mut cache.cells, MAX_FIRST);
            if skipped > 0 {
                commit.push(marker(model, &format!("{skipped} earlier entries: PageUp reads them")));
            }
            printed
        });
        if let Some(word) = printed.follow(model.world.seen()) {
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

/// What the person said stands on its ground only as far as it goes: in the scrollback the terminal wraps rows anew when it becomes
/// narrower, and would make two of one that is filled to the end.
fn unfilled(mut rows: Vec<Row>, model: &Model) -> Vec<Row> {
    let ground = model.screen.preferences.theme().style(Role::User);
    for row in rows.iter_mut().filter(|row| row.fill == Some(ground)) {
        row.fill = None;
    }
    rows
}

/// The conversation as wide as the window.
fn whole_page(model: &Model) -> TranscriptPage<'_> {
    let (columns, rows) = model.screen.window.size();
    model.page(Rect::new(0, 0, columns, rows))
}

/// A row that says what follows.
fn marker(model: &Model, word: &str) -> Row {
    let look = appearance(model);
    Row::of(fit(&format!("── {word} ──"), look.columns), look.theme.style(Role::Dim))
}
