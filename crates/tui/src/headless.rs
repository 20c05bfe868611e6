//! The UI without a terminal: messages in, screens and effects out. Scenario tests drive it.

use crate::key::Key;
use crate::model::{About, Model};
use crate::msg::{Fx, Msg};
use crate::theme::Theme;
use crate::update::update;
use crate::view::{Cache, view};
use domain::ids::Millis;
use domain::port::News;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};

/// The UI without a terminal.
#[derive(Debug)]
pub struct Headless {
    pub model: Model,
    /// What it wanted done, oldest first.
    pub fx: Vec<Fx>,
    cache: Cache,
    now: Millis,
}

impl Headless {
    /// A screen of this size, with an empty clock.
    pub fn new(columns: u16, rows: u16) -> Headless {
        let mut headless = Headless {
            model: Model::new(About::default(), Theme::Terminal),
            fx: Vec::new(),
            cache: Cache::default(),
            now: Millis(0),
        };
        headless.feed(Msg::Resize(columns, rows));
        headless
    }

    /// Feeds a message. The screen is drawn at once.
    pub fn feed(&mut self, msg: Msg) {
        update(&mut self.model, Msg::Tick(self.now), &mut self.fx);
        update(&mut self.model, msg, &mut self.fx);
        if crate::ask::is_unseen(&self.model) {
            update(&mut self.model, Msg::Drawn, &mut self.fx);
        }
    }

    /// Takes something in that the runtime told.
    pub fn hear(&mut self, news: News) {
        self.feed(Msg::News(news));
    }

    /// Types: characters as they are, other keys as `<enter>`, `<ctrl-c>`. A `<` that names no key is typed.
    pub fn keys(&mut self, keys: &str) {
        let mut rest = keys;
        while let Some(c) = rest.chars().next() {
            let named = rest.strip_prefix('<').and_then(|r| r.split_once('>'));
            if let Some((key, after)) =
                named.and_then(|(name, after)| Some((name.parse::<Key>().ok()?, after)))
            {
                self.feed(Msg::Key(key));
                rest = after;
            } else {
                self.feed(Msg::Key(Key::char(c)));
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// Moves the clock on; nothing sleeps.
    pub fn wait(&mut self, ms: u64) {
        self.now = Millis(self.now.0 + ms);
        update(&mut self.model, Msg::Tick(self.now), &mut self.fx);
    }

    /// One frame of the current size, and where the caret is in it.
    pub fn draw(&mut self) -> (Buffer, Option<Position>) {
        let (columns, rows) = self.model.screen.size;
        let area = Rect::new(0, 0, columns, rows);
        let mut buffer = Buffer::empty(area);
        let caret = view(&self.model, &mut self.cache, area, &mut buffer);
        (buffer, caret)
    }

    /// The screen with its styles, as [`crate::dump`] writes it.
    pub fn dump(&mut self) -> String {
        crate::dump(&self.draw().0)
    }

    /// The screen as text.
    pub fn screen(&mut self) -> String {
        let rows = usize::from(self.model.screen.size.1);
        self.dump().lines().take(rows).collect::<Vec<_>>().join("\n")
    }

    /// What the screen wanted to send since the last call.
    pub fn sent(&mut self) -> Vec<crate::Outgoing> {
        let fx = std::mem::take(&mut self.fx);
        fx.into_iter()
            .filter_map(|fx| if let Fx::Send(outgoing) = fx { Some(outgoing) } else { None })
            .collect()
    }

    /// How many cells were laid out and are kept.
    #[cfg(test)]
    pub(crate) fn laid_out(&self) -> usize {
        self.cache.laid_out()
    }
}
