//! Where frames go: a screen of its own, or the end of the terminal's scrollback (with a screen of its own while lists are open).

use super::terminal::Terminal;
use crate::model::Model;
use crate::paint::{Able, InlinePainter, Painter, Resized};
use crate::view::{Cache, Inline, InlineFrame, view};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::io;

/// Brings frames to the terminal, in either of its two ways.
#[derive(Debug)]
pub(super) struct TerminalScreen {
    painter: Painter,
    inline: Option<InlineScreen>,
}

/// The end of the scrollback.
#[derive(Debug)]
struct InlineScreen {
    plan: Inline,
    painter: InlinePainter,
    /// The size that the live part was drawn for.
    size: (u16, u16),
}

/// What came of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameOutcome {
    /// It is on the screen.
    Done,
    /// The size changed: where the cursor is must be known first.
    Lost,
}

impl TerminalScreen {
    pub(super) fn new(terminal: &Terminal, inline: bool) -> io::Result<TerminalScreen> {
        let able = Able::default();
        let live = InlineScreen {
            plan: Inline::default(),
            painter: InlinePainter::new(able),
            size: terminal.size(),
        };
        let screen = TerminalScreen { painter: Painter::new(able), inline: inline.then_some(live) };
        screen.begin(terminal)?;
        Ok(screen)
    }

    /// Draws the model, unless the terminal must say first where its cursor is.
    pub(super) fn draw(
        &mut self,
        model: &Model,
        cache: &mut Cache,
        terminal: &Terminal,
    ) -> io::Result<FrameOutcome> {
        let able =
            Able { synchronized: terminal.facts().synchronized, depth: model.screen.preferences.depth() };
        self.painter.enable(able);
        if let Some(inline) = &mut self.inline {
            inline.painter.enable(able);
            let full = Inline::wants_screen(model);
            terminal.alternate(full)?;
            if !full {
                self.painter.forget();
                // The size may have changed without a word yet.
                if inline.size != model.screen.window.size() || terminal.size() != inline.size {
                    return Ok(FrameOutcome::Lost);
                }
                let frame = inline.plan.frame(model, cache);
                let bytes = inline.painter.frame(model.screen.window.size().1, frame);
                terminal.set_below(inline.painter.below());
                return terminal.write(&bytes).map(|()| FrameOutcome::Done);
            }
        }
        let (columns, rows) = model.screen.window.size();
        let area = Rect::new(0, 0, columns, rows);
        let mut buffer = Buffer::empty(area);
        let caret = view(model, cache, area, &mut buffer);
        terminal.write(&self.painter.frame(buffer, &cache.links, caret)).map(|()| FrameOutcome::Done)
    }

    /// The size changed: where the live part stands is not known until the cursor is found.
    pub(super) fn lose(&mut self) {
        if let Some(inline) = &mut self.inline {
            inline.size = (0, 0);
        }
    }

    /// The terminal told where its cursor is on a screen of `size`, or did not.
    pub(super) fn located(&mut self, size: (u16, u16), cursor: Option<(u16, u16)>, reflows: bool) {
        if let Some(inline) = &mut self.inline {
            let to = Resized { columns: size.0, rows: size.1, cursor, reflows };
            let adopted = inline.painter.resized(to, inline.plan.adoptable());
            inline.plan.adopt(adopted);
            inline.size = size;
        }
    }

    /// The next frame is written whole.
    pub(super) fn forget(&mut self) {
        self.painter.forget();
        if let Some(inline) = &mut self.inline {
            inline.painter.forget();
        }
    }

    /// The conversation is written to the scrollback once more.
    pub(super) fn print_again(&mut self) {
        if let Some(inline) = &mut self.inline {
            inline.plan.print_again();
        }
    }

    /// Takes away what should not stay when someone else has the terminal.
    pub(super) fn leave(&mut self, terminal: &Terminal) -> io::Result<()> {
        if let Some(inline) = &mut self.inline {
            terminal.alternate(false)?;
            let size = terminal.size();
            if inline.size != size {
                let to = Resized {
                    columns: size.0,
                    rows: size.1,
                    cursor: None,
                    reflows: terminal.facts().reflows,
                };
                let adopted = inline.painter.resized(to, inline.plan.adoptable());
                inline.plan.adopt(adopted);
            }
            terminal.write(&inline.painter.erase())?;
            terminal.set_below(0);
        }
        Ok(())
    }

    /// The end: what the person saw stays, the rest goes.
    pub(super) fn finish(&mut self, model: &Model, cache: &mut Cache, terminal: &Terminal) -> io::Result<()> {
        self.leave(terminal)?;
        if let Some(inline) = &mut self.inline {
            let commit = inline.plan.last(model, cache);
            let live = Buffer::empty(Rect::new(0, 0, model.screen.window.size().0, 0));
            let frame = InlineFrame { commit, live, links: Vec::new(), caret: None };
            terminal.write(&inline.painter.frame(model.screen.window.size().1, frame))?;
        }
        Ok(())
    }

    /// The terminal is ours again.
    pub(super) fn come_back(&mut self, terminal: &Terminal) -> io::Result<()> {
        self.painter.forget();
        if self.inline.is_some() {
            self.begin(terminal)?;
        }
        if let Some(inline) = &mut self.inline {
            inline.size = terminal.size();
        }
        Ok(())
    }

    /// A line that was begun is left alone. Where the cursor stands need not be asked for that: as many spaces as the screen is wide end
    /// in the same line only if they began at its first column.
    fn begin(&self, terminal: &Terminal) -> io::Result<()> {
        if self.inline.is_none() {
            return Ok(());
        }
        let columns = usize::from(terminal.size().0);
        terminal.write(&format!("{}\r", " ".repeat(columns)))
    }
}
