//! Where frames go: a screen of its own, or the end of the terminal's scrollback (with a screen of its own while lists are open).

use super::terminal::Terminal;
use crate::model::Model;
use crate::paint::{InlinePainter, Painter};
use crate::view::{Cache, Inline, view};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::io;

/// Where frames go.
#[derive(Debug)]
pub(super) struct Screen {
    painter: Painter,
    inline: Option<(Inline, InlinePainter)>,
}

impl Screen {
    pub(super) fn new(terminal: &Terminal, inline: bool) -> Screen {
        let facts = terminal.facts();
        let last = terminal.size().1.saturating_sub(1);
        // A line that was begun is left alone.
        let top = facts.cursor.map_or(last, |(row, column)| row + u16::from(column > 0));
        let parts = || (Inline::default(), InlinePainter::new(facts.synchronized, top));
        Screen { painter: Painter::new(facts.synchronized), inline: inline.then(parts) }
    }

    /// Draws the model.
    pub(super) fn draw(&mut self, model: &Model, cache: &mut Cache, terminal: &Terminal) -> io::Result<()> {
        if let Some((plan, painter)) = &mut self.inline {
            let full = Inline::wants_screen(model);
            terminal.alternate(full)?;
            if !full {
                self.painter.forget();
                let frame = plan.frame(model, cache);
                return terminal.write(&painter.frame(model.screen.size.1, frame));
            }
        }
        let (columns, rows) = model.screen.size;
        let area = Rect::new(0, 0, columns, rows);
        let mut buffer = Buffer::empty(area);
        let caret = view(model, cache, area, &mut buffer);
        terminal.write(&self.painter.frame(buffer, &cache.links, caret))
    }

    /// The next frame is written whole.
    pub(super) fn forget(&mut self) {
        self.painter.forget();
        if let Some((plan, _)) = &mut self.inline {
            *plan = Inline::again();
        }
    }

    /// Takes away what should not stay when someone else has the terminal.
    pub(super) fn leave(&mut self, terminal: &Terminal) -> io::Result<()> {
        match &mut self.inline {
            Some((_, painter)) => {
                terminal.alternate(false)?;
                terminal.write(&painter.erase())
            }
            None => Ok(()),
        }
    }

    /// The terminal is ours again.
    pub(super) fn come_back(&mut self, terminal: &Terminal) -> io::Result<()> {
        self.painter.forget();
        match &mut self.inline {
            Some((_, painter)) => terminal.write(&painter.restart(terminal.size().1)),
            None => Ok(()),
        }
    }
}
